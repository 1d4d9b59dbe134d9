//! Decides what comes next, from the state alone.

use super::call::{PendingToolCall, PendingToolCallState};
use super::words;
use super::{
    AgentRun, AgentRunAction, AgentRunClosing, AgentRunEnding, AgentRunWait, CanonicalToolCall,
    RunnableToolCall,
};

/// Number of times that an answer may be cut off before it is accepted as it is.
const MOST_CUTS: u32 = 3;

/// Most calls that run at once.
const MOST_AT_ONCE: usize = 8;

impl AgentRun {
    /// Returns the next thing to do.
    pub fn next(&self) -> AgentRunAction {
        if self.is_cancelled {
            return AgentRunAction::End(AgentRunEnding::Cancelled);
        }
        if let Some(ending) = &self.ended {
            return AgentRunAction::End(ending.clone());
        }
        if let Some(heir) = self.heir {
            return AgentRunAction::Follow(heir);
        }
        if let Some(asked) = &self.question {
            return AgentRunAction::Wait(AgentRunWait::Answer(Box::new(asked.clone())));
        }
        if self.is_paused {
            return AgentRunAction::Wait(AgentRunWait::Resume);
        }
        if let Some(pending) = self.pending.iter().find(|pending| !pending.is_done()) {
            return self.of_call(pending);
        }
        self.between_turns()
    }

    fn of_call(&self, pending: &PendingToolCall) -> AgentRunAction {
        let act = pending.act();
        match &pending.state {
            PendingToolCallState::Unsure { .. } => return AgentRunAction::AskPerson { act },
            PendingToolCallState::Decided { text } => {
                let text = (*text).to_owned();
                let trouble = "cancelled";
                return AgentRunAction::Refuse { act, trouble, text };
            }
            PendingToolCallState::Answered { text } => {
                let text = text.clone();
                return AgentRunAction::Tell { act, text };
            }
            _ => {}
        }
        match self.refusal(pending) {
            Some((trouble, text)) => AgentRunAction::Refuse { act, trouble, text },
            None => AgentRunAction::Act(self.at_once(act)),
        }
    }

    /// Returns why a call is not carried out.
    fn refusal(&self, pending: &PendingToolCall) -> Option<(&'static str, String)> {
        let tool = pending.call.name.as_str();
        if let Err(why) = &pending.input {
            return Some(("bad-input", why.clone()));
        }
        if self.closing != AgentRunClosing::No && tool != "finish" {
            return Some(("refused", "there are no turns left for this".to_owned()));
        }
        let kind = self.rules.tools.get(tool).copied().unwrap_or_default();
        if self.strikes.has_escalated() && kind.is_edit {
            let text = "no more changes: the files were put back and help was called";
            return Some(("refused", text.to_owned()));
        }
        let approach = CanonicalToolCall::of(tool, &pending.act().input);
        let (count, error) = self.approaches.failures(&approach)?;
        (count >= self.rules.retries.max(1)).then(|| {
            let tried = self.approaches.list();
            let text = words::exhausted(&approach.to_string(), count, error, &tried);
            ("refused", text)
        })
    }

    /// Returns the calls that can be carried out together with the first waiting one.
    fn at_once(&self, first: RunnableToolCall) -> Vec<RunnableToolCall> {
        let is_pure = |tool: &str| self.rules.tools.get(tool).is_some_and(|kind| kind.is_pure);
        if !is_pure(&first.tool) {
            return vec![first];
        }
        let waiting = self.pending.iter().filter(|pending| !pending.is_done());
        waiting
            .take_while(|pending| {
                let is_ready = matches!(
                    pending.state,
                    PendingToolCallState::Waiting | PendingToolCallState::InFlight { .. }
                );
                is_ready && is_pure(&pending.call.name) && self.refusal(pending).is_none()
            })
            .take(MOST_AT_ONCE)
            .map(PendingToolCall::act)
            .collect()
    }

    fn between_turns(&self) -> AgentRunAction {
        if let Some(end) = self.of_answer() {
            return end;
        }
        if let Some(failures) = self.strikes.to_escalate() {
            return AgentRunAction::Escalate {
                snapshot: self.strikes.good().map(str::to_owned),
                why: format!("{} failures in a row", failures.len()),
                failures: failures.to_vec(),
            };
        }
        if self.closing == AgentRunClosing::Over {
            return AgentRunAction::End(self.out_of_turns());
        }
        if let Some(rut) = self.stuck.rut() {
            if self.stuck.has_nudged() {
                let why = format!("it was stuck: {}", rut.text());
                return AgentRunAction::End(self.partial(why));
            }
            return say(words::stuck(rut), "stuck");
        }
        if let Some(guard) = &self.rules.guard {
            if self.calls > guard.calls && self.closing == AgentRunClosing::No {
                return AgentRunAction::End(
                    self.partial(words::astray(self.calls, &self.approaches.list())),
                );
            }
            if guard.every > 0 && self.calls / guard.every > self.reminded / guard.every {
                return say(words::directive(&guard.directive), "directive");
            }
        }
        if let Some(hint) = self.hints.front() {
            return say(words::hint(hint), "hint");
        }
        if let Some(failures) = self.strikes.to_warn() {
            return say(words::warning(failures), "warning");
        }
        let is_last = self.turns >= self.rules.turns || self.strikes.has_escalated();
        if is_last && self.closing == AgentRunClosing::No {
            return say(words::CLOSING.to_owned(), "closing");
        }
        if self.nudges_due {
            let is_cut = !self.cut.is_empty();
            let text = if is_cut { words::CUT } else { words::NUDGE };
            return say(text.to_owned(), if is_cut { "cut" } else { "nudge" });
        }
        AgentRunAction::Ask
    }

    /// Ends the run if there is an answer, after one review if that is wanted.
    fn of_answer(&self) -> Option<AgentRunAction> {
        if self.cuts > MOST_CUTS {
            let answer = Some(self.cut.clone());
            let why = "the answer was cut off again and again".to_owned();
            return Some(AgentRunAction::End(AgentRunEnding::Partial { why, answer }));
        }
        let answer = self.answer.clone()?;
        if self.strikes.has_escalated() {
            return Some(AgentRunAction::End(self.escalated(Some(answer))));
        }
        if self.rules.checks_itself && !self.has_checked && self.closing == AgentRunClosing::No {
            return Some(say(words::CHECK.to_owned(), "check"));
        }
        Some(AgentRunAction::End(AgentRunEnding::Complete { answer }))
    }

    fn out_of_turns(&self) -> AgentRunEnding {
        if self.strikes.has_escalated() {
            return self.escalated(None);
        }
        self.partial(format!("reached maximum iterations ({})", self.rules.turns))
    }

    fn escalated(&self, answer: Option<String>) -> AgentRunEnding {
        let why = "three failures in a row: the files are back at their last good state".to_owned();
        AgentRunEnding::Partial { why, answer }
    }

    /// Returns a partial ending with the given reason, and with the text of a reply that
    /// was cut off.
    pub fn partial(&self, why: String) -> AgentRunEnding {
        let answer = (!self.cut.is_empty()).then(|| self.cut.clone());
        AgentRunEnding::Partial { why, answer }
    }
}

fn say(text: String, why: &'static str) -> AgentRunAction {
    AgentRunAction::Say { text, why }
}
