//! Errors of the journal, in the words a person needs.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artel_types::{FactDecodeError, Failure, FailureCode, StreamName};

/// An error of opening, reading or writing the journal.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The journal file does not exist.
    #[error("there is no journal at `{path}`")]
    Missing {
        /// Path where it should be.
        path: PathBuf,
    },
    /// A file of the journal could not be used.
    #[error("could not {act} `{path}`")]
    File {
        /// Verb for the operation that failed, such as `remove`.
        act: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error from the operating system.
        #[source]
        cause: Arc<io::Error>,
    },
    /// The file is something other than a journal.
    #[error("`{path}` is not a journal of Artel")]
    NotAJournal {
        /// Path of the file.
        path: PathBuf,
        /// Reason that it is not a journal.
        why: String,
    },
    /// A newer build wrote the file.
    #[error("the journal `{path}` has format {found}; this build reads up to {newest}")]
    TooNew {
        /// Path of the file.
        path: PathBuf,
        /// Format of the file.
        found: u32,
        /// Newest format that this build can read.
        newest: u32,
    },
    /// The file belongs to another workshop.
    #[error("the journal `{path}` belongs to another workshop")]
    Foreign {
        /// Path of the file.
        path: PathBuf,
        /// Workshop that the file names.
        found: String,
        /// Workshop that it was opened for.
        expected: String,
    },
    /// An event does not fit the chain.
    #[error("the journal is damaged at event {seq}: {what}")]
    Damaged {
        /// Sequence number of the first bad event.
        seq: u64,
        /// Description of the damage.
        what: String,
    },
    /// A page of the file makes no sense.
    #[error("the file of the journal is damaged: {what}")]
    Corrupt {
        /// Message from SQLite, or from our own check of its tables.
        what: String,
    },
    /// The file ends before the newest signed head.
    #[error("the journal ends at event {found}, but event {signed} was signed on this machine")]
    Shortened {
        /// Sequence number of the last event in the file.
        found: u64,
        /// Sequence number of the newest signed event.
        signed: u64,
    },
    /// The file with the newest signed head cannot be read.
    #[error("the signed head `{path}` cannot be read")]
    Anchor {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// Somebody else holds the write turn, or another lock.
    #[error("the journal is busy: {holder} has held the write turn for {seconds} s")]
    Busy {
        /// The holder, as far as it is known.
        holder: String,
        /// Seconds waited.
        seconds: u64,
    },
    /// The disk is full.
    #[error("the disk is full: could not write `{path}`")]
    DiskFull {
        /// Path of the file that could not be written.
        path: PathBuf,
    },
    /// Writing is not permitted.
    #[error("the journal `{path}` is read-only")]
    ReadOnly {
        /// Path of the file.
        path: PathBuf,
    },
    /// The disk failed.
    #[error("the disk reported an error on `{path}`: {what}")]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Message from SQLite.
        what: String,
    },
    /// The disk failed in the middle of a commit, and it is unknown whether the commit stands.
    #[error("the disk failed while events were being written: {what}")]
    Unsettled {
        /// Path of the journal.
        path: PathBuf,
        /// Message from SQLite.
        what: String,
        /// Error of the commit itself.
        cause: Box<JournalError>,
    },
    /// Another file took the journal's place while it was in use.
    #[error("the journal `{path}` was replaced while it was in use")]
    Replaced {
        /// Path of the journal.
        path: PathBuf,
    },
    /// The signatures may all be right, but this user does not know the signer.
    #[error("the journal was signed with a key that is not known on this machine")]
    UnknownSigner,
    /// A migration to a newer format failed.
    #[error("the journal could not be brought from format {from} to {to}: {what}")]
    Migration {
        /// Format of the file.
        from: u32,
        /// Format it was to be brought to.
        to: u32,
        /// Description of the failure.
        what: String,
    },
    /// The signing key cannot be used.
    #[error("the signing key `{path}` cannot be used: {what}")]
    Key {
        /// Path of the key file.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// A blob is missing or changed.
    #[error("the stored value `{hash}` is {what}")]
    Blob {
        /// Hash that the blob is filed under.
        hash: String,
        /// Description of the problem.
        what: String,
    },
    /// An archive is missing or changed.
    #[error("the archive `{path}` is {what}")]
    Archive {
        /// Path of the archive.
        path: PathBuf,
        /// Description of the problem.
        what: String,
    },
    /// A stored event cannot be decoded as its kind.
    #[error("event {seq} cannot be decoded: {what}")]
    Decode {
        /// Sequence number of the event.
        seq: u64,
        /// Reason that decoding failed.
        what: String,
    },
    /// No intact event is left to recover.
    #[error("cannot recover `{path}`: no intact event in it and no intact backup")]
    CannotRecover {
        /// Path of the journal, or of the copy that a person named.
        path: PathBuf,
    },
    /// The journal was closed in the meantime.
    #[error("the journal was closed")]
    Closed,
    /// An error, mostly from SQLite, that no other variant covers.
    #[error("the database refused: {what}")]
    Database {
        /// Message of the error.
        what: String,
    },
}

