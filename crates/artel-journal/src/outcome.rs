//! Carrying out what callers ask within a turn, and answering once the turn is over. The two are
//! apart because a turn may have to be taken again.

use crate::error::{AppendError, JournalError, LeaseError};
use crate::lease::{self, Lease, LeaseOrder};
use crate::order::{Order, Receipt};
use crate::projection;
use crate::turn::Desk;

/// What came of an order, if the turn is committed.
pub(crate) enum Outcome {
    Append(Result<Receipt, AppendError>),
    Taken(Result<Lease, LeaseError>),
    Held(Result<(), LeaseError>),
    Done,
}

/// What a page of the file and the log around it take.
const PAGE: u64 = 4096;

/// How many pages an event touches beside its own bytes: the table and its indexes.
const PAGES_TOUCHED: u64 = 6;

impl Order {
    /// Does it, inside the transaction. It can be done again if the turn fails.
    pub(crate) fn carry_out(&mut self, desk: &mut Desk<'_>) -> rusqlite::Result<Outcome> {
        let now = desk.moment();
        let connection = desk.connection;
        Ok(match self {
            Self::Append(prepared, _) => Outcome::Append(desk.append(prepared)?),
            Self::Lease(LeaseOrder::Take {
                name, owner, span, ..
            }) => Outcome::Taken(lease::take(connection, name, owner, *span, now)?),
            Self::Lease(LeaseOrder::Renew { fence, span, .. }) => {
                Outcome::Held(lease::renew(connection, fence, *span, now)?)
            }
            Self::Lease(LeaseOrder::Release { fence, .. }) => {
                Outcome::Held(lease::release(connection, fence, now)?)
            }
            Self::Keep(kept, _) => {
                projection::keep(desk, kept)?;
                Outcome::Done
            }
            Self::Close => Outcome::Done,
        })
    }

    /// Tells the caller what came of it, now that it is on disk. The caller may have stopped
    /// waiting; what it asked for stands all the same.
    pub(crate) fn answer(self, outcome: Outcome) {
        match (self, outcome) {
            (Self::Append(_, reply), Outcome::Append(outcome)) => drop(reply.send(outcome)),
            (Self::Lease(LeaseOrder::Take { reply, .. }), Outcome::Taken(outcome)) => {
                drop(reply.send(outcome));
            }
            (
                Self::Lease(LeaseOrder::Renew { reply, .. } | LeaseOrder::Release { reply, .. }),
                Outcome::Held(outcome),
            ) => drop(reply.send(outcome)),
            (Self::Keep(_, reply), Outcome::Done) => drop(reply.send(Ok(()))),
            (order, _) => order.refuse(&JournalError::Closed),
        }
    }

    /// Tells the caller that nothing came of it.
    pub(crate) fn refuse(self, error: &JournalError) {
        let error = error.clone();
        match self {
            Self::Append(_, reply) => drop(reply.send(Err(error.into()))),
            Self::Lease(LeaseOrder::Take { reply, .. }) => drop(reply.send(Err(error.into()))),
            Self::Lease(LeaseOrder::Renew { reply, .. } | LeaseOrder::Release { reply, .. }) => {
                drop(reply.send(Err(error.into())));
            }
            Self::Keep(_, reply) => drop(reply.send(Err(error))),
            Self::Close => {}
        }
    }

    /// Returns about how many bytes of the disk it takes.
    pub(crate) fn size(&self) -> u64 {
        let touched = PAGE * PAGES_TOUCHED;
        match self {
            Self::Append(prepared, _) => {
                let bytes = |bytes: usize| (bytes as u64).div_ceil(PAGE) * PAGE;
                let records = prepared.records.iter();
                records.map(|it| bytes(it.payload.len()) + touched).sum()
            }
            Self::Lease(_) | Self::Keep(..) => touched,
            Self::Close => 0,
        }
    }
}
