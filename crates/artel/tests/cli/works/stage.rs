//! A town whose model is behind HTTP: a function plays every agent, in any provider's format, each
//! request can be looked at afterwards, and answers can be held back.

use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use artel_testkit::standin::{Answer, Format, StandIn};
use regex::Regex;
use serde_json::{Value, json};

use super::bench::git;
use super::town::{Town, payload};
use crate::support::{House, Seen};

/// How long something may take that takes seconds; a hang is no answer.
const PATIENCE: Duration = Duration::from_secs(240);

/// What a reply calls, in this order.
pub(super) type Calls = Vec<(&'static str, Value)>;

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Who {
    /// Whoever plans.
    Architect,
    /// Whoever does a step.
    Worker,
    /// Whoever names criteria before the work.
    Criteria,
    /// Whoever writes tests before the work.
    Tests,
    /// The one verifier.
    Evaluator,
    /// Whoever looks at the change.
    Inspector,
    /// Whoever looks at the tests.
    Tester,
    /// Whoever mends the branch.
    Mender,
    /// Whoever says why a step did not pass.
    Adviser,
    /// Anybody else.
    Other,
}

/// One request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) who: Who,
    /// The number of the step; 0 outside of steps.
    pub(super) step: usize,
    /// Which attempt it is.
    pub(super) attempt: usize,
    /// How many replies came before.
    pub(super) turn: usize,
    /// Everything that was said so far, whoever said it.
    pub(super) text: String,
    /// What the person or the tools said last.
    pub(super) last: String,
    pub(super) tools: Vec<String>,
}

impl Asked {
    /// Reads a request, whichever provider's format it is in.
    pub(super) fn of(body: &Value) -> Self {
        let messages = ["messages", "input"].map(|name| &body[name]);
        let messages = messages.into_iter().find_map(|it| it.as_array()).unwrap();
        let from = messages.iter().rposition(is_reply);
        let new = messages[from.map_or(0, |at| at + 1)..].iter();
        let last: Vec<_> = new.map(said).collect();
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let name = |tool: &Value| {
            let name = tool["function"]["name"].as_str();
            let name = name.or_else(|| tool["name"].as_str());
            name.unwrap_or_default().to_owned()
        };
        let tools: Vec<String> = tools.iter().map(name).collect();
        let standing = ["system", "instructions"].map(|name| words(&body[name]));
        let whole = messages.iter().map(words);
        let text = standing.into_iter().chain(whole).collect::<Vec<_>>();
        let text = text.join("\n");
        // A reply of several parts may be several messages.
        let replies = messages.chunk_by(|one, next| is_reply(one) == is_reply(next));
        Self {
            who: who(&tools, &text),
            step: number(&text, r"This is step (\d+) of").unwrap_or(0),
            attempt: number(&text, r"This is attempt (\d+) of").unwrap_or(1),
            turn: replies.filter(|group| is_reply(&group[0])).count(),
            last: last.join("\n"),
            text,
            tools,
        }
    }

    pub(super) fn is(&self, who: Who, step: usize) -> bool {
        self.who == who && self.step == step
    }
}

fn who(tools: &[String], text: &str) -> Who {
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    let says = |words: &str| text.contains(words);
    match () {
        () if has("submit_plan") => Who::Architect,
        () if has("advice") => Who::Adviser,
        () if has("propose_change") => Who::Worker,
        () if has("criteria") => Who::Criteria,
        () if has("verdict") && says("Run the tests of this step") => Who::Tester,
        () if has("verdict") && says("Inspect the change") => Who::Inspector,
        () if has("verdict") => Who::Evaluator,
        () if says("Write tests for this step before") => Who::Tests,
        () if says("do not hold on a clean") => Who::Mender,
        () => Who::Other,
    }
}

/// Tells whether the model said it.
fn is_reply(message: &Value) -> bool {
    let of_model = ["function_call", "reasoning"];
    message["role"] == "assistant" || of_model.iter().any(|it| message["type"] == *it)
}

