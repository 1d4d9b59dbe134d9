//! Leases: one process at a time drives a run, an inbox or a workshop.
//!
//! A lease expires, is renewed, and carries a number that only grows. A process that lost
//! its lease while it was paused still has the old number, and an append fenced with that
//! number is refused.

use std::time::Duration;

use artel_types::Timestamp;
use rusqlite::{Connection, OptionalExtension as _};
use tokio::sync::oneshot;

use crate::error::LeaseError;
use crate::owner::LeaseOwner;

/// Proof of a lease, for [`crate::EventBatch::fenced`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseFence {
    pub(crate) name: String,
    pub(crate) token: u64,
}

/// A lease that this process holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The proof, to fence appends with.
    pub fence: LeaseFence,
    /// The previous owner, if the lease was taken over rather than free.
    pub taken_from: Option<LeaseOwner>,
}

impl LeaseFence {
    /// Returns the name of the lease.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the fencing number.
    pub fn token(&self) -> u64 {
        self.token
    }
}

/// A lease as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseInfo {
    /// Name of the lease.
    pub name: String,
    /// The owner, or `None` after a release.
    pub owner: Option<LeaseOwner>,
    /// When the lease expires, by the wall clock.
    pub expires: Timestamp,
}

/// A command for a lease, carried out within a write turn.
pub(crate) enum LeaseCommand {
    Take {
        name: String,
        owner: LeaseOwner,
        span: Duration,
        reply: Reply<Lease>,
    },
    Renew {
        fence: LeaseFence,
        span: Duration,
        reply: Reply<()>,
    },
    Release {
        fence: LeaseFence,
        reply: Reply<()>,
    },
}

pub(crate) type Reply<T> = oneshot::Sender<Result<T, LeaseError>>;

/// The two clock readings that an expiry is measured with.
#[derive(Clone, Copy)]
pub(crate) struct LeaseClockReading {
    pub(crate) wall: Timestamp,
    pub(crate) uptime: Duration,
}

/// Longest time that a lease from another machine or boot holds by the wall clock alone.
const LONGEST_BY_WALL: Duration = Duration::from_secs(600);

struct LeaseRow {
    token: u64,
    owner: Option<LeaseOwner>,
    expires_wall: Timestamp,
    expires_uptime: Duration,
}

impl LeaseRow {
    /// Returns how long the lease still holds, or `None` if it can be taken. On the same boot
    /// of the same machine the wall clock is ignored, because it jumps.
    fn holds_for(&self, now: LeaseClockReading) -> Option<Duration> {
        let owner = self.owner.as_ref()?;
        if owner.is_dead() {
            return None;
        }
        let left = if owner.shares_uptime() {
            self.expires_uptime.saturating_sub(now.uptime)
        } else {
            // A wall clock that was set back must not make a lease last forever.
            self.expires_wall.since(now.wall).min(LONGEST_BY_WALL)
        };
        Some(left).filter(|left| !left.is_zero())
    }
}

pub(crate) fn take(
    connection: &Connection,
    name: &str,
    owner: &LeaseOwner,
    span: Duration,
    now: LeaseClockReading,
) -> rusqlite::Result<Result<Lease, LeaseError>> {
    let row = read(connection, name)?;
    if let Some(row) = &row
        && let (Some(left), Some(holder)) = (row.holds_for(now), &row.owner)
    {
        let seconds = left.as_secs().max(1);
        let (name, owner) = (name.to_owned(), holder.to_string());
        return Ok(Err(LeaseError::Held {
            name,
            owner,
            seconds,
        }));
    }
    let token = row.as_ref().map_or(0, |row| row.token).saturating_add(1);
    write(connection, name, token, Some(owner), span, now)?;
    let fence = LeaseFence {
        name: name.to_owned(),
        token,
    };
    Ok(Ok(Lease {
        fence,
        taken_from: row.and_then(|row| row.owner),
    }))
}

pub(crate) fn renew(
    connection: &Connection,
    fence: &LeaseFence,
    span: Duration,
    now: LeaseClockReading,
) -> rusqlite::Result<Result<(), LeaseError>> {
    match read(connection, &fence.name)? {
        Some(LeaseRow {
            token,
            owner: Some(owner),
            ..
        }) if token == fence.token => {
            write(connection, &fence.name, token, Some(&owner), span, now)?;
            Ok(Ok(()))
        }
        _ => Ok(Err(LeaseError::Lost {
            name: fence.name.clone(),
        })),
    }
}

pub(crate) fn release(
    connection: &Connection,
    fence: &LeaseFence,
    now: LeaseClockReading,
) -> rusqlite::Result<Result<(), LeaseError>> {
    match read(connection, &fence.name)? {
        // The row stays: its number must never be given out again.
        Some(row) if row.token == fence.token => {
            write(
                connection,
                &fence.name,
                row.token,
                None,
                Duration::ZERO,
                now,
            )?;
            Ok(Ok(()))
        }
        _ => Ok(Err(LeaseError::Lost {
            name: fence.name.clone(),
        })),
    }
}

/// Returns whether the fence is still the newest. An expired lease that nobody took still
/// counts.
pub(crate) fn is_current(connection: &Connection, fence: &LeaseFence) -> rusqlite::Result<bool> {
    let row = read(connection, &fence.name)?;
    Ok(row.is_some_and(|row| row.token == fence.token && row.owner.is_some()))
}

/// Lists the leases that have an owner, alive or not.
pub(crate) fn list(connection: &Connection) -> rusqlite::Result<Vec<LeaseInfo>> {
    // A row stays for each run there ever was; few of them still have an owner.
    let mut statement = connection.prepare_cached(
        "SELECT name, owner, expires_wall FROM lease WHERE owner IS NOT NULL ORDER BY name",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(LeaseInfo {
            name: row.get(0)?,
            owner: owner(row.get(1)?),
            expires: Timestamp::from_micros(row.get(2)?),
        })
    })?;
    rows.collect()
}

fn read(connection: &Connection, name: &str) -> rusqlite::Result<Option<LeaseRow>> {
    connection
        .prepare_cached(
            "SELECT token, owner, expires_wall, expires_uptime FROM lease WHERE name = ?",
        )?
        .query_row([name], |row| {
            Ok(LeaseRow {
                token: u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
                owner: owner(row.get(1)?),
                expires_wall: Timestamp::from_micros(row.get(2)?),
                expires_uptime: Duration::from_micros(row.get::<_, i64>(3)?.cast_unsigned()),
            })
        })
        .optional()
}

fn owner(text: Option<String>) -> Option<LeaseOwner> {
    serde_json::from_str(&text?).ok()
}

fn write(
    connection: &Connection,
    name: &str,
    token: u64,
    owner: Option<&LeaseOwner>,
    span: Duration,
    now: LeaseClockReading,
) -> rusqlite::Result<()> {
    let owner = owner.map(|owner| serde_json::to_string(owner).unwrap_or_default());
    let uptime = i64::try_from((now.uptime + span).as_micros()).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO lease (name, token, owner, expires_wall, expires_uptime) \
             VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((
            name,
            token.cast_signed(),
            owner,
            now.wall.after(span).as_micros(),
            uptime,
        ))?;
    Ok(())
}
