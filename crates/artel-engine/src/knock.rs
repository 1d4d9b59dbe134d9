//! Asks whether a call may be carried out. The question is on record before it is put, so that it
//! can be answered from any surface; the first answer on record decides, and whoever still asks is
//! told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use artel_journal::{Batch, Filter, Journal};
use artel_tools::{Approver, Question, Reply, Said};
use artel_types::{Event, Fact, Failure, Outcome, Redactor, RunId, ToolAnswered, ToolAsked};

use crate::audience::Audience;
use crate::first::{First, answer_to, append_first, fenced};
use crate::log::CallLog;
use crate::steer::{Course, Stop};

/// How long there is a look for an answer before the next look whether it is still waited for.
const LOOK: Duration = Duration::from_millis(100);

/// Asks a person, once everything up to the question is on record.
pub struct Knock {
    /// Who asks.
    pub inner: Arc<dyn Approver>,
    /// What has to be on record first.
    pub log: Arc<CallLog>,
    /// What takes secrets out of whatever is stored.
    pub redactor: Redactor,
    /// Says when this process should stop.
    pub stop: tokio::sync::watch::Receiver<Stop>,
    /// Who watches.
    pub audience: Arc<dyn Audience>,
}

/// Asks nobody here: whoever looks at what waits answers, from wherever they are.
pub struct Elsewhere {
    stop: tokio::sync::watch::Receiver<Stop>,
    settled: Mutex<Vec<String>>,
    news: Condvar,
}

impl Elsewhere {
    /// Waits until there is an answer, or until it is to stop.
    pub fn new(stop: tokio::sync::watch::Receiver<Stop>) -> Self {
        Self {
            stop,
            settled: Mutex::default(),
            news: Condvar::new(),
        }
    }
}

impl Approver for Elsewhere {
    fn approve(&self, question: &Question) -> Option<Said> {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(at) = settled.iter().position(|call| *call == question.call) {
                settled.swap_remove(at);
                return None;
            }
            if *self.stop.borrow() != Stop::No {
                return Some(Reply::Left.into());
            }
            let waited = self.news.wait_timeout(settled, LOOK);
            settled = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn settled(&self, question: &Question, _: &str) {
        let settled = self.settled.lock();
        let mut settled = settled.unwrap_or_else(PoisonError::into_inner);
        settled.push(question.call.clone());
        self.news.notify_all();
    }
}

impl Approver for Knock {
    fn approve(&self, question: &Question) -> Option<Said> {
        self.log.flush().ok()?;
        let asked = self.put(question).ok()?;
        // Whatever comes after the question is heard while it is put.
        if self.is_cancelled() {
            return Some(Reply::Left.into());
        }
        let said = self.pose(question, asked);
        if self.is_cancelled() {
            return Some(Reply::Left.into());
        }
        let said = self.first(question, asked, said)?;
        Some(self.held(said))
    }
}

/// Says that a question is over when it goes out of scope, also where asking came to grief.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Knock {
    /// Has the question answered here, unless there is an answer from elsewhere or no more need.
    fn pose(&self, question: &Question, asked: u64) -> Option<Said> {
        let is_over = AtomicBool::new(false);
        // One who asks for several runs tells their questions apart, also two about one call.
        let posed = Question {
            call: format!("{}/{}/{asked}", self.log.chronicle().run(), question.call),
            ..question.clone()
        };
        std::thread::scope(|scope| {
            let _over = Over(&is_over);
            scope.spawn(|| {
                if let Some(why) = self.listen(question, asked, &is_over) {
                    self.inner.settled(&posed, &why);
                }
            });
            self.inner.approve(&posed)
        })
    }

    fn course(&self) -> Result<Course, Failure> {
        let chronicle = self.log.chronicle();
        Course::of(chronicle.journal(), chronicle.run())
    }

    fn is_cancelled(&self) -> bool {
        matches!(self.course(), Ok(Course::Cancelled))
    }

    /// Holds a yes back for as long as the run is paused. In one that was cancelled meanwhile, or
    /// that this process leaves, nothing is begun.
    fn held(&self, said: Said) -> Said {
        if !matches!(said.reply, Reply::Yes { .. }) {
            return said;
        }
        let mut rest = None;
        loop {
            let course = self.course();
            if matches!(course, Ok(Course::GoesOn)) {
                return said;
            }
            if matches!(course, Ok(Course::Cancelled)) || *self.stop.borrow() != Stop::No {
                return Reply::Left.into();
            }
            // Paused; or the journal cannot be read now, and may be at the next look.
            rest = rest.or_else(|| self.audience.rests());
            std::thread::park_timeout(LOOK);
        }
    }

    /// Puts the question on record, and returns where.
    fn put(&self, question: &Question) -> Result<u64, Failure> {
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
        let batch = fenced(Batch::of([draft]), chronicle.fence());
        let receipt = chronicle.journal().append(batch).wait()?;
        Ok(*receipt.seqs.end())
    }

    /// Waits for what makes the question into none, and says what it was: an answer from
    /// elsewhere, or the end of the run.
    fn listen(&self, question: &Question, asked: u64, is_over: &AtomicBool) -> Option<String> {
        let chronicle = self.log.chronicle();
        let subscribe = || {
            let filter = Filter {
                run: Some(chronicle.run().to_string()),
                ..Filter::default()
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

    /// Returns the first answer: the one on record, or what was said here, which is put on record,
    /// also where nobody answered.
    fn first(&self, question: &Question, asked: u64, said: Option<Said>) -> Option<Said> {
        let chronicle = self.log.chronicle();
        let mine = said.unwrap_or_else(|| Reply::Nobody.into());
        if matches!(mine.reply, Reply::Left) {
            // Nothing was said here; an answer may have come all the same.
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
            First::Mine(_) => Some(Said {
                is_recorded: true,
                ..mine
            }),
            First::Other(event) => Some(told(&event)),
        }
    }
}

fn found(
    journal: &Journal,
    run: RunId,
    question: &Question,
    asked: u64,
) -> Result<Option<Event>, Failure> {
    let (fact, _) = Said::from(Reply::Nobody).fact(question);
    answer_to(journal, run, asked, &fact.into())
}

fn is_answer(answered: &ToolAnswered, question: &Question) -> bool {
    answered.call == question.call && answered.record == question.record.hash().as_str()
}

/// Returns what an answer on record says. How far a yes reaches is on record with it.
fn told(event: &Event) -> Said {
    let reply = match (&event.fact, event.outcome) {
        (Fact::ToolAnswered(_), Some(Outcome::Allowed)) => Reply::once(),
        (Fact::ToolAnswered(it), _) if it.answer == "nobody" => Reply::Nobody,
        (Fact::ToolAnswered(it), _) => Reply::No {
            reason: it.reason.clone(),
        },
        _ => Reply::Left,
    };
    Said {
        is_recorded: true,
        ..reply.by(event.actor.clone())
    }
}
