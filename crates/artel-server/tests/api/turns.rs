//! Who has a turn: whoever waits for a person keeps nobody from theirs.

use std::sync::Arc;

use artel_workshop::{
    DaemonListenAddress, HintVisibility, NullRunObserver, RunObservers, ShutdownLevel, ViewerRole,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::house::House;

/// One may go on at a time, beside one that is urgent.
const ONE: &str = "[policy]\ncommands = \"ask\"\n[server]\nworks_at_once = 1\n";

/// Begins a run, and returns its id once its call waits for a yes.
fn asks(house: &House, waiting: usize) -> String {
    let look = json!({ "task": "Look outside" });
    let began = house.post("developer", "/api/v1/runs", &look).expect(201);
    house.until("/api/v1/waiting", |answer| {
        answer["calls"].as_array().unwrap().len() == waiting
    });
    began.json()["run"].as_str().unwrap().to_owned()
}

fn calls(house: &House) -> Vec<Value> {
    let waiting = house.get("admin", "/api/v1/waiting").expect(200).json();
    waiting["calls"].as_array().unwrap().clone()
}

/// Whoever was paused on the way to what a person allowed, and whoever was before their next turn.
#[test]
fn whoever_was_paused_keeps_nobody_from_their_turn_and_comes_back() {
    let house = House::with(ONE);
    house.portal("shop");
    let runs: Vec<String> = (1..=3).map(|waiting| asks(&house, waiting)).collect();
    for run in &runs {
        let path = format!("/api/v1/runs/{run}/pause");
        house.post("developer", &path, &json!({})).expect(200);
    }
    for (call, answer) in calls(&house).iter().zip(["yes", "no", "yes"]) {
        let path = format!("/api/v1/waiting/calls/{}", call["id"].as_str().unwrap());
        let body = json!({ "hash": call["hash"], "answer": answer });
        house.post("developer", &path, &body).expect(200);
    }
    assert_eq!(calls(&house), Vec::<Value>::new());
    let body = json!({ "words": "What is in this folder?" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let trace = made.json()["trace_id"].as_str().unwrap().to_owned();
    let query = format!("/api/v1/events?trace={trace}&kind=model.replied");
    house.until(&query, |answer| !answer["events"][0].is_null());
    for run in &runs {
        let shown = house
            .get("user", &format!("/api/v1/runs/{run}"))
            .expect(200);
        assert_eq!(shown.json()["state"], "paused");
        let path = format!("/api/v1/runs/{run}/resume");
        house.post("developer", &path, &json!({})).expect(200);
    }
    for run in &runs {
        house.until(&format!("/api/v1/runs/{run}"), |it| {
            it["state"] == "complete"
        });
    }
}

#[test]
fn held_the_daemon_does_not_say_that_it_takes_something_up() {
    let house = House::new();
    let hold = |what: &str| {
        let path = format!("/api/v1/daemon/{what}");
        house.post("admin", &path, &json!({})).expect(200);
    };
    hold("pause");
    house.portal("shop");
    let body = json!({ "words": "Say what is there", "planning": "never" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let id = made.json()["trace_id"].as_str().unwrap().to_owned();
    let resume = || {
        let path = format!("/api/v1/requests/{id}/resume");
        let told = house.post("developer", &path, &json!({})).expect(200);
        told.json()["text"].as_str().unwrap().to_owned()
    };
    let text = resume();
    assert!(text.contains("`artel daemon resume`"), "{text}");
    assert!(!text.contains("taken up"), "{text}");
    hold("resume");
    house.until(&format!("/api/v1/requests/{id}"), |it| {
        it["status"] != "pending" && it["status"] != "active"
    });
}

/// Work that could not go on says so until somebody goes on with it, wherever that is.
#[test]
fn what_could_not_go_on_does_not_say_so_when_it_goes_on_elsewhere() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "words": "What is it to Lose the key?" });
    let made = house.post("user", "/api/v1/requests", &body).expect(201);
    let id = made.json()["trace_id"].as_str().unwrap().to_owned();
    let cookie = house.sign_in(ViewerRole::Developer).cookie;
    let page = || {
        let call = house.with_cookie("GET", &format!("/runs/{id}"), &cookie);
        call.send().expect(200).text
    };
    let said = "could not go on, and is tried again";
    house.until("/api/v1/daemon", |_| page().contains(said));
    assert!(page().contains("Try now"));
    let runs = house.get("user", "/api/v1/runs").expect(200).json();
    let run = runs["rows"][0]["run"].as_str().unwrap().to_owned();

    let script = house.folder.path().join("silent.yaml");
    std::fs::write(&script, "otherwise: { say: Wait, then: silent }\n").unwrap();
    let model = format!("rehearsal:{}", script.display());
    let (stop, stops) = watch::channel(ShutdownLevel::No);
    let workshop = Arc::new(house.workshop.reloaded().unwrap());
    let named = run.parse().unwrap();
    let driving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let company = RunObservers {
            audience: Arc::new(NullRunObserver),
            approver: None,
            person: None,
            trust: Arc::new(NullRunObserver),
            stop: stops,
            hints: HintVisibility::Shown,
        };
        drop(runtime.block_on(workshop.resume_run(named, Some(&model), company)));
    });
    house.until(&format!("/api/v1/runs/{run}"), |it| {
        it["state"] == "running"
    });
    let text = page();
    assert!(text.contains("driven by"), "{text}");
    assert!(!text.contains(said) && !text.contains("Try now"), "{text}");
    stop.send_replace(ShutdownLevel::Now);
    driving.join().unwrap();
}

