//! Merges always make a commit, are all or nothing, and never overwrite the person's work.

use std::os::unix::fs::symlink;

use super::*;

const BEGAN: &[(&str, &str)] = &[
    ("changed.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
    ("deleted.txt", "old\n"),
    ("folder/only.txt", "old\n"),
    ("program.sh", "old\n"),
    ("turns/into-file.txt", "old\n"),
    ("turns-folder", "old\n"),
    ("other.txt", "old\n"),
    ("mine.txt", "old\n"),
];

/// Makes every kind of change.
pub(super) fn change(at: &Path) {
    put(at, "changed.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n");
    fs::remove_file(at.join("deleted.txt")).unwrap();
    fs::remove_dir_all(at.join("folder")).unwrap();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(at.join("program.sh"), mode).unwrap();
    put(at, "new/deep/file.txt", "new\n");
    symlink("file.txt", at.join("new/deep/link")).unwrap();
    fs::remove_dir_all(at.join("turns")).unwrap();
    put(at, "turns", "a file now\n");
    fs::remove_file(at.join("turns-folder")).unwrap();
    put(at, "turns-folder/in.txt", "in\n");
}

pub(super) fn scene() -> Scene {
    Scene::committed(BEGAN)
}

/// Returns the files of a checkout of a commit.
pub(super) fn files_of(scene: &Scene, commit: &str, name: &str) -> BTreeMap<PathBuf, String> {
    let line = scene.line_at("reading");
    let tree = line.checkout(commit, &scene.path(name), &[]).unwrap();
    files(tree.files())
}

#[test]
fn a_merge_moves_files_index_and_branch_and_keeps_what_is_the_persons() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    work.step(|at| put(at, "second.txt", "second\n"));
    let old = scene.id("main");
    scene.write("mine.txt", "changed by me\n");
    scene.write("other.txt", "staged by me\n");
    scene.git(&["add", "other.txt"]);
    scene.write("untracked/by-me.txt", "mine\n");
    let mode = fs::Permissions::from_mode(0o640);
    fs::set_permissions(scene.origin().join("changed.txt"), mode).unwrap();
    let status = scene.status();
    let merge = work.merge();
    assert!(merge.is_checked_out);
    assert_eq!((&merge.old, scene.id("main")), (&old, merge.new.clone()));
    let parents = scene.git(&["log", "-1", "--format=%P|%an|%ae|%ct|%s", "main"]);
    let expected = format!(
        "{old} {}|Ada|ada@localhost|{WHEN}|Merge branch 'fix/it-1'\n",
        work.head
    );
    assert_eq!(parents, expected);
    assert_eq!(scene.status(), status);
    let mut expected = files_of(&scene, &merge.new, "merged");
    let text = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";
    expected.insert("changed.txt".into(), format!("640 {text}"));
    expected.insert("mine.txt".into(), "644 changed by me\n".to_owned());
    expected.insert("other.txt".into(), "644 staged by me\n".to_owned());
    expected.insert("untracked".into(), "folder".to_owned());
    expected.insert("untracked/by-me.txt".into(), "644 mine\n".to_owned());
    assert_eq!(files(&scene.origin()), expected);
    scene.git(&["fsck", "--strict"]);
    assert!(!scene.origin().join(".git/index.lock").exists());
    let leftovers = fs::read_dir(scene.origin().join(".git")).unwrap();
    let is_ours = |name: String| name.contains("artel");
    assert!(
        !leftovers
            .flatten()
            .any(|entry| is_ours(entry.file_name().into_string().unwrap()))
    );
    // Carrying it out again changes nothing, even after more commits by the person.
    work.line.carry_out(&merge).unwrap();
    scene.commit("more");
    let after = scene.everything();
    work.line.carry_out(&merge).unwrap();
    assert_eq!(scene.everything(), after);
    assert!(matches!(
        work.plan(),
        Err(MergeRefusedError::Already { .. })
    ));
}

#[test]
fn a_plan_changes_nothing_and_can_be_written_down() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    let before = scene.everything();
    let merge = work.plan().unwrap();
    assert_eq!(work.plan().unwrap(), merge);
    assert_eq!(scene.everything(), before);
    let mut odd = merge.clone();
    use std::os::unix::ffi::OsStringExt as _;
    odd.files
        .push(std::ffi::OsString::from_vec(vec![b'x', 0xff]).into());
    let written = serde_json::to_string(&odd).unwrap();
    assert_eq!(
        serde_json::from_str::<PreparedMerge>(&written).unwrap(),
        odd
    );
}

