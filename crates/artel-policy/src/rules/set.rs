//! The rules in force together, from lists or from a file of prefix rules.

use serde::Deserialize;
use toml::Spanned;

use super::{PolicyRule, PolicyRuleError, literal_words};

/// Rules that grant, ask and deny. Deny beats ask, ask beats allow.
#[derive(Debug, Clone, Default)]
pub struct PolicyRuleSet {
    /// Rules for what is allowed.
    pub allow: Vec<PolicyRule>,
    /// Rules for what is asked about even if it is granted.
    pub ask: Vec<PolicyRule>,
    /// Rules for what is denied.
    pub deny: Vec<PolicyRule>,
}

impl PolicyRuleSet {
    /// Parses three lists and reports the broken rules. A broken grant grants nothing. A
    /// broken ban or ask rule makes every command a question, because nobody knows what it was
    /// about.
    pub fn parse(
        allow: &[String],
        ask: &[String],
        deny: &[String],
    ) -> (Self, Vec<PolicyRuleError>) {
        let mut bad = Vec::new();
        let mut set = Self::default();
        for text in allow {
            match PolicyRule::parse(text) {
                Ok(rule) => set.allow.push(rule),
                Err(error) => bad.push(error),
            }
        }
        for (texts, is_deny) in [(ask, false), (deny, true)] {
            for text in texts {
                match PolicyRule::parse(text) {
                    Ok(rule) if is_deny => set.deny.push(rule),
                    Ok(rule) => set.ask.push(rule),
                    Err(error) => {
                        set.ask.push(PolicyRule::unreadable(text));
                        bad.push(error);
                    }
                }
            }
        }
        (set, bad)
    }

    /// Removes the rules whose tool is a misspelled built-in name and not in `declared`. Such
    /// a grant grants nothing; such a ban or ask rule makes every command a question.
    pub fn refuse_misspelled(&mut self, declared: &[String]) -> Vec<PolicyRuleError> {
        let mut bad = Vec::new();
        let mut keep = |rule: &PolicyRule| match rule.check_name(declared) {
            Ok(()) => true,
            Err(error) => {
                bad.push(error);
                false
            }
        };
        let mut unreadable = Vec::new();
        self.allow.retain(&mut keep);
        for list in [&mut self.ask, &mut self.deny] {
            list.retain(|rule| {
                let is_kept = keep(rule);
                if !is_kept {
                    unreadable.push(PolicyRule::unreadable(rule.text()));
                }
                is_kept
            });
        }
        self.ask.extend(unreadable);
        bad
    }

    /// Parses a file of prefix rules and checks the examples in it. A single mistake rejects
    /// all of its rules.
    ///
    /// ```toml
    /// [[rule]]
    /// prefix = ["git", "status"]
    /// decision = "allow"
    /// match = ["git status -s"]
    /// not_match = ["git push"]
    /// reason = "only looks"
    ///
    /// [[rule]]
    /// prefix = ["gh", "pr", "list"]
    /// decision = "allow"
    /// secrets = ["github"]
    /// ```
    ///
    /// A rule that names secrets puts them into the environment of its command, if that
    /// command stands alone and the policy lets the role have them.
    ///
    /// Bans and ask rules of any form stand in two lists before the entries:
    ///
    /// ```toml
    /// deny = ["Bash(git commit:*)", "Read(private/**)"]
    /// ask = ["Bash(make:*)"]
    /// ```
    ///
    /// If one of these cannot be read, it is not dropped: it makes every command a question.
    pub fn from_toml(text: &str) -> Result<Self, PolicyRuleError> {
        let file: PolicyRulesFile =
            toml::from_str(text).map_err(|cause| PolicyRuleError::in_file(text, &cause))?;
        let (mut set, _) = Self::parse(&[], &file.ask, &file.deny);
        for entry in file.rule {
            let decision = entry.decision;
            let rule = entry.into_rule(text)?;
            match decision {
                PolicyRulesFileAnswer::Allow => set.allow.push(rule),
                PolicyRulesFileAnswer::Ask => set.ask.push(rule),
                PolicyRulesFileAnswer::Deny => set.deny.push(rule),
            }
        }
        Ok(set)
    }

    /// Returns the bans and ask rules in such a file that cannot be read, given the declared
    /// tools.
    pub fn unread_in_toml(text: &str, declared: &[String]) -> Vec<PolicyRuleError> {
        let Ok(file) = toml::from_str::<PolicyRulesFile>(text) else {
            return Vec::new();
        };
        let (mut set, mut bad) = Self::parse(&[], &file.ask, &file.deny);
        bad.extend(set.refuse_misspelled(declared));
        bad
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRulesFile {
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    rule: Vec<PolicyRulesFileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRulesFileEntry {
    prefix: Spanned<Vec<String>>,
    decision: PolicyRulesFileAnswer,
    #[serde(default, rename = "match")]
    matches: Vec<Spanned<String>>,
    #[serde(default)]
    not_match: Vec<Spanned<String>>,
    reason: Option<String>,
    secrets: Option<Spanned<Vec<String>>>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PolicyRulesFileAnswer {
    Allow,
    Ask,
    Deny,
}

impl PolicyRulesFileEntry {
    fn into_rule(self, text: &str) -> Result<PolicyRule, PolicyRuleError> {
        let place = self.prefix.span().start;
        let words = self.prefix.into_inner();
        if words.first().is_none_or(String::is_empty) {
            return Err(PolicyRuleError::at(
                text,
                place,
                "a prefix has at least the program",
            ));
        }
        let secrets = secrets(self.secrets, self.decision, text)?;
        let rule = PolicyRule::prefix_of(words, self.reason, secrets);
        let covers = |words: &[String]| match self.decision {
            PolicyRulesFileAnswer::Allow => rule.admits_command(words),
            PolicyRulesFileAnswer::Ask | PolicyRulesFileAnswer::Deny => rule.catches_command(words),
        };
        let examples = [(&self.matches, true), (&self.not_match, false)];
        for (examples, expected) in examples {
            for example in examples {
                let words = literal_words(example.get_ref()).ok_or_else(|| {
                    PolicyRuleError::at(
                        text,
                        example.span().start,
                        "an example is one plain command",
                    )
                })?;
                if covers(&words) != expected {
                    let why = if expected {
                        "the rule does not match this example"
                    } else {
                        "the rule matches this example"
                    };
                    return Err(PolicyRuleError::at(text, example.span().start, why));
                }
            }
        }
        Ok(rule)
    }
}

/// Reads and checks the names of a rule's secrets.
fn secrets(
    named: Option<Spanned<Vec<String>>>,
    decision: PolicyRulesFileAnswer,
    text: &str,
) -> Result<Vec<String>, PolicyRuleError> {
    let Some(named) = named else {
        return Ok(Vec::new());
    };
    let place = named.span().start;
    let names = named.into_inner();
    if matches!(decision, PolicyRulesFileAnswer::Deny) {
        let why = "a rule that denies gives no secrets";
        return Err(PolicyRuleError::at(text, place, why));
    }
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err(PolicyRuleError::at(text, place, "a secret has a name"));
    }
    Ok(names)
}
