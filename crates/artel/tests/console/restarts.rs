//! The daemon is stopped and killed again and again while pages are open: they go on by themselves,
//! show each row once, and what waits for a person can still be decided.

use std::cell::Cell;
use std::process::Command;

use artel_testkit::{figure, is_long};
use serde_json::{Value, json};

use crate::large::over;
use crate::scripts::talkative;
use crate::stage::Stage;

#[test]
fn proof_console_goes_on_however_often_the_daemon_is_restarted() {
    let stage = Stage::new(&talkative());
    let rounds = if is_long() { 50 } else { 4 };
    let rows = Cell::new(0);
    stage.play_with("restarts.mjs", &|word| match word {
        "rounds" => json!(rounds),
        "kill" => {
            let pid = stage.pid().unwrap();
            let killed = Command::new("kill").args(["-9", &pid]).status();
            json!(killed.unwrap().success())
        }
        "row" => {
            rows.set(rows.get() + 1);
            let title = format!("Row {}", rows.get());
            stage.town.house.append(over(rows.get(), &title));
            Value::from(title)
        }
        word => panic!("nobody can `{word}` here"),
    });
    for (kind, count) in [
        ("request.created", 1),
        ("plan.drafted", 1),
        ("plan.approved", 1),
        ("run.answered", 1),
        ("changeset.created", 1),
    ] {
        assert_eq!(stage.town.count(kind), count, "{kind}");
    }
    let starts = stage.town.count("daemon.started");
    assert_eq!(starts, rounds + 1, "each start was one");
    stage.town.house.ok(["journal", "verify"]);
    figure(&format!(
        "restarts with pages open | {rounds} of {rounds} | no row lost or doubled, decided once"
    ));
}
