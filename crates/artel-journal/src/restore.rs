//! Restores an earlier or shortened journal: a person's act, recorded inside and outside.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use artel_types::{Actor, JournalRestored, WorkshopId};
use rusqlite::Connection;
use serde::Serialize;

use crate::admit::refuse_foreign;
use crate::anchor::{self, AnchorRestoreNote, JournalAnchor};
use crate::archive::{self, ArchiveInfo};
use crate::backup::backups;
use crate::chain::ChainHasher;
use crate::columns::INSERT;
use crate::connect;
use crate::durable;
use crate::error::JournalError;
use crate::head::{self, JournalHead};
use crate::home::{JournalFolders, path_text};
use crate::journal::{JournalOptions, record_upkeep};
use crate::keys::JournalSigningKeys;
use crate::migrate;
use crate::query::EventQuery;
use crate::reader::{self, RecordOrigin};
use crate::schema::MIGRATIONS;
use crate::turn::{CHECKPOINT_EVERY, JournalWriterCache, WriteTransaction};
use crate::turnstile::WriteTurnQueue;
use crate::verify::{check_archive, verify, verify_file};

/// A place that a journal can be restored from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RestoreSource {
    /// The intact beginning of the journal itself.
    Prefix,
    /// A copy of the journal.
    Backup(#[serde(serialize_with = "path_text")] PathBuf),
}

/// A way to restore, with its number of intact events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreCandidate {
    /// Source of the events.
    pub source: RestoreSource,
    /// Number of intact events.
    pub events: u64,
    /// Description of the damage to the rest, or `None` if all is well.
    pub damage: Option<String>,
}

/// The outcome of restoring a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JournalRestoreOutcome {
    /// Source of the events.
    pub source: RestoreSource,
    /// Number of events restored.
    pub events: u64,
    /// Number of known events that were given up.
    pub lost: u64,
    /// Path that the old file was moved to.
    #[serde(serialize_with = "path_text")]
    pub set_aside: PathBuf,
}

impl RestoreCandidate {
    /// Lists the ways to restore, the one with the most events first. If no file is named, the
    /// intact backup with the most events is considered.
    pub fn all(
        home: &JournalFolders,
        workshop: WorkshopId,
        keys: &JournalSigningKeys,
        file: Option<&Path>,
    ) -> Result<Vec<Self>, JournalError> {
        let mut found = Vec::new();
        match verify(home, workshop, keys) {
            // A person who lost their data folder, or moved the workshop, still has an intact
            // journal.
            Ok(verified) if verified.has_unknown_signer() => {
                return Err(JournalError::UnknownSigner);
            }
            Ok(verified) => {
                let damage = verified
                    .first_bad
                    .map(|bad| format!("event {}: {}", bad.seq, bad.what));
                found.push(Self {
                    source: RestoreSource::Prefix,
                    events: verified.intact,
                    damage,
                });
            }
            Err(error) if error.is_damage() => {}
            // A file that is only out of reach must not be replaced.
            Err(error) => return Err(error),
        }
        match file {
            Some(file) => found.push(Self::of_named(file, home, workshop, keys)?),
            None => found.extend(
                backups(home)
                    .into_iter()
                    .filter_map(|file| Self::of_file(&file, home, workshop, keys).ok())
                    .filter(|candidate| candidate.damage.is_none())
                    // Among copies with equally many events, the newest wins.
                    .rev()
                    .max_by_key(|candidate| candidate.events),
            ),
        }
        found.retain(|candidate| candidate.events > 0);
        found.sort_by_key(|candidate| std::cmp::Reverse(candidate.events));
        if found.is_empty() {
            return Err(JournalError::CannotRecover {
                path: home.journal(),
            });
        }
        Ok(found)
    }

    /// Checks the file that a person named. A useless one is an error: the person did not ask
    /// for another file in its place.
    fn of_named(
        file: &Path,
        home: &JournalFolders,
        workshop: WorkshopId,
        keys: &JournalSigningKeys,
    ) -> Result<Self, JournalError> {
        let owned = refuse_foreign(&connect::reader(file)?, file, workshop);
        if let Err(error @ JournalError::Foreign { .. }) = owned {
            return Err(error);
        }
        let candidate = Self::of_file(file, home, workshop, keys)?;
        if candidate.events == 0 {
            let path = file.to_owned();
            return Err(JournalError::CannotRecover { path });
        }
        Ok(candidate)
    }

