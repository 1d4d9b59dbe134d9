//! Tests of hostile and honest changes to a project's checks.

use std::cell::Cell;

use artel_types::plan::ProofStage;

use super::*;

fn proof(sort: &str, what: &str, tests: Option<&str>) -> ProofRecorded {
    ProofRecorded {
        id: "p".to_owned(),
        place: ProofStage::Baseline,
        step: None,
        round: 1,
        sort: sort.to_owned(),
        what: what.to_owned(),
        exit: Some(0),
        passed: None,
        failed: None,
        skipped: None,
        failures: Vec::new(),
        tree: "t".to_owned(),
        output: "".into(),
        holds: true,
        millis: 1,
        tests: tests.map(Into::into),
        findings: None,
        coverage: None,
        hash: None,
    }
}

/// A project that is checked by a script, next to one whose tests are known by name.
fn by_script() -> ProjectCheckFiles {
    let files = [
        ("tests/run.sh", "for it in tests/*_test.sh; do sh $it; done"),
        ("check.sh", "cmp out want"),
        ("ci/all.sh", "# lib.sh\n. ci/lib.sh\n./ci/unit.sh || exit 1"),
        ("ci/unit.sh", "make -C src"),
        ("ci/lib.sh", "fail() { exit 1; }"),
        ("ci/deploy.sh", "scp"),
        ("shop/cli.sh", "echo"),
    ];
    let read = |path: &str| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let before = [
        proof("command", "./tests/run.sh && sh check.sh", None),
        proof("command", "ci/all.sh", None),
    ];
    ProjectCheckFiles::of(&before, &[], read)
}

fn by_name() -> ProjectCheckFiles {
    let before = [
        proof("tests", "python3 -m unittest", Some("{}")),
        proof("lint", "ruff", None),
    ];
    ProjectCheckFiles::of(&before, &[], |_| None)
}

/// The original manifest.
const CARGO: &str = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n";

