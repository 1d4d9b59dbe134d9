//! The seam for secret formats: the judgement of what looks like a secret comes from
//! outside.

use std::ops::Range;

/// Number of bytes before the current position that a format may look back at; a stream
/// keeps that many.
pub const LOOKBACK: usize = 1024;

/// Finds text that looks like a secret. An implementation must be honest about the end of
/// the text: with [`TextEnd::Open`] it may not settle anything that more text could change,
/// or a secret cut in two would be shown. The unsettled rest must stay bounded, however
/// much text comes.
pub trait SecretDetector: Send + Sync {
    /// Searches `text` from `from` on and appends the ranges of secrets: ascending, not
    /// overlapping, none beyond the settled part and none before `from`. The text before
    /// `from` was searched earlier; its last [`LOOKBACK`] bytes may be used to judge what
    /// follows.
    fn look(
        &self,
        text: &[u8],
        from: usize,
        inside: SecretScanContext,
        end: TextEnd,
        found: &mut Vec<Range<usize>>,
    ) -> SecretScanProgress;

    /// Returns whether a value is a secret because of the name of its field.
    fn is_secret_field(&self, name: &str, value: &str) -> bool;
}

/// The end of the text so far: open or final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnd {
    /// More text may follow.
    Open,
    /// The text ends here.
    Here,
}

/// The state at the end of the preceding text: inside a secret or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretScanContext {
    /// Not inside a secret.
    #[default]
    Nothing,
    /// Inside a secret of this kind, already marked, which continues here. The number
    /// belongs to the format.
    Secret(u8),
}

/// The progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecretScanProgress {
    /// The text before this position is judged, whatever follows; the next search begins
    /// here.
    pub settled: usize,
    /// Whether the next search begins inside a secret.
    pub inside: SecretScanContext,
}
