//! Declared tools and secrets are part of a step's scope: bounded by it, shown with it, asked for once.

use std::fs;

use serde_json::{Value, json};

use super::stage::{Calls, Stage, Who, adds, end, mend, plan, tests_add};
use crate::support::KEY;

const DEPLOY: &str = "description = \"Deploys\"\nsecrets = [\"github\"]\n\
    command = [\"sh\", \"-c\", \"printenv GITHUB_TOKEN | wc -c; echo deployed\"]\n";

/// A stage with a tool that needs a secret. Both were granted for good.
fn stage(scope: Value) -> Stage {
    let stage = Stage::new(move |asked| match (asked.who, asked.attempt, asked.turn) {
        (Who::Architect, ..) => plan(json!([mend(json!({ "verify": "none", "scope": scope }))])),
        (_, _, 0) => vec![("deploy", json!({}))],
        (_, 1, _) if asked.last.contains("not allowed by") => gives_up(),
        _ => vec![adds(), tests_add(), end("mended")],
    });
    let town = &stage.town;
    fs::write(town.house.workshop.join("Tools/deploy.toml"), DEPLOY).unwrap();
    let set = town.artel(["auth", "set", "--tool", "github"]);
    set.given(KEY).run().expect(0);
    for rule in ["Secret(github)", "deploy"] {
        let grant = ["policy", "grant", rule, "--reason", "we deploy"];
        town.artel(grant).run().expect(0);
    }
    stage
}

fn gives_up() -> Calls {
    vec![end("I may not deploy")]
}

fn decided(stage: &Stage) -> Vec<(Value, Value)> {
    let requested = stage.told("tool.requested");
    let calls = requested.iter().filter(|it| it["tool"] == "deploy");
    calls
        .map(|it| (it["decision"].clone(), it["rule"].clone()))
        .collect()
}

#[test]
fn a_step_uses_no_declared_tool_and_secret_that_it_does_not_list() {
    let stage = stage(json!({ "paths": ["calc.py", "test_calc.py"] }));
    let town = &stage.town;
    let id = town.asked();
    stage.approve(&id, 3);
    assert_eq!(
        decided(&stage),
        [(json!("deny"), json!("bound.step mend"))],
        "whatever was granted for good"
    );
    let proposed = stage.told("plan.proposed");
    assert_eq!(proposed.len(), 1, "{proposed:#?}");
    assert_eq!(
        proposed[0]["what"],
        "may use the tool `deploy`; may use the secret `github`"
    );
    town.artel(["answer", &id, "accept"]).run().expect(0);
    town.artel(["resume", &id, "--json"]).run().expect(0);
    assert_eq!(decided(&stage)[1].0, "allow");
    let used = stage.told("secret.used");
    assert_eq!(used.last().unwrap()["verdict"], "granted", "{used:#?}");
    let shown = town.artel(["plan", "show", &id]).run().expect(0).out;
    for words in ["use deploy", "use the secret github"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn what_a_plan_lists_is_shown_with_it_and_allowed() {
    let stage = stage(json!({
        "paths": ["calc.py", "test_calc.py"], "tools": ["deploy"], "secrets": ["github"],
    }));
    let id = stage.town.asked();
    let shown = stage.town.artel(["plan", "show", &id]).run().expect(0).out;
    for words in ["use deploy", "use the secret github"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    stage.approve(&id, 0);
    assert_eq!(decided(&stage)[0].0, "allow");
    assert_eq!(stage.town.count("plan.proposed"), 0);
}
