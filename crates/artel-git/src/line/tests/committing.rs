//! Checkouts, taking over their files, and one commit per step.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use super::*;

#[test]
fn each_step_is_one_commit_and_the_person_sees_nothing() {
    let scene = Scene::committed(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    scene.write("a.txt", "the person's\n");
    let before = scene.everything();
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let first = work.step(|at| put(at, "a.txt", "two\n"));
    let second = work.step(|at| put(at, "new/c.txt", "new\n"));
    let log = work.line.log(&base, "fix/it-1").unwrap();
    let shown: Vec<_> = log
        .iter()
        .map(|one| (one.commit.as_str(), one.subject.as_str(), one.when))
        .collect();
    assert_eq!(
        shown,
        [
            (first.as_str(), "step 1", WHEN),
            (second.as_str(), "step 2", WHEN)
        ]
    );
    assert_eq!(log[0].trailers, [("Trace-Id".to_owned(), "abc".to_owned())]);
    assert_eq!(names(&work.line.changed(&base, &first).unwrap()), ["a.txt"]);
    assert_eq!(
        names(&work.line.changed(&first, &second).unwrap()),
        ["new/c.txt"]
    );
    assert_eq!(scene.everything(), before);
}

#[test]
fn the_same_order_again_makes_the_same_commit() {
    let scene = Scene::committed(&[("a.txt", "one\n")]);
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let tree = work.tree(&base, |at| put(at, "a.txt", "two\n"));
    let CommitOutcome::Done { commit, files } = work.commit(&tree, &base) else {
        panic!("nothing was committed");
    };
    assert_eq!(names(&files), ["a.txt"]);
    work.head.clone_from(&base);
    let again = work.line.commit(&CommitSpec {
        tree: &tree,
        base: &base,
        onto: &base,
        message: "step 1\n\nTrace-Id: abc",
        when: WHEN,
        author: &ada(),
    });
    assert_eq!(
        again.unwrap(),
        CommitOutcome::Done {
            commit: commit.clone(),
            files
        }
    );
    work.line.advance("fix/it-1", &base, &commit).unwrap();
    let elsewhere = work.line.advance("fix/it-1", &base, &base);
    assert!(
        matches!(elsewhere, Err(PlanBranchError::Moved { .. })),
        "{elsewhere:?}"
    );
    assert_eq!(work.line.head("fix/it-1").unwrap(), Some(commit));
    assert_eq!(work.line.head("fix/none").unwrap(), None);
}

#[test]
fn a_step_that_changes_nothing_is_no_commit() {
    let scene = Scene::committed(&[("a.txt", "one\n"), (".gitignore", "*.log\n")]);
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let same = work.tree(&base, |_| {});
    assert_eq!(same, work.line.tree_of(&base).unwrap());
    assert_eq!(work.commit(&same, &base), CommitOutcome::Nothing);
    let ignored = work.tree(&base, |at| put(at, "out.log", "noise\n"));
    assert_eq!(ignored, same);
}

#[test]
fn a_checkout_is_the_commit_and_not_the_folder() {
    let scene = Scene::committed(&[("a.txt", "one\r\n"), ("run.sh", "x\n"), ("deep/b", "b\n")]);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(scene.origin().join("run.sh"), mode).unwrap();
    symlink("../a.txt", scene.origin().join("deep/link")).unwrap();
    scene.commit("second");
    // From now on git would convert that file; a checkout does not.
    scene.write(".gitattributes", "* text eol=lf\n");
    scene.git(&["add", ".gitattributes"]);
    scene.git(&["commit", "-q", "-m", "third"]);
    let expected = files(&scene.origin());
    scene.write("a.txt", "changed since\n");
    scene.write("untracked.txt", "x\n");
    fs::create_dir(scene.origin().join("node_modules")).unwrap();
    let line = scene.line();
    let head = line.base().unwrap().commit;
    let at = scene.path("checkout");
    let tree = line.checkout(&head, &at, &[]).unwrap();
    let mut wanted = expected;
    let blob = scene.git(&["cat-file", "blob", "HEAD:a.txt"]);
    assert_eq!(blob, "one\r\n");
    wanted.insert("a.txt".into(), format!("644 {blob}"));
    assert_eq!(files(tree.files()), wanted);
    assert_eq!(tree.origin(), scene.origin().canonicalize().unwrap());
    assert_eq!(tree.start().tree(), line.tree_of(&head).unwrap());
    drop(tree);
    let tree = RunTree::open(&scene.program, &at).unwrap();
    put(tree.files(), "deep/b", "changed\n");
    let changes = tree.changes(tree.start()).unwrap();
    assert_eq!(changes.len(), 1);
    let taken = line.take(&tree).unwrap();
    assert_eq!(names(&line.changed(&head, &taken).unwrap()), ["deep/b"]);
    let start = tree.find("start").unwrap();
    tree.restore(&start).unwrap();
    assert_eq!(line.take(&tree).unwrap(), line.tree_of(&head).unwrap());
    let said = scene.git_in(tree.files(), &["log", "--format=%s"]);
    assert_eq!(said, "third\nsecond\nfirst\n");
    let again = line.checkout(&head, &at, &[]);
    assert!(matches!(
        again,
        Err(PlanBranchError::Tree(RunTreeError::Exists { .. }))
    ));
}

#[test]
fn a_tree_without_a_commit_can_be_checked_out() {
    let scene = Scene::committed(&[("a.txt", "one\n")]);
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let tree = work.tree(&base, |at| put(at, "b.txt", "two\n"));
    let out = work.line.checkout(&tree, &scene.path("out"), &[]).unwrap();
    assert_eq!(files(out.files()).len(), 2);
    assert_eq!(work.line.take(&out).unwrap(), tree);
}

#[test]
fn a_checkout_leaves_out_what_its_bounds_do_not_allow_and_nothing_else() {
    let large = "x".repeat(2000);
    let scene = Scene::committed(&[("a.txt", "one\n"), ("asset", &large)]);
    let bounds = RunTreeLimits {
        files: 40,
        file_bytes: 1000,
    };
    let at = scene.path("line");
    let line = PlanBranch::make(&scene.program, &at, &scene.origin(), bounds).unwrap();
    let head = line.base().unwrap().commit;
    let at = scene.path("checkout");
    let aside = |tree: &RunTree| -> Vec<_> {
        let aside = tree.set_aside().unwrap().into_iter();
        aside.map(|one| one.path.display().to_string()).collect()
    };
    let tree = line.checkout(&head, &at, &[]).unwrap();
    assert_eq!(aside(&tree), [""; 0]);
    put(tree.files(), "b.txt", "two\n");
    put(tree.files(), "big", &large);
    assert_eq!(aside(&tree), ["big"]);
    let taken = line.take(&tree).unwrap();
    assert_eq!(names(&line.changed(&head, &taken).unwrap()), ["b.txt"]);
    drop(tree);
    let tree = RunTree::open(&scene.program, &at).unwrap();
    put(tree.files(), "asset", &format!("{large}y"));
    assert_eq!(aside(&tree), ["asset", "big"]);
    assert_eq!(line.take(&tree).unwrap(), taken, "it counts as unchanged");
}

#[test]
fn a_folder_with_more_files_than_its_bounds_allow_becomes_no_line() {
    let scene = Scene::new();
    for name in ["a", "b", "c"] {
        scene.write(name, "x\n");
    }
    let bounds = RunTreeLimits {
        files: 2,
        ..RunTreeLimits::default()
    };
    let refused = PlanBranch::make(&scene.program, &scene.path("line"), &scene.origin(), bounds);
    let is_too_large = matches!(
        refused,
        Err(PlanBranchError::Tree(RunTreeError::TooLarge { .. }))
    );
    assert!(is_too_large, "{refused:?}");
    let at = scene.path("other");
    let usual = RunTreeLimits::default();
    assert!(PlanBranch::make(&scene.program, &at, &scene.origin(), usual).is_ok());
}

#[test]
fn what_a_run_does_not_see_stays_in_the_commit() {
    let scene = Scene::committed(&[
        ("part/a.txt", "one\n"),
        ("other.txt", "x\n"),
        (".gitignore", "*.log\n"),
    ]);
    let inner = scene.id("HEAD");
    scene.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{inner},module"),
    ]);
    scene.git(&["commit", "-q", "-m", "with a repository in it"]);
    let head = scene.id("HEAD");
    let whole = scene.line();
    let tree = whole.checkout(&head, &scene.path("whole"), &[]).unwrap();
    put(tree.files(), "other.txt", "y\n");
    let taken = whole.take(&tree).unwrap();
    assert_eq!(names(&whole.changed(&head, &taken).unwrap()), ["other.txt"]);

    let part = scene.origin().join("part");
    let line = PlanBranch::make(
        &scene.program,
        &scene.path("part-line"),
        &part,
        RunTreeLimits::default(),
    )
    .unwrap();
    assert_eq!(line.prefix(), Path::new("part"));
    let tree = line.checkout(&head, &scene.path("part-run"), &[]).unwrap();
    assert_eq!(files(tree.files()).len(), 1);
    put(tree.files(), "a.txt", "two\n");
    put(tree.files(), "noise.log", "noise\n");
    let taken = line.take(&tree).unwrap();
    assert_eq!(names(&line.changed(&head, &taken).unwrap()), ["part/a.txt"]);
}

