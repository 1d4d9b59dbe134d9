//! Opens the file for writing: migrates it, looks for a torn tail, and checks that it can
//! be continued.

use artel_types::WorkshopId;

use crate::admit;
use crate::backup::{self, JournalBackup};
use crate::connect::{self, CreateIfMissing};
use crate::error::JournalError;
use crate::head::JournalHead;
use crate::home::JournalFolders;
use crate::journal::JournalOptions;
use crate::keys::JournalSigningKeys;
use crate::migrate;
use crate::schema::MIGRATIONS;
use crate::turnstile::WriteTurnQueue;
use crate::wal;

/// The result of opening the file for writing.
pub(crate) struct JournalOpenFindings {
    pub(crate) head: JournalHead,
    pub(crate) anchored: u64,
    pub(crate) restores: usize,
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) torn: u64,
    pub(crate) migrated: Option<(migrate::JournalMigrationOutcome, JournalBackup)>,
    pub(crate) notes: Vec<String>,
}

/// Opens the file for writing and checks that it can be continued.
pub(crate) fn prepare_file(
    home: &JournalFolders,
    workshop: WorkshopId,
    options: &JournalOptions,
    keys: &JournalSigningKeys,
    turnstile: &WriteTurnQueue,
) -> Result<(rusqlite::Connection, JournalOpenFindings), JournalError> {
    let path = home.journal();
    let _turn = turnstile.enter()?;
    let torn = wal::torn_bytes(&path);
    let connection = connect::writer(&path, options.durability, CreateIfMissing::No)?;
    // A journal that is not ours is left untouched, including its format.
    admit::refuse_foreign(&connection, &path, workshop)?;
    let mut backup = None;
    let migrated = migrate::bring_up(&connection, &path, MIGRATIONS, || {
        let kept = options.backups_kept;
        backup = Some(backup::take(home, workshop, &options.clock, kept)?);
        Ok(())
    })?;
    let admitted = admit::check(&connection, home, keys, workshop)?;
    let found = JournalOpenFindings {
        head: admitted.head,
        anchored: admitted.anchored,
        restores: admitted.restores,
        identity: crate::writer::identity(&path),
        torn,
        migrated: migrated.zip(backup),
        notes: admitted.finding.into_iter().collect(),
    };
    Ok((connection, found))
}
