//! A repository written to do harm starts nothing, changes nothing and leads nowhere.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn nothing_that_a_repository_names_is_started_and_every_byte_stays() {
    let scene = Scene::committed(&[("a.txt", "one\r\n"), ("b.bin", "two\n")]);
    let marker = scene.folder.path().join("marker");
    let trap = scene.folder.path().join("trap.sh");
    fs::write(
        &trap,
        format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display()),
    )
    .unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    for key in [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "core.fsmonitor",
        "diff.x.command",
        "diff.x.textconv",
        "core.pager",
        "core.editor",
        "gpg.program",
        "diff.external",
        "core.alternateRefsCommand",
        "core.sshCommand",
        "merge.x.driver",
    ] {
        scene.git(&["config", key, trap]);
    }
    scene.git(&["config", "filter.x.required", "true"]);
    scene.git(&["config", "core.autocrlf", "true"]);
    scene.git(&["config", "core.worktree", "/"]);
    scene.write(
        ".gitattributes",
        "* filter=x diff=x merge=x text eol=crlf ident\n*.bin working-tree-encoding=UTF-16\n",
    );
    for hook in [
        "post-checkout",
        "post-index-change",
        "pre-commit",
        "reference-transaction",
    ] {
        let hook = scene.origin().join(".git/hooks").join(hook);
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::copy(trap, hook).unwrap();
    }
    scene.write("a.txt", "$Id$\r\nlone\nboth\r\n");
    let before = state(&scene.origin());

    let tree = scene.make();
    let began = files_of(&tree);
    fs::write(tree.files().join("a.txt"), "$Id: x$\r\n\n").unwrap();
    fs::write(tree.files().join(".gitattributes"), "* filter=y\n").unwrap();
    tree.snapshot("one").unwrap();
    assert!(!tree.changes(tree.start()).unwrap().is_empty());
    let said = String::from_utf8(tree.diff(tree.start(), &["a.txt".into()]).unwrap()).unwrap();
    assert!(said.contains("+$Id: x$\r\n"), "{said}");
    tree.restore(tree.start()).unwrap();

    assert_eq!(files_of(&tree), began);
    assert_eq!(state(&scene.origin()), before);
    assert!(!marker.exists());
}

#[test]
fn a_repository_that_is_not_the_folders_own_is_not_borrowed() {
    let secret = Scene::committed(&[("secret.txt", "s\n")]);
    let git = secret.origin().join(".git");
    let ways: [&dyn Fn(&Path); 4] = [
        &|origin| fs::write(origin.join(".git"), format!("gitdir: {}\n", git.display())).unwrap(),
        &|origin| symlink(&git, origin.join(".git")).unwrap(),
        &|origin| {
            git_in(origin, &["init", "-q"]);
            fs::write(
                origin.join(".git/commondir"),
                format!("{}\n", git.display()),
            )
            .unwrap();
        },
        &|origin| {
            git_in(origin, &["init", "-q"]);
            fs::remove_dir_all(origin.join(".git/objects")).unwrap();
            symlink(git.join("objects"), origin.join(".git/objects")).unwrap();
        },
    ];
    for way in ways {
        let scene = Scene::new();
        scene.write("a.txt", "a\n");
        way(&scene.origin());
        let tree = scene.make();
        assert!(tree.is_copy() && tree.borrowed().is_empty());
        assert_eq!(names(&tree), ["a.txt"]);
    }
}

/// A way to alter the objects of a repository, with its name.
type Way<'a> = (&'static str, &'a dyn Fn(&Path));

