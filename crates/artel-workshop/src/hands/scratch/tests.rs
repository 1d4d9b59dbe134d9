use std::os::unix::fs::symlink;

use super::*;

fn scratch(all: &Path, name: &str) -> PrivateScratchFolder {
    PrivateScratchFolder::made(all, all.join(name)).unwrap()
}

fn told(before: &Path, after: &Path) -> String {
    let differences = differences(before, after, Path::new("")).unwrap();
    differences.into_iter().map(|it| it.text).collect()
}

#[test]
fn it_is_gone_afterwards_and_so_are_those_of_the_dead() {
    let all = tempfile::tempdir().unwrap();
    let all = all.path();
    fs::create_dir_all(all.join("dead/tree/closed/deep")).unwrap();
    fs::write(all.join("dead/.lock"), "").unwrap();
    fs::set_permissions(
        all.join("dead/tree/closed"),
        fs::Permissions::from_mode(0o500),
    )
    .unwrap();
    let one = scratch(all, "one");
    let other = scratch(all, "other");
    assert!(
        one.path().is_dir() && other.path().is_dir(),
        "the living stay"
    );
    assert!(!all.join("dead").exists());
    let path = one.path().to_owned();
    drop(one);
    assert!(!path.exists() && other.path().is_dir());
}

#[test]
fn a_tree_that_holds_the_copies_is_copied_without_them() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a"), "text").unwrap();
    let scratch = scratch(&home.path().join("state"), "one");
    let copy = scratch.copy(home.path()).unwrap();
    assert!(copy.join("a").exists() && !copy.join("state").exists());
    let without = home.path().join("state");
    assert_eq!(differences(home.path(), &copy, &without).unwrap(), []);
    let missing = scratch.copy(&home.path().join("nowhere")).unwrap_err();
    assert_eq!(missing.code, FailureCode::W010);
}

#[test]
fn a_copy_has_no_way_back_to_a_repository_elsewhere() {
    let tree = tempfile::tempdir().unwrap();
    let all = tempfile::tempdir().unwrap();
    for inside in ["linked", "absolute", "module", "plain/.git"] {
        fs::create_dir_all(tree.path().join(inside)).unwrap();
    }
    fs::write(
        tree.path().join("linked/.git"),
        "gitdir: /elsewhere/.git/worktrees/x\n",
    )
    .unwrap();
    symlink("/elsewhere/.git", tree.path().join("absolute/.git")).unwrap();
    fs::write(
        tree.path().join("module/.git"),
        "gitdir: ../plain/.git/modules/m\n",
    )
    .unwrap();
    let scratch = scratch(all.path(), "one");
    let copy = scratch.copy(tree.path()).unwrap();
    let kept = |name: &str| fs::symlink_metadata(copy.join(name)).is_ok();
    assert!(!kept("linked/.git") && !kept("absolute/.git"));
    assert!(kept("module/.git") && kept("plain/.git"));
}

#[test]
fn every_kind_of_change_is_told() {
    let (before, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (before, after) = (before.path(), after.path());
    for tree in [before, after] {
        fs::write(tree.join("same"), "same\n").unwrap();
        fs::write(tree.join("tool"), "run\n").unwrap();
        symlink("same", tree.join("link")).unwrap();
        fs::create_dir(tree.join(".git")).unwrap();
        fs::write(tree.join(".git/index"), tree.as_os_str().as_encoded_bytes()).unwrap();
    }
    assert_eq!(told(before, after), "");
    fs::write(before.join("gone"), "old\n").unwrap();
    fs::write(after.join("empty"), "").unwrap();
    fs::write(after.join("bytes"), [0xff]).unwrap();
    fs::set_permissions(before.join("tool"), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(after.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(after.join("link")).unwrap();
    symlink("tool", after.join("link")).unwrap();
    fs::write(after.join("same"), "SAME\n").unwrap();
    let wanted = "--- /dev/null\n+++ b/bytes\nbinary or large\n\
        --- /dev/null\n+++ b/empty\n\
        --- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n\
        --- a/link\n+++ b/link\n@@ -1 +1 @@\n-link to same\n+link to tool\n\
        --- a/same\n+++ b/same\n@@ -1 +1 @@\n-same\n+SAME\n\
        mode of tool: 644 -> 755\n";
    assert_eq!(told(before, after), wanted);
}
