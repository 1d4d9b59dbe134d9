//! Output on disk, up to a cap: its first part as it arrives, its last part at the end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use super::OutputStreamKind;

/// The place where output is kept, and limits per stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputSpoolOptions {
    /// A folder of the command's own that only this user can read. `stdout` and `stderr` are
    /// created in it and must not exist yet.
    pub folder: PathBuf,
    /// Number of bytes kept from the beginning.
    pub head: u64,
    /// Number of bytes kept from the end, which are held in memory until then.
    pub tail: usize,
}

/// One output stream on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpooledOutput {
    /// The path of the file.
    pub path: PathBuf,
    /// Number of bytes printed, after redaction.
    pub bytes: u64,
    /// Number of those bytes in the file. If some are missing, a line in between says how
    /// many.
    pub kept: u64,
    /// Why the file could not be written further, if that happened.
    pub lost: Option<String>,
}

/// Writes one output stream to disk as it arrives.
pub(super) struct OutputSpooler {
    file: File,
    path: PathBuf,
    head: u64,
    tail: usize,
    bytes: u64,
    kept: u64,
    last: VecDeque<u8>,
    lost: Option<String>,
}

impl OutputSpoolOptions {
    /// Keeps ten megabytes of each stream, the last one from its end.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            head: 9 << 20,
            tail: 1 << 20,
        }
    }

    /// Returns the path of a stream's file.
    pub fn path(&self, stream: OutputStreamKind) -> PathBuf {
        self.folder.join(match stream {
            OutputStreamKind::Stdout => "stdout",
            OutputStreamKind::Stderr => "stderr",
        })
    }

    /// Creates both files.
    pub(super) fn open(&self) -> io::Result<[OutputSpooler; 2]> {
        Ok([
            self.make(OutputStreamKind::Stdout)?,
            self.make(OutputStreamKind::Stderr)?,
        ])
    }

    fn make(&self, stream: OutputStreamKind) -> io::Result<OutputSpooler> {
        let path = self.path(stream);
        let file = create(&path)?;
        Ok(OutputSpooler {
            file,
            path,
            head: self.head,
            tail: self.tail,
            bytes: 0,
            kept: 0,
            last: VecDeque::new(),
            lost: None,
        })
    }
}

impl OutputSpooler {
    /// Appends output.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.head.saturating_sub(self.bytes);
        let room = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        self.bytes += bytes.len() as u64;
        let (head, rest) = bytes.split_at(room);
        self.write(head);
        let rest = &rest[rest.len().saturating_sub(self.tail)..];
        let extra = (self.last.len() + rest.len()).saturating_sub(self.tail);
        self.last.drain(..extra);
        self.last.extend(rest);
    }

    /// Appends the last part and returns the result.
    pub(super) fn finish(mut self) -> SpooledOutput {
        let missing = self.bytes - self.bytes.min(self.head) - self.last.len() as u64;
        if missing > 0 && self.lost.is_none() {
            let line = format!("\n[… {missing} bytes left out …]\n");
            let written = self.file.write_all(line.as_bytes());
            self.lost = written.err().map(|cause| cause.to_string());
        }
        let last = std::mem::take(&mut self.last);
        let (one, two) = last.as_slices();
        self.write(one);
        self.write(two);
        SpooledOutput {
            path: self.path,
            bytes: self.bytes,
            kept: self.kept,
            lost: self.lost,
        }
    }

    /// Writes until the disk refuses. A full disk ends the spooling, not the command.
    fn write(&mut self, bytes: &[u8]) {
        if self.lost.is_some() {
            return;
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.kept += bytes.len() as u64,
            Err(cause) => self.lost = Some(cause.to_string()),
        }
    }
}

/// Creates a new file that only this user can read.
fn create(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_ends_the_keeping_and_says_so() {
        let mut spooling = OutputSpooler {
            file: File::options().write(true).open("/dev/full").unwrap(),
            path: PathBuf::from("/dev/full"),
            head: 100,
            tail: 4,
            bytes: 0,
            kept: 0,
            last: VecDeque::new(),
            lost: None,
        };
        spooling.push(&[b'x'; 200]);
        let spooled = spooling.finish();
        assert_eq!((spooled.bytes, spooled.kept), (200, 0));
        assert!(spooled.lost.unwrap().contains("No space left"));
    }
}
