//! Where the output goes: pipes that close, disks that are full, readers that follow, terminals.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use artel_testkit::note;

use crate::support::{House, notes};

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let house = House::new();
    house.append(notes("many", 3_000));
    for words in [
        &["journal", "query"][..],
        &["journal", "query", "--json"],
        &["journal", "query", "--format", "csv"],
        &["journal", "export"],
        &["journal", "tail", "-n", "3000"],
    ] {
        let mut child = house.artel([]).words(words).command().spawn().unwrap();
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut first).unwrap();
        drop(out);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{words:?}: {output:?}");
        assert!(!first.is_empty());
    }
}

#[test]
fn a_full_disk_under_the_output_is_an_error() {
    let house = House::new();
    house.append(notes("many", 300));
    for words in [
        &["journal", "tail"][..],
        &["journal", "query", "--json"],
        &["journal", "query", "--format", "csv"],
        &["journal", "export"],
        &["explain"],
        &["--help"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = house
            .artel([])
            .words(words)
            .command()
            .stdout(full)
            .output()
            .unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}: {err}");
        assert!(err.contains("C008"), "{words:?}: {err}");
    }
    let seen = house.artel(["journal", "export", "-o", "/dev/full"]).run();
    seen.fails(1, "C008");
}

#[test]
fn nobody_to_tell_is_no_reason_to_fail() {
    let house = House::new();
    let output = house.artel(["journal", "bogus"]).command();
    let mut output = output;
    let full = File::options().write(true).open("/dev/full").unwrap();
    let status = output.stderr(full).status().unwrap();
    assert_eq!(status.code(), Some(2));
    // The same with both ends closed by the shell.
    let script = format!(
        "{} journal tail >&- 2>&-; echo $?",
        env!("CARGO_BIN_EXE_artel")
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).current_dir(&house.workshop);
    let output = shell.env("HOME", &house.home).output().unwrap();
    assert_eq!(output.stdout, b"0\n", "{output:?}");
}

#[test]
fn following_shows_what_another_process_appends() {
    for json in [false, true] {
        let house = House::new();
        let words = ["journal", "tail", "--follow", "-n", "1", "--kind", "note."];
        let more = if json { &["--json"][..] } else { &[] };
        let artel = house.artel(words).words(more);
        house.append([note("before", "already there")]);
        let mut child = artel.command().spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        if !json {
            assert!(next().starts_with("SEQ"));
        }
        assert!(next().contains("already there"));
        house.append([
            note("now", "the first").on("a\u{1b}b"),
            note("now", "the second"),
        ]);
        let (first, second) = (next(), next());
        // What does not fit the filter is passed over.
        house.ok(["journal", "backup"]);
        house.append([note("now", "the third")]);
        let third = next();
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut rest)
            .unwrap();
        assert_eq!(rest, "");
        assert!(!first.contains('\u{1b}'), "{first}");
        for (line, text) in [(second, "the second"), (third, "the third")] {
            assert!(line.contains(text), "{line}");
        }
    }
}

#[test]
fn following_ends_when_its_reader_does() {
    let house = House::new();
    let mut command = house
        .artel(["journal", "tail", "--follow", "--json"])
        .command();
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    drop(lines);
    // It notices with the next event that it cannot hand over.
    house.append(notes("more", 1));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn text_that_would_steer_a_terminal_is_shown_and_not_obeyed() {
    let house = House::new();
    let nasty = "\u{1b}[2J\u{202e}evil\u{7}\u{9b}31m\r\n\u{200b}\u{2066}end";
    let mut draft = note("talk", nasty).on(nasty);
    draft.actor.id = nasty.to_owned();
    house.append([draft]);
    let is_safe = |character: char| {
        character == '\n'
            || !(character.is_control()
                || matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
    };
    let trace = "07070707";
    for words in [
        &["journal", "tail"][..],
        &["journal", "query"],
        &["journal", "stats"],
        &["trace", trace],
        &["trace", nasty],
        &["explain", nasty],
        &[nasty],
        &["journal", nasty],
        &["--workshop", nasty, "journal", "tail"],
        &["journal", "query", "--outcome", nasty],
        &["journal", "query", "--since", nasty],
        &["journal", "tail", "-n", nasty],
        &["--set", nasty, "doctor"],
        &["--set", "output.color=\u{1b}[31m", "doctor"],
        &["journal", "restore", nasty],
        &["init", "\u{1b}[31mred"],
        &["workshop", "trust", nasty],
    ] {
        let seen = house.artel([]).words(words).run();
        let all = format!("{}{}", seen.out, seen.err);
        let bad: Vec<char> = all.chars().filter(|&letter| !is_safe(letter)).collect();
        assert!(bad.is_empty(), "{words:?}: {bad:?} in {all:?}");
    }
    let shown = house.ok(["journal", "tail"]).out;
    assert!(shown.contains("\\u{1b}[2J\\u{202e}evil"), "{shown}");
    // A name with line breaks in it does not look like advice of ours.
    let name = "x`\n  try: `rm -r ~";
    let seen = house.artel(["--workshop", name, "journal", "tail"]).run();
    assert_eq!(seen.err.lines().count(), 3, "{}", seen.err);
}
