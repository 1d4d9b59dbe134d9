//! `artel changeset`, against real git.

use std::fs;
use std::process::{Command, Stdio};

use artel_types::plan::PlanState;
use artel_types::{PlanEnded, SandboxPassage};

use super::bench::{Bench, Special, git, long};
use super::town::Town;
use crate::support::Tree;

#[test]
fn what_waits_for_a_decision_fits_on_one_screen() {
    let bench = Bench::new();
    let id = bench.id();
    let list = bench.run(&["changeset", "list"]).expect(0);
    assert!(list.out.contains(&format!("{id}  open")), "{}", list.out);
    let seen = bench.run(&["changeset", "show", &id]).expect(0);
    assert!(seen.out.lines().count() < 24, "{}", seen.out);
    for words in [
        "fix/it-07070707 → main",
        "waits for your decision",
        "re-run on a clean checkout: 8 of 8 tests, 1 skipped, 1 of 1 commands",
        "files     3, +3 −2",
        "A made.txt  +2 −0",
        "D gone.txt  +0 −1",
        "the person waived f1",
        "next: `artel changeset approve 07070707`",
    ] {
        assert!(seen.out.contains(words), "no `{words}` in\n{}", seen.out);
    }
    let json = bench
        .run(&["changeset", "show", &id, "--json"])
        .expect(0)
        .json();
    assert_eq!(json["state"], "open");
    assert_eq!(json["log"].as_array().unwrap().len(), 2);
    assert_eq!(json["proofs"].as_array().unwrap().len(), 2);
    let diff = bench.run(&["changeset", "show", &id, "--diff"]).expect(0);
    diff.says("+new").says("-old").says("made.txt");
    let none = bench
        .run(&["changeset", "list", "--status", "merged"])
        .expect(0);
    assert_eq!(none.out, "");
    bench.run(&["changeset", "show", "ffff"]).fails(4, "R004");
}

#[test]
fn approving_makes_a_merge_commit_and_leaves_other_work_alone() {
    let bench = Bench::new();
    bench.write("mine.txt", "mine, and not committed\n");
    let done = bench.decide("approve", &["--json"]).expect(0).json();
    let parents = bench.git(&["rev-list", "--parents", "-n1", "main"]);
    let parents: Vec<&str> = parents.split(' ').collect();
    assert_eq!(parents[1..], [&*bench.base, &*bench.head]);
    assert_eq!(done["commit"], parents[0]);
    let message = bench.git(&["log", "-1", "--format=%B"]);
    assert!(
        message.starts_with("Merge fix/it-07070707: Fix it\n"),
        "{message}"
    );
    assert!(message.contains(&format!("Trace-Id: {}", bench.trace)));
    assert_eq!(bench.git(&["status", "--porcelain"]), " M mine.txt");
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
    assert_eq!(bench.read("mine.txt"), "mine, and not committed\n");
    assert_eq!(bench.state(), "merged");
    let again = bench.decide("approve", &[]).fails(3, "R008");
    again.says("the changeset is merged");
}