/// An error of recording events. None of the batch is in the journal then, nor ever will
/// be, unless the error is [`JournalError::Unsettled`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JournalAppendError {
    /// The journal as a whole could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Another writer appended to the stream first.
    #[error("`{stream}` is at position {found}, not {expected}")]
    Conflict {
        /// Stream whose position the batch expected.
        stream: StreamName,
        /// Position that the caller had read.
        expected: u64,
        /// Position that the stream has now.
        found: u64,
    },
    /// Somebody else took over the caller's lease.
    #[error("the lease `{name}` has passed to another process")]
    Fenced {
        /// Name of the lease.
        name: String,
    },
    /// An event is too large; large values belong in blobs.
    #[error("an event of {bytes} bytes is larger than the {limit} an event may have")]
    TooLarge {
        /// Size of the payload in bytes.
        bytes: usize,
        /// Largest size allowed, in bytes.
        limit: usize,
    },
    /// The batch holds no events.
    #[error("an append needs at least one event")]
    Empty,
    /// The payload could not be written as JSON.
    #[error("the event cannot be written as JSON: {0}")]
    Encode(String),
}

/// An error of taking, renewing or releasing a lease.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The journal as a whole could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else holds the lease.
    #[error("`{name}` is held by {owner} for another {seconds} s")]
    Held {
        /// Name of the lease.
        name: String,
        /// Holder of the lease, with its process id.
        owner: String,
        /// Seconds until the lease expires.
        seconds: u64,
    },
    /// Somebody else took over the lease in the meantime.
    #[error("the lease `{name}` has passed to another process")]
    Lost {
        /// Name of the lease.
        name: String,
    },
}

impl JournalError {
    pub(crate) fn file(act: &'static str, path: impl Into<PathBuf>, cause: io::Error) -> Self {
        let path = path.into();
        match cause.kind() {
            io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge => Self::DiskFull { path },
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
                if act != "read" =>
            {
                Self::ReadOnly { path }
            }
            _ => Self::File {
                act,
                path,
                cause: Arc::new(cause),
            },
        }
    }

    /// Maps an error from SQLite to one that a person can act on.
    pub(crate) fn sqlite(path: impl Into<PathBuf>, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Sql;
        let path = path.into();
        let what = error.to_string();
        match error.sqlite_error_code() {
            Some(Sql::DiskFull) => Self::DiskFull { path },
            Some(Sql::ReadOnly) => Self::ReadOnly { path },
            Some(Sql::DatabaseBusy | Sql::DatabaseLocked) => Self::Busy {
                holder: "another program".to_owned(),
                seconds: 1,
            },
            Some(Sql::DatabaseCorrupt) => Self::Corrupt { what },
            Some(Sql::NotADatabase) => Self::NotAJournal { path, why: what },
            Some(Sql::SystemIoFailure | Sql::CannotOpen) => Self::Io { path, what },
            _ => Self::Database { what },
        }
    }

