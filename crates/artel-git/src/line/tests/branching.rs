//! Branches in the person's repository: ours come and go, theirs stay.

use super::*;

#[test]
fn a_branch_is_brought_over_and_removed_and_nothing_else_changes() {
    let scene = Scene::committed(&[("a.txt", "one\n")]);
    scene.write("a.txt", "the person's\n");
    let before = scene.everything();
    let mut work = Work::new(&scene);
    work.step(|at| put(at, "a.txt", "two\n"));
    work.line.publish("fix/it-1").unwrap();
    assert_eq!(scene.id("fix/it-1"), work.head);
    work.step(|at| put(at, "b.txt", "b\n"));
    for _ in 0..2 {
        work.line.publish("fix/it-1").unwrap();
        assert_eq!(scene.id("fix/it-1"), work.head);
    }
    scene.git(&["fsck", "--strict"]);
    let elsewhere = scene.id("main");
    let moved = work.line.unpublish("fix/it-1", &elsewhere);
    assert!(matches!(moved, Err(PlanBranchError::Moved { .. })));
    for _ in 0..2 {
        work.line.unpublish("fix/it-1", &work.head).unwrap();
    }
    assert_eq!(scene.everything(), before);
}

#[test]
fn a_thousand_files_are_brought_over() {
    let scene = Scene::committed(&[("a.txt", "one\n")]);
    let mut work = Work::new(&scene);
    work.step(|at| {
        for number in 0..1000 {
            put(
                at,
                &format!("f{}/{number}", number % 7),
                &format!("{number}\n"),
            );
        }
    });
    work.line.publish("fix/it-1").unwrap();
    work.line.remove().unwrap();
    scene.git(&["fsck", "--strict"]);
    assert_eq!(scene.git(&["show", "fix/it-1:f5/999"]), "999\n");
}

#[test]
fn a_branch_of_the_persons_is_left_alone() {
    let scene = Scene::committed(&[("a.txt", "one\n")]);
    let mut work = Work::new(&scene);
    assert!(matches!(
        work.line.publish("fix/it-1"),
        Err(PlanBranchError::Empty { .. })
    ));
    work.step(|at| put(at, "a.txt", "two\n"));
    scene.git(&["branch", "fix/it-1"]);
    let taken = work.line.publish("fix/it-1");
    assert!(
        matches!(taken, Err(PlanBranchError::Taken { .. })),
        "{taken:?}"
    );
    assert_eq!(scene.id("fix/it-1"), scene.id("main"));
    scene.git(&["branch", "-D", "fix/it-1"]);
    work.line.publish("fix/it-1").unwrap();
    scene.git(&["checkout", "-q", "fix/it-1"]);
    let seated = work.line.unpublish("fix/it-1", &work.head);
    assert!(matches!(seated, Err(PlanBranchError::CheckedOut { .. })));
    let theirs = scene.commit("on top");
    work.step(|at| put(at, "c.txt", "c\n"));
    assert!(matches!(
        work.line.publish("fix/it-1"),
        Err(PlanBranchError::Taken { .. })
    ));
    assert_eq!(scene.id("fix/it-1"), theirs);
}

#[test]
fn a_free_name_is_found() {
    let scene = Scene::committed(&[]);
    let line = scene.line();
    for (taken, expected) in [
        (None, "fix/it-1"),
        (Some("fix/it-1"), "fix-it-1"),
        (Some("fix-it-1"), "fix/it-1-2"),
        (Some("fix/it-1-2/below"), "fix-it-1-2"),
    ] {
        if let Some(taken) = taken {
            scene.git(&["branch", taken]);
        }
        assert_eq!(line.free_branch("fix/it-1").unwrap(), expected);
    }
    scene.git(&["branch", "feat"]);
    assert_eq!(line.free_branch("feat/x").unwrap(), "feat-x");
    for bad in ["", "-x", "a..b", "a/", "a b", "x.lock", "@{1}", "../x"] {
        let found = line.free_branch(bad);
        assert!(
            matches!(found, Err(PlanBranchError::BadName { .. })),
            "{bad}: {found:?}"
        );
        let found = line.head(bad);
        assert!(
            matches!(found, Err(PlanBranchError::BadName { .. })),
            "{bad}: {found:?}"
        );
    }
}
