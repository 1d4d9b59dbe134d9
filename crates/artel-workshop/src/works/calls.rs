//! Agents' tool calls that await approval. Every surface shows them, any surface can
//! answer, and only the first answer counts.

use artel_engine::answer_first;
use artel_types::{
    AcceptedGrant, EventDraft, EventOutcome, EventVisibility, Failure, FailureCode, GrantOffer,
    GrantReach, RunId, StreamName, Timestamp, ToolAnswered, ToolAsked, TraceId,
};

use super::waiting::already_decided;
use super::waiting::{AttentionItem, AttentionKind};
use crate::runs::{RunVisibility, TimelineDetailLevel};
use crate::trouble::WorkshopFailures;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// A call that awaits approval.
#[derive(Debug, Clone)]
pub struct CallAwaitingApproval {
    /// The run that made the call.
    pub run: RunId,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// The run's title.
    pub title: String,
    /// Sequence number of the question in the journal.
    pub(crate) seq: u64,
    /// Time when the call was asked about.
    pub since: Timestamp,
    /// The question, as recorded.
    pub asked: ToolAsked,
    /// The process that drives the run.
    pub driver: String,
}

/// A call that awaits approval, as a viewer may see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallApprovalView {
    /// The call's id for people.
    pub id: String,
    /// The trace of the piece of work.
    pub trace: TraceId,
    pub tool: String,
    /// The effect of the call, or `None` if the tool is hidden.
    pub shown: Option<CallApprovalDetail>,
}

/// The effect of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallApprovalDetail {
    /// The reason why Artel asks about the call.
    pub why: String,
    /// The complete text of what the call would do.
    pub what: String,
    /// The hash of this text. An answer must name it.
    pub hash: String,
    /// Rules that a yes can grant beyond this one call, or `None` if Artel asks every time.
    pub offer: Option<GrantOffer>,
}

/// A person's decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallApprovalDecision {
    /// Allows this one call.
    Once,
    /// Allows the call and the rules offered with it, in all runs of the run's tree.
    ForRun,
    /// Allows the same permanently, for this reason.
    Always(String),
    /// Denies the call, for this reason.
    No(String),
}

/// A person's answer in words, and its meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedCallDecision {
    /// The decision that the words express.
    pub reply: CallApprovalDecision,
    /// A note for the person on how the answer was understood.
    pub note: Option<&'static str>,
}

/// The note for a person who answers `session`.
pub const NO_SESSIONS: &str = "there are no sessions yet: it holds for this run";

impl CallApprovalDecision {
    /// Parses an answer: `yes` or `once`, `run`, `always` or `no`, the last two with an
    /// optional reason after a colon. Returns `None` for anything else.
    pub fn of_words(answer: &str) -> Option<ParsedCallDecision> {
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
        Some(ParsedCallDecision { reply, note })
    }
}

impl CallAwaitingApproval {
    /// Returns the call's id: the beginnings of the run's id and of the hash of the call.
    pub fn id(&self) -> String {
        let hash: String = self.asked.record.chars().take(8).collect();
        format!("{}-{hash}", self.run.short())
    }

    /// Returns the possible answers.
    pub fn choices(&self) -> Vec<String> {
        let reaches = self.asked.offer.iter().flat_map(|offer| &offer.reaches);
        let reaches = reaches.map(|reach| reach.as_str());
        let words = ["yes"].into_iter().chain(reaches).chain(["no"]);
        words.map(str::to_owned).collect()
    }

    /// Returns the command that answers the call.
    pub fn command(&self) -> String {
        format!("artel answer {} {}", self.id(), self.choices().join("|"))
    }

    /// Describes what a yes can allow beyond this one call, or returns `None` if Artel asks
    /// every time.
    pub fn beyond_once(&self) -> Option<String> {
        let offer = self.asked.offer.as_ref()?;
        Some(if offer.rules.is_empty() {
            "exactly this call, in this run".to_owned()
        } else {
            offer.rules.join(", ")
        })
    }

