//! The story on a disk that is full for a while: it waits, says so, goes on by itself, and ends the
//! same.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

use artel_testkit::figure;
use artel_testkit::shim::{Action, Counts, Fault, Op};
use artel_testkit::{Random, is_long};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use super::killing::{is_tidy, once};
use super::story::Act;
use super::town::Town;

/// The file whose syncs are the appends.
const LOG: &str = "journal.db-wal";

/// Where Artel keeps what it knows.
const STATE: &str = "/.artel/";

/// What has no room.
#[derive(Debug, Clone, Copy)]
enum Lacks {
    /// From an append on, nothing of the journal can be written.
    Writes,
    /// From a sync on, of the journal or whatever else Artel keeps, there is no room for what was
    /// written: nobody can tell what became of it.
    Syncs,
}

/// How a command fared on a full disk.
struct Fared {
    /// How long after there was room again it said that it goes on; nothing where it never had to.
    after: Option<Duration>,
}

impl Lacks {
    fn fault(self, nth: u64) -> Fault {
        match self {
            Self::Writes => Fault::on(LOG).after_nth(Op::Sync, nth - 1, Op::Write, Action::NoSpace),
            Self::Syncs => Fault::on(STATE).from_nth(Op::Sync, nth, Action::NoSpace),
        }
    }

    /// Fills the disk at one of the appends of a command, and makes room once it was seen waiting.
    fn fill(self, town: &Town, mut command: Command, nth: u64) -> Fared {
        let room = town.house.root().join("room");
        self.fault(nth).until_exists(&room).arm(&mut command);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        let (mut freed, mut after, mut all) = (None, None, Vec::new());
        for line in said.lines() {
            let line = line.unwrap();
            if line.contains("disk full: need ") && freed.is_none() {
                let state = STATE.trim_end_matches('/');
                assert!(line.contains(state), "{line}");
                std::fs::write(&room, "").unwrap();
                freed = Some(now());
            } else if line.contains("there is room again") {
                after = after.or(freed.map(|freed| now().duration_since(freed)));
            }
            all.push(line);
        }
        assert!(child.wait().unwrap().success(), "{self:?} {nth}: {all:#?}");
        assert_eq!(freed.is_some(), after.is_some(), "it goes on: {all:#?}");
        Fared { after }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long it takes is printed, not judged"
)]
fn now() -> Instant {
    Instant::now()
}

/// Returns the points at which an act can be hit.
fn points(act: Act) -> Vec<(Act, Lacks, u64)> {
    let town = Town::new();
    let mut command = act.command(&town);
    let counts = town.house.root().join("counts");
    Fault::on(STATE).count_into(&counts).arm(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let steps = Counts::read(&counts).steps;
    let mut syncs = steps.iter().filter(|step| step.op == Op::Sync);
    let all = syncs.clone().count() as u64;
    let of_log = syncs.by_ref().filter(|step| step.path.ends_with(LOG));
    let appends = of_log.count() as u64;
    let writes = (1..=appends).map(|nth| (act, Lacks::Writes, nth));
    writes
        .chain((1..=all).map(|nth| (act, Lacks::Syncs, nth)))
        .collect()
}

#[test]
fn proof_full_disk_at_every_append_it_waits_and_ends_the_same() {
    let whole = Town::new();
    let acts = [Act::Ask, Act::Approve, Act::Merge];
    let points: Vec<_> = acts.into_iter().flat_map(points).collect();
    whole.to_the_end();
    let expected = whole.left();

    let mut random = Random::for_test("full_disk");
    let all = points.len();
    println!("{all} points");
    let (mut filled, mut waits) = (0_u64, Vec::new());
    for (act, lacks, nth) in points {
        if !is_long() && random.below(all as u64 / 6) != 0 {
            continue;
        }
        let town = Town::new();
        let command = act.command(&town);
        let fared = lacks.fill(&town, command, nth);
        filled += 1;
        waits.extend(fared.after);
        town.to_the_end();
        let at = format!("full for {lacks:?} at append {nth} of {act:?}");
        assert_eq!(town.left(), expected, "{at}");
        assert!(once(&town).len() <= 1, "{at}");
        is_tidy(&town);
        town.house.ok(["journal", "verify"]);
    }
    waits.sort();
    let millis = |at: usize| waits.get(at).map_or(0, Duration::as_millis);
    let (half, most) = (
        millis(waits.len() / 2),
        millis(waits.len().saturating_sub(1)),
    );
    figure(&format!(
        "full disk during a story | {filled} of {all} points, {} waited | all end the same | went \
         on after median {half} ms, at most {most} ms",
        waits.len()
    ));
}

/// Starts a command, and waits until it says this.
fn until_said(mut command: Command, words: &str) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_said = said.any(|line| line.unwrap().contains(words));
    assert!(is_said, "`{words}` is never said");
    (child, said)
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn whoever_waits_for_room_can_be_stopped_and_goes_on_later() {
    for (stop, nth) in [(Signal::INT, 1), (Signal::TERM, 6)] {
        let town = Town::new();
        let mut command = town.ask().command();
        Lacks::Writes.fault(nth).arm(&mut command);
        let (mut child, said) = until_said(command, "disk full: need ");
        signal(&child, stop);
        let said: Vec<_> = said.map(|line| line.unwrap()).collect();
        let code = child.wait().unwrap().code();
        assert!(code.is_none() || code == Some(130), "{code:?}: {said:#?}");
        town.to_the_end();
        assert!(once(&town).len() <= 1);
        town.house.ok(["journal", "verify"]);
    }
}

#[test]
fn a_limit_of_file_sizes_is_waited_for_until_it_is_raised() {
    let town = Town::new();
    let id = town.asked();
    let approve = town.artel(["plan", "approve", &id, "--json"]).command();
    // The log may grow to this and no further, as by `ulimit -f`.
    let mut command = Command::new("/usr/bin/prlimit");
    command
        .arg("--fsize=60000:unlimited")
        .arg(approve.get_program())
        .args(approve.get_args());
    command.env_clear();
    let given = approve.get_envs();
    command.envs(given.filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(approve.get_current_dir().unwrap());
    command.stderr(Stdio::piped());
    let (mut child, said) = until_said(command, "limit of file sizes reached: need ");
    let all = Rlimit {
        current: None,
        maximum: None,
    };
    prlimit(Some(Pid::from_child(&child)), Resource::Fsize, all).unwrap();
    let said: Vec<_> = said.map(|line| line.unwrap()).collect();
    assert!(child.wait().unwrap().success(), "{said:#?}");
    town.to_the_end();
    assert!(once(&town).len() <= 1);
}
