//! One output stream, from the pipe to all its consumers.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use artel_rules::excerpt::{self, OutputExcerptBuilder};
use artel_rules::patience::ProgressDetector;
use artel_types::{SecretRedactor, SecretStreamRedactor};
use rustix::io::Errno;

use super::spool::OutputSpooler;
use super::{CommandOutput, LiveCommandEvent, OutputStreamKind};

/// Reads, redacts and distributes one output stream.
pub(super) struct OutputStreamReader {
    stream: OutputStreamKind,
    pipe: Option<OwnedFd>,
    redacted: SecretStreamRedactor,
    ear: ProgressDetector,
    spooling: OutputSpooler,
    excerpt: OutputExcerptBuilder,
}

/// The result of one read from the pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OutputReadResult {
    /// Number of bytes read.
    pub(super) bytes: usize,
    /// Whether any line was new, and so counts as progress.
    pub(super) news: bool,
}

impl OutputStreamReader {
    /// Prepares to read a pipe.
    pub(super) fn open(
        stream: OutputStreamKind,
        pipe: OwnedFd,
        redactor: &SecretRedactor,
        spooling: OutputSpooler,
        limits: excerpt::OutputExcerptLimits,
    ) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            stream,
            pipe: Some(pipe),
            redacted: redactor.stream(),
            ear: ProgressDetector::default(),
            spooling,
            excerpt: OutputExcerptBuilder::new(limits),
        })
    }

    /// Returns the pipe while it is open.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads the available bytes and passes them on. At the end, or if reading fails, the pipe
    /// is closed.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        live: &mut dyn FnMut(LiveCommandEvent<'_>),
    ) -> OutputReadResult {
        let nothing = OutputReadResult {
            bytes: 0,
            news: false,
        };
        let Some(pipe) = &self.pipe else {
            return nothing;
        };
        match rustix::io::read(pipe, &mut *buffer) {
            Err(Errno::AGAIN | Errno::INTR) => nothing,
            Ok(0) | Err(_) => {
                self.close(live);
                nothing
            }
            Ok(bytes) => {
                let shown = self.redacted.push_bytes(&buffer[..bytes]);
                let news = self.hand_on(&shown, live);
                OutputReadResult { bytes, news }
            }
        }
    }

    /// Stops reading and passes on the bytes that were held back.
    pub(super) fn close(&mut self, live: &mut dyn FnMut(LiveCommandEvent<'_>)) {
        if self.pipe.take().is_some() {
            let held = self.redacted.finish_bytes();
            self.hand_on(&held, live);
        }
    }

    /// Returns the whole output.
    pub(super) fn finish(mut self, live: &mut dyn FnMut(LiveCommandEvent<'_>)) -> CommandOutput {
        self.close(live);
        CommandOutput {
            spooled: self.spooling.finish(),
            excerpt: self.excerpt.finish(),
        }
    }

    /// Passes on text that can be shown, and returns whether any line was new.
    fn hand_on(&mut self, shown: &[u8], live: &mut dyn FnMut(LiveCommandEvent<'_>)) -> bool {
        if shown.is_empty() {
            return false;
        }
        live(LiveCommandEvent::Output(self.stream, shown));
        self.spooling.push(shown);
        self.excerpt.push(shown);
        self.ear.hear(shown)
    }
}
