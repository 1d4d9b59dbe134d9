//! Calls of agents that wait for a yes: seen from every surface, answered from any, once.

use artel_engine::answer_first;
use artel_types::{
    Code, Draft, Failure, GrantOffer, GrantReach, Granted, Outcome, RunId, Stream, Timestamp,
    ToolAnswered, ToolAsked, TraceId, Visibility,
};

use super::waiting::already_decided;
use super::waiting::{WaitSort, Waits};
use crate::runs::{Eyes, View};
use crate::trouble::Problems;
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
    /// What a yes may grant beyond this once; nothing where it is asked about every time.
    pub offer: Option<GrantOffer>,
}

/// Whether a call may be carried out, and what else with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallReply {
    /// It may, this once.
    Once,
    /// It may, and so may what is offered with it, in all runs of the tree.
    ForRun,
    /// The same for good, and why.
    Always(String),
    /// It may not, and why.
    No(String),
}

/// What a person said to a call, as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallWords {
    /// What they mean.
    pub reply: CallReply,
    /// What the person should know about how it was understood.
    pub note: Option<&'static str>,
}

/// What is said to whoever answers for a session.
pub const NO_SESSIONS: &str = "there are no sessions yet: it holds for this run";

impl CallReply {
    /// Understands an answer in words: `yes` or `once`, `run`, `always` or `no`, the last two with
    /// a reason behind a colon. Nothing where it is none of these.
    pub fn of_words(answer: &str) -> Option<CallWords> {
        let (word, reason) = answer.split_once(':').unwrap_or((answer, ""));
        let (word, reason) = (word.trim().to_ascii_lowercase(), reason.trim());
        let mut note = None;
        let reply = match word.as_str() {
            "y" | "yes" | "once" => Self::Once,
            "run" => Self::ForRun,
            "session" => {
                note = Some(NO_SESSIONS);
                Self::ForRun
            }
            "always" => Self::Always(reason.to_owned()),
            "n" | "no" => Self::No(match reason {
                "" => "a person said no".to_owned(),
                reason => reason.to_owned(),
            }),
            _ => return None,
        };
        Some(CallWords { reply, note })
    }
}

impl OpenCall {
    /// Returns what names it: the run and what would be done, both cut short.
    pub fn id(&self) -> String {
        let hash: String = self.asked.record.chars().take(8).collect();
        format!("{}-{hash}", self.run.short())
    }

    /// Returns the answers that it can be given.
    pub fn choices(&self) -> Vec<String> {
        let reaches = self.asked.offer.iter().flat_map(|offer| &offer.reaches);
        let reaches = reaches.map(|reach| reach.as_str());
        let words = ["yes"].into_iter().chain(reaches).chain(["no"]);
        words.map(str::to_owned).collect()
    }

    /// Returns the command that answers it.
    pub fn command(&self) -> String {
        format!("artel answer {} {}", self.id(), self.choices().join("|"))
    }

    /// Says what a yes beyond once would allow; nothing where it is asked about every time.
    pub fn beyond_once(&self) -> Option<String> {
        let offer = self.asked.offer.as_ref()?;
        Some(match offer.rules.is_empty() {
            true => "exactly this call, in this run".to_owned(),
            false => offer.rules.join(", "),
        })
    }

    /// Returns what an answer grants; says why it cannot.
    fn granted(&self, reach: GrantReach) -> Result<Granted, Failure> {
        let offer = self.asked.offer.as_ref();
        offer.and_then(|it| it.taken(reach)).ok_or_else(|| {
            let what = format!("this call cannot be allowed with `{}`", reach.as_str());
            let why = match (offer, reach) {
                (None, _) => "Artel asks about it every time, or an older Artel asked",
                (Some(_), GrantReach::Run) => "it can be allowed once only",
                (Some(_), GrantReach::Always) => {
                    "no rule that would allow it is narrow enough to keep"
                }
            };
            let command = self.command();
            Failure::new(Code::C004, what)
                .because(why)
                .advise(format!("answer with `{command}`"))
        })
    }

