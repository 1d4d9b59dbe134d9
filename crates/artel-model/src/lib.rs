//! The only crate that calls models: providers, gateway, rehearsal, recordings.
//!
//! Every call goes through the [`Gateway`], in one order: priority queue, budget, privacy
//! label, limiter and breaker, the provider, settled usage. Anything it needs from other
//! doors (the journal, a key, the clock) is handed in as a value.

mod book;
mod catalogue;
mod choose;
mod gateway;
mod model;
mod recorded;
mod rehearsal;
mod remote;
mod watched;

pub use book::{Account, Book, BookError, Entries, Standing};
pub use catalogue::{Catalogue, Class, Known};
pub use choose::{Chosen, Listed, Menu};
pub use gateway::{
    Answer, Call, CallError, Calling, Context, Gateway, Owed, Progress, Setup, Wait, WeakGateway,
};
pub use model::{ChunkStream, Model};
pub use recorded::{Asked, Prior};
pub use rehearsal::{Cassette, Print, Rehearsal, Take, chunks_of, fingerprint};
pub use remote::{Address, Connection, Connections, Remote};
pub use watched::Watched;
