//! Lets a person edit or remove the file of a role.

use std::fs::{self, File};

use artel_files::{create_new, make_dirs, read_bounded, write_atomic};
use artel_journal::Journal;
use artel_types::{AgentChanged, Failure, FailureCode};
use serde::Serialize;

use super::{AgentReport, shipped};
use crate::caller::CommandContext;
use crate::hands::parse_role;
use crate::lock;
use crate::models::refuse_rehearsal_over_http;
use crate::trouble::{WorkshopFailures, file_failure};
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// Size limit of a role file, in bytes; far more than one needs.
const LARGEST: u64 = 1 << 20;

/// The source text of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentText {
    pub id: String,
    /// Its file, or `None` for a built-in role.
    pub file: Option<String>,
    pub text: String,
    /// BLAKE3 hash of the text in hex; a change of the text has to name it.
    pub hash: String,
}

impl CommandContext {
    /// Returns the source text of a role.
    pub fn agent_text(&self, id: &str) -> Result<AgentText, WorkshopFailures> {
        let (file, text) = self.role_text(id)?;
        Ok(AgentText {
            id: id.to_owned(),
            file: file.map(|file| file.display().to_string()),
            hash: hash(&text),
            text,
        })
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

impl Workshop {
    /// Replaces the text of a role with a person's text. `seen` is a prefix of the hash of the
    /// text that the person edited: if somebody else has changed the role since, the call
    /// fails. A text that is not a valid role is refused.
    pub fn rewrite_agent(
        &self,
        id: &str,
        text: &str,
        seen: &str,
    ) -> Result<OutcomeWithNotes<AgentReport>, WorkshopFailures> {
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let _lock = self.lock_agents()?;
        let (found, old) = self.caller.role_text(id)?;
        if !hash(&old).starts_with(seen) {
            return Err(
                Failure::new(FailureCode::R008, "the role is written otherwise by now")
                    .because("it was changed since you read it")
                    .advise("read it again, then change that")
                    .into(),
            );
        }
        self.refuse_secret_in(text)?;
        let mut done = self.caller.validated(id, text, &self.settings);
        if let Some(failure) = done.first_failure() {
            return Err(failure.into());
        }
        self.refuse_new_rehearsal(text, &old)?;
        let file = self.root.join(format!("Agents/{id}.md"));
        if text != old {
            let failed = |error| file_failure(FailureCode::W008, &error);
            make_dirs(&self.root.join("Agents"), 0o755).map_err(failed)?;
            write_atomic(&file, text.as_bytes(), 0o644).map_err(failed)?;
            self.note_edit(&journal, id, found.is_some().into(), text)?;
        }
        done.file = file.exists().then(|| file.display().to_string());
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Refuses a text that comes over HTTP and has the role rehearse as it did not before.
    fn refuse_new_rehearsal(&self, text: &str, old: &str) -> Result<(), Failure> {
        let model = |text| parse_role(None, text).ok().and_then(|role| role.model);
        match model(text) {
            Some(named) if self.caller.is_over_http() && model(old).as_ref() != Some(&named) => {
                refuse_rehearsal_over_http(&named)
            }
            _ => Ok(()),
        }
    }

    /// Locks the roles, so that two writers cannot overwrite each other's changes.
    fn lock_agents(&self) -> Result<File, Failure> {
        lock::hold(&self.home.state().join("agents.lock"))
    }

    /// Records that the text of a role changed.
    fn note_edit(
        &self,
        journal: &Journal,
        id: &str,
        before: RoleBeforeEdit,
        text: &str,
    ) -> Result<(), Failure> {
        let act = match before {
            RoleBeforeEdit::File => "updated",
            RoleBeforeEdit::BuiltIn => "created",
        };
        let fact = AgentChanged {
            id: id.to_owned(),
            act: act.to_owned(),
            hash: Some(hash(text)),
        };
        journal.append(self.draft(fact).on(id)).wait()?;
        Ok(())
    }

    /// Opens a role's file in the person's editor, checks the result and records the change. A
    /// built-in role gets a file for this, which is removed again if nothing changed.
    pub fn edit_agent(&self, id: &str) -> Result<OutcomeWithNotes<AgentReport>, WorkshopFailures> {
        let (found, old) = self.caller.role_text(id)?;
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let file = self.root.join(format!("Agents/{id}.md"));
        let failed = |error| file_failure(FailureCode::W008, &error);
        if found.is_none() {
            make_dirs(&self.root.join("Agents"), 0o755).map_err(failed)?;
            create_new(&file, old.as_bytes(), 0o644).map_err(failed)?;
        }
        let edited = self.caller.edit_file(&file);
        let text = read_bounded(&file, LARGEST).map_err(failed)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let is_same = text == old;
        if is_same && found.is_none() {
            remove(&file)?;
        }
        edited?;
        if !is_same {
            self.note_edit(&journal, id, found.is_some().into(), &text)?;
        }
        let mut done = self.caller.validated(id, &text, &self.settings);
        done.file = file.exists().then(|| file.display().to_string());
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Checks that a role has a file to remove, and returns a sentence that says what the
    /// removal would do.
    pub fn agent_to_remove(&self, id: &str) -> Result<String, WorkshopFailures> {
        let (file, _) = self.caller.role_text(id)?;
        let Some(file) = file else {
            let what = format!("`{id}` is built in and has no file to remove");
            let advice = format!("`artel agent edit {id}` makes one that takes its place");
            return Err(Failure::new(FailureCode::C004, what).advise(advice).into());
        };
        let after = match shipped::text(id) {
            Some(_) => "; the built-in role of that id holds again",
            None => "",
        };
        Ok(format!("Remove `{}`{after}", file.display()))
    }

    pub fn remove_agent(&self, id: &str) -> Result<OutcomeWithNotes<()>, WorkshopFailures> {
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let _lock = self.lock_agents()?;
        self.agent_to_remove(id)?;
        remove(&self.root.join(format!("Agents/{id}.md")))?;
        let fact = AgentChanged {
            id: id.to_owned(),
            act: "removed".to_owned(),
            hash: None,
        };
        journal.append(self.draft(fact).on(id)).wait()?;
        Ok(OutcomeWithNotes { done: (), notes })
    }
}

/// The state of a role before it was edited: its own file, or built in.
#[derive(Clone, Copy)]
enum RoleBeforeEdit {
    File,
    BuiltIn,
}

impl From<bool> for RoleBeforeEdit {
    fn from(has_file: bool) -> Self {
        if has_file { Self::File } else { Self::BuiltIn }
    }
}

fn remove(file: &std::path::Path) -> Result<(), Failure> {
    fs::remove_file(file).map_err(|error| {
        Failure::new(FailureCode::W008, format!("`{}` stays", file.display()))
            .because(error.to_string())
            .advise("look at its folder, owner and mode, then repeat")
    })
}
