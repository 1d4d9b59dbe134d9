//! One stream of output from the pipe to everyone who wants it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use artel_rules::excerpt::{self, Excerpt};
use artel_rules::patience::Ear;
use artel_types::{RedactedStream, Redactor};
use rustix::io::Errno;

use super::spool::Spooling;
use super::{Live, Output, Stream};

/// A stream that is being read.
pub(super) struct Channel {
    stream: Stream,
    pipe: Option<OwnedFd>,
    redacted: RedactedStream,
    ear: Ear,
    spooling: Spooling,
    excerpt: Excerpt,
}

/// What one look at the pipe brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Heard {
    /// How much came.
    pub(super) bytes: usize,
    /// Whether a line of it was news.
    pub(super) news: bool,
}

impl Channel {
    /// Gets ready to read a pipe.
    pub(super) fn open(
        stream: Stream,
        pipe: OwnedFd,
        redactor: &Redactor,
        spooling: Spooling,
        limits: excerpt::Limits,
    ) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self {
            stream,
            pipe: Some(pipe),
            redacted: redactor.stream(),
            ear: Ear::default(),
            spooling,
            excerpt: Excerpt::new(limits),
        })
    }

    /// Returns the pipe while it is open.
    pub(super) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there and hands it on; at the end, or where reading fails, it closes.
    pub(super) fn read(&mut self, buffer: &mut [u8], live: &mut dyn FnMut(Live<'_>)) -> Heard {
        let nothing = Heard {
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
                Heard { bytes, news }
            }
        }
    }

    /// Stops reading; what was held back comes out.
    pub(super) fn close(&mut self, live: &mut dyn FnMut(Live<'_>)) {
        if self.pipe.take().is_some() {
            let held = self.redacted.finish_bytes();
            self.hand_on(&held, live);
        }
    }

    /// Returns what there was.
    pub(super) fn finish(mut self, live: &mut dyn FnMut(Live<'_>)) -> Output {
        self.close(live);
        Output {
            spooled: self.spooling.finish(),
            excerpt: self.excerpt.finish(),
        }
    }

    /// Hands on what can be shown, and tells whether a line of it was news.
    fn hand_on(&mut self, shown: &[u8], live: &mut dyn FnMut(Live<'_>)) -> bool {
        if shown.is_empty() {
            return false;
        }
        live(Live::Output(self.stream, shown));
        self.spooling.push(shown);
        self.excerpt.push(shown);
        self.ear.hear(shown)
    }
}
