//! The type of a scalar, by the core schema of YAML 1.2.

/// Style in which a scalar was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum YamlScalarStyle {
    /// Plain: it may be a number or a flag.
    Plain,
    /// In quotes or as a block: it is always text.
    Quoted,
}

/// The type of a scalar, by the core schema of YAML 1.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum YamlScalarKind {
    Null,
    Bool(bool),
    Int(i64),
    Number(f64),
    Text,
}

/// Returns the type of a scalar. Text in quotes and blocks is always text.
pub(crate) fn kind(text: &str, style: YamlScalarStyle) -> YamlScalarKind {
    if style == YamlScalarStyle::Quoted {
        return YamlScalarKind::Text;
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return YamlScalarKind::Null,
        "true" | "True" | "TRUE" => return YamlScalarKind::Bool(true),
        "false" | "False" | "FALSE" => return YamlScalarKind::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return YamlScalarKind::Number(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return YamlScalarKind::Number(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return YamlScalarKind::Number(f64::NAN),
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
        return YamlScalarKind::Int(number);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return YamlScalarKind::Text;
    }
    if unsigned.bytes().all(|byte| byte.is_ascii_digit())
        && let Ok(number) = text.parse()
    {
        return YamlScalarKind::Int(number);
    }
    let is_numeric = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    match text.parse() {
        Ok(number) if unsigned.bytes().all(is_numeric) => YamlScalarKind::Number(number),
        _ => YamlScalarKind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keep_how_they_were_written() {
        let table = [
            ("1.0", YamlScalarKind::Number(1.0)),
            ("15", YamlScalarKind::Int(15)),
            ("-3", YamlScalarKind::Int(-3)),
            ("0x10", YamlScalarKind::Int(16)),
            ("0o17", YamlScalarKind::Int(15)),
            ("1.2.3", YamlScalarKind::Text),
            ("2026-11-15", YamlScalarKind::Text),
            ("30s", YamlScalarKind::Text),
            ("yes", YamlScalarKind::Text),
            ("1_000", YamlScalarKind::Text),
            ("-", YamlScalarKind::Text),
            (".", YamlScalarKind::Text),
            ("1e3", YamlScalarKind::Number(1000.0)),
            ("true", YamlScalarKind::Bool(true)),
            ("~", YamlScalarKind::Null),
            ("inf", YamlScalarKind::Text),
            ("99999999999999999999", YamlScalarKind::Number(1e20)),
        ];
        for (text, expected) in table {
            assert_eq!(kind(text, YamlScalarStyle::Plain), expected, "{text}");
            assert_eq!(
                kind(text, YamlScalarStyle::Quoted),
                YamlScalarKind::Text,
                "{text}"
            );
        }
    }
}