#[test]
fn steps_side_by_side_are_merged_with_every_git() {
    for program in programs() {
        let mut scene = Scene::committed(&[("a.txt", "1\n2\n3\n4\n5\n6\n7\n"), ("b.txt", "b\n")]);
        scene.program = program;
        let mut work = Work::new(&scene);
        let base = work.head.clone();
        let first = work.tree(&base, |at| put(at, "a.txt", "one\n2\n3\n4\n5\n6\n7\n"));
        let second = work.tree(&base, |at| put(at, "a.txt", "1\n2\n3\n4\n5\n6\nseven\n"));
        let third = work.tree(&base, |at| {
            fs::remove_file(at.join("b.txt")).unwrap();
            put(at, "c.txt", "c\n");
        });
        for tree in [&first, &second, &third] {
            assert!(matches!(
                work.commit(tree, &base),
                CommitOutcome::Done { .. }
            ));
        }
        // A change that came in by another way needs no second commit.
        assert_eq!(work.commit(&second, &base), CommitOutcome::Nothing);
        let text = work.line.file_at(&work.head, Path::new("a.txt"), 100);
        assert_eq!(text.unwrap().unwrap(), b"one\n2\n3\n4\n5\n6\nseven\n");
        assert_eq!(work.line.log(&base, &work.head).unwrap().len(), 3);
        let gone = work.line.file_at(&work.head, Path::new("b.txt"), 100);
        assert_eq!(gone.unwrap(), None);
    }
}

