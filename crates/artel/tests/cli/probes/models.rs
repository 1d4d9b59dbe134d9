//! What a model may say: it is shown as text, and half a call is none.

use serde_json::json;

use crate::omniforge::world::{World, calls, finish, speaks};

/// Sets the title of the window, clears the screen, writes over a line, and hides what follows.
const CODES: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[1A\u{9b}31mall is well\r\u{8}\u{202e}";

#[track_caller]
fn is_plain(what: &str, text: &str) {
    let is_bad = |letter: &char| {
        matches!(
            letter,
            '\u{1b}' | '\u{7}' | '\u{8}' | '\r' | '\u{9b}' | '\u{202e}'
        )
    };
    let bad: Vec<char> = text.chars().filter(is_bad).collect();
    assert!(bad.is_empty(), "{what}: {bad:?} in {text:?}");
}

#[test]
fn escape_codes_of_a_model_reach_no_terminal() {
    let world = World::new();
    let path = format!("{CODES}.txt");
    let model = speaks([
        calls("write", json!({ "path": path, "content": CODES })),
        calls("bash", json!({ "command": format!("echo '{CODES}'") })),
        calls(&format!("read{CODES}"), json!({ "path": path })),
        calls(
            "todo",
            json!({ "tasks": [{ "text": CODES, "state": "pending" }] }),
        ),
        finish(CODES),
    ]);
    world.listens_to(&model);
    let seen = world.artel(["run", "--task", "begin"]).run();
    is_plain("run out", &seen.out);
    is_plain("run err", &seen.err);
    let rows = world.ok(["runs", "--json"]).json();
    let run = rows[0]["run"].as_str().unwrap().to_owned();
    for words in [
        &["runs"][..],
        &["trace", &run],
        &["journal", "tail", "-n", "50"],
        &["waiting"],
        &["apply", &run],
    ] {
        let seen = world.artel([]).words(words).run();
        is_plain(&format!("{words:?} out"), &seen.out);
        is_plain(&format!("{words:?} err"), &seen.err);
    }
}

#[test]
fn a_call_that_is_cut_off_is_not_made() {
    let world = World::new();
    let cut = artel_testkit::standin::Answer::default();
    let model = speaks([
        cut.calls_raw("bash", "{\"command\": \"touch made.txt; echo ")
            .cut_short(),
        finish("done"),
        finish("done"),
    ]);
    world.listens_to(&model);
    world.artel(["run", "--task", "begin"]).run();
    let finished = world.calls();
    let ran = finished.iter().filter(|(_, trouble, _)| trouble.is_none());
    let ran: Vec<_> = ran.filter(|(tool, ..)| tool == "bash").collect();
    assert!(ran.is_empty(), "{ran:?}");
    assert!(world.events("run.applied").is_empty());
}
