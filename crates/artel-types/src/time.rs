//! Moments and durations, in the forms that people write.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in microseconds since 1970-01-01 UTC. Order comes from sequence numbers, never from
/// this: clocks jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

/// Error for text that is neither a moment nor a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a time: write `2026-11-15T08:30:00Z`, `2026-11-15`, or a span such as `24h`, `7d`, `90d`"
)]
pub struct TimestampParseError(String);

impl Timestamp {
    /// Creates a moment from microseconds since 1970.
    pub fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the moment `span` later.
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// Returns the moment `span` earlier.
    pub fn before(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(micros(span)))
    }

    /// Returns the time since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses a moment, or a duration that is counted back from `now` (`7d` is a week ago).
    pub fn parse_back_from(text: &str, now: Self) -> Result<Self, TimestampParseError> {
        if let Ok(span) = parse_span(text) {
            return Ok(now.before(span));
        }
        text.parse()
    }

    /// Returns `20261115_083000`, the form used in file names.
    pub fn compact(self) -> String {
        self.to_string()
            .chars()
            .filter(char::is_ascii_digit)
            .take(14)
            .enumerate()
            .fold(String::new(), |mut name, (at, digit)| {
                if at == 8 {
                    name.push('_');
                }
                name.push(digit);
                name
            })
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

/// Parses a duration such as `90d`, `24h`, `15m`, `30s`, `200ms` or `1w`.
pub fn parse_span(text: &str) -> Result<Duration, TimestampParseError> {
    let bad = || TimestampParseError(text.chars().take(60).collect());
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return Err(bad()),
    };
    number
        .checked_mul(millis)
        .map(Duration::from_millis)
        .ok_or_else(bad)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(moment) => write!(f, "{moment:.6}"),
            // Outside the years that can be written, the moment is still a fact, so it is
            // still shown.
            Err(_) => write!(f, "{} µs", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = TimestampParseError;

    fn from_str(text: &str) -> Result<Self, TimestampParseError> {
        let bad = || TimestampParseError(text.chars().take(60).collect());
        let is_day = text.len() == 10;
        let whole = if is_day {
            format!("{text}T00:00:00Z")
        } else {
            text.to_owned()
        };
        let moment: jiff::Timestamp = whole.parse().map_err(|_| bad())?;
        Ok(Self(moment.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_back() {
        let moment = Timestamp::from_micros(1_794_732_600_123_456);
        assert_eq!(moment.to_string(), "2026-11-15T08:50:00.123456Z");
        assert_eq!(moment.to_string().parse(), Ok(moment));
        assert_eq!(moment.compact(), "20261115_085000");
    }

    #[test]
    fn spans_count_back_from_now() {
        let now: Timestamp = "2026-11-15T00:00:00Z".parse().unwrap();
        let week_ago: Timestamp = "2026-11-08".parse().unwrap();
        assert_eq!(Timestamp::parse_back_from("7d", now), Ok(week_ago));
        assert_eq!(Timestamp::parse_back_from("2026-11-08", now), Ok(week_ago));
        for text in [
            "",
            "d",
            "7",
            "7y",
            "-1d",
            "yesterday",
            "99999999999999999999w",
        ] {
            assert!(Timestamp::parse_back_from(text, now).is_err(), "{text:?}");
        }
    }
}
