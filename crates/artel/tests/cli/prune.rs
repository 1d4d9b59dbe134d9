//! `journal prune`: finished streams move to an archive and stay part of every answer.

use std::fs;

use crate::support::{House, Tree, old_run};

fn query<const N: usize>(house: &House, words: [&str; N]) -> serde_json::Value {
    let seen = house
        .artel(["journal", "query", "--json"])
        .words(words)
        .run();
    seen.expect(0).json()
}

fn rows_in_the_file(house: &House) -> i64 {
    rusqlite::Connection::open(house.journal_file())
        .unwrap()
        .query_row("SELECT count(*) FROM event", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_query_by_kind_and_time_returns_exactly_those() {
    let house = House::new();
    old_run(&house, 3, 3, 4);
    old_run(&house, 0, 5, 2);
    let young = query(&house, ["--kind", "note.", "--since", "24h"]);
    let kinds = young.as_array().unwrap().iter().map(|event| &event["kind"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["note.added", "note.added"]);
    let both = query(&house, ["--kind", "note."]);
    assert_eq!(both.as_array().unwrap().len(), 6);
    assert_eq!(
        query(&house, ["--kind", "permission.", "--since", "24h"]),
        serde_json::json!([])
    );
}

#[test]
fn it_asks_first_and_changes_nothing_without_a_yes() {
    let house = House::new();
    old_run(&house, 100, 3, 4);
    let before = Tree::of(&house.root());
    let seen = house.artel(["journal", "prune", "--before", "90d"]).run();
    insta::assert_snapshot!(seen.text(), @r"
        exit 3
        error[C006]: move 6 events of 1 stream that ended before TIME to an archive: nobody is here to say yes
          try: run it in a terminal, or add `--yes` if you mean it
        ");
    let seen = house
        .artel(["journal", "prune", "--before", "90d", "--json"])
        .run();
    assert!(seen.expect(3).err.contains("C006"));
    before.unchanged(&house.root());
}

#[test]
fn with_a_yes_old_finished_streams_move_and_can_still_be_found() {
    let house = House::new();
    let (old, trace) = old_run(&house, 100, 3, 150);
    let (young, _) = old_run(&house, 10, 5, 3);
    // A run that never ended is not finished, however old it is.
    let journal = house.journal(crate::support::days_ago(200));
    let open = artel_testkit::run_events(
        artel_types::RunId::from_random([9; 16]),
        artel_types::TraceId::from_random([8; 16]),
        2,
    );
    let unfinished = open[..3].to_vec();
    journal
        .append(artel_journal::EventBatch::of(unfinished))
        .wait()
        .unwrap();
    drop(journal);
    let before = query(&house, []);
    let told = house.ok(["trace", &trace.to_string(), "--json"]).json();

    insta::assert_snapshot!(house.ok(["journal", "prune", "--before", "90d", "--yes"]).text(), @r"
        exit 0
        moved 152 events to HERE/.artel/archive/archive_STAMP.db
        ");
    let total = before.as_array().unwrap().len();
    assert_eq!(
        rows_in_the_file(&house),
        (total - 152 + 2) as i64,
        "pruned, and the daily backup"
    );

    house.ok(["journal", "verify"]);
    let after = query(&house, []);
    assert_eq!(
        after.as_array().unwrap()[..total],
        before.as_array().unwrap()[..]
    );
    assert_eq!(
        house.ok(["trace", &trace.to_string(), "--json"]).json(),
        told
    );
    assert_eq!(house.ok(["trace", &old.to_string(), "--json"]).json(), told);
    let run = |id: artel_types::RunId| query(&house, ["--run", &id.to_string()]);
    assert_eq!(run(old).as_array().unwrap().len(), 152);
    assert_eq!(run(young).as_array().unwrap().len(), 5);
    assert_eq!(
        house.ok(["journal", "stats", "--json"]).json()["kinds"]["run.finished"],
        2
    );
    let tail = house.ok(["journal", "tail", "-n", "400", "--json"]).out;
    assert_eq!(tail.lines().count(), total + 2);

    let again = house.ok(["journal", "prune", "--before", "90d", "--yes"]);
    again.says("nothing to prune");
}

#[test]
fn the_act_is_recorded_with_the_digest_of_the_archive() {
    let house = House::new();
    old_run(&house, 100, 3, 1);
    let pruned = house
        .ok(["journal", "prune", "--before", "90d", "--yes", "--json"])
        .json();
    assert_eq!(pruned["plan"]["streams"], 1);
    assert_eq!(pruned["pruned"]["events"], 3);
    let event = &query(&house, ["--kind", "journal.pruned"])[0];
    assert_eq!(event["actor"]["via"], "cli");
    assert_eq!(
        (&event["payload"]["streams"], &event["payload"]["events"]),
        (&1.into(), &3.into())
    );
    let archive = pruned["pruned"]["archive"].as_str().unwrap();
    assert!(archive.ends_with(event["payload"]["archive"].as_str().unwrap()));
}

#[test]
fn a_changed_or_missing_archive_is_found() {
    let house = House::new();
    old_run(&house, 100, 3, 20);
    let pruned = house
        .ok(["journal", "prune", "--before", "90d", "--yes", "--json"])
        .json();
    let archive = pruned["pruned"]["archive"].as_str().unwrap();
    let whole = fs::read(archive).unwrap();
    rusqlite::Connection::open(archive)
        .unwrap()
        .execute("UPDATE event SET payload = '{}' WHERE seq = 7", [])
        .unwrap();
    let found = house.artel(["journal", "verify", "--json"]).run().expect(1);
    assert_eq!(found.json()["first_bad"]["seq"], 7);
    fs::remove_file(archive).unwrap();
    house
        .artel(["journal", "verify"])
        .run()
        .expect(1)
        .says("missing");
    house
        .artel(["journal", "tail"])
        .run()
        .fails(1, "J020")
        .says(archive);
    fs::write(archive, whole).unwrap();
    house.ok(["journal", "verify"]);
}

#[test]
fn nothing_old_is_nothing_to_do() {
    let house = House::with_events(20);
    let before = Tree::of(&house.root());
    let seen = house.ok(["journal", "prune", "--before", "90d"]);
    seen.says("nothing to prune");
    before.unchanged(&house.root());
}
