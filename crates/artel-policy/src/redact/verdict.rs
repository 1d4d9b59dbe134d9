//! What a rule says about the place where it began to look.

use std::ops::Range;

use super::pem;
use super::view::{View, is_base64, is_token};

/// The judgement of one rule. That the text did not suffice is told by the [`View`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No secret begins here.
    Nothing,
    /// This is a secret, of this kind.
    Secret(Range<usize>, &'static str),
    /// This is the beginning of one that is too long to be held: it goes on until its ending.
    Long(Range<usize>, Ending, &'static str),
}

/// How a long secret ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With the first byte that no token has.
    Token,
    /// With the first byte that is not base64.
    Base64,
    /// With white space, a quote or an angle bracket.
    Word,
    /// With this quote, or the line.
    Quote(u8),
    /// With the end of a private key; between two lines of it, or within one.
    KeyLine,
    KeyRun,
}

/// Where a long secret ended, or how far it was followed.
pub(super) enum Followed {
    Ended(usize),
    GoesOn(usize, Ending),
}

impl Ending {
    pub(super) fn to_code(self) -> u8 {
        match self {
            Self::Token => 1,
            Self::Base64 => 2,
            Self::Word => 3,
            Self::KeyLine => 4,
            Self::KeyRun => 5,
            Self::Quote(quote) => quote,
        }
    }

    pub(super) fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Token,
            2 => Self::Base64,
            3 => Self::Word,
            4 => Self::KeyLine,
            5 => Self::KeyRun,
            quote => Self::Quote(quote),
        }
    }

    /// Follows a secret that goes on at `from`.
    pub(super) fn follow(self, view: &View<'_>, from: usize) -> Followed {
        if matches!(self, Self::KeyLine | Self::KeyRun) {
            return pem::follow(view, from, self);
        }
        let rest = &view.text()[from..];
        let ended = rest.iter().enumerate().position(|(index, byte)| {
            let escaped = view.before(from + index) == Some(b'\\');
            !self.has(*byte, escaped.then_some(Escaped))
        });
        view.count(ended.unwrap_or(rest.len()));
        match ended {
            Some(length) => Followed::Ended(from + length),
            None if view.is_open() => Followed::GoesOn(view.len(), self),
            None => Followed::Ended(view.len()),
        }
    }

    fn has(self, byte: u8, escaped: Option<Escaped>) -> bool {
        match self {
            Self::Token => is_token(byte),
            Self::Base64 => is_base64(byte),
            Self::Word => !byte.is_ascii_whitespace() && !b"\"'`<>".contains(&byte),
            Self::Quote(quote) => byte != b'\n' && (byte != quote || escaped.is_some()),
            Self::KeyLine | Self::KeyRun => false,
        }
    }
}

/// A backslash stands before.
#[derive(Clone, Copy)]
struct Escaped;
