//! Commands that probably build, lint and test a project without a known runner. A person
//! is shown them to accept or change; they are never run unasked.

use serde_json::Value;

/// The tasks to look for, in the order in which they are run.
const TASKS: [&str; 5] = ["build", "lint", "typecheck", "check", "test"];

/// Common names of test and check scripts.
const SCRIPTS: [&str; 10] = [
    "test.sh",
    "run_tests.sh",
    "run-tests.sh",
    "check.sh",
    "tests/run.sh",
    "test/run.sh",
    "scripts/test.sh",
    "scripts/check.sh",
    "ci/test.sh",
    "bin/test",
];

/// Lists such commands. `read` returns a file of the project.
pub fn likely_checks(read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(text) = read("package.json") {
        found.extend(npm(&text));
    }
    for (program, files) in [
        ("make", ["GNUmakefile", "makefile", "Makefile"]),
        ("just", ["justfile", "Justfile", ".justfile"]),
    ] {
        let text = files.iter().find_map(|file| read(file));
        let text = text.unwrap_or_default();
        let tasks = TASKS.iter().filter(|task| has_rule(&text, task));
        found.extend(tasks.map(|task| format!("{program} {task}")));
    }
    if found.is_empty() {
        let scripts = SCRIPTS.iter().filter(|path| read(path).is_some());
        found.extend(scripts.map(|path| format!("./{path}")));
    }
    found
}

/// Lists the scripts of an npm package, without the default script for a package that has
/// no tests.
fn npm(text: &str) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let script = |task: &&&str| {
        let script = package["scripts"][**task].as_str().unwrap_or_default();
        !script.is_empty() && !script.contains("no test specified")
    };
    let tasks = TASKS.iter().filter(script);
    tasks
        .map(|task| match *task {
            "test" => "npm test".to_owned(),
            task => format!("npm run {task}"),
        })
        .collect()
}

/// Returns whether a text has a rule of this name: `test: build`, also as one of several
/// targets.
fn has_rule(text: &str, task: &str) -> bool {
    text.lines().any(|line| {
        let is_rule = !line.starts_with([' ', '\t', '#', '.']) && !line.contains(":=");
        let names = line.split_once(':').map_or("", |(names, _)| names);
        is_rule && names.split_whitespace().any(|name| name == task)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Vec<String> {
        likely_checks(|path| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn what_a_project_names_itself_is_found_in_its_order() {
        let package = r#"{"scripts": {"test": "node x.js", "build": "tsc", "lint": ""}}"#;
        assert_eq!(
            of(&[("package.json", package)]),
            ["npm run build", "npm test"]
        );
        let make = "CC := cc\n.PHONY: test\nall: build\nlint check: all\n\t./lint\ntest:\n\t./t\n";
        assert_eq!(
            of(&[("Makefile", make), ("test.sh", "")]),
            ["make lint", "make check", "make test"]
        );
        assert_eq!(of(&[("justfile", "test *args:\n  cargo")]), ["just test"]);
        assert_eq!(of(&[("tests/run.sh", "")]), ["./tests/run.sh"]);
    }

    #[test]
    fn what_says_nothing_is_no_command() {
        let none = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
        for files in [
            &[("package.json", none)][..],
            &[("package.json", "{ not json")],
            &[("Makefile", "tests: a\n\ttest: b\n# test: c\ntest := 1\n")],
            &[],
        ] {
            assert_eq!(of(files), [""; 0], "{files:?}");
        }
    }
}
