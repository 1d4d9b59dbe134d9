//! `artel answer` and `artel waiting`: what needs a person, and what becomes of their answer.

use serde_json::Value;

use super::bench::git;
use super::town::{SCRIPT, Town};

fn waiting(town: &Town) -> Vec<Value> {
    let seen = town.artel(["waiting", "--json"]).run().expect(0);
    seen.json().as_array().unwrap().clone()
}

#[test]
fn an_architects_question_waits_for_an_answer() {
    let asks = "rules:\n  - expect: { says: Plan this request }\n    times: 1\n    call: { ask_person: { question: 'Per account or per address?', choices: [account, address] } }\n  - expect: { tools: [submit_plan], result_of: ask_person }\n    call: { read: { path: calc.py } }\n";
    let script = SCRIPT.trim_start().replacen("rules:\n", asks, 1);
    let town = Town::saying(&script);
    let seen = town
        .artel(["ask", "Mend add", "--plan", "--yes"])
        .run()
        .fails_last(3, "P002");
    let seen = seen
        .says("Per account or per address?")
        .says("artel answer ");
    assert!(seen.err.contains("artel resume "), "{}", seen.err);
    let waits = waiting(&town);
    assert_eq!(waits.len(), 1, "{waits:?}");
    assert_eq!(waits[0]["kind"], "question");
    let trace = waits[0]["trace"].as_str().unwrap().to_owned();
    let run = waits[0]["id"].as_str().unwrap().to_owned();
    for id in [&trace, &run, &trace[..8].to_owned()] {
        town.artel(["answer", id]).run().expect(0).says("1 account");
    }
    town.artel(["answer", &run, "nobody"])
        .run()
        .fails(2, "C004")
        .says("account, address");
    town.artel(["answer", &run, "2: it is simpler"])
        .run()
        .expect(0)
        .says("artel resume");
    assert_eq!(town.count("run.answered"), 1);
    town.artel(["answer", &run, "account"])
        .run()
        .fails(4, "R004");
    assert_eq!(waiting(&town)[0]["kind"], "left");
    town.artel(["resume", &trace])
        .run()
        .expect(0)
        .says("Plan ready");
    let waits = waiting(&town);
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &"plan".into()));
    let commands = waits[0]["commands"].as_array().unwrap();
    assert!(
        commands[1]
            .as_str()
            .unwrap()
            .starts_with("artel plan approve ")
    );
}

/// What an agent of a step asks is left until somebody answers, not asked again and again.
#[test]
fn a_workers_question_waits_for_an_answer() {
    let work = r#"  - expect: { matches: "(?s)step 1 of 2.*You may change" }
    call:
      - edit: { path: calc.py"#;
    assert!(SCRIPT.contains(work));
    let asks = r#"  - expect: { matches: "(?s)step 1 of 2.*You may change" }
    call: { ask_person: { question: "Floats too?", choices: ["yes", "no"] } }
  - expect: { tools: [propose_change], result_of: ask_person }
    call:
      - edit: { path: calc.py"#;
    let town = Town::saying(&SCRIPT.replace(work, asks));
    let id = town.asked();
    let seen = town
        .artel(["plan", "approve", &id])
        .run()
        .fails_last(3, "P002");
    seen.says("Floats too?").says("artel answer ");
    // The run of the step was begun once, and nothing went on beside it.
    assert_eq!(town.count("step.started"), 1);
    assert_eq!(town.count("run.continued"), 0);
    let waits = waiting(&town);
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &"question".into()));
    let run = waits[0]["id"].as_str().unwrap().to_owned();
    town.artel(["answer", &run, "no"]).run().expect(0);
    town.artel(["resume", &id]).run().expect(0);
    assert_eq!(town.count("run.answered"), 1);
    assert_eq!(town.count("step.started"), 2);
    assert_eq!(town.count("changeset.created"), 1);
}

