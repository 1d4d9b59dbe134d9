//! The ways in which a model call can fail.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::RetryClass;

/// A failure of one attempt at a model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ModelFault {
    /// The kind of fault.
    pub kind: ModelFaultKind,
    /// The HTTP status, if there was a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The message of the provider or the system, at most [`ModelFault::LONGEST`] characters.
    pub message: String,
    /// How long the provider asks Artel to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// The provider's id for the request, for use with its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $name:ident $word:literal $class:ident )+) => {
        /// The kinds of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ModelFaultKind {
            $( $(#[doc = $doc])+ #[serde(rename = $word)] $name, )+
        }

        impl ModelFaultKind {
            /// Every kind of fault.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )+ ];

            /// Returns the retry class, which alone decides whether the call is retried.
            pub fn class(self) -> RetryClass {
                match self { $( Self::$name => RetryClass::$class, )+ }
            }

            /// Returns the word that the journal stores.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$name => $word, )+ }
            }
        }
    };
}

kinds! {
    /// The key is missing, wrong, or not permitted to do this (401, 403).
    Key "key" UserFixable
    /// The account has no credit, or its quota is used up.
    Quota "quota" UserFixable
    /// The provider asks Artel to slow down (429).
    RateLimit "rate-limit" RateLimit
    /// The provider is overloaded (529, or a 503 that says so).
    Overloaded "overloaded" RateLimit
    /// The conversation does not fit the model's context window.
    ContextOverflow "context-overflow" Permanent
    /// The request has more bytes than the provider accepts (413).
    TooLarge "too-large" Permanent
    /// The provider does not have that model (404).
    NoSuchModel "no-such-model" Permanent
    /// The provider rejects the request as malformed (other 4xx).
    BadRequest "bad-request" Permanent
    /// The provider failed (5xx), or reported a failure in the middle of the reply.
    Server "server" Degrading
    /// Nothing is listening at the address.
    Unreachable "unreachable" Degrading
    /// The connection broke, the host name could not be resolved, or the provider reports a
    /// timeout (408, 409).
    Network "network" Transient
    /// The connection cannot be trusted, because a certificate is not valid for it.
    Untrusted "untrusted" UserFixable
    /// Nothing arrived for too long.
    Silent "silent" Transient
    /// The reply stopped before its end.
    Cut "cut" Transient
    /// The reply cannot be read, or is longer than any reply may be.
    Garbled "garbled" Transient
    /// The reply is far longer than it may be. Asking again would only cost the same again.
    Endless "endless" Permanent
    /// A rehearsal has no line for this request, or expected a different one.
    OffScript "off-script" Permanent
}

impl ModelFault {
    /// The most characters of a message that are kept.
    pub const LONGEST: usize = 500;

    /// Creates a fault from the error message, which is cut to [`ModelFault::LONGEST`]
    /// characters.
    pub fn new(kind: ModelFaultKind, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            status: None,
            message: message.as_ref().chars().take(Self::LONGEST).collect(),
            retry_after: None,
            request_id: None,
        }
    }
}

impl ModelFaultKind {
    /// Returns whether the fault counts against the provider's health. A request to slow
    /// down, or a wrong request, says nothing about it.
    pub fn is_ill_health(self) -> bool {
        matches!(
            self,
            Self::Server
                | Self::Unreachable
                | Self::Network
                | Self::Silent
                | Self::Cut
                | Self::Garbled
        )
    }
}

impl fmt::Display for ModelFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "the key was not accepted",
            Self::Quota => "the quota is used up",
            Self::RateLimit => "asked to slow down",
            Self::Overloaded => "overloaded",
            Self::ContextOverflow => "the conversation is too long for the model",
            Self::TooLarge => "the request is too large",
            Self::NoSuchModel => "there is no such model",
            Self::BadRequest => "the request was not understood",
            Self::Server => "the provider failed",
            Self::Unreachable => "nobody answers",
            Self::Network => "the connection failed",
            Self::Untrusted => "the connection is not trustworthy",
            Self::Silent => "nothing came for too long",
            Self::Cut => "the answer broke off",
            Self::Garbled => "the answer cannot be read",
            Self::Endless => "the answer does not end",
            Self::OffScript => "the rehearsal has no such line",
        })
    }
}
