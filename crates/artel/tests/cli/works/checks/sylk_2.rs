//! Scheduling, isolation and conflicts: how many at once, whose files, what the next attempt is told.

use std::collections::BTreeSet;
use std::fs;

use serde_json::json;

use super::super::bench::{Bench, long};
use super::super::town::payload;
use super::stage::{
    Asked, Calls, Stage, Who, adds, end, mend, mends, note, pass, plan, tests_add, write_note,
};

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        Who::Worker => mends(asked),
        _ => pass(asked, json!({})),
    }
}

#[test]
fn sylk_2_06_never_more_steps_at_once_than_allowed_and_in_their_order() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => {
            let steps: Vec<_> = names.iter().map(|name| note(name, &[])).collect();
            plan(json!(steps))
        }
        _ => write_note(asked),
    });
    let id = stage.town.asked();
    let words = ["plan", "approve", &id, "--json", "--at-once", "2"];
    stage.town.artel(words).run().expect(0);
    let (mut active, mut most, mut order) = (BTreeSet::new(), 0, Vec::new());
    for event in stage.town.events() {
        let step = payload(&event)["step"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        match event["kind"].as_str().unwrap() {
            "step.started" => {
                order.push(step.clone());
                active.insert(step);
            }
            "step.passed" => {
                active.remove(&step);
            }
            _ => {}
        }
        most = most.max(active.len());
    }
    assert_eq!(most, 2, "both places are used, and no third");
    assert_eq!(order.len(), names.len());
    // Two begin at a time: no step overtakes one that is more than a place ahead of it.
    for (at, name) in order.iter().enumerate() {
        let place = names.iter().position(|it| it == name).unwrap();
        assert!(place.abs_diff(at) <= 1, "{order:?}");
    }
}

#[test]
fn sylk_2_06_the_most_urgent_step_begins_first() {
    let urgent = |name: &str, priority: &str| {
        let mut step = note(name, &[]);
        step["priority"] = json!(priority);
        step
    };
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([
            urgent("a", "low"),
            note("b", &[]),
            urgent("c", "critical"),
            urgent("d", "high"),
            urgent("e", "high"),
        ])),
        _ => write_note(asked),
    });
    let id = stage.town.asked();
    let sheet = format!("request-{}_plan.md", &id[..8]);
    let found = super::super::town::named(&stage.town.house.workshop.join("Inbox"), &sheet);
    let text = fs::read_to_string(&found[0]).unwrap();
    assert_eq!(text.matches("- priority: high").count(), 2, "{text}");
    assert_eq!(text.matches("- priority:").count(), 4, "{text}");
    // A person's word counts: what they write into the file is read back.
    let file = stage.town.house.root().join("mine.md");
    fs::write(&file, text.replace("priority: low", "priority: critical")).unwrap();
    let file = file.to_str().unwrap();
    let edit = ["plan", "edit", &id, "--file", file];
    stage.town.artel(edit).run().expect(0);
    let words = ["plan", "approve", &id, "--json", "--at-once", "1"];
    stage.town.artel(words).run().expect(0);
    let started = stage.told("step.started");
    let order: Vec<_> = started.iter().map(|it| it["step"].clone()).collect();
    assert_eq!(order, ["a", "c", "d", "e", "b"].map(|name| json!(name)));
}

#[test]
fn sylk_2_07_what_needs_a_step_that_failed_never_starts() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([
            note("a", &[]),
            note("b", &[]),
            note("c", &["a", "b"])
        ])),
        (_, 1) => vec![("read", json!({ "path": "calc.py" })), end("nothing done")],
        _ => write_note(asked),
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    stage.town.artel(["answer", &id, "give-up"]).run().expect(0);
    stage.town.artel(["resume", &id, "--json"]).run().expect(1);
    let settled = stage.told("step.settled");
    let blocked = settled
        .iter()
        .find(|it| it["step"] == "c")
        .expect("it is said");
    assert_eq!(blocked["state"], "skipped");
    assert!(
        blocked["why"].as_str().unwrap().contains("step 1 failed"),
        "{blocked}"
    );
    let started = stage.told("step.started");
    assert!(!started.iter().any(|it| it["step"] == "c"), "{started:?}");
    let passed = stage.told("step.passed");
    assert_eq!((passed.len(), &passed[0]["step"]), (1, &json!("b")));
}

#[test]
fn sylk_2_07_what_a_person_skips_is_left_out_and_the_rest_is_done() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([note("a", &[]), note("b", &[]), note("c", &["a"])])),
        (_, 1) => vec![("read", json!({ "path": "calc.py" })), end("nothing done")],
        _ => write_note(asked),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "skip: no need"]).run().expect(0);
    let resumed = town.artel(["resume", &id, "--json"]).run().expect(0);
    let done = resumed.result();
    assert_eq!(done["plan_state"], "done", "{done:#}");
    let file = format!("Inbox/Archive/request-{}_plan.md", &id[..8]);
    let sheet = std::fs::read_to_string(town.house.workshop.join(file)).unwrap();
    for line in ["### [-] Step 1", "### [x] Step 2", "### [-] Step 3"] {
        assert!(sheet.contains(line), "{sheet}");
    }
    let shown = town.artel(["changeset", "show", &id]).run().expect(0).out;
    assert!(shown.contains("a person left it out: no need"), "{shown}");
    town.artel(["changeset", "approve", &id]).run().expect(0);
}

