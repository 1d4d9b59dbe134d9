//! What people see of a run: one way from events to lines, for the terminal, for traces, and for
//! programs. Who looks decides how much of it there is; the strictest rule wins.

mod aside;
mod call;
mod ending;
mod line;
mod narrate;
mod phrases;
mod seen;
mod tools;

pub use call::{CallTold, Cut, ResultTold, brief};
pub(crate) use ending::left_out_line;
pub(crate) use line::grouped;
pub use line::{Line, Mark, Progress, price};
pub use narrate::Narrator;
pub use seen::seen;

use artel_config::{Origin, Shown, Viewer};
use artel_journal::Blobs;
use artel_types::{Code, Failure};

use crate::workshop::Workshop;

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// What came of each step.
    Summary,
    /// Turn by turn, with calls and their results.
    Full,
}

/// Whether the words of the model are shown by whoever hears them as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// They are told with their reply.
    Told,
    /// Somebody else shows them.
    Heard,
}

/// Who looks at runs, and how closely.
#[derive(Debug, Clone)]
pub struct Eyes {
    /// How much is wanted.
    pub view: View,
    /// Who looks.
    pub role: Viewer,
    /// The most that they may see.
    pub most: View,
    /// Tools of which is shown only that they ran, whoever looks.
    pub hidden: Vec<String>,
}

impl Workshop {
    /// Returns the eyes that the settings give; `view` is what was asked for. Whoever is said to
    /// be a user sees summaries alone; where nobody is said to be anything, a person who asks for
    /// more gets it.
    pub fn eyes(&self, view: Option<View>) -> Result<Eyes, Failure> {
        let settings = &self.settings.runs;
        let role = settings.role.value;
        let is_said = settings.role.origin != Origin::Default;
        let eyes = self.eyes_of(role);
        if view == Some(View::Full) && eyes.most == View::Summary && is_said {
            let what = format!("the full view is not for the role `{}`", role.as_str());
            return Err(Failure::new(Code::C004, what)
                .because(format!(
                    "`visibility.role` says so: {}",
                    settings.role.origin
                ))
                .advise("ask for the summary, or have `visibility.role` be \"developer\""));
        }
        Ok(Eyes {
            view: view.unwrap_or(eyes.most),
            ..eyes
        })
    }

    /// Returns the eyes of a role, which see as much as it may.
    pub fn eyes_of(&self, role: Viewer) -> Eyes {
        let settings = &self.settings.runs;
        let most = match settings.sees(role).value {
            Shown::Summary => View::Summary,
            Shown::Full => View::Full,
        };
        Eyes {
            view: most,
            role,
            most,
            hidden: settings.hidden_tools.value.clone(),
        }
    }

    /// Returns what tells the story of runs.
    pub fn narrator(&self, eyes: Eyes, words: Words) -> Narrator {
        let home = self.caller.environment.get("HOME");
        let home = home.map(std::path::PathBuf::from);
        Narrator::new(eyes, words, Blobs::at(self.home.blobs())).at_home(self.root.clone(), home)
    }
}

impl Eyes {
    /// Returns the same eyes, looking as closely as is asked for and as they may.
    #[must_use]
    pub fn looking(self, view: View) -> Self {
        let view = match self.most {
            View::Summary => View::Summary,
            View::Full => view,
        };
        Self { view, ..self }
    }

    /// Tells whether the input and output of a tool are nobody's to see.
    pub fn hides(&self, tool: &str) -> bool {
        self.hidden.iter().any(|pattern| fits(pattern, tool))
    }

    /// Tells whether they may see what a call would do, without which nobody can say yes to it.
    pub fn see_call(&self, tool: &str) -> bool {
        self.most == View::Full && !self.hides(tool)
    }

    /// How many lines of a result are shown.
    fn lines_of_results(&self) -> usize {
        match self.most {
            View::Summary => 1,
            View::Full => 12,
        }
    }
}

/// Tells whether a name is meant by a pattern in which `*` stands for any text.
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
