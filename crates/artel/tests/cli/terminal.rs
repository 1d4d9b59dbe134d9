//! A person at a terminal: colours, and questions that are answered.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{Artel, House, Tree, old_run};

/// Makes a terminal: the end a person sits at, and the end a program has.
pub(crate) fn terminal() -> (OwnedFd, File) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let program = rustix::fs::open(name, flags, Mode::empty()).unwrap();
    (person, File::from(program))
}

/// Runs a command in a terminal of its own, types, and returns what the screen showed.
pub(crate) fn in_terminal(artel: Artel, typed: &str) -> (String, i32) {
    let (person, program) = terminal();
    let mut command = artel.command();
    command.stdin(program.try_clone().unwrap());
    command.stdout(program.try_clone().unwrap()).stderr(program);
    let mut child = command.spawn().unwrap();
    // With the command goes our hold on the program's end, so that reading ends with the child.
    drop(command);
    let mut person = File::from(person);
    person.write_all(typed.as_bytes()).unwrap();
    let mut screen = Vec::new();
    // A terminal whose last program is gone answers with an error instead of an end.
    drop(person.read_to_end(&mut screen));
    let code = child.wait().unwrap().code().unwrap();
    let screen = String::from_utf8(screen).unwrap().replace('\r', "");
    (screen, code)
}

#[test]
fn a_terminal_gets_colours_unless_they_are_unwanted() {
    let house = House::new();
    let verify = || house.artel(["journal", "verify"]);
    let (screen, _) = in_terminal(verify(), "");
    assert!(screen.contains("\u{1b}[32mok\u{1b}[0m"), "{screen:?}");
    let (screen, code) = in_terminal(house.artel(["trace", "ffffffffffffffff"]), "");
    assert!(
        screen.contains("\u{1b}[31;1merror[W005]\u{1b}[0m"),
        "{screen:?}"
    );
    assert_eq!(code, 4);
    let (screen, code) = in_terminal(house.artel(["bogus"]), "");
    assert!(screen.contains('\u{1b}') && code == 2, "{screen:?}");
    for plain in [
        verify().env("NO_COLOR", "1"),
        verify().words(["--set", "output.color=never"]),
        verify().words(["--json"]),
    ] {
        let (screen, _) = in_terminal(plain, "");
        assert!(!screen.contains('\u{1b}'), "{screen:?}");
    }
    let (screen, _) = in_terminal(verify().env("NO_COLOR", ""), "");
    assert!(
        screen.contains('\u{1b}'),
        "an empty one is not set: {screen:?}"
    );
}

#[test]
fn a_question_is_asked_and_only_yes_is_a_yes() {
    let house = House::new();
    old_run(&house, 100, 3, 4);
    let prune = || house.artel(["journal", "prune", "--before", "90d"]);
    let before = Tree::of(&house.root());
    for typed in ["n\n", "\n", "perhaps\n", "\u{4}"] {
        let (screen, code) = in_terminal(prune(), typed);
        assert!(screen.contains("move 6 events of 1 stream"), "{screen}");
        assert!(
            screen.contains("? [y/N]") && screen.contains("nothing was changed"),
            "{screen}"
        );
        assert_eq!(code, 0);
        before.unchanged(&house.root());
    }
    let (screen, code) = in_terminal(prune(), "yes\n");
    assert!(screen.contains("moved 6 events to"), "{screen}");
    assert_eq!(code, 0);
    house.ok(["journal", "verify"]);
}
