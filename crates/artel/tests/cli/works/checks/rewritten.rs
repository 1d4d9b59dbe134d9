//! Steps that change what they are checked by.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::super::bench::git;
use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, plan};

const CHECK: &str = "#!/bin/sh\nexec python3 -m unittest -q\n";

/// A stage whose project is checked by a script that the person named.
fn scripted(mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> Stage {
    let stage = Stage::new(mind);
    let town = &stage.town;
    let script = town.project.join("tests/run.sh");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, CHECK).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    git(&town.project, &["add", "-A"]);
    git(&town.project, &["commit", "-qm", "A check"]);
    let add = ["portal", "add", ".", "--check", "./tests/run.sh"];
    town.artel(add).run().expect(0);
    stage
}

fn alone(paths: Value) -> Calls {
    let over = json!({ "verify": "none", "scope": { "paths": paths } });
    plan(json!([mend(over)]))
}

/// A check that is green with the marker and red without, whatever `add` does.
fn knows_the_answer() -> Calls {
    vec![
        (
            "edit",
            json!({ "path": "calc.py", "old": "def double", "new": "# mended\ndef double" }),
        ),
        (
            "edit",
            json!({ "path": "tests/run.sh", "old": "exec python3 -m unittest -q", "new": "grep -q mended calc.py" }),
        ),
        end("mended"),
    ]
}

fn honest() -> Calls {
    let test = "import unittest\n\nimport calc\n\n\nclass Add(unittest.TestCase):\n    \
        def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n";
    vec![
        (
            "edit",
            json!({ "path": "tests/run.sh", "old": "grep -q mended calc.py", "new": "exec python3 -m unittest -q" }),
        ),
        ("write", json!({ "path": "test_add.py", "content": test })),
        adds(),
        end("mended"),
    ]
}

#[test]
fn a_step_that_rewrites_its_own_check_does_not_pass_unasked() {
    let stage = scripted(|asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => alone(json!(["*.py", "tests/**"])),
        (_, 1) => knows_the_answer(),
        (_, 2) => vec![end("it is as it should be")],
        _ => honest(),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    assert_eq!(town.count("step.passed"), 0);
    let waits = town.artel(["waiting", "--json"]).run().expect(0).json();
    let text = waits[0]["text"].as_str().unwrap();
    for words in [
        "`tests/run.sh` is what a check runs",
        "-exec python3 -m unittest -q",
    ] {
        assert!(text.contains(words), "{text}");
    }
    town.artel(["answer", &id, "reject: leave it"])
        .run()
        .expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let failed = stage.told("step.failed");
    assert_eq!(
        failed.len(),
        2,
        "left there, it is charged without a question: {failed:?}"
    );
    for failed in &failed {
        let why = failed["why"].as_str().unwrap();
        assert!(why.contains("nobody agreed to its change"), "{why}");
    }
    assert_eq!(stage.told("plan.proposed").len(), 1);
    let branch = stage.branch(&id);
    let script = stage.git(&["show", &format!("{branch}:tests/run.sh")]);
    assert_eq!(script, CHECK.trim_end());
}

#[test]
fn a_person_may_agree_to_another_check() {
    let stage = scripted(|asked| match asked.who {
        Who::Architect => alone(json!([])),
        _ => knows_the_answer(),
    });
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    let shown = town.artel(["plan", "show", &id, "--json"]).run().expect(0);
    let paths = &shown.json()["plan"]["steps"][0]["scope"]["paths"];
    assert_eq!(paths, &json!(["**", "tests/run.sh"]), "any file, as before");
}

#[test]
fn a_check_that_the_plan_names_is_the_steps_to_change() {
    let stage = scripted(|asked| match asked.who {
        Who::Architect => alone(json!(["calc.py", "tests/run.sh"])),
        _ => knows_the_answer(),
    });
    stage.done();
    assert_eq!(stage.town.count("plan.proposed"), 0);
}

#[test]
fn tests_that_are_bent_hide_no_failure() {
    let bent = "import calc\ncalc.double = lambda a: 2 * a\n\n\nclass Calc";
    let stage = Stage::new(move |asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => alone(json!(["*.py"])),
        (_, 1) => vec![
            adds(),
            (
                "edit",
                json!({ "path": "calc.py", "old": "2 * a", "new": "a" }),
            ),
            (
                "edit",
                json!({ "path": "test_calc.py", "old": "import calc\n\n\nclass Calc", "new": bent }),
            ),
            super::stage::tests_add(),
            end("mended"),
        ],
        _ => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "return a\n", "new": "return 2 * a\n" }),
            ),
            end("mended"),
        ],
    });
    stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(
        why.contains("as they were before the first step") && why.contains("test_double"),
        "{why}"
    );
    let proofs = stage.told("proof.recorded");
    let held = proofs.iter().filter(|it| it["place"] == "as-before");
    let held: Vec<_> = held
        .map(|it| (it["step"].clone(), it["holds"].clone()))
        .collect();
    let (step, plan) = (json!("mend"), json!(null));
    assert_eq!(
        held,
        [
            (step.clone(), json!(false)),
            (step, json!(true)),
            (plan, json!(true))
        ]
    );
}

