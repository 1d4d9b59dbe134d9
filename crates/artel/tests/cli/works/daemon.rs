//! The daemon from the outside: its life, what it takes up, what it looks at anew, who may call it.

mod granted;
mod handed;
mod named_model;
mod stubborn;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use artel_journal::{EventFilter, EventQuery, JournalReader};
use serde_json::Value;

use super::town::{Town, payload};

/// Waits for something; a daemon takes moments, a hang is no answer.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(90), "never: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Asks the daemon for something.
fn get(listen: &str, token: &str, path: &str) -> Value {
    send(listen, token, &format!("GET {path}"), "")
}

/// Has the daemon do something.
fn post(listen: &str, token: &str, path: &str, body: &str) -> Value {
    send(listen, token, &format!("POST {path}"), body)
}

fn send(listen: &str, token: &str, what: &str, body: &str) -> Value {
    let mut stream = TcpStream::connect(listen).unwrap();
    let head = format!(
        "{what} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 20"), "{what}: {answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{what}: {error}: {answer}"))
}

/// A town whose daemon is gone when the test is.
struct Served(Town);

impl Served {
    fn new() -> Self {
        Self(Town::new())
    }

    fn start(&self) -> Value {
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        self.0.artel(start).run().expect(0).json()
    }

    fn status(&self) -> Value {
        let seen = self.0.artel(["daemon", "status", "--json"]).run();
        seen.expect(0).json()
    }

    /// Makes a token for somebody of this role.
    fn token(&self, role: &str) -> String {
        let create = ["token", "create", "--role", role, "--name", role, "--json"];
        let made = self.0.artel(create).run().expect(0).json();
        made["token"].as_str().unwrap().to_owned()
    }

    /// What is on record, read past the settings: they may be wrong just now.
    fn payloads(&self, kind: &str) -> Vec<Value> {
        let reader = JournalReader::open(&self.0.house.journal_home()).unwrap();
        let filter = EventFilter {
            kind: Some(kind.to_owned()),
            ..EventFilter::default()
        };
        let records = reader.records(&EventQuery::of(filter)).unwrap();
        let payload = |record: &artel_journal::JournalRecord| serde_json::from_str(&record.payload);
        records
            .iter()
            .map(|record| payload(record).unwrap())
            .collect()
    }

    fn state(&self) -> String {
        let request = self.0.request().unwrap();
        request["plan_state"].as_str().unwrap_or("none").to_owned()
    }

