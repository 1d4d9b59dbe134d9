//! Splits a line into words as a shell does, without any of a shell's evaluation.

/// A quote that is never closed, or a backslash with nothing after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnbalancedQuoteError;

/// Splits a line at spaces outside quotes, and removes quotes and backslashes.
pub fn split_words(line: &str) -> Result<Vec<String>, UnbalancedQuoteError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                until(&mut letters, '\'', word)?;
            }
            '"' => {
                let word = word.get_or_insert_default();
                in_double_quotes(&mut letters, word)?;
            }
            '\\' => word
                .get_or_insert_default()
                .push(letters.next().ok_or(UnbalancedQuoteError)?),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

fn until(
    letters: &mut impl Iterator<Item = char>,
    end: char,
    word: &mut String,
) -> Result<(), UnbalancedQuoteError> {
    for letter in letters {
        if letter == end {
            return Ok(());
        }
        word.push(letter);
    }
    Err(UnbalancedQuoteError)
}

fn in_double_quotes(
    letters: &mut impl Iterator<Item = char>,
    word: &mut String,
) -> Result<(), UnbalancedQuoteError> {
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Ok(()),
            '\\' => match letters.next().ok_or(UnbalancedQuoteError)? {
                escaped @ ('"' | '\\' | '$' | '`') => word.push(escaped),
                other => word.extend(['\\', other]),
            },
            letter => word.push(letter),
        }
    }
    Err(UnbalancedQuoteError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        let table: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  a  b ", &["a", "b"]),
            ("'a b' c", &["a b", "c"]),
            (r#""a \"b\"" c\ d"#, &["a \"b\"", "c d"]),
            (r#"x'y'"z" '' "#, &["xyz", ""]),
            (r#"'a\b' "a\nb""#, &["a\\b", "a\\nb"]),
        ];
        for (line, expected) in table {
            assert_eq!(split_words(line).unwrap(), *expected, "{line}");
        }
        for line in ["'a", "\"a", "a\\", "\"a\\"] {
            assert_eq!(split_words(line), Err(UnbalancedQuoteError), "{line}");
        }
    }
}
