//! One workshop, found and read: the starting point of every command but `init`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use artel_config::{DurabilityChoice, Settings};
use artel_journal::{
    self as journal, EventFilter, EventQuery, Journal, JournalFolders, JournalOptions,
    JournalReader,
};
use artel_types::{
    Actor, ActorSurface, ConfigLoaded, EventDraft, EventVisibility, Fact, Failure, FailureCode,
    StreamName, TraceId, WorkshopId,
};

use crate::caller::{CommandContext, fresh_trace};
use crate::find::{WorkshopDiscovery, WorkshopLocation};
use crate::init::WorkshopInitMode;
use crate::kept::OpenJournalCache;
use crate::marker::WorkshopMarker;
use crate::trouble::WorkshopFailures;
use crate::works::RequestFileIndex;

/// A workshop with the settings in force in it.
#[derive(Debug, Clone)]
pub struct Workshop {
    pub(crate) root: PathBuf,
    pub(crate) marker: WorkshopMarker,
    pub(crate) found: WorkshopDiscovery,
    pub(crate) home: JournalFolders,
    pub(crate) caller: CommandContext,
    /// The trace that joins everything one command does to the workshop.
    trace: TraceId,
    /// The index of request files, as far as this process has read the journal.
    pub(crate) inbox: Arc<Mutex<RequestFileIndex>>,
    /// The open journal and its last readings, in a process that stays.
    pub(crate) kept: Option<Arc<OpenJournalCache>>,
    pub settings: Arc<Settings>,
}

/// The result of a command that writes, with notes for the person.
#[derive(Debug)]
pub struct OutcomeWithNotes<T> {
    pub done: T,
    /// Notes from opening the journal, a sentence each.
    pub notes: Vec<String>,
}

/// A workshop's journal, open for writing.
#[derive(Debug)]
pub struct OpenWorkshopJournal {
    pub journal: Journal,
    /// Notes for the person, a sentence each.
    pub notes: Vec<String>,
}

impl CommandContext {
    /// Finds the workshop and loads its settings. Writes nothing, and fails if a setting is
    /// wrong, before anything starts.
    pub fn workshop(&self) -> Result<Workshop, WorkshopFailures> {
        let place = self.place()?;
        self.at(place)
    }

    /// Finds the workshop, or makes one in the home folder: for writing commands that people
    /// may begin with.
    pub fn workshop_or_new(&self) -> Result<OutcomeWithNotes<Workshop>, WorkshopFailures> {
        let missing = match self.workshop() {
            Ok(done) => {
                return Ok(OutcomeWithNotes {
                    done,
                    notes: Vec::new(),
                });
            }
            Err(problems) => problems,
        };
        if missing
            .0
            .iter()
            .any(|failure| failure.code != FailureCode::W001)
        {
            return Err(missing);
        }
        let home = self.places.default_workshop();
        let made = self.init(Some(&home), WorkshopInitMode::Complete)?;
        let mut notes = vec![format!("made a workshop at {}", home.display())];
        notes.extend(made.notes);
        let done = self.workshop()?;
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Returns the workshop that [`CommandContext::workshop_or_new`] would make, for callers that only
    /// want to know the effect of something. Writes nothing, so the workshop has no journal.
    pub fn workshop_to_be(&self) -> Result<Workshop, WorkshopFailures> {
        self.at(WorkshopLocation {
            root: self.places.default_workshop(),
            marker: WorkshopMarker::fresh()?,
            found: WorkshopDiscovery::Home,
        })
    }

    pub(crate) fn at(&self, place: WorkshopLocation) -> Result<Workshop, WorkshopFailures> {
        let WorkshopLocation {
            root,
            marker,
            found,
        } = place;
        let settings = self.settings_in(&root)?;
        let home = JournalFolders::new(root.join(".artel"), self.places.data());
        let (caller, trace) = (self.clone(), fresh_trace()?);
        Ok(Workshop {
            root,
            marker,
            found,
            home,
            caller,
            trace,
            inbox: Arc::default(),
            kept: None,
            settings: Arc::new(settings),
        })
    }
}

impl Workshop {
    /// Returns the workshop for a person who acts through a surface of this process.
    pub fn acting(&self, person: &str, via: ActorSurface) -> Result<Self, Failure> {
        self.acting_as(Actor::human(person, via))
    }

    /// Returns the workshop for a person or a program that acts through a surface of this
    /// process.
    pub fn acting_as(&self, actor: Actor) -> Result<Self, Failure> {
        Ok(Self {
            caller: self.caller.acting_as(actor),
            trace: fresh_trace()?,
            ..self.clone()
        })
    }

    /// Returns the workshop as seen from a folder, which decides the skills and hooks that are
    /// found.
    #[must_use]
    pub fn standing_in(&self, folder: &Path) -> Self {
        Self {
            caller: self.caller.standing_in(folder, &self.root),
            ..self.clone()
        }
    }

    /// Returns the workshop for a process that stays and has the journal open. As long as
    /// nobody writes, the journal is not read or opened again. If a configuration file becomes
    /// invalid, its last valid content stays in force.
    #[must_use]
    pub fn beside(&self, journal: &Journal) -> Self {
        Self {
            kept: Some(Arc::new(OpenJournalCache::of(journal))),
            caller: self.caller.remembering(),
            ..self.clone()
        }
    }

    /// Returns the context of the command.
    pub fn caller(&self) -> &CommandContext {
        &self.caller
    }

