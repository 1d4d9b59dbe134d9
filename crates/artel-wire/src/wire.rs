//! The five formats behind one door.

use artel_types::Timestamp;
use artel_types::model::{Fault, Provider, Request, ThinkingStyle};

use crate::decoder::Decoder;
use crate::{anthropic, chat, google, ollama, responses};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// Chat Completions.
    Chat,
    /// Google Gemini.
    Google,
    /// Ollama.
    Ollama,
}

/// The model a request is put to, with what the codec must know about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target<'a> {
    /// The provider's own name for it.
    pub model: &'a str,
    /// How many tokens an answer may have, where known.
    pub max_output: Option<u64>,
    /// How many tokens the conversation may have, where known.
    pub context: Option<u64>,
    /// How it is told to think.
    pub thinking: ThinkingStyle,
}

/// A call, ready to be sent but for the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// What follows the base URL, with its query.
    pub path: String,
    /// Headers besides the key's.
    pub headers: Vec<(&'static str, String)>,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// The header that carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHeader {
    /// Its name.
    pub name: &'static str,
    /// What precedes the key in it.
    pub before: &'static str,
}

impl Wire {
    /// Every format.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Google,
        Self::Ollama,
    ];

    /// Returns the format a provider speaks; a rehearsal speaks none.
    pub fn of(provider: Provider) -> Option<Self> {
        match provider {
            Provider::Anthropic => Some(Self::Anthropic),
            Provider::OpenAi => Some(Self::Responses),
            Provider::OpenAiChat => Some(Self::Chat),
            Provider::Google => Some(Self::Google),
            Provider::Ollama => Some(Self::Ollama),
            Provider::Rehearsal => None,
        }
    }

    /// Returns the header that carries the key.
    pub fn key_header(self) -> KeyHeader {
        let (name, before) = match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Google => ("x-goog-api-key", ""),
            Self::Responses | Self::Chat | Self::Ollama => ("authorization", "Bearer "),
        };
        KeyHeader { name, before }
    }

    /// Returns what follows the base URL in a call that costs nothing and tells whether the key
    /// is good: the list of models.
    pub fn models_path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/models",
            Self::Google => "/v1beta/models",
            Self::Responses | Self::Chat => "/models",
            Self::Ollama => "/api/tags",
        }
    }

    /// Returns headers that every call of this format has.
    pub fn fixed_headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }

    /// Writes a request in this format.
    pub fn encode(self, target: &Target<'_>, request: &Request) -> Outgoing {
        match self {
            Self::Anthropic => anthropic::encode(target, request),
            Self::Responses => responses::encode(target, request),
            Self::Chat => chat::encode(target, request),
            Self::Google => google::encode(target, request),
            Self::Ollama => ollama::encode(target, request),
        }
    }

    /// Returns what reads one answer in this format.
    pub fn decoder(self) -> Decoder {
        match self {
            Self::Anthropic => Decoder::of_events(anthropic::Reader::default()),
            Self::Responses => Decoder::of_events(responses::Reader::default()),
            Self::Chat => Decoder::of_events(chat::Reader::default()),
            Self::Google => Decoder::of_events(google::Reader::default()),
            Self::Ollama => Decoder::of_lines(ollama::Reader::default()),
        }
    }

    /// Reads a refusal: an answer whose status is not 2xx. `header` looks a header up by its
    /// lower-case name; `now` is needed where the provider names a moment instead of a wait.
    pub fn fault(
        self,
        status: u16,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> Fault {
        crate::refusal::read(self, status, header, body, now)
    }

    /// Finds the provider's name for a request among the headers of its answer, for faults that
    /// come later.
    pub fn request_id(self, header: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        crate::refusal::request_id(header)
    }
}
