//! Calls of agents that wait for a yes: seen from every surface, answered from any, once.

use artel_engine::answer_first;
use artel_tools::{Reply, Said};
use artel_types::{Code, Draft, Failure, RunId, Stream, Timestamp, ToolAsked, TraceId, Visibility};

use super::waiting::already_decided;
use super::waiting::{WaitSort, Waits};
use crate::runs::{Eyes, View};
use crate::workshop::{Noted, Open, Workshop};

/// A call that waits for a yes.
#[derive(Debug, Clone)]
pub struct OpenCall {
    /// The run that wants it.
    pub run: RunId,
    /// The piece of work.
    pub trace: TraceId,
    /// What the run does.
    pub title: String,
    /// Where in the journal it is asked.
    pub(crate) seq: u64,
    /// Since when.
    pub since: Timestamp,
    /// What is asked.
    pub asked: ToolAsked,
    /// Who drives the run.
    pub driver: String,
}

/// A call that waits for a yes, as somebody may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSeen {
    /// What names it.
    pub id: String,
    /// The piece of work.
    pub trace: TraceId,
    /// The tool.
    pub tool: String,
    /// What it would do; nothing where the tool is hidden.
    pub shown: Option<CallShown>,
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallShown {
    /// Why it is asked.
    pub why: String,
    /// All of it.
    pub what: String,
    /// The hash of that; an answer names it.
    pub hash: String,
}

/// Whether a call may be carried out, this once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YesNo {
    /// It may.
    Yes,
    /// It may not, and why.
    No(String),
}

impl OpenCall {
    /// Returns what names it: the run and what would be done, both cut short.
    pub fn id(&self) -> String {
        let hash: String = self.asked.record.chars().take(8).collect();
        format!("{}-{hash}", self.run.short())
    }

    /// Returns it as it stands in a list of what needs a person; `what` would be done.
    pub fn waits(&self, what: String) -> Waits {
        let id = self.id();
        Waits {
            kind: WaitSort::Call,
            trace: self.trace,
            title: self.title.clone(),
            text: format!("wants to run {}: {what}", self.asked.tool),
            choices: ["yes", "no"].map(str::to_owned).to_vec(),
            suggested: None,
            settling: Vec::new(),
            since: self.since,
            commands: vec![format!("artel answer {id} yes|no")],
            id,
        }
    }

    fn is_named(&self, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        let is_hex = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        let is_prefix = !id.is_empty() && id.chars().all(is_hex);
        let (run, trace) = (self.run.to_string(), self.trace.to_string());
        is_prefix && (self.id() == id || run.starts_with(&id) || trace.starts_with(&id))
    }
}

impl Workshop {
    /// Returns calls as these eyes see them: none where they see summaries alone, and of a tool
    /// that is hidden no more than that it waits.
    pub fn calls_seen(&self, calls: Vec<OpenCall>, eyes: &Eyes) -> Result<Vec<CallSeen>, Failure> {
        let mut seen = Vec::new();
        let calls = calls.into_iter();
        for call in calls.filter(|_| eyes.most == View::Full) {
            let shown = match eyes.see_call(&call.asked.tool) {
                true => Some(CallShown {
                    what: self.whole_text(&call.asked.shown)?,
                    why: call.asked.why.clone(),
                    hash: call.asked.record.clone(),
                }),
                false => None,
            };
            seen.push(CallSeen {
                id: call.id(),
                trace: call.trace,
                tool: call.asked.tool,
                shown,
            });
        }
        Ok(seen)
    }

    /// Returns the calls that wait for a yes, the oldest first.
    pub fn open_calls(&self) -> Result<Vec<OpenCall>, Failure> {
        Ok(self.board_of_waits()?.calls(&self.drivers_now()?))
    }

    /// Returns the call that is meant: by its own name, its run or its piece of work.
    pub fn call_named(&self, id: &str) -> Result<OpenCall, Failure> {
        let open = self.open_calls()?;
        let found: Vec<_> = open.iter().filter(|it| it.is_named(id)).collect();
        match found.as_slice() {
            [only] => Ok((*only).clone()),
            [] => Err(
                Failure::new(Code::R004, format!("no call `{id}` waits for a yes"))
                    .because("it was answered, or its run goes on without it")
                    .advise("`artel waiting` shows what needs you"),
            ),
            several => {
                let names: Vec<_> = several.iter().map(|it| it.id()).collect();
                Err(Failure::new(Code::W006, format!("`{id}` is not unique"))
                    .because(format!("these calls wait: {}", names.join(", ")))
                    .advise(format!("`artel answer {} yes|no`", several[0].id())))
            }
        }
    }

    /// Answers a call that waits for a yes; `hash` says what the person saw. Who is first decides.
    pub fn answer_call(
        &self,
        call: &OpenCall,
        hash: &str,
        answer: &YesNo,
    ) -> Result<Noted<()>, Failure> {
        if call.asked.record != hash {
            let what = "what would be done is not what you saw";
            return Err(Failure::new(Code::R008, what).advise("look at it anew, then answer"));
        }
        let reply = match answer {
            YesNo::Yes => Reply::Yes { grants: Vec::new() },
            YesNo::No(reason) => Reply::No {
                reason: self.redactor().redact(reason).into_owned(),
            },
        };
        let (fact, outcome) = Said::from(reply).fact(&call.asked.call, hash);
        let actor = self.caller.actor();
        let mut draft = Draft::new(Stream::run(call.run), call.trace, actor, fact)
            .in_run(call.run)
            .shown(Visibility::Full);
        draft.outcome = Some(outcome);
        let Open { journal, notes } = self.open()?;
        match answer_first(&journal, call.run, call.seq, draft)? {
            None => Ok(Noted { done: (), notes }),
            Some(first) => Err(already_decided(&first, call.run)),
        }
    }
}
