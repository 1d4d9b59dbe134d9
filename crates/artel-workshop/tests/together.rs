//! Two at one thing: the first one counts, and the other is told so.
#![expect(clippy::unwrap_used, reason = "a step that fails, fails the test")]

use std::path::Path;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use artel_config::ProcessEnvironment;
use artel_journal::{EventFilter, EventQuery, LeaseOwner};
use artel_testkit::plan_of_one_step;
use artel_types::{
    Actor, ActorSurface, EventDraft, Fact, Failure, FailureCode, PlanDrafted, RunAsked, RunId,
    RunStarted, StreamName, TraceId,
};
use artel_workshop::{
    CommandContext, GlobalFlags, NewPortal, OpenWorkshopJournal, RunStatus, SteeringCommand,
    SteeringDelivery, Work, Workshop, WorkshopInitMode,
};

/// How many do the same at once.
const MANY: usize = 4;

struct Place {
    workshop: Arc<Workshop>,
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let workshop = Arc::new(open(home.path()));
        Self { workshop, home }
    }

    /// Lets many do something in the same moment, and returns what came of it.
    fn together<T: Send>(&self, act: impl Fn(usize, &Workshop) -> T + Sync) -> Vec<T> {
        let barrier = Barrier::new(MANY);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..MANY)
                .map(|who| {
                    let (barrier, act) = (&barrier, &act);
                    // Each as a process of its own would: with a look of its own.
                    let workshop = open_again(self.home.path());
                    scope.spawn(move || {
                        barrier.wait();
                        act(who, &workshop)
                    })
                })
                .collect();
            let done = threads.into_iter().map(|thread| thread.join().unwrap());
            done.collect()
        })
    }

    fn append(
        &self,
        stream: StreamName,
        (trace, run): (TraceId, Option<RunId>),
        fact: impl Into<Fact>,
    ) {
        let OpenWorkshopJournal { journal, .. } = self.workshop.open().unwrap();
        let mut draft = EventDraft::new(stream, trace, Actor::agent("architect"), fact);
        draft.run = run;
        journal.append(draft).wait().unwrap();
    }

    fn count(&self, kind: &str) -> usize {
        let filter = EventFilter {
            kind: Some(kind.to_owned()),
            ..EventFilter::default()
        };
        let records = self
            .workshop
            .reader()
            .unwrap()
            .records(&EventQuery::of(filter));
        records.unwrap().len()
    }
}

fn open(home: &Path) -> Workshop {
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    caller
        .init(Some(&home.join("Artel")), WorkshopInitMode::Complete)
        .unwrap();
    open_again(home)
}

fn open_again(home: &Path) -> Workshop {
    let flags = GlobalFlags {
        workshop: Some(home.join("Artel").canonicalize().unwrap()),
        ..GlobalFlags::default()
    };
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(environment, clock, flags, ActorSurface::Cli).unwrap();
    caller.workshop().unwrap()
}

#[test]
fn of_several_who_rewrite_a_role_at_once_one_does_and_the_others_read_it_again() {
    let place = Place::new();
    for round in 0..6 {
        let seen = place.workshop.caller().agent_text("engineer").unwrap();
        let text = |who: usize| format!("{}\nMind rule {round}.{who}.\n", seen.text.trim_end());
        let done = place.together(|who, workshop| {
            let done = workshop.rewrite_agent("engineer", &text(who), &seen.hash);
            done.map(|_| who).map_err(|problems| problems.first())
        });
        let written: Vec<usize> = done.iter().flatten().copied().collect();
        let [first] = written[..] else {
            panic!("{done:?}");
        };
        let refused = |it: &Failure| it.code == FailureCode::R008;
        assert!(done.iter().filter_map(|it| it.as_ref().err()).all(refused));
        let now = place.workshop.caller().agent_text("engineer").unwrap();
        assert_eq!(now.text, text(first), "what was said to be done is there");
        assert_eq!(place.count("agent.changed"), round + 1);
    }
}