#[test]
fn what_is_at_a_path_is_told_also_where_it_cannot_be_read() {
    let scene = Scene::committed(&[("a.txt", "more than four bytes\n"), ("in/b.txt", "b\n")]);
    let mut work = Work::new(&scene);
    let head = work.head.clone();
    let tree = work.tree(&head, |at| {
        symlink("a.txt", at.join("link")).unwrap();
    });
    let cases = [
        ("a.txt", Some(GitTreeEntryKind::File)),
        ("link", Some(GitTreeEntryKind::Link)),
        ("in", Some(GitTreeEntryKind::Other)),
        ("none.txt", None),
    ];
    for (path, entry) in cases {
        let path = Path::new(path);
        assert_eq!(work.line.file_at(&tree, path, 4).unwrap(), None);
        assert_eq!(work.line.entry_at(&tree, path).unwrap(), entry, "{path:?}");
    }
    let there = ["a.txt", "in/b.txt", "link"].map(PathBuf::from);
    assert_eq!(work.line.paths_at(&tree).unwrap(), BTreeSet::from(there));
}

#[test]
fn a_change_is_merged_also_where_the_branch_was_begun_anew() {
    let scene = Scene::committed(&[("a.txt", "1\n2\n3\n4\n5\n"), ("b.txt", "b\n")]);
    let mut work = Work::new(&scene);
    let root = work.head.clone();
    let gone = work.step(|at| put(at, "b.txt", "taken away later\n"));
    let tree = work.tree(&gone, |at| put(at, "a.txt", "1\n2\n3\n4\nfive\n"));
    work.head.clone_from(&root);
    let committed = work.line.commit(&CommitSpec {
        tree: &tree,
        base: &gone,
        onto: &root,
        message: "again",
        when: WHEN,
        author: &ada(),
    });
    let CommitOutcome::Done { files, .. } = committed.unwrap() else {
        panic!("nothing was committed");
    };
    assert_eq!(names(&files), ["a.txt"]);
}

