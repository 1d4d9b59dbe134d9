//! Opens the file for writing: migrates it, looks for a torn tail, and checks that it can
//! be continued.

use artel_types::WorkshopId;

use crate::admit;
use crate::backup::{self, Backup};
use crate::connect::{self, Create};
use crate::error::JournalError;
use crate::head::Head;
use crate::home::Home;
use crate::journal::Options;
use crate::keys::Keys;
use crate::migrate;
use crate::schema::MIGRATIONS;
use crate::turnstile::Turnstile;
use crate::wal;

/// The result of opening the file for writing.
pub(crate) struct Found {
    pub(crate) head: Head,
    pub(crate) anchored: u64,
    pub(crate) restores: usize,
    pub(crate) identity: Option<(u64, u64)>,
    pub(crate) torn: u64,
    pub(crate) migrated: Option<(migrate::Migrated, Backup)>,
    pub(crate) notes: Vec<String>,
}

/// Opens the file for writing and checks that it can be continued.
pub(crate) fn prepare_file(
    home: &Home,
    workshop: WorkshopId,
    options: &Options,
    keys: &Keys,
    turnstile: &Turnstile,
) -> Result<(rusqlite::Connection, Found), JournalError> {
    let path = home.journal();
    let _turn = turnstile.enter()?;
    let torn = wal::torn_bytes(&path);
    let connection = connect::writer(&path, options.durability, Create::No)?;
    // A journal that is not ours is left untouched, including its format.
    admit::refuse_foreign(&connection, &path, workshop)?;
    let mut backup = None;
    let migrated = migrate::bring_up(&connection, &path, MIGRATIONS, || {
        let kept = options.backups_kept;
        backup = Some(backup::take(home, workshop, &options.clock, kept)?);
        Ok(())
    })?;
    let admitted = admit::check(&connection, home, keys, workshop)?;
    let found = Found {
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
