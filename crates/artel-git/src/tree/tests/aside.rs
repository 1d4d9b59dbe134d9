//! Leaving something out costs a run nothing else, and nobody puts it in place.

use super::*;

const SMALL: RunTreeLimits = RunTreeLimits {
    files: 40,
    file_bytes: 1 << 20,
};

fn make(scene: &Scene) -> RunTree {
    RunTree::make(&RunTreeSpec {
        git: &program(),
        from: &scene.origin(),
        at: &scene.at(),
        named: &[],
        share: &[],
        bounds: SMALL,
    })
    .unwrap()
}

fn write(tree: &RunTree, path: &str, text: &str) {
    let path = tree.files().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Makes a file of this size that takes no space on disk.
fn sparse(path: &Path, bytes: u64) {
    fs::File::create(path).unwrap().set_len(bytes).unwrap();
}

/// Makes a folder that git takes for a repository.
fn bare(at: &Path) {
    for folder in ["objects", "refs"] {
        fs::create_dir_all(at.join(folder)).unwrap();
    }
    fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(at.join("config"), "[core]\n\tfsmonitor = touch x\n").unwrap();
    fs::write(at.join("objects/x"), "x").unwrap();
    fs::write(at.join("refs/x"), "x").unwrap();
}

fn aside(tree: &RunTree) -> Vec<(String, SetAsideReason)> {
    let text = |one: SetAsidePath| (one.path.to_str().unwrap().to_owned(), one.why);
    let mut aside: Vec<_> = tree.set_aside().unwrap().into_iter().map(text).collect();
    aside.sort();
    aside
}

/// Makes nested folders, deeper than a path can reach.
fn deep(at: &Path, levels: usize) {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut here = rustix::fs::open(at, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&here, "deep", Mode::RWXU).unwrap();
        here = openat(&here, "deep", flags, Mode::empty()).unwrap();
    }
    let flags = OFlags::CREATE | OFlags::WRONLY;
    openat(&here, "file", flags, Mode::RUSR | Mode::WUSR).unwrap();
}

/// Makes everything that is left out, all at once.
fn everything(tree: &RunTree) {
    let at = |path: &str| tree.files().join(path);
    bare(&at("q/r/s/t/u/v"));
    fs::create_dir_all(at("linked")).unwrap();
    fs::write(at("linked/HEAD"), "x").unwrap();
    fs::write(at("linked/commondir"), "..").unwrap();
    fs::create_dir_all(at("sub/.git")).unwrap();
    fs::write(at("sub/.git/config"), "x").unwrap();
    fs::create_dir(at("pointer")).unwrap();
    fs::write(at("pointer/.git"), "gitdir: ../q").unwrap();
    deep(tree.files(), 1500);
    sparse(&at("big.bin"), 3 << 30);
    for number in 0..200 {
        write(tree, &format!("many/{}/{number}", number % 7), "");
    }
    write(tree, "good.txt", "good\n");
    write(tree, "a.txt", "changed\n");
}

#[test]
fn what_is_too_much_is_named_and_the_rest_is_kept() {
    let scene = Scene::committed(&[("a.txt", "a\n"), ("sub/b.txt", "b\n")]);
    let tree = make(&scene);
    let before = files_of(&tree);
    everything(&tree);
    let found = aside(&tree);
    let deepest = ["deep"; 201].join("/");
    use SetAsideReason::{BareRepository, GitMetadata, TooDeep, TooLarge, TooMany};
    let expected = [
        ("big.bin", TooLarge(3 << 30)),
        (&deepest, TooDeep),
        ("linked", BareRepository),
        ("many", TooMany(200)),
        ("pointer/.git", GitMetadata),
        ("q/r/s/t/u/v", BareRepository),
        ("sub/.git", GitMetadata),
    ];
    assert_eq!(found, expected.map(|(path, why)| (path.to_owned(), why)));
    let change = |path: &str, kind| (path.to_owned(), kind);
    let expected = [
        change("a.txt", RunTreeChangeKind::Changed),
        change("good.txt", RunTreeChangeKind::Made),
    ];
    assert_eq!(changed(&tree), expected);
    // Another process finds the same.
    drop(tree);
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    assert_eq!(aside(&tree), found);
    tree.put_in_place(None, &|_| false).unwrap();
    let names: Vec<_> = state(&scene.origin()).into_keys().collect();
    let names = names.iter().filter(|path| !path.starts_with(".git"));
    let names: Vec<_> = names.map(|path| path.to_str().unwrap()).collect();
    assert_eq!(names, ["a.txt", "good.txt", "sub", "sub/b.txt"]);
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
    assert_eq!(aside(&tree), []);
    everything(&tree);
    tree.remove().unwrap();
    assert!(!scene.at().join("tree").exists());
}

