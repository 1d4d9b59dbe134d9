//! A project, a script for the model, and the runs in it.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStderr};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Artel, House, Seen};

/// Looks at a table and writes a report.
pub(super) const REPORT: &str = r##"
lines:
  - say: I look at it.
    call:
      - todo: { tasks: [{ text: read, state: in_progress }, { text: write, state: pending }] }
      - read: { path: sales.csv }
      - read: { path: sale.csv }
  - call: { bash: { command: wc -l sales.csv } }
  - call: { write: { path: report.md, content: "# Report\n\ntwo rows\n" } }
  - call: { finish: { answer: "Two rows, see report.md." } }
"##;

pub(super) struct World {
    pub(super) house: House,
    pub(super) project: PathBuf,
    script: PathBuf,
}

impl World {
    pub(super) fn new(script: &str) -> Self {
        let house = House::new();
        let project = house.folder("project");
        fs::write(project.join("sales.csv"), "month,sum\njan,1\nfeb,2\n").unwrap();
        let path = house.root().join("script.yaml");
        fs::write(&path, script).unwrap();
        Self {
            house,
            project,
            script: path,
        }
    }

    /// Prepares a command, standing in the project.
    pub(super) fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        let model = format!("rehearsal:{}", self.script.display());
        self.house
            .artel(words)
            .standing_in(&self.project)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("ARTEL_MODEL", model)
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    pub(super) fn task<const N: usize>(&self, words: [&str; N]) -> Artel {
        self.artel(["run", "--task", "begin the work"]).words(words)
    }

    pub(super) fn ok<const N: usize>(&self, words: [&str; N]) -> Seen {
        self.artel(words).run().expect(0)
    }

    /// Returns the run that was begun last.
    pub(super) fn run(&self) -> String {
        let rows = self.ok(["runs", "--json"]).json();
        rows[0]["run"].as_str().unwrap().to_owned()
    }

    /// Returns how the run that was begun last stands.
    pub(super) fn state(&self) -> String {
        let rows = self.ok(["runs", "--json"]).json();
        rows[0]["state"].as_str().unwrap().to_owned()
    }

    /// Returns a path in the tree of a run.
    pub(super) fn tree(&self, run: &str, name: &str) -> PathBuf {
        let trees = self.house.state("worktrees");
        trees.join(run).join("tree").join(name)
    }

    /// Returns how urgent each call of a model was.
    pub(super) fn urgencies(&self) -> Vec<String> {
        let requested = self.events("model.requested").into_iter();
        let urgency = |event: Value| event["payload"]["priority"].as_str().unwrap().to_owned();
        requested.map(urgency).collect()
    }

    pub(super) fn events(&self, kind: &str) -> Vec<Value> {
        let out = self.ok(["journal", "export", "--kind", kind]).out;
        let events = out.lines().map(|line| serde_json::from_str(line).unwrap());
        events.collect()
    }
}

/// A run in a process of its own.
pub(super) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    told: String,
}

impl Running {
    pub(super) fn start(artel: Artel) -> Self {
        let mut child = artel.command().spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self {
            child,
            lines,
            told: String::new(),
        }
    }

    /// Waits until it says something, and returns that line.
    pub(super) fn says(&mut self, words: &str) -> String {
        loop {
            let Some(line) = self.lines.next() else {
                panic!("it ended without `{words}`:\n{}", self.told);
            };
            let line = line.unwrap();
            self.told.push_str(&format!("{line}\n"));
            if line.contains(words) {
                return line;
            }
        }
    }

    /// Waits for something that it does.
    pub(super) fn until(&mut self, is_so: impl Fn() -> bool) {
        while !is_so() {
            assert!(
                self.child.try_wait().unwrap().is_none(),
                "it ended:\n{}",
                self.told
            );
            std::thread::yield_now();
        }
    }

    /// Presses Ctrl-C.
    pub(super) fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Kills it.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it waits for a lock that somebody else has, or has ended.
    pub(super) fn waits_for_a_lock(&mut self) {
        let pid = self.child.id().to_string();
        let is_waiting = || {
            let locks = fs::read_to_string("/proc/locks").unwrap();
            let mut waiting = locks.lines().filter(|line| line.contains("->"));
            waiting.any(|line| line.split_whitespace().any(|word| word == pid))
        };
        while !is_waiting() && self.child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
    }

    /// Waits for its end, and returns its exit code and all that it told.
    pub(super) fn end(mut self) -> (i32, String) {
        for line in self.lines.by_ref() {
            self.told.push_str(&format!("{}\n", line.unwrap()));
        }
        (self.child.wait().unwrap().code().unwrap(), self.told)
    }
}
