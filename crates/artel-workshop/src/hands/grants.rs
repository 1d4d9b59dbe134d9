//! Manages `Policy/grants.toml`. Only an act of a person changes it, with a reason, and
//! every change is recorded.

use std::path::{Path, PathBuf};

use artel_policy::rules::{PolicyRule, PolicyRuleError};
use artel_policy::{Grant, GrantEntry, GrantFile, too_broad};
use artel_types::{Fact, Failure, FailureCode, PolicyGranted, PolicyRevoked};

use super::policy::{broken, parse, rule};
use super::tools::declared_names;
use crate::lock;
use crate::private::{PRIVATE_FILE, PRIVATE_FOLDER};
use crate::trouble::WorkshopFailures;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// Size limit of the file, in bytes; far more than anybody grants by hand.
const LARGEST: u64 = 1 << 20;

fn file_in(root: &Path) -> PathBuf {
    root.join("Policy/grants.toml")
}

/// Reads the grants of a workshop. A missing file means no grants.
pub(super) fn read(root: &Path) -> Result<(GrantFile, Vec<Grant>), Failure> {
    let file = file_in(root);
    if !file.exists() {
        return Ok((GrantFile::default(), Vec::new()));
    }
    let bytes = artel_files::read_bounded(&file, LARGEST).map_err(|error| broken(&file, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| broken(&file, &error))?;
    parse(&file, &text)
}

/// Returns the stored grants that no longer grant anything.
pub(crate) fn outdated_grants(root: &Path) -> Vec<PolicyRuleError> {
    read(root).map_or(Vec::new(), |(file, _)| file.outdated())
}

impl Workshop {
    /// Returns the permanent grants, oldest first.
    pub fn grants(&self) -> Result<Vec<GrantEntry>, WorkshopFailures> {
        Ok(read(self.root())?.0.grants)
    }

    /// Grants a rule for good. Only a person does this; the reason is theirs. A secret that nobody
    /// has stored yet is noted and no mistake: it may be stored later.
    pub fn grant(
        &self,
        text: &str,
        reason: &str,
    ) -> Result<OutcomeWithNotes<()>, WorkshopFailures> {
        self.refuse_grant(text, reason)?;
        let fact = PolicyGranted {
            rule: text.to_owned(),
            reason: reason.to_owned(),
        };
        let entry = GrantEntry {
            rule: text.to_owned(),
            reason: reason.to_owned(),
            by: self.caller.actor().id,
            at: self.caller.clock().now().to_string(),
        };
        self.change(|file| {
            file.grants.retain(|known| known.rule != entry.rule);
            file.grants.push(entry);
            Ok((fact.into(), ()))
        })?;
        let parsed = rule(text)?;
        // A list of secrets that cannot be read is no reason to take the grant back.
        let stored = self.caller.tool_secret_names();
        let missing = stored.map(|stored| secrets_of(&parsed, &stored));
        let note = |name: String| {
            format!(
                "no secret `{name}` is stored, so the grant gives none until `artel auth set --tool \
                 NAME`"
            )
        };
        Ok(OutcomeWithNotes {
            done: (),
            notes: missing.unwrap_or_default().into_iter().map(note).collect(),
        })
    }

    /// Refuses a rule that cannot be granted permanently: one that is too broad, or that has
    /// no reason.
    pub(crate) fn refuse_grant(&self, text: &str, reason: &str) -> Result<(), WorkshopFailures> {
        let parsed = rule(text)?;
        refuse_nameless(&parsed, &declared_names(self.root()))?;
        if let Some(why) = too_broad(&parsed) {
            return Err(Failure::new(
                FailureCode::P007,
                format!("`{text}` is too broad to be granted for good"),
            )
            .because(why)
            .advise("name what you need: `Bash(git status:*)`, `Bash(npm run build)`")
            .into());
        }
        if reason.trim().is_empty() {
            return Err(Failure::new(FailureCode::C005, "a grant needs a reason")
                .advise("add `--reason WHY`: it is shown whenever the grant is listed")
                .into());
        }
        self.refuse_secret_in(text)?;
        self.refuse_secret_in(reason)?;
        Ok(())
    }

    /// Revokes a grant, named by its number in the list or by its rule. Numbers shift, so if
    /// `seen` gives the rule that the caller saw at that number, no other grant is revoked.
    pub fn revoke(&self, which: &str, seen: Option<&str>) -> Result<GrantEntry, WorkshopFailures> {
        self.change(|file| {
            let found = named(&file.grants, which)?.clone();
            if let Some(seen) = seen.filter(|seen| *seen != found.rule) {
                let what = format!("grant {which} is not `{seen}` any more");
                return Err(Failure::new(FailureCode::P008, what)
                    .because(format!("it is `{}` now; nothing was changed", found.rule))
                    .advise("`artel policy list` shows what is granted now"));
            }
            file.grants.retain(|known| known.rule != found.rule);
            let rule = found.rule.clone();
            Ok((PolicyRevoked { rule }.into(), found))
        })
    }

    /// Changes the file under a lock, after recording the change.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut GrantFile) -> Result<(Fact, T), Failure>,
    ) -> Result<T, WorkshopFailures> {
        let file = file_in(self.root());
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let _lock = lock::hold(&self.root().join(".artel/grants.lock"))?;
        let (mut grants, _) = read(self.root())?;
        let (fact, done) = change(&mut grants)?;
        let draft = self.draft(fact);
        journal
            .append(artel_journal::EventBatch::of(vec![draft]))
            .wait()?;
        let folder = self.root().join("Policy");
        artel_files::make_dirs(&folder, PRIVATE_FOLDER).map_err(|error| broken(&file, &error))?;
        artel_files::write_atomic(&file, grants.to_text().as_bytes(), PRIVATE_FILE)
            .map_err(|error| broken(&file, &error))?;
        Ok(done)
    }
}

/// Returns the secrets that a rule names and that nobody has stored.
fn secrets_of(rule: &PolicyRule, stored: &[String]) -> Vec<String> {
    let missing = rule.secrets_beyond(stored).into_iter();
    missing.map(str::to_owned).collect()
}

/// Refuses a rule for a tool that does not exist.
fn refuse_nameless(rule: &PolicyRule, declared: &[String]) -> Result<(), Failure> {
    let advice = "`artel tool list` names the tools that there are";
    let misspelled =
        |bad: PolicyRuleError| Failure::new(FailureCode::P003, bad.to_string()).advise(advice);
    rule.check_name(declared).map_err(misspelled)?;
    if rule.names_a_tool(declared) {
        return Ok(());
    }
    let what = format!("`{}` names no tool of this workshop", rule.text());
    Err(Failure::new(FailureCode::P003, what)
        .because("it would grant nothing")
        .advise(advice))
}

/// Finds a grant by its number in the list, or by its rule.
fn named<'g>(grants: &'g [GrantEntry], which: &str) -> Result<&'g GrantEntry, Failure> {
    let number = which.parse::<usize>().ok();
    let by_number = number.and_then(|number| grants.get(number.checked_sub(1)?));
    let found = by_number.or_else(|| grants.iter().find(|known| known.rule == which));
    found.ok_or_else(|| {
        Failure::new(FailureCode::P005, format!("there is no grant `{which}`"))
            .advise("`artel policy list` shows them with their numbers")
    })
}
