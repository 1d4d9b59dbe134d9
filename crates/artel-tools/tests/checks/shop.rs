//! A tree with a real sandbox around it, and the programs that tests find on the machine.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::{TargetTree, redact};
use artel_rules::patience::CommandGracePeriods;
use artel_sandbox::proxy::{ProxyAccess, ProxyOptions};
use artel_sandbox::run::{CancelToken, LiveCommandEvent};
use artel_sandbox::slots::CommandConcurrencyPool;
use artel_sandbox::{
    DefaultViewSources, RequiredSandboxLevel, Sandbox, SandboxLevel, SandboxLimits,
    SandboxStarterProgram, SandboxView,
};
use artel_tools::{
    PlaceGuardProvider, ProcessStartReason, Tool, ToolContext, ToolProcessObserver, ToolSandbox,
    ToolSecretLookup, built_in,
};
use artel_types::{Clock, Secret, Timestamp};

/// A tree with a sandbox around it.
pub(crate) struct Shop {
    _dir: tempfile::TempDir,
    pub(crate) spool: PathBuf,
    pub(crate) bench: ToolContext,
}

struct Anything;

impl PlaceGuardProvider for Anything {
    fn in_place(&self, _: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(|_: &Path, _: FileAccessKind| Ok::<(), FileAccessRefusal>(()))
    }
}

struct Nobody;

impl ToolSecretLookup for Nobody {
    fn secret(&self, _: &str) -> Option<Secret> {
        None
    }
}

impl ToolProcessObserver for Nobody {
    fn output(&self, _: &LiveCommandEvent<'_>) {}
    fn passage(&self, _: &ProxyAccess) {}
    fn waiting(&self, _: &str) {}
}

impl Shop {
    /// Makes a tree; nothing where the machine has no walls or no Python to run behind them.
    pub(crate) fn new(files: &[(&str, &str)]) -> Option<Self> {
        Self::with(files, |_| {})
    }

    pub(crate) fn with(
        files: &[(&str, &str)],
        change: impl FnOnce(&mut ToolSandbox),
    ) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let (tree, spool) = (dir.path().join("tree"), dir.path().join("spool"));
        fs::create_dir_all(&tree).unwrap();
        fs::create_dir_all(&spool).unwrap();
        for (path, content) in files {
            let path = tree.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
        let level = sandbox.engaged().level;
        if level == SandboxLevel::None || !Path::new("/usr/bin/python3").exists() {
            println!("not run: the sandbox has level {level}, or there is no /usr/bin/python3");
            return None;
        }
        let root = RootFolder::open(&tree).unwrap();
        let toolchain = toolchain();
        let rust = toolchain.iter().map(|folder| folder.join("bin"));
        let path: Vec<_> = rust.chain(["/usr/bin".into(), "/bin".into()]).collect();
        let mut view = SandboxView::standard(&DefaultViewSources {
            home: None,
            path: path.clone(),
            read: toolchain.into_iter().collect(),
            ..DefaultViewSources::default()
        });
        view.write.push(root.path().to_owned());
        let mut bench = ToolContext::new(root, Arc::new(Anything), "tester");
        let mut room = ToolSandbox {
            sandbox,
            demand: RequiredSandboxLevel(level),
            view,
            path_walls: Vec::new(),
            environment: vec![
                ("PATH".into(), std::env::join_paths(path).unwrap()),
                ("HOME".into(), "/tmp".into()),
            ],
            limits: SandboxLimits::default(),
            spool: spool.clone(),
            clock: clock(),
            graces: CommandGracePeriods::default(),
            known: Vec::new(),
            formats: redact::formats_with_fields(Vec::<String>::new()),
            reach: ProxyOptions::default(),
            keys: Arc::new(Nobody),
            audience: Arc::new(Nobody),
            slots: CommandConcurrencyPool::of_cores(dir.path().join("slots"), NonZeroUsize::MIN)
                .unwrap(),
            started_for: ProcessStartReason::TypedCommand,
            cancel: CancelToken::new().unwrap(),
            count: AtomicU64::new(1),
        };
        change(&mut room);
        bench.workroom = Some(Arc::new(room));
        Some(Self {
            _dir: dir,
            spool,
            bench,
        })
    }
}

fn clock() -> Clock {
    let start = Instant::now();
    Clock::new(|| Timestamp::from_micros(0), move || start.elapsed())
}

/// Tells whether a program is there, and says so where it is not.
pub(crate) fn has(program: &str) -> bool {
    let mut folders = vec!["/usr/bin".into()];
    folders.extend(toolchain().map(|folder| folder.join("bin")));
    let is_there = folders
        .iter()
        .any(|folder: &PathBuf| folder.join(program).exists());
    if !is_there {
        println!("not run: there is no {program}");
    }
    is_there
}

/// Returns the folder of the Rust that builds this test, if Cargo runs it.
fn toolchain() -> Option<PathBuf> {
    let cargo = PathBuf::from(std::env::var_os("CARGO")?)
        .canonicalize()
        .ok()?;
    Some(cargo.parent()?.parent()?.to_owned())
}

pub(crate) fn tool(name: &str) -> Arc<dyn Tool> {
    built_in()
        .into_iter()
        .find(|tool| tool.card().name == name)
        .unwrap()
}