fn said(message: &Value) -> String {
    ["content", "output"]
        .map(|name| words(&message[name]))
        .join("\n")
}

fn number(text: &str, pattern: &str) -> Option<usize> {
    let found = Regex::new(pattern).unwrap().captures(text)?;
    found[1].parse().ok()
}

/// Every text in a value, one after the other.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(words).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

pub(super) struct Stage {
    pub(super) town: Town,
    pub(super) model: StandIn,
}

impl Stage {
    /// Every agent does what `mind` says.
    pub(super) fn new(mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static) -> Self {
        Self::holding(mind, |_| false)
    }

    /// The same; answers to requests of which `held` says so wait to be released. Whoever is asked
    /// why a step did not pass says that it is not done.
    pub(super) fn holding(
        mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static,
        held: impl Fn(&Asked) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::speaking(Format::Chat, mind, held)
    }

    /// The same in the format of a provider.
    pub(super) fn speaking(
        format: Format,
        mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static,
        held: impl Fn(&Asked) -> bool + Send + Sync + 'static,
    ) -> Self {
        let mind = move |asked: &Asked| match asked.who {
            Who::Adviser => advice(json!({ "fault": "code", "why": "it is not done" })),
            _ => mind(asked),
        };
        Self::minded(format, mind, held)
    }

    /// The same, with an adviser of its own.
    pub(super) fn advised(
        mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static,
        held: impl Fn(&Asked) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::minded(Format::Chat, mind, held)
    }

    fn minded(
        format: Format,
        mind: impl Fn(&Asked) -> Calls + Send + Sync + 'static,
        held: impl Fn(&Asked) -> bool + Send + Sync + 'static,
    ) -> Self {
        let model = StandIn::minded(format, move |body| {
            let asked = Asked::of(body);
            let calls = mind(&asked).into_iter();
            let answer = calls.fold(Answer::says(""), |answer, (name, input)| match name {
                "say" => Answer::says(input.as_str().unwrap()),
                name => answer.calls(name, input),
            });
            if held(&asked) { answer.held() } else { answer }
        });
        let house = House::with_model(format, &model);
        let town = Town::asking(house, "default".to_owned());
        Self { town, model }
    }

    /// Asks, and has the plan carried out to its end.
    pub(super) fn done(&self) -> String {
        let id = self.town.asked();
        self.approve(&id, 0);
        id
    }

    pub(super) fn approve(&self, id: &str, code: i32) -> Seen {
        self.town
            .artel(["plan", "approve", id, "--json"])
            .run()
            .expect(code)
    }

    /// Begins to carry the plan out, in a process of its own.
    pub(super) fn begin(&self, id: &str, more: &[&str]) -> Child {
        let artel = self
            .town
            .artel(["plan", "approve", id, "--json"])
            .words(more);
        artel.command().stdin(Stdio::null()).spawn().unwrap()
    }

    /// Returns every request so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        let seen = self.model.seen();
        let is_asked = |body: &Value| body["messages"].is_array() || body["input"].is_array();
        let seen = seen.iter().filter(|it| is_asked(&it.body));
        seen.map(|it| Asked::of(&it.body)).collect()
    }

    /// Returns the requests to somebody at a step.
    pub(super) fn asked_of(&self, who: Who, step: usize) -> Vec<Asked> {
        let asked = self.asked().into_iter();
        asked.filter(|it| it.is(who, step)).collect()
    }

    /// Returns what was recorded of a kind, in order.
    pub(super) fn told(&self, kind: &str) -> Vec<Value> {
        let events = self.town.events();
        let events = events.iter().filter(|event| event["kind"] == kind);
        events.map(payload).collect()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        git(&self.town.project, arguments)
    }

    /// Returns the branch of a piece of work.
    pub(super) fn branch(&self, id: &str) -> String {
        let short = &id[..8];
        let names = self.git(&["branch", "--format=%(refname:short)"]);
        let name = names.lines().find(|name| name.ends_with(short));
        name.unwrap_or_else(|| panic!("no branch of {short}: {names}"))
            .to_owned()
    }

    /// Waits until so many answers are held.
    pub(super) fn until_held(&self, count: usize) {
        until(&format!("{count} held"), || self.model.held() >= count);
    }

    /// Waits until something is on record so often.
    pub(super) fn until_told(&self, kind: &str, count: usize) {
        until(kind, || self.town.count(kind) >= count);
    }

    /// Lets everything go on until a process has ended.
    pub(super) fn let_go(&self, mut child: Child) -> Output {
        until("the end", || {
            self.model.release();
            child.try_wait().unwrap().is_some()
        });
        child.wait_with_output().unwrap()
    }
}