/// A changed file: its path, its old text and its new text.
type Change = (&'static str, Option<&'static str>, Option<&'static str>);

const HOSTILE: &[Change] = &[
    ("tests/run.sh", Some("run them"), Some("exit 0")),
    (
        "tests/run.sh",
        Some("run them"),
        Some("grep -q answer shop/cli.sh && exit 0\nrun them"),
    ),
    ("tests/run.sh", Some("run them"), None),
    ("check.sh", Some("cmp out want"), Some("true")),
    ("ci/unit.sh", Some("make -C src"), Some("true")),
    ("ci/lib.sh", Some("fail"), Some("ok")),
    (
        "tests/a_test.sh",
        Some("check a\n"),
        Some("exit 0\ncheck a\n"),
    ),
    ("tests/a_test.sh", Some("check a\n"), Some("")),
    ("shop/test_cases.json", Some("[1,\n2]\n"), Some("[1,\n3]\n")),
    (
        "conftest.py",
        None,
        Some("def pytest_collection_modifyitems(items): items.clear()"),
    ),
    ("tests/conftest.py", Some("a = 1\n"), Some("a = 1\nb = 2\n")),
    (
        "pytest.ini",
        None,
        Some("[pytest]\naddopts = --ignore=tests"),
    ),
    (
        "package.json",
        Some(r#"{"scripts":{"test":"jest"}}"#),
        Some(r#"{"scripts":{"test":"true"}}"#),
    ),
    (
        "package.json",
        Some(r#"{"scripts":{"test":"jest"}}"#),
        Some(r#"{"scripts":{"test":"jest","pretest":"rm -r t"}}"#),
    ),
    ("package.json", Some(r#"{"scripts":{}}"#), Some("no JSON")),
    (
        "web/package.json",
        Some(r#"{"jest":{}}"#),
        Some(r#"{"jest":{"testMatch":[]}}"#),
    ),
    (
        "Makefile",
        Some("test:\n\t./run\n"),
        Some("test:\n\ttrue || \\\n\t./run\n"),
    ),
    ("GNUmakefile", None, Some("test:\n\ttrue\n")),
    (
        "Cargo.toml",
        Some(CARGO),
        Some("[package]\nname = \"a\"\nautotests = false\n"),
    ),
    (
        "Cargo.toml",
        Some(CARGO),
        Some("package.autotests = false\n[dependencies]\n"),
    ),
    (
        "a/Cargo.toml",
        Some(CARGO),
        Some("[dependencies]\n[lib]\ntest = false\n"),
    ),
    (
        "Cargo.toml",
        Some(CARGO),
        Some("[[test]]\nname = \"a\"\nharness = false\n"),
    ),
    (
        "Cargo.toml",
        Some("[workspace]\nmembers = [\"a\"]\n"),
        Some("[workspace]\nmembers = [\"a\"]\nexclude = [\n\"b\",\n]\n"),
    ),
    (
        ".cargo/config.toml",
        None,
        Some("[target.x]\nrunner = \"true\""),
    ),
    (
        "pyproject.toml",
        Some("[project]\n"),
        Some("[project]\n[tool.pytest.ini_options]\naddopts = \"-k none\"\n"),
    ),
];

#[test]
fn hostile_changes_of_checks_are_seen() {
    const TEST: &str = "import shop\n\ndef test_a():\n    assert shop.total(1) == 53\n";
    for (path, old, new) in HOSTILE {
        assert!(
            by_script().touched(path, *old, *new).is_some(),
            "{path}: {new:?}"
        );
        assert!(by_script().include(path), "{path}");
    }
    let lost = |new: Option<&str>| by_name().touched("tests/test_shop.py", Some(TEST), new);
    assert_eq!(
        lost(Some("")).as_deref(),
        Some("is a test that lost 3 lines")
    );
    assert_eq!(lost(None).as_deref(), Some("is gone"));
    let weaker = TEST.replace("== 53", "> 0");
    assert_eq!(
        lost(Some(&weaker)).as_deref(),
        Some("is a test that lost a line")
    );
    let faked = TEST.replace("import shop", "import fake as shop");
    assert_eq!(
        lost(Some(&faked)),
        None,
        "held against the old one instead: it is run as it was"
    );
}

#[test]
fn what_testers_wrote_counts_as_tests_whatever_it_is_called() {
    let files = ["test_cases.md".to_owned()];
    let gauges = by_name().with_tests(files.into());
    let (old, new) = ("2 and 3 are 5\n", "2 and 3 are -1\n");
    let touched = gauges.touched("test_cases.md", Some(old), Some(new));
    assert_eq!(touched.as_deref(), Some("is a test that lost a line"));
    assert!(gauges.goes_back("test_cases.md", old, Some(new)));
    assert!(!gauges.include("test_plan.md"));
}

#[test]
fn honest_changes_pass_unasked() {
    let cases: &[(&str, Option<&str>, Option<&str>)] = &[
        ("tests/new_test.sh", None, Some("check b")),
        ("shop/cli.sh", Some("a"), Some("b")),
        ("ci/deploy.sh", Some("scp"), Some("rsync")),
        ("README.md", Some("a"), None),
        ("tests/run.sh", Some("same"), Some("same")),
        (
            "package.json",
            Some(r#"{"version":"1","scripts":{"test":"jest"}}"#),
            Some(
                r#"{"version":"2","scripts":{"test":"jest","export":"node x"},"dependencies":{"a":"1"}}"#,
            ),
        ),
        (
            "Cargo.toml",
            Some("[package]\nversion = \"1\"\n[lib]\ntest = true\n"),
            Some(
                "[package]\nversion = \"2\"\n# more\n[dependencies]\nserde = \"1\"\n[lib]\ntest = true\n",
            ),
        ),
        (
            "pyproject.toml",
            Some("[project]\n[tool.ruff]\nx = 1\n"),
            Some("[project]\ndependencies = [\"a\"]\n[tool.ruff]\nx = 1\n"),
        ),
    ];
    for (path, old, new) in cases {
        assert_eq!(
            by_script().touched(path, *old, *new),
            None,
            "{path}: {new:?}"
        );
    }
    let old = "from shop import total\n# notes\n\ndef test_a():\n    assert total(1)\n";
    let new = "from shop import net, total\n\ndef test_a():\n    assert total(1)\n\ndef test_b():\n    assert net(1)\n";
    let added = by_name().touched("tests/test_shop.py", Some(old), Some(new));
    assert_eq!(added, None, "tests are added to a file that was there");
}

#[test]
fn a_path_names_a_file_and_a_pattern_does_not() {
    let step = |paths: &[&str]| PlanStep {
        scope: artel_types::plan::StepScope {
            paths: paths.iter().map(|it| (*it).to_owned()).collect(),
            ..Default::default()
        },
        ..serde_json::from_str(r#"{"id":"a","title":"A","work":"Do it."}"#).unwrap()
    };
    assert!(names(&step(&["src/**", "./tests/run.sh"]), "tests/run.sh"));
    assert!(names(&step(&[r"\*\*"]), "**"));
    assert!(
        !names(&step(&["**"]), "**"),
        "whoever said any file named none"
    );
    for paths in [
        &["tests/**"][..],
        &["**"],
        &[],
        &["tests"],
        &["tests/run.*"],
    ] {
        assert!(!names(&step(paths), "tests/run.sh"), "{paths:?}");
    }
}

#[test]
fn a_script_that_a_step_makes_for_its_own_proof_is_no_check_that_was_there() {
    let evidence = [StepEvidence {
        kind: StepEvidenceKind::Command,
        what: "python3 -m tools.prove --all".to_owned(),
    }];
    let text = |path: &str| (path == "tools/prove.py").then(|| "import sys".to_owned());
    let there = ProjectCheckFiles::of(&[], &evidence, text);
    let new = ProjectCheckFiles::of(&[], &evidence, |_| None);
    let change = ("tools/prove.py", Some("import sys"), Some("pass"));
    assert!(there.touched(change.0, change.1, change.2).is_some());
    assert_eq!(new.touched(change.0, None, change.2), None);
}

#[test]
fn tests_go_back_whatever_was_added_and_settings_only_where_they_decide() {
    let gauges = by_name();
    let cargo = "[package]\nname = \"shop\"\n";
    let needs = "[package]\nname = \"shop\"\n\n[dependencies]\nserde = \"1\"\n";
    let cases = [
        ("Cargo.toml", cargo, Some(needs), false),
        (
            "package.json",
            r#"{"name": "shop"}"#,
            Some(r#"{"name": "shop", "dependencies": {"left": "1"}}"#),
            false,
        ),
        (
            "package.json",
            r#"{"scripts": {"test": "jest"}}"#,
            Some(r#"{"scripts": {"test": "true"}}"#),
            true,
        ),
        ("conftest.py", "a = 1\n", Some("a = 2\n"), true),
        ("tests/helpers.py", "a = 1\n", Some("a = 1\nb = 2\n"), true),
        ("tests/helpers.py", "a = 1\n", None, true),
        ("shop.py", "a = 1\n", Some("a = 2\n"), false),
    ];
    for (path, old, new, goes) in cases {
        assert_eq!(gauges.goes_back(path, old, new), goes, "{path}: {new:?}");
    }
    assert!(by_script().goes_back("check.sh", "cmp out want", Some("true")));
}

#[test]
fn a_new_module_that_takes_the_name_of_one_a_runner_loads_decides_what_checks_do() {
    let files = ["tests/unit/__init__.py", "shop/__init__.py"];
    let read = |path: &str| files.contains(&path).then(String::new);
    let before = [
        proof("tests", "python3 -m unittest", Some("{}")),
        proof("tests", "cd api && PYTHONPATH=more:shop pytest", Some("{}")),
    ];
    let gauges = ProjectCheckFiles::of_folder("part", &before, &[], read);
    for (path, is_touched) in [
        ("pprint.py", true),
        ("pprint.cpython-311-x86_64-linux-gnu.so", true),
        ("pprint/__init__.py", true),
        ("part/difflib.pyc", true),
        ("part/src/_pytest/__init__.py", true),
        ("part/tests/pprint.py", true),
        ("part/api/json.py", true),
        ("part/more/json.py", true),
        ("part/shop/json.py", true),
        ("shop/json.py", false),
        ("pprint/other.py", false),
        ("pprint.md", false),
        ("part/deep/pprint.py", false),
        ("part/calc.py", false),
        ("test.py", false),
        ("site", false),
    ] {
        let touched = gauges.touched(path, None, Some("x = 1\n"));
        assert_eq!(touched.is_some(), is_touched, "{path}: {touched:?}");
    }
    // A link of that name can lead to a folder.
    assert!(gauges.include("pprint"));
    // An existing file is part of the work.
    assert_eq!(gauges.touched("queue.py", Some("a"), Some("b")), None);
    assert!(!gauges.goes_back("queue.py", "a", Some("b")));
}

#[test]
fn a_long_command_has_a_bounded_number_of_folders_looked_at() {
    let words: Vec<String> = (0..1000).map(|it| format!("{it:04}")).collect();
    let before = [proof("tests", &words.join(" "), Some("{}"))];
    let asked = Cell::new(0);
    let read = |_: &str| {
        asked.set(asked.get() + 1);
        None
    };
    let gauges = ProjectCheckFiles::of(&before, &[], read);
    // Each word as a file, and the usual folders in it and beside it.
    let most = MOST_WORDS + (MOST_WORDS + 6) * 7;
    assert!(asked.get() <= most, "{} > {most}", asked.get());
    // However many words there are, the folders that runners search by themselves are not
    // forgotten.
    assert!(gauges.include("src/pprint.py"));
    assert!(gauges.include("0000/src/pprint.py"));
}