/// Returns repositories that borrow objects from another one, each in a different way.
fn borrowing(from: &Path) -> Vec<(&'static str, Scene)> {
    let objects = from.join(".git/objects");
    let text = format!("{}\n", objects.display());
    let ways: [Way<'_>; 9] = [
        ("alternates", &|git| {
            fs::write(git.join("info/alternates"), &text).unwrap()
        }),
        ("the home folder", &|git| {
            let home = from.parent().unwrap();
            fs::write(git.join("info/alternates"), format!("{}\n", home.display())).unwrap();
        }),
        ("a relative path", &|git| {
            let up = "../".repeat(git.components().count() + 3);
            let text = format!("# a note\n\n{up}{}\n", text.trim_start_matches('/'));
            fs::write(git.join("info/alternates"), text).unwrap();
        }),
        ("a quoted path", &|git| {
            fs::write(
                git.join("info/alternates"),
                format!("\"{}\"\n", objects.display()),
            )
            .unwrap();
        }),
        ("a link to the list", &|git| {
            let list = from.join("list");
            fs::write(&list, &text).unwrap();
            symlink(list, git.join("info/alternates")).unwrap();
        }),
        ("a link to the folder of the list", &|git| {
            let info = from.join("info");
            fs::create_dir_all(&info).unwrap();
            fs::write(info.join("alternates"), &text).unwrap();
            fs::remove_dir_all(git.join("info")).unwrap();
            symlink(info, git.join("info")).unwrap();
        }),
        ("a link to the packs", &|git| {
            fs::remove_dir_all(git.join("pack")).unwrap();
            symlink(objects.join("pack"), git.join("pack")).unwrap();
        }),
        ("links to single packs", &|git| {
            for pack in fs::read_dir(objects.join("pack")).unwrap().flatten() {
                symlink(pack.path(), git.join("pack").join(pack.file_name())).unwrap();
            }
        }),
        ("a link to a single object", &|git| {
            let folder = git.join("00");
            fs::create_dir_all(&folder).unwrap();
            symlink(from.join("list"), folder.join("0".repeat(38))).unwrap();
        }),
    ];
    let scene = |(name, way): Way<'_>| {
        let scene = Scene::committed(&[("a.txt", "a\n"), (".gitignore", "secret\n")]);
        scene.write("secret", "ignored");
        way(&scene.origin().join(".git/objects"));
        (name, scene)
    };
    ways.into_iter().map(scene).collect()
}

#[test]
fn a_repository_that_borrows_gets_a_plain_copy_and_nothing_foreign_is_shown() {
    let other = Scene::committed(&[("private.txt", "private\n")]);
    other.git(&["repack", "-adq"]);
    for (way, scene) in borrowing(&other.origin().canonicalize().unwrap()) {
        let tree = scene.make();
        assert!(tree.is_copy() && tree.borrowed().is_empty(), "{way}");
        assert!(tree.foreign().is_some(), "{way}");
        assert_eq!(names(&tree), [".gitignore", "a.txt"], "{way}");
        let list = tree.repository().join("objects/info/alternates");
        assert!(!list.exists(), "{way}");
        fs::write(tree.files().join("a.txt"), "b\n").unwrap();
        assert_eq!(
            changed(&tree),
            [("a.txt".to_owned(), RunTreeChangeKind::Changed)],
            "{way}"
        );
        tree.put_in_place(None, &|_| false).unwrap();
        assert_eq!(
            fs::read_to_string(scene.origin().join("a.txt")).unwrap(),
            "b\n",
            "{way}"
        );
    }
}

#[test]
fn objects_below_the_same_root_are_borrowed() {
    let scene = Scene::committed(&[("a.txt", "a\n"), (".gitignore", "base\n")]);
    let (from, to) = (scene.origin(), scene.origin().join("base"));
    git_in(&from, &["clone", "-q", ".", to.to_str().unwrap()]);
    let list = scene.origin().join(".git/objects/info/alternates");
    fs::write(list, "../../base/.git/objects\n").unwrap();
    let tree = scene.make();
    let expected = [scene.origin(), to].map(|origin| origin.join(".git/objects"));
    let expected = expected.map(|path| path.canonicalize().unwrap());
    assert_eq!(tree.borrowed(), expected);
    assert_eq!(git_in(tree.files(), &["show", "HEAD:a.txt"]), "a\n");
}

#[test]
fn a_tree_of_an_older_build_is_shown_nothing_foreign_either() {
    let other = Scene::committed(&[("private.txt", "private\n")]);
    let scene = Scene::committed(&[("a.txt", "a\n")]);
    drop(scene.make());
    let foreign = other.origin().join(".git/objects");
    let list = scene.origin().join(".git/objects/info/alternates");
    fs::write(list, format!("{}\n", foreign.display())).unwrap();
    fs::remove_file(scene.at().join("aside")).unwrap();
    let tree = RunTree::open(&program(), &scene.at()).unwrap();
    let own = scene.origin().join(".git/objects").canonicalize().unwrap();
    assert_eq!(tree.borrowed(), [own]);
}

