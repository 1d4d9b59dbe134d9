//! What can go wrong, in the words a person needs.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use artel_types::{Code, DecodeError, Failure, Stream};

/// Why the journal could not be opened, read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file is not there.
    #[error("there is no journal at `{path}`")]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// A file of the journal could not be used.
    #[error("could not {act} `{path}`")]
    File {
        /// What was tried.
        act: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: Arc<io::Error>,
    },
    /// Another kind of file.
    #[error("`{path}` is not a journal of Artel")]
    NotAJournal {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Written by a newer build.
    #[error("the journal `{path}` has format {found}; this build reads up to {newest}")]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest that can be read.
        newest: u32,
    },
    /// The file belongs to another workshop.
    #[error("the journal `{path}` belongs to another workshop")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The workshop it names.
        found: String,
        /// The workshop it was opened for.
        expected: String,
    },
    /// An event does not fit the chain.
    #[error("the journal is damaged at event {seq}: {what}")]
    Damaged {
        /// The first bad event.
        seq: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A page of the file does not make sense.
    #[error("the file of the journal is damaged: {what}")]
    Corrupt {
        /// What SQLite said.
        what: String,
    },
    /// The newest signed head is ahead of the file.
    #[error("the journal ends at event {found}, but event {signed} was signed on this machine")]
    Shortened {
        /// The last event in the file.
        found: u64,
        /// The newest signed one.
        signed: u64,
    },
    /// The newest signed head is kept in a file that cannot be read.
    #[error("the signed head `{path}` cannot be read")]
    Anchor {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Somebody else holds the write turn.
    #[error("the journal is busy: {holder} has held the write turn for {seconds} s")]
    Busy {
        /// Who, as far as can be seen.
        holder: String,
        /// For how long we waited.
        seconds: u64,
    },
    /// No room.
    #[error("the disk is full: could not write `{path}`")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// No permission to write.
    #[error("the journal `{path}` is read-only")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk failed.
    #[error("the disk reported an error on `{path}`: {what}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        what: String,
    },
    /// The disk failed in the middle of a commit, and what became of it cannot be told.
    #[error("the disk failed while events were being written: {what}")]
    Unsettled {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        what: String,
        /// The failure of the commit itself.
        cause: Box<JournalError>,
    },
    /// Another file was put in the journal's place while it was in use.
    #[error("the journal `{path}` was replaced while it was in use")]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Every signature may be right, but this user does not know the signer.
    #[error("the journal was signed with a key that is not known on this machine")]
    UnknownSigner,
    /// A migration did not work.
    #[error("the journal could not be brought from format {from} to {to}: {what}")]
    Migration {
        /// The format it has.
        from: u32,
        /// The format it was to get.
        to: u32,
        /// What went wrong.
        what: String,
    },
    /// The signing key cannot be used.
    #[error("the signing key `{path}` cannot be used: {what}")]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A blob is gone or changed.
    #[error("the stored value `{hash}` is {what}")]
    Blob {
        /// Its address.
        hash: String,
        /// What is wrong.
        what: String,
    },
    /// An archive is gone or changed.
    #[error("the archive `{path}` is {what}")]
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A stored event cannot be read as what its kind is.
    #[error("event {seq} cannot be decoded: {what}")]
    Decode {
        /// Which event.
        seq: u64,
        /// Why.
        what: String,
    },
    /// Nothing intact is left.
    #[error("cannot recover `{path}`: no intact event in it and no intact backup")]
    CannotRecover {
        /// The journal.
        path: PathBuf,
    },
    /// The journal was closed meanwhile.
    #[error("the journal was closed")]
    Closed,
    /// Something SQLite said that none of the above covers.
    #[error("the database refused: {what}")]
    Database {
        /// What it said.
        what: String,
    },
}

/// Why events were not recorded. Nothing of the batch is in the journal then, nor will it ever be,
/// unless the error is [`JournalError::Unsettled`].
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// The journal as a whole could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else appended to the stream first.
    #[error("`{stream}` is at position {found}, not {expected}")]
    Conflict {
        /// The stream.
        stream: Stream,
        /// The position the caller had read.
        expected: u64,
        /// Where it is now.
        found: u64,
    },
    /// The caller's lease was taken over.
    #[error("the lease `{name}` has passed to another process")]
    Fenced {
        /// The lease.
        name: String,
    },
    /// An event is too large; large values belong into blobs.
    #[error("an event of {bytes} bytes is larger than the {limit} an event may have")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// There is nothing to record.
    #[error("an append needs at least one event")]
    Empty,
    /// The payload could not be written as JSON.
    #[error("the event cannot be written as JSON: {0}")]
    Encode(String),
}

/// Why a lease was not given or kept.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LeaseError {
    /// The journal as a whole could not be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else has it.
    #[error("`{name}` is held by {owner} for another {seconds} s")]
    Held {
        /// The lease.
        name: String,
        /// Who has it.
        owner: String,
        /// For how long still.
        seconds: u64,
    },
    /// It was taken over meanwhile.
    #[error("the lease `{name}` has passed to another process")]
    Lost {
        /// The lease.
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

    /// Maps what SQLite says to what a person can act on.
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

    /// Tells whether the file itself is what is wrong, as opposed to our way to it.
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

    pub(crate) fn decode(seq: u64, cause: &DecodeError) -> Self {
        use std::error::Error as _;
        let why = cause
            .source()
            .map_or(String::new(), |why| format!(": {why}"));
        Self::Decode {
            seq,
            what: format!("{cause}{why}"),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Missing { .. } | Self::File { .. } | Self::Database { .. } => Code::J001,
            Self::NotAJournal { .. } | Self::Foreign { .. } => Code::J016,
            Self::TooNew { .. } => Code::J002,
            Self::Damaged { .. } | Self::Corrupt { .. } | Self::Anchor { .. } => Code::J003,
            Self::Shortened { .. } => Code::J004,
            Self::Busy { .. } => Code::J005,
            Self::DiskFull { .. } => Code::J006,
            Self::ReadOnly { .. } => Code::J007,
            Self::Io { .. } | Self::Unsettled { .. } => Code::J008,
            Self::Replaced { .. } => Code::J021,
            Self::UnknownSigner => Code::J015,
            Self::Migration { .. } => Code::J014,
            Self::Key { .. } => Code::J015,
            Self::Blob { .. } => Code::J013,
            Self::Archive { .. } => Code::J020,
            Self::Decode { .. } => Code::J018,
            Self::CannotRecover { .. } => Code::J012,
            Self::Closed => Code::J017,
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

impl AppendError {
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

impl From<AppendError> for Failure {
    fn from(error: AppendError) -> Self {
        let (code, advice) = match error {
            AppendError::Journal(error) => return error.into(),
            AppendError::Conflict { .. } => (Code::J009, "read the stream again and decide anew"),
            AppendError::Fenced { .. } => (Code::J010, "stop this process; another one goes on"),
            AppendError::TooLarge { .. } => (Code::J019, "store the large part as a blob"),
            AppendError::Empty | AppendError::Encode(_) => (Code::X001, "please report this"),
        };
        Self::new(code, error.to_string()).advise(advice)
    }
}

impl From<LeaseError> for Failure {
    fn from(error: LeaseError) -> Self {
        match error {
            LeaseError::Journal(error) => error.into(),
            LeaseError::Held { .. } => Self::new(Code::J011, error.to_string())
                .advise("wait until it is done, or end that process"),
            LeaseError::Lost { .. } => Self::new(Code::J010, error.to_string())
                .advise("stop this process; another one goes on"),
        }
    }
}