    fn of_file(
        file: &Path,
        home: &JournalFolders,
        workshop: WorkshopId,
        keys: &JournalSigningKeys,
    ) -> Result<Self, JournalError> {
        let verified = verify_file(file, home, workshop, keys)?;
        let damage = verified
            .first_bad
            .map(|bad| format!("event {}: {}", bad.seq, bad.what));
        Ok(Self {
            source: RestoreSource::Backup(file.to_owned()),
            events: verified.intact,
            damage,
        })
    }

    /// Puts this candidate in the journal's place. The old file is kept.
    pub fn restore(
        &self,
        home: &JournalFolders,
        workshop: WorkshopId,
        options: &JournalOptions,
        by: &Actor,
    ) -> Result<JournalRestoreOutcome, JournalError> {
        let keys = JournalSigningKeys::load_or_create(home.data(), workshop)?;
        let turnstile =
            WriteTurnQueue::open(&home.locks(), options.patience, options.clock.clone())?;
        let _turn = turnstile.enter()?;
        let fresh = home.state().join("journal.restoring");
        durable::remove_database(&fresh)
            .map_err(|cause| JournalError::file("remove", &fresh, cause))?;
        let known = JournalAnchor::load(home.data(), workshop)
            .ok()
            .flatten()
            .map_or(0, |old| old.seq);
        let had = known.max(old_head(home));
        let set_aside = free_place(home, options)?;
        let restored = JournalRestoreOutcome {
            source: self.source.clone(),
            events: self.events,
            lost: had.saturating_sub(self.events),
            set_aside,
        };
        let memory = self.build(home, workshop, options, &keys, &fresh, &restored, by)?;
        swap(home, &fresh, &restored.set_aside)?;
        let note = AnchorRestoreNote {
            at: options.clock.now(),
            by: options.redactor.redact(&by.to_string()).into_owned(),
            source: options.redactor.redact(&self.source_name()).into_owned(),
            had,
            kept: self.events,
        };
        if let Some(signed) = &memory.signed {
            anchor::put_back(home.data(), workshop, signed.signed(), note)?;
        }
        Ok(restored)
    }

    fn source_name(&self) -> String {
        match &self.source {
            RestoreSource::Prefix => "the intact part of the journal".to_owned(),
            RestoreSource::Backup(file) => file.display().to_string(),
        }
    }

    /// Writes the new journal beside the old one: the events, and the record of this act.
    #[expect(clippy::too_many_arguments, reason = "a private step of one function")]
    fn build(
        &self,
        home: &JournalFolders,
        workshop: WorkshopId,
        options: &JournalOptions,
        keys: &JournalSigningKeys,
        fresh: &Path,
        restored: &JournalRestoreOutcome,
        by: &Actor,
    ) -> Result<JournalWriterCache, JournalError> {
        let source = match &self.source {
            RestoreSource::Prefix => home.journal(),
            RestoreSource::Backup(file) => file.clone(),
        };
        let failed = |error: rusqlite::Error| JournalError::sqlite(fresh, &error);
        let source = connect::reader(&source)?;
        durable::make_private(fresh)?;
        let target = Connection::open(fresh).map_err(failed)?;
        migrate::create_with(&target, MIGRATIONS, |target| {
            let owner = "INSERT INTO meta VALUES ('workshop', ?)";
            target.execute(owner, [workshop.to_string()])?;
            Ok(())
        })
        .map_err(failed)?;
        target.execute_batch("BEGIN").map_err(failed)?;
        let mut memory = JournalWriterCache::new(workshop);
        let mut desk = WriteTransaction {
            connection: &target,
            memory: &mut memory,
            keys,
            clock: &options.clock,
            home,
        };
        let archives = kept_archives(&source, home, keys, self.events)?;
        copy_events(&source, &mut desk, &archives, self.events)?;
        for archive in archives.iter().flatten() {
            copy_archive(&source, home, &target, archive)?;
        }
        copy_leases(&source, home, &target);
        let fact = JournalRestored {
            source: self.source_name(),
            events: restored.events,
            lost: restored.lost,
            set_aside: restored.set_aside.display().to_string(),
        };
        record_upkeep(&mut desk, options, by, fact)?;
        target.execute_batch("COMMIT").map_err(failed)?;
        memory.committed();
        drop(target);
        fs::File::open(fresh)
            .and_then(|file| file.sync_all())
            .map_err(|cause| JournalError::file("write", fresh, cause))?;
        Ok(memory)
    }
}

