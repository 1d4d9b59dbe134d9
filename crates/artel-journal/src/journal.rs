//! The handle that the rest of Artel holds: open once, append and read from anywhere.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use artel_types::{
    Actor, Clock, DiskShortage, DiskSpaceMonitor, EventDraft, EventVisibility, Fact,
    JournalBackedUp, JournalMigrated, JournalTailTorn, SecretRedactor, StreamName, TraceId,
    WorkshopId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{oneshot, watch};

use crate::anchor::JournalAnchor;
use crate::archive::{self, JournalPruneOutcome};
use crate::backup::{self, JournalBackup};
use crate::blobs::BlobStore;
use crate::connect::{self, CreateIfMissing};
use crate::error::{JournalAppendError, JournalError, LeaseError};
use crate::head::JournalHead;
use crate::home::JournalFolders;
use crate::keys::JournalSigningKeys;
use crate::lease::{Lease, LeaseCommand, LeaseFence};
use crate::migrate;
use crate::order::{self, AppendAcknowledgement, EventBatch, WriterCommand};
use crate::owner::LeaseOwner;
use crate::patience;
use crate::prepare::{JournalOpenFindings, prepare_file};
use crate::projection::JournalProjection;
use crate::query::EventFilter;
use crate::reader::JournalReader;
use crate::schema::MIGRATIONS;
use crate::subscribe::{JournalSubscription, SubscriptionNotifier};
use crate::turn::{JournalWriterCache, WriteTransaction};
use crate::turnstile::WriteTurnQueue;
use crate::writer::JournalWriter;

/// The point at which a commit is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CommitDurability {
    /// On disk: an acknowledged event survives a power cut.
    #[default]
    Full,
    /// Handed to the operating system: an acknowledged event survives a crash of Artel, but a
    /// power cut may lose the last ones.
    Normal,
}

impl CommitDurability {
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }
}

/// Options that a journal is opened with.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// The point at which a commit is acknowledged.
    pub durability: CommitDurability,
    /// Removes secrets from every payload, target and blob before it is stored.
    pub redactor: SecretRedactor,
    /// Clock for the times of events and leases.
    pub clock: Clock,
    /// Longest wait for the write turn before giving up.
    pub patience: Duration,
    /// Age of the newest backup at which the next one is taken automatically, or `None` for
    /// never.
    pub backup_every: Option<Duration>,
    /// Number of backups to keep.
    pub backups_kept: usize,
    /// Trace of the journal's own upkeep.
    pub trace: TraceId,
    /// Place to report that the disk is full, and to learn whether to wait for room.
    pub room: DiskSpaceMonitor,
}

impl JournalOptions {
    /// Returns the defaults, with these two values that have none.
    pub fn new(clock: Clock, trace: TraceId) -> Self {
        Self {
            durability: CommitDurability::Full,
            redactor: SecretRedactor::none(),
            clock,
            patience: Duration::from_secs(30),
            backup_every: None,
            backups_kept: 10,
            trace,
            room: DiskSpaceMonitor::unwaited(),
        }
    }

    /// Returns the settings that all handles on one writer must share.
    fn manner(&self) -> (CommitDurability, Duration) {
        (self.durability, self.patience)
    }
}

impl JournalHandleSettings {
    fn new(home: &JournalFolders, options: JournalOptions) -> Arc<Self> {
        let blobs = BlobStore::new(home.blobs(), options.redactor.clone(), options.room.clone());
        Arc::new(Self { options, blobs })
    }
}

/// An opened journal, with notes from the opening.
#[derive(Debug)]
pub struct OpenedJournal {
    /// Handle on the journal.
    pub journal: Journal,
    /// Notes for the person, a sentence each.
    pub notes: Vec<String>,
}

/// A journal open for writing. Clones share one writer; dropping the last one closes it.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Arc<SharedJournal>,
    own: Arc<JournalHandleSettings>,
}

/// Settings of one handle where several share a writer.
#[derive(Debug)]
struct JournalHandleSettings {
    options: JournalOptions,
    blobs: BlobStore,
}

struct SharedJournal {
    home: JournalFolders,
    workshop: WorkshopId,
    /// Durability and patience of the writer.
    manner: (CommitDurability, Duration),
    orders: Mutex<Sender<WriterCommand>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    upkeep: Mutex<Option<JoinHandle<()>>>,
    reader: Arc<JournalReader>,
    bell: Arc<SubscriptionNotifier>,
}

