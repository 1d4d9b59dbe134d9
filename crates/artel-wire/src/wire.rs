//! The five formats behind one interface.

use artel_types::Timestamp;
use artel_types::model::{ModelFault, ModelRequest, Provider, ThinkingStyle};

use crate::decoder::ReplyDecoder;
use crate::{anthropic, chat, google, ollama, responses};

/// A provider's format of requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireFormat {
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

/// The model that a request is encoded for, with what the codec must know about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WireTarget<'a> {
    /// The provider's own name for the model.
    pub model: &'a str,
    /// Most tokens that a reply may have, if known.
    pub max_output: Option<u64>,
    /// Most tokens that the conversation may have, if known.
    pub context: Option<u64>,
    /// The style of thinking settings that the model takes.
    pub thinking: ThinkingStyle,
}

/// An encoded HTTP request, complete except for the API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireRequest {
    /// The part of the URL after the base URL, including the query.
    pub path: String,
    /// All headers except the one with the key.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

/// The header that carries the API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiKeyHeader {
    pub name: &'static str,
    /// Text before the key in the header's value.
    pub before: &'static str,
}

impl WireFormat {
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Google,
        Self::Ollama,
    ];

    /// Returns the format that a provider speaks, or `None` for a rehearsal.
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

    pub fn key_header(self) -> ApiKeyHeader {
        let (name, before) = match self {
            Self::Anthropic => ("x-api-key", ""),
            Self::Google => ("x-goog-api-key", ""),
            Self::Responses | Self::Chat | Self::Ollama => ("authorization", "Bearer "),
        };
        ApiKeyHeader { name, before }
    }

    /// Returns the path of the list of models: a call for it is free and shows whether the
    /// key is good.
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

    /// Encodes a request in this format.
    pub fn encode(self, target: &WireTarget<'_>, request: &ModelRequest) -> WireRequest {
        match self {
            Self::Anthropic => anthropic::encode(target, request),
            Self::Responses => responses::encode(target, request),
            Self::Chat => chat::encode(target, request),
            Self::Google => google::encode(target, request),
            Self::Ollama => ollama::encode(target, request),
        }
    }

    /// Returns a decoder for one reply in this format.
    pub fn decoder(self) -> ReplyDecoder {
        match self {
            Self::Anthropic => ReplyDecoder::of_events(anthropic::AnthropicReplyReader::default()),
            Self::Responses => ReplyDecoder::of_events(responses::ResponsesReplyReader::default()),
            Self::Chat => ReplyDecoder::of_events(chat::ChatReplyReader::default()),
            Self::Google => ReplyDecoder::of_events(google::GoogleReplyReader::default()),
            Self::Ollama => ReplyDecoder::of_lines(ollama::OllamaReplyReader::default()),
        }
    }

    /// Reads a refusal: a response whose status is not 2xx. `header` looks up a header by
    /// its lower-case name. `now` is needed if the provider names a time instead of a
    /// wait.
    pub fn fault(
        self,
        status: u16,
        header: &dyn Fn(&str) -> Option<String>,
        body: &[u8],
        now: Timestamp,
    ) -> ModelFault {
        crate::refusal::read(self, status, header, body, now)
    }

    /// Finds the provider's request id among the headers of a response, for faults that
    /// come later.
    pub fn request_id(self, header: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        crate::refusal::request_id(header)
    }
}
