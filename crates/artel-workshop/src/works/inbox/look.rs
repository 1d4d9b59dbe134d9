//! What a look at some files has at hand, read once for all of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use artel_journal::{Fence, Journal};
use artel_types::{Actor, Failure, Redactor};

use super::Index;
use super::requests::Trouble;
use crate::own_folders::OwnFolders;
use crate::portals::{Portal, portals_in};
use crate::workshop::Workshop;

/// A look at files of requests.
pub(super) struct Look<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) journal: &'a Journal,
    pub(super) fence: &'a Fence,
    pub(super) index: MutexGuard<'a, Index>,
    pub(super) portals: Vec<Portal>,
    pub(super) redactor: Redactor,
    pub(super) by: Actor,
    /// What is wrong with the roles that were asked for so far; nothing where they can be used.
    roles: BTreeMap<String, Option<Trouble>>,
    /// The own folders of workshops, once they were needed.
    own: Option<OwnFolders>,
}

impl<'a> Look<'a> {
    /// Reads what the files are held against.
    pub(super) fn new(
        workshop: &'a Workshop,
        journal: &'a Journal,
        fence: &'a Fence,
    ) -> Result<Self, Failure> {
        let mut index = workshop
            .inbox
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        index.follow(journal.reader())?;
        Ok(Self {
            workshop,
            journal,
            fence,
            index,
            portals: portals_in(journal.reader())?,
            redactor: workshop.redactor(),
            by: workshop.by_file(),
            roles: BTreeMap::new(),
            own: None,
        })
    }

    /// Tells whether a run put a file where it is.
    pub(super) fn is_placed(&mut self, file: &Path) -> Result<bool, Failure> {
        let own = match &self.own {
            Some(own) => own,
            None => self.own.insert(self.workshop.own_folders()?),
        };
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        self.index.is_placed(&file, self.journal.reader(), own)
    }

    /// Says what is wrong with a role, if anything is.
    pub(super) fn role_trouble(&mut self, agent: &str) -> Option<Trouble> {
        let workshop = self.workshop;
        let known = self.roles.entry(agent.to_owned()).or_insert_with(|| {
            let no = workshop.caller.role(agent).err()?.first();
            let advice = no.advice.map_or(String::new(), |it| format!("; {it}"));
            Some(("agent".to_owned(), format!("{}{advice}", no.what)))
        });
        known.clone()
    }
}
