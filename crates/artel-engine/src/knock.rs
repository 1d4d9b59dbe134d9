//! Asks whether a call may be carried out. The question is recorded before it is put to
//! the person, so that it can be answered from any surface. The first recorded answer
//! decides, and surfaces that still show the question are notified.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use artel_journal::{EventBatch, EventFilter, Journal};
use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use artel_types::{
    Event, EventOutcome, Fact, Failure, RunId, SecretRedactor, ToolAnswered, ToolAsked,
};

use crate::audience::RunObserver;
use crate::first::{FirstRecordedAnswer, answer_to, append_first, fenced};
use crate::log::CallLog;
use crate::steer::{RunSteeringState, ShutdownLevel};

/// Poll interval while waiting for an answer.
const LOOK: Duration = Duration::from_millis(100);

/// Records everything up to the question, then asks a person.
pub struct RecordingApprover {
    /// The approver that asks the person.
    pub inner: Arc<dyn ToolCallApprover>,
    /// The call log, which must be flushed before the question.
    pub log: Arc<CallLog>,
    /// Removes secrets from everything that is stored.
    pub redactor: SecretRedactor,
    /// Whether this process should stop.
    pub stop: tokio::sync::watch::Receiver<ShutdownLevel>,
    pub audience: Arc<dyn RunObserver>,
}

/// Asks nobody here: people answer from wherever they see the waiting questions.
pub struct RemoteApprover {
    stop: tokio::sync::watch::Receiver<ShutdownLevel>,
    settled: Mutex<Vec<String>>,
    news: Condvar,
}

impl RemoteApprover {
    /// Waits until there is an answer, or until the process is to stop.
    pub fn new(stop: tokio::sync::watch::Receiver<ShutdownLevel>) -> Self {
        Self {
            stop,
            settled: Mutex::default(),
            news: Condvar::new(),
        }
    }
}

impl ToolCallApprover for RemoteApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(at) = settled.iter().position(|call| *call == question.call) {
                settled.swap_remove(at);
                return None;
            }
            if *self.stop.borrow() != ShutdownLevel::No {
                return Some(ToolApprovalAnswer::Left.into());
            }
            let waited = self.news.wait_timeout(settled, LOOK);
            settled = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn settled(&self, question: &ToolApprovalQuestion, _: &str) {
        let settled = self.settled.lock();
        let mut settled = settled.unwrap_or_else(PoisonError::into_inner);
        settled.push(question.call.clone());
        self.news.notify_all();
    }
}

impl ToolCallApprover for RecordingApprover {
    fn approve(&self, question: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        self.log.flush().ok()?;
        let asked = self.put(question).ok()?;
        // Anything recorded after the question is noticed while it is shown.
        if self.is_cancelled() {
            return Some(ToolApprovalAnswer::Left.into());
        }
        let said = self.pose(question, asked);
        if self.is_cancelled() {
            return Some(ToolApprovalAnswer::Left.into());
        }
        let said = self.first(question, asked, said)?;
        Some(self.held(said))
    }
}

/// Marks the question as over when dropped, even if asking failed.
struct QuestionOverGuard<'o>(&'o AtomicBool);

impl Drop for QuestionOverGuard<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl RecordingApprover {
    /// Asks the question here, until it is answered elsewhere or no longer needed.
    fn pose(&self, question: &ToolApprovalQuestion, asked: u64) -> Option<AttributedToolApproval> {
        let is_over = AtomicBool::new(false);
        // An approver for several runs must tell their questions apart, even two about the
        // same call.
        let posed = ToolApprovalQuestion {
            call: format!("{}/{}/{asked}", self.log.chronicle().run(), question.call),
            ..question.clone()
        };
        std::thread::scope(|scope| {
            let _over = QuestionOverGuard(&is_over);
            scope.spawn(|| {
                if let Some(why) = self.listen(question, asked, &is_over) {
                    self.inner.settled(&posed, &why);
                }
            });
            self.inner.approve(&posed)
        })
    }

