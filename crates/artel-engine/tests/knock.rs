//! Questions whether a call may be carried out, on a real journal: what becomes of them when their
//! run is cancelled or paused, when nobody answers, and when asking comes to grief.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::sync::Arc;
use std::time::Duration;

use artel_engine::{
    CallLog, NullRunObserver, RecordingApprover, RemoteApprover, RunJournal, ShutdownLevel,
    answer_first,
};
use artel_journal::{EventFilter, EventQuery, Journal};
use artel_policy::{ConsentRecord, PolicyAnswer, PolicyRuling};
use artel_testkit::{Random, Scratch, random_trace};
use artel_tools::{
    AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolCallApprover,
};
use artel_types::{
    Actor, ActorSurface, Event, EventDraft, Fact, RunAnswered, RunId, RunSteered, SecretRedactor,
    StreamName, ToolAnswered, TraceId,
};
use tokio::sync::watch;

/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(60);

/// A run that wants to carry out a call.
struct Scene {
    _scratch: Scratch,
    journal: Journal,
    run: RunId,
    trace: TraceId,
    /// Who drives the run may want to stop.
    stop: watch::Sender<ShutdownLevel>,
    question: ToolApprovalQuestion,
}

impl Scene {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new();
        let mut random = Random::for_test(name);
        Self {
            journal: scratch.create(),
            _scratch: scratch,
            run: RunId::from_random(random.bytes()),
            trace: random_trace(&mut random),
            stop: watch::channel(ShutdownLevel::No).0,
            question: ToolApprovalQuestion {
                call: "1.1".to_owned(),
                tool: "bash".to_owned(),
                decision: PolicyRuling::new(PolicyAnswer::Ask, "default.ask", "it is asked"),
                record: ConsentRecord::default(),
                offers: Vec::new(),
                exactly: None,
            },
        }
    }

    fn knock(&self, inner: impl ToolCallApprover + 'static) -> RecordingApprover {
        let actor = Actor::system("run");
        let chronicle = RunJournal::new(self.journal.clone(), self.run, self.trace, None, actor);
        RecordingApprover {
            inner: Arc::new(inner),
            log: Arc::new(CallLog::new(chronicle)),
            redactor: SecretRedactor::none(),
            stop: self.stop.subscribe(),
            audience: Arc::new(NullRunObserver),
        }
    }

    /// Asks whoever is elsewhere, lets things happen once the question is put, and returns what
    /// comes of it.
    fn asked(&self, happens: impl FnOnce(u64)) -> Option<AttributedToolApproval> {
        // Whoever asks does not look whether the process stops: what is seen is the knock's doing.
        let (_never, stop) = watch::channel(ShutdownLevel::No);
        let knock = self.knock(RemoteApprover::new(stop));
        std::thread::scope(|scope| {
            let asking = scope.spawn(|| knock.approve(&self.question));
            let filter = EventFilter {
                kind: Some("tool.asked".to_owned()),
                ..EventFilter::default()
            };
            let asked = self.journal.subscribe(filter, 0).wait(LONG).unwrap();
            happens(asked.unwrap().seq);
            asking.join().unwrap()
        })
    }

    fn steer(&self, act: &str) {
        let fact = RunSteered {
            act: act.to_owned(),
            text: String::new(),
        };
        self.journal.append(self.draft(fact)).wait().unwrap();
    }

    /// Says yes from another process; returns who was first, if somebody was.
    fn yes(&self, asked: u64) -> Option<Event> {
        let (fact, outcome) =
            AttributedToolApproval::from(ToolApprovalAnswer::once()).fact(&self.question);
        let mut draft = self.draft(fact);
        draft.outcome = Some(outcome);
        answer_first(&self.journal, self.run, asked, draft).unwrap()
    }

    fn draft(&self, fact: impl Into<Fact>) -> EventDraft {
        let person = Actor::human("ada@example.org", ActorSurface::Cli);
        EventDraft::new(StreamName::run(self.run), self.trace, person, fact).in_run(self.run)
    }

    fn answers(&self) -> Vec<ToolAnswered> {
        let filter = EventFilter {
            kind: Some("tool.answered".to_owned()),
            ..EventFilter::default()
        };
        let records = self
            .journal
            .reader()
            .records(&EventQuery::of(filter))
            .unwrap();
        let answers = records.iter().map(|record| record.event().unwrap().fact);
        let answers = answers.filter_map(|fact| match fact {
            Fact::ToolAnswered(answered) => Some(answered),
            _ => None,
        });
        answers.collect()
    }
}

