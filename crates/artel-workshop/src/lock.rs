//! Files that one process at a time may change: whoever holds the lock beside them.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use artel_types::{Code, Failure};
use rustix::fs::OFlags;

/// Waits for the lock, and holds it for as long as the file is open. It is for one small write: what
/// is read before and written then is nobody else's in between.
pub(crate) fn hold(path: &Path) -> Result<File, Failure> {
    let open = || -> std::io::Result<File> {
        let mut options = File::options();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            // A pipe in its place would keep us waiting for whoever reads it.
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path)?;
        file.lock()?;
        Ok(file)
    };
    open().map_err(|cause| {
        Failure::new(Code::W008, format!("could not lock `{}`", path.display()))
            .because(cause.to_string())
            .advise("look at the folder's owner and mode, then repeat")
    })
}
