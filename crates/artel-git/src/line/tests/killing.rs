//! A merge that is cut short anywhere is completed by the next call, or leaves no trace.

use artel_sandbox::trusted::{self, TrustedProgramCall};

use super::merging::{change, files_of, scene};
use super::*;
use crate::tree::placing::{PlacementFaultInjector, Then};

fn pace(points: usize, then: Then) -> PlacementFaultInjector {
    PlacementFaultInjector {
        left: Some((points, then)),
    }
}

/// Returns a scene with unrelated work of the person's, and a merge with every kind of
/// change.
fn ready(scene: &Scene) -> (Work<'_>, PreparedMerge) {
    let mut work = Work::new(scene);
    work.step(change);
    scene.write("mine.txt", "dirty\n");
    scene.write("untracked.txt", "mine\n");
    let merge = work.plan().unwrap();
    (work, merge)
}

/// A copy of the person's folder and the line, to start from again.
struct Kept {
    copy: TempDir,
}

impl Kept {
    fn of(scene: &Scene) -> Self {
        let copy = TempDir::new().unwrap();
        for name in ["origin", "line"] {
            copy_folder(&scene.path(name), &copy.path().join(name));
        }
        Self { copy }
    }

    fn put_back(&self, scene: &Scene) {
        for name in ["origin", "line"] {
            fs::remove_dir_all(scene.path(name)).unwrap();
            copy_folder(&self.copy.path().join(name), &scene.path(name));
        }
        scene.git(&["update-index", "-q", "--refresh"]);
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let to = to.join(path.file_name().unwrap());
        if about.is_dir() {
            copy_folder(&path, &to);
        } else if about.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&path).unwrap(), to).unwrap();
        } else {
            fs::copy(&path, to).unwrap();
        }
    }
}

#[test]
fn killed_anywhere_it_is_completed_by_the_next_call() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let kept = Kept::of(&scene);
    work.line.carry_out(&merge).unwrap();
    let mut expected = files_of(&scene, &merge.new, "expected");
    expected.insert("mine.txt".into(), "644 dirty\n".to_owned());
    expected.insert("untracked.txt".into(), "644 mine\n".to_owned());
    let mut points = 0;
    loop {
        kept.put_back(&scene);
        let stopped = work
            .line
            .carry_out_at(&merge, &mut pace(points, Then::Stop));
        let was_stopped = stopped.is_err();
        // The person can keep working in the meantime.
        if was_stopped {
            scene.git(&["status"]);
            let line = PlanBranch::open(&scene.program, &scene.path("line")).unwrap();
            line.carry_out(&merge).unwrap();
        }
        assert_eq!(files(&scene.origin()), expected, "after {points}");
        assert_eq!(
            scene.status(),
            " M mine.txt\n?? untracked.txt\n",
            "after {points}"
        );
        assert_eq!(scene.id("main"), merge.new, "after {points}");
        let count = scene.git(&["rev-list", "--count", "--first-parent", "main"]);
        assert_eq!(count.trim(), "2");
        if !was_stopped {
            break;
        }
        points += 1;
    }
    assert!(points >= 14, "only {points} points");
}

/// Variables that this test hands to the processes it kills.
const PLACE: &str = "ARTEL_TEST_PLACE";
const MERGE: &str = "ARTEL_TEST_MERGE";

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test program that starts itself hears from itself by variables"
)]
fn a_process_that_is_really_killed_leaves_nothing_undone() {
    let place = std::env::var_os(PLACE).map(PathBuf::from);
    if let (Some(place), Ok(merge)) = (place, std::env::var(MERGE)) {
        let line = PlanBranch::open(&programs()[0], &place).unwrap();
        return line
            .carry_out(&serde_json::from_str(&merge).unwrap())
            .unwrap();
    }
    let scene = scene();
    let mut work = Work::new(&scene);
    scene.write("mine.txt", "dirty\n");
    let mut killed = 0;
    for number in 0..24 {
        work.step(|at| {
            drop(fs::remove_dir_all(
                at.join(format!("step-{}", number.max(1) - 1)),
            ));
            for file in 0..6 {
                put(at, &format!("step-{number}/{file}.txt"), "new\n");
            }
            put(at, "changed.txt", &format!("{number}\n"));
        });
        let merge = work.plan().unwrap();
        let call = TrustedProgramCall {
            args: [
                "--exact",
                "line::tests::killing::a_process_that_is_really_killed_leaves_nothing_undone",
            ]
            .map(Into::into)
            .to_vec(),
            env: vec![
                (PLACE.into(), scene.path("line").into()),
                (MERGE.into(), serde_json::to_string(&merge).unwrap().into()),
            ],
            timeout: std::time::Duration::from_millis(4 + 6 * number),
            ..TrustedProgramCall::new(std::env::current_exe().unwrap())
        };
        killed += usize::from(trusted::run(&call).is_err());
        work.line.carry_out(&merge).unwrap();
        assert_eq!(scene.id("main"), merge.new);
        assert_eq!(scene.status(), " M mine.txt\n", "{number}");
    }
    assert!(killed > 0, "nothing was killed");
    scene.git(&["fsck", "--strict"]);
}

