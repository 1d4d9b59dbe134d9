//! Opaque ids. An id is made from random bytes that the caller supplies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Error for text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: expected a UUID such as `7c1e90ab-5d2f-4f41-8c0e-3a1b2c3d4e5f`")]
pub struct IdParseError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates a version 4 UUID from random bytes.
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid())
            }

            /// Returns the first eight characters, which is the form that people read and
            /// type.
            pub fn short(&self) -> String {
                let mut text = Uuid::encode_buffer();
                self.0.simple().encode_lower(&mut text)[..8].to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.hyphenated().fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = IdParseError;

            fn from_str(text: &str) -> Result<Self, IdParseError> {
                // Only the hyphenated form is accepted: one id has one spelling, in the
                // journal and on screen.
                let id = Uuid::try_parse(text).map_err(|_| IdParseError(text.to_owned()))?;
                if text.len() != 36 {
                    return Err(IdParseError(text.to_owned()));
                }
                Ok(Self(id))
            }
        }
    };
}

id!(
    /// Links a request with its plan, run, changeset and report.
    TraceId
);
id!(
    /// An isolated line of work with its own grants, budget and history.
    SessionId
);
id!(
    /// One execution of a plan, a flow or a skill.
    RunId
);
id!(
    /// A workshop folder; the id stays when the folder is moved.
    WorkshopId
);

/// The name of an ordered stream of events, such as `run/<id>`. Positions count from 1 in
/// each stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StreamName(String);

/// Error for text that is not a valid stream name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a stream: use 1 to 200 characters of a-z, A-Z, 0-9, `-`, `_`, `.`, `:`, `/`"
)]
pub struct StreamNameError(String);

impl StreamName {
    const LONGEST: usize = 200;

    /// Checks that `name` is a valid stream name.
    pub fn new(name: impl Into<String>) -> Result<Self, StreamNameError> {
        let name = name.into();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/".contains(&byte);
        if name.is_empty() || name.len() > Self::LONGEST || !name.bytes().all(is_plain) {
            return Err(StreamNameError(name.chars().take(Self::LONGEST).collect()));
        }
        Ok(Self(name))
    }

    /// Returns the stream of the workshop itself: creation, trust, configuration.
    pub fn workshop() -> Self {
        Self("workshop".to_owned())
    }

    /// Returns the stream of journal maintenance: backups, migrations, pruning.
    pub fn journal() -> Self {
        Self("journal".to_owned())
    }

    /// Returns the stream of reservations and spending, which all processes agree on.
    pub fn budget() -> Self {
        Self("budget".to_owned())
    }

    /// Returns the stream of access to the server: tokens and sign-ins.
    pub fn access() -> Self {
        Self("access".to_owned())
    }

    /// Returns the stream of the daemon itself.
    pub fn daemon() -> Self {
        Self("daemon".to_owned())
    }

    /// Returns the stream of one provider's health.
    pub fn provider(name: &str) -> Result<Self, StreamNameError> {
        Self::new(format!("provider/{name}"))
    }

    /// Returns the stream of one session.
    pub fn session(id: SessionId) -> Self {
        Self(format!("session/{id}"))
    }

    /// Returns the stream of one run.
    pub fn run(id: RunId) -> Self {
        Self(format!("run/{id}"))
    }

    /// Returns the stream of one piece of work: request, plan, changeset, report.
    pub fn work(trace: TraceId) -> Self {
        Self(format!("work/{trace}"))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for StreamName {
    type Error = StreamNameError;

    fn try_from(name: String) -> Result<Self, StreamNameError> {
        Self::new(name)
    }
}

impl From<StreamName> for String {
    fn from(stream: StreamName) -> Self {
        stream.0
    }
}

/// The address of a large value: the BLAKE3 hash of its bytes, in lower-case hex.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BlobHash(String);

impl BlobHash {
    /// Creates the address from the 32 bytes of the hash.
    pub fn from_bytes(hash: [u8; 32]) -> Self {
        Self(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the 64 hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BlobHash {
    type Error = IdParseError;

    fn try_from(text: String) -> Result<Self, IdParseError> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_hex) {
            return Ok(Self(text));
        }
        Err(IdParseError(text.chars().take(80).collect()))
    }
}

impl From<BlobHash> for String {
    fn from(hash: BlobHash) -> Self {
        hash.0
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_four_and_read_back() {
        let id = TraceId::from_random([0xff; 16]);
        assert_eq!(id.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.short(), "ffffffff");
    }

    #[test]
    fn an_id_has_one_spelling() {
        for text in [
            "",
            "7c1e90ab",
            "FFFFFFFFFFFF4FFFBFFFFFFFFFFFFFFF",
            "{ffffffff}",
        ] {
            assert_eq!(text.parse::<TraceId>(), Err(IdParseError(text.to_owned())));
        }
    }

    #[test]
    fn stream_names_are_plain() {
        assert!(StreamName::new("run/7c1e.x:y_z").is_ok());
        for name in ["", "a b", "a\nb", "é", &"x".repeat(201)] {
            assert!(StreamName::new(name).is_err(), "{name:?}");
        }
    }

    #[test]
    fn blob_addresses_are_lower_case_hex() {
        let hash = BlobHash::from_bytes([0xab; 32]);
        assert_eq!(BlobHash::try_from(hash.to_string()), Ok(hash));
        assert!(BlobHash::try_from("AB".repeat(32)).is_err());
        assert!(BlobHash::try_from("../../etc/passwd".to_owned()).is_err());
    }
}
