//! Lists come in pages that join to the whole.

use std::collections::BTreeSet;

use serde_json::json;

use crate::house::House;

#[test]
fn pages_of_requests_join_to_all_of_them() {
    let house = House::new();
    house
        .post(
            "admin",
            "/api/v1/daemon/pause",
            &json!({ "reason": "a test" }),
        )
        .expect(200);
    house.portal("shop");
    let ask = |number: usize| {
        let body = json!({ "words": format!("Make part {number} of it"), "planning": "always" });
        let made = house
            .post("user", "/api/v1/requests", &body)
            .expect(201)
            .json();
        made["trace_id"].as_str().unwrap().to_owned()
    };
    let asked: BTreeSet<String> = (0..7).map(ask).collect();
    let mut seen = Vec::new();
    let mut before = String::new();
    loop {
        let page = house
            .get("user", &format!("/api/v1/requests?limit=3{before}"))
            .expect(200)
            .json();
        let rows = page["rows"].as_array().unwrap();
        assert!(rows.len() <= 3);
        seen.extend(
            rows.iter()
                .map(|row| row["trace_id"].as_str().unwrap().to_owned()),
        );
        match page["next"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), asked.len());
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), asked);
    let found = house.get(
        "user",
        "/api/v1/requests?q=PART%203&portal=shop&status=pending",
    );
    assert_eq!(
        found.expect(200).json()["rows"].as_array().unwrap().len(),
        1
    );
    let none = house
        .get("user", "/api/v1/requests?portal=elsewhere")
        .expect(200)
        .json();
    assert_eq!(none["rows"], json!([]));
}

/// Whoever goes through what waits settles it on the way, so a place need not name a row.
#[test]
fn what_waits_is_told_in_pages_from_any_place() {
    let house = House::new();
    let held = json!({ "reason": "a test" });
    house
        .post("admin", "/api/v1/daemon/pause", &held)
        .expect(200);
    house.portal("shop");
    for number in 0..5 {
        let body = json!({ "words": format!("Make part {number} of it"), "planning": "always" });
        house.post("user", "/api/v1/requests", &body).expect(201);
    }
    let mut seen = Vec::new();
    let mut before = String::new();
    loop {
        let path = format!("/api/v1/waiting?limit=2{before}");
        let page = house.get("user", &path).expect(200).json();
        assert_eq!(page["total"], 5, "{page}");
        for row in page["rows"].as_array().unwrap() {
            assert_eq!(row["text"], "nobody has taken it up");
            seen.push(row["title"].as_str().unwrap().to_owned());
        }
        let Some(next) = page["next"].as_str() else {
            break;
        };
        let (place, id) = next.rsplit_once('~').unwrap();
        assert_eq!(id, page["rows"][1]["id"]);
        before = format!("&before={place}~{id}-gone");
    }
    let expected: Vec<String> = (0..5).map(|it| format!("Make part {it} of it")).collect();
    assert_eq!(seen, expected);
    for wrong in ["plan", "plan~x~1", "nothing~1~1", "plan~1"] {
        house
            .get("user", &format!("/api/v1/waiting?before={wrong}"))
            .expect(400);
    }
}

#[test]
fn every_list_is_there_from_the_start() {
    let house = House::new();
    for name in [
        "requests",
        "plans",
        "runs",
        "changesets",
        "skills",
        "agents",
        "portals",
        "reports",
        "tokens",
        "settings",
        "policy/grants",
        "waiting",
    ] {
        let answer = house
            .get("admin", &format!("/api/v1/{name}"))
            .expect(200)
            .json();
        assert!(answer["rows"].is_array(), "{name} {answer}");
    }
    for (name, field) in [
        ("events", "events"),
        ("models", "models"),
        ("usage", "total"),
        ("stats", "events"),
        ("daemon", "running"),
    ] {
        let answer = house
            .get("admin", &format!("/api/v1/{name}"))
            .expect(200)
            .json();
        assert!(!answer[field].is_null(), "{name} {answer}");
    }
}

