//! Reads small text files without trusting them: bounded, and never blocking on a pipe or a
//! device.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Largest file that is read, in bytes. Settings and git's own files are far smaller; a
/// larger one is a mistake or an attack.
pub(crate) const LARGEST: u64 = 1024 * 1024;

/// Returns the text of a file, `None` if it does not exist, or the reason that it cannot be
/// used.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>, String> {
    let Some(bytes) = read_bytes(path)? else {
        return Ok(None);
    };
    String::from_utf8(bytes).map(Some).map_err(|bad| {
        let good = bad.utf8_error().valid_up_to();
        format!("it is not UTF-8 text: a character after {good} bytes is broken")
    })
}

/// Returns the bytes of a file, `None` if it does not exist, or the reason that it cannot
/// be used.
///
/// Links are followed: many people keep their settings elsewhere and link to them. But the
/// target of a link must be a regular file.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, String> {
    match open(path) {
        Ok(file) => bounded(file).map(Some),
        Err(cause) if is_missing(&cause) => Ok(None),
        Err(cause) => Err(cause.to_string()),
    }
}

fn bounded(file: File) -> Result<Vec<u8>, String> {
    let about = file.metadata().map_err(|cause| cause.to_string())?;
    if about.is_dir() {
        return Err("it is a directory".to_owned());
    }
    if !about.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|cause| cause.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err("it is larger than 1 MiB".to_owned());
    }
    Ok(bytes)
}

/// Opens a file without blocking, so that a pipe without a writer does not stop the start.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Returns whether an error means that the file does not exist. A file in place of a folder
/// on the path means the same: services often have `HOME=/dev/null`, and then there simply
/// are no settings.
fn is_missing(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