    /// Approves a plan in a process that is killed on its way.
    fn leave(&self) {
        let mut child = self.approve();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Approves a plan in a process that a person stops on its way.
    fn stop_by_hand(&self) {
        let mut child = self.approve();
        let pid = child.id().to_string();
        let told = Command::new("kill").args(["-INT", &pid]).status();
        assert!(told.unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    /// Approves a plan in the daemon, as somebody with a token.
    fn approve_over_http(&self, listen: &str, id: &str) {
        let shown = self.0.artel(["plan", "show", id, "--json"]).run();
        let hash = shown.expect(0).json()["hash"].as_str().unwrap().to_owned();
        let path = format!("/api/v1/plans/{id}/approve");
        let body = format!(r#"{{"hash":"{hash}"}}"#);
        post(listen, &self.token("user"), &path, &body);
    }

    /// Approves a plan in a process of its own; a step has begun.
    fn approve(&self) -> Child {
        let id = self.0.asked();
        let child: Child = self
            .0
            .artel(["plan", "approve", &id, "--json"])
            .command()
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("a step begins", || self.0.count("step.started") > 0);
        child
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let pids = self.payloads("daemon.started").into_iter();
        let ended = self.payloads("daemon.stopped");
        let is_ended = |pid: &Value| ended.iter().any(|it| it["pid"] == *pid);
        for pid in pids
            .map(|it| it["pid"].clone())
            .filter(|pid| !is_ended(pid))
        {
            drop(Command::new("kill").args(["-9", &pid.to_string()]).status());
        }
    }
}

#[test]
fn it_starts_once_says_where_it_is_and_ends_when_told() {
    let town = Served::new();
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0);
    assert!(logs.err.contains("there is no log"), "{}", logs.err);
    town.0.artel(["daemon", "stop"]).run().fails(4, "H003");
    town.0.artel(["open"]).run().fails(4, "H003");

    let started = town.start();
    let pid_file = town.0.house.state("daemon.pid");
    let pid = fs::read_to_string(&pid_file).unwrap();
    assert_eq!(pid.trim(), started["pid"].to_string());
    let again = town.0.artel(["daemon", "start"]).run().fails(3, "H002");
    assert!(again.err.contains(pid.trim()), "{}", again.err);
    let beside = ["serve", "--listen", "127.0.0.1:0"];
    town.0.artel(beside).run().fails_last(3, "H002");
    assert_eq!(town.status()["running"], started);
    let link = town.0.artel(["open", "--json"]).run().expect(0).json();
    let address = started["listen"].as_str().unwrap();
    let (_, port) = address.rsplit_once(':').unwrap();
    let url = link["url"].as_str().unwrap();
    let (console, code) = url.split_once("/login?code=").unwrap();
    assert!(console.ends_with(&format!(".localhost:{port}")), "{url}");
    assert_eq!((console.starts_with("http://"), code.len()), (true, 64));
    let forwarded = ["open", "--port", "9000", "--json"];
    let forwarded = town.0.artel(forwarded).run().expect(0).json();
    let name = console.strip_suffix(&format!(":{port}")).unwrap();
    let wanted = format!("{name}:9000/login?code=");
    assert!(
        forwarded["url"].as_str().unwrap().starts_with(&wanted),
        "{forwarded}"
    );

    town.0.artel(["daemon", "stop"]).run().expect(0);
    assert!(!pid_file.exists());
    assert_eq!(town.status()["running"], Value::Null);
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0);
    assert!(logs.out.contains("listening on"), "{}", logs.out);
}

/// In a terminal as under systemd it is told to whoever started it, and kept for whoever asks.
#[test]
fn what_it_says_in_a_terminal_is_in_its_log_too() {
    let town = Served::new();
    let serve = town.0.artel(["serve", "--listen", "127.0.0.1:0"]);
    let mut child = serve.command().stderr(Stdio::piped()).spawn().unwrap();
    until("it is up", || !town.status()["running"].is_null());
    let pid = child.id().to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status();
    assert!(told.unwrap().success());
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0).out;
    let notes: Vec<&str> = said.lines().filter(|it| it.starts_with("note: ")).collect();
    assert!(notes.iter().any(|it| it.contains("listening on")), "{said}");
    let kept: Vec<&str> = logs.lines().collect();
    assert_eq!(kept, notes);
    // One that is started in the background says each of its lines there once.
    town.start();
    town.0.artel(["daemon", "stop"]).run().expect(0);
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0).out;
    assert_eq!(logs.matches("listening on").count(), 2, "{logs}");
}

#[test]
fn started_anew_it_listens_where_it_was_told_to() {
    let town = Served::new();
    let first = town.start();
    let anew = ["daemon", "restart", "--json"];
    let again = || town.0.artel(anew).run().expect(0).json();
    let second = again();
    assert_ne!(second["pid"], first["pid"]);
    assert_eq!(second["listen"], first["listen"]);
    // Whoever let others reach it has said so, too.
    let [daemon, restart, json] = anew;
    let public = [daemon, restart, json, "--listen", "0.0.0.0:0", "--public"];
    let public = town.0.artel(public).run().expect(0).json();
    assert_eq!(again()["listen"], public["listen"]);
    let elsewhere = [daemon, restart, json, "--listen", "127.0.0.1:0"];
    let elsewhere = town.0.artel(elsewhere).run().expect(0).json();
    assert_ne!(elsewhere["listen"], public["listen"]);
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn what_a_dead_one_left_does_not_keep_the_next_from_starting() {
    let town = Served::new();
    let pid = town.start()["pid"].to_string();
    assert!(
        Command::new("kill")
            .args(["-9", &pid])
            .status()
            .unwrap()
            .success()
    );
    until("it is gone", || town.status()["running"].is_null());
    assert!(town.0.house.state("daemon.pid").exists());
    let next = town.start();
    assert_ne!(next["pid"].to_string(), pid);
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn it_takes_up_what_another_process_left_and_says_so() {
    let town = Served::new();
    town.leave();
    town.start();
    until("the plan is done", || town.state() == "done");
    assert_eq!(town.payloads("daemon.started")[0]["taken"], 1);
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0);
    assert!(logs.out.contains("takes up `Mend add"), "{}", logs.out);
    let told = town.0.artel(["daemon", "logs", "--json"]).run().expect(0);
    for line in told.out.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(value["line"].is_string(), "{line}");
    }
    let unit = town
        .0
        .artel(["daemon", "install", "--user", "--print", "--json"])
        .run()
        .expect(0)
        .json();
    assert!(unit["text"].as_str().unwrap().contains("ExecStart="));
    town.0.artel(["daemon", "stop"]).run().expect(0);
    town.0.to_the_end();
    assert_eq!(town.0.count("plan.ended"), 1);
    assert_eq!(town.0.left().files["NOTES.md"], b"add adds\n");
}

