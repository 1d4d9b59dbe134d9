//! A run that is killed anywhere goes on as if nothing had happened: the same files, the same
//! answer, no effect twice, no answer paid for twice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use artel_testkit::figure;
use artel_testkit::shim::{Action, Counts, Fault, Op};
use artel_testkit::{Random, is_long};
use serde_json::Value;

use crate::support::{Artel, House};

/// Fifteen turns of real tools. A line is chosen by what was said last, so that it does not matter
/// which process asks.
const SCRIPT: &str = r#"
rules:
  - expect: { says: begin the work }
    call: { bash: { command: "echo one >> ledger.txt; echo mark-01" } }
  - expect: { says: mark-01 }
    call: { write: { path: mark-02.txt, content: "two\n" } }
  - expect: { says: mark-02 }
    call: { bash: { command: "echo three >> ledger.txt; echo mark-03" } }
  - expect: { says: mark-03 }
    call: { edit: { path: mark-04.txt, old: "before", new: "after" } }
  - expect: { says: mark-04 }
    call: { read: { path: five.txt } }
  - expect: { says: mark-05 }
    call:
      - read: { path: six.txt }
      - grep: { pattern: "mark-06", path: six.txt }
  - expect: { says: mark-06 }
    call: { bash: { command: "echo seven >> ledger.txt; mkdir -p made; echo mark-07" } }
  - expect: { says: mark-07 }
    call: { todo: { tasks: [{ text: mark-08, state: in_progress }] } }
  - expect: { says: mark-08 }
    call: { bash: { command: "cd made; echo nine >> inside.txt; echo mark-09" } }
  - expect: { says: mark-09 }
    call: { bash: { command: "echo ten >> inside.txt; echo mark-10" } }
  - expect: { says: mark-10 }
    call: { read: { path: eleven.txt } }
  - expect: { says: mark-11 }
    call: { write: { path: eleven.txt, content: "mark-12 is written\n" } }
  - expect: { says: "eleven.txt" }
    call: { bash: { command: "echo mark-13; false" } }
  - expect: { says: mark-13 }
    call:
      - remember: { key: mark-14, value: kept }
      - bash: { command: "echo fourteen >> inside.txt" }
  - expect: { says: mark-14 }
    call: { bash: { command: "paste -s -d ' ' inside.txt; echo mark-15" } }
  - expect: { says: mark-15 }
    call: { finish: { answer: "everything once" } }
"#;

struct World {
    house: House,
    project: PathBuf,
    script: PathBuf,
}

/// What a run left: its files, and what it answered.
#[derive(Debug, PartialEq)]
struct Left {
    files: BTreeMap<PathBuf, Vec<u8>>,
    answer: String,
}

impl World {
    fn new(script: &str) -> Self {
        let house = House::new();
        let project = house.folder("project");
        for (name, text) in [
            ("mark-04.txt", "before\n"),
            ("five.txt", "mark-05\n"),
            ("six.txt", "mark-06\n"),
            ("eleven.txt", "mark-11\n"),
        ] {
            fs::write(project.join(name), text).unwrap();
        }
        let path = house.root().join("script.yaml");
        fs::write(&path, script).unwrap();
        Self {
            house,
            project,
            script: path,
        }
    }

    fn artel<const N: usize>(&self, words: [&str; N]) -> Artel {
        let model = format!("rehearsal:{}", self.script.display());
        self.house
            .artel(words)
            .standing_in(&self.project)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("ARTEL_MODEL", model)
            .env("ARTEL_WORKSHOP", &self.house.workshop)
    }

    fn start(&self) -> Artel {
        self.artel(["run", "--task", "begin the work", "--json"])
    }

    fn events(&self) -> Vec<Value> {
        let seen = self.house.ok(["journal", "query", "--json"]);
        seen.json().as_array().unwrap().clone()
    }

    /// Returns the run that was begun last, if one was.
    fn run(&self) -> Option<String> {
        let events = self.events();
        let started = events
            .iter()
            .rev()
            .find(|event| event["kind"] == "run.started")?;
        Some(started["run"].as_str().unwrap().to_owned())
    }

