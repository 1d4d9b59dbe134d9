//! What survives a kill: everything acknowledged, nothing twice, nothing by halves.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

mod support;

use std::collections::BTreeSet;

use artel_journal::{EventBatch, EventFilter, RestoreCandidate, RestoreSource};
use artel_testkit::{Child, Random, Scratch, figure, is_long, note, note_text};

use crate::support::{Acknowledged, PARTS, check, read_acks};

#[test]
fn proof_kill_at_random_moments_loses_nothing_that_was_acknowledged() {
    let mut random = Random::for_test("kill");
    let kills = if is_long() { 2_000 } else { 200 };
    let (mut acknowledgements, mut scratch) = (0, None);
    let mut acknowledged = Acknowledged::new();
    for kill in 0..kills {
        // A fresh journal now and then keeps each look at the whole short.
        if kill % 10 == 0 {
            let fresh = Scratch::new();
            drop(fresh.create());
            acknowledgements += acknowledged.len();
            acknowledged.clear();
            scratch = Some(fresh);
        }
        let scratch = scratch.as_ref().unwrap();
        let mut child = Child::appender(scratch, &format!("k{kill}"), [8, PARTS, 0]);
        // Some are killed while they open the journal, most in the middle of appending.
        let lines = random.below(60);
        let read: Vec<String> = (0..lines).map_while(|_| child.line()).collect();
        for _ in 0..random.below(20_000) {
            std::hint::spin_loop();
        }
        read_acks(read, &mut acknowledged);
        read_acks(child.kill(), &mut acknowledged);
        check(scratch, &acknowledged);
    }
    acknowledgements += acknowledged.len();
    figure(&format!(
        "kill: {kills} kills, {acknowledgements} acknowledged batches, 0 lost, 0 doubled, 0 halved"
    ));
}

#[test]
fn proof_two_processes_append_to_one_chain_and_see_all_of_it() {
    let each = 10_000;
    let scratch = Scratch::new();
    drop(scratch.create());
    let total = (2 * each).to_string();
    let mut children: Vec<Child> = ["left", "right"]
        .map(|tag| {
            Child::start(&scratch, tag, [8, 1, each / 8], |command| {
                command.args(["follow", &total]);
            })
        })
        .into();
    for child in &mut children {
        assert_eq!(child.line().as_deref(), Some("ready"));
    }
    let mut acknowledged = BTreeSet::new();
    let mut longest = 0;
    // Both are read at once: a child that cannot print cannot append.
    let readers: Vec<_> = children
        .into_iter()
        .map(|child| std::thread::spawn(move || child.finish()))
        .collect();
    for reader in readers {
        let (lines, is_well) = reader.join().unwrap();
        let trouble: Vec<&String> = lines
            .iter()
            .filter(|line| line.starts_with("error"))
            .take(3)
            .collect();
        assert!(is_well && trouble.is_empty(), "{trouble:?}");
        assert!(
            lines.contains(&format!("saw {total}")),
            "{:?}",
            lines.last()
        );
        for line in lines {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["ack", .., seq] => assert!(acknowledged.insert(seq.parse::<u64>().unwrap())),
                ["longest", ms, _] => longest = longest.max(ms.parse::<u64>().unwrap()),
                _ => {}
            }
        }
    }
    assert_eq!(
        acknowledged,
        (1..=2 * each).collect(),
        "every place was given out once"
    );
    let verified = scratch.verify();
    assert!(verified.ok, "{verified:?}");
    assert_eq!(verified.events, 2 * each);
    figure(&format!(
        "two processes: {total} events, one chain, longest wait {longest} ms"
    ));
}

#[test]
fn readers_that_come_and_go_disturb_no_writer() {
    let scratch = Scratch::new();
    drop(scratch.create());
    let mut child = Child::appender(&scratch, "w", [4, PARTS, 100]);
    let mut acknowledged = Acknowledged::new();
    for _ in 0..200 {
        assert!(scratch.reader().head().is_ok());
        read_acks(child.line(), &mut acknowledged);
    }
    let (lines, is_well) = child.finish();
    read_acks(lines, &mut acknowledged);
    assert!(is_well, "the writer ended by itself");
    assert_eq!(acknowledged.len(), 400);
    check(&scratch, &acknowledged);
}

