//! A repository that somebody wrote to do harm starts nothing, changes nothing, leads nowhere.

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

#[test]
fn objects_that_the_person_borrows_are_named() {
    let base = Scene::committed(&[("a.txt", "a\n")]);
    let scene = Scene::new();
    let (from, to) = (base.origin(), scene.origin());
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    git_in(base.folder.path(), &["clone", "-q", "--shared", from, to]);
    let tree = scene.make();
    let expected = [scene.origin(), base.origin()].map(|origin| origin.join(".git/objects"));
    assert_eq!(
        tree.borrowed(),
        expected.map(|path| path.canonicalize().unwrap())
    );
    assert_eq!(git_in(tree.files(), &["show", "HEAD:a.txt"]), "a\n");
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
    let mut aside = tree.snapshot("one").unwrap().set_aside().to_vec();
    aside.sort();
    let expected = [".git", ".gitmodules", "pipe", "sub/.GIT", "sub/.gitignore"];
    assert_eq!(aside, expected.map(PathBuf::from));
    let made = |path: &str| (path.to_owned(), ChangeKind::Made);
    let gone = (".gitmodules".to_owned(), ChangeKind::Deleted);
    assert_eq!(changed(&tree), [gone, made("git~1"), made("sub/file")]);
    tree.restore(tree.start()).unwrap();
    assert_eq!(files_of(&tree), before);
    assert!(!at("pipe").exists() && !at("sub").exists());
    assert_eq!(git_in(tree.files(), &["status", "--porcelain"]), "");
}
