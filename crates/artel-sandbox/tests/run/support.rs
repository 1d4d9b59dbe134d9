//! A sandbox, a folder to work in, and something that notices survivors.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use artel_rules::{excerpt, patience};
use artel_sandbox::run::{
    CancelToken, CommandWatchOptions, FinishedCommand, LiveCommandEvent, OutputSpoolOptions,
};
use artel_sandbox::{
    DefaultViewSources, FIRST_ARGUMENT, RequiredSandboxLevel, Sandbox, SandboxCommandSpec,
    SandboxLimits, SandboxNetwork, SandboxStarterProgram, SandboxStdin, SandboxView,
};
use artel_types::{Clock, SecretRedactor, Timestamp};
use rustix::time::{ClockId, clock_gettime};
use tempfile::TempDir;

/// Tells whether the long form was asked for (`cargo xtask prove`).
pub(crate) fn is_long() -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "the scale of a proof is given from outside"
    )]
    let proof = std::env::var_os("ARTEL_PROOF");
    proof.is_some_and(|word| word == "long")
}

/// Prints a figure that `cargo xtask prove` collects.
pub(crate) fn figure(text: &str) {
    #[expect(clippy::print_stdout, reason = "figures are the report of a proof")]
    {
        println!("figure: {text}");
    }
}

/// Returns the sandbox of this machine; trying it out once is enough.
pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        Sandbox::new(SandboxStarterProgram {
            program: env!("CARGO_BIN_EXE_sandbox-probe").into(),
            first_argument: FIRST_ARGUMENT.into(),
        })
        .unwrap()
    })
}

/// One command to be watched.
pub(crate) struct Trial {
    pub(crate) folder: TempDir,
    pub(crate) cancel: CancelToken,
    pub(crate) patience: patience::CommandTimeLimits,
    pub(crate) graces: patience::CommandGracePeriods,
    pub(crate) stdin: SandboxStdin,
    pub(crate) clock: Clock,
}

impl Trial {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        std::fs::create_dir(folder.path().join("spool")).unwrap();
        Self {
            folder,
            cancel: CancelToken::new().unwrap(),
            patience: patience::CommandTimeLimits::COMMAND,
            graces: patience::CommandGracePeriods {
                interrupt: Duration::from_millis(200),
                terminate: Duration::from_millis(200),
            },
            stdin: SandboxStdin::Empty,
            clock: monotonic(),
        }
    }

    pub(crate) fn with_time(millis: u64) -> Self {
        Self {
            patience: patience::CommandTimeLimits::exactly(Duration::from_millis(millis)),
            ..Self::new()
        }
    }

    /// Returns where the command works and may write.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn run(&self, script: &str) -> FinishedCommand {
        self.run_live(script, &mut |_| {})
    }

    /// Runs a command whose time begins with its first output: a busy machine may take long to get
    /// that far.
    pub(crate) fn run_timed(mut self, script: &str) -> (Self, FinishedCommand) {
        let real = monotonic();
        let begun: Arc<Mutex<Option<Duration>>> = Arc::default();
        let (reading, begins) = (real.clone(), Arc::clone(&begun));
        self.clock = Clock::new(
            || Timestamp::from_micros(0),
            move || {
                let begun = *begun.lock().unwrap();
                begun.map_or(Duration::ZERO, |begun| reading.uptime() - begun)
            },
        );
        let finished = self.run_live(script, &mut |_| {
            begins.lock().unwrap().get_or_insert(real.uptime());
        });
        (self, finished)
    }

    pub(crate) fn run_live(
        &self,
        script: &str,
        live: &mut dyn FnMut(LiveCommandEvent<'_>),
    ) -> FinishedCommand {
        let job = self.job(&["/bin/sh", "-c", script]);
        self.run_job(&job, live)
    }

    pub(crate) fn run_job(
        &self,
        job: &SandboxCommandSpec,
        live: &mut dyn FnMut(LiveCommandEvent<'_>),
    ) -> FinishedCommand {
        let watch = CommandWatchOptions {
            live,
            clock: self.clock.clone(),
            patience: self.patience,
            graces: self.graces,
            cancel: self.cancel.clone(),
            redactor: SecretRedactor::none(),
            spool: OutputSpoolOptions::new(self.folder.path().join("spool")),
            excerpt: excerpt::OutputExcerptLimits::default(),
        };
        let demand = RequiredSandboxLevel(sandbox().engaged().level);
        sandbox().run(job, demand, watch, drop).unwrap()
    }

    pub(crate) fn job(&self, argv: &[&str]) -> SandboxCommandSpec {
        SandboxCommandSpec {
            argv: argv.iter().map(Into::into).collect(),
            cwd: self.work(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            view: SandboxView {
                write: vec![self.work()],
                ..view().clone()
            },
            network: SandboxNetwork::None,
            limits: SandboxLimits::default(),
            stdin: self.stdin.clone(),
        }
    }
}

/// Reads to its end once the last process that has it open for writing is gone.
pub(crate) struct Witness(File);

impl Witness {
    /// Makes `witness` in the command's folder; commands open it for writing.
    pub(crate) fn new(trial: &Trial) -> Self {
        let path = trial.work().join("witness");
        fifo(&path);
        // Opened for both, it does not wait for a writer; then the writing side is let go.
        let both = File::options().read(true).write(true).open(&path).unwrap();
        let reader = File::open(&path).unwrap();
        drop(both);
        Self(reader)
    }

    /// Fails at the time limit of the test run if a process survived.
    pub(crate) fn assert_all_gone(mut self) {
        let mut said = Vec::new();
        self.0.read_to_end(&mut said).unwrap();
        assert!(!said.is_empty(), "nobody ever had it open");
    }
}

/// Makes a named pipe.
pub(crate) fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

fn view() -> &'static SandboxView {
    static VIEW: OnceLock<SandboxView> = OnceLock::new();
    VIEW.get_or_init(|| SandboxView::standard(&DefaultViewSources::default()))
}

fn monotonic() -> Clock {
    Clock::new(
        || Timestamp::from_micros(0),
        || Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap(),
    )
}
