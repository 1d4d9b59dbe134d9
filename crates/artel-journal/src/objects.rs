//! Checks that the file holds exactly the tables that we made.
//!
//! Anyone who can write the file can plant a trigger that fires on our next append, or put
//! a view in the place of a table. Neither changes a stored event, so the chain alone would
//! not show it.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::migrate;
use crate::schema::MIGRATIONS;

/// The objects of a schema by name, each with its type and definition.
type Objects = BTreeMap<String, (String, Option<String>)>;

/// An object in the schema that is not as we made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnexpectedSchemaObject {
    /// Description of the difference.
    pub(crate) what: String,
    /// Whether one of our own tables was tampered with, so that reading it means nothing.
    pub(crate) is_table: bool,
}

/// Returns an object that should not be in a file of this format, or that is missing from
/// it.
pub(crate) fn check(
    connection: &Connection,
    format: u32,
) -> rusqlite::Result<Option<UnexpectedSchemaObject>> {
    let steps = MIGRATIONS
        .iter()
        .take_while(|step| step.to <= format)
        .count();
    let model = Connection::open_in_memory()?;
    migrate::create(&model, &MIGRATIONS[..steps])?;
    let (expected, found) = (objects(&model)?, objects(connection)?);
    let is_table = |name: &String| expected.get(name).is_some_and(|(sort, _)| sort == "table");
    let foreign = found
        .iter()
        .filter(|(name, object)| expected.get(*name) != Some(object))
        .map(|(name, (sort, _))| UnexpectedSchemaObject {
            what: format!("it holds a {sort} `{name}` that Artel did not make"),
            is_table: is_table(name),
        });
    let missing = expected
        .keys()
        .filter(|name| !found.contains_key(*name))
        .map(|name| UnexpectedSchemaObject {
            what: format!("`{name}` is missing"),
            is_table: is_table(name),
        });
    // Tampering with one of our tables is worse than an extra object.
    Ok(foreign
        .chain(missing)
        .max_by_key(|planted| planted.is_table))
}

fn objects(connection: &Connection) -> rusqlite::Result<Objects> {
    // Objects that SQLite keeps for itself: statistics, and the indexes of primary keys.
    // Nothing else may hide behind its prefix.
    let mut statement = connection.prepare(
        "SELECT name, type, sql FROM sqlite_schema WHERE NOT \
         (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4') \
          OR type = 'index' AND name GLOB 'sqlite_autoindex_*' AND sql IS NULL)",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?;
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_after(sql: &str) -> Option<UnexpectedSchemaObject> {
        let connection = Connection::open_in_memory().unwrap();
        migrate::create(&connection, MIGRATIONS).unwrap();
        connection.execute_batch(sql).unwrap();
        check(&connection, crate::schema::newest()).unwrap()
    }

    #[test]
    fn only_our_own_objects_pass() {
        assert_eq!(check_after("ANALYZE"), None);
        for (sql, found) in [
            (
                "CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END",
                "trigger `t`",
            ),
            ("CREATE VIEW v AS SELECT 1", "view `v`"),
            (
                "ALTER TABLE event RENAME TO e; CREATE VIEW event AS SELECT * FROM e",
                "view `event`",
            ),
            ("CREATE TABLE more (x)", "table `more`"),
            ("DROP INDEX event_kind", "`event_kind` is missing"),
            ("ALTER TABLE event ADD COLUMN more", "table `event`"),
        ] {
            let said = check_after(sql).unwrap();
            assert!(said.what.contains(found), "{sql}: {}", said.what);
            assert_eq!(said.is_table, found.contains("`event`"), "{sql}");
        }
    }
}
