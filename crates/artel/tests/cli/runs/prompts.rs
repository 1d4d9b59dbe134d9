//! Questions of a run at the terminal: how they look, what answers them, and how they are left.

use rustix::process::Signal;

use super::world::World;
use crate::terminal::Seat;

/// Asks whether a file may be read that may hold secrets.
const READS: &str = r##"
rules:
  - expect: { says: begin the work }
    call: { read: { path: .env } }
  - expect: { says: MODE=quick }
    call: { finish: { answer: it is quick } }
  - expect: { says: not allowed }
    call: { finish: { answer: it is unknown } }
"##;

/// Asks the person, with choices.
const ASKS: &str = r##"
rules:
  - expect: { says: begin the work }
    call: { ask_person: { question: "Which one?\nBoth would do.\u001b[31m", choices: [account, address] } }
  - expect: { result_of: ask_person, says: address }
    call: { finish: { answer: "by address" } }
"##;

fn reading() -> World {
    let world = World::new(READS);
    std::fs::write(world.project.join(".env"), "MODE=quick\n").unwrap();
    world
}

#[test]
fn a_signal_at_a_question_leaves_it_open() {
    for (world, question, state) in [
        (reading(), "Allow it? [o]nce", "paused"),
        (World::new(ASKS), "2 address\n▸ ", "waiting"),
    ] {
        for signal in [Signal::INT, Signal::TERM] {
            let (screen, code) = Seat::at(world.task([]))
                .shows(question)
                .signal(signal)
                .end();
            assert_eq!(code, 130, "{screen}");
            assert!(screen.contains("stopped; `artel resume "), "{screen}");
            assert!(world.events("tool.answered").is_empty(), "{screen}");
            assert!(world.events("run.answered").is_empty(), "{screen}");
            assert_eq!(world.state(), state);
        }
    }
}

#[test]
fn what_was_left_open_is_asked_again() {
    let world = reading();
    Seat::at(world.task([]))
        .shows("Allow it?")
        .signal(Signal::INT)
        .end();
    let run = world.run();
    let (screen, code) = Seat::at(world.artel(["resume", &run]))
        .shows("Allow it?")
        .types("o\n")
        .shows("Feedback for next time")
        .types("\n")
        .end();
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("it is quick"), "{screen}");
}

#[test]
fn a_signal_after_the_end_ends_the_command() {
    let world = World::new(super::world::REPORT);
    let mut seat = Seat::at(world.task([]));
    let (screen, code) = seat
        .shows("Put this file in place?")
        .signal(Signal::INT)
        .end();
    assert_eq!(code, 130, "{screen}");
    assert!(!world.project.join("report.md").exists());
    let mut seat = Seat::at(world.task([]));
    seat.shows("Put this file in place?")
        .types("rubbish\n")
        .shows("`rubbish` is no answer to it; answer one of: yes, no, diff")
        .types("n\n")
        .shows("Feedback for next time");
    let (screen, code) = seat.signal(Signal::TERM).end();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(world.state(), "complete");
}

#[test]
fn a_question_keeps_its_lines_and_wants_one_of_its_choices() {
    let world = World::new(ASKS);
    let mut seat = Seat::at(world.task([]));
    seat.shows("Which one?\nBoth would do.\\u{1b}[31m\n  1 account\n  2 address\n▸ ")
        .types("\n")
        .shows("2 address\n▸ ")
        .types("rubbish\n")
        .shows("`rubbish` is no answer to it; answer one of: account, address\n")
        .shows("▸ ")
        .types("2\n")
        .shows("Feedback for next time")
        .types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    let answered = &world.events("run.answered")[0]["payload"];
    assert_eq!(answered["answer"], "address");
}

#[test]
fn an_answer_from_elsewhere_ends_the_question() {
    let world = World::new(ASKS);
    let mut seat = Seat::at(world.task([]));
    seat.shows("2 address\n▸ ");
    let run = world.run();
    world
        .ok(["answer", &run, "address"])
        .says("it goes on in artel run");
    seat.shows("answered elsewhere: address")
        .shows("by address")
        .shows("Feedback for next time")
        .types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(world.events("run.answered").len(), 1);
}

/// Returns what names the call that waits.
fn waiting_call(world: &World) -> String {
    let waits = world.ok(["waiting", "--json"]).json();
    let calls = waits.as_array().unwrap().iter();
    let mut calls = calls.filter(|it| it["kind"] == "call");
    calls.next().unwrap()["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_that_is_asked_about_here_can_be_answered_elsewhere() {
    for (answer, ends) in [("yes", "it is quick"), ("no: not today", "it is unknown")] {
        let world = reading();
        let mut seat = Seat::at(world.task([]));
        seat.shows("Allow it? [o]nce");
        let id = waiting_call(&world);
        world.ok(["answer", &id]).says(".env").says("artel answer ");
        // A yes names what was seen; an answer that is none is refused.
        world
            .artel(["answer", &world.run(), "yes"])
            .run()
            .fails(2, "C004");
        world
            .artel(["answer", &id, "perhaps"])
            .run()
            .fails(2, "C004");
        world
            .ok(["answer", &id, answer])
            .says("it goes on in artel run");
        seat.shows("already decided: ")
            .shows(ends)
            .shows("Feedback for next time")
            .types("\n");
        let (screen, code) = seat.end();
        assert_eq!(code, 0, "{screen}");
        assert_eq!(world.events("tool.asked").len(), 1);
        assert_eq!(world.events("tool.answered").len(), 1, "{screen}");
        world.artel(["answer", &id, "no"]).run().fails(4, "R004");
    }
}

#[test]
fn a_call_that_waits_for_a_yes_ends_with_its_run() {
    let world = reading();
    let mut seat = Seat::at(world.task([]));
    seat.shows("Allow it? [o]nce");
    let id = waiting_call(&world);
    world.ok(["cancel", &world.run()]);
    let (screen, code) = seat.shows("cancelled elsewhere").end();
    assert_eq!(code, 1, "{screen}");
    assert_eq!(world.state(), "cancelled");
    assert!(world.events("tool.answered").is_empty(), "{screen}");
    assert!(world.events("tool.finished").is_empty(), "{screen}");
    world.artel(["answer", &id, "yes"]).run().fails(4, "R004");
}

#[test]
fn what_is_answered_here_is_no_question_elsewhere() {
    let world = reading();
    let mut seat = Seat::at(world.task([]));
    seat.shows("Allow it? [o]nce");
    let id = waiting_call(&world);
    seat.types("o\n").shows("Feedback for next time");
    world.artel(["answer", &id, "no"]).run().fails(4, "R004");
    seat.types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    let answered = world.events("tool.answered");
    assert_eq!(answered.len(), 1);
    assert_eq!(answered[0]["payload"]["answer"], "once");
}

#[test]
fn without_a_person_it_says_what_was_not_done_and_how_it_can_be() {
    let seen = reading().task([]).run().expect(0);
    let at = seen.err.find("⏸ wants to run: ").unwrap();
    let told: Vec<_> = seen.err[at..].lines().take(3).collect();
    assert!(told[0].contains(".env"), "{told:?}");
    assert!(
        told[1].starts_with("    why not: nobody could be asked; "),
        "{told:?}"
    );
    assert!(told[1].contains("; rule `"), "{told:?}");
    assert!(told[2].contains("artel policy grant"), "{told:?}");
}
