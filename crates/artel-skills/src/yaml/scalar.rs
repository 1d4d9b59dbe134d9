//! The type of a scalar, by the core schema of YAML 1.2.

/// Style in which a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Plain: it may be a number or a flag.
    Plain,
    /// In quotes or as a block: it is always text.
    Quoted,
}

/// The type of a scalar, by the core schema of YAML 1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text,
}

/// Returns the type of a scalar. Text in quotes and blocks is always text.
pub(crate) fn kind(text: &str, style: Style) -> Kind {
    if style == Style::Quoted {
        return Kind::Text;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Kind::Number(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Kind::Number(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Kind::Number(f64::NAN),
        _ => {}
    }
    let based = [("0x", 16), ("0o", 8)]
        .into_iter()
        .find_map(|(mark, base)| {
            let digits = text.strip_prefix(mark)?;
            let is_digits = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
            is_digits.then(|| i64::from_str_radix(digits, base).ok())?
        });
    if let Some(number) = based {
        return Kind::Int(number);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return Kind::Text;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = text.parse()
    {
        return Kind::Int(number);
    }
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    match text.parse() {
        Ok(number) if unsigned.bytes().all(is_numeric) => Kind::Number(number),
        _ => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keep_how_they_were_written() {
        let table = [
            ("1.0", Kind::Number(1.0)),
            ("15", Kind::Int(15)),
            ("-3", Kind::Int(-3)),
            ("0x10", Kind::Int(16)),
            ("0o17", Kind::Int(15)),
            ("1.2.3", Kind::Text),
            ("2026-11-15", Kind::Text),
            ("30s", Kind::Text),
            ("yes", Kind::Text),
            ("1_000", Kind::Text),
            ("-", Kind::Text),
            (".", Kind::Text),
            ("1e3", Kind::Number(1000.0)),
            ("true", Kind::Bool(true)),
            ("~", Kind::Null),
            ("inf", Kind::Text),
            ("99999999999999999999", Kind::Number(1e20)),
        ];
        for (text, expected) in table {
            assert_eq!(kind(text, Style::Plain), expected, "{text}");
            assert_eq!(kind(text, Style::Quoted), Kind::Text, "{text}");
        }
    }
}
