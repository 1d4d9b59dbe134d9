//! The scope of a step as text: which patterns can be read at all, and which one covers
//! which.
//!
//! If it cannot be decided whether one pattern covers another, it does not. The person is
//! then shown one line too many, never one too few.

use artel_types::{path_of_pattern, spelt_out};
use globset::GlobBuilder;

/// Characters by which a shell would compute or join something.
const SHELL_SIGNS: &[char] = &['|', '&', ';', '<', '>', '$', '`', '(', ')', '\n', '#', '\\'];

/// Returns what is wrong with a pattern for files.
pub(super) fn fault_in_path(pattern: &str) -> Option<String> {
    fault_in_name(pattern).or_else(|| glob(pattern).err())
}

/// Returns what is wrong with the name of a file.
pub(super) fn fault_in_name(pattern: &str) -> Option<String> {
    if pattern.trim().is_empty() {
        return Some("it names nothing".to_owned());
    }
    if pattern.starts_with(['/', '~']) || has_drive(pattern) {
        return Some("it does not begin at the root of the project".to_owned());
    }
    if pattern.split(['/', '\\']).any(|part| part == "..") {
        return Some("it leads out of the project with `..`".to_owned());
    }
    None
}

/// Returns what is wrong with a rule for commands: only plain words are allowed, and a
/// star at the end.
pub(super) fn fault_in_command(rule: &str) -> Option<String> {
    let (tool, inner) = parts(rule);
    if let Some(tool) = tool {
        return match inner {
            None => Some(format!("`{tool}(` is not closed at the end")),
            Some(_) if !tool.eq_ignore_ascii_case("bash") => {
                Some(format!("`{tool}` is not about commands"))
            }
            Some(inner) => fault_in_words(inner),
        };
    }
    fault_in_words(rule)
}

/// Splits `Bash(git log:*)` into the tool and the text in its parentheses. Without
/// parentheses there is no tool; without the closing one there is no inner text.
fn parts(rule: &str) -> (Option<&str>, Option<&str>) {
    let rule = rule.trim();
    let is_name = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match rule.split_once('(') {
        Some((tool, rest)) if is_name(tool) => (Some(tool), rest.strip_suffix(')')),
        _ => (None, Some(rule)),
    }
}

fn fault_in_words(rule: &str) -> Option<String> {
    let (stem, _) = stem(rule);
    if rule.trim() == "*" {
        return None;
    }
    if stem.trim().is_empty() {
        return Some("it names nothing".to_owned());
    }
    if stem.contains('*') {
        return Some("a star stands only at the end, for any further words".to_owned());
    }
    if let Some(sign) = stem.chars().find(|sign| SHELL_SIGNS.contains(sign)) {
        return Some(format!(
            "`{}` is not part of a plain word",
            sign.escape_default()
        ));
    }
    let is_open = ['"', '\'']
        .iter()
        .any(|quote| stem.matches(*quote).count() % 2 == 1);
    is_open.then(|| "a quote is not closed".to_owned())
}

/// Returns a rule without its star, and whether it had one.
fn stem(rule: &str) -> (&str, CommandRuleEnding) {
    let rule = rule.trim();
    match rule.strip_suffix(":*").or_else(|| rule.strip_suffix(" *")) {
        Some(stem) => (stem.trim_end(), CommandRuleEnding::Open),
        None => (rule, CommandRuleEnding::Exact),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandRuleEnding {
    Open,
    Exact,
}

/// Returns the program that a rule is about.
pub(super) fn program(rule: &str) -> &str {
    let (_, inner) = parts(rule);
    let (stem, _) = stem(inner.unwrap_or_default());
    stem.split([' ', '\t', ':']).next().unwrap_or_default()
}

/// Returns what is wrong with a host.
pub(super) fn fault_in_host(host: &str) -> Option<String> {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) => (name, Some(port)),
        None => (host, None),
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0));
    let name = name.strip_prefix("*.").unwrap_or(name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let is_name = name == "*" || (!name.is_empty() && name.chars().all(is_plain));
    (!is_name || !is_port)
        .then(|| "it is no host such as `docs.rs` or `example.org:443`".to_owned())
}

/// Returns whether the patterns in `wide` cover every file of `narrow`.
pub(super) fn covers_path(wide: &[String], narrow: &str) -> bool {
    wide.iter().any(|wide| {
        let (wide, narrow) = (plain(wide), plain(narrow));
        if wide == narrow || matches!(wide, "**" | "**/*") {
            return true;
        }
        if let Some(folder) = wide.strip_suffix("/**")
            && !has_wildcard(folder)
        {
            let rest = narrow.strip_prefix(folder);
            return rest.is_some_and(|rest| rest.starts_with('/'));
        }
        path_of_pattern(narrow).is_some_and(|path| matches(wide, &path))
    })
}

/// Returns whether the rules in `wide` cover every command of `narrow`.
pub(super) fn covers_command(wide: &[String], narrow: &str) -> bool {
    let read = |rule: &str| {
        let (tool, inner) = parts(rule);
        let is_command = tool.is_none_or(|tool| tool.eq_ignore_ascii_case("bash"));
        let (stem, ending) = stem(if is_command {
            inner.unwrap_or(rule)
        } else {
            rule.trim()
        });
        let words: Vec<String> = stem
            .replacen(':', " ", 1)
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        (words, ending)
    };
    let (narrow_words, narrow_ending) = read(narrow);
    wide.iter().any(|wide| {
        let (words, ending) = read(wide);
        let is_every = words.len() == 1 && words[0] == "*";
        match ending {
            _ if is_every => true,
            CommandRuleEnding::Open => narrow_words.starts_with(&words),
            CommandRuleEnding::Exact => {
                narrow_ending == CommandRuleEnding::Exact && words == narrow_words
            }
        }
    })
}

/// Returns whether the hosts in `wide` include a host.
pub(super) fn covers_host(wide: &[String], narrow: &str) -> bool {
    let narrow = narrow.to_ascii_lowercase();
    wide.iter().any(|wide| {
        let wide = wide.to_ascii_lowercase();
        let rest = wide.strip_prefix('*').filter(|rest| rest.starts_with('.'));
        wide == "*" || wide == narrow || rest.is_some_and(|rest| narrow.ends_with(rest))
    })
}

fn plain(pattern: &str) -> &str {
    pattern.strip_prefix("./").unwrap_or(pattern)
}

fn has_drive(path: &str) -> bool {
    let mut letters = path.chars();
    letters
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && letters.next() == Some(':')
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', ']', '{', '}', '!', '\\'])
}

fn matches(pattern: &str, path: &str) -> bool {
    glob(pattern).is_ok_and(|glob| glob.is_match(path))
}

/// Compiles a pattern in which `*` stops at a slash, as in policy.
fn glob(pattern: &str) -> Result<globset::GlobMatcher, String> {
    GlobBuilder::new(&spelt_out(plain(pattern)))
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|cause| cause.kind().to_string())
}
