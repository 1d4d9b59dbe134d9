//! The context of a scan of request files, read once and shared by all of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{MutexGuard, PoisonError};

use artel_journal::{Journal, LeaseFence};
use artel_types::{Actor, Failure, SecretRedactor};

use super::RequestFileIndex;
use super::requests::Trouble;
use crate::own_folders::OwnFolders;
use crate::portals::{Portal, portals_in};
use crate::workshop::Workshop;

/// The context of a scan of request files.
pub(super) struct InboxScanContext<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) journal: &'a Journal,
    pub(super) fence: &'a LeaseFence,
    pub(super) index: MutexGuard<'a, RequestFileIndex>,
    pub(super) portals: Vec<Portal>,
    pub(super) redactor: SecretRedactor,
    pub(super) by: Actor,
    /// The problem of each role that was looked up so far, or `None` if the role can be used.
    roles: BTreeMap<String, Option<Trouble>>,
    /// The own folders of workshops, once they are needed.
    own: Option<OwnFolders>,
}

impl<'a> InboxScanContext<'a> {
    /// Reads the data that files are compared with.
    pub(super) fn new(
        workshop: &'a Workshop,
        journal: &'a Journal,
        fence: &'a LeaseFence,
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

    /// Returns whether a run put a file in its place.
    pub(super) fn is_placed(&mut self, file: &Path) -> Result<bool, Failure> {
        let own = match &self.own {
            Some(own) => own,
            None => self.own.insert(self.workshop.own_folders()?),
        };
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        self.index.is_placed(&file, self.journal.reader(), own)
    }

    /// Returns the problem of a role, if it has any.
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
