//! The daemon: it takes up work, watches the inbox, and serves the HTTP interface and the
//! web console. Surfaces have no logic of their own: everything here parses, calls
//! `artel-workshop`, and renders the result.

mod api;
mod connections;
mod console;
mod desk;
mod door;
mod impatient;
mod keeper;
mod listen;
mod live;
mod reload;
mod rights;
mod telemetry;
mod watch;

pub use api::commands::{COMMANDS, CommandAvailability};
pub use door::console_bases;
pub use listen::{ListenAddress, ListenAddressSource, ListenReach};

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{ShutdownLevel, Workshop};
use tokio::sync::{mpsc, watch::Receiver};

use crate::desk::ServerState;

/// Options with which the daemon is started.
pub struct DaemonOptions {
    /// The address to listen on.
    pub address: ListenAddress,
    /// Where the address comes from.
    pub said: ListenAddressSource,
    /// Receives messages for people.
    pub says: DaemonMessageSink,
}

/// Shows a message of the daemon to people, one line per call.
pub type DaemonMessageSink = Arc<dyn Fn(&str) + Send + Sync>;

/// Serves until `stop` says so. Reloads the settings whenever `reload` changes.
pub async fn serve(
    workshop: Arc<Workshop>,
    options: DaemonOptions,
    stop: Receiver<ShutdownLevel>,
    reload: Receiver<u64>,
) -> Result<(), Failure> {
    let DaemonOptions {
        address,
        said,
        says,
    } = options;
    let (listeners, bound) = address.bind().await?;
    let desk = ServerState::open(workshop, bound, Arc::clone(&says))?;
    let head = desk.board().position();
    let live = live::follow(&desk, head);
    let traces = telemetry::send(&desk, head);
    let (finds, found) = mpsc::unbounded_channel();
    let keeper = keeper::keep(Arc::clone(&desk), said.at(bound), found, stop).await?;
    let watching = watch::watch(&desk, finds);
    let reload = reload::watch(Arc::clone(&desk), reload);
    says(&format!("listening on http://{bound}"));
    connections::serve(listeners, Arc::clone(&desk), keeper.over.clone()).await;
    watching.abort();
    let kept = keeper.rest().await;
    reload.abort();
    live.abort();
    traces.rest().await;
    kept
}

/// Returns the OpenAPI description of the HTTP interface, generated from the code.
pub fn openapi() -> serde_json::Value {
    api::description()
}

/// Returns the OpenAPI description as formatted JSON, for people to read and compare.
pub fn openapi_page() -> String {
    // Serializing our own value to JSON cannot fail.
    let page = serde_json::to_string_pretty(&openapi()).unwrap_or_default();
    page + "\n"
}
