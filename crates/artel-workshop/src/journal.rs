//! Upkeep of the journal: verify, back up, restore, prune, trust.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use artel_journal::{
    Backup, Blobs, Candidate, Keys, Options, Pruned, Query, Reader, Restored, Source, Verified,
    backups, verify,
};
use artel_types::{Fact, Failure, Timestamp, WorkshopTrusted};
use serde::Serialize;

use crate::brought::Brought;
use crate::caller::Caller;
use crate::clean::blobs_in;
use crate::find::{Found, Place, named_place};
use crate::registry;
use crate::trouble::Problems;
use crate::workshop::{Noted, Open, Workshop};

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
    /// Checks everything: chain, signatures, archives, file, signed head, and the stored values
    /// that events name.
    pub fn verify(&self) -> Result<Verified, Failure> {
        let mut verified = self.verify_events()?;
        let reader = self.reader_as_it_is()?;
        // A chain that is broken cannot be read to its end, and is the first thing to mend.
        if verified.ok {
            self.verify_values(&reader, &mut verified)?;
        }
        Ok(verified)
    }

    /// Checks everything but the stored values, which take as long to read as they are large.
    pub fn verify_events(&self) -> Result<Verified, Failure> {
        drop(self.reader_as_it_is()?);
        let keys = Keys::load(self.home.data(), self.marker.id)?;
        Ok(verify(&self.home, self.marker.id, &keys)?)
    }

    /// Looks for the first event that names a value which is gone or not the one that was stored.
    fn verify_values(&self, reader: &Reader, verified: &mut Verified) -> Result<(), Failure> {
        let blobs = Blobs::at(self.home.blobs());
        let mut known = BTreeSet::new();
        reader.visit(&Query::all(), |record| {
            let new = blobs_in(&record.payload).filter(|blob| known.insert(blob.clone()));
            for blob in new.collect::<Vec<_>>() {
                if let Err(error) = blobs.get(&blob) {
                    verified.blame_value(record.seq, blob, &error);
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Takes a copy of the journal.
    pub fn back_up(&self) -> Result<Noted<Backup>, Failure> {
        // The copy that is asked for is as good as the daily one.
        let options = Options {
            backup_every: None,
            ..self.options()
        };
        let Open { journal, notes } = self.open_with(options)?;
        let done = journal.back_up(self.caller.actor())?;
        Ok(Noted { done, notes })
    }

    /// Looks at what the journal could be restored from. A damaged journal is no obstacle.
    pub fn plan_restore(&self, file: Option<&Path>) -> Result<RestorePlan, Failure> {
        let keys = Keys::load(self.home.data(), self.marker.id)?;
        let file = file.map(|file| self.caller.absolute(file));
        if let Some(file) = &file
            && !file.exists()
        {
            return Err(Failure::new(
                artel_types::Code::W010,
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
        let finished = self
            .reader_as_it_is()?
            .finished_streams(before, Fact::ends_stream)?;
        let events = finished.iter().map(|(_, events)| events).sum();
        Ok(PrunePlan {
            before,
            streams: finished.len() as u64,
            events,
        })
    }

    /// Moves finished streams to an archive.
    pub fn prune(&self, before: Timestamp) -> Result<Noted<Option<Pruned>>, Failure> {
        let Open { journal, notes } = self.open()?;
        let done = journal.prune(before, Fact::ends_stream, &self.caller.actor())?;
        Ok(Noted { done, notes })
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
    pub fn trust(&self, folder: Option<&Path>) -> Result<Noted<Workshop>, Problems> {
        let workshop = self.at(self.place_to_trust(folder)?)?;
        let signers = workshop
            .reader_as_it_is()?
            .signers()
            .map_err(Failure::from)?;
        Keys::learn(self.places.data(), workshop.id(), &signers).map_err(Failure::from)?;
        let path = workshop.root().display().to_string();
        let Open { journal, notes } = workshop.open()?;
        let draft = workshop
            .draft(WorkshopTrusted { path: path.clone() })
            .on(path);
        journal.append(draft).wait().map_err(Failure::from)?;
        // Noted last: a workshop that could not be opened is not one to be found.
        registry::note(
            self.places.data(),
            workshop.id(),
            workshop.root(),
            &self.redactor(),
        )?;
        Ok(Noted {
            done: workshop,
            notes,
        })
    }

    /// Returns what decides in a workshop that is to be trusted, unless this user made or trusted it
    /// already. Nothing is written.
    pub fn brought_by_workshop(&self, folder: Option<&Path>) -> Result<Option<Brought>, Problems> {
        let place = self.place_to_trust(folder)?;
        match registry::knows(self.places.data(), place.marker.id, &place.root)? {
            true => Ok(None),
            false => Ok(Brought::in_workshop(&place.root)),
        }
    }

    fn place_to_trust(&self, folder: Option<&Path>) -> Result<Place, Failure> {
        match folder.map(Path::to_owned).or_else(|| self.untrusted()) {
            Some(folder) => named_place(&self.absolute(&folder), Found::Argument),
            None => self.place(),
        }
    }
}
