//! What people do over the interface is on record with their name, and done.

use std::fs;

use artel_types::FailureCode;
use artel_workshop::{CallApprovalDecision, ViewerRole};
use serde_json::{Value, json};

use crate::house::House;

/// A rehearsal that the settings name.
const OTHER_MODEL: &str = "[models.other]\nprovider = \"rehearsal\"\nmodel = \"script.yaml\"\n";

#[test]
fn a_request_is_filed_in_the_name_of_whoever_asked() {
    let house = House::new();
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    let nowhere = json!({ "words": "Make it faster" });
    house.post("user", "/api/v1/requests", &nowhere).expect(400);
    house.portal("shop");
    let body = json!({ "words": "Make it faster. It must stay small.", "planning": "always",
        "priority": "high", "verify": "tdd" });
    let made = house
        .post("user", "/api/v1/requests", &body)
        .expect(201)
        .json();
    assert_eq!(made["created_by"], "user");
    assert_eq!(made["portal"], "shop");
    assert_eq!(made["priority"], "high");
    assert_eq!(made["status"], "pending");
    let id = made["trace_id"].as_str().unwrap();
    let shown = house
        .get("user", &format!("/api/v1/requests/{id}"))
        .expect(200)
        .json();
    assert_eq!(shown, made);
    let events = house.get(
        "admin",
        &format!("/api/v1/events?trace={id}&kind=request.created"),
    );
    let events = events.expect(200).json();
    let actor = json!({ "kind": "human", "id": "user", "via": "api" });
    assert_eq!(events["events"][0]["actor"], actor);
    for wrong in [
        json!({ "words": " " }),
        json!({ "words": "x", "priority": "now" }),
        json!({ "words": "x", "verify": "perhaps" }),
        json!({ "words": "x", "agent": "nobody" }),
        json!({ "words": "x", "portal": "nowhere" }),
        json!({ "words": "x", "portal": "shop", "folder": "/tmp" }),
    ] {
        let answer = house.post("user", "/api/v1/requests", &wrong);
        assert!((400..500).contains(&answer.status), "{wrong} {answer:?}");
    }
}

