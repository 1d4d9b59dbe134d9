//! Words of people that hold a key: refused alike by command, by file and over HTTP, which is what the
//! console's pages call.

use std::fs;

use serde_json::{Value, json};

use super::{Served, Town};

fn key() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

/// A town whose project has no test: a plan's run asks first how to check it.
fn untested() -> Served {
    let town = Town::new();
    fs::remove_file(town.project.join("test_calc.py")).unwrap();
    super::git(&town.project, &["commit", "-qam", "No tests"]);
    Served::of(town)
}

impl Served {
    /// Sends words over HTTP, and sees that they are refused.
    fn refuses(&self, token: &str, path: &str, body: &Value) {
        let (status, answer) = self.post(token, path, body);
        assert_eq!(answer["error"]["code"], "P006", "{path}: {status} {answer}");
        assert_eq!(status, 403, "{path}: {answer}");
    }

    /// Sees that the key is nowhere in the journal.
    fn has_kept_no_key(&self) {
        let events = serde_json::to_string(&self.town.events()).unwrap();
        assert!(!events.contains(&key()), "{events}");
        assert!(!events.contains("ghp_"), "{events}");
    }
}

#[test]
fn a_request_with_a_key_is_refused_by_command_file_and_http() {
    let served = Served::new();
    let words = format!("Mend add in calc.py with the key {}.", key());
    served
        .town
        .artel(["ask", &words, "--plan", "--yes"])
        .run()
        .fails(3, "P006");
    let body = json!({ "words": words, "planning": "always" });
    served.refuses(&served.tokens[0], "requests", &body);
    let inbox = served.town.house.workshop.join("Inbox/Requests");
    fs::write(inbox.join("key.md"), &words).unwrap();
    served.until("the file is refused", || {
        served.town.count("request.refused") == 1
    });
    served.until("a note says so", || {
        let note = fs::read_to_string(inbox.join("key.problem.md"));
        note.is_ok_and(|note| note.contains("the text holds what looks like a secret"))
    });
    assert_eq!(served.town.count("request.created"), 0);
    served.has_kept_no_key();
}

#[test]
fn a_comment_with_a_key_is_refused_by_command_file_and_http() {
    let served = Served::new();
    let id = served.town.asked();
    let comment = format!("use {} for it", key());
    let revise = ["plan", "revise", &id, "--comment", &comment];
    served.town.artel(revise).run().fails(3, "P006");
    let reject = ["plan", "reject", &id, "--reason", &comment];
    served.town.artel(reject).run().fails(3, "P006");
    let user = &served.tokens[0];
    let body = json!({ "comments": [comment] });
    served.refuses(user, &format!("plans/{id}/revise"), &body);
    let body = json!({ "reason": comment });
    served.refuses(user, &format!("plans/{id}/reject"), &body);
    let short: String = id.chars().take(8).collect();
    let file = format!("Inbox/Plans/request-{short}_plan.md");
    let file = served.town.house.workshop.join(file);
    let text = fs::read_to_string(&file).unwrap();
    let section = format!("\n## Review Comments\n\n- {comment}\n\n## Next Steps\n");
    fs::write(&file, text.replace("\n## Next Steps\n", &section)).unwrap();
    served.until("the file is as the journal has it", || {
        fs::read_to_string(&file).is_ok_and(|now| now == text)
    });
    assert_eq!(served.town.count("plan.commented"), 0);
    assert_eq!(served.town.count("plan.rejected"), 0);
    served.has_kept_no_key();
}

#[test]
fn a_hint_and_an_answer_with_a_key_are_refused_by_command_and_http() {
    let served = untested();
    let id = served.town.asked();
    let approve = ["plan", "approve", &id, "--json"];
    served.town.artel(approve).run();
    served.until("it asks how to check", || {
        served.town.count("run.asked") == 1
    });
    let answer = format!("sh check.sh {}", key());
    served
        .town
        .artel(["answer", &id, &answer])
        .run()
        .fails(3, "P006");
    served
        .town
        .artel(["hint", &id, &answer])
        .run()
        .fails(3, "P006");
    let waits = served.get("waiting");
    let run = waits["rows"][0]["run"].as_str().unwrap_or(&id).to_owned();
    let body = json!({ "text": answer });
    served.refuses(&served.tokens[1], &format!("runs/{run}/hint"), &body);
    let body = json!({ "answer": answer });
    served.refuses(&served.tokens[1], &format!("runs/{run}/answer"), &body);
    assert_eq!(served.town.count("run.answered"), 0);
    assert_eq!(served.town.count("run.steered"), 0);
    served.has_kept_no_key();
}

#[test]
fn a_task_with_a_key_is_refused_by_command_and_http() {
    let served = Served::new();
    let task = format!("Mend add with {}", key());
    let run = ["run", "--task", &task];
    served.town.artel(run).run().fails(3, "P006");
    let body = json!({ "task": task });
    served.refuses(&served.tokens[1], "runs", &body);
    assert_eq!(served.town.count("run.started"), 0);
    served.has_kept_no_key();
}

