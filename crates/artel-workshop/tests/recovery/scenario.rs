//! Scenarios as data: what lies in the folder, what the follower sets out to do, and what it must
//! find. Nothing here says how it can be recovered.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

const FILES: [(&str, &str); 6] = [
    ("encoding", include_str!("scenarios/encoding.yaml")),
    ("paths", include_str!("scenarios/paths.yaml")),
    ("programs", include_str!("scenarios/programs.yaml")),
    ("input", include_str!("scenarios/input.yaml")),
    ("changes", include_str!("scenarios/changes.yaml")),
    ("skills", include_str!("scenarios/skills.yaml")),
];

/// One fault.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    /// Which file it is from.
    #[serde(skip)]
    pub(crate) kind: &'static str,
    /// The skill that is run; a plain task if not given.
    pub(crate) skill: Option<String>,
    files: BTreeMap<String, Content>,
    /// A shell line that makes what files alone cannot.
    setup: Option<String>,
    /// The calls, one on each line.
    goal: String,
    answer: Option<String>,
    expect: Option<String>,
    expect_start: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Hex {
        hex: String,
    },
    Long {
        line: String,
        times: usize,
        end: String,
    },
}

/// Returns all scenarios.
pub(crate) fn all() -> Vec<Scenario> {
    let mut all = Vec::new();
    for (kind, text) in FILES {
        let listed: Vec<Scenario> = serde_saphyr::from_str(text).unwrap();
        all.extend(listed.into_iter().map(|it| Scenario { kind, ..it }));
    }
    all
}

impl Scenario {
    /// Makes the folder.
    pub(crate) fn lay_out(&self, folder: &Path) {
        for (name, content) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content.bytes()).unwrap();
        }
        if let Some(line) = &self.setup {
            let shell = Command::new("sh")
                .args(["-ec", line])
                .current_dir(folder)
                .status();
            assert!(shell.unwrap().success(), "{}: {line}", self.name);
        }
    }

    /// Returns the task in the follower's language.
    pub(crate) fn task(&self) -> String {
        let mut task = "goal:\n".to_owned();
        for line in self.goal.lines().filter(|line| !line.trim().is_empty()) {
            task.push_str(&format!("do {}\n", line.trim()));
        }
        if let Some(answer) = &self.answer {
            task.push_str(&format!("answer {answer}\n"));
        }
        task + "end of goal"
    }

    /// Tells whether the follower found what is there.
    pub(crate) fn is_met(&self, answer: &str) -> bool {
        let found = answer
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("found: "));
        let Some(found) = found else {
            return false;
        };
        let is_whole = self
            .expect
            .as_deref()
            .is_none_or(|expected| found == expected);
        let starts = self.expect_start.as_deref();
        is_whole && starts.is_none_or(|expected| found.starts_with(expected.trim_end()))
    }
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex { hex } => {
                let digits: Vec<u8> = hex.bytes().collect();
                let byte = |pair: &[u8]| {
                    let pair = std::str::from_utf8(pair).unwrap();
                    u8::from_str_radix(pair, 16).unwrap()
                };
                digits.chunks(2).map(byte).collect()
            }
            Self::Long { line, times, end } => (line.repeat(*times) + end).into_bytes(),
        }
    }
}