#[test]
fn what_is_the_persons_in_the_same_files_is_refused_and_kept() {
    type Touch = fn(&Scene);
    let touches: &[(&str, Touch)] = &[
        ("changed.txt", |scene| scene.write("changed.txt", "mine\n")),
        ("changed.txt", |scene| {
            scene.write("changed.txt", "mine\n");
            scene.git(&["add", "changed.txt"]);
            scene.write("changed.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
        }),
        // Even the same content is refused, because it was not committed.
        ("changed.txt", |scene| {
            scene.write("changed.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n")
        }),
        ("deleted.txt", |scene| scene.write("deleted.txt", "mine\n")),
        ("deleted.txt", |scene| {
            fs::remove_file(scene.origin().join("deleted.txt")).unwrap()
        }),
        ("new/deep/file.txt", |scene| {
            scene.write("new/deep/file.txt", "untracked\n")
        }),
        ("new/deep/file.txt", |scene| {
            scene.write("new", "in the way\n")
        }),
        ("program.sh", |scene| {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(scene.origin().join("program.sh"), mode).unwrap();
        }),
        ("turns", |scene| {
            scene.write("turns/mine.txt", "untracked\n")
        }),
        ("folder/only.txt", |scene| {
            fs::remove_dir_all(scene.origin().join("folder")).unwrap();
            symlink("/nonexistent", scene.origin().join("folder")).unwrap();
        }),
    ];
    for (number, (expected, touch)) in touches.iter().enumerate() {
        let scene = scene();
        let mut work = Work::new(&scene);
        work.step(change);
        let clean = work.plan().unwrap();
        touch(&scene);
        let before = scene.everything();
        let Err(refused @ MergeRefusedError::Dirty { .. }) = work.plan() else {
            panic!("{number}: not refused");
        };
        let MergeRefusedError::Dirty { files } = &refused else {
            unreachable!();
        };
        assert!(names(files).contains(expected), "{number}: {files:?}");
        assert!(refused.to_string().contains("git stash"), "{refused}");
        assert_eq!(scene.everything(), before, "{number}");
        // It is also refused if the person changes the file after the merge was planned.
        let refused = work.line.carry_out(&clean);
        assert!(
            matches!(refused, Err(PlanBranchError::Dirty { .. })),
            "{number}: {refused:?}"
        );
        assert_eq!(scene.everything(), before, "{number}");
    }
}

#[test]
fn overlapping_edits_are_merged_once_they_are_committed() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    scene.write("changed.txt", "1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert!(matches!(work.plan(), Err(MergeRefusedError::Dirty { .. })));
    scene.commit("mine");
    work.merge();
    assert_eq!(
        scene.read("changed.txt"),
        "one\n2\n3\n4\n5\n6\n7\n8\nnine\n"
    );
    assert_eq!(scene.status(), "");
}

#[test]
fn a_branch_that_moved_in_conflict_is_refused_with_both_sides() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    scene.write("changed.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n");
    scene.commit("mine");
    scene.write("mine.txt", "dirty\n");
    let before = scene.everything();
    let refused = work.plan();
    let Err(MergeRefusedError::Conflict { conflicts, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(conflicts.len(), 1);
    assert_eq!(conflicts[0].ours.as_deref(), Some("@ line 1\neins\n"));
    assert_eq!(conflicts[0].theirs.as_deref(), Some("@ line 1\none\n"));
    assert_eq!(scene.everything(), before);
}

#[test]
fn a_branch_that_is_not_checked_out_moves_alone() {
    for detached in [
        &["checkout", "-q", "--detach"][..],
        &["checkout", "-q", "-b", "other"],
    ] {
        let scene = scene();
        let mut work = Work::new(&scene);
        work.step(change);
        scene.git(detached);
        scene.write("changed.txt", "mine\n");
        let (files, _, status) = scene.everything();
        let merge = work.merge();
        assert!(!merge.is_checked_out);
        assert_eq!(scene.id("main"), merge.new);
        let (files_now, _, status_now) = scene.everything();
        assert_eq!((files_now, status_now), (files, status));
        work.line.carry_out(&merge).unwrap();
    }
}

#[test]
fn another_worktree_is_not_disturbed() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    scene.git(&["checkout", "-q", "-b", "here"]);
    let linked = scene.path("linked");
    scene.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "main"]);
    let refused = work.plan();
    let Err(MergeRefusedError::Elsewhere { at, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(at, linked.canonicalize().unwrap());
    // A line for that worktree can merge there.
    let line = PlanBranch::make(
        &scene.program,
        &scene.path("linked-line"),
        &linked,
        RunTreeLimits::default(),
    )
    .unwrap();
    let merge = line.plan_merge(&MergeSpec {
        head: &work.head,
        into: "main",
        message: "merge",
        when: WHEN,
        author: &ada(),
    });
    // The commits of another line are unknown here until they are brought over.
    assert!(merge.is_err());
    work.line.publish("fix/it-1").unwrap();
    let merge = line.plan_merge(&MergeSpec {
        head: &work.head,
        into: "main",
        message: "merge",
        when: WHEN,
        author: &ada(),
    });
    line.carry_out(&merge.unwrap()).unwrap();
    assert_eq!(scene.git_in(&linked, &["status", "--porcelain"]), "");
    assert!(linked.join("new/deep/file.txt").exists());
    assert!(!scene.origin().join("new").exists());
}

#[test]
fn something_under_way_is_refused_with_what_to_do() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    let planned = work.plan().unwrap();
    let git = scene.origin().join(".git");
    for (name, hint) in [
        ("MERGE_HEAD", "git merge --abort"),
        ("CHERRY_PICK_HEAD", "--abort"),
        ("REVERT_HEAD", "--abort"),
        ("rebase-merge", "--abort"),
        ("index.lock", "index.lock"),
    ] {
        let path = git.join(name);
        fs::write(&path, format!("{}\n", scene.id("HEAD"))).unwrap();
        let Err(MergeRefusedError::Busy { why }) = work.plan() else {
            panic!("{name}: not refused");
        };
        assert!(why.contains(hint), "{why}");
        let refused = work.line.carry_out(&planned);
        assert!(
            matches!(refused, Err(PlanBranchError::Busy { .. })),
            "{refused:?}"
        );
        assert!(path.exists());
        fs::remove_file(path).unwrap();
    }
    let missing = work.line.plan_merge(&MergeSpec {
        head: &work.head,
        into: "nowhere",
        message: "merge",
        when: WHEN,
        author: &ada(),
    });
    assert!(matches!(missing, Err(MergeRefusedError::NoBranch { .. })));
    assert_eq!(scene.status(), "");
}

