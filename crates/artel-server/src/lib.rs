//! The daemon: it takes up work, watches the inbox, and serves the HTTP interface and the web
//! console. Surfaces have no logic of their own: everything here parses, calls `artel-workshop`,
//! and renders what it says.
#![warn(missing_docs)]

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

pub use api::commands::{COMMANDS, Over};
pub use door::console_bases;
pub use listen::{Address, Reach, Said};

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{Stop, Workshop};
use tokio::sync::{mpsc, watch::Receiver};

use crate::desk::Desk;

/// How the daemon is started.
pub struct Options {
    /// Where it listens.
    pub address: Address,
    /// Who said so.
    pub said: Said,
    /// Where it says what people should read.
    pub says: Says,
}

/// Where the daemon says what people should read, a line each.
pub type Says = Arc<dyn Fn(&str) + Send + Sync>;

/// Serves until it is told to stop; looks at the settings anew whenever it is told to.
pub async fn serve(
    workshop: Arc<Workshop>,
    options: Options,
    stop: Receiver<Stop>,
    reload: Receiver<u64>,
) -> Result<(), Failure> {
    let Options {
        address,
        said,
        says,
    } = options;
    let (listeners, bound) = address.bind().await?;
    let desk = Desk::open(workshop, bound, Arc::clone(&says))?;
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

/// Returns the description of the HTTP interface, made from its code.
pub fn openapi() -> serde_json::Value {
    api::description()
}

/// Returns the same as a page for people to read and compare.
pub fn openapi_page() -> String {
    // A value of ours always has a form in JSON.
    let page = serde_json::to_string_pretty(&openapi()).unwrap_or_default();
    page + "\n"
}