    /// Returns the workshop's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn id(&self) -> WorkshopId {
        self.marker.id
    }

    /// Returns how the workshop was found.
    pub fn found(&self) -> WorkshopDiscovery {
        self.found
    }

    /// Opens the journal to read the present state from it. A journal whose end is missing is
    /// refused: lost events would seem never to have happened.
    pub fn reader(&self) -> Result<Arc<JournalReader>, Failure> {
        if let Some(kept) = &self.kept {
            kept.refuse_cut(self.marker.id)?;
            return Ok(Arc::clone(&kept.reader));
        }
        let reader = self.reader_as_it_is()?;
        reader.refuse_cut(self.marker.id)?;
        Ok(reader)
    }

    /// Opens the journal to show its content. A damaged journal is accepted, but not one of
    /// another workshop, whose events would be taken for this one's.
    pub fn reader_as_it_is(&self) -> Result<Arc<JournalReader>, Failure> {
        if let Some(kept) = &self.kept {
            return Ok(Arc::clone(&kept.reader));
        }
        let reader = JournalReader::open(&self.home)?;
        reader.refuse_foreign(self.marker.id)?;
        Ok(Arc::new(reader))
    }

    /// Says what is missing at the end of the journal, for readers of what is left.
    pub fn missing_end(&self) -> Option<Failure> {
        let reader = self.reader_as_it_is().ok()?;
        reader.refuse_cut(self.marker.id).err().map(Failure::from)
    }

    /// Opens the journal for writing, and records the settings if they changed.
    pub fn open(&self) -> Result<OpenWorkshopJournal, Failure> {
        self.open_with(self.options())
    }

    pub(crate) fn open_with(
        &self,
        options: JournalOptions,
    ) -> Result<OpenWorkshopJournal, Failure> {
        let kept = self.kept.as_ref();
        let mut open = match kept.and_then(|kept| kept.journal(&options)) {
            Some(journal) => OpenWorkshopJournal {
                journal,
                notes: Vec::new(),
            },
            None => {
                let opened = Journal::open(&self.home, self.marker.id, options)?;
                let warnings = self.settings.warnings.iter().cloned();
                OpenWorkshopJournal {
                    journal: opened.journal,
                    notes: opened.notes.into_iter().chain(warnings).collect(),
                }
            }
        };
        self.record_settings(&open.journal)?;
        if let Err(failure) = self.upgrade(&open.journal, &mut open.notes) {
            // Refusals that follow from the incomplete upgrade are reported where they occur.
            let note = format!("the upgrade is not complete: {}", failure.what);
            open.notes.push(note);
        }
        Ok(open)
    }

    /// Refuses to write a file that a person named into the state folder, where it could
    /// replace the journal itself.
    pub fn refuse_state_file(&self, file: &Path) -> Result<(), Failure> {
        let file = self.caller.absolute(file);
        let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
        if !folder.is_some_and(|folder| folder.starts_with(self.home.state())) {
            return Ok(());
        }
        let what = format!("`{}` lies in the workshop's state folder", file.display());
        Err(Failure::new(FailureCode::C004, what).advise("write it anywhere else"))
    }

    pub(crate) fn options(&self) -> JournalOptions {
        let settings = &self.settings.journal;
        let day = Duration::from_secs(86_400);
        JournalOptions {
            durability: match settings.durability.value {
                DurabilityChoice::Full => journal::CommitDurability::Full,
                DurabilityChoice::Normal => journal::CommitDurability::Normal,
            },
            redactor: self.redactor(),
            clock: self.caller.clock.clone(),
            // Nobody waits longer than a day, and this limit keeps sums of times within bounds.
            patience: settings.busy_after.value.min(day),
            backup_every: Some(settings.backup_every.value),
            backups_kept: usize::try_from(settings.backups_kept.value).unwrap_or(usize::MAX),
            trace: self.trace,
            room: self.caller.room.clone(),
        }
    }

    /// Records the checksum of the settings, unless it is the last recorded one.
    pub(crate) fn record_settings(&self, journal: &Journal) -> Result<(), Failure> {
        let checksum = self.settings.checksum();
        let filter = EventFilter {
            kind: Some("config.loaded".to_owned()),
            ..EventFilter::default()
        };
        let last = journal
            .reader()
            .records(&EventQuery::of(filter).newest_first().limit(1))?;
        let is_known = last.first().is_some_and(|record| {
            serde_json::from_str::<ConfigLoaded>(&record.payload)
                .is_ok_and(|loaded| loaded.checksum == checksum)
        });
        if !is_known {
            journal.append(self.settings_draft()).wait()?;
        }
        Ok(())
    }

    /// Returns the event that records the settings in force.
    pub(crate) fn settings_draft(&self) -> EventDraft {
        let checksum = self.settings.checksum();
        let files = self
            .settings
            .files
            .iter()
            .map(|file| file.display().to_string())
            .collect();
        self.draft(ConfigLoaded { checksum, files })
            .shown(EventVisibility::Full)
    }

    /// Returns the trace of this command.
    pub fn trace_id(&self) -> TraceId {
        self.trace
    }

    /// Returns an event of the workshop itself, with the caller as its actor.
    pub(crate) fn draft(&self, fact: impl Into<Fact>) -> EventDraft {
        EventDraft::new(
            StreamName::workshop(),
            self.trace,
            self.caller.actor(),
            fact,
        )
    }
}