/// Reads lines until one fits; those before it are returned too.
fn read_until(child: &mut Child, fits: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(line) = child.line() {
        let is_it = fits(&line);
        lines.push(line);
        if is_it {
            return lines;
        }
    }
    panic!("the child ended: {:?}", lines.last());
}

#[test]
fn a_restore_under_a_writer_is_noticed_and_nothing_acknowledged_later_is_lost() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    journal.append(note("a", "0.0")).wait().unwrap();
    journal.append(note("a", "0.1")).wait().unwrap();
    journal.append(note("a", "0.2")).wait().unwrap();
    let ada = artel_types::Actor::human("ada@example.org", artel_types::ActorSurface::Cli);
    let backup = journal.back_up(ada.clone()).unwrap();
    drop(journal);
    let mut child = Child::appender(&scratch, "w", [4, PARTS, 0]);
    read_until(&mut child, |line| line.starts_with("ack w 0 20 "));
    let keys =
        artel_journal::JournalSigningKeys::load(scratch.home.data(), scratch.workshop).unwrap();
    let found =
        RestoreCandidate::all(&scratch.home, scratch.workshop, &keys, Some(&backup.file)).unwrap();
    let chosen = found
        .iter()
        .find(|found| matches!(found.source, RestoreSource::Backup(_)))
        .unwrap();
    chosen
        .restore(&scratch.home, scratch.workshop, &scratch.options, &ada)
        .unwrap();
    read_until(&mut child, |line| {
        line.contains("was replaced while it was in use")
    });
    let mut later = read_until(&mut child, |line| line.starts_with("ack w 1 "));
    later.extend(read_until(&mut child, |line| line.starts_with("ack w 2 ")));
    later.extend(child.kill());
    let mut acknowledged = Acknowledged::new();
    read_acks(later, &mut acknowledged);
    check(&scratch, &acknowledged);
}

#[test]
fn an_older_copy_slipped_in_under_a_writer_is_never_written_to() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    for number in 0..60 {
        journal
            .append(note("a", &format!("0.{number}")))
            .wait()
            .unwrap();
    }
    let ada = artel_types::Actor::human("ada@example.org", artel_types::ActorSurface::Cli);
    let older = journal.back_up(ada).unwrap().file;
    drop(journal);
    let mut child = Child::appender(&scratch, "w", [1, PARTS, 0]);
    read_until(&mut child, |line| line.starts_with("ack w 0 5 "));
    let copy = scratch.path().join("copy.db");
    std::fs::copy(&older, &copy).unwrap();
    for suffix in ["-wal", "-shm"] {
        let beside = format!("{}{suffix}", scratch.home.journal().display());
        std::fs::remove_file(beside).unwrap();
    }
    std::fs::rename(&copy, scratch.home.journal()).unwrap();
    let lines = read_until(&mut child, |line| line.starts_with("error"));
    assert!(
        lines.last().unwrap().contains("signed on this machine"),
        "{:?}",
        lines.last()
    );
    let after: Vec<String> = (0..10).map_while(|_| child.line()).collect();
    assert!(
        after.iter().all(|line| line.starts_with("error")),
        "{after:?}"
    );
}

