//! Counts equal git's own, and other programs accept the texts.

use super::*;

/// Makes every kind of change.
fn busy(scene: &Scene) -> Work<'_> {
    let mut work = Work::new(scene);
    work.step(|at| {
        put(at, "changed.txt", "1\ntwo\n3\n4\n");
        fs::rename(at.join("old.txt"), at.join("moved.txt")).unwrap();
        fs::remove_file(at.join("gone.txt")).unwrap();
        put(at, "päth with\ttab", "new\nnew\n");
        fs::write(at.join("binary"), [0, 1, 2]).unwrap();
        put(at, "data.lock", "1\n2\n3\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(at.join("run.sh"), mode).unwrap();
    });
    work
}

fn scene() -> Scene {
    Scene::committed(&[
        (".gitattributes", "*.lock -diff\n"),
        ("changed.txt", "1\n2\n3\n"),
        ("old.txt", "a\nb\nc\nd\ne\nf\n"),
        ("gone.txt", "x\ny\n"),
        ("run.sh", "echo\n"),
        ("data.lock", "1\n"),
    ])
}

#[test]
fn counts_equal_those_of_git_diff() {
    let scene = scene();
    let work = busy(&scene);
    let base = scene.id("HEAD");
    let stat = work.line.stat(&base, "fix/it-1").unwrap();
    work.line.publish("fix/it-1").unwrap();
    let said = scene.git(&["diff", "--numstat", "HEAD", "fix/it-1"]);
    assert_eq!(said.lines().count(), stat.files.len());
    let sum = |column: usize| -> u64 {
        let word = |line: &str| line.split('\t').nth(column)?.parse::<u64>().ok();
        said.lines().filter_map(word).sum()
    };
    assert_eq!((stat.added, stat.removed), (sum(0), sum(1)));
    let short = scene.git(&["diff", "--shortstat", "HEAD", "fix/it-1"]);
    let expected = format!(
        " {} files changed, {} insertions(+), {} deletions(-)\n",
        stat.files.len(),
        stat.added,
        stat.removed
    );
    assert_eq!(short, expected);
    let kinds: Vec<_> = stat
        .files
        .iter()
        .map(|file| {
            (
                file.path.to_str().unwrap(),
                file.kind,
                file.added,
                file.removed,
            )
        })
        .collect();
    assert_eq!(
        kinds,
        [
            ("binary", FileDiffKind::Made, None, None),
            ("changed.txt", FileDiffKind::Changed, Some(2), Some(1)),
            ("data.lock", FileDiffKind::Changed, None, None),
            ("gone.txt", FileDiffKind::Deleted, Some(0), Some(2)),
            ("moved.txt", FileDiffKind::Renamed, Some(0), Some(0)),
            ("päth with\ttab", FileDiffKind::Made, Some(2), Some(0)),
            ("run.sh", FileDiffKind::Mode, Some(0), Some(0)),
        ]
    );
}

#[test]
fn no_attribute_hides_a_file_from_the_difference() {
    let scene = scene();
    let work = busy(&scene);
    let base = scene.id("HEAD");
    let diff = work.line.diff(&base, &work.head, &["data.lock".into()]);
    let diff = String::from_utf8(diff.unwrap()).unwrap();
    assert!(diff.contains("+2\n+3\n"), "{diff}");
    assert!(!diff.contains("changed.txt"), "{diff}");
}

#[test]
fn a_patch_can_be_applied() {
    let scene = scene();
    let work = busy(&scene);
    let base = scene.id("HEAD");
    let patch = work.line.patch(&base, &work.head).unwrap();
    let file = scene.path("patch");
    fs::write(&file, patch).unwrap();
    scene.git(&["apply", "--index", file.to_str().unwrap()]);
    assert_eq!(
        scene.git(&["write-tree"]).trim(),
        work.line.tree_of(&work.head).unwrap()
    );
}