#[test]
fn of_several_answers_to_a_run_the_first_counts_and_the_others_are_told() {
    let place = Place::new();
    for round in 0..6_u8 {
        let run = RunId::from_random([round + 1; 16]);
        let trace = TraceId::from_random([round + 1; 16]);
        let stream = || StreamName::run(run);
        let in_run = (trace, Some(run));
        place.append(stream(), in_run, RunStarted::new(run, "a run"));
        let asked = RunAsked {
            question: "which".to_owned(),
            text: "Which?".to_owned(),
            choices: Vec::new(),
            call: None,
            suggested: None,
        };
        place.append(stream(), in_run, asked);
        let done = place.together(|who, workshop| workshop.answer_run(run, &format!("by {who}")));
        let counts = done.iter().filter(|it| it.is_ok()).count();
        assert_eq!(counts, 1, "{done:?}");
        let refused = done.iter().filter_map(|it| it.as_ref().err());
        assert!(refused.into_iter().all(|it| it.code == FailureCode::R008));
        assert_eq!(place.count("run.answered"), usize::from(round) + 1);
    }
}

/// An approved plan with an agent at its one step; nobody drives either of them.
async fn at_a_step(place: &Place) -> (Work, RunId) {
    let workshop = &place.workshop;
    let project = place.home.path().join("shop");
    std::fs::create_dir(&project).unwrap();
    let portal = NewPortal {
        path: project,
        ..NewPortal::default()
    };
    workshop.open_portal(&portal).unwrap();
    let file = workshop.root().join("Inbox/Requests/idea.md");
    std::fs::write(&file, "Add rounding to the prices.\n").unwrap();
    let trace = workshop.take_files(&[file]).await.unwrap().due[0];
    let json = serde_json::to_string(&plan_of_one_step()).unwrap();
    let drafted = PlanDrafted {
        version: 1,
        hash: blake3::hash(json.as_bytes()).to_hex().to_string(),
        plan: json.as_str().into(),
        title: "Round the prices".to_owned(),
        file: format!("Inbox/Plans/request-{}_plan.md", trace.short()),
        run: None,
    };
    place.append(StreamName::work(trace), (trace, None), drafted);
    let (work, run) = workshop
        .approve_plan(&trace.to_string(), None, None)
        .unwrap();
    let agent = RunId::from_random([9; 16]);
    let of_step = RunStarted {
        parent: Some(run),
        step: Some("round".to_owned()),
        ..RunStarted::new(agent, "step 1, work")
    };
    place.append(
        StreamName::run(run),
        (trace, Some(run)),
        RunStarted::new(run, "a plan"),
    );
    place.append(StreamName::run(agent), (trace, Some(agent)), of_step);
    (work, agent)
}

/// Whoever takes a run up finds on record that its step was ended.
#[tokio::test]
async fn a_step_is_ended_though_another_process_takes_its_agent_up_in_that_moment() {
    let place = Place::new();
    let workshop = &place.workshop;
    let (work, agent) = at_a_step(&place).await;
    let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
    let name = StreamName::run(agent).to_string();
    let (owner, long) = (
        LeaseOwner::this_process("artel run"),
        Duration::from_secs(600),
    );
    let lease = journal.take_lease(&name, owner, long).await.unwrap();
    let steered = workshop
        .steer_step(&work, "1", &SteeringCommand::Cancel, None)
        .await;
    let done = steered.unwrap().done;
    assert_eq!(done.title, "Round");
    assert_eq!(done.arrived, SteeringDelivery::Kept);
    assert_eq!(place.count("step.settled"), 1);
    assert_eq!(place.count("run.steered"), 1, "the agent hears of it");
    assert_eq!(place.count("run.finished"), 0, "whoever has it ends it");
    journal.release_lease(&lease.fence).await.unwrap();
}

#[tokio::test]
async fn the_agent_of_a_held_step_goes_on_with_its_step_alone() {
    let place = Place::new();
    let workshop = &place.workshop;
    let (work, agent) = at_a_step(&place).await;
    let steer = async |steer: SteeringCommand| workshop.steer_step(&work, "1", &steer, None).await;
    steer(SteeringCommand::Pause).await.unwrap();
    let alone = workshop
        .steer_run(agent, &SteeringCommand::Resume)
        .await
        .unwrap_err();
    assert_eq!(alone.code, FailureCode::R008, "{alone:?}");
    let way = format!("`artel plan resume {} 1`", work.trace.short());
    assert_eq!(alone.advice, Some(way));
    // The run as a whole stops and goes on beside it.
    workshop.rest_work(work.trace).await.unwrap();
    workshop.wake_work(work.trace).await.unwrap();
    let (standing, _) = workshop.standing_of(agent).unwrap();
    assert_eq!(standing, RunStatus::Paused);
    steer(SteeringCommand::Resume).await.unwrap();
    let (standing, _) = workshop.standing_of(agent).unwrap();
    assert_eq!(standing, RunStatus::Left);
}
