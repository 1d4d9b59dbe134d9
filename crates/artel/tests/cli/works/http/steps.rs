//! One step of a plan held, let go and ended by itself; what came of it, told in full.

use serde_json::{Value, json};

use super::super::town::{SCRIPT, Town};
use super::Served;

/// Has a plan approved, and returns its trace.
fn approved(served: &Served) -> String {
    let user = &served.tokens[0];
    let ask = json!({ "words": "Mend add in calc.py. It must add.", "planning": "always" });
    let made = served.post(user, "requests", &ask).1;
    let id = made["trace_id"].as_str().unwrap().to_owned();
    served.until("there is a plan", || plan(served, &id) == "review");
    let seen = json!({ "hash": served.get(&format!("plans/{id}"))["hash"] });
    let (status, decided) = served.post(user, &format!("plans/{id}/approve"), &seen);
    assert_eq!(status, 200, "{decided}");
    id
}

fn plan(served: &Served, id: &str) -> Value {
    served.get(&format!("requests/{id}"))["plan_state"].clone()
}

fn step(served: &Served, id: &str, at: usize) -> Value {
    served.get(&format!("traces/{id}"))["story"]["steps"][at].clone()
}

fn first_begins(served: &Served, id: &str) {
    served.until("the first step is under way", || {
        let state = step(served, id, 0)["state"].clone();
        ["running", "verifying", "done"]
            .iter()
            .any(|it| state == *it)
    });
}

#[test]
fn one_step_is_held_over_http_and_let_go_by_a_command() {
    let served = Served::new();
    let [user, developer] = &served.tokens;
    let id = approved(&served);
    let steer = |token: &str, step: &str, what: &str| {
        let path = format!("plans/{id}/steps/{step}/{what}");
        served.post(token, &path, &json!({}))
    };
    assert_eq!(steer(user, "notes", "pause").0, 403);
    first_begins(&served, &id);
    let (status, held) = steer(developer, "notes", "pause");
    assert_eq!(status, 200, "{held}");
    // The daemon may not have read it yet, so nobody says that the step is held.
    assert_eq!(held["step"], "Say so in the notes", "{held}");
    let text = held["text"].as_str().unwrap_or_default();
    assert!(
        text.starts_with("pause sent to artel ") && text.ends_with(" once it has been read"),
        "{held}"
    );
    assert!(held.get("did").is_none(), "{held}");
    served.until("the first step passed", || {
        step(&served, &id, 0)["state"] == "done"
    });
    served.until("the second waits", || {
        step(&served, &id, 1)["is_waiting"] == true
    });
    assert_eq!(plan(&served, &id), "running");
    let begun = |step: &str| {
        let events = served.town.events();
        let is_it = |it: &&Value| it["kind"] == "step.started" && it["payload"]["step"] == step;
        events.iter().filter(is_it).count()
    };
    assert_eq!((begun("mend"), begun("notes")), (1, 0));
    assert_eq!(steer(developer, "2", "pause").0, 409, "it is already");
    assert_eq!(steer(developer, "1", "pause").0, 409, "it is over");
    assert_eq!(steer(developer, "9", "pause").0, 400);
    let resumed = served.town.artel(["plan", "resume", &id, "2"]).run();
    let resumed = resumed.expect(0);
    assert!(
        resumed.out.starts_with("resume sent to artel ")
            && resumed
                .out
                .ends_with("`Say so in the notes` goes on once it has been read\n"),
        "{}",
        resumed.out
    );
    served.until("the plan is done", || plan(&served, &id) == "done");
    assert_eq!(begun("notes"), 1);

    let look = |asked: &str| {
        let head = format!("GET /api/v1/traces/{id}{asked}");
        served.send(developer, &head, "")
    };
    let (status, told) = look("?step=mend&view=full");
    assert_eq!(status, 200, "{told}");
    assert_eq!(told["step"]["title"], "Mend add");
    let agents = told["step"]["attempts"][0]["agents"].as_array().unwrap();
    assert!(agents.len() >= 2, "a worker and a judge: {told}");
    assert_eq!(look("?step=1&turn=1").0, 200);
    assert_eq!(look("?step=3").0, 404);
    assert_eq!(look("?turn=1").0, 400, "each agent has turns of its own");

    // What programs printed is not for whoever sees summaries alone.
    let printed = |token: &str| {
        let shown = served.send(token, &format!("GET /api/v1/changesets/{id}"), "");
        assert_eq!(shown.0, 200, "{}", shown.1);
        let proofs = shown.1["proofs"].as_array().unwrap().clone();
        proofs.iter().filter(|it| !it["output"].is_null()).count()
    };
    assert!(printed(developer) > 0);
    assert_eq!(printed(user), 0);

    let report = served.get(&format!("reports/{id}"));
    let path = format!("reports/{id}/rebuild");
    let (status, rebuilt) = served.post(developer, &path, &json!({}));
    assert_eq!(status, 200, "{rebuilt}");
    assert_eq!(rebuilt["path"], report["path"]);
}

#[test]
fn one_step_is_ended_and_with_it_whoever_is_at_work_on_it() {
    let work = "  - expect: { matches: \"(?s)step 1 of 2.*You may change\" }\n";
    let slow = format!("{work}    say: wait for it\n    then: slow\n{work}");
    let served = Served::of(Town::saying(&SCRIPT.replace(work, &slow)));
    let id = approved(&served);
    let running = || {
        let runs = served.get("runs?state=running&all=true");
        runs["rows"].as_array().unwrap().len()
    };
    // The plan's own run, and that of whoever works at its first step.
    served.until("somebody is at work", || {
        step(&served, &id, 0)["state"] == "running" && running() == 2
    });
    let cancel = ["plan", "cancel", &id, "mend", "--reason", "not like this"];
    let ended = served.town.artel(cancel).run().expect(0);
    ended
        .says("cancel sent to artel ")
        .says("`Mend add` ends once it has been read");
    served.until("the plan is over", || plan(&served, &id) == "failed");
    assert_eq!(step(&served, &id, 1)["state"], "skipped");
    served.until("nobody is at work any more", || running() == 0);
}