/// Nothing passes: after three attempts the person decides, and may try again later.
#[test]
fn a_step_that_does_not_pass_is_decided_by_the_person() {
    let script = SCRIPT.replace(
        "old: \"a - b\", new: \"a + b\"",
        "old: \"2 * a\", new: \"2 + a\"",
    );
    let town = Town::saying(&script);
    let id = town.asked();
    let seen = town
        .artel(["plan", "approve", &id])
        .run()
        .fails_last(3, "P002");
    seen.says("did not pass in 3 attempts")
        .says("take-over|skip|give-up|cancel");
    assert_eq!(town.count("step.started"), 3);
    let waits = waiting(&town);
    assert_eq!((waits.len(), &waits[0]["kind"]), (1, &"question".into()));
    town.artel(["answer", &id, "give-up: later"])
        .run()
        .expect(0);
    town.artel(["resume", &id])
        .run()
        .fails_last(1, "R005")
        .says("artel plan retry");
    let request = town.request().unwrap();
    assert_eq!(request["plan_state"], "failed");
    // Tried again, in a run of its own, with the same end; then it is called off.
    town.artel(["plan", "retry", &id])
        .run()
        .fails_last(3, "P002")
        .says("3 attempts");
    assert_eq!(town.count("plan.approved"), 2);
    assert_eq!(town.count("step.started"), 6);
    town.artel(["plan", "waive", &id, "1", "nothing", "--reason", "x"])
        .run()
        .fails(2, "C004")
        .says("inspector");
    town.artel(["plan", "waive", &id, "1", "tester"])
        .run()
        .fails(2, "C005");
    town.artel(["plan", "skip", &id, "9"])
        .run()
        .fails(2, "C004")
        .says("1 Mend add");
    town.artel(["plan", "skip", &id, "1", "--reason", "not needed"])
        .run()
        .expect(0);
    town.artel(["plan", "retry", &id, "1"])
        .run()
        .fails_last(3, "P002");
    town.artel(["plan", "cancel", &id]).run().expect(0);
    assert_eq!(town.request().unwrap()["plan_state"], "cancelled");
    assert!(waiting(&town).is_empty(), "{:?}", waiting(&town));
}

/// What the step had made is the person's to finish, where nobody takes it for checked.
#[test]
fn what_a_person_takes_over_is_on_a_branch_of_its_own() {
    let script = SCRIPT.replace(
        "old: \"a - b\", new: \"a + b\"",
        "old: \"2 * a\", new: \"2 + a\"",
    );
    let town = Town::saying(&script);
    let id = town.asked();
    let approve = town.artel(["plan", "approve", &id]);
    approve.run().fails_last(3, "P002");
    let take = town.artel(["answer", &id, "take-over: I know how"]);
    take.run().expect(0);
    let seen = town.artel(["resume", &id]).run().fails_last(1, "R005");
    let seen = seen.says("git switch ").says("artel report show");
    assert!(!seen.err.contains("changeset show"), "{}", seen.err);
    let (_, branch) = seen.err.split_once("git switch ").unwrap();
    let (branch, _) = branch.split_once('`').unwrap();
    assert!(branch.ends_with("-unfinished"), "{branch}");
    let made = git(&town.project, &["show", &format!("{branch}:calc.py")]);
    assert!(made.contains("2 + a"), "{made}");
    let message = git(&town.project, &["log", "-1", "--format=%B", branch]);
    assert!(message.contains("Unfinished-Step: "), "{message}");
    assert_eq!(town.count("changeset.created"), 0);
    let report = town.artel(["report", "show", &id]).run().expect(0);
    report.says("`take-over: I know how` by ").says(branch);
}

/// What was not checked goes with the changeset that it is no part of.
#[test]
fn a_changeset_that_is_turned_down_takes_what_was_left_unfinished_with_it() {
    let script = SCRIPT
        .replace(
            "scope: { paths: [NOTES.md] }",
            "scope: { paths: [NOTES.md, OTHER.md] }",
        )
        .replace("write: { path: NOTES.md,", "write: { path: OTHER.md,")
        .replace("says: NOTES.md", "says: OTHER.md");
    let town = Town::saying(&script);
    let id = town.asked();
    let approve = town.artel(["plan", "approve", &id]);
    approve.run().fails_last(3, "P002");
    let take = town.artel(["answer", &id, "take-over: I know how"]);
    take.run().expect(0);
    town.artel(["resume", &id]).run().fails_last(1, "R005");
    let branches = || git(&town.project, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches().lines().count(), 3, "{}", branches());
    assert!(branches().contains("-unfinished"), "{}", branches());
    town.artel(["changeset", "reject", &id, "--reason", "not now"])
        .run()
        .expect(0);
    assert_eq!(branches().trim(), "main");
}
