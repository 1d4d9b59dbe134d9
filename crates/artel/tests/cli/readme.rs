//! The first command of the README, as somebody types it who has just cloned the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use artel_testkit::{figure, is_long};

use crate::support::House;
use crate::terminal::Seat;

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

/// Returns the words of the first command that the README has people type.
fn first_command() -> Vec<String> {
    let text = fs::read_to_string(repository().join("README.md")).unwrap();
    let (_, block) = text.split_once("```sh\n").expect("a block of commands");
    let line = block.lines().next().unwrap();
    let (command, _) = line.split_once(" #").unwrap_or((line, ""));
    command.split_whitespace().map(str::to_owned).collect()
}

/// The same command in a fresh clone. What was built for this repository may be used for it: what
/// it depends on is the same, and building that again shows nothing.
fn in_a_clone(house: &House, words: &[String]) -> Command {
    let clone = house.root().join("artel");
    let made = Command::new("git")
        .args(["clone", "--quiet", "--no-hardlinks"])
        .args([&repository(), &clone])
        .status();
    assert!(made.unwrap().success(), "the clone");
    let mut command = Command::new(&words[0]);
    let target = repository().join("target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(target, PathBuf::from);
    command.args(&words[1..]).current_dir(&clone);
    command.env("CARGO_TARGET_DIR", target);
    command.env("CARGO_NET_OFFLINE", "true");
    // Only what builds is the person's own; what the demo writes is not in their home.
    let home = std::env::var_os("HOME").map_or("/".into(), PathBuf::from);
    for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let set = std::env::var_os(name).map_or(home.join(folder), PathBuf::from);
        command.env(name, set);
    }
    command.env("HOME", &house.home);
    command
}

/// What it starts, with the program that these tests were built with.
fn as_built(house: &House, words: &[String]) -> Command {
    let at = words.iter().position(|word| word == "--").unwrap();
    let artel = house.artel([]).words(&words[at + 1..]);
    let artel = artel.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    artel.command()
}

#[test]
fn proof_readme_first_command_plays_the_story() {
    let words = first_command();
    let program = ["cargo", "run", "--release", "-p", "artel", "--"];
    assert_eq!(words[..6], program, "{words:?}");
    let house = House::empty();
    let began = std::time::Instant::now();
    let command = if is_long() {
        in_a_clone(&house, &words)
    } else {
        as_built(&house, &words)
    };
    let mut seat = Seat::running(command, (40, 120));
    seat.shows("Approve this plan?")
        .types("y\n")
        .shows("proofs     re-run on a clean checkout: ")
        .shows("Merge it?")
        .types("y\n")
        .shows("Merged into main as ")
        .shows("Keep this demo in ")
        .types("n\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!house.home.join("Artel-demo").exists(), "{screen}");
    if is_long() {
        let took = began.elapsed().as_secs_f64();
        figure(&format!("fresh clone to merged | {took:.0} s"));
    }
}
