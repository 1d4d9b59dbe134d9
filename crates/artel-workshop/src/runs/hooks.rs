//! The hooks of a run: collected from where they can be declared, shown to the person if
//! they are new, and passed to the run.
//!
//! The person's own settings come first, then those of the workshop, the role, and the
//! folder that the run works on. Only the person's own hooks run without their trust.

mod look;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

pub use look::{HookList, HookRow};

use artel_config::{HookEntry, HookFailureChoice as Failing, SettingOrigin};
use artel_engine::hooks::{
    DeclaredHooks, Hook, HookEnvironment, HookEvent, HookFailureMode, HookMatcher,
    HookSandboxProfile, HookSession, HookSource, RunHooks, UntrustedHook, strangers,
};
use artel_engine::record_hooks;
use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_skills::SkillAgentKind;
use artel_types::{Fact, Failure, FailureCode};
use serde_json::Value;

use super::child::RunLineage;
use super::furnish::RunToolingContext;
use super::house::RunEnvironment;
use crate::workshop::Workshop;

/// Size limit of a settings file with hooks, in bytes.
const LARGEST: u64 = 1 << 20;

/// Where other agents keep the hooks of a folder.
const PORTAL_FILES: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

impl RunEnvironment {
    /// Returns the hooks of a run. The person is asked about new hooks once, at the top-level
    /// run.
    pub(super) async fn hooks(
        &self,
        outfit: &RunToolingContext,
        kin: &RunLineage,
    ) -> Result<RunHooks, Failure> {
        let declared = self.workshop.declared_hooks(&self.folder, &outfit.role)?;
        if kin.parent.is_none() {
            for note in &declared.notes {
                self.company.audience.notice(note);
            }
        }
        if declared.hooks.is_empty() {
            return Ok(RunHooks::none());
        }
        let mut trusted = trusted_hooks(self.journal.reader())?;
        if kin.parent.is_none() {
            for stranger in strangers(&declared.hooks, &self.folder, &trusted) {
                if self.trusts_hook(&stranger).await? {
                    trusted.insert(stranger.fact.hash);
                }
            }
        }
        let runner = HookEnvironment {
            room: Some(Arc::new(outfit.reading_room()?)),
            record: record_hooks(outfit.chronicle.clone()),
            session: HookSession {
                id: outfit.chronicle.run().to_string(),
                transcript: outfit.transcript().display().to_string(),
                permission_mode: match self.company.approver {
                    Some(_) => "default".to_owned(),
                    None => "dontAsk".to_owned(),
                },
                agent: kin.is_called.then(|| agent_name(kin.agent.as_ref())),
            },
            tree: self.folder.clone(),
            trusted,
            marks: outfit.marks.clone(),
        };
        Ok(RunHooks::new(declared.hooks, runner))
    }

    /// Shows a hook and asks whether to trust it. A yes is recorded before it takes effect.
    async fn trusts_hook(&self, stranger: &UntrustedHook) -> Result<bool, Failure> {
        let trust = Arc::clone(&self.company.trust);
        let lines = stranger.lines.clone();
        let answer = tokio::task::spawn_blocking(move || trust.ask_hook(&lines)).await;
        let why = match answer.ok().flatten() {
            Some(true) => {
                let draft = self.workshop.draft(stranger.fact.clone());
                self.journal.append(draft).await?;
                return Ok(true);
            }
            Some(false) => "you said no",
            None => "nobody could be asked; `artel hook trust` trusts it, and so does `--yes`",
        };
        let (command, file) = (&stranger.fact.command, &stranger.fact.file);
        let said = format!("the hook `{command}` of `{file}` is not run: {why}");
        self.company.audience.notice(&said);
        Ok(false)
    }
}

