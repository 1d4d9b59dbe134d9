//! What is wrong with the daemon: settings that are not in force, faults of its own.

use artel_types::Failure;
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};
use super::frame::Site;

/// What is wrong, for whoever can do something about it.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "wrong.html")]
pub(super) struct Wrong {
    /// Why the last change of settings is not in force.
    pub(super) refused: Vec<Coded>,
    /// What broke off since the daemon began.
    pub(super) faltered: Vec<Coded>,
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
        let told = |it: &String| coded(&redactor.redact(it));
        Ok(Self {
            refused: trouble.refused.iter().map(told).collect(),
            faltered: trouble.faltered.iter().map(told).collect(),
        })
    }
}
