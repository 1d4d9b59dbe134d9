//! What a hook says: its exit code and its output, read as the convention has it.
//!
//! Exit code 0 lets things pass, with JSON on the standard output where there is more to say; 2
//! blocks, and the standard error is the reason; anything else is a hook that failed.

use serde::Deserialize;
use serde_json::Value;

use super::event::Event;

/// More of one hook's words never enters a conversation.
const LONGEST_TEXT: usize = 10_000;

/// What hooks say about a call. Of several answers the strictest stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing; policy decides.
    #[default]
    Pass,
    /// They have nothing against it. Policy decides all the same: a hook never widens it.
    Allow,
    /// A person has to say so, and why.
    Ask(String),
    /// It waits until a person decides, and why.
    Defer(String),
    /// It is not done, and why.
    Deny(String),
}

/// What one hook answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// About the call.
    pub verdict: Verdict,
    /// Other input for the call.
    pub input: Option<Value>,
    /// Words for the agent.
    pub context: Option<String>,
    /// Words for the person.
    pub notice: Option<String>,
    /// What it guards is not to happen, and why. After a run's answer this means: go on.
    pub block: Option<String>,
    /// The run is to end, and why.
    pub stop: Option<String>,
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its exit code, where it ended by itself.
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Why it did not end by itself, or never began.
    pub(super) trouble: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Output {
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<Decision>,
    reason: Option<String>,
    hook_specific_output: Option<Specific>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    hook_event_name: Option<String>,
    permission_decision: Option<Decision>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    decision: Option<Permission>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permission {
    behavior: Decision,
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Allow,
    /// What `allow` was called before.
    Approve,
    Ask,
    Defer,
    Deny,
    Block,
}

impl Verdict {
    /// Returns the stricter of two; of equals the first.
    pub(super) fn or_stricter(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            return other;
        }
        self
    }

    /// Returns how it is written down.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Pass => "none",
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Defer(_) => "defer",
            Self::Deny(_) => "deny",
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Allow => 1,
            Self::Ask(_) => 2,
            Self::Defer(_) => 3,
            Self::Deny(_) => 4,
        }
    }
}

impl Answer {
    /// Returns the answer that keeps what a hook guards from happening.
    pub(super) fn blocking(event: Event, why: String) -> Self {
        match event {
            Event::PreToolUse | Event::PermissionRequest => Self {
                verdict: Verdict::Deny(why),
                ..Self::default()
            },
            _ => Self {
                block: Some(why),
                ..Self::default()
            },
        }
    }

    /// Returns how it is written down.
    pub(super) fn word(&self) -> &'static str {
        let is_mere = matches!(self.verdict, Verdict::Pass | Verdict::Allow);
        if is_mere && (self.block.is_some() || self.stop.is_some()) {
            return "block";
        }
        match (&self.verdict, &self.context) {
            (Verdict::Pass, Some(_)) => "context",
            (verdict, _) => verdict.word(),
        }
    }

    /// Tells whether any of it reaches the agent or what it does: words, reasons, another input.
    pub(super) fn reaches_the_agent(&self) -> bool {
        let has_reason = !matches!(self.verdict, Verdict::Pass | Verdict::Allow);
        let said = [&self.context, &self.block, &self.stop];
        has_reason || self.input.is_some() || said.iter().any(|words| words.is_some())
    }

    /// Returns what it said, for the record.
    pub(super) fn message(&self) -> String {
        let reason = match &self.verdict {
            Verdict::Ask(why) | Verdict::Defer(why) | Verdict::Deny(why) => Some(why),
            Verdict::Pass | Verdict::Allow => None,
        };
        let said = [&self.stop, &self.block, &self.context, &self.notice];
        let said = reason.into_iter().chain(said.into_iter().flatten());
        let mut said: Vec<_> = said.map(String::as_str).collect();
        if self.input.is_some() {
            said.push("the input was changed");
        }
        bounded(&said.join("; "))
    }
}

