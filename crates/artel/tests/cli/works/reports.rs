//! `artel report`: told from the journal, the same each time.

use std::fs;

use artel_types::Fact;
use artel_types::plan::PlanState;

use super::bench::{Bench, Special};

fn rebuilt(bench: &Bench) -> String {
    bench.run(&["report", "rebuild", &bench.id()]).expect(0);
    fs::read_to_string(bench.report()).unwrap()
}

#[test]
fn the_numbers_are_those_of_git() {
    let bench = Bench::new();
    let report = rebuilt(&bench);
    let name = bench.report();
    let name = name.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with("_07070707_fix-it.md"), "{name}");
    let numbers = bench.git(&["diff", "--numstat", &bench.base, &bench.head]);
    let (mut added, mut removed) = (0, 0);
    for line in numbers.lines() {
        let words: Vec<&str> = line.split('\t').collect();
        let lines = format!("- `{}` +{} -{}\n", words[2], words[0], words[1]);
        assert!(report.contains(&lines), "no {lines} in\n{report}");
        added += words[0].parse::<u64>().unwrap();
        removed += words[1].parse::<u64>().unwrap();
    }
    let files = numbers.lines().count();
    for words in [
        format!("- Files changed: {files}\n- Insertions: {added}\n- Deletions: {removed}\n"),
        "### Files Created (1)\n\n- `made.txt`".to_owned(),
        "### Files Modified (1)\n\n- `long.txt`".to_owned(),
        "### Files Deleted (1)\n\n- `gone.txt`".to_owned(),
        format!("trace_id: {}\n", bench.trace),
        "status: completed\n".to_owned(),
        "branch: \"fix/it-07070707\"\n".to_owned(),
        "> Fix it, please\n".to_owned(),
        "- [[request-07070707_plan]]\n".to_owned(),
        "- [[src/long.txt]]\n".to_owned(),
        "> It was broken.\n".to_owned(),
        "| 1. First | done | 1 |".to_owned(),
        "clean checkout".to_owned(),
    ] {
        assert!(report.contains(&words), "no {words} in\n{report}");
    }
}

#[test]
fn a_report_is_made_again_byte_for_byte_and_follows_decisions() {
    let bench = Bench::new();
    let first = rebuilt(&bench);
    assert_eq!(rebuilt(&bench), first);
    fs::remove_file(bench.report()).unwrap();
    let shown = bench.run(&["report", "show", &bench.id()]).expect(0);
    assert_eq!(shown.out, first);
    assert_eq!(rebuilt(&bench), first);
    assert_eq!(bench.kinds("report.written").len(), 1);
    bench.decide("approve", &[]).expect(0);
    let merged = fs::read_to_string(bench.report()).unwrap();
    let commit = bench.git(&["rev-parse", "--short=8", "main"]);
    let decision = format!("approve by ada@example.org, `main` is at {commit}");
    assert!(merged.contains(&decision), "{merged}");
    assert_eq!(rebuilt(&bench), merged);
    bench.decide("undo", &[]).expect(0);
    let undone = fs::read_to_string(bench.report()).unwrap();
    assert!(undone.contains("undo by ada@example.org"), "{undone}");
    assert_eq!(rebuilt(&bench), undone);
    assert_eq!(bench.kinds("report.written").len(), 1);
    let rows = bench.run(&["report", "list", "--json"]).expect(0).json();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["status"], "completed");
}

#[test]
fn a_failed_run_says_what_was_tried_and_what_to_do() {
    let bench = Bench::special(Special {
        proven: false,
        complete: false,
        state: PlanState::Failed,
        ..Special::default()
    });
    let facts = [
        ("step.started", r#"{"step":"b","round":2,"base":"x"}"#),
        (
            "step.failed",
            r#"{"step":"b","round":2,"why":"one test fails: test_total"}"#,
        ),
        (
            "step.settled",
            r#"{"step":"b","state":"failed","why":"given up"}"#,
        ),
    ];
    let facts = facts.map(|(kind, payload)| Fact::decode(kind, 1, payload).unwrap());
    bench.tell_run(facts);
    let ended = format!(
        r#"{{"run":"{}","state":"failed","why":"step 2: given up"}}"#,
        bench.run
    );
    bench.tell([Fact::decode("plan.ended", 1, &ended).unwrap()]);
    let report = rebuilt(&bench);
    for words in [
        "status: failed\n",
        "## Error Summary\n\n- Type: failed\n- Error: step 2: given up\n",
        "- Attempt 2: one test fails: test_total\n",
        "- Last step that passed: `b`\n",
        "artel plan retry 07070707",
        "git switch fix/it-07070707",
        "artel changeset reject 07070707",
    ] {
        assert!(report.contains(words), "no {words} in\n{report}");
    }
}

#[test]
fn what_is_not_on_record_is_said_and_nothing_is_written() {
    let bench = Bench::new();
    bench.run(&["report", "show", "ffff"]).fails(4, "R004");
    bench.run(&["report", "rebuild", "ffff"]).fails(4, "R004");
    bench.run(&["report", "show", &bench.id()]).fails(4, "W010");
    assert_eq!(bench.kinds("report.written").len(), 0);
}

#[test]
fn a_secret_in_what_was_asked_is_not_told() {
    let bench = Bench::new();
    let id = bench.id();
    // As if the key had become known after the request was recorded.
    let rebuild = bench
        .artel(&["report", "rebuild", &id])
        .env("OPENAI_API_KEY", "Fix it, please");
    rebuild.run().expect(0);
    let report = fs::read_to_string(bench.report()).unwrap();
    assert!(!report.contains("Fix it, please"), "{report}");
}
