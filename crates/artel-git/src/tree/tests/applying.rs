//! Putting in place: refused by name, all or nothing, completed after a kill.

use std::os::unix::fs::symlink;

use super::super::placing::{PlacementFaultInjector, Then};
use super::*;

const BEGAN: &[(&str, &str)] = &[
    ("changed.txt", "old\n"),
    ("deleted.txt", "old\n"),
    ("folder/only.txt", "old\n"),
    ("program.sh", "old\n"),
    ("turns/into-file.txt", "old\n"),
    ("turns-folder", "old\n"),
    ("untouched.txt", "old\n"),
];

/// Returns a person's folder, and a run that made every kind of change.
fn busy() -> (Scene, RunTree) {
    let scene = Scene::committed(BEGAN);
    scene.write("draft.txt", "uncommitted\n");
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(scene.origin().join("changed.txt"), mode).unwrap();
    let tree = scene.make();
    let at = |path: &str| tree.files().join(path);
    fs::write(at("changed.txt"), "new\n").unwrap();
    fs::write(at("draft.txt"), "new\n").unwrap();
    fs::remove_file(at("deleted.txt")).unwrap();
    fs::remove_dir_all(at("folder")).unwrap();
    fs::set_permissions(at("program.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(at("new/deep")).unwrap();
    fs::write(at("new/deep/file.txt"), "new\n").unwrap();
    symlink("file.txt", at("new/deep/link")).unwrap();
    fs::remove_dir_all(at("turns")).unwrap();
    fs::write(at("turns"), "a file now\n").unwrap();
    fs::remove_file(at("turns-folder")).unwrap();
    fs::create_dir(at("turns-folder")).unwrap();
    fs::write(at("turns-folder/in.txt"), "in\n").unwrap();
    (scene, tree)
}

/// Returns everything of the person's except git's own files.
fn origin_files(scene: &Scene) -> BTreeMap<PathBuf, String> {
    let mut state = state(&scene.origin());
    state.retain(|path, _| !path.starts_with(".git"));
    state
}

/// Returns the expected files of the person's folder: the run's files with the person's
/// modes.
fn expected_after(tree: &RunTree) -> BTreeMap<PathBuf, String> {
    let mut files = files_of(tree);
    let hash = blake3::hash(b"new\n");
    files.insert("changed.txt".into(), format!("file 640 {hash}"));
    files
}

fn nobody(_: &Path) -> bool {
    false
}

#[test]
fn everything_a_run_did_is_put_in_place_and_nothing_else() {
    let (scene, tree) = busy();
    let applied = tree.put_in_place(None, &nobody).unwrap();
    assert_eq!(origin_files(&scene), expected_after(&tree));
    let mut deleted = applied.deleted.clone();
    deleted.sort();
    let gone = [
        "deleted.txt",
        "folder/only.txt",
        "turns/into-file.txt",
        "turns-folder",
    ];
    let mut gone = gone.map(PathBuf::from);
    gone.sort();
    assert_eq!(deleted, gone);
    assert_eq!(applied.written.len(), 7);
    let again = tree.put_in_place(None, &nobody).unwrap();
    assert!(again.written.is_empty() && again.deleted.is_empty());
    assert_eq!(again.already.len(), 11);
}

#[test]
fn only_what_was_asked_for_is_put_in_place() {
    let (scene, tree) = busy();
    let before = origin_files(&scene);
    let unknown = tree.put_in_place(Some(&["untouched.txt".into()]), &nobody);
    assert!(matches!(unknown, Err(RunTreeApplyError::Unchanged { .. })));
    let refused = tree.put_in_place(None, &|path| path.starts_with("new"));
    let Err(RunTreeApplyError::Protected { paths }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(
        paths,
        ["new/deep/file.txt", "new/deep/link"].map(PathBuf::from)
    );
    assert_eq!(origin_files(&scene), before);
    let paths = ["draft.txt".into(), "deleted.txt".into()];
    tree.put_in_place(Some(&paths), &nobody).unwrap();
    let mut expected = before;
    expected.remove(Path::new("deleted.txt"));
    let hash = blake3::hash(b"new\n");
    expected.insert("draft.txt".into(), format!("file 644 {hash}"));
    assert_eq!(origin_files(&scene), expected);
}

#[test]
fn ignored_files_are_put_in_place_only_by_name() {
    let scene = Scene::committed(&[(".gitignore", "*.log\n")]);
    let tree = scene.make();
    fs::write(tree.files().join("out.log"), "x").unwrap();
    assert!(tree.put_in_place(None, &nobody).unwrap().written.is_empty());
    tree.put_in_place(Some(&["out.log".into()]), &nobody)
        .unwrap();
    assert!(scene.origin().join("out.log").exists());
}

#[test]
fn large_files_are_compared_by_their_hash() {
    for format in ["sha1", "sha256"] {
        let scene = Scene::new();
        let format = format!("--object-format={format}");
        scene.git(&["init", "-q", "-b", "main", &format]);
        let large = |end: &str| format!("{}{end}", "x".repeat(2 << 20));
        for name in ["kept.bin", "theirs.bin"] {
            scene.write(name, &large("old"));
        }
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "-m", "first"]);
        let tree = scene.make();
        for name in ["kept.bin", "theirs.bin", "made.bin"] {
            fs::write(tree.files().join(name), large("new")).unwrap();
        }
        // The same size as what the run began with, but other bytes.
        scene.write("theirs.bin", &large("own"));
        let said = tree.put_in_place(None, &nobody);
        let Err(RunTreeApplyError::Touched { paths }) = said else {
            panic!("{format}: {said:?}");
        };
        assert_eq!(paths, [PathBuf::from("theirs.bin")], "{format}");
        scene.write("theirs.bin", &large("old"));
        scene.write("made.bin", &large("new"));
        let applied = tree.put_in_place(None, &nobody).unwrap();
        let written = ["kept.bin", "theirs.bin"].map(PathBuf::from);
        assert_eq!(applied.written, written, "{format}");
        assert_eq!(applied.already, [PathBuf::from("made.bin")], "{format}");
    }
}

#[test]
fn what_the_person_touched_is_refused_by_name_and_nothing_is_written() {
    let outside = TempDir::new().unwrap();
    let away = outside.path().to_owned();
    type Touch<'t> = &'t dyn Fn(&Path);
    let cases: &[(&str, Touch)] = &[
        ("changed.txt", &|o| {
            fs::write(o.join("changed.txt"), "mine\n").unwrap()
        }),
        ("changed.txt", &|o| {
            fs::remove_file(o.join("changed.txt")).unwrap()
        }),
        ("draft.txt", &|o| {
            fs::write(o.join("draft.txt"), "").unwrap()
        }),
        ("deleted.txt", &|o| {
            fs::write(o.join("deleted.txt"), "mine\n").unwrap()
        }),
        ("new/deep/file.txt", &|o| {
            fs::create_dir_all(o.join("new/deep")).unwrap();
            fs::write(o.join("new/deep/file.txt"), "mine\n").unwrap();
        }),
        ("new/deep/file.txt", &|o| {
            fs::create_dir_all(o.join("new/deep/file.txt/x")).unwrap()
        }),
        ("new/deep/link", &|o| {
            fs::create_dir_all(o.join("new/deep")).unwrap();
            symlink("elsewhere", o.join("new/deep/link")).unwrap();
        }),
        ("changed.txt", &|o| {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(o.join("changed.txt"), mode).unwrap();
        }),
        ("changed.txt", &|o| {
            fs::remove_file(o.join("changed.txt")).unwrap();
            symlink("untouched.txt", o.join("changed.txt")).unwrap();
        }),
        ("changed.txt", &|o| {
            fs::remove_file(o.join("changed.txt")).unwrap();
            fs::create_dir(o.join("changed.txt")).unwrap();
        }),
        // A folder on the path became a link that leads outside.
        ("new/deep/file.txt", &|o| {
            symlink(&away, o.join("new")).unwrap()
        }),
        ("folder/only.txt", &|o| {
            fs::rename(o.join("folder"), away.join("folder")).unwrap();
            symlink(away.join("folder"), o.join("folder")).unwrap();
        }),
        ("turns", &|o| {
            fs::write(o.join("turns/mine.txt"), "mine\n").unwrap()
        }),
    ];
    for (number, (name, touch)) in cases.iter().enumerate() {
        let (scene, tree) = busy();
        touch(&scene.origin());
        let before = origin_files(&scene);
        let there = state(&away);
        let said = tree.put_in_place(None, &nobody);
        let Err(RunTreeApplyError::Touched { paths }) = said else {
            panic!("case {number}: {said:?}");
        };
        assert!(
            paths.contains(&PathBuf::from(name)),
            "case {number}: {paths:?}"
        );
        assert_eq!(origin_files(&scene), before, "case {number}");
        assert_eq!(state(&away), there, "case {number}");
        assert!(!scene.at().join("plan").exists());
    }
}

#[test]
fn what_the_person_did_elsewhere_is_no_reason_to_refuse() {
    let (scene, tree) = busy();
    scene.write("untouched.txt", "mine\n");
    scene.write("mine.txt", "mine\n");
    scene.write("folder/mine.txt", "mine\n");
    // The person made the same change as the run.
    scene.write("draft.txt", "new\n");
    fs::remove_file(scene.origin().join("deleted.txt")).unwrap();
    let applied = tree.put_in_place(None, &nobody).unwrap();
    assert_eq!(
        applied.already,
        ["deleted.txt", "draft.txt"].map(PathBuf::from)
    );
    let mine = ["untouched.txt", "mine.txt", "folder/mine.txt"];
    for path in mine {
        assert_eq!(fs::read(scene.origin().join(path)).unwrap(), b"mine\n");
    }
    assert_eq!(
        fs::read(scene.origin().join("changed.txt")).unwrap(),
        b"new\n"
    );
}

/// Every point at which a plan of [`busy`] can be stopped: before each step and after the last.
const POINTS: usize = 12;

#[test]
fn killed_at_any_point_the_next_call_completes() {
    for point in 0..POINTS {
        let (scene, tree) = busy();
        let mut pace = PlacementFaultInjector {
            left: Some((point, Then::Stop)),
        };
        let killed = tree.put_at_pace(None, &nobody, &mut pace);
        assert!(killed.is_err(), "point {point}: the plan has fewer points");
        assert!(scene.at().join("plan").exists());
        // The next file was being written.
        let temp = tree.temp_name();
        fs::write(scene.origin().join(&temp), "half").unwrap();
        drop(tree);
        let tree = RunTree::open(&program(), &scene.at()).unwrap();
        let applied = tree.put_in_place(None, &nobody).unwrap();
        fs::remove_file(scene.origin().join(&temp)).ok();
        assert_eq!(origin_files(&scene), expected_after(&tree), "point {point}");
        assert_eq!(
            applied.written.len() + applied.deleted.len(),
            11,
            "point {point}"
        );
        assert!(!scene.at().join("plan").exists());
    }
    let (_scene, tree) = busy();
    let mut pace = PlacementFaultInjector {
        left: Some((POINTS, Then::Stop)),
    };
    assert!(tree.put_at_pace(None, &nobody, &mut pace).is_ok());
}

#[test]
fn failed_at_any_point_everything_is_taken_back() {
    for point in 0..POINTS {
        let (scene, tree) = busy();
        let before = state(&scene.origin());
        let mut pace = PlacementFaultInjector {
            left: Some((point, Then::Fail)),
        };
        let failed = tree.put_at_pace(None, &nobody, &mut pace);
        assert!(
            matches!(failed, Err(RunTreeApplyError::TakenBack { .. })),
            "point {point}: {failed:?}"
        );
        assert_eq!(state(&scene.origin()), before, "point {point}");
        assert!(!scene.at().join("plan").exists());
        tree.put_in_place(None, &nobody).unwrap();
        assert_eq!(origin_files(&scene), expected_after(&tree), "point {point}");
    }
}

#[test]
fn what_the_person_touches_after_a_kill_is_theirs_and_the_rest_is_taken_back() {
    for point in 1..POINTS {
        let (scene, tree) = busy();
        let before = origin_files(&scene);
        let mut pace = PlacementFaultInjector {
            left: Some((point, Then::Stop)),
        };
        tree.put_at_pace(None, &nobody, &mut pace).unwrap_err();
        scene.write("program.sh", "mine\n");
        let said = tree.put_in_place(None, &nobody);
        assert!(
            matches!(said, Err(RunTreeApplyError::Touched { .. })),
            "point {point}: {said:?}"
        );
        let mut expected = before;
        let mine = origin_files(&scene)
            .remove(Path::new("program.sh"))
            .unwrap();
        assert!(mine.ends_with(blake3::hash(b"mine\n").to_hex().as_str()));
        expected.insert("program.sh".into(), mine);
        assert_eq!(origin_files(&scene), expected, "point {point}");
    }
}
