//! Limits how fast one token or sign-in may change things, so that a runaway program fills
//! neither the journal nor the inbox.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Number of seconds whose changes may be made at once after a pause.
const SAVED: u64 = 5;

/// The remaining allowance of each token or sign-in, by id.
#[derive(Debug, Default)]
pub(crate) struct ChangeRateLimiter(Mutex<HashMap<String, RateLimitBucket>>);

/// A token bucket, which refills over time.
#[derive(Debug)]
struct RateLimitBucket {
    /// Remaining changes, in millionths.
    left: u64,
    since: Instant,
}

impl ChangeRateLimiter {
    /// Takes one change from the caller's allowance of `a_second` changes per second. On
    /// failure, returns how long to wait.
    pub(crate) fn take(&self, id: &str, a_second: u64) -> Result<(), Duration> {
        const ONE: u64 = 1_000_000;
        let full = a_second.saturating_mul(SAVED).saturating_mul(ONE);
        let now = Instant::now();
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller that paused this long would have a full bucket again, like a new one.
        buckets.retain(|_, bucket| bucket.since + Duration::from_secs(SAVED) > now);
        let bucket = buckets.entry(id.to_owned()).or_insert(RateLimitBucket {
            left: full,
            since: now,
        });
        let passed = now.duration_since(bucket.since).as_micros();
        let gained = u64::try_from(passed).unwrap_or(u64::MAX);
        let left = bucket.left.saturating_add(gained.saturating_mul(a_second));
        bucket.left = left.min(full);
        bucket.since = now;
        match bucket.left.checked_sub(ONE) {
            Some(left) => {
                bucket.left = left;
                Ok(())
            }
            None => Err(Duration::from_micros((ONE - bucket.left) / a_second.max(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ChangeRateLimiter, SAVED};

    #[tokio::test(start_paused = true)]
    async fn what_is_too_fast_waits_and_others_do_not() {
        let rate = ChangeRateLimiter::default();
        for _ in 0..10 * SAVED {
            rate.take("ada", 10).unwrap();
        }
        let wait = rate.take("ada", 10).unwrap_err();
        assert_eq!(wait, Duration::from_millis(100));
        rate.take("bo", 10).unwrap();
        tokio::time::advance(wait).await;
        rate.take("ada", 10).unwrap();
        rate.take("ada", 10).unwrap_err();
        tokio::time::advance(Duration::from_secs(3600)).await;
        for _ in 0..10 * SAVED {
            rate.take("ada", 10).unwrap();
        }
        rate.take("ada", 10).unwrap_err();
    }
}
