//! Lists of words that are asked for often and seldom have what is asked for.

/// A list of lower-case words, with a table that rules most others out.
pub(super) struct Words {
    list: Vec<&'static str>,
    /// For each first letter, a bit for each length.
    lengths: [u32; 26],
}

impl Words {
    /// Makes a list of words that are written with blanks between them.
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
