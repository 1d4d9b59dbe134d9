//! Files that a rule of the person keeps from being changed stay as they are in planned work, by
//! whatever means an agent changes them.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::stage::{Asked, Calls, Stage, Who, adds, end, mend, pass, plan, tests_add};

/// Makes a file that only a pattern of the person's keeps out: walls hold what is there already.
const MAKES: &str = "python3 -c \"open('kept/new.txt', 'w').write('planted')\"";

fn tries(asked: &Asked, attempt: usize) -> Calls {
    match (asked.who, asked.turn) {
        (Who::Architect, _) => plan(json!([mend(json!({ "scope": { "paths": ["**"] } }))])),
        (Who::Worker, 0) if attempt == 0 => vec![("bash", json!({ "command": MAKES }))],
        (Who::Worker, _) => vec![adds(), tests_add(), end("mended")],
        _ => pass(asked, json!({})),
    }
}

#[test]
fn a_banned_file_that_a_step_made_is_put_back_and_charged() {
    let attempts = AtomicUsize::new(0);
    let stage = Stage::new(move |asked: &Asked| {
        let is_new = asked.who == Who::Worker && asked.turn == 0;
        let attempt = attempts.fetch_add(usize::from(is_new), Ordering::Relaxed);
        tries(asked, attempt)
    });
    let kept = stage.town.project.join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("plan.txt"), "the plan\n").unwrap();
    stage.git(&["add", "-A"]);
    stage.git(&["commit", "-qm", "A plan"]);
    let rules = "deny = [\"Edit(kept/*.txt)\"]\n";
    fs::write(stage.town.house.workshop.join("Policy/rules.toml"), rules).unwrap();
    let id = stage.done();
    let told = stage.told("step.put_back");
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!(told[0]["files"], json!(["kept/new.txt"]));
    let branch = stage.branch(&id);
    let changed = stage.git(&["diff", "--name-only", "main", &branch]);
    assert_eq!(changed, "calc.py\ntest_calc.py");
}