impl Journal {
    /// Makes the journal of a new workshop. If the workshop had a journal and lost it, this
    /// refuses: an empty journal in its place would hide the loss.
    pub fn create(
        home: &JournalFolders,
        workshop: WorkshopId,
        options: JournalOptions,
    ) -> Result<OpenedJournal, JournalError> {
        let keys = JournalSigningKeys::load_or_create(home.data(), workshop)?;
        let turnstile =
            WriteTurnQueue::open(&home.locks(), options.patience, options.clock.clone())?;
        let path = home.journal();
        {
            let _turn = turnstile.enter()?;
            let signed = JournalAnchor::load(home.data(), workshop)?.map(|anchor| anchor.seq);
            let lost = |signed| Err(JournalError::Shortened { found: 0, signed });
            let is_empty = std::fs::metadata(&path).map_or(true, |about| about.len() == 0);
            if is_empty && let Some(signed) = signed {
                return lost(signed);
            }
            let connection = connect::writer(&path, options.durability, CreateIfMissing::Yes)?;
            let failed = |error: rusqlite::Error| JournalError::sqlite(&path, &error);
            let tables: i64 = connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
                .map_err(failed)?;
            if tables == 0 {
                if let Some(signed) = signed {
                    return lost(signed);
                }
                // A file with tables but without an owner could be neither opened nor created
                // again.
                migrate::create_with(&connection, MIGRATIONS, |connection| {
                    let owner = "INSERT INTO meta VALUES ('workshop', ?)";
                    connection.execute(owner, [workshop.to_string()])?;
                    JournalHead::genesis(workshop).write(connection)
                })
                .map_err(failed)?;
            }
        }
        Self::start(home, workshop, options, keys, turnstile)
    }

    /// Opens an existing journal: migrates it to the newest format and checks its end.
    pub fn open(
        home: &JournalFolders,
        workshop: WorkshopId,
        options: JournalOptions,
    ) -> Result<OpenedJournal, JournalError> {
        let path = home.journal();
        if !path.exists() {
            return Err(JournalError::Missing { path });
        }
        let keys = JournalSigningKeys::load_or_create(home.data(), workshop)?;
        let turnstile =
            WriteTurnQueue::open(&home.locks(), options.patience, options.clock.clone())?;
        Self::start(home, workshop, options, keys, turnstile)
    }

    fn start(
        home: &JournalFolders,
        workshop: WorkshopId,
        options: JournalOptions,
        keys: JournalSigningKeys,
        turnstile: WriteTurnQueue,
    ) -> Result<OpenedJournal, JournalError> {
        let path = home.journal();
        let prepare = || prepare_file(home, workshop, &options, &keys, &turnstile);
        let (connection, found) = patience::until_opened(&options.room, &path, prepare)?;
        let (heads, _) = watch::channel(found.head.seq);
        let bell = Arc::new(SubscriptionNotifier::new(heads.clone()));
        let (orders, waiting) = channel();
        let writer = JournalWriter {
            home: home.clone(),
            identity: found.identity,
            path,
            connection: Some(connection),
            durability: options.durability,
            turnstile: Arc::new(turnstile),
            memory: JournalWriterCache::starting_at(workshop, found.head),
            keys,
            anchored: found.anchored,
            restores: found.restores,
            anchored_at: options.clock.uptime(),
            clock: options.clock.clone(),
            room: options.room.clone(),
            heads,
        };
        let thread = std::thread::Builder::new().name("artel-journal".to_owned());
        let writer = thread
            .spawn(move || writer.run(&waiting))
            .map_err(|cause| JournalError::file("start the writer of", home.journal(), cause))?;
        let reader = Arc::new(JournalReader::open(home)?);
        let inner = SharedJournal {
            home: home.clone(),
            workshop,
            manner: options.manner(),
            orders: Mutex::new(orders),
            writer: Mutex::new(Some(writer)),
            upkeep: Mutex::new(None),
            reader,
            bell,
        };
        let journal = Self {
            inner: Arc::new(inner),
            own: JournalHandleSettings::new(home, options),
        };
        let had_events = found.head.seq > 0;
        let notes = journal.record_findings(found)?;
        if had_events {
            journal.back_up_when_due();
        }
        Ok(OpenedJournal { journal, notes })
    }

    /// Returns a handle for another user of the journal in this process. It shares the writer
    /// but has options of its own, such as the redactor. Returns `None` if the writer has ended
    /// or works with other settings; the caller then has to open the journal itself.
    pub fn shared_with(&self, options: JournalOptions) -> Option<Self> {
        let writer = self.inner.writer.lock();
        let writer = writer.unwrap_or_else(PoisonError::into_inner);
        let is_there = writer.as_ref().is_some_and(|it| !it.is_finished());
        (is_there && self.inner.manner == options.manner()).then(|| Self {
            inner: Arc::clone(&self.inner),
            own: JournalHandleSettings::new(&self.inner.home, options),
        })
    }

