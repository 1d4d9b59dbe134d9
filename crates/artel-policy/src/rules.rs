//! Rules as people write them: `Bash(git:*)`, `Edit(src/**)`, `mcp__server__tool`.
//!
//! A command rule is a list of words. `Bash(git log:*)` and `Bash(git log *)` mean these
//! words and any more, `Bash(git log)` exactly these words, `Bash` and `Bash(*)` every
//! command that can be judged. Words are compared whole, after the quotes are removed, so
//! `git log` does not match `git logx`. A grant is read narrowly, a ban widely: a ban on
//! `rm` also catches `/bin/rm`, and one on `git push` also catches `git -C . push
//! --force`.
//!
//! A rule that does not parse grants nothing. As a ban it cannot simply be dropped: nobody
//! knows what it was about, so it stands for everything.

mod bad;
mod host;
mod names;
mod paths;
mod pattern;
mod set;

use globset::GlobMatcher;

pub use bad::{PolicyRuleError, PolicyRuleFault};
pub use host::RequestedHost;
pub use paths::PathUse;
pub use set::PolicyRuleSet;

use crate::command::words_of;
use pattern::{CommandPattern, PolicyRulePattern};

/// The tool that command rules are about.
const BASH: &str = "bash";

/// The tool that rules about hosts are about.
const FETCH: &str = "fetch";

/// The tool that stands for handing out a secret.
const SECRET: &str = "secret";

/// One rule, with the text it was written as.
#[derive(Debug, Clone)]
pub struct PolicyRule {
    text: String,
    tool: String,
    form: PolicyRulePattern,
    reason: Option<String>,
    secrets: Vec<String>,
}

