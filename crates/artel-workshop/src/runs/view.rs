//! Turns the events of a run into the lines that people see, in the same way for the
//! terminal, for traces and for programs. The viewer's role decides how much is shown, and
//! the strictest rule wins.

mod aside;
mod call;
mod ending;
mod line;
mod narrate;
mod phrases;
mod seen;
mod tools;

pub use call::{VisibleCall, VisibleCallResult, VisibleCallText, brief};
pub(crate) use ending::left_out_line;
pub(crate) use line::grouped;
pub use line::{RunProgress, TimelineLine, TimelineLineKind, price};
pub use narrate::RunTimelineBuilder;
pub use seen::seen;

use artel_config::{SettingOrigin, ViewerRole, VisibilityLevel};
use artel_journal::BlobStore;
use artel_types::{Failure, FailureCode};

use crate::workshop::Workshop;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineDetailLevel {
    /// The result of each step.
    Summary,
    /// Every turn, with its calls and their results.
    Full,
}

/// Whether the timeline contains the model's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyTextMode {
    /// The text is part of the timeline, with its reply.
    Told,
    /// Somebody else shows the text as it streams.
    Heard,
}

/// The visibility of runs for one viewer.
#[derive(Debug, Clone)]
pub struct RunVisibility {
    /// The requested detail.
    pub view: TimelineDetailLevel,
    pub role: ViewerRole,
    /// The most detail that the viewer may see.
    pub most: TimelineDetailLevel,
    /// Tools of which every viewer sees only that they ran.
    pub hidden: Vec<String>,
}

impl Workshop {
    /// Returns the visibility according to the settings; `view` is what was asked for. If the
    /// settings assign a role that sees only summaries, a request for more is refused. If they
    /// assign no role, a person who asks for more gets it.
    pub fn eyes(&self, view: Option<TimelineDetailLevel>) -> Result<RunVisibility, Failure> {
        let settings = &self.settings.runs;
        let role = settings.role.value;
        let is_said = settings.role.origin != SettingOrigin::Default;
        let eyes = self.eyes_of(role);
        if view == Some(TimelineDetailLevel::Full)
            && eyes.most == TimelineDetailLevel::Summary
            && is_said
        {
            let what = format!("the full view is not for the role `{}`", role.as_str());
            return Err(Failure::new(FailureCode::C004, what)
                .because(format!(
                    "`visibility.role` says so: {}",
                    settings.role.origin
                ))
                .advise("ask for the summary, or have `visibility.role` be \"developer\""));
        }
        Ok(RunVisibility {
            view: view.unwrap_or(eyes.most),
            ..eyes
        })
    }

    /// Returns the visibility of a role, with all the detail it may see.
    pub fn eyes_of(&self, role: ViewerRole) -> RunVisibility {
        let settings = &self.settings.runs;
        let most = match settings.sees(role).value {
            VisibilityLevel::Summary => TimelineDetailLevel::Summary,
            VisibilityLevel::Full => TimelineDetailLevel::Full,
        };
        RunVisibility {
            view: most,
            role,
            most,
            hidden: settings.hidden_tools.value.clone(),
        }
    }

    pub fn narrator(&self, eyes: RunVisibility, words: ReplyTextMode) -> RunTimelineBuilder {
        let home = self.caller.environment.get("HOME");
        let home = home.map(std::path::PathBuf::from);
        RunTimelineBuilder::new(eyes, words, BlobStore::at(self.home.blobs()))
            .at_home(self.root.clone(), home)
    }
}

impl RunVisibility {
    /// Changes the detail, as far as the viewer may see it.
    #[must_use]
    pub fn looking(self, view: TimelineDetailLevel) -> Self {
        let view = match self.most {
            TimelineDetailLevel::Summary => TimelineDetailLevel::Summary,
            TimelineDetailLevel::Full => view,
        };
        Self { view, ..self }
    }

    /// Returns whether the input and output of a tool are hidden from everybody.
    pub fn hides(&self, tool: &str) -> bool {
        self.hidden.iter().any(|pattern| fits(pattern, tool))
    }

    /// Returns whether the viewer may see what a call would do. Without that, nobody can
    /// approve it.
    pub fn see_call(&self, tool: &str) -> bool {
        self.most == TimelineDetailLevel::Full && !self.hides(tool)
    }

    /// Returns how many lines of a result are shown.
    fn lines_of_results(&self) -> usize {
        match self.most {
            TimelineDetailLevel::Summary => 1,
            TimelineDetailLevel::Full => 12,
        }
    }
}

/// Returns whether a name matches a pattern in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests;
