use std::collections::{BTreeMap, BTreeSet};

use artel_types::plan::{
    CommitType, Plan, PlanStep, PlannedFile, PlannedFileAction, Requirement, RequirementSource,
    StepEvidence, StepEvidenceKind, StepVerification,
};
use artel_types::{TraceId, literal_pattern};
use proptest::prelude::*;

use super::names::{
    branch, commit_message, is_code_path, is_plain_path, is_test_path, slug, sort_of,
};
use super::samples::{plan, plans, step};
use super::*;

fn known() -> PlanCheckContext {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    PlanCheckContext {
        roles: BTreeMap::from([
            ("engineer".to_owned(), RoleAccess::Writes),
            ("inspector".to_owned(), RoleAccess::Reads),
        ]),
        tools: names(&["Read", "Bash", "mcp__git__log"]),
        scripts: Some(names(&["scripts/make.py"])),
        keys: names(&["given"]),
    }
}

fn problems(plan: &Plan) -> Vec<String> {
    let found = check(plan, &known()).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect()
}

/// A plan of seven steps for adding sign-in through another service.
fn oauth() -> Plan {
    plan(vec![
        step("one", &[]),
        step("two", &[]),
        step("three", &["one", "two"]),
        step("four", &["two"]),
        step("five", &["three", "four"]),
        step("six", &["five"]),
        step("seven", &["five"]),
    ])
}

#[test]
fn layers_follow_dependencies() {
    let checked = check(&oauth(), &known()).unwrap();
    assert_eq!(
        checked.layers(),
        [
            vec!["one", "two"],
            vec!["three", "four"],
            vec!["five"],
            vec!["six", "seven"]
        ]
    );
    assert_eq!(checked.layer("five"), Some(2));
    assert_eq!(
        checked.order(),
        ["one", "two", "three", "four", "five", "six", "seven"]
    );
    let six = check(
        &plan(vec![
            step("1", &[]),
            step("2", &[]),
            step("3", &["1"]),
            step("4", &["1"]),
            step("5", &["3", "4"]),
            step("6", &["1", "2", "3", "4", "5"]),
        ]),
        &known(),
    )
    .unwrap();
    assert_eq!(
        six.layers(),
        [vec!["1", "2"], vec!["3", "4"], vec!["5"], vec!["6"]]
    );
    // A failed step affects the steps that depend on it, and no others.
    assert_eq!(six.dependents("3"), BTreeSet::from(["5", "6"]));
    assert_eq!(six.dependents("2"), BTreeSet::from(["6"]));
    assert_eq!(six.before("5"), BTreeSet::from(["1", "3", "4"]));
    assert_eq!(six.dependents("unknown"), BTreeSet::new());
}

/// Normalises a plan and drops steps with a duplicate id.
fn distinct(plan: Plan) -> Plan {
    let mut plan = normalise(plan);
    let mut seen = BTreeSet::new();
    plan.steps.retain(|step| seen.insert(step.id.clone()));
    plan
}

/// Changes one step of a valid plan with two.
fn with(change: impl Fn(&mut PlanStep)) -> Vec<String> {
    let mut plan = plan(vec![step("a", &[]), step("b", &["a"])]);
    change(&mut plan.steps[1]);
    problems(&plan)
}

type Change = fn(&mut PlanStep);

