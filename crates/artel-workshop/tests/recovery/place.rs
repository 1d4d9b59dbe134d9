//! A workshop whose model is on the wire, and one run after the other in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_config::ProcessEnvironment;
use artel_sandbox::{Sandbox, SandboxLevel, SandboxStarterProgram};
use artel_testkit::standin::StandIn;
use artel_tools::HintVisibility;
use artel_types::{ActorSurface, Event};
use artel_workshop::{
    CommandContext, GlobalFlags, NullRunObserver, RunDriveOutcome, RunObservers, RunStartOptions,
    ShutdownLevel, TrustApprover, TrustQuestion, Workshop, WorkshopInitMode,
};
use tokio::sync::watch;

/// A home folder with a workshop in it.
pub(crate) struct Place {
    home: tempfile::TempDir,
    workshop: Arc<Workshop>,
    runtime: tokio::runtime::Runtime,
}

/// Tells whether this machine has the walls and the programs that scenarios need.
pub(crate) fn is_possible() -> bool {
    let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
    let level = sandbox.engaged().level;
    let path = std::env::var_os("PATH").unwrap();
    let is_there = |name: &&str| std::env::split_paths(&path).any(|it| it.join(name).exists());
    let has_programs = ["python3", "git"].iter().all(is_there);
    if level < SandboxLevel::Full || !has_programs {
        println!("not run: the sandbox has level {level}, or there is no python3 or git");
        return false;
    }
    true
}

/// Whatever is used here was written for it.
struct AllTrusted;

impl TrustApprover for AllTrusted {
    fn ask(&self, _: &TrustQuestion) -> Option<bool> {
        Some(true)
    }
}

impl Place {
    pub(crate) fn new(model: &StandIn) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let variables = [
            ("HOME", home.path().as_os_str().to_owned()),
            ("PATH", path),
            ("ANTHROPIC_API_KEY", "follower".into()),
        ];
        let environment = ProcessEnvironment::of(variables, home.path());
        let clock = artel_config::system_clock();
        let caller = CommandContext::new(
            environment,
            clock,
            GlobalFlags::default(),
            ActorSurface::Cli,
        )
        .unwrap();
        let root = home.path().join("Artel");
        caller
            .init(Some(&root), WorkshopInitMode::Complete)
            .unwrap();
        let settings = format!(
            "[models.default]\nprovider = \"anthropic\"\nmodel = \"follower\"\nbase_url = \"{}\"\n",
            model.url()
        );
        std::fs::write(root.join("artel.toml"), settings).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        Self {
            workshop: Arc::new(caller.workshop().unwrap()),
            home,
            runtime,
        }
    }

    /// Returns a new folder to work on.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.home.path().join("work").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Carries out a run.
    pub(crate) fn run(
        &self,
        skill: Option<&str>,
        task: &str,
        folder: &Path,
        hints: HintVisibility,
    ) -> RunDriveOutcome {
        let (_stop, stops) = watch::channel(ShutdownLevel::No);
        let company = RunObservers {
            audience: Arc::new(NullRunObserver),
            approver: None,
            person: None,
            trust: Arc::new(AllTrusted),
            stop: stops,
            hints,
        };
        let order = RunStartOptions {
            skill: skill.map(str::to_owned),
            arguments: vec![task.to_owned()],
            folder: Some(folder.to_owned()),
            max_turns: Some(30),
            ..RunStartOptions::default()
        };
        let run = self.workshop.start_run(&order, company);
        self.runtime.block_on(run).unwrap()
    }

    /// Returns what the journal has of a run, in order.
    pub(crate) fn events(&self, done: &RunDriveOutcome) -> Vec<Event> {
        let filter = artel_journal::EventFilter {
            run: Some(done.run.to_string()),
            ..artel_journal::EventFilter::default()
        };
        let reader = self.workshop.reader().unwrap();
        let query = artel_journal::EventQuery::of(filter);
        let records = reader.records(&query).unwrap();
        records
            .iter()
            .map(|record| record.event().unwrap())
            .collect()
    }

    /// Returns where the files of a run are.
    pub(crate) fn tree(&self, done: &RunDriveOutcome) -> PathBuf {
        let trees = self.workshop.root().join(".artel/worktrees");
        trees.join(done.run.to_string()).join("tree")
    }
}
