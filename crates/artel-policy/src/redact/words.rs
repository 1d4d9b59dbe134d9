//! Word lists that are searched often and rarely match.

/// A list of lower-case words, with a table that quickly rules out most others.
pub(super) struct LowercaseWordList {
    list: Vec<&'static str>,
    /// For each first letter, one bit per length.
    lengths: [u32; 26],
}

impl LowercaseWordList {
    /// Creates a list from blank-separated words.
    pub(super) fn of(text: &'static str) -> Self {
        let list: Vec<&str> = text.split_whitespace().collect();
        let mut lengths = [0; 26];
        for word in &list {
            lengths[letter(word).unwrap_or(0)] |= 1 << (word.len() & 31);
        }
        Self { list, lengths }
    }

    pub(super) fn has(&self, word: &str) -> bool {
        let Some(letter) = letter(word) else {
            return false;
        };
        word.len() < 32 && self.lengths[letter] >> word.len() & 1 == 1 && self.list.contains(&word)
    }
}

fn letter(word: &str) -> Option<usize> {
    match word.as_bytes().first() {
        Some(first @ b'a'..=b'z') => Some(usize::from(first - b'a')),
        _ => None,
    }
}
