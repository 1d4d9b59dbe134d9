//! Tokens as providers count them while an answer comes, and how much of that is believed.

use artel_types::model::Usage;
use serde_json::Value;

/// No window of any model comes near. A larger number is a mistake, and a mistake in one number
/// makes the others doubtful.
const MOST_TOKENS: u64 = 100_000_000;

/// A number of tokens that is told again and again while an answer comes. It never goes down: what
/// was used stays used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counter(Option<u64>);

impl Counter {
    /// Takes note of what the provider says. Whatever is not a number says nothing; less than
    /// nothing is nothing.
    pub(crate) fn note(&mut self, said: &Value) {
        let Some(number) = number(said) else { return };
        self.0 = self.0.max(Some(number));
    }

    /// Returns the number, zero if nothing was said.
    pub(crate) fn value(self) -> u64 {
        self.0.unwrap_or(0)
    }
}

/// Returns the usage if it can be true. Parts are never more than their whole, and nothing that was
/// read is not a count: every call reads something.
pub(crate) fn believed(usage: Usage) -> Option<Usage> {
    let Usage {
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
    Some(Usage {
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
            // A cast from floating point saturates: below zero is zero, and far too much is still
            // far too much.
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
            let mut counter = Counter::default();
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
        let usage = Usage {
            input: 10,
            cache_read: 20,
            cache_write: 5,
            output: 7,
            thinking: 9,
        };
        let clamped = Usage {
            input: 10,
            cache_read: 10,
            cache_write: 0,
            output: 7,
            thinking: 7,
        };
        assert_eq!(believed(usage), Some(clamped));
        let largest = Usage {
            input: MOST_TOKENS,
            ..Usage::default()
        };
        assert_eq!(believed(largest), Some(largest));
        for absurd in [
            Usage::default(),
            Usage { input: 0, ..usage },
            Usage {
                input: MOST_TOKENS + 1,
                ..usage
            },
            Usage {
                output: 1_000_000_000_000,
                ..usage
            },
            Usage {
                cache_read: u64::MAX,
                ..usage
            },
        ] {
            assert_eq!(believed(absurd), None, "{absurd:?}");
        }
    }
}
