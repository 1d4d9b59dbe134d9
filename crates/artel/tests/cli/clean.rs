//! `artel clean`: removes what nothing needs, and never live or undecided work.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use artel_testkit::{note, run_events};
use artel_types::{BlobHash, BlobRef, EventDraft, NoteAdded, RecordedText, RunId, TraceId};

use crate::support::{House, Tree};

const HOUR: u64 = 3600;

/// Makes a file look as if it was last changed a while ago.
fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(then)
        .unwrap();
}

/// Stores a large value that no event names.
fn orphan(house: &House, bytes: &[u8]) -> PathBuf {
    let journal = house.journal(artel_testkit::system_clock());
    let kept = journal.blobs().put(bytes).unwrap();
    let (shelf, name) = kept.blob.as_str().split_at(2);
    house.state("blobs").join(shelf).join(name)
}

/// Returns a remark whose text is kept as such a value.
fn remark_in(bytes: &[u8]) -> NoteAdded {
    let blob = BlobHash::from_bytes(*blake3::hash(bytes).as_bytes());
    let bytes = bytes.len() as u64;
    let text = RecordedText::Kept(BlobRef { blob, bytes });
    NoteAdded { text }
}

/// Stores a large value and names it in an event.
fn named(house: &House, bytes: &[u8]) -> PathBuf {
    let path = orphan(house, bytes);
    let fact = remark_in(bytes).into();
    house.append([EventDraft {
        fact,
        ..note("talk", "")
    }]);
    path
}

/// Makes the worktree of a run that has recorded this many of its events.
fn worktree(house: &House, seed: u8, events: usize) -> PathBuf {
    let run = RunId::from_random([seed; 16]);
    let drafts = run_events(run, TraceId::from_random([seed; 16]), 1);
    house.append(drafts[..events].to_vec());
    let folder = house.state("worktrees").join(run.to_string());
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() {}\n").unwrap();
    folder
}

fn file(house: &House, name: &str, seconds: u64) -> PathBuf {
    let path = house.workshop.join(name);
    fs::write(&path, "text").unwrap();
    age(&path, seconds);
    path
}

/// Everything that can go, and everything that must stay.
fn filled(house: &House) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let unnamed = orphan(house, b"nobody names this");
    age(&unnamed, 2 * HOUR);
    let named = named(house, b"an event names this");
    age(&named, 2 * HOUR);
    let goes = vec![
        worktree(house, 3, 3),
        unnamed,
        file(house, ".artel/logs/old.log", 31 * 24 * HOUR),
        file(house, ".artel/backups.tmp", 2 * HOUR),
        file(house, ".artel-tmp-1-0", 2 * HOUR),
        file(house, "Inbox/Plans/.artel-tmp-1-1", 2 * HOUR),
    ];
    let stays = vec![
        worktree(house, 5, 2),
        house.state("worktrees").join("not-a-run"),
        orphan(house, b"just written"),
        named,
        file(house, ".artel/logs/young.log", 24 * HOUR),
        file(house, ".artel-tmp-2-0", 60),
        file(house, "Inbox/Requests/old.tmp", 900 * 24 * HOUR),
    ];
    fs::create_dir(&stays[1]).unwrap();
    (goes, stays)
}

#[test]
fn it_removes_what_nothing_needs_and_nothing_else() {
    let house = House::new();
    let (goes, stays) = filled(&house);
    insta::assert_snapshot!(house.ok(["clean", "--yes"]).text(), @r"
        exit 0
        WHAT                   COUNT  SIZE
        finished worktrees     1      13 B
        values no event names  1      17 B
        old logs               1      4 B
        left-overs of crashes  3      12 B
        removed 6 things, 46 B free again
        ");
    for path in goes {
        assert!(!path.exists(), "{} should be gone", path.display());
    }
    for path in stays {
        assert!(path.exists(), "{} should be there", path.display());
    }
    house.ok(["journal", "verify"]);
    assert_eq!(house.ok(["clean", "--yes"]).out, "nothing to clean\n");
}

#[test]
fn a_dry_run_only_shows() {
    let house = House::new();
    filled(&house);
    let before = Tree::of(&house.root());
    house.ok(["clean", "--dry-run"]).says("finished worktrees");
    house.ok(["clean", "--dry-run", "--yes"]);
    let found = house.ok(["clean", "--dry-run", "--json"]).json();
    assert_eq!(found["found"].as_array().unwrap().len(), 6);
    assert_eq!(found["cleaned"]["removed"], 0);
    before.unchanged(&house.root());
}

#[test]
fn without_a_terminal_it_wants_a_yes() {
    let house = House::new();
    filled(&house);
    let before = Tree::of(&house.root());
    let seen = house.artel(["clean"]).run();
    assert!(seen.err.starts_with("error[C006]"), "{seen:?}");
    seen.expect(3);
    house.artel(["clean", "--json"]).run().expect(3);
    before.unchanged(&house.root());
    let cleaned = house.ok(["clean", "--yes", "--json"]).json();
    assert_eq!(cleaned["cleaned"]["removed"], 6);
}

#[test]
fn values_that_archived_events_name_stay() {
    let house = House::new();
    let named = orphan(&house, b"named by a run");
    age(&named, 2 * HOUR);
    let run = RunId::from_random([3; 16]);
    let mut drafts = run_events(run, TraceId::from_random([4; 16]), 1);
    drafts[1].fact = remark_in(b"named by a run").into();
    let journal = house.journal(crate::support::days_ago(100));
    journal
        .append(artel_journal::EventBatch::of(drafts))
        .wait()
        .unwrap();
    drop(journal);
    house.ok(["journal", "prune", "--before", "90d", "--yes"]);
    assert_eq!(house.ok(["clean", "--yes"]).out, "nothing to clean\n");
    assert!(named.exists());
}

#[test]
fn logs_go_when_the_settings_say_so() {
    let house = House::new();
    let log = file(&house, ".artel/logs/a.log", 2 * HOUR);
    house.ok(["clean", "--yes"]);
    assert!(log.exists());
    house.ok(["clean", "--yes", "--set", "clean.logs_after=1h"]);
    assert!(!log.exists());
}

#[test]
fn a_journal_that_cannot_be_read_keeps_everything() {
    let house = House::new();
    let (goes, stays) = filled(&house);
    fs::write(house.journal_file(), "damaged").unwrap();
    house.artel(["clean", "--yes"]).run().expect(1);
    assert!(goes.iter().chain(&stays).all(|path| path.exists()));
}

#[test]
fn links_are_removed_and_not_followed() {
    let house = House::new();
    let precious = house.folder("precious");
    fs::write(precious.join("file"), "mine").unwrap();
    let tree = worktree(&house, 3, 3);
    std::os::unix::fs::symlink(&precious, tree.join("link")).unwrap();
    house.ok(["clean", "--yes"]);
    assert!(!tree.exists());
    assert_eq!(fs::read_to_string(precious.join("file")).unwrap(), "mine");
}