/// What one event tells is on one page, and the pages join to the whole story.
#[test]
fn a_story_is_told_a_page_at_a_time() {
    let house = House::with("[policy]\ncommands = \"ask\"\n");
    house.portal("shop");
    let body = json!({ "task": "Look outside" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    let waiting = house.until("/api/v1/waiting", |it| !it["calls"][0].is_null());
    let call = &waiting["calls"][0];
    let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
    let no = json!({ "hash": call["hash"], "answer": "no" });
    house.post("developer", &path, &no).expect(200);
    house.until(&format!("/api/v1/runs/{run}"), |it| {
        ["complete", "partial", "failed"]
            .iter()
            .any(|state| it["state"] == *state)
    });
    let told = |asked: &str| {
        let path = format!("/api/v1/runs/{run}/story?view=full{asked}");
        house.get("developer", &path)
    };
    let whole = told("&limit=200").expect(200).json();
    let lines = whole["lines"].as_array().unwrap();
    assert!(lines.len() > 4, "{whole}");
    assert_eq!(whole["next"], serde_json::Value::Null, "{whole}");
    for limit in 1..=4 {
        let (mut seen, mut after, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = told(&format!("&limit={limit}{after}")).expect(200).json();
            let some = page["lines"].as_array().unwrap();
            let events: BTreeSet<u64> = some.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
            assert!(events.len() <= limit, "{page}");
            seen.extend(some.clone());
            pages += 1;
            match page["next"].as_u64() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        assert_eq!(&seen, lines, "{limit} a page");
        assert!(pages > 1);
    }
    for wrong in ["&limit=0", "&limit=201", "&limit=x", "&after=-1"] {
        told(wrong).expect(400);
    }
}

/// Both ways through the journal meet every event once.
#[test]
fn pages_of_events_join_from_either_end() {
    let house = House::new();
    for number in 0..23 {
        let body = json!({ "text": format!("note {number}") });
        house.post("developer", "/api/v1/events", &body).expect(201);
    }
    let walk = |order: &str, goes_on: &str| {
        let (mut seen, mut from) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/v1/events?kind=note.&limit=5&order={order}{from}");
            let page = house.get("admin", &path).expect(200).json();
            let events = page["events"].as_array().unwrap().iter();
            seen.extend(events.map(|it| it["seq"].as_u64().unwrap()));
            match page["next"].as_u64() {
                Some(next) => from = format!("&{goes_on}={next}"),
                None => return seen,
            }
        }
    };
    let (up, mut down) = (walk("asc", "after"), walk("desc", "before"));
    assert_eq!(up.len(), 23);
    assert!(down.is_sorted_by(|one, other| one > other), "{down:?}");
    down.reverse();
    assert_eq!(up, down);
    let live = house.call("GET", "/api/v1/events?before=3");
    let live = live.by(house.token("admin"));
    let live = live.header("Accept", "text/event-stream").send();
    live.expect(400);
    let page = house.call("GET", "/api/v1/events");
    let page = page.by(house.token("admin")).header("Last-Event-ID", "x");
    page.send().expect(400);
}

#[test]
fn live_events_are_described_beside_pages_of_them() {
    let described = artel_server::openapi();
    let about = &described["paths"]["/api/v1/events"]["get"];
    let forms = &about["responses"]["200"]["content"];
    for form in ["application/json", "text/event-stream"] {
        assert!(forms[form]["schema"].is_object(), "{form}: {about}");
    }
    let parameters = about["parameters"].as_array().unwrap();
    let header = parameters.iter().find(|it| it["name"] == "Last-Event-ID");
    assert_eq!(header.unwrap()["in"], "header", "{about}");
    // An event has the fields that are described, and no others.
    let house = House::new();
    let shown = house.get("admin", "/api/v1/events?limit=1").expect(200);
    let fields = |value: &serde_json::Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    let schemas = &described["components"]["schemas"];
    let event = shown.json()["events"][0].clone();
    assert_eq!(fields(&event), fields(&schemas["Event"]["properties"]));
    assert_eq!(
        fields(&event["actor"]),
        fields(&schemas["JournalEventReplyActor"]["properties"])
    );
}
