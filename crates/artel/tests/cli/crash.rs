//! What a kill leaves behind is recovered from, and said.

use std::fs;

use artel_testkit::{Child, Scratch};

use crate::support::House;

/// Appends from a child until it is killed; returns how many events it was told are recorded.
fn kill_a_writer(house: &House) -> u64 {
    let mut scratch = Scratch::new();
    scratch.home = house.journal_home();
    scratch.workshop = house.id();
    let mut child = Child::appender(&scratch, "killed", [1, 1, 0]);
    let mut acknowledged = (0..40).filter_map(|_| child.line()).collect::<Vec<_>>();
    acknowledged.extend(child.kill());
    let is_ack = |line: &&String| line.starts_with("ack ");
    acknowledged.iter().filter(is_ack).count() as u64
}

#[test]
fn a_write_that_a_kill_cut_off_is_dropped_and_told() {
    let house = House::new();
    let acknowledged = kill_a_writer(&house);
    assert!(acknowledged >= 39);
    let log = house.state("journal.db-wal");
    let whole = fs::read(&log).unwrap();
    // Into the middle of the last page: the write was under way and never acknowledged.
    fs::write(&log, &whole[..whole.len() - 2000]).unwrap();
    fs::remove_file(house.state("journal.db-shm")).unwrap();

    house.ok(["journal", "tail"]);
    let seen = house.ok(["journal", "backup"]);
    assert!(
        seen.err
            .contains("note: a write that a crash cut off was dropped"),
        "{seen:?}"
    );
    let kinds = house.kinds();
    assert!(kinds.contains(&"journal.tail_torn".to_owned()));
    assert!(kinds.iter().filter(|kind| *kind == "note.added").count() as u64 >= acknowledged - 1);
    house.ok(["journal", "verify"]);
    // It is told once: the next command finds nothing torn.
    assert_eq!(house.ok(["journal", "backup"]).err, "");
}

#[test]
fn after_a_kill_everything_acknowledged_is_there() {
    let house = House::new();
    let acknowledged = kill_a_writer(&house);
    let notes = || {
        house
            .ok(["journal", "query", "--kind", "note.", "--json"])
            .json()
    };
    assert!(notes().as_array().unwrap().len() as u64 >= acknowledged);
    house.ok(["journal", "verify"]);
    house.ok(["journal", "backup"]);
    house.ok(["journal", "verify"]);
    assert!(notes().as_array().unwrap().len() as u64 >= acknowledged);
}

#[test]
fn a_bad_newest_checkpoint_is_passed_over_and_told() {
    let house = House::with_events(150);
    house.tamper("UPDATE checkpoint SET signature = zeroblob(64) WHERE seq = 150");
    let seen = house.ok(["journal", "backup"]);
    assert!(
        seen.err.contains("note: checkpoint 150 was passed over"),
        "{seen:?}"
    );
    assert_eq!(house.kinds().len(), 151);
    let as_json = house.ok(["journal", "backup", "--json"]);
    for line in as_json.err.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn two_commands_at_once_take_turns() {
    let house = House::with_events(5);
    let children: Vec<_> = (0..8)
        .map(|_| {
            house
                .artel(["journal", "backup"])
                .command()
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    assert_eq!(house.kinds().len(), 5 + 8);
    assert_eq!(house.backups().len(), 8);
    house.ok(["journal", "verify"]);
}

#[test]
fn workshops_made_at_once_are_all_noted() {
    let house = House::empty();
    let folders: Vec<_> = (0..8)
        .map(|number| house.folder(number.to_string()))
        .collect();
    let start = |folder: &std::path::PathBuf| {
        house
            .artel(["init"])
            .standing_in(folder)
            .command()
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = folders.iter().map(start).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    for folder in &folders {
        let verify = house.artel(["journal", "verify"]).standing_in(folder);
        verify.run().expect(0);
    }
}

#[test]
fn two_inits_of_one_folder_make_one_workshop() {
    for _ in 0..4 {
        let house = House::empty();
        let start = |_| house.artel(["init"]).command().spawn().unwrap();
        let children: Vec<_> = (0..4).map(start).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
        assert_eq!(house.kinds(), ["workshop.created", "config.loaded"]);
        house.ok(["journal", "verify"]);
    }
}
