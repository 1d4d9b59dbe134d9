//! Reads how long the provider asks us to wait, in the many ways it may say so.

use std::time::Duration;

use artel_types::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use serde_json::Value;

use super::said::ProviderRefusal;

/// Longest wait that is believed; no provider means more.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// A date also names a weekday; a wrong weekday does not invalidate the date.
static DATES: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// Reads `retry-after-ms` and `retry-after`. Unreadable values are ignored.
pub(super) fn in_headers(
    header: &dyn Fn(&str) -> Option<String>,
    now: Timestamp,
) -> Option<Duration> {
    let millis = header("retry-after-ms").and_then(|text| number(&text, 0.001));
    millis.or_else(|| {
        let text = header("retry-after")?;
        number(&text, 1.0).or_else(|| until(&text, now))
    })
}

/// Reads Google's `RetryInfo`, or else the message: `try again in 11.054s`.
pub(super) fn in_body(said: &ProviderRefusal) -> Option<Duration> {
    let told = said
        .details
        .iter()
        .filter_map(|detail| detail.get("retryDelay"))
        .filter_map(Value::as_str)
        .find_map(span);
    told.or_else(|| {
        ["try again in ", "retry in "].iter().find_map(|words| {
            let (_, after) = said.folded.split_once(words)?;
            span(after)
        })
    })
}

/// Reads a plain decimal number of `unit` seconds. Signs, exponents and words are not
/// accepted.
fn number(text: &str, unit: f64) -> Option<Duration> {
    let text = text.trim();
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = is_plain.then(|| text.parse::<f64>().ok())?? * unit;
    Some(Duration::try_from_secs_f64(seconds).map_or(LONGEST, |wait| wait.min(LONGEST)))
}

fn until(text: &str, now: Timestamp) -> Option<Duration> {
    let moment = DATES.parse_timestamp(text.trim()).ok()?;
    let moment = Timestamp::from_micros(moment.as_microsecond());
    Some(moment.since(now).min(LONGEST))
}

/// Reads `42s`, `11.054s`, `350ms`, `6m0s`, `1h2m3s`; anything after that is ignored.
fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum: Option<Duration> = None;
    loop {
        let digits = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
                .len();
        let (figure, after) = rest.split_at(digits);
        let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let found = units.iter().find_map(|(name, unit)| {
            let after = after.strip_prefix(name)?;
            Some((number(figure, *unit)?, after))
        });
        let Some((wait, after)) = found else {
            return sum.map(|sum| sum.min(LONGEST));
        };
        sum = Some(sum.unwrap_or_default().saturating_add(wait));
        rest = after;
    }
}
