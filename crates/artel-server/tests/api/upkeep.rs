//! Keeping the place in order over the interface.

use std::fs::File;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::house::House;

#[test]
fn the_place_is_looked_over() {
    let house = House::new();
    let seen = house.get("developer", "/api/v1/doctor").expect(200).json();
    let checks = seen["checks"].as_array().unwrap();
    let area = |name: &str| checks.iter().find(|it| it["area"] == name);
    assert_eq!(area("git").unwrap()["health"], "ok", "{seen}");
    assert!(area("journal").is_some(), "{seen}");
    let list = "/api/v1/doctor?profile=production";
    house.get("developer", list).expect(200);
    house
        .get("developer", "/api/v1/doctor?profile=moon")
        .expect(400);
    house.get("user", "/api/v1/doctor").expect(403);
    let workshop = house
        .get("developer", "/api/v1/workshop")
        .expect(200)
        .json();
    assert_eq!(workshop["path"], json!(house.workshop.root()), "{workshop}");
    house.get("user", "/api/v1/workshop").expect(403);
    let told = house.get("user", "/api/v1/explain/j006").expect(200).json();
    assert_eq!(told["code"], "J006", "{told}");
    house.get("user", "/api/v1/explain/J999").expect(404);
    let all = house.get("user", "/api/v1/explain").expect(200).json();
    assert!(all["codes"].as_array().unwrap().len() > 50);
}

#[test]
fn what_the_daemon_said_is_read_and_followed() {
    let house = House::new();
    let get = |asked: &str| house.get("developer", &format!("/api/v1/daemon/logs{asked}"));
    let none = get("").expect(200).json();
    assert_eq!(none, json!({ "lines": [], "position": 0 }));
    let log = house.workshop.daemon_log();
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, "one\ntwo\nthree\n").unwrap();
    let last = get("?lines=2").expect(200).json();
    assert_eq!(last["lines"], json!(["two", "three"]));
    let position = last["position"].as_u64().unwrap();
    std::fs::write(&log, "one\ntwo\nthree\nfour\n").unwrap();
    let more = get(&format!("?after={position}")).expect(200).json();
    assert_eq!(more["lines"], json!(["four"]));
    get(&format!("?after={}", u64::MAX)).expect(200);
    for wrong in ["?lines=0", "?lines=1001", "?lines=x", "?after=-1"] {
        get(wrong).expect(400);
    }
    house.get("user", "/api/v1/daemon/logs").expect(403);
}

#[test]
fn the_journal_is_copied_and_pruned() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "task": "Say hello" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/runs/{run}");
    house.until(&path, |it| it["state"] == "complete");
    let post = |role: &str, what: &str, body: &Value| {
        house.post(role, &format!("/api/v1/journal/{what}"), body)
    };
    let copied = post("admin", "backup", &json!({})).expect(201).json();
    assert!(copied["events"].as_u64().unwrap() > 5, "{copied}");
    assert!(std::path::Path::new(copied["file"].as_str().unwrap()).is_file());
    post("developer", "backup", &json!({})).expect(403);

    let none = post("admin", "prune", &json!({ "before": "90d" }));
    assert_eq!(none.expect(200).json()["pruned"], Value::Null);
    let dry = json!({ "before": "2200-01-01T00:00:00Z", "dry_run": true });
    let counted = post("admin", "prune", &dry).expect(200).json();
    assert_eq!(counted["plan"]["streams"], 1, "{counted}");
    assert_eq!(counted["pruned"], Value::Null, "{counted}");
    let now = json!({ "before": "2200-01-01T00:00:00Z" });
    let moved = post("admin", "prune", &now).expect(200).json();
    assert_eq!(moved["pruned"]["events"], counted["plan"]["events"]);
    post("admin", "prune", &json!({ "before": "soon" })).expect(400);
    post("admin", "prune", &json!({})).expect(400);
    post("developer", "prune", &now).expect(403);
    // It is told as before, and nothing was broken by it.
    let told = house
        .get("user", &format!("/api/v1/traces/{run}"))
        .expect(200);
    assert!(!told.json()["lines"].as_array().unwrap().is_empty());
    let whole = post("developer", "verify", &json!({})).expect(200).json();
    assert_eq!(whole["ok"], true, "{whole}");
}

#[test]
fn what_is_old_goes_when_an_admin_says_so() {
    let house = House::new();
    let logs = house.workshop.daemon_log();
    let logs = logs.parent().unwrap();
    std::fs::create_dir_all(logs).unwrap();
    let old = logs.join("old.log");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::create(&old).unwrap().set_modified(long_ago).unwrap();
    let found = house.get("developer", "/api/v1/clean").expect(200).json();
    assert_eq!(found["found"][0]["sort"], "log", "{found}");
    house
        .post("developer", "/api/v1/clean", &json!({}))
        .expect(403);
    assert!(old.exists());
    let done = house.post("admin", "/api/v1/clean", &json!({})).expect(200);
    assert_eq!(done.json()["removed"], 1);
    assert!(!old.exists());
    house.get("user", "/api/v1/clean").expect(403);
}

#[test]
fn keys_are_listed_and_removed_and_never_shown() {
    let house = House::new();
    let keys = house.get("admin", "/api/v1/keys").expect(200).json();
    assert_eq!(keys["keys"], json!([]), "{keys}");
    house.get("developer", "/api/v1/keys").expect(403);
    let remove = |role: &str, body: Value| house.post(role, "/api/v1/keys/remove", &body);
    remove("admin", json!({ "provider": "anthropic" })).expect(404);
    remove("admin", json!({ "tool": "github" })).expect(404);
    remove("admin", json!({ "provider": "nobody" })).expect(400);
    remove("admin", json!({})).expect(400);
    remove("admin", json!({ "provider": "openai", "tool": "github" })).expect(400);
    remove("developer", json!({ "tool": "github" })).expect(403);
    let secret = artel_types::Secret::new("not-for-anybody-12345");
    house
        .workshop
        .caller()
        .store_tool_secret("github", &secret)
        .unwrap();
    let keys = house.get("admin", "/api/v1/keys").expect(200);
    assert!(!keys.text.contains("not-for-anybody"), "{}", keys.text);
    assert_eq!(keys.json()["keys"][0]["account"], "github");
    remove("admin", json!({ "tool": "github" })).expect(200);
    let keys = house.get("admin", "/api/v1/keys").expect(200).json();
    assert_eq!(keys["keys"], json!([]), "{keys}");
    let text = json!({ "text": "password = \"hunter2hunter2\"" });
    let clean = house.post("developer", "/api/v1/policy/redact", &text);
    let clean = clean.expect(200).json();
    assert!(
        !clean["text"].as_str().unwrap().contains("hunter2"),
        "{clean}"
    );
    house
        .post("user", "/api/v1/policy/redact", &text)
        .expect(403);
    house
        .post("developer", "/api/v1/policy/redact", &json!({}))
        .expect(400);
}

#[test]
fn a_key_that_is_stored_while_the_daemon_runs_is_taken_out_after_a_reload() {
    let house = House::new();
    let text = json!({ "text": "it says plain-as-porridge here" });
    let redact = || {
        let clean = house.post("developer", "/api/v1/policy/redact", &text);
        clean.expect(200).json()["text"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(redact().contains("porridge"), "nobody knows it yet");
    let secret = artel_types::Secret::new("plain-as-porridge");
    let caller = house.workshop.caller();
    caller.store_tool_secret("kitchen", &secret).unwrap();
    house
        .post("admin", "/api/v1/daemon/reload", &json!({}))
        .expect(200);
    assert!(!redact().contains("porridge"), "{}", redact());
}
