//! Decisions about changesets, killed inside and around what git does for them: the branch has the
//! whole commit or not, and a second call finishes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use artel_testkit::figure;
use artel_testkit::shim::{self, Action, Fault, Op};
use artel_testkit::{Random, is_long};

use super::bench::{Bench, program};
use super::town::named;

/// How many decisions are killed.
fn kills_wanted() -> usize {
    if is_long() { 500 } else { 10 }
}

/// Where a decision is killed.
#[derive(Debug, Clone, Copy)]
enum At {
    /// Before one of the programs that it starts.
    Before(u64),
    /// After one of them, and before it is heard what came of it.
    After(u64),
    /// Inside one of them, at one of the changes it makes to the repository, which dies with it.
    Inside(u64, u64),
    /// At one of the changes that Artel itself makes in the person's folder.
    Own(u64),
}

impl At {
    fn random(random: &mut Random, calls: u64) -> Self {
        let call = 1 + random.below(calls);
        match random.below(5) {
            0 => Self::Before(call),
            1 => Self::After(call),
            2 | 3 => Self::Inside(call, 1 + random.below(8)),
            _ => Self::Own(1 + random.below(30)),
        }
    }
}

/// A git that counts its calls, and dies at one of them together with whoever called it.
struct Wrapper {
    folder: PathBuf,
    count: PathBuf,
}

impl Wrapper {
    fn new(bench: &Bench) -> Self {
        let folder = bench.house.folder("wrapper");
        let count = folder.join("count");
        Self { folder, count }
    }

    fn set(&self, bench: &Bench, at: At) {
        let (nth, what) = match at {
            At::Before(nth) => (nth, "kill -9 $PPID; exit 1".to_owned()),
            At::After(nth) => (nth, "\"$real\" \"$@\"; kill -9 $PPID; exit 1".to_owned()),
            At::Inside(nth, op) => {
                let (library, git) = (shim::build(), bench.project.join(".git"));
                let dying = format!(
                    "LD_PRELOAD='{}' ARTEL_FAULT_PATH='{}' ARTEL_FAULT=any:{op}:kill-before \
                     \"$real\" \"$@\"; came=$?; [ $came -gt 128 ] && kill -9 $PPID; exit $came",
                    library.display(),
                    git.display()
                );
                (nth, dying)
            }
            At::Own(_) => (0, String::from(":")),
        };
        let (count, real) = (self.count.display(), program());
        let real = real.display();
        let text = format!(
            "#!/bin/sh\nreal={real}\nread n < '{count}'\nn=$((n + 1))\necho $n > '{count}'\n\
             if [ $n -eq {nth} ]; then\n{what}\nfi\nexec \"$real\" \"$@\"\n"
        );
        let file = self.folder.join("git");
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&self.count, "0\n").unwrap();
    }

    fn calls(&self) -> u64 {
        fs::read_to_string(&self.count)
            .unwrap()
            .trim()
            .parse()
            .unwrap()
    }
}

/// Decides, and tells whether it was killed.
fn decide(bench: &Bench, wrapper: &Wrapper, act: &str, at: At) -> bool {
    wrapper.set(bench, at);
    let id = bench.id();
    let artel = bench.artel(&["changeset", act, &id]);
    let mut command: Command = artel.env("PATH", &wrapper.folder).command();
    if let At::Own(nth) = at {
        let folder = bench.project.display().to_string();
        let fault = Fault::on(folder).nth(Op::Any, nth, Action::KillBefore);
        fault.arm(&mut command);
    }
    let output = command.output().unwrap();
    if output.status.code().is_none() {
        return true;
    }
    assert!(output.status.success(), "{at:?}: {output:?}");
    false
}

/// What the person's folder holds with and without the change.
fn holds(bench: &Bench, act: &str) {
    let is_merged = act != "undo";
    assert_eq!(bench.project.join("made.txt").exists(), is_merged, "{act}");
    assert_eq!(bench.project.join("gone.txt").exists(), !is_merged, "{act}");
    assert_eq!(bench.read("mine.txt"), "mine, and not committed\n");
    assert_eq!(
        bench.git(&["status", "--porcelain"]),
        " M mine.txt",
        "{act}"
    );
    assert_eq!(bench.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    for lock in ["index.lock", "HEAD.lock", "main.lock"] {
        assert!(named(&bench.project, lock).is_empty(), "{lock}: {act}");
    }
}

#[test]
fn proof_git_killed_inside_a_decision_the_next_call_finishes() {
    let bench = Bench::new();
    let wrapper = Wrapper::new(&bench);
    bench.write("mine.txt", "mine, and not committed\n");
    let mut random = Random::for_test("killed_merge");
    let (mut killed, mut decided, mut calls) = (0, 0, 30);
    let count = |bench: &Bench| bench.git(&["rev-list", "--count", "--first-parent", "main"]);
    for number in 0.. {
        if killed == kills_wanted() {
            break;
        }
        let act = match number {
            0 => "approve",
            odd if odd % 2 == 1 => "undo",
            _ => "redo",
        };
        let old = bench.git(&["rev-parse", "main"]);
        let before: u64 = count(&bench).parse().unwrap();
        let at = At::random(&mut random, calls);
        if decide(&bench, &wrapper, act, at) {
            killed += 1;
            let now = bench.git(&["rev-parse", "main"]);
            let after: u64 = count(&bench).parse().unwrap();
            assert!(
                after - before == u64::from(now != old),
                "whole or not: {at:?}"
            );
            let state = bench.state();
            let is_over = matches!(
                (act, state.as_str()),
                ("undo", "undone") | ("approve" | "redo", "merged")
            );
            if !is_over {
                bench.decide(act, &[]).expect(0);
            }
        } else {
            calls = wrapper.calls().max(1);
        }
        decided += 1;
        let after: u64 = count(&bench).parse().unwrap();
        assert_eq!(after, before + 1, "once: {act} {at:?}");
        holds(&bench, act);
    }
    bench.git(&["fsck", "--no-dangling"]);
    bench.house.ok(["journal", "verify"]);
    figure(&format!(
        "kills inside git | {killed} of {decided} decisions killed | each commit once, 0 repairs by hand"
    ));
}
