//! Questions of a run at the terminal: how they look, what answers them, and how they are left.

use std::process::Command;

use rustix::process::Signal;
use serde_json::json;

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
fn a_run_is_a_persons_wait_where_somebody_sits_at_the_screen() {
    let world = reading();
    world.task([]).run();
    let before = world.urgencies();
    assert!(!before.is_empty());
    assert!(before.iter().all(|it| it == "execution"), "{before:?}");
    Seat::at(world.task([]))
        .shows("Allow it?")
        .types("o\n")
        .shows("Feedback for next time")
        .types("\n")
        .end();
    let all = world.urgencies();
    assert_eq!(all[before.len()..], ["user", "user"]);
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
fn an_answer_with_a_key_is_not_kept_and_asked_for_again() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let asks = ASKS.replace(", choices: [account, address]", "");
    let world = World::new(&asks);
    let mut seat = Seat::at(world.task([]));
    seat.shows("Which one?")
        .shows("▸ ")
        .types(&format!("address, with {key}\n"))
        .shows("the text holds what looks like a secret")
        .shows("Which one?")
        .shows("▸ ")
        .types("by address\n")
        .shows("Feedback for next time")
        .types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    let answered = world.events("run.answered");
    assert_eq!(answered.len(), 1);
    assert_eq!(answered[0]["payload"]["answer"], "by address");
    let journal = world.ok(["journal", "export"]).out;
    assert!(!journal.contains("ghp_"), "{journal}");
}

