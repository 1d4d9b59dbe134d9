//! The panel of problems: settings that are not in force, faults of the daemon, and
//! providers that are not called.

use artel_types::Failure;
use artel_workshop::{ProviderSuspensionCause, SuspendedProvider};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{InlineCodeText, coded};
use super::frame::PageContext;
use super::words::{self, TimeLabel};

/// The problems that the viewer can do something about.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "wrong.html")]
pub(super) struct ProblemsPanel {
    /// Why the last change of settings is not in force.
    pub(super) refused: Vec<InlineCodeText>,
    /// Tasks that were interrupted by a fault since the daemon started.
    pub(super) faltered: Vec<InlineCodeText>,
    /// The providers that are not called at present.
    pub(super) held: Vec<ProblemsPanelProvider>,
    /// Whether the viewer may have them called again at once.
    pub(super) can_reset: bool,
}

/// A provider that is not called for a while.
#[derive(Debug, Clone)]
pub(super) struct ProblemsPanelProvider {
    pub(super) name: String,
    /// Its condition until then, in words.
    pub(super) how: &'static str,
    pub(super) until: TimeLabel,
    pub(super) why: String,
}

// The template escapes its values itself.
impl HtmlSafe for ProblemsPanel {}

impl ProblemsPanel {
    /// Collects the problems. They name settings and files, so only developers see them.
    pub(super) fn of(site: &PageContext) -> Result<Self, Failure> {
        if !site.is_developer() {
            return Ok(Self::default());
        }
        let trouble = site.workshop.daemon_trouble()?;
        let redactor = site.workshop.caller().redactor();
        let held = site.desk.board().held_back(site.now());
        let one = |it: SuspendedProvider| ProblemsPanelProvider {
            name: it.name,
            how: match it.by {
                ProviderSuspensionCause::Itself => "is paused",
                ProviderSuspensionCause::Failures => "is left alone",
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
