use proptest::prelude::*;

use super::place;
use crate::checks::checker::{CodeChecker, MARKERS};
use crate::checks::diagnostics::checks;
use crate::checks::finding::{CheckerFindingSeverity, CheckerOutputFormat, read};
use crate::checks::survey::ProjectSurvey;

/// File, line, column, severity and message.
type Expected = (
    &'static str,
    u64,
    Option<u64>,
    CheckerFindingSeverity,
    &'static str,
);

fn line(tree: &'static str, programs: &str) -> String {
    let place = place(tree, programs);
    let survey = ProjectSurvey::of(&place.root, "", MARKERS);
    let all = checks(&place.top(), &survey);
    let one = |check: &crate::checks::diagnostics::ConfiguredChecker| {
        let folder = if check.folder.is_empty() {
            "."
        } else {
            &check.folder
        };
        let missing = if check.words.is_none() { "!" } else { "" };
        format!(
            "{}{missing} {folder} {}",
            check.checker.id(),
            check.evidence.strength.word()
        )
    };
    all.iter().map(one).collect::<Vec<_>>().join(" | ")
}

#[test]
fn each_tree_has_its_checkers() {
    let table: &[(&str, &str, &str)] = &[
        ("README.md=", "cargo ruff", ""),
        ("Cargo.toml=[package]", "cargo", "cargo-check . medium"),
        ("Cargo.toml=[package]", "", "cargo-check! . medium"),
        (
            "Cargo.toml=[package] clippy.toml=",
            "cargo cargo-clippy",
            "clippy . high",
        ),
        (
            "Cargo.toml=[package] clippy.toml=",
            "cargo",
            "clippy! . high",
        ),
        (
            r#"Cargo.toml=[lints.clippy]\ntodo="deny""#,
            "cargo cargo-clippy",
            "clippy . high",
        ),
        (
            "Cargo.toml=[workspace] a/Cargo.toml=[package]",
            "cargo",
            "cargo-check . medium",
        ),
        (
            "go.mod= .golangci.yml=",
            "go golangci-lint",
            "golangci-lint . high | go-vet . medium",
        ),
        (
            "tsconfig.json={} node_modules/.bin/tsc=",
            "npx",
            "tsc . high",
        ),
        ("tsconfig.json={}", "npx", "tsc! . high"),
        ("eslint.config.js=", "eslint", "eslint . high"),
        (
            r#"package.json={"devDependencies":{"eslint":"9"}}"#,
            "",
            "eslint! . medium",
        ),
        ("ruff.toml=", "ruff", "ruff . high"),
        (
            "pyproject.toml=[tool.ruff]\\n[tool.mypy]",
            "ruff mypy",
            "ruff . high | mypy . high",
        ),
        (
            r#"pyproject.toml=[project]\ndependencies=["mypy"]"#,
            "mypy",
            "mypy . medium",
        ),
        ("pyrightconfig.json={}", "pyright", "pyright . high"),
        (
            "mypy.ini= web/tsconfig.json={}",
            "mypy tsc",
            "tsc web high | mypy . high",
        ),
    ];
    for (tree, programs, expected) in table {
        assert_eq!(line(tree, programs), *expected, "{tree} with {programs}");
    }
}

