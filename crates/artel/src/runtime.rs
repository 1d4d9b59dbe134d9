//! The runtime on which a command waits for the network.

use std::future::Future;

use artel_types::{Code, Failure};

/// Waits for something. Ctrl-C ends the process as usual; a call that is under way then stays
/// charged as unknown.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| {
        Failure::new(Code::X001, "the runtime could not be started").because(error.to_string())
    })?;
    Ok(runtime.block_on(future))
}
