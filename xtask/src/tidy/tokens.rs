//! The tokens of a file with their brackets matched: what the gates search.

use super::lexer::{RustToken, TokenKind};

/// A sequence of tokens. Asking beyond its end is allowed and finds an empty text.
#[derive(Debug, Default)]
pub(super) struct CodeTokens {
    text: String,
    tokens: Vec<RustToken>,
    /// For each bracket the index of its partner.
    partners: Vec<Option<usize>>,
    /// For each token the index of the innermost bracket around it.
    parents: Vec<Option<usize>>,
}

impl CodeTokens {
    /// Matches the brackets of `tokens`, which lie in `text`.
    pub(super) fn new(text: String, tokens: Vec<RustToken>) -> Self {
        let mut partners = vec![None; tokens.len()];
        let mut parents = vec![None; tokens.len()];
        let mut open = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            let sign = text.get(token.start..token.end).unwrap_or_default();
            if matches!(sign, ")" | "]" | "}")
                && let Some(left) = open.pop()
            {
                partners[left] = Some(index);
                partners[index] = Some(left);
            }
            parents[index] = open.last().copied();
            if matches!(sign, "(" | "[" | "{") {
                open.push(index);
            }
        }
        Self {
            text,
            tokens,
            partners,
            parents,
        }
    }

    /// Returns the tokens that `keeps` accepts, brackets matched again.
    pub(super) fn filtered(self, keeps: impl Fn(&RustToken) -> bool) -> Self {
        let tokens = self.tokens.into_iter().filter(keeps).collect();
        Self::new(self.text, tokens)
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Returns the text of the token.
    pub(super) fn at(&self, index: usize) -> &str {
        let token = self.tokens.get(index);
        token.map_or("", |token| &self.text[token.start..token.end])
    }

    /// Returns the text of the token before `index`.
    pub(super) fn before(&self, index: usize) -> &str {
        index.checked_sub(1).map_or("", |index| self.at(index))
    }

    pub(super) fn is_word(&self, index: usize) -> bool {
        self.is_kind(index, TokenKind::Word)
    }

    pub(super) fn is_literal(&self, index: usize) -> bool {
        self.is_kind(index, TokenKind::Literal)
    }

    fn is_kind(&self, index: usize, kind: TokenKind) -> bool {
        self.tokens
            .get(index)
            .is_some_and(|token| token.kind == kind)
    }

    /// Returns the byte at which the token starts; the length of the text beyond the end.
    pub(super) fn start(&self, index: usize) -> usize {
        let token = self.tokens.get(index);
        token.map_or(self.text.len(), |token| token.start)
    }

    /// Returns the byte after the token.
    pub(super) fn end(&self, index: usize) -> usize {
        let token = self.tokens.get(index);
        token.map_or(self.text.len(), |token| token.end)
    }

    /// Returns the first token that starts at `byte` or later.
    pub(super) fn first_after(&self, byte: usize) -> usize {
        self.tokens.partition_point(|token| token.start < byte)
    }

    /// Returns the bracket that closes or opens the one at `index`.
    pub(super) fn partner(&self, index: usize) -> Option<usize> {
        self.partners.get(index).copied().flatten()
    }

    /// Returns the innermost open bracket around the token.
    pub(super) fn parent(&self, index: usize) -> Option<usize> {
        self.parents.get(index).copied().flatten()
    }

    /// Tells whether the tokens from `index` read as `wanted`.
    pub(super) fn reads(&self, index: usize, wanted: &[&str]) -> bool {
        let mut numbered = wanted.iter().enumerate();
        numbered.all(|(offset, text)| self.at(index + offset) == *text)
    }

    /// Returns all places that read as `wanted`.
    pub(super) fn places_of(&self, wanted: &[&str]) -> impl Iterator<Item = usize> {
        let first = wanted.first().copied().unwrap_or_default();
        (0..self.len()).filter(move |at| self.at(*at) == first && self.reads(*at, wanted))
    }

    /// Returns the `{` that begins a body, looking from `from`; `None` if the item ends first.
    pub(super) fn body(&self, from: usize) -> Option<usize> {
        let mut at = from;
        while at < self.len() {
            match self.at(at) {
                "(" | "[" => at = self.partner(at)?,
                ";" | "}" => return None,
                "{" => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns the index after the generics that begin at `from`, or `from` if none do.
    pub(super) fn after_generics(&self, from: usize) -> usize {
        let mut depth = 0_usize;
        for at in from..self.len() {
            match self.at(at) {
                "<" => depth += 1,
                ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return if at == from { from } else { at + 1 };
            }
        }
        self.len()
    }

    /// Splits the tokens between two brackets at the commas outside all inner brackets; returns the
    /// first and last index of each part.
    pub(super) fn parts(&self, open: usize) -> Vec<(usize, usize)> {
        let Some(close) = self.partner(open) else {
            return Vec::new();
        };
        let mut parts = Vec::new();
        let (mut depth, mut first) = (0_usize, open + 1);
        for at in open + 1..close {
            match self.at(at) {
                "," if depth == 0 => {
                    parts.push((first, at));
                    first = at + 1;
                }
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        parts.push((first, close));
        parts.retain(|(first, end)| first < end);
        parts.into_iter().map(|(f, end)| (f, end - 1)).collect()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}
