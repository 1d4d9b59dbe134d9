//! Spans of time: those of tools, which may overlap, and those of people.

use std::collections::BTreeMap;
use std::time::Duration;

use artel_types::Timestamp;

/// Spans of time that may overlap; overlapping time counts once.
#[derive(Debug, Clone, Default)]
pub(super) struct TimeSpanUnion(Vec<(Timestamp, Timestamp)>);

/// The open questions to people, and how long the answers took.
#[derive(Debug, Clone, Default)]
pub(super) struct PersonWaitTimes {
    open: BTreeMap<String, Timestamp>,
    done: TimeSpanUnion,
}

impl TimeSpanUnion {
    /// Adds a span by its end and its length.
    pub(super) fn add(&mut self, end: Timestamp, millis: u64) {
        let begin = end.before(Duration::from_millis(millis));
        self.0.push((begin, end));
    }

    pub(super) fn millis(&self) -> u64 {
        let mut spans = self.0.clone();
        spans.sort_unstable();
        let (mut total, mut covered) = (Duration::ZERO, None::<Timestamp>);
        for (begin, end) in spans {
            let begin = covered.map_or(begin, |covered| covered.max(begin));
            if end > begin {
                total = total.saturating_add(end.since(begin));
                covered = Some(end);
            }
        }
        millis(total)
    }
}

impl PersonWaitTimes {
    /// Notes that a person is asked. If the question is repeated, the first time counts.
    pub(super) fn begin(&mut self, question: &str, at: Timestamp) {
        self.open.entry(question.to_owned()).or_insert(at);
    }

    /// Notes that the answer came.
    pub(super) fn end(&mut self, question: &str, at: Timestamp) {
        if let Some(asked) = self.open.remove(question) {
            self.done.0.push((asked, at));
        }
    }

    /// Notes that the answer is not needed any more.
    pub(super) fn forget(&mut self, question: &str) {
        self.open.remove(question);
    }

    pub(super) fn millis(&self) -> u64 {
        self.done.millis()
    }
}

pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
