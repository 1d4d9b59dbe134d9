//! Maintenance of the journal: verify, back up, restore, prune, trust.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use artel_journal::{
    BlobStore, EventQuery, JournalBackup, JournalOptions, JournalPruneOutcome, JournalReader,
    JournalRestoreOutcome, JournalSigningKeys, JournalVerification, RestoreCandidate,
    RestoreSource, backups, verify,
};
use artel_types::{Fact, Failure, Timestamp, WorkshopTrusted};
use serde::Serialize;

use crate::brought::PreexistingWorkshopFiles;
use crate::caller::CommandContext;
use crate::clean::blobs_in;
use crate::find::{WorkshopDiscovery, WorkshopLocation, named_place};
use crate::registry;
use crate::trouble::WorkshopFailures;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// A preview of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestorePreview {
    /// The sources to restore from, the one with the most events first.
    pub candidates: Vec<RestoreCandidate>,
    /// Whether the journal needs no restore.
    pub is_intact: bool,
}

/// A preview of a prune.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrunePreview {
    /// Streams that ended before this time are moved.
    pub before: Timestamp,
    /// The number of those streams.
    pub streams: u64,
    /// The number of their events.
    pub events: u64,
}

impl Workshop {
    /// Verifies everything: chain, signatures, archives, file, signed head, and the blobs that
    /// events name.
    pub fn verify(&self) -> Result<JournalVerification, Failure> {
        let mut verified = self.verify_events()?;
        let reader = self.reader_as_it_is()?;
        // A broken chain cannot be read to its end and has to be repaired first.
        if verified.ok {
            self.verify_values(&reader, &mut verified)?;
        }
        Ok(verified)
    }

    /// Verifies everything but the blobs, which take a long time to read if they are large.
    pub fn verify_events(&self) -> Result<JournalVerification, Failure> {
        drop(self.reader_as_it_is()?);
        let keys = JournalSigningKeys::load(self.home.data(), self.marker.id)?;
        Ok(verify(&self.home, self.marker.id, &keys)?)
    }

    /// Finds the first event that names a blob which is missing or changed.
    fn verify_values(
        &self,
        reader: &JournalReader,
        verified: &mut JournalVerification,
    ) -> Result<(), Failure> {
        let blobs = BlobStore::at(self.home.blobs());
        let mut known = BTreeSet::new();
        reader.visit(&EventQuery::all(), |record| {
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

    /// Backs up the journal.
    pub fn back_up(&self) -> Result<OutcomeWithNotes<JournalBackup>, Failure> {
        // The requested backup takes the place of the daily one.
        let options = JournalOptions {
            backup_every: None,
            ..self.options()
        };
        let OpenWorkshopJournal { journal, notes } = self.open_with(options)?;
        let done = journal.back_up(self.caller.actor())?;
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Finds what the journal could be restored from. Works with a damaged journal too.
    pub fn plan_restore(&self, file: Option<&Path>) -> Result<RestorePreview, Failure> {
        let keys = JournalSigningKeys::load(self.home.data(), self.marker.id)?;
        let file = file.map(|file| self.caller.absolute(file));
        if let Some(file) = &file
            && !file.exists()
        {
            return Err(Failure::new(
                artel_types::FailureCode::W010,
                format!("there is no file `{}`", file.display()),
            )
            .advise(format!(
                "the backups are in `{}`",
                self.home.backups().display()
            )));
        }
        let candidates = RestoreCandidate::all(&self.home, self.marker.id, &keys, file.as_deref())?;
        let is_whole = |found: &RestoreCandidate| {
            found.source == RestoreSource::Prefix && found.damage.is_none()
        };
        let is_intact = candidates.iter().any(is_whole);
        Ok(RestorePreview {
            candidates,
            is_intact,
        })
    }

    /// Replaces the journal with a candidate.
    pub fn restore(&self, candidate: &RestoreCandidate) -> Result<JournalRestoreOutcome, Failure> {
        let (options, actor) = (self.options(), self.caller.actor());
        Ok(candidate.restore(&self.home, self.marker.id, &options, &actor)?)
    }

    pub fn plan_prune(&self, before: Timestamp) -> Result<PrunePreview, Failure> {
        let finished = self
            .reader_as_it_is()?
            .finished_streams(before, Fact::ends_stream)?;
        let events = finished.iter().map(|(_, events)| events).sum();
        Ok(PrunePreview {
            before,
            streams: finished.len() as u64,
            events,
        })
    }

    /// Moves finished streams to an archive.
    pub fn prune(
        &self,
        before: Timestamp,
    ) -> Result<OutcomeWithNotes<Option<JournalPruneOutcome>>, Failure> {
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let done = journal.prune(before, Fact::ends_stream, &self.caller.actor())?;
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Returns the time of the newest backup, and the number of backups.
    pub(crate) fn backups(&self) -> (Option<Timestamp>, usize) {
        let files = backups(&self.home);
        let newest = files
            .first()
            .and_then(|file| artel_journal::backup_time(file));
        (newest, files.len())
    }
}

impl CommandContext {
    /// Records that the person trusts a workshop from elsewhere, including the keys that
    /// signed its journal.
    pub fn trust(
        &self,
        folder: Option<&Path>,
    ) -> Result<OutcomeWithNotes<Workshop>, WorkshopFailures> {
        let workshop = self.at(self.place_to_trust(folder)?)?;
        let signers = workshop
            .reader_as_it_is()?
            .signers()
            .map_err(Failure::from)?;
        JournalSigningKeys::learn(self.places.data(), workshop.id(), &signers)
            .map_err(Failure::from)?;
        let path = workshop.root().display().to_string();
        let OpenWorkshopJournal { journal, notes } = workshop.open()?;
        let draft = workshop
            .draft(WorkshopTrusted { path: path.clone() })
            .on(path);
        journal.append(draft).wait().map_err(Failure::from)?;
        // The registry is written last, so that a workshop that could not be opened is not listed.
        registry::note(
            self.places.data(),
            workshop.id(),
            workshop.root(),
            &self.redactor(),
        )?;
        Ok(OutcomeWithNotes {
            done: workshop,
            notes,
        })
    }

    /// Returns what decides in a workshop that is to be trusted, unless this user made or trusted it
    /// already. Nothing is written.
    pub fn brought_by_workshop(
        &self,
        folder: Option<&Path>,
    ) -> Result<Option<PreexistingWorkshopFiles>, WorkshopFailures> {
        let place = self.place_to_trust(folder)?;
        if registry::knows(self.places.data(), place.marker.id, &place.root)? {
            Ok(None)
        } else {
            Ok(PreexistingWorkshopFiles::in_workshop(&place.root))
        }
    }

    fn place_to_trust(&self, folder: Option<&Path>) -> Result<WorkshopLocation, Failure> {
        match folder.map(Path::to_owned).or_else(|| self.untrusted()) {
            Some(folder) => named_place(&self.absolute(&folder), WorkshopDiscovery::Argument),
            None => self.place(),
        }
    }
}
