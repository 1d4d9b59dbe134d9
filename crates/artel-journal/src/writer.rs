//! The one thread of a process that writes. All commands that wait when a turn begins share
//! one commit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use artel_types::{Clock, DiskShortage, DiskSpaceMonitor, DiskSpaceWait};
use rusqlite::Connection;
use tokio::sync::watch;

use crate::admit;
use crate::anchor;
use crate::connect::{self, CreateIfMissing};
use crate::durable;
use crate::error::JournalError;
use crate::head::{self, JournalHead};
use crate::home::JournalFolders;
use crate::journal::CommitDurability;
use crate::keys::JournalSigningKeys;
use crate::order::WriterCommand;
use crate::outcome::WriterCommandOutcome;
use crate::patience;
use crate::projection;
use crate::turn::{Checkpoint, JournalWriterCache, WriteTransaction};
use crate::turnstile::WriteTurnQueue;

/// Largest number of commands in one commit; more would only make the first of them wait.
const MOST_ORDERS: usize = 256;

/// Time without commands after which the writer does its upkeep.
const IDLE: Duration = Duration::from_millis(200);

/// Wait for each further caller that shared the last commit.
const FOR_COMPANY: Duration = Duration::from_micros(50);

/// Longest that a command which may wait for the next one does so, if none comes.
const FOR_NEXT: Duration = Duration::from_millis(20);

/// The anchor is moved at most this often: it is a file of its own, with its own sync.
const ANCHOR_EVERY: Duration = Duration::from_millis(250);

pub(crate) struct JournalWriter {
    pub(crate) home: JournalFolders,
    pub(crate) path: PathBuf,
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) connection: Option<Connection>,
    pub(crate) durability: CommitDurability,
    pub(crate) turnstile: Arc<WriteTurnQueue>,
    pub(crate) memory: JournalWriterCache,
    pub(crate) keys: JournalSigningKeys,
    pub(crate) clock: Clock,
    pub(crate) heads: watch::Sender<u64>,
    pub(crate) anchored: u64,
    pub(crate) restores: usize,
    pub(crate) anchored_at: Duration,
    pub(crate) room: DiskSpaceMonitor,
}

/// The point at which a transaction failed.
enum WriteTransactionFailure {
    /// Before the commit: none of it can be in the file.
    Before(JournalError),
    /// During the commit: it may stand in the log.
    InCommit(JournalError),
}

impl WriteTransactionFailure {
    /// Returns whether the write may stand after all.
    fn may_stand(&self) -> bool {
        matches!(self, Self::InCommit(_))
    }
}

/// A commit of which it is unknown whether it stands.
struct UnsettledCommit {
    /// End of the chain, if it stands.
    reached: JournalHead,
    /// Answers to give in that case.
    outcomes: Vec<WriterCommandOutcome>,
}

impl JournalWriter {
    /// Carries out commands until the last sender is gone or sends `Close`.
    pub(crate) fn run(mut self, orders: &Receiver<WriterCommand>) {
        let (mut is_open, mut company) = (true, 0);
        while is_open {
            let Some(first) = self.next(orders) else {
                break;
            };
            let mut batch = gather(first, orders, company);
            company = batch.len();
            if let Some(at) = batch
                .iter()
                .position(|order| matches!(order, WriterCommand::Close))
            {
                is_open = false;
                batch.truncate(at);
            }
            if !batch.is_empty() {
                self.turn(batch);
            }
        }
        self.close();
    }

