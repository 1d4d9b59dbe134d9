//! Pages that make a promise about themselves: what is not built, and what is promised.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::tests_that_are_there;

/// Reads a page of the documentation.
fn page(name: &str) -> String {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(crates.join("../docs").join(name)).unwrap()
}

/// Returns the rows of the tables below each heading, without the heads of the tables.
fn tables(text: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let mut tables: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut is_head = true;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            tables.push((heading.to_owned(), Vec::new()));
            is_head = true;
        } else if line.starts_with("| ---") {
            is_head = false;
        } else if let Some((_, rows)) = tables
            .last_mut()
            .filter(|_| line.starts_with('|') && !is_head)
        {
            let cells = line.trim_matches('|').split(" | ");
            rows.push(cells.map(|cell| cell.trim().to_owned()).collect());
        }
    }
    tables
}

#[test]
fn what_is_not_built_is_said_once_with_reason_and_source() {
    let tables = tables(&page("not-built.md"));
    let headings: Vec<&str> = tables.iter().map(|(heading, _)| &**heading).collect();
    assert_eq!(headings, ["Never", "Not yet"]);
    let mut seen = BTreeSet::new();
    let source = regex::Regex::new(
        r"^(sylk-[1-7]|omniforge|exoframe|skills-agent|audit [a-z0-9-]+|product)\b",
    )
    .unwrap();
    for ((heading, rows), width) in tables.iter().zip([3, 2]) {
        assert!(rows.len() >= 20, "{heading}: {}", rows.len());
        for row in rows {
            assert_eq!(row.len(), width, "{heading}: {row:?}");
            assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
            assert!(seen.insert(row[0].to_lowercase()), "twice: {row:?}");
            for part in row[width - 1].split("; ") {
                assert!(source.is_match(part), "no source: {part} in {row:?}");
            }
        }
    }
    // Each stands there by itself: a part of another line does not stand for it.
    let not_yet: BTreeSet<&str> = tables[1].1.iter().map(|row| &*row[0]).collect();
    for capability in [
        "flows: `artel flow`, `flow:` in a request",
        "skills that a request names: `skill:` and `skills:` in its file",
        "plans over several portals",
        "variants of a step, side by side",
        "language servers",
        "project profile: which tools a project has, and why",
        "proofs of inspection: risk, blast radius, mutation, flaky tests",
        "UI steps whose result somebody has looked at",
        "evals from the journal",
        "replaying a rule over history, learned permissions",
        "container level of the sandbox, an image per skill",
        "`profile` as one switch for everything that an environment needs",
        "turn limits per minute, per skill and per person",
        "consultation between roles",
        "the guide: routing by a model, learning from wrong routes",
        "the orchestrator: a role that supervises the steps of a plan",
        "`/command` words in a request that answer without a model",
        "agents' memory beyond a step: preferences, mistakes, notes",
        "research and papers that become plans",
        "workers on other machines",
        "PostgreSQL as a store for the journal",
        "release packages, self-update",
    ] {
        assert!(not_yet.contains(capability), "{capability}");
    }
}

/// Servers of tools cannot be named yet, so nothing tells people to write their names.
#[test]
fn what_is_not_built_is_no_example_elsewhere() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut waiting = vec![
        crates.join("../docs"),
        crates.join("artel-server/templates"),
        crates.join("artel-workshop/roles"),
    ];
    let mut named = Vec::new();
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            let inside = fs::read_dir(&path).unwrap();
            waiting.extend(inside.map(|entry| entry.unwrap().path()));
        } else if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains("mcp__") {
            named.push(path.file_name().unwrap().display().to_string());
        }
    }
    assert_eq!(named, Vec::<String>::new());
}

#[test]
fn every_promise_is_shown_by_tests_that_are_there() {
    let tables = tables(&page("security.md"));
    let there = tests_that_are_there();
    let name = regex::Regex::new(r"`([a-z0-9_]{12,})`").unwrap();
    let mut promises = 0;
    for row in tables.iter().flat_map(|(_, rows)| rows) {
        assert_eq!(row.len(), 2, "{row:?}");
        let named: Vec<&str> = name
            .captures_iter(&row[1])
            .map(|it| it.get(1).unwrap().as_str())
            .collect();
        assert!(!named.is_empty(), "a promise without a test: {row:?}");
        for test in named {
            assert!(
                there.contains(test),
                "`{test}` is on the page and not there"
            );
        }
        promises += 1;
    }
    assert!(promises >= 30, "{promises}");
}
