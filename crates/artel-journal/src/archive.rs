//! Archives: finished streams that were moved out of the journal, still part of its chain.

use std::fs;
use std::path::{Path, PathBuf};

use artel_types::{Actor, JournalPruned, Timestamp, WorkshopId};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::Serialize;

use crate::admit;
use crate::anchor;
use crate::chain::Hash;
use crate::columns::{INSERT, SELECT};
use crate::connect::{self, CreateIfMissing};
use crate::durable;
use crate::error::JournalError;
use crate::home::{JournalFolders, path_text};
use crate::journal::{JournalOptions, record_upkeep};
use crate::keys::{self, JournalSigningKeys, hex};
use crate::migrate;
use crate::schema::MIGRATIONS;
use crate::turn::{JournalWriterCache, WriteTransaction};
use crate::turnstile::WriteTurnQueue;

/// The outcome of pruning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalPruneOutcome {
    /// File that the streams were moved to.
    #[serde(serialize_with = "path_text")]
    pub archive: PathBuf,
    /// Number of streams moved.
    pub streams: u64,
    /// Number of events moved.
    pub events: u64,
}

/// An archive as the journal knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveInfo {
    /// File name of the archive, without its folder.
    pub file: String,
    /// Number of events in it.
    pub events: u64,
    /// Sequence number of its last event.
    pub(crate) last: u64,
    pub(crate) digest: Vec<u8>,
    pub(crate) signer: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl ArchiveInfo {
    /// Returns whether the row carries a valid signature of any signer. A planted row must not
    /// keep people from reading the journal; `verify` names it.
    pub(crate) fn is_signed(&self) -> bool {
        let message = message(&self.file, self.events, &self.digest);
        keys::is_signed(&self.signer, &message, &self.signature)
    }
}

/// Lists the archives that a journal refers to. A file of an older format has none.
pub(crate) fn list(connection: &Connection, path: &Path) -> Result<Vec<ArchiveInfo>, JournalError> {
    if connect::format(connection, path)? < 2 {
        return Ok(Vec::new());
    }
    let read = || -> rusqlite::Result<Vec<ArchiveInfo>> {
        let mut statement = connection.prepare_cached(
            "SELECT file, events, digest, signer, signature, last FROM archive ORDER BY file",
        )?;
        let rows = statement.query_map([], |row| {
            Ok(ArchiveInfo {
                file: row.get(0)?,
                events: row.get::<_, i64>(1)?.cast_unsigned(),
                digest: row.get(2)?,
                signer: row.get(3)?,
                signature: row.get(4)?,
                last: row.get::<_, i64>(5)?.cast_unsigned(),
            })
        })?;
        rows.collect()
    };
    read().map_err(|error| JournalError::sqlite(path, &error))
}

/// Opens the archives that hold events after `seq`. The others may even be missing.
pub(crate) fn connections(
    connection: &Connection,
    home: &JournalFolders,
    seq: u64,
) -> Result<Vec<Connection>, JournalError> {
    list(connection, &home.journal())?
        .into_iter()
        .filter(|archive| archive.last > seq)
        .filter_map(|archive| match open(home, &archive.file) {
            // The row has no valid signature of anyone who makes archives, so it was planted.
            Err(_) if !archive.is_signed() => None,
            opened => Some(opened),
        })
        .collect()
}

pub(crate) fn open(home: &JournalFolders, file: &str) -> Result<Connection, JournalError> {
    let path = home.archive().join(file);
    // The name comes from the journal file, which may have been tampered with.
    let is_plain = Path::new(file).file_name().is_some_and(|name| name == file);
    if !is_plain || !path.exists() {
        return Err(JournalError::Archive {
            path,
            what: "missing".to_owned(),
        });
    }
    connect::reader(&path).map_err(|error| JournalError::Archive {
        path,
        what: error.to_string(),
    })
}

/// Returns the bytes that an archive's signature covers.
pub(crate) fn message(file: &str, events: u64, digest: &[u8]) -> Vec<u8> {
    let mut message = b"artel archive 1".to_vec();
    message.extend_from_slice(&events.to_le_bytes());
    message.extend_from_slice(digest);
    message.extend_from_slice(file.as_bytes());
    message
}

/// Returns the digest over an archive's events, and their number.
pub(crate) fn digest(connection: &Connection) -> rusqlite::Result<(Hash, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut events = 0;
    let mut statement = connection.prepare("SELECT hash FROM event ORDER BY seq")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        hasher.update(row.get_ref(0)?.as_blob().unwrap_or_default());
        events += 1;
    }
    Ok((*hasher.finalize().as_bytes(), events))
}