    /// Waits for a command, and uses a pause for upkeep.
    fn next(&mut self, orders: &Receiver<WriterCommand>) -> Option<WriterCommand> {
        match orders.recv_timeout(IDLE) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => self.rest(),
        }
        orders.recv().ok()
    }

    /// Moves the log into the file while nobody waits. A failure here costs nothing: the next
    /// commit tries again, and reports it.
    fn rest(&mut self) {
        self.move_anchor();
        if let Some(connection) = &self.connection {
            // PASSIVE waits for nobody, so it needs no turn.
            drop(connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)"));
        }
    }

    fn turn(&mut self, mut batch: Vec<WriterCommand>) {
        let done = self.commit_with_patience(&mut batch);
        if let (Ok(_), Some(head)) = (&done, self.memory.head) {
            self.heads.send_replace(head.seq);
        }
        match done {
            Ok(outcomes) => {
                for (order, outcome) in batch.into_iter().zip(outcomes) {
                    order.answer(outcome);
                }
            }
            Err(error) => batch.into_iter().for_each(|order| order.refuse(&error)),
        }
        if self.clock.uptime().saturating_sub(self.anchored_at) >= ANCHOR_EVERY {
            self.move_anchor();
        }
    }

    /// Commits the batch. If the disk is full it waits for room: the caller has acted or is
    /// about to, and a full disk is no reason to break off.
    fn commit_with_patience(
        &mut self,
        batch: &mut [WriterCommand],
    ) -> Result<Vec<WriterCommandOutcome>, JournalError> {
        let mut waiting = None;
        let mut left = None;
        loop {
            let error = match self.take_up(&mut left).and_then(|stands| match stands {
                Some(outcomes) => Ok(outcomes),
                None => self.commit(batch, &mut left),
            }) {
                Ok(outcomes) => return Ok(outcomes),
                Err(error) => error,
            };
            let Some(why) = patience::shortage(&error, &self.room, &self.path) else {
                return Err(error);
            };
            if waiting.is_none() {
                let need = Some(batch.iter().map(WriterCommand::size).sum());
                let at = self.path.clone();
                waiting = self.room.wait(DiskShortage { why, need, at });
            }
            let Some(pause) = waiting.as_ref().and_then(DiskSpaceWait::pause) else {
                return Err(error);
            };
            std::thread::park_timeout(pause);
        }
    }

    /// Settles an unsettled commit once the file can be written again. Either all of it stands,
    /// and its outcomes hold, or none of it does.
    fn take_up(
        &mut self,
        left: &mut Option<UnsettledCommit>,
    ) -> Result<Option<Vec<WriterCommandOutcome>>, JournalError> {
        let Some(UnsettledCommit { reached, .. }) = left else {
            return Ok(None);
        };
        let turnstile = Arc::clone(&self.turnstile);
        let _turn = turnstile.enter()?;
        self.refresh()?;
        let Some(connection) = &self.connection else {
            return Err(JournalError::Closed);
        };
        let at_end = projection::hash_at(connection, reached.seq)
            .map_err(|error| JournalError::sqlite(&self.path, &error))?;
        let stands = at_end == Some(reached.hash);
        // One more write in its place: what is not there now can no longer come back.
        self.write(|desk| desk.write_head())
            .map_err(|stopped| self.settle(stopped))?;
        let left = left.take().filter(|_| stands);
        Ok(left.map(|left| left.outcomes))
    }

    fn commit(
        &mut self,
        batch: &mut [WriterCommand],
        left: &mut Option<UnsettledCommit>,
    ) -> Result<Vec<WriterCommandOutcome>, JournalError> {
        let turnstile = Arc::clone(&self.turnstile);
        let _turn = turnstile.enter()?;
        self.refresh()?;
        let mut outcomes = Vec::with_capacity(batch.len());
        let written = self.write(|desk| {
            for order in batch {
                let outcome = order.carry_out(desk);
                outcomes.push(outcome.map_err(|error| desk.failed(&error))?);
            }
            desk.write_head()
        });
        let Err(stopped) = written else {
            return Ok(outcomes);
        };
        // A batch without events leaves nothing to recognize it by, and may be repeated.
        let reached = self.memory.head.filter(|_| stopped.may_stand());
        let reached = reached.filter(|end| Some(*end) != self.memory.head_before_turn());
        let error = self.settle(stopped);
        if let (JournalError::Unsettled { .. }, Some(reached)) = (&error, reached) {
            *left = Some(UnsettledCommit { reached, outcomes });
        }
        Err(error)
    }

    /// Runs `work` in one transaction. The caller has the turn.
    fn write(
        &mut self,
        work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<(), JournalError>,
    ) -> Result<(), WriteTransactionFailure> {
        let Self {
            connection,
            memory,
            keys,
            clock,
            home,
            path,
            ..
        } = self;
        let Some(connection) = connection else {
            return Err(WriteTransactionFailure::Before(JournalError::Closed));
        };
        let failed = |error: rusqlite::Error| JournalError::sqlite(&*path, &error);
        let mut desk = WriteTransaction {
            connection,
            memory,
            keys,
            clock,
            home,
        };
        let done = connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(failed)
            .and_then(|()| desk.begin())
            .and_then(|()| work(&mut desk));
        let ended = done
            .map_err(WriteTransactionFailure::Before)
            .and_then(|()| {
                let committed = connection.execute_batch("COMMIT").map_err(failed);
                committed.map_err(WriteTransactionFailure::InCommit)
            });
        match &ended {
            Ok(()) => memory.committed(),
            // The transaction may be gone already; then there is nothing to roll back.
            Err(_) => drop(connection.execute_batch("ROLLBACK")),
        }
        ended
    }

    /// Makes sure, within the turn, that the file is still the one we know.
    fn refresh(&mut self) -> Result<(), JournalError> {
        if identity(&self.path) != self.identity {
            return Err(self.take_up_other());
        }
        if self.connection.is_none() {
            self.reopen()?;
        }
        Ok(())
    }

    /// Handles another file under the journal's name. If a person restored it, the writer
    /// continues with it and reports that once, because callers have read the old file. If
    /// nobody did, it has to continue what we know; otherwise somebody slipped in an older
    /// copy.
    fn take_up_other(&mut self) -> JournalError {
        let known = self.memory.head;
        self.connection = None;
        let opened =
            connect::writer(&self.path, self.durability, CreateIfMissing::No).and_then(|file| {
                let admitted = admit::check(&file, &self.home, &self.keys, self.memory.workshop)?;
                if admitted.restores == self.restores
                    && let Some(known) = known
                    && head::walk_on(&file, &self.home, known)? != admitted.head
                {
                    let (found, signed) = (admitted.head.seq, known.seq);
                    return Err(JournalError::Shortened { found, signed });
                }
                Ok((file, admitted))
            });
        match opened {
            Err(error) => error,
            Ok((file, admitted)) => {
                self.memory = JournalWriterCache::starting_at(self.memory.workshop, admitted.head);
                (self.anchored, self.restores) = (admitted.anchored, admitted.restores);
                self.identity = identity(&self.path);
                self.connection = Some(file);
                let path = self.path.clone();
                JournalError::Replaced { path }
            }
        }
    }

    /// Opens the file again, with all the checks of the first opening.
    fn reopen(&mut self) -> Result<(), JournalError> {
        let connection = connect::writer(&self.path, self.durability, CreateIfMissing::No)?;
        let admitted = admit::check(&connection, &self.home, &self.keys, self.memory.workshop)?;
        self.memory.head = Some(admitted.head);
        self.connection = Some(connection);
        Ok(())
    }

    /// Reads the file again after a failure and checks its end, because the page cache may hold
    /// what the disk does not. If the commit itself failed, the whole write may already stand
    /// in the log, and a crash would bring it back. One more small write in its place makes
    /// sure that it does not. If that fails too, the caller learns that the commit is
    /// unsettled.
    fn settle(&mut self, stopped: WriteTransactionFailure) -> JournalError {
        let before = self.memory.head_before_turn();
        self.memory.forget();
        self.connection = None;
        let error = match stopped {
            WriteTransactionFailure::Before(error) => return error,
            WriteTransactionFailure::InCommit(error) => error,
        };
        let settled = self.reopen().is_ok()
            && self.memory.head == before
            && self.write(|desk| desk.write_head()).is_ok();
        if settled {
            return error;
        }
        self.connection = None;
        JournalError::Unsettled {
            path: self.path.clone(),
            what: error.to_string(),
            cause: Box::new(error),
        }
    }

    /// Signs the end, so that a later cut of the tail is noticed.
    fn close(&mut self) {
        let turnstile = Arc::clone(&self.turnstile);
        let Ok(_turn) = turnstile.enter() else {
            return;
        };
        self.sign_end();
        self.move_anchor();
        if let Some(connection) = &self.connection {
            // A closed journal is one file. If others still read, they move the log in later.
            drop(connection.busy_timeout(Duration::ZERO));
            drop(connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
        }
    }

    /// Signs the head, within the turn. Nothing was promised: if it fails, the events
    /// themselves are on disk, and the next close signs.
    fn sign_end(&mut self) {
        if self.connection.is_none() || self.refresh().is_err() {
            return;
        }
        let signed = self.write(|desk| desk.sign_head().map_err(|error| desk.failed(&error)));
        if signed.is_err() {
            self.memory.forget();
            self.connection = None;
        }
    }

    fn move_anchor(&mut self) {
        let Some(signed) = self.memory.signed.as_ref().map(Checkpoint::signed) else {
            return;
        };
        if signed.seq <= self.anchored {
            return;
        }
        if self.durability == CommitDurability::Normal {
            // The anchor is on disk at once, so the events it vouches for have to be there
            // first.
            let log = std::fs::File::open(durable::beside(&self.path, "-wal"));
            if log.and_then(|log| log.sync_all()).is_err() {
                return;
            }
        }
        // An anchor that lags behind proves less, but nothing wrong; `doctor` shows it.
        if anchor::advance(self.home.data(), self.memory.workshop, signed).is_ok() {
            self.anchored = signed.seq;
        }
        self.anchored_at = self.clock.uptime();
    }
}

/// Collects the commands that wait along with the first one. A caller that was just
/// answered often asks again at once. So if several shared the last commit, they get a
/// moment to come back: one commit of many costs everyone less than two of half as many. A
/// command that may wait for the next one does so.
fn gather(
    first: WriterCommand,
    orders: &Receiver<WriterCommand>,
    company: usize,
) -> Vec<WriterCommand> {
    let mut all_wait = first.may_wait();
    let mut batch = vec![first];
    while batch.len() < MOST_ORDERS {
        let next = match orders.try_recv() {
            Ok(order) => Some(order),
            Err(TryRecvError::Empty) if all_wait => orders.recv_timeout(FOR_NEXT).ok(),
            Err(TryRecvError::Empty) if batch.len() < company => {
                orders.recv_timeout(FOR_COMPANY).ok()
            }
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => None,
        };
        let Some(order) = next else { break };
        all_wait &= order.may_wait();
        batch.push(order);
    }
    batch
}

/// Returns the device and inode, which tell apart two files of the same name.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path)
        .ok()
        .map(|about| (about.dev(), about.ino()))
}