/// Lists the archives, with `None` in the place of each one that cannot be kept. Such an
/// archive is damaged, or it reaches past the last event, so that new events would be given
/// numbers already taken. Its intact events go back into the journal.
fn kept_archives(
    source: &Connection,
    home: &JournalFolders,
    keys: &JournalSigningKeys,
    last: u64,
) -> Result<Vec<Option<ArchiveInfo>>, JournalError> {
    let is_within = |info: &ArchiveInfo| -> rusqlite::Result<bool> {
        let Ok(archive) = archive::open(home, &info.file) else {
            return Ok(false);
        };
        let end: Option<i64> =
            archive.query_row("SELECT max(seq) FROM event", [], |row| row.get(0))?;
        Ok(end.is_some_and(|end| end <= last.cast_signed()))
    };
    let is_kept = |info: &ArchiveInfo| {
        is_within(info).unwrap_or(false) && check_archive(source, info, home, keys).is_ok()
    };
    let archives = archive::list(source, &home.journal())?;
    Ok(archives
        .into_iter()
        .map(|info| Some(info).filter(is_kept))
        .collect())
}

/// Copies the intact events and hashes each one again, because the file may have been
/// exchanged since it was checked. Events in an archive that is kept stay there. Every
/// hundredth event keeps its old signature, or gets a new one if that does not hold.
fn copy_events(
    source: &Connection,
    desk: &mut WriteTransaction<'_>,
    archives: &[Option<ArchiveInfo>],
    last: u64,
) -> Result<(), JournalError> {
    let (home, target) = (desk.home, desk.connection);
    let failed = |error: rusqlite::Error| JournalError::sqlite(home.journal(), &error);
    let mut hasher = ChainHasher::default();
    let mut insert = target.prepare(INSERT).map_err(failed)?;
    let query = EventQuery::all().limit(last);
    reader::scan_with_origin(source, home, &query, |origin, columns| {
        let (head, seq) = (desk.head(), columns.seq());
        let hash = hasher.event(columns.hashed());
        let fits = seq == head.seq + 1
            && columns.prev() == Some(head.hash)
            && columns.hash() == Some(hash);
        if !fits {
            let what = "it does not fit the chain".to_owned();
            return Err(JournalError::Damaged { seq, what });
        }
        let stays = matches!(origin, RecordOrigin::Archive(at) if archives[at].is_some());
        if !stays {
            let values = rusqlite::params_from_iter(columns.params());
            insert.execute(values).map_err(failed)?;
        }
        desk.memory.head = Some(JournalHead { seq, hash });
        if seq.is_multiple_of(CHECKPOINT_EVERY) {
            copy_checkpoint(source, desk).map_err(failed)?;
        }
        Ok(ControlFlow::Continue(()))
    })
}

fn copy_checkpoint(source: &Connection, desk: &mut WriteTransaction<'_>) -> rusqlite::Result<()> {
    let head = desk.head();
    // A table that cannot be read counts as one without the row.
    if head::signed_at(source, desk.keys, head.seq).is_ok_and(|signed| signed == Some(head)) {
        let columns = "seq, hash, at, signer, signature";
        let row = format!("seq = {}", head.seq);
        return copy_table(source, desk.connection, "checkpoint", columns, &row);
    }
    desk.sign_head()
}

/// Copies the row of an archive. The last positions of its streams are read from the
/// archive itself.
fn copy_archive(
    source: &Connection,
    home: &JournalFolders,
    target: &Connection,
    info: &ArchiveInfo,
) -> Result<(), JournalError> {
    let archive = archive::open(home, &info.file)?;
    let copy = || -> rusqlite::Result<()> {
        let columns = "file, events, first, last, digest, signer, signature";
        let row = format!("file = '{}'", info.file.replace('\'', "''"));
        copy_table(source, target, "archive", columns, &row)?;
        let mut streams =
            archive.prepare("SELECT stream, max(stream_seq) FROM event GROUP BY stream")?;
        let mut rows = streams.query([])?;
        while let Some(row) = rows.next()? {
            let (stream, last): (String, i64) = (row.get(0)?, row.get(1)?);
            target.execute(
                "INSERT INTO archived_stream (stream, stream_seq, file) VALUES (?, ?, ?) \
                 ON CONFLICT (stream) DO UPDATE SET stream_seq = excluded.stream_seq, \
                 file = excluded.file WHERE excluded.stream_seq > stream_seq",
                (stream, last, &info.file),
            )?;
        }
        Ok(())
    };
    copy().map_err(|error| JournalError::sqlite(&info.file, &error))
}

