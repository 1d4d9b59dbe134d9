//! Copies of the journal, taken while it is in use.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artel_types::{Clock, Timestamp, WorkshopId};
use rusqlite::Connection;
use rusqlite::backup::Backup as Copy;

use crate::connect;
use crate::durable;
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::home::JournalFolders;
use crate::keys::JournalSigningKeys;
use crate::verify::verify_file;

/// A copy of the journal file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalBackup {
    /// Path of the copy.
    pub file: PathBuf,
    /// When it was taken.
    pub at: Timestamp,
    /// Number of events in it.
    pub events: u64,
    /// Description of the damage, or `None` if the journal was intact.
    pub damage: Option<String>,
}

impl JournalBackup {
    /// Returns the file's name, without the folder it lies in.
    pub fn name(&self) -> String {
        self.file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }
}

/// Takes a copy and removes all but the newest `kept` copies.
///
/// A copy of a damaged journal is kept too, but pushes out no other copy: those may be
/// intact.
pub(crate) fn take(
    home: &JournalFolders,
    workshop: WorkshopId,
    clock: &Clock,
    kept: usize,
) -> Result<JournalBackup, JournalError> {
    let folder = home.backups();
    durable::make_folder(&folder).map_err(|cause| JournalError::file("make", &folder, cause))?;
    let at = clock.now();
    let temporary = temporary_name(&folder, at);
    durable::remove_database(&temporary)
        .map_err(|cause| JournalError::file("remove", &temporary, cause))?;
    let copied = copy(&home.journal(), &temporary).and_then(|events| {
        let damage = damage(&temporary, home, workshop)?;
        let _lock = lock(home)?;
        let file = free_name(&folder, at);
        settle(&temporary, &file).map_err(|cause| JournalError::file("write", &file, cause))?;
        Ok(JournalBackup {
            file,
            at,
            events,
            damage,
        })
    });
    if copied.is_err() {
        // The first error is the one that matters; a partial copy must not pass for a backup.
        drop(durable::remove_database(&temporary));
    }
    let backup = copied?;
    if backup.damage.is_some() {
        return Ok(backup);
    }
    // The new copy stays whatever the names say: clocks get set back, and names can be planted.
    let others = backups(home)
        .into_iter()
        .filter(|file| *file != backup.file);
    for old in others.skip(kept.max(1) - 1) {
        drop(fs::remove_file(old));
    }
    Ok(backup)
}

/// Returns whether the newest copy is at least `every` old, or there is none.
pub(crate) fn is_due(home: &JournalFolders, now: Timestamp, every: Duration) -> bool {
    let newest = backups(home).first().and_then(|file| taken_at(file));
    newest.is_none_or(|taken| now.since(taken) >= every)
}

/// Returns the existing copies, newest first.
pub fn backups(home: &JournalFolders) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.backups()) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| taken_at(path).is_some())
        .collect();
    files.sort();
    files.reverse();
    files
}

/// Reads when a copy was taken from its name, such as `journal_20261115_083000.db`.
pub fn taken_at(file: &Path) -> Option<Timestamp> {
    let name = file.file_name()?.to_str()?;
    let stamp = name.strip_prefix("journal_")?.strip_suffix(".db")?;
    let digits = stamp.get(..15)?;
    let (day, time) = digits.split_once('_')?;
    let text = format!(
        "{}-{}-{}T{}:{}:{}Z",
        day.get(..4)?,
        day.get(4..6)?,
        day.get(6..)?,
        time.get(..2)?,
        time.get(2..4)?,
        time.get(4..)?
    );
    text.parse().ok()
}

/// Returns a name of its own for each copy: the daily copy and a requested one may run at
/// the same time, even in two processes.
fn temporary_name(folder: &Path, at: Timestamp) -> PathBuf {
    static COPIES: AtomicU64 = AtomicU64::new(0);
    let (process, copy) = (std::process::id(), COPIES.fetch_add(1, Ordering::Relaxed));
    folder.join(format!("journal_{}.{process}-{copy}.tmp", at.compact()))
}

/// Locks the choice of a file name, so that two copies never take the same one. The lock is
/// held for the time of one rename.
fn lock(home: &JournalFolders) -> Result<fs::File, JournalError> {
    durable::make_folder(&home.locks())
        .map_err(|cause| JournalError::file("make", home.locks(), cause))?;
    durable::lock(&home.locks().join("backup.lock"))
}

/// Returns a description of what is wrong with a copy, or `None` if it is intact.
fn damage(
    copy: &Path,
    home: &JournalFolders,
    workshop: WorkshopId,
) -> Result<Option<String>, JournalError> {
    let keys = JournalSigningKeys::load(home.data(), workshop)?;
    let bad = verify_file(copy, home, workshop, &keys)?.first_bad;
    Ok(bad.map(|bad| format!("event {}: {}", bad.seq, bad.what)))
}

/// Returns an unused file name. Copies taken within one second get names that sort by age,
/// even after older ones were deleted.
fn free_name(folder: &Path, at: Timestamp) -> PathBuf {
    let stamp = at.compact();
    let plain = folder.join(format!("journal_{stamp}.db"));
    let number = |path: PathBuf| -> Option<u64> {
        let name = path.file_name()?.to_str()?;
        let rest = name.strip_prefix(&format!("journal_{stamp}"))?;
        let digits = rest.strip_suffix(".db")?;
        digits
            .strip_prefix('_')
            .map_or(Some(1), |digits| digits.parse().ok())
    };
    let taken = fs::read_dir(folder).ok().and_then(|entries| {
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
        paths.filter_map(number).max()
    });
    match taken {
        None => plain,
        Some(last) => folder.join(format!("journal_{stamp}_{:03}.db", last + 1)),
    }
}

fn copy(journal: &Path, to: &Path) -> Result<u64, JournalError> {
    let source = connect::reader(journal)?;
    let failed = |error: rusqlite::Error| JournalError::sqlite(to, &error);
    durable::make_private(to)?;
    let mut target = Connection::open(to).map_err(failed)?;
    {
        let copy = Copy::new(&source, &mut target).map_err(failed)?;
        // Copied in one step: between two steps a writer's commit would restart the copy, again
        // and again. In WAL mode a reader does not block writers.
        copy.step(-1).map_err(failed)?;
    }
    // The copy must be a single file: nothing of it may stay in a log beside it.
    target
        .pragma_update(None, "journal_mode", "DELETE")
        .map_err(failed)?;
    Ok(JournalHead::read(&target)
        .map_err(failed)?
        .map_or(0, |head| head.seq))
}

fn settle(temporary: &Path, file: &Path) -> std::io::Result<()> {
    fs::File::open(temporary)?.sync_all()?;
    fs::rename(temporary, file)?;
    file.parent().map_or(Ok(()), durable::sync_folder)
}