#[test]
fn what_the_run_began_with_below_it_counts_as_unchanged_and_comes_back() {
    let scene = Scene::committed(&[
        ("data.bin", "small\n"),
        ("store/config", "c\n"),
        ("store/HEAD", "h\n"),
        ("crowd/one", "1\n"),
    ]);
    let tree = make(&scene);
    let before = files_of(&tree);
    tree.snapshot("one").unwrap();
    sparse(&tree.files().join("data.bin"), 2 << 20);
    bare(&tree.files().join("store"));
    for number in 0..100 {
        write(&tree, &format!("crowd/{number}"), "");
    }
    write(&tree, "crowd/one", "2\n");
    write(&tree, "new.txt", "new\n");
    assert_eq!(aside(&tree).len(), 3, "{:?}", aside(&tree));
    // New files directly in a folder are left out; those that were there from the start are
    // not.
    let crowd = [("crowd/one".to_owned(), RunTreeChangeKind::Changed)];
    let new = [("new.txt".to_owned(), RunTreeChangeKind::Made)];
    assert_eq!(changed(&tree), [crowd, new].concat());
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    assert_eq!(changed(&tree).len(), 2);
    tree.restore(&tree.find("one").unwrap()).unwrap();
    assert_eq!(files_of(&tree), before);
    // Once it is no longer a repository or too large, its changes count again.
    bare(&tree.files().join("store"));
    tree.snapshot("two").unwrap();
    fs::remove_dir_all(tree.files().join("store/refs")).unwrap();
    let paths: Vec<_> = changed(&tree).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["store/HEAD", "store/config", "store/objects/x"]);
}

#[test]
fn what_was_there_from_the_start_is_no_news_until_it_changes() {
    let scene = Scene::new();
    bare(&scene.origin().join("fixtures/repository"));
    sparse(&scene.origin().join("asset.bin"), 2 << 20);
    scene.write("a.txt", "a\n");
    let tree = make(&scene);
    let before = files_of(&tree);
    assert_eq!(aside(&tree), []);
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before, "nothing of the person's goes");
    sparse(&tree.files().join("asset.bin"), 3 << 20);
    write(&tree, "fixtures/repository/refs/y", "y");
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    let found: Vec<_> = aside(&tree).into_iter().map(|(path, _)| path).collect();
    assert_eq!(found, ["asset.bin", "fixtures/repository"]);
    assert_eq!(changed(&tree), []);
}

#[test]
fn holes_stay_holes_when_a_folder_is_copied() {
    use std::os::unix::fs::MetadataExt as _;
    let scene = Scene::new();
    let path = scene.origin().join("sparse.bin");
    sparse(&path, 3 << 30);
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(1 << 30)).unwrap();
    std::io::Write::write_all(&mut file, b"in the middle").unwrap();
    let tree = make(&scene);
    let about = fs::metadata(tree.files().join("sparse.bin")).unwrap();
    assert_eq!(about.len(), 3 << 30);
    assert!(about.blocks() * 512 < 1 << 20, "{}", about.blocks());
    let mut file = fs::File::open(tree.files().join("sparse.bin")).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(1 << 30)).unwrap();
    let mut bytes = [0; 13];
    std::io::Read::read_exact(&mut file, &mut bytes).unwrap();
    assert_eq!(&bytes, b"in the middle");
}

#[test]
fn two_runs_do_not_make_a_repository_between_them() {
    let scene = Scene::new();
    scene.write("a.txt", "a\n");
    let run = |name: &str, files: &[&str]| {
        let tree = RunTree::make(&RunTreeSpec {
            git: &program(),
            from: &scene.origin(),
            at: &scene.folder.path().join("runs").join(name),
            named: &[],
            share: &[],
            bounds: SMALL,
        })
        .unwrap();
        files.iter().for_each(|path| write(&tree, path, "x\n"));
        tree
    };
    let one = run("one", &["q/HEAD", "q/config"]);
    let two = run("two", &["q/objects/x", "q/refs/x", "good.txt"]);
    one.put_in_place(None, &|_| false).unwrap();
    let applied = two.put_in_place(None, &|_| false).unwrap();
    assert_eq!(
        applied.left_out,
        ["q/objects/x", "q/refs/x"].map(PathBuf::from)
    );
    assert_eq!(applied.written, [PathBuf::from("good.txt")]);
    assert!(!scene.origin().join("q/refs").exists());
}
