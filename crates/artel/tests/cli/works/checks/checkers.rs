//! What the project's own checkers say of a step: types, lint, build, coverage, and the shape of
//! functions.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};

/// A checker of types that knows one mistake, as `mypy` would say it.
const MYPY: &str = r#"#!/bin/sh
grep -n 'return str(' calc.py | sed 's/:.*/:5: error: Incompatible return value type/; s/^/calc.py:/'
! grep -q 'return str(' calc.py
"#;

/// A linter that knows one mistake, as `ruff` would say it.
const RUFF: &str = r#"#!/bin/sh
grep -n 'unused = ' calc.py | sed 's/:.*/:5: F841 Local variable `unused` is never used/; s/^/calc.py:/'
! grep -q 'unused = ' calc.py
"#;

fn program(stage: &Stage, path: &str, text: &str) {
    let file = stage.town.project.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

fn committed(stage: &Stage) {
    stage.git(&["add", "-Af"]);
    stage.git(&["commit", "-qm", "Checkers"]);
}

/// A project that has both.
fn checked(mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> Stage {
    let stage = Stage::new(mind);
    program(&stage, ".venv/bin/mypy", MYPY);
    program(&stage, ".venv/bin/ruff", RUFF);
    let file = stage.town.project.join("pyproject.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n[tool.mypy]\n\n[tool.ruff]\n")).unwrap();
    committed(&stage);
    stage
}

fn edit(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": path, "old": old, "new": new }))
}

fn usual(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => plan(json!([mend(json!({}))])),
        _ => pass(asked, json!({})),
    }
}

/// The proofs of a place, as sort and what they found.
fn found(stage: &Stage, sort: &str, round: u64) -> Value {
    let proofs = stage.told("proof.recorded");
    let mut green = proofs.iter().filter(|it| it["place"] == "green");
    let proof = green.find(|it| it["sort"] == sort && it["round"] == round);
    proof
        .unwrap_or_else(|| panic!("no {sort}: {proofs:#?}"))
        .clone()
}

#[test]
fn sylk_4_17_a_type_error_is_a_blocker_and_a_lint_error_an_error() {
    let stage = checked(|asked| match (asked.who, asked.attempt) {
        (Who::Worker, 1) => vec![
            adds(),
            tests_add(),
            edit("calc.py", "return 2 * a", "unused = 1\n    return 2 * a"),
            edit(
                "calc.py",
                "def add",
                "def name(a):\n    return str(a)\n\n\ndef add",
            ),
            end("mended"),
        ],
        (Who::Worker, 2) => vec![
            edit("calc.py", "def name(a):\n    return str(a)\n\n\n", ""),
            end("the types are right"),
        ],
        (Who::Worker, _) => vec![edit("calc.py", "unused = 1\n    ", ""), end("clean")],
        _ => usual(asked),
    });
    stage.done();
    let lint = found(&stage, "lint", 1);
    assert_eq!(lint["holds"], false, "{lint:#}");
    let told: Vec<_> = lint["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            (
                it["severity"].clone(),
                it["file"].clone(),
                it["line"].clone(),
            )
        })
        .collect();
    let at = |severity: &str, line: u64| (json!(severity), json!("calc.py"), json!(line));
    assert_eq!(told, [at("blocker", 2), at("error", 10)], "{lint:#}");
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 2, "each of them is enough: {failed:?}");
    let why = |at: usize| failed[at]["why"].as_str().unwrap().to_owned();
    assert!(
        why(0).contains("Incompatible return value type"),
        "{}",
        why(0)
    );
    assert!(!why(1).contains("Incompatible"), "{}", why(1));
    assert!(
        why(1).contains("never used") && why(1).contains("calc.py:6"),
        "{}",
        why(1)
    );
    let second = stage.asked_of(Who::Worker, 1);
    let second = second.iter().find(|it| it.attempt == 2).unwrap();
    assert!(
        second.text.contains("Incompatible"),
        "the output is told: {}",
        second.text
    );
    assert_eq!(
        stage.town.count("step.judged"),
        1,
        "nobody is asked about what is broken"
    );
}