#[test]
fn everything_wrong_with_a_step_is_said_by_number_and_title() {
    let table: &[(Change, &str, &str)] = &[
        (|it| it.work = " ".into(), "work is empty", "write the work"),
        (|it| it.id = "A b".into(), "id `A b`", "a-z, 0-9"),
        (|it| it.id = "-x".into(), "id `-x`", "a-z, 0-9"),
        (
            |it| {
                it.id = "a".into();
                it.after.clear();
            },
            "that of step 1 too",
            "an id of its own",
        ),
        (
            |it| it.role = "wizard".into(),
            "role `wizard` is not known",
            "`engineer`, `inspector`",
        ),
        (
            |it| it.after = vec!["zz".into()],
            "waits for `zz`",
            "`a`, `b`",
        ),
        (
            |it| it.after = vec!["b".into()],
            "waits for itself",
            "take its own id",
        ),
        (
            |it| it.uses = vec!["key".into()],
            "uses `key`",
            "earlier steps give none",
        ),
        (
            |it| it.gives = vec!["a b".into()],
            "no name for a value",
            "letters",
        ),
        (|it| it.check = String::new(), "check is empty", "`none`"),
        (
            |it| it.scope.commands = vec!["rm -rf x | sh".into()],
            "no rule: `|`",
            "cargo test:*",
        ),
        (
            |it| it.scope.commands = vec!["git * log".into()],
            "only at the end",
            "cargo test:*",
        ),
        (
            |it| it.scope.commands = vec!["Bash(git log".into()],
            "is not closed",
            "cargo test:*",
        ),
        (
            |it| it.scope.commands = vec!["Edit(src/**)".into()],
            "not about commands",
            "cargo",
        ),
        (
            |it| it.scope.commands = vec!["echo \"x".into()],
            "quote is not closed",
            "cargo",
        ),
        (
            |it| it.scope.commands = vec!["mcp__git__push".into()],
            "`mcp__git__push`",
            "`mcp__git__log`",
        ),
        (
            |it| it.scope.paths = vec!["/etc/passwd".into()],
            "root of the project",
            "src/**",
        ),
        (
            |it| it.scope.paths = vec!["~/x".into()],
            "root of the project",
            "src/**",
        ),
        (
            |it| it.scope.paths = vec!["C:\\x".into()],
            "root of the project",
            "src/**",
        ),
        (
            |it| it.scope.paths = vec!["src/../../x".into()],
            "`..`",
            "src/**",
        ),
        (
            |it| it.scope.paths = vec!["src/[".into()],
            "cannot be used",
            "src/**",
        ),
        (
            |it| it.scope.network = vec!["https://x.org/a".into()],
            "no host",
            "https://",
        ),
        (
            |it| it.scope.network = vec!["x.org:99999".into()],
            "no host",
            "the name alone",
        ),
        (|it| it.scope.turns = Some(0), "0 turns", "1 to 100"),
        (|it| it.scope.turns = Some(101), "101 turns", "1 to 100"),
        (|it| it.scope.cost_usd = Some(-1.0), "-1 dollars", "use 0"),
        (
            |it| it.scope.cost_usd = Some(f64::NAN),
            "NaN dollars",
            "use 0",
        ),
        (
            |it| it.work = "Use the `teleport` tool.".into(),
            "tool `teleport`",
            "`Bash`",
        ),
        (
            |it| it.check = "Call mcp__jira__open.".into(),
            "`mcp__jira__open`",
            "`Read`",
        ),
        (
            |it| it.work = "Run ./scripts/brew.py now".into(),
            "`scripts/brew.py`",
            "`scripts/make.py`",
        ),
        (
            |it| it.scope.commands = vec!["./tools/check.sh fast:*".into()],
            "`tools/check.sh`",
            "`create`",
        ),
        (|it| it.work = "a\u{202e}b".into(), "U+202E", "take it out"),
        (|it| it.work = "a\u{1b}[2Jb".into(), "U+001B", "take it out"),
        (|it| it.work = "a\u{200b}b".into(), "U+200B", "take it out"),
        (|it| it.work = "a\u{200d}b".into(), "U+200D", "take it out"),
        (
            |it| it.work = "é\u{200d}\u{200d}é".into(),
            "U+200D",
            "take it out",
        ),
        (|it| it.work = "a\u{2060}b".into(), "U+2060", "take it out"),
        (|it| it.work = "a\u{ad}b".into(), "U+00AD", "take it out"),
        (
            |it| it.work = "x".repeat(LONGEST_TEXT + 1),
            "20001 characters",
            "at most 20000",
        ),
        (
            |it| it.scope.paths = vec!["x".into(); MOST_ENTRIES + 1],
            "too many entries",
            "at most 200",
        ),
        (
            |it| {
                it.evidence = vec![StepEvidence {
                    kind: StepEvidenceKind::Command,
                    what: " ".into(),
                }]
            },
            "names no command",
            "say what",
        ),
        (
            |it| {
                it.evidence = vec![StepEvidence {
                    kind: StepEvidenceKind::File,
                    what: "../x".into(),
                }]
            },
            "`..`",
            "say what",
        ),
        (
            |it| {
                it.role = "inspector".into();
                it.verify = StepVerification::Tdd;
            },
            "`inspector` changes no files",
            "`engineer`",
        ),
    ];
    for (change, what, remedy) in table {
        let found = with(change);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("step 2 `Do b`: "), "{found:?}");
        assert!(
            found[0].contains(what) && found[0].contains(remedy),
            "{what}: {found:?}"
        );
    }
    let untitled = with(|it| it.title = String::new());
    assert_eq!(untitled, ["step 2: its title is empty; write the title"]);
}

