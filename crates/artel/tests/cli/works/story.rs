//! The whole story from outside: asked, planned, approved, done, checked, merged, reported. It
//! ends the same wherever it is killed.

use std::collections::BTreeMap;
use std::process::Command;

use artel_testkit::figure;
use artel_testkit::shim::{Action, Counts, Fault, Op};
use artel_testkit::{Random, is_long};
use serde_json::Value;

use super::bench::git;
use super::town::{Left, Town, named, payload};

#[test]
fn a_request_becomes_a_merged_changeset() {
    let town = Town::new();
    let id = town.asked();
    assert_eq!(git(&town.project, &["status", "--porcelain"]), "");
    let before = git(&town.project, &["rev-parse", "main"]);
    assert_eq!(
        town.count("step.started"),
        0,
        "nothing is done before approval"
    );
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(0);
    assert_eq!(git(&town.project, &["rev-parse", "main"]), before);
    assert_eq!(git(&town.project, &["status", "--porcelain"]), "");
    let branches = git(&town.project, &["branch", "--format=%(refname:short)"]);
    let short: String = id.chars().take(8).collect();
    assert!(
        branches.contains(&format!("fix/mend-add-{short}")),
        "{branches}"
    );
    town.artel(["changeset", "approve", &id, "--json"])
        .run()
        .expect(0);
    let played = town.artel(["replay", &id]).run().expect(0);
    assert!(played.out.contains("as recorded"), "{}", played.out);
    let left = town.left();
    assert_eq!(left.status, "");
    assert_eq!(left.files["NOTES.md"], b"add adds\n");
    assert!(String::from_utf8_lossy(&left.files["calc.py"]).contains("a + b"));
    let messages = git(&town.project, &["log", "--format=%B", "main"]);
    assert_eq!(
        messages.matches(&format!("Trace-Id: {id}")).count(),
        3,
        "{messages}"
    );
    let parents = git(&town.project, &["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents.split_whitespace().count(), 2, "a merge of its own");
    let report = town.artel(["report", "show", &short]).run().expect(0);
    let stat = git(&town.project, &["diff", "--shortstat", "main^1", "main"]);
    let number = |word: &str| {
        stat.split(',')
            .find(|it| it.contains(word))
            .map(|it| it.trim().split(' ').next().unwrap().to_owned())
    };
    let text = &report.out;
    assert!(
        text.contains(&format!("Files changed: {}", number("file").unwrap())),
        "{text}"
    );
    assert!(
        text.contains(&format!("Insertions: {}", number("insertion").unwrap())),
        "{text}"
    );
}

/// Where around an append a process is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// What is to be told has happened, and nothing of it is written yet.
    Untold,
    /// It is written, and may be lost with the machine.
    Unsynced,
    /// It is on disk, and nobody knows yet.
    Synced,
}

impl Moment {
    const ALL: [Self; 3] = [Self::Untold, Self::Unsynced, Self::Synced];

    /// The file and the operation that stand for an append: whoever has the turn to write signs
    /// for it first.
    fn place(self) -> (Fault, Op) {
        match self {
            Self::Untold => (Fault::on("journal-turn.lock"), Op::Write),
            Self::Unsynced | Self::Synced => (Fault::on("journal.db-wal"), Op::Sync),
        }
    }

    /// Counts the appends of a command.
    fn count(self, town: &Town, mut command: Command) -> u64 {
        let counts = town.house.root().join("counts");
        let (fault, op) = self.place();
        fault.count_into(&counts).arm(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        Counts::read(&counts).of(op)
    }

    /// Kills a command at one of its appends, and tells whether it came there. What shares a commit
    /// depends on who comes in time, so one run may have an append less than another; such a one
    /// ends well.
    fn kill(self, town: &Town, mut command: Command, nth: u64) -> bool {
        let counts = town.house.root().join("counts");
        let (fault, op) = self.place();
        let action = match self {
            Self::Synced => Action::KillAfter,
            Self::Untold | Self::Unsynced => Action::KillBefore,
        };
        fault
            .nth(op, nth, action)
            .count_into(&counts)
            .arm(&mut command);
        let output = command.output().unwrap();
        if output.status.code().is_none() {
            return true;
        }
        assert!(output.status.success(), "{output:?}");
        let came = Counts::read(&counts).of(op);
        assert!(came < nth, "not killed at {nth} of {came}");
        false
    }
}

/// One command of the story, and what comes before it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    Ask,
    Approve,
    Merge,
}

impl Act {
    pub(super) fn command(self, town: &Town) -> Command {
        match self {
            Self::Ask => town.ask().command(),
            Self::Approve => {
                let id = town.asked();
                town.artel(["plan", "approve", &id, "--json"]).command()
            }
            Self::Merge => {
                let id = town.asked();
                town.artel(["plan", "approve", &id, "--json"])
                    .run()
                    .expect(0);
                town.artel(["changeset", "approve", &id, "--json"])
                    .command()
            }
        }
    }
}

/// Nothing was paid for twice, nothing judged or committed twice.
pub(super) fn once(town: &Town) {
    let mut asked: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut open: BTreeMap<String, String> = BTreeMap::new();
    let mut judged: BTreeMap<String, u32> = BTreeMap::new();
    for event in town.events() {
        let payload = payload(&event);
        let text = |name: &str| payload[name].as_str().unwrap_or_default().to_owned();
        match event["kind"].as_str().unwrap() {
            "model.requested" => {
                let entry = asked.entry(text("fingerprint")).or_default();
                assert_eq!(entry.1, 0, "asked again after it was answered");
                entry.0 += 1;
                open.insert(text("call"), text("fingerprint"));
            }
            "model.replied" => asked.get_mut(&open[&text("call")]).unwrap().1 += 1,
            "step.judged" | "step.passed" | "step.checked" => {
                let key = format!(
                    "{} {} {} {}",
                    event["kind"],
                    text("step"),
                    payload["round"],
                    text("by")
                );
                *judged.entry(key).or_default() += 1;
            }
            _ => {}
        }
    }
    let twice = asked.values().filter(|(asked, _)| *asked > 1).count();
    assert!(
        twice <= 2,
        "at most the replies in flight are asked for again: {asked:?}"
    );
    assert!(judged.values().all(|count| *count == 1), "{judged:?}");
    assert_eq!(town.count("changeset.created"), 1);
    assert_eq!(town.count("changeset.merged"), 1);
    assert_eq!(town.count("plan.ended"), 1);
}

pub(super) fn is_tidy(town: &Town) {
    assert!(named(&town.project, "index.lock").is_empty());
    for left in ["steps", "judges", "proofs"] {
        let found = named(&town.house.state("worktrees"), left);
        assert!(found.is_empty(), "left behind: {found:?}");
    }
}

#[test]
fn proof_story_killed_at_every_append_it_ends_the_same() {
    let whole = Town::new();
    let mut points = Vec::new();
    for act in [Act::Ask, Act::Approve, Act::Merge] {
        for moment in Moment::ALL {
            let town = Town::new();
            let command = act.command(&town);
            let appends = moment.count(&town, command);
            points.extend((1..=appends).map(|nth| (act, moment, nth)));
        }
    }
    whole.to_the_end();
    let expected: Left = whole.left();
    once(&whole);
    is_tidy(&whole);
    assert!(points.len() > 180, "{}", points.len());

    let mut random = Random::for_test("killed_story");
    let all = points.len();
    let mut kills = 0_u64;
    for (act, moment, nth) in points {
        if !is_long() && random.below(all as u64 / 12) != 0 {
            continue;
        }
        let town = Town::new();
        let command = act.command(&town);
        kills += u64::from(moment.kill(&town, command, nth));
        town.to_the_end();
        let at = format!("killed {moment:?} at append {nth} of {act:?}");
        assert_eq!(town.left(), expected, "{at}");
        once(&town);
        is_tidy(&town);
        let request = town.request().unwrap();
        let file = request["path"].as_str().unwrap();
        assert!(town.house.workshop.join(file).exists(), "{file}: {at}");
        town.house.ok(["journal", "verify"]);
    }
    figure(&format!(
        "kills of a whole story | {kills} of {all} points | all end the same"
    ));
}

#[test]
fn what_people_change_meanwhile_stays_theirs() {
    let town = Town::new();
    let id = town.asked();
    std::fs::write(town.project.join("mine.txt"), "mine\n").unwrap();
    std::fs::write(town.project.join("test_calc.py"), "# mine\n").unwrap();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(0);
    assert_eq!(
        std::fs::read(town.project.join("mine.txt")).unwrap(),
        b"mine\n"
    );
    assert_eq!(
        std::fs::read(town.project.join("test_calc.py")).unwrap(),
        b"# mine\n"
    );
    let head = git(&town.project, &["rev-parse", "main"]);
    let refused = town.artel(["changeset", "approve", &id]).run().expect(3);
    assert!(refused.err.contains("test_calc.py"), "{}", refused.err);
    assert_eq!(git(&town.project, &["rev-parse", "main"]), head);
    assert_eq!(
        std::fs::read(town.project.join("test_calc.py")).unwrap(),
        b"# mine\n"
    );
    git(&town.project, &["checkout", "-q", "test_calc.py"]);
    town.artel(["changeset", "approve", &id]).run().expect(0);
    assert_eq!(
        std::fs::read(town.project.join("mine.txt")).unwrap(),
        b"mine\n"
    );
}

/// A verifier that believes everything, and looks at nothing.
const FOOLED: &str = r##"
rules:
  - expect: { says: Plan this request }
    call:
      - submit_plan:
          title: Mend add
          kind: fix
          overview: add adds.
          steps:
            - { id: mend, title: Mend add, role: engineer, work: Make add in calc.py add., check: It adds., verify: evaluator, scope: { paths: [calc.py] } }
      - finish: { answer: planned }
  - expect: { tools: [propose_change] }
    call: { finish: { answer: "All done, every test passes." } }
  - expect: { tools: [verdict] }
    call:
      - verdict: { verdict: pass, evidence: ["all good"] }
      - finish: { answer: all good }
  - expect: { tools: [advice] }
    call:
      - advice: { fault: code, why: "the work is not done" }
      - finish: { answer: advised }
"##;

#[test]
fn a_verifier_that_is_fooled_gets_nothing_through() {
    let town = Town::saying(FOOLED);
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(3);
    assert_eq!(town.count("step.passed"), 0);
    assert_eq!(
        town.count("step.failed"),
        3,
        "three attempts, then the person"
    );
    let waiting = town.artel(["waiting", "--json"]).run().expect(0);
    assert!(waiting.out.contains("take-over"), "{}", waiting.out);
    assert_eq!(
        git(&town.project, &["branch", "--format=%(refname:short)"]),
        "main"
    );
}

#[test]
fn a_verifier_without_evidence_is_no_verifier() {
    let script = FOOLED.replace(
        "call: { finish: { answer: \"All done, every test passes.\" } }",
        "call:\n      - edit: { path: calc.py, old: \"a - b\", new: \"a + b\" }\n      - finish: { answer: done }",
    );
    let script = script.replace(
        "scope: { paths: [calc.py] }",
        "scope: { paths: [calc.py] }, evidence: [{ kind: file, what: calc.py }]",
    );
    let town = Town::saying(&script);
    let id = town.asked();
    town.artel(["plan", "approve", &id, "--json"])
        .run()
        .expect(3);
    assert_eq!(town.count("step.passed"), 0);
    let judged = |event: &Value| event["kind"] == "step.judged" && payload(event)["passed"] == true;
    assert!(!town.events().iter().any(judged));
}
