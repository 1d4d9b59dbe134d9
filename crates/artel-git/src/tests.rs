//! A hostile repository starts nothing.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::{GitError, GitIdentity, GitRunner};

fn git_program() -> PathBuf {
    ["/usr/local/bin/git", "/usr/bin/git"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.exists())
        .unwrap()
}

fn git(tree: &Path) -> GitRunner {
    let identity = GitIdentity {
        name: "Artel".to_owned(),
        email: "artel@localhost".to_owned(),
    };
    GitRunner::new(git_program(), tree, identity)
}

fn repository() -> (TempDir, GitRunner) {
    let folder = TempDir::new().unwrap();
    let git = git(folder.path());
    git.run(&["init", "-q", "-b", "main"]).unwrap();
    fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    git.run(&["add", "a.txt"]).unwrap();
    git.run(&["commit", "-q", "-m", "first"]).unwrap();
    (folder, git)
}

/// Makes a program that leaves a marker when it is started.
fn trap(folder: &Path, marker: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let program = folder.join("trap.sh");
    let text = format!("#!/bin/sh\ntouch '{}'\ncat\n", marker.display());
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[test]
fn nothing_that_a_repository_names_is_started() {
    let (folder, git) = repository();
    let outside = TempDir::new().unwrap();
    let marker = outside.path().join("marker");
    let trap = trap(outside.path(), &marker);
    let trap = trap.to_str().unwrap();
    for key in [
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "core.askPass",
        "core.alternateRefsCommand",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "sequence.editor",
        "diff.x.command",
        "diff.x.textconv",
        "interactive.diffFilter",
        "uploadpack.packObjectsHook",
        "pager.log",
        "pager.diff",
        "pager.status",
        "alias.status",
        "alias.log",
    ] {
        git.run(&["config", key, trap]).unwrap();
    }
    git.run(&["config", "commit.gpgSign", "true"]).unwrap();
    fs::write(folder.path().join(".gitattributes"), "*.txt diff=x\n").unwrap();
    let hooks = folder.path().join(".git/hooks");
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "commit-msg",
        "post-index-change",
    ] {
        fs::copy(trap, hooks.join(hook)).unwrap();
    }
    fs::write(folder.path().join("a.txt"), "two\n").unwrap();
    for arguments in [
        &["status", "--porcelain=v2"][..],
        &["diff", "--no-ext-diff", "--no-textconv"],
        &["log", "-p", "--no-ext-diff", "--no-textconv"],
        &["add", "a.txt"],
        &["commit", "-q", "-m", "second", "--no-verify"],
        &["stash", "list"],
        &["checkout", "-q", "-b", "other"],
    ] {
        git.run(arguments).unwrap();
        assert!(!marker.exists(), "{arguments:?}");
    }
}

/// Makes a repository with another one in `sub`, which the index knows. Its settings start
/// the trap if git looks into it.
fn around_another(marker: &Path, outside: &Path) -> (TempDir, GitRunner) {
    let (folder, outer) = repository();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let inner = git(&sub);
    inner.run(&["init", "-q", "-b", "main"]).unwrap();
    fs::write(sub.join("x"), "x\n").unwrap();
    fs::write(sub.join(".gitattributes"), "* filter=x\n").unwrap();
    inner.run(&["add", "-A"]).unwrap();
    inner.run(&["commit", "-q", "-m", "x"]).unwrap();
    let trap = trap(outside, marker);
    let key = ["config", "filter.x.clean", trap.to_str().unwrap()];
    inner.run(&key).unwrap();
    let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n";
    fs::write(folder.path().join(".gitmodules"), modules).unwrap();
    outer.run(&["add", "."]).unwrap();
    outer.run(&["commit", "-q", "-m", "second"]).unwrap();
    fs::write(sub.join("x"), "longer\n").unwrap();
    fs::write(folder.path().join("a.txt"), "two\n").unwrap();
    (folder, outer)
}