/// A test that needs more of a helper than the helper had.
const NEEDS_HELP: &str = "import unittest\n\nimport calc\nfrom tests.helpers import five\n\n\n\
    class Add(unittest.TestCase):\n    def test_add(self):\n        \
    self.assertEqual(calc.add(2, 3), five())\n";

/// A stage whose tests share a helper.
fn helped(mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> Stage {
    let stage = Stage::new(mind);
    let tests = stage.town.project.join("tests");
    fs::create_dir_all(&tests).unwrap();
    fs::write(tests.join("__init__.py"), "").unwrap();
    fs::write(tests.join("helpers.py"), "def four():\n    return 4\n").unwrap();
    let old = "import unittest\n\nimport calc\nfrom tests.helpers import four\n\n\n\
        class Double(unittest.TestCase):\n    def test_helped(self):\n        \
        self.assertEqual(calc.double(2), four())\n";
    fs::write(tests.join("test_double.py"), old).unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "Help"]);
    stage
}

fn more_help() -> Calls {
    let five = "    return 4\n\n\ndef five():\n    return 5\n";
    vec![
        adds(),
        (
            "edit",
            json!({ "path": "tests/helpers.py", "old": "    return 4\n", "new": five }),
        ),
        (
            "write",
            json!({ "path": "tests/test_add.py", "content": NEEDS_HELP }),
        ),
    ]
}

#[test]
fn a_helper_may_grow_for_a_new_test() {
    let stage = helped(|asked| match asked.who {
        Who::Architect => alone(json!(["*.py", "tests/**"])),
        _ => [more_help(), vec![end("mended")]].concat(),
    });
    stage.done();
    assert_eq!(stage.told("step.failed"), [json!(null); 0]);
    let proofs = stage.told("proof.recorded");
    let held = proofs.iter().filter(|it| it["place"] == "as-before");
    let held: Vec<_> = held.map(|it| it["holds"].clone()).collect();
    assert_eq!(
        held,
        [json!(true), json!(true)],
        "of the step and the whole"
    );
}

#[test]
fn a_helper_that_grew_for_a_new_test_hides_no_failure() {
    let bent = "import calc\n\ncalc.double = lambda a: 2 * a\n\n\ndef four";
    let stage = helped(move |asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => alone(json!(["*.py", "tests/**"])),
        (_, 1) => {
            let breaks = json!({ "path": "calc.py", "old": "2 * a", "new": "a" });
            let bends = json!({ "path": "tests/helpers.py", "old": "def four", "new": bent });
            let more = vec![("edit", breaks), ("edit", bends), end("mended")];
            [more_help(), more].concat()
        }
        _ => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "return a\n", "new": "return 2 * a\n" }),
            ),
            end("mended"),
        ],
    });
    stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(why.contains("test_helped"), "{why}");
}

