//! One place at a provider, and many who want it: the person is served next.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use artel_testkit::standin::Format;
use serde_json::{Value, json};

use super::stage::{Asked, Calls, Stage, Who, end, note, plan, until, write_note};
use super::town::payload;
use crate::support::entry;

const QUESTION: &str = "Where is add?";

/// How many agents of the plan want the one place.
const AGENTS: usize = 8;

fn mind(asked: &Asked) -> Calls {
    match asked.who {
        Who::Architect => {
            let names = (0..AGENTS).map(|at| format!("n{at}"));
            plan(names.map(|name| note(&name, &[])).collect())
        }
        Who::Worker => write_note(asked),
        _ => vec![end("in calc.py")],
    }
}

fn is_question(asked: &Asked) -> bool {
    asked.who == Who::Other && asked.text.contains(QUESTION)
}

/// A town with a daemon that ends with the test.
struct Served {
    stage: Stage,
    listen: String,
    pid: String,
    token: String,
}

impl Served {
    /// A provider that takes one call at a time. It answers no agent of the plan until it is let go,
    /// nor the question when it is put for the second time.
    fn new() -> Self {
        let questions = AtomicUsize::new(0);
        let stage = Stage::holding(mind, move |asked| {
            let is_again = || questions.fetch_add(1, Ordering::SeqCst) > 0;
            asked.who == Who::Worker || (is_question(asked) && is_again())
        });
        let settings = entry("default", Format::Chat, &stage.model);
        let town = &stage.town;
        town.house
            .settings(&format!("{settings}[gateway]\nslots = 1\n"));
        let project = town.project.display().to_string();
        let add = ["portal", "add", &project, "--name", "calc"];
        town.artel(add).run().expect(0);
        let token = [
            "token", "create", "--role", "user", "--name", "ada", "--json",
        ];
        let token = town.artel(token).run().expect(0).json();
        let start = ["daemon", "start", "--listen", "127.0.0.1:0", "--json"];
        let started = town.artel(start).run().expect(0).json();
        Self {
            listen: started["listen"].as_str().unwrap().to_owned(),
            pid: started["pid"].to_string(),
            token: token["token"].as_str().unwrap().to_owned(),
            stage,
        }
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let (listen, token) = (&self.listen, &self.token);
        let body = body.to_string();
        let mut stream = TcpStream::connect(listen).unwrap();
        let text = format!(
            "POST /api/v1/{path} HTTP/1.1\r\nHost: {listen}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 20"), "{path}: {answer}");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// Has the daemon carry the plan out, and returns once one of its agents has the place and all
    /// others wait for it.
    fn begin(&self) -> String {
        let stage = &self.stage;
        let id = stage.town.asked();
        let show = stage.town.artel(["plan", "show", &id, "--json"]).run();
        let hash = show.expect(0).json()["hash"].clone();
        let approve = json!({ "hash": hash, "at_once": AGENTS });
        self.post(&format!("plans/{id}/approve"), &approve);
        stage.until_held(1);
        // An agent that has begun asks its model as its first act.
        until("all agents began", || self.workers_begun() == AGENTS);
        id
    }

    /// Returns the calls that made way for a more urgent one.
    fn made_way(&self) -> Vec<Value> {
        let failed = self.stage.told("model.failed").into_iter();
        let made_way = failed.filter(|it| it["message"] == "something more urgent took its place");
        made_way.map(|it| it["call"].clone()).collect()
    }

    fn workers_begun(&self) -> usize {
        let started = self.stage.told("run.started");
        let of_a_step = |it: &&Value| it["step"].is_string();
        started.iter().filter(of_a_step).count()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(Command::new("kill").args(["-9", &self.pid]).status());
    }
}

/// The gateway of a process is the line that its calls stand in, so the question goes to the daemon
/// that does the plan. `artel ask` is a process with a gateway of its own: it waits for nobody here.
/// Places that processes share come with sessions.
#[test]
fn a_persons_question_is_answered_next_though_eight_agents_wait_for_the_one_place() {
    let served = Served::new();
    let (stage, town) = (&served.stage, &served.stage.town);
    let id = served.begin();
    let before = stage.asked();
    let of_agents = before.iter().filter(|it| it.who == Who::Worker).count();
    assert_eq!(of_agents, 1, "one call at a time");
    assert_eq!((stage.model.held(), stage.model.peak()), (1, 1));

    town.artel(["ask", QUESTION, "--yes"])
        .run()
        .expect(0)
        .says("in calc.py");
    let by_command = stage.asked();
    assert_eq!(by_command.len(), before.len() + 1, "nobody else got a turn");
    assert!(is_question(by_command.last().unwrap()));
    assert_eq!(served.made_way(), Vec::<Value>::new());

    let asked = json!({ "words": QUESTION, "portal": "calc" });
    let question = served.post("requests", &asked);
    let trace = question["trace_id"].as_str().unwrap().to_owned();
    until("somebody is asked next", || {
        stage.asked().len() > by_command.len()
    });
    let next = stage.asked().swap_remove(by_command.len());
    assert!(is_question(&next), "{:?}", next.who);
    // It has the place of the agent, and not one beside it.
    until("the agent makes way", || served.made_way().len() == 1);
    until("the question is alone", || {
        (stage.model.held(), stage.model.open()) == (1, 1)
    });
    stage.model.release();
    let is_answered = || {
        let events = town.events();
        let mut ended = events.iter().filter(|it| it["kind"] == "run.finished");
        let end = ended.find(|it| it["trace"] == trace.as_str());
        end.is_some_and(|it| payload(it)["answer"] == "in calc.py")
    };
    until("the question is answered", is_answered);

    // Whoever made way for it is asked again, and the plan loses nothing by it.
    until("the plan is done", || {
        stage.model.release();
        let show = town.artel(["request", "show", &id, "--json"]).run();
        show.expect(0).json()["plan_state"] == "done"
    });
    assert_eq!(town.count("step.passed"), AGENTS);
    assert_eq!(town.count("step.failed"), 0);
    let made_way = served.made_way();
    assert_eq!(made_way.len(), 1, "{made_way:?}");
    let requested = stage.told("model.requested");
    let again = requested.iter().filter(|it| it["call"] == made_way[0]);
    let attempts: Vec<_> = again.map(|it| it["attempt"].clone()).collect();
    assert_eq!(attempts, [1, 2]);
}
