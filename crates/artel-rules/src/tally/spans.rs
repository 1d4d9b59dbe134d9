//! Stretches of time: those of tools, which may lie beside each other, and those of people.

use std::collections::BTreeMap;
use std::time::Duration;

use artel_types::Timestamp;

/// Stretches of time that may overlap; time in which several things happen counts once.
#[derive(Debug, Clone, Default)]
pub(super) struct Spans(Vec<(Timestamp, Timestamp)>);

/// What people were asked, and how long they took.
#[derive(Debug, Clone, Default)]
pub(super) struct Waits {
    open: BTreeMap<String, Timestamp>,
    done: Spans,
}

impl Spans {
    /// Adds a stretch by its end and its length.
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

impl Waits {
    /// Somebody is asked; asked again, they were asked before.
    pub(super) fn begin(&mut self, question: &str, at: Timestamp) {
        self.open.entry(question.to_owned()).or_insert(at);
    }

    /// The answer came.
    pub(super) fn end(&mut self, question: &str, at: Timestamp) {
        if let Some(asked) = self.open.remove(question) {
            self.done.0.push((asked, at));
        }
    }

    /// No answer is waited for any more.
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
