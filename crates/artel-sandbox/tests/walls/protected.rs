//! Protected names: they stay, whether they exist or not, by whatever way they are approached.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use artel_sandbox::CommandExit;

use crate::fixture::{Place, finish, run, start};

const NAMES: [&str; 4] = [".git", ".artel", ".bashrc", ".envrc"];

/// Ways to put something under a name that is not there.
const FIRST: &[&str] = &[
    "echo x > NAME",
    "mkdir NAME",
    "mkdir -p NAME/hooks && echo x > NAME/hooks/pre-commit",
    "ln -s /etc/passwd NAME",
    "ln file NAME",
    "mkfifo NAME",
    "mv file NAME",
    "mv folder NAME",
    "rmdir NAME; mkdir NAME && touch NAME/x",
    "rm -rf NAME; touch NAME && echo x > NAME",
    "mv NAME aside && mkdir NAME",
    "mkdir -p swap && mv -T --exchange swap NAME",
    "chmod 777 NAME && touch NAME/x && echo x > NAME",
    "cd .. && mv inside away && mkdir -p inside/NAME && mv away/file inside/NAME/x",
    "\"$PROBE\" write-descriptor NAME | grep open",
    "mount --bind folder NAME && touch NAME/x",
];

#[test]
fn a_name_that_does_not_exist_cannot_be_made_and_nothing_is_left() {
    for name in NAMES {
        for way in FIRST {
            let place = Place::new();
            fs::write(place.inside.join("file"), "text").unwrap();
            fs::create_dir(place.inside.join("folder")).unwrap();
            let script = way.replace("NAME", name);
            let inside = place.inside(&script);
            assert_ne!(inside.exit, CommandExit::Code(0), "{script}: {inside:?}");
            let left = fs::symlink_metadata(place.inside.join(name));
            assert!(left.is_err(), "{script}: {left:?}");
        }
    }
}

/// Ways to change what is there.
const CHANGE: &[&str] = &[
    "echo x > .git/config",
    "echo x >> .git/hooks/pre-commit",
    "touch .git/hooks/post-checkout",
    "rm -rf .git; ls .git/config",
    "mv .git aside",
    "mkdir other && mv -T --exchange other .git",
    "ln .git/config linked && echo x > linked",
    "ln -s .git linked && echo x > linked/config",
    "chmod 777 .git/config && chmod 777 .git",
    "truncate -s 0 .git/config",
    "git config user.name someone",
    "git commit --allow-empty -m x",
    "echo x > .bashrc",
    "rm .bashrc",
    "mv .bashrc aside",
    "cp /dev/null .bashrc",
];

#[test]
fn what_is_there_stays_as_it_is() {
    for way in CHANGE {
        let place = repository();
        let before = place.snapshot();
        let inside = place.inside(way);
        let after: Vec<_> = place.snapshot();
        let kept = |entry: &&(std::path::PathBuf, String)| {
            let path = entry.0.to_string_lossy();
            path.contains(".git") || path.contains(".bashrc")
        };
        let before: Vec<_> = before.iter().filter(kept).collect();
        let after: Vec<_> = after.iter().filter(kept).collect();
        assert_eq!(before, after, "{way}: {inside:?}");
    }
}

#[test]
fn git_reads_everything() {
    let place = repository();
    let inside = place.inside("git log --oneline | wc -l; git status --porcelain");
    assert_eq!(inside.stdout, "1\n?? .bashrc\n", "{inside:?}");
}

