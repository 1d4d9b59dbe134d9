//! Text that nobody runs: what shows that it was changed, and what still needs a test.

use std::fs;

use serde_json::{Value, json};

use super::super::bench::git;
use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, plan};

const README: &str = "# Calc\n\nIt adds teh numbers.\n";

/// A project with tests and a README with a typo.
fn stage(mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> Stage {
    let stage = Stage::new(mind);
    let project = &stage.town.project;
    fs::write(project.join("README.md"), README).unwrap();
    git(project, &["add", "-A"]);
    git(project, &["commit", "-qm", "Say what it is"]);
    stage
}

fn corrects() -> (&'static str, Value) {
    (
        "edit",
        json!({ "path": "README.md", "old": "teh", "new": "the" }),
    )
}

/// Reads the file, then passes.
fn reads(asked: &Asked) -> Calls {
    match asked.turn {
        0 => vec![("read", json!({ "path": "README.md" }))],
        _ => vec![
            (
                "verdict",
                json!({ "verdict": "pass", "evidence": ["README.md says `the` now"] }),
            ),
            end("judged"),
        ],
    }
}

fn ask(stage: &Stage, words: &str, code: i32) -> String {
    let ask = ["ask", words, "--yes", "--json"];
    stage.town.artel(ask).run().expect(code);
    let request = stage.town.request().unwrap();
    request["trace_id"].as_str().unwrap().to_owned()
}

fn whys(stage: &Stage) -> Vec<String> {
    let failed = stage.told("step.failed");
    let why = failed.iter().map(|it| it["why"].as_str().unwrap());
    why.map(str::to_owned).collect()
}

#[test]
fn a_typo_is_corrected_at_once_in_a_project_with_tests() {
    let stage = stage(|asked| match asked.who {
        Who::Worker => vec![corrects(), end("corrected")],
        _ => reads(asked),
    });
    let id = ask(&stage, "Fix the typo in README.md", 0);
    assert_eq!(whys(&stage), Vec::<String>::new());
    assert_eq!(stage.town.count("step.passed"), 1);
    assert_eq!(stage.told("step.judged")[0]["passed"], true);
    // The runtime shows the file itself, after the work and on a clean checkout.
    let proofs = stage.told("proof.recorded");
    let files: Vec<_> = proofs.iter().filter(|it| it["sort"] == "file").collect();
    let places: Vec<_> = files.iter().map(|it| it["place"].clone()).collect();
    assert_eq!(places, [json!("green"), json!("final")], "{files:#?}");
    for file in &files {
        assert_eq!(file["what"], "README.md");
        assert_eq!(file["holds"], true, "{file:#}");
        assert_eq!(file["hash"], files[0]["hash"], "{file:#}");
    }
    let tests = proofs.iter().filter(|it| it["sort"] == "tests");
    assert!(tests.count() >= 3, "the tests are run as ever");
    let approve = ["changeset", "approve", &id, "--json"];
    stage.town.artel(approve).run().expect(0);
    let text = fs::read_to_string(stage.town.project.join("README.md")).unwrap();
    assert!(text.contains("adds the numbers"), "{text}");
}

#[test]
fn text_alone_does_not_pass_on_words_either() {
    // Nothing is changed, or nobody looks: the runtime and the verifier are both needed.
    let idle = stage(|asked| match asked.who {
        Who::Worker => vec![end("corrected")],
        _ => reads(asked),
    });
    ask(&idle, "Fix the typo in README.md", 3);
    assert_eq!(idle.town.count("step.passed"), 0);
    assert!(whys(&idle)[0].contains("no file was changed"));
    let fooled = stage(|asked| match (asked.who, asked.attempt) {
        (Who::Worker, 1) => vec![corrects(), end("corrected")],
        (Who::Worker, _) => vec![end("it is corrected")],
        _ => vec![
            (
                "verdict",
                json!({ "verdict": "pass", "evidence": ["fine"] }),
            ),
            end("fine"),
        ],
    });
    ask(&fooled, "Fix the typo in README.md", 3);
    assert_eq!(fooled.town.count("step.passed"), 0);
}

#[test]
fn code_beside_text_needs_a_test_as_ever() {
    let stage = stage(|asked| match (asked.who, asked.attempt) {
        (Who::Worker, 1) => vec![corrects(), adds(), end("and more")],
        (Who::Worker, _) => vec![end("it is done")],
        _ => reads(asked),
    });
    ask(&stage, "Fix the typo in README.md", 3);
    assert_eq!(stage.town.count("step.passed"), 0);
    for why in whys(&stage) {
        assert!(why.contains("nothing exercises it"), "{why}");
    }
}

#[test]
fn a_step_about_text_that_names_tests_has_to_show_them() {
    let over = json!({
        "verify": "none", "scope": { "paths": ["README.md"] }, "evidence": [{ "kind": "tests" }],
    });
    let stage = stage(move |asked| match (asked.who, asked.attempt) {
        (Who::Architect, _) => plan(json!([mend(over.clone())])),
        (_, 1) => vec![corrects(), end("corrected")],
        _ => vec![end("it is corrected")],
    });
    let id = stage.town.asked();
    stage.approve(&id, 3);
    assert_eq!(stage.town.count("step.passed"), 0);
}
