//! Migrates an older file to the format of this build.

use std::path::Path;

use rusqlite::Connection;

use crate::connect;
use crate::error::JournalError;
use crate::schema::{APPLICATION_ID, JournalMigration};

/// The outcome of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalMigrationOutcome {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Creates the tables in an empty file.
pub(crate) fn create(connection: &Connection, steps: &[JournalMigration]) -> rusqlite::Result<()> {
    create_with(connection, steps, |_| Ok(()))
}

/// Creates the tables in an empty file and inserts the first rows, all or nothing.
pub(crate) fn create_with(
    connection: &Connection,
    steps: &[JournalMigration],
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    for step in steps {
        connection.execute_batch(step.sql)?;
    }
    let newest = steps.last().map_or(0, |step| step.to);
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", newest)?;
    fill(connection)?;
    connection.execute_batch("COMMIT")
}

/// Applies every missing step, each in its own transaction together with its number.
/// `back_up` runs before the first step; if it fails, nothing is changed.
pub(crate) fn bring_up(
    connection: &Connection,
    path: &Path,
    steps: &[JournalMigration],
    back_up: impl FnOnce() -> Result<(), JournalError>,
) -> Result<Option<JournalMigrationOutcome>, JournalError> {
    let from = connect::format(connection, path)?;
    let newest = steps.last().map_or(0, |step| step.to);
    if from > newest {
        return Err(JournalError::TooNew {
            path: path.to_owned(),
            found: from,
            newest,
        });
    }
    if from == newest {
        return Ok(None);
    }
    back_up()?;
    for step in steps.iter().filter(|step| step.to > from) {
        apply(connection, step).map_err(|error| {
            drop(connection.execute_batch("ROLLBACK"));
            JournalError::Migration {
                from,
                to: step.to,
                what: error.to_string(),
            }
        })?;
    }
    Ok(Some(JournalMigrationOutcome { from, to: newest }))
}

fn apply(connection: &Connection, step: &JournalMigration) -> rusqlite::Result<()> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    connection.execute_batch(step.sql)?;
    connection.pragma_update(None, "user_version", step.to)?;
    connection.execute_batch("COMMIT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::MIGRATIONS;

    fn version_one() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        create(&connection, &MIGRATIONS[..1]).unwrap();
        connection
            .execute("INSERT INTO meta VALUES ('workshop', 'w')", [])
            .unwrap();
        connection
    }

    fn value(connection: &Connection) -> String {
        connection
            .query_row("SELECT value FROM meta", [], |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn an_older_file_is_brought_up_without_loss() {
        let connection = version_one();
        let done = bring_up(&connection, Path::new("x"), MIGRATIONS, || Ok(())).unwrap();
        assert_eq!(done, Some(JournalMigrationOutcome { from: 1, to: 2 }));
        assert_eq!(value(&connection), "w");
        assert_eq!(
            bring_up(&connection, Path::new("x"), MIGRATIONS, || Ok(())).unwrap(),
            None
        );
    }

    #[test]
    fn a_failing_step_changes_nothing() {
        let connection = version_one();
        let steps = [
            JournalMigration { to: 1, sql: "" },
            JournalMigration {
                to: 2,
                sql: "DROP TABLE meta; CREATE TABLE head (id INTEGER);",
            },
        ];
        let failed = bring_up(&connection, Path::new("x"), &steps, || Ok(()));
        assert!(
            matches!(failed, Err(JournalError::Migration { from: 1, to: 2, .. })),
            "{failed:?}"
        );
        assert_eq!(connect::format(&connection, Path::new("x")).unwrap(), 1);
        assert_eq!(value(&connection), "w");
    }

    #[test]
    fn without_a_backup_nothing_is_changed() {
        let connection = version_one();
        let refused = || Err(JournalError::DiskFull { path: "b".into() });
        assert!(bring_up(&connection, Path::new("x"), MIGRATIONS, refused).is_err());
        assert_eq!(connect::format(&connection, Path::new("x")).unwrap(), 1);
    }

    #[test]
    fn a_newer_file_is_refused() {
        let connection = version_one();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let refused = bring_up(&connection, Path::new("x"), MIGRATIONS, || Ok(()));
        assert!(matches!(
            refused,
            Err(JournalError::TooNew {
                found: 99,
                newest: 2,
                ..
            })
        ));
    }
}
