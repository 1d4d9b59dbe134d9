//! Decides what comes next, from the state alone.

use super::call::{Pending, State};
use super::words;
use super::{Act, Approach, Closing, Ending, Next, Turn, Wait};

/// Number of times that an answer may be cut off before it is accepted as it is.
const MOST_CUTS: u32 = 3;

/// Most calls that run at once.
const MOST_AT_ONCE: usize = 8;

impl Turn {
    /// Returns the next thing to do.
    pub fn next(&self) -> Next {
        if self.is_cancelled {
            return Next::End(Ending::Cancelled);
        }
        if let Some(ending) = &self.ended {
            return Next::End(ending.clone());
        }
        if let Some(heir) = self.heir {
            return Next::Follow(heir);
        }
        if let Some(asked) = &self.question {
            return Next::Wait(Wait::Answer(Box::new(asked.clone())));
        }
        if self.is_paused {
            return Next::Wait(Wait::Resume);
        }
        if let Some(pending) = self.pending.iter().find(|pending| !pending.is_done()) {
            return self.of_call(pending);
        }
        self.between_turns()
    }

    fn of_call(&self, pending: &Pending) -> Next {
        let act = pending.act();
        match &pending.state {
            State::Unsure { .. } => return Next::AskPerson { act },
            State::Decided { text } => {
                let text = (*text).to_owned();
                let trouble = "cancelled";
                return Next::Refuse { act, trouble, text };
            }
            State::Answered { text } => {
                let text = text.clone();
                return Next::Tell { act, text };
            }
            _ => {}
        }
        match self.refusal(pending) {
            Some((trouble, text)) => Next::Refuse { act, trouble, text },
            None => Next::Act(self.at_once(act)),
        }
    }

    /// Returns why a call is not carried out.
    fn refusal(&self, pending: &Pending) -> Option<(&'static str, String)> {
        let tool = pending.call.name.as_str();
        if let Err(why) = &pending.input {
            return Some(("bad-input", why.clone()));
        }
        if self.closing != Closing::No && tool != "finish" {
            return Some(("refused", "there are no turns left for this".to_owned()));
        }
        let kind = self.rules.tools.get(tool).copied().unwrap_or_default();
        if self.strikes.has_escalated() && kind.is_edit {
            let text = "no more changes: the files were put back and help was called";
            return Some(("refused", text.to_owned()));
        }
        let approach = Approach::of(tool, &pending.act().input);
        let (count, error) = self.approaches.failures(&approach)?;
        (count >= self.rules.retries.max(1)).then(|| {
            let tried = self.approaches.list();
            let text = words::exhausted(&approach.to_string(), count, error, &tried);
            ("refused", text)
        })
    }

    /// Returns the calls that can be carried out together with the first waiting one.
    fn at_once(&self, first: Act) -> Vec<Act> {
        let is_pure = |tool: &str| self.rules.tools.get(tool).is_some_and(|kind| kind.is_pure);
        if !is_pure(&first.tool) {
            return vec![first];
        }
        let waiting = self.pending.iter().filter(|pending| !pending.is_done());
        waiting
            .take_while(|pending| {
                let is_ready = matches!(pending.state, State::Waiting | State::InFlight { .. });
                is_ready && is_pure(&pending.call.name) && self.refusal(pending).is_none()
            })
            .take(MOST_AT_ONCE)
            .map(Pending::act)
            .collect()
    }

    fn between_turns(&self) -> Next {
        if let Some(end) = self.of_answer() {
            return end;
        }
        if let Some(failures) = self.strikes.to_escalate() {
            return Next::Escalate {
                snapshot: self.strikes.good().map(str::to_owned),
                why: format!("{} failures in a row", failures.len()),
                failures: failures.to_vec(),
            };
        }
        if self.closing == Closing::Over {
            return Next::End(self.out_of_turns());
        }
        if let Some(rut) = self.stuck.rut() {
            if self.stuck.has_nudged() {
                let why = format!("it was stuck: {}", rut.text());
                return Next::End(self.partial(why));
            }
            return say(words::stuck(rut), "stuck");
        }
        if let Some(guard) = &self.rules.guard {
            if self.calls > guard.calls && self.closing == Closing::No {
                return Next::End(self.partial(words::astray(self.calls, &self.approaches.list())));
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
        if is_last && self.closing == Closing::No {
            return say(words::CLOSING.to_owned(), "closing");
        }
        if self.nudges_due {
            let is_cut = !self.cut.is_empty();
            let text = if is_cut { words::CUT } else { words::NUDGE };
            return say(text.to_owned(), if is_cut { "cut" } else { "nudge" });
        }
        Next::Ask
    }

    /// Ends the run if there is an answer, after one review if that is wanted.
    fn of_answer(&self) -> Option<Next> {
        if self.cuts > MOST_CUTS {
            let answer = Some(self.cut.clone());
            let why = "the answer was cut off again and again".to_owned();
            return Some(Next::End(Ending::Partial { why, answer }));
        }
        let answer = self.answer.clone()?;
        if self.strikes.has_escalated() {
            return Some(Next::End(self.escalated(Some(answer))));
        }
        if self.rules.checks_itself && !self.has_checked && self.closing == Closing::No {
            return Some(say(words::CHECK.to_owned(), "check"));
        }
        Some(Next::End(Ending::Complete { answer }))
    }

    fn out_of_turns(&self) -> Ending {
        if self.strikes.has_escalated() {
            return self.escalated(None);
        }
        self.partial(format!("reached maximum iterations ({})", self.rules.turns))
    }

    fn escalated(&self, answer: Option<String>) -> Ending {
        let why = "three failures in a row: the files are back at their last good state".to_owned();
        Ending::Partial { why, answer }
    }

    /// Returns a partial ending with the given reason, and with the text of a reply that
    /// was cut off.
    pub fn partial(&self, why: String) -> Ending {
        let answer = (!self.cut.is_empty()).then(|| self.cut.clone());
        Ending::Partial { why, answer }
    }
}

fn say(text: String, why: &'static str) -> Next {
    Next::Say { text, why }
}