    /// Returns what an answer grants, or a failure with the reason why it cannot.
    fn granted(&self, reach: GrantReach) -> Result<AcceptedGrant, Failure> {
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
            Failure::new(FailureCode::C004, what)
                .because(why)
                .advise(format!("answer with `{command}`"))
        })
    }

    /// Returns the call as an item of the list of what needs a person, with `what` as the text
    /// of the call.
    pub fn waits(&self, what: String) -> AttentionItem {
        let id = self.id();
        AttentionItem {
            kind: AttentionKind::Call,
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
    /// Returns the calls as a viewer may see them. A viewer who may only see summaries gets
    /// none, and a call of a hidden tool shows only that it waits.
    pub fn calls_seen(
        &self,
        calls: Vec<CallAwaitingApproval>,
        eyes: &RunVisibility,
    ) -> Result<Vec<CallApprovalView>, Failure> {
        let mut seen = Vec::new();
        let calls = calls.into_iter();
        for call in calls.filter(|_| eyes.most == TimelineDetailLevel::Full) {
            let shown = if eyes.see_call(&call.asked.tool) {
                Some(CallApprovalDetail {
                    what: self.whole_text(&call.asked.shown)?,
                    why: call.asked.why.clone(),
                    hash: call.asked.record.clone(),
                    offer: call.asked.offer.clone(),
                })
            } else {
                None
            };
            seen.push(CallApprovalView {
                id: call.id(),
                trace: call.trace,
                tool: call.asked.tool,
                shown,
            });
        }
        Ok(seen)
    }

    /// Returns the calls that await approval, oldest first.
    pub fn open_calls(&self) -> Result<Vec<CallAwaitingApproval>, Failure> {
        Ok(self.board_of_waits()?.calls(&self.drivers_now()?))
    }

    /// Finds an open call by its own id, its run or its piece of work.
    pub fn call_named(&self, id: &str) -> Result<CallAwaitingApproval, Failure> {
        let open = self.open_calls()?;
        let found: Vec<_> = open.iter().filter(|it| it.is_named(id)).collect();
        match found.as_slice() {
            [only] => Ok((*only).clone()),
            [] => Err(
                Failure::new(FailureCode::R004, format!("no call `{id}` waits for a yes"))
                    .because("it was answered, or its run goes on without it")
                    .advise("`artel waiting` shows what needs you"),
            ),
            several => {
                let names: Vec<_> = several.iter().map(|it| it.id()).collect();
                Err(
                    Failure::new(FailureCode::W006, format!("`{id}` is not unique"))
                        .because(format!("these calls wait: {}", names.join(", ")))
                        .advise(format!("`{}`", several[0].command())),
                )
            }
        }
    }

    /// Answers a call that awaits approval. `hash` names the text that the person saw. The
    /// first answer counts. Its grant is recorded with it, and kept permanently if the person
    /// said so.
    pub fn answer_call(
        &self,
        call: &CallAwaitingApproval,
        hash: &str,
        answer: &CallApprovalDecision,
    ) -> Result<OutcomeWithNotes<()>, WorkshopFailures> {
        if call.asked.record != hash {
            let what = "what would be done is not what you saw";
            return Err(Failure::new(FailureCode::R008, what)
                .advise("look at it again, then answer")
                .into());
        }
        let (granted, reason) = match answer {
            CallApprovalDecision::Once => (None, ""),
            CallApprovalDecision::ForRun => (Some(call.granted(GrantReach::Run)?), ""),
            CallApprovalDecision::Always(reason) => {
                (Some(call.granted(GrantReach::Always)?), reason.as_str())
            }
            CallApprovalDecision::No(reason) => (None, reason.as_str()),
        };
        self.refuse_secret_in(reason)?;
        let for_good = match answer {
            CallApprovalDecision::Always(_) => {
                granted.iter().flat_map(|it| it.rules.clone()).collect()
            }
            _ => Vec::new(),
        };
        for rule in &for_good {
            self.refuse_grant(rule, reason)?;
        }
        let (word, outcome) = match answer {
            CallApprovalDecision::Once => ("once", EventOutcome::Allowed),
            CallApprovalDecision::ForRun => (GrantReach::Run.as_str(), EventOutcome::Allowed),
            CallApprovalDecision::Always(_) => (GrantReach::Always.as_str(), EventOutcome::Allowed),
            CallApprovalDecision::No(_) => ("no", EventOutcome::Denied),
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
        let mut draft = EventDraft::new(StreamName::run(call.run), call.trace, actor, fact)
            .in_run(call.run)
            .shown(EventVisibility::Full);
        draft.outcome = Some(outcome);
        let OpenWorkshopJournal { journal, mut notes } = self.open()?;
        if let Some(first) = answer_first(&journal, call.run, call.seq, draft)? {
            return Err(already_decided(&first, call.run).into());
        }
        // Only the first answer grants anything permanently.
        for rule in &for_good {
            notes.extend(self.grant(rule, reason)?.notes);
        }
        Ok(OutcomeWithNotes { done: (), notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_words_means_what_it_says() {
        let no = |reason: &str| CallApprovalDecision::No(reason.to_owned());
        let always = |reason: &str| CallApprovalDecision::Always(reason.to_owned());
        for (words, expected) in [
            ("yes", Some(CallApprovalDecision::Once)),
            ("Y", Some(CallApprovalDecision::Once)),
            ("once", Some(CallApprovalDecision::Once)),
            ("run", Some(CallApprovalDecision::ForRun)),
            (" Run ", Some(CallApprovalDecision::ForRun)),
            ("always: our own build", Some(always("our own build"))),
            ("always", Some(always(""))),
            ("no", Some(no("a person said no"))),
            ("no: not today", Some(no("not today"))),
            ("maybe", None),
            ("", None),
        ] {
            let meant = CallApprovalDecision::of_words(words);
            assert_eq!(
                meant.as_ref().map(|it| &it.reply),
                expected.as_ref(),
                "{words}"
            );
            assert!(meant.is_none_or(|it| it.note.is_none()), "{words}");
        }
        let session = CallApprovalDecision::of_words("session").unwrap();
        assert_eq!(session.reply, CallApprovalDecision::ForRun);
        assert_eq!(session.note, Some(NO_SESSIONS));
    }
}
