//! File locks for files that one process at a time may change.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use artel_types::{Failure, FailureCode};
use rustix::fs::OFlags;

/// Waits for the lock, and holds it while the returned file is open. The lock covers one
/// small read and write, with no other process in between.
pub(crate) fn hold(path: &Path) -> Result<File, Failure> {
    let open = || -> std::io::Result<File> {
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // If the path were a pipe, opening it would block until a reader came.
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|cause| {
        Failure::new(
            FailureCode::W008,
            format!("could not lock `{}`", path.display()),
        )
        .because(cause.to_string())
        .advise("look at the folder's owner and mode, then repeat")
    })
}
