//! The first start of a newer Artel in an older workshop. It corrects, once, what older
//! versions allowed and this one does not, and tells the person. It never keeps a workshop
//! from starting.

use std::collections::BTreeSet;
use std::path::PathBuf;

use artel_journal::{EventFilter, EventQuery, Journal, JournalReader};
use artel_skills::SkillOrigin;
use artel_types::{Fact, Failure, PortalClosed, SkillKnown};

use crate::lock;
use crate::marker::WorkshopMarker;
use crate::portals::{Portal, portals_in};
use crate::private::LoosePermissionPaths;
use crate::strangers;
use crate::workshop::Workshop;

/// Number of upgrades so far. The first one closes portals that contain a workshop or lie
/// within one, records skills by their hashes, and shuts other users out of the workshop.
pub(crate) const UPGRADES: u32 = 1;

/// Largest number of files that others could write which are named.
const MOST_NAMED: usize = 5;

impl Workshop {
    /// Makes the upgrades that this workshop has not had. Adds a sentence to the notes for
    /// each thing the person should know, even if a later part fails. A second process waits
    /// for the first and finds the upgrades made.
    pub(crate) fn upgrade(
        &self,
        journal: &Journal,
        notes: &mut Vec<String>,
    ) -> Result<(), Failure> {
        if !self.needs_upgrade() {
            return Ok(());
        }
        let _lock = lock::hold(&self.home.state().join("upgrade.lock"))?;
        let Some(mut marker) = WorkshopMarker::read(&self.root)? else {
            return Ok(());
        };
        if marker.upgrades >= UPGRADES {
            return Ok(());
        }
        notes.extend(self.close_portals_around_workshops(journal)?);
        notes.extend(self.know_used_skills(journal)?);
        notes.extend(self.shut_to_others());
        marker.upgrades = UPGRADES;
        marker.write(&self.root)
    }

    /// Returns whether an older Artel made this workshop and no newer one has upgraded it.
    pub(crate) fn needs_upgrade(&self) -> bool {
        if self.marker.upgrades >= UPGRADES {
            return false;
        }
        let now = WorkshopMarker::read(&self.root).ok().flatten();
        now.is_some_and(|marker| marker.upgrades < UPGRADES)
    }

    /// Returns the portals that contain a workshop, or lie within a workshop's own folder.
    pub(crate) fn portals_around_workshops(
        &self,
        reader: &JournalReader,
    ) -> Result<Vec<Portal>, Failure> {
        let own = self.own_folders()?;
        let mut portals = portals_in(reader)?;
        portals.retain(|portal| {
            own.workshop_beneath(&portal.path).is_some() || own.around(&portal.path).is_some()
        });
        Ok(portals)
    }

    /// Closes the portals that contain a workshop or lie within one: otherwise its policy,
    /// roles and skills would be files of a project.
    pub(crate) fn close_portals_around_workshops(
        &self,
        journal: &Journal,
    ) -> Result<Vec<String>, Failure> {
        let mut notes = Vec::new();
        for portal in self.portals_around_workshops(journal.reader())? {
            let fact = PortalClosed {
                name: portal.name.clone(),
            };
            journal
                .append(self.draft(fact).on(portal.name.clone()))
                .wait()?;
            let (name, path) = (&portal.name, portal.path.display());
            notes.push(format!(
                "the portal `{name}` (`{path}`) was closed: a workshop lies in it; `artel portal \
                 add DIR --privacy {}` opens a project in it",
                portal.privacy_word()
            ));
        }
        Ok(notes)
    }