#[test]
fn a_tool_is_tried_in_a_copy() {
    let served = Served::new();
    let developer = &served.tokens[1];
    let run = |name: &str, input: Value| {
        let body = json!({ "input": input, "portal": "calc" });
        served.post(developer, &format!("tools/{name}/run"), &body)
    };
    let (status, found) = run("grep", json!({ "pattern": "def add" }));
    assert_eq!(status, 200, "{found}");
    assert!(found["text"].as_str().unwrap().contains("calc.py"));
    assert_eq!(found["changed"], json!([]));
    let (status, written) = run("write", json!({ "path": "new.txt", "content": "new\n" }));
    assert_eq!(status, 200, "{written}");
    assert_eq!(written["changed"], json!(["new.txt"]));
    assert!(!served.town.project.join("new.txt").exists());
    let (status, seen) = run("bash", json!({ "command": "ls" }));
    assert_eq!(status, 200, "{seen}");
    assert!(seen["text"].as_str().unwrap().contains("calc.py"), "{seen}");
    let (status, refused) = run("bash", json!({ "command": "sudo ls" }));
    assert_eq!(status, 200, "{refused}");
    assert_eq!(refused["trouble"], "refused", "{refused}");
}

/// One piece of work may go on at a time, and its plan rests: nobody else waits for that.
#[test]
fn a_plan_whose_step_is_held_keeps_nobody_from_their_turn() {
    let town = Town::new();
    let settings = town.house.workshop.join("artel.toml");
    town.artel(["workshop", "show"]).run().expect(0);
    std::fs::write(settings, "[server]\nworks_at_once = 1\n").unwrap();
    let served = Served::of(town);
    let developer = &served.tokens[1];
    let id = approved(&served);
    first_begins(&served, &id);
    let path = format!("plans/{id}/steps/notes/pause");
    let (status, held) = served.post(developer, &path, &json!({}));
    assert_eq!(status, 200, "{held}");
    served.until("the first step passed", || {
        step(&served, &id, 0)["state"] == "done"
    });
    let inbox = served.town.house.workshop.join("Inbox/Requests");
    std::fs::write(inbox.join("next.md"), "Mend add in calc.py. It must add.\n").unwrap();
    served.until("what nobody waits for is planned beside it", || {
        let plans = served.get("plans?state=review");
        plans["rows"].as_array().unwrap().len() == 1
    });
    assert_eq!(step(&served, &id, 1)["is_held"], true);
    let path = format!("plans/{id}/steps/2/resume");
    let (status, resumed) = served.post(developer, &path, &json!({}));
    assert_eq!(status, 200, "{resumed}");
    let text = resumed["text"].as_str().unwrap();
    assert!(
        text == "`Say so in the notes` is taken up by the daemon"
            || text.ends_with("`Say so in the notes` goes on once it has been read"),
        "{text}"
    );
    served.until("the plan is done", || plan(&served, &id) == "done");
}

/// What is said about how a plan is carried out holds for whoever the daemon has at it.
#[test]
fn a_plan_is_carried_out_as_its_approval_says() {
    let town = Town::new();
    let other = town.house.root().join("other.yaml");
    std::fs::write(&other, SCRIPT).unwrap();
    town.house.settings(&format!(
        "[models.other]\nprovider = \"rehearsal\"\nmodel = \"{}\"\n",
        other.display()
    ));
    let served = Served::of(town);
    let user = &served.tokens[0];
    let ask = json!({ "words": "Mend add in calc.py. It must add.", "planning": "always" });
    let made = served.post(user, "requests", &ask).1;
    let id = made["trace_id"].as_str().unwrap().to_owned();
    served.until("there is a plan", || plan(&served, &id) == "review");
    let hash = served.get(&format!("plans/{id}"))["hash"].clone();
    let approve = |more: Value| {
        let mut body = json!({ "hash": hash });
        body.as_object_mut()
            .unwrap()
            .append(&mut more.as_object().unwrap().clone());
        served.post(user, &format!("plans/{id}/approve"), &body)
    };
    for wrong in [
        json!({ "at_once": 0 }),
        json!({ "at_once": 65 }),
        json!({ "model": "nothing-like-it" }),
        json!({ "fail_fast": "yes" }),
    ] {
        let (status, refused) = approve(wrong.clone());
        assert!((400..500).contains(&status), "{wrong}: {refused}");
    }
    assert_eq!(plan(&served, &id), "review", "nothing was approved by them");
    let how = json!({ "model": "other", "at_once": 1, "fail_fast": true });
    let (status, decided) = approve(how);
    assert_eq!(status, 200, "{decided}");
    served.until("the plan is done", || plan(&served, &id) == "done");
    let events = served.town.events();
    let prepared = events.iter().filter(|it| it["kind"] == "run.prepared");
    let models: Vec<&Value> = prepared.map(|it| &it["payload"]["model"]).collect();
    assert!(models.len() > 2, "{models:?}");
    let (first, others) = models.split_first().unwrap();
    assert_ne!(*first, "other");
    assert!(others.iter().all(|it| *it == "other"), "{others:?}");
}
