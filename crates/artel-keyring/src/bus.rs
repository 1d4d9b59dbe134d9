//! A D-Bus connection: the greeting, calls and their replies.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use artel_vault::KeyStoreError;
use zeroize::Zeroizing;

use crate::address::DbusAddress;
use crate::message::{self, DbusCall, DbusReply, FIXED};
use crate::wire::DbusWriter;

/// Number of unrelated messages skipped while waiting for a reply: the bus announces names
/// now and then.
const MOST_OTHERS: usize = 64;

/// Longest accepted line of the greeting, in bytes.
const LONGEST_LINE: usize = 1024;

/// A connection on which D-Bus calls can be made.
pub(crate) struct DbusConnection {
    stream: UnixStream,
    serial: u32,
}

impl DbusConnection {
    /// Connects and authenticates as the current user.
    pub(crate) fn connect(address: &DbusAddress, limit: Duration) -> Result<Self, KeyStoreError> {
        let stream = address.connect().map_err(unreachable)?;
        stream.set_read_timeout(Some(limit)).map_err(unreachable)?;
        stream.set_write_timeout(Some(limit)).map_err(unreachable)?;
        let mut bus = Self { stream, serial: 0 };
        bus.greet()?;
        bus.call(DbusCall {
            destination: "org.freedesktop.DBus",
            path: "/org/freedesktop/DBus",
            interface: "org.freedesktop.DBus",
            member: "Hello",
            signature: "",
            body: DbusWriter::with_room(0),
        })?;
        Ok(bus)
    }

    /// Calls a method and waits for its reply. An error reply becomes an `Err`.
    pub(crate) fn call(&mut self, call: DbusCall<'_>) -> Result<DbusReply, KeyStoreError> {
        self.serial += 1;
        let bytes = call.encode(self.serial);
        self.stream.write_all(&bytes).map_err(unreachable)?;
        for _ in 0..MOST_OTHERS {
            let reply = self.receive()?;
            if reply.to != self.serial {
                continue;
            }
            return match &reply.error {
                Some(name) => Err(meaning_of(name)),
                None => Ok(reply),
            };
        }
        Err(garbled())
    }

    /// Authenticates. The bus knows the user id from the socket, but the protocol still asks
    /// for it.
    fn greet(&mut self) -> Result<(), KeyStoreError> {
        let user = rustix::process::geteuid().as_raw().to_string();
        let hex: String = user.bytes().map(|digit| format!("{digit:02x}")).collect();
        let greeting = format!("\0AUTH EXTERNAL {hex}\r\n");
        self.stream
            .write_all(greeting.as_bytes())
            .map_err(unreachable)?;
        if !self.line()?.starts_with(b"OK ") {
            let why = "the session bus does not know this user";
            return Err(KeyStoreError::Unavailable(why.to_owned()));
        }
        self.stream.write_all(b"BEGIN\r\n").map_err(unreachable)
    }

    fn line(&mut self) -> Result<Vec<u8>, KeyStoreError> {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            if line.len() == LONGEST_LINE {
                return Err(garbled());
            }
            let mut byte = [0];
            self.stream.read_exact(&mut byte).map_err(unreachable)?;
            line.extend(byte);
        }
        Ok(line)
    }

    fn receive(&mut self) -> Result<DbusReply, KeyStoreError> {
        let mut fixed = [0; FIXED];
        self.stream.read_exact(&mut fixed).map_err(unreachable)?;
        let length = message::rest_length(&fixed).ok_or_else(garbled)?;
        let mut rest = Zeroizing::new(vec![0; length]);
        self.stream.read_exact(&mut rest).map_err(unreachable)?;
        DbusReply::decode(&fixed, &rest).ok_or_else(garbled)
    }
}

/// The error for a message that could not be understood.
pub(crate) fn garbled() -> KeyStoreError {
    KeyStoreError::Unavailable("its answer was not understood".to_owned())
}

fn unreachable(cause: io::Error) -> KeyStoreError {
    match cause.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => KeyStoreError::TimedOut,
        _ => KeyStoreError::Unavailable(format!("the session bus said: {cause}")),
    }
}

/// Maps the name of a D-Bus error to a store error. The error's text is ignored: it comes
/// from the store and could hold anything.
fn meaning_of(name: &str) -> KeyStoreError {
    let known = name
        .strip_prefix("org.freedesktop.DBus.Error.")
        .unwrap_or(name);
    match known {
        "org.freedesktop.Secret.Error.IsLocked" => KeyStoreError::Locked,
        "NoReply" | "Timeout" | "TimedOut" => KeyStoreError::TimedOut,
        "ServiceUnknown" | "NameHasNoOwner" | "Disconnected" => {
            KeyStoreError::Unavailable("no key store is on the session bus".to_owned())
        }
        spawn if spawn.starts_with("Spawn.") => {
            KeyStoreError::Unavailable("the key store could not be started".to_owned())
        }
        other => KeyStoreError::Refused(other.chars().take(100).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_a_meaning() {
        let unavailable = |name| matches!(meaning_of(name), KeyStoreError::Unavailable(_));
        assert!(unavailable("org.freedesktop.DBus.Error.ServiceUnknown"));
        assert!(unavailable("org.freedesktop.DBus.Error.Spawn.ChildExited"));
        assert_eq!(
            meaning_of("org.freedesktop.Secret.Error.IsLocked"),
            KeyStoreError::Locked
        );
        assert_eq!(
            meaning_of("org.freedesktop.DBus.Error.NoReply"),
            KeyStoreError::TimedOut
        );
        let odd = "x".repeat(500);
        assert_eq!(meaning_of(&odd), KeyStoreError::Refused("x".repeat(100)));
    }
}
