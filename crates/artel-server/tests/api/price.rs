//! What a look costs: as much as it shows, however long the journal is.

use artel_journal::EventBatch;
use artel_types::{Actor, EventDraft, NoteAdded, StreamName, TraceId};
use serde_json::json;

use crate::house::House;

/// So many events lie beside what is looked at, of so many bytes each.
const EVENTS: usize = 5_000;
const BYTES: usize = 2_000;

/// Returns what this process has read so far, in bytes.
fn bytes_read() -> u64 {
    let text = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    line.unwrap().parse().unwrap()
}

/// Makes the journal long, with what no list shows.
fn lengthen(house: &House) {
    let journal = house.workshop.open().unwrap().journal;
    let trace = TraceId::from_random([9; 16]);
    let note = |_| {
        let fact = NoteAdded {
            text: "x".repeat(BYTES).as_str().into(),
        };
        let stream = StreamName::new("notes").unwrap();
        EventDraft::new(stream, trace, Actor::system("test"), fact)
    };
    for _ in 0..EVENTS / 500 {
        journal
            .append(EventBatch::of((0..500).map(note)))
            .wait()
            .unwrap();
    }
}

#[test]
fn lists_and_pages_read_what_they_show_and_not_the_whole_journal() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "task": "Say hello" });
    let begun = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = begun.json()["run"].as_str().unwrap().to_owned();
    lengthen(&house);
    let whole = (EVENTS * BYTES) as u64;
    // The first look takes in what is new.
    house.get("developer", "/api/v1/changesets").expect(200);
    let before = bytes_read();
    assert_eq!(house.workshop.changesets().unwrap(), []);
    assert!(bytes_read() - before > whole, "whoever folds reads it all");
    let short = &run[..8];
    for path in [
        "/api/v1/changesets",
        "/api/v1/reports",
        "/changesets",
        "/reports",
        "/skills",
        "/runs",
        "/",
        &format!("/runs/{run}"),
        &format!("/runs/{short}"),
        &format!("/api/v1/runs/{short}"),
    ] {
        let before = bytes_read();
        house.get("developer", path).expect(200);
        let read = bytes_read() - before;
        assert!(read < whole / 4, "{path} reads {read} bytes");
    }
}
