//! What is wrong: settings that are not in force, faults of the daemon, providers that are not
//! asked.

use artel_types::Failure;
use artel_workshop::{HeldBack, HeldBy};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};
use super::frame::Site;
use super::words::{self, When};

/// What is wrong, for whoever can do something about it.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "wrong.html")]
pub(super) struct Wrong {
    /// Why the last change of settings is not in force.
    pub(super) refused: Vec<Coded>,
    /// What broke off since the daemon began.
    pub(super) faltered: Vec<Coded>,
    /// The providers that are not asked just now.
    pub(super) held: Vec<Held>,
    /// Whether whoever looks may have them asked at once.
    pub(super) can_reset: bool,
}

/// A provider that is not asked for a while.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) name: String,
    /// What is so until then.
    pub(super) how: &'static str,
    pub(super) until: When,
    pub(super) why: String,
}

// What it writes is escaped where it is written.
impl HtmlSafe for Wrong {}

impl Wrong {
    /// Looks what is wrong. It names settings and files, so it is not for those who only ask.
    pub(super) fn of(site: &Site) -> Result<Self, Failure> {
        if !site.is_developer() {
            return Ok(Self::default());
        }
        let trouble = site.workshop.daemon_trouble()?;
        let redactor = site.workshop.caller().redactor();
        let held = site.desk.board().held_back(site.now());
        let one = |it: HeldBack| Held {
            name: it.name,
            how: match it.by {
                HeldBy::Itself => "is paused",
                HeldBy::Failures => "is left alone",
            },
            until: words::when(it.until),
            why: redactor.redact(&it.why).into_owned(),
        };
        let told = |it: &String| coded(&redactor.redact(it));
        Ok(Self {
            refused: trouble.refused.iter().map(told).collect(),
            faltered: trouble.faltered.iter().map(told).collect(),
            held: held.into_iter().map(one).collect(),
            can_reset: site.is_admin(),
        })
    }
}
