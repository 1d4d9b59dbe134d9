//! Questions of planned work at the terminal, and the demo as a person plays it.

use rustix::process::Signal;

use super::town::{SCRIPT, Town};
use super::wide::Wide;
use crate::support::House;
use crate::terminal::Seat;

/// Nothing passes, so that the person is asked after three attempts.
fn failing() -> Town {
    let wrong = "old: \"2 * a\", new: \"2 + a\"";
    Town::saying(&SCRIPT.replace("old: \"a - b\", new: \"a + b\"", wrong))
}

#[test]
fn a_plan_asks_until_the_answer_is_one() {
    let town = failing();
    let id = town.asked();
    let mut seat = Seat::at(town.artel(["plan", "approve", &id]));
    seat.shows("did not pass in 3 attempts")
        .shows("▸ ")
        .types("\n")
        .shows("did not pass in 3 attempts")
        .shows("▸ ")
        .types("skp\n")
        .shows("`skp` is no answer to it; answer one of: ")
        .shows("skip")
        .shows("▸ ");
    assert_eq!(town.count("run.answered"), 0);
    let (screen, code) = seat.signal(Signal::INT).end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("goes on"), "{screen}");
    assert!(!screen.contains("\\u{a}"), "{screen}");
    assert_eq!(town.count("run.answered"), 0);
    // That the person stopped it is on record; nobody says that a process died.
    let runs = town.artel(["runs", "--json"]).run().expect(0).json();
    assert!(!runs[0].to_string().contains("the process ended"), "{runs}");
    // Taken up again, it asks the same, and hears what is said elsewhere.
    let mut seat = Seat::at(town.artel(["resume", &id]));
    seat.shows("did not pass in 3 attempts").shows("▸ ");
    town.artel(["answer", &id, "give-up: later"])
        .run()
        .expect(0);
    seat.shows("answered elsewhere: give-up: later");
    let (screen, code) = seat.end();
    assert_eq!(code, 1, "{screen}");
    assert!(
        screen.contains("error[R005]") || screen.contains("R005"),
        "{screen}"
    );
    assert!(!screen.contains("\\u{a}"), "{screen}");
    assert_eq!(town.count("run.answered"), 1);
}

#[test]
fn a_plans_question_takes_no_key() {
    let town = failing();
    let id = town.asked();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let mut seat = Seat::at(town.artel(["plan", "approve", &id]));
    seat.shows("did not pass in 3 attempts")
        .shows("▸ ")
        .types(&format!("give-up: {key} is wrong\n"))
        .shows("the text holds what looks like a secret")
        .shows("did not pass in 3 attempts")
        .shows("▸ ");
    assert_eq!(town.count("run.answered"), 0);
    let (screen, code) = seat.types("give-up: later\n").end();
    assert_eq!(code, 1, "{screen}");
    let events = serde_json::to_string(&town.events()).unwrap();
    assert!(events.contains("give-up: later") && !events.contains("ghp_"));
}

fn demo(house: &House) -> Seat {
    let artel = house
        .artel(["demo"])
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    Seat::at(artel)
}

#[test]
fn a_demo_shows_lines_and_opens_the_editor() {
    let house = House::empty();
    let mut seat = demo(&house);
    seat.shows("Approve this plan? [y]es  [v]iew  [e]dit  [n]o ▸ ")
        .types("x\n")
        .shows("`x` is no answer to it; answer one of: yes, view, edit, no")
        .types("v\n")
        .shows("\n## Steps\n")
        .shows("Approve this plan?")
        .types("e\n")
        .shows("no editor is known")
        .shows("EDITOR=nano")
        .shows("Approve this plan?")
        .types("n\n")
        .shows("Nothing was done.")
        .shows("Keep this demo in ")
        .types("e\n")
        .shows("`e` is no answer to it; answer one of: yes, no")
        .types("\n")
        .shows("Next: ");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("changeset show"), "{screen}");
    let folder = house.home.join("Artel-demo");
    let id = screen.split("plan show ").nth(1).unwrap();
    let id: String = id.chars().take(8).collect();
    house
        .artel(["--workshop", folder.to_str().unwrap(), "plan", "show", &id])
        .run()
        .expect(0);
}

#[test]
fn a_demo_is_stopped_by_a_signal_and_leaves_nothing() {
    for question in ["Approve this plan?", " steps · ", "Keep this demo in "] {
        let house = House::empty();
        let mut seat = demo(&house);
        if question != "Approve this plan?" {
            let answer = if question.starts_with("Keep") {
                "n\n"
            } else {
                "y\n"
            };
            seat.shows("Approve this plan?").types(answer);
        }
        let (screen, code) = seat.shows(question).signal(Signal::INT).end();
        assert_eq!(code, 130, "{question}: {screen}");
        assert!(
            !house.home.join("Artel-demo").exists(),
            "{question}: {screen}"
        );
    }
}

