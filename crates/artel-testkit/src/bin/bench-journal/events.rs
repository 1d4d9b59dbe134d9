//! Events such as a working workshop records: runs with remarks and costs, payloads of
//! about 300 bytes, always with trace, session and run.

use artel_testkit::Random;
use artel_types::{
    Actor, BudgetSettled, EventDraft, EventOutcome, Fact, NoteAdded, RunFinished, RunId,
    RunStarted, SessionId, SpendAmount, StreamName, TraceId,
};

/// Number of events per run.
const RUN_LENGTH: usize = 40;

/// An endless sequence of runs with their events.
pub(crate) struct Work {
    random: Random,
    ids: (RunId, SessionId, TraceId),
    number: usize,
}

impl Work {
    /// Starts with a run that no other seed has.
    pub(crate) fn of_seed(seed: u64) -> Self {
        let mut random = Random::of_seed(seed);
        Self {
            ids: ids(&mut random),
            random,
            number: 0,
        }
    }

    /// Returns the next `count` events.
    pub(crate) fn take(&mut self, count: usize) -> Vec<EventDraft> {
        (0..count).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> EventDraft {
        let at = self.number % RUN_LENGTH;
        self.number += 1;
        if at == 0 {
            self.ids = ids(&mut self.random);
        }
        let (run, session, trace) = self.ids;
        let fact = self.fact(at, run);
        let draft = EventDraft::new(StreamName::run(run), trace, Actor::agent("engineer"), fact)
            .in_run(run)
            .in_session(session);
        match at {
            0 => draft,
            _ if at == RUN_LENGTH - 1 => draft.ending(EventOutcome::Done),
            _ => draft.on(format!("crates/artel-journal/src/part{at}.rs")),
        }
    }

    fn fact(&mut self, at: usize, id: RunId) -> Fact {
        match at {
            0 => {
                let title = self.text(230);
                RunStarted::new(id, title).into()
            }
            _ if at == RUN_LENGTH - 1 => {
                let summary = self.text(230);
                RunFinished::new(id, summary).into()
            }
            _ if at.is_multiple_of(8) => {
                let (key, amount) = (self.text(220), SpendAmount::new(4_250, 31_000));
                BudgetSettled { key, amount }.into()
            }
            _ => {
                let text = self.text(285).as_str().into();
                NoteAdded { text }.into()
            }
        }
    }

    /// Returns words of about `length` bytes, with occasional line breaks as in real
    /// output.
    fn text(&mut self, length: usize) -> String {
        const WORDS: [&str; 8] = [
            "the test",
            "`src/lib.rs`",
            "fails because",
            "error[E0308]:",
            "now passes\n",
            "in the next step",
            "was changed",
            "\"as planned\"",
        ];
        let mut text = String::with_capacity(length + 20);
        while text.len() < length {
            text.push_str(WORDS[self.random.below(8) as usize]);
            text.push(' ');
        }
        text
    }
}

fn ids(random: &mut Random) -> (RunId, SessionId, TraceId) {
    (
        RunId::from_random(random.bytes()),
        SessionId::from_random(random.bytes()),
        TraceId::from_random(random.bytes()),
    )
}