    /// Records what was found while opening, so that it is part of the history.
    fn record_findings(&self, found: JournalOpenFindings) -> Result<Vec<String>, JournalError> {
        let mut notes = found.notes;
        let mut drafts = Vec::new();
        let trace = self.own.options.trace;
        if let Some((migrated, backup)) = found.migrated {
            notes.push(format!(
                "journal brought from format {} to {} (backup: {})",
                migrated.from,
                migrated.to,
                backup.file.display()
            ));
            let (from, to, backup) = (migrated.from, migrated.to, backup.name());
            drafts.push(upkeep(trace, JournalMigrated { from, to, backup }));
        }
        if found.torn > 0 {
            notes.push("a write that a crash cut off was dropped (torn tail)".to_owned());
            drafts.push(upkeep(trace, JournalTailTorn { bytes: found.torn }));
        }
        if !drafts.is_empty() {
            self.append(EventBatch::of(drafts))
                .wait()
                .map_err(JournalAppendError::into_journal)?;
        }
        Ok(notes)
    }

    /// Records events. The acknowledgement resolves when they are on disk.
    pub fn append(&self, batch: impl Into<EventBatch>) -> AppendAcknowledgement {
        let (reply, ack) = order::answer();
        match order::prepare(batch.into(), &self.own.options.redactor) {
            Ok(prepared) => self.send(WriterCommand::Append(prepared, reply)),
            // The answer goes to the caller's own `AppendAcknowledgement`, which is still there.
            Err(error) => drop(reply.send(Err(error))),
        }
        ack
    }

    /// Follows the journal from the event after `after` (0: from the start).
    pub fn subscribe(&self, filter: EventFilter, after: u64) -> JournalSubscription {
        let SharedJournal { reader, bell, .. } = &*self.inner;
        JournalSubscription::new(Arc::clone(reader), Arc::clone(bell), filter, after)
    }

    /// Returns the reader of this journal.
    pub fn reader(&self) -> &JournalReader {
        &self.inner.reader
    }

    /// Returns the reader, for a caller that keeps it alongside the journal.
    pub fn shared_reader(&self) -> Arc<JournalReader> {
        Arc::clone(&self.inner.reader)
    }

    /// Returns the shortage of disk space that an append would wait for now, or `None`.
    pub fn lack(&self) -> Option<DiskShortage> {
        let home = &self.inner.home;
        let why = self.own.options.room.shortage(&home.log())?;
        let (need, at) = (None, home.journal());
        Some(DiskShortage { why, need, at })
    }

    /// Returns where writers report that the disk is full.
    pub fn room(&self) -> &DiskSpaceMonitor {
        &self.own.options.room
    }

    /// Returns the store of large values (blobs).
    pub fn blobs(&self) -> &BlobStore {
        &self.own.blobs
    }

    /// Takes a lease, if nobody else holds it.
    pub async fn take_lease(
        &self,
        name: &str,
        owner: LeaseOwner,
        span: Duration,
    ) -> Result<Lease, LeaseError> {
        let (reply, answer) = oneshot::channel();
        let name = name.to_owned();
        self.send(WriterCommand::Lease(LeaseCommand::Take {
            name,
            owner,
            span,
            reply,
        }));
        answer.await.unwrap_or(Err(JournalError::Closed.into()))
    }

    /// Renews a lease that this process still holds.
    pub async fn renew_lease(&self, fence: &LeaseFence, span: Duration) -> Result<(), LeaseError> {
        let (reply, answer) = oneshot::channel();
        self.send(WriterCommand::Lease(LeaseCommand::Renew {
            fence: fence.clone(),
            span,
            reply,
        }));
        answer.await.unwrap_or(Err(JournalError::Closed.into()))
    }

    /// Gives a lease back.
    pub async fn release_lease(&self, fence: &LeaseFence) -> Result<(), LeaseError> {
        let (reply, answer) = oneshot::channel();
        self.send(WriterCommand::Lease(LeaseCommand::Release {
            fence: fence.clone(),
            reply,
        }));
        answer.await.unwrap_or(Err(JournalError::Closed.into()))
    }

    /// Brings a projection up to date and stores its snapshot.
    pub async fn keep<S: Default + Serialize + DeserializeOwned>(
        &self,
        projection: &JournalProjection<S>,
    ) -> Result<S, JournalError> {
        let (state, kept) = projection.kept(self.reader())?;
        if let Some(kept) = kept {
            let (reply, answer) = oneshot::channel();
            self.send(WriterCommand::Keep(kept, reply));
            answer.await.unwrap_or(Err(JournalError::Closed))?;
        }
        Ok(state)
    }

