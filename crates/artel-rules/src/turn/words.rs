//! The texts that Artel adds to a conversation while the model works.

use std::sync::Arc;

use artel_types::model::ToolSpec;

use super::StuckPattern;

pub(super) const NUDGE: &str = "Go on with the task: call the tool that brings it forward. When \
    everything is done, call `finish` with the answer.";

pub(super) const CUT: &str = "Your answer was cut off at the length limit. Go on exactly where \
    you stopped; write long text to files piece by piece.";

pub(super) const CHECK: &str = "Before this counts as your answer: look it over against the task. \
    If something is missing or unproven, see to it now. Otherwise give the answer again.";

pub(super) const CLOSING: &str = "That was the last turn. No tool but `finish` can be called any \
    more: say what was achieved, what was not, and why.";

pub(super) fn stuck(rut: StuckPattern) -> String {
    format!(
        "You are going round in circles: {}. Stop and think about why. Take a different approach, \
         or call `finish` and say what is in the way.",
        rut.text()
    )
}

pub(super) fn warning(failures: &[String]) -> String {
    format!(
        "FAILURE_WARNING: {} in a row have failed:\n{}\nOne more, and the files are put back to \
         their last good state and the work is handed back. Do not repeat what failed: read what \
         is really there, find the cause, then make one small change.",
        failures.len(),
        bullets(failures)
    )
}

pub(super) fn hint(text: &str) -> String {
    format!("A hint from the person: {text}")
}

pub(super) fn directive(text: &str) -> String {
    format!("<primary_directive>\n{text}\n</primary_directive>")
}

pub(super) fn astray(calls: u32, failed: &[String]) -> String {
    let failed = if failed.is_empty() {
        String::new()
    } else {
        format!("; what failed: {}", failed.join("; "))
    };
    format!("{calls} calls and no result{failed}")
}

pub(super) fn exhausted(approach: &str, count: u32, error: &str, tried: &[String]) -> String {
    format!(
        "not run again: `{approach}` has failed {count} times with these arguments (last: \
         {error}).\nTried so far:\n{}\nUse other arguments or another tool.",
        bullets(tried)
    )
}

pub(super) fn bullets(lines: &[String]) -> String {
    let lines: Vec<_> = lines.iter().map(|line| format!("- {line}")).collect();
    lines.join("\n")
}

/// Returns the instructions for writing calls as text.
pub fn directive_of_text_calls() -> &'static str {
    "To use a tool, reply with exactly:\n\
     Thought: why\n\
     Action: the name of one tool\n\
     Action Input: its input as one JSON object\n\
     Then stop: the next message brings the result as `Observation:`.\n\
     When everything is done, reply with exactly:\n\
     Thought: why\n\
     Final Answer: the answer"
}

/// Returns the descriptions of the tools as text.
pub fn tools_as_text(tools: &[Arc<ToolSpec>]) -> String {
    let one = |tool: &Arc<ToolSpec>| {
        format!(
            "{}: {}\ninput: {}",
            tool.name, tool.description, tool.schema
        )
    };
    tools.iter().map(one).collect::<Vec<_>>().join("\n\n")
}