#[test]
fn own_changes_in_the_same_files_are_never_touched() {
    let bench = Bench::new();
    let own = long("old").replace("line 20", "my line 20");
    bench.write("long.txt", &own);
    let before = Tree::of(&bench.project);
    let refused = bench.decide("approve", &[]).fails(3, "R006");
    refused
        .says("`long.txt`")
        .says("stash")
        .says("artel changeset approve 07070707");
    before.unchanged(&bench.project);
    assert_eq!(bench.git(&["rev-parse", "main"]), bench.base);
    assert_eq!(bench.state(), "open");
    bench.commit("mine");
    bench.decide("approve", &[]).expect(0);
    let both = long("new").replace("line 20", "my line 20");
    assert_eq!(bench.read("long.txt"), both);
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_moved_in_the_same_places_is_a_conflict_with_ways_out() {
    let bench = Bench::new();
    bench.write("long.txt", &long("mine"));
    let theirs = bench.commit("mine");
    let refused = bench.decide("approve", &[]).fails(3, "R006");
    refused
        .says("`long.txt`")
        .says("rebase")
        .says("changeset reject");
    assert_eq!(bench.git(&["rev-parse", "main"]), theirs);
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    assert_eq!(bench.kinds("changeset.ordered"), [""; 0]);
    // The person settles it on the branch; what was proven is no longer what is merged.
    bench.git(&["checkout", "-q", &bench.branch]);
    bench.git(&["merge", "-q", "-X", "theirs", "main"]);
    bench.git(&["checkout", "-q", "main"]);
    bench
        .decide("approve", &[])
        .fails(3, "R008")
        .says("--waive");
    bench
        .decide("approve", &["--waive", "settled by hand"])
        .expect(0);
    assert_eq!(bench.read("long.txt"), long("mine"));
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
}

#[test]
fn another_branch_that_is_checked_out_is_not_touched() {
    let bench = Bench::new();
    bench.git(&["checkout", "-q", "-b", "mine"]);
    bench.write("long.txt", "all mine\n");
    let before = Tree::of(&bench.project.join("long.txt"));
    bench.decide("approve", &[]).expect(0);
    before.unchanged(&bench.project.join("long.txt"));
    assert_eq!(bench.git(&["rev-parse", "mine"]), bench.base);
    let second = bench.git(&["rev-parse", "main^2"]);
    assert_eq!(second, bench.head);
}

#[test]
fn without_a_branch_to_go_to_a_person_names_it() {
    let bench = Bench::special(Special {
        is_detached: true,
        ..Special::default()
    });
    let refused = bench.decide("approve", &[]).fails(2, "C005");
    refused.says("artel changeset approve 07070707 --into BRANCH");
    bench
        .decide("approve", &["--into", "nowhere"])
        .fails(3, "R008")
        .says("git -C");
    bench.decide("approve", &["--into", "main"]).expect(0);
    assert_eq!(bench.git(&["rev-parse", "main^2"]), bench.head);
    assert_eq!(bench.git(&["rev-parse", "HEAD"]), bench.base);
}

#[test]
fn what_is_not_proven_takes_a_waiver_that_stays() {
    for (proven, complete) in [(false, true), (true, false)] {
        let bench = Bench::special(Special {
            proven,
            complete,
            state: PlanState::Failed,
            ..Special::default()
        });
        bench
            .decide("approve", &[])
            .fails(3, "R008")
            .says("--waive");
        bench.decide("approve", &["--waive", "  "]).fails(3, "R008");
        assert_eq!(bench.git(&["rev-parse", "main"]), bench.base);
        bench
            .decide("approve", &["--waive", "only the clock"])
            .expect(0);
        let id = bench.id();
        let shown = bench.run(&["changeset", "show", &id]).expect(0);
        shown.says("only the clock");
        let report = fs::read_to_string(bench.report()).unwrap();
        let deferred = report.split("## Deferred").nth(1).unwrap();
        assert!(
            deferred.contains("merged it all the same: only the clock"),
            "{report}"
        );
    }
}

#[test]
fn undo_keeps_what_people_changed_since_and_redo_brings_it_back() {
    let bench = Bench::new();
    bench.decide("undo", &[]).fails(3, "R008");
    bench.decide("approve", &[]).expect(0);
    let merged = bench.git(&["rev-parse", "main"]);
    bench.write("long.txt", &long("new").replace("line 20", "my line 20"));
    bench.commit("mine");
    let seen = bench.decide("undo", &[]).expect(0);
    seen.says("long.txt was changed since; those changes are kept");
    assert_eq!(
        bench.read("long.txt"),
        long("old").replace("line 20", "my line 20")
    );
    assert!(!bench.project.join("made.txt").exists());
    assert_eq!(bench.read("gone.txt"), "going\n");
    assert_eq!(bench.git(&["status", "--porcelain"]), "");
    // Nothing of history is rewritten.
    bench.git(&["merge-base", "--is-ancestor", &merged, "main"]);
    assert_eq!(bench.state(), "undone");
    bench.decide("redo", &[]).expect(0);
    assert_eq!(
        bench.read("long.txt"),
        long("new").replace("line 20", "my line 20")
    );
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
    assert_eq!(bench.state(), "merged");
    bench.decide("undo", &[]).expect(0);
    assert_eq!(bench.state(), "undone");
    assert_eq!(
        bench.git(&["rev-list", "--count", "--first-parent", "main"]),
        "6"
    );
}

#[test]
fn an_undo_that_would_lose_later_work_is_refused() {
    let bench = Bench::new();
    bench.decide("approve", &[]).expect(0);
    bench.write("long.txt", &long("newer"));
    let later = bench.commit("mine");
    bench
        .decide("undo", &[])
        .fails(3, "R006")
        .says("`long.txt`");
    assert_eq!(bench.git(&["rev-parse", "main"]), later);
    assert_eq!(bench.read("long.txt"), long("newer"));
    assert_eq!(bench.state(), "merged");
}

#[test]
fn a_receipt_names_what_left_the_machine() {
    let bench = Bench::new();
    // Between the request and the end of the steps: the whole story is told again with it.
    let passage = SandboxPassage {
        host: "api.example.org:443".to_owned(),
        allowed: true,
        detail: "203.0.113.1".to_owned(),
        sent: 12,
        received: 3,
    };
    bench.tell_run([passage.into()]);
    bench.tell([PlanEnded {
        run: bench.run,
        state: PlanState::Done,
        why: None,
    }
    .into()]);
    bench.decide("approve", &[]).expect(0);
    let undone = bench.decide("undo", &[]).expect(0);
    undone
        .says("cannot be undone")
        .says("api.example.org:443: 1 connection, 12 bytes sent");
}

#[test]
fn rejecting_removes_branch_and_folder_and_keeps_the_record() {
    let bench = Bench::new();
    let folder = bench.house.state("worktrees").join(bench.run.to_string());
    bench.decide("reject", &[]).fails(2, "C005");
    bench.decide("reject", &["--reason", " "]).fails(2, "C005");
    bench.decide("reject", &["--reason", "wrong way"]).expect(0);
    assert_eq!(bench.git(&["branch", "--list", "fix/*"]), "");
    assert!(!folder.exists());
    assert_eq!(bench.state(), "rejected");
    bench.decide("approve", &[]).fails(3, "R008");
    bench
        .run(&["changeset", "show", &bench.id()])
        .expect(0)
        .says("wrong way");
    assert_eq!(bench.git(&["rev-parse", "main"]), bench.base);
}

#[test]
fn a_branch_with_commits_of_the_persons_outlives_the_rejection() {
    let bench = Bench::new();
    bench.git(&["checkout", "-q", &bench.branch]);
    let theirs = bench.commit("mine");
    bench.git(&["checkout", "-q", "main"]);
    let seen = bench.decide("reject", &["--reason", "wrong way"]).expect(0);
    seen.says("the branch `fix/it-07070707` stays");
    assert_eq!(bench.git(&["rev-parse", &bench.branch]), theirs);
    assert_eq!(bench.state(), "rejected");
}

#[test]
fn of_two_who_decide_at_once_one_counts() {
    for round in 0..5 {
        let bench = Bench::new();
        let id = bench.id();
        let other: &[&str] = match round % 2 {
            0 => &["approve"],
            _ => &["reject", "--reason=no"],
        };
        let start = |words: &[&str]| {
            let words = [&["changeset"], words, &[&id]].concat();
            let mut command = bench.artel(&words).command();
            command
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        let both = [start(&["approve"]), start(other)];
        let mut codes = both.map(|child| {
            let done = child.wait_with_output().unwrap();
            let said = String::from_utf8(done.stderr).unwrap();
            (done.status.code().unwrap(), said)
        });
        codes.sort_by_key(|(code, _)| *code);
        assert_eq!((codes[0].0, codes[1].0), (0, 3), "{codes:?}");
        assert!(codes[1].1.contains("error[R008]"), "{codes:?}");
        let ends = bench.kinds("changeset.merged").len() + bench.kinds("changeset.rejected").len();
        assert_eq!(ends, 1);
        let merges = bench.git(&["rev-list", "--count", "--merges", "main"]);
        assert_eq!(merges, bench.kinds("changeset.merged").len().to_string());
    }
}

#[test]
fn an_order_that_a_kill_left_is_completed_by_whoever_comes_next() {
    let nexts: [&[&str]; 4] = [
        &["changeset", "list"],
        &["changeset", "show", "07070707"],
        &["changeset", "approve", "07070707"],
        &["changeset", "undo", "07070707"],
    ];
    for next in nexts {
        let bench = Bench::new();
        bench.order_and_die();
        bench.run(next).expect(0);
        let merged: Vec<String> = bench.kinds("changeset.merged");
        assert_eq!(
            merged.len(),
            if next[1] == "undo" { 2 } else { 1 },
            "{next:?}"
        );
        assert_eq!(bench.git(&["rev-list", "--count", "--merges", "main"]), "1");
        assert_eq!(bench.git(&["status", "--porcelain"]), "");
        assert!(!bench.project.join(".git/index.lock").exists());
    }
}

#[test]
fn a_process_that_is_killed_while_it_merges_is_made_up_for() {
    for _ in 0..5 {
        let bench = Bench::new();
        let id = bench.id();
        let mut command = bench.artel(&["changeset", "approve", &id]).command();
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        while bench.kinds("changeset.ordered").is_empty() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(bench.state(), "merged");
        assert_eq!(bench.kinds("changeset.merged").len(), 1);
        assert_eq!(bench.git(&["rev-list", "--count", "--merges", "main"]), "1");
        assert_eq!(bench.git(&["status", "--porcelain"]), "");
        assert!(!bench.project.join(".git/index.lock").exists());
    }
}

fn without_git() -> Bench {
    Bench::special(Special {
        is_in_git: false,
        ..Special::default()
    })
}

#[test]
fn a_folder_in_no_repository_gets_the_files_of_its_patch() {
    let bench = without_git();
    let id = bench.id();
    bench
        .run(&["changeset", "show", &id])
        .expect(0)
        .says("git apply")
        .says(&format!("artel changeset approve {id}"));
    // What differs from what the run began with is the person's.
    let (before, theirs) = (bench.read("long.txt"), long("mine"));
    fs::write(bench.project.join("long.txt"), &theirs).unwrap();
    let all = Tree::of(&bench.project);
    bench
        .decide("approve", &[])
        .fails(3, "R006")
        .says("`long.txt`")
        .says("put yours aside");
    all.unchanged(&bench.project);
    assert_eq!(bench.state(), "open");
    fs::write(bench.project.join("long.txt"), &before).unwrap();
    let done = bench.decide("approve", &["--json"]).expect(0).json();
    assert_eq!(done["into"], bench.project.to_str().unwrap(), "{done}");
    assert_eq!(bench.read("long.txt"), long("new"));
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
    assert!(!bench.project.join("gone.txt").exists());
    assert_eq!(bench.state(), "merged");
    assert!(!bench.project.join(".git").exists());
    // There is no commit that could be reversed.
    let refused = bench.decide("undo", &[]).fails(3, "R008");
    assert!(
        refused.err.contains("git apply --reverse"),
        "{}",
        refused.err
    );
}

#[test]
fn a_patch_that_a_person_applied_is_closed_as_merged() {
    let bench = without_git();
    let shown = bench.run(&["changeset", "show", &bench.id()]).expect(0);
    let all = format!("{}{}", shown.out, shown.err);
    let (_, command) = all.split_once("cd ").unwrap();
    let command = format!("cd {}", command.split(['`', '\n']).next().unwrap());
    let done = Command::new("/bin/sh")
        .args(["-c", &command])
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .status();
    assert!(done.unwrap().success(), "{command}");
    let before = Tree::of(&bench.project);
    bench.decide("approve", &[]).expect(0);
    before.unchanged(&bench.project);
    assert_eq!(bench.state(), "merged");
}

#[test]
fn an_order_about_a_patch_that_was_cut_short_is_carried_out_by_the_next_command() {
    let bench = without_git();
    bench.order_and_die();
    assert_eq!(bench.state(), "merged");
    assert_eq!(bench.read("long.txt"), long("new"));
    assert_eq!(bench.kinds("changeset.merged").len(), 1);
}

#[test]
fn work_in_a_folder_without_git_ends_with_the_command_that_puts_it_in_place() {
    let town = Town::new();
    fs::remove_dir_all(town.project.join(".git")).unwrap();
    let id = town.asked();
    let seen = town.artel(["plan", "approve", &id]).run().expect(0);
    let done = seen
        .out
        .lines()
        .find(|it| it.starts_with("Done: "))
        .unwrap();
    let approve = format!("artel changeset approve {}", &id[..8]);
    assert_eq!(done.split('`').nth(3), Some(approve.as_str()), "{done}");
    let waits = town.artel(["waiting", "--json"]).run().expect(0).out;
    assert!(waits.contains(&approve), "{waits}");
    let runs = town.artel(["runs", "--all"]).run().expect(0).out;
    assert!(
        !runs.contains("artel apply"),
        "what steps made is in the changeset: {runs}"
    );
    town.artel(["changeset", "approve", &id]).run().expect(0);
    let calc = fs::read_to_string(town.project.join("calc.py")).unwrap();
    assert!(calc.contains("a + b"), "{calc}");
}

#[test]
fn an_order_that_can_no_longer_be_carried_out_gives_the_decision_back() {
    let bench = Bench::new();
    bench.order_and_die();
    bench.write("long.txt", &long("mine"));
    let theirs = bench.commit("mine");
    assert_eq!(bench.state(), "open");
    assert_eq!(bench.kinds("changeset.refused").len(), 1);
    assert_eq!(bench.git(&["rev-parse", "main"]), theirs);
    bench
        .decide("reject", &["--reason", "mine is better"])
        .expect(0);
    // The planned commit was never brought to the person, and goes with the folder of the run.
    let bench = Bench::new();
    bench.order_and_die();
    fs::remove_dir_all(bench.house.state("worktrees")).unwrap();
    assert_eq!(bench.state(), "open");
    bench.decide("approve", &[]).expect(0);
    assert_eq!(bench.git(&["rev-parse", "main^2"]), bench.head);
}

#[test]
fn what_nobody_decided_about_is_not_cleaned_away() {
    let bench = Bench::new();
    let folder = bench.house.state("worktrees").join(bench.run.to_string());
    bench.run(&["clean", "--yes"]).expect(0);
    assert!(folder.exists());
    bench.decide("approve", &[]).expect(0);
    bench.run(&["clean", "--yes"]).expect(0);
    assert!(!folder.exists());
    // Everything that comes later starts from the person's repository.
    bench.decide("undo", &[]).expect(0);
    bench.run(&["clean", "--yes"]).expect(0);
    bench.decide("redo", &[]).expect(0);
    assert_eq!(bench.read("made.txt"), "one\ntwo\n");
    assert_eq!(git(&bench.project, &["status", "--porcelain"]), "");
}

#[test]
fn a_changeset_that_was_merged_by_hand_is_closed_as_merged() {
    let table: [(&[&str], &str); 2] = [
        (&["merge", "-q", "--no-ff", "--no-edit"], "merged"),
        (&["merge", "-q", "--ff-only"], "moved"),
    ];
    for (merge, way) in table {
        let bench = Bench::new();
        let words: Vec<&str> = merge.iter().copied().chain([&*bench.head]).collect();
        bench.git(&words);
        // Whatever came afterwards does not matter.
        bench.write("later.txt", "later\n");
        bench.git(&["add", "-A"]);
        bench.git(&["commit", "-qm", "Later"]);
        let tip = bench.git(&["rev-parse", "main"]);
        let seen = bench.run(&["changeset", "show", &bench.id()]).expect(0);
        seen.says("its commits are in the branch already, by hand");
        assert_eq!(bench.state(), "open");
        let done = bench.decide("approve", &["--json"]).expect(0);
        assert!(done.err.contains("it was merged by hand"), "{}", done.err);
        let brought = match way {
            "merged" => bench.git(&["rev-parse", "main^1"]),
            _ => bench.head.clone(),
        };
        assert_eq!(done.json()["commit"], *brought);
        assert_eq!(bench.git(&["rev-parse", "main"]), tip, "nothing moves");
        assert_eq!(bench.state(), "merged");
        let shown = bench.run(&["changeset", "show", &bench.id(), "--json"]);
        assert_eq!(shown.expect(0).json()["by_hand"], way);
        if way == "merged" {
            bench.decide("undo", &[]).expect(0);
            assert_eq!(bench.read("later.txt"), "later\n");
            assert!(!bench.project.join("made.txt").exists());
        } else {
            bench.decide("undo", &[]).fails(3, "R008").says("revert");
        }
    }
}
