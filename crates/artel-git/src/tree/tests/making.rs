//! Files that a run begins with.

use std::os::unix::fs::{MetadataExt as _, symlink};

use super::*;

#[test]
fn a_run_begins_with_the_folder_as_it_is() {
    let scene = Scene::committed(&[
        ("kept.txt", "kept\n"),
        ("changed.txt", "old\n"),
        ("deleted.txt", "x\n"),
        ("staged.txt", "one\n"),
        ("moved.txt", "moves along\n"),
        ("deep/er/file.rs", "fn f() {}\n"),
        (".gitignore", "*.log\nnode_modules/\n"),
    ]);
    scene.write("changed.txt", "new\n");
    scene.write("staged.txt", "two\n");
    scene.git(&["add", "staged.txt"]);
    scene.write("staged.txt", "three\n");
    scene.git(&["mv", "moved.txt", "has-moved.txt"]);
    fs::remove_file(scene.origin().join("deleted.txt")).unwrap();
    scene.write("untracked.txt", "fresh\n");
    scene.write("ignored.log", "no\n");
    scene.write("named.log", "yes\n");
    scene.write("node_modules/m/index.js", "no\n");
    scene.write("script.sh", "#!/bin/sh\n");
    let script = scene.origin().join("script.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    scene.write("crlf.txt", "a\r\nb\r\n");
    fs::write(scene.origin().join("binary"), [0, 159, 13, 10, 255]).unwrap();
    symlink("kept.txt", scene.origin().join("link")).unwrap();
    symlink("/nonexistent/x", scene.origin().join("dangling")).unwrap();
    for name in [
        "-dash",
        "new\nline",
        "grüße 日本",
        "quo\"te",
        "sp ace",
        "back\\slash",
    ] {
        scene.write(name, name);
    }
    let before = state(&scene.origin());
    let status = scene.git(&["status", "--porcelain"]);

    let tree = scene.make_with(&scene.origin(), &["named.log".into()]);

    let mut expected = before.clone();
    expected.retain(|path, _| !path.starts_with(".git") && !path.starts_with("node_modules"));
    expected.remove(Path::new("ignored.log"));
    assert_eq!(files_of(&tree), expected);
    assert!(!tree.is_copy());
    assert_eq!(tree.origin(), scene.origin().canonicalize().unwrap());
    for name in ["kept.txt", "untracked.txt", "crlf.txt"] {
        let time = |folder: &Path| {
            let about = fs::metadata(folder.join(name)).unwrap();
            (about.mtime(), about.mtime_nsec())
        };
        assert_eq!(time(tree.files()), time(&scene.origin()), "{name}");
    }
    // The person's work shows up as uncommitted changes on the person's commit.
    let inside = git_in(tree.files(), &["status", "--porcelain"]);
    assert!(inside.contains(" M changed.txt"), "{inside}");
    assert!(inside.contains(" D deleted.txt"), "{inside}");
    assert!(inside.contains("?? untracked.txt"), "{inside}");
    assert!(!inside.contains("kept.txt"), "{inside}");
    let head = scene.git(&["rev-parse", "HEAD"]);
    assert_eq!(git_in(tree.files(), &["rev-parse", "HEAD"]), head);
    assert_eq!(
        git_in(tree.files(), &["branch", "--show-current"]),
        "main\n"
    );
    // The person sees nothing of it.
    assert_eq!(state(&scene.origin()), before);
    assert_eq!(scene.git(&["status", "--porcelain"]), status);
}

#[test]
fn the_snapshot_of_the_start_holds_every_byte() {
    let scene = Scene::committed(&[(".gitattributes", "* text=auto eol=lf ident\n")]);
    scene.write("crlf.txt", "a\r\n$Id$\r\n");
    let tree = scene.make();
    let before = files_of(&tree);
    for path in names(&tree) {
        fs::remove_file(tree.files().join(path)).unwrap();
    }
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
}

#[test]
fn a_part_of_a_repository_is_a_part_of_the_run_and_git_misses_nothing() {
    let scene = Scene::committed(&[
        ("outside.txt", "not for the run\n"),
        ("part/inside.txt", "old\n"),
        ("part/sub/more.txt", "more\n"),
        (".gitignore", "*.log\ntarget/\n"),
    ]);
    scene.write("part/inside.txt", "new\n");
    scene.write("part/x.log", "ignored\n");
    scene.write("part/target/out", "built\n");
    let part = scene.origin().join("part");
    let tree = scene.make_with(&part, &[]);
    assert_eq!(names(&tree), ["inside.txt", "sub/more.txt"]);
    assert!(tree.files().ends_with("tree/part"));
    let top = tree.files().parent().unwrap();
    assert_eq!(
        git_in(top, &["status", "--porcelain"]),
        " M part/inside.txt\n"
    );
    fs::write(tree.files().join("inside.txt"), "newer\n").unwrap();
    fs::create_dir(tree.files().join("target")).unwrap();
    fs::write(tree.files().join("target/out"), "built\n").unwrap();
    assert_eq!(
        changed(&tree),
        [("inside.txt".to_owned(), RunTreeChangeKind::Changed)]
    );
    assert_eq!(shared_folders(&part, &[]), [PathBuf::from("target")]);
    tree.put_in_place(None, &|_| false).unwrap();
    assert_eq!(fs::read(part.join("inside.txt")).unwrap(), b"newer\n");
}

#[test]
fn folders_without_a_commit_are_copied_and_say_so() {
    let plain = Scene::new();
    let unborn = Scene::new();
    unborn.git(&["init", "-q"]);
    for scene in [&plain, &unborn] {
        scene.write("a.txt", "a\n");
        scene.write("node_modules/x.js", "x\n");
        scene.write(".gitignore", "node_modules\n");
        let tree = scene.make();
        assert!(tree.is_copy() && tree.borrowed().is_empty());
        assert_eq!(names(&tree), [".gitignore", "a.txt"]);
        let modules = tree.files().join("node_modules");
        fs::create_dir(&modules).unwrap();
        fs::write(modules.join("y.js"), "y\n").unwrap();
        fs::write(tree.files().join("b.txt"), "b\n").unwrap();
        assert_eq!(
            changed(&tree),
            [("b.txt".to_owned(), RunTreeChangeKind::Made)]
        );
        let restored = tree.restore(tree.start()).unwrap();
        assert_eq!(restored.left, [PathBuf::from("node_modules")]);
        assert_eq!(names(&tree), [".gitignore", "a.txt", "node_modules/y.js"]);
        assert_eq!(
            shared_folders(&scene.origin(), &[]),
            [PathBuf::from("node_modules")]
        );
    }
}

#[test]
fn repositories_inside_give_their_working_files() {
    let library = Scene::committed(&[("lib.c", "int x;\n"), (".gitignore", "*.o\n")]);
    let scene = Scene::committed(&[("main.c", "int main;\n")]);
    let url = library.origin();
    scene.git(&["submodule", "--quiet", "add", url.to_str().unwrap(), "sub"]);
    scene.git(&["commit", "-q", "-m", "with a part"]);
    scene.write("sub/new.c", "int y;\n");
    scene.write("sub/x.o", "ignored there\n");
    fs::create_dir(scene.origin().join("nested")).unwrap();
    git_in(&scene.origin().join("nested"), &["init", "-q"]);
    scene.write("nested/n.txt", "n\n");
    let tree = scene.make();
    let expected = [
        ".gitmodules",
        "main.c",
        "nested/n.txt",
        "sub/.gitignore",
        "sub/lib.c",
        "sub/new.c",
    ];
    assert_eq!(names(&tree), expected);
    let before = files_of(&tree);
    fs::remove_dir_all(tree.files().join("sub")).unwrap();
    fs::write(tree.files().join("nested/n.txt"), "changed").unwrap();
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
    let inner = Scene {
        folder: TempDir::new().unwrap(),
    };
    let part = inner.make_with(&scene.origin().join("sub"), &[]);
    assert!(!part.is_copy());
    assert_eq!(names(&part), [".gitignore", "lib.c", "new.c"]);
}

#[test]
fn a_linked_worktree_is_a_folder_like_any_other() {
    let scene = Scene::committed(&[("a.txt", "a\n")]);
    let linked = scene.folder.path().join("linked");
    scene.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "side",
        linked.to_str().unwrap(),
    ]);
    fs::write(linked.join("a.txt"), "side\n").unwrap();
    let tree = scene.make_with(&linked, &[]);
    assert!(!tree.is_copy());
    assert_eq!(
        git_in(tree.files(), &["status", "--porcelain"]),
        " M a.txt\n"
    );
    assert_eq!(
        git_in(tree.files(), &["branch", "--show-current"]),
        "side\n"
    );
}

