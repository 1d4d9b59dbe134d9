//! Projects whose `.git` or `.gitmodules` lead elsewhere: nothing elsewhere is changed, opened or
//! started, whether the folder becomes a portal, a run works on it, or its changes are applied.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::omniforge::world::{World, command};
use crate::support::Tree;

const WRITES: &str = "lines:\n  - call: { write: { path: report.md, content: \"hello\\n\" } }\n  \
                      - call: { bash: { command: \"cat .git/private.txt .git/HEAD; git show HEAD\" } }\n  \
                      - call: { git_show: { commit: HEAD } }\n  \
                      - call: { git_log: {} }\n  \
                      - call: { finish: { answer: done } }\n";

fn git(folder: &Path, words: &[&str]) {
    let own = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"];
    command(folder, &[&own, words].concat());
}

/// Another repository of the person, with something private in its files and beside them.
fn other(world: &World) -> PathBuf {
    let other = world.house.folder("elsewhere/other");
    git(&other, &["init", "-q", "-b", "main"]);
    fs::write(other.join("diary.txt"), "PRIVATE-MARK\n").unwrap();
    fs::write(other.join(".git/private.txt"), "PRIVATE-MARK\n").unwrap();
    git(&other, &["add", "-A"]);
    git(&other, &["commit", "-qm", "PRIVATE-MARK"]);
    other
}

/// Opens the project, works in it, and applies what was made.
fn goes_through(world: &World) {
    let project = world.project.to_str().unwrap();
    world.artel(["portal", "add", project]).run();
    let run = ["--task", "begin", "--yes", "--apply"];
    world.rehearsed(WRITES, run).run();
    world.artel(["portal", "verify"]).run();
}

#[track_caller]
fn nothing_was_shown(world: &World, what: &str) {
    let export = world.ok(["journal", "export"]).out;
    assert!(export.contains("run.started"), "{what}: nothing began");
    assert!(!export.contains("PRIVATE-MARK"), "{what}: {export}");
}

#[test]
fn a_git_pointer_to_another_repository_opens_and_changes_nothing_there() {
    for what in ["file", "link", "relative", "fake"] {
        let world = World::new();
        let other = other(&world);
        let pointer = world.project.join(".git");
        match what {
            "file" => fs::write(&pointer, format!("gitdir: {}/.git\n", other.display())).unwrap(),
            "link" => symlink(other.join(".git"), &pointer).unwrap(),
            "relative" => fs::write(&pointer, "gitdir: ../elsewhere/other/.git\n").unwrap(),
            _ => {
                let fake = world.project.join("fake");
                fs::create_dir(&fake).unwrap();
                fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
                fs::write(fake.join("gitdir"), "../.git\n").unwrap();
                let common = format!("{}/.git\n", other.display());
                fs::write(fake.join("commondir"), common).unwrap();
                fs::write(&pointer, "gitdir: fake\n").unwrap();
            }
        }
        let before = Tree::of(&other);
        goes_through(&world);
        before.unchanged(&other);
        nothing_was_shown(&world, what);
    }
}

#[test]
fn what_a_list_of_submodules_says_starts_nothing_and_reaches_nothing() {
    let world = World::new();
    let other = other(&world);
    let mark = world.house.root().join("it-ran");
    let modules = format!(
        "[submodule \"a\"]\n\tpath = sub\n\turl = ext::sh -c touch% {mark}\n\tupdate = !touch {mark}\n\
         [submodule \"../../../elsewhere/other/.git\"]\n\tpath = ../elsewhere/other\n\turl = {other}\n\
         [submodule \"-u./x\"]\n\tpath = -u./x\n\turl = -u./x\n\tbranch = --upload-pack=touch {mark}\n",
        mark = mark.display(),
        other = other.display(),
    );
    git(&world.project, &["init", "-q", "-b", "main"]);
    fs::write(world.project.join(".gitmodules"), modules).unwrap();
    git(&world.project, &["add", "-A"]);
    let link = "160000,0123456789012345678901234567890123456789,sub";
    git(
        &world.project,
        &["update-index", "--add", "--cacheinfo", link],
    );
    git(&world.project, &["commit", "-qm", "first"]);
    // Its folder is there and points to the other one.
    fs::create_dir_all(world.project.join("sub")).unwrap();
    let pointer = format!("gitdir: {}/.git\n", other.display());
    fs::write(world.project.join("sub/.git"), pointer).unwrap();
    let before = Tree::of(&other);
    goes_through(&world);
    before.unchanged(&other);
    assert!(!mark.exists(), "a list of submodules started something");
    nothing_was_shown(&world, "submodules");
}
