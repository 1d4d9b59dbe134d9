//! `journal verify`: whatever was changed is found and named.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::{House, old_run};

const EVENTS: u64 = 260;

/// Verifies, demands exit 1, and returns the first bad event with what is wrong.
#[track_caller]
fn first_bad(house: &House) -> (u64, String) {
    let seen = house.artel(["journal", "verify", "--json"]).run().expect(1);
    let found = seen.json();
    assert_eq!(found["ok"], false);
    let bad = &found["first_bad"];
    let (seq, what) = (bad["seq"].as_u64(), bad["what"].as_str());
    (seq.unwrap(), what.unwrap().to_owned())
}

#[test]
fn a_whole_journal_passes_with_its_signatures() {
    let house = House::with_events(EVENTS);
    let found = house.ok(["journal", "verify", "--json"]).json();
    assert_eq!(found["ok"], true);
    assert_eq!(found["events"], EVENTS);
    assert_eq!(found["first_bad"], serde_json::Value::Null);
    assert!(found["signatures"].as_u64().unwrap() >= 2, "{found}");
    insta::assert_snapshot!(house.ok(["journal", "verify"]).text(), @r"
        exit 0
        ok: 260 events, chain and stored values whole, 4 signatures
        ");
    house.ok(["doctor"]).says("260 events, chain and");
}

#[test]
fn it_still_passes_after_a_restart_a_backup_and_a_prune() {
    let house = House::with_events(EVENTS);
    old_run(&house, 100, 3, 120);
    let count = || house.ok(["journal", "verify", "--json"]).json()["events"].clone();
    assert_eq!(count(), EVENTS + 122);
    house.ok(["journal", "backup"]);
    assert_eq!(count(), EVENTS + 123);
    house.ok(["journal", "prune", "--before", "90d", "--yes"]);
    assert_eq!(count(), EVENTS + 124);
    house.ok(["journal", "backup"]);
    assert_eq!(count(), EVENTS + 125);
}

#[test]
fn one_changed_byte_of_any_column_is_named() {
    let house = House::with_events(EVENTS);
    let connection = Connection::open(house.journal_file()).unwrap();
    let columns: Vec<String> = connection
        .prepare("SELECT name FROM pragma_table_info('event')")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(columns.len(), 18);
    for column in columns.iter().filter(|column| *column != "seq") {
        let place = "FROM event WHERE seq = 150";
        let select = format!("SELECT {column} {place}");
        let old: Value = connection.query_row(&select, [], |row| row.get(0)).unwrap();
        let update = format!("UPDATE event SET {column} = ? WHERE seq = 150");
        connection.execute(&update, [changed(&old)]).unwrap();
        let (seq, what) = first_bad(&house);
        assert_eq!(seq, 150, "{column}: {what}");
        connection.execute(&update, [old]).unwrap();
    }
    house.ok(["journal", "verify"]);
}

fn changed(value: &Value) -> Value {
    match value {
        Value::Null => Value::Text("x".into()),
        Value::Integer(number) => Value::Integer(number ^ 1),
        Value::Real(number) => Value::Real(-number),
        Value::Text(text) => {
            let (start, end) = text.split_at(text.len() - 1);
            let end = if end == "x" { "y" } else { "x" };
            Value::Text(format!("{start}{end}"))
        }
        Value::Blob(bytes) => {
            let mut bytes = bytes.clone();
            bytes[0] ^= 1;
            Value::Blob(bytes)
        }
    }
}

/// Changes a journal behind its back; the text names what was done.
fn check(sql: &str, seq: u64, what: &str) {
    let house = House::with_events(EVENTS);
    house.tamper(sql);
    let found = first_bad(&house);
    assert_eq!(found.0, seq, "{sql}: {}", found.1);
    assert!(found.1.starts_with(what), "{sql}: {}", found.1);
}

#[test]
fn a_missing_event_is_named() {
    check("DELETE FROM event WHERE seq = 77", 77, "missing");
    check("DELETE FROM event WHERE seq = 1", 1, "missing");
}

#[test]
fn two_swapped_events_are_named() {
    check(
        "UPDATE event SET seq = -1 WHERE seq = 60; UPDATE event SET seq = 60 WHERE seq = 61; \
         UPDATE event SET seq = 61 WHERE seq = -1;",
        60,
        "reordered",
    );
}

#[test]
fn a_cut_tail_is_named() {
    check("DELETE FROM event WHERE seq > 240", 241, "truncated tail");
    check(
        "DELETE FROM event WHERE seq > 240; DELETE FROM checkpoint WHERE seq > 240; \
         UPDATE head SET seq = 240, hash = (SELECT hash FROM event WHERE seq = 240)",
        241,
        "truncated tail",
    );
    check(
        "DELETE FROM event; DELETE FROM checkpoint; DELETE FROM head",
        1,
        "truncated tail",
    );
}

#[test]
fn what_it_says_to_a_person() {
    let house = House::with_events(EVENTS);
    house.tamper("UPDATE event SET payload = '{}' WHERE seq = 77");
    insta::assert_snapshot!(house.artel(["journal", "verify"]).run().text(), @r"
        exit 1
        damaged at event 77: changed: its content does not have its hash
        76 events before it fit
        Next: `artel journal restore` goes on from the longest intact part or a backup
        ");
    let doctor = house.artel(["doctor"]).run().expect(1);
    doctor.says("problem  journal   damaged at event 77");
    // What can be read is still shown.
    assert_eq!(
        house.ok(["journal", "export"]).out.lines().count() as u64,
        EVENTS
    );
}

#[test]
fn a_rewritten_journal_does_not_pass_with_another_key() {
    let house = House::with_events(EVENTS);
    let other = House::new();
    let key = |house: &House| house.data().join("signing.key");
    std::fs::copy(key(&other), key(&house)).unwrap();
    let (seq, what) = first_bad(&house);
    assert!(seq <= 100 && what.contains("unknown key"), "{seq}: {what}");
}
