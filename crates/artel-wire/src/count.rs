//! Token counts that providers report during a reply, and how much of them is believed.

use artel_types::model::TokenUsage;
use serde_json::Value;

/// Largest count that is believed; no model's window comes near it. A larger number is a
/// mistake, and a mistake in one number makes the others doubtful.
const MOST_TOKENS: u64 = 100_000_000;

/// A token count that is reported repeatedly during a reply. It never goes down: used
/// tokens stay used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StreamedTokenCounter(Option<u64>);

impl StreamedTokenCounter {
    /// Notes a count that the provider reports. Anything but a number is ignored; a
    /// negative number counts as zero.
    pub(crate) fn note(&mut self, said: &Value) {
        let Some(number) = number(said) else { return };
        self.0 = self.0.max(Some(number));
    }

    /// Returns the count, or zero if none was reported.
    pub(crate) fn value(self) -> u64 {
        self.0.unwrap_or(0)
    }
}

/// Returns the usage if it is plausible. Parts are cut down to their whole. An input of
/// zero is implausible, because every call reads something.
pub(crate) fn believed(usage: TokenUsage) -> Option<TokenUsage> {
    let TokenUsage {
        input,
        cache_read,
        cache_write,
        output,
        thinking,
    } = usage;
    let all = [input, cache_read, cache_write, output, thinking];
    let is_sane = input > 0 && all.iter().all(|count| *count <= MOST_TOKENS);
    if !is_sane {
        return None;
    }
    let cache_read = cache_read.min(input);
    Some(TokenUsage {
        input,
        cache_read,
        cache_write: cache_write.min(input - cache_read),
        output,
        thinking: thinking.min(output),
    })
}

fn number(said: &Value) -> Option<u64> {
    match said {
        Value::Number(number) => Some(match number.as_u64() {
            Some(whole) => whole,
            // A cast from floating point saturates: a negative number becomes zero, and a
            // number that is far too large stays far too large.
            None => number.as_f64().map_or(0, |odd| odd as u64),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_count_only_grows() {
        let check = |said: &[Value], expected: Option<u64>| {
            let mut counter = StreamedTokenCounter::default();
            said.iter().for_each(|said| counter.note(said));
            assert_eq!(counter.0, expected, "{said:?}");
        };
        check(&[], None);
        check(&[json!(null), json!("7"), json!([1])], None);
        check(&[json!(0)], Some(0));
        check(&[json!(5), json!(9), json!(3)], Some(9));
        check(&[json!(5), json!(-3)], Some(5));
        check(&[json!(-3)], Some(0));
        check(&[json!(4.0)], Some(4));
        check(&[json!(1e300)], Some(u64::MAX));
    }

    #[test]
    fn what_cannot_be_true_is_not_believed() {
        let usage = TokenUsage {
            input: 10,
            cache_read: 20,
            cache_write: 5,
            output: 7,
            thinking: 9,
        };
        let clamped = TokenUsage {
            input: 10,
            cache_read: 10,
            cache_write: 0,
            output: 7,
            thinking: 7,
        };
        assert_eq!(believed(usage), Some(clamped));
        let largest = TokenUsage {
            input: MOST_TOKENS,
            ..TokenUsage::default()
        };
        assert_eq!(believed(largest), Some(largest));
        for absurd in [
            TokenUsage::default(),
            TokenUsage { input: 0, ..usage },
            TokenUsage {
                input: MOST_TOKENS + 1,
                ..usage
            },
            TokenUsage {
                output: 1_000_000_000_000,
                ..usage
            },
            TokenUsage {
                cache_read: u64::MAX,
                ..usage
            },
        ] {
            assert_eq!(believed(absurd), None, "{absurd:?}");
        }
    }
}
