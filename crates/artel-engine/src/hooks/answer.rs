//! Reads the answer of a hook, its exit code and output, by the convention of other
//! agents.
//!
//! Exit code 0 lets things pass; JSON on the standard output can say more. Exit code 2
//! blocks, with the standard error as the reason. Any other code is a failure of the hook.

use serde::Deserialize;
use serde_json::Value;

use super::event::HookEvent;

/// Longest text of one hook that enters a conversation, in bytes.
const LONGEST_TEXT: usize = 10_000;

/// A hook's verdict on a call. Of several the strictest counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HookVerdict {
    /// No verdict: policy decides.
    #[default]
    Pass,
    /// No objection. Policy decides all the same: a hook never widens it.
    Allow,
    /// A person must be asked, with the reason.
    Ask(String),
    /// The call waits until a person decides, with the reason.
    Defer(String),
    /// The call is denied, with the reason.
    Deny(String),
}

/// The answer of one hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookAnswer {
    /// The verdict on the call.
    pub verdict: HookVerdict,
    /// A different input for the call.
    pub input: Option<Value>,
    /// Words for the agent.
    pub context: Option<String>,
    /// A notice for the person.
    pub notice: Option<String>,
    /// The reason, if the guarded thing must not happen. After a run's answer it means:
    /// keep going.
    pub block: Option<String>,
    /// The reason, if the run must end.
    pub stop: Option<String>,
}

/// The outcome of a hook command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HookCommandOutcome {
    /// The exit code, if the command ended by itself.
    pub(super) exit: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Why the command did not end by itself or never began.
    pub(super) trouble: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HookOutputJson {
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    stop_reason: Option<String>,
    system_message: Option<String>,
    decision: Option<HookDecisionJson>,
    reason: Option<String>,
    hook_specific_output: Option<HookSpecificOutputJson>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HookSpecificOutputJson {
    hook_event_name: Option<String>,
    permission_decision: Option<HookDecisionJson>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    decision: Option<HookPermissionJson>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookPermissionJson {
    behavior: HookDecisionJson,
    message: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum HookDecisionJson {
    Allow,
    /// The former name of `allow`.
    Approve,
    Ask,
    Defer,
    Deny,
    Block,
}

impl HookVerdict {
    /// Returns the stricter of two verdicts, or the first if they are equal.
    pub(super) fn or_stricter(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            return other;
        }
        self
    }

    /// Returns the word for the record.
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

impl HookAnswer {
    /// Returns the answer that prevents the guarded thing.
    pub(super) fn blocking(event: HookEvent, why: String) -> Self {
        match event {
            HookEvent::PreToolUse | HookEvent::PermissionRequest => Self {
                verdict: HookVerdict::Deny(why),
                ..Self::default()
            },
            _ => Self {
                block: Some(why),
                ..Self::default()
            },
        }
    }

    /// Returns the word for the record.
    pub(super) fn word(&self) -> &'static str {
        let is_mere = matches!(self.verdict, HookVerdict::Pass | HookVerdict::Allow);
        if is_mere && (self.block.is_some() || self.stop.is_some()) {
            return "block";
        }
        match (&self.verdict, &self.context) {
            (HookVerdict::Pass, Some(_)) => "context",
            (verdict, _) => verdict.word(),
        }
    }

    /// Returns whether any part reaches the agent or its actions: words, reasons, a
    /// different input.
    pub(super) fn reaches_the_agent(&self) -> bool {
        let has_reason = !matches!(self.verdict, HookVerdict::Pass | HookVerdict::Allow);
        let said = [&self.context, &self.block, &self.stop];
        has_reason || self.input.is_some() || said.iter().any(|words| words.is_some())
    }

    /// Returns the hook's words for the record.
    pub(super) fn message(&self) -> String {
        let reason = match &self.verdict {
            HookVerdict::Ask(why) | HookVerdict::Defer(why) | HookVerdict::Deny(why) => Some(why),
            HookVerdict::Pass | HookVerdict::Allow => None,
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

impl HookCommandOutcome {
    /// Reads the answer of a hook, or returns why it failed.
    pub(super) fn answer(&self, event: HookEvent) -> Result<HookAnswer, String> {
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
                Ok(if event.hears_exit_two() {
                    HookAnswer::blocking(event, why)
                } else {
                    HookAnswer {
                        notice: Some(why),
                        ..HookAnswer::default()
                    }
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

    fn output(&self, event: HookEvent) -> Result<HookAnswer, String> {
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
            let output: HookOutputJson =
                serde_json::from_value(value).map_err(|error| bad(&error))?;
            return output.answer(event);
        }
        let context = event.hears_plain_text() && !text.is_empty();
        Ok(HookAnswer {
            context: context.then(|| bounded(text)),
            ..HookAnswer::default()
        })
    }
}

impl HookOutputJson {
    fn answer(self, event: HookEvent) -> Result<HookAnswer, String> {
        let specific = self.hook_specific_output.unwrap_or_default();
        if let Some(other) = &specific.hook_event_name
            && other != event.name()
        {
            let (event, other) = (event.name(), bounded(other));
            return Err(format!("it answered for {other} and was run for {event}"));
        }
        let mut answer = HookAnswer::default();
        let reason = self.reason.as_deref().map(bounded);
        if let Some(decision) = self.decision {
            answer = decided(event, decision, reason.clone())?;
        }
        if let Some(decision) = specific.permission_decision {
            let why = specific.permission_decision_reason.as_deref().map(bounded);
            let verdict = decided(event, decision, why.or(reason))?.verdict;
            answer.verdict = answer.verdict.or_stricter(verdict);
        }
        if let Some(HookPermissionJson { behavior, message }) = specific.decision {
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

/// Reads a decision. A decision that does not fit the event is an error of the hook.
fn decided(
    event: HookEvent,
    decision: HookDecisionJson,
    why: Option<String>,
) -> Result<HookAnswer, String> {
    let why = why.unwrap_or_else(|| "it gave no reason".to_owned());
    let is_call = matches!(event, HookEvent::PreToolUse | HookEvent::PermissionRequest);
    let verdict = match decision {
        HookDecisionJson::Deny | HookDecisionJson::Block => {
            return Ok(HookAnswer::blocking(event, why));
        }
        HookDecisionJson::Allow | HookDecisionJson::Approve => HookVerdict::Allow,
        HookDecisionJson::Ask if is_call => HookVerdict::Ask(why),
        HookDecisionJson::Defer if is_call => HookVerdict::Defer(why),
        HookDecisionJson::Ask | HookDecisionJson::Defer => {
            return Err(format!("its decision does not fit {}", event.name()));
        }
    };
    Ok(HookAnswer {
        verdict,
        ..HookAnswer::default()
    })
}

/// Cuts a text to the length that may be repeated, and says so.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{} [cut: {} more bytes]", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
