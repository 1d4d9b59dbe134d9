//! Calls of agents that need a yes while nobody sits at the daemon: they wait until somebody
//! answers at the console or over the interface.

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use artel_types::{Code, Failure, TraceId};
use artel_workshop::{Approver, Question, Said};

/// A call that waits for a yes.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// Names it, for as long as the daemon runs.
    pub(crate) id: String,
    /// The piece of work.
    pub(crate) trace: TraceId,
    /// The tool.
    pub(crate) tool: String,
    /// Why it is asked.
    pub(crate) why: String,
    /// What would be done, completely.
    pub(crate) what: String,
    /// The hash of what would be done; an answer names it.
    pub(crate) hash: String,
}

/// All calls that wait.
#[derive(Debug, Default)]
pub(crate) struct Asks(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    count: u64,
    open: BTreeMap<u64, (Ask, Sender<Said>)>,
}

impl Asks {
    /// Lists them, the oldest first.
    pub(crate) fn list(&self) -> Vec<Ask> {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.open.values().map(|(ask, _)| ask.clone()).collect()
    }

    /// Answers one; `hash` says what the person saw. Whoever drives the run puts on record who
    /// said what.
    pub(crate) fn answer(&self, id: &str, hash: &str, said: Said) -> Result<Ask, Failure> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = id.parse::<u64>().ok();
        let known = number.and_then(|number| inner.open.get(&number).map(|it| (number, it)));
        let Some((number, (ask, _))) = known else {
            return Err(
                Failure::new(Code::R004, format!("there is no open question `{id}`"))
                    .advise("it may be answered already; load what waits anew"),
            );
        };
        if ask.hash != hash {
            return Err(
                Failure::new(Code::R008, "what would be done is not what you saw")
                    .advise("look at it anew, then answer"),
            );
        }
        let Some((ask, sender)) = inner.open.remove(&number) else {
            return Err(Failure::new(
                Code::X001,
                "a question that was there is gone",
            ));
        };
        // Whoever asked may have ended meanwhile; then nothing is done.
        drop(sender.send(said));
        Ok(ask)
    }

    fn put(&self, trace: TraceId, question: &Question) -> Option<Said> {
        let (sender, answered) = channel();
        {
            let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            inner.count += 1;
            let id = inner.count;
            let ask = Ask {
                id: id.to_string(),
                trace,
                tool: question.tool.clone(),
                why: question.decision.reason.clone(),
                what: question.record.lines().join("\n"),
                hash: question.record.hash().as_str().to_owned(),
            };
            inner.open.insert(id, (ask, sender));
        }
        answered.recv().ok()
    }
}

/// Asks whoever looks at the console, for the calls of one piece of work.
pub(super) struct AtConsole {
    pub(super) asks: Arc<Asks>,
    pub(super) trace: TraceId,
}

impl Approver for AtConsole {
    fn approve(&self, question: &Question) -> Option<Said> {
        self.asks.put(self.trace, question)
    }
}
