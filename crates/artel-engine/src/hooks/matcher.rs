//! Matches calls with hooks, and knows the names by which hooks know tools.

use regex::{Regex, RegexBuilder};

/// Largest compiled size of an expression, in bytes; more is a mistake or an attack.
const LARGEST_EXPRESSION: usize = 1 << 20;

/// Artel's tools with the names that hooks written for other agents use. Hooks get the
/// first one.
const NAMES: &[(&str, &[&str])] = &[
    ("bash", &["Bash"]),
    ("edit", &["Edit"]),
    ("multi_edit", &["Edit", "MultiEdit"]),
    ("apply_patch", &["Edit", "Write"]),
    ("write", &["Write"]),
    ("batch_write", &["Write"]),
    ("read", &["Read"]),
    ("grep", &["Grep"]),
    ("glob", &["Glob"]),
    ("list", &["LS"]),
    ("fetch", &["WebFetch"]),
    ("skill", &["Skill", "Task"]),
    ("ask_person", &["AskUserQuestion"]),
];

/// Selects the calls, sources or reasons that a hook is for.
#[derive(Debug, Clone)]
pub struct HookMatcher {
    text: String,
    sort: HookMatcherPattern,
}

/// Why a matcher cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the matcher `{text}` is neither names nor a regular expression: {why}")]
pub struct HookMatcherError {
    text: String,
    why: String,
}

#[derive(Debug, Clone)]
enum HookMatcherPattern {
    All,
    Names(Vec<String>),
    Expression(Regex),
}

impl HookMatcher {
    /// Parses a matcher: empty or `*` for all, names separated by `|`, or else a regular
    /// expression that may match anywhere.
    pub fn new(text: &str) -> Result<Self, HookMatcherError> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_|".contains(letter);
        let sort = match text.trim() {
            "" | "*" => HookMatcherPattern::All,
            names if names.chars().all(is_plain) => {
                HookMatcherPattern::Names(names.split('|').map(str::to_owned).collect())
            }
            expression => HookMatcherPattern::Expression(compiled(expression)?),
        };
        Ok(Self {
            text: text.to_owned(),
            sort,
        })
    }

    /// Returns the matcher as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the matcher accepts something with any of these names.
    pub(super) fn admits(&self, names: &[&str]) -> bool {
        match &self.sort {
            HookMatcherPattern::All => true,
            HookMatcherPattern::Names(wanted) => {
                names.iter().any(|name| wanted.iter().any(|it| it == name))
            }
            HookMatcherPattern::Expression(wanted) => {
                names.iter().any(|name| wanted.is_match(name))
            }
        }
    }
}

/// Returns all names of a tool, beginning with the one that hooks get.
pub(super) fn names_of(tool: &str) -> Vec<&str> {
    let found = NAMES.iter().find(|(ours, _)| *ours == tool);
    let theirs = found.map_or(&[][..], |(_, theirs)| theirs);
    theirs.iter().copied().chain([tool]).collect()
}

fn compiled(text: &str) -> Result<Regex, HookMatcherError> {
    let built = RegexBuilder::new(text)
        .size_limit(LARGEST_EXPRESSION)
        .build();
    built.map_err(|error| {
        let why = error.to_string();
        let why = why.lines().last().unwrap_or_default().trim();
        HookMatcherError {
            text: text.chars().take(200).collect(),
            why: why.trim_start_matches("error: ").to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_know_both_names_of_a_tool() {
        for (matcher, tool, expected) in [
            ("", "bash", true),
            ("*", "read", true),
            ("Bash", "bash", true),
            ("bash", "bash", true),
            ("Bas", "bash", false),
            ("Bash|Edit", "multi_edit", true),
            ("Write", "edit", false),
            ("Write", "apply_patch", true),
            ("WebFetch", "fetch", true),
            ("mcp__memory__.*", "mcp__memory__store", true),
            ("mcp__memory", "mcp__memory__store", false),
            ("^Edit$", "multi_edit", true),
            ("Notebook.*|Web.*", "fetch", true),
            ("Notebook.*", "read", false),
            ("declared_one", "declared_one", true),
        ] {
            let found = HookMatcher::new(matcher).unwrap().admits(&names_of(tool));
            assert_eq!(found, expected, "{matcher} {tool}");
        }
    }

    #[test]
    fn broken_expressions_are_refused() {
        let error = HookMatcher::new("Bash(").unwrap_err().to_string();
        assert!(error.contains("unclosed group"), "{error}");
        assert!(HookMatcher::new("(a{1000}){1000}.").is_err());
    }
}