impl Workshop {
    /// Collects the hooks declared for a role here, in the order in which hooks of the same
    /// priority run.
    pub(super) fn declared_hooks(
        &self,
        folder: &Path,
        role: &str,
    ) -> Result<DeclaredHooks, Failure> {
        let mut all = DeclaredHooks::default();
        for entry in &self.settings.hooks {
            all.hooks.push(of_entry(entry)?);
        }
        let role = self.caller.role(role);
        let role = role.map_err(|problems| problems.first())?;
        if let Some((file, hooks)) = role.hooks {
            add(
                &mut all,
                &file,
                DeclaredHooks::of_hooks(&hooks, &HookSource::Other(file.clone())),
            );
        }
        for name in PORTAL_FILES {
            let file = folder.join(name);
            if !file.is_file() {
                continue;
            }
            let bytes = artel_files::read_bounded(&file, LARGEST);
            let parsed = bytes.map_err(|error| error.to_string()).and_then(|bytes| {
                serde_json::from_slice::<Value>(&bytes).map_err(|error| error.to_string())
            });
            match parsed {
                Ok(settings) => {
                    let source = HookSource::Other(file.clone());
                    add(
                        &mut all,
                        &file,
                        DeclaredHooks::of_settings(&settings, &source),
                    );
                }
                Err(why) => all
                    .notes
                    .push(format!("`{}` is not read: {why}", file.display())),
            }
        }
        Ok(all)
    }
}

/// Returns the hashes of the hooks that a person trusted.
fn trusted_hooks(reader: &JournalReader) -> Result<BTreeSet<String>, Failure> {
    let filter = EventFilter {
        kind: Some("hook.trusted".to_owned()),
        ..EventFilter::default()
    };
    let mut hashes = BTreeSet::new();
    for record in reader.records(&EventQuery::of(filter).few())? {
        if let Fact::HookTrusted(trusted) = record.event()?.fact {
            hashes.insert(trusted.hash);
        }
    }
    Ok(hashes)
}

fn add(all: &mut DeclaredHooks, file: &Path, more: DeclaredHooks) {
    let place = file.display();
    let notes = more.notes.iter().map(|note| format!("`{place}`: {note}"));
    all.notes.extend(notes);
    all.hooks.extend(more.hooks);
}

/// Builds a hook from its declaration in a settings file.
fn of_entry(entry: &HookEntry) -> Result<Hook, Failure> {
    let bad = |why: String| {
        Failure::new(
            FailureCode::S005,
            format!("a hook for {} cannot be used", entry.event),
        )
        .because(format!("{why}; {}", entry.origin))
        .advise("write names of tools such as \"Bash|Edit\", or a regular expression")
    };
    let event =
        HookEvent::find(entry.event).ok_or_else(|| bad("there is no such event".to_owned()))?;
    let matcher = HookMatcher::new(&entry.matcher).map_err(|error| bad(error.to_string()))?;
    let source = match &entry.origin {
        SettingOrigin::User(file, _) => HookSource::User(file.clone()),
        SettingOrigin::Workshop(file, _) => HookSource::Other(file.clone()),
        SettingOrigin::Default | SettingOrigin::Env(_) | SettingOrigin::Flag => {
            HookSource::Other("artel.toml".into())
        }
    };
    Ok(Hook {
        timeout: entry.timeout,
        priority: entry.priority,
        on_failure: match entry.on_failure {
            Failing::Warn => HookFailureMode::Warn,
            Failing::Block => HookFailureMode::Block,
        },
        profile: HookSandboxProfile {
            network: entry.network.clone(),
            read: entry.read.clone(),
            write: entry.write.clone(),
        },
        ..Hook::of_command(event, matcher, &entry.command, source)
    })
}

fn agent_name(agent: Option<&SkillAgentKind>) -> String {
    match agent {
        Some(SkillAgentKind::Explore) => "explore".to_owned(),
        Some(SkillAgentKind::Plan) => "plan".to_owned(),
        Some(SkillAgentKind::Custom(role)) => role.clone(),
        Some(SkillAgentKind::General) | None => "general".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_of_the_settings_is_one_of_the_engine() {
        for event in artel_config::HOOK_EVENTS {
            assert!(HookEvent::find(event).is_some(), "{event}");
        }
        assert_eq!(HookEvent::ALL.len(), artel_config::HOOK_EVENTS.len());
    }
}
