//! What a command does in a terminal is done over the interface, too, for whoever may.

use serde_json::{Value, json};

use crate::house::House;

/// Has a run done, and returns it with its trace.
fn run(house: &House) -> (String, String) {
    house.portal("shop");
    let body = json!({ "task": "Say hello" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let began = began.json();
    let run = began["run"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/runs/{run}");
    house.until(&path, |it| it["state"] == "complete");
    (run, began["trace"].as_str().unwrap().to_owned())
}

#[test]
fn a_trace_is_told_by_any_of_its_ids() {
    let house = House::new();
    let (run, trace) = run(&house);
    for id in [&run, &trace, &trace[..8].to_owned()] {
        let told = house.get("user", &format!("/api/v1/traces/{id}"));
        let told = told.expect(200).json();
        assert!(!told["lines"].as_array().unwrap().is_empty(), "{told}");
        assert!(told["story"].is_null() && told["step"].is_null(), "{told}");
    }
    let path = format!("/api/v1/traces/{trace}");
    house.get("user", &format!("{path}?view=full")).expect(403);
    let full = house.get("developer", &format!("{path}?view=full"));
    let full = full.expect(200).json();
    let brief = house.get("developer", &format!("{path}?view=summary"));
    let brief = brief.expect(200).json();
    let count = |it: &Value| it["lines"].as_array().unwrap().len();
    assert!(count(&full) > count(&brief), "{full} {brief}");
    for (asked, status) in [
        ("?turn=99", 404),
        ("?step=1", 404),
        ("?turn=x", 400),
        ("?view=inside-out", 400),
    ] {
        house.get("user", &format!("{path}{asked}")).expect(status);
    }
    house.get("user", "/api/v1/traces/00000000").expect(404);
}

#[test]
fn recordings_are_for_admins_and_only_where_nothing_is_hidden() {
    let house = House::new();
    let (_, trace) = run(&house);
    let path = format!("/api/v1/traces/{trace}/recording");
    let lines = house.get("admin", &path).expect(200);
    let lines: Vec<Value> = lines
        .text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines.len(), 1, "one call, one take");
    house.get("developer", &path).expect(403);
    let unknown = "/api/v1/traces/00000000/recording";
    house.get("admin", unknown).expect(404);
    let hide = json!({ "hidden_tools": ["bash"] });
    house.post("admin", "/api/v1/visibility", &hide).expect(200);
    house.get("admin", &path).expect(403);
}

#[test]
fn a_run_is_played_again() {
    let house = House::new();
    let (run, _) = run(&house);
    let path = format!("/api/v1/runs/{run}/replay");
    let played = house
        .post("developer", &path, &json!({}))
        .expect(200)
        .json();
    assert_eq!(played["is_over"], true, "{played}");
    assert_eq!(played["divergences"], json!([]), "{played}");
    assert!(played["steps"].as_u64().unwrap() > 0, "{played}");
    house.post("user", &path, &json!({})).expect(403);
    house
        .post("developer", &path, &json!({ "fast": true }))
        .expect(400);
    // A run of no skill makes no test of one.
    let promote = format!("/api/v1/runs/{run}/promote");
    let refused = house.post("developer", &promote, &json!({}));
    assert!((400..500).contains(&refused.status), "{refused:?}");
    for what in ["replay", "promote"] {
        let path = format!("/api/v1/runs/00000000/{what}");
        house.post("developer", &path, &json!({})).expect(404);
    }
    let path = "/api/v1/reports/00000000/rebuild";
    house.post("developer", path, &json!({})).expect(404);
    house.post("user", path, &json!({})).expect(403);
}

#[test]
fn skills_are_checked_and_tested() {
    let house = House::new();
    let name = json!({ "name": "weekly-report" });
    house.post("developer", "/api/v1/skills", &name).expect(201);
    let post = |path: &str, body: Value| house.post("developer", path, &body);
    let path = "/api/v1/skills/weekly-report";
    let checked = post(&format!("{path}/validate"), json!({}))
        .expect(200)
        .json();
    assert_eq!(checked["ok"], true, "{checked}");
    assert_eq!(checked["files"].as_array().unwrap().len(), 1, "{checked}");
    let tested = post(&format!("{path}/test"), json!({})).expect(200).json();
    assert_eq!(tested["skills"][0]["skill"], "weekly-report", "{tested}");
    let all = post("/api/v1/checks/skills", json!({})).expect(200).json();
    assert!(!all["files"].as_array().unwrap().is_empty(), "{all}");
    post("/api/v1/checks/skill-tests", json!({})).expect(200);
    let text = json!({ "text": "no frontmatter", "dir": "x" });
    let bad = post("/api/v1/checks/skills", text).expect(200).json();
    assert_eq!(bad["ok"], false, "{bad}");
    assert!(!bad["files"][0]["errors"].as_array().unwrap().is_empty());
    // One that cannot be loaded is told what is wrong with it all the same.
    let broken = house.workshop.root().join("Skills/broken");
    std::fs::create_dir_all(&broken).unwrap();
    std::fs::write(broken.join("SKILL.md"), "nothing\n").unwrap();
    let found = post("/api/v1/skills/broken/validate", json!({}));
    assert_eq!(found.expect(200).json()["ok"], false);
    post("/api/v1/checks/skills", json!({ "kind": "poem" })).expect(400);
    for what in ["validate", "test"] {
        post(&format!("/api/v1/skills/nobody/{what}"), json!({})).expect(404);
        let elsewhere = json!({ "portal": "nowhere" });
        post(&format!("{path}/{what}"), elsewhere).expect(400);
        let path = format!("{path}/{what}");
        house.post("user", &path, &json!({})).expect(403);
    }
    let lessons = format!("{path}/lessons");
    let made = post(&lessons, json!({ "text": "keep it short" }));
    let made = made.expect(201).json();
    let edit = format!("{lessons}/{}/edit", made["id"].as_str().unwrap());
    post(&edit, json!({ "text": "keep it very short" })).expect(200);
    let shown = house.get("developer", path).expect(200).json();
    assert_eq!(shown["lessons"][0]["text"], "keep it very short");
    post(&format!("{lessons}/nothing/edit"), json!({ "text": "x" })).expect(404);
    let sums = house.get("developer", "/api/v1/usage/skills").expect(200);
    assert_eq!(sums.json()["skills"], json!([]), "none has run");
}

#[test]
fn a_skill_that_came_with_a_project_is_trusted_as_it_was_seen() {
    let house = House::new();
    let folder = house.portal("shop").join(".agents/skills/foreign");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "---\nname: foreign\ndescription: Does what it is told, when asked.\n---\nDo it.\n";
    std::fs::write(folder.join("SKILL.md"), text).unwrap();
    house.get("developer", "/api/v1/skills/foreign").expect(404);
    let path = "/api/v1/skills/foreign?portal=shop";
    let seen = house.get("developer", path).expect(200).json();
    assert_eq!(seen["trusted"], false);
    let listed = house
        .get("developer", "/api/v1/skills?portal=shop")
        .expect(200);
    assert!(listed.text.contains("foreign"));
    let test = json!({ "portal": "shop" });
    let refused = house.post("developer", "/api/v1/skills/foreign/test", &test);
    assert_eq!(refused.expect(403).code(), "R003");
    let trust = "/api/v1/skills/foreign/trust";
    let of = |hash: &Value| json!({ "hash": hash, "portal": "shop" });
    house
        .post("developer", trust, &of(&seen["hash"]))
        .expect(403);
    house
        .post("admin", trust, &json!({ "portal": "shop" }))
        .expect(400);
    house
        .post("admin", trust, &of(&json!("0".repeat(64))))
        .expect(409);
    house
        .post("admin", "/api/v1/skills/nobody/trust", &of(&seen["hash"]))
        .expect(404);
    assert_eq!(house.get("developer", path).json()["trusted"], false);
    let done = house.post("admin", trust, &of(&seen["hash"])).expect(200);
    assert_eq!(done.json()["changed"], true);
    assert_eq!(house.get("developer", path).json()["trusted"], true);
    let again = house.post("admin", trust, &of(&seen["hash"])).expect(200);
    assert_eq!(again.json()["changed"], false);
    house
        .post("developer", "/api/v1/skills/foreign/test", &test)
        .expect(200);
}

#[test]
fn a_role_is_rewritten_by_whoever_read_it_last() {
    let house = House::new();
    let path = "/api/v1/agents/inspector";
    let read = || {
        let text = house.get("developer", &format!("{path}/text"));
        text.expect(200).json()
    };
    let before = read();
    assert!(before["file"].is_null(), "it is built in: {before}");
    let text = before["text"].as_str().unwrap().to_owned() + "\nBe brief about it.\n";
    let edit = format!("{path}/edit");
    let with = |hash: &Value| json!({ "text": text, "hash": hash });
    house
        .post("developer", &edit, &with(&before["hash"]))
        .expect(403);
    house
        .post("admin", &edit, &json!({ "text": text }))
        .expect(400);
    house
        .post("admin", &edit, &with(&json!("0".repeat(64))))
        .expect(409);
    let broken = json!({ "text": "no frontmatter", "hash": before["hash"] });
    house.post("admin", &edit, &broken).expect(400);
    assert_eq!(read(), before, "nothing was changed by all that");
    let done = house
        .post("admin", &edit, &with(&before["hash"]))
        .expect(200);
    assert_eq!(done.json()["ok"], true);
    let after = read();
    assert_eq!(after["text"], json!(text));
    house
        .post("admin", &edit, &with(&before["hash"]))
        .expect(409);
    let query = "/api/v1/events?kind=agent.changed";
    let events = house.get("admin", query).expect(200).json();
    assert_eq!(events["events"][0]["actor"]["id"], "admin", "{events}");

    let validate = format!("{path}/validate");
    let checked = house.post("developer", &validate, &json!({})).expect(200);
    assert_eq!(checked.json()["ok"], true);
    let all = house.post("developer", "/api/v1/checks/agents", &json!({}));
    assert!(all.expect(200).json()["agents"].as_array().unwrap().len() > 10);
    let file = house.workshop.root().join("Agents/inspector.md");
    std::fs::write(file, "nothing\n").unwrap();
    let checked = house.post("developer", &validate, &json!({})).expect(200);
    assert_eq!(checked.json()["ok"], false);
    house.post("user", &validate, &json!({})).expect(403);
    let nobody = "/api/v1/agents/nobody";
    house
        .get("developer", &format!("{nobody}/text"))
        .expect(404);
    house
        .post("developer", &format!("{nobody}/validate"), &json!({}))
        .expect(404);
    house
        .post("admin", &format!("{nobody}/edit"), &with(&before["hash"]))
        .expect(404);
}

#[test]
fn hooks_of_a_project_are_seen_and_trusted() {
    let house = House::new();
    let folder = house.portal("shop").join(".claude");
    std::fs::create_dir_all(&folder).unwrap();
    let hooks = json!({ "hooks": { "Stop": [{ "hooks": [
        { "type": "command", "command": "true" }] }] } });
    std::fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    let here = house.get("developer", "/api/v1/hooks").expect(200).json();
    assert_eq!(here["hooks"], json!([]), "{here}");
    let seen = || {
        let seen = house.get("developer", "/api/v1/hooks?portal=shop");
        seen.expect(200).json()["hooks"][0].clone()
    };
    let hook = seen();
    assert_eq!(hook["trusted"], false, "{hook}");
    let trust = |role: &str, hash: &Value| {
        let body = json!({ "hash": hash, "portal": "shop" });
        house.post(role, "/api/v1/hooks/trust", &body)
    };
    trust("developer", &hook["hash"]).expect(403);
    trust("admin", &json!("")).expect(400);
    trust("admin", &json!("0".repeat(64))).expect(404);
    trust("admin", &hook["hash"]).expect(200);
    assert_eq!(seen()["trusted"], true);
    let nowhere = "/api/v1/hooks?portal=nowhere";
    house.get("developer", nowhere).expect(400);
    house.get("user", "/api/v1/hooks").expect(403);
}

#[test]
fn tools_and_models_are_shown() {
    let house = House::new();
    let tools = house.get("developer", "/api/v1/tools").expect(200).json();
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"grep") && names.contains(&"bash"),
        "{names:?}"
    );
    let grep = house
        .get("developer", "/api/v1/tools/grep")
        .expect(200)
        .json();
    assert_eq!(grep["input"]["type"], "object", "{grep}");
    house.get("developer", "/api/v1/tools/hammer").expect(404);
    house.get("user", "/api/v1/tools").expect(403);
    let input = json!({ "input": { "pattern": "x" } });
    let run = |role: &str, name: &str, body: &Value| {
        house.post(role, &format!("/api/v1/tools/{name}/run"), body)
    };
    run("developer", "hammer", &input).expect(404);
    run("user", "grep", &input).expect(403);
    run("developer", "grep", &input).expect(400);
    house.portal("shop");
    run("developer", "grep", &json!({ "input": "x" })).expect(400);
    run("developer", "grep", &json!({})).expect(400);
    let elsewhere = json!({ "input": {}, "folder": "/etc" });
    run("developer", "grep", &elsewhere).expect(403);

    let models = house.get("developer", "/api/v1/models").expect(200).json();
    let alias = models["models"][0]["alias"].as_str().unwrap();
    let shown = house.get("developer", &format!("/api/v1/models/{alias}"));
    assert_eq!(shown.expect(200).json()["alias"], alias);
    house
        .get("user", &format!("/api/v1/models/{alias}"))
        .expect(403);
    house.get("developer", "/api/v1/models/no-such").expect(400);
    let reset = |role: &str, name: &str| {
        let path = format!("/api/v1/providers/{name}/reset");
        house.post(role, &path, &json!({}))
    };
    assert_eq!(
        reset("admin", "anthropic").expect(200).json()["reset"],
        json!([])
    );
    reset("developer", "anthropic").expect(403);
    reset("admin", "nobody").expect(400);
}