#[test]
fn steps_in_conflict_show_both_sides() {
    let long = "line\n".repeat(4000);
    let file = format!("{long}middle\n{long}");
    let scene = Scene::committed(&[("a.txt", &file), ("b.txt", "b\n"), ("d.txt", "d\n")]);
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let change = |text: &'static str| {
        let text = file.replace("middle", text);
        move |at: &Path| {
            put(at, "a.txt", &text);
            fs::write(at.join("binary"), [0, text.len() as u8]).unwrap();
        }
    };
    let first = work.tree(&base, |at| {
        change("ours")(at);
        fs::remove_file(at.join("b.txt")).unwrap();
        put(at, "d.txt", "changed\n");
    });
    let second = work.tree(&base, |at| {
        change("theirs!")(at);
        put(at, "b.txt", "changed\n");
        fs::remove_file(at.join("d.txt")).unwrap();
    });
    assert!(matches!(
        work.commit(&first, &base),
        CommitOutcome::Done { .. }
    ));
    let head = work.head.clone();
    let CommitOutcome::Conflict(conflicts) = work.commit(&second, &base) else {
        panic!("no conflict");
    };
    assert_eq!(work.head, head);
    let shown: Vec<_> = conflicts
        .iter()
        .map(|one| {
            (
                one.path.to_str().unwrap(),
                one.what,
                one.ours.as_deref(),
                one.theirs.as_deref(),
            )
        })
        .collect();
    let binary = Some("2 bytes that are no text");
    assert_eq!(
        shown,
        [
            (
                "a.txt",
                MergeConflictKind::BothChanged,
                Some("@ line 4001\nours\n"),
                Some("@ line 4001\ntheirs!\n")
            ),
            (
                "b.txt",
                MergeConflictKind::RemovedByOurs,
                None,
                Some("changed\n")
            ),
            ("binary", MergeConflictKind::BothMade, binary, binary),
            (
                "d.txt",
                MergeConflictKind::RemovedByTheirs,
                Some("changed\n"),
                None
            ),
        ]
    );
}

#[test]
fn a_graft_takes_these_paths_from_another_tree() {
    let scene = Scene::committed(&[
        ("src/a", "old\n"),
        ("src/gone", "old\n"),
        ("tests/t", "old\n"),
    ]);
    let mut work = Work::new(&scene);
    let base = work.head.clone();
    let tree = work.tree(&base, |at| {
        put(at, "src/a", "new\n");
        put(at, "src/made/deep", "new\n");
        put(at, "tests/t", "new\n");
        fs::remove_file(at.join("src/gone")).unwrap();
    });
    let grafted = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let grafted = work.line.graft(&tree, &base, &paths).unwrap();
        let changed = work.line.changed(&base, &grafted).unwrap();
        names(&changed).join(" ")
    };
    let whole = "src/a src/gone src/made/deep tests/t";
    for (paths, expected) in [
        (&[][..], whole),
        (&["src"], "tests/t"),
        (&["src/a", "src/gone"], "src/made/deep tests/t"),
        (&["src/made/deep", "tests"], "src/a src/gone"),
        (&["nowhere"], whole),
    ] {
        assert_eq!(grafted(paths), expected, "{paths:?}");
    }
}

#[test]
fn files_of_a_checkout_are_put_back_whatever_stands_in_their_place() {
    let scene = Scene::committed(&[
        ("src/a", "old\n"),
        ("tests/deep/t", "old\n"),
        ("tests/u", "old\n"),
    ]);
    let work = Work::new(&scene);
    let put_back = |name: &str, change: &dyn Fn(&Path)| {
        let tree = work
            .line
            .checkout(&work.head, &scene.path(name), &[])
            .unwrap();
        let at = tree.files().to_owned();
        put(&at, "src/a", "new\n");
        change(&at);
        let paths = ["tests/deep/t", "tests/u", "tests/made"].map(PathBuf::from);
        work.line.put_back(&tree, &work.head, &paths).unwrap();
        let left = work.line.take(&tree).unwrap();
        let changed = work.line.changed(&work.head, &left).unwrap();
        assert_eq!(names(&changed), ["src/a"], "{name}");
        assert!(
            fs::symlink_metadata(at.join("tests")).unwrap().is_dir(),
            "{name}"
        );
    };
    put_back("changed", &|at| {
        put(at, "tests/deep/t", "new\n");
        put(at, "tests/made", "new\n");
    });
    put_back("gone", &|at| fs::remove_dir_all(at.join("tests")).unwrap());
    put_back("mode", &|at| {
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(at.join("tests/u"), mode).unwrap();
    });
    put_back("a link for the file", &|at| {
        fs::remove_file(at.join("tests/u")).unwrap();
        std::os::unix::fs::symlink("../src/a", at.join("tests/u")).unwrap();
    });
    put_back("a link for the folder", &|at| {
        fs::remove_dir_all(at.join("tests")).unwrap();
        std::os::unix::fs::symlink("src", at.join("tests")).unwrap();
    });
    put_back("a file for the folder", &|at| {
        fs::remove_dir_all(at.join("tests/deep")).unwrap();
        put(at, "tests/deep", "new\n");
    });
    put_back("a folder for the file", &|at| {
        fs::remove_file(at.join("tests/u")).unwrap();
        put(at, "tests/u/inner", "new\n");
    });
}
