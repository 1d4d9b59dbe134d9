//! Keeps retries silent until there are so many that the person should know.
//!
//! There is one tracker per resource (a provider, a server): blips of one must not count
//! against another.

use std::collections::VecDeque;
use std::time::Duration;

/// When repeated errors are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorFrequencyLimits {
    /// Number of errors that leads to a notice.
    pub count: usize,
    /// Period in which the errors must occur.
    pub window: Duration,
    /// Time after a notice without another one.
    pub cooldown: Duration,
}

/// Whether to tell the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFrequencyNotice {
    /// Say nothing.
    Quiet,
    /// Say that errors have become frequent.
    Tell,
}

/// The recent errors of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorFrequency {
    /// At most as many as the limit's count: older ones cannot change the answer.
    recent: VecDeque<Duration>,
    told: Option<Duration>,
}

impl Default for ErrorFrequencyLimits {
    fn default() -> Self {
        Self {
            count: 3,
            window: Duration::from_secs(10),
            cooldown: Duration::from_secs(60),
        }
    }
}

impl ErrorFrequency {
    /// Counts a transient error at a moment of a monotonic clock.
    ///
    /// An error exactly as old as the window still counts. A cooldown that ends exactly
    /// now is over.
    #[must_use]
    pub fn count(
        mut self,
        at: Duration,
        limits: &ErrorFrequencyLimits,
    ) -> (Self, ErrorFrequencyNotice) {
        self.recent.push_back(at);
        self.recent
            .retain(|error| at.saturating_sub(*error) <= limits.window);
        while self.recent.len() > limits.count {
            self.recent.pop_front();
        }
        let is_cooling = self
            .told
            .is_some_and(|told| at.saturating_sub(told) < limits.cooldown);
        if self.recent.len() < limits.count || is_cooling {
            return (self, ErrorFrequencyNotice::Quiet);
        }
        self.told = Some(at);
        (self, ErrorFrequencyNotice::Tell)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the moments at which the person is told.
    fn told(limits: &ErrorFrequencyLimits, moments: &[u64]) -> Vec<u64> {
        let mut frequency = ErrorFrequency::default();
        let mut told = Vec::new();
        for at in moments {
            let (next, notice) = frequency.count(Duration::from_millis(*at), limits);
            frequency = next;
            if notice == ErrorFrequencyNotice::Tell {
                told.push(*at);
            }
        }
        told
    }

    #[track_caller]
    fn check(moments: &[u64], expected: &[u64]) {
        assert_eq!(
            told(&ErrorFrequencyLimits::default(), moments),
            expected,
            "{moments:?}"
        );
    }

    #[test]
    fn the_third_error_within_the_window_is_told_once() {
        check(&[0, 1000], &[]);
        check(&[0, 1000, 2000], &[2000]);
        check(&[0, 5000, 10_000], &[10_000]);
        check(&[0, 5000, 10_001], &[]);
        check(&[0, 0, 0, 0], &[0]);
        check(&[0, 11_000, 22_000, 33_000], &[]);
    }

    #[test]
    fn it_is_told_again_only_after_the_cooldown() {
        check(&[0, 1000, 2000, 3000, 30_000, 31_000, 32_000], &[2000]);
        check(&[0, 1000, 2000, 60_000, 61_000, 61_999], &[2000]);
        check(&[0, 1000, 2000, 60_000, 61_000, 62_000], &[2000, 62_000]);
        check(
            &[0, 1000, 2000, 100_000, 100_001, 100_002],
            &[2000, 100_002],
        );
    }

    #[test]
    fn a_clock_that_goes_back_does_no_harm() {
        check(&[10_000, 9000, 8000, 7000], &[8000]);
    }

    #[test]
    fn a_count_of_one_or_none_tells_at_once() {
        for count in [0, 1] {
            let limits = ErrorFrequencyLimits {
                count,
                ..ErrorFrequencyLimits::default()
            };
            assert_eq!(told(&limits, &[5, 6, 60_005]), [5, 60_005]);
        }
    }

    proptest! {
        #[test]
        fn notices_are_a_cooldown_apart_and_deserved(steps in proptest::collection::vec(0_u64..8000, 0..60)) {
            let limits = ErrorFrequencyLimits::default();
            let moments: Vec<u64> = steps
                .iter()
                .scan(0, |now, step| {
                    *now += step;
                    Some(*now)
                })
                .collect();
            let told = told(&limits, &moments);
            for pair in told.windows(2) {
                prop_assert!(pair[1] - pair[0] >= 60_000);
            }
            for at in told {
                let errors = moments.iter().filter(|error| **error <= at && at - **error <= 10_000);
                prop_assert!(errors.count() >= 3);
            }
        }
    }
}
