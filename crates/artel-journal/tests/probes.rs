//! Attacks on the journal's files and on its sense of time: each is found, or does no harm, and
//! none keeps anybody waiting.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a step that fails, fails the test; the children are the test's own"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::Duration;

use artel_journal::{
    EventBatch, EventQuery, Journal, JournalError, JournalFolders, JournalOptions, JournalReader,
    LeaseOwner, backups,
};
use artel_testkit::{Child, ManualClock, Scratch, block_on, note, note_text, run_events};
use artel_types::{Actor, ActorSurface, Clock, RunId, TraceId, WorkshopId};
use rusqlite::Connection;

/// Longer than anything here takes; only what hangs takes it.
const PATIENCE: Duration = Duration::from_secs(30);

/// A closed journal with a few hundred events in one file, without a log beside it.
fn filled() -> Scratch {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let notes = (1..=150).map(|number| note("notes", &format!("remark {number}")));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    drop(journal);
    assert!(scratch.verify().ok);
    scratch
}

fn beside(scratch: &Scratch, suffix: &str) -> PathBuf {
    let name = format!("journal.db{suffix}");
    scratch.home.state().join(name)
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap()
    } else {
        drop(fs::remove_file(path))
    }
}

fn make_pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Does something, and fails if that has no end.
#[track_caller]
fn ends<T: Send + 'static>(what: &str, does: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, end) = channel();
    std::thread::spawn(move || done.send(does()));
    let end = end.recv_timeout(PATIENCE);
    end.unwrap_or_else(|_| panic!("it has no end: {what}"))
}

