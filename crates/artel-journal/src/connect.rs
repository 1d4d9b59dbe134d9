//! Opens connections with the settings that the journal's promises depend on.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::durable;
use crate::error::JournalError;
use crate::journal::CommitDurability;
use crate::schema::{self, APPLICATION_ID};

/// Oldest safe version of SQLite. In earlier ones, two connections that wrote and
/// checkpointed at once could corrupt a file.
const OLDEST_SAFE_SQLITE: i32 = 3_051_003;

/// Number of pages after which the log is moved into the file; an idle writer moves it too.
/// With the default of 1,000, one append in a hundred waited for it.
const CHECKPOINT_AFTER_PAGES: u32 = 8_000;

/// Leaves the log beside the file when the last connection closes.
const KEEP_LOG: DbConfig = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;

/// Opens the file for the one writer of this process. The file must exist already, unless
/// `create` allows making it.
pub(crate) fn writer(
    path: &Path,
    durability: CommitDurability,
    create: CreateIfMissing,
) -> Result<Connection, JournalError> {
    refuse_old_sqlite()?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create == CreateIfMissing::Yes {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    } else if !path.exists() {
        return Err(JournalError::Missing {
            path: path.to_owned(),
        });
    }
    let failed = |error: rusqlite::Error| JournalError::sqlite(path, &error);
    refuse_odd(path)?;
    if create == CreateIfMissing::Yes && !path.exists() {
        durable::make_private(path)?;
    }
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    // The log is kept beside the file until the whole journal is admitted.
    let keep_log = connection.set_db_config(KEEP_LOG, true);
    keep_log.map_err(failed)?;
    set_up(&connection).map_err(failed)?;
    // Setting up a writer changes the file, so a file that is not ours is refused first.
    if create == CreateIfMissing::No || !is_blank(&connection).map_err(failed)? {
        refuse_unknown(&connection, path)?;
    }
    if create == CreateIfMissing::Yes {
        // The logs beside it get the same mode.
        durable::protect(path)?;
    }
    set_up_writer(&connection, durability).map_err(failed)?;
    Ok(connection)
}

/// Makes SQLite move the log into the file when the last connection closes. A log that
/// belongs to another file, or to an older state of this one, would ruin it. So until
/// everything is known to fit, the log is only read.
pub(crate) fn move_log_at_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(KEEP_LOG, false)?;
    Ok(())
}

/// Returns whether nothing was ever written to the file.
fn is_blank(connection: &Connection) -> rusqlite::Result<bool> {
    let count = "SELECT count(*) FROM sqlite_schema";
    let tables: i64 = connection.query_row(count, [], |row| row.get(0))?;
    Ok(tables == 0)
}

/// Refuses anything but regular files, for the journal and for the logs beside it. A link
/// could name somebody else's file, and a pipe would block forever.
fn refuse_odd(path: &Path) -> Result<(), JournalError> {
    refuse_odd_file(path)?;
    refuse_odd_file(&durable::beside(path, "-wal"))?;
    refuse_odd_file(&durable::beside(path, "-shm"))
}

fn refuse_odd_file(path: &Path) -> Result<(), JournalError> {
    let Ok(about) = path.symlink_metadata() else {
        return Ok(());
    };
    if !about.is_file() {
        let why = "it is not a regular file".to_owned();
        return Err(JournalError::NotAJournal {
            path: path.to_owned(),
            why,
        });
    }
    // Checked by name, not by opening: that would release SQLite's locks in this process.
    let readable = rustix::fs::access(path, rustix::fs::Access::READ_OK);
    readable.map_err(|cause| JournalError::file("read", path, cause.into()))
}

/// Whether to create a missing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CreateIfMissing {
    Yes,
    No,
}

fn set_up_writer(connection: &Connection, durability: CommitDurability) -> rusqlite::Result<()> {
    // The write turn already lets only one Artel process write at a time. This timeout is for
    // other programs.
    connection.busy_timeout(Duration::from_secs(1))?;
    connection.pragma_update(None, "cache_size", -16_000)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        // On a file system without shared memory or locks, SQLite silently falls back to another
        // mode.
        let what = format!("this file system offers no write-ahead log (mode {mode})");
        return Err(rusqlite::Error::ToSqlConversionFailure(what.into()));
    }
    connection.pragma_update(None, "synchronous", durability.pragma())?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_AFTER_PAGES)
}

/// Opens the file for reading. This changes nothing, and works on a damaged file as far as
/// it can be read.
pub(crate) fn reader(path: &Path) -> Result<Connection, JournalError> {
    refuse_old_sqlite()?;
    if !path.exists() {
        return Err(JournalError::Missing {
            path: path.to_owned(),
        });
    }
    refuse_odd(path)?;
    let opened = open_reader(path, path);
    let opened = match opened {
        // SQLite cannot make its shared-memory file in a folder that is not writable. Without a
        // log, the file alone is the whole truth and can be read as it stands.
        Err(JournalError::Io { .. } | JournalError::ReadOnly { .. }) if !has_log(path) => {
            open_reader(
                path,
                Path::new(&format!("file:{}?immutable=1", percent(path))),
            )
        }
        other => other,
    };
    let connection = opened?;
    refuse_unknown(&connection, path)?;
    Ok(connection)
}

fn open_reader(path: &Path, name: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let failed = |error: rusqlite::Error| JournalError::sqlite(path, &error);
    let connection = Connection::open_with_flags(name, flags).map_err(failed)?;
    set_up(&connection).map_err(failed)?;
    connection
        .busy_timeout(Duration::from_secs(5))
        .map_err(failed)?;
    // The first read shows whether the file is readable at all.
    connection
        .pragma_query_value(None, "application_id", |_| Ok(()))
        .map_err(failed)?;
    Ok(connection)
}

fn has_log(path: &Path) -> bool {
    std::fs::metadata(durable::beside(path, "-wal")).is_ok_and(|about| about.len() > 0)
}

fn percent(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str()
        .as_bytes()
        .iter()
        .map(|&byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    // Nothing that somebody planted in the file may run when we read or write it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "mmap_size", 0)?;
    // There may be many readers, and the kernel keeps the pages for all of them.
    connection.pragma_update(None, "cache_size", -2_000)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 64 << 20)?;
    Ok(())
}

fn refuse_old_sqlite() -> Result<(), JournalError> {
    let found = rusqlite::version_number();
    if found >= OLDEST_SAFE_SQLITE {
        return Ok(());
    }
    let what = format!(
        "SQLite {} can corrupt a journal; 3.51.3 is needed",
        rusqlite::version()
    );
    Err(JournalError::Database { what })
}

/// Returns the file's format, or an error if it is not a journal of ours.
pub(crate) fn format(connection: &Connection, path: &Path) -> Result<u32, JournalError> {
    let failed = |error: rusqlite::Error| JournalError::sqlite(path, &error);
    let number = |name: &str| -> Result<i32, JournalError> {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .map_err(failed)
    };
    let id = number("application_id")?;
    if id != APPLICATION_ID {
        let why = format!("its application id is {id:#x}, not {APPLICATION_ID:#x}");
        return Err(JournalError::NotAJournal {
            path: path.to_owned(),
            why,
        });
    }
    Ok(number("user_version")?.cast_unsigned())
}

fn refuse_unknown(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let found = format(connection, path)?;
    let newest = schema::newest();
    if found > newest {
        return Err(JournalError::TooNew {
            path: path.to_owned(),
            found,
            newest,
        });
    }
    Ok(())
}