#[test]
fn a_write_cut_off_in_the_log_is_dropped_and_reported() {
    let scratch = Scratch::new();
    drop(scratch.create());
    let mut child = Child::appender(&scratch, "cut", [1, 1, 0]);
    let lines: Vec<String> = (0..30).map_while(|_| child.line()).collect();
    let mut acknowledged = Acknowledged::new();
    read_acks(lines, &mut acknowledged);
    read_acks(child.kill(), &mut acknowledged);
    let log = scratch.home.state().join("journal.db-wal");
    let whole = std::fs::read(&log).unwrap();
    let journal = std::fs::read(scratch.home.journal()).unwrap();
    let mut torn = 0;
    // Three records back and further, at every half sector.
    for cut in (whole.len().saturating_sub(20 * 4120)..whole.len()).step_by(512) {
        let copy = copy_of(&scratch, &journal, &whole[..cut]);
        let opened =
            artel_journal::Journal::open(&copy.home, copy.workshop, copy.options.clone()).unwrap();
        let head = opened.journal.reader().head().unwrap();
        torn += usize::from(opened.notes.iter().any(|note| note.contains("torn tail")));
        opened
            .journal
            .append(note("after", "goes on"))
            .wait()
            .unwrap();
        drop(opened);
        let verified = copy.verify();
        assert!(
            verified.ok && verified.events > head,
            "cut at {cut}: {verified:?}"
        );
    }
    assert!(torn > 0, "a cut in the middle of a write is reported");
}

#[test]
fn a_write_cut_off_is_reported_once_though_the_next_one_is_shorter() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    journal.append(note("before", "there")).wait().unwrap();
    // What never was committed stands in the log, as after a kill: many pages of it.
    let other = rusqlite::Connection::open(scratch.home.journal()).unwrap();
    other.pragma_update(None, "cache_size", 2).unwrap();
    let fill = "BEGIN IMMEDIATE; CREATE TABLE filler (text TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
        INSERT INTO filler SELECT hex(zeroblob(2000)) FROM n;
        ROLLBACK;";
    other.execute_batch(fill).unwrap();
    // Whoever reads keeps the log from being begun anew.
    let reads = "BEGIN; SELECT count(*) FROM sqlite_schema;";
    other.execute_batch(reads).unwrap();
    let torn = || {
        let (home, options) = (&scratch.home, scratch.options.clone());
        let opened = artel_journal::Journal::open(home, scratch.workshop, options).unwrap();
        opened.notes.iter().any(|note| note.contains("torn tail"))
    };
    assert_eq!([torn(), torn(), torn()], [true, false, false]);
    assert!(scratch.verify().ok);
}

/// A second workshop whose files are what the kill left of the first.
fn copy_of(scratch: &Scratch, journal: &[u8], log: &[u8]) -> Scratch {
    let copy = Scratch::new();
    std::fs::create_dir_all(copy.home.state()).unwrap();
    std::fs::create_dir_all(copy.home.data()).unwrap();
    let key = "signing.key";
    std::fs::copy(scratch.home.data().join(key), copy.home.data().join(key)).unwrap();
    std::fs::write(copy.home.journal(), journal).unwrap();
    std::fs::write(copy.home.state().join("journal.db-wal"), log).unwrap();
    copy
}

#[test]
fn a_subscription_has_no_gap_and_no_repeat_while_others_write() {
    let scratch = Scratch::new();
    let journal = scratch.create();
    std::thread::scope(|scope| {
        for task in 0..4 {
            let journal = journal.clone();
            scope.spawn(move || {
                for round in 0..50 {
                    let stream = format!("s/{task}");
                    journal
                        .append(EventBatch::of([note(&stream, &round.to_string())]))
                        .wait()
                        .unwrap();
                }
            });
        }
        for after in [0, 37] {
            let mut subscription = journal.subscribe(EventFilter::default(), after);
            scope.spawn(move || {
                for expected in after + 1..=200 {
                    let record = subscription
                        .wait(std::time::Duration::from_secs(60))
                        .unwrap()
                        .unwrap();
                    assert_eq!(record.seq, expected);
                }
            });
        }
        let filter = EventFilter {
            stream: Some("s/2".into()),
            ..EventFilter::default()
        };
        let mut one = journal.subscribe(filter, 0);
        scope.spawn(move || {
            for expected in 0..50 {
                let record = one
                    .wait(std::time::Duration::from_secs(60))
                    .unwrap()
                    .unwrap();
                assert_eq!(note_text(&record.payload), expected.to_string());
            }
        });
    });
}