#[test]
fn a_repository_further_down_stays_and_its_parents_keep_their_place() {
    let ways = [
        "echo x > sub/deep/repo/.git/config",
        "mv sub away && mkdir -p sub/deep/repo/.git && touch sub/deep/repo/.git/config",
        "mv sub/deep away && mkdir -p sub/deep/repo/.git && touch sub/deep/repo/.git/config",
        "mv sub/deep/repo away && mkdir -p sub/deep/repo/.git",
        "rm -rf sub && mkdir -p sub/deep/repo/.git",
        "echo x > sub/deep/repo/.envrc",
        "mkdir sub/deep/repo/.artel",
        "echo x > bare/hooks/post-update",
        "mv bare away",
    ];
    for way in ways {
        let place = Place::new();
        init(&place.inside.join("sub/deep/repo"), &[]);
        init(&place.inside.join("bare"), &["--bare"]);
        let before = place.snapshot();
        let inside = place.inside(way);
        assert_ne!(inside.exit, CommandExit::Code(0), "{way}: {inside:?}");
        let missing: Vec<_> = before
            .iter()
            .filter(|entry| entry.0.to_string_lossy().contains(".git"))
            .filter(|entry| !place.snapshot().contains(entry))
            .collect();
        assert!(missing.is_empty(), "{way}: {missing:?}");
        let planted = ["sub/deep/repo/.envrc", "sub/deep/repo/.artel"];
        assert!(
            planted.iter().all(|name| !place.inside.join(name).exists()),
            "{way}"
        );
    }
}

#[test]
fn a_protected_link_stays_a_link_and_what_it_leads_to_stays() {
    let ways = [
        "rm .git",
        "mv .git aside",
        "ln -sfn /tmp .git",
        "echo x > .git/config",
        "echo x > elsewhere/config",
        "mv elsewhere away",
    ];
    for way in ways {
        let place = Place::new();
        init(&place.inside.join("tree"), &[]);
        fs::rename(
            place.inside.join("tree/.git"),
            place.inside.join("elsewhere"),
        )
        .unwrap();
        symlink("elsewhere", place.inside.join(".git")).unwrap();
        let before = place.snapshot();
        let inside = place.inside(way);
        assert_ne!(inside.exit, CommandExit::Code(0), "{way}: {inside:?}");
        assert_eq!(place.snapshot(), before, "{way}");
    }
}