    /// Returns whether the file itself is damaged, as opposed to being out of reach.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::NotAJournal { .. }
                | Self::Foreign { .. }
                | Self::Damaged { .. }
                | Self::Corrupt { .. }
                | Self::Shortened { .. }
                | Self::Archive { .. }
                | Self::Decode { .. }
                | Self::Database { .. }
        )
    }

    pub(crate) fn decode(seq: u64, cause: &FactDecodeError) -> Self {
        use std::error::Error as _;
        let why = cause
            .source()
            .map_or(String::new(), |why| format!(": {why}"));
        Self::Decode {
            seq,
            what: format!("{cause}{why}"),
        }
    }

    fn code(&self) -> FailureCode {
        match self {
            Self::Missing { .. } | Self::File { .. } | Self::Database { .. } => FailureCode::J001,
            Self::NotAJournal { .. } | Self::Foreign { .. } => FailureCode::J016,
            Self::TooNew { .. } => FailureCode::J002,
            Self::Damaged { .. } | Self::Corrupt { .. } | Self::Anchor { .. } => FailureCode::J003,
            Self::Shortened { .. } => FailureCode::J004,
            Self::Busy { .. } => FailureCode::J005,
            Self::DiskFull { .. } => FailureCode::J006,
            Self::ReadOnly { .. } => FailureCode::J007,
            Self::Io { .. } | Self::Unsettled { .. } => FailureCode::J008,
            Self::Replaced { .. } => FailureCode::J021,
            Self::UnknownSigner => FailureCode::J015,
            Self::Migration { .. } => FailureCode::J014,
            Self::Key { .. } => FailureCode::J015,
            Self::Blob { .. } => FailureCode::J013,
            Self::Archive { .. } => FailureCode::J020,
            Self::Decode { .. } => FailureCode::J018,
            Self::CannotRecover { .. } => FailureCode::J012,
            Self::Closed => FailureCode::J017,
        }
    }

    fn why(&self) -> Option<String> {
        match self {
            Self::File { cause, .. } => Some(cause.to_string()),
            Self::NotAJournal { why, .. } | Self::Anchor { what: why, .. } => Some(why.clone()),
            Self::Foreign {
                found, expected, ..
            } => Some(format!(
                "it names the workshop {found}, this folder is {expected}"
            )),
            Self::Unsettled { .. } => Some(
                "they may turn up when the journal is next opened, whole or not at all".to_owned(),
            ),
            Self::Shortened { .. } => {
                Some("the file was cut, or an older copy was put in its place".to_owned())
            }
            _ => None,
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            Self::Missing { .. } => {
                "`artel journal restore` to go on from a backup, or `artel init DIR` for a new workshop"
            }
            Self::TooNew { .. } => "install the Artel that wrote it, or a newer one",
            Self::Damaged { .. } | Self::Corrupt { .. } => {
                "`artel journal verify` names the first bad event; `artel journal restore` goes on from the longest intact part or a backup"
            }
            Self::Shortened { .. } => {
                "`artel journal restore` goes on from what is there or from a backup, and records that you did"
            }
            Self::Anchor { .. } => {
                "`artel journal restore` goes on from the journal as far as it is intact, and signs a new head"
            }
            Self::Busy { .. } => "end the other program's write transaction, then repeat",
            Self::DiskFull { .. } => {
                "free some space (`artel clean` shows what Artel could free) or raise the quota or \
                 limit, then repeat"
            }
            Self::ReadOnly { .. } => {
                "make the folder writable for you; reading commands work as it is"
            }
            Self::Replaced { .. } => "repeat the command",
            Self::UnknownSigner => {
                "`artel workshop trust` accepts its keys, if the workshop is yours"
            }
            Self::Unsettled { .. } => {
                "`artel journal tail` shows whether they are there; repeat the command if they are not"
            }
            Self::Io { .. } => {
                "`df -h` and `df -i` show whether there is room; if there is, the system's log \
                 (`journalctl -k`) says what the disk has, and the workshop should be copied to another"
            }
            Self::Migration { .. } => {
                "the journal is unchanged; report this with the message (a backup is in `.artel/backups`)"
            }
            Self::Key { what, .. } if what == crate::keys::READABLE => {
                "take the others' rights away with `chmod 600`"
            }
            Self::Key { .. } => {
                "put the key back from a copy of your data folder, with mode 0600; if it is lost for good, remove the file and run `artel workshop trust DIR`, which accepts what it signed"
            }
            Self::Blob { .. } => "put it back from a copy of `.artel/blobs`",
            Self::Archive { .. } => "put the file back into `.artel/archive`",
            Self::CannotRecover { .. } => {
                "copy a journal from elsewhere and name it: `artel journal restore FILE`"
            }
            Self::Decode { .. } => "`artel journal verify`, then report this with the message",
            Self::Closed => "repeat the command",
            Self::File { .. } | Self::Database { .. } => "`artel doctor` shows what is wrong",
            Self::NotAJournal { .. } => {
                "`artel journal restore` goes on from a backup; the file itself is kept"
            }
            Self::Foreign { .. } => {
                "`artel journal restore` goes on from a backup of this workshop; the file is kept"
            }
        }
    }
}

impl JournalAppendError {
    /// Returns the journal's error, for appends that can fail in no other way.
    pub(crate) fn into_journal(self) -> JournalError {
        match self {
            Self::Journal(error) => error,
            other => JournalError::Database {
                what: other.to_string(),
            },
        }
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let failure = Self::new(error.code(), error.to_string()).advise(error.advice());
        match error.why() {
            Some(why) => failure.because(why),
            None => failure,
        }
    }
}

impl From<JournalAppendError> for Failure {
    fn from(error: JournalAppendError) -> Self {
        let (code, advice) = match error {
            JournalAppendError::Journal(error) => return error.into(),
            JournalAppendError::Conflict { .. } => {
                (FailureCode::J009, "read the stream again and decide anew")
            }
            JournalAppendError::Fenced { .. } => {
                (FailureCode::J010, "stop this process; another one goes on")
            }
            JournalAppendError::TooLarge { .. } => {
                (FailureCode::J019, "store the large part as a blob")
            }
            JournalAppendError::Empty | JournalAppendError::Encode(_) => {
                (FailureCode::X001, "please report this")
            }
        };
        Self::new(code, error.to_string()).advise(advice)
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Journal(error) => error.into(),
            LeaseError::Held { .. } => Self::new(FailureCode::J011, error.to_string())
                .advise("wait until it is done, or end that process"),
            LeaseError::Lost { .. } => Self::new(FailureCode::J010, error.to_string())
                .advise("stop this process; another one goes on"),
        }
    }
}
