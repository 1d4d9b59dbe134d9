//! Days, weeks and months in UTC. Spending is kept per day, and every period begins with a
//! day.

use std::ops::Range;

use artel_types::Timestamp;
use artel_types::model::CalendarPeriod;
use jiff::Span;
use jiff::civil::{Date, date};

/// Days since 1970-01-01.
pub(super) type BudgetDay = i64;

const MICROS: i64 = 86_400_000_000;

const FIRST_DAY: Date = date(1970, 1, 1);

/// Returns the start of the period that contains a moment.
pub fn period_start(period: CalendarPeriod, at: Timestamp) -> Timestamp {
    beginning(days(period, at).start)
}

/// Returns the end of the period that contains a moment: the first moment of the next
/// period.
pub fn period_end(period: CalendarPeriod, at: Timestamp) -> Timestamp {
    beginning(days(period, at).end)
}

/// Returns the day that contains a moment.
pub(super) fn day_of(at: Timestamp) -> BudgetDay {
    at.as_micros().div_euclid(MICROS)
}

/// Returns the days of the period that contains a moment.
pub(super) fn days(period: CalendarPeriod, at: Timestamp) -> Range<BudgetDay> {
    let today = day_of(at);
    match period {
        CalendarPeriod::Day => today..today + 1,
        CalendarPeriod::Week => {
            // Day 0 was a Thursday.
            let monday = today - (today + 3).rem_euclid(7);
            monday..monday + 7
        }
        // Outside the years of the calendar, a month is a day.
        CalendarPeriod::Month => month(today).unwrap_or(today..today + 1),
    }
}

fn month(today: BudgetDay) -> Option<Range<BudgetDay>> {
    let since_first = Span::new().try_days(today).ok()?;
    let today = FIRST_DAY.checked_add(since_first).ok()?;
    let next = today.last_of_month().tomorrow().ok()?;
    Some(number(today.first_of_month())?..number(next)?)
}

fn number(day: Date) -> Option<BudgetDay> {
    Some(FIRST_DAY.until(day).ok()?.get_days().into())
}

fn beginning(day: BudgetDay) -> Timestamp {
    Timestamp::from_micros(day.saturating_mul(MICROS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(period: CalendarPeriod, at: &str, start: &str, end: &str) {
        let at: Timestamp = at.parse().unwrap();
        let found = (period_start(period, at), period_end(period, at));
        let expected = (start.parse().unwrap(), end.parse().unwrap());
        assert_eq!(found, expected, "{period} of {at}");
    }

    #[test]
    fn periods_are_those_of_the_calendar() {
        check(
            CalendarPeriod::Day,
            "2026-11-15T00:00:00Z",
            "2026-11-15",
            "2026-11-16",
        );
        check(
            CalendarPeriod::Day,
            "2026-11-15T23:59:59.999999Z",
            "2026-11-15",
            "2026-11-16",
        );
        check(
            CalendarPeriod::Day,
            "1969-12-31T23:00:00Z",
            "1969-12-31",
            "1970-01-01",
        );
        check(
            CalendarPeriod::Week,
            "2026-11-15T12:00:00Z",
            "2026-11-09",
            "2026-11-16",
        );
        check(
            CalendarPeriod::Week,
            "2026-11-16",
            "2026-11-16",
            "2026-11-23",
        );
        check(
            CalendarPeriod::Week,
            "1970-01-01",
            "1969-12-29",
            "1970-01-05",
        );
        check(
            CalendarPeriod::Week,
            "2027-01-01",
            "2026-12-28",
            "2027-01-04",
        );
        check(
            CalendarPeriod::Month,
            "2026-11-15",
            "2026-11-01",
            "2026-12-01",
        );
        check(
            CalendarPeriod::Month,
            "2026-12-31T23:59:59Z",
            "2026-12-01",
            "2027-01-01",
        );
        check(
            CalendarPeriod::Month,
            "2028-02-29",
            "2028-02-01",
            "2028-03-01",
        );
        check(
            CalendarPeriod::Month,
            "1965-02-10",
            "1965-02-01",
            "1965-03-01",
        );
    }

    #[test]
    fn moments_without_a_calendar_do_no_harm() {
        for micros in [i64::MIN, i64::MAX] {
            for period in [
                CalendarPeriod::Day,
                CalendarPeriod::Week,
                CalendarPeriod::Month,
            ] {
                let at = Timestamp::from_micros(micros);
                assert!(period_start(period, at) <= at && at <= period_end(period, at));
            }
        }
    }

    proptest! {
        #[test]
        fn periods_follow_one_another(seconds in -200_000_000_000_i64..200_000_000_000) {
            let at = Timestamp::from_micros(seconds * 1_000_000 + 7);
            for period in [CalendarPeriod::Day, CalendarPeriod::Week, CalendarPeriod::Month] {
                let (start, end) = (period_start(period, at), period_end(period, at));
                prop_assert!(start <= at && at < end);
                prop_assert_eq!(period_start(period, start), start);
                prop_assert_eq!(period_start(period, end), end);
                let last = Timestamp::from_micros(end.as_micros() - 1);
                prop_assert_eq!(period_start(period, last), start);
            }
        }
    }
}
