//! Bytes to and fro between two connections, with bounded buffers and one wait for both.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::PollFlags;

use super::body::{Body, Broken, Flow};
use super::response::Response;
use super::wait::{Ended, Flag, Interest, Until};

/// What of a stream is passed on.
#[derive(Debug)]
pub(crate) enum Filter {
    /// Everything, and its end.
    Everything,
    /// One body and nothing behind it.
    Body(Body),
    /// One answer and nothing behind it.
    Response(Response),
}

/// One direction: what came, what is to go, and what has gone.
#[derive(Debug)]
pub(crate) struct Pump<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    filter: Filter,
    came: Vec<u8>,
    to_go: Vec<u8>,
    state: State,
    /// The sender broke its own rules, or broke off.
    broken: bool,
    gone: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// More may come.
    Open,
    /// No more comes; what is there still goes, and then perhaps the end.
    Closing,
    /// Nothing moves any more.
    Done,
}

/// When two directions are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// When both are.
    Both,
    /// When the answer is there, whatever is still on the way up.
    Answered,
}

/// Read at once, and kept at most for one direction.
const BUFFER: usize = 64 * 1024;

/// Moves bytes in both directions until it is over, somebody stops it, or nothing moved for so
/// long.
pub(crate) fn relay(
    up: &mut Pump<'_>,
    down: &mut Pump<'_>,
    over: Over,
    stop: &Flag,
    idle: Duration,
) -> Result<(), Ended> {
    // What arrived with the request goes first.
    up.filter_came();
    let mut buffer = vec![0; BUFFER];
    loop {
        // A body that breaks off must not look complete to the server: both ends are cut.
        if up.broken || (down.is_done() && (over == Over::Answered || up.is_done())) {
            return Ok(());
        }
        let mut interests: Vec<Interest<'_>> = Vec::with_capacity(4);
        let wanted = [up.reads(), up.writes(), down.reads(), down.writes()];
        interests.extend(wanted.iter().flatten());
        let ready = stop.wait(&interests, Until::Idle(idle))?;
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

impl<'a> Pump<'a> {
    /// A direction that begins with these bytes, as if they had just come.
    pub(crate) fn new(
        from: &'a TcpStream,
        to: &'a TcpStream,
        filter: Filter,
        came: Vec<u8>,
    ) -> Self {
        Self {
            from,
            to,
            filter,
            came,
            to_go: Vec::new(),
            state: State::Open,
            broken: false,
            gone: 0,
        }
    }

    /// Puts bytes of ours before everything else.
    pub(crate) fn begin_with(mut self, head: Vec<u8>) -> Self {
        self.to_go = head;
        self
    }

    /// How many bytes have gone.
    pub(crate) fn gone(&self) -> u64 {
        self.gone
    }

    /// Says whether it ended because the sender broke its own rules.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    fn is_done(&self) -> bool {
        self.state == State::Done
    }

    fn reads(&self) -> Option<Interest<'a>> {
        let room = self.to_go.len() < BUFFER;
        (self.state == State::Open && room).then(|| (self.from.as_fd(), PollFlags::IN))
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
            // Nobody takes it any more; what comes the other way may still be wanted.
            Err(_) => self.state = State::Done,
        }
    }

    fn filter_came(&mut self) {
        match self.filter.pass(&self.came, &mut self.to_go) {
            Ok((taken, flow)) => {
                self.came.drain(..taken);
                if flow == Flow::Complete {
                    self.state = State::Closing;
                }
            }
            Err(Broken) => {
                self.broken = true;
                self.state = State::Closing;
            }
        }
        self.settle();
    }

    fn ended(&mut self) {
        self.broken |= !self.filter.may_end();
        self.state = State::Closing;
        self.settle();
    }

    /// Hands the end on, once everything before it has gone. The end of a body is none: the
    /// server's answer is still to come.
    fn settle(&mut self) {
        if self.state == State::Closing && self.to_go.is_empty() {
            if matches!(self.filter, Filter::Everything) {
                self.to.shutdown(Shutdown::Write).ok();
            }
            self.state = State::Done;
        }
    }
}

impl Filter {
    fn pass(&mut self, came: &[u8], to_go: &mut Vec<u8>) -> Result<(usize, Flow), Broken> {
        match self {
            Self::Everything => {
                to_go.extend_from_slice(came);
                Ok((came.len(), Flow::More))
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
