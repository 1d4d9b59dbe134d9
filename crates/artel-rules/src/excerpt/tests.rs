//! Tests of what an excerpt must keep, by tables and against a simple model of it.

use proptest::prelude::*;

use super::*;

fn excerpt(bytes: &[u8]) -> OutputExcerpt {
    let mut excerpt = OutputExcerptBuilder::new(OutputExcerptLimits::default());
    excerpt.push(bytes);
    excerpt.finish()
}

/// Pushes the same bytes again and again, like a child process that never stops.
fn flood(piece: &[u8], times: usize) -> OutputExcerpt {
    let mut excerpt = OutputExcerptBuilder::new(OutputExcerptLimits::default());
    for _ in 0..times {
        excerpt.push(piece);
    }
    excerpt.finish()
}

#[test]
fn short_output_is_shown_whole() {
    let cases: &[(&[u8], &str, u64)] = &[
        (b"", "", 0),
        (b"\n", "\n", 1),
        (b"one", "one\n", 1),
        (b"one\ntwo\n", "one\ntwo\n", 2),
        (b"one\n\ntwo", "one\n\ntwo\n", 3),
        (b"dos\r\nline\r\n", "dos\nline\n", 2),
        (b"10%\r20%\rdone\n", "done\n", 1),
        (b"\x1b[31merror\x1b[0m: no\n", "error: no\n", 1),
        (b"\x1b]0;title\x07text\n", "text\n", 1),
        (b"\x1b]0;never ended\n", "0;never ended\n", 1),
        (b"\x1b]8;;x\x1b\\link\x1b]8;;\x1b\\\n", "link\n", 1),
        (
            b"nul \0 bell \x07 tab \t.\n",
            "nul \u{2400} bell \u{2407} tab \t.\n",
            1,
        ),
        (b"\xff\xfe\n", "\u{fffd}\u{fffd}\n", 1),
        (
            "\u{202e}hidden\u{200b}\n".as_bytes(),
            "<U+202E>hidden<U+200B>\n",
            1,
        ),
        (b"cut \x1b[3\n", "cut \n", 1),
        (b"cut \x1b", "cut \n", 1),
    ];
    for (bytes, text, lines) in cases {
        let shown = excerpt(bytes);
        let name = String::from_utf8_lossy(bytes);
        assert_eq!(shown.text, *text, "{name:?}");
        assert_eq!(
            (shown.lines, shown.bytes),
            (*lines, bytes.len() as u64),
            "{name:?}"
        );
        assert!(!shown.truncated, "{name:?}");
    }
}

#[test]
fn a_hundred_and_fifty_lines_are_shown_and_one_more_is_not() {
    let lines = |count: usize| {
        (1..=count)
            .map(|n| format!("line {n}\n"))
            .collect::<String>()
    };
    let all = excerpt(lines(150).as_bytes());
    assert_eq!((all.text, all.truncated), (lines(150), false));
    let more = excerpt(lines(151).as_bytes());
    assert!(more.truncated);
    assert!(
        more.text
            .contains("line 50\n[… 1 line, 8 bytes left out …]\nline 52\n"),
        "{}",
        more.text
    );
    // A long first line alone does not use up the budget of the rest.
    let long = format!("{}\nsecond\n", "x".repeat(30_000));
    assert_eq!(excerpt(long.as_bytes()).text, long);
}

#[test]
fn three_errors_in_two_hundred_thousand_lines_are_seen() {
    let mut excerpt = OutputExcerptBuilder::new(OutputExcerptLimits::default());
    let mut bytes = 0;
    for number in 1..=200_000 {
        let line = match number {
            90_000 => "error: first\n".to_owned(),
            100_000 => "src/main.rs:3:9: Error: second\n".to_owned(),
            110_000 => "fatal ERROR third\n".to_owned(),
            _ => format!("line {number}\n"),
        };
        bytes += line.len() as u64;
        excerpt.push(line.as_bytes());
    }
    let shown = excerpt.finish();
    assert_eq!(
        (shown.lines, shown.bytes, shown.errors),
        (200_000, bytes, 3)
    );
    assert_eq!(shown.summary(), "3 errors, 0 warnings in 200000 lines");
    let (first, rest) = shown.text.split_once("[… 199850 lines, ").unwrap();
    let expected: String = (1..=50).map(|n| format!("line {n}\n")).collect();
    assert_eq!(first, expected);
    let (middle, last) = rest.split_once("[… and at the end:]\n").unwrap();
    let expected: String = (199_901..=200_000).map(|n| format!("line {n}\n")).collect();
    assert_eq!(last, expected);
    let (_, told) = middle.split_once("among them:]\n").unwrap();
    assert_eq!(
        told,
        "90000: error: first\n100000: src/main.rs:3:9: Error: second\n110000: fatal ERROR third\n"
    );
    let nothing = OutputExcerptBuilder::new(OutputExcerptLimits::default()).finish();
    let rendered = render(&shown, &nothing, "Read it with `x`.");
    assert!(rendered.starts_with("3 errors, 0 warnings in 200000 lines\n--- stdout ---\nline 1\n"));
    let end = format!("[truncated: stdout has 200000 lines, {bytes} bytes. Read it with `x`.]\n");
    assert!(rendered.ends_with(&end), "{rendered}");
}

