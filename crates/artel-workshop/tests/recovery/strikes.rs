//! What the machine does by itself: the same failing call is refused, failing edits put the files
//! back, and what was recovered is counted.

use std::fs;

use artel_testkit::standin::{Answer, Format, StandIn};
use artel_testkit::start_follower;
use artel_tools::HintVisibility;
use artel_types::{Fact, RecordedText};
use serde_json::{Value, json};

use crate::place::{Place, is_possible};

fn calls(tool: &str, input: Value) -> Answer {
    Answer::default().calls(tool, input)
}

fn finish() -> Answer {
    calls("finish", json!({"answer": "that is all"}))
}

pub(crate) fn a_call_is_carried_out_three_times_at_most() {
    let missing = || calls("read", json!({"path": "missing.txt"}));
    let plan = [
        missing(),
        missing(),
        missing(),
        missing(),
        calls("read", json!({"path": "a.txt"})),
        finish(),
    ];
    let model = StandIn::start(Format::Anthropic, plan);
    let place = Place::new(&model);
    let folder = place.folder("retries");
    fs::write(folder.join("a.txt"), "content\n").unwrap();
    let done = place.run(None, "read it", &folder, HintVisibility::Shown);
    let events = place.events(&done);
    let reads = events.iter().filter_map(|event| match &event.fact {
        Fact::ToolRequested(fact) if fact.tool == "read" => Some(&fact.input),
        _ => None,
    });
    let of = |path: &str| {
        let is_of = |input: &&RecordedText| matches!(input, RecordedText::Inline(text) if text.contains(path));
        reads.clone().filter(is_of).count()
    };
    assert_eq!((of("missing.txt"), of("a.txt")), (3, 1));
    let results = events.iter().filter_map(|event| match &event.fact {
        Fact::ToolFinished(fact) if fact.tool == "read" => Some(fact),
        _ => None,
    });
    let troubles: Vec<_> = results.map(|fact| fact.trouble.as_deref()).collect();
    let lost = Some("not-found");
    assert_eq!(troubles, [lost, lost, lost, Some("refused"), None]);
}

pub(crate) fn three_strikes_put_the_files_back() {
    if !is_possible() {
        return;
    }
    let edit =
        |old: &str, new: &str| calls("edit", json!({"path": "a.txt", "old": old, "new": new}));
    let plan = [
        edit("one", "two"),
        edit("nowhere 1", "x"),
        calls(
            "bash",
            json!({"command": "echo broken >> a.txt; echo broken > b.txt"}),
        ),
        edit("nowhere 2", "x"),
        edit("nowhere 3", "x"),
        edit("two", "three"),
        finish(),
    ];
    let model = StandIn::start(Format::Anthropic, plan);
    let place = Place::new(&model);
    let folder = place.folder("strikes");
    fs::write(folder.join("a.txt"), "one\n").unwrap();
    let done = place.run(None, "change it", &folder, HintVisibility::Shown);

    let said = |number: usize| model.seen()[number].body["messages"].to_string();
    assert!(!said(3).contains("FAILURE_WARNING"));
    assert!(said(4).contains("FAILURE_WARNING"), "{}", said(4));

    let events = place.events(&done);
    let escalated = events.iter().filter_map(|event| match &event.fact {
        Fact::RunEscalated(fact) => Some(fact.failures.len()),
        _ => None,
    });
    assert_eq!(escalated.collect::<Vec<_>>(), [3]);
    let last = events.iter().rev().find_map(|event| match &event.fact {
        Fact::ToolFinished(fact) if fact.tool == "edit" => Some(fact.trouble.clone()),
        _ => None,
    });
    assert_eq!(last, Some(Some("refused".to_owned())));

    let tree = place.tree(&done);
    assert_eq!(fs::read(tree.join("a.txt")).unwrap(), b"two\n");
    assert!(!tree.join("b.txt").exists());
    assert_eq!(fs::read(folder.join("a.txt")).unwrap(), b"one\n");
    assert_eq!(done.finished.unwrap().state.as_deref(), Some("partial"));
}

pub(crate) fn an_encoding_is_recovered_and_counted() {
    let follower = start_follower();
    let place = Place::new(&follower);
    let folder = place.folder("encoding");
    fs::write(folder.join("sales.csv"), b"K\xf6ln;total: 42\n").unwrap();
    let task = "goal:\ndo read {\"path\": \"sales.csv\", \"encoding\": \"utf-8\"}\n\
                answer total: \nend of goal";
    let done = place.run(None, task, &folder, HintVisibility::Shown);
    let finished = done.finished.unwrap();
    assert_eq!(finished.state.as_deref(), Some("complete"));
    let metrics = finished.metrics.unwrap();
    assert_eq!(metrics.recoveries.get("encoding"), Some(&1), "{metrics:?}");
    assert_eq!(finished.summary, "found: 42");
}
