//! What an append promises: all or nothing, in order, at the expected place, without secrets.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::time::Duration;

use artel_journal::{
    EventBatch, EventFilter, EventQuery, Journal, JournalAppendError, JournalError, LeaseOwner,
    backups,
};
use artel_testkit::{ManualClock, Scratch, block_on, note, note_text, run_events};
use artel_types::{EventDraft, RecordedText, RunId, Secret, StreamName, TraceId};

fn texts(journal: &Journal, filter: EventFilter) -> Vec<String> {
    let records = journal.reader().records(&EventQuery::of(filter)).unwrap();
    records
        .iter()
        .map(|record| note_text(&record.payload))
        .collect()
}

#[test]
fn events_come_back_as_they_went_in() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let run = RunId::from_random([3; 16]);
    let drafts = run_events(run, TraceId::from_random([4; 16]), 2);
    let receipt = journal
        .append(EventBatch::of(drafts.clone()))
        .wait()
        .unwrap();
    assert_eq!(receipt.seqs, 1..=4);
    assert_eq!(receipt.stream_seqs, [1, 2, 3, 4]);
    let records = journal.reader().records(&EventQuery::all()).unwrap();
    for (draft, record) in drafts.iter().zip(&records) {
        let event = record.event().unwrap();
        let back = EventDraft {
            stream: event.stream,
            trace: event.trace,
            session: event.session,
            run: event.run,
            cause: event.cause,
            actor: event.actor,
            target: event.target,
            outcome: event.outcome,
            visibility: event.visibility,
            fact: event.fact,
        };
        assert_eq!(&back, draft);
    }
    drop(journal);
    assert!(scratch.verify().ok);
}

#[test]
fn what_may_wait_is_written_before_what_comes_next_or_alone() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let alone = EventBatch::from(note("a", "alone")).with_next();
    assert_eq!(journal.append(alone).wait().unwrap().seqs, 1..=1);
    let waits = journal.append(EventBatch::from(note("a", "waits")).with_next());
    let next = journal.append(note("a", "next"));
    assert_eq!(next.wait().unwrap().seqs, 3..=3);
    assert_eq!(waits.wait().unwrap().seqs, 2..=2);
    // Nothing that was asked for is lost in closing.
    drop(journal.append(EventBatch::from(note("a", "last")).with_next()));
    drop(journal);
    let found = texts(&scratch.open(), EventFilter::default());
    assert_eq!(found, ["alone", "waits", "next", "last"]);
}

#[test]
fn positions_count_per_stream_and_survive_reopening() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let batch = EventBatch::of([note("a", "1"), note("b", "1"), note("a", "2")]);
    assert_eq!(journal.append(batch).wait().unwrap().stream_seqs, [1, 1, 2]);
    drop(journal);
    let journal = scratch.open();
    assert_eq!(
        journal.append(note("a", "3")).wait().unwrap().stream_seqs,
        [3]
    );
    let stream = EventFilter {
        stream: Some("a".into()),
        ..EventFilter::default()
    };
    assert_eq!(texts(&journal, stream), ["1", "2", "3"]);
}

#[test]
fn an_expected_position_is_kept_or_the_append_is_refused() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let a = StreamName::new("a").unwrap();
    let at =
        |position| EventBatch::of([note("a", "x"), note("a", "y")]).expecting(a.clone(), position);
    journal.append(at(0)).wait().unwrap();
    let refused = journal.append(at(0)).wait();
    assert!(
        matches!(
            &refused,
            Err(JournalAppendError::Conflict {
                expected: 0,
                found: 2,
                ..
            })
        ),
        "{refused:?}"
    );
    journal.append(at(2)).wait().unwrap();
    assert_eq!(
        journal.reader().head().unwrap(),
        4,
        "a refused batch leaves nothing behind"
    );
}

