//! Relays bytes between two connections, with bounded buffers and one wait for both.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;

use super::body::{HttpBodyRemainder, HttpFramingError, HttpMessageProgress};
use super::response::RelayedResponse;
use super::wait::{Interest, ProxyWaitError, ProxyWaitLimit, WaitableFlag};

/// The part of a stream that is passed on.
#[derive(Debug)]
pub(crate) enum RelayFilter {
    /// Everything, including the end of the stream.
    Everything,
    /// One body, and nothing after it.
    Body(HttpBodyRemainder),
    /// One response, and nothing after it.
    Response(RelayedResponse),
}

/// One direction: bytes received, bytes to send, and the count of bytes sent.
#[derive(Debug)]
pub(crate) struct RelayDirection<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    filter: RelayFilter,
    came: Vec<u8>,
    to_go: Vec<u8>,
    state: RelayState,
    /// Whether the sender violated its framing or broke off.
    broken: bool,
    gone: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelayState {
    /// More may come.
    Open,
    /// No more comes. Buffered bytes are still sent, then possibly the end of the stream.
    Closing,
    /// Nothing moves any more.
    Done,
}

/// The condition under which a relay of two directions is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelayEndCondition {
    /// When both directions are done.
    Both,
    /// When the response is complete, even if the request is not.
    Answered,
}

/// Size of one read and of the buffer per direction, in bytes.
const BUFFER: usize = 64 * 1024;

/// Moves bytes in both directions until it is over, is stopped, or nothing has moved for
/// the idle time.
pub(crate) fn relay(
    up: &mut RelayDirection<'_>,
    down: &mut RelayDirection<'_>,
    over: RelayEndCondition,
    stop: &WaitableFlag,
    idle: Duration,
) -> Result<(), ProxyWaitError> {
    // Bytes that arrived with the request are handled first.
    up.filter_came();
    let mut buffer = vec![0; BUFFER];
    loop {
        // A body that breaks off must not look complete to the server, so both ends are cut.
        if up.broken || (down.is_done() && (over == RelayEndCondition::Answered || up.is_done())) {
            return Ok(());
        }
        let mut interests: Vec<Interest<'_>> = Vec::with_capacity(4);
        let wanted = [up.reads(), up.writes(), down.reads(), down.writes()];
        interests.extend(wanted.iter().flatten());
        let ready = stop.wait(&interests, ProxyWaitLimit::Idle(idle))?;
        let mut ready = ready.iter();
        let mut is_ready = |wanted: &Option<Interest<'_>>| {
            wanted.is_some() && ready.next().is_some_and(|flags| !flags.is_empty())
        };
        let [up_in, up_out, down_in, down_out] = wanted.each_ref().map(&mut is_ready);
        if up_in {
            up.read(&mut buffer);
        }
        if up_out {
            up.write();
        }
        if down_in {
            down.read(&mut buffer);
        }
        if down_out {
            down.write();
        }
    }
}

impl<'a> RelayDirection<'a> {
    /// Creates a direction that starts with these bytes, as if they had just arrived.
    pub(crate) fn new(
        from: &'a TcpStream,
        to: &'a TcpStream,
        filter: RelayFilter,
        came: Vec<u8>,
    ) -> Self {
        Self {
            from,
            to,
            filter,
            came,
            to_go: Vec::new(),
            state: RelayState::Open,
            broken: false,
            gone: 0,
        }
    }

    /// Sends our own bytes before everything else.
    pub(crate) fn begin_with(mut self, head: Vec<u8>) -> Self {
        self.to_go = head;
        self
    }

    /// Returns the number of bytes sent.
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }

    /// Returns whether it ended because the sender violated its framing.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    fn is_done(&self) -> bool {
        self.state == RelayState::Done
    }

    fn reads(&self) -> Option<Interest<'a>> {
        let room = self.to_go.len() < BUFFER;
        (self.state == RelayState::Open && room).then(|| (self.from.as_fd(), PollFlags::IN))
    }

    fn writes(&self) -> Option<Interest<'a>> {
        let some = !self.to_go.is_empty() && !self.is_done();
        some.then(|| (self.to.as_fd(), PollFlags::OUT))
    }

    fn read(&mut self, buffer: &mut [u8]) {
        let mut from = self.from;
        match from.read(buffer) {
            Ok(0) => self.ended(),
            Ok(length) => {
                self.came.extend_from_slice(&buffer[..length]);
                self.filter_came();
            }
            Err(cause) if is_passing(cause.kind()) => {}
            Err(_) => self.ended(),
        }
    }

    fn write(&mut self) {
        let mut to = self.to;
        match to.write(&self.to_go) {
            Ok(length) => {
                self.to_go.drain(..length);
                self.gone += length as u64;
                self.settle();
            }
            Err(cause) if is_passing(cause.kind()) => {}
            // The receiver is gone; bytes in the other direction may still be wanted.
            Err(_) => self.state = RelayState::Done,
        }
    }

    fn filter_came(&mut self) {
        match self.filter.pass(&self.came, &mut self.to_go) {
            Ok((taken, flow)) => {
                self.came.drain(..taken);
                if flow == HttpMessageProgress::Complete {
                    self.state = RelayState::Closing;
                }
            }
            Err(HttpFramingError) => {
                self.broken = true;
                self.state = RelayState::Closing;
            }
        }
        self.settle();
    }

    fn ended(&mut self) {
        self.broken |= !self.filter.may_end();
        self.state = RelayState::Closing;
        self.settle();
    }

    /// Passes on the end of the stream once everything before it has been sent. The end of a
    /// body is not passed on, because the server's response is still to come.
    fn settle(&mut self) {
        if self.state == RelayState::Closing && self.to_go.is_empty() {
            if matches!(self.filter, RelayFilter::Everything) {
                self.to.shutdown(Shutdown::Write).ok();
            }
            self.state = RelayState::Done;
        }
    }
}

impl RelayFilter {
    fn pass(
        &mut self,
        came: &[u8],
        to_go: &mut Vec<u8>,
    ) -> Result<(usize, HttpMessageProgress), HttpFramingError> {
        match self {
            Self::Everything => {
                to_go.extend_from_slice(came);
                Ok((came.len(), HttpMessageProgress::More))
            }
            Self::Body(body) => body.pass(came, to_go),
            Self::Response(response) => response.pass(came, to_go),
        }
    }

    fn may_end(&self) -> bool {
        match self {
            Self::Everything => true,
            Self::Body(body) => body.may_end(),
            Self::Response(response) => response.may_end(),
        }
    }
}

fn is_passing(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
