//! The judge answers everything, in linear time, and reads plain text as bash itself does.
#![expect(clippy::unwrap_used, reason = "a test whose bash does not start fails")]

use std::process::Command;

use artel_policy::command::{
    self, CommandOrigin, ShellAnalysis, ShellWord, judge_line, plain_argv, read,
};
use artel_policy::rules::{PolicyRule, PolicyRuleSet};
use artel_policy::{PolicyAnswer, PolicyRuling};
use proptest::prelude::*;

fn decide(text: &str) -> PolicyRuling {
    let rules = PolicyRuleSet {
        allow: vec![PolicyRule::parse("Bash").unwrap()],
        ..PolicyRuleSet::default()
    };
    command::judge(&read(text), &rules, CommandOrigin::Person, None)
}

/// Text from the signs that mean something to a shell.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "w ",
        "w",
        "a",
        "b c",
        " ",
        " ",
        "\t",
        "\n",
        "'",
        "'",
        "\"",
        "\"",
        "\\",
        "$",
        "`",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<",
        ">",
        "2>&1",
        ">/dev/null",
        " 2>/dev/null",
        "&",
        "&&",
        " && ",
        "|",
        ";",
        " ; ",
        "#",
        " #",
        "~",
        "*",
        "/",
        "?",
        "=",
        "!",
        ",",
        "..",
        "-",
        "$(",
        "${x",
        "<<",
        "E\n",
        "if ",
        "then ",
        "fi",
        "case ",
        " in ",
        "esac",
        "time ",
        "ü",
        "9",
        "''",
        "\"\"",
        "'a b'",
        "\"a b\"",
        "\\\n",
        "\\ ",
        "x=1 ",
        "[[ ",
        " ]]",
        "function ",
        "coproc ",
        "\u{200b}",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Text of which a good part is plain.
fn mild_soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "w",
        " w ",
        "a",
        "b c",
        " ",
        " ",
        "\t",
        "\n",
        "''",
        "'",
        "\"",
        "\\",
        "\\\"",
        "\\$",
        "2>&1",
        " 2>&1 ",
        ">/dev/null",
        " 2>/dev/null ",
        " &>/dev/null",
        " >&2",
        " && ",
        "&&",
        " ; ",
        ";",
        "#",
        " #",
        "a~",
        "@{0}",
        "{}",
        "=",
        "x=",
        "!",
        " ! ",
        ",",
        "-",
        "time ",
        "ü",
        "9",
        "\"\"",
        "'a  b'",
        "\"a  b\"",
        "'\"'",
        "\"'\"",
        "'$x'",
        "'`'",
        "\\\n",
        "\\ ",
        "/*",
        "]",
        "\\*",
    ]);
    prop::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_text_gets_a_decision(text in ".{0,200}") {
        prop_assert!(!decide(&text).reason.is_empty());
    }

    #[test]
    fn every_soup_of_signs_gets_a_decision(text in soup()) {
        let decision = decide(&text);
        prop_assert!(!decision.rule.is_empty());
        if decision.answer == PolicyAnswer::Allow {
            let is_computed = text.contains(['$', '`']);
            let is_quoted = text.contains(['\'', '\\', '#']);
            prop_assert!(!is_computed || is_quoted);
        }
    }

    #[test]
    fn every_line_of_a_batch_gets_one_line(line in ".{0,200}") {
        let answer = judge_line(&line);
        prop_assert!(!answer.contains('\n'));
        prop_assert!(answer.contains("\"decision\":\"deny\""));
    }
}

/// Runs a text in bash, with `w` a function that reports its words; the words of each call.
#[expect(
    clippy::disallowed_methods,
    reason = "this test compares with bash itself"
)]
fn bash_words(folder: &str, texts: &[String]) -> Vec<Vec<Vec<String>>> {
    const SCRIPT: &str = r#"FUNCNEST=10; w() { for word; do printf '%s\0' "$word" >&3; done; printf '\1\0' >&3; }
        exec 3>&1 >/dev/null 2>&1
        for text; do (trap wait EXIT; eval "$text"; wait); printf '\2\0' >&3; done"#;
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    let output = Command::new("bash")
        .args(["--norc", "-c", SCRIPT, "bash"])
        .args(texts)
        .current_dir(folder)
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut runs = vec![Vec::new()];
    let mut words = Vec::new();
    for field in printed.split_terminator('\0') {
        match field {
            "\u{2}" => runs.push(Vec::new()),
            "\u{1}" => runs.last_mut().unwrap().push(std::mem::take(&mut words)),
            word => words.push(word.to_owned()),
        }
    }
    runs.pop();
    runs
}