#[test]
fn what_is_named_must_lie_below_and_be_no_metadata() {
    let scene = Scene::committed(&[(".gitignore", "out\n")]);
    scene.write("out/a/b.txt", "b\n");
    fs::write(scene.folder.path().join("secret"), "s").unwrap();
    symlink("..", scene.origin().join("up")).unwrap();
    for bad in [
        "../secret",
        ".git/config",
        "none",
        "up/secret",
        "/etc/passwd",
        "",
    ] {
        let made = RunTree::make(&RunTreeSpec {
            git: &program(),
            from: &scene.origin(),
            at: &scene.at(),
            named: &[bad.into()],
            share: &[],
            bounds: RunTreeLimits::default(),
        });
        let is_refused = matches!(
            made,
            Err(RunTreeError::NotBelow { .. } | RunTreeError::LedAway { .. })
        );
        assert!(is_refused, "{bad}: {made:?}");
    }
    // A failed attempt does not count as a tree, and does not block the next one.
    assert!(matches!(
        RunTree::open(&program(), &scene.at()),
        Err(RunTreeError::NotMade { .. })
    ));
    let tree = scene.make_with(&scene.origin(), &["out".into()]);
    assert_eq!(names(&tree), [".gitignore", "out/a/b.txt", "up"]);
    let again = RunTree::make(&RunTreeSpec {
        git: &program(),
        from: &scene.origin(),
        at: &scene.at(),
        named: &[],
        share: &[],
        bounds: RunTreeLimits::default(),
    });
    assert!(matches!(again, Err(RunTreeError::Exists { .. })));
}

