//! A person at a terminal: colours, and questions that are answered.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

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

/// A person at a terminal, who waits for what the screen shows before they do something.
pub(crate) struct Seat {
    child: Child,
    person: File,
    screen: String,
    /// How much of the screen the person has seen.
    seen: usize,
}

impl Seat {
    pub(crate) fn at(artel: Artel) -> Self {
        Self::sized(artel, (24, 100))
    }

    /// Sits at a terminal with so many rows and columns.
    pub(crate) fn sized(artel: Artel, size: (u16, u16)) -> Self {
        Self::running(artel.command(), size)
    }

    /// The same, with any program.
    pub(crate) fn running(mut command: Command, size: (u16, u16)) -> Self {
        let (person, program) = terminal();
        resize(&person, size);
        command.stdin(program.try_clone().unwrap());
        command.stdout(program.try_clone().unwrap()).stderr(program);
        let child = command.spawn().unwrap();
        Self {
            child,
            person: File::from(person),
            screen: String::new(),
            seen: 0,
        }
    }

    /// Waits until the screen shows some words, behind those that it was waited for before.
    #[track_caller]
    pub(crate) fn shows(&mut self, words: &str) -> &mut Self {
        loop {
            if let Some(at) = self.screen[self.seen..].find(words) {
                self.seen += at + words.len();
                return self;
            }
            assert!(self.look(), "no `{words}` on:\n{}", self.screen);
        }
    }

    pub(crate) fn types(&mut self, text: &str) -> &mut Self {
        self.person.write_all(text.as_bytes()).unwrap();
        self
    }

    pub(crate) fn signal(&mut self, signal: Signal) -> &mut Self {
        let pid = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        self
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) -> &mut Self {
        resize(&self.person, size);
        self
    }

    /// Waits for the end, and returns all that the screen showed and the exit code.
    pub(crate) fn end(&mut self) -> (String, i32) {
        while self.look() {}
        let code = self.child.wait().unwrap().code().unwrap();
        (std::mem::take(&mut self.screen), code)
    }

    /// Looks at the screen once more; false where nothing comes any more.
    fn look(&mut self) -> bool {
        let mut piece = [0; 4096];
        let mut bytes = Vec::new();
        loop {
            // A terminal whose last program is gone answers with an error instead of an end.
            let count = self.person.read(&mut piece).unwrap_or(0);
            if count == 0 {
                return false;
            }
            bytes.extend_from_slice(&piece[..count]);
            // A letter may come in two pieces.
            if let Ok(text) = std::str::from_utf8(&bytes) {
                self.screen.push_str(&text.replace('\r', ""));
                return true;
            }
        }
    }
}

fn resize(person: impl AsFd, (rows, columns): (u16, u16)) {
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(person, size).unwrap();
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
        verify().env("TERM", "dumb"),
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
    for typed in ["n\n", "\n", "perhaps\nno\n", "\u{4}"] {
        let (screen, code) = in_terminal(prune(), typed);
        assert_eq!(
            screen.contains("`perhaps` is no answer to it; answer one of: yes, no"),
            typed.starts_with("perhaps"),
            "{screen}"
        );
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
