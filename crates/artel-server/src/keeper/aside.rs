//! Those who wait for a person: they stand aside, and others have their turn.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_workshop::{Approver, Elsewhere, Question, Said};
use tokio::sync::Notify;

/// Who of those under way waits for a person.
#[derive(Debug, Clone, Default)]
pub(super) struct AllAsking(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// How many questions each has put, where it has any.
    open: Mutex<HashMap<u64, usize>>,
    news: Notify,
}

/// The questions of one of those under way.
#[derive(Debug, Clone)]
pub(super) struct Asks {
    all: AllAsking,
    number: u64,
}

/// Waits for an answer from elsewhere, and stands aside meanwhile.
pub(super) struct Aside {
    pub(super) inner: Elsewhere,
    pub(super) asks: Asks,
}

/// A question that is open, for as long as this lives.
struct Open<'a>(&'a Asks);

impl AllAsking {
    /// Returns where one of those under way counts its questions.
    pub(super) fn of(&self, number: u64) -> Asks {
        let all = self.clone();
        Asks { all, number }
    }

    /// Returns how many wait for a person.
    pub(super) fn count(&self) -> usize {
        self.open().len()
    }

    /// Waits until more or fewer do.
    pub(super) async fn changed(&self) {
        self.0.news.notified().await;
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, usize>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Open<'a> {
    fn new(asks: &'a Asks) -> Self {
        *asks.all.open().entry(asks.number).or_default() += 1;
        asks.all.0.news.notify_one();
        Self(asks)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Asks { all, number } = self.0;
        let mut open = all.open();
        if let Some(count) = open.get_mut(number) {
            *count -= 1;
            if *count == 0 {
                open.remove(number);
            }
        }
        drop(open);
        all.0.news.notify_one();
    }
}

impl Approver for Aside {
    fn approve(&self, question: &Question) -> Option<Said> {
        let _open = Open::new(&self.asks);
        self.inner.approve(question)
    }

    fn settled(&self, question: &Question, why: &str) {
        self.inner.settled(question, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_a_question_counts_once_until_the_last_is_answered() {
        let all = AllAsking::default();
        let (one, other) = (all.of(1), all.of(2));
        let first = Open::new(&one);
        let second = Open::new(&one);
        let third = Open::new(&other);
        assert_eq!(all.count(), 2);
        drop(first);
        assert_eq!(all.count(), 2);
        drop((second, third));
        assert_eq!(all.count(), 0);
    }
}
