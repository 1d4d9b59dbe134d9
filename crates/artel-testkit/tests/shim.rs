//! The shim itself: every action does what it says, and nothing else is touched.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use artel_testkit::shim::{Action, Counts, Cut, Fault, Op, build};
use tempfile::TempDir;

const SIGKILL: i32 = 9;
const ENOSPC: &str = "failed 28";
const EDQUOT: &str = "failed 122";
const EIO: &str = "failed 5";
const EROFS: &str = "failed 30";
const SHORTENED: &str = "failed -1";

/// A folder in which a child plays; only its subfolder `watched` counts.
struct Stage {
    folder: TempDir,
}

/// How a child fared.
struct Ended {
    lines: Vec<String>,
    signal: Option<i32>,
    counts: Counts,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("watched")).unwrap();
        Self { folder }
    }

    /// Runs the steps inside the watched folder, so that plain names count.
    fn play(&self, fault: impl FnOnce(Fault) -> Fault, steps: &[&str]) -> Ended {
        let log = self.folder.path().join("counts");
        let fault = fault(Fault::on("/watched")).count_into(&log);
        #[expect(clippy::disallowed_methods, reason = "the child is the test's own")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_shim_child"));
        command
            .args(steps)
            .current_dir(self.folder.path().join("watched"));
        fault.arm(&mut command);
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        Ended {
            lines: lines.lines().map(str::to_owned).collect(),
            signal: output.status.signal(),
            counts: Counts::read(log),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("watched").join(name)
    }

    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.file(name)).ok()
    }
}

fn unharmed(fault: Fault) -> Fault {
    fault
}

#[test]
fn every_kind_of_operation_is_counted() {
    let stage = Stage::new();
    let ended = stage.play(
        unharmed,
        &[
            "write a one",      // open, write
            "put a 1 two",      // open, write
            "gather b one two", // open, write
            "clone c one",      // open, write
            "sync a",           // open, sync
            "datasync a",       // open, sync
            "truncate a 1",     // open, truncate
            "rename a d",       // rename
            "link d e",         // link
            "mkdir f",          // mkdir
            "remove e",         // unlink
            "read d",           // open
            "write ../elsewhere one",
        ],
    );
    assert_eq!(ended.lines, ["ok"; 13]);
    assert_eq!(ended.signal, None);
    let expected = [
        (Op::Open, 8),
        (Op::Write, 4),
        (Op::Sync, 2),
        (Op::Truncate, 1),
        (Op::Rename, 1),
        (Op::Link, 1),
        (Op::Mkdir, 1),
        (Op::Unlink, 1),
    ];
    // `../elsewhere` is spelt through the watched folder, so its opening counts; the file it leads
    // to lies outside, so the write does not.
    let counted = expected.map(|(op, _)| (op, ended.counts.of(op)));
    assert_eq!(
        counted,
        expected.map(|(op, n)| (op, n + u64::from(op == Op::Open)))
    );
    assert_eq!(ended.counts.of(Op::Any), 20);
    assert_eq!(ended.counts.fired(), 0);
    assert!(ended.counts.steps[1].path.ends_with("watched/a"));
}

#[test]
fn a_copy_inside_the_kernel_is_counted_as_writes() {
    let stage = Stage::new();
    let ended = stage.play(unharmed, &["write a one", "copy a b"]);
    assert_eq!(ended.lines, ["ok"; 2]);
    assert_eq!(ended.counts.of(Op::Write), 2);
    assert_eq!(stage.text("b").as_deref(), Some("one"));
}

#[test]
fn kills_fall_before_or_after_the_chosen_operation() {
    for (action, at_second_write, at_rename) in [
        (Action::KillBefore, "one", false),
        (Action::KillAfter, "onetwo", true),
    ] {
        let stage = Stage::new();
        let steps = ["write a one", "append a two", "rename a b", "write c three"];
        let ended = stage.play(|fault| fault.nth(Op::Write, 2, action), &steps);
        assert_eq!(
            (ended.signal, ended.lines.len()),
            (Some(SIGKILL), 1),
            "{action}"
        );
        assert_eq!(
            stage.text("a").as_deref(),
            Some(at_second_write),
            "{action}"
        );
        assert_eq!(
            ended.counts.steps.last().unwrap().fault,
            Some(action.to_string())
        );

        let stage = Stage::new();
        let ended = stage.play(|fault| fault.nth(Op::Rename, 1, action), &steps);
        assert_eq!(
            (ended.signal, ended.lines.len()),
            (Some(SIGKILL), 2),
            "{action}"
        );
        assert_eq!(stage.file("b").exists(), at_rename, "{action}");
    }
}

#[test]
fn a_sweep_kills_at_every_operation_there_is() {
    let steps = ["write a one", "sync a", "rename a b", "mkdir c"];
    let all = Stage::new().play(unharmed, &steps).counts.of(Op::Any);
    assert_eq!(all, 6);
    for nth in 1..=all {
        let ended = Stage::new().play(|fault| fault.nth(Op::Any, nth, Action::KillBefore), &steps);
        assert_eq!(
            (ended.signal, ended.counts.of(Op::Any)),
            (Some(SIGKILL), nth)
        );
    }
    let past = Stage::new().play(
        |fault| fault.nth(Op::Any, all + 1, Action::KillBefore),
        &steps,
    );
    assert_eq!((past.signal, past.counts.fired()), (None, 0));
}

