//! What a step has shown holds at the end too: its tests, its files; and what is charged is on the
//! lines that it changed.

use serde_json::{Value, json};

use super::stage::{
    Asked, Calls, Stage, Who, adds, end, judge, mend, mends, note, pass, plan, write_note,
};

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn step(id: &str, after: &[&str], paths: Value) -> Value {
    json!({
        "id": id, "title": format!("Do {id}"), "role": "engineer", "work": format!("Do {id}."),
        "check": "The tests pass.", "verify": "none", "after": after, "scope": { "paths": paths },
    })
}

const TEST_ADD: &str = "import unittest\n\nimport calc\n\n\nclass Add(unittest.TestCase):\n    \
    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n\n    \
    def test_add_more(self):\n        self.assertEqual(calc.add(0, 3), 3)\n";

const TEST_HALF: &str = "import unittest\n\nimport half\n\n\nclass Half(unittest.TestCase):\n    \
    def test_half(self):\n        self.assertEqual(half.half(4), 2)\n";

const HALF: &str = "def half(a):\n    return a // 2\n";

/// The first step adds a test, the second one wants to be rid of it.
fn two(asked: &Asked, paths: &Value, second: &Calls, third: &Calls) -> Calls {
    match (asked.who, asked.step, asked.attempt) {
        (Who::Architect, ..) => plan(json!([
            step("add", &[], json!(["calc.py", "test_add.py"])),
            step("half", &["add"], paths.clone()),
        ])),
        (_, 1, _) => vec![adds(), write("test_add.py", TEST_ADD), end("added")],
        (_, _, 1) => second.clone(),
        _ => third.clone(),
    }
}

/// Takes away all tests of the first step but for one.
fn fewer() -> (&'static str, Value) {
    let old = TEST_ADD.split_once("\n    def test_add_more").unwrap().1;
    let old = format!("\n    def test_add_more{old}");
    (
        "edit",
        json!({ "path": "test_add.py", "old": old, "new": "" }),
    )
}

fn halves() -> Calls {
    vec![write("half.py", HALF), write("test_half.py", TEST_HALF)]
}

#[test]
fn a_test_that_a_step_added_is_missed_by_its_name() {
    // A line more, and the tests of the first step do not run.
    let mut second = halves();
    second.push((
        "edit",
        json!({ "path": "test_add.py", "old": "\n\nclass Add", "new": "\n\n@unittest.skip('later')\nclass Add" }),
    ));
    second.push(end("half"));
    let unhide = (
        "edit",
        json!({ "path": "test_add.py", "old": "@unittest.skip('later')\n", "new": "" }),
    );
    let stage = Stage::new(move |asked| {
        let paths = json!(["*.py"]);
        two(asked, &paths, &second, &vec![unhide.clone(), end("again")])
    });
    stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(
        why.contains("test_add_more` passed before and is skipped"),
        "{why}"
    );
}

#[test]
fn a_step_whose_plan_names_the_file_may_change_the_tests_of_another() {
    let mut second = halves();
    second.extend([fewer(), end("half")]);
    let stage = Stage::new(move |asked| {
        let paths = json!(["half.py", "test_half.py", "test_add.py"]);
        two(asked, &paths, &second, &Vec::new())
    });
    let id = stage.done();
    assert_eq!(stage.town.count("step.failed"), 0);
    let show = ["changeset", "show", &id, "--json"];
    let shown = stage.town.artel(show).run().expect(0).json();
    assert_eq!(shown["proven"], json!(true), "{shown:#}");
}

#[test]
fn a_file_that_was_shown_is_known_by_its_hash() {
    let over = json!({ "verify": "none", "evidence": [
        { "kind": "tests" }, { "kind": "file", "what": "calc.py" },
    ] });
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(over.clone())])),
        _ => mends(asked),
    });
    let id = stage.done();
    let proofs = stage.told("proof.recorded");
    let hashes: Vec<_> = proofs
        .iter()
        .filter(|it| it["sort"] == "file")
        .map(|it| (it["place"].clone(), it["hash"].clone(), it["holds"].clone()))
        .collect();
    let branch = stage.branch(&id);
    let file = stage.git(&["show", &format!("{branch}:calc.py")]) + "\n";
    let hash = json!(blake3::hash(file.as_bytes()).to_hex().to_string());
    let yes = json!(true);
    assert_eq!(
        hashes,
        [
            (json!("green"), hash.clone(), yes.clone()),
            (json!("final"), hash, yes),
        ]
    );
}

#[test]
fn a_file_that_later_steps_change_as_planned_still_counts() {
    let late = json!({
        "id": "late", "title": "Add to it", "role": "engineer", "work": "Add to one.md.",
        "check": "It is there.", "verify": "none", "after": ["one"],
        "scope": { "paths": ["one.md"] }, "evidence": [{ "kind": "file", "what": "one.md" }],
    });
    let stage = Stage::new(move |asked| match (asked.who, asked.step) {
        (Who::Architect, _) => plan(json!([note("one", &[]), late.clone()])),
        (_, 1) => write_note(asked),
        _ => vec![
            (
                "edit",
                json!({ "path": "one.md", "old": "by step 1", "new": "by step 1 and 2" }),
            ),
            end("written"),
        ],
    });
    stage.done();
    let proofs = stage.told("proof.recorded");
    let last: Vec<_> = proofs
        .iter()
        .filter(|it| it["place"] == "final" && it["sort"] == "file")
        .map(|it| {
            (
                it["step"].clone(),
                it["holds"].clone(),
                it["output"].clone(),
            )
        })
        .collect();
    assert_eq!(last.len(), 2, "{last:?}");
    assert!(last.iter().all(|it| it.1 == true), "{last:?}");
    assert!(
        last[0]
            .2
            .as_str()
            .unwrap()
            .contains("other steps have changed it"),
        "{last:?}"
    );
}

#[test]
fn sylk_4_17_findings_on_lines_that_did_not_change_are_shown_and_not_charged() {
    let found = |line: u64, verdict: &str| {
        json!({
            "verdict": verdict, "evidence": ["calc.py was read"], "findings": [
                { "severity": "blocker", "file": "calc.py", "line": line, "why": "it is slow" },
            ],
        })
    };
    let stage = Stage::new(move |asked| match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({}))])),
        (Who::Worker, _) => mends(asked),
        (_, 0) => pass(asked, json!({})),
        (_, 1) => vec![("verdict", found(6, "fail"))],
        _ => judge(asked, found(6, "pass")),
    });
    stage.done();
    let told = &stage.asked_of(Who::Evaluator, 1)[2].last;
    assert!(told.contains("on a line that it did not change"), "{told}");
    let judged = stage.told("step.judged");
    assert_eq!(judged.len(), 1, "{judged:?}");
    assert_eq!(judged[0]["passed"], true);
    assert_eq!(judged[0]["findings"][0]["severity"], "info");
}
