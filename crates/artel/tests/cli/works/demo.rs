//! `artel demo`: with Python and without, again beside an old one, in another user namespace; and
//! what it leaves behind, which is nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use super::bench::git;
use crate::support::{Artel, House, Seen};

/// The programs that the demo without Python needs.
const NEEDED: [&str; 4] = ["git", "sh", "dirname", "bash"];

/// Where the machine's programs are.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

fn demo<const N: usize>(house: &House, words: [&str; N]) -> Artel {
    let all = ["demo"].into_iter().chain(words);
    house.artel([]).words(all).env("PATH", PROGRAMS)
}

/// A folder with links to the needed programs that there are.
fn without_python(house: &House) -> PathBuf {
    let folder = house.folder("programs");
    for name in NEEDED {
        let places = PROGRAMS
            .split(':')
            .map(|place| PathBuf::from(place).join(name));
        if let Some(program) = places.into_iter().find(|it| it.exists()) {
            symlink(program, folder.join(name)).unwrap();
        }
    }
    folder
}

/// The story was told: a wrong patch, found by the tests, mended, merged.
fn is_told(seen: &Seen) {
    let lines: Vec<&str> = seen.err.lines().collect();
    let at = |what: &str| {
        let found = lines.iter().position(|line| line.contains(what));
        found.unwrap_or_else(|| panic!("no {what:?} in\n{}", seen.err))
    };
    let order = [
        "  request  ",
        "  reading  ",
        "  plan     3 steps, est. 9k tokens, touches ",
        "before the first step: ",
        "checks: ",
        "retry 2/3",
        "the whole branch holds on a clean checkout",
        "  changeset  fix/",
        "  proofs     re-run on a clean checkout: ",
        "Merged into main as ",
    ]
    .map(at);
    assert!(order.is_sorted(), "{}", seen.err);
    let failed: Vec<_> = lines.iter().filter(|line| line.contains('✗')).collect();
    assert_eq!(failed.len(), 1, "one patch is wrong: {}", seen.err);
    assert!(!seen.err.contains("task · "), "{}", seen.err);
}

/// Returns where the demo said that everything is, or was.
fn tells_where(seen: &Seen) -> Vec<String> {
    let place = |word: &str| {
        let mut lines = seen.err.lines();
        let line = lines.find_map(|line| line.strip_prefix(&format!("  {word:<8} /")));
        let line = line.unwrap_or_else(|| panic!("no place of the {word} in\n{}", seen.err));
        format!("/{line}")
    };
    let places = ["project", "plan", "report", "journal"].map(place);
    assert!(places[1].ends_with("_plan.md"), "{places:?}");
    places.to_vec()
}

/// Nothing of a demo is there any more, also not in what is kept about workshops.
fn nothing_is_left(house: &House) {
    assert!(!house.home.join("Artel-demo").exists());
    assert_eq!(fs::read_dir(house.data().join("heads")).unwrap().count(), 0);
    let known = fs::read_to_string(house.data().join("workshops.json")).unwrap();
    assert_eq!(known, "[]");
}

#[test]
fn a_demo_with_python_tells_the_story_and_leaves_nothing() {
    let house = House::empty();
    let seen = demo(&house, ["--yes"]).run().expect(0);
    is_told(&seen);
    assert!(seen.err.contains("8 of 8 tests"), "{}", seen.err);
    tells_where(&seen);
    let (_, last) = seen.err.split_once("Removed the demo").unwrap();
    assert!(
        last.contains("in a repository of yours") && last.contains("artel ask"),
        "{last}"
    );
    nothing_is_left(&house);
}

#[test]
fn a_demo_without_python_is_one_of_shell_scripts() {
    let house = House::empty();
    let programs = without_python(&house);
    let seen = demo(&house, ["--yes", "--keep"]).env("PATH", &programs);
    let seen = seen.run().expect(0);
    is_told(&seen);
    assert!(seen.err.contains("2 of 2 commands"), "{}", seen.err);
    let shop = house.home.join("Artel-demo/shop");
    assert_eq!(git(&shop, &["status", "--porcelain"]), "");
    let ran = Command::new(shop.join("tests/run.sh")).output().unwrap();
    let printed = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{printed}");
    assert!(
        printed.contains("ok   half_a_cent_is_rounded_up"),
        "{printed}"
    );
    assert!(printed.contains("ok   a_row_for_each_line"), "{printed}");
    for place in tells_where(&seen) {
        assert!(PathBuf::from(&place).exists(), "{place}");
    }
    let reports = house.home.join("Artel-demo/Knowledge/Reports");
    assert_eq!(fs::read_dir(reports).unwrap().count(), 1);

    // Once more, with Python this time: the one that was kept stays as it is.
    let mine = house.home.join("Artel-demo/MY-NOTES.md");
    fs::write(&mine, "mine").unwrap();
    let seen = demo(&house, ["--yes"]).run().expect(0);
    is_told(&seen);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert!(!house.home.join("Artel-demo-2").exists());
    let known = fs::read_to_string(house.data().join("workshops.json")).unwrap();
    assert_eq!(known.matches("Artel-demo").count(), 1, "{known}");
}

#[test]
fn a_folder_of_the_same_name_stays_as_it_is() {
    let house = House::empty();
    let file = house.folder("home/Artel-demo").join("mine.txt");
    fs::write(&file, "mine").unwrap();
    let seen = demo(&house, ["--yes", "--keep"]).run().expect(0);
    assert!(seen.err.contains("/Artel-demo-2/"), "{}", seen.err);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
}

#[test]
fn a_demo_that_fails_leaves_nothing() {
    let house = House::empty();
    let programs = house.folder("none");
    demo(&house, ["--yes"])
        .env("PATH", &programs)
        .run()
        .fails(1, "W008");
    assert!(!house.home.join("Artel-demo").exists());

    // A git that fails, then a Python that does: first the project cannot be made, then no test
    // runs before the first step.
    let programs = house.folder("broken");
    symlink("/bin/false", programs.join("git")).unwrap();
    let seen = demo(&house, ["--yes"]).env("PATH", &programs).run();
    seen.fails(1, "W008");
    nothing_is_left(&house);

    let programs = without_python(&house);
    symlink("/bin/false", programs.join("python3")).unwrap();
    let seen = demo(&house, ["--yes"]).env("PATH", &programs).run();
    let seen = seen.expect(3);
    assert!(seen.err.contains("error[R008]"), "{}", seen.err);
    assert!(!seen.err.contains("Merged"), "{}", seen.err);
    nothing_is_left(&house);
}

#[test]
fn a_demo_asks_before_it_makes_anything() {
    let house = House::empty();
    demo(&house, []).run().fails(2, "C005");
    assert!(!house.home.join("Artel-demo").exists());
}

#[test]
fn a_demo_runs_in_another_user_namespace_with_no_interface_up() {
    let inner = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.arg("-Urn").args(words);
        command
    };
    let works = inner(&["true"])
        .output()
        .is_ok_and(|it| it.status.success());
    if !works {
        eprintln!("skipped: `unshare -Urn` does not work on this machine");
        return;
    }
    let house = House::empty();
    let output = inner(&[env!("CARGO_BIN_EXE_artel"), "demo", "--yes"])
        .env_clear()
        .env("HOME", &house.home)
        .env("PATH", PROGRAMS)
        .current_dir(house.root())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    assert!(told.contains("Merged into main as "), "{told}");
    nothing_is_left(&house);
}
