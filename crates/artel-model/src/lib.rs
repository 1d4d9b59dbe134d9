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

pub use book::{
    GatewayEventBatch, GatewayState, GatewayStore, GatewayStoreError, RecordedProviderHealth,
};
pub use catalogue::{CatalogueModel, ModelCatalogue, ModelClass};
pub use choose::{ChosenModel, ModelAliasEntry, ModelSelector};
pub use gateway::{
    Gateway, GatewaySetup, ModelCall, ModelCallContext, ModelCallError, ModelCallProgress,
    ModelCallReply, ModelCallWait, Owed, PendingModelCall, WeakGateway,
};
pub use model::{ChunkStream, Model};
pub use recorded::{PriorModelCall, RecordedModelRequests};
pub use rehearsal::{
    Cassette, CassetteTake, ModelRequestFingerprint, RehearsalModel, chunks_of, fingerprint,
};
pub use remote::{ModelAddress, ProviderHttpClient, ProviderHttpClientPool, RemoteModel};
pub use watched::SilenceTimeoutModel;