    /// Returns the workshop's skills that were used before, in their present form. A skill
    /// that was recorded as known before is left out: if it changed since, the person is asked
    /// about it.
    pub(crate) fn used_skills(&self, reader: &JournalReader) -> Result<Vec<SkillKnown>, Failure> {
        let mut used = used_folders(reader)?;
        for folder in known_folders(reader)? {
            used.remove(&folder);
        }
        let found = self.find_skills(&self.root);
        let mut known = Vec::new();
        for skill in &found.skills {
            let folder = skill.folder.display().to_string();
            if skill.scope == SkillOrigin::Workshop && used.contains(&folder) {
                known.push(SkillKnown {
                    skill: skill.name.clone(),
                    folder,
                    hash: skill.hash.clone(),
                });
            }
        }
        Ok(known)
    }

    /// Records the workshop's used skills as known in their present form. From now on, the
    /// person is asked about any skill that a run adds.
    pub(crate) fn know_used_skills(&self, journal: &Journal) -> Result<Vec<String>, Failure> {
        let known = self.used_skills(journal.reader())?;
        if known.is_empty() {
            return Ok(Vec::new());
        }
        let names: Vec<_> = known.iter().map(|it| format!("`{}`", it.skill)).collect();
        let said = format!(
            "skills that were used before are known as they are now: {}",
            names.join(", ")
        );
        let drafts = known.into_iter().map(|it| self.draft(it));
        let batch = artel_journal::EventBatch::of(drafts);
        journal.append(batch).wait()?;
        Ok(vec![said])
    }

    /// Takes read access to the workshop from other users, and write access to its deciding
    /// files.
    pub(crate) fn shut_to_others(&self) -> Option<String> {
        let open = LoosePermissionPaths::find(&self.root);
        let no_longer_written = strangers::stop_writing(&self.root);
        if open.paths.is_empty() && no_longer_written.is_empty() {
            return None;
        }
        let only_written = no_longer_written.iter();
        let only_written = only_written.filter(|path| open.paths.binary_search(path).is_err());
        let shut = open.tighten(&self.root) + only_written.count();
        let note = format!(
            "others could get at {} of the workshop and no longer can",
            files_or_folders(shut)
        );
        if no_longer_written.is_empty() {
            return Some(note);
        }
        let named = named(&no_longer_written);
        Some(format!(
            "{note}; they could write {named}: see that all there is yours"
        ))
    }
}

/// Names the first files and folders of the workshop, given relative to it, and counts the
/// rest.
pub(crate) fn named(paths: &[PathBuf]) -> String {
    let name = |path: &PathBuf| {
        if path.as_os_str().is_empty() {
            "the workshop's folder".to_owned()
        } else {
            format!("`{}`", path.display())
        }
    };
    let first: Vec<_> = paths.iter().take(MOST_NAMED).map(name).collect();
    let first = first.join(", ");
    match paths.len().saturating_sub(MOST_NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Counts paths that may be files or folders.
pub(crate) fn files_or_folders(count: usize) -> String {
    match count {
        1 => "1 file or folder".to_owned(),
        count => format!("{count} files or folders"),
    }
}

/// Returns the folders of the skills that runs were begun with.
fn used_folders(reader: &JournalReader) -> Result<BTreeSet<String>, Failure> {
    let mut used = BTreeSet::new();
    for fact in facts(reader, "run.prepared")? {
        if let Fact::RunPrepared(prepared) = fact {
            used.extend(prepared.skill_folder);
        }
    }
    Ok(used)
}

/// Returns the folders of the skills that were recorded as known.
fn known_folders(reader: &JournalReader) -> Result<BTreeSet<String>, Failure> {
    let mut known = BTreeSet::new();
    for fact in facts(reader, "skill.known")? {
        if let Fact::SkillKnown(it) = fact {
            known.insert(it.folder);
        }
    }
    Ok(known)
}

fn facts(reader: &JournalReader, kind: &str) -> Result<Vec<Fact>, Failure> {
    let filter = EventFilter {
        kind: Some(kind.to_owned()),
        ..EventFilter::default()
    };
    let records = reader.records(&EventQuery::of(filter))?;
    let facts = records.iter().map(|record| Ok(record.event()?.fact));
    facts.collect()
}