#[test]
fn a_rebased_branch_is_not_moved() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    scene.git(&["checkout", "-q", "--detach"]);
    let rebase = scene.origin().join(".git/rebase-merge");
    fs::create_dir(&rebase).unwrap();
    fs::write(rebase.join("head-name"), "refs/heads/main\n").unwrap();
    assert!(matches!(work.plan(), Err(MergeRefusedError::Busy { .. })));
}

#[test]
fn a_merge_that_was_planned_before_a_switch_is_refused() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    let merge = work.plan().unwrap();
    scene.git(&["checkout", "-q", "-b", "other"]);
    let before = scene.everything();
    let refused = work.line.carry_out(&merge);
    assert!(
        matches!(refused, Err(PlanBranchError::Switched { .. })),
        "{refused:?}"
    );
    assert_eq!(scene.everything(), before);
    scene.git(&["checkout", "-q", "main"]);
    scene.commit("moved on");
    let before = scene.everything();
    let refused = work.line.carry_out(&merge);
    assert!(
        matches!(refused, Err(PlanBranchError::Moved { .. })),
        "{refused:?}"
    );
    assert_eq!(scene.everything(), before);
}

#[test]
fn an_index_in_two_files_is_merged_too() {
    let scene = scene();
    scene.git(&["update-index", "--split-index"]);
    let mut work = Work::new(&scene);
    work.step(change);
    work.merge();
    assert_eq!(scene.status(), "");
}

#[test]
fn ten_lines_on_one_file_lose_nothing() {
    let lines: Vec<String> = (0..10)
        .map(|number| format!("line {number}\n\n\n"))
        .collect();
    let scene = Scene::committed(&[("shared.txt", &lines.concat())]);
    let mut works: Vec<Work<'_>> = (0..10)
        .map(|number| Work::at(&scene, &format!("line-{number}")))
        .collect();
    for (number, work) in works.iter_mut().enumerate() {
        let mut lines = lines.clone();
        lines[number] = format!("changed by {number}\n\n\n");
        // Two of them change the same line of text.
        if number == 9 {
            lines[8] = "also wanted by 9\n\n\n".to_owned();
        }
        work.step(|at| put(at, "shared.txt", &lines.concat()));
    }
    let planned: Vec<PreparedMerge> = works.iter().map(|work| work.plan().unwrap()).collect();
    for (number, (work, planned)) in works.iter().zip(&planned).enumerate() {
        let first = work.line.carry_out(planned);
        // All were planned onto the same commit: one moves the branch, the others have to plan
        // again.
        assert_eq!(first.is_ok(), number == 0, "{number}: {first:?}");
        if number == 0 {
            continue;
        }
        assert_eq!(scene.status(), "");
        match work.plan() {
            Ok(merge) => work.line.carry_out(&merge).unwrap(),
            Err(MergeRefusedError::Conflict { .. }) if number == 9 => {}
            Err(other) => panic!("{number}: {other:?}"),
        }
    }
    let text = scene.read("shared.txt");
    for number in 0..9 {
        assert!(text.contains(&format!("changed by {number}\n")), "{text}");
    }
    assert!(text.contains("line 9\n"));
    assert_eq!(scene.status(), "");
}
