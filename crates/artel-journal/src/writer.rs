//! The one thread of a process that writes. Whatever waits when a turn begins shares one commit.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use artel_types::Clock;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use crate::anchor::{self, Signed};
use crate::connect::{self, Create};
use crate::error::{AppendError, JournalError, LeaseError};
use crate::head;
use crate::home::Home;
use crate::journal::Durability;
use crate::keys::Keys;
use crate::lease::{self, LeaseOrder};
use crate::order::{Order, Receipt};
use crate::projection;
use crate::turn::{Checkpoint, Desk, Memory};
use crate::turnstile::Turnstile;

/// How many orders share a commit at most; more would only make the first of them wait.
const MOST_ORDERS: usize = 256;

/// How long the writer waits for company before it uses the pause for upkeep.
const IDLE: Duration = Duration::from_millis(200);

/// The anchor is moved at most this often: it is a file of its own, with its own sync.
const ANCHOR_EVERY: Duration = Duration::from_millis(250);

pub(crate) struct Writer {
    pub(crate) home: Home,
    pub(crate) path: PathBuf,
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) connection: Option<Connection>,
    pub(crate) durability: Durability,
    pub(crate) turnstile: Turnstile,
    pub(crate) memory: Memory,
    pub(crate) keys: Keys,
    pub(crate) clock: Clock,
    pub(crate) heads: watch::Sender<u64>,
    pub(crate) anchored: u64,
    pub(crate) anchored_at: Duration,
}

/// Answers that are owed once the turn is committed.
type Owed = Box<dyn FnOnce(Result<(), JournalError>) + Send>;

impl Writer {
    /// Carries out orders until the last sender is gone or says to close.
    pub(crate) fn run(mut self, orders: &Receiver<Order>) {
        let mut is_open = true;
        while is_open {
            let mut batch = Vec::new();
            match self.next(orders) {
                Some(order) => batch.push(order),
                None => break,
            }
            while batch.len() < MOST_ORDERS {
                match orders.try_recv() {
                    Ok(order) => batch.push(order),
                    Err(TryRecvError::Empty | TryRecvError::Disconnected) => break,
                }
            }
            if let Some(at) = batch.iter().position(|order| matches!(order, Order::Close)) {
                is_open = false;
                batch.truncate(at);
            }
            if !batch.is_empty() {
                self.turn(batch);
            }
        }
        self.close();
    }

    /// Waits for an order, and uses a pause for upkeep.
    fn next(&mut self, orders: &Receiver<Order>) -> Option<Order> {
        match orders.recv_timeout(IDLE) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => self.rest(),
        }
        orders.recv().ok()
    }

    /// Moves the log into the file while nobody waits. A failure here costs nothing: the next
    /// commit tries again, and reports.
    fn rest(&mut self) {
        self.move_anchor();
        if let Some(connection) = &self.connection {
            drop(connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)"));
        }
    }

    fn turn(&mut self, batch: Vec<Order>) {
        let mut owed: Vec<Owed> = Vec::with_capacity(batch.len());
        let done = self.commit(batch, &mut owed);
        if done.is_err() {
            self.memory.forget();
        } else if let Some(head) = self.memory.head {
            self.heads.send_replace(head.seq);
        }
        for answer in owed {
            answer(done.clone());
        }
        if self.clock.uptime().saturating_sub(self.anchored_at) >= ANCHOR_EVERY {
            self.move_anchor();
        }
    }

    fn commit(&mut self, batch: Vec<Order>, owed: &mut Vec<Owed>) -> Result<(), JournalError> {
        let mut batch = batch.into_iter();
        let done = self.commit_some(&mut batch, owed);
        // Orders that were not reached fail like the one that did.
        owed.extend(batch.map(refuse));
        done
    }

    fn commit_some(
        &mut self,
        batch: &mut impl Iterator<Item = Order>,
        owed: &mut Vec<Owed>,
    ) -> Result<(), JournalError> {
        if identity(&self.path) != self.identity {
            // A person put another file in its place while we had the old one open.
            self.connection = None;
            self.memory.forget();
        }
        self.reopen()?;
        let Some(connection) = &self.connection else {
            return Err(JournalError::Closed);
        };
        let _turn = self.turnstile.enter()?;
        let failed = |error: rusqlite::Error| JournalError::sqlite(&self.path, &error);
        connection
            .execute_batch("BEGIN IMMEDIATE")
            .map_err(failed)?;
        let mut desk = Desk {
            connection,
            memory: &mut self.memory,
            keys: &self.keys,
            clock: &self.clock,
        };
        let written = desk
            .begin()
            .and_then(|()| carry_out(&mut desk, batch, owed))
            .and_then(|()| desk.head().write(connection))
            .and_then(|()| connection.execute_batch("COMMIT"))
            .map_err(failed);
        if written.is_err() {
            drop(connection.execute_batch("ROLLBACK"));
            // After a failed sync the page cache may hold what the disk does not: read the file
            // anew and look at its end before anything else is written.
            self.connection = None;
        }
        written
    }

    /// Opens the file again after a failure, and checks its end.
    fn reopen(&mut self) -> Result<(), JournalError> {
        if self.connection.is_some() {
            return Ok(());
        }
        let connection = connect::writer(&self.path, self.durability, Create::No)?;
        let _turn = self.turnstile.enter()?;
        head::check_tail(&connection, &self.home, &self.keys, self.memory.workshop)?;
        self.identity = identity(&self.path);
        self.connection = Some(connection);
        Ok(())
    }

    /// Signs the end, so that a tail that is cut off later is missed.
    fn close(&mut self) {
        if self.connection.is_some() {
            self.sign_end();
        }
        self.move_anchor();
        // A closed journal is one file; where others still read or write, they do it later.
        if let Some(connection) = &self.connection {
            drop(connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
        }
    }

    fn sign_end(&mut self) {
        let Some(connection) = &self.connection else {
            return;
        };
        let Ok(_turn) = self.turnstile.enter() else {
            return;
        };
        let Self {
            memory,
            keys,
            clock,
            ..
        } = self;
        let mut desk = Desk {
            connection,
            memory,
            keys,
            clock,
        };
        let signed = connection
            .execute_batch("BEGIN IMMEDIATE")
            .and_then(|()| desk.begin())
            .and_then(|()| desk.sign_head())
            .and_then(|()| connection.execute_batch("COMMIT"));
        if signed.is_err() {
            // Nothing was promised; the events themselves are on disk, and the next close signs.
            drop(connection.execute_batch("ROLLBACK"));
            self.memory.signed = None;
        }
    }

    fn move_anchor(&mut self) {
        let Some(Checkpoint {
            head,
            at,
            signer,
            signature,
        }) = &self.memory.signed
        else {
            return;
        };
        if head.seq <= self.anchored {
            return;
        }
        let signed = Signed {
            seq: head.seq,
            hash: head.hash,
            at: *at,
            signer,
            signature,
        };
        // An anchor that lags behind proves less, but proves nothing wrong; `doctor` shows it.
        if anchor::advance(self.home.data(), self.memory.workshop, signed).is_ok() {
            self.anchored = head.seq;
        }
        self.anchored_at = self.clock.uptime();
    }
}

