//! Who sees how much is for an admin to say, and holds at once.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;

use artel_workshop::ViewerRole;
use serde_json::{Value, json};

use crate::house::House;

fn rules(house: &House) -> Value {
    let seen = house.get("developer", "/api/v1/visibility");
    seen.expect(200).json()
}

fn change(house: &House, role: &str, body: Value) -> crate::house::Answer {
    house.post(role, "/api/v1/visibility", &body)
}

#[test]
fn rules_by_role_are_changed_and_in_force_at_once() {
    let house = House::with("# ours\n[agents]\nmax_turns = 9 # few\n");
    house.portal("shop");
    let body = json!({ "task": "Say hello" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    house.until(&format!("/api/v1/runs/{run}"), |it| {
        it["state"] == "complete"
    });
    let sees: Vec<Value> = rules(&house)["roles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["sees"].clone())
        .collect();
    assert_eq!(sees, ["summary", "full", "full"]);
    let full = format!("/api/v1/runs/{run}/story?view=full");
    house.get("user", &full).expect(403);
    house.get("developer", &full).expect(200);

    change(&house, "developer", json!({ "user": "full" })).expect(403);
    house.get("user", &full).expect(403);
    change(
        &house,
        "admin",
        json!({ "user": "full", "developer": "summary" }),
    )
    .expect(200);
    house.get("user", &full).expect(200);
    let events = "/api/v1/events?view=full&kind=model.replied";
    let seen = house.get("user", events).expect(200).json();
    assert!(!seen["events"].as_array().unwrap().is_empty(), "{seen}");
    let refused = house.get("developer", &full).expect(403);
    assert!(refused.text.contains("visibility.developer"), "{refused:?}");
    house.get("developer", "/api/v1/journal/export").expect(403);
    house.get("admin", &full).expect(200);

    let file = house.workshop.root().join("artel.toml");
    let text = std::fs::read_to_string(file).unwrap();
    assert!(
        text.starts_with("# ours\n[agents]\nmax_turns = 9 # few\n"),
        "{text}"
    );
    let query = "/api/v1/events?kind=config.loaded&order=desc";
    let loaded = house.get("admin", query).expect(200).json();
    assert_eq!(loaded["events"][0]["actor"]["id"], "admin", "{loaded}");
}

#[test]
fn hidden_tools_are_hidden_from_everybody() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    let query = format!("/api/v1/events?run={run}&kind=tool.requested");
    let shown = house.until(&query, |it| !it["events"][0].is_null());
    assert!(shown["events"][0]["payload"].to_string().contains("ls"));
    change(&house, "admin", json!({ "hidden_tools": ["ba*"] })).expect(200);
    assert_eq!(rules(&house)["hidden_tools"], json!(["ba*"]));
    let hidden = house.get("admin", &query).expect(200).json();
    let input = hidden["events"][0]["payload"]["input"].to_string();
    assert!(
        input.contains("hidden") && !input.contains("ls"),
        "{hidden}"
    );
    change(&house, "admin", json!({ "hidden_tools": [] })).expect(200);
    let shown = house.get("admin", &query).expect(200).json();
    assert!(shown["events"][0]["payload"].to_string().contains("ls"));
}

#[test]
fn wrong_rules_change_nothing() {
    let house = House::with("[visibility]\nuser = \"summary\"\n");
    let before = rules(&house);
    for wrong in [
        json!({ "user": "everything" }),
        json!({ "user": 3 }),
        json!({ "guest": "full" }),
        json!({ "hidden_tools": [""] }),
        json!({ "hidden_tools": ["a\nb"] }),
        json!({ "hidden_tools": "bash" }),
    ] {
        change(&house, "admin", wrong.clone()).expect(400);
    }
    assert_eq!(rules(&house), before);
    let file = house.workshop.root().join("artel.toml");
    std::fs::write(&file, "visibility = { role = \"user\" }\n").unwrap();
    let refused = change(&house, "admin", json!({ "user": "full" })).expect(400);
    assert!(refused.text.contains("by hand"), "{refused:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "visibility = { role = \"user\" }\n");
}

/// Reads events until one holds a text; nothing where the stream ends before.
fn read_until(reader: &mut BufReader<TcpStream>, wanted: &str) -> Option<String> {
    let mut all = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        all += &line;
        if line.contains(wanted) {
            return Some(all);
        }
    }
}

#[test]
fn whoever_follows_is_shown_what_the_rules_say_now() {
    let house = House::new();
    let follow = |asked: &str| {
        let call = house.call("GET", &format!("/api/v1/events{asked}"));
        let call = call.by(house.token("user"));
        let (status, _, reader) = call.header("Accept", "text/event-stream").open();
        assert_eq!(status, 200);
        reader
    };
    let note = |text: &str| {
        let body = json!({ "text": text });
        house.post("developer", "/api/v1/events", &body).expect(201);
    };
    let mut plain = follow("");
    note("first");
    let seen = read_until(&mut plain, "first").unwrap();
    assert!(!seen.contains("config.loaded"), "{seen}");
    change(&house, "admin", json!({ "user": "full" })).expect(200);
    let mut full = follow("?view=full");
    note("second");
    read_until(&mut plain, "second").unwrap();
    read_until(&mut full, "second").unwrap();
    change(&house, "admin", json!({ "user": "summary" })).expect(200);
    note("third");
    read_until(&mut plain, "third").unwrap();
    assert!(
        read_until(&mut full, "third").is_none(),
        "whoever may not see it all any more is cut off"
    );
}

#[test]
fn the_console_shows_the_rules_and_lets_an_admin_change_them() {
    let house = House::new();
    let page = |role: ViewerRole| {
        let cookie = house.sign_in(role).cookie;
        let call = house.with_cookie("GET", "/settings", &cookie);
        call.send().expect(200).text
    };
    let admin = page(ViewerRole::Admin);
    assert!(admin.contains("name=\"user\" value=\"full\""), "{admin}");
    assert!(admin.contains("name=\"hidden_tools\""), "{admin}");
    let developer = page(ViewerRole::Developer);
    assert!(developer.contains("Who sees what"), "{developer}");
    assert!(!developer.contains("/api/v1/visibility"), "{developer}");
    let body = json!({ "user": "full", "hidden_tools": ["<b>"] });
    change(&house, "admin", body).expect(200);
    let admin = page(ViewerRole::Admin);
    assert!(admin.contains("name=\"user\" value=\"summary\""), "{admin}");
    assert!(admin.contains("&#60;b&#62;") && !admin.contains("<b>"));
}

/// What a call would do is part of the full view, and who may answer is a matter of the role: it
/// takes both.
#[test]
fn calls_that_wait_are_for_those_who_may_see_and_answer_them() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    house.post("developer", "/api/v1/runs", &body).expect(201);
    let waiting = house.until("/api/v1/waiting", |it| !it["calls"][0].is_null());
    let call = waiting["calls"][0].clone();
    let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
    let calls = |role: &str| {
        let seen = house.get(role, "/api/v1/waiting").expect(200).json();
        seen["calls"].as_array().unwrap().clone()
    };
    let page = |role: ViewerRole| {
        let cookie = house.sign_in(role).cookie;
        let page = house.with_cookie("GET", "/", &cookie);
        page.send().expect(200).text
    };
    let no = json!({ "hash": call["hash"], "answer": "no" });
    let rules = json!({ "user": "full", "developer": "summary" });
    change(&house, "admin", rules).expect(200);
    assert_eq!(calls("user"), Vec::<Value>::new(), "they cannot answer it");
    assert_eq!(
        calls("developer"),
        Vec::<Value>::new(),
        "they may not see it"
    );
    assert_eq!(calls("admin")[0], call);
    assert!(!page(ViewerRole::Developer).contains("needs a yes"));
    house.post("user", &path, &no).expect(403);
    let refused = house.post("developer", &path, &no).expect(403);
    assert!(refused.text.contains("not yours to see"), "{refused:?}");

    let rules = json!({ "developer": "full", "hidden_tools": ["bash"] });
    change(&house, "admin", rules).expect(200);
    for role in ["developer", "admin"] {
        let seen = calls(role);
        assert_eq!(seen[0]["tool"], "bash");
        for field in ["what", "why", "hash"] {
            assert_eq!(seen[0][field], Value::Null, "{seen:?}");
        }
        house.post(role, &path, &no).expect(403);
    }
    let admin = page(ViewerRole::Admin);
    assert!(admin.contains("bash needs a yes"), "{admin}");
    assert!(!admin.contains(&path), "nobody decides about it there");

    change(&house, "admin", json!({ "hidden_tools": [] })).expect(200);
    assert_eq!(calls("developer")[0], call);
    assert!(page(ViewerRole::Developer).contains(&path));
    house.post("developer", &path, &no).expect(200);
}
