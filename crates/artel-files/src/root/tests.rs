//! Roots on a real file system: cases that the tables of the path tool cannot express.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{FileAccessRefusal, FileError, is_unfinished};

struct Place {
    dir: TempDir,
    root: RootFolder,
}

impl Place {
    fn new() -> Self {
        // In memory where possible: thousands of writes that reach a disk take minutes.
        let dir = TempDir::new_in("/dev/shm")
            .or_else(|_| TempDir::new())
            .unwrap();
        fs::create_dir_all(dir.path().join("root")).unwrap();
        fs::create_dir_all(dir.path().join("outside")).unwrap();
        let root = RootFolder::open(&dir.path().join("root")).unwrap();
        Self { dir, root }
    }

    /// Creates a file, with its folders, in the folder around the root.
    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }
}

fn yes(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Ok(())
}

fn no(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Err(FileAccessRefusal {
        rule: "no".into(),
        reason: "not now".into(),
    })
}

fn read(root: &RootFolder, path: impl AsRef<Path>) -> Result<Vec<u8>, RootFolderError> {
    root.read(path.as_ref(), 1000, &yes)
}

fn write(root: &RootFolder, path: impl AsRef<Path>) -> Result<WrittenFile, RootFolderError> {
    root.write(path.as_ref(), b"new", &yes)
}

#[test]
fn names_are_bytes() {
    let place = Place::new();
    let names: [&[u8]; 6] = [
        b"\xff\xfe",
        b"a\\b",
        b"a\nb",
        b"\x1b[31m",
        b"-",
        &[b'x'; 240],
    ];
    for name in names {
        let name = OsStr::from_bytes(name);
        write(&place.root, name).unwrap();
        assert_eq!(read(&place.root, name).unwrap(), b"new");
        let listing = place.root.list(Path::new("."), 10, &yes).unwrap();
        assert_eq!(listing.entries.len(), 1);
        assert_eq!(listing.entries[0].name, name);
        let copy = [name.as_bytes(), b".copy"].concat();
        let copy = Path::new(OsStr::from_bytes(&copy));
        assert_eq!(
            place.root.rename(Path::new(name), copy, &yes).unwrap(),
            copy
        );
        assert_eq!(place.root.delete(copy, &yes).unwrap(), copy);
    }
    let too_long = OsStr::from_bytes(&[b'x'; 256]);
    for path in [
        PathBuf::from(too_long),
        Path::new("made/above").join(too_long),
    ] {
        assert!(matches!(
            write(&place.root, path),
            Err(RootFolderError::File(_))
        ));
    }
    assert!(!place.at("root/made").exists());
}

#[test]
fn what_was_there_keeps_its_mode_and_what_is_new_is_plain() {
    let place = Place::new();
    for mode in [0o600, 0o755, 0o640] {
        let path = place.file("root/a", "old");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(!write(&place.root, "a").unwrap().is_new);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode);
    }
    let path = place.file("root/suid", "old");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    write(&place.root, "suid").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
    assert!(write(&place.root, "new").unwrap().is_new);
    assert_eq!(
        fs::metadata(place.at("root/new")).unwrap().mode() & 0o7111,
        0
    );
}

#[test]
fn the_guard_hears_the_resolved_path_and_every_name_on_the_way() {
    let place = Place::new();
    place.file("root/real/file", "text");
    symlink("real", place.at("root/link")).unwrap();
    symlink("link/file", place.at("root/chain")).unwrap();
    fs::hard_link(place.at("root/real/file"), place.at("root/second")).unwrap();
    let heard = Cell::new(Vec::new());
    let listen = |path: &Path, op: FileAccessKind| {
        let mut all = heard.take();
        all.push(format!("{op} {}", path.display()));
        heard.set(all);
        Ok(())
    };
    place.root.read(Path::new("chain"), 10, &listen).unwrap();
    let mut all = heard.take();
    all.sort();
    all.dedup();
    assert_eq!(
        all,
        [
            "read chain",
            "read link/file",
            "read real/file",
            "read second"
        ]
    );
    place.root.list(Path::new("link"), 10, &listen).unwrap();
    assert_eq!(heard.take(), ["read real/", "read link/"]);
    place.root.write(Path::new("a/b"), b"", &listen).unwrap();
    assert_eq!(heard.take(), ["written a/b"]);
    place.root.delete(Path::new("link"), &listen).unwrap();
    assert_eq!(heard.take(), ["removed link"]);
}

