//! Where a plan is carried out: a real journal with a clock that stands still, one process after
//! another at the work, and people who record what they want from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use artel_engine::{
    ConductorOutcome, PlanConductor, RunJournal, RunJournalEntry, RunObserver, RunSuspendReason,
    ShutdownLevel, SteeringHub, SteeringInbox,
};
use artel_journal::{CommitDurability, EventFilter, Journal, LeaseError, LeaseFence, LeaseOwner};
use artel_rules::conduct::{PlanRun, PlanRunRules};
use artel_testkit::{ManualClock, Random, Scratch, random_trace};
use artel_tools::AskablePerson;
use artel_types::{
    Actor, ActorSurface, EventDraft, Fact, RunAnswered, RunAsked, RunContinued, RunId, RunStarted,
    RunSteered, StreamName, TraceId,
};
use tokio::sync::watch;

use crate::crew::{Fuse, Hands, World};

/// How long a process has a run to itself unless it says that it lives.
pub(crate) const LEASE: Duration = Duration::from_secs(30);

/// Where plans are carried out.
pub(crate) struct Stage {
    pub(crate) scratch: Scratch,
    pub(crate) clock: ManualClock,
}

/// One plan's run on that stage.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) run: RunId,
    pub(crate) trace: TraceId,
    pub(crate) world: Arc<World>,
    pub(crate) rules: PlanRunRules,
}

/// What one process meets with.
pub(crate) struct Manner {
    /// When it dies.
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) people: People,
    /// After how many moves of steps somebody elsewhere steers, and what they want.
    pub(crate) steers: Option<(u64, &'static str)>,
    /// What they want once it has come to rest because they paused it.
    pub(crate) rested: &'static str,
}

impl Manner {
    /// Somebody sits at the process, and nothing happens to it.
    pub(crate) fn peaceful() -> Self {
        Self {
            fuse: Fuse::of(0),
            people: People::Here,
            steers: None,
            rested: "resume",
        }
    }
}

/// Where the people are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    /// At the terminal of the process.
    Here,
    /// At another one, while the process works.
    Elsewhere,
    /// Nowhere: a question leaves the run.
    Away,
}

/// How a process ended.
pub(crate) enum Lived {
    Over(Box<PlanRun>),
    Left(Box<RunAsked>),
    /// It was killed: this is what it would still write with.
    Killed(RunJournal),
}

impl Stage {
    pub(crate) fn new() -> Self {
        let clock = ManualClock::at("2026-11-15T08:00:00Z");
        let mut scratch = Scratch::with_clock(clock.clock());
        // Processes are killed here, not machines.
        scratch.options.durability = CommitDurability::Normal;
        drop(scratch.create());
        Self { scratch, clock }
    }

    /// Lets a process carry a piece out until it ends, one way or another.
    pub(crate) fn live(&self, piece: &Piece, manner: &Manner) -> Lived {
        let journal = self.scratch.open();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        // Whatever is under way ends with the runtime.
        runtime.block_on(async {
            let fence = self.takes_over(&journal, piece).await;
            let chronicle = piece.chronicle(&journal, &fence);
            let conductor = piece.conductor(&chronicle, manner).await;
            let led = tokio::select! {
                biased;
                () = manner.fuse.is_out.notified() => return Lived::Killed(chronicle),
                led = sparking(conductor.conduct(), &manner.fuse) => led,
            };
            let Some(led) = led else {
                return Lived::Killed(chronicle);
            };
            journal.release_lease(&fence).await.unwrap();
            match led.unwrap() {
                ConductorOutcome::Over(conduct) => Lived::Over(conduct),
                ConductorOutcome::Left(RunSuspendReason::Question(asked)) => Lived::Left(asked),
                ConductorOutcome::Left(left) => panic!("nobody asked for it to be left: {left:?}"),
            }
        })
    }