#[test]
fn no_repository_within_the_tree_is_looked_into() {
    let outside = TempDir::new().unwrap();
    let marker = outside.path().join("marker");
    for arguments in [
        &["status", "--short", "--ignore-submodules=all"][..],
        &["diff", "--ignore-submodules=all"],
        &["diff", "--ignore-submodules=none", "--cached"],
        &["log", "-p", "--ignore-submodules=none"],
        &["show", "--ignore-submodules=none"],
        &["add", "--update"],
        &["add", "sub"],
        &["add", "."],
        &["commit", "--file=-"],
        &["commit", "--all", "--message=x"],
        &["stash", "push"],
        &["stash", "pop"],
        &["cherry-pick", "HEAD"],
        &["cherry-pick", "--no-commit", "HEAD"],
        &["revert", "--no-edit", "HEAD"],
        &["switch", "--detach", "HEAD~1"],
        &["checkout", "."],
        &["reset", "--hard"],
        &["rm", "-r", "sub"],
        &["ls-files", "--modified"],
        &["blame", "a.txt"],
        &["update-index", "--refresh"],
        &["diff-files", "-p"],
        &["submodule", "status"],
        &["submodule", "foreach", "git status"],
    ] {
        let (_folder, git) = around_another(&marker, outside.path());
        let found = git.run(arguments);
        assert!(!marker.exists(), "{arguments:?}: {found:?}");
    }
    let (_folder, git) = around_another(&marker, outside.path());
    git.with_programs().run(&["add", "--update"]).unwrap();
    assert!(marker.exists(), "the trap is none: this shows nothing");
}

#[test]
fn files_beside_a_repository_within_the_tree_are_worked_with_as_ever() {
    let outside = TempDir::new().unwrap();
    let marker = outside.path().join("marker");
    let (folder, git) = around_another(&marker, outside.path());
    let said = git.run(&["status", "--short", "--ignore-submodules=all"]);
    assert_eq!(String::from_utf8(said.unwrap()).unwrap(), " M a.txt\n");
    git.run(&["add", "a.txt"]).unwrap();
    git.run(&["commit", "--quiet", "--message=third"]).unwrap();
    git.run(&["revert", "--no-edit", "HEAD"]).unwrap();
    let text = fs::read_to_string(folder.path().join("a.txt")).unwrap();
    assert_eq!(text, "one\n");
    let said = git.run(&["stash", "push"]).unwrap_err().to_string();
    assert!(said.contains("`sub` is a separate repository"), "{said}");
}

#[test]
fn a_stash_is_taken_and_brought_back_where_there_is_no_other_repository() {
    let (folder, git) = repository();
    let file = folder.path().join("a.txt");
    fs::write(&file, "two\n").unwrap();
    git.run(&["stash", "push", "--quiet"]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    git.run(&["stash", "pop", "--quiet"]).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "two\n");
}

#[test]
fn what_cannot_be_switched_off_is_reported_with_a_hash() {
    let (_folder, git) = repository();
    assert!(git.dangers().unwrap().0.is_empty());
    git.run(&["config", "filter.Big.smudge", "x"]).unwrap();
    git.run(&["config", "include.path", "../evil"]).unwrap();
    let dangers = git.dangers().unwrap();
    let keys: Vec<_> = dangers.0.iter().map(|danger| danger.key.as_str()).collect();
    assert_eq!(keys, ["filter.Big.smudge", "include.path"]);
    let before = dangers.hash();
    git.run(&["config", "filter.Big.smudge", "y"]).unwrap();
    assert_ne!(git.dangers().unwrap().hash(), before);
}

#[test]
fn a_folder_without_a_repository_is_told_and_none_above_is_taken() {
    let (folder, _git) = repository();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let found = git(&inner).run(&["status"]);
    assert!(matches!(found, Err(GitError::NoRepository(_))), "{found:?}");
}

#[test]
fn an_embedded_bare_repository_is_not_taken() {
    let folder = TempDir::new().unwrap();
    let outer = git(folder.path());
    outer.run(&["init", "-q", "--bare", "inner"]).unwrap();
    let found = git(&folder.path().join("inner")).run(&["log"]);
    assert!(found.is_err());
}

#[test]
fn other_protocols_are_off() {
    let (_folder, git) = repository();
    let (other, _) = repository();
    let path = other.path().to_str().unwrap();
    for remote in [
        path.to_owned(),
        format!("file://{path}"),
        "ext::sh -c true".to_owned(),
    ] {
        let found = git.run(&["fetch", &remote, "main"]);
        assert!(
            matches!(found, Err(GitError::Refused { .. })),
            "{remote}: {found:?}"
        );
    }
}
