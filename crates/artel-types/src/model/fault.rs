//! How a call to a model goes wrong.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Class;

/// What went wrong with one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Fault {
    /// The sort of fault.
    pub kind: FaultKind,
    /// The HTTP status, if there was an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the provider or the system said, in at most [`Fault::LONGEST`] characters.
    pub message: String,
    /// How long the provider asks us to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// The provider's name for the request, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $name:ident $word:literal $class:ident )+) => {
        /// The sorts of fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum FaultKind {
            $( $(#[doc = $doc])+ #[serde(rename = $word)] $name, )+
        }

        impl FaultKind {
            /// Every sort there is.
            pub const ALL: &'static [Self] = &[ $( Self::$name, )+ ];

            /// Returns its class, which alone decides whether it is tried again.
            pub fn class(self) -> Class {
                match self { $( Self::$name => Class::$class, )+ }
            }

            /// Returns the word that stands in the journal.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$name => $word, )+ }
            }
        }
    };
}

kinds! {
    /// The key is missing, wrong, or may not do this (401, 403).
    Key "key" UserFixable
    /// The account has no credit or its quota is used up.
    Quota "quota" UserFixable
    /// The provider asks us to slow down (429).
    RateLimit "rate-limit" RateLimit
    /// The provider has more to do than it can (529, or a 503 that says so).
    Overloaded "overloaded" RateLimit
    /// The conversation does not fit the model's window.
    ContextOverflow "context-overflow" Permanent
    /// The request has more bytes than the provider takes (413).
    TooLarge "too-large" Permanent
    /// The provider does not have that model (404).
    NoSuchModel "no-such-model" Permanent
    /// The provider does not understand the request (other 4xx).
    BadRequest "bad-request" Permanent
    /// The provider failed (5xx), or says so in the middle of the answer.
    Server "server" Degrading
    /// Nobody listens there.
    Unreachable "unreachable" Degrading
    /// The connection broke, the name was not found, or the provider says that it was too slow
    /// (408, 409).
    Network "network" Transient
    /// The connection is not trustworthy: a certificate does not fit.
    Untrusted "untrusted" UserFixable
    /// Nothing came for too long.
    Silent "silent" Transient
    /// The answer stopped before its end.
    Cut "cut" Transient
    /// The answer cannot be read, or is longer than any answer may be.
    Garbled "garbled" Transient
    /// The answer is far longer than it may be. Asking again would only pay for it again.
    Endless "endless" Permanent
    /// A rehearsal has no line for this request, or another one than was expected.
    OffScript "off-script" Permanent
}

impl Fault {
    /// The most characters of a message that are kept.
    pub const LONGEST: usize = 500;

    /// Makes a fault of what somebody said about it.
    pub fn new(kind: FaultKind, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            status: None,
            message: message.as_ref().chars().take(Self::LONGEST).collect(),
            retry_after: None,
            request_id: None,
        }
    }
}

impl FaultKind {
    /// Tells whether it counts against the provider's health. Being asked to slow down, or having
    /// asked for something wrong, says nothing about that.
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

impl fmt::Display for FaultKind {
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