#[test]
fn scripts_are_there_or_are_made_first() {
    let named = |id: &str, after: &[&str]| PlanStep {
        work: "Run scripts/brew.py.".to_owned(),
        ..step(id, after)
    };
    let mut maker = step("maker", &[]);
    maker.scope.paths = vec!["scripts/brew.py".to_owned()];
    let late = plan(vec![named("a", &[]), maker.clone()]);
    assert_eq!(scripts_in(&late), BTreeSet::from(["scripts/brew.py"]));
    assert_eq!(problems(&late).len(), 1);
    assert_eq!(
        problems(&plan(vec![maker, named("a", &["maker"])])).len(),
        0
    );
    let mut listed = plan(vec![named("a", &[])]);
    listed.files = vec![PlannedFile {
        path: "./scripts/brew.py".to_owned(),
        action: PlannedFileAction::Create,
        why: String::new(),
    }];
    assert_eq!(problems(&listed).len(), 0);
    listed.files[0].action = PlannedFileAction::Modify;
    assert_eq!(problems(&listed).len(), 1);
    let unseen = PlanCheckContext {
        scripts: None,
        ..known()
    };
    assert!(check(&late, &unseen).is_ok());
}

#[test]
fn what_a_step_may_well_say_is_no_problem() {
    let table: &[Change] = &[
        |_| {},
        |it| it.id = "2".into(),
        |it| it.uses = vec!["given".into()],
        |it| it.verify = StepVerification::Tdd,
        |it| it.scope.commands = vec!["cargo test:*".into(), "Bash(git log)".into(), "*".into()],
        |it| it.scope.commands = vec!["mcp__git__log".into(), "mcp__git__*".into()],
        |it| it.scope.paths = vec!["src/**".into(), "a[bc].{rs,py}".into(), "./x".into()],
        |it| it.scope.network = vec!["docs.rs".into(), "*.example.org:443".into()],
        |it| it.work = "Use the `read` tool and scripts/make.py; prefix `foo()`.".into(),
        |it| {
            it.work = "Write scripts/brew.py and run it.".into();
            it.scope.paths = vec!["scripts/*.py".into()];
            it.scope.commands = vec!["./scripts/brew.py".into()];
        },
        |it| it.scope.commands = vec!["/usr/bin/x.sh".into(), "pytest tests/new.py".into()],
        |it| {
            it.work = "Use the `cargo` tool.".into();
            it.scope.commands = vec!["cargo build".into()];
        },
        |it| {
            it.verify = StepVerification::None;
            it.check = String::new();
        },
        |it| it.work = "Emoji 👩‍💻 and\ttabs\n".into(),
        |it| it.work = "می\u{200c}خواهم".into(),
    ];
    for (at, change) in table.iter().enumerate() {
        assert_eq!(with(change), Vec::<String>::new(), "{at}");
    }
}

