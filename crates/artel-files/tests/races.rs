//! Another thread swaps folders, links and files while a root is used. However the two meet,
//! nothing outside is read or changed, and what was not acknowledged did not happen.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set up its tree has failed"
)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use artel_files::{FileAccessKind, FileAccessRefusal, RootFolder};
use rustix::fs::{CWD, FileType, RenameFlags};
use tempfile::TempDir;

/// So many times the tree changes, and at least so many operations run meanwhile.
const SWAPS: u32 = 3000;
const OPERATIONS: u32 = 1500;

struct Place {
    dir: TempDir,
    root: RootFolder,
}

impl Place {
    fn new() -> Self {
        // In memory where there is such a place: thousands of writes that reach a disk take minutes.
        let dir = TempDir::new_in("/dev/shm")
            .or_else(|_| TempDir::new())
            .unwrap();
        for folder in ["root/d", "root/.git/hooks", "outside"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for (path, text) in [
            ("root/d/file", "inside"),
            ("root/.git/hooks/file", "hook"),
            ("outside/file", "OUTSIDE"),
            ("outside/victim", "OUTSIDE"),
        ] {
            fs::write(dir.path().join(path), text).unwrap();
        }
        let root = RootFolder::open(&dir.path().join("root")).unwrap();
        Self { dir, root }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn exchange(&self, one: &str, other: &str) {
        let (one, other) = (self.at(one), self.at(other));
        rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }

    /// Changes the tree again and again while `act` runs again and again.
    fn race(&self, mut swap: impl FnMut(&Self) + Send, mut act: impl FnMut(u32)) {
        let (is_over, swaps) = (AtomicBool::new(false), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    swap(self);
                    swaps.fetch_add(1, Ordering::Relaxed);
                }
            });
            let _over = Over(&is_over);
            let mut number = 0;
            let is_enough = |number| number >= OPERATIONS && swaps.load(Ordering::Relaxed) >= SWAPS;
            while !is_enough(number) && !swapper.is_finished() {
                act(number);
                number += 1;
            }
        });
    }

    /// The names in a folder, so that a leftover shows.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(folder)).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// Ends the race, also when an assertion fails.
