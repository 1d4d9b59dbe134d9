//! What is known about programs, row by row, and that every part of the table is needed.
#![expect(clippy::unwrap_used, reason = "a broken row has to fail the test")]

use std::collections::{BTreeMap, HashMap};

use artel_policy::programs::{self, CommandAssessment, NestedCommand};

/// The rows. `ok` has no doubts and writes exactly what it says, `ask` has at least one doubt and
/// at least what it says. Behind `=>` stand grounds, `w:` written paths, `r:` read paths and `s:`
/// started commands (a script between backticks, an open one with an ellipsis). `⏎` is a newline.
const ROWS: &[&str] = &[
    include_str!("programs/archives.txt"),
    include_str!("programs/builds.txt"),
    include_str!("programs/builtins.txt"),
    include_str!("programs/everyday.txt"),
    include_str!("programs/files.txt"),
    include_str!("programs/git.txt"),
    include_str!("programs/interpreters.txt"),
    include_str!("programs/network.txt"),
    include_str!("programs/packages.txt"),
    include_str!("programs/systems.txt"),
    include_str!("programs/texts.txt"),
    include_str!("programs/wrappers.txt"),
];

struct Row {
    line: &'static str,
    is_ok: bool,
    words: Vec<String>,
    expected: Vec<String>,
}

#[test]
fn every_row_is_judged_as_it_says() {
    let rows = rows();
    assert!(rows.len() >= 500, "only {} rows", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| fault(row, &programs::look(&row.words)))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} rows:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_part_of_the_table_is_needed_by_a_row() {
    let rows = rows();
    let mut by_name: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in &rows {
        for word in &row.words {
            let base = word.rsplit('/').next().unwrap();
            by_name.entry(base).or_default().push(row);
        }
    }
    let parts = programs::parts();
    let mut unneeded = Vec::new();
    for part in &parts {
        let program = part.split(':').next().unwrap();
        let is_missed = rows_for(program, &by_name)
            .iter()
            .any(|row| fault(row, &programs::look_without(&row.words, part)).is_some());
        if !is_missed {
            unneeded.push(part.as_str());
        }
    }
    assert!(parts.len() > 300, "only {} parts", parts.len());
    assert!(
        unneeded.is_empty(),
        "{} parts:\n{}",
        unneeded.len(),
        unneeded.join("\n")
    );
}

#[test]
fn no_words_are_no_program() {
    assert_eq!(programs::look(&[]), CommandAssessment::default());
}

#[test]
fn only_what_wraps_something_is_a_wrapper() {
    let is_wrapper = |text: &str| programs::look(&words_of(text)).is_wrapper;
    for wrapping in [
        "env git status",
        "timeout 5 ls",
        "sh -c ls",
        "xargs wc",
        "command ls",
    ] {
        assert!(is_wrapper(wrapping), "{wrapping}");
    }
    for other in [
        "env",
        "xargs",
        "find . -exec ls ;",
        "sudo ls",
        "git log",
        "command -v ls",
    ] {
        assert!(!is_wrapper(other), "{other}");
    }
}

#[test]
fn a_root_makes_absolute_paths_known() {
    let words = words_of("python /home/me/project/build.py");
    assert!(!programs::look(&words).doubts.is_empty());
    assert!(
        programs::look_within(&words, "/home/me/project")
            .doubts
            .is_empty()
    );
    assert!(
        !programs::look_within(&words, "/home/me/other")
            .doubts
            .is_empty()
    );
}

#[test]
fn wrapping_without_end_is_asked_about_and_ends() {
    for wrapper in [
        "xargs",
        "timeout 5",
        "env",
        "find . -exec",
        "sudo",
        "python -m pip run",
    ] {
        let words = words_of(&format!("{wrapper} ").repeat(5_000));
        let found = programs::look(&words);
        assert!(
            !found.doubts.is_empty() || !found.starts.is_empty(),
            "{wrapper}"
        );
    }
}

/// Rows that could need a part of this program: those that name any of its names, or that start it
/// as a part of another.
fn rows_for<'r>(program: &str, by_name: &HashMap<&str, Vec<&'r Row>>) -> Vec<&'r Row> {
    let bare = program.strip_prefix("git-").unwrap_or(program);
    let bare = if program == "tar-options" {
        "tar"
    } else {
        bare
    };
    by_name.get(bare).cloned().unwrap_or_default()
}

fn rows() -> Vec<Row> {
    ROWS.iter()
        .flat_map(|file| file.lines())
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .map(|line| {
            let (left, expected) = line.split_once(" => ").unwrap_or((line, ""));
            let (kind, command) = left.split_once(' ').unwrap();
            assert!(matches!(kind, "ok" | "ask"), "{line}");
            Row {
                line,
                is_ok: kind == "ok",
                words: words_of(command),
                expected: words_of(expected),
            }
        })
        .collect()
}

fn fault(row: &Row, found: &CommandAssessment) -> Option<String> {
    let rules: Vec<&str> = found.doubts.iter().map(|doubt| doubt.rule).collect();
    let starts: Vec<String> = found.starts.iter().map(shown).collect();
    let says = |mark: &str| -> Vec<String> {
        let marked = row
            .expected
            .iter()
            .filter_map(|word| word.strip_prefix(mark));
        marked.map(str::to_owned).collect()
    };
    let grounds = row
        .expected
        .iter()
        .filter(|word| word.get(1..2) != Some(":"));
    let is_right = row.is_ok == found.doubts.is_empty()
        && grounds
            .clone()
            .all(|ground| rules.contains(&format!("program.{ground}").as_str()))
        && says("r:").iter().all(|path| found.reads.contains(path))
        && says("s:").iter().all(|start| starts.contains(start))
        && says("w:").iter().all(|path| found.writes.contains(path))
        && (!row.is_ok || found.writes == says("w:"));
    (!is_right).then(|| {
        format!(
            "{}\n    found {:?} starts {starts:?} writes {:?} reads {:?}",
            row.line, found.doubts, found.writes, found.reads
        )
    })
}

fn shown(start: &NestedCommand) -> String {
    match start {
        NestedCommand::Words(words) => words.join(" "),
        NestedCommand::Open(words) => format!("{} …", words.join(" ")),
        NestedCommand::Script(text) => format!("`{text}`"),
    }
}

fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (_, '⏎') => word.get_or_insert_default().push('\n'),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[test]
fn the_families_name_their_grounds() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows() {
        for doubt in programs::look(&row.words).doubts {
            assert!(
                doubt.reason.starts_with('`') && !doubt.reason.ends_with('.'),
                "{doubt:?}"
            );
            assert!(doubt.reason.len() < 400, "{doubt:?}");
            *counts.entry(doubt.rule).or_default() += 1;
        }
    }
    assert!(counts.len() >= 20, "{counts:?}");
}
