//! Whatever the words are, a look ends with an answer; a harmful option is seen wherever it stands.

use artel_policy::programs;
use proptest::prelude::*;

/// Programs whose words are read by code of their own, with those that stand for a family.
const PROGRAMS: &[&str] = &[
    "git",
    "sed",
    "awk",
    "find",
    "tar",
    "zip",
    "xargs",
    "env",
    "sh",
    "curl",
    "python",
    "node",
    "sort",
    "cargo",
    "go",
    "npm",
    "uv",
    "jq",
    "sqlite3",
    "chmod",
    "dd",
    "ssh",
    "docker",
    "test",
    "flock",
    "ln",
    "pytest",
    "make",
    "cmake",
    "gcc",
    "unheard-of",
];

/// Words that mean something somewhere.
const WORDS: &[&str] = &[
    "-",
    "--",
    "-o",
    "-e",
    "-c",
    "-x",
    "-exec",
    ";",
    "+",
    "{}",
    "--output=",
    "--no-",
    "=",
    "log",
    "-m",
    "-C",
    "s/[/",
    "{print |",
    "/",
    "..",
    "\u{1}",
    "é",
    "-é",
    "--é=x",
    "-I{}",
    "run",
    "\n",
];

proptest! {
    #[test]
    fn any_words_are_looked_at(
        program in prop::sample::select(PROGRAMS),
        words in prop::collection::vec(
            prop_oneof![prop::sample::select(WORDS).prop_map(str::to_owned), ".{0,12}"],
            0..8,
        ),
    ) {
        let command: Vec<String> = std::iter::once(program.to_owned()).chain(words).collect();
        let found = programs::look(&command);
        prop_assert!(found.doubts.len() <= 16);
        prop_assert_eq!(programs::look(&command), found);
    }

    #[test]
    fn any_script_is_read_to_its_end(script in "[-sawerybqn{}!;:/\\\\\\[\\]|<>\"@#$ \n(),0-9é]{0,60}") {
        for program in ["sed", "awk", "jq"] {
            let command = [program.to_owned(), script.clone(), "file".to_owned()];
            programs::look(&command);
        }
    }

    #[test]
    fn a_harmful_option_is_seen_wherever_it_stands(
        (program, harm) in prop::sample::select(&[
            ("sort", "--compress-program=evil"), ("git log", "--ext-diff"), ("rg", "--pre=evil"),
            ("curl", "--config=evil"), ("tar -cf x", "--to-command=evil"), ("sed p", "--in-place"),
            ("git grep x", "-Oevil"), ("go test", "-exec=evil"), ("cargo build", "--config=x"),
            ("find .", "-delete"), ("pytest", "--rootdir=x"), ("make", "--eval=x"),
        ][..]),
        others in prop::collection::vec("[-]{1,2}[a-zA-Z]{1,10}|[a-z]{1,6}", 0..5),
        at in 0..6_usize,
    ) {
        // Some options end the reading of options, and some have a value that is spelled like one.
        let ends = |word: &String| word == "--" || program == "find ." && !word.starts_with("--");
        prop_assume!(!others.iter().any(ends));
        let mut command: Vec<String> = program.split(' ').map(str::to_owned).collect();
        let mut rest = others.clone();
        rest.insert(at.min(rest.len()), harm.to_owned());
        command.extend(rest);
        prop_assert!(!programs::look(&command).doubts.is_empty(), "{command:?}");
    }
}