fn is_left(said: Option<&AttributedToolApproval>) -> bool {
    said.is_some_and(|said| matches!(said.reply, ToolApprovalAnswer::Left))
}

fn is_yes(said: Option<&AttributedToolApproval>) -> bool {
    said.is_some_and(|said| matches!(said.reply, ToolApprovalAnswer::Yes { .. }))
}

#[test]
fn the_first_answer_to_a_question_counts_and_a_new_question_is_another() {
    let scene = Scene::new("answered twice");
    let answer = |asked: u64, question: &str| {
        let fact = RunAnswered {
            question: question.to_owned(),
            answer: "more".to_owned(),
        };
        let draft = scene.draft(fact);
        answer_first(&scene.journal, scene.run, asked, draft).unwrap()
    };
    assert!(answer(0, "mend/3/0").is_none());
    let first = answer(0, "mend/3/0").unwrap();
    assert_eq!(first.actor.id, "ada@example.org");
    assert!(answer(0, "mend/3/1").is_none());
    assert!(answer(first.seq, "mend/3/0").is_none(), "it was asked anew");
}

#[test]
fn a_question_is_left_when_its_run_is_cancelled() {
    let scene = Scene::new("cancelled");
    let said = scene.asked(|_| scene.steer("cancel"));
    assert!(is_left(said.as_ref()), "{said:?}");
    assert!(scene.answers().is_empty(), "nobody answered it");
    // What was cancelled before the driver heard of it is not waited for, either.
    let said = scene.asked(|_| {});
    assert!(is_left(said.as_ref()), "{said:?}");
}

#[test]
fn a_yes_to_a_paused_run_counts_once_that_goes_on() {
    let scene = Scene::new("resumed");
    let said = scene.asked(|asked| {
        scene.steer("pause");
        assert!(scene.yes(asked).is_none());
        scene.steer("resume");
    });
    assert!(is_yes(said.as_ref()), "{said:?}");
}

#[test]
fn a_yes_to_a_paused_run_begins_nothing_where_that_is_left() {
    let scene = Scene::new("left");
    let said = scene.asked(|asked| {
        scene.steer("pause");
        assert!(scene.yes(asked).is_none());
        scene.stop.send_replace(ShutdownLevel::Politely);
    });
    assert!(is_left(said.as_ref()), "{said:?}");
}

/// There is nobody.
struct Empty;

impl ToolCallApprover for Empty {
    fn approve(&self, _: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        None
    }
}

#[test]
fn where_nobody_answers_that_is_the_first_answer() {
    let scene = Scene::new("nobody");
    let said = scene.knock(Empty).approve(&scene.question).unwrap();
    assert!(matches!(said.reply, ToolApprovalAnswer::Nobody), "{said:?}");
    assert!(said.is_recorded, "the call is not answered twice");
    assert!(scene.yes(0).is_some(), "a yes comes too late, and is told");
    let answers = scene.answers();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].answer, "nobody");
}

/// Comes to grief when asked.
struct Broken;

impl ToolCallApprover for Broken {
    fn approve(&self, _: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        panic!("the terminal is gone")
    }
}

#[test]
fn asking_that_comes_to_grief_ends() {
    let scene = Scene::new("broken");
    let knock = scene.knock(Broken);
    let asked = std::thread::scope(|scope| {
        let asking = scope.spawn(|| knock.approve(&scene.question));
        asking.join()
    });
    assert!(asked.is_err());
}