    fn course(&self) -> Result<RunSteeringState, Failure> {
        let chronicle = self.log.chronicle();
        RunSteeringState::of(chronicle.journal(), chronicle.run())
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.course(), Ok(RunSteeringState::Cancelled))
    }

    /// Holds back a yes while the run is paused. Nothing is begun if the run was cancelled
    /// meanwhile, or if this process leaves it.
    fn held(&self, said: AttributedToolApproval) -> AttributedToolApproval {
        if !matches!(said.reply, ToolApprovalAnswer::Yes { .. }) {
            return said;
        }
        let mut rest = None;
        loop {
            let course = self.course();
            if matches!(course, Ok(RunSteeringState::GoesOn)) {
                return said;
            }
            if matches!(course, Ok(RunSteeringState::Cancelled))
                || *self.stop.borrow() != ShutdownLevel::No
            {
                return ToolApprovalAnswer::Left.into();
            }
            // The run is paused, or the journal cannot be read now but may be readable at
            // the next look.
            rest = rest.or_else(|| self.audience.rests());
            std::thread::park_timeout(LOOK);
        }
    }

    /// Records the question and returns its sequence number.
    fn put(&self, question: &ToolApprovalQuestion) -> Result<u64, Failure> {
        let chronicle = self.log.chronicle();
        let shown = question.record.lines().join("\n");
        let asked = ToolAsked {
            call: question.call.clone(),
            tool: question.tool.clone(),
            record: question.record.hash().as_str().to_owned(),
            shown: chronicle.keep(self.redactor.redact(&shown).into_owned())?,
            why: self.redactor.redact(&question.decision.reason).into_owned(),
            offer: question.offer(),
        };
        let draft = chronicle.quiet(asked);
        let batch = fenced(EventBatch::of([draft]), chronicle.fence());
        let receipt = chronicle.journal().append(batch).wait()?;
        Ok(*receipt.seqs.end())
    }

    /// Waits until the question is settled, and returns how: by an answer from elsewhere,
    /// or by the cancellation of the run.
    fn listen(
        &self,
        question: &ToolApprovalQuestion,
        asked: u64,
        is_over: &AtomicBool,
    ) -> Option<String> {
        let chronicle = self.log.chronicle();
        let subscribe = || {
            let filter = EventFilter {
                run: Some(chronicle.run().to_string()),
                ..EventFilter::default()
            };
            chronicle.journal().subscribe(filter, asked)
        };
        let mut news = subscribe();
        while !is_over.load(Ordering::Relaxed) {
            let Ok(heard) = news.wait(LOOK) else {
                // A journal that cannot be read now may be readable at the next look.
                std::thread::park_timeout(LOOK);
                news = subscribe();
                continue;
            };
            let Some(Ok(event)) = heard.map(|record| record.event()) else {
                continue;
            };
            match &event.fact {
                Fact::ToolAnswered(it) if is_answer(it, question) => {
                    let (who, answer) = (event.actor.label(), &it.answer);
                    return Some(format!("already decided: {who} answered {answer}"));
                }
                Fact::RunSteered(it) if it.act == "cancel" => {
                    return Some("cancelled elsewhere".to_owned());
                }
                _ => {}
            }
        }
        None
    }

    /// Returns the first answer: the recorded one, or the one given here, which is then
    /// recorded. Nobody answering here is recorded too.
    fn first(
        &self,
        question: &ToolApprovalQuestion,
        asked: u64,
        said: Option<AttributedToolApproval>,
    ) -> Option<AttributedToolApproval> {
        let chronicle = self.log.chronicle();
        let mine = said.unwrap_or_else(|| ToolApprovalAnswer::Nobody.into());
        if matches!(mine.reply, ToolApprovalAnswer::Left) {
            // No answer was given here; one may have been recorded all the same.
            let found = found(chronicle.journal(), chronicle.run(), question, asked);
            let told = found.ok().flatten().map(|event| told(&event));
            return Some(told.unwrap_or(mine));
        }
        let (mut fact, outcome) = mine.fact(question);
        fact.reason = self.redactor.redact(&fact.reason).into_owned();
        let mut draft = chronicle.quiet(fact);
        draft.actor = mine.by.clone().unwrap_or(draft.actor);
        draft.outcome = Some(outcome);
        let kept = append_first(
            chronicle.journal(),
            chronicle.run(),
            asked,
            (draft, chronicle.fence()),
        );
        match kept.ok()? {
            FirstRecordedAnswer::Mine(_) => Some(AttributedToolApproval {
                is_recorded: true,
                ..mine
            }),
            FirstRecordedAnswer::Other(event) => Some(told(&event)),
        }
    }
}

fn found(
    journal: &Journal,
    run: RunId,
    question: &ToolApprovalQuestion,
    asked: u64,
) -> Result<Option<Event>, Failure> {
    let (fact, _) = AttributedToolApproval::from(ToolApprovalAnswer::Nobody).fact(question);
    answer_to(journal, run, asked, &fact.into())
}

fn is_answer(answered: &ToolAnswered, question: &ToolApprovalQuestion) -> bool {
    answered.call == question.call && answered.record == question.record.hash().as_str()
}

/// Returns a recorded answer. It includes how far a yes reaches.
fn told(event: &Event) -> AttributedToolApproval {
    let reply = match (&event.fact, event.outcome) {
        (Fact::ToolAnswered(_), Some(EventOutcome::Allowed)) => ToolApprovalAnswer::once(),
        (Fact::ToolAnswered(it), _) if it.answer == "nobody" => ToolApprovalAnswer::Nobody,
        (Fact::ToolAnswered(it), _) => ToolApprovalAnswer::No {
            reason: it.reason.clone(),
        },
        _ => ToolApprovalAnswer::Left,
    };
    AttributedToolApproval {
        is_recorded: true,
        ..reply.by(event.actor.clone())
    }
}