#[test]
fn a_circle_is_shown_as_its_path() {
    let circle = plan(vec![
        step("free", &[]),
        step("a", &["c"]),
        step("b", &["a"]),
        step("c", &["b"]),
        step("x", &["y", "free"]),
        step("y", &["x"]),
        step("later", &["a", "y"]),
    ]);
    assert_eq!(
        problems(&circle),
        [
            "step 2 `Do a`: steps wait for one another in a circle: step 2 `a` → step 4 `c` → \
             step 3 `b` → step 2 `a`; take one of these dependencies out of `after`",
            "step 5 `Do x`: steps wait for one another in a circle: step 5 `x` → step 6 `y` → \
             step 5 `x`; take one of these dependencies out of `after`",
        ]
    );
}

#[test]
fn values_come_from_earlier_steps() {
    let mut plan = plan(vec![
        step("a", &[]),
        step("b", &["a"]),
        step("c", &["b"]),
        step("d", &[]),
    ]);
    plan.steps[0].gives = vec!["key".to_owned()];
    plan.steps[2].uses = vec!["key".to_owned()];
    assert_eq!(problems(&plan), Vec::<String>::new());
    plan.steps[3].uses = vec!["key".to_owned()];
    assert_eq!(
        problems(&plan),
        [
            "step 4 `Do d`: it uses `key`, which no step before it gives; `a` gives it: put that into \
          its `after`"
        ]
    );
    plan.steps[3].uses.clear();
    plan.steps[3].gives = vec!["key".to_owned()];
    assert!(problems(&plan)[0].contains("may run at the same time"));
    plan.steps[3].after = vec!["a".to_owned()];
    assert_eq!(problems(&plan), Vec::<String>::new());
}

#[test]
fn a_plan_as_a_whole_is_judged_too() {
    assert!(problems(&plan(Vec::new()))[0].contains("it has no steps"));
    let many = (0..=MOST_STEPS)
        .map(|at| step(&at.to_string(), &[]))
        .collect();
    assert!(problems(&plan(many))[0].contains("501 steps"));
    let mut empty = plan(vec![step("a", &[])]);
    empty.title = String::new();
    empty.overview = "\n".to_owned();
    assert_eq!(
        problems(&empty),
        [
            "the plan: its title is empty; write the title",
            "the plan: its overview is empty; write the overview"
        ]
    );
}

#[test]
fn finished_steps_stay() {
    let old = oauth();
    let mut new = old.clone();
    new.steps[6].work = "Something else.".to_owned();
    new.steps.swap(0, 1);
    assert_eq!(keeps(&old, &new, ["one", "two"]), []);
    new.steps.retain(|step| step.id != "one");
    new.steps[0].scope.paths.push("src/**".to_owned());
    let lost: Vec<String> = keeps(&old, &new, ["one", "two", "four"])
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(lost.len(), 2);
    assert!(
        lost[0].starts_with("step 1 `Do one`: it is finished and the new version leaves it out")
    );
    assert!(
        lost[1]
            .starts_with("step 2 `Do two`: it is finished and the new version changes its paths")
    );
}

