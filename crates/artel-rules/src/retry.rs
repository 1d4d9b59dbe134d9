//! When to try again, and when to stop.

use std::time::Duration;

use artel_types::RetrySchedule;

/// Returns how long to wait before the next try, or `None` when the tries are used up.
///
/// `failures` counts the failed tries so far; before the first failure there is no wait.
/// The wait doubles from the schedule's first value up to its longest. A wait that the
/// other side names takes precedence if the schedule honours it, whether it is longer than
/// the longest wait or shorter than ours: the other side knows its own limits, and asking
/// sooner only makes it name a longer wait.
pub fn next_wait(
    schedule: &RetrySchedule,
    failures: u32,
    retry_after: Option<Duration>,
) -> Option<Duration> {
    if failures >= schedule.attempts {
        return None;
    }
    if failures == 0 {
        return Some(Duration::ZERO);
    }
    if let Some(named) = retry_after.filter(|_| schedule.honours_retry_after) {
        return Some(named);
    }
    let doublings = 2_u32.saturating_pow(failures - 1);
    Some(
        schedule
            .first
            .saturating_mul(doublings)
            .min(schedule.longest),
    )
}

#[cfg(test)]
mod tests {
    use artel_types::RetryClass;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(class: RetryClass, retry_after: Option<u64>, expected: &[u64]) {
        let named = retry_after.map(Duration::from_millis);
        let waits: Vec<_> = (1..100)
            .map_while(|failures| next_wait(&class.schedule(), failures, named))
            .map(|wait| wait.as_millis() as u64)
            .collect();
        assert_eq!(waits, expected, "{class:?} {retry_after:?}");
    }

    #[test]
    fn waits_follow_the_table() {
        check(RetryClass::Transient, None, &[100, 200, 400, 800]);
        let rate_limit = [1, 2, 4, 8, 16, 32, 60, 60, 60].map(|seconds| seconds * 1000);
        check(RetryClass::RateLimit, None, &rate_limit);
        check(RetryClass::Degrading, None, &[5000, 10_000]);
        check(RetryClass::UserFixable, None, &[]);
        check(RetryClass::Permanent, None, &[]);
    }

    #[test]
    fn a_named_wait_wins_only_where_it_is_honoured() {
        check(RetryClass::RateLimit, Some(7000), &[7000; 9]);
        check(RetryClass::RateLimit, Some(300_000), &[300_000; 9]);
        check(RetryClass::RateLimit, Some(0), &[0; 9]);
        check(RetryClass::Transient, Some(7000), &[100, 200, 400, 800]);
        check(RetryClass::Degrading, Some(7000), &[5000, 10_000]);
        check(RetryClass::Permanent, Some(7000), &[]);
    }

    #[test]
    fn the_first_try_needs_no_wait() {
        for class in RetryClass::ALL {
            assert_eq!(next_wait(&class.schedule(), 0, None), Some(Duration::ZERO));
        }
    }

    fn schedules() -> impl Strategy<Value = RetrySchedule> {
        (any::<u32>(), any::<u64>(), any::<u64>(), any::<bool>()).prop_map(
            |(attempts, first, longest, honours_retry_after)| RetrySchedule {
                attempts,
                first: Duration::from_millis(first),
                longest: Duration::from_millis(longest),
                honours_retry_after,
            },
        )
    }

    proptest! {
        #[test]
        fn waits_grow_and_stay_within_the_longest(schedule in schedules(), failures in 1_u32..200) {
            let this = next_wait(&schedule, failures, None);
            let next = next_wait(&schedule, failures + 1, None);
            prop_assert_eq!(this.is_some(), failures < schedule.attempts);
            if let Some(this) = this {
                prop_assert!(this <= schedule.longest);
                prop_assert!(next.is_none_or(|next| next >= this));
                prop_assert!(next.is_none_or(|next| next == (this * 2).min(schedule.longest)
                    || this == schedule.longest || failures > 31));
            }
        }

        #[test]
        fn any_input_has_an_answer(schedule in schedules(), failures: u32, named: Option<u64>) {
            let wait = next_wait(&schedule, failures, named.map(Duration::from_millis));
            prop_assert_eq!(wait.is_some(), failures < schedule.attempts);
        }
    }
}