#[test]
fn failing_anywhere_it_leaves_everything_as_before() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let kept = Kept::of(&scene);
    let mut points = 0;
    loop {
        kept.put_back(&scene);
        let mode = fs::Permissions::from_mode(0o600);
        fs::set_permissions(scene.origin().join("deleted.txt"), mode).unwrap();
        let before = scene.everything();
        let failed = work
            .line
            .carry_out_at(&merge, &mut pace(points, Then::Fail));
        if failed.is_ok() || scene.id("main") == merge.new {
            break;
        }
        assert_eq!(scene.everything(), before, "after {points}: {failed:?}");
        assert!(!scene.origin().join(".git/index.lock").exists());
        work.line.carry_out(&merge).unwrap();
        points += 1;
    }
    assert!(points >= 12, "only {points} points");
}

#[test]
fn killed_and_then_refused_it_is_taken_back_and_the_persons_work_stays() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let kept = Kept::of(&scene);
    let mut points = 0;
    loop {
        kept.put_back(&scene);
        let before = scene.everything();
        let stopped = work
            .line
            .carry_out_at(&merge, &mut pace(points, Then::Stop));
        if stopped.is_ok() || scene.id("main") == merge.new {
            break;
        }
        // An unrelated commit of the person's, and a git that did not wait for the lock.
        drop(fs::remove_file(scene.origin().join(".git/index.lock")));
        scene.write("other.txt", "and then\n");
        scene.git(&["commit", "-q", "-m", "meanwhile", "--only", "other.txt"]);
        let refused = work.line.carry_out(&merge);
        assert!(
            matches!(refused, Err(PlanBranchError::Moved { .. })),
            "{refused:?}"
        );
        let (mut files, _, status) = scene.everything();
        files.insert("other.txt".into(), before.0[Path::new("other.txt")].clone());
        assert_eq!((files, status), (before.0, before.2), "after {points}");
        points += 1;
    }
    assert!(points >= 14, "only {points} points");
}

#[test]
fn killed_and_then_touched_it_is_completed_or_taken_back() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let kept = Kept::of(&scene);
    let mut points = 0;
    let (mut completed, mut refused) = (0, 0);
    loop {
        kept.put_back(&scene);
        let before = scene.everything();
        let stopped = work
            .line
            .carry_out_at(&merge, &mut pace(points, Then::Stop));
        if stopped.is_ok() || scene.id("main") == merge.new {
            break;
        }
        scene.write("changed.txt", "touched\n");
        match work.line.carry_out(&merge) {
            Ok(()) => {
                completed += 1;
                let status = " M changed.txt\n M mine.txt\n?? untracked.txt\n";
                assert_eq!(scene.status(), status, "after {points}");
            }
            Err(error) => {
                refused += 1;
                assert!(matches!(error, PlanBranchError::Dirty { .. }), "{error:?}");
                let mut files = before.0.clone();
                files.insert("changed.txt".into(), "644 touched\n".to_owned());
                assert_eq!(scene.everything().0, files, "after {points}");
                assert_eq!(scene.everything().1, before.1, "after {points}");
            }
        }
        assert_eq!(scene.read("changed.txt"), "touched\n");
        points += 1;
    }
    assert!(completed > 0 && refused > 0, "{completed} {refused}");
}

#[test]
fn a_lock_of_our_own_is_known() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let kept = Kept::of(&scene);
    let mut points = 0;
    loop {
        kept.put_back(&scene);
        let stopped = work
            .line
            .carry_out_at(&merge, &mut pace(points, Then::Stop));
        assert!(stopped.is_err(), "no lock was ever held");
        points += 1;
        let lock = scene.origin().join(".git/index.lock");
        if !lock.exists() {
            continue;
        }
        // The lock blocks neither a new plan nor another try at the merge.
        let planned = work.plan();
        assert!(!matches!(planned, Err(MergeRefusedError::Busy { .. })));
        assert!(!lock.exists());
        work.line.carry_out(&merge).unwrap();
        assert_eq!(scene.id("main"), merge.new);
        return;
    }
}

#[test]
fn a_lock_of_the_branch_that_a_killed_git_left_is_cleared() {
    let scene = scene();
    let (work, merge) = ready(&scene);
    let lock = scene.origin().join(".git/refs/heads/main.lock");
    let before = scene.everything();
    fs::write(&lock, format!("{}\n", merge.old)).unwrap();
    let refused = work.line.carry_out(&merge);
    assert!(
        matches!(refused, Err(PlanBranchError::Busy { .. })),
        "{refused:?}"
    );
    assert_eq!(scene.everything(), before);
    fs::write(&lock, format!("{}\n", merge.new)).unwrap();
    work.line.carry_out(&merge).unwrap();
    assert_eq!(scene.id("main"), merge.new);
}

#[test]
fn a_line_that_was_not_finished_is_made_anew() {
    let scene = scene();
    let line = scene.line();
    let base = line.base().unwrap();
    fs::remove_file(scene.path("line/line")).unwrap();
    fs::remove_file(scene.path("line/git/HEAD")).unwrap();
    assert_eq!(scene.line().base().unwrap(), base);
    // The same holds for a checkout.
    let at = scene.path("checkout");
    let tree = line.checkout(&base.commit, &at, &[]).unwrap();
    let made = files(tree.files());
    fs::remove_file(at.join("run")).unwrap();
    fs::remove_file(at.join("tree/changed.txt")).unwrap();
    let tree = line.checkout(&base.commit, &at, &[]).unwrap();
    assert_eq!(files(tree.files()), made);
}