/// Puts a skill in the workshop.
fn greet(served: &Served) {
    let skill = served.town.house.workshop.join("Skills/greet");
    fs::create_dir_all(&skill).unwrap();
    let text = "---\nname: greet\ndescription: Greets.\n---\nGreet.\n";
    fs::write(skill.join("SKILL.md"), text).unwrap();
}

#[test]
fn what_a_skill_is_given_with_a_key_is_refused_by_command_and_http() {
    let served = Served::new();
    greet(&served);
    let words = ["Ada".to_owned(), format!("token={}", key())];
    let run = served.town.artel(["run", "greet"]).words(&words);
    run.run().fails(3, "P006");
    let body = json!({ "skill": "greet", "arguments": words });
    served.refuses(&served.tokens[1], "runs", &body);
    assert_eq!(served.town.count("run.started"), 0);
    served.has_kept_no_key();
}

/// What is kept looks like nothing: it is known by its value, also to a daemon that was there first.
#[test]
fn words_with_a_secret_that_is_kept_here_are_refused_by_command_file_and_http() {
    const KEPT: &str = "kolibri-by-seventeen-windows";
    let served = Served::new();
    let [user, developer] = &served.tokens;
    greet(&served);
    let keep = served.town.artel(["auth", "set", "--tool", "bank"]);
    keep.given(KEPT).run().expect(0);
    served.until("the daemon looks at the keys again", || {
        served.town.count("daemon.reloaded") == 1
    });
    let words = format!("Mend add in calc.py: {KEPT}.");
    let refused = |arguments: &[&str]| {
        let said = served.town.artel([]).words(arguments).run();
        let said = said.fails(3, "P006");
        said.says("the text holds a secret that is kept here");
    };
    refused(&["ask", &words, "--plan", "--yes"]);
    refused(&["run", "--task", &words]);
    refused(&["run", "greet", &words]);
    let body = json!({ "words": words, "planning": "always" });
    served.refuses(user, "requests", &body);
    served.refuses(developer, "runs", &json!({ "task": words }));
    let body = json!({ "skill": "greet", "arguments": [words] });
    served.refuses(developer, "runs", &body);
    let inbox = served.town.house.workshop.join("Inbox/Requests");
    fs::write(inbox.join("kept.md"), &words).unwrap();
    served.until("a note says so", || {
        let note = fs::read_to_string(inbox.join("kept.problem.md"));
        note.is_ok_and(|note| note.contains("the text holds a secret that is kept here"))
    });
    assert_eq!(served.town.count("request.created"), 0);
    assert_eq!(served.town.count("run.started"), 0);
    let events = serde_json::to_string(&served.town.events()).unwrap();
    assert!(!events.contains("kolibri"), "{events}");
}

#[test]
fn a_plan_of_a_person_with_a_key_is_refused_by_command_file_and_http() {
    let served = Served::new();
    let id = served.town.asked();
    let short: String = id.chars().take(8).collect();
    let file = format!("Inbox/Plans/request-{short}_plan.md");
    let file = served.town.house.workshop.join(file);
    let text = fs::read_to_string(&file).unwrap();
    let line = "Write NOTES.md with one line.";
    let theirs = text.replace(line, &format!("{line} Use {}.", key()));
    assert_ne!(theirs, text);
    let edited = served.town.house.root().join("edited.md");
    fs::write(&edited, &theirs).unwrap();
    let edit = ["plan", "edit", &id, "--file", edited.to_str().unwrap()];
    served.town.artel(edit).run().fails(3, "P006");
    let body = json!({ "text": theirs });
    served.refuses(&served.tokens[1], &format!("plans/{id}/edit"), &body);
    fs::write(&file, &theirs).unwrap();
    served.until("a note says so", || {
        let note = fs::read_to_string(file.with_extension("problem.md"));
        note.is_ok_and(|note| note.contains("the text holds what looks like a secret"))
    });
    assert_eq!(served.town.count("plan.drafted"), 1);
    served.has_kept_no_key();
}

#[test]
fn a_reason_with_a_key_is_refused_by_command_and_http() {
    let served = Served::new();
    let id = served.town.asked();
    let [_, developer] = &served.tokens;
    let reason = format!("we use {}", key());
    let grant = ["policy", "grant", "Bash(ls:*)", "--reason", &reason];
    served.town.artel(grant).run().fails(3, "P006");
    let admin = ["token", "create", "--role", "admin", "--json"];
    let admin = served.town.artel(admin).run().expect(0).json();
    let body = json!({ "rule": "Bash(ls:*)", "reason": reason });
    served.refuses(admin["token"].as_str().unwrap(), "policy/grants", &body);
    let waive = ["changeset", "approve", &id, "--waive", &reason];
    served.town.artel(waive).run().fails(3, "P006");
    let body = json!({ "head": "0".repeat(40), "reason": reason });
    served.refuses(developer, &format!("changesets/{id}/approve"), &body);
    let cancel = ["plan", "cancel", &id, "1", "--reason", &reason];
    served.town.artel(cancel).run().fails(3, "P006");
    let body = json!({ "reason": reason });
    served.refuses(developer, &format!("plans/{id}/steps/1/cancel"), &body);
    assert_eq!(served.town.count("policy.granted"), 0);
    served.has_kept_no_key();
}