#[test]
fn errors_are_returned_once_and_nothing_is_written() {
    for (action, word) in [
        (Action::NoSpace, ENOSPC),
        (Action::Quota, EDQUOT),
        (Action::Io, EIO),
        (Action::ReadOnly, EROFS),
    ] {
        let stage = Stage::new();
        let steps = ["write a one", "append a two", "append a three"];
        let ended = stage.play(|fault| fault.nth(Op::Write, 2, action), &steps);
        assert_eq!(ended.lines, ["ok", word, "ok"]);
        assert_eq!(stage.text("a").as_deref(), Some("onethree"));
        assert_eq!((ended.signal, ended.counts.fired()), (None, 1));

        let steps = ["write a one", "sync a", "sync a"];
        let ended = Stage::new().play(|fault| fault.nth(Op::Sync, 1, action), &steps);
        assert_eq!(ended.lines, ["ok", word, "ok"]);
    }
}

#[test]
fn a_full_disk_stays_full_until_there_is_room() {
    let stage = Stage::new();
    let off = stage.folder.path().join("room");
    let room = format!("write {} x", off.display());
    let ended = stage.play(
        |fault| {
            fault
                .from_nth(Op::Any, 3, Action::NoSpace)
                .until_exists(&off)
        },
        &[
            "write a one",
            "append a two",
            "read a",
            "write b one",
            "remove a",
            &room,
            "write b one",
        ],
    );
    // Reading and removing work on a full disk.
    assert_eq!(ended.lines, ["ok", ENOSPC, "ok", ENOSPC, "ok", "ok", "ok"]);
    assert_eq!(stage.text("b").as_deref(), Some("one"));
}

#[test]
fn a_read_only_disk_can_be_read() {
    let stage = Stage::new();
    let ended = stage.play(
        |fault| fault.from_nth(Op::Any, 3, Action::ReadOnly),
        &[
            "write a one",
            "read a",
            "append a two",
            "rename a b",
            "remove a",
            "mkdir c",
            "sync a",
        ],
    );
    assert_eq!(ended.lines, ["ok", "ok", EROFS, EROFS, EROFS, EROFS, "ok"]);
}

#[test]
fn torn_and_short_writes_keep_the_first_half() {
    let stage = Stage::new();
    let ended = stage.play(
        |fault| fault.nth(Op::Write, 1, Action::Torn),
        &["write a abcdef"],
    );
    assert_eq!(
        (ended.signal, stage.text("a").as_deref()),
        (Some(SIGKILL), Some("abc"))
    );

    let stage = Stage::new();
    let ended = stage.play(
        |fault| fault.nth(Op::Write, 1, Action::Short),
        &["once a abcdef"],
    );
    assert_eq!(
        (ended.lines[0].as_str(), stage.text("a").as_deref()),
        (SHORTENED, Some("abc"))
    );

    // Who goes on after a short write loses nothing, however often it happens.
    let stage = Stage::new();
    let steps = ["write a abcdef", "put a 6 ghijkl"];
    let ended = stage.play(|fault| fault.from_nth(Op::Any, 1, Action::Short), &steps);
    assert_eq!(ended.lines, ["ok", "ok"]);
    assert_eq!(stage.text("a").as_deref(), Some("abcdefghijkl"));
}

#[test]
fn programs_that_the_child_starts_are_left_alone() {
    let stage = Stage::new();
    let path = stage.file("made-by-grandchild");
    let step = format!("start touch {}", path.display());
    let ended = stage.play(|fault| fault.from_nth(Op::Any, 1, Action::Io), &[&step]);
    assert_eq!(
        (ended.lines, ended.counts.of(Op::Any)),
        (vec!["ok".to_owned()], 0)
    );
    assert!(path.exists());
}

#[test]
fn a_fault_that_makes_no_sense_stops_the_child() {
    for wrong in [
        "write",
        "write:0:eio",
        "wrote:1:eio",
        "write:1:explode",
        "write:1:power-cut",
    ] {
        #[expect(clippy::disallowed_methods, reason = "the child is the test's own")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_shim_child"));
        command
            .env("LD_PRELOAD", build())
            .env("ARTEL_FAULT_PATH", "x")
            .env("ARTEL_FAULT", wrong);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(98), "{wrong}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(wrong));
    }
}

/// Plays the same steps under many seeds and returns each ending of the file with its cut.
fn endings(name: &str, op: Op, nth: u64, steps: &[&str]) -> Vec<(Option<String>, Cut)> {
    let play = |seed| {
        let stage = Stage::new();
        let ended = stage.play(|fault| fault.nth(op, nth, Action::PowerCut { seed }), steps);
        assert_eq!(ended.signal, Some(SIGKILL), "{:?}", ended.lines);
        (stage.text(name), ended.counts.cut.unwrap())
    };
    let all: Vec<_> = (0..200).map(play).collect();
    assert_eq!(
        all[..5],
        (0..5).map(play).collect::<Vec<_>>(),
        "a seed decides everything"
    );
    all
}