#[test]
fn counts_include_what_stands_first_and_last() {
    let text: String = (0..1000).map(|n| format!("warning: {n}\n")).collect();
    let shown = excerpt(text.as_bytes());
    assert_eq!((shown.errors, shown.warnings), (0, 1000));
    // Of the 850 lines in between, only some are shown, and the others are counted.
    assert!(
        shown
            .text
            .contains("[… 750 more lines like these left out …]"),
        "{}",
        shown.text
    );
    assert!(shown.text.contains("\n51: warning: 50\n"), "{}", shown.text);
}

#[test]
fn the_same_words_are_told_once() {
    let text = format!("{}{}", "ok\n".repeat(100), "error: again\n".repeat(500));
    let shown = excerpt(format!("{text}{}", "ok\n".repeat(100)).as_bytes());
    assert_eq!(shown.errors, 500);
    assert_eq!(
        shown.text.matches("error: again").count(),
        1,
        "{}",
        shown.text
    );
    assert!(
        shown
            .text
            .contains("[… 499 more lines like these left out …]"),
        "{}",
        shown.text
    );
}

#[test]
fn what_stands_out_is_known() {
    let telling: &[&str] = &[
        "error: x",
        "ERROR",
        "TypeError: y",
        "warning: unused",
        "test result: FAILED",
        "Exception in thread",
        "thread 'main' panicked",
        "src/lib.rs:10:5",
        "  at foo (x.js:1)",
        "\tat org.Main(Main.java)",
        "  File \"x.py\", line 3, in f",
        "a_b.c_d:1:2: note",
        "x: y.rs:12:34",
    ];
    for line in telling {
        assert!(OutputLineMarks::of(line.as_bytes()).stands_out, "{line}");
    }
    let boring: &[&str] = &[
        "",
        "ok",
        "at the end",
        "look at this",
        "12:34:56 started",
        "http://x:80:1",
        "lib.rs:10",
        "lib.rs:10:",
        ".rs:1:2",
        "lib.:1:2",
        "File \"x\"",
        "terror".get(..3).unwrap(),
        "  attach",
    ];
    for line in boring {
        assert!(!OutputLineMarks::of(line.as_bytes()).stands_out, "{line}");
    }
}

#[test]
fn floods_stay_small_and_are_counted() {
    let binary: Vec<u8> = (0..=255u8).cycle().take(64 << 10).collect();
    let cases: [(&str, &[u8]); 6] = [
        ("yes", &b"y\n".repeat(32 << 10)),
        ("no newline", &vec![b'x'; 64 << 10]),
        ("binary", &binary),
        ("ansi", &b"\x1b[31m\x1b[0m\x1b[2K".repeat(5000)),
        ("progress", &b"\r 42% of it".repeat(6000)),
        ("errors", &b"error: it is broken\n".repeat(3000)),
    ];
    for (name, piece) in cases {
        let shown = flood(piece, 300);
        assert_eq!(shown.bytes, 300 * piece.len() as u64, "{name}");
        assert!(shown.text.len() < 50 << 10, "{name}: {}", shown.text.len());
        let is_hidden = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!shown.text.contains(is_hidden), "{name}");
    }
}

#[test]
fn an_endless_line_keeps_its_beginning_and_its_end() {
    let mut excerpt = OutputExcerptBuilder::new(OutputExcerptLimits::default());
    excerpt.push(b"begin ");
    for _ in 0..1000 {
        excerpt.push(&[b'x'; 1000]);
    }
    excerpt.push(b" an err");
    excerpt.push(b"or here");
    excerpt.push(&[b'x'; 5000]);
    excerpt.push(b" end");
    let shown = excerpt.finish();
    assert_eq!((shown.lines, shown.errors, shown.truncated), (1, 1, true));
    assert!(shown.text.starts_with("begin xxx"), "{}", shown.text);
    assert!(shown.text.ends_with("xxx end\n"), "{}", shown.text);
    assert!(
        shown.text.contains("[… 1003024 bytes cut …]"),
        "{}",
        shown.text
    );
}

#[test]
fn progress_of_any_length_ends_in_its_last_state() {
    let mut text = String::from("go\n");
    for step in 0..=100_000 {
        text.push_str(&format!("\rloading {step}"));
    }
    text.push_str("\ndone\n");
    let shown = excerpt(text.as_bytes());
    assert_eq!(shown.text, "go\nloading 100000\ndone\n");
    assert_eq!(shown.bytes, text.len() as u64);
    assert!(
        !shown.truncated,
        "nothing that was left standing is missing"
    );
}