#[test]
fn a_reason_with_a_key_is_asked_for_again() {
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let world = reading();
    let mut seat = Seat::at(world.task([]));
    seat.shows("Allow it? [o]nce")
        .types("a\n")
        .shows("Reason for always allowing this")
        .types(&format!("it has {key}\n"))
        .shows("the text holds what looks like a secret")
        .shows("Allow it? [o]nce")
        .types("o\n")
        .shows("Feedback for next time")
        .types("\n");
    let (screen, code) = seat.end();
    assert_eq!(code, 0, "{screen}");
    assert!(world.events("policy.granted").is_empty(), "{screen}");
    let journal = world.ok(["journal", "export"]).out;
    assert!(!journal.contains("ghp_"), "{journal}");
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

/// There are no sessions yet, so nobody is offered one.
#[test]
fn no_offer_names_a_session() {
    let world = reading();
    let mut seat = Seat::at(world.task([]));
    seat.shows("Allow it? [o]nce");
    let waits = world.ok(["waiting", "--json"]).json();
    let choices = json!(["yes", "run", "always", "no"]);
    assert_eq!(waits[0]["choices"], choices, "{waits}");
    assert!(!waits.to_string().contains("session"), "{waits}");
    let id = waiting_call(&world);
    let told = world.ok(["answer", &id]).out;
    assert!(!told.contains("session"), "{told}");
    seat.types("n\n")
        .shows("Feedback for next time")
        .types("\n");
    let (screen, _) = seat.end();
    assert!(
        screen.contains("for this [r]un  [a]lways  [N]o"),
        "{screen}"
    );
    assert!(!screen.contains("session"), "{screen}");
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

/// What an agent wants, and the rule that the advice names where nobody can be asked.
const ASKED: [(&str, Option<&str>); 7] = [
    ("read: { path: .env }", Some("Read(.env)")),
    (
        "bash: { command: wc -l sales.csv }",
        Some("Bash(wc -l sales.csv)"),
    ),
    (
        "bash: { command: 'wc -l sales.csv; wc -c sales.csv' }",
        None,
    ),
    (
        "fetch: { url: 'http://127.0.0.1:1/' }",
        Some("Fetch(127.0.0.1:1)"),
    ),
    ("count: { path: sales.csv }", Some("count")),
    ("run_tests: {}", Some("run_tests")),
    (
        "bash: { command: printenv GITHUB_TOKEN }",
        Some("Secret(github)"),
    ),
];

/// A tool that the person declared, and a rule that hands a secret to a command.
const COUNT: &str = "description = \"Counts\"\ncommand = [\"wc\", \"-l\", \"{path}\"]\n\n\
                     [parameters.path]\ntype = \"path\"\ndescription = \"The file\"\n";
const HANDS_OUT: &str = "[[rule]]\nprefix = [\"printenv\"]\ndecision = \"allow\"\n\
                         secrets = [\"github\"]\n";

/// A run that wants one thing, in a workshop that asks about every command.
fn wanting(call: &str) -> World {
    let world = World::new(&format!(
        "rules:\n  - expect: {{ says: begin the work }}\n    times: 1\n    call: {{ {call} }}\n\
         otherwise:\n  call: {{ finish: {{ answer: over }} }}\n"
    ));
    std::fs::write(world.project.join(".env"), "MODE=quick\n").unwrap();
    let test = "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_sum(self):\n        pass\n";
    std::fs::write(world.project.join("test_sums.py"), test).unwrap();
    std::fs::write(world.house.workshop.join("Tools/count.toml"), COUNT).unwrap();
    std::fs::write(world.house.workshop.join("Policy/rules.toml"), HANDS_OUT).unwrap();
    let settings = world.house.workshop.join("artel.toml");
    let old = std::fs::read_to_string(&settings).unwrap_or_default();
    let asks = "[policy]\ncommands = \"ask\"\ncontained = false\n";
    std::fs::write(&settings, format!("{old}\n{asks}")).unwrap();
    world
}

/// A secret that is granted and not stored is missed, and the command that is named stores it.
#[test]
fn a_secret_that_is_missed_is_stored_as_advised() {
    let world = wanting("bash: { command: printenv GITHUB_TOKEN }");
    world.ok(["policy", "grant", "Secret(github)", "--reason", "ours"]);
    world.task([]).run().expect(0);
    let advice = "artel auth set --tool github";
    let finished = world.events("tool.finished");
    let missed = finished
        .iter()
        .any(|it| it["payload"]["observation"].to_string().contains(advice));
    assert!(missed, "{finished:#?}");
    let set = world.artel(["auth", "set", "--tool", "github"]);
    set.given(crate::support::KEY).run().expect(0);
    world.task([]).run().expect(0);
    let finished = world.events("tool.finished");
    let bash = finished
        .iter()
        .rev()
        .find(|it| it["payload"]["tool"] == "bash");
    assert_eq!(bash.unwrap()["payload"]["exit"], 0, "{finished:#?}");
}

/// Does the work where nobody can be asked, and returns the rule that the advice names.
fn advised(world: &World) -> Option<String> {
    let seen = world.task([]).run().expect(0);
    let advice = seen.err.lines().find(|it| it.contains("you can: "));
    let advice = advice.unwrap_or_else(|| panic!("{}", seen.err));
    assert!(advice.contains("run it in a terminal"), "{advice}");
    let (_, named) = advice.split_once("`artel policy grant '")?;
    let (named, _) = named.split_once("' --reason …`")?;
    Some(named.to_owned())
}

/// What a repository would have git start is trusted by the rule that the advice names, as it was
/// shown; another program is asked about again.
#[test]
fn what_a_repository_starts_is_trusted_as_advised() {
    let world = wanting("git_status: {}");
    world.git();
    let filter = |program: &str| {
        let words = ["config", "filter.x.clean", program];
        let mut git = Command::new("git");
        let done = git.current_dir(&world.project).args(words).status();
        assert!(done.unwrap().success());
    };
    filter("cat");
    let named = advised(&world).unwrap();
    assert!(named.starts_with("Trust(git:"), "{named}");
    world.ok(["policy", "grant", &named, "--reason", "as advised"]);
    let seen = world.task([]).run().expect(0);
    assert!(!seen.err.contains("wants to run"), "{}", seen.err);
    let asked = world.events("tool.requested");
    let last = asked
        .iter()
        .rfind(|it| it["payload"]["tool"] == "git_status");
    assert_eq!(last.unwrap()["payload"]["decision"], "allow", "{asked:#?}");
    filter("tac");
    assert_ne!(advised(&world).unwrap(), named);
}

/// Each piece of advice is followed: the rule that it names is granted, and the same call is done.
/// Where no rule would help none is named, and the terminal that it names asks and can be told
/// yes for the run.
#[test]
fn advice_is_given_only_where_it_works() {
    for (call, rule) in ASKED {
        let world = wanting(call);
        let named = advised(&world);
        assert_eq!(named.as_deref(), rule, "{call}");
        match &named {
            Some(named) => {
                world.ok(["policy", "grant", named, "--reason", "as advised"]);
                let seen = world.task([]).run().expect(0);
                assert!(!seen.err.contains("wants to run"), "{call}: {}", seen.err);
            }
            None => {
                let mut seat = Seat::at(world.task([]));
                seat.shows("for this run it allows exactly this")
                    .shows("Allow it? [o]nce  for this [r]un  [N]o ")
                    .types("r\n")
                    .shows("Feedback for next time")
                    .types("\n");
                let (screen, code) = seat.end();
                assert_eq!(code, 0, "{call}: {screen}");
            }
        }
        let asked = world.events("tool.requested");
        let last = asked.last().unwrap();
        assert_ne!(last["payload"]["decision"], "deny", "{call}");
    }
}
