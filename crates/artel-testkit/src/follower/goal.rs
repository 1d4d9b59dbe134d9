//! The language of goals: calls to make one after the other, and what to look for at the end.
//!
//! ```text
//! goal:
//! do read {"path": "sales.csv", "encoding": "utf-8"}
//! do bash {"command": "python3 sum.py sales.csv"}
//! answer total:
//! end of goal
//! ```
//!
//! The text after a tool's name is sent as it stands, with `KEY_PLACE` replaced; it need not be
//! JSON. `answer` returns the rest of the line after these words in the last good result;
//! without it, the last good result itself is the answer.

use super::call::Call;

const BEGIN: &str = "goal:";
const END: &str = "end of goal";

/// Placeholder for a made-up key of the follower: tasks must not contain a real one.
const KEY_PLACE: &str = "A_KEY_OF_MINE";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Goal {
    pub(super) calls: Vec<Call>,
    answer: Option<String>,
}

impl Goal {
    /// Parses the goal in a text.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(BEGIN)?;
        let (body, _) = rest.split_once(END)?;
        let mut goal = Self::default();
        for line in body.lines() {
            if let Some(call) = line.strip_prefix("do ") {
                let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
                goal.calls.push(Call {
                    tool: tool.to_owned(),
                    arguments: arguments.replace(KEY_PLACE, &made_up_key()),
                });
            } else if let Some(words) = line.strip_prefix("answer ") {
                goal.answer = Some(words.to_owned());
            }
        }
        (!goal.calls.is_empty()).then_some(goal)
    }

    /// Finds the answer in a result.
    pub(super) fn find(&self, text: &str) -> Option<String> {
        let Some(words) = &self.answer else {
            return Some("done".to_owned());
        };
        let (_, rest) = text.split_once(words.as_str())?;
        Some(rest.lines().next().unwrap_or_default().trim().to_owned())
    }
}

/// Returns text that looks like a key and opens nothing.
fn made_up_key() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}