#[test]
fn a_repository_is_offered_for_work_wherever_there_is_none() {
    let town = Town::new();
    let plain = town.house.folder("plain");
    std::fs::write(plain.join("notes.txt"), "one\n").unwrap();
    let path = plain.to_str().unwrap();
    town.artel(["portal", "add", path]).run().expect(0);
    let ask = |words: &[&str]| {
        let ask = town.artel(["ask", "--portal", "plain"]);
        Seat::at(ask.words(words.iter().copied()))
    };
    // A question changes nothing, so there is nothing to offer.
    let (screen, _) = ask(&["Where are the notes?"]).end();
    assert!(!screen.contains("is in no git repository"), "{screen}");
    let mut seat = ask(&["Write a second line into notes.txt", "--plan"]);
    seat.shows("`plain` is in no git repository").types("y\n");
    drop(seat.end());
    assert!(plain.join(".git").is_dir());
    // Once there is one, nobody asks again.
    let (screen, _) = ask(&["Write a third line into notes.txt", "--plan"]).end();
    assert!(!screen.contains("is in no git repository"), "{screen}");
}

/// Plays what a terminal of this size does with the lines that come, and returns those that it can
/// no longer reach.
fn scrolled_out(shown: &str, rows: usize, columns: usize) -> Vec<String> {
    let (mut lines, mut row, mut top) = (vec![String::new()], 0_usize, 0_usize);
    let mut letters = shown.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
                top = top.max((row + 1).saturating_sub(rows));
            }
            '\u{1b}' => {
                let mut code = String::new();
                for part in letters.by_ref().skip(1) {
                    if part.is_ascii_alphabetic() {
                        match part {
                            'A' => row = row.saturating_sub(code.parse().unwrap()).max(top),
                            'J' => lines.truncate(row + 1),
                            _ => {}
                        }
                        break;
                    }
                    code.push(part);
                }
                if code.parse::<usize>().is_ok() || code.is_empty() {
                    lines[row].clear();
                }
            }
            letter => lines[row].push(letter),
        }
        assert!(lines[row].chars().count() <= columns, "{:?}", lines[row]);
    }
    lines.truncate(top);
    lines
}

#[test]
fn a_picture_fits_into_a_small_terminal() {
    let town = Town::new();
    let id = town.asked();
    let (rows, columns) = (10_u8, 40_u8);
    let size = (u16::from(rows), u16::from(columns));
    let artel = town.artel(["plan", "approve", &id]).env("NO_COLOR", "1");
    let mut seat = Seat::sized(artel, size);
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    let picture = &screen[screen.find("\u{1b}[K").unwrap()..screen.rfind("\u{1b}[J").unwrap()];
    assert!(picture.contains("\u{1b}[J"), "it was drawn again: {screen}");
    let gone = scrolled_out(picture, rows.into(), columns.into());
    assert!(gone.is_empty(), "{gone:#?}");
}

/// Steps that wait for none of each other stand together.
#[test]
fn a_picture_shows_which_steps_go_side_by_side() {
    let wide = Wide::new();
    let id = wide.town().asked();
    let artel = wide.town().artel(["plan", "approve", &id]);
    let mut seat = Seat::sized(artel, (40, 100));
    seat.shows("layer 1").shows("layer 2");
    drop(seat.signal(Signal::INT).end());
}

#[test]
fn a_picture_is_drawn_anew_after_a_resize() {
    let town = Town::new();
    let id = town.asked();
    let artel = town.artel(["plan", "approve", &id]).env("NO_COLOR", "1");
    let mut seat = Seat::sized(artel, (24, 100));
    seat.shows("steps ·").resize((12, 50));
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    let last = screen
        .rsplit("\u{1b}[J")
        .find(|part| part.contains("2/2 steps"));
    let drawn = last.unwrap();
    let widest = drawn.lines().map(|line| {
        let text = line.replace("\u{1b}[K", "");
        let text = text.rsplit('A').next().unwrap_or_default().to_owned();
        text.chars().count()
    });
    assert!(widest.max().unwrap() < 50, "{drawn}");
}

#[test]
fn a_run_that_another_process_drives_is_waited_for_in_one_line() {
    let town = failing();
    let id = town.asked();
    let mut first = Seat::at(town.artel(["plan", "approve", &id]));
    first.shows("did not pass in 3 attempts").shows("▸ ");
    let mut second = Seat::at(town.artel(["resume", &id]));
    second
        .shows("⏸ waits: run ")
        .shows(" goes on in artel run (process ");
    for _ in 0..8 {
        town.artel(["waiting"]).run().expect(0).says("skip");
    }
    let (screen, code) = second.signal(Signal::INT).end();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(screen.matches(" waits: run ").count(), 1, "{screen}");
    let (screen, code) = first.signal(Signal::TERM).end();
    assert_eq!(code, 130, "{screen}");
}

#[test]
fn what_waits_is_told_with_the_workshop_that_was_named() {
    let town = Town::new();
    let id = town.asked();
    let root = town.house.workshop.to_str().unwrap();
    let seen = town
        .artel(["--workshop", root, "waiting"])
        .without("ARTEL_WORKSHOP")
        .run()
        .expect(0);
    let command = format!("`artel --workshop {root} plan approve {}`", &id[..8]);
    assert!(seen.out.contains(&command), "{}", seen.out);
}
