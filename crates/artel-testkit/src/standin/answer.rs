//! What a stand-in answers, and in what manner.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::act::{Hold, Manner, Stop};

/// One answer of a plan. It is built up from [`Answer::says`], [`Answer::default`] (an answer
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

/// Which sort of answer it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// The model speaks.
    #[default]
    Speech,
    /// It does what the request invites to: calls the first tool offered, speaks otherwise.
    Obliging,
    /// The provider refuses, or says something of its own.
    Status(u16),
    /// The conversation is too long for the model.
    TooLong,
    /// The account has nothing left to spend.
    NoQuota,
    /// The connection is closed without a word.
    HangUp,
}

/// Whether the answer is used up when it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Repeats {
    #[default]
    Never,
    /// It is, unless no other one follows.
    WhenLast,
}

/// What the model says.
#[derive(Debug, Clone, Default)]
pub(super) struct Said {
    pub(super) thinking: String,
    pub(super) text: String,
    pub(super) calls: Vec<Call>,
    pub(super) ending: Ending,
    pub(super) order: Order,
    pub(super) deltas: Deltas,
    pub(super) usage: Told,
    /// The status of an error in the middle of the stream.
    pub(super) fails: Option<u16>,
    /// Bytes in the middle of the stream that are none of the model's.
    pub(super) garbage: Vec<u8>,
}

/// A tool call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    /// JSON text, or what should have been.
    pub(super) arguments: String,
}

impl Call {
    /// Returns the arguments as a value, where the format has them whole.
    pub(super) fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.arguments).ok()
    }
}

/// Why the model stops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ending {
    #[default]
    Done,
    MaxTokens,
    /// The model will not answer; the words say so.
    Refused,
    /// The provider's filter stops it.
    Filtered,
}

/// How several calls follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    InTurn,
    Interleaved,
}

/// Into how many pieces the words are cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Deltas {
    #[default]
    Usual,
    OneChar,
}

/// Whether the provider says what the answer took.
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

/// Tokens of one answer, counted the way Artel counts; each stand-in says it in its format's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Usage {
    /// All that was read.
    pub input: u64,
    /// Of it, read from the cache. Ollama cannot say this.
    pub cache_read: u64,
    /// Of it, written to the cache. Google and Ollama cannot say this.
    pub cache_write: u64,
    /// All that was written, thoughts included.
    pub output: u64,
    /// Of it, thoughts. Ollama cannot say this.
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

/// What is answered.
impl Answer {
    /// The model says this.
    pub fn says(text: impl Into<String>) -> Self {
        let mut answer = Self::default();
        answer.said.text = text.into();
        answer
    }

    /// The model calls the first tool that the request offers, with arguments that fit its schema
    /// roughly; where none is offered, or the request brings a result, it says these words.
    pub fn obliging(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Obliging,
            ..Self::says(text)
        }
    }

    /// The provider answers with this status, and the body it has for it. 529 is Anthropic's own
    /// word for being overloaded; the others say 503 then.
    pub fn status(status: u16) -> Self {
        Self {
            kind: Kind::Status(status),
            ..Self::default()
        }
    }

    /// The provider finds that the conversation is too long for the model.
    pub fn too_long() -> Self {
        Self {
            kind: Kind::TooLong,
            ..Self::default()
        }
    }

    /// The provider finds that the account has nothing left to spend.
    pub fn no_quota() -> Self {
        Self {
            kind: Kind::NoQuota,
            ..Self::default()
        }
    }

    /// The connection is closed before any answer.
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
    /// Where arguments are no text on the wire, the provider's own word for it is sent: Google ends
    /// with `MALFORMED_FUNCTION_CALL`, Ollama with an error.
    pub fn calls_raw(mut self, name: &str, arguments: &str) -> Self {
        self.said.calls.push(Call {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        self
    }

    /// Pieces of the calls come by turns. Where calls come whole, each comes in a chunk of its own.
    pub fn interleaved(mut self) -> Self {
        self.said.order = Order::Interleaved;
        self
    }

    /// The model refuses, in the words of the answer.
    pub fn refusing(mut self) -> Self {
        self.said.ending = Ending::Refused;
        self
    }

    /// The provider's filter stops the answer.
    pub fn filtered(mut self) -> Self {
        self.said.ending = Ending::Filtered;
        self
    }

    /// The answer ends because it may not be longer.
    pub fn cut_short(mut self) -> Self {
        self.said.ending = Ending::MaxTokens;
        self
    }

    /// What the answer took.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.said.usage = Told::Usage(usage);
        self
    }

    /// The provider does not say what the answer took.
    pub fn without_usage(mut self) -> Self {
        self.said.usage = Told::Nothing;
        self
    }

    /// The provider asks to wait: as header, and where it has that, in the body.
    pub fn retry_after(mut self, wait: impl Into<String>) -> Self {
        self.retry_after = Some(wait.into());
        self
    }

    /// One more header, or another value for one that is there.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Another body than the provider has for the status. With the status 200 it is the whole
    /// stream, such as a recorded one.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }
}

/// In what manner it is answered.
impl Answer {
    /// The body is sent in pieces of so many bytes.
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.manner.pieces = Some(bytes.max(1));
        self
    }

    /// Each piece of words, thoughts and arguments is one character.
    pub fn one_char_deltas(mut self) -> Self {
        self.said.deltas = Deltas::OneChar;
        self
    }

    /// Waits before the head of the answer.
    pub fn pause_before(mut self, pause: Duration) -> Self {
        self.manner.before = pause;
        self
    }

    /// Waits between the pieces of the body.
    pub fn pause_between(mut self, pause: Duration) -> Self {
        self.manner.between = pause;
        self
    }

    /// Waits for [`super::StandIn::release`] before the head of the answer.
    pub fn held(mut self) -> Self {
        self.manner.hold = Some(Hold::BeforeHead);
        self
    }

    /// Sends the head and so many bytes of the body, then waits for
    /// [`super::StandIn::release`].
    pub fn held_after(mut self, bytes: usize) -> Self {
        self.manner.hold = Some(Hold::After(bytes));
        self
    }

    /// Closes the connection after so many bytes of the body.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.manner.stop = Some(Stop::Cut(bytes));
        self
    }

    /// Sends nothing more after so many bytes of the body, and keeps the connection.
    pub fn silent_after(mut self, bytes: usize) -> Self {
        self.manner.stop = Some(Stop::Silence(bytes));
        self
    }

    /// Breaks off in the middle of the stream with the provider's error for that status.
    pub fn error_mid_stream(mut self, status: u16) -> Self {
        self.said.fails = Some(status);
        self
    }

    /// Puts these bytes in the middle of the stream, between two events.
    pub fn garbage(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.said.garbage = bytes.into();
        self
    }

    /// Goes on for ever when it is the last one of the plan.
    pub fn repeating(mut self) -> Self {
        self.repeats = Repeats::WhenLast;
        self
    }
}