#[test]
fn sylk_4_17_long_and_deep_functions_are_warnings() {
    let long = format!(
        "def add(a, b):\n    return a + b\n\n\ndef long(a):\n{}    return a\n\n\ndef deep(a):\n{}",
        "    a += 1\n".repeat(118),
        "    if a:\n        for b in a:\n            while b:\n                with b:\n                    \
         if b:\n                        return b\n",
    );
    let stage = Stage::new(move |asked| match asked.who {
        Who::Worker => vec![
            edit("calc.py", "def add(a, b):\n    return a - b\n", &long),
            tests_add(),
            end("mended"),
        ],
        _ => usual(asked),
    });
    let id = stage.done();
    let judged = &stage.told("step.judged")[0];
    assert_eq!(
        judged["passed"], true,
        "a warning fails nothing: {judged:#}"
    );
    let told: Vec<_> = judged["findings"].as_array().unwrap().iter().collect();
    assert_eq!(told.len(), 2, "{judged:#}");
    for (finding, line, words) in [
        (told[0], 5, "`long` has 120 lines"),
        (told[1], 127, "nests 5"),
    ] {
        assert_eq!(
            (&finding["severity"], &finding["line"]),
            (&json!("warning"), &json!(line))
        );
        assert!(
            finding["why"].as_str().unwrap().contains(words),
            "{finding:#}"
        );
        assert!(!finding["fix"].as_str().unwrap().is_empty());
    }
    let report = stage
        .town
        .artel(["report", "show", &id])
        .run()
        .expect(0)
        .out;
    assert!(report.contains("2 remarks"), "{report}");
}

/// Builds, lints and tests, one command each, as the person named them.
#[test]
fn sylk_4_18_whichever_check_fails_refuses_the_step_with_its_output() {
    let checks = [
        (
            "build.sh",
            "BROKEN-BUILD",
            "BUILD FAILED: calc.py is not built",
        ),
        ("lint.sh", "UGLY-LINE", "LINT FAILED: calc.py is ugly"),
        ("unit.sh", "WRONG-SUM", "TEST FAILED: the sum is wrong"),
    ];
    let stage = Stage::new(move |asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => {
            let notices = "python3 -c 'import calc; exit(calc.add(2, 3) != 5)'";
            let over = json!({
                "verify": "none", "evidence": [{ "kind": "command", "what": notices }],
                "scope": { "paths": ["calc.py"] },
            });
            plan(json!([mend(over)]))
        }
        (_, attempt) => {
            let mark = |at: usize| format!("# {}\n", checks[at].1);
            let old = match attempt {
                1 => String::new(),
                attempt => mark(attempt - 2),
            };
            let new = checks.get(attempt - 1).map(|_| mark(attempt - 1));
            let marks = edit(
                "calc.py",
                &format!("{old}def double"),
                &format!("{}def double", new.unwrap_or_default()),
            );
            match attempt {
                1 => vec![adds(), marks, end("done")],
                _ => vec![marks, end("done")],
            }
        }
    });
    let town = &stage.town;
    for (name, mark, says) in checks {
        let text =
            format!("#!/bin/sh\nif grep -q {mark} calc.py; then echo '{says}'; exit 3; fi\n");
        program(&stage, name, &text);
    }
    committed(&stage);
    let named = checks
        .iter()
        .flat_map(|(name, ..)| ["--check".to_owned(), format!("./{name}")]);
    town.artel(["portal", "add", "."])
        .words(named.collect::<Vec<_>>())
        .run()
        .expect(0);
    let id = town.asked();
    stage.approve(&id, 3);
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 3, "{failed:?}");
    for ((name, _, says), failed) in checks.iter().zip(&failed) {
        let why = failed["why"].as_str().unwrap();
        assert!(
            why.contains(&format!("`./{name}` ends with exit code 3")),
            "{why}"
        );
        assert!(why.contains(says), "the output is told: {why}");
    }
    // All evidence is there: it is accepted, and the report has what failed on the way.
    town.artel(["answer", &id, "more"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(town.count("step.passed"), 1);
    let trace = town
        .artel(["trace", &id, "--step", "1"])
        .run()
        .expect(0)
        .out;
    for (name, _, says) in checks {
        assert!(
            trace.contains(says) && trace.contains(name),
            "{says}: {trace}"
        );
    }
}

/// Code that ends whoever loads it takes the tests' results with it, whichever exit code it leaves.
#[test]
fn sylk_4_18_a_run_of_tests_that_dies_without_a_result_refuses_the_step() {
    let old_failure = "    def test_old(self):\n        self.fail('known')\n\n    # more";
    let silent = "does not say any more how its tests ended";
    for (dies, more, why) in [
        ("import os\nos._exit(0)\n", "    # more", silent),
        (
            "import os\nos.abort()\n",
            old_failure,
            "ends with exit code 134",
        ),
    ] {
        let stage = Stage::new(move |asked| match (asked.who, asked.attempt) {
            (Who::Architect, _) => plan(json!([mend(json!({ "verify": "none" }))])),
            (_, 1) => vec![
                adds(),
                tests_add(),
                edit("calc.py", "def double", &format!("{dies}def double")),
                end("mended"),
            ],
            _ => vec![edit("calc.py", dies, ""), end("it lives")],
        });
        let tests = stage.town.project.join("test_calc.py");
        let text = fs::read_to_string(&tests).unwrap();
        fs::write(&tests, text.replace("    # more", more)).unwrap();
        stage.git(&["commit", "-qam", "Tests", "--allow-empty"]);
        stage.done();
        let failed = stage.told("step.failed");
        assert_eq!(failed.len(), 1, "{failed:?}");
        let told = failed[0]["why"].as_str().unwrap();
        assert!(told.contains(why), "{told}");
        assert_eq!(found(&stage, "tests", 1)["holds"], false);
        assert_eq!(found(&stage, "tests", 2)["holds"], true);
        let branch = stage.told("branch.checked");
        assert_eq!(branch[0]["passed"], true, "{branch:?}");
    }
}

/// Tests that print a sum of what they cover, as `coverage` does.
fn covered(share: u32) -> String {
    format!(
        "    @classmethod\n    def tearDownClass(cls):\n        import sys\n        \
         print('\\nTOTAL    100    5    {share}%', file=sys.stderr)\n\n    # more"
    )
}

#[test]
fn sylk_4_20_coverage_below_the_baseline_does_not_pass() {
    let stage = Stage::new(|asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => plan(json!([mend(json!({ "verify": "none" }))])),
        (_, 1) => vec![
            adds(),
            tests_add(),
            edit("test_calc.py", "95%", "90%"),
            end("mended"),
        ],
        _ => vec![edit("test_calc.py", "90%", "95%"), end("covered")],
    });
    let tests = stage.town.project.join("test_calc.py");
    let text = fs::read_to_string(&tests).unwrap();
    fs::write(&tests, text.replace("    # more", &covered(95))).unwrap();
    committed(&stage);
    stage.done();
    let failed = stage.told("step.failed");
    assert_eq!(failed.len(), 1, "{failed:?}");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(
        why.contains("cover 90% of the code, and covered 95% before"),
        "{why}"
    );
    assert_eq!(found(&stage, "tests", 2)["coverage"], "95%");
}

