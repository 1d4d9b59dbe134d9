//! Upkeep of the journal: verify, back up, restore, prune, trust.

use std::path::Path;

use artel_journal::{Backup, Candidate, Keys, Pruned, Restored, Source, Verified, backups, verify};
use artel_types::{Fact, Failure, Timestamp, WorkshopTrusted};
use serde::Serialize;

use crate::caller::Caller;
use crate::find::Place;
use crate::registry;
use crate::trouble::Problems;
use crate::workshop::Workshop;

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestorePlan {
    /// The ways to restore, the one with most events first.
    pub candidates: Vec<Candidate>,
    /// Whether the journal is intact as it is.
    pub is_intact: bool,
}

/// What a prune would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrunePlan {
    /// Streams that ended before this are moved.
    pub before: Timestamp,
    /// How many there are.
    pub streams: u64,
    /// How many events they hold.
    pub events: u64,
}

impl Workshop {
    /// Checks everything: chain, signatures, archives, file, signed head.
    pub fn verify(&self) -> Result<Verified, Failure> {
        let keys = Keys::load(self.home.data())?;
        Ok(verify(&self.home, self.marker.id, &keys)?)
    }

    /// Takes a copy of the journal.
    pub fn back_up(&self) -> Result<Backup, Failure> {
        Ok(self.open()?.journal.back_up(self.caller.actor())?)
    }

    /// Looks at what the journal could be restored from. A damaged journal is no obstacle.
    pub fn plan_restore(&self, file: Option<&Path>) -> Result<RestorePlan, Failure> {
        let keys = Keys::load(self.home.data())?;
        let file = file.map(|file| self.caller.absolute(file));
        if let Some(file) = &file
            && !file.exists()
        {
            return Err(Failure::new(
                artel_types::Code::W008,
                format!("there is no file `{}`", file.display()),
            )
            .advise(format!(
                "the backups are in `{}`",
                self.home.backups().display()
            )));
        }
        let candidates = Candidate::all(&self.home, self.marker.id, &keys, file.as_deref())?;
        let is_whole = |found: &Candidate| found.source == Source::Prefix && found.damage.is_none();
        let is_intact = candidates.iter().any(is_whole);
        Ok(RestorePlan {
            candidates,
            is_intact,
        })
    }

    /// Puts a candidate in the journal's place.
    pub fn restore(&self, candidate: &Candidate) -> Result<Restored, Failure> {
        let (options, actor) = (self.options(), self.caller.actor());
        Ok(candidate.restore(&self.home, self.marker.id, &options, &actor)?)
    }

    /// Counts what a prune would move.
    pub fn plan_prune(&self, before: Timestamp) -> Result<PrunePlan, Failure> {
        let finished = self.reader()?.finished_streams(before, Fact::ends_stream)?;
        let events = finished.iter().map(|(_, events)| events).sum();
        Ok(PrunePlan {
            before,
            streams: finished.len() as u64,
            events,
        })
    }

    /// Moves finished streams to an archive.
    pub fn prune(&self, before: Timestamp) -> Result<Option<Pruned>, Failure> {
        let open = self.open()?;
        Ok(open
            .journal
            .prune(before, Fact::ends_stream, &self.caller.actor())?)
    }

    /// Returns the newest backup's time and how many there are.
    pub(crate) fn backups(&self) -> (Option<Timestamp>, usize) {
        let files = backups(&self.home);
        let newest = files
            .first()
            .and_then(|file| artel_journal::backup_time(file));
        (newest, files.len())
    }
}

impl Caller {
    /// Notes that the person trusts a workshop which came from elsewhere, with the keys that
    /// signed its journal.
    pub fn trust(&self, folder: Option<&Path>) -> Result<Workshop, Problems> {
        let root = match folder {
            Some(folder) => self.absolute(folder),
            None => self
                .untrusted()
                .map_or_else(|| self.place().map(|found| found.root), Ok)?,
        };
        let caller = Self {
            flags: crate::Flags {
                workshop: Some(root),
                ..self.flags.clone()
            },
            ..self.clone()
        };
        let Place {
            root,
            marker,
            found,
        } = caller.place()?;
        let workshop = caller.at(Place {
            root,
            marker,
            found,
        })?;
        let signers = match workshop.reader() {
            Ok(reader) => reader.signers().map_err(Failure::from)?,
            Err(failure) => return Err(failure.into()),
        };
        Keys::learn(self.places.data(), &signers).map_err(Failure::from)?;
        registry::note(self.places.data(), workshop.id(), workshop.root())?;
        let path = workshop.root().display().to_string();
        let open = workshop.open()?;
        let draft = workshop
            .draft(WorkshopTrusted { path: path.clone() })
            .on(path);
        open.journal.append(draft).wait().map_err(Failure::from)?;
        Ok(workshop)
    }
}
