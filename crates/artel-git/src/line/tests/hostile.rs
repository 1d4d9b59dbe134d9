//! Programs that the person's repository names are never started, and files never converted
//! unseen.

use super::merging::{change, scene};
use super::*;

/// Makes a program that leaves a marker when it is started.
fn trap(scene: &Scene) -> (PathBuf, PathBuf) {
    let (program, marker) = (scene.path("trap.sh"), scene.path("marker"));
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, marker)
}

#[test]
fn hooks_and_filters_and_drivers_never_run() {
    let scene = scene();
    let (trap, marker) = trap(&scene);
    scene.write("kept.bin", "filtered\n");
    scene.write(
        ".gitattributes",
        "kept.* filter=x\nchanged.txt merge=x diff=x\n",
    );
    scene.commit("attributes");
    let name = trap.to_str().unwrap();
    for key in [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "merge.x.driver",
        "diff.x.command",
        "diff.x.textconv",
        "core.fsmonitor",
        "gpg.program",
        "uploadpack.packObjectsHook",
    ] {
        scene.git(&["config", key, name]);
    }
    scene.git(&["config", "commit.gpgSign", "true"]);
    let hooks = scene.origin().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "post-checkout",
        "post-merge",
        "pre-commit",
        "pre-merge-commit",
        "commit-msg",
        "reference-transaction",
        "post-index-change",
        "update",
    ] {
        fs::copy(&trap, hooks.join(hook)).unwrap();
    }
    // Git would read a filtered file through the filter if it does not trust the file's times.
    scene.write("kept.bin", "changed\n");
    let mut work = Work::new(&scene);
    let at = |what: &str| assert!(!marker.exists(), "{what}");
    assert_eq!(names(&work.line.base().unwrap().dirty), ["kept.bin"]);
    at("base");
    work.step(change);
    at("step");
    let base = work.line.base().unwrap().commit;
    work.line.stat(&base, &work.head).unwrap();
    work.line.diff(&base, &work.head, &[]).unwrap();
    at("reading");
    work.line.publish("fix/it-1").unwrap();
    at("publish");
    let merge = work.merge();
    at("merge");
    let undo = work.undo(&merge.new).unwrap();
    work.line.carry_out(&undo).unwrap();
    work.line.unpublish("fix/it-1", &work.head).unwrap();
    at("undo");
    assert_eq!(scene.read("kept.bin"), "changed\n");
}

#[test]
fn a_file_that_git_converts_is_refused_with_what_to_do() {
    for attribute in [
        "filter=x",
        "eol=crlf",
        "ident",
        "working-tree-encoding=UTF-16",
    ] {
        let scene = scene();
        scene.write(
            ".gitattributes",
            &format!("changed.* {attribute}\nother.* eol=lf\n"),
        );
        scene.git(&["add", ".gitattributes"]);
        scene.git(&["commit", "-q", "-m", "attributes"]);
        let mut work = Work::new(&scene);
        work.step(change);
        let refused = work.plan();
        let Err(refused @ MergeRefusedError::Converted { .. }) = refused else {
            panic!("{attribute}: {refused:?}");
        };
        assert!(
            refused.to_string().contains("`changed.txt`; merge by hand"),
            "{refused}"
        );
    }
}

#[test]
fn what_is_no_id_and_no_branch_is_refused() {
    let scene = scene();
    let line = scene.line();
    let head = scene.id("HEAD");
    for name in [
        "HEAD",
        "--help",
        "main^",
        ":/x",
        "abc def",
        "--output=/tmp/x",
    ] {
        let bad = |found: Result<(), PlanBranchError>| {
            // `HEAD` is a valid branch name, but no such branch exists.
            let is_refused = matches!(
                found,
                Err(PlanBranchError::BadName { .. } | PlanBranchError::Git(_))
            );
            assert!(is_refused, "{name}: {found:?}");
        };
        bad(line.tree_of(name).map(drop));
        bad(line.stat(name, &head).map(drop));
        bad(line.diff(&head, name, &[]).map(drop));
        bad(line.graft(&head, name, &["x".into()]).map(drop));
        bad(line.checkout(name, &scene.path("x"), &[]).map(drop));
    }
}

/// Returns the words in backticks after `; try` in a message.
fn advised(message: &str) -> Vec<&str> {
    let advice = message.split_once("; try ").unwrap().1;
    advice.split('`').skip(1).step_by(2).collect()
}

/// Arguments for cloning from this machine, which our own settings do not allow.
const CLONE: [&str; 4] = ["-c", "protocol.file.allow=always", "clone", "-q"];

#[test]
fn a_clone_that_borrows_is_refused_with_advice_that_works() {
    let scene = scene();
    let from = scene.origin();
    let from = from.to_str().unwrap();
    for (number, words) in [&["--shared"][..], &["--reference", from, "--no-local"]]
        .into_iter()
        .enumerate()
    {
        let clone = scene.path(&format!("clone-{number}"));
        let at = clone.to_str().unwrap();
        scene.git(&[&CLONE[..], words, &[from, at]].concat());
        put(&clone, "sub/own.txt", "own\n");
        scene.git_in(&clone, &["add", "-A"]);
        scene.git_in(&clone, &["commit", "-q", "-m", "own"]);
        let linked = scene.path(&format!("linked-{number}"));
        scene.git_in(&clone, &["worktree", "add", "-q", linked.to_str().unwrap()]);
        let make = |folder: &Path| {
            PlanBranch::make(
                &scene.program,
                &scene.path("borrowing"),
                folder,
                RunTreeLimits::default(),
            )
        };
        for folder in [linked.clone(), clone.join("sub"), clone.clone()] {
            let refused = make(&folder).err().unwrap();
            assert!(
                matches!(refused, PlanBranchError::Borrows { .. }),
                "{refused}"
            );
            let message = refused.to_string();
            let [repack, list] = advised(&message)[..] else {
                panic!("{message}");
            };
            let common = clone.canonicalize().unwrap();
            let known = common.join(".git/objects/info/alternates");
            assert_eq!(Path::new(list), known, "{message}");
            if folder != clone {
                continue;
            }
            let words: Vec<_> = repack.split(' ').skip(1).collect();
            scene.git_in(&folder, &words);
            fs::remove_file(list).unwrap();
        }
        for folder in [linked, clone.join("sub"), clone] {
            let line = make(&folder).unwrap();
            assert!(line.base().is_ok());
            drop(line);
            fs::remove_dir_all(scene.path("borrowing")).unwrap();
        }
    }
}

#[test]
fn a_folder_of_objects_that_is_a_link_is_refused_with_advice_that_works() {
    let scene = scene();
    let pack = scene.origin().join(".git/objects/pack");
    scene.git(&["repack", "-q", "-a", "-d"]);
    fs::rename(&pack, scene.path("pack")).unwrap();
    std::os::unix::fs::symlink(scene.path("pack"), &pack).unwrap();
    let make = || {
        PlanBranch::make(
            &scene.program,
            &scene.path("borrowing"),
            &scene.origin(),
            RunTreeLimits::default(),
        )
    };
    let message = make().err().unwrap().to_string();
    let [link] = advised(&message)[..] else {
        panic!("{message}");
    };
    assert!(
        message.contains("a plain copy in the place of"),
        "{message}"
    );
    fs::remove_file(link).unwrap();
    fs::rename(scene.path("pack"), link).unwrap();
    assert!(make().unwrap().base().is_ok());
}
