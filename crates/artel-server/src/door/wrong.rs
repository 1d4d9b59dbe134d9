//! Counts wrong tokens, so that nobody can try many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Number of wrong tokens from one address within the time window that get an answer; after
/// that, the address must wait. The limit bounds the server's cost: nobody guesses 256
/// bits.
const MOST: u32 = 1_000;

/// The time window in which wrong tokens are counted.
const SPAN: Duration = Duration::from_secs(60);

/// The number of wrong tokens in the current time window, by IP address.
#[derive(Debug, Default)]
pub(crate) struct WrongTokenCounter(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl WrongTokenCounter {
    /// Returns whether an address must wait before it may try another unknown token.
    pub(crate) fn is_too_many(&self, from: IpAddr) -> bool {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts
            .get(&from)
            .is_some_and(|(since, count)| since.elapsed() < SPAN && *count >= MOST)
    }

    /// Counts a wrong token.
    pub(crate) fn count(&self, from: IpAddr) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.retain(|_, (since, _)| since.elapsed() < SPAN);
        let (_, count) = counts.entry(from).or_insert_with(|| (Instant::now(), 0));
        *count = count.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{MOST, WrongTokenCounter};

    #[tokio::test(start_paused = true)]
    async fn after_many_wrong_ones_an_address_waits_a_minute() {
        let wrong = WrongTokenCounter::default();
        let (here, there) = ("127.0.0.1".parse().unwrap(), "127.0.0.2".parse().unwrap());
        for _ in 0..MOST {
            assert!(!wrong.is_too_many(here));
            wrong.count(here);
        }
        assert!(wrong.is_too_many(here));
        assert!(!wrong.is_too_many(there));
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(!wrong.is_too_many(here));
    }
}