    fn left(&self, run: &str) -> Left {
        let tree = self.house.state("worktrees").join(run).join("tree");
        let mut files = BTreeMap::new();
        gather(&tree, &tree, &mut files);
        let finished = |event: &&Value| event["kind"] == "run.finished" && event["run"] == run;
        let events = self.events();
        let finished: Vec<_> = events.iter().filter(finished).collect();
        assert_eq!(finished.len(), 1, "a run ends once");
        let payload = payload(finished[0]);
        assert_eq!(payload["state"], "complete", "{payload}");
        Left {
            files,
            answer: payload["answer"].as_str().unwrap().to_owned(),
        }
    }

    /// No request whose reply is on record is sent again; with one kill, one is sent twice at most.
    fn paid_once(&self) {
        let mut asked: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        let mut open: BTreeMap<String, String> = BTreeMap::new();
        for event in self.events() {
            let payload = payload(&event);
            match event["kind"].as_str().unwrap() {
                "model.requested" => {
                    let print = payload["fingerprint"].as_str().unwrap().to_owned();
                    let call = payload["call"].as_str().unwrap().to_owned();
                    let entry = asked.entry(print.clone()).or_default();
                    assert_eq!(entry.1, 0, "asked again after it was answered");
                    entry.0 += 1;
                    open.insert(call, print);
                }
                "model.replied" => {
                    let call = payload["call"].as_str().unwrap();
                    asked.get_mut(&open[call]).unwrap().1 += 1;
                }
                _ => {}
            }
        }
        let twice = asked.values().filter(|(asked, _)| *asked > 1).count();
        assert!(twice <= 1, "{asked:?}");
        assert!(
            asked
                .values()
                .all(|(asked, replied)| *asked <= 2 && *replied == 1)
        );
    }
}

fn payload(event: &Value) -> Value {
    match &event["payload"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    }
}

fn gather(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name == ".git") {
            continue;
        }
        if path.is_dir() {
            gather(root, &path, files);
        } else {
            let inside = path.strip_prefix(root).unwrap().to_owned();
            files.insert(inside, fs::read(&path).unwrap());
        }
    }
}

/// The appends of the journal are what counts.
fn journal() -> Fault {
    Fault::on("journal.db-wal")
}

/// Kills a run at one of its syncs, and tells whether it came there. What shares a commit depends
/// on who comes in time, so one run may have a sync less than another; such a one ends well.
fn is_killed(world: &World, nth: u64, action: Action) -> bool {
    let counts = world.house.root().join("counts");
    let fault = journal().nth(Op::Sync, nth, action).count_into(&counts);
    let mut command = world.start().command();
    fault.arm(&mut command);
    let output = command.output().unwrap();
    if output.status.code().is_none() {
        return true;
    }
    assert!(output.status.success(), "{output:?}");
    let syncs = Counts::read(&counts).of(Op::Sync);
    assert!(syncs < nth, "not killed at sync {nth} of {syncs}");
    false
}