#[test]
fn sylk_2_09_the_persons_files_stay_theirs_until_the_merge() {
    let stage = Stage::holding(
        |asked| match (asked.who, asked.turn) {
            (Who::Worker, 0) => {
                let found = regex::Regex::new(r"OUTSIDE:(\S+):").unwrap();
                let path = found.captures(&asked.text).expect("a place")[1].to_owned();
                vec![
                    adds(),
                    tests_add(),
                    ("write", json!({ "path": path, "content": "x" })),
                    ("write", json!({ "path": "../x.txt", "content": "x" })),
                    ("bash", json!({ "command": format!("echo x > {path}") })),
                ]
            }
            (Who::Worker, _) => vec![end("mended")],
            _ => usual(asked),
        },
        |asked| asked.who == Who::Worker && asked.turn == 1,
    );
    let town = &stage.town;
    let outside = town.project.join("outside.txt");
    let words = format!("Mend add. OUTSIDE:{}: is not yours.", outside.display());
    let seen = town
        .artel(["ask", &words, "--plan", "--yes", "--json"])
        .run()
        .expect(0);
    let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
    let files = || {
        let listed = ["calc.py", "test_calc.py", "pyproject.toml", ".gitignore"];
        let bytes = listed.map(|name| fs::read(town.project.join(name)).unwrap());
        let names = fs::read_dir(&town.project)
            .unwrap()
            .flatten()
            .map(|it| it.file_name());
        (bytes, names.collect::<BTreeSet<_>>())
    };
    let before = files();
    let child = stage.begin(&id, &[]);
    stage.until_held(1);
    assert_eq!(files(), before, "while it works");
    let told = &stage.asked_of(Who::Worker, 1)[1].last;
    assert!(told.matches("error").count() >= 2, "{told}");
    let output = stage.let_go(child);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(files(), before, "when it is done");
    assert!(super::super::town::named(&town.house.root(), "x.txt").is_empty());
    town.artel(["changeset", "approve", &id]).run().expect(0);
    let merged = fs::read_to_string(town.project.join("calc.py")).unwrap();
    assert!(merged.contains("a + b"), "the merge alone changes them");
}

#[test]
fn sylk_2_10_changes_in_other_places_come_together() {
    let bench = Bench::new();
    let theirs = long("old").replace("line 9", "mine at line 9");
    let theirs = if theirs == long("old") {
        long("old") + "mine at the end\n"
    } else {
        theirs
    };
    bench.write("long.txt", &theirs);
    bench.commit("mine");
    bench.decide("approve", &[]).expect(0);
    let merged = bench.read("long.txt");
    assert!(
        merged.contains("new") && merged.contains("mine"),
        "{merged}"
    );
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
}

#[test]
fn sylk_2_10_what_clashes_leaves_the_persons_version_in_place() {
    // Made by both, changed by one and removed by the other, the same lines.
    for (path, text) in [
        ("made.txt", "mine\n"),
        ("gone.txt", "mine\n"),
        ("long.txt", ""),
    ] {
        let bench = Bench::new();
        let text = if text.is_empty() {
            long("mine")
        } else {
            text.to_owned()
        };
        bench.write(path, &text);
        let theirs = bench.commit("mine");
        bench.decide("approve", &[]).fails(3, "R006").says(path);
        assert_eq!(bench.read(path), text, "{path}");
        assert_eq!(bench.git(&["rev-parse", "main"]), theirs);
        assert_eq!(bench.git(&["status", "--porcelain"]), "");
        assert_eq!(
            bench.git(&["rev-parse", &bench.branch]),
            bench.head,
            "nothing is lost"
        );
    }
}

#[test]
fn sylk_2_10_of_two_pieces_of_work_on_the_same_lines_the_second_is_a_conflict() {
    let stage = Stage::new(|asked| {
        let new = if asked.text.contains("SECOND") {
            "b + a"
        } else {
            "a + b"
        };
        match asked.who {
            Who::Worker => vec![
                (
                    "edit",
                    json!({ "path": "calc.py", "old": "a - b", "new": new }),
                ),
                tests_add(),
                end("mended"),
            ],
            _ => usual(asked),
        }
    });
    let town = &stage.town;
    let ask = |words: &str| {
        let seen = town
            .artel(["ask", words, "--plan", "--yes", "--json"])
            .run()
            .expect(0);
        let id = seen.json()["trace_id"].as_str().unwrap().to_owned();
        stage.approve(&id, 0);
        id
    };
    let (first, second) = (ask("FIRST: mend add."), ask("SECOND: mend add."));
    town.artel(["changeset", "approve", &first]).run().expect(0);
    let head = stage.git(&["rev-parse", "main"]);
    town.artel(["changeset", "approve", &second])
        .run()
        .fails(3, "R006")
        .says("calc.py");
    assert_eq!(stage.git(&["rev-parse", "main"]), head);
    assert_eq!(stage.git(&["status", "--porcelain"]), "");
    let file = fs::read_to_string(town.project.join("calc.py")).unwrap();
    assert!(file.contains("a + b"), "{file}");
    let kept = stage.git(&["show", &format!("{}:calc.py", stage.branch(&second))]);
    assert!(kept.contains("b + a"), "{kept}");
}

#[test]
fn sylk_2_18_the_second_attempt_is_told_of_the_first() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt) {
        (Who::Worker, 1) => vec![adds(), end("APPROACH-1: changed the sign, without a test")],
        (Who::Worker, _) => vec![tests_add(), end("tested")],
        _ => usual(asked),
    });
    stage.done();
    let workers = stage.asked_of(Who::Worker, 1);
    let second = workers
        .iter()
        .find(|it| it.attempt == 2)
        .expect("a second attempt");
    assert_eq!(second.turn, 0);
    for words in ["This is attempt 2 of 3.", "nothing exercises it", "calc.py"] {
        assert!(second.text.contains(words), "{words}: {}", second.text);
    }
    assert!(second.text.contains("APPROACH-1"), "{}", second.text);
    assert!(!workers[0].text.contains("This is attempt"));
}
