//! The result of one rule at the place where it began to look.

use std::ops::Range;

use super::pem;
use super::view::{SecretScanText, is_base64, is_token};

/// The judgement of one rule. The [`SecretScanText`] knows whether the text was too short to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RedactionRuleOutcome {
    /// No secret begins here.
    Nothing,
    /// A secret of this kind.
    Secret(Range<usize>, &'static str),
    /// The start of a secret that is too long to be held; it continues until its ending.
    Long(Range<usize>, LongSecretEnding, &'static str),
}

/// The ending of a long secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LongSecretEnding {
    /// The first byte that cannot be in a token.
    Token,
    /// The first byte that is not base64.
    Base64,
    /// White space, a quote or an angle bracket.
    Word,
    /// This quote, or the end of the line.
    Quote(u8),
    /// The end of a private key, followed from between two lines (`KeyLine`) or from within
    /// one (`KeyRun`).
    KeyLine,
    KeyRun,
}

/// The position where a long secret ended, or up to which it was followed.
pub(super) enum LongSecretProgress {
    Ended(usize),
    GoesOn(usize, LongSecretEnding),
}

impl LongSecretEnding {
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

    /// Follows a secret that continues at `from`.
    pub(super) fn follow(self, view: &SecretScanText<'_>, from: usize) -> LongSecretProgress {
        if matches!(self, Self::KeyLine | Self::KeyRun) {
            return pem::follow(view, from, self);
        }
        let rest = &view.text()[from..];
        let ended = rest.iter().enumerate().position(|(index, byte)| {
            let escaped = view.before(from + index) == Some(b'\\');
            !self.has(*byte, escaped.then_some(PrecedingBackslash))
        });
        view.count(ended.unwrap_or(rest.len()));
        match ended {
            Some(length) => LongSecretProgress::Ended(from + length),
            None if view.is_open() => LongSecretProgress::GoesOn(view.len(), self),
            None => LongSecretProgress::Ended(view.len()),
        }
    }

    fn has(self, byte: u8, escaped: Option<PrecedingBackslash>) -> bool {
        match self {
            Self::Token => is_token(byte),
            Self::Base64 => is_base64(byte),
            Self::Word => !byte.is_ascii_whitespace() && !b"\"'`<>".contains(&byte),
            Self::Quote(quote) => byte != b'\n' && (byte != quote || escaped.is_some()),
            Self::KeyLine | Self::KeyRun => false,
        }
    }
}

/// Marks a byte after a backslash.
#[derive(Clone, Copy)]
struct PrecedingBackslash;