#[test]
fn a_telling_line_among_wide_first_lines_is_not_lost() {
    let mut text = String::new();
    for number in 1..=300 {
        let word = if number == 30 { "panic" } else { "quiet" };
        text.push_str(&format!("{word} {number} {}\n", "-".repeat(1500)));
    }
    let shown = excerpt(text.as_bytes());
    assert!(
        shown.text.contains("\n30: panic 30 "),
        "{}",
        &shown.text[..200]
    );
    assert!(shown.text.len() < 45 << 10, "{}", shown.text.len());
}

#[test]
fn both_streams_are_rendered_in_order() {
    let (out, err) = (excerpt(b"built\n"), excerpt(b"warning: old\n"));
    let expected =
        "0 errors, 1 warning in 2 lines\n--- stdout ---\nbuilt\n--- stderr ---\nwarning: old\n";
    assert_eq!(render(&out, &err, "never said"), expected);
    let nothing = excerpt(b"");
    assert_eq!(render(&nothing, &nothing, "never said"), "no output\n");
    assert_eq!(render(&out, &nothing, "never said"), "built\n");
    assert_eq!(
        render(&nothing, &out, "never said"),
        "1 line of output\n--- stderr ---\nbuilt\n"
    );
    let wrong = excerpt(b"error: no\n");
    assert_eq!(
        render(&wrong, &nothing, "never said"),
        "1 error, 0 warnings in 1 line\n--- stdout ---\nerror: no\n"
    );
}

/// Generates output from what matters: short and long lines, notable ones, line ends and
/// cuts of all kinds.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"plain words".to_vec()),
        1 => Just(b"eRRor".to_vec()),
        1 => Just(b"a Warning".to_vec()),
        1 => Just(b"lib.rs:12:7 ".to_vec()),
        1 => Just(b"\n  at here".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b"\x1b[1m".to_vec()),
        1 => Just(vec![b'-'; 400]),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
    ];
    proptest::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

fn small() -> OutputExcerptLimits {
    OutputExcerptLimits {
        first: 3,
        last: 4,
        telling: 5,
        line: 150,
        total: 1000,
    }
}

proptest! {
    /// The excerpt does not depend on where the pieces are cut.
    #[test]
    fn cuts_make_no_difference(bytes in output(), cuts in proptest::collection::vec(0usize..6000, 0..8)) {
        let mut whole = OutputExcerptBuilder::new(small());
        whole.push(&bytes);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let mut pieces = OutputExcerptBuilder::new(small());
        for cut in cuts.windows(2) {
            pieces.push(&bytes[cut[0]..cut[1]]);
        }
        prop_assert_eq!(whole.finish(), pieces.finish());
    }

    /// The counts equal those from examining every line by itself.
    #[test]
    fn counts_are_exact(bytes in output()) {
        let mut excerpt = OutputExcerptBuilder::new(small());
        excerpt.push(&bytes);
        let shown = excerpt.finish();
        let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let lines: Vec<String> = if bytes.is_empty() {
            Vec::new()
        } else {
            let lines = body.split(|byte| *byte == b'\n');
            lines.map(|line| String::from_utf8_lossy(line).to_ascii_lowercase()).collect()
        };
        let with = |word: &str| lines.iter().filter(|line| line.contains(word)).count() as u64;
        prop_assert_eq!(shown.lines, lines.len() as u64);
        prop_assert_eq!(shown.bytes, bytes.len() as u64);
        prop_assert_eq!((shown.errors, shown.warnings), (with("error"), with("warning")));
        prop_assert!(shown.text.len() < 4 * small().total, "{}", shown.text.len());
    }
}

#[test]
fn what_hides_in_a_text_of_several_lines_is_named() {
    use super::marked;
    let plain = "# Rules\r\n\n\tbe kind — für alle\n";
    assert_eq!(marked(plain), plain);
    let cases = [
        ("a\u{200b}b\nc\u{202e}d", "a<U+200B>b\nc<U+202E>d"),
        ("\u{feff}# a\r\n", "# a\r\n"),
        (
            "x\u{e0049}\u{e0067}\r\n\r\ny",
            "x<U+E0049><U+E0067>\r\n\r\ny",
        ),
        ("\u{1b}[8mhidden\u{1b}[0m\n", "␛[8mhidden␛[0m\n"),
        ("a\u{2028}b\u{2066}c\u{ad}", "a<U+2028>b<U+2066>c<U+00AD>"),
    ];
    for (text, shown) in cases {
        assert_eq!(marked(text), shown, "{text:?}");
    }
}