#[test]
fn steps_of_a_plan_that_is_not_there_cannot_be_held() {
    let house = House::new();
    for what in ["pause", "resume", "cancel"] {
        let path = format!("/api/v1/plans/00000000/steps/1/{what}");
        house.post("developer", &path, &json!({})).expect(404);
        house.post("user", &path, &json!({})).expect(403);
        house
            .post("developer", &path, &json!({ "unknown": 1 }))
            .expect(400);
    }
}

#[test]
fn a_request_is_looked_at_before_it_is_made() {
    let house = House::new();
    house.portal("shop");
    let path = "/api/v1/requests/preview";
    let body = json!({ "words": "Make it faster. It must stay small.", "priority": "high" });
    let meant = house.post("user", path, &body).expect(200).json();
    assert_eq!(meant["portal"], "shop", "{meant}");
    assert_eq!(meant["priority"], "high", "{meant}");
    assert!(
        meant["criteria"].to_string().contains("stay small")
            || meant["constraints"].to_string().contains("stay small"),
        "{meant}"
    );
    let requests = house.get("user", "/api/v1/requests").expect(200).json();
    assert_eq!(requests["rows"], json!([]), "nothing was asked for");
    house
        .post("user", path, &json!({ "words": " " }))
        .expect(400);
    let elsewhere = json!({ "words": "x", "portal": "nowhere" });
    house.post("user", path, &elsewhere).expect(404);
}