#[test]
fn a_submodules_folder_leads_only_to_its_own_repository() {
    let scene = Scene::committed(&[("a.txt", "a\n")]);
    let inner = Scene::committed(&[("inner.txt", "i\n")]);
    let from = inner.origin();
    for name in ["one", "two"] {
        scene.git(&["submodule", "add", "-q", from.to_str().unwrap(), name]);
    }
    let part = |name: &str| {
        RunTree::make(&RunTreeSpec {
            git: &program(),
            from: &scene.origin().join(name),
            at: &scene.folder.path().join("runs").join(name),
            named: &[],
            share: &[],
            bounds: RunTreeLimits::default(),
        })
    };
    assert!(
        !part("one").unwrap().is_copy(),
        "its own repository is borrowed"
    );
    // The other submodule's repository is its neighbour, and its settings name another folder.
    fs::write(
        scene.origin().join("two/.git"),
        "gitdir: ../.git/modules/one\n",
    )
    .unwrap();
    let tree = part("two").unwrap();
    assert!(tree.is_copy() && tree.borrowed().is_empty());
}

#[test]
fn lists_that_are_links_are_not_copied_to_where_commands_read() {
    let scene = Scene::committed(&[("a.txt", "a\n")]);
    let secrets = scene.folder.path().join("secrets");
    fs::create_dir(&secrets).unwrap();
    fs::write(secrets.join("exclude"), "private\n").unwrap();
    let info = scene.origin().join(".git/info");
    fs::remove_dir_all(&info).unwrap();
    symlink(&secrets, &info).unwrap();
    let tree = scene.make();
    let copied = fs::read_to_string(tree.repository().join("info/exclude"));
    assert_eq!(copied.unwrap_or_default(), "");
}

#[test]
fn a_folder_that_became_a_link_is_gone_and_nothing_behind_it_is_copied() {
    let scene = Scene::committed(&[("dir/a.txt", "a\n"), ("b.txt", "b\n")]);
    let outside = scene.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "secret").unwrap();
    fs::remove_dir_all(scene.origin().join("dir")).unwrap();
    symlink(&outside, scene.origin().join("dir")).unwrap();
    let tree = scene.make();
    assert_eq!(names(&tree), ["b.txt", "dir"]);
}

#[test]
fn repositories_and_pipes_that_a_run_makes_are_set_aside_and_go_with_a_restore() {
    let scene = Scene::committed(&[("a.txt", "a\n"), (".gitmodules", "")]);
    let tree = scene.make();
    let before = files_of(&tree);
    let at = |path: &str| tree.files().join(path);
    fs::create_dir_all(at("sub/.GIT/hooks")).unwrap();
    fs::write(at("sub/.GIT/config"), "x").unwrap();
    fs::write(at("sub/file"), "x").unwrap();
    fs::write(at("git~1"), "odd, but a name").unwrap();
    fs::remove_file(at(".gitmodules")).unwrap();
    symlink("/etc/passwd", at(".gitmodules")).unwrap();
    fs::remove_file(at(".git")).unwrap();
    fs::create_dir(at(".git")).unwrap();
    fs::write(at(".git/config"), "[core]\n\tfsmonitor = touch x\n").unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        at("sub/.gitignore"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    fs::create_dir(at("sub/target")).unwrap();
    let aside = tree.snapshot("one").unwrap().set_aside().to_vec();
    let mut aside: Vec<_> = aside.into_iter().map(|one| one.path).collect();
    aside.sort();
    let expected = [".git", ".gitmodules", "pipe", "sub/.GIT", "sub/.gitignore"];
    assert_eq!(aside, expected.map(PathBuf::from));
    let made = |path: &str| (path.to_owned(), RunTreeChangeKind::Made);
    let gone = (".gitmodules".to_owned(), RunTreeChangeKind::Deleted);
    assert_eq!(changed(&tree), [gone, made("git~1"), made("sub/file")]);
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
    assert!(!at("pipe").exists() && !at("sub").exists());
    assert_eq!(git_in(tree.files(), &["status", "--porcelain"]), "");
}
