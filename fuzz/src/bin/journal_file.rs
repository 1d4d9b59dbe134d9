//! A journal with bytes changed at will: the change is found, or every answer is still right.
//!
//! The input is a list of edits, three bytes of place and one of value each.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use artel_config::system_clock;
use artel_journal::{
    EventBatch, EventQuery, Journal, JournalFolders, JournalOptions, JournalReader, JournalRecord,
    JournalSigningKeys, verify,
};
use artel_types::{Actor, EventDraft, NoteAdded, StreamName, TraceId, WorkshopId};
use libfuzzer_sys::fuzz_target;

struct Base {
    home: JournalFolders,
    workshop: WorkshopId,
    keys: JournalSigningKeys,
    bytes: Vec<u8>,
    records: Vec<JournalRecord>,
}

static BASE: LazyLock<Base> = LazyLock::new(|| {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = base.join(format!("artel-fuzz-journal-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder to write to");
    let home = JournalFolders::new(folder.join(".artel"), folder.join("data"));
    let workshop = WorkshopId::from_random([9; 16]);
    let trace = TraceId::from_random([7; 16]);
    let options = JournalOptions::new(system_clock(), trace);
    let journal = Journal::create(&home, workshop, options)
        .expect("a journal")
        .journal;
    let stream = StreamName::new("notes").expect("a name");
    let note = |text: String| {
        let fact = NoteAdded {
            text: text.as_str().into(),
        };
        EventDraft::new(stream.clone(), trace, Actor::agent("engineer"), fact)
    };
    let notes = (0..120).map(|number| note(format!("remark {number}")));
    journal
        .append(EventBatch::of(notes))
        .wait()
        .expect("room for the events");
    drop(journal);
    let records = JournalReader::open(&home)
        .expect("it opens")
        .records(&EventQuery::all())
        .expect("it reads");
    let bytes = std::fs::read(home.journal()).expect("the file");
    let keys = JournalSigningKeys::load(home.data(), workshop).expect("the key");
    Base {
        home,
        workshop,
        keys,
        bytes,
        records,
    }
});

fuzz_target!(|input: &[u8]| {
    let base = &*BASE;
    let mut bytes = base.bytes.clone();
    for edit in input.chunks_exact(4).take(16) {
        let place = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize % bytes.len();
        bytes[place] = edit[3];
    }
    std::fs::write(base.home.journal(), &bytes).expect("a file to write");
    let verified = verify(&base.home, base.workshop, &base.keys);
    let read =
        JournalReader::open(&base.home).and_then(|reader| reader.records(&EventQuery::all()));
    if verified.is_ok_and(|verified| verified.ok) {
        assert_eq!(read.expect("a journal that passed reads"), base.records);
    }
});
