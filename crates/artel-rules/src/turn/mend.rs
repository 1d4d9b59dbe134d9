//! Guesses what almost-JSON arguments were meant to be.
//!
//! The guess is not carried out: the model is shown it and calls again.

use serde_json::{Map, Value};

/// Longest arguments that are shown to the model again, in bytes.
const LONGEST: usize = 2_000;

/// Returns what is wrong with arguments, and what they were probably meant to be.
pub(super) fn said(arguments: &str, error: &str) -> String {
    let meant = mended(arguments).map(|meant| Value::Object(meant).to_string());
    match meant.filter(|meant| meant.len() <= LONGEST) {
        Some(meant) => format!("{error}\n- write the arguments as `{meant}`"),
        None => {
            format!("{error}\n- write one JSON object: names and strings between double quotes")
        }
    }
}

/// Reads the first object in a text leniently: single quotes, bare names, line ends in
/// strings, commas before a closing bracket, Python words, and brackets that were never
/// closed.
fn mended(text: &str) -> Option<Map<String, Value>> {
    let mut reader = LenientJsonRewriter::default();
    let from = text.find('{')?;
    let mut letters = text[from..].chars().peekable();
    while let Some(letter) = letters.next() {
        if let Some(quote) = reader.quote {
            let next = (letter == '\\').then(|| letters.next()).flatten();
            reader.in_string(quote, letter, next);
        } else if letter.is_alphabetic() || letter == '_' {
            let mut word = String::from(letter);
            while let Some(more) = letters.next_if(|it| it.is_alphanumeric() || *it == '_') {
                word.push(more);
            }
            reader.word(&word);
        } else {
            reader.outside(letter);
        }
        if reader.quote.is_none() && reader.open.is_empty() {
            break;
        }
    }
    serde_json::from_str(&reader.closed()).ok()
}

#[derive(Default)]
struct LenientJsonRewriter {
    out: String,
    /// The quote that closes the current string.
    quote: Option<char>,
    /// The brackets that close the open ones.
    open: Vec<char>,
}

impl LenientJsonRewriter {
    fn in_string(&mut self, quote: char, letter: char, next: Option<char>) {
        match (letter, next) {
            ('\\', Some('\'')) => self.out.push('\''),
            ('\\', Some(next)) => self.out.extend(['\\', next]),
            ('\\', None) => self.out.push_str("\\\\"),
            (letter, _) if letter == quote => {
                self.out.push('"');
                self.quote = None;
            }
            ('"', _) => self.out.push_str("\\\""),
            ('\n', _) => self.out.push_str("\\n"),
            ('\r', _) => self.out.push_str("\\r"),
            ('\t', _) => self.out.push_str("\\t"),
            (letter, _) => self.out.push(letter),
        }
    }

    fn outside(&mut self, letter: char) {
        match letter {
            '"' | '\'' => {
                self.quote = Some(letter);
                self.out.push('"');
            }
            '{' | '[' => {
                self.open.push(if letter == '{' { '}' } else { ']' });
                self.out.push(letter);
            }
            '}' | ']' => {
                self.drop_comma();
                self.open.pop();
                self.out.push(letter);
            }
            letter => self.out.push(letter),
        }
    }

    fn word(&mut self, word: &str) {
        match word {
            "true" | "True" => self.out.push_str("true"),
            "false" | "False" => self.out.push_str("false"),
            "null" | "None" => self.out.push_str("null"),
            name => {
                self.out.push('"');
                self.out.push_str(name);
                self.out.push('"');
            }
        }
    }

    fn drop_comma(&mut self) {
        let end = self.out.trim_end().trim_end_matches(',').len();
        self.out.truncate(end);
    }

    /// Closes everything that is open.
    fn closed(mut self) -> String {
        if self.quote.is_some() {
            self.out.push('"');
        }
        self.drop_comma();
        if self.out.ends_with(':') {
            self.out.push_str("null");
        }
        self.out.extend(self.open.iter().rev());
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_shown() {
        let table = [
            ("{'path': 'a'}", r#"{"path":"a"}"#),
            ("{path: \"a\", }", r#"{"path":"a"}"#),
            ("{\"path\": \"a\"", r#"{"path":"a"}"#),
            ("{\"path\": \"a", r#"{"path":"a"}"#),
            ("{\"a\": [1, 2,], \"b\": True}", r#"{"a":[1,2],"b":true}"#),
            ("{\"a\": \"one\ntwo\"}", r#"{"a":"one\ntwo"}"#),
            ("Sure: {\"a\": 1} there", r#"{"a":1}"#),
            ("{\"a\": 'it\\'s \"so\"'}", r#"{"a":"it's \"so\""}"#),
            ("```json\n{\"a\": 1}\n```", r#"{"a":1}"#),
        ];
        for (text, expected) in table {
            let meant = mended(text).map(|meant| Value::Object(meant).to_string());
            assert_eq!(meant.as_deref(), Some(expected), "{text}");
        }
        for text in ["", "path", "[1]", "{\"a\" \"b\"}", "{:}"] {
            assert_eq!(mended(text), None, "{text}");
        }
    }
}
