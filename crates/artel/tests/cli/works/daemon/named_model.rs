//! A plan that was approved over HTTP with a model of its own, and a daemon that is killed.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::super::handed_down::named_model::{has_to_be_named, unwanted};
use super::super::stage::{Stage, Who, adds, end, mend, pass, plan, tests_add};
use super::{Served, post, until};

#[test]
fn the_model_of_an_approval_over_http_holds_after_the_daemon_was_killed() {
    let default = unwanted();
    let is_first = AtomicBool::new(true);
    let stage = Stage::holding(
        |asked| match asked.who {
            Who::Architect => plan(json!([mend(json!({}))])),
            Who::Worker => vec![adds(), tests_add(), end("mended")],
            _ => pass(asked, json!({})),
        },
        move |asked| asked.who == Who::Worker && is_first.swap(false, Ordering::SeqCst),
    );
    let id = stage.town.asked();
    has_to_be_named(&stage, &default);
    let Stage { town, model } = stage;
    let served = Served(town);
    let listen = served.start()["listen"].as_str().unwrap().to_owned();
    let shown = served.0.artel(["plan", "show", &id, "--json"]).run();
    let hash = shown.expect(0).json()["hash"].clone();
    let body = json!({ "hash": hash, "model": "named" }).to_string();
    let path = format!("/api/v1/plans/{id}/approve");
    post(&listen, &served.token("user"), &path, &body);
    until("the worker is asked", || model.held() == 1);
    let pid = served.status()["running"]["pid"].to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status();
    assert!(killed.unwrap().success());
    model.release();
    let is_over = || served.0.count("changeset.created") == 1 || !default.seen().is_empty();
    until("the killed one is gone", || {
        served
            .0
            .artel(["daemon", "start", "--listen", "127.0.0.1:0", "--json"])
            .run()
            .code
            == 0
    });
    until("the end", is_over);
    assert!(default.seen().is_empty());
}