struct Over<'o>(&'o AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Stands in for policy: nothing in `.git` is written.
fn guard(path: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal> {
    if op != FileAccessKind::Read && path.starts_with(".git") {
        return Err(FileAccessRefusal {
            rule: "never".into(),
            reason: "git metadata".into(),
        });
    }
    Ok(())
}

#[test]
fn a_folder_and_a_link_to_outside() {
    let place = Place::new();
    symlink("../outside", place.at("root/l")).unwrap();
    let mut done = [0_u32; 3];
    place.race(
        |place| place.exchange("root/d", "root/l"),
        |number| {
            if let Ok(bytes) = place.root.read(Path::new("d/file"), 100, &guard) {
                assert_eq!(bytes, b"inside");
                done[0] += 1;
            }
            let text = b"inside";
            let victim = Path::new("d/victim");
            done[1] += u32::from(place.root.write(victim, text, &guard).is_ok());
            done[2] += u32::from(place.root.delete(victim, &guard).is_ok());
            if number % 8 == 0 {
                let made = Path::new("d/made/deep");
                drop(place.root.write(made, text, &guard));
                drop(place.root.delete(made, &guard));
                drop(place.root.delete(Path::new("d/made"), &guard));
            }
        },
    );
    assert_eq!(place.names("outside"), ["file", "victim"]);
    for name in ["file", "victim"] {
        assert_eq!(
            fs::read(place.at("outside").join(name)).unwrap(),
            b"OUTSIDE"
        );
    }
    assert!(
        done.iter().all(|count| *count > 0),
        "the race was never won by us: {done:?}"
    );
    assert!(
        place
            .names("root")
            .iter()
            .all(|name| !name.starts_with(".artel-tmp"))
    );
}

#[test]
fn a_folder_and_a_link_to_protected_names() {
    let place = Place::new();
    symlink(".git/hooks", place.at("root/l")).unwrap();
    place.race(
        |place| place.exchange("root/d", "root/l"),
        |number| {
            drop(place.root.write(Path::new("d/file"), b"inside", &guard));
            let hook = Path::new("d/pre-commit");
            drop(place.root.write(hook, b"inside", &guard));
            if number % 2 == 0 {
                drop(place.root.delete(Path::new("d/file"), &guard));
            }
        },
    );
    assert_eq!(place.names("root/.git/hooks"), ["file"]);
    assert_eq!(fs::read(place.at("root/.git/hooks/file")).unwrap(), b"hook");
}

#[test]
fn a_file_and_a_link_to_outside() {
    let place = Place::new();
    symlink("../outside/file", place.at("root/l")).unwrap();
    fs::write(place.at("root/f"), "inside").unwrap();
    place.race(
        |place| place.exchange("root/f", "root/l"),
        |_| {
            if let Ok(bytes) = place.root.read(Path::new("f"), 100, &guard) {
                assert_eq!(bytes, b"inside");
            }
            drop(place.root.write(Path::new("f"), b"inside", &guard));
        },
    );
    assert_eq!(fs::read(place.at("outside/file")).unwrap(), b"OUTSIDE");
    assert_eq!(place.names("root").len(), 4);
}

#[test]
fn a_file_and_a_pipe() {
    let place = Place::new();
    fs::write(place.at("root/f"), "inside").unwrap();
    let pipe = place.at("root/p");
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, 0o644.into(), 0).unwrap();
    place.race(
        |place| place.exchange("root/f", "root/p"),
        |_| {
            // Opening a pipe that nobody writes to would wait for ever; the end of the test is
            // the proof that nothing does.
            if let Ok(bytes) = place.root.read(Path::new("f"), 100, &guard) {
                assert_eq!(bytes, b"inside");
            }
            drop(place.root.write(Path::new("f"), b"inside", &guard));
        },
    );
    assert_eq!(place.names("root"), [".git", "d", "f", "p"]);
}

#[test]
fn a_folder_carried_out_and_back() {
    let place = Place::new();
    let mut last = b"inside".to_vec();
    place.race(
        |place| {
            place.exchange("root/d", "outside/file");
            place.exchange("root/d", "outside/file");
        },
        |number| {
            let text = format!("version {number}").into_bytes();
            if place.root.write(Path::new("d/file"), &text, &guard).is_ok() {
                last = text;
            }
        },
    );
    // What was refused was taken back, even where it had happened for a moment.
    assert_eq!(fs::read(place.at("root/d/file")).unwrap(), last);
    assert_eq!(place.names("root/d"), ["file"]);
}

#[test]
fn a_link_above_and_the_root_itself() {
    let place = Place::new();
    fs::create_dir_all(place.at("root/a/b")).unwrap();
    fs::write(place.at("root/a/b/file"), "inside").unwrap();
    fs::create_dir_all(place.at("outside/b")).unwrap();
    fs::write(place.at("outside/b/file"), "OUTSIDE").unwrap();
    symlink(place.at("outside"), place.at("root/l")).unwrap();
    symlink(place.at("outside"), place.at("decoy")).unwrap();
    let inside = place.at("root/a/../a/b/file");
    place.race(
        |place| {
            place.exchange("root/a", "root/l");
            place.exchange("root", "decoy");
            place.exchange("root", "decoy");
        },
        |_| {
            for path in [Path::new("a/b/file"), Path::new("a/b/../b/file"), &inside] {
                if let Ok(bytes) = place.root.read(path, 100, &guard) {
                    assert_eq!(bytes, b"inside");
                }
                drop(place.root.write(path, b"inside", &guard));
            }
        },
    );
    assert_eq!(fs::read(place.at("outside/b/file")).unwrap(), b"OUTSIDE");
    assert_eq!(place.names("outside/b"), ["file"]);
}
