//! Tests with stories of files: what somebody does to a file, and when it is taken.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// An action on a file; sizes are in bytes.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// Appends this many bytes in place.
    Write(u64),
    /// Writes the same content again.
    Touch,
    /// Renames a file of this size into place.
    Move(u64),
    Remove,
    /// Appends this many bytes without a notification.
    Unheard(u64),
}

/// The name of the story, the actions with their times in milliseconds, and the expected
/// conclusions.
type Story = (&'static str, &'static [(u64, Act)], &'static [Said]);

/// When a conclusion was reached, which one, and the size of the file then.
type Said = (u64, &'static str, u64);

/// A folder that actions happen to, watched from one event to the next.
#[derive(Default)]
struct World {
    settle: FileStabilityTracker,
    files: BTreeMap<PathBuf, WatchedFileFingerprint>,
    said: Vec<Said>,
    looks: usize,
}

impl World {
    fn act(&mut self, path: &Path, act: Act, at: u64) {
        let now = Duration::from_millis(at);
        let known = self.files.get(path).copied();
        let print = |size: u64| WatchedFileFingerprint {
            size,
            modified: i128::from(at),
            hash: [size as u8; 32],
        };
        let grown = known.map_or(0, |it| it.size);
        let (left, what) = match act {
            Act::Write(more) => (Some(print(grown + more)), Some(WatchedFileEvent::Changed)),
            Act::Touch => (Some(print(grown)), Some(WatchedFileEvent::Changed)),
            Act::Move(size) => (Some(print(size)), Some(WatchedFileEvent::MovedIn)),
            Act::Remove => (None, Some(WatchedFileEvent::Gone)),
            Act::Unheard(more) => (Some(print(grown + more)), None),
        };
        match left {
            Some(print) => self.files.insert(path.to_owned(), print),
            None => self.files.remove(path),
        };
        if let Some(what) = what {
            self.settle.happened(path, what, now);
        }
    }

    /// Looks at everything that is due until then.
    fn until(&mut self, end: u64) {
        let end = Duration::from_millis(end);
        while let Some(now) = self.settle.next().filter(|at| *at <= end) {
            for path in self.settle.due(now, usize::MAX) {
                self.looks += 1;
                let print = self.files.get(&path).copied();
                let size = print.map_or(0, |it| it.size);
                let at = now.as_millis() as u64;
                match self.settle.seen(&path, print, now) {
                    FileStability::Settled => self.said.push((at, "settled", size)),
                    FileStability::Gone => self.said.push((at, "gone", 0)),
                    FileStability::Unstable => self.said.push((at, "unstable", size)),
                    FileStability::NotYet => {}
                }
            }
        }
    }
}

fn told(acts: &[(u64, Act)]) -> World {
    let mut world = World::default();
    for (at, act) in acts {
        world.until(*at - 1);
        world.act(Path::new("a.md"), *act, *at);
    }
    world.until(10_000_000);
    world
}

#[test]
fn stories_of_one_file() {
    use Act::{Move, Remove, Touch, Unheard, Write};
    let table: &[Story] = &[
        (
            "renamed into place",
            &[(100, Move(5))],
            &[(300, "settled", 5)],
        ),
        (
            "written at once",
            &[(100, Write(5))],
            &[(1300, "settled", 5)],
        ),
        (
            "saved twice by a rename",
            &[(100, Move(5)), (250, Move(6))],
            &[(450, "settled", 6)],
        ),
        (
            "made and removed",
            &[(100, Write(5)), (150, Remove)],
            &[(350, "gone", 0)],
        ),
        (
            "removed before the second look",
            &[(100, Write(5)), (900, Remove)],
            &[(1100, "gone", 0)],
        ),
        (
            "removed and made again",
            &[(100, Move(5)), (150, Remove), (180, Write(3))],
            &[(1380, "settled", 3)],
        ),
        (
            "a rename over a file that is being written",
            &[(100, Write(5)), (600, Write(5)), (700, Move(9))],
            &[(900, "settled", 9)],
        ),
        (
            "written to after it was renamed into place",
            &[(100, Move(5)), (200, Write(5))],
            &[(1400, "settled", 10)],
        ),
        (
            "changed without a notification",
            &[(100, Write(5)), (800, Unheard(2))],
            &[(3300, "settled", 7)],
        ),
        (
            "changed again later",
            &[(100, Move(5)), (5000, Touch)],
            &[(300, "settled", 5), (6200, "settled", 5)],
        ),
    ];
    for (name, acts, expected) in table {
        assert_eq!(told(acts).said, *expected, "{name}");
    }
}

#[test]
fn ten_touches_in_a_second_are_one() {
    let acts: Vec<_> = (1..=10).map(|it| (it * 100, Act::Touch)).collect();
    let world = told(&acts);
    assert_eq!(world.said, [(2200, "settled", 0)]);
    assert_eq!(world.looks, 2);
}

#[test]
fn chunks_for_ten_seconds_are_one_file_and_few_looks() {
    let acts: Vec<_> = (1..=20).map(|it| (it * 500, Act::Write(500_000))).collect();
    let world = told(&acts);
    assert_eq!(world.said.len(), 1, "{:?}", world.said);
    let (at, what, size) = world.said[0];
    assert_eq!((what, size), ("settled", 10_000_000));
    assert!((11_000..16_000).contains(&at), "{at}");
    assert!(world.looks <= 8, "{}", world.looks);
}

#[test]
fn what_never_rests_is_given_up_once_and_taken_when_it_rests() {
    let acts: Vec<_> = (1..=1000).map(|it| (it * 500, Act::Write(1))).collect();
    let world = told(&acts);
    let words: Vec<_> = world.said.iter().map(|(_, what, _)| *what).collect();
    assert_eq!(words, ["unstable", "settled"]);
    assert_eq!(world.said[1].2, 1000, "the whole of it");
    // Once ignored, it stays ignored until its next event.
    let mut world = World::default();
    world.act(Path::new("a.md"), Act::Write(1), 1);
    for at in (1..2000).map(|it| it * 900) {
        world.act(Path::new("a.md"), Act::Unheard(1), at);
        world.until(at);
    }
    assert_eq!(world.said.len(), 1);
    assert_eq!(world.said[0].1, "unstable");
    assert!(world.settle.is_empty());
    world.act(Path::new("a.md"), Act::Write(1), 3_000_000);
    world.until(4_000_000);
    assert_eq!(world.said[1].1, "settled");
}

#[test]
fn what_waited_longest_is_looked_at_first() {
    let mut settle = FileStabilityTracker::default();
    for (at, name) in ["c", "a", "b"].into_iter().enumerate() {
        let now = Duration::from_millis(at as u64);
        settle.happened(Path::new(name), WatchedFileEvent::MovedIn, now);
    }
    let due = settle.due(Duration::from_millis(201), 2);
    assert_eq!(due, [PathBuf::from("c"), PathBuf::from("a")]);
    assert_eq!(settle.due(Duration::from_millis(199), 2).len(), 0);
    assert_eq!(settle.next(), Some(QUIET));
    assert_eq!(settle.len(), 3);
}

fn acts() -> impl Strategy<Value = Vec<(u64, usize, Act)>> {
    let act = prop_oneof![
        4 => (1..50_u64).prop_map(Act::Write),
        1 => Just(Act::Touch),
        2 => (1..50_u64).prop_map(Act::Move),
        1 => Just(Act::Remove),
    ];
    prop::collection::vec((1..3_000_u64, 0..3_usize, act), 1..60)
}

proptest! {
    /// Whatever happens to files, in the end each existing one was taken in its final
    /// form, after everything that happened to it, and none is left to be looked at.
    #[test]
    fn in_the_end_each_file_was_taken_as_it_is(acts in acts()) {
        let names = ["a.md", "b.md", "c.md"];
        for name in names {
            // Files do not influence each other, so each has its own world.
            let mut world = World::default();
            let (mut at, mut last) = (0, None);
            for (after, which, act) in &acts {
                at += after;
                if names[*which] == name {
                    world.until(at - 1);
                    world.act(Path::new(name), *act, at);
                    last = Some(at);
                }
            }
            world.until(at + 1_000_000);
            prop_assert!(world.settle.is_empty());
            let Some(last) = last else { continue };
            let there = world.files.get(Path::new(name)).map(|it| it.size);
            let (when, what, size) = *world.said.last().unwrap();
            prop_assert!(when >= last + 200);
            prop_assert_eq!(what, if there.is_some() { "settled" } else { "gone" });
            prop_assert_eq!(size, there.unwrap_or(0));
            let after = world.said.iter().filter(|(when, ..)| *when > last);
            prop_assert_eq!(after.count(), 1, "it is said once");
        }
    }
}