fn opens(scratch: &Scratch) -> Result<u64, JournalError> {
    let opened = Journal::open(&scratch.home, scratch.workshop, scratch.options.clone())?;
    opened.journal.reader().head()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn whatever_lies_in_the_place_of_the_log_keeps_nobody_waiting_and_changes_nothing_elsewhere() {
    for suffix in ["-wal", "-shm"] {
        for what in [
            "a pipe",
            "a link",
            "a link to nothing",
            "a folder",
            "garbage",
        ] {
            let scratch = filled();
            let (place, victim) = (beside(&scratch, suffix), scratch.path().join("victim"));
            remove(&place);
            fs::write(&victim, "somebody else's\n").unwrap();
            match what {
                "a pipe" => make_pipe(&place),
                "a link" => symlink(&victim, &place).unwrap(),
                "a link to nothing" => symlink(scratch.path().join("made"), &place).unwrap(),
                "a folder" => fs::create_dir(&place).unwrap(),
                _ => fs::write(&place, [0x5a; 40_000]).unwrap(),
            }
            let (home, options) = (scratch.home.clone(), scratch.options.clone());
            let workshop = scratch.workshop;
            ends(&format!("opening with {what} as {suffix}"), move || {
                let opened = Journal::open(&home, workshop, options);
                let append = |it: artel_journal::OpenedJournal| {
                    it.journal.append(note("notes", "later")).wait().ok()
                };
                drop(opened.map(append));
            });
            let home = scratch.home.clone();
            ends(&format!("reading with {what} as {suffix}"), move || {
                let reader = JournalReader::open(&home);
                drop(reader.map(|reader| reader.records(&EventQuery::all())));
            });
            let kept = fs::read_to_string(&victim).unwrap();
            assert_eq!(kept, "somebody else's\n", "{what} as {suffix}");
            assert!(!scratch.path().join("made").exists(), "{what} as {suffix}");
            remove(&place);
            let verified = scratch.verify();
            assert!(
                verified.ok && verified.events >= 150,
                "{what} as {suffix}: {verified:?}"
            );
            opens(&scratch).unwrap();
        }
    }
}

/// Somebody copied a file and its log by hand, and mixed two of them up.
#[test]
fn the_log_of_another_journal_does_no_lasting_harm() {
    for events in [5, 400] {
        let scratch = filled();
        let file = fs::read(scratch.home.journal()).unwrap();
        let other = Scratch::new();
        drop(other.create());
        let mut child = Child::appender(&other, "other", [1, 1, 0]);
        let lines: Vec<_> = (0..events).map_while(|_| child.line()).collect();
        assert_eq!(lines.len(), events);
        child.kill();
        let log = fs::read(beside(&other, "-wal")).unwrap();
        assert!(log.len() > 4_096);
        remove(&beside(&scratch, "-shm"));
        fs::write(beside(&scratch, "-wal"), log).unwrap();
        let refused = opens(&scratch);
        assert!(refused.is_err(), "{refused:?}");
        let now = fs::read(scratch.home.journal()).unwrap();
        assert!(
            now == file,
            "{events}: what was refused was written into the file: {refused:?}"
        );
        remove(&beside(&scratch, "-wal"));
        remove(&beside(&scratch, "-shm"));
        let verified = scratch.verify();
        assert!(verified.ok && verified.events == 150, "{verified:?}");
        assert_eq!(opens(&scratch).unwrap(), 150);
    }
}

/// The same, with an older log of the very same journal: it says whose it is, and fits in no other
/// way.
#[test]
fn an_older_log_of_the_same_journal_does_no_lasting_harm() {
    let scratch = Scratch::new();
    drop(scratch.create());
    let mut child = Child::appender(&scratch, "early", [1, 1, 0]);
    let lines: Vec<_> = (0..40).map_while(|_| child.line()).collect();
    assert_eq!(lines.len(), 40);
    child.kill();
    let older = fs::read(beside(&scratch, "-wal")).unwrap();
    let journal = scratch.open();
    let notes = (1..=600).map(|number| note("later", &format!("remark {number}")));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    drop(journal);
    let (file, events) = (
        fs::read(scratch.home.journal()).unwrap(),
        scratch.verify().events,
    );
    remove(&beside(&scratch, "-shm"));
    fs::write(beside(&scratch, "-wal"), older).unwrap();
    let verified = artel_journal::JournalSigningKeys::load(scratch.home.data(), scratch.workshop)
        .and_then(|keys| artel_journal::verify(&scratch.home, scratch.workshop, &keys));
    assert!(!verified.is_ok_and(|it| it.ok), "it was not found");
    let refused = opens(&scratch);
    assert!(refused.is_err(), "{refused:?}");
    let now = fs::read(scratch.home.journal()).unwrap();
    assert!(now == file, "what was refused was written into the file");
    remove(&beside(&scratch, "-wal"));
    remove(&beside(&scratch, "-shm"));
    let verified = scratch.verify();
    assert!(verified.ok && verified.events == events, "{verified:?}");
}

/// A copy of the whole, with the key: another history is written there and put in place.
#[test]
fn another_history_by_the_same_key_is_not_taken_for_this_one() {
    for unsigned in [false, true] {
        let scratch = filled();
        let fork = scratch.path().join("fork");
        copy(scratch.home.state(), &fork.join("state"));
        copy(scratch.home.data(), &fork.join("data"));
        let append = |home: &JournalFolders, words: &str, count: usize| {
            let opened = Journal::open(home, scratch.workshop, scratch.options.clone()).unwrap();
            let notes = (0..count).map(|_| note("notes", words));
            opened.journal.append(EventBatch::of(notes)).wait().unwrap();
        };
        append(&scratch.home, "what happened", 30);
        let forked = JournalFolders::new(fork.join("state"), fork.join("data"));
        append(&forked, "what never happened", 90);
        if unsigned {
            let connection = Connection::open(forked.journal()).unwrap();
            let cut = "DELETE FROM checkpoint WHERE seq > 150";
            connection.execute_batch(cut).unwrap();
        }
        for suffix in ["-wal", "-shm"] {
            remove(&beside(&scratch, suffix));
        }
        fs::copy(forked.journal(), scratch.home.journal()).unwrap();
        let verified = scratch.verify();
        let bad = verified.first_bad.unwrap();
        assert!(bad.seq > 150, "{bad:?}");
        let refused = opens(&scratch);
        assert!(refused.is_err(), "unsigned: {unsigned}: {refused:?}");
    }
}

#[test]
fn events_that_are_missing_in_the_middle_are_found_whatever_was_written_since() {
    let scratch = filled();
    let connection = Connection::open(scratch.home.journal()).unwrap();
    let gap = "DELETE FROM event WHERE seq BETWEEN 40 AND 60; \
               DELETE FROM checkpoint WHERE seq BETWEEN 40 AND 60;";
    connection.execute_batch(gap).unwrap();
    drop(connection);
    let journal = scratch.open();
    let notes = (0..120).map(|_| note("notes", "a tail of its own"));
    journal.append(EventBatch::of(notes)).wait().unwrap();
    drop(journal);
    let verified = scratch.verify();
    let bad = verified.first_bad.unwrap();
    assert_eq!(bad.seq, 40, "{bad:?}");
    assert!(bad.what.starts_with("missing"), "{bad:?}");
}

#[test]
fn large_values_of_equal_length_that_were_swapped_are_not_handed_out() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    let kept: Vec<_> = [b'a', b'b']
        .map(|letter| journal.blobs().put(&[letter; 100_000]).unwrap())
        .into();
    let path = |number: usize| {
        let (shelf, name) = kept[number].blob.as_str().split_at(2);
        scratch.home.blobs().join(shelf).join(name)
    };
    let aside = scratch.path().join("aside");
    fs::rename(path(0), &aside).unwrap();
    fs::rename(path(1), path(0)).unwrap();
    fs::rename(&aside, path(1)).unwrap();
    for one in &kept {
        let got = journal.blobs().get(&one.blob);
        assert!(matches!(got, Err(JournalError::Blob { .. })), "{got:?}");
    }
    // Storing them once more puts things right.
    for letter in [b'a', b'b'] {
        let again = journal.blobs().put(&[letter; 100_000]).unwrap();
        assert_eq!(journal.blobs().get(&again.blob).unwrap(), [letter; 100_000]);
    }
}