    /// Takes a copy now and records that it was requested.
    pub fn back_up(&self, by: Actor) -> Result<JournalBackup, JournalError> {
        let JournalOptions {
            clock,
            backups_kept,
            ..
        } = &self.own.options;
        let backup = backup::take(&self.inner.home, self.inner.workshop, clock, *backups_kept)?;
        self.record_backup(&backup, by, "asked")?;
        Ok(backup)
    }

    fn record_backup(
        &self,
        backup: &JournalBackup,
        by: Actor,
        why: &str,
    ) -> Result<(), JournalError> {
        let fact = JournalBackedUp {
            file: backup.name(),
            events: backup.events,
            why: why.to_owned(),
        };
        let draft = EventDraft {
            actor: by,
            ..upkeep(self.own.options.trace, fact)
        };
        self.append(draft)
            .wait()
            .map_err(JournalAppendError::into_journal)?;
        Ok(())
    }

    /// Moves streams that ended before `before` to an archive. `is_final` says which event
    /// kinds end a stream. If no stream ended, it writes nothing and returns `None`.
    pub fn prune(
        &self,
        before: artel_types::Timestamp,
        is_final: fn(&str) -> bool,
        by: &Actor,
    ) -> Result<Option<JournalPruneOutcome>, JournalError> {
        archive::prune(
            &self.inner.home,
            self.inner.workshop,
            &self.own.options,
            before,
            is_final,
            by,
        )
    }

    /// Takes the daily backup in the background if it is due; closing waits for it. Opening
    /// does this once. A process that stays open for days must call it again.
    pub fn back_up_when_due(&self) {
        let JournalOptions {
            clock,
            backup_every,
            backups_kept,
            ..
        } = &self.own.options;
        let Some(every) = backup_every else { return };
        let running = self.inner.upkeep.lock();
        let mut running = running.unwrap_or_else(PoisonError::into_inner);
        let is_under_way = running.as_ref().is_some_and(|it| !it.is_finished());
        if is_under_way || !backup::is_due(&self.inner.home, clock.now(), *every) {
            return;
        }
        let (home, clock, kept) = (self.inner.home.clone(), clock.clone(), *backups_kept);
        let workshop = self.inner.workshop;
        // The thread must not keep the journal open, so it holds only what it needs to record.
        let sender = self
            .inner
            .orders
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (redactor, trace) = (self.own.options.redactor.clone(), self.own.options.trace);
        let thread = std::thread::spawn(move || {
            // `doctor` shows a failed backup: it looks at the age of the newest one.
            let Ok(backup) = backup::take(&home, workshop, &clock, kept) else {
                return;
            };
            let (file, events, why) = (backup.name(), backup.events, "daily".to_owned());
            let draft = upkeep(trace, JournalBackedUp { file, events, why });
            if let Ok(prepared) = order::prepare(draft.into(), &redactor) {
                let (reply, ack) = order::answer();
                drop(sender.send(WriterCommand::Append(prepared, reply)));
                drop(ack.wait());
            }
        });
        *running = Some(thread);
    }

    fn send(&self, order: WriterCommand) {
        let orders = self
            .inner
            .orders
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // If the writer is gone, the reply is dropped and the caller sees `Closed`.
        drop(orders.send(order));
    }
}

impl Drop for SharedJournal {
    fn drop(&mut self) {
        let join = |thread: &Mutex<Option<JoinHandle<()>>>| {
            let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            // A thread that panicked has said so already.
            drop(thread.map(JoinHandle::join));
        };
        join(&self.upkeep);
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        drop(orders.send(WriterCommand::Close));
        drop(orders);
        join(&self.writer);
    }
}

impl std::fmt::Debug for SharedJournal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.home.journal().display())
    }
}

/// Returns an event of the journal's own housekeeping.
pub(crate) fn upkeep(trace: TraceId, fact: impl Into<Fact>) -> EventDraft {
    EventDraft::new(StreamName::journal(), trace, Actor::system("journal"), fact)
        .shown(EventVisibility::Full)
}

/// Records what a person did to the journal as a whole, as the last step of a transaction,
/// and signs it.
pub(crate) fn record_upkeep(
    desk: &mut WriteTransaction<'_>,
    options: &JournalOptions,
    by: &Actor,
    fact: impl Into<Fact>,
) -> Result<(), JournalError> {
    let path = desk.home.journal();
    let failed = |error: rusqlite::Error| JournalError::sqlite(&path, &error);
    let draft = EventDraft {
        actor: by.clone(),
        ..upkeep(options.trace, fact)
    };
    let mut prepared = order::prepare(draft.into(), &options.redactor)
        .map_err(JournalAppendError::into_journal)?;
    desk.append(&mut prepared)
        .map_err(failed)?
        .map_err(JournalAppendError::into_journal)?;
    desk.sign_head().map_err(failed)?;
    desk.head().write(desk.connection).map_err(failed)
}