    /// Returns it as it stands in a list of what needs a person; `what` would be done.
    pub fn waits(&self, what: String) -> Waits {
        let id = self.id();
        Waits {
            kind: WaitSort::Call,
            trace: self.trace,
            title: self.title.clone(),
            text: format!("wants to run {}: {what}", self.asked.tool),
            choices: self.choices(),
            suggested: None,
            settling: Vec::new(),
            since: self.since,
            commands: vec![self.command()],
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
                    offer: call.asked.offer.clone(),
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
                    .advise(format!("`{}`", several[0].command())))
            }
        }
    }

    /// Answers a call that waits for a yes; `hash` says what the person saw. Who is first decides.
    /// What it grants is on record with the answer, and kept for good where that was said.
    pub fn answer_call(
        &self,
        call: &OpenCall,
        hash: &str,
        answer: &CallReply,
    ) -> Result<Noted<()>, Problems> {
        if call.asked.record != hash {
            let what = "what would be done is not what you saw";
            return Err(Failure::new(Code::R008, what)
                .advise("look at it again, then answer")
                .into());
        }
        let (granted, reason) = match answer {
            CallReply::Once => (None, ""),
            CallReply::ForRun => (Some(call.granted(GrantReach::Run)?), ""),
            CallReply::Always(reason) => (Some(call.granted(GrantReach::Always)?), reason.as_str()),
            CallReply::No(reason) => (None, reason.as_str()),
        };
        self.refuse_secret_in(reason)?;
        let for_good = match answer {
            CallReply::Always(_) => granted.iter().flat_map(|it| it.rules.clone()).collect(),
            _ => Vec::new(),
        };
        for rule in &for_good {
            self.refuse_grant(rule, reason)?;
        }
        let (word, outcome) = match answer {
            CallReply::Once => ("once", Outcome::Allowed),
            CallReply::ForRun => (GrantReach::Run.as_str(), Outcome::Allowed),
            CallReply::Always(_) => (GrantReach::Always.as_str(), Outcome::Allowed),
            CallReply::No(_) => ("no", Outcome::Denied),
        };
        let fact = ToolAnswered {
            call: call.asked.call.clone(),
            record: hash.to_owned(),
            answer: word.to_owned(),
            reason: reason.to_owned(),
            granted,
            offered: None,
        };
        let actor = self.caller.actor();
        let mut draft = Draft::new(Stream::run(call.run), call.trace, actor, fact)
            .in_run(call.run)
            .shown(Visibility::Full);
        draft.outcome = Some(outcome);
        let Open { journal, mut notes } = self.open()?;
        if let Some(first) = answer_first(&journal, call.run, call.seq, draft)? {
            return Err(already_decided(&first, call.run).into());
        }
        // Only whoever was first grants something for good.
        for rule in &for_good {
            notes.extend(self.grant(rule, reason)?.notes);
        }
        Ok(Noted { done: (), notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_words_means_what_it_says() {
        let no = |reason: &str| CallReply::No(reason.to_owned());
        let always = |reason: &str| CallReply::Always(reason.to_owned());
        for (words, expected) in [
            ("yes", Some(CallReply::Once)),
            ("Y", Some(CallReply::Once)),
            ("once", Some(CallReply::Once)),
            ("run", Some(CallReply::ForRun)),
            (" Run ", Some(CallReply::ForRun)),
            ("always: our own build", Some(always("our own build"))),
            ("always", Some(always(""))),
            ("no", Some(no("a person said no"))),
            ("no: not today", Some(no("not today"))),
            ("maybe", None),
            ("", None),
        ] {
            let meant = CallReply::of_words(words);
            assert_eq!(
                meant.as_ref().map(|it| &it.reply),
                expected.as_ref(),
                "{words}"
            );
            assert!(meant.is_none_or(|it| it.note.is_none()), "{words}");
        }
        let session = CallReply::of_words("session").unwrap();
        assert_eq!(session.reply, CallReply::ForRun);
        assert_eq!(session.note, Some(NO_SESSIONS));
    }
}
