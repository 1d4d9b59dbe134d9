//! What is looked at after a child was killed or the disk failed.

use std::collections::{BTreeMap, BTreeSet};

use artel_journal::{EventFilter, EventQuery};
use artel_testkit::{Scratch, note_text};

/// How many events the child records at once.
pub(crate) const PARTS: u64 = 3;

/// What the child was told is on disk: stream and round, with the first sequence number.
pub(crate) type Acknowledged = BTreeMap<(String, u64), u64>;

/// Notes what the child was told is recorded.
pub(crate) fn read_acks(lines: impl IntoIterator<Item = String>, into: &mut Acknowledged) {
    for line in lines {
        let fields: Vec<&str> = line.split(' ').collect();
        if let ["ack", tag, task, round, seq] = fields[..] {
            let key = (format!("{tag}/{task}"), round.parse().unwrap());
            assert_eq!(
                into.insert(key, seq.parse().unwrap()),
                None,
                "acknowledged twice"
            );
        }
    }
}

/// Looks at a journal after a kill and a restart.
pub(crate) fn check(scratch: &Scratch, acknowledged: &Acknowledged) {
    check_all(scratch, acknowledged, &BTreeSet::new());
}

/// The same, and that what was refused is not there.
pub(crate) fn check_all(
    scratch: &Scratch,
    acknowledged: &Acknowledged,
    refused: &BTreeSet<(String, u64)>,
) {
    drop(scratch.open());
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    let mut found: BTreeMap<(String, u64), Vec<(u64, String)>> = BTreeMap::new();
    let notes = EventFilter {
        kind: Some("note.".into()),
        ..EventFilter::default()
    };
    for record in scratch.reader().records(&EventQuery::of(notes)).unwrap() {
        let text = note_text(&record.payload);
        let (round, part) = text.split_once('.').unwrap();
        let key = (record.stream, round.parse().unwrap());
        found
            .entry(key)
            .or_default()
            .push((record.seq, part.to_owned()));
    }
    for (key, parts) in &found {
        let expected: Vec<String> = (0..PARTS).map(|part| part.to_string()).collect();
        let present: Vec<String> = parts.iter().map(|(_, part)| part.clone()).collect();
        assert_eq!(present, expected, "{key:?} is there once and whole");
    }
    for (key, seq) in acknowledged {
        let first = found.get(key).map(|parts| parts[0].0);
        assert_eq!(first, Some(*seq), "{key:?} was acknowledged at {seq}");
    }
    for key in refused {
        assert!(!found.contains_key(key), "{key:?} was refused and is there");
    }
}
