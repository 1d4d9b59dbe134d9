//! A role's file, edited or removed by a person.

use std::fs;

use artel_files::{create_new, make_dirs, read_bounded};
use artel_types::{AgentChanged, Code, Failure};

use super::{AgentReport, shipped};
use crate::trouble::{Problems, file_failure};
use crate::workshop::{Noted, Open, Workshop};

/// More than a role's file needs.
const LARGEST: u64 = 1 << 20;

impl Workshop {
    /// Opens a role's file in the person's editor, checks what came of it, and puts a change on
    /// record. A built-in role gets a file for that, which goes again if nothing was changed.
    pub fn edit_agent(&self, id: &str) -> Result<Noted<AgentReport>, Problems> {
        let (found, old) = self.caller.role_text(id)?;
        let Open { journal, notes } = self.open()?;
        let file = self.root.join(format!("Agents/{id}.md"));
        let failed = |error| file_failure(Code::W008, &error);
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
            let act = match found {
                Some(_) => "updated",
                None => "created",
            };
            let fact = AgentChanged {
                id: id.to_owned(),
                act: act.to_owned(),
                hash: Some(blake3::hash(text.as_bytes()).to_hex().to_string()),
            };
            journal.append(self.draft(fact).on(id)).wait()?;
        }
        let mut done = self.caller.validated(id, &text, &self.settings);
        done.file = file.exists().then(|| file.display().to_string());
        Ok(Noted { done, notes })
    }

    /// Makes sure that a role has a file to remove, and says what its removal would mean.
    pub fn agent_to_remove(&self, id: &str) -> Result<String, Problems> {
        let (file, _) = self.caller.role_text(id)?;
        let Some(file) = file else {
            let what = format!("`{id}` is built in and has no file to remove");
            let advice = format!("`artel agent edit {id}` makes one that takes its place");
            return Err(Failure::new(Code::C004, what).advise(advice).into());
        };
        let after = match shipped::text(id) {
            Some(_) => "; the built-in role of that id holds again",
            None => "",
        };
        Ok(format!("Remove `{}`{after}", file.display()))
    }

    /// Removes a role's file.
    pub fn remove_agent(&self, id: &str) -> Result<Noted<()>, Problems> {
        self.agent_to_remove(id)?;
        let Open { journal, notes } = self.open()?;
        remove(&self.root.join(format!("Agents/{id}.md")))?;
        let fact = AgentChanged {
            id: id.to_owned(),
            act: "removed".to_owned(),
            hash: None,
        };
        journal.append(self.draft(fact).on(id)).wait()?;
        Ok(Noted { done: (), notes })
    }
}

fn remove(file: &std::path::Path) -> Result<(), Failure> {
    fs::remove_file(file).map_err(|error| {
        Failure::new(Code::W008, format!("`{}` stays", file.display()))
            .because(error.to_string())
            .advise("look at its folder, owner and mode, then repeat")
    })
}