    /// Takes the lease, where a dead process has it once that is gone.
    async fn takes_over(&self, journal: &Journal, piece: &Piece) -> LeaseFence {
        match piece.lease(journal).await {
            Ok(fence) => fence,
            Err(LeaseError::Held { .. }) => {
                self.clock.pass(LEASE);
                piece.lease(journal).await.unwrap()
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Lets the fuse burn whenever the future is looked at.
async fn sparking<T>(future: impl Future<Output = T>, fuse: &Fuse) -> Option<T> {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|context| {
        if fuse.spark() {
            return std::task::Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    })
    .await
}

impl Piece {
    pub(crate) fn new(
        stage: &Stage,
        script: crate::script::Script,
        seed: u64,
        rules: PlanRunRules,
    ) -> Self {
        let mut random = Random::of_seed(seed ^ (rules.at_once as u64).rotate_right(8));
        let run = RunId::from_random(random.bytes());
        let world = World::new(script, run, stage.scratch.path(), seed);
        let trace = random_trace(&mut random);
        Self {
            run,
            trace,
            world,
            rules,
        }
    }

    pub(crate) async fn lease(&self, journal: &Journal) -> Result<LeaseFence, LeaseError> {
        let name = StreamName::run(self.run).to_string();
        let owner = LeaseOwner::this_process("artel run");
        Ok(journal.take_lease(&name, owner, LEASE).await?.fence)
    }

    pub(crate) fn chronicle(&self, journal: &Journal, fence: &LeaseFence) -> RunJournal {
        let actor = Actor::system("plan");
        RunJournal::new(journal.clone(), self.run, self.trace, None, actor).fenced(fence.clone())
    }

    /// Returns something that a person records for the run, from any process.
    pub(crate) fn said(&self, fact: impl Into<Fact>) -> EventDraft {
        let person = Actor::human("ada@example.org", ActorSurface::Cli);
        EventDraft::new(StreamName::run(self.run), self.trace, person, fact).in_run(self.run)
    }

    pub(crate) fn steered(&self, act: &str) -> EventDraft {
        self.said(RunSteered {
            act: act.to_owned(),
            text: String::new(),
        })
    }

    pub(crate) fn answered(&self, asked: &RunAsked) -> EventDraft {
        self.said(RunAnswered {
            question: asked.question.clone(),
            answer: self.world.script.answer(&asked.text, &asked.choices),
        })
    }

    /// Folds what is on record and goes on from there.
    pub(crate) async fn conductor(
        &self,
        chronicle: &RunJournal,
        manner: &Manner,
    ) -> PlanConductor<Hands> {
        let journal = chronicle.journal().clone();
        let steering = self.steering(&journal);
        let fact: Fact = match chronicle.own_events().unwrap().last() {
            None => RunStarted::new(self.run, "a plan").into(),
            Some(last) => RunContinued {
                after: last.seq,
                settled: Vec::new(),
            }
            .into(),
        };
        chronicle
            .append(vec![RunJournalEntry::shown(fact)])
            .await
            .unwrap();
        let mut conduct = PlanRun::new(self.world.script.plan.clone(), self.rules);
        for event in chronicle.own_events().unwrap() {
            conduct.fold(&event.fact);
        }
        if manner.people == People::Elsewhere {
            self.answers_elsewhere(&journal, conduct.questions().cloned().collect());
        }
        PlanConductor {
            answers_as: Actor::human("ada", ActorSurface::Cli),
            chronicle: chronicle.clone(),
            conduct,
            crew: Arc::new(Hands {
                world: Arc::clone(&self.world),
                fuse: Arc::clone(&manner.fuse),
            }),
            steering,
            audience: Arc::new(Rested(self.clone(), journal.clone(), manner.rested)),
            person: match manner.people {
                People::Here => Some(Arc::new(Prompted(Arc::clone(&self.world)))),
                People::Elsewhere | People::Away => None,
            },
            told: self.told(journal, manner),
        }
    }

    fn steering(&self, journal: &Journal) -> SteeringInbox {
        let head = journal.reader().head().unwrap();
        let wheel = SteeringHub::listen(journal, head);
        wheel.follow(journal, self.run, head);
        // Nobody at the process itself wants it to stop.
        wheel.steer(self.run, watch::channel(ShutdownLevel::No).1)
    }

    /// Has a person at another terminal answer what is asked.
    fn answers_elsewhere(&self, journal: &Journal, open: Vec<RunAsked>) {
        let filter = EventFilter {
            run: Some(self.run.to_string()),
            kind: Some("run.asked".to_owned()),
            ..EventFilter::default()
        };
        let mut heard = journal.subscribe(filter, journal.reader().head().unwrap());
        for asked in &open {
            drop(journal.append(self.answered(asked)));
        }
        let (this, journal) = (self.clone(), journal.clone());
        tokio::spawn(async move {
            while let Ok(record) = heard.next().await {
                if let Fact::RunAsked(asked) = record.event().unwrap().fact {
                    journal.append(this.answered(&asked)).await.unwrap();
                }
            }
        });
    }

    /// Lets time go by with every move of a step: somebody steers, or the process dies.
    fn told(&self, journal: Journal, manner: &Manner) -> Arc<artel_engine::Told> {
        let (this, steers) = (self.clone(), manner.steers);
        let (fuse, moves) = (Arc::clone(&manner.fuse), AtomicU64::new(0));
        Arc::new(move |_| {
            let moves = moves.fetch_add(1, Ordering::SeqCst);
            if let Some((_, act)) = steers.filter(|(at, _)| *at == moves) {
                drop(journal.append(this.steered(act)));
            }
            fuse.spark();
        })
    }
}

/// A person at the terminal.
struct Prompted(Arc<World>);

impl AskablePerson for Prompted {
    fn answer(&self, question: &str, choices: &[String]) -> Option<String> {
        Some(self.0.script.answer(question, choices))
    }
}

/// Somebody elsewhere who says what becomes of a run that has come to rest.
struct Rested(Piece, Journal, &'static str);

impl RunObserver for Rested {
    fn words(&self, _: &str) {}
    fn begins(&self) {}
    fn output(&self, _: &str) {}
    fn waits(&self, _: &str) {
        drop(self.1.append(self.0.steered(self.2)));
    }
    fn notice(&self, _: &str) {}
}