/// A run without a plan says why it does not go on as planned work does: on its page, and on Now.
#[test]
fn a_run_without_a_plan_says_why_it_could_not_go_on() {
    let house = House::new();
    house.portal("shop");
    let body = json!({ "task": "Lose the key" });
    let began = house.post("developer", "/api/v1/runs", &body).expect(201);
    let run = began.json()["run"].as_str().unwrap().to_owned();
    let cookie = house.sign_in(ViewerRole::Developer).cookie;
    let page = |path: &str| {
        let call = house.with_cookie("GET", path, &cookie);
        call.send().expect(200).text
    };
    let said = "could not go on, and is tried again: ";
    let at = format!("/runs/{run}");
    house.until("/api/v1/daemon", |_| page(&at).contains(said));
    let own = page(&at);
    let why = own.split(said).nth(1).unwrap().split('<').next().unwrap();
    assert!(why.contains("key"), "{why}");
    assert!(own.contains(&format!("/api/v1/runs/{run}/resume")), "{own}");
    assert!(
        !own.contains("Try now"),
        "one button goes on with it: {own}"
    );
    let now = page("/");
    assert!(now.contains(&format!("{said}{why}")), "{now}");
}

#[test]
fn what_broke_off_is_told_until_the_next_start() {
    let house = House::new();
    let told = || {
        let seen = house.get("developer", "/api/v1/daemon").expect(200).json();
        seen["faltered"].as_array().unwrap().clone()
    };
    assert_eq!(told(), Vec::<Value>::new());
    let journal = house.workshop.open().unwrap().journal;
    for number in 0..7 {
        let why = format!("index {number} is out of bounds");
        let id = Some("7c1e90ab".to_owned());
        house.workshop.daemon_faltered(&journal, id, &why).unwrap();
    }
    let seen = told();
    assert_eq!(seen.len(), 5, "the latest: {seen:?}");
    let latest = seen[0].as_str().unwrap();
    assert!(latest.starts_with("7c1e90ab broke off at "), "{latest}");
    assert!(latest.ends_with("index 6 is out of bounds"), "{latest}");
    let listen = house.address.to_string();
    house
        .workshop
        .daemon_is_up(&journal, DaemonListenAddress::AsSet(listen), 0)
        .unwrap();
    assert_eq!(told(), Vec::<Value>::new(), "another daemon began");
}

/// A person waits at a screen for what they ask; nobody does for what a program asks.
#[test]
fn what_a_program_asks_is_not_as_urgent_as_what_a_person_asks() {
    let house = House::new();
    house.portal("shop");
    let program = json!({ "role": "admin", "name": "ci", "program": true });
    let program = house
        .post("admin", "/api/v1/tokens", &program)
        .expect(201)
        .json();
    let program = program["token"].as_str().unwrap();
    for (token, of_question, of_trial) in [
        (house.token("admin"), "user", "user"),
        (program, "planning", "execution"),
    ] {
        let send = |path: &str, body: &Value| {
            let call = house.call("POST", path).by(token);
            call.json(&body.to_string()).send()
        };
        let question = json!({ "words": "What is in this folder?" });
        let made = send("/api/v1/requests", &question).expect(201).json();
        let trace = made["trace_id"].as_str().unwrap();
        let query = format!("/api/v1/events?trace={trace}&kind=model.requested");
        let asked = house.until(&query, |answer| !answer["events"][0].is_null());
        let asked = &asked["events"][0]["payload"]["priority"];
        assert_eq!(asked, of_question);
        house.until(
            &format!("/api/v1/events?trace={trace}&kind=run.finished"),
            |it| !it["events"][0].is_null(),
        );
        send("/api/v1/models/balanced/test", &json!({})).expect(200);
        let query = "/api/v1/events?kind=model.requested&order=desc";
        let tried = house.get("admin", query).expect(200).json();
        let tried = &tried["events"][0]["payload"]["priority"];
        assert_eq!(tried, of_trial);
    }
}