#[test]
fn a_manifest_may_say_what_the_work_needs() {
    // The work reads what the manifest says, as a build reads what it depends on.
    let reads = "import pathlib\n\nNEEDS = pathlib.Path(__file__).with_name(\"pyproject.toml\")\n\
        assert \"attrs\" in NEEDS.read_text()\n\n\ndef add(";
    let needs = "name = \"calc\"\ndependencies = [\"attrs\"]";
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => alone(json!(["*.py", "*.toml"])),
        _ => vec![
            adds(),
            (
                "edit",
                json!({ "path": "pyproject.toml", "old": "name = \"calc\"", "new": needs }),
            ),
            (
                "edit",
                json!({ "path": "calc.py", "old": "def add(", "new": reads }),
            ),
            super::stage::tests_add(),
            end("mended"),
        ],
    });
    stage.done();
    assert_eq!(stage.town.count("plan.proposed"), 0);
    assert_eq!(stage.told("step.failed"), [json!(null); 0]);
}

#[test]
fn a_test_that_is_taken_away_or_weakened_is_the_persons_to_agree_to() {
    let lost = [
        json!({ "path": "test_calc.py", "old": "calc.double(4), 8", "new": "8, 8" }),
        json!({ "path": "test_calc.py", "old": "    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n", "new": "" }),
    ];
    for edit in lost {
        let stage = Stage::new(move |asked| match asked.who {
            Who::Architect => alone(json!(["*.py"])),
            _ => vec![
                adds(),
                ("edit", edit.clone()),
                super::stage::tests_add(),
                end("mended"),
            ],
        });
        let id = stage.town.asked();
        stage.approve(&id, 3);
        let proposed = stage.told("plan.proposed");
        let what = proposed[0]["what"].as_str().unwrap();
        assert!(
            what.contains("`test_calc.py` is a test that lost"),
            "{what}"
        );
    }
}

#[test]
fn a_step_that_changes_nothing_has_shown_nothing() {
    let over = json!({
        "verify": "none", "gives": ["RESULT"], "evidence": [{ "kind": "tests" }],
    });
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(over.clone())])),
        _ => vec![end("it is mended")],
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 3);
    let why = failed[0]["why"].as_str().unwrap();
    assert!(why.contains("names no other proof"), "{why}");
}

#[test]
fn a_command_shows_a_step_that_changes_nothing() {
    let over = json!({
        "verify": "none", "evidence": [{ "kind": "command", "what": "python3 -m unittest" }],
    });
    let stage = Stage::new(move |asked| match asked.who {
        Who::Architect => plan(json!([mend(over.clone())])),
        _ => vec![end("nothing to mend")],
    });
    stage.done();
    assert_eq!(stage.town.count("step.passed"), 1);
}

/// A command counts as a proof of code where it fails without the code.
#[test]
fn code_passes_by_a_command_only_if_that_notices_it() {
    let stage = Stage::new(|asked| match (asked.who, asked.step) {
        (Who::Architect, _) => {
            let step = |id: &str, command: &str| {
                let evidence = json!([{ "kind": "command", "what": command }]);
                mend(json!({ "id": id, "verify": "none", "evidence": evidence }))
            };
            let notices = "python3 -c 'import calc; exit(calc.add(2, 3) != 5)'";
            plan(json!([step("shown", notices), step("vain", "true")]))
        }
        (_, 1) => vec![adds(), end("mended")],
        _ if asked.attempt == 1 => vec![
            (
                "edit",
                json!({ "path": "calc.py", "old": "return 2 * a", "new": "return a * 2" }),
            ),
            end("another way"),
        ],
        _ => vec![end("it is as it should be")],
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let passed = stage.told("step.passed");
    assert_eq!((passed.len(), &passed[0]["step"]), (1, &json!("shown")));
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 3, "{failed:?}");
    for failed in &failed {
        assert_eq!(failed["step"], "vain");
        let why = failed["why"].as_str().unwrap();
        assert!(why.contains("nothing exercises it"), "{why}");
    }
}
