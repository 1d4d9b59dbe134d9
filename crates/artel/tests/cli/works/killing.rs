//! Kills at appends: where they are, what was in flight then, and what may not have happened twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;

use artel_testkit::shim::{Action, Counts, Fault, Op, Step};
use artel_testkit::{Random, is_long};

use super::town::{Town, named, payload};

/// Where around an append a process is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
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
    fn place(self) -> (&'static str, Op) {
        match self {
            Self::Untold => ("journal-turn.lock", Op::Write),
            Self::Unsynced | Self::Synced => ("journal.db-wal", Op::Sync),
        }
    }

    /// Names the points at which a command can be killed that ends with this code.
    pub(super) fn points(town: &Town, mut command: Command, code: i32) -> Vec<(Self, u64)> {
        let counts = town.house.root().join("counts");
        Fault::on("journal").count_into(&counts).arm(&mut command);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let steps = Counts::read(&counts).steps;
        let appends = |moment: Self| {
            let (file, op) = moment.place();
            let is_one = |step: &&Step| step.op == op && step.path.ends_with(file);
            steps.iter().filter(is_one).count() as u64
        };
        let all = Self::ALL.into_iter();
        all.flat_map(|it| (1..=appends(it)).map(move |nth| (it, nth)))
            .collect()
    }

    /// Kills a command at one of its appends, and tells whether it came there. What shares a commit
    /// depends on who comes in time, so one run may have an append less than another; such a one
    /// ends with this code.
    pub(super) fn kill(self, town: &Town, mut command: Command, code: i32, nth: u64) -> bool {
        let counts = town.house.root().join("counts");
        let (file, op) = self.place();
        let action = match self {
            Self::Synced => Action::KillAfter,
            Self::Untold | Self::Unsynced => Action::KillBefore,
        };
        Fault::on(file)
            .nth(op, nth, action)
            .count_into(&counts)
            .arm(&mut command);
        let output = command.output().unwrap();
        if output.status.code().is_none() {
            return true;
        }
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let came = Counts::read(&counts).of(op);
        assert!(came < nth, "not killed at {nth} of {came}");
        false
    }
}

/// Chooses points to try: one of so many, and all of them in a long proof.
pub(super) fn chosen<P: Copy>(points: &[P], one_of: u64, name: &str) -> Vec<P> {
    let mut random = Random::for_test(name);
    let points = points.iter().copied();
    points
        .filter(|_| is_long() || random.below(one_of) == 0)
        .collect()
}

/// Tries points, and returns what came of each. A long proof tries as many at once as there are
/// processors.
pub(super) fn tried<P, T>(points: Vec<P>, at: impl Fn(P) -> T + Sync) -> Vec<T>
where
    P: Send,
    T: Send,
{
    let many = std::thread::available_parallelism().map_or(1, usize::from);
    let hands = if is_long() { many } else { 1 };
    let points = Mutex::new(points.into_iter());
    let work = || {
        let next = || points.lock().unwrap().next();
        std::iter::from_fn(next).map(&at).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..hands).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().flat_map(|it| it.join().unwrap());
        done.collect()
    })
}

/// The requests for which there is no reply on record, by the run whose conversation it is.
pub(super) type Unanswered = BTreeMap<String, BTreeSet<String>>;

/// Finds the requests without a reply: right after a kill they are what was in flight.
pub(super) fn unanswered(town: &Town) -> Unanswered {
    let mut open = Unanswered::new();
    for event in town.events() {
        let run = event["run"].as_str().unwrap_or_default().to_owned();
        let payload = payload(&event);
        let call = || payload["call"].as_str().unwrap().to_owned();
        match event["kind"].as_str().unwrap() {
            "model.requested" => {
                open.entry(run).or_default().insert(call());
            }
            "model.replied" => {
                let is_known = open.entry(run).or_default().remove(&call());
                assert!(is_known, "a reply that nobody asked for: {event}");
            }
            _ => {}
        }
    }
    open.retain(|_, calls| !calls.is_empty());
    open
}

/// Nothing was paid for twice but what was in flight, at most one reply of a conversation; nothing
/// was judged, checked or committed twice. Returns what was never answered.
pub(super) fn once(town: &Town) -> Unanswered {
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
                let round = &payload["round"];
                let names = ["step", "by", "phase"].map(text).join(" ");
                let key = format!("{} {names} {round}", event["kind"]);
                *judged.entry(key).or_default() += 1;
            }
            _ => {}
        }
    }
    let lost = unanswered(town);
    assert!(
        lost.values().all(|calls| calls.len() == 1),
        "at most the one reply in flight of a conversation is asked for again: {lost:?}"
    );
    let again = asked.values().filter(|(asked, _)| *asked > 1).count();
    assert!(again <= lost.len(), "{asked:?}");
    assert!(
        asked.values().all(|(_, replied)| *replied == 1),
        "{asked:?}"
    );
    assert!(judged.values().all(|count| *count == 1), "{judged:?}");
    assert_eq!(town.count("changeset.created"), 1);
    assert_eq!(town.count("changeset.merged"), 1);
    assert_eq!(town.count("plan.ended"), 1);
    lost
}

pub(super) fn is_tidy(town: &Town) {
    assert!(named(&town.project, "index.lock").is_empty());
    for left in ["steps", "judges", "proofs"] {
        let found = named(&town.house.state("worktrees"), left);
        assert!(found.is_empty(), "left behind: {found:?}");
    }
}