/// Carries over the numbers of leases, which must not be given out again. If they can no
/// longer be read, they start over.
fn copy_leases(source: &Connection, home: &JournalFolders, target: &Connection) {
    let old = connect::reader(&home.journal()).ok();
    for file in old.iter().chain([source]) {
        drop(raise_leases(file, target));
    }
    drop(target.execute("UPDATE lease SET token = token + 1, owner = NULL", []));
}

/// Keeps the larger number of each lease. A process that held one before the restore has
/// lost it.
fn raise_leases(source: &Connection, target: &Connection) -> rusqlite::Result<()> {
    let mut select = source.prepare("SELECT name, token FROM lease")?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rows {
        let lease: (String, i64) = row?;
        target.execute(
            "INSERT INTO lease (name, token, expires_wall, expires_uptime) VALUES (?, ?, 0, 0) \
             ON CONFLICT (name) DO UPDATE SET token = max(token, excluded.token)",
            lease,
        )?;
    }
    Ok(())
}

fn copy_table(
    source: &Connection,
    target: &Connection,
    table: &str,
    columns: &str,
    condition: &str,
) -> rusqlite::Result<()> {
    let mut select = source.prepare(&format!("SELECT {columns} FROM {table} WHERE {condition}"))?;
    let width = select.column_count();
    let marks = vec!["?"; width].join(", ");
    let mut insert =
        target.prepare(&format!("INSERT INTO {table} ({columns}) VALUES ({marks})"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..width)
            .map(|at| row.get::<_, rusqlite::types::Value>(at))
            .collect::<Result<Vec<_>, _>>()?;
        insert.execute(rusqlite::params_from_iter(values))?;
    }
    Ok(())
}

fn old_head(home: &JournalFolders) -> u64 {
    let head = connect::reader(&home.journal())
        .ok()
        .and_then(|old| JournalHead::read(&old).ok()?);
    head.map_or(0, |head| head.seq)
}

fn free_place(home: &JournalFolders, options: &JournalOptions) -> Result<PathBuf, JournalError> {
    let folder = home.damaged();
    durable::make_folder(&folder).map_err(|cause| JournalError::file("make", &folder, cause))?;
    let stamp = options.clock.now().compact();
    let names = std::iter::once(format!("journal_{stamp}.db"))
        .chain((2..).map(|n| format!("journal_{stamp}_{n}.db")));
    Ok(names
        .map(|name| folder.join(name))
        .find(|path| !path.exists())
        .unwrap_or_default())
}

/// Sets the old file and its log aside, and puts the new file in place. The old file keeps
/// its name until the new one takes it, so a crash in between leaves a journal to restore
/// again.
fn swap(home: &JournalFolders, fresh: &Path, set_aside: &Path) -> Result<(), JournalError> {
    let journal = home.journal();
    let found = |done: io::Result<()>| match done {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    };
    let move_log = |suffix: &str, to: &Path| {
        found(fs::rename(
            durable::beside(&journal, suffix),
            durable::beside(to, suffix),
        ))
    };
    // As much of the log as possible is moved into the old file first, so that it stands alone.
    drop(Connection::open(&journal).map(|old| {
        let _busy = old.busy_timeout(std::time::Duration::ZERO);
        old.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
    }));
    found(fs::hard_link(&journal, set_aside))
        .and_then(|()| durable::sync_folder(&home.damaged()))
        // SQLite would replay a log into any file that has its name.
        .and_then(|()| move_log("-wal", set_aside))
        .and_then(|()| found(fs::remove_file(durable::beside(&journal, "-shm"))))
        .and_then(|()| fs::rename(fresh, &journal))
        .and_then(|()| durable::sync_folder(home.state()))
        .map_err(|cause| JournalError::file("replace", &journal, cause))
}