/// Returns whether the journal knows the last position of every stream in an archive.
/// Otherwise a stream that continues would be given positions it already had.
pub(crate) fn knows_positions(
    journal: &Connection,
    archive: &Connection,
    file: &str,
) -> rusqlite::Result<bool> {
    let mut known =
        journal.prepare("SELECT stream_seq, file FROM archived_stream WHERE stream = ?")?;
    let mut streams =
        archive.prepare("SELECT stream, max(stream_seq) FROM event GROUP BY stream")?;
    let mut rows = streams.query([])?;
    let mut ended_here: i64 = 0;
    while let Some(row) = rows.next()? {
        let (stream, last): (String, i64) = (row.get(0)?, row.get(1)?);
        let known: Option<(i64, String)> = known
            .query_row([stream], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        match known {
            Some((position, there)) if there == file && position == last => ended_here += 1,
            // The stream continued and was pruned again.
            Some((position, there)) if there != file && position > last => {}
            _ => return Ok(false),
        }
    }
    let listed: i64 = journal.query_row(
        "SELECT count(*) FROM archived_stream WHERE file = ?1 \
         OR file NOT IN (SELECT file FROM archive)",
        [file],
        |row| row.get(0),
    )?;
    Ok(listed == ended_here)
}

/// Moves finished streams to a new archive. The archive is complete and on disk before the
/// first row leaves the journal; a crash in between leaves an archive that nothing refers
/// to.
pub(crate) fn prune(
    home: &JournalFolders,
    workshop: WorkshopId,
    options: &JournalOptions,
    before: Timestamp,
    is_final: fn(&str) -> bool,
    by: &Actor,
) -> Result<Option<JournalPruneOutcome>, JournalError> {
    let path = home.journal();
    let failed = |error: rusqlite::Error| JournalError::sqlite(&path, &error);
    let keys = JournalSigningKeys::load_or_create(home.data(), workshop)?;
    let turnstile = WriteTurnQueue::open(&home.locks(), options.patience, options.clock.clone())?;
    let _turn = turnstile.enter()?;
    let connection = connect::writer(&path, options.durability, CreateIfMissing::No)?;
    let admitted = admit::check(&connection, home, &keys, workshop)?;
    let mut memory = JournalWriterCache::starting_at(workshop, admitted.head);
    let mut desk = WriteTransaction {
        connection: &connection,
        memory: &mut memory,
        keys: &keys,
        clock: &options.clock,
        home,
    };
    connection
        .execute_batch("BEGIN IMMEDIATE")
        .map_err(failed)?;
    let moved = move_streams(&mut desk, options, before, is_final, by);
    let Ok(Some(pruned)) = moved else {
        // Nothing was changed yet, so a failed rollback loses nothing.
        drop(connection.execute_batch("ROLLBACK"));
        return moved;
    };
    // From here on the archive stays: a commit that failed may still take effect after a crash.
    connection.execute_batch("COMMIT").map_err(failed)?;
    memory.committed();
    if let Some(signed) = &memory.signed {
        anchor::advance(home.data(), workshop, signed.signed())?;
    }
    Ok(Some(pruned))
}

/// Writes the archive and removes its rows from the journal. The caller commits.
fn move_streams(
    desk: &mut WriteTransaction<'_>,
    options: &JournalOptions,
    before: Timestamp,
    is_final: fn(&str) -> bool,
    by: &Actor,
) -> Result<Option<JournalPruneOutcome>, JournalError> {
    desk.begin()?;
    let failed = |error: rusqlite::Error| JournalError::sqlite(desk.home.journal(), &error);
    let streams = finished(desk.connection, before, is_final).map_err(failed)?;
    if streams.is_empty() {
        return Ok(None);
    }
    let workshop = desk.memory.workshop;
    let archive = write_archive(desk.home, workshop, options, desk.connection, &streams)?;
    let pruned = cut_over(desk, options, &archive, &streams, before, by);
    if pruned.is_err() {
        drop(fs::remove_file(&archive.path));
    }
    pruned.map(Some)
}

/// An ended stream that can be moved to an archive.
pub(crate) struct PrunableStream {
    pub(crate) stream: String,
    pub(crate) last: i64,
    pub(crate) events: i64,
}

/// Returns the streams whose last event ends them and is older than `before`.
pub(crate) fn finished(
    connection: &Connection,
    before: Timestamp,
    is_final: fn(&str) -> bool,
) -> rusqlite::Result<Vec<PrunableStream>> {
    // With a lone `max`, SQLite takes the other columns from the row that holds the maximum.
    let mut statement = connection
        .prepare("SELECT stream, max(stream_seq), kind, at, count(*) FROM event GROUP BY stream")?;
    let mut rows = statement.query([])?;
    let mut streams = Vec::new();
    while let Some(row) = rows.next()? {
        let (kind, at): (String, i64) = (row.get(2)?, row.get(3)?);
        if is_final(&kind) && at < before.as_micros() {
            streams.push(PrunableStream {
                stream: row.get(0)?,
                last: row.get(1)?,
                events: row.get(4)?,
            });
        }
    }
    Ok(streams)
}

struct WrittenArchive {
    path: PathBuf,
    file: String,
    events: u64,
    span: (i64, i64),
    digest: Hash,
}

fn write_archive(
    home: &JournalFolders,
    workshop: WorkshopId,
    options: &JournalOptions,
    journal: &Connection,
    streams: &[PrunableStream],
) -> Result<WrittenArchive, JournalError> {
    let folder = home.archive();
    durable::make_folder(&folder).map_err(|cause| JournalError::file("make", &folder, cause))?;
    let stamp = options.clock.now().compact();
    let names = std::iter::once(format!("archive_{stamp}.db"))
        .chain((2..).map(|n| format!("archive_{stamp}_{n}.db")));
    let file = names
        .into_iter()
        .find(|name| !folder.join(name).exists())
        .unwrap_or_default();
    let path = folder.join(&file);
    let temporary = path.with_extension("tmp");
    durable::remove_database(&temporary)
        .map_err(|cause| JournalError::file("remove", &temporary, cause))?;
    durable::make_private(&temporary)?;
    let fill = || -> rusqlite::Result<(Hash, u64, (i64, i64))> {
        let target = Connection::open(&temporary)?;
        migrate::create(&target, MIGRATIONS)?;
        target.execute(
            "INSERT INTO meta VALUES ('workshop', ?)",
            [workshop.to_string()],
        )?;
        copy_streams(journal, &target, streams)?;
        let (digest, events) = digest(&target)?;
        let span = target.query_row("SELECT min(seq), max(seq) FROM event", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
        Ok((digest, events, span))
    };
    let written = fill().map_err(|error| JournalError::sqlite(&temporary, &error));
    if written.is_err() {
        drop(durable::remove_database(&temporary));
    }
    let (digest, events, span) = written?;
    let settle = || -> std::io::Result<()> {
        fs::File::open(&temporary)?.sync_all()?;
        fs::rename(&temporary, &path)?;
        durable::sync_folder(&folder)
    };
    settle().map_err(|cause| JournalError::file("write", &path, cause))?;
    Ok(WrittenArchive {
        path,
        file,
        events,
        span,
        digest,
    })
}

fn copy_streams(
    journal: &Connection,
    target: &Connection,
    streams: &[PrunableStream],
) -> rusqlite::Result<()> {
    target.execute_batch("BEGIN")?;
    let mut insert = target.prepare(INSERT)?;
    let mut select = journal.prepare(&format!("SELECT {SELECT} FROM event WHERE stream = ?"))?;
    for PrunableStream { stream, .. } in streams {
        let mut rows = select.query([stream])?;
        while let Some(row) = rows.next()? {
            let columns = crate::columns::RawEventRow::of_row(row)?;
            insert.execute(rusqlite::params_from_iter(columns.params()))?;
        }
    }
    target.execute_batch("COMMIT")
}

/// Removes the rows from the journal and records the pruning in it.
fn cut_over(
    desk: &mut WriteTransaction<'_>,
    options: &JournalOptions,
    archive: &WrittenArchive,
    streams: &[PrunableStream],
    before: Timestamp,
    by: &Actor,
) -> Result<JournalPruneOutcome, JournalError> {
    let WrittenArchive {
        path,
        file,
        events,
        span,
        digest,
    } = archive;
    let failed = |error: rusqlite::Error| JournalError::sqlite(path, &error);
    let (signer, signature) = desk.keys.sign(&message(file, *events, digest))?;
    let connection = desk.connection;
    connection
        .execute(
            "INSERT INTO archive (file, events, first, last, digest, signer, signature) \
             VALUES (?, ?, ?, ?, ?, ?, ?)",
            params![
                file,
                events.cast_signed(),
                span.0,
                span.1,
                digest,
                signer,
                signature
            ],
        )
        .map_err(failed)?;
    let mut moved = 0;
    for PrunableStream { stream, last, .. } in streams {
        moved += connection
            .execute("DELETE FROM event WHERE stream = ?", [stream])
            .map_err(failed)?;
        connection
            .execute(
                "INSERT OR REPLACE INTO archived_stream (stream, stream_seq, file) \
                 VALUES (?, ?, ?)",
                params![stream, last, file],
            )
            .map_err(failed)?;
    }
    if moved as u64 != *events {
        let what = format!("{events} events were archived, {moved} would be removed");
        return Err(JournalError::Corrupt { what });
    }
    let fact = JournalPruned {
        archive: file.clone(),
        before,
        streams: streams.len() as u64,
        events: *events,
        digest: hex(digest),
    };
    record_upkeep(desk, options, by, fact)?;
    Ok(JournalPruneOutcome {
        archive: path.clone(),
        streams: streams.len() as u64,
        events: *events,
    })
}