#[test]
fn a_no_leaves_everything_as_it_was() {
    let place = Place::new();
    place.file("root/a", "old");
    let refused = [
        place.root.read(Path::new("a"), 10, &no).map(drop),
        place.root.list(Path::new("."), 10, &no).map(drop),
        place.root.write(Path::new("a"), b"new", &no).map(drop),
        place.root.write(Path::new("x/y/z"), b"new", &no).map(drop),
        place.root.delete(Path::new("a"), &no).map(drop),
        place
            .root
            .rename(Path::new("a"), Path::new("b/c"), &no)
            .map(drop),
    ];
    for refusal in refused {
        let refusal = refusal.unwrap_err();
        assert!(refusal.to_string().ends_with("not now"), "{refusal}");
    }
    assert_eq!(place.text("root/a"), "old");
    assert_eq!(fs::read_dir(place.at("root")).unwrap().count(), 1);
}

#[test]
fn files_move_only_to_free_places_inside() {
    let place = Place::new();
    place.file("root/a", "a");
    place.file("root/b", "b");
    place.file("root/dir/x", "x");
    symlink("../outside", place.at("root/out")).unwrap();
    let rename = |from: &str, to: &str| {
        let moved = place.root.rename(Path::new(from), Path::new(to), &yes);
        moved.map_err(|error| error.to_string())
    };
    assert_eq!(rename("a", "new/deep/a").unwrap(), Path::new("new/deep/a"));
    assert_eq!(place.text("root/new/deep/a"), "a");
    for (from, to, why) in [
        ("b", "dir/x", "exists already"),
        ("b", "out/b", "outside of"),
        ("b", "../b", "outside of"),
        ("out/b", "c", "outside of"),
        ("dir", "moved", "a file was expected"),
        ("out", "moved", "a file was expected"),
        ("a", "c", "No such file"),
        ("b", "c/", "a file was expected"),
        ("b", ".", "exists already"),
    ] {
        let error = rename(from, to).unwrap_err();
        assert!(error.contains(why), "{from} {to}: {error}");
    }
    assert_eq!(
        (place.text("root/b"), place.text("root/dir/x")),
        ("b".into(), "x".into())
    );
    assert_eq!(fs::read_dir(place.at("outside")).unwrap().count(), 0);
}

#[test]
fn hard_links_count_as_inside_only_if_all_are_found() {
    let place = Place::new();
    let outside = place.file("outside/file", "OUTSIDE");
    fs::hard_link(&outside, place.at("root/a")).unwrap();
    fs::hard_link(&outside, place.at("root/b")).unwrap();
    let error = read(&place.root, "a").unwrap_err();
    assert!(
        matches!(
            error,
            RootFolderError::NamedElsewhere {
                links: 3,
                found: 2,
                ..
            }
        ),
        "{error}"
    );
    assert!(write(&place.root, "a").is_err() && place.root.delete(Path::new("a"), &yes).is_err());
    fs::remove_file(&outside).unwrap();
    assert_eq!(read(&place.root, "a").unwrap(), b"OUTSIDE");
    write(&place.root, "b").unwrap();
    assert_eq!(
        (place.text("root/a"), place.text("root/b")),
        ("OUTSIDE".into(), "new".into())
    );
}

#[test]
fn other_mounts_are_not_entered_unless_allowed() {
    // The kernel's own file systems are mounted on every machine.
    let root = RootFolder::open(Path::new("/")).unwrap();
    let error = read(&root, "proc/self/status").unwrap_err();
    assert!(
        matches!(&error, RootFolderError::Mount { at, .. } if at == Path::new("proc")),
        "{error}"
    );
    let root = root.across_mounts();
    assert!(
        root.resolve(Path::new("proc/version"))
            .unwrap()
            .about
            .is_some()
    );
    // A link that the kernel computes is followed by its text, and leads nowhere else.
    let by_text = root.resolve(Path::new("/proc/self/root/etc")).unwrap();
    assert_eq!(by_text.path, Path::new("etc"));
}

