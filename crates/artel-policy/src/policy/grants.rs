//! Grants: what a person allowed, how far it reaches, and why.

use serde::{Deserialize, Serialize};

use crate::rules::{PolicyRule, PolicyRuleError};

/// One thing that a person allowed.
#[derive(Debug, Clone)]
pub struct Grant {
    /// The rule for what is allowed.
    pub rule: PolicyRule,
    /// The reach of the grant.
    pub scope: GrantScope,
    /// The reason in the person's words.
    pub reason: String,
}

/// The reach of a grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GrantScope {
    /// Only this call.
    Once,
    /// This run and all runs of its tree.
    Run,
    /// This workshop, permanently.
    Always,
}

/// The content of `Policy/grants.toml`: the permanent grants in a workshop.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantFile {
    /// All entries, oldest first.
    #[serde(default, rename = "grant")]
    pub grants: Vec<GrantEntry>,
}

/// One grant as stored in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantEntry {
    /// The rule as written.
    pub rule: String,
    /// Why it was granted.
    pub reason: String,
    /// The person who granted it.
    pub by: String,
    /// When it was granted, as RFC 3339.
    pub at: String,
}

impl GrantScope {
    /// Returns the stored word for the scope.
    pub fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Run => "run",
            Self::Always => "always",
        }
    }
}

impl GrantFile {
    /// Parses the file. If one rule is broken, the whole file is rejected; an outdated rule
    /// grants nothing and leaves the others in force.
    pub fn parse(text: &str) -> Result<(Self, Vec<Grant>), PolicyRuleError> {
        let file: Self =
            toml::from_str(text).map_err(|cause| PolicyRuleError::in_file(text, &cause))?;
        let mut grants = Vec::new();
        for entry in &file.grants {
            match PolicyRule::parse(&entry.rule) {
                Ok(rule) => grants.push(Grant {
                    rule,
                    scope: GrantScope::Always,
                    reason: entry.reason.clone(),
                }),
                Err(bad) if bad.is_outdated() => {}
                Err(bad) => return Err(bad),
            }
        }
        Ok((file, grants))
    }

    /// Returns the rules in the file that no longer grant anything.
    pub fn outdated(&self) -> Vec<PolicyRuleError> {
        let rules = self.grants.iter();
        rules
            .filter_map(|entry| PolicyRule::parse(&entry.rule).err())
            .collect()
    }

    /// Returns the file as TOML text.
    pub fn to_text(&self) -> String {
        let mut text = "# What was allowed for good in this workshop. `artel policy grant` and \
             `artel policy\n# revoke` write this file; agents never do.\n"
            .to_owned();
        for GrantEntry {
            rule,
            reason,
            by,
            at,
        } in &self.grants
        {
            text.push_str("\n[[grant]]\n");
            for (key, value) in [("rule", rule), ("reason", reason), ("by", by), ("at", at)] {
                text.push_str(&format!("{key} = {}\n", quoted(value)));
            }
        }
        text
    }
}

/// Quotes a TOML string, using JSON's escapes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text)
        .to_string()
        .replace('\u{7f}', "\\u007f")
}

/// Programs that run whatever they are given: a rule for everything they can do would be
/// no limit.
const RUNS_ANYTHING: &[&str] = &[
    "ash",
    "awk",
    "bash",
    "bun",
    "busybox",
    "cmd",
    "csh",
    "dash",
    "deno",
    "docker",
    "doas",
    "env",
    "eval",
    "exec",
    "expect",
    "find",
    "fish",
    "gawk",
    "gdb",
    "git",
    "ksh",
    "lua",
    "make",
    "mawk",
    "nice",
    "node",
    "nohup",
    "npm",
    "npx",
    "osascript",
    "parallel",
    "perl",
    "php",
    "podman",
    "powershell",
    "pwsh",
    "python",
    "python2",
    "python3",
    "R",
    "ruby",
    "rm",
    "screen",
    "sed",
    "sh",
    "setsid",
    "ssh",
    "stdbuf",
    "su",
    "sudo",
    "systemd-run",
    "tclsh",
    "timeout",
    "tmux",
    "toybox",
    "uv",
    "uvx",
    "watch",
    "xargs",
    "yarn",
    "pnpm",
    "zsh",
];

/// Returns why a rule is too broad to be granted permanently, with a narrower one to use,
/// or `None` if it is not.
pub fn too_broad(rule: &PolicyRule) -> Option<String> {
    if !rule.tool().eq_ignore_ascii_case("bash") {
        return None;
    }
    let words = rule.prefix();
    let Some((program, rest)) = words.split_first() else {
        return Some("it allows every command".to_owned());
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    // `npm run:*` and `python -m:*` are as broad as the bare name.
    let is_open = match rest {
        [] => true,
        [only] => matches!(
            only.as_str(),
            "run" | "-m" | "-c" | "-e" | "exec" | "x" | "-S"
        ),
        _ => false,
    };
    let is_anything = RUNS_ANYTHING.contains(&name) && is_open && !rule.is_exact();
    is_anything.then(|| format!("`{}` can start anything", words.join(" ")))
}

/// Returns whether a role may use this secret at all. Policy may narrow this further,
/// never widen it.
pub(super) fn may_hold(role: &str, secret: &str) -> bool {
    match role {
        "engineer" | "designer" | "default" => true,
        "academic" => matches!(secret, "serpapi" | "google"),
        _ => false,
    }
}
