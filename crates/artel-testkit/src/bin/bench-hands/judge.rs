//! Judges typical commands, and measures how the time grows with the length of the text.

use artel_policy::command::{self, CommandOrigin};
use artel_policy::rules::PolicyRuleSet;

use crate::{figure, median};

const TYPICAL: &[&str] = &[
    "git status",
    "git log --oneline -20 -- src",
    "cargo test --workspace -- --nocapture",
    "npm run build",
    "ls -la && pwd",
    "grep -rn \"foo|bar\" src | head -20",
    "find . -name '*.rs' -type f",
    "sed -n '1,20p' README.md",
    "python -m pytest -q tests/test_a.py 2>&1 | tail -5",
    "git commit -m \"fix: (a) & b; c\"",
    "rg -n --type rust 'fn main'",
    "timeout 60 make -j4 test",
];

pub(crate) fn measure() {
    let allow = [
        "git", "cargo", "npm", "ls", "pwd", "grep", "head", "find", "sed", "rg", "tail", "make",
    ]
    .map(|program| format!("Bash({program}:*)"));
    let mut allow: Vec<String> = allow.into();
    allow.push("Bash(python -m pytest:*)".to_owned());
    let (rules, bad) = PolicyRuleSet::parse(&allow, &[], &[]);
    assert!(bad.is_empty());
    let judge =
        |text: &str| command::judge(&command::read(text), &rules, CommandOrigin::Person, None);
    let typical = median(200, || {
        for text in TYPICAL {
            std::hint::black_box(judge(text));
        }
    });
    let each = typical.as_secs_f64() * 1e6 / TYPICAL.len() as f64;
    figure("policy check, typical command", each, "us", "-", "< 100");
    // Ten commands per kilobyte: a megabyte of shorter ones would be denied for their
    // number.
    let one = format!("git log --grep={}; ", "a".repeat(84));
    let long = |bytes: usize| one.repeat(bytes / one.len());
    let time = |bytes: usize| {
        let text = long(bytes);
        median(5, || {
            std::hint::black_box(judge(&text));
        })
        .as_secs_f64()
    };
    let (small, large) = (time(64 << 10), time(1 << 20));
    figure(
        "policy check, 8 KB",
        time(8 << 10) * 1000.0,
        "ms",
        "-",
        "< 5",
    );
    let growth = format!("{:.1} times for 16 times the text", large / small);
    figure(
        "policy check, 1 MB",
        large * 1000.0,
        "ms",
        &growth,
        "linear",
    );
}