#[test]
fn a_root_is_what_was_opened() {
    let place = Place::new();
    place.file("root/a", "inside");
    place.file("outside/a", "OUTSIDE");
    symlink(place.at("root"), place.at("alias")).unwrap();
    let by_link = RootFolder::open(&place.at("alias")).unwrap();
    assert_eq!(read(&by_link, place.at("alias/a")).unwrap(), b"inside");
    assert_eq!(read(&by_link, place.at("root/a")).unwrap(), b"inside");
    assert!(read(&place.root, place.at("alias/a")).is_err());
    // The folder is renamed and another put in its place: the handle still leads to the first.
    fs::rename(place.at("root"), place.at("moved")).unwrap();
    symlink("outside", place.at("root")).unwrap();
    assert_eq!(read(&place.root, "a").unwrap(), b"inside");
    assert_eq!(read(&place.root, place.at("root/a")).unwrap(), b"inside");
    write(&place.root, "a").unwrap();
    assert_eq!(
        (place.text("moved/a"), place.text("outside/a")),
        ("new".into(), "OUTSIDE".into())
    );
    fs::remove_dir_all(place.at("moved")).unwrap();
    assert!(write(&place.root, "a").is_err());
    for dir in ["missing", "outside/a"] {
        assert!(matches!(
            RootFolder::open(&place.at(dir)),
            Err(RootFolderError::File(_))
        ));
    }
}

#[test]
fn reading_has_a_bound() {
    let place = Place::new();
    place.file("root/a", "12345");
    assert_eq!(place.root.read(Path::new("a"), 5, &yes).unwrap(), b"12345");
    let error = place.root.read(Path::new("a"), 4, &yes).unwrap_err();
    assert!(matches!(
        error,
        RootFolderError::File(FileError::TooLarge { most: 4, .. })
    ));
    for number in 0..5 {
        place.file(&format!("root/many/{number}"), "");
    }
    let listing = place.root.list(Path::new("many"), 3, &yes).unwrap();
    assert!(listing.is_cut && listing.entries.len() == 3);
    let listing = place.root.list(Path::new("many"), 5, &yes).unwrap();
    assert!(!listing.is_cut && listing.entries.len() == 5);
}