impl Ended {
    /// Reads what a hook said, or says why it failed.
    pub(super) fn answer(&self, event: Event) -> Result<Answer, String> {
        if let Some(trouble) = &self.trouble {
            return Err(bounded(trouble));
        }
        match self.exit {
            Some(0) => self.output(event),
            Some(2) => {
                let why = match self.stderr.trim() {
                    "" => "it gave no reason".to_owned(),
                    why => bounded(why),
                };
                Ok(match event.hears_exit_two() {
                    true => Answer::blocking(event, why),
                    false => Answer {
                        notice: Some(why),
                        ..Answer::default()
                    },
                })
            }
            Some(127) => Err(format!("exit code 127, a command is missing{}", self.why())),
            Some(code) => Err(format!("exit code {code}{}", self.why())),
            None => Err("it did not end by itself".to_owned()),
        }
    }

    fn why(&self) -> String {
        match self.stderr.trim() {
            "" => String::new(),
            why => format!(": {}", bounded(why)),
        }
    }

    fn output(&self, event: Event) -> Result<Answer, String> {
        let text = self.stdout.trim();
        if text.starts_with('{') {
            let bad = |why: &dyn std::fmt::Display| {
                format!("its output is not the JSON of a hook: {why}")
            };
            let value: Value = serde_json::from_str(text).map_err(|error| bad(&error))?;
            let specific = value.get("hookSpecificOutput");
            if specific.is_some_and(|it| !it.is_object() && !it.is_null()) {
                return Err(bad(&"`hookSpecificOutput` is not an object"));
            }
            let output: Output = serde_json::from_value(value).map_err(|error| bad(&error))?;
            return output.answer(event);
        }
        let context = event.hears_plain_text() && !text.is_empty();
        Ok(Answer {
            context: context.then(|| bounded(text)),
            ..Answer::default()
        })
    }
}

impl Output {
    fn answer(self, event: Event) -> Result<Answer, String> {
        let specific = self.hook_specific_output.unwrap_or_default();
        if let Some(other) = &specific.hook_event_name
            && other != event.name()
        {
            let (event, other) = (event.name(), bounded(other));
            return Err(format!("it answered for {other} and was run for {event}"));
        }
        let mut answer = Answer::default();
        let reason = self.reason.as_deref().map(bounded);
        if let Some(decision) = self.decision {
            answer = decided(event, decision, reason.clone())?;
        }
        if let Some(decision) = specific.permission_decision {
            let why = specific.permission_decision_reason.as_deref().map(bounded);
            let verdict = decided(event, decision, why.or(reason))?.verdict;
            answer.verdict = answer.verdict.or_stricter(verdict);
        }
        if let Some(Permission { behavior, message }) = specific.decision {
            let verdict = decided(event, behavior, message.as_deref().map(bounded))?.verdict;
            answer.verdict = answer.verdict.or_stricter(verdict);
        }
        answer.input = specific.updated_input;
        if answer
            .input
            .as_ref()
            .is_some_and(|input| !input.is_object())
        {
            return Err("`updatedInput` is not an object".to_owned());
        }
        let words = |text: Option<String>| text.map(|text| bounded(text.trim()));
        let is_said = |text: &String| !text.is_empty();
        answer.context = words(specific.additional_context).filter(is_said);
        answer.notice = words(self.system_message).filter(is_said);
        if self.goes_on == Some(false) {
            let why = words(self.stop_reason).filter(is_said);
            answer.stop = Some(why.unwrap_or_else(|| "it gave no reason".to_owned()));
        }
        Ok(answer)
    }
}

/// Reads a decision; what does not fit the event is an error of the hook.
fn decided(event: Event, decision: Decision, why: Option<String>) -> Result<Answer, String> {
    let why = why.unwrap_or_else(|| "it gave no reason".to_owned());
    let is_call = matches!(event, Event::PreToolUse | Event::PermissionRequest);
    let verdict = match decision {
        Decision::Deny | Decision::Block => return Ok(Answer::blocking(event, why)),
        Decision::Allow | Decision::Approve => Verdict::Allow,
        Decision::Ask if is_call => Verdict::Ask(why),
        Decision::Defer if is_call => Verdict::Defer(why),
        Decision::Ask | Decision::Defer => {
            return Err(format!("its decision does not fit {}", event.name()));
        }
    };
    Ok(Answer {
        verdict,
        ..Answer::default()
    })
}

/// Cuts a text to what may be repeated, and says so.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{} [cut: {} more bytes]", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
