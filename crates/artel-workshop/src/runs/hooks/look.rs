//! Lists the declared hooks for people: where each is declared, whether it runs, and what
//! it may reach.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_engine::hooks::{Hook, HookFailureMode, HookSource, UntrustedHook, strangers};
use artel_types::{Failure, HookTrusted};
use serde::Serialize;

use super::trusted_hooks;
use crate::trouble::path_text;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// The role whose hooks are listed if none is named.
const USUAL_ROLE: &str = "default";

#[derive(Debug, Clone, Serialize)]
pub struct HookList {
    /// The hooks, in the order in which they run.
    pub hooks: Vec<HookRow>,
    /// Declared hooks that do not run, and why.
    pub notes: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
pub struct HookRow {
    /// The event that it runs for.
    pub event: &'static str,
    /// The tools, sources or reasons that it is limited to; all if empty.
    pub matcher: String,
    pub command: String,
    /// The file that declares it.
    #[serde(serialize_with = "path_text")]
    pub file: PathBuf,
    /// Whether it is the person's own and needs no trust.
    pub own: bool,
    /// Whether it runs in its present form.
    pub trusted: bool,
    /// The hash that trust is bound to, in hex; `None` if no trust is needed.
    pub hash: Option<String>,
    /// Hooks with a lower number run first.
    pub priority: u8,
    /// The time limit, in milliseconds.
    pub timeout_ms: u64,
    /// The effect of a failure: `warn` or `block`.
    pub on_failure: &'static str,
    /// Hosts that it may reach.
    pub network: Vec<String>,
    /// Paths that it may read in addition to the run's files.
    pub read: Vec<String>,
    /// Paths that it may change.
    pub write: Vec<String>,
}

impl Workshop {
    /// Lists the hooks declared for runs in the current folder.
    pub fn hooks(&self, role: Option<&str>) -> Result<HookList, Failure> {
        let folder = self.run_folder(None)?;
        let mut declared = self.declared_hooks(&folder, role.unwrap_or(USUAL_ROLE))?;
        let trusted = trusted_hooks(&*self.reader()?)?;
        declared.hooks.sort_by_key(|hook| hook.priority);
        let hooks = declared.hooks.iter();
        Ok(HookList {
            hooks: hooks.map(|hook| row(hook, &folder, &trusted)).collect(),
            notes: declared.notes,
        })
    }

    /// Returns the hooks that a person has to review before they run, with what they are
    /// shown.
    pub fn strange_hooks(&self, role: Option<&str>) -> Result<Vec<UntrustedHook>, Failure> {
        let folder = self.run_folder(None)?;
        let declared = self.declared_hooks(&folder, role.unwrap_or(USUAL_ROLE))?;
        let trusted = trusted_hooks(&*self.reader()?)?;
        Ok(strangers(&declared.hooks, &folder, &trusted))
    }

    /// Records that a person trusts a hook as it was shown. A changed hook is not trusted.
    pub fn trust_hook(&self, shown: &HookTrusted) -> Result<(), Failure> {
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        journal.append(self.draft(shown.clone())).wait()?;
        Ok(())
    }
}

fn row(hook: &Hook, folder: &Path, trusted: &BTreeSet<String>) -> HookRow {
    let one = std::slice::from_ref(hook);
    let nobody = BTreeSet::new();
    let hash = strangers(one, folder, &nobody).pop();
    let (file, own) = match &hook.source {
        HookSource::BuiltIn => (PathBuf::new(), true),
        HookSource::User(file) => (file.clone(), true),
        HookSource::Other(file) => (file.clone(), false),
    };
    let paths = |list: &[PathBuf]| list.iter().map(|it| it.display().to_string()).collect();
    HookRow {
        event: hook.event.name(),
        matcher: hook.matcher.text().to_owned(),
        command: hook.label().to_owned(),
        file,
        own,
        trusted: strangers(one, folder, trusted).is_empty(),
        hash: hash.map(|stranger| stranger.fact.hash),
        priority: hook.priority,
        timeout_ms: u64::try_from(hook.time().as_millis()).unwrap_or(u64::MAX),
        on_failure: match hook.on_failure {
            HookFailureMode::Warn => "warn",
            HookFailureMode::Block => "block",
        },
        network: hook.profile.network.clone(),
        read: paths(&hook.profile.read),
        write: paths(&hook.profile.write),
    }
}