#[test]
fn work_that_waits_goes_on_when_somebody_says_so() {
    let house = House::new();
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    house.portal("shop");
    let body = json!({ "words": "Say what is there", "planning": "never" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let id = made.json()["trace_id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/requests/{id}/resume");
    house.post("user", &path, &json!({})).expect(403);
    let told = house.post("developer", &path, &json!({})).expect(200);
    let text = told.json()["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(&id[..8]), "{text}");
    house
        .post("admin", "/api/v1/daemon/resume", &json!({}))
        .expect(200);
    let shown = format!("/api/v1/requests/{id}");
    house.until(&shown, |it| {
        it["status"] != "pending" && it["status"] != "active"
    });
    let over = house.post("developer", &path, &json!({})).expect(409);
    assert_eq!(over.json()["error"]["code"], "R008", "{over:?}");
    let nobody = "/api/v1/requests/00000000/resume";
    house.post("developer", nobody, &json!({})).expect(404);
}

#[test]
fn a_request_that_waits_is_called_off_and_every_list_says_so() {
    let house = House::new();
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    house.portal("shop");
    let body = json!({ "words": "Make it faster", "planning": "always" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let id = made.json()["trace_id"].as_str().unwrap().to_owned();
    let listed = || {
        let seen = house.get("user", "/api/v1/requests?limit=5").expect(200);
        seen.json()["rows"][0].clone()
    };
    let before = listed();
    assert_eq!(
        (&before["trace_id"], &before["status"]),
        (&json!(id), &json!("pending"))
    );
    assert_eq!(listed(), before, "nothing happened to it");
    let off = format!("/api/v1/plans/{id}/cancel");
    house
        .post("user", &off, &json!({ "reason": "not now" }))
        .expect(200);
    assert_eq!(listed()["plan_state"], "cancelled");
    house
        .post("user", &off, &json!({ "reason": "not now" }))
        .expect(409);
}

#[test]
fn an_approval_names_what_was_seen() {
    let house = House::new();
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    house.portal("shop");
    let body = json!({ "words": "Make it faster", "planning": "always" });
    let made = house
        .post("user", "/api/v1/requests", &body)
        .expect(201)
        .json();
    let id = made["trace_id"].as_str().unwrap();
    let approve = |body: Value| house.post("user", &format!("/api/v1/plans/{id}/approve"), &body);
    for unseen in [
        json!({}),
        json!({ "hash": "" }),
        json!({ "hash": "0123456" }),
    ] {
        let refused = approve(unseen).expect(400).json();
        let what = "an approval names what was seen";
        assert_eq!(refused["error"]["what"], what, "{refused}");
    }
    approve(json!({ "hash": "0".repeat(64) })).expect(409);
    let merge = |path: &str, body: Value| house.post("developer", path, &body);
    let decide = |head: Value| json!({ "id": id, "decision": "approve", "head": head });
    let named = "/api/v1/changesets/00000000/approve";
    for refused in [
        merge(named, json!({})),
        merge(named, json!({ "head": "0123456", "reason": "in a hurry" })),
        merge("/api/v1/changesets", decide(Value::Null)),
    ] {
        let refused = refused.expect(400).json();
        let advice = refused["error"]["advice"].as_str().unwrap();
        assert!(advice.contains("`head`"), "{refused}");
    }
    merge(named, json!({ "head": "0".repeat(40) })).expect(404);
}

#[test]
fn a_request_says_through_what_it_came() {
    let house = House::new();
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    house.portal("shop");
    let ada = house.sign_in(ViewerRole::User);
    let (path, body) = (
        "/api/v1/requests",
        json!({ "words": "What is in this folder?" }),
    );
    for (made, source) in [
        (house.post("user", path, &body), "api"),
        (house.act(&ada, path, &body), "console"),
    ] {
        let made = made.expect(201).json();
        let id = made["trace_id"].as_str().unwrap();
        let shown = house.get("user", &format!("{path}/{id}")).expect(200);
        assert_eq!(shown.json()["source"], source);
        let query = format!("/api/v1/events?trace={id}&kind=request.created");
        let events = house.get("developer", &query).expect(200).json();
        assert_eq!(events["events"][0]["payload"]["source"], source);
        let file = fs::read_to_string(made["path"].as_str().unwrap()).unwrap();
        assert!(file.contains(&format!("\nsource: {source}\n")), "{file}");
    }
    // Nothing is wrong with what Artel wrote itself.
    let scanned = house.post("developer", "/api/v1/inbox/scan", &json!({}));
    scanned.expect(200);
    let inbox = house.workshop.root().join("Inbox/Requests");
    let names = fs::read_dir(inbox).unwrap();
    let names: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
    let is_note = |name: &std::ffi::OsString| name.to_string_lossy().contains("problem");
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(!names.iter().any(is_note), "{names:?}");
}

#[test]
fn a_model_is_tried_as_runs_have_it() {
    let house = House::new();
    let tried = house.post("admin", "/api/v1/models/default/test", &json!({}));
    let tried = tried.expect(200).json();
    assert_eq!(tried["provider"], "rehearsal", "{tried}");
    assert_eq!(tried["text"], "works", "{tried}");
    let other = house.post("admin", "/api/v1/models/nothing-like-it/test", &json!({}));
    assert!((400..500).contains(&other.status), "{other:?}");
}

#[test]
fn a_fork_goes_on_with_the_model_that_was_asked_for() {
    let house = House::with(OTHER_MODEL);
    house.portal("shop");
    let began = house.post("developer", "/api/v1/runs", &json!({ "task": "Say hello" }));
    let began = began.expect(201).json();
    let run = began["run"].as_str().unwrap();
    let query = format!("/api/v1/events?run={run}&kind=run.prepared");
    let prepared = house.until(&query, |answer| !answer["events"][0].is_null());
    let at = prepared["events"][0]["seq"].as_u64().unwrap();
    let fork = |model: &str| {
        let body = json!({ "at": at, "model": model });
        house.post("developer", &format!("/api/v1/runs/{run}/fork"), &body)
    };
    let unknown = fork("no-such-model");
    assert!((400..500).contains(&unknown.status), "{unknown:?}");
    let forked = fork("other").expect(201).json();
    let events = format!(
        "/api/v1/events?run={}&kind=run.forked",
        forked["run"].as_str().unwrap()
    );
    let events = house.get("developer", &events).expect(200).json();
    assert_eq!(events["events"][0]["payload"]["model"], "other", "{events}");
}

#[test]
fn whoever_answers_a_call_is_on_record_by_name() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let began = house.post(
        "developer",
        "/api/v1/runs",
        &json!({ "task": "Look outside" }),
    );
    let began = began.expect(201).json();
    let run = began["run"].as_str().unwrap();
    let waiting = house.until("/api/v1/waiting", |answer| !answer["calls"][0].is_null());
    let call = &waiting["calls"][0];
    let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
    let other = json!({ "hash": "0".repeat(64), "answer": "yes" });
    house.post("developer", &path, &other).expect(409);
    let no = json!({ "hash": call["hash"], "answer": "no", "reason": "not today" });
    house.post("user", &path, &no).expect(403);
    house.post("developer", &path, &no).expect(200);
    let query = format!("/api/v1/events?run={run}&kind=tool.answered");
    let answered = house.until(&query, |answer| !answer["events"][0].is_null());
    let actor = json!({ "kind": "human", "id": "developer", "via": "api" });
    assert_eq!(answered["events"][0]["actor"], actor, "{answered}");
    assert_eq!(answered["events"][0]["payload"]["reason"], "not today");
}

#[test]
fn whoever_answers_a_call_second_grants_nothing_for_good() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    house.until("/api/v1/waiting", |answer| !answer["calls"][0].is_null());
    // Two look at it, and both answer.
    let call = house.workshop.open_calls().unwrap().remove(0);
    let (path, hash) = (
        format!("/api/v1/waiting/calls/{}", call.id()),
        &call.asked.record,
    );
    // What cannot be granted is no answer.
    let unexplained = json!({ "hash": hash, "answer": "always" });
    let refused = house.post("admin", &path, &unexplained).expect(400);
    assert_eq!(refused.code(), "C005");
    let no = json!({ "hash": hash, "answer": "no", "reason": "not today" });
    house.post("developer", &path, &no).expect(200);
    let always = CallApprovalDecision::Always("we do".to_owned());
    let second = house.workshop.answer_call(&call, hash, &always);
    assert_eq!(second.unwrap_err().first().code, FailureCode::R008);
    assert!(house.workshop.grants().unwrap().is_empty());
}

/// One may go on at a time, and that one waits for a person.
#[test]
fn whoever_waits_for_a_person_keeps_nobody_from_their_turn() {
    let house = House::with("[policy]\ncommands = \"ask\"\n[server]\nworks_at_once = 1\n");
    house.portal("shop");
    let look = json!({ "task": "Look outside" });
    for waiting in 1..=3 {
        house.post("developer", "/api/v1/runs", &look).expect(201);
        house.until("/api/v1/waiting", |answer| {
            answer["calls"].as_array().unwrap().len() == waiting
        });
    }
    let body = json!({ "words": "What is in this folder?" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let trace = made.json()["trace_id"].as_str().unwrap().to_owned();
    let query = format!("/api/v1/events?trace={trace}&kind=model.replied");
    house.until(&query, |answer| !answer["events"][0].is_null());
    let waiting = house.get("admin", "/api/v1/waiting").json();
    assert_eq!(waiting["calls"].as_array().unwrap().len(), 3);
}

#[test]
fn a_run_is_begun_and_told() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "task": "Say hello" });
    house.post("user", "/api/v1/runs", &body).expect(403);
    let began = house
        .post("developer", "/api/v1/runs", &body)
        .expect(201)
        .json();
    let run = began["run"].as_str().unwrap();
    let shown = house
        .get("user", &format!("/api/v1/runs/{run}"))
        .expect(200)
        .json();
    assert_eq!(shown["trace"], began["trace"]);
    let story = house
        .get("user", &format!("/api/v1/runs/{run}/story"))
        .expect(200)
        .json();
    assert!(!story["lines"].as_array().unwrap().is_empty());
    house
        .get("user", &format!("/api/v1/runs/{run}/story?view=full"))
        .expect(403);
    house
        .get("developer", &format!("/api/v1/runs/{run}/story?view=full"))
        .expect(200);
    let unknown = json!({ "skill": "no-such-skill" });
    let answer = house.post("developer", "/api/v1/runs", &unknown);
    assert!((400..500).contains(&answer.status), "{answer:?}");
    house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200);
    house.post("developer", "/api/v1/runs", &body).expect(409);
}

#[test]
fn notes_lessons_roles_and_portals() {
    let house = House::new();
    let kept = house.post(
        "developer",
        "/api/v1/events",
        &json!({ "text": "we begin" }),
    );
    let kept = kept.expect(201).json();
    let trace = kept["trace"].as_str().unwrap();
    let about = json!({ "text": "more", "trace": trace });
    assert_eq!(
        house
            .post("developer", "/api/v1/events", &about)
            .expect(201)
            .json()["trace"],
        trace
    );
    house
        .post(
            "developer",
            "/api/v1/skills",
            &json!({ "name": "weekly-report" }),
        )
        .expect(201);
    house
        .post("developer", "/api/v1/skills", &json!({ "name": "../up" }))
        .expect(400);
    let lessons = "/api/v1/skills/weekly-report/lessons";
    let made = house
        .post("developer", lessons, &json!({ "text": "keep it short" }))
        .expect(201)
        .json();
    let shown = house
        .get("developer", "/api/v1/skills/weekly-report")
        .expect(200)
        .json();
    assert_eq!(shown["lessons"][0]["text"], "keep it short");
    let gone = format!("{lessons}/{}/remove", made["id"].as_str().unwrap());
    house.post("developer", &gone, &json!({})).expect(200);
    let new = json!({ "id": "sql-expert", "name": "SQL" });
    house.post("admin", "/api/v1/agents", &new).expect(201);
    house
        .get("developer", "/api/v1/agents/sql-expert")
        .expect(200);
    house
        .post("admin", "/api/v1/agents/sql-expert/remove", &json!({}))
        .expect(200);
    house.portal("shop");
    for act in ["verify", "refresh", "remove"] {
        house
            .post("admin", &format!("/api/v1/portals/shop/{act}"), &json!({}))
            .expect(200);
    }
    house.get("developer", "/api/v1/portals/shop").expect(404);
    let relative = json!({ "path": "shop" });
    house
        .post("admin", "/api/v1/portals", &relative)
        .expect(400);
}

#[test]
fn policy_journal_daemon_and_models() {
    let house = House::new();
    let grant = json!({ "rule": "Bash(cargo test:*)", "reason": "tests" });
    house
        .post("admin", "/api/v1/policy/grants", &grant)
        .expect(201);
    let grants = house
        .get("admin", "/api/v1/policy/grants")
        .expect(200)
        .json();
    assert_eq!(grants["rows"][0]["n"], 1);
    let path = "/api/v1/policy/grants/1/revoke";
    let other = json!({ "rule": "Bash(ls)" });
    let refused = house.post("admin", path, &other).expect(409).json();
    assert_eq!(refused["error"]["code"], "P008", "{refused}");
    let seen = json!({ "rule": "Bash(cargo test:*)" });
    house.post("admin", path, &seen).expect(200);
    let check = json!({ "command": "git push --force" });
    let decided = house
        .post("developer", "/api/v1/policy/check", &check)
        .expect(200)
        .json();
    assert_eq!(decided["decision"], "deny");
    let verified = house
        .post("developer", "/api/v1/journal/verify", &json!({}))
        .expect(200)
        .json();
    assert_eq!(verified["ok"], true);
    let paused = house
        .post("admin", "/api/v1/daemon/pause", &json!({}))
        .expect(200)
        .json();
    assert_eq!(paused, json!({ "paused": true, "changed": true }));
    assert_eq!(
        house.get("developer", "/api/v1/daemon").expect(200).json()["paused"],
        true
    );
    house
        .post("admin", "/api/v1/daemon/resume", &json!({}))
        .expect(200);
    assert_eq!(
        house
            .post("admin", "/api/v1/daemon/reload", &json!({}))
            .expect(200)
            .json()["ok"],
        true
    );
    let tried = house
        .post("admin", "/api/v1/models/fast/test", &json!({}))
        .expect(200)
        .json();
    assert_eq!(tried["text"], "works", "{tried}");
    house
        .post("developer", "/api/v1/inbox/scan", &json!({}))
        .expect(200);
}

#[test]
fn the_journal_is_exported_as_far_as_it_is_theirs() {
    let house = House::new();
    for at in 0..3 {
        house
            .post(
                "developer",
                "/api/v1/events",
                &json!({ "text": format!("note {at}") }),
            )
            .expect(201);
    }
    let lines = house
        .get("developer", "/api/v1/journal/export?kind=note.added")
        .expect(200);
    let lines: Vec<Value> = lines
        .text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    let all = house.get("developer", "/api/v1/journal/export").expect(200);
    assert!(
        !all.text.contains("token.created"),
        "access is nobody's to see but an admin's"
    );
}

#[test]
fn signing_out_is_for_the_console() {
    let house = House::new();
    house.post("user", "/api/v1/logout", &json!({})).expect(400);
    house.get("user", "/api/v1/waiting").expect(200);
}

#[test]
fn signing_out_ends_the_cookie() {
    let house = House::new();
    let ada = house.sign_in(ViewerRole::User);
    let (name, _) = ada.cookie.split_once('=').unwrap();
    assert_eq!(name, format!("artel-{}", house.workshop.id().short()));
    let read = || {
        house
            .with_cookie("GET", "/api/v1/waiting", &ada.cookie)
            .send()
    };
    read().expect(200);
    let gone = house.act(&ada, "/api/v1/logout", &json!({})).expect(204);
    assert!(gone.header("set-cookie").unwrap().contains("Max-Age=0"));
    read().expect(401);
}
