//! Undoing and redoing a merge, keeping what people have changed since.

use super::merging::{change, scene};
use super::*;

#[test]
fn undo_and_redo_keep_what_people_changed_since() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    let before = scene.id("main^{tree}");
    let merge = work.merge();
    let merged = scene.id("main^{tree}");
    // Right after the merge.
    let undo = work.undo(&merge.new).unwrap();
    work.line.carry_out(&undo).unwrap();
    assert_eq!(scene.id("main^{tree}"), before);
    assert_eq!(scene.status(), "");
    assert!(matches!(
        work.undo(&merge.new),
        Err(MergeRefusedError::Already { .. })
    ));
    let redo = |commit: &str| {
        let order = UndoSpec {
            commit,
            into: "main",
            message: "Redo it",
            when: WHEN + 2,
            author: &ada(),
        };
        work.line.plan_redo(&order)
    };
    let redone = redo(&undo.new).unwrap();
    work.line.carry_out(&redone).unwrap();
    assert_eq!(scene.id("main^{tree}"), merged);
    // With edits in between, in the same file too.
    scene.write("changed.txt", "one\n2\n3\n4\n5\n6\n7\n8\nlater\n");
    scene.write("later.txt", "later\n");
    scene.commit("later");
    scene.write("mine.txt", "dirty\n");
    let undo = work.undo(&redone.new);
    // A redo is a change like any other, and can be undone.
    let undo = undo.unwrap();
    work.line.carry_out(&undo).unwrap();
    assert_eq!(scene.read("changed.txt"), "1\n2\n3\n4\n5\n6\n7\n8\nlater\n");
    assert_eq!(scene.read("later.txt"), "later\n");
    assert_eq!(scene.read("deleted.txt"), "old\n");
    assert_eq!(scene.status(), " M mine.txt\n");
    let again = redo(&undo.new).unwrap();
    work.line.carry_out(&again).unwrap();
    assert_eq!(
        scene.read("changed.txt"),
        "one\n2\n3\n4\n5\n6\n7\n8\nlater\n"
    );
    let parents = scene.git(&["log", "-1", "--format=%P"]);
    assert_eq!(parents.trim(), undo.new);
}

#[test]
fn an_undo_in_conflict_or_over_dirty_files_is_refused() {
    let scene = scene();
    let mut work = Work::new(&scene);
    work.step(change);
    let not_yet = work.undo(&work.head);
    assert!(matches!(not_yet, Err(MergeRefusedError::NotThere { .. })));
    let merge = work.merge();
    scene.write("changed.txt", "mine\n");
    assert!(matches!(
        work.undo(&merge.new),
        Err(MergeRefusedError::Dirty { .. })
    ));
    scene.commit("on top");
    let before = scene.everything();
    let refused = work.undo(&merge.new);
    let Err(MergeRefusedError::Conflict { conflicts, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(conflicts[0].path, Path::new("changed.txt"));
    assert_eq!(scene.everything(), before);
}