/// The arguments of every `w`, if the text is plain and all its commands are `w`.
fn own_words(reading: &ShellAnalysis) -> Option<Vec<Vec<String>>> {
    let words_of = |words: &[ShellWord]| {
        let words = words
            .iter()
            .map(|word| word.as_literal().map(str::to_owned));
        let mut words = words.collect::<Option<Vec<_>>>()?;
        if words.first()? == "time" {
            words.remove(0);
        }
        (words.first()? == "w").then(|| words.split_off(1))
    };
    let parts = reading.parts().iter().map(|part| words_of(part.words()));
    reading.is_plain().then(|| parts.collect())?
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn plain_text_is_read_as_bash_reads_it(
        soups in prop::collection::vec(soup(), 100),
        mild in prop::collection::vec(mild_soup(), 200),
    ) {
        // Pipes and `||` hide what runs, and `time` after a redirection is another program.
        let texts = soups.into_iter().chain(mild).map(|text| format!("w a{text}"));
        let plain: Vec<(String, Vec<Vec<String>>)> = texts
            .filter(|text| !text.contains('|'))
            .filter(|text| !text.contains("time") || !text.contains('>'))
            .filter_map(|text| own_words(&read(&text)).map(|words| (text, words)))
            .collect();
        let texts: Vec<String> = plain.iter().map(|(text, _)| text.clone()).collect();
        let runs = bash_words("plain", &texts);
        prop_assert!(runs.len() >= 10, "only {} of the texts are plain", runs.len());
        prop_assert_eq!(runs.len(), plain.len());
        for ((text, own), bash) in plain.into_iter().zip(runs) {
            prop_assert_eq!(own, bash, "{:?}", text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_bash_runs_is_found(soups in prop::collection::vec(soup(), 100)) {
        // A function that calls itself would run for ever.
        let texts: Vec<String> = soups
            .into_iter()
            .filter(|text| !text.contains('(') && !text.contains("function"))
            .collect();
        let runs = bash_words("found", &texts);
        let ban = PolicyRule::parse("Bash(w:*)").unwrap();
        prop_assert_eq!(runs.len(), texts.len());
        for (text, calls) in texts.iter().zip(runs) {
            let reading = read(text);
            let is_found = reading.words().any(|words| ban.catches_command(words));
            prop_assert!(is_found || calls.is_empty(), "{:?}", text);
        }
    }
}

#[test]
fn a_plain_command_starts_without_a_shell() {
    let argv = plain_argv(&read(r#"git commit -m "fix: (a) & b; c" 'd e' f\ g"#)).unwrap();
    assert_eq!(
        argv,
        ["git", "commit", "-m", "fix: (a) & b; c", "d e", "f g"]
    );
    for text in [
        "a; b", "a | b", "a $x", "a > b", "a 2>&1", "time a", "a src/*", "", "a 'b",
    ] {
        assert_eq!(plain_argv(&read(text)), None, "{text}");
    }
}

#[test]
fn what_is_too_much_is_denied_not_skipped() {
    let texts = [
        "a".repeat(command::MAX_TEXT + 1),
        "ls;".repeat(30_000),
        format!("{}ls{}", "(".repeat(100), ")".repeat(100)),
        format!("{}ls", "env ".repeat(100)),
    ];
    for text in texts {
        let decision = decide(&text);
        assert_eq!(decision.answer, PolicyAnswer::Deny, "{decision:?}");
        assert!(decision.rule.starts_with("limit."), "{decision:?}");
    }
    let many = vec!["ls -la"; 10_000].join(" && ");
    assert_eq!(decide(&many).answer, PolicyAnswer::Allow);
    let hidden = format!("{many} && rm x");
    let (rules, _) = PolicyRuleSet::parse(&["Bash".into()], &[], &["Bash(rm:*)".into()]);
    let decision = command::judge(&read(&hidden), &rules, CommandOrigin::Person, None);
    assert_eq!(decision.answer, PolicyAnswer::Deny);
}

/// Hostile and ordinary shapes that fill a whole text.
const SHAPES: &[&str] = &[
    "(",
    ")",
    "$(",
    "`",
    "{",
    "}",
    "{ ",
    "[",
    "[[ ",
    "((",
    "$((",
    "${",
    "${a:-",
    "${a[",
    "\"",
    "'",
    "\"$(",
    "\\",
    "if ",
    "case x in ",
    "for x in ",
    "while ",
    "! ",
    "a=(",
    "a[",
    "<<E\n",
    "<<-'E' ",
    "a ",
    "a;",
    "a && ",
    "a | ",
    "a\n",
    "'a' ",
    "\"a\" ",
    "\\a",
    "* ",
    "a/* ",
    "{a,b}",
    "$x",
    "$x ",
    "x=$x$x;",
    "# a\n",
    "> ",
    ">a ",
    "2>&1 ",
    "2>/dev/null ",
    "<(",
    "env ",
    "sh -c ",
    "~",
    "9",
    "9>",
    "ü",
    "\u{200b}",
    "function ",
    "coproc ",
    "time ",
    "a|&",
    "a& ",
    ";;",
    "echo rm|sh;",
    "f(){ ",
];

/// The time this thread has spent on a processor so far, in nanoseconds.
fn spent() -> u64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    schedule.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn work_grows_with_the_length() {
    let measure = |shape: &str, length: usize| {
        let text = shape.repeat(length / shape.len());
        let start = spent();
        std::hint::black_box(decide(&text));
        spent() - start
    };
    for shape in SHAPES {
        let short = measure(shape, 4 * 1024);
        let long = measure(shape, 64 * 1024);
        // Sixteen times the text; squared growth would be 256 times the work.
        let most = short * 60 + 100_000_000;
        assert!(long < most, "{shape:?}: {short} ns grew to {long} ns");
    }
}