/// A script takes production code into itself, which can end it or change how it looks.
#[test]
fn what_a_check_loads_is_changed_by_steps_that_the_plan_lets() {
    let script = "#!/bin/sh\n. ./lib/sums.sh\n[ \"$(add 2 2)\" = 4 ] || exit 1\n\
        for it in tests/*.sh; do . \"./$it\"; done\n";
    let lib = "add() { echo $(( $1 * $2 )); }\n";
    let test = "[ \"$(add 2 3)\" = 5 ] || exit 1\n";
    // With the first the check ends before it looks, whatever `add` does.
    let fake = ("lib/**", "$1 * $2 )); }\nexit 0");
    let honest = ("lib/sums.sh", "$1 + $2 )); }");
    for (path, new) in [fake, honest] {
        let is_asked = path == "lib/**";
        let stage = Stage::new(move |asked| match asked.who {
            Who::Architect => {
                let scope = json!({ "paths": [path, "tests/**"] });
                plan(json!([mend(json!({ "verify": "none", "scope": scope }))]))
            }
            _ => vec![
                ("write", json!({ "path": "tests/sum.sh", "content": test })),
                edit("lib/sums.sh", "$1 * $2 )); }", new),
                end("it passes"),
            ],
        });
        program(&stage, "check.sh", script);
        program(&stage, "lib/sums.sh", lib);
        program(&stage, "tests/base.sh", ":\n");
        committed(&stage);
        let town = &stage.town;
        let add = ["portal", "add", ".", "--check", "./check.sh"];
        town.artel(add).run().expect(0);
        let id = town.asked();
        stage.approve(&id, if is_asked { 3 } else { 0 });
        let proposed = stage.told("plan.proposed");
        assert_eq!(
            proposed.len(),
            usize::from(is_asked),
            "{path}: {proposed:?}"
        );
        assert_eq!(town.count("step.passed"), usize::from(!is_asked), "{path}");
        if is_asked {
            let what = proposed[0]["what"].as_str().unwrap();
            assert!(
                what.contains("`lib/sums.sh` is loaded into a check"),
                "{what}"
            );
        }
    }
}