#[test]
fn too_much_is_refused_with_the_largest_folders() {
    let scene = Scene::new();
    for (folder, count) in [("big", 5), ("small", 1), ("middle", 3)] {
        for number in 0..count {
            scene.write(&format!("{folder}/deep/{number}"), "12345");
        }
    }
    let origin = scene.origin();
    let beneath = beneath::NoFollowFolder::open(&origin).unwrap();
    let paths: Vec<PathBuf> = ["big", "middle", "small"]
        .iter()
        .flat_map(|folder| {
            (0..5).map(move |number| PathBuf::from(format!("{folder}/deep/{number}")))
        })
        .collect();
    let there: Vec<_> = paths
        .iter()
        .filter_map(|path| Some((path, beneath.look(path).unwrap()?)))
        .collect();
    assert!(copy::check(&origin, &there, (9, 45)).is_ok());
    for bounds in [(8, 1000), (1000, 44)] {
        let said = copy::check(&origin, &there, bounds)
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("`big` (5 files, 25 bytes), `middle`"),
            "{said}"
        );
    }
}

#[test]
fn shared_folders_are_found_where_they_are_ignored() {
    let scene = Scene::committed(&[
        (
            ".gitignore",
            "node_modules/\n/target\n!keep/target\ncache.d\n",
        ),
        ("vendor/a.go", "package a\n"),
    ]);
    for path in [
        "node_modules/a/node_modules/b.js",
        "packages/one/node_modules/c.js",
        "target/debug/x",
        "keep/target/x",
        "cache.d/x",
        "1/2/3/4/node_modules/too-deep.js",
    ] {
        scene.write(path, "x");
    }
    let found = shared_folders(&scene.origin(), &["cache.d".to_owned()]);
    let expected = [
        "cache.d",
        "node_modules",
        "packages/one/node_modules",
        "target",
    ];
    assert_eq!(found, expected.map(PathBuf::from));
    let tree = scene.make();
    tree.bring(Path::new("packages/one/node_modules")).unwrap();
    assert!(tree.files().join("packages/one/node_modules/c.js").exists());
    assert_eq!(changed(&tree), []);
}

#[test]
fn a_shared_folder_is_brought_whole_or_not_at_all() {
    let scene = Scene::committed(&[(".gitignore", "node_modules/\ntarget/\nempty/\n")]);
    scene.write("node_modules/a/b.js", "x");
    scene.write("target/large", "x");
    let large = fs::File::options()
        .write(true)
        .open(scene.origin().join("target/large"));
    large.unwrap().set_len((500 << 20) + 1).unwrap();
    fs::create_dir(scene.origin().join("empty")).unwrap();
    let tree = scene.make();
    let bringing = scene.at().join("bringing");
    fs::create_dir_all(bringing.join("node_modules/a")).unwrap();
    fs::write(bringing.join("node_modules/a/cut.js"), "").unwrap();

    tree.bring(Path::new("node_modules")).unwrap();
    tree.bring(Path::new("empty")).unwrap();
    let refused = tree.bring(Path::new("target")).unwrap_err().to_string();

    assert!(refused.contains("524288000 bytes"), "{refused}");
    assert!(!tree.files().join("target").exists());
    assert!(tree.files().join("empty").is_dir());
    assert!(!tree.files().join("node_modules/a/cut.js").exists());
    assert!(!bringing.exists());
    // The run's changes to it stay.
    let copied = tree.files().join("node_modules/a/b.js");
    fs::write(&copied, "y").unwrap();
    tree.bring(Path::new("node_modules")).unwrap();
    assert_eq!(fs::read_to_string(&copied).unwrap(), "y");
    assert_eq!(changed(&tree), []);
}

#[test]
fn a_shared_folder_is_brought_through_no_link() {
    let scene = Scene::committed(&[(".gitignore", "node_modules/\n"), ("part/a.js", "x")]);
    scene.write("part/node_modules/b.js", "x");
    let tree = scene.make();
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::remove_dir_all(tree.files().join("part")).unwrap();
    symlink(&outside, tree.files().join("part")).unwrap();
    assert!(tree.bring(Path::new("part/node_modules")).is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn runs_kept_inside_or_beside_the_folder_are_not_taken_along() {
    let scene = Scene::new();
    scene.write("a.txt", "a\n");
    let places = [
        scene.folder.path().join("beside"),
        scene.origin().join(".artel/runs/one"),
        scene.origin().join(".artel/runs/two"),
    ];
    for at in places {
        let making = RunTreeSpec {
            git: &program(),
            from: &scene.origin(),
            at: &at,
            named: &[],
            share: &[],
            bounds: RunTreeLimits::default(),
        };
        assert_eq!(names(&RunTree::make(&making).unwrap()), ["a.txt"]);
    }
}
