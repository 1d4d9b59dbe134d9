//! Dollars with a decimal point, read exactly: a price never passes through a
//! floating-point number.

/// Number of decimals of a millionth of a dollar.
const DECIMALS: usize = 6;

/// Largest amount in dollars. Nobody means more.
const MOST_DOLLARS: u64 = 1_000_000_000;

/// Reads `0.50` or `3` as millionths of a dollar. Returns `None` for less than zero, for
/// more than a billion, for an amount that is not a whole number of millionths, and for
/// `1e3`, `inf` and `nan`.
pub(crate) fn micro_dollars(text: &str) -> Option<u64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if !is_number(whole) || !is_number(part) {
        return None;
    }
    let part = part.trim_end_matches('0');
    if part.len() > DECIMALS {
        return None;
    }
    let dollars: u64 = whole.parse().ok().filter(|it| *it <= MOST_DOLLARS)?;
    let micros: u64 = format!("{part:0<DECIMALS$}").parse().ok()?;
    Some(dollars * 1_000_000 + micros)
}

/// Writes millionths of a dollar, with one spelling per amount: `0.5`, `3`.
pub(crate) fn to_dollars(micros: u64) -> String {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dollars_are_read_exactly() {
        for (text, expected) in [
            ("0", Some(0)),
            ("3", Some(3_000_000)),
            ("0.50", Some(500_000)),
            ("+0.075", Some(75_000)),
            ("0.000001", Some(1)),
            ("0.0000010", Some(1)),
            ("1000000000.999999", Some(1_000_000_000_999_999)),
            ("0.0000001", None),
            ("1000000001", None),
            ("99999999999999999999999", None),
            ("-1", None),
            ("-0.0", None),
            ("", None),
            (".", None),
            (".5", None),
            ("5.", None),
            ("1.2.3", None),
            ("1e3", None),
            ("inf", None),
            ("nan", None),
            ("١", None),
        ] {
            assert_eq!(micro_dollars(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(micros in 0..1_000_000_000_000_000_u64) {
            prop_assert_eq!(micro_dollars(&to_dollars(micros)), Some(micros));
        }
    }
}