#[test]
fn what_a_person_stopped_is_left_alone_until_they_go_on() {
    let town = Served::new();
    town.stop_by_hand();
    town.start();
    assert_eq!(town.payloads("daemon.started")[0]["taken"], 0);
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0).out;
    assert!(logs.contains("leaves `Mend add"), "{logs}");
    assert!(!logs.contains("takes up"), "{logs}");
    let waits = town.0.artel(["waiting", "--json"]).run().expect(0).json();
    assert_eq!(waits[0]["kind"], "paused", "{waits}");
    assert_eq!(town.0.count("run.continued"), 0);
    let id = town.0.request().unwrap()["trace_id"].clone();
    town.0
        .artel(["resume", id.as_str().unwrap(), "--json"])
        .run()
        .expect(0);
    assert_eq!(town.state(), "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn held_it_begins_nothing_and_then_goes_on() {
    let town = Served::new();
    town.leave();
    town.0
        .artel(["daemon", "pause", "--reason", "release"])
        .run()
        .expect(0);
    assert_eq!(town.status()["paused"], true);
    town.start();
    let before = town.0.count("run.continued");
    // Another command's work is not the daemon's to hold.
    town.0.artel(["waiting"]).run().expect(0);
    assert_eq!(town.0.count("run.continued"), before);
    town.0.artel(["daemon", "resume"]).run().expect(0);
    until("the plan is done", || town.state() == "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn held_while_it_runs_it_begins_nothing_until_it_is_let_go() {
    let town = Served::new();
    let project = town.0.project.display().to_string();
    let add = ["portal", "add", &project, "--name", "calc"];
    town.0.artel(add).run().expect(0);
    let token = town.token("developer");
    let listen = town.start()["listen"].as_str().unwrap().to_owned();
    town.0.artel(["daemon", "pause"]).run().expect(0);
    let inbox = town.0.house.workshop.join("Inbox/Requests");
    for (at, name) in ["mend.md", "again.md"].into_iter().enumerate() {
        let aside = town.0.house.workshop.join("draft.part");
        let words = "---\nportal: calc\n---\nMend add in calc.py. It must add.\n";
        fs::write(&aside, words).unwrap();
        fs::rename(aside, inbox.join(name)).unwrap();
        // What waits is counted after the scheduler has begun what it may, so the count is proof:
        // it knew of the request and left it, and of the next one later.
        until("it waits for its turn", || {
            let seen = get(&listen, &token, "/api/v1/daemon");
            assert_eq!(seen["under_way"], 0, "{seen}");
            seen["waiting"] == at + 1
        });
    }
    assert_eq!(town.payloads("run.started"), Vec::<Value>::new());
    town.0.artel(["daemon", "resume"]).run().expect(0);
    until("both have a plan", || {
        town.payloads("plan.drafted").len() == 2
    });
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn stopped_on_its_way_it_goes_on_at_the_next_start() {
    let town = Served::new();
    town.leave();
    town.start();
    until("it goes on", || town.0.count("run.continued") > 0);
    town.0
        .artel(["daemon", "restart", "--listen", "127.0.0.1:0"])
        .run()
        .expect(0);
    until("the plan is done", || town.state() == "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
    assert_eq!(town.0.count("plan.ended"), 1);
}

#[test]
fn settings_that_change_are_in_force_or_said_to_be_wrong() {
    let town = Served::new();
    town.start();
    let file = town.0.house.workshop.join("artel.toml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        format!("{good}\n[server]\nworks_at_once = \"many\"\n"),
    )
    .unwrap();
    until("it is said to be wrong", || {
        !town.payloads("daemon.reloaded").is_empty()
    });
    let wrong = town.payloads("daemon.reloaded").remove(0);
    assert_eq!(wrong["what"][0], "artel.toml");
    assert!(
        wrong["problems"][0]
            .as_str()
            .unwrap()
            .contains("works_at_once"),
        "{wrong}"
    );
    fs::write(&file, format!("{good}\n[server]\nworks_at_once = 2\n")).unwrap();
    until("it is in force", || {
        town.payloads("daemon.reloaded").len() == 2
    });
    assert_eq!(
        town.payloads("daemon.reloaded")[1]["problems"],
        Value::Array(Vec::new())
    );
    let agent = town.0.house.workshop.join("Agents/broken.md");
    fs::create_dir_all(agent.parent().unwrap()).unwrap();
    fs::write(&agent, "no frontmatter").unwrap();
    until("the role is said to be wrong", || {
        town.payloads("daemon.reloaded").len() == 3
    });
    assert_ne!(
        town.payloads("daemon.reloaded")[2]["problems"],
        Value::Array(Vec::new())
    );
    let status = || town.0.artel(["daemon", "status"]).run().expect(0);
    let not_in_force = "the settings were changed and are not in force";
    status().says(not_in_force).says("the role has no name");
    let logs = town.0.artel(["daemon", "logs"]).run().expect(0).out;
    assert!(!logs.contains("\\u{a}"), "{logs}");
    let advice = |line: &str| line.trim_start().starts_with("try: ");
    assert!(logs.lines().any(advice), "on a line of its own: {logs}");
    fs::remove_file(&agent).unwrap();
    until("it is gone", || town.payloads("daemon.reloaded").len() == 4);
    assert!(!status().out.contains(not_in_force));
    town.0.artel(["daemon", "reload"]).run().expect(0);
    until("it was told", || {
        town.payloads("daemon.reloaded").len() == 5
    });
    fs::write(&file, format!("{good}\n[server]\nevent_streams = 7\n")).unwrap();
    until("it is said which of them are not yet in force", || {
        let logs = town.0.artel(["daemon", "logs"]).run().expect(0).out;
        logs.contains("but for `server.event_streams`: from the next start on")
    });
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

/// A role, a skill, the policy and the settings are each spoilt after the daemon has seen them.
/// Runs use skills of projects and of the person, too.
#[test]
fn skills_that_go_wrong_elsewhere_are_told_of() {
    let town = Served::new();
    town.0.asked();
    town.0.artel(["daemon", "pause"]).run().expect(0);
    town.start();
    // It has looked at everything once it looks at everything anew.
    town.0.artel(["daemon", "reload"]).run().expect(0);
    until("it has looked", || {
        town.payloads("daemon.reloaded").len() == 1
    });
    let said = |name: &str| {
        let all = town.payloads("daemon.reloaded").into_iter();
        all.last().unwrap()["problems"].to_string().contains(name)
    };
    let home = town.0.house.home.join(".agents/skills/tidy-home");
    let project = town.0.project.join(".claude/skills/tidy-project");
    for (folder, name) in [(home, "tidy-home"), (project, "tidy-project")] {
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), "No frontmatter.\n").unwrap();
        until("it is said to be wrong", || said(name));
        fs::remove_dir_all(&folder).unwrap();
        until("it is gone", || !said(name));
    }
    town.0.artel(["daemon", "stop"]).run().expect(0);
}

#[test]
fn what_is_changed_and_wrong_leaves_the_old_in_force() {
    let town = Served::new();
    let workshop = &town.0.house.workshop;
    let write = |name: &str, text: &str| {
        let file = workshop.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    let engineer = town.0.artel(["agent", "show", "engineer", "--json"]).run();
    let persona = engineer.expect(0).json()["prompt"].to_string();
    let persona = persona.trim_matches('"').replace("\\n", "\n");
    write(
        "Agents/engineer.md",
        &format!("---\nname: Our engineer\n---\nOnce upon a time.\n{persona}\n"),
    );
    write(
        "Skills/tidy/SKILL.md",
        "---\nname: tidy\ndescription: Tidies up, when asked to.\n---\nTidy up.\n",
    );
    let id = town.0.asked();
    town.0.artel(["daemon", "pause"]).run().expect(0);
    let listen = town.start()["listen"].as_str().unwrap().to_owned();
    // It has looked at everything once it looks at everything anew.
    town.0.artel(["daemon", "reload"]).run().expect(0);
    until("it has looked", || {
        town.payloads("daemon.reloaded").len() == 1
    });
    let settings = fs::read_to_string(workshop.join("artel.toml")).unwrap();
    write(
        "Agents/engineer.md",
        "---\nname: Our engineer\nTwice upon a time.\n",
    );
    write("Skills/tidy/SKILL.md", "Tidy nothing.\n");
    write("Policy/grants.toml", "[[grant]\n");
    write("Policy/rules.toml", "deny = 7\n");
    write(
        "artel.toml",
        &format!("{settings}\n[policy]\ncommands = 7\n"),
    );
    let said = || {
        let last = town.payloads("daemon.reloaded").pop().unwrap();
        last["problems"].to_string()
    };
    until("the settings are said to be wrong", || {
        said().contains("commands")
    });
    // The settings are right again, the rest is not.
    write("artel.toml", &settings);
    until("the rest is said to be wrong", || {
        let said = said();
        let parts = ["frontmatter", "tidy", "grants.toml", "rules.toml"];
        parts.iter().all(|it| said.contains(it))
    });
    town.approve_over_http(&listen, &id);
    town.0.artel(["daemon", "resume"]).run().expect(0);
    until("the plan is done", || town.state() == "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
    let sent = town.0.artel(["model", "record", &id]).run().expect(0).out;
    assert!(sent.contains("Once upon a time"), "{sent}");
    assert!(!sent.contains("Twice upon a time"), "{sent}");
}

#[test]
fn what_is_approved_over_http_is_done_in_the_name_of_whoever_approved() {
    let town = Served::new();
    let id = town.0.asked();
    let listen = town.start()["listen"].as_str().unwrap().to_owned();
    town.approve_over_http(&listen, &id);
    until("it is done", || town.state() == "done");
    town.0.artel(["daemon", "stop"]).run().expect(0);
    let events = town.0.events();
    let actor = |event: &Value| event["actor"].clone();
    let of = |kind: &str| events.iter().find(|it| it["kind"] == kind).map(actor);
    let approved = of("plan.approved").unwrap();
    assert_eq!(approved["via"], "api", "{approved}");
    let step = events.iter().find(|event| {
        let told = payload(event);
        event["kind"] == "run.started" && told["step"].is_string()
    });
    assert_eq!(actor(step.unwrap()), approved, "asked for from a terminal");
}

#[test]
fn tokens_are_shown_once_and_kept_nowhere() {
    let town = Town::new();
    let create = [
        "token",
        "create",
        "--role",
        "developer",
        "--name",
        "ci",
        "--json",
    ];
    let made = town.artel(create).run().expect(0).json();
    let keys: Vec<_> = made.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["id", "role", "token"]);
    let token = made["token"].as_str().unwrap();
    assert_eq!(token.len(), "artel_".len() + 64);
    let listed = town.artel(["token", "list", "--json"]).run().expect(0);
    assert_eq!(listed.json()[0]["name"], "ci");
    assert!(!listed.out.contains(token));
    let secret = token.trim_start_matches("artel_").as_bytes();
    for place in [town.house.root(), town.house.data()] {
        let found = crate::support::holding(&place, secret);
        assert!(found.is_empty(), "{found:?}");
    }
    let id = made["id"].as_str().unwrap();
    town.artel(["token", "revoke", id]).run().expect(0);
    town.artel(["token", "revoke", id]).run().fails(4, "H005");
    let none = town
        .artel(["token", "list", "--json"])
        .run()
        .expect(0)
        .json();
    assert_eq!(none, serde_json::json!([]));
    let wrong = ["token", "create", "--role", "king"];
    town.artel(wrong)
        .run()
        .expect(2)
        .says("user, developer or admin");
}
