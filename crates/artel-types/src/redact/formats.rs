//! The seam for formats: what looks like a secret, told from outside.

use std::ops::Range;

/// How far back in what was looked at before a format may look: a stream keeps that much.
pub const LOOKBACK: usize = 1024;

/// What looks like a secret. An implementer has to be honest about the end of the text: with
/// [`TextEnd::Open`] nothing may be settled that more text could change, or a secret cut in two
/// would be shown; and what is left unsettled must be bounded, however much text comes.
pub trait Formats: Send + Sync {
    /// Looks at `text` from `from` on and appends the places of secrets: ascending, apart from
    /// each other, none beyond what is settled and none before `from`. What stands before `from`
    /// was looked at before; its last [`LOOKBACK`] bytes may be used to judge what follows.
    fn look(
        &self,
        text: &[u8],
        from: usize,
        inside: Inside,
        end: TextEnd,
        found: &mut Vec<Range<usize>>,
    ) -> Look;

    /// Tells whether a value is a secret because of the name it stands under.
    fn is_secret_field(&self, name: &str, value: &str) -> bool;
}

/// Whether more text may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnd {
    /// More may come.
    Open,
    /// The text ends here.
    Here,
}

/// What the text before is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inside {
    /// No secret.
    #[default]
    Nothing,
    /// A secret of this kind, already marked: it goes on. The number is the format's own.
    Secret(u8),
}

/// How far a look went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whatever follows, the text before this is judged; the next look begins here,
    pub settled: usize,
    /// in the middle of this.
    pub inside: Inside,
}
