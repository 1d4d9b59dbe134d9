//! Runs as the engine drives them: rehearsed models, read-only tools, a journal on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use artel_engine::{
    CallLog, Furnish, ModelHandle, NullRunObserver, RunDriver, RunDriverOutcome, RunDriverSetup,
    RunJournal, RunToolEnvironment, ShutdownLevel, SteeringHub, TurnAllowance, kinds,
};
use artel_files::RootFolder;
use artel_journal::Journal;
use artel_model::{ChosenModel, Gateway, ModelCallContext, RehearsalModel};
use artel_policy::Policy;
use artel_rules::breaker::BreakerThresholds;
use artel_rules::turn::{AgentRun, AgentRunRules};
use artel_testkit::system_clock;
use artel_tools::{
    NoGuard, ToolCallRecorder, ToolContext, ToolRegistry, ToolRunner, ToolViewer, built_in,
};
use artel_types::model::{
    ModelAliasSettings, ModelCallAttribution, ModelCallPriority, PrivacyLabel, Provider,
};
use artel_types::{Actor, ConfiguredSpendLimits, Failure, RunId, SecretRedactor, TraceId};
use tokio::sync::watch;

use crate::book::JournalGatewayStore;

/// Number of turns that a run takes before its answer.
pub(crate) const TURNS: usize = 15;

/// Shared resources of many runs.
pub(crate) struct Crowd {
    journal: Journal,
    gateway: Gateway,
    wheel: SteeringHub,
    registry: ToolRegistry,
    files: PathBuf,
    stops: watch::Receiver<ShutdownLevel>,
    _stop: watch::Sender<ShutdownLevel>,
}

impl Crowd {
    /// Prepares this many concurrent runs, with files for them to read.
    pub(crate) fn new(journal: &Journal, files: &Path, runs: usize) -> Self {
        for number in 0..TURNS {
            let text = format!("file {number}\n").repeat(100);
            std::fs::write(files.join(format!("{number}.txt")), text).unwrap();
        }
        let gateway = Gateway::open(artel_model::GatewaySetup {
            book: Arc::new(JournalGatewayStore::new(journal.clone())),
            clock: system_clock(),
            redactor: SecretRedactor::none(),
            formats: None,
            limits: ConfiguredSpendLimits::default(),
            slots: runs,
            max_wait: Duration::from_secs(600),
            thresholds: BreakerThresholds::MODEL,
        })
        .unwrap();
        let (stop, stops) = watch::channel(ShutdownLevel::No);
        Self {
            journal: journal.clone(),
            gateway,
            wheel: SteeringHub::default(),
            registry: ToolRegistry::of(built_in()),
            files: files.to_owned(),
            stops,
            _stop: stop,
        }
    }

    /// Creates the driver of one run, whose model follows the script.
    pub(crate) fn driver(&self, number: usize, script: &str) -> RunDriver {
        let run = RunId::from_random((number as u128 + 1).to_le_bytes());
        let trace = TraceId::from_random((number as u128 + 1).to_le_bytes());
        let chronicle = RunJournal::new(
            self.journal.clone(),
            run,
            trace,
            None,
            Actor::agent("default"),
        );
        let log = Arc::new(CallLog::new(chronicle.clone()));
        let bench = ToolContext::new(
            RootFolder::open(&self.files).unwrap(),
            Arc::new(NoGuard),
            "default",
        );
        let hands = ToolRunner::new(
            self.registry.clone(),
            bench,
            Policy::default(),
            Arc::clone(&log) as Arc<dyn ToolCallRecorder>,
            SecretRedactor::none(),
            system_clock(),
        );
        let furnish: Arc<Furnish> = Arc::new(|_, _| {
            let what = "a run that only reads has no tree";
            Err(Failure::new(artel_types::FailureCode::X001, what))
        });
        let rules = AgentRunRules {
            turns: 100,
            retries: 3,
            tools: kinds(&self.registry),
            ..AgentRunRules::default()
        };
        let entry = ModelAliasSettings::named(Provider::Rehearsal, format!("run-{number}"));
        RunDriver::new(RunDriverSetup {
            turn: AgentRun::new(rules, "read the files"),
            voice: ModelHandle {
                gateway: self.gateway.clone(),
                model: Arc::new(RehearsalModel::load(script, "script").unwrap()),
                chosen: ChosenModel {
                    wanted: "default".into(),
                    resolved: "as named".into(),
                    entry,
                    card: Default::default(),
                },
                priority: ModelCallPriority::Execution,
                least_priority: ModelCallPriority::Background,
                privacy: PrivacyLabel::Any,
                account: ModelCallAttribution::default(),
                context: ModelCallContext {
                    above: Vec::new(),
                    step: None,
                    trace,
                    actor: Actor::agent("default"),
                    session: None,
                    run: Some(run),
                },
                temperature: None,
            },
            workplace: RunToolEnvironment::new(hands, None, furnish),
            log,
            viewer: ToolViewer::default(),
            system: "You read files.".to_owned(),
            window: 200_000,
            steering: self.wheel.steer(run, self.stops.clone()),
            audience: Arc::new(NullRunObserver),
            person: None,
            waits: false,
            family: TurnAllowance::default(),
            left: Arc::new(AtomicU32::new(0)),
            patience: None,
            all_tokens: None,
            is_root: true,
            clock: system_clock(),
            chronicle,
        })
    }
}

/// Drives a run and checks that it completes.
pub(crate) async fn complete(driver: RunDriver) {
    let ended = driver.drive().await.unwrap();
    let RunDriverOutcome::Over(finished) = ended else {
        panic!("left: {ended:?}");
    };
    assert_eq!(finished.state.as_deref(), Some("complete"), "{finished:?}");
}

/// Returns a script of turns that read a file each, and an answer. The model takes `pace`
/// for each part.
pub(crate) fn script(pace: Option<Duration>) -> String {
    let think = pace.map_or(String::new(), |pace| {
        format!("think: on, pace: {}ms, ", pace.as_millis())
    });
    let line =
        |number| format!("  - {{ {think}call: {{ read: {{ path: \"{number}.txt\" }} }} }}\n");
    let lines: String = (0..TURNS).map(line).collect();
    format!("lines:\n{lines}  - say: done\n")
}
