//! git inside: reading is in the list of rows; every command that writes fails and leaves the
//! metadata as it is.

use artel_sandbox::{CommandExit, SandboxLimits};

use crate::both::{Folder, ROW, Row, contents, is_installed};
use crate::rows::REPOSITORY;

/// Commands that write metadata; each goes well outside.
const WRITING: &[&str] = &[
    "git add new",
    "git commit -qam more",
    "git commit -q --allow-empty -m empty",
    "git tag v1",
    "git branch other",
    "git checkout -q -b other",
    "git stash -q",
    "git reset -q --hard HEAD~1",
    "git config core.pager cat",
    "git remote add origin .",
    "git rm -q --cached file",
    "git notes add -m note",
    "git worktree add -q other",
    "git gc -q",
    "git update-ref refs/heads/other HEAD",
    "git -C below commit -q --allow-empty -m empty",
    "echo '#!/bin/sh' > .git/hooks/pre-commit",
    "echo '[alias]' >> below/.git/config",
];

/// Whoever commits needs a name.
const PERSON: &str = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@b.c \
                      GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b.c";

#[test]
fn a_writing_git_command_fails_and_leaves_the_metadata() {
    if !is_installed("git") {
        println!("not installed: git");
        return;
    }
    for script in WRITING {
        let row = Row {
            name: "git writing",
            before: REPOSITORY,
            ..ROW
        };
        let script = format!("{PERSON}; {script}");
        let outside = Folder::of(&row).outside(&script);
        assert_eq!(outside.exit, CommandExit::Code(0), "{script}: {outside:?}");

        let folder = Folder::of(&row);
        let metadata = || [".git", "below/.git"].map(|name| contents(&folder.path.join(name)));
        let before = metadata();
        let inside = folder.inside(&script, SandboxLimits::default());
        assert!(
            matches!(inside.exit, CommandExit::Code(code) if code > 0),
            "{script}: {inside:?}"
        );
        assert_eq!(metadata(), before, "{script}");
    }
}