#[test]
fn proof_resume_killed_at_every_append_a_run_ends_the_same() {
    let whole = World::new(SCRIPT);
    let counts = whole.house.root().join("counts");
    let mut command = whole.start().command();
    journal().count_into(&counts).arm(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let expected = whole.left(&whole.run().unwrap());
    assert_eq!(expected.answer, "everything once");
    let ledger = &expected.files[Path::new("ledger.txt")];
    assert_eq!(ledger, b"one\nthree\nseven\n");
    let inside = &expected.files[Path::new("made/inside.txt")];
    assert_eq!(inside, b"nine\nten\nfourteen\n");
    whole.paid_once();
    let syncs = Counts::read(&counts).of(Op::Sync);
    assert!(syncs > 40, "{syncs}");

    let mut random = Random::for_test("killed_run");
    let (mut kills, mut resumed) = (0_u64, 0);
    for nth in 1..=syncs {
        for action in [Action::KillBefore, Action::KillAfter] {
            if !is_long() && random.below(20) != 0 {
                continue;
            }
            let world = World::new(SCRIPT);
            kills += u64::from(is_killed(&world, nth, action));
            let Some(run) = world.run() else {
                continue;
            };
            let is_over = world
                .events()
                .iter()
                .any(|event| event["kind"] == "run.finished");
            let is_ready = world
                .events()
                .iter()
                .any(|event| event["kind"] == "run.prepared");
            if !is_ready {
                // Nothing was done yet: it is begun anew, and says so.
                world.artel(["resume", &run]).run().fails_last(3, "R008");
                continue;
            }
            if !is_over {
                world.artel(["resume", &run]).run().expect(0);
                resumed += 1;
            }
            assert_eq!(world.left(&run), expected, "killed {action:?} sync {nth}");
            world.paid_once();
            world.house.ok(["journal", "verify"]);
        }
    }
    figure(&format!(
        "kills of a 15-turn run | {kills} of {} points | {resumed} taken up, all the same",
        2 * syncs
    ));
}

/// A tool that gets a secret may not run twice by itself.
const PAY: &str = "description = \"Pays\"\n\
    command = [\"sh\", \"-c\", \"printenv BANK_TOKEN | wc -c >> paid.txt; echo mark-02\"]\n\
    secrets = [\"bank\"]\n";

const PAYING: &str = r#"
rules:
  - expect: { says: begin the work }
    call: { bash: { command: "echo one >> ledger.txt; echo mark-01" } }
  - expect: { says: mark-01 }
    call: { pay: {} }
  - expect: { says: mark-02 }
    call: { finish: { answer: paid } }
  - expect: { says: "not run again" }
    call: { finish: { answer: unpaid } }
  - expect: { says: "it happened" }
    call: { finish: { answer: paid before } }
"#;

fn paying() -> World {
    let world = World::new(PAYING);
    fs::write(world.house.workshop.join("Tools/pay.toml"), PAY).unwrap();
    let key = "bank-0123456789abcdef0123456789";
    let stored = world
        .artel(["auth", "set", "--tool", "bank"])
        .given(key)
        .run();
    stored.expect(0);
    for rule in ["Secret(bank)", "pay"] {
        let granted = world
            .artel(["policy", "grant", rule, "--reason", "we pay"])
            .run();
        granted.expect(0);
    }
    world
}

#[test]
fn what_may_happen_once_is_asked_about_after_a_kill() {
    let whole = paying();
    let counts = whole.house.root().join("counts");
    let mut command = whole.start().command();
    journal().count_into(&counts).arm(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let syncs = Counts::read(&counts).of(Op::Sync);
    let count = |world: &World, kind: &str| {
        let is = |event: &&Value| event["kind"] == kind;
        world.events().iter().filter(is).count()
    };
    let in_flight = |world: &World| {
        let about = |kind: &str| {
            let is = |event: &&Value| event["kind"] == kind && payload(event)["tool"] == "pay";
            world.events().iter().filter(is).count()
        };
        about("tool.requested") > 0 && about("tool.finished") == 0
    };
    let mut asked = 0;
    for nth in 1..=syncs {
        let world = paying();
        let is_killed = is_killed(&world, nth, Action::KillAfter);
        let Some(run) = world.run() else { continue };
        if !is_killed || !in_flight(&world) {
            continue;
        }
        asked += 1;
        // Nobody is there: the question stays open, however often it is taken up.
        for _ in 0..2 {
            world.artel(["resume", &run]).run().fails_last(3, "P002");
            assert_eq!(count(&world, "run.asked"), 1, "one open question");
        }
        let (answer, said) = [
            ("again", "paid"),
            ("skip", "unpaid"),
            ("happened", "paid before"),
        ][asked % 3];
        world
            .artel(["resume", &run, "--answer", answer])
            .run()
            .expect(0);
        assert_eq!(world.left(&run).answer, said);
        assert_eq!(count(&world, "run.asked"), 1);
        world.house.ok(["journal", "verify"]);
    }
    assert!(asked > 0, "no kill came between intent and result");
}