fn texts(endings: &[(Option<String>, Cut)]) -> BTreeSet<&str> {
    endings
        .iter()
        .map(|(text, _)| text.as_deref().unwrap_or("gone"))
        .collect()
}

#[test]
fn a_power_cut_keeps_what_was_synced_and_gambles_with_the_rest() {
    // When the power goes, `base` is durable and the two later writes are not.
    let steps = [
        "write a base",
        "sync a",
        "append a XY",
        "put a 0 ZZ",
        "rename a b",
    ];
    let seen = endings("a", Op::Rename, 1, &steps);
    let expected = BTreeSet::from([
        "base",   // both lost
        "baseX",  // one torn, one lost
        "baseXY", // one kept, one lost
        "Zase",   // lost, torn
        "ZaseX",  // torn, torn
        "ZaseXY", // kept, torn
        "ZZse",   // lost, kept: reordered
        "ZZseX",  // torn, kept
        "ZZseXY", // both kept
    ]);
    assert_eq!(texts(&seen), expected);
    assert!(
        seen.iter()
            .all(|(_, cut)| cut.kept + cut.dropped + cut.torn == 2)
    );
}

#[test]
fn a_power_cut_after_the_sync_loses_nothing() {
    let steps = [
        "write a base",
        "append a XY",
        "datasync a",
        "rename a b",
        "mkdir c",
    ];
    let seen = endings("b", Op::Mkdir, 1, &steps);
    assert_eq!(texts(&seen), BTreeSet::from(["baseXY"]));
    assert!(seen.iter().all(|(_, cut)| *cut == Cut::default()));
}

#[test]
fn a_file_renamed_before_it_was_synced_may_come_out_empty() {
    let steps = [
        "write a old",
        "sync a",
        "write t new",
        "rename t a",
        "mkdir c",
    ];
    assert_eq!(
        texts(&endings("a", Op::Mkdir, 1, &steps)),
        BTreeSet::from(["", "n", "ne", "new"])
    );
}

#[test]
fn an_unsynced_shortening_may_not_have_happened() {
    let truncated = ["write a abcdef", "sync a", "truncate a 2", "mkdir c"];
    let seen = endings("a", Op::Mkdir, 1, &truncated);
    assert_eq!(texts(&seen), BTreeSet::from(["ab", "abcdef"]));

    let overwritten = ["write a abc", "sync a", "write a XYZ", "mkdir c"];
    let seen = endings("a", Op::Mkdir, 1, &overwritten);
    let expected = ["", "X", "XY", "XYZ", "Xbc", "XYc", "abc"];
    assert_eq!(texts(&seen), BTreeSet::from(expected));
}

#[test]
fn the_write_at_which_the_power_goes_is_in_flight() {
    let steps = ["write a base", "sync a", "append a XY", "append a lost"];
    let seen = endings("a", Op::Write, 2, &steps);
    assert_eq!(texts(&seen), BTreeSet::from(["base", "baseX", "baseXY"]));
}

/// Cuts the power at every operation of a child that inserts rows, and counts the cuts after which
/// a committed row was gone or the database damaged.
fn database_losses(synchronous: &str) -> u64 {
    let step = format!("rows db {synchronous} 6");
    let all = Stage::new().play(unharmed, &[&step]).counts.of(Op::Any);
    assert!(all > 40, "SQLite passes through the shim: {all}");
    let cuts = (1..=all).flat_map(|nth| [(nth, 2 * nth), (nth, 2 * nth + 1)]);
    let is_lost = |&(nth, seed): &(u64, u64)| {
        let stage = Stage::new();
        let ended = stage.play(
            |fault| fault.nth(Op::Any, nth, Action::PowerCut { seed }),
            &[&step],
        );
        assert_eq!(ended.signal, Some(SIGKILL));
        let committed = ended.lines.iter().filter(|line| *line == "row").count();
        rows_in(&stage.file("db")).is_none_or(|rows| rows < committed)
    };
    cuts.filter(is_lost).count() as u64
}

/// Returns how many rows an intact database holds.
fn rows_in(file: &Path) -> Option<usize> {
    let database = rusqlite::Connection::open(file).ok()?;
    let ask = |question| {
        database
            .query_row(question, [], |row| row.get::<_, String>(0))
            .ok()
    };
    let intact = ask("PRAGMA integrity_check").is_some_and(|answer| answer == "ok");
    let tables = ask("SELECT count(*) || '' FROM sqlite_schema");
    match (intact, tables.as_deref()) {
        (true, Some("0")) => Some(0),
        (true, Some(_)) => ask("SELECT count(*) || '' FROM rows")?.parse().ok(),
        _ => None,
    }
}

#[test]
fn sqlite_keeps_its_promise_through_power_cuts_and_breaks_where_it_promises_nothing() {
    assert_eq!(database_losses("full"), 0);
    assert!(
        database_losses("off") > 10,
        "the model is harsh enough to show a missing sync"
    );
}
