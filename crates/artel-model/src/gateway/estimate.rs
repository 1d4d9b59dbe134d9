//! Estimates of what to set aside for a call, before its tokens are counted.

pub(super) use artel_rules::tokens::{of_bytes as tokens_of, of_request as input_tokens};
use artel_types::SpendAmount;
use artel_types::model::{ModelRequest, ModelSpec, ThinkingEffort, TokenUsage};

/// Number of tokens expected in a reply. If it has more, another such amount is set aside.
pub(super) const OUTPUT_AT_ONCE: u64 = 4_096;

/// Number of tokens expected in a reply with thinking.
const OUTPUT_WITH_THOUGHTS: u64 = 16_384;

/// Returns how many reply tokens to set aside at first. Thinking is often not shown, so its
/// growth cannot be seen: if the request asks for it, there must be room for it beforehand.
pub(super) fn first_output(request: &ModelRequest, card: &ModelSpec) -> u64 {
    let usual = match request.thinking {
        None | Some(ThinkingEffort::Off) => OUTPUT_AT_ONCE,
        Some(_) => OUTPUT_WITH_THOUGHTS,
    };
    let most = request.max_output.or(card.max_output);
    most.map_or(usual, |most| most.min(usual))
}

/// Returns what the next part of a reply takes from a budget, if it already has `before`
/// tokens.
pub(super) fn growth(card: &ModelSpec, input: u64, before: u64) -> SpendAmount {
    let money = card.growth(input, before, OUTPUT_AT_ONCE);
    SpendAmount::new(OUTPUT_AT_ONCE, money.map_or(0, |money| money.0))
}

/// Returns what a call takes from a budget. If no price is known, only tokens count.
pub(super) fn amount(card: &ModelSpec, usage: &TokenUsage) -> SpendAmount {
    SpendAmount::new(usage.total(), card.cost(usage).map_or(0, |cost| cost.0))
}

/// Returns a usage with these numbers of tokens.
pub(super) fn usage(input: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input,
        output,
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_answer_is_not_overestimated() {
        let request = |max_output| ModelRequest {
            max_output,
            ..ModelRequest::default()
        };
        let card = ModelSpec {
            max_output: Some(64_000),
            ..ModelSpec::default()
        };
        assert_eq!(first_output(&request(Some(10)), &card), 10);
        assert_eq!(first_output(&request(None), &card), OUTPUT_AT_ONCE);
        assert_eq!(
            first_output(&request(None), &ModelSpec::default()),
            OUTPUT_AT_ONCE
        );
    }
}
