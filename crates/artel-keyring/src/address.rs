//! D-Bus addresses such as `unix:path=/run/user/1000/bus`; a list is separated by `;`.

use std::ffi::OsString;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::PathBuf;

/// The address of a D-Bus socket on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DbusAddress {
    /// A path in the file system.
    Path(PathBuf),
    /// A name in the kernel's abstract socket namespace.
    Abstract(Vec<u8>),
}

impl DbusAddress {
    /// Returns the first address in the list that is a socket on this machine.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.split(';').find_map(Self::parse_one)
    }

    pub(crate) fn connect(&self) -> io::Result<UnixStream> {
        match self {
            Self::Path(path) => UnixStream::connect(path),
            Self::Abstract(name) => {
                UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)
            }
        }
    }

    fn parse_one(text: &str) -> Option<Self> {
        let fields = text.trim().strip_prefix("unix:")?;
        fields.split(',').find_map(|field| {
            let (key, escaped) = field.split_once('=')?;
            let value = unescape(escaped).filter(|value| !value.is_empty())?;
            match key {
                "path" => Some(Self::Path(PathBuf::from(OsString::from_vec(value)))),
                "abstract" => Some(Self::Abstract(value)),
                _ => None,
            }
        })
    }
}

/// Decodes escapes such as `%2f`. Returns `None` if an escape is malformed.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_of_this_machine_are_found() {
        let path = |text: &str| Some(DbusAddress::Path(PathBuf::from(text)));
        let kernel = |text: &str| Some(DbusAddress::Abstract(text.as_bytes().to_vec()));
        for (text, wanted) in [
            ("unix:path=/run/user/1000/bus", path("/run/user/1000/bus")),
            ("unix:path=/tmp/a%20b,guid=0123", path("/tmp/a b")),
            ("unix:guid=0123,path=/tmp/bus", path("/tmp/bus")),
            ("unix:abstract=/tmp/dbus-x1,guid=2", kernel("/tmp/dbus-x1")),
            ("tcp:host=localhost,port=1;unix:path=/b", path("/b")),
            ("unix:path=/a;unix:path=/b", path("/a")),
            ("", None),
            ("disabled:", None),
            ("autolaunch:", None),
            ("unix:", None),
            ("unix:path=", None),
            ("unix:path", None),
            ("unix:path=/a%2", None),
            ("unix:path=/a%zz", None),
            ("unix:path=/a%é", None),
            ("unix:runtime=yes", None),
            ("unixexec:path=/bin/sh", None),
            ("tcp:host=localhost,port=1", None),
        ] {
            assert_eq!(DbusAddress::parse(text), wanted, "{text:?}");
        }
    }
}
