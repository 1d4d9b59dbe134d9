//! The answers that a stand-in gives, and their manner.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::act::{Hold, Manner, Stop};

/// One answer of a plan. It is built from [`Answer::says`], [`Answer::default`] (an answer
/// without words) or [`Answer::status`].
///
/// Thoughts come first, then the words, then the calls.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub(super) kind: Kind,
    pub(super) said: Said,
    pub(super) retry_after: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) manner: Manner,
    pub(super) repeats: Repeats,
}

/// The kind of answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The model replies.
    #[default]
    Speech,
    /// The model does what the request invites to: it calls the first offered tool, or
    /// replies in words.
    Obliging,
    /// The provider refuses, or sends a body of the plan's own.
    Status(u16),
    /// The conversation is too long for the model.
    TooLong,
    /// The account has nothing left to spend.
    NoQuota,
    /// The connection is closed without a response.
    HangUp,
}

/// The rule for giving an answer more than once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Repeats {
    #[default]
    Never,
    /// It is repeated if no other answer follows.
    WhenLast,
}

/// The content of a model's reply.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) ending: Ending,
    pub(super) order: Order,
    pub(super) deltas: Deltas,
    pub(super) usage: Told,
    /// Status of an error in the middle of the stream.
    pub(super) fails: Option<u16>,
    /// Bytes in the middle of the stream that do not come from the model.
    pub(super) garbage: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    /// JSON text, or text that should have been JSON.
    pub(super) arguments: String,
}

impl Call {
    /// Returns the arguments as a value, for formats that carry them as such.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.arguments).ok()
    }
}

/// The reason why the model stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    #[default]
    Done,
    MaxTokens,
    /// The model refuses to answer, and the words say so.
    Refused,
    /// The provider's filter stops the reply.
    Filtered,
}

/// The order of the pieces of several calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    InTurn,
    Interleaved,
}

/// The size of the pieces into which text is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Deltas {
    #[default]
    Usual,
    OneChar,
}

/// The usage as the provider reports it, if it does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Told {
    Usage(Usage),
    Nothing,
}

impl Default for Told {
    fn default() -> Self {
        Self::Usage(Usage::default())
    }
}

/// Token counts of one answer in Artel's way of counting; each stand-in reports them in the
/// way of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// All input tokens.
    pub input: u64,
    /// Input tokens read from the cache. Ollama cannot report this.
    pub cache_read: u64,
    /// Input tokens written to the cache. Google and Ollama cannot report this.
    pub cache_write: u64,
    /// All output tokens, including thoughts.
    pub output: u64,
    /// Output tokens spent on thoughts. Ollama cannot report this.
    pub thinking: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self {
            input: 100,
            cache_read: 40,
            cache_write: 0,
            output: 20,
            thinking: 0,
        }
    }
}

/// The content of an answer.
impl Answer {
    /// The model replies with this text.
    pub fn says(text: impl Into<String>) -> Self {
        let mut answer = Self::default();
        answer.said.text = text.into();
        answer
    }

