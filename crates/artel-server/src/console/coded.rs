//! Texts with code between backticks.

use askama::Template;
use askama::filters::HtmlSafe;

/// A text whose parts between backticks are shown as code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Template)]
#[template(
    ext = "html",
    source = "{% for it in parts %}{% if it.0 %}<code>{{ it.1 }}</code>{% else %}{{ it.1 }}{% endif %}{% endfor %}"
)]
pub(super) struct InlineCodeText {
    /// The parts, each with whether it was between backticks.
    parts: Vec<(bool, String)>,
}

// The template escapes its values itself.
impl HtmlSafe for InlineCodeText {}

impl InlineCodeText {
    /// Returns whether the text is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.iter().all(|(_, text)| text.is_empty())
    }

    /// Appends a line.
    pub(super) fn add(&mut self, line: &str) {
        let mut more = coded(line).parts.into_iter();
        if let (Some((_, last)), Some((_, first))) = (self.parts.last_mut(), more.next()) {
            last.push('\n');
            last.push_str(&first);
        }
        self.parts.extend(more);
    }
}

/// Splits a text at its backticks. A backtick without a counterpart is kept as text.
pub(super) fn coded(text: &str) -> InlineCodeText {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        let Some((code, after)) = after.split_once('`') else {
            break;
        };
        parts.push((false, before.to_owned()));
        parts.push((true, code.to_owned()));
        rest = after;
    }
    parts.push((false, rest.to_owned()));
    InlineCodeText { parts }
}

#[cfg(test)]
mod tests {
    use askama::Template as _;

    use super::coded;

    #[test]
    fn what_stands_between_backticks_is_code_and_nothing_is_obeyed() {
        for (text, shown) in [
            (
                "run `artel open`, then",
                "run <code>artel open</code>, then",
            ),
            ("one ` alone", "one ` alone"),
            ("`<b>` & `", "<code>&#60;b&#62;</code> &#38; `"),
            ("", ""),
        ] {
            assert_eq!(coded(text).render().unwrap(), shown);
        }
    }
}