#[test]
fn a_linked_worktree_reads_its_metadata_and_a_lying_pointer_shows_nothing() {
    let place = Place::new();
    let main = place.outside.join("main");
    init(&main, &[]);
    let tree = place.inside.join("tree");
    git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let mut job = place.job(&[
        "/bin/sh",
        "-c",
        "git log --oneline | wc -l; git add . ; ls $OUTSIDE",
    ]);
    job.view.write = vec![tree.clone()];
    job.cwd.clone_from(&tree);
    fs::write(tree.join("new"), "x").unwrap();
    let inside = run(&job);
    assert_eq!(inside.stdout, "1\nmain\n", "{inside:?}");
    assert!(inside.stderr.contains("index.lock"), "{inside:?}");

    let lying = place.inside.join("lying");
    fs::create_dir(&lying).unwrap();
    fs::write(place.outside.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    let pointer = format!("gitdir: {}\n", place.outside.display());
    fs::write(lying.join(".git"), pointer).unwrap();
    let mut job = place.job(&["/bin/sh", "-c", "cat $OUTSIDE/secret"]);
    job.view.write = vec![lying];
    assert_eq!(run(&job).stdout, "");
}

/// Pointers that a command made name each other, and a repository of the person as the one they share.
#[test]
fn pointers_that_were_made_inside_open_no_other_repository() {
    for shared in ["$OUTSIDE/other/.git", "../../outside/other/.git", "link"] {
        let place = Place::new();
        let other = place.outside.join("other");
        init(&other, &[]);
        fs::write(other.join(".git/private"), "private").unwrap();
        let make = format!(
            "mkdir sub fake && ln -s $OUTSIDE/other/.git fake/link && echo x > fake/HEAD && \
             echo ../sub/.git > fake/gitdir && echo {shared} > fake/commondir && \
             echo 'gitdir: ../fake' > sub/.git"
        );
        let made = place.inside(&make);
        assert_eq!(made.exit, CommandExit::Code(0), "{made:?}");
        let said = place.inside("cat $OUTSIDE/other/.git/private");
        assert_eq!(said.stdout, "", "{shared}: {said:?}");
    }
}

/// A pointer that was there before cannot take the folder away that a command works in.
#[test]
fn a_pointer_to_a_folder_above_it_keeps_nothing_from_being_written() {
    let place = Place::new();
    fs::create_dir(place.inside.join("sub")).unwrap();
    fs::write(place.inside.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(place.inside.join("sub/.git"), "gitdir: ..\n").unwrap();
    let inside = place.inside("echo x > new && echo x > sub/new");
    assert_eq!(inside.exit, CommandExit::Code(0), "{inside:?}");
}

#[test]
fn commands_in_one_folder_at_once_hold_its_names_together() {
    let place = Place::new();
    let script = "read wait < gate; mkdir .artel && echo made; touch .envrc/x; true";
    assert!(
        Command::new("mkfifo")
            .arg(place.inside.join("gate"))
            .status()
            .unwrap()
            .success()
    );
    let slow = start(&place.job(&["/bin/sh", "-c", script]));
    // Others come and go while the first one waits; its names must still be held afterwards.
    for _ in 0..3 {
        assert_eq!(place.inside("true").exit, CommandExit::Code(0));
    }
    assert!(place.inside.join(".artel").exists());
    fs::write(place.inside.join("gate"), "go\n").unwrap();
    let slow = finish(slow);
    assert_eq!(slow.stdout, "", "{slow:?}");
    assert!(!place.inside.join(".artel").exists());
}

#[test]
fn races_at_a_protected_name_do_not_help() {
    let place = Place::new();
    let script = "for i in $(seq 300); do \
                    mkdir .artel 2>/dev/null && echo made; \
                    mv folder .git 2>/dev/null && echo moved; \
                    ln -s folder .envrc 2>/dev/null && echo linked; \
                  done";
    fs::create_dir(place.inside.join("folder")).unwrap();
    let one = start(&place.job(&["/bin/sh", "-c", script]));
    let two = start(&place.job(&["/bin/sh", "-c", script]));
    let said = [finish(one).stdout, finish(two).stdout];
    assert_eq!(said, [String::new(), String::new()]);
    let names: Vec<_> = fs::read_dir(&place.inside).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[test]
fn a_hidden_file_is_not_uncovered_by_moving_what_holds_it() {
    let place = Place::new();
    fs::create_dir_all(place.inside.join("sub/deep")).unwrap();
    let hidden = place.inside.join("sub/deep/.env");
    fs::write(&hidden, "token").unwrap();
    for script in [
        "mv sub away",
        "mv sub/deep away",
        "mv sub/deep/.env away",
        "rm -rf sub",
    ] {
        let mut job = place.job(&["/bin/sh", "-c", script]);
        job.view.hidden.push(hidden.clone());
        let inside = run(&job);
        assert_ne!(inside.exit, CommandExit::Code(0), "{script}: {inside:?}");
        assert_eq!(fs::read_to_string(&hidden).unwrap(), "token", "{script}");
    }
}

#[test]
fn another_spelling_stays_if_it_was_there_and_is_set_aside_if_it_appears() {
    let place = Place::new();
    fs::create_dir(place.inside.join(".Artel")).unwrap();
    let script =
        "mkdir .GIT && echo x > .GIT/config; echo x > .BashRC; echo x > .Artel/x && echo wrote
                  mv .Artel away 2>/dev/null && echo moved; mkdir -p sub/.GIT; ls -A | wc -l";
    let inside = place.inside(script);
    assert_eq!(inside.exit, CommandExit::Code(0), "{inside:?}");
    assert!(!inside.stdout.contains('o'), "{inside:?}");
    let mut set_aside = inside.set_aside;
    set_aside.sort();
    let expected = [".BashRC", ".GIT"].map(|name| place.inside.join(name));
    assert_eq!(set_aside, expected);
    let kept = fs::read_to_string(place.inside.join(".GIT.set-aside/config")).unwrap();
    assert_eq!(kept, "x\n");
    let mut names: Vec<_> = fs::read_dir(&place.inside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [".Artel", ".BashRC.set-aside", ".GIT.set-aside", "sub"];
    assert_eq!(names, expected);
}

#[test]
fn names_that_are_held_look_empty_and_are_in_nobodys_way() {
    let place = Place::new();
    init(&place.inside.join("repository"), &[]);
    fs::create_dir(place.inside.join("plain")).unwrap();
    let mut job = place.job(&[
        "/bin/sh",
        "-c",
        "cat .bashrc .envrc .artel; ls -A .git; git -C repository status --porcelain; \
         git rev-parse --git-dir 2>/dev/null; cp -r . /tmp/copy && grep -rc x . | wc -l",
    ]);
    job.env.push(("GIT_CONFIG_NOSYSTEM".into(), "1".into()));
    let inside = run(&job);
    assert!(!inside.stdout.contains("??"), "{inside:?}");
    assert!(inside.stderr.is_empty(), "{inside:?}");
    assert_eq!(inside.exit, CommandExit::Code(0), "{inside:?}");
}

#[test]
fn a_name_that_leaves_its_folder_is_refused() {
    let place = Place::new();
    let mut job = place.job(&["true"]);
    job.view.protected.push("../outside".to_owned());
    let outcome = run(&job);
    assert!(
        matches!(outcome.exit, CommandExit::NotStarted { .. }),
        "{outcome:?}"
    );
    assert_eq!(fs::read_dir(&place.inside).unwrap().count(), 0);
}

fn repository() -> Place {
    let place = Place::new();
    init(&place.inside, &[]);
    fs::write(place.inside.join(".bashrc"), "alias l=ls\n").unwrap();
    fs::write(place.inside.join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
    place
}

fn init(folder: &Path, how: &[&str]) {
    fs::create_dir_all(folder).unwrap();
    git(folder, &[&["init", "-q"], how].concat());
    if how.is_empty() {
        git(folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", folder)
        .status()
        .unwrap();
    assert!(done.success());
}

/// Ways to change a single path that is to stay, there or not.
const SINGLE: &[&str] = &[
    "echo x > a/kept.txt",
    "echo x >> a/kept.txt",
    "rm a/kept.txt; ! test -e a/kept.txt",
    "mv a/kept.txt other",
    "mv a b && mkdir a && echo x > a/kept.txt",
    "ln a/kept.txt linked && echo x > linked",
    "ln -s a/kept.txt linked && echo x > linked",
    "chmod 777 a/kept.txt",
    "echo x > private/inner/deep.txt",
    "mv private p2",
    "rm -rf private/inner; ! test -e private/inner",
    "echo x > missing/key",
    "mkdir missing",
    "ln -s a missing",
    "mv other missing",
    "echo x > a/../a/./kept.txt",
];

#[test]
fn single_paths_stay_read_only_and_hidden_ones_absent() {
    for way in SINGLE {
        let place = Place::new();
        let at = |path: &str| place.inside.join(path);
        fs::create_dir_all(at("private/inner")).unwrap();
        fs::create_dir(at("a")).unwrap();
        for path in ["a/kept.txt", "private/inner/deep.txt", "other", "hidden"] {
            fs::write(at(path), "old").unwrap();
        }
        let mut job = place.job(&["/bin/sh", "-c", way]);
        job.view.read_only = ["a/kept.txt", "private", "missing/key"].map(at).into();
        job.view.hidden.push(at("hidden"));
        let said = run(&job);
        assert_ne!(said.exit, CommandExit::Code(0), "{way}: {said:?}");
        for path in ["a/kept.txt", "private/inner/deep.txt", "hidden"] {
            assert_eq!(fs::read_to_string(at(path)).unwrap(), "old", "{way}");
        }
        assert!(fs::symlink_metadata(at("missing")).is_err(), "{way}");
        job.argv = ["/bin/sh", "-c"].map(Into::into).into();
        job.argv
            .push("cat a/kept.txt private/inner/deep.txt; echo y > a/new; cat hidden".into());
        let said = run(&job);
        assert_eq!(said.stdout, "oldold", "{said:?}");
        assert_ne!(said.exit, CommandExit::Code(0), "{said:?}");
        assert_eq!(fs::read_to_string(at("a/new")).unwrap(), "y\n");
    }
}
