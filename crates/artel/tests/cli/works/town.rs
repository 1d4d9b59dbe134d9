//! A small project with a bug, a rehearsal that mends it, and what a person would type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::bench::git;
use crate::support::{Artel, House, KEY};

/// Two steps: the bug is mended, then the notes say so.
pub(super) const SCRIPT: &str = r##"
rules:
  - expect: { says: Plan this request }
    call: { read: { path: calc.py } }
  - expect: { tools: [submit_plan], result_of: read }
    call:
      - submit_plan:
          title: Mend add
          kind: fix
          overview: add adds.
          steps:
            - id: mend
              title: Mend add
              role: engineer
              work: Make add in calc.py add, and show it with a test.
              check: The tests pass.
              verify: evaluator
              scope: { paths: [calc.py, test_calc.py] }
              gives: [RESULT]
            - id: notes
              title: Say so in the notes
              role: engineer
              work: Write NOTES.md with one line.
              check: The file is there.
              verify: none
              after: [mend]
              uses: [RESULT]
              scope: { paths: [NOTES.md] }
              evidence: [{ kind: file, what: NOTES.md }]
      - finish: { answer: planned }
  - expect: { matches: "(?s)step 1 of 2.*You may change" }
    call:
      - edit: { path: calc.py, old: "a - b", new: "a + b" }
      - edit: { path: test_calc.py, old: "    # more", new: "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n\n    # more" }
  - expect: { tools: [propose_change], says: test_calc.py }
    call: { finish: { answer: mended } }
  - expect: { matches: "(?s)step 2 of 2.*You may change" }
    call: { write: { path: NOTES.md, content: "add adds\n" } }
  - expect: { tools: [propose_change], says: NOTES.md }
    call: { finish: { answer: noted } }
  - expect: { tools: [verdict], says: Judge whether }
    call:
      - read: { path: calc.py }
      - run_tests: {}
  - expect: { tools: [verdict], result_of: run_tests }
    call:
      - verdict: { verdict: pass, evidence: ["calc.py adds; run_tests passes"], outputs: { RESULT: "5" } }
      - finish: { answer: judged }
  - expect: { tools: [advice] }
    call:
      - advice: { fault: code, why: "the work is not done" }
      - finish: { answer: advised }
"##;

const CALC: &str = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n";

const TESTS: &str = "import unittest\n\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    \
    def test_double(self):\n        self.assertEqual(calc.double(4), 8)\n\n    # more\n";

pub(super) struct Town {
    pub(super) house: House,
    pub(super) project: PathBuf,
    model: String,
}

impl Town {
    pub(super) fn new() -> Self {
        Self::saying(SCRIPT)
    }

    /// A town whose model says this.
    pub(super) fn saying(script: &str) -> Self {
        let house = House::new();
        let path = house.root().join("script.yaml");
        fs::write(&path, script).unwrap();
        let model = format!("rehearsal:{}", path.display());
        Self::asking(house, model)
    }

    /// A town with this model.
    pub(super) fn asking(house: House, model: String) -> Self {
        let project = house.folder("calc");
        fs::write(project.join("calc.py"), CALC).unwrap();
        fs::write(project.join("test_calc.py"), TESTS).unwrap();
        fs::write(
            project.join("pyproject.toml"),
            "[project]\nname = \"calc\"\n",
        )
        .unwrap();
        fs::write(project.join(".gitignore"), "__pycache__/\n").unwrap();
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-qm", "A calculator"]);
        Self {
            house,
            project,
            model,
        }
    }

    pub(super) fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        self.house
            .artel(words)
            .standing_in(&self.project)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("ARTEL_MODEL", &self.model)
            .env("MY_KEY", KEY)
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    pub(super) fn ask(&self) -> Artel {
        self.artel([
            "ask",
            "Mend add in calc.py. It must add.",
            "--plan",
            "--yes",
            "--json",
        ])
    }

    /// Asks, and returns the trace.
    pub(super) fn asked(&self) -> String {
        let seen = self.ask().run().expect(0);
        seen.json()["trace_id"].as_str().unwrap().to_owned()
    }

    pub(super) fn events(&self) -> Vec<Value> {
        let seen = self.house.ok(["journal", "query", "--json"]);
        seen.json().as_array().unwrap().clone()
    }

    pub(super) fn count(&self, kind: &str) -> usize {
        let is = |event: &&Value| event["kind"] == kind;
        self.events().iter().filter(is).count()
    }

    /// Returns the request as it stands, if there is one.
    pub(super) fn request(&self) -> Option<Value> {
        let seen = self.artel(["request", "list", "--json"]).run().expect(0);
        seen.json().as_array().unwrap().first().cloned()
    }

    /// Does what a person would type next, until the changeset is merged.
    pub(super) fn to_the_end(&self) {
        for _ in 0..8 {
            let Some(request) = self.request() else {
                self.ask().run().expect(0);
                continue;
            };
            let id = request["trace_id"].as_str().unwrap().to_owned();
            let state = request["plan_state"].as_str().unwrap_or("none").to_owned();
            match state.as_str() {
                "review" => self
                    .artel(["plan", "approve", &id, "--json"])
                    .run()
                    .expect(0),
                "done" => {
                    let shown = self
                        .artel(["changeset", "show", &id, "--json"])
                        .run()
                        .expect(0);
                    if shown.json()["state"] == "merged" {
                        return;
                    }
                    self.artel(["changeset", "approve", &id, "--json"])
                        .run()
                        .expect(0)
                }
                _ => self.artel(["resume", &id, "--json"]).run().expect(0),
            };
        }
        panic!("the story does not end: {:#?}", self.request());
    }

    /// What the story left: the files that are checked out, and the subjects of the commits.
    pub(super) fn left(&self) -> Left {
        let log = git(
            &self.project,
            &["log", "--topo-order", "--format=%s", "main"],
        );
        let mut subjects: Vec<_> = log.lines().map(str::to_owned).collect();
        // The name of the branch holds the trace, which differs.
        subjects.retain(|subject| !subject.starts_with("Merge "));
        let listed = git(&self.project, &["ls-files"]);
        let files = listed.lines().map(|name| {
            let bytes = fs::read(self.project.join(name)).unwrap();
            (name.to_owned(), bytes)
        });
        Left {
            files: files.collect(),
            subjects,
            status: git(&self.project, &["status", "--porcelain"]),
        }
    }
}

/// What a story left.
#[derive(Debug, PartialEq)]
pub(super) struct Left {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) subjects: Vec<String>,
    pub(super) status: String,
}

pub(super) fn payload(event: &Value) -> Value {
    match &event["payload"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    }
}

/// Names everything below a folder whose name is like this.
pub(super) fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name() == name {
            found.push(path.clone());
        }
        if path.is_dir() && !path.is_symlink() {
            found.extend(named(&path, name));
        }
    }
    found
}
