//! Snapshots, the changes since, and restoring.

use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;

#[test]
fn changes_say_what_was_done() {
    let scene = Scene::committed(&[
        ("a.txt", "1\n2\n3\n"),
        ("gone.txt", "1\n"),
        ("run.sh", "x\n"),
        ("same.txt", "s\n"),
        (".gitignore", "*.log\n"),
    ]);
    scene.write("before.txt", "the person's\n");
    let tree = scene.make();
    let at = |path: &str| tree.files().join(path);
    fs::write(at("a.txt"), "1\nzwei\n3\nvier\n").unwrap();
    fs::remove_file(at("gone.txt")).unwrap();
    fs::set_permissions(at("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(at("same.txt"), "s\n").unwrap();
    fs::write(at("new.bin"), [0u8, 1, 2]).unwrap();
    fs::write(at("out.log"), "noise\n").unwrap();
    symlink("a.txt", at("link")).unwrap();
    let changes = tree.changes(tree.start()).unwrap();
    let shown: Vec<_> = changes
        .iter()
        .map(|c| {
            let lines = c.lines_added.zip(c.lines_removed);
            let path = c.path.to_str().unwrap();
            (path, c.kind, lines, c.bytes, c.is_link, c.is_ignored)
        })
        .collect();
    use RunTreeChangeKind::{Changed, Deleted, Made, Mode};
    let expected = [
        ("a.txt", Changed, Some((2, 1)), 14, false, false),
        ("gone.txt", Deleted, Some((0, 1)), 0, false, false),
        ("link", Made, Some((1, 0)), 5, true, false),
        ("new.bin", Made, None, 3, false, false),
        ("out.log", Made, Some((1, 0)), 6, false, true),
        ("run.sh", Mode, Some((0, 0)), 2, false, false),
    ];
    assert_eq!(shown, expected);
    assert!(changes[3].is_binary());
    let one = tree.diff(tree.start(), &["gone.txt".into()]).unwrap();
    let one = String::from_utf8(one).unwrap();
    assert!(one.contains("-1\n") && !one.contains("zwei"), "{one}");
}

#[test]
fn an_unchanged_tree_starts_no_process_and_keeps_its_fingerprint() {
    let scene = Scene::committed(&[("a.txt", "a\n"), ("d/b.txt", "b\n")]);
    let mut tree = scene.make();
    fs::write(tree.files().join("a.txt"), "changed\n").unwrap();
    let one = tree.snapshot("one").unwrap();
    let print = tree.fingerprint().unwrap();
    // If git cannot be started, every call to it fails.
    let git = std::mem::replace(&mut tree.own.program, "/nonexistent/git".into());
    let two = tree.snapshot("two").unwrap();
    assert_eq!(
        (one.tree(), print),
        (two.tree(), tree.fingerprint().unwrap())
    );
    assert!(tree.restore(&one).unwrap().written.is_empty());
    fs::write(tree.files().join("a.txt"), "CHANGED\n").unwrap();
    assert_ne!(tree.fingerprint().unwrap(), print);
    assert!(tree.snapshot("three").is_err());
    // A failed snapshot is not taken for done.
    tree.own.program = git;
    assert_ne!(tree.snapshot("three").unwrap().tree(), one.tree());
}

#[test]
fn a_change_of_the_same_size_in_the_same_moment_is_seen() {
    let scene = Scene::committed(&[("a.txt", "0000\n")]);
    let tree = scene.make();
    let path = tree.files().join("a.txt");
    let mut last = tree.start().tree().to_owned();
    for number in 1..50 {
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, format!("{number:04}\n")).unwrap();
        // Even with the old time restored.
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap();
        let now = tree.snapshot("again").unwrap();
        assert_ne!(now.tree(), last, "{number}");
        last = now.tree().to_owned();
    }
}

#[test]
fn a_tree_opened_again_goes_on_where_it_was() {
    let scene = Scene::committed(&[
        ("a.txt", "a\n"),
        ("b.txt", "b\n"),
        (".gitignore", "target\n"),
    ]);
    let tree = scene.make_with(&scene.origin(), &[]);
    fs::write(tree.files().join("a.txt"), "good\n").unwrap();
    fs::create_dir(tree.files().join("empty")).unwrap();
    let good = tree.snapshot("good").unwrap();
    drop(tree);
    // Leftovers of a git that was killed while it wrote.
    fs::write(scene.at().join("index.lock"), "").unwrap();
    fs::write(scene.at().join("index"), "DIRC, but cut short").unwrap();
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    fs::remove_file(tree.files().join("b.txt")).unwrap();
    fs::remove_dir(tree.files().join("empty")).unwrap();
    fs::create_dir_all(tree.files().join("target/debug")).unwrap();
    let found = tree.find("good").unwrap();
    assert_eq!(found.tree(), good.tree());
    let restored = tree.restore(&found).unwrap();
    assert_eq!(restored.written, [PathBuf::from("b.txt")]);
    assert_eq!(restored.left, [PathBuf::from("target")]);
    assert!(tree.files().join("empty").is_dir());
    assert_eq!(fs::read(tree.files().join("a.txt")).unwrap(), b"good\n");
    let listed = git_in(
        tree.files(),
        &["for-each-ref", "--format=%(refname) %(objecttype)"],
    );
    assert!(listed.contains("refs/artel/good tree"), "{listed}");
    assert!(matches!(
        tree.find("none"),
        Err(RunTreeError::NoSnapshot { .. })
    ));
    for bad in ["", "../x", "a/b", "-x", "a.lock"] {
        assert!(
            matches!(tree.snapshot(bad), Err(RunTreeError::BadLabel { .. })),
            "{bad}"
        );
    }
    tree.remove().unwrap();
    assert!(!scene.at().exists());
}

#[test]
fn many_files_are_kept_as_faithfully_as_few() {
    let scene = Scene::new();
    for number in 0..150 {
        scene.write(
            &format!("d{}/{number}", number % 7),
            &format!("{number}\r\n"),
        );
    }
    let tree = scene.make();
    let before = files_of(&tree);
    for number in 0..150 {
        let path = tree.files().join(format!("d{}/{number}", number % 7));
        fs::write(path, format!("changed {number}\n")).unwrap();
    }
    assert_eq!(changed(&tree).len(), 150);
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
}

#[test]
fn files_and_folders_that_nobody_may_read_are_kept_and_removed() {
    let scene = Scene::committed(&[("a.txt", "a\n")]);
    let tree = scene.make();
    let before = files_of(&tree);
    let folder = tree.files().join("closed");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("f"), "f").unwrap();
    fs::set_permissions(folder.join("f"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(
        changed(&tree),
        [("closed/f".to_owned(), RunTreeChangeKind::Made)]
    );
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
}

/// Something that a run could do to its files.
#[derive(Debug, Clone)]
enum Deed {
    Write(usize, Vec<u8>),
    Link(usize, usize),
    Folder(usize),
    Remove(usize),
    Run(usize),
    Move(usize, usize),
}

const PLACES: &[&str] = &[
    "a", "b", "d", "d/a", "d/e", "d/e/f", "x", "x/a", "ü\n", "-r",
];

fn deed() -> impl Strategy<Value = Deed> {
    let place = 0..PLACES.len();
    let bytes = proptest::collection::vec(any::<u8>(), 0..8);
    prop_oneof![
        4 => (place.clone(), bytes).prop_map(|(at, bytes)| Deed::Write(at, bytes)),
        1 => (place.clone(), place.clone()).prop_map(|(at, to)| Deed::Link(at, to)),
        1 => place.clone().prop_map(Deed::Folder),
        2 => place.clone().prop_map(Deed::Remove),
        1 => place.clone().prop_map(Deed::Run),
        1 => (place.clone(), place).prop_map(|(at, to)| Deed::Move(at, to)),
    ]
}

/// Does the deed if it is possible, and nothing otherwise.
fn do_deed(files: &Path, deed: &Deed) {
    let at = |place: usize| files.join(PLACES[place]);
    let done = match deed {
        Deed::Write(place, bytes) => {
            let is_link = at(*place).is_symlink();
            if is_link {
                Ok(())
            } else {
                fs::write(at(*place), bytes)
            }
        }
        Deed::Link(place, to) => symlink(PLACES[*to], at(*place)),
        Deed::Folder(place) => fs::create_dir_all(at(*place)),
        Deed::Remove(place) => {
            fs::remove_file(at(*place)).or_else(|_| fs::remove_dir_all(at(*place)))
        }
        Deed::Run(place) => fs::set_permissions(at(*place), fs::Permissions::from_mode(0o755)),
        Deed::Move(place, to) => fs::rename(at(*place), at(*to)),
    };
    drop(done);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn restoring_undoes_whatever_was_done(
        first in proptest::collection::vec(deed(), 0..12),
        second in proptest::collection::vec(deed(), 0..12),
    ) {
        let scene = Scene::committed(&[("a", "a\n"), ("d/e/f", "f\n")]);
        let tree = scene.make();
        let began = files_of(&tree);
        first.iter().for_each(|deed| do_deed(tree.files(), deed));
        let middle = tree.snapshot("middle").unwrap();
        let there = loosely(&tree);
        second.iter().for_each(|deed| do_deed(tree.files(), deed));
        tree.restore(&middle).unwrap();
        prop_assert_eq!(loosely(&tree), there);
        let again = tree.restore(&middle).unwrap();
        prop_assert!(again.written.is_empty() && again.removed.is_empty());
        tree.restore(tree.start()).unwrap();
        prop_assert_eq!(files_of(&tree), began);
        prop_assert!(tree.changes(tree.start()).unwrap().is_empty());
    }
}

/// Returns the files with as much of their modes as a snapshot holds.
fn loosely(tree: &RunTree) -> BTreeMap<PathBuf, String> {
    let mut files = files_of(tree);
    for (path, said) in &mut files {
        let kept = said
            .strip_prefix("file ")
            .map(|rest| rest.split_once(' ').unwrap());
        if let Some((mode, hash)) = kept {
            let is_program = u32::from_str_radix(mode, 8).unwrap() & 0o100 != 0;
            *said = format!("file {is_program} {hash}");
        }
        assert!(!path.as_os_str().is_empty());
    }
    files
}

#[test]
fn what_a_process_that_is_gone_had_not_finished_writing_goes_when_its_tree_is_taken_up() {
    let scene = Scene::committed(&[("a.txt", "1\n"), (".artel-tmp-notes", "mine\n")]);
    let tree = scene.make();
    let unfinished = tree.files().join("deep/.artel-tmp-4417-0a-27");
    fs::create_dir(tree.files().join("deep")).unwrap();
    fs::write(&unfinished, "half of it").unwrap();
    fs::write(tree.files().join("new.txt"), "1\n").unwrap();
    // An agent in the tree cannot hide a file by its name.
    assert_eq!(changed(&tree).len(), 2);
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    tree.clear_unfinished().unwrap();
    assert!(!unfinished.exists());
    assert!(tree.files().join(".artel-tmp-notes").exists());
    assert_eq!(
        changed(&tree),
        [("new.txt".to_owned(), RunTreeChangeKind::Made)]
    );
}