#[test]
fn an_answer_to_a_call_with_a_key_is_refused_by_command_and_http() {
    let town = Town::saying(
        "rules:\n  - expect: { says: Look around }\n    call: { bash: { command: ls } }\n\
         otherwise: { call: { finish: { answer: over } } }\n",
    );
    fs::write(
        town.house.workshop.join("artel.toml"),
        "[policy]\ncommands = \"ask\"\n",
    )
    .unwrap();
    let served = Served::of(town);
    let [_, developer] = &served.tokens;
    let (status, began) = served.post(developer, "runs", &json!({ "task": "Look around" }));
    assert_eq!(status, 201, "{began}");
    served.until("it asks", || served.town.count("tool.asked") == 1);
    let waits = served.town.artel(["waiting", "--json"]).run().expect(0);
    let call = waits.json()[0]["id"].as_str().unwrap().to_owned();
    for word in ["no", "always"] {
        let answer = format!("{word}: use {}", key());
        let answer = ["answer", &call, &answer];
        // The first look shows what is answered.
        served.town.artel(["answer", &call]).run().expect(0);
        served.town.artel(answer).run().fails(3, "P006");
    }
    let path = format!("waiting/calls/{call}");
    let asked = served.town.events();
    let asked = asked.iter().find(|it| it["kind"] == "tool.asked").unwrap();
    let hash = &asked["payload"]["record"];
    let body = json!({ "hash": hash, "answer": "no", "reason": format!("use {}", key()) });
    served.refuses(developer, &path, &body);
    assert_eq!(served.town.count("tool.answered"), 0);
    let grants = served.town.house.workshop.join("Policy/grants.toml");
    let grants = fs::read_to_string(grants).unwrap_or_default();
    assert!(!grants.contains("Bash("), "{grants}");
    served.has_kept_no_key();
}

#[test]
fn a_note_a_pause_a_check_and_a_role_with_a_key_are_refused() {
    let served = Served::new();
    let [_, developer] = &served.tokens;
    let words = format!("use {}", key());
    served.refuses(developer, "events", &json!({ "text": words }));
    let project = served.town.project.display().to_string();
    let check = ["portal", "add", &project, "--check", &words];
    served.town.artel(check).run().fails(3, "P006");
    let pause = ["daemon", "pause", "--reason", &words];
    served.town.artel(pause).run().fails(3, "P006");
    let role = [
        "agent",
        "create",
        "zed",
        "--name",
        "Zed",
        "--description",
        &words,
    ];
    served.town.artel(role).run().fails(3, "P006");
    let workshop = &served.town.house.workshop;
    assert!(!workshop.join("Agents/zed.md").exists());
    served.has_kept_no_key();
}

#[test]
fn what_is_said_of_a_run_and_of_a_skill_with_a_key_is_refused_by_command_and_http() {
    let served = Served::of(Town::saying(
        "rules:\n  - expect: { says: Look around }\n    call: { finish: { answer: over } }\n",
    ));
    greet(&served);
    let [_, developer] = &served.tokens;
    let (status, began) = served.post(developer, "runs", &json!({ "task": "Look around" }));
    assert_eq!(status, 201, "{began}");
    served.until("it ends", || served.town.count("run.finished") == 1);
    let runs = served.town.artel(["runs", "--json"]).run().expect(0).json();
    let run = runs[0]["run"].as_str().unwrap();
    let words = format!("use {} the next time", key());
    let refused = |words: &[&str]| {
        let said = served.town.artel([]).words(words.iter().copied());
        said.run().fails(3, "P006");
    };
    refused(&["feedback", run, &words]);
    let body = json!({ "run": run, "text": words });
    served.refuses(developer, "feedback", &body);
    refused(&["skill", "feedback", "greet", "--add", &words]);
    let add = ["skill", "feedback", "greet", "--add", "shorter"];
    served.town.artel(add).run().expect(0);
    let lessons = || {
        let kept = ["skill", "feedback", "greet", "--json"];
        served.town.artel(kept).run().expect(0).json()
    };
    let id = lessons()[0]["id"].as_str().unwrap().to_owned();
    refused(&["skill", "feedback", "greet", "--edit", &id, &words]);
    assert_eq!(lessons()[0]["text"], "shorter");
    assert_eq!(served.town.count("feedback.given"), 0);
    served.has_kept_no_key();
}
