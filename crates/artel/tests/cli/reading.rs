//! `journal tail`, `query`, `export` and `stats`: what they print and which events they choose.

use artel_testkit::{note, run_events};
use artel_types::{EventOutcome, RunId, SessionId, TraceId};

use crate::support::{House, days_ago, notes};

/// A workshop with a run, a session, an old remark and a few more: nine events.
fn filled() -> House {
    let house = House::new();
    let journal = house.journal(days_ago(10));
    journal.append(note("old", "long ago")).wait().unwrap();
    drop(journal);
    let run = RunId::from_random([0xab; 16]);
    let mut drafts = run_events(run, TraceId::from_random([0xcd; 16]), 2);
    let session = SessionId::from_random([0xef; 16]);
    drafts.push(note("talk", "in a session").in_session(session));
    let failed = note("talk", "did not work").ending(EventOutcome::Failed);
    drafts.push(failed.on("src/main.rs"));
    house.append(drafts);
    house
}

#[test]
fn tail_and_query_print_a_table() {
    let house = filled();
    insta::assert_snapshot!(house.ok(["journal", "tail", "-n", "7"]).text(), @r#"
    exit 0
    SEQ  AT                   TRACE     ACTOR                        KIND          OUTCOME  TARGET / PAYLOAD
    3    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added             {"text":"long ago"}
    4    2000-01-01 00:00:00  00000000  agent:engineer               run.started            {"id":"ID","title":"a run","skill":null,"task":null,"folder":null…
    5    2000-01-01 00:00:00  00000000  agent:engineer               note.added             src/file0.rs
    6    2000-01-01 00:00:00  00000000  agent:engineer               note.added             src/file1.rs
    7    2000-01-01 00:00:00  00000000  agent:engineer               run.finished  done     {"id":"ID","summary":"done","state":null,"answer":null,"why":null…
    8    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added             {"text":"in a session"}
    9    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added    failed   src/main.rs
    "#);
    let newest = house.ok(["journal", "query", "--newest-first", "--limit", "2"]);
    insta::assert_snapshot!(newest.text(), @r#"
        exit 0
        SEQ  AT                   TRACE     ACTOR                        KIND        OUTCOME  TARGET / PAYLOAD
        9    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added  failed   src/main.rs
        8    2000-01-01 00:00:00  00000000  human:ada@example.org (cli)  note.added           {"text":"in a session"}
        "#);
    assert_eq!(
        house.ok(["journal", "tail", "-n", "0"]).out.lines().count(),
        1
    );
    let none = house.ok(["journal", "query", "--kind", "plan."]);
    assert_eq!(none.out.lines().count(), 1, "only the head: {}", none.out);
}

#[test]
fn csv_has_a_row_for_each_event() {
    let house = House::new();
    house.append([note("talk", "said \"so\",\nand left").on("a,b")]);
    let seen = house.ok(["journal", "query", "--format", "csv", "--kind", "note."]);
    insta::assert_snapshot!(seen.text(), @r#"
        exit 0
        seq,stream,stream_seq,at,trace,session,run,cause,actor,via,kind,target,outcome,visibility,schema,payload
        3,talk,1,TIME,ID,,,,human:ada@example.org,cli,note.added,"a,b",,summary,1,"{""text"":""said \""so\"",\nand left""}"
        "#);
}

#[test]
fn json_has_every_field_of_the_envelope() {
    let house = filled();
    let seen = house.ok(["journal", "query", "--kind", "run.started", "--json"]);
    let pretty = serde_json::to_string_pretty(&seen.json()).unwrap();
    insta::assert_snapshot!(crate::support::masked(&pretty), @r#"
    [
      {
        "actor": {
          "id": "engineer",
          "kind": "agent",
          "via": null
        },
        "at": "TIME",
        "cause": null,
        "hash": "HASH",
        "kind": "run.started",
        "outcome": null,
        "payload": {
          "call": null,
          "chain": null,
          "depth": null,
          "folder": null,
          "id": "ID",
          "inherits": null,
          "parent": null,
          "plan": null,
          "skill": null,
          "step": null,
          "task": null,
          "title": "a run"
        },
        "prev": "HASH",
        "run": "ID",
        "schema": 4,
        "seq": 4,
        "session": null,
        "stream": "run/ID",
        "stream_seq": 1,
        "target": null,
        "trace": "ID",
        "visibility": "summary"
      }
    ]
    "#);
    let by_format = house.ok([
        "journal",
        "query",
        "--kind",
        "run.started",
        "--format",
        "json",
    ]);
    assert_eq!(by_format.out, seen.out);
    assert_eq!(
        house
            .ok(["journal", "query", "--kind", "x", "--json"])
            .json(),
        serde_json::json!([])
    );
}

/// Returns the sequence numbers that a filter leaves.
fn chosen(house: &House, filter: &[&str]) -> Vec<u64> {
    let seen = house
        .artel(["journal", "query", "--json"])
        .words(filter)
        .run();
    let events = seen.expect(0).json();
    let events = events.as_array().unwrap().clone();
    events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect()
}

#[test]
fn filters_choose_exactly_what_fits() {
    let house = filled();
    let check = |filter: &[&str], expected: &[u64]| {
        assert_eq!(chosen(&house, filter), expected, "{filter:?}");
    };
    let all = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    check(&[], &all);
    check(&["--kind", "note."], &[3, 5, 6, 8, 9]);
    check(&["--kind", "run.finished"], &[7]);
    check(&["--kind", "run"], &[4, 7]);
    check(&["--trace", "CDCD"], &[4, 5, 6, 7]);
    check(&["--run", "abab"], &[4, 5, 6, 7]);
    check(&["--session", "efef"], &[8]);
    check(&["--stream", "talk"], &[8, 9]);
    check(&["--actor", "agent"], &[4, 5, 6, 7]);
    check(&["--actor", "agent:engineer"], &[4, 5, 6, 7]);
    check(&["--actor", "ada@example.org"], &[1, 2, 3, 8, 9]);
    check(&["--actor", "human"], &[1, 2, 3, 8, 9]);
    check(&["--target", "src/*.rs"], &[5, 6, 9]);
    check(&["--target", "src/file?.rs"], &[5, 6]);
    check(&["--outcome", "failed"], &[9]);
    check(&["--outcome", "done"], &[7]);
    check(&["--since", "1d"], &[1, 2, 4, 5, 6, 7, 8, 9]);
    check(&["--until", "1d"], &[3]);
    check(&["--since", "11d", "--until", "9d"], &[3]);
    check(&["--since", "2000-01-01"], &all);
    check(&["--until", "2000-01-01T00:00:00Z"], &[]);
    let several = [
        "--actor", "human", "--kind", "note.", "--since", "1d", "--limit", "1",
    ];
    check(&several, &[8]);
    check(&["--newest-first", "--limit", "2"], &[9, 8]);
    // A quote or a pattern in a filter is text, not a statement.
    check(&["--kind", "x' OR '1'='1"], &[]);
    check(&["--stream", "%"], &[]);
}

#[test]
fn tail_filters_before_it_counts() {
    let house = filled();
    let seen = house.ok(["journal", "tail", "-n", "1", "--kind", "run.", "--json"]);
    assert_eq!(seen.json()["seq"], 7);
    let lines = house.ok(["journal", "tail", "-n", "3", "--json"]).out;
    let seqs: Vec<u64> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, [7, 8, 9]);
}

#[test]
fn export_writes_one_event_a_line() {
    let house = filled();
    let to_screen = house.ok(["journal", "export"]).out;
    assert_eq!(to_screen.lines().count(), 9);
    let file = house.root().join("events.jsonl");
    let name = file.to_str().unwrap();
    let seen = house.ok(["journal", "export", "--output", name]);
    assert_eq!(seen.out, format!("wrote 9 events to {name}\n"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), to_screen);
    for line in to_screen.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
    let one = house.ok([
        "journal",
        "export",
        "-o",
        name,
        "--kind",
        "run.started",
        "--json",
    ]);
    assert_eq!(one.json(), serde_json::json!({ "file": name, "events": 1 }));
    let nowhere = house.artel(["journal", "export", "-o", "/nowhere/x"]).run();
    nowhere.fails(1, "C008");
}

#[test]
fn export_does_not_replace_the_journal() {
    let house = filled();
    let before = std::fs::read(house.journal_file()).unwrap();
    for place in [".artel/journal.db", ".artel/new", "Inbox/../.artel/blobs/x"] {
        let seen = house.artel(["journal", "export", "-o", place]).run();
        seen.fails(2, "C004");
    }
    assert_eq!(std::fs::read(house.journal_file()).unwrap(), before);
}

#[test]
fn stats_count_kinds_and_actors() {
    let house = filled();
    let text = house.ok(["journal", "stats"]).text();
    // How large the file is, is SQLite's business.
    let size = text.lines().nth(1).unwrap().split(", ").nth(1).unwrap();
    insta::assert_snapshot!(text.replacen(size, "SIZE", 1), @r"
        exit 0
        9 events, SIZE
        from TIME to TIME
        0 blobs, 0 B · 0 backups

        KIND              EVENTS
        config.loaded     1
        note.added        5
        run.finished      1
        run.started       1
        workshop.created  1

        ACTOR                  EVENTS
        agent:engineer         4
        human:ada@example.org  5
        ");
    let json = house.ok(["journal", "stats", "--json"]).json();
    assert_eq!(json["events"], 9);
    assert_eq!(json["kinds"]["note.added"], 5);
    assert_eq!(json["actors"]["agent:engineer"], 4);
    assert_eq!(
        (json["blobs"].as_u64(), json["backups"].as_u64()),
        (Some(0), Some(0))
    );
}

#[test]
fn many_events_are_all_there_and_in_order() {
    let house = House::new();
    house.append(notes("many", 3_000));
    assert_eq!(chosen(&house, &[]), (1..=3_002).collect::<Vec<u64>>());
    let csv = house.ok(["journal", "query", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), 3_003);
}