impl PolicyRule {
    /// Parses a rule. Tool names are case-sensitive: `bash(ls)` does not name a tool.
    pub fn parse(text: &str) -> Result<Self, PolicyRuleError> {
        let trimmed = text.trim();
        let (tool, argument) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(argument) => (tool, Some(argument)),
                None => return Err(PolicyRuleError::unclosed(text)),
            },
        };
        if !is_tool_name(tool) {
            return Err(PolicyRuleError::tool(text, tool));
        }
        let tool = match names::tool_of(tool) {
            Ok(tool) => tool.to_owned(),
            Err(right) => return Err(PolicyRuleError::misspelled(text, tool, right)),
        };
        let form = match argument.map(str::trim) {
            None => PolicyRulePattern::Any,
            Some("*") => PolicyRulePattern::Any,
            Some("" | ":*") => return Err(PolicyRuleError::empty(text)),
            Some(argument) if tool == BASH => {
                PolicyRulePattern::Command(pattern::command(text, argument)?)
            }
            Some(argument) if tool == FETCH => {
                PolicyRulePattern::Host(Box::new(pattern::host(text, argument)?))
            }
            Some(argument) => PolicyRulePattern::Glob(Box::new(pattern::glob(text, argument)?)),
        };
        Ok(Self {
            text: text.to_owned(),
            tool,
            form,
            reason: None,
            secrets: Vec::new(),
        })
    }

    /// Creates the rule about everything that one tool does, given the name used in calls.
    pub fn of_tool(name: &str) -> Self {
        Self {
            text: names::written(name).to_owned(),
            tool: name.to_owned(),
            form: PolicyRulePattern::Any,
            reason: None,
            secrets: Vec::new(),
        }
    }

    /// Returns the rule as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the name of the rule's tool, as used in calls.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the reason that the author of the rule gave for it.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// Returns the names of the secrets that a matching command gets.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// Returns the words that a command must begin with; empty for a rule about every command.
    pub fn prefix(&self) -> &[String] {
        match &self.form {
            PolicyRulePattern::Command(words) => &words.words,
            PolicyRulePattern::Any
            | PolicyRulePattern::Glob(_)
            | PolicyRulePattern::Host(_)
            | PolicyRulePattern::Unreadable => &[],
        }
    }

    /// Returns whether the rule matches one exact command, without further words.
    pub fn is_exact(&self) -> bool {
        matches!(&self.form, PolicyRulePattern::Command(words) if !words.is_open)
    }

    /// Returns whether the rule says more than the name of a tool.
    pub fn names_something(&self) -> bool {
        !matches!(self.form, PolicyRulePattern::Any)
    }

    /// Returns whether the rule's tool is built in rather than declared.
    pub fn is_about_built_in(&self) -> bool {
        names::is_built_in(&self.tool)
    }

    /// Returns whether the rule names an existing tool: a built-in one, one of a server, or a
    /// declared one.
    pub fn names_a_tool(&self, declared: &[String]) -> bool {
        self.is_about_built_in() || names::is_of_server(&self.tool) || declared.contains(&self.tool)
    }

    /// Returns an error if the tool does not exist and looks like a misspelled built-in one.
    pub fn check_name(&self, declared: &[String]) -> Result<(), PolicyRuleError> {
        match names::near(&self.tool) {
            Some(right) if !declared.contains(&self.tool) => {
                Err(PolicyRuleError::near(&self.text, &self.tool, right))
            }
            _ => Ok(()),
        }
    }

    /// Returns the secrets that it names, as they are written, and that are none of these.
    pub fn secrets_beyond(&self, stored: &[String]) -> Vec<&str> {
        let is_stored = || stored.iter().any(|name| self.admits_name(SECRET, name));
        let named = self
            .path_pattern()
            .filter(|_| self.tool == SECRET && !is_stored());
        let handed_out = self.secrets.iter().filter(|name| !stored.contains(name));
        named
            .into_iter()
            .chain(handed_out.map(String::as_str))
            .collect()
    }

    /// Returns whether the rule is about commands.
    pub fn is_about_commands(&self) -> bool {
        self.tool == BASH
    }

    /// Returns whether the rule, as a ban or ask rule, matches every command, because it is
    /// about all of them or cannot be read.
    pub fn catches_everything(&self) -> bool {
        self.tool == BASH
            && matches!(
                self.form,
                PolicyRulePattern::Any | PolicyRulePattern::Unreadable
            )
    }

    /// Returns the pattern of the files that the rule names, if any.
    pub fn path_pattern(&self) -> Option<&str> {
        match &self.form {
            PolicyRulePattern::Glob(path) => Some(path.granted.glob().glob()),
            PolicyRulePattern::Any
            | PolicyRulePattern::Command(_)
            | PolicyRulePattern::Host(_)
            | PolicyRulePattern::Unreadable => None,
        }
    }

    /// Returns whether the rule stands in for a ban or ask rule that cannot be read.
    pub fn is_unreadable(&self) -> bool {
        matches!(self.form, PolicyRulePattern::Unreadable)
    }

    /// Returns whether the rule is about every command: `Bash`, `Bash(*)`.
    pub fn is_blanket(&self) -> bool {
        self.tool == BASH && matches!(self.form, PolicyRulePattern::Any)
    }

    /// Returns whether the rule grants this command, given by its literal words.
    ///
    /// A program is granted by its bare name or by a path in a system directory, never by a
    /// path that merely ends in the same name.
    pub fn admits_command(&self, words: &[String]) -> bool {
        self.tool == BASH
            && match &self.form {
                PolicyRulePattern::Any => !words.is_empty(),
                PolicyRulePattern::Command(rule) => rule.admits(words),
                PolicyRulePattern::Glob(_)
                | PolicyRulePattern::Host(_)
                | PolicyRulePattern::Unreadable => false,
            }
    }

    /// Returns whether the rule grants these words when more, still unknown words follow.
    pub fn admits_open_command(&self, words: &[String]) -> bool {
        !self.is_exact() && self.admits_command(words)
    }

    /// Returns whether the rule, as a ban or ask rule, matches this command in any spelling.
    pub fn catches_command(&self, words: &[String]) -> bool {
        match &self.form {
            PolicyRulePattern::Any => self.tool == BASH && !words.is_empty(),
            PolicyRulePattern::Command(rule) => rule.catches(words),
            PolicyRulePattern::Glob(_) | PolicyRulePattern::Host(_) => false,
            PolicyRulePattern::Unreadable => true,
        }
    }

    /// Returns whether the rule grants this tool a path, which is relative to the workspace
    /// and resolved.
    pub fn admits_path(&self, tool: &str, path: &str) -> bool {
        self.tool == tool
            && match &self.form {
                PolicyRulePattern::Any => true,
                PolicyRulePattern::Glob(named) => named
                    .granted
                    .is_match(path.strip_prefix("./").unwrap_or(path)),
                PolicyRulePattern::Command(_)
                | PolicyRulePattern::Host(_)
                | PolicyRulePattern::Unreadable => false,
            }
    }

    /// Returns whether the rule grants this tool as a whole. `mcp__server__*` covers all tools
    /// of a server.
    pub fn admits_tool(&self, tool: &str) -> bool {
        if !matches!(self.form, PolicyRulePattern::Any) {
            return false;
        }
        match self.tool.strip_suffix('*') {
            Some(start) => tool.len() > start.len() && tool.starts_with(start),
            None => tool == self.tool,
        }
    }

    /// Returns whether the rule grants this host or secret: `Fetch(docs.rs)`,
    /// `Secret(github)`.
    pub fn admits_name(&self, tool: &str, name: &str) -> bool {
        self.tool == tool
            && match &self.form {
                PolicyRulePattern::Any => true,
                PolicyRulePattern::Host(pattern) => pattern.admits(&RequestedHost::read(name)),
                PolicyRulePattern::Glob(named) => named.granted.is_match(name),
                PolicyRulePattern::Command(_) | PolicyRulePattern::Unreadable => false,
            }
    }

    /// Returns whether the rule, as a ban or ask rule, matches this host or secret. Without a
    /// port it covers every port of a host; with one it also matches a request for the host
    /// without a port.
    pub fn catches_name(&self, tool: &str, name: &str) -> bool {
        match &self.form {
            PolicyRulePattern::Host(pattern) => {
                self.tool == tool && pattern.catches(&RequestedHost::read(name))
            }
            _ => self.admits_name(tool, name),
        }
    }

    /// Creates the rule that stands in for a ban that cannot be read. It matches every action.
    pub fn unreadable(text: &str) -> Self {
        let text = if text.trim().is_empty() {
            "an empty rule"
        } else {
            text
        };
        Self {
            text: text.to_owned(),
            tool: BASH.to_owned(),
            form: PolicyRulePattern::Unreadable,
            reason: Some("this rule could not be read, so nothing runs without a question".into()),
            secrets: Vec::new(),
        }
    }

    /// Creates a rule from the words of a prefix in a file of prefix rules.
    fn prefix_of(words: Vec<String>, reason: Option<String>, secrets: Vec<String>) -> Self {
        Self {
            text: format!("Bash({}:*)", words.join(" ")),
            tool: BASH.to_owned(),
            form: PolicyRulePattern::Command(CommandPattern {
                words,
                is_open: true,
                is_glued: false,
            }),
            reason,
            secrets,
        }
    }
}

/// Returns whether a name can name a tool: letters, digits, `_`, `-` and `.`, starting
/// with a letter. A star is allowed only at the end of a server's tools.
fn is_tool_name(name: &str) -> bool {
    let stem = match name.strip_suffix('*') {
        Some(stem) if stem.starts_with("mcp__") && stem.len() > 7 && stem.ends_with("__") => stem,
        Some(_) => return false,
        None => name,
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    !stem.is_empty() && stem.chars().all(is_plain) && stem.starts_with(|c: char| c.is_alphabetic())
}

/// Compiles a glob in which `*` does not match a slash.
fn compile(pattern: &str) -> Result<GlobMatcher, globset::Error> {
    globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
}

/// Reads the words of a rule's argument as the shell would, or returns `None` if the shell
/// would compute any of them.
fn literal_words(text: &str) -> Option<Vec<String>> {
    words_of(text)
}

#[cfg(test)]
mod tests;
