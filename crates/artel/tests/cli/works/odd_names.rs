//! Files whose names are more than letters: a yes to one of them is a yes to that file alone, and
//! what a person is shown of a name is the name.

use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, end, pass, plan};

/// A plan of one step that writes notes, and finds that out by itself.
fn notes() -> Calls {
    let step = json!({
        "id": "notes", "title": "Write notes", "role": "engineer", "work": "Write docs/new.md.",
        "check": "It is there.", "verify": "none", "scope": { "paths": ["docs/**"] },
        "evidence": [{ "kind": "file", "what": "docs/new.md" }],
    });
    plan(json!([step]))
}

fn bash(command: &str) -> (&'static str, Value) {
    ("bash", json!({ "command": command }))
}

/// Runs a command in every attempt besides what the step is about.
fn besides(commands: impl Fn(usize) -> String + Send + Sync + 'static) -> Stage {
    Stage::new(move |asked: &Asked| match asked.who {
        Who::Architect => notes(),
        Who::Worker => vec![
            bash("mkdir -p docs && echo new > docs/new.md"),
            bash(&commands(asked.attempt)),
            end("written"),
        ],
        _ => pass(asked, json!({})),
    })
}

/// Makes a file of that name in a folder that is not the step's, in every attempt.
fn makes(name: &'static str) -> Stage {
    besides(move |_| {
        let name = name.replace('\'', "'\\''");
        format!("mkdir -p pages && echo one > '{name}'")
    })
}

/// Answers what waits, and takes the plan up again.
fn answers(stage: &Stage, id: &str, answer: &str, code: i32) {
    stage.town.artel(["answer", id, answer]).run().expect(0);
    let resume = ["resume", id, "--json"];
    stage.town.artel(resume).run().expect(code);
}

fn paths(stage: &Stage, id: &str) -> Value {
    let shown = stage.town.artel(["plan", "show", id, "--json"]);
    shown.run().expect(0).json()["plan"]["steps"][0]["scope"]["paths"].clone()
}

fn changed(stage: &Stage, id: &str) -> String {
    let branch = stage.branch(id);
    stage.git(&["diff", "-z", "--name-only", "main", &branch])
}

#[test]
fn a_yes_to_a_file_named_like_a_pattern_is_a_yes_to_no_other() {
    let stage = besides(|attempt| match attempt {
        1 => "echo one > '**'".to_owned(),
        2 => "rm -f '**'; echo more > other.txt; echo more >> calc.py".to_owned(),
        _ => "rm -f other.txt; git show HEAD:calc.py > calc.py; echo two > '**'".to_owned(),
    });
    // The tree of the first attempt is not taken: it is begun anew.
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let waits = stage.town.artel(["waiting"]).run().expect(0).out;
    assert!(waits.contains("it also changed `**`"), "{waits}");
    answers(&stage, &id, "accept", 0);
    assert_eq!(paths(&stage, &id), json!(["docs/**", r"\*\*"]));
    assert_eq!(changed(&stage, &id), "**\0docs/new.md\0");
}

#[test]
fn a_file_that_reads_as_a_class_of_letters_can_be_accepted() {
    let stage = makes("pages/[id].md");
    let id = stage.town.asked();
    stage.approve(&id, 3);
    answers(&stage, &id, "accept", 0);
    assert_eq!(paths(&stage, &id), json!(["docs/**", r"pages/\[id\].md"]));
    assert_eq!(changed(&stage, &id), "docs/new.md\0pages/[id].md\0");
    assert_eq!(stage.told("plan.proposed").len(), 1, "they are asked once");
}

#[test]
fn a_name_that_no_terminal_shows_ends_no_plan() {
    let stage = makes("b\u{1b}[2Kc\u{202e}.txt");
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let waits = stage.town.artel(["waiting"]).run().expect(0).out;
    let shown = r"it also changed `b\u{1b}[2Kc\u{202e}.txt`";
    assert!(waits.contains(shown), "{waits}");
    answers(&stage, &id, "accept", 0);
    let pattern = r"b\u{1b}\[2Kc\u{202e}.txt";
    assert_eq!(paths(&stage, &id), json!(["docs/**", pattern]));
    let files = changed(&stage, &id);
    assert_eq!(files, "b\u{1b}[2Kc\u{202e}.txt\0docs/new.md\0");
}

#[test]
fn a_name_with_lines_cannot_pass_for_words_of_ours() {
    let stage = makes("x\nWhy: the person wanted it\nImpact: none");
    let id = stage.town.asked();
    stage.approve(&id, 3);
    let waits = stage.town.artel(["waiting", "--json"]).run().expect(0);
    let text = waits.json()[0]["text"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r"Step `notes` wants the plan to change: it also changed `x\u{a}Why: the person wanted it\u{a}Impact: none`"
    );
    assert!(lines[1].starts_with("Why: the files lie outside"), "{text}");
    answers(&stage, &id, "reject", 3);
    assert!(stage.told("step.failed").len() > 1, "it is to be put back");
    assert_eq!(stage.told("plan.proposed").len(), 1, "no is no");
}

/// More files than a plan can name are no fault of ours, and nobody can have read them.
#[test]
fn more_files_than_a_plan_holds_are_to_be_put_back() {
    let stage = besides(|attempt| match attempt {
        1 => "for n in $(seq 300); do echo $n > f$n.txt; done".to_owned(),
        _ => "rm -f f*.txt".to_owned(),
    });
    let id = stage.done();
    assert_eq!(stage.town.count("plan.proposed"), 0);
    let failed = stage.told("step.failed");
    let why = failed[0]["why"].as_str().unwrap();
    assert!(
        why.contains("`f1.txt` is not this step's to change"),
        "{why}"
    );
    assert_eq!(changed(&stage, &id), "docs/new.md\0");
}

/// Two names that are no text can read the same, so a yes could not be to one of them.
#[test]
fn a_file_whose_name_is_no_text_is_to_be_put_back() {
    let stage = besides(|attempt| match attempt {
        1 => r#"echo one > "$(printf 'b\377.txt')""#.to_owned(),
        _ => "rm -f b*.txt".to_owned(),
    });
    let id = stage.done();
    assert_eq!(stage.town.count("plan.proposed"), 0);
    assert_eq!(stage.town.count("step.failed"), 1);
    assert_eq!(changed(&stage, &id), "docs/new.md\0");
}
