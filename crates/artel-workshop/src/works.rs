//! Work that is planned first: requests, plans, the runs that carry them out, changesets, reports.

mod architect;
mod ask;
mod briefs;
mod carry;
mod children;
mod contract;
mod crew;
mod forms;
mod propose;
mod prover;
mod sheets;
mod work;

pub use ask::{AskOrder, Planning, Prospect, Settled};
pub use carry::Carried;
pub use work::{Drafted, Work};

pub(crate) use contract::Contract;