#[test]
fn a_difference_is_short_and_marks_what_is_wider() {
    let mut old = plan(vec![step("a", &[]), step("b", &["a"]), step("c", &[])]);
    old.steps[1].scope.paths = vec!["src/**".to_owned()];
    old.steps[1].scope.turns = Some(10);
    old.steps[1].scope.criteria = vec![Requirement {
        text: "it works".to_owned(),
        source: RequirementSource::Explicit,
    }];
    let mut new = old.clone();
    new.title = "A better plan".to_owned();
    new.kind = CommitType::Fix;
    new.steps.remove(2);
    let mut d = step("d", &["b"]);
    d.scope.commands = vec!["make".to_owned()];
    new.steps.push(d);
    let b = &mut new.steps[1];
    b.work = "Do b well.\nAnd fast.".to_owned();
    b.verify = StepVerification::None;
    b.scope.paths = vec!["src/api/**".to_owned(), "docs/**".to_owned()];
    b.scope.turns = Some(20);
    b.scope.criteria.clear();
    insta::assert_snapshot!(difference(&old, &new), @r"
    ~ title: A plan → A better plan
    ~ kind: feat → fix
    - step `c`: Do c
    ~ step `b`: Do b
        verify: evaluator → none
        turns: 10 → 20
        work:
          + And fast.
        paths: - `src/**` + `src/api/**` + `docs/**`
        criteria: - `it works (explicit)`
        ! wider: it may change `docs/**`
        ! wider: it has 20 turns instead of 10
        ! wider: it is verified by `none` instead of `evaluator`
        ! wider: it no longer has to hold: it works
    + step `d`: Do d
        role: engineer
        verify: evaluator
        after: b
        may run: make
    ");
    let mut swapped = old.clone();
    swapped.steps.swap(0, 2);
    assert_eq!(difference(&old, &swapped), "~ order: c, b, a");
    assert_eq!(difference(&old, &old), "");
}

#[test]
fn more_room_is_told_from_less() {
    let scope = |paths: &[&str], commands: &[&str], hosts: &[&str]| {
        let mut it = step("a", &[]);
        let owned = |list: &[&str]| list.iter().map(|&entry| entry.to_owned()).collect();
        it.scope.paths = owned(paths);
        it.scope.commands = owned(commands);
        it.scope.network = owned(hosts);
        it
    };
    let same = [
        (
            scope(&["src/**"], &[], &[]),
            scope(&["src/a.rs", "src/x/**", "./src/**"], &[], &[]),
        ),
        (scope(&["**"], &[], &[]), scope(&["any/**"], &[], &[])),
        (scope(&["*.rs"], &[], &[]), scope(&["main.rs"], &[], &[])),
        (
            scope(&[], &["cargo test:*"], &[]),
            scope(&[], &["cargo test -p x", "Bash(cargo test *)"], &[]),
        ),
        (scope(&[], &["*"], &[]), scope(&[], &["make"], &[])),
        (
            scope(&[], &[], &["*.org"]),
            scope(&[], &[], &["a.org", "B.org"]),
        ),
        (scope(&["a"], &["b"], &["c.d"]), scope(&[], &[], &[])),
    ];
    for (old, new) in &same {
        assert_eq!(widened(old, new), Vec::<String>::new(), "{new:?}");
    }
    let wider = [
        (scope(&["src/**"], &[], &[]), scope(&["srcx/a"], &[], &[])),
        (scope(&["src/*"], &[], &[]), scope(&["src/**"], &[], &[])),
        (scope(&["src/a"], &[], &[]), scope(&["src/*"], &[], &[])),
        (
            scope(&[], &["cargo test"], &[]),
            scope(&[], &["cargo test:*"], &[]),
        ),
        (
            scope(&[], &["cargo test:*"], &[]),
            scope(&[], &["cargo testx"], &[]),
        ),
        (
            scope(&[], &["cargo test:*"], &[]),
            scope(&[], &["cargo:*"], &[]),
        ),
        (scope(&[], &[], &["a.org"]), scope(&[], &[], &["*.org"])),
        (scope(&[], &[], &["*.org"]), scope(&[], &[], &["evilorg"])),
    ];
    for (old, new) in &wider {
        assert_eq!(widened(old, new).len(), 1, "{new:?}");
    }
    let mut bounded = step("a", &[]);
    bounded.scope.cost_usd = Some(1.0);
    assert_eq!(
        widened(&bounded, &step("a", &[])),
        ["may cost any sum instead of 1 dollars"]
    );
}

#[test]
fn names_are_plain_and_short() {
    let table = [
        ("Implement User Auth!", "implement-user-auth"),
        ("  --Ünï  code-- ", "n-code"),
        ("漢字", "untitled"),
        ("", "untitled"),
        ("a/../b.lock", "a-b-lock"),
    ];
    for (title, expected) in table {
        assert_eq!(slug(title), expected);
    }
    let trace = TraceId::from_random([7; 16]);
    assert_eq!(
        branch(CommitType::Fix, "Fix it", trace),
        "fix/fix-it-07070707"
    );
    let mut step = step("limiter", &[]);
    step.title = "Write the limiter that keeps every client below its limits".to_owned();
    let files = ["src/limit.rs".to_owned()];
    assert_eq!(
        commit_message(&step, CommitType::Feat, &files, trace),
        "feat: Write the limiter that keeps every client below\n\nModified files:\n- src/limit.rs\n\n\
         Step: limiter\nTrace-Id: 07070707-0707-4707-8707-070707070707\n"
    );
}

#[test]
fn a_change_is_of_the_first_sort_that_fits() {
    let table: &[(&str, &[&str], CommitType)] = &[
        ("Fix the parser", &["tests/a.rs"], CommitType::Fix),
        ("Add a prefix", &["src/a.rs"], CommitType::Feat),
        ("Mend a bug", &[], CommitType::Fix),
        ("Cover it", &["tests/a.rs", "b_test.go"], CommitType::Test),
        ("Cover it", &["tests/a.rs", "b.go"], CommitType::Feat),
        ("Colours", &["a.css", "b.scss"], CommitType::Style),
        ("Words", &["README.md", "docs/a.txt"], CommitType::Docs),
        ("Refactor it", &["src/a.rs"], CommitType::Refactor),
        ("Refactor it", &["README.md"], CommitType::Docs),
    ];
    for (text, files, sort) in table {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        assert_eq!(sort_of(text, &files), *sort, "{text} {files:?}");
    }
}

#[test]
fn tests_are_told_from_code_in_many_languages() {
    let tests = [
        "tests/limits.rs",
        "crates/a/tests/b/c.rs",
        "src/limit_tests.rs",
        "src/a/tests.rs",
        "test_shop.py",
        "shop_test.py",
        "conftest.py",
        "pkg/shop_test.go",
        "src/shop.test.ts",
        "src/shop.spec.tsx",
        "src/__tests__/shop.js",
        "cypress/a.cy.ts",
        "spec/shop_spec.rb",
        "src/test/java/ShopTest.java",
        "ShopTests.cs",
        "Shop.Tests/Cart.cs",
        "ShopIT.java",
        "ShopSpec.scala",
        "TestShop.java",
        "tests/data/x.json",
        "testdata/a.txt",
        "src/__snapshots__/a.snap",
        "test-shop.sh",
        "t/fixtures/a.xml",
        "Tests/ShopTests.swift",
        "a\\tests\\b.rs",
        "test_cases.json",
        "shop/test_expected.csv",
        "shop_test.golden",
        "CartTest.xml",
        "test_input",
    ];
    for path in tests {
        assert!(is_test_path(path), "{path}");
    }
    let code = [
        "src/main.rs",
        "src/contest.py",
        "src/latest.ts",
        "attest/a.go",
        "src/testing_ground.c",
        "greatest.js",
        "src/protest.rb",
        "Testament.java",
        "src/inspect.rs",
        "AUDIT.java",
    ];
    for path in code {
        assert!(!is_test_path(path) && is_code_path(path), "{path}");
    }
    for path in [
        "README.md",
        "docs/test_plan.md",
        "load_test.rst",
        ".github/workflows/test.yml",
        "openapi_spec.yaml",
        "contest.json",
        "latest.csv",
        "data.json",
        "LICENSE",
        "logo.png",
        "Cargo.toml",
    ] {
        assert!(!is_test_path(path) && !is_code_path(path), "{path}");
    }
    assert!(is_code_path("Makefile") && is_code_path("deploy/Dockerfile"));
}

#[test]
fn what_is_not_known_to_be_plain_may_be_run() {
    for path in [
        "README",
        "README.md",
        "docs/guide.rst",
        "LICENSE",
        "logo.png",
        "config/app.yaml",
        "Cargo.toml",
    ] {
        assert!(is_plain_path(path), "{path}");
    }
    for path in [
        "bin/deploy",
        "calc.py",
        "Makefile",
        "CMakeLists.txt",
        "tests/fixtures/words.md",
        "shop.test.json",
        "tool.xyz",
    ] {
        assert!(!is_plain_path(path), "{path}");
    }
}

proptest! {
    #[test]
    fn slugs_fit_a_branch(title in "\\PC{0,200}") {
        let slug = slug(&title);
        prop_assert!(!slug.is_empty() && slug.len() <= 50);
        prop_assert!(slug.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
    }

    #[test]
    fn subjects_are_short(title in "\\PC{1,200}") {
        let mut step = step("a", &[]);
        step.title = title;
        let message = commit_message(&step, CommitType::Fix, &[], TraceId::from_random([1; 16]));
        let (_, subject) = message.lines().next().unwrap().split_once(": ").unwrap();
        prop_assert!(subject.chars().count() <= 50, "{subject}");
    }

    #[test]
    fn a_plan_can_name_any_file(path in r"[ab*?\[\]{}!,\\.~:u1 \n\x1b\u{202e}]{1,8}") {
        prop_assume!(path != "." && path != "..");
        let mut step = step("a", &[]);
        step.scope.paths = vec!["docs/**".to_owned(), literal_pattern(&path)];
        let plan = plan(vec![step]);
        prop_assert!(check(&plan, &known()).is_ok());
        prop_assert_eq!(&normalise(plan.clone()).steps[0].scope.paths, &plan.steps[0].scope.paths);
    }

    #[test]
    fn any_order_that_is_given_is_kept(edges in proptest::collection::vec((0usize..40, 0usize..40), 0..120)) {
        let mut steps: Vec<PlanStep> = (0..40).map(|at| step(&at.to_string(), &[])).collect();
        for (later, earlier) in edges.iter().filter(|(later, earlier)| later > earlier) {
            let earlier = earlier.to_string();
            if !steps[*later].after.contains(&earlier) {
                steps[*later].after.push(earlier);
            }
        }
        steps.reverse();
        let plan = plan(steps);
        let checked = check(&plan, &known()).unwrap();
        let order = checked.order();
        let place = |id: &str| order.iter().position(|it| *it == id).unwrap();
        for step in &plan.steps {
            let layers = step.after.iter().map(|id| checked.layer(id).unwrap() + 1);
            prop_assert_eq!(checked.layer(&step.id), Some(layers.max().unwrap_or(0)));
            for earlier in &step.after {
                prop_assert!(place(earlier) < place(&step.id));
                prop_assert!(checked.dependents(earlier).contains(&*step.id));
                prop_assert!(checked.before(&step.id).contains(&**earlier));
            }
        }
    }

    #[test]
    fn circles_are_found_whatever_the_edges(edges in proptest::collection::vec((0usize..8, 0usize..8), 0..20)) {
        let mut steps: Vec<PlanStep> = (0..8).map(|at| step(&at.to_string(), &[])).collect();
        for (later, earlier) in &edges {
            steps[*later].after.push(earlier.to_string());
        }
        let mut reach = [[false; 8]; 8];
        for (later, earlier) in &edges {
            reach[*later][*earlier] = true;
        }
        for middle in 0..8 {
            for from in 0..8 {
                for to in 0..8 {
                    reach[from][to] |= reach[from][middle] && reach[middle][to];
                }
            }
        }
        let is_circular = (0..8).any(|at| reach[at][at]);
        prop_assert_eq!(StepGraph::of(&plan(steps)).is_err(), is_circular);
    }

    #[test]
    fn any_plan_is_judged_and_compared(old in plans(), new in plans()) {
        let _judged = check(&old, &known());
        let (old, new) = (distinct(old), distinct(new));
        prop_assert_eq!(difference(&old, &new).is_empty(), old == new);
        prop_assert_eq!(difference(&old, &old), "");
    }
}