#[test]
fn permissions_of_the_system_hold() {
    let place = Place::new();
    place.file("root/own/file", "old");
    place.file("root/theirs", "old");
    place.file("root/locked/file", "old");
    place.file("root/unreadable", "old");
    let mode = |path: &str, mode| {
        fs::set_permissions(place.at(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    for path in [".", "root", "root/own"] {
        mode(path, 0o777);
    }
    mode("root/theirs", 0o444);
    mode("root/unreadable", 0o000);
    mode("root/locked", 0o555);
    // Credentials are per thread, so no other test notices; without root the user stays the
    // same.
    let tried = std::thread::scope(|scope| {
        let try_all = || {
            if rustix::process::geteuid().is_root() {
                let nobody = rustix::process::Uid::from_raw(65534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            let root = &place.root;
            [
                read(root, "unreadable").map(drop),
                write(root, "theirs").map(drop),
                write(root, "locked/file").map(drop),
                write(root, "locked/new").map(drop),
                write(root, "locked/new/deep").map(drop),
                root.delete(Path::new("locked/file"), &yes).map(drop),
                write(root, "own/new").map(drop),
            ]
        };
        scope.spawn(try_all).join().unwrap()
    });
    let (fine, refused) = tried.split_last().unwrap();
    for (at, refusal) in refused.iter().enumerate() {
        let error = refusal.as_ref().expect_err(&at.to_string()).to_string();
        assert!(error.contains("ermission denied"), "{error}");
    }
    assert!(fine.is_ok(), "{fine:?}");
    for path in ["root/theirs", "root/locked/file"] {
        assert_eq!(place.text(path), "old");
    }
    mode("root/locked", 0o755);
}

#[test]
fn a_folder_carried_off_after_the_answer_takes_no_file_along() {
    let place = Place::new();
    place.file("root/d/file", "old");
    fs::hard_link(place.at("root/d/file"), place.at("root/second")).unwrap();
    // The guard is asked about the second name when the folder is already open: the worst
    // moment.
    let asked = Cell::new(0);
    let carry_off = |path: &Path, _: FileAccessKind| {
        if path == Path::new("second") {
            asked.set(asked.get() + 1);
            fs::rename(place.at("root/d"), place.at("outside/d")).unwrap();
            symlink("../outside/d", place.at("root/d")).unwrap();
        }
        Ok(())
    };
    let error = place
        .root
        .write(Path::new("d/file"), b"new", &carry_off)
        .unwrap_err();
    assert!(matches!(error, RootFolderError::Outside { .. }), "{error}");
    assert_eq!(asked.get(), 1);
    assert_eq!(place.text("outside/d/file"), "old");
    let left: Vec<_> = fs::read_dir(place.at("outside/d")).unwrap().collect();
    assert_eq!(left.len(), 1);
}

#[test]
fn what_takes_the_place_after_the_answer_is_not_used() {
    let place = Place::new();
    place.file("root/d/file", "inside");
    place.file("root/.git/hooks/file", "hook");
    symlink(".git/hooks", place.at("root/l")).unwrap();
    let pipe = place.at("root/pipe");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o644.into(), 0).unwrap();
    let exchange = |one: &str, other: &str| {
        let (cwd, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
        rustix::fs::renameat_with(cwd, place.at(one), cwd, place.at(other), flags).unwrap();
    };
    // The guard allows the folder, and then a link to a protected one stands there.
    let is_first = Cell::new(true);
    let to_hooks = |path: &Path, op: FileAccessKind| {
        if is_first.replace(false) {
            exchange("root/d", "root/l");
        }
        if path.starts_with(".git") {
            no(path, op)
        } else {
            Ok(())
        }
    };
    let written = place.root.write(Path::new("d/new"), b"new", &to_hooks);
    assert!(
        matches!(&written, Err(RootFolderError::Refused { .. })),
        "{written:?}"
    );
    assert!(!place.at("root/.git/hooks/new").exists());
    exchange("root/d", "root/l");
    // The guard allows the file, and then a pipe stands there.
    let to_pipe = |_: &Path, _: FileAccessKind| {
        exchange("root/d/file", "root/pipe");
        Ok(())
    };
    let bytes = place.root.read(Path::new("d/file"), 100, &to_pipe);
    assert!(
        matches!(&bytes, Err(RootFolderError::File(FileError::Other { .. }))),
        "{bytes:?}"
    );
}

#[test]
fn a_tree_that_never_rests_is_given_up() {
    let place = Place::new();
    place.file("root/d/file", "inside");
    place.file("outside/file", "OUTSIDE");
    symlink("../outside", place.at("root/l")).unwrap();
    let flip = |_: &Path, _: FileAccessKind| {
        let (d, l) = (place.at("root/d"), place.at("root/l"));
        let cwd = rustix::fs::CWD;
        rustix::fs::renameat_with(cwd, d, cwd, l, rustix::fs::RenameFlags::EXCHANGE).unwrap();
        Ok(())
    };
    for _ in 0..4 {
        // Each answer comes with a swap: by the time of opening, the judged file is a link.
        let read = place.root.read(Path::new("d/file"), 100, &flip);
        assert!(read.is_err(), "{read:?}");
        let written = place.root.write(Path::new("d/file"), b"new", &flip);
        assert!(written.is_err(), "{written:?}");
        let deleted = place.root.delete(Path::new("d/file"), &flip);
        assert!(deleted.is_err(), "{deleted:?}");
    }
    assert_eq!(place.text("outside/file"), "OUTSIDE");
    let churn = |_: &Path, _: FileAccessKind| {
        fs::remove_file(place.at("root/churn")).unwrap();
        place.file("root/churn.new", "inside");
        fs::rename(place.at("root/churn.new"), place.at("root/churn")).unwrap();
        Ok(())
    };
    place.file("root/churn", "inside");
    let never = place.root.write(Path::new("churn"), b"new", &churn);
    assert!(
        matches!(never, Err(RootFolderError::Unsteady { .. }) | Ok(_)),
        "{never:?}"
    );
    let leftover = |dir: &str| {
        let mut names = fs::read_dir(place.at(dir))
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        names.any(|name| is_unfinished(&name))
    };
    assert!(!leftover("root") && !leftover("root/d") && !leftover("outside"));
}

/// A tree of folders, files and links, as numbers that name each other.
#[derive(Debug, Clone)]
enum Node {
    Folder(usize),
    File(usize),
    Link(usize, String),
}

fn names() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "a", "b", "c", "..", ".", "root", "outside", "a/b", "../a",
    ])
    .prop_map(str::to_owned)
}

fn trees() -> impl Strategy<Value = Vec<Node>> {
    let target = prop::collection::vec(names(), 1..4).prop_map(|parts| parts.join("/"));
    let node = prop_oneof![
        (0_usize..20).prop_map(Node::Folder),
        (0_usize..20).prop_map(Node::File),
        (0_usize..20, target, any::<bool>()).prop_map(|(at, target, is_absolute)| {
            Node::Link(
                at,
                if is_absolute {
                    format!("{{B}}/{target}")
                } else {
                    target
                },
            )
        }),
    ];
    prop::collection::vec(node, 5..25)
}

/// Builds the tree, leaving out later nodes that do not fit.
fn build(place: &Place, nodes: &[Node]) {
    let mut folders = vec![place.at("root"), place.at("root"), place.at("outside")];
    let base = place.dir.path().to_str().unwrap().to_owned();
    for (number, node) in nodes.iter().enumerate() {
        let (Node::Folder(at) | Node::File(at) | Node::Link(at, _)) = node;
        let name = ["a", "b", "c"][number % 3];
        let path = folders[at % folders.len()].join(name);
        let text = path.strip_prefix(&base).unwrap().display().to_string();
        match node {
            Node::Folder(_) if fs::create_dir(&path).is_ok() => folders.push(path),
            Node::File(_) if !path.exists() && !path.is_symlink() => {
                fs::write(&path, text).unwrap();
            }
            Node::Link(_, target) => {
                drop(symlink(target.replace("{B}", &base), &path));
            }
            Node::Folder(_) | Node::File(_) => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn only_files_that_really_lie_beneath_the_root_are_read(
        nodes in trees(),
        paths in prop::collection::vec(prop::collection::vec(names(), 1..5), 20),
    ) {
        let place = Place::new();
        build(&place, &nodes);
        let real_root = place.at("root").canonicalize().unwrap();
        for path in paths {
            let path = PathBuf::from(path.join("/"));
            let real = place.at("root").join(&path).canonicalize();
            match read(&place.root, &path) {
                Ok(bytes) => {
                    let real = real.unwrap();
                    prop_assert!(real.starts_with(&real_root), "{path:?} is {real:?}");
                    prop_assert_eq!(bytes, fs::read(&real).unwrap());
                    let resolved = place.root.resolve(&path).unwrap().path;
                    prop_assert_eq!(place.root.path().join(resolved), real);
                }
                // Targets that the system finds inside are refused only if the way there
                // leaves the root.
                Err(RootFolderError::Outside { .. }) => {}
                Err(error) => {
                    let is_file = real.as_ref().is_ok_and(|real| real.is_file());
                    prop_assert!(!is_file, "{path:?} is {real:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn writing_and_removing_change_nothing_outside(
        nodes in trees(),
        paths in prop::collection::vec(prop::collection::vec(names(), 1..5), 10),
    ) {
        let place = Place::new();
        build(&place, &nodes);
        let outside = |place: &Place| {
            let mut all = Vec::new();
            note(&place.at("outside"), &mut all);
            all
        };
        let before = outside(&place);
        for path in paths {
            let path = PathBuf::from(path.join("/"));
            if let Ok(written) = write(&place.root, &path) {
                prop_assert_eq!(fs::read(place.at("root").join(&written.path)).unwrap(), b"new");
            }
            drop(place.root.delete(&path, &yes));
        }
        prop_assert_eq!(before, outside(&place));
        prop_assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 2);
    }
}

fn note(folder: &Path, all: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            note(&path, all);
        }
        let bytes = (path.is_file() && !path.is_symlink()).then(|| fs::read(&path).unwrap());
        all.push((path, bytes));
    }
    all.sort();
}