#[test]
fn an_empty_or_oversized_batch_is_refused_whole() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    assert!(matches!(
        journal.append(EventBatch::of([])).wait(),
        Err(JournalAppendError::Empty)
    ));
    let huge = "x".repeat(2 << 20);
    let refused = journal
        .append(EventBatch::of([note("a", "small"), note("a", &huge)]))
        .wait();
    assert!(
        matches!(refused, Err(JournalAppendError::TooLarge { .. })),
        "{refused:?}"
    );
    assert_eq!(journal.reader().head().unwrap(), 0);
}

#[test]
fn known_secrets_reach_neither_events_nor_blobs() {
    let mut scratch = Scratch::new();
    let secret = Secret::new("hunter2-hunter2");
    scratch.options.redactor = artel_types::SecretRedactor::of_known_values([&secret]);
    let journal = scratch.create();
    let draft = note("a", "the key is hunter2-hunter2!").on("https://x/?k=hunter2-hunter2");
    journal.append(draft).wait().unwrap();
    let kept = journal.blobs().put(b"log: hunter2-hunter2\n").unwrap();
    assert_eq!(
        journal.blobs().get(&kept.blob).unwrap(),
        b"log: [REDACTED]\n"
    );
    drop(journal);
    let leak = find(scratch.path(), b"hunter2");
    assert_eq!(leak, None);
    let record = scratch
        .reader()
        .records(&EventQuery::all())
        .unwrap()
        .remove(0);
    assert_eq!(note_text(&record.payload), "the key is [REDACTED]!");
    assert_eq!(record.target.as_deref(), Some("https://x/?k=[REDACTED]"));
}