#[test]
fn a_pipe_a_link_or_a_device_in_the_place_of_a_large_value_keeps_nobody_waiting() {
    for what in ["a pipe", "a device", "a folder"] {
        let scratch = Scratch::new();
        let journal = scratch.create();
        let bytes = [7; 100_000];
        let kept = journal.blobs().put(&bytes).unwrap();
        let (shelf, name) = kept.blob.as_str().split_at(2);
        let place = scratch.home.blobs().join(shelf).join(name);
        fs::remove_file(&place).unwrap();
        match what {
            "a pipe" => make_pipe(&place),
            "a device" => symlink("/dev/zero", &place).unwrap(),
            _ => fs::create_dir(&place).unwrap(),
        }
        let (blobs, blob) = (journal.blobs().clone(), kept.blob.clone());
        let got = ends(&format!("reading {what}"), move || blobs.get(&blob));
        assert!(got.is_err(), "{what}: {got:?}");
        let blobs = journal.blobs().clone();
        let put = ends(&format!("writing over {what}"), move || blobs.put(&bytes));
        if put.is_ok() {
            assert_eq!(journal.blobs().get(&kept.blob).unwrap(), bytes, "{what}");
        }
    }
}

fn at(clock: Clock, workshop: WorkshopId, home: &JournalFolders) -> Journal {
    let options = JournalOptions {
        patience: PATIENCE,
        ..JournalOptions::new(clock, TraceId::from_random([1; 16]))
    };
    Journal::open(home, workshop, options).unwrap().journal
}

#[test]
fn a_clock_at_either_end_of_the_calendar_stops_nothing() {
    let clock = ManualClock::at("2026-11-18T12:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    drop(scratch.create());
    let moments = [
        "1970-01-01T00:00:00Z",
        "9999-12-30T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "2026-11-18T12:00:00Z",
    ];
    for (number, moment) in moments.into_iter().enumerate() {
        let clock = ManualClock::at(moment);
        let journal = at(clock.clock(), scratch.workshop, &scratch.home);
        let run = RunId::from_random([u8::try_from(number).unwrap(); 16]);
        let events = run_events(run, TraceId::from_random([4; 16]), 3);
        journal.append(EventBatch::of(events)).wait().unwrap();
        let owner = LeaseOwner::this_process("ann");
        let day = Duration::from_secs(86_400);
        let lease = block_on(journal.take_lease(&format!("run/{number}"), owner, day)).unwrap();
        block_on(journal.renew_lease(&lease.fence, day * 400)).unwrap();
        let leases = journal.reader().leases().unwrap();
        assert!(!leases[0].expires.to_string().is_empty());
        let fenced = EventBatch::of([note("notes", moment)]).fenced(&lease.fence);
        journal.append(fenced).wait().unwrap();
        block_on(journal.release_lease(&lease.fence)).unwrap();
        let by = Actor::human("ada@example.org", ActorSurface::Cli);
        journal.back_up(by.clone()).unwrap();
        journal
            .prune(clock.clock().now(), |kind| kind == "run.finished", &by)
            .unwrap();
        drop(journal);
        let verified = scratch.verify();
        assert!(verified.ok, "{moment}: {verified:?}");
    }
    assert!(!backups(&scratch.home).is_empty());
    // They stand in the order in which they were recorded, whatever the clock said.
    let found = scratch.reader().records(&EventQuery::all()).unwrap();
    let kinds = found.iter().filter(|it| it.stream == "notes");
    let said: Vec<_> = kinds.map(|it| note_text(&it.payload)).collect();
    assert_eq!(said, moments);
    let seqs: Vec<_> = found.iter().map(|it| it.seq).collect();
    assert!(seqs.is_sorted(), "{seqs:?}");
}

#[test]
fn a_clock_that_jumps_takes_a_lease_from_nobody_and_leaves_none_behind_for_good() {
    let clock = ManualClock::at("2026-11-18T12:00:00Z");
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let (ann, bob) = (
        LeaseOwner::this_process("ann"),
        LeaseOwner::this_process("bob"),
    );
    let minute = Duration::from_secs(60);
    let year = 366 * 86_400_000_000_i64;
    let mut held = block_on(journal.take_lease("run/1", ann, minute)).unwrap();
    for jump in [year, -3 * year, 8_000 * year, -8_000 * year] {
        clock.jump(jump);
        clock.pass(Duration::from_secs(30));
        let taken = block_on(journal.take_lease("run/1", bob.clone(), minute));
        assert!(taken.is_err(), "taken away by a jump of {jump}");
        block_on(journal.renew_lease(&held.fence, minute)).unwrap();
        let fenced = EventBatch::of([note("notes", "still here")]).fenced(&held.fence);
        journal.append(fenced).wait().unwrap();
        // Without a renewal it is over after a minute, wherever the clock stands now.
        clock.jump(-jump);
        clock.pass(Duration::from_secs(61));
        held = block_on(journal.take_lease("run/1", bob.clone(), minute)).unwrap();
    }
    drop(journal);
    assert!(scratch.verify().ok);
}
