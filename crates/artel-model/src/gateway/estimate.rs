//! How many tokens something will take, before anybody has counted.
//!
//! The provider's count is the truth and replaces the estimate. Until then a little too much is
//! better than too little: what was set aside in excess comes back.

use artel_types::Amount;
use artel_types::model::{Effort, ModelCard, Part, Request, Usage};

/// Text of all sorts has between three and four bytes a token.
const BYTES_PER_TOKEN: u64 = 3;

/// What providers count for a picture of ordinary size.
const TOKENS_PER_IMAGE: u64 = 1_600;

/// An answer is expected to have so many tokens; when it has more, more is set aside.
pub(super) const OUTPUT_AT_ONCE: u64 = 4_096;

/// Room for an answer with thoughts.
const OUTPUT_WITH_THOUGHTS: u64 = 16_384;

/// Returns how many tokens a request has.
pub(super) fn input_tokens(request: &Request) -> u64 {
    let (mut bytes, mut images) = (request.system.len() as u64, 0);
    for part in request.messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text { text, .. } | Part::Thinking { text, .. } => bytes += text.len() as u64,
            Part::Image(_) => images += 1,
            Part::ToolCall(call) => bytes += (call.name.len() + call.arguments.len()) as u64,
            Part::ToolResult(result) => {
                bytes += result.text.len() as u64;
                images += result.images.len() as u64;
            }
        }
        bytes += 12;
    }
    for tool in &request.tools {
        bytes += (tool.name.len() + tool.description.len()) as u64;
        bytes += tool.schema.to_string().len() as u64;
    }
    tokens_of(bytes) + images * TOKENS_PER_IMAGE
}

/// Returns how many tokens so many bytes of text have.
pub(super) fn tokens_of(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// Returns how many tokens of an answer are set aside at first. Thoughts are often not shown, so
/// that nobody sees them grow: where some are asked for, there must be room for them beforehand.
pub(super) fn first_output(request: &Request, card: &ModelCard) -> u64 {
    let usual = match request.thinking {
        None | Some(Effort::Off) => OUTPUT_AT_ONCE,
        Some(_) => OUTPUT_WITH_THOUGHTS,
    };
    let most = request.max_output.or(card.max_output);
    most.map_or(usual, |most| most.min(usual))
}

/// Returns what the next part of an answer takes that has so many tokens already.
pub(super) fn growth(card: &ModelCard, input: u64, before: u64) -> Amount {
    let money = card.growth(input, before, OUTPUT_AT_ONCE);
    Amount::new(OUTPUT_AT_ONCE, money.map_or(0, |money| money.0))
}

/// Returns what a call takes from a budget. Where no price is known, only tokens count.
pub(super) fn amount(card: &ModelCard, usage: &Usage) -> Amount {
    Amount::new(usage.total(), card.cost(usage).map_or(0, |cost| cost.0))
}

/// Returns the usage that numbers of tokens stand for.
pub(super) fn usage(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        ..Usage::default()
    }
}

#[cfg(test)]
mod tests {
    use artel_types::model::{Image, Message};

    use super::*;

    #[test]
    fn everything_that_is_sent_is_counted() {
        let empty = input_tokens(&Request::default());
        assert_eq!(empty, 0);
        let text = Request {
            messages: vec![Message::user("a".repeat(3_000))],
            ..Request::default()
        };
        assert_eq!(input_tokens(&text), 1_004);
        let image = Part::Image(Image {
            media_type: "image/png".into(),
            data: "A".repeat(1_000_000),
        });
        let picture = Request {
            messages: vec![Message {
                role: artel_types::model::Role::User,
                parts: vec![image],
            }],
            ..Request::default()
        };
        assert_eq!(input_tokens(&picture), 1_604);
    }

    #[test]
    fn a_small_answer_is_not_overestimated() {
        let request = |max_output| Request {
            max_output,
            ..Request::default()
        };
        let card = ModelCard {
            max_output: Some(64_000),
            ..ModelCard::default()
        };
        assert_eq!(first_output(&request(Some(10)), &card), 10);
        assert_eq!(first_output(&request(None), &card), OUTPUT_AT_ONCE);
        assert_eq!(
            first_output(&request(None), &ModelCard::default()),
            OUTPUT_AT_ONCE
        );
    }
}
