//! Answers together with their meaning, for everything that reads a stand-in.
//!
//! The providers' own SDKs and Artel's codecs are held to this one table, so that neither
//! can interpret an answer in its own way.

use artel_types::model::{self, MessagePart, ModelReply, ReplyStopReason, ToolCall};
use serde_json::{Value, json};

use super::{Answer, Format, Usage};

/// An answer, and how every reader must interpret it.
pub struct Case {
    /// The special feature of the case.
    pub name: &'static str,
    /// The answer of the stand-in.
    pub answer: Answer,
    /// Its meaning, without ids, signatures and the model's name, which differ between
    /// providers.
    pub reply: ModelReply,
}

/// Returns model replies with their meaning in this format. If a format cannot express
/// something, the reply lacks it.
pub fn spoken(format: Format) -> Vec<Case> {
    [words(format), calls(format), endings(format)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns a usage as far as the format can report it.
pub fn told(format: Format, usage: Usage) -> model::TokenUsage {
    let mut told = model::TokenUsage {
        input: usage.input,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        output: usage.output,
        thinking: usage.thinking,
    };
    match format {
        Format::Anthropic | Format::Responses | Format::Chat => {}
        // Tokens written to the cache are not counted.
        Format::Google => told.cache_write = 0,
        // Only input and output tokens are counted.
        Format::Ollama => {
            told.cache_read = 0;
            told.cache_write = 0;
            told.thinking = 0;
        }
    }
    told
}

/// Returns a call as part of a reply, without its id.
pub fn call(name: &str, arguments: &str) -> MessagePart {
    MessagePart::ToolCall(ToolCall {
        id: String::new(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        seal: None,
    })
}

/// Returns a reply with these parts and the usual usage.
pub fn reply(format: Format, parts: Vec<MessagePart>, stop: ReplyStopReason) -> ModelReply {
    ModelReply {
        id: None,
        model: None,
        parts,
        stop,
        usage: Some(told(format, Usage::default())),
    }
}

fn words(format: Format) -> Vec<Case> {
    let said = |text: &str| reply(format, vec![MessagePart::text(text)], ReplyStopReason::End);
    let everything = Usage {
        input: 1_000,
        cache_read: 400,
        cache_write: 300,
        output: 60,
        thinking: 8,
    };
    let mut thoughtful = reply(
        format,
        vec![thought("Hm."), MessagePart::text("Yes.")],
        ReplyStopReason::End,
    );
    thoughtful.usage = Some(told(format, everything));
    vec![
        Case {
            name: "text",
            answer: Answer::says("Hello, world."),
            reply: said("Hello, world."),
        },
        Case {
            name: "nothing",
            answer: Answer::default(),
            reply: reply(format, Vec::new(), ReplyStopReason::End),
        },
        Case {
            name: "letters of several bytes in pieces of one byte",
            answer: Answer::says("Grüße, 世界 🦀")
                .one_char_deltas()
                .in_pieces_of(1),
            reply: said("Grüße, 世界 🦀"),
        },
        Case {
            name: "thinking, with all that can be counted",
            answer: Answer::says("Yes.").thinking("Hm.").usage(everything),
            reply: thoughtful,
        },
    ]
}

fn calls(format: Format) -> Vec<Case> {
    let (one, other) = (json!({"path": "a.txt"}), json!({"path": "ordner/ü 🦀.txt"}));
    let two = Answer::default()
        .calls("read", one.clone())
        .calls("write", other.clone());
    let parts = vec![
        call("read", &one.to_string()),
        call("write", &other.to_string()),
    ];
    let wanted = |parts: &[MessagePart]| reply(format, parts.to_vec(), ReplyStopReason::ToolUse);
    let large: Value = json!({"path": "a".repeat(1 << 20)});
    let mut talkative = vec![
        thought("Let me look."),
        MessagePart::text("I will read two files."),
    ];
    talkative.extend(parts.iter().cloned());
    vec![
        Case {
            name: "two calls in turn",
            answer: two.clone(),
            reply: wanted(&parts),
        },
        Case {
            name: "two calls interleaved",
            answer: two.clone().interleaved().one_char_deltas(),
            reply: wanted(&parts),
        },
        Case {
            name: "thoughts, words and calls",
            answer: Answer::says("I will read two files.")
                .thinking("Let me look.")
                .calls("read", one)
                .calls("write", other),
            reply: wanted(&talkative),
        },
        Case {
            name: "a call with arguments of a mebibyte",
            answer: Answer::default().calls("write", large.clone()),
            reply: wanted(&[call("write", &large.to_string())]),
        },
    ]
}

fn endings(format: Format) -> Vec<Case> {
    // Ollama cannot express a refusal.
    let refused = match format {
        Format::Ollama => ReplyStopReason::End,
        _ => ReplyStopReason::Refusal,
    };
    // Google blocks a prompt as a whole, before the first word.
    let before_filter = match format {
        Format::Google => Vec::new(),
        _ => vec![MessagePart::text("I would")],
    };
    let unwilling = vec![MessagePart::text("I would rather not.")];
    vec![
        Case {
            name: "max tokens",
            answer: Answer::says("It is").cut_short(),
            reply: reply(
                format,
                vec![MessagePart::text("It is")],
                ReplyStopReason::MaxTokens,
            ),
        },
        Case {
            name: "refusal",
            answer: Answer::says("I would rather not.").refusing(),
            reply: reply(format, unwilling, refused.clone()),
        },
        Case {
            name: "filter",
            answer: Answer::says("I would").filtered(),
            reply: reply(format, before_filter, refused),
        },
    ]
}

fn thought(text: &str) -> MessagePart {
    MessagePart::Thinking {
        text: text.to_owned(),
        seal: None,
    }
}