/// Tells one file from another that has the same name.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path)
        .ok()
        .map(|about| (about.dev(), about.ino()))
}

fn carry_out(
    desk: &mut Desk<'_>,
    batch: &mut impl Iterator<Item = Order>,
    owed: &mut Vec<Owed>,
) -> rusqlite::Result<()> {
    for order in batch {
        match order {
            Order::Append(prepared, reply) => {
                let outcome = desk.append(prepared);
                owe_append(outcome, reply, owed)?;
            }
            Order::Lease(order) => carry_out_lease(desk, order, owed)?,
            Order::Keep(kept, reply) => {
                let done = projection::keep(desk.connection, &kept);
                owed.push(Box::new(move |committed| drop(reply.send(committed))));
                done?;
            }
            Order::Close => {}
        }
    }
    Ok(())
}

fn owe_append(
    outcome: rusqlite::Result<Result<Receipt, AppendError>>,
    reply: oneshot::Sender<Result<Receipt, AppendError>>,
    owed: &mut Vec<Owed>,
) -> rusqlite::Result<()> {
    let (outcome, failed) = match outcome {
        Ok(outcome) => (outcome, Ok(())),
        Err(error) => (Err(AppendError::Empty), Err(error)),
    };
    owed.push(Box::new(move |committed| {
        // The caller may have stopped waiting; what it asked for stands all the same.
        drop(reply.send(committed.map_err(AppendError::from).and(outcome)));
    }));
    failed
}

fn carry_out_lease(
    desk: &mut Desk<'_>,
    order: LeaseOrder,
    owed: &mut Vec<Owed>,
) -> rusqlite::Result<()> {
    let now = desk.moment();
    match order {
        LeaseOrder::Take {
            name,
            owner,
            span,
            reply,
        } => owe_lease(
            lease::take(desk.connection, &name, &owner, span, now),
            reply,
            owed,
        ),
        LeaseOrder::Renew { fence, span, reply } => owe_lease(
            lease::renew(desk.connection, &fence, span, now),
            reply,
            owed,
        ),
        LeaseOrder::Release { fence, reply } => {
            owe_lease(lease::release(desk.connection, &fence, now), reply, owed)
        }
    }
}

fn owe_lease<T: Send + 'static>(
    outcome: rusqlite::Result<Result<T, LeaseError>>,
    reply: lease::Reply<T>,
    owed: &mut Vec<Owed>,
) -> rusqlite::Result<()> {
    let (outcome, failed) = match outcome {
        Ok(outcome) => (Some(outcome), Ok(())),
        Err(error) => (None, Err(error)),
    };
    owed.push(Box::new(move |committed| {
        let answer = match (committed, outcome) {
            (Ok(()), Some(outcome)) => outcome,
            (Ok(()), None) => Err(JournalError::Closed.into()),
            (Err(error), _) => Err(error.into()),
        };
        drop(reply.send(answer));
    }));
    failed
}

/// Answers an order that was not reached, with the reason the turn failed.
fn refuse(order: Order) -> Owed {
    match order {
        Order::Append(_, reply) => Box::new(move |done| {
            drop(reply.send(Err(done.err().unwrap_or(JournalError::Closed).into())));
        }),
        Order::Lease(LeaseOrder::Take { reply, .. }) => Box::new(move |done| {
            drop(reply.send(Err(done.err().unwrap_or(JournalError::Closed).into())));
        }),
        Order::Lease(LeaseOrder::Renew { reply, .. } | LeaseOrder::Release { reply, .. }) => {
            Box::new(move |done| {
                drop(reply.send(Err(done.err().unwrap_or(JournalError::Closed).into())));
            })
        }
        Order::Keep(_, reply) => Box::new(move |done| {
            drop(reply.send(Err(done.err().unwrap_or(JournalError::Closed))));
        }),
        Order::Close => Box::new(|_| {}),
    }
}