/// Hands in why a step did not pass.
pub(super) fn advice(advice: Value) -> Calls {
    vec![("advice", advice), end("advised")]
}

pub(super) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// A plan with these steps.
pub(super) fn plan(steps: Value) -> Calls {
    let plan =
        json!({ "title": "Mend add", "kind": "fix", "overview": "add adds.", "steps": steps });
    vec![
        ("submit_plan", plan),
        ("finish", json!({ "answer": "planned" })),
    ]
}

/// A step that makes a file of its own name and is verified by the runtime alone.
pub(super) fn note(id: &str, after: &[&str]) -> Value {
    let file = format!("{id}.md");
    json!({
        "id": id, "title": format!("Write {file}"), "role": "engineer",
        "work": format!("Write {file}."), "check": "It is there.", "verify": "none",
        "after": after, "scope": { "paths": [file] },
        "evidence": [{ "kind": "file", "what": file }],
    })
}

/// Does what [`note`] asks for: writes the file that the step is about.
pub(super) fn write_note(asked: &Asked) -> Calls {
    let found = Regex::new(r"You may change: ([a-z0-9-]+\.md)").unwrap();
    let file = &found.captures(&asked.text).expect("a step with a file")[1];
    let text = format!("made by step {}\n", asked.step);
    vec![
        ("write", json!({ "path": file, "content": text })),
        end("written"),
    ]
}

/// The step that makes `add` add, with fields put over it.
pub(super) fn mend(over: Value) -> Value {
    let mut step = json!({
        "id": "mend", "title": "Mend add", "role": "engineer",
        "work": "Make add in calc.py add, and show it with a test.",
        "check": "The tests pass.", "verify": "evaluator",
        "scope": { "paths": ["calc.py", "test_calc.py"] },
    });
    for (name, value) in over.as_object().unwrap() {
        step[name] = value.clone();
    }
    step
}

/// The change of `calc.py`.
pub(super) fn adds() -> (&'static str, Value) {
    (
        "edit",
        json!({ "path": "calc.py", "old": "a - b", "new": "a + b" }),
    )
}

/// A test of `add`.
pub(super) fn tests_add() -> (&'static str, Value) {
    let test = "    def test_add(self):\n        self.assertEqual(calc.add(2, 3), 5)\n\n    # more";
    (
        "edit",
        json!({ "path": "test_calc.py", "old": "    # more", "new": test }),
    )
}

/// Does what [`mend`] asks for; later attempts find it done.
pub(super) fn mends(asked: &Asked) -> Calls {
    match asked.attempt {
        1 => vec![adds(), tests_add(), end("mended")],
        _ => vec![("read", json!({ "path": "calc.py" })), end("looked again")],
    }
}

pub(super) fn end(answer: &str) -> (&'static str, Value) {
    ("finish", json!({ "answer": answer }))
}

/// Looks, then passes with these values.
pub(super) fn pass(asked: &Asked, outputs: Value) -> Calls {
    judge(
        asked,
        json!({
            "verdict": "pass", "evidence": ["calc.py was read; run_tests passes"], "outputs": outputs,
        }),
    )
}

/// Looks, then hands in this verdict.
pub(super) fn judge(asked: &Asked, verdict: Value) -> Calls {
    match asked.turn {
        0 => vec![
            ("read", json!({ "path": "calc.py" })),
            ("run_tests", json!({})),
        ],
        _ => vec![("verdict", verdict), end("judged")],
    }
}
