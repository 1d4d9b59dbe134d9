//! Command lines that make no sense.

use crate::support::{House, Tree};

/// Runs command lines that make no sense; nothing may be printed as data or changed on disk.
fn refused(lines: &[&[&str]]) -> String {
    let house = House::new();
    let before = Tree::of(&house.root());
    let all = lines.iter().map(|words| {
        let seen = house.artel([]).words(*words).run();
        assert!(seen.code == 2 || seen.code == 4, "{words:?}: {seen:?}");
        assert_eq!(seen.out, "", "{words:?}");
        let line = format!("$ artel {}", words.join(" "));
        format!("{}\n{}", line.trim_end(), seen.text())
    });
    let all = all.collect();
    before.unchanged(&house.root());
    all
}

#[test]
fn an_unknown_command_is_named_with_the_nearest_one() {
    let all = refused(&[
        &[],
        &["bogus"],
        &["jornal", "tail"],
        &["journal"],
        &["journal", "tial"],
        &["--json", "--workshop", ".", "journal", "bogus"],
        &["--workshop", "journal", "config", "bogus"],
    ]);
    insta::assert_snapshot!(all, @r#"
        $ artel
        exit 2
        error[C005]: `artel` needs to be told what to do
          try: `artel --help` lists the commands
        $ artel bogus
        exit 2
        error[C003]: `artel` has no command `bogus`
          try: `artel --help`
        $ artel jornal tail
        exit 2
        error[C003]: `artel` has no command `jornal`
          try: `artel journal`
        $ artel journal
        exit 2
        error[C005]: `artel journal` needs to be told what to do
          try: `artel journal --help` lists the commands
        $ artel journal tial
        exit 2
        error[C003]: `artel journal` has no command `tial`
          try: `artel journal tail`
        $ artel --json --workshop . journal bogus
        exit 2
        {"error":{"advice":"`artel journal --help`","code":"C003","what":"`artel journal` has no command `bogus`"}}
        $ artel --workshop journal config bogus
        exit 2
        error[C003]: `artel config` has no command `bogus`
          try: `artel config --help`
        "#);
}

#[test]
fn an_unknown_or_incomplete_flag_is_named() {
    let all = refused(&[
        &["journal", "tail", "--bogus"],
        &["journal", "tail", "--lnes", "3"],
        &["journal", "query", "--limit"],
        &["journal", "prune"],
        &["trace"],
        &["init", "one", "two"],
        &["--workshop"],
    ]);
    insta::assert_snapshot!(all, @r"
        $ artel journal tail --bogus
        exit 2
        error[C002]: `artel journal tail` has no flag `--bogus`
          try: `artel journal tail --help`
        $ artel journal tail --lnes 3
        exit 2
        error[C002]: `artel journal tail` has no flag `--lnes`
          try: `--lines`, or `artel journal tail --help`
        $ artel journal query --limit
        exit 2
        error[C005]: --limit <COUNT> needs a value
          try: `artel journal query --help`
        $ artel journal prune
        exit 2
        error[C005]: `artel journal prune` needs --before <TIME>
          try: `artel journal prune --help`
        $ artel trace
        exit 2
        error[C005]: `artel trace` needs <ID>
          try: `artel trace --help`
        $ artel init one two
        exit 2
        error[C001]: `artel init` cannot do anything with `two`
          try: `artel init --help`
        $ artel --workshop
        exit 2
        error[C005]: --workshop <DIR> needs a value
          try: `artel --help`
        ");
}

#[test]
fn a_value_that_is_not_allowed_is_answered_with_what_is() {
    let all = refused(&[
        &["journal", "tail", "-n", "many"],
        &["journal", "tail", "-n", "-1"],
        &["journal", "query", "--format", "xml"],
        &["journal", "query", "--outcome", "maybe"],
        &["journal", "query", "--since", "yesterday"],
        &["journal", "prune", "--before", "soon"],
        &["explain", "J999"],
    ]);
    insta::assert_snapshot!(all, @r"
        $ artel journal tail -n many
        exit 2
        error[C004]: `many` is not a value for --lines <COUNT>
          why: expected a whole number, 0 or more
          try: `artel journal tail --help`
        $ artel journal tail -n -1
        exit 2
        error[C004]: `-1` is not a value for --lines <COUNT>
          why: expected a whole number, 0 or more
          try: `artel journal tail --help`
        $ artel journal query --format xml
        exit 2
        error[C004]: `xml` is not a value for --format <FORMAT>
          why: allowed: table, json, csv
          try: `artel journal query --help`
        $ artel journal query --outcome maybe
        exit 2
        error[C004]: `maybe` is not a value for --outcome
          why: allowed: done, failed, allowed, denied, cancelled, unknown
          try: `--outcome failed`
        $ artel journal query --since yesterday
        exit 2
        error[C004]: `yesterday` is not a value for --since
          why: `yesterday` is not a time: write `2026-11-15T08:30:00Z`, `2026-11-15`, or a span such as `24h`, `7d`, `90d`
          try: `--since 7d`
        $ artel journal prune --before soon
        exit 2
        error[C004]: `soon` is not a value for --before
          why: `soon` is not a time: write `2026-11-15T08:30:00Z`, `2026-11-15`, or a span such as `24h`, `7d`, `90d`
          try: `--before 7d`
        $ artel explain J999
        exit 4
        error[C007]: there is no error code `J999`
          try: `artel explain` lists them all
        ");
}

#[test]
fn words_that_are_not_text_are_survived() {
    use std::os::unix::ffi::OsStrExt as _;
    let house = House::new();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    for words in [
        &["journal"][..],
        &["trace"],
        &["explain"],
        &["workshop", "trust"],
        &["journal", "restore"],
        &["journal", "export", "--output", "/nowhere/x", "--kind"],
        &["--workshop"],
        &["--set"],
        &[],
    ] {
        let seen = house.artel([]).words(words).words([odd]).run();
        assert!((1..=4).contains(&seen.code), "{words:?}: {seen:?}");
    }
    // A folder may have such a name, too.
    let folder = house.root().join(odd);
    let init = house.artel(["init"]).words([&folder]);
    init.run().expect(0);
    let tail = house.artel(["journal", "tail"]).standing_in(&folder);
    tail.run().expect(0);
    for words in [
        &["journal", "backup"][..],
        &["workshop", "show"],
        &["init"],
        &["clean"],
        &["journal", "export", "-o", "events.jsonl"],
        &["config", "show"],
        &["doctor"],
        &["workshop", "trust"],
    ] {
        let odd = house.artel(["--json"]).words(words).standing_in(&folder);
        odd.run().expect(0).json();
    }
    // The other workshops are still known.
    house.ok(["workshop", "show"]);
}
