//! A small lexer for Rust: enough to tell code, comments and strings apart.
//!
//! It never fails. Source that does not compile yields tokens that no gate matches.

/// The kinds of token that the gates distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier, a keyword or a number.
    Word,
    /// A string literal with its quotes and prefix.
    Literal,
    /// A character or byte literal.
    Character,
    /// Punctuation. `->`, `=>`, `::`, `==` and `!=` are one token; everything else is one byte.
    Sign,
}

/// A token as a byte range of its file.
#[derive(Debug, Clone, Copy)]
pub(super) struct RustToken {
    pub(super) kind: TokenKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The byte ranges of a file's tokens and comments, in order.
#[derive(Debug, Default)]
pub(super) struct LexedText {
    pub(super) tokens: Vec<RustToken>,
    pub(super) comments: Vec<(usize, usize)>,
}

const LONG_SIGNS: [&[u8]; 5] = [b"->", b"=>", b"::", b"==", b"!="];

/// Splits `text` into tokens and comments; white space is dropped.
pub(super) fn lex(text: &str) -> LexedText {
    let bytes = text.as_bytes();
    let mut lexed = LexedText::default();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"//") {
            at = find(bytes, at, b"\n");
            lexed.comments.push((start, at));
            continue;
        }
        if rest.starts_with(b"/*") {
            at = block_comment_end(bytes, at);
            lexed.comments.push((start, at));
            continue;
        }
        let (kind, end) = token_at(bytes, at);
        lexed.tokens.push(RustToken { kind, start, end });
        at = end;
    }
    lexed
}

/// Returns the kind of the token at `start` and where it ends.
fn token_at(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    if bytes[start] == b'"' {
        return (TokenKind::Literal, string_end(bytes, start));
    }
    if bytes[start] == b'\'' {
        return match character_end(bytes, start) {
            Some(end) => (TokenKind::Character, end),
            None => (TokenKind::Sign, start + 1),
        };
    }
    if !is_word_byte(bytes[start]) {
        let rest = &bytes[start..];
        let is_long = LONG_SIGNS.iter().any(|sign| rest.starts_with(sign));
        return (TokenKind::Sign, start + 1 + usize::from(is_long));
    }
    let mut end = start;
    while end < bytes.len() && is_word_byte(bytes[end]) {
        end += 1;
    }
    match &bytes[start..end] {
        b"r" | b"br" | b"cr" => match raw_string_end(bytes, end) {
            Some(end) => (TokenKind::Literal, end),
            None => (TokenKind::Word, end),
        },
        b"b" | b"c" if bytes.get(end) == Some(&b'"') => {
            (TokenKind::Literal, string_end(bytes, end))
        }
        _ => (TokenKind::Word, end),
    }
}

/// Tells whether the byte belongs to a word; every byte above ASCII does.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn string_end(bytes: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the end of a raw string whose prefix ends at `at`; `None` for `r#name`.
fn raw_string_end(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at..].iter().take_while(|byte| **byte == b'#').count();
    if bytes.get(at + hashes) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let found = find(bytes, at + hashes + 1, &close);
    Some((found + close.len()).min(bytes.len()))
}

/// Returns the end of a character literal; `None` if the quote begins a lifetime.
fn character_end(bytes: &[u8], quote: usize) -> Option<usize> {
    let first = *bytes.get(quote + 1)?;
    if first == b'\\' {
        let found = find(bytes, quote + 3, b"'");
        return (found < bytes.len()).then_some(found + 1);
    }
    let length = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    let close = quote + 1 + length;
    (first != b'\'' && bytes.get(close) == Some(&b'\'')).then_some(close + 1)
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Returns where `wanted` next begins, or the end of the text.
fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let found = rest.windows(wanted.len()).position(|part| part == wanted);
    found.map_or(bytes.len(), |offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<&str> {
        let lexed = lex(text);
        let of_file = |token: &RustToken| &text[token.start..token.end];
        lexed.tokens.iter().map(of_file).collect()
    }

    #[test]
    fn comments_hide_code_and_strings_hide_comments() {
        let text = "a /* b /* c */ \" */ \"// d\" // e \" f\ng";
        assert_eq!(tokens(text), ["a", "\"// d\"", "g"]);
        assert_eq!(lex(text).comments.len(), 2);
    }

    #[test]
    fn strings_of_all_kinds_are_one_token() {
        let text = r###"r#"a"b"# b"\"" br##"x"# "## c"d" r#type "\\" "###;
        assert_eq!(
            tokens(text),
            [
                r##"r#"a"b"#"##,
                r#"b"\"""#,
                r###"br##"x"# "##"###,
                r#"c"d""#,
                "r",
                "#",
                "type",
                r#""\\""#
            ]
        );
    }

    #[test]
    fn characters_are_not_lifetimes() {
        assert_eq!(
            tokens(r"'a' '\'' &'a str '\u{1f}' 'é' '\\'"),
            [
                "'a'",
                r"'\''",
                "&",
                "'",
                "a",
                "str",
                r"'\u{1f}'",
                "'é'",
                r"'\\'"
            ]
        );
    }

    #[test]
    fn long_signs_stay_together() {
        assert_eq!(
            tokens("a->b=>c::d==e!=f>=g"),
            [
                "a", "->", "b", "=>", "c", "::", "d", "==", "e", "!=", "f", ">", "=", "g"
            ]
        );
    }
}
