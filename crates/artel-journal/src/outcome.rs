//! Carries out commands within a write turn, and answers them once the turn is over. The
//! two are separate because a turn may have to be repeated.

use crate::error::{JournalAppendError, JournalError, LeaseError};
use crate::lease::{self, Lease, LeaseCommand};
use crate::order::{AppendReceipt, WriterCommand};
use crate::projection;
use crate::turn::WriteTransaction;

/// The result of a writer command, valid once its turn is committed.
pub(crate) enum WriterCommandOutcome {
    Append(Result<AppendReceipt, JournalAppendError>),
    Taken(Result<Lease, LeaseError>),
    Held(Result<(), LeaseError>),
    Done,
}

/// Bytes that one page takes on disk, in the file or in its log.
const PAGE: u64 = 4096;

/// Pages that an event touches beyond its own bytes: the table and its indexes.
const PAGES_TOUCHED: u64 = 6;

impl WriterCommand {
    /// Carries out the command inside the transaction. It can be repeated if the turn fails.
    pub(crate) fn carry_out(
        &mut self,
        desk: &mut WriteTransaction<'_>,
    ) -> rusqlite::Result<WriterCommandOutcome> {
        let now = desk.moment();
        let connection = desk.connection;
        Ok(match self {
            Self::Append(prepared, _) => WriterCommandOutcome::Append(desk.append(prepared)?),
            Self::Lease(LeaseCommand::Take {
                name, owner, span, ..
            }) => WriterCommandOutcome::Taken(lease::take(connection, name, owner, *span, now)?),
            Self::Lease(LeaseCommand::Renew { fence, span, .. }) => {
                WriterCommandOutcome::Held(lease::renew(connection, fence, *span, now)?)
            }
            Self::Lease(LeaseCommand::Release { fence, .. }) => {
                WriterCommandOutcome::Held(lease::release(connection, fence, now)?)
            }
            Self::Keep(kept, _) => {
                projection::keep(desk, kept)?;
                WriterCommandOutcome::Done
            }
            Self::Close => WriterCommandOutcome::Done,
        })
    }

    /// Sends the result to the caller, now that it is on disk. The caller may have stopped
    /// waiting; the result stands all the same.
    pub(crate) fn answer(self, outcome: WriterCommandOutcome) {
        match (self, outcome) {
            (Self::Append(_, reply), WriterCommandOutcome::Append(outcome)) => {
                drop(reply.send(outcome))
            }
            (
                Self::Lease(LeaseCommand::Take { reply, .. }),
                WriterCommandOutcome::Taken(outcome),
            ) => {
                drop(reply.send(outcome));
            }
            (
                Self::Lease(
                    LeaseCommand::Renew { reply, .. } | LeaseCommand::Release { reply, .. },
                ),
                WriterCommandOutcome::Held(outcome),
            ) => drop(reply.send(outcome)),
            (Self::Keep(_, reply), WriterCommandOutcome::Done) => drop(reply.send(Ok(()))),
            (order, _) => order.refuse(&JournalError::Closed),
        }
    }

    /// Sends the error to the caller.
    pub(crate) fn refuse(self, error: &JournalError) {
        let error = error.clone();
        match self {
            Self::Append(_, reply) => drop(reply.send(Err(error.into()))),
            Self::Lease(LeaseCommand::Take { reply, .. }) => drop(reply.send(Err(error.into()))),
            Self::Lease(
                LeaseCommand::Renew { reply, .. } | LeaseCommand::Release { reply, .. },
            ) => {
                drop(reply.send(Err(error.into())));
            }
            Self::Keep(_, reply) => drop(reply.send(Err(error))),
            Self::Close => {}
        }
    }

    /// Estimates how many bytes the command takes on disk.
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