    /// The model calls the first tool that the request offers, with arguments that roughly
    /// fit its schema. If no tool is offered, or the request brings a result, it replies
    /// with this text.
    pub fn obliging(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Obliging,
            ..Self::says(text)
        }
    }

    /// The provider responds with this status and its usual body for it. 529 is Anthropic's
    /// own status for being overloaded; the other providers send 503 instead.
    pub fn status(status: u16) -> Self {
        Self {
            kind: Kind::Status(status),
            ..Self::default()
        }
    }

    /// The provider finds the conversation too long for the model.
    pub fn too_long() -> Self {
        Self {
            kind: Kind::TooLong,
            ..Self::default()
        }
    }

    /// The provider reports that the account has nothing left to spend.
    pub fn no_quota() -> Self {
        Self {
            kind: Kind::NoQuota,
            ..Self::default()
        }
    }

    /// The connection is closed before any response.
    pub fn hang_up() -> Self {
        Self {
            kind: Kind::HangUp,
            ..Self::default()
        }
    }

    /// The model thinks this first.
    pub fn thinking(mut self, text: impl Into<String>) -> Self {
        self.said.thinking = text.into();
        self
    }

    /// The model calls a tool.
    pub fn calls(self, name: &str, arguments: Value) -> Self {
        self.calls_raw(name, &arguments.to_string())
    }

    /// The model calls a tool with arguments that need not be JSON.
    ///
    /// If arguments are not text on the wire, the provider's own error is sent: Google ends
    /// with `MALFORMED_FUNCTION_CALL`, Ollama with an error.
    pub fn calls_raw(mut self, name: &str, arguments: &str) -> Self {
        self.said.calls.push(Call {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        self
    }

    /// Pieces of the calls are interleaved. If calls are sent whole, each gets a chunk of
    /// its own.
    pub fn interleaved(mut self) -> Self {
        self.said.order = Order::Interleaved;
        self
    }

    /// The model refuses, with the words of the answer.
    pub fn refusing(mut self) -> Self {
        self.said.ending = Ending::Refused;
        self
    }

    /// The provider's filter stops the answer.
    pub fn filtered(mut self) -> Self {
        self.said.ending = Ending::Filtered;
        self
    }

    /// The answer ends at the output limit.
    pub fn cut_short(mut self) -> Self {
        self.said.ending = Ending::MaxTokens;
        self
    }

    /// Sets the usage of the answer.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.said.usage = Told::Usage(usage);
        self
    }

    /// The provider does not report the usage.
    pub fn without_usage(mut self) -> Self {
        self.said.usage = Told::Nothing;
        self
    }

    /// The provider asks to wait, in a header and, if its format has that, in the body.
    pub fn retry_after(mut self, wait: impl Into<String>) -> Self {
        self.retry_after = Some(wait.into());
        self
    }

    /// Adds a header, or replaces an existing one.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Replaces the provider's usual body for the status. With status 200 it is the whole
    /// stream, such as a recorded one.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// The manner of an answer.
impl Answer {
    /// Sends the body in pieces of this many bytes.
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.manner.pieces = Some(bytes.max(1));
        self
    }

    /// Makes every piece of text, thoughts and arguments one character long.
    pub fn one_char_deltas(mut self) -> Self {
        self.said.deltas = Deltas::OneChar;
        self
    }

    /// Waits before the head of the response.
    pub fn pause_before(mut self, pause: Duration) -> Self {
        self.manner.before = pause;
        self
    }

    /// Waits between the pieces of the body.
    pub fn pause_between(mut self, pause: Duration) -> Self {
        self.manner.between = pause;
        self
    }

    /// Waits for [`super::StandIn::release`] before the head of the response.
    pub fn held(mut self) -> Self {
        self.manner.hold = Some(Hold::BeforeHead);
        self
    }

    /// Sends the head and this many bytes of the body, then waits for
    /// [`super::StandIn::release`].
    pub fn held_after(mut self, bytes: usize) -> Self {
        self.manner.hold = Some(Hold::After(bytes));
        self
    }

    /// Closes the connection after this many bytes of the body.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.manner.stop = Some(Stop::Cut(bytes));
        self
    }

    /// Sends nothing more after this many bytes of the body, and keeps the connection open.
    pub fn silent_after(mut self, bytes: usize) -> Self {
        self.manner.stop = Some(Stop::Silence(bytes));
        self
    }

    /// Breaks off in the middle of the stream with the provider's error for this status.
    pub fn error_mid_stream(mut self, status: u16) -> Self {
        self.said.fails = Some(status);
        self
    }

    /// Puts these bytes in the middle of the stream, between two events.
    pub fn garbage(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.said.garbage = bytes.into();
        self
    }

    /// Repeats this answer for ever if it is the last one of the plan.
    pub fn repeating(mut self) -> Self {
        self.repeats = Repeats::WhenLast;
        self
    }
}