/// Returns the first file below `folder` that holds `needle`.
fn find(folder: &std::path::Path, needle: &[u8]) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let found = if path.is_dir() {
            find(&path, needle)
        } else {
            let bytes = std::fs::read(&path).unwrap();
            bytes
                .windows(needle.len())
                .any(|part| part == needle)
                .then_some(path)
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[test]
fn a_blob_that_was_changed_or_lost_is_not_handed_out() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let kept = journal.blobs().put(b"large").unwrap();
    assert_eq!(
        journal.blobs().put(b"large").unwrap(),
        kept,
        "the same bytes, the same address"
    );
    journal
        .append(EventDraft {
            fact: artel_types::NoteAdded {
                text: RecordedText::Kept(kept.clone()),
            }
            .into(),
            ..note("a", "")
        })
        .wait()
        .unwrap();
    let (shelf, name) = kept.blob.as_str().split_at(2);
    let path = scratch.home.blobs().join(shelf).join(name);
    std::fs::write(&path, b"LARGE").unwrap();
    assert!(matches!(
        journal.blobs().get(&kept.blob),
        Err(JournalError::Blob { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(
        journal.blobs().get(&kept.blob),
        Err(JournalError::Blob { .. })
    ));
}

#[test]
fn leases_are_exclusive_fenced_and_run_out() {
    let clock = ManualClock::at("2026-11-15T08:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let minute = Duration::from_secs(60);
    let (ann, bob) = (
        LeaseOwner::this_process("ann"),
        LeaseOwner::this_process("bob"),
    );
    let first = block_on(journal.take_lease("run/1", ann.clone(), minute)).unwrap();
    let refused = block_on(journal.take_lease("run/1", bob.clone(), minute)).unwrap_err();
    assert!(refused.to_string().contains("held by ann"), "{refused}");

    clock.pass(Duration::from_secs(50));
    block_on(journal.renew_lease(&first.fence, minute)).unwrap();
    clock.jump(86_400_000_000);
    assert!(
        block_on(journal.take_lease("run/1", bob.clone(), minute)).is_err(),
        "a jump of the wall clock ends no lease"
    );
    journal
        .append(EventBatch::from(note("r", "1")).fenced(&first.fence))
        .wait()
        .unwrap();

    clock.pass(Duration::from_secs(61));
    let second = block_on(journal.take_lease("run/1", bob, minute)).unwrap();
    assert_eq!(second.taken_from, Some(ann.clone()));
    assert!(second.fence.token() > first.fence.token());
    let late = journal
        .append(EventBatch::from(note("r", "2")).fenced(&first.fence))
        .wait();
    assert!(
        matches!(late, Err(JournalAppendError::Fenced { .. })),
        "{late:?}"
    );
    assert!(block_on(journal.renew_lease(&first.fence, minute)).is_err());

    block_on(journal.release_lease(&second.fence)).unwrap();
    let third = block_on(journal.take_lease("run/1", ann, minute)).unwrap();
    assert!(
        third.fence.token() > second.fence.token(),
        "a number is never given out again"
    );
}

#[test]
fn a_dead_owner_loses_its_lease_at_once() {
    let clock = ManualClock::at("2026-11-15T08:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let mut gone = LeaseOwner::this_process("gone");
    // No process has this number: the largest that Linux gives out is 4,194,303.
    gone.pid = 4_194_304;
    assert!(gone.is_dead());
    block_on(journal.take_lease("run/1", gone, Duration::from_secs(3600))).unwrap();
    let taken = block_on(journal.take_lease(
        "run/1",
        LeaseOwner::this_process("me"),
        Duration::from_secs(60),
    ));
    assert!(taken.is_ok(), "{taken:?}");
}

#[test]
fn a_missing_journal_is_never_replaced_by_an_empty_one() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    journal.append(note("a", "1")).wait().unwrap();
    drop(journal);
    std::fs::remove_file(scratch.home.journal()).unwrap();
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone());
    assert!(
        matches!(opened, Err(JournalError::Missing { .. })),
        "{opened:?}"
    );
    let created = Journal::create(&scratch.home, scratch.workshop, scratch.options.clone());
    assert!(
        matches!(created, Err(JournalError::Shortened { .. })),
        "{created:?}"
    );
}

#[test]
fn the_journal_of_another_workshop_is_refused() {
    let (mine, other) = (Scratch::new(), Scratch::new());
    drop((mine.create(), other.create()));
    let stranger = artel_types::WorkshopId::from_random([8; 16]);
    let opened = Journal::open(&mine.home, stranger, mine.options.clone());
    assert!(
        matches!(opened, Err(JournalError::Foreign { .. })),
        "{opened:?}"
    );
}

#[test]
fn several_share_a_writer_and_each_hides_their_own_secrets() {
    let scratch = Scratch::new();
    let one = scratch.create();
    let secret = Secret::new("correct-horse-battery");
    let mut options = scratch.options.clone();
    options.redactor = artel_types::SecretRedactor::of_known_values([&secret]);
    let other = one.shared_with(options.clone()).unwrap();
    let said = "the word is correct-horse-battery";
    assert_eq!(one.append(note("a", said)).wait().unwrap().seqs, 1..=1);
    assert_eq!(other.append(note("a", said)).wait().unwrap().seqs, 2..=2);
    let told = texts(&one, EventFilter::default());
    assert_eq!(told[0], said);
    assert!(!told[1].contains("horse"), "{told:?}");
    // Whoever closes first leaves the writer to the others.
    drop(one);
    assert_eq!(other.append(note("a", "on")).wait().unwrap().seqs, 3..=3);
    options.durability = artel_journal::CommitDurability::Normal;
    assert!(
        other.shared_with(options).is_none(),
        "its writer is another"
    );
    drop(other);
    assert!(scratch.verify().ok);
}

#[test]
fn a_journal_that_stays_open_is_backed_up_each_day() {
    let clock = ManualClock::at("2026-11-16T08:00:00Z");
    let mut scratch = Scratch::with_clock(clock.clock());
    let day = Duration::from_secs(86_400);
    scratch.options.backup_every = Some(day);
    let journal = scratch.create();
    let said = journal.append(note("a", "something to lose"));
    said.wait().unwrap();
    for count in 1..=3 {
        // Whoever asks while it is being taken gets no second one, nor does who asks too soon.
        while backups(&scratch.home).len() < count {
            journal.back_up_when_due();
            std::thread::yield_now();
        }
        journal.back_up_when_due();
        clock.pass(day);
    }
    drop(journal);
    assert_eq!(backups(&scratch.home).len(), 3);
}
