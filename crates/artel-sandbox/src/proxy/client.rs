//! The near end of a connection: reads from and writes to the client inside, with time
//! limits.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustix::event::PollFlags;

use super::wait::{ProxyDeadline, ProxyWaitError, ProxyWaitLimit, WaitableFlag};

/// A client, with the bytes that it has sent and that are not used yet.
pub(crate) struct ProxyClient<'a> {
    pub(crate) stream: TcpStream,
    pub(crate) came: Vec<u8>,
    stop: &'a WaitableFlag,
    /// Time limit for sending to the client.
    patience: Duration,
}

/// Longest head of a request, in bytes.
const LONGEST_HEAD: usize = 32 * 1024;

/// The bytes that end a head.
const END: &[u8] = b"\r\n\r\n";

/// Limits in bytes and time on what is still read at the end. A connection closed with
/// unread bytes would take back what was sent last.
const LINGER: (usize, Duration) = (1024 * 1024, Duration::from_secs(1));

impl<'a> ProxyClient<'a> {
    pub(crate) fn new(stream: TcpStream, stop: &'a WaitableFlag, patience: Duration) -> Self {
        Self {
            stream,
            came: Vec::new(),
            stop,
            patience,
        }
    }

    /// Waits for bytes and reads them. Returns `false` at the end of the stream.
    pub(crate) fn read_more(&mut self, deadline: &ProxyDeadline) -> Result<bool, ProxyWaitError> {
        let mut buffer = [0; 4096];
        loop {
            let until = ProxyWaitLimit::Deadline(deadline);
            self.stop.wait_for(&self.stream, PollFlags::IN, until)?;
            match self.stream.read(&mut buffer) {
                Ok(length) => {
                    self.came.extend_from_slice(&buffer[..length]);
                    return Ok(length > 0);
                }
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {}
                Err(cause) => return Err(cause.into()),
            }
        }
    }

    /// Reads a whole head, or returns `None` if it is too long or breaks off.
    pub(crate) fn read_head(
        &mut self,
        deadline: &ProxyDeadline,
    ) -> Result<Option<Vec<u8>>, ProxyWaitError> {
        let mut searched = 0_usize;
        loop {
            let from = searched.saturating_sub(END.len() - 1);
            let mut windows = self.came[from..].windows(END.len());
            let end = windows
                .position(|window| window == END)
                .map(|at| from + at + END.len());
            if let Some(end) = end.filter(|end| *end <= LONGEST_HEAD) {
                let rest = self.came.split_off(end);
                return Ok(Some(std::mem::replace(&mut self.came, rest)));
            }
            searched = self.came.len();
            if end.is_some() || searched > LONGEST_HEAD || !self.read_more(deadline)? {
                return Ok(None);
            }
        }
    }

    pub(crate) fn send(&mut self, mut bytes: &[u8]) -> Result<(), ProxyWaitError> {
        let deadline = ProxyDeadline::after(self.patience)?;
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(length) => bytes = &bytes[length..],
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {
                    let until = ProxyWaitLimit::Deadline(&deadline);
                    self.stop.wait_for(&self.stream, PollFlags::OUT, until)?;
                }
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(())
    }

    /// Closes our side for writing, and gives the sent bytes time to arrive.
    pub(crate) fn linger(&mut self) -> Result<(), ProxyWaitError> {
        self.stream.shutdown(Shutdown::Write)?;
        let (most, time) = LINGER;
        let deadline = ProxyDeadline::after(time)?;
        let mut read = 0;
        while read < most && self.read_more(&deadline)? {
            read += self.came.len();
            self.came.clear();
        }
        Ok(())
    }
}
