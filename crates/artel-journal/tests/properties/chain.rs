//! The chain: whatever is appended fits, and whatever is changed is found.

use artel_journal::{EventBatch, EventQuery};
use artel_testkit::Scratch;
use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::{cases, events};

const COLUMNS: [&str; 18] = [
    "seq",
    "stream",
    "stream_seq",
    "at",
    "trace",
    "session",
    "run",
    "cause",
    "actor",
    "via",
    "kind",
    "target",
    "outcome",
    "visibility",
    "schema",
    "payload",
    "prev",
    "hash",
];

/// Anything that may stand in a column, not only what belongs there.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::Integer),
        (-3..300_i64).prop_map(Value::Integer),
        any::<f64>().prop_map(Value::Real),
        ".{0,30}".prop_map(Value::Text),
        proptest::collection::vec(any::<u8>(), 0..40).prop_map(Value::Blob),
        any::<[u8; 32]>().prop_map(|bytes| Value::Blob(bytes.to_vec())),
    ]
}

/// Puts a value into a column behind our back; tells whether that changed anything.
fn change(scratch: &Scratch, seq: u64, column: &str, new: &Value) -> bool {
    let connection = Connection::open(scratch.home.journal()).unwrap();
    let read = |seq: i64| -> Option<Value> {
        let sql = format!("SELECT {column} FROM event WHERE seq = {seq}");
        connection.query_row(&sql, [], |row| row.get(0)).ok()
    };
    let old = read(seq.cast_signed());
    let sql = format!("UPDATE event SET {column} = ? WHERE seq = {seq}");
    // A value that the table itself refuses (nothing where there must be something, a number that
    // is taken) changes nothing.
    connection.execute(&sql, [new]).is_ok() && read(seq.cast_signed()) != old
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn proof_tamper_any_list_of_events_is_one_chain_and_any_changed_field_breaks_it(
        batches in events::batches(1..150),
        changes in proptest::collection::vec((any::<Index>(), any::<Index>(), value()), 1..6),
    ) {
        let scratch = Scratch::new();
        let journal = scratch.create();
        let total: usize = batches.iter().map(Vec::len).sum();
        for batch in batches {
            journal.append(EventBatch::of(batch)).wait().unwrap();
        }
        drop(journal);
        let verified = scratch.verify();
        prop_assert!(verified.ok, "{:?}", verified);
        prop_assert_eq!(verified.events, total as u64);
        let records = scratch.reader().records(&EventQuery::all()).unwrap();
        for pair in records.windows(2) {
            prop_assert_eq!(pair[1].prev, pair[0].hash);
            prop_assert_eq!(pair[1].seq, pair[0].seq + 1);
        }

        let good = std::fs::read(scratch.home.journal()).unwrap();
        for (record, column, new) in changes {
            let seq = record.index(total) as u64 + 1;
            let column = column.get(&COLUMNS);
            if change(&scratch, seq, column, &new) {
                let verified = scratch.verify();
                prop_assert!(!verified.ok, "{} of {} became {:?}", column, seq, new);
                let found = verified.first_bad.unwrap();
                prop_assert!(found.seq <= seq, "{} of {}: {:?}", column, seq, found);
            }
            std::fs::write(scratch.home.journal(), &good).unwrap();
            drop(std::fs::remove_file(scratch.home.state().join("journal.db-wal")));
            drop(std::fs::remove_file(scratch.home.state().join("journal.db-shm")));
        }
        prop_assert!(scratch.verify().ok, "put back as it was, it fits again");
    }
}