#[test]
fn a_folder_in_no_repository_has_a_line_of_its_own() {
    let scene = Scene::new();
    scene.write("a.txt", "one\n");
    scene.write("node_modules/big", "left out\n");
    scene.write("deep/b.txt", "b\n");
    let before = files(&scene.origin());
    let line = scene.line();
    assert!(line.is_private());
    let base = line.base().unwrap();
    assert_eq!((base.branch, base.dirty.len()), (None, 0));
    scene.write("a.txt", "changed since\n");
    assert_eq!(scene.line().base().unwrap().commit, base.commit);
    scene.write("a.txt", "one\n");
    let mut work = Work::new(&scene);
    work.step(|at| {
        assert!(!at.join("node_modules").exists());
        put(at, "a.txt", "two\n");
        put(at, "deep/c.txt", "c\n");
    });
    assert_eq!(files(&scene.origin()), before);
    let plan = work.plan();
    assert!(matches!(
        plan,
        Err(MergeRefusedError::Line(PlanBranchError::Private { .. }))
    ));
    assert!(matches!(
        work.line.publish("fix/it-1"),
        Err(PlanBranchError::Private { .. })
    ));
    let file = scene.path("patch");
    fs::write(&file, work.line.patch(&base.commit, &work.head).unwrap()).unwrap();
    scene.git(&["apply", file.to_str().unwrap()]);
    assert_eq!(scene.read("a.txt"), "two\n");
    assert_eq!(scene.read("deep/c.txt"), "c\n");
}

#[test]
fn the_base_is_what_the_person_stands_on() {
    let scene = Scene::committed(&[
        ("a.txt", "one\n"),
        ("b.txt", "b\n"),
        (".gitignore", "*.log\n"),
    ]);
    let line = scene.line();
    let base = line.base().unwrap();
    assert_eq!(base.commit, scene.id("HEAD"));
    assert_eq!(
        (base.branch.as_deref(), base.dirty),
        (Some("main"), Vec::new())
    );
    scene.write("a.txt", "two\n");
    scene.write("b.txt", "staged\n");
    scene.git(&["add", "b.txt"]);
    scene.write("new.txt", "x\n");
    scene.write("folder/new.txt", "x\n");
    scene.write("noise.log", "x\n");
    let before = scene.everything();
    let base = line.base().unwrap();
    assert_eq!(names(&base.dirty), ["a.txt", "b.txt", "folder/", "new.txt"]);
    assert_eq!(scene.everything(), before);
    scene.git(&["checkout", "-q", "--detach"]);
    assert_eq!(line.base().unwrap().branch, None);
    scene.git(&["checkout", "-q", "-b", "feature/ünï"]);
    assert_eq!(line.base().unwrap().branch.as_deref(), Some("feature/ünï"));
}

#[test]
fn without_a_commit_there_is_no_line() {
    let scene = Scene::new();
    scene.git(&["init", "-q", "-b", "main"]);
    let refused = PlanBranch::make(
        &scene.program,
        &scene.path("line"),
        &scene.origin(),
        RunTreeLimits::default(),
    );
    let Err(error @ PlanBranchError::NoCommit { .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(error.to_string().contains("git commit --allow-empty"));
    let none = PlanBranch::open(&scene.program, &scene.path("line"));
    assert!(matches!(none, Err(PlanBranchError::NotMade { .. })));
    scene.commit("first");
    assert!(scene.line().base().is_ok());
}

#[test]
fn the_identity_is_the_repositorys_then_the_persons_then_artels() {
    let scene = Scene::committed(&[]);
    let line = scene.line();
    let home = scene.path("home");
    fs::create_dir_all(&home).unwrap();
    let found = |expected: (&str, &str)| {
        let identity = line.identity(&home);
        assert_eq!((identity.name.as_str(), identity.email.as_str()), expected);
    };
    found(("Artel", "artel@localhost"));
    put(&home, "more", "[user]\n\temail = home@example.org\n");
    put(
        &home,
        ".gitconfig",
        "[include]\n\tpath = ~/more\n[user]\n\tname = \"Home <x>\"\n",
    );
    found(("Home x", "home@example.org"));
    scene.git(&["config", "user.email", "repository@example.org"]);
    found(("Home x", "repository@example.org"));
    scene.git(&["config", "user.name", ""]);
    found(("Home x", "repository@example.org"));
}