#[test]
fn lines_of_all_checkers_are_read() {
    use CheckerFindingSeverity::{Error, Note, Warning};
    let table: &[(&str, Option<Expected>)] = &[
        (
            "src/lib.rs:3:5: error[E0308]: mismatched types",
            Some(("src/lib.rs", 3, Some(5), Error, "[E0308]: mismatched types")),
        ),
        (
            "src/lib.rs:3:5: warning: unused variable: `x`",
            Some(("src/lib.rs", 3, Some(5), Warning, "unused variable: `x`")),
        ),
        (
            "src/a.ts(3,5): error TS2322: Type 'a' is not 'b'.",
            Some((
                "src/a.ts",
                3,
                Some(5),
                Error,
                "TS2322: Type 'a' is not 'b'.",
            )),
        ),
        (
            "a.py:1:8: F401 [*] `os` imported but unused",
            Some((
                "a.py",
                1,
                Some(8),
                Error,
                "F401 [*] `os` imported but unused",
            )),
        ),
        (
            "a.py:4: error: Name \"x\" is not defined  [name-defined]",
            Some((
                "a.py",
                4,
                None,
                Error,
                "Name \"x\" is not defined  [name-defined]",
            )),
        ),
        (
            "a.py:4:1: note: see there",
            Some(("a.py", 4, Some(1), Note, "see there")),
        ),
        (
            "  /home/me/a.py:2:5 - error: \"x\" is not defined (reportUndefinedVariable)",
            Some((
                "/home/me/a.py",
                2,
                Some(5),
                Error,
                "\"x\" is not defined (reportUndefinedVariable)",
            )),
        ),
        (
            "./a.go:3:5: undefined: x",
            Some(("a.go", 3, Some(5), Error, "undefined: x")),
        ),
        (
            "vet: ./a.go:3:5: undefined: x",
            Some(("a.go", 3, Some(5), Error, "undefined: x")),
        ),
        ("Found 3 errors.", None),
        ("error: could not compile `shop`", None),
        ("https://example.com:443: gone", None),
        ("", None),
    ];
    for (text, expected) in table {
        let found = read(CheckerOutputFormat::Lines, text);
        let found = found.first().map(|it| {
            (
                it.file.as_str(),
                it.line,
                it.column,
                it.severity,
                it.message.as_str(),
            )
        });
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn what_compilers_and_type_checkers_say_is_told_apart() {
    use CodeChecker::{CargoCheck, Clippy, GoVet, GolangciLint, Mypy, Ruff, Tsc};
    for (checker, text, is_of_types) in [
        (CargoCheck, "a.rs:3:5: error[E0308]: mismatched types", true),
        (CargoCheck, "a.rs:3:5: error: unused variable", false),
        (Clippy, "a.rs:3:5: error: this could be simpler", false),
        (Clippy, "a.rs:3:5: error[E0425]: cannot find value", true),
        (Tsc, "a.ts(3,5): error TS2322: Type 'a' is not 'b'.", true),
        (Mypy, "a.py:4: error: Incompatible types", true),
        (Ruff, "a.py:1:8: F401 `os` imported but unused", false),
        (GoVet, "vet: ./a.go:3:5: undefined: x", true),
        (GoVet, "./a.go:3:5: unreachable code", false),
        (GolangciLint, "a.go:3:5: undefined: x (typecheck)", true),
        (
            GolangciLint,
            "a.go:3:5: error not checked (errcheck)",
            false,
        ),
    ] {
        let found = read(CheckerOutputFormat::Lines, text);
        assert_eq!(checker.is_of_types(&found[0]), is_of_types, "{text}");
    }
}

#[test]
fn the_json_of_eslint_is_read() {
    let text = r#"[{"filePath":"/home/me/a.js","messages":[
        {"ruleId":"no-undef","severity":2,"message":"'x' is not defined.","line":3,"column":7},
        {"ruleId":null,"severity":1,"message":"File ignored","line":1}]}]"#;
    let found = read(CheckerOutputFormat::Eslint, text);
    let lines: Vec<_> = found
        .iter()
        .map(|it| (it.line, it.severity, it.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            (1, CheckerFindingSeverity::Warning, "File ignored"),
            (
                3,
                CheckerFindingSeverity::Error,
                "'x' is not defined. (no-undef)"
            ),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_output_has_an_answer(text in r"(?s)([a-z./:(),0-9é \-\n]|error|warning){0,120}") {
        read(CheckerOutputFormat::Lines, &text);
        read(CheckerOutputFormat::Eslint, &text);
    }
}
