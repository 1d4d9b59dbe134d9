//! The filtering proxy from inside: everything a command could send to it, over real sockets.
//!
//! Names are answered by a table and public addresses are dialled to listeners of the test, so
//! nothing leaves the machine and every dial is on record.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod addresses;
mod arbitrary;
mod doors;
mod ends;
mod hosts;
mod http;
mod rebinding;
mod socks;
mod support;
