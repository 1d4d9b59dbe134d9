//! A tree with a real sandbox around it, a journal in memory, and hooks that run there.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use artel_engine::hooks::{
    CombinedHookAnswer, Hook, HookEnvironment, HookEvent, HookMatcher, HookReport, HookSession,
    HookSource, HookToolCall, RunHooks, strangers,
};
use artel_policy::redact;
use artel_rules::patience::CommandGracePeriods;
use artel_sandbox::proxy::{ProxyAccess, ProxyOptions};
use artel_sandbox::run::{CancelToken, LiveCommandEvent};
use artel_sandbox::slots::CommandConcurrencyPool;
use artel_sandbox::{
    DefaultViewSources, RequiredSandboxLevel, Sandbox, SandboxLevel, SandboxLimits,
    SandboxStarterProgram, SandboxView,
};
use artel_tools::{
    ContentMarks, ProcessStartReason, ToolProcessObserver, ToolSandbox, ToolSecretLookup,
};
use artel_types::{Clock, EventOutcome, Failure, ForeignSource, HookRan, Secret, Timestamp};
use serde_json::Value;

/// What was written down.
pub(crate) type Ran = Arc<Mutex<Vec<(HookRan, EventOutcome)>>>;

pub(crate) struct Place {
    dir: tempfile::TempDir,
    pub(crate) tree: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) ran: Ran,
    /// What hooks brought from other machines.
    foreign: Arc<Mutex<Vec<ForeignSource>>>,
    room: Arc<ToolSandbox>,
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

impl Place {
    /// Makes a place; nothing where the machine has no walls.
    pub(crate) fn new() -> Option<Self> {
        let sandbox = Sandbox::new(SandboxStarterProgram::of_this_program().unwrap()).unwrap();
        let level = sandbox.engaged().level;
        if level == SandboxLevel::None {
            println!("not run: no sandbox stands on this machine");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let [tree, home, spool] = ["tree", "home", "spool"].map(|name| {
            let folder = dir.path().canonicalize().unwrap().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        });
        let path = vec![PathBuf::from("/usr/bin"), "/bin".into()];
        let mut view = SandboxView::standard(&DefaultViewSources {
            home: None,
            path: path.clone(),
            ..DefaultViewSources::default()
        });
        // As the room of a run: what hooks may not write is theirs to take away.
        view.write.push(tree.clone());
        let room = ToolSandbox {
            sandbox,
            demand: RequiredSandboxLevel(level),
            view,
            path_walls: Vec::new(),
            environment: vec![
                ("PATH".into(), std::env::join_paths(path).unwrap()),
                ("HOME".into(), home.clone().into()),
            ],
            limits: SandboxLimits::default(),
            spool,
            clock: clock(),
            graces: CommandGracePeriods {
                interrupt: Duration::from_millis(20),
                terminate: Duration::from_millis(20),
            },
            known: vec![Secret::new("very-known-value-1")],
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
        Some(Self {
            dir,
            tree,
            home,
            ran: Ran::default(),
            foreign: Arc::default(),
            room: Arc::new(room),
        })
    }

    pub(crate) fn outside(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        let path = self.tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes hooks that a person trusted as they are.
    pub(crate) fn hooks(&self, hooks: Vec<Hook>) -> RunHooks {
        let seen = strangers(&hooks, &self.tree, &BTreeSet::new());
        let trusted = seen.into_iter().map(|it| it.fact.hash).collect();
        RunHooks::new(hooks, self.runner(trusted))
    }

    pub(crate) fn runner(&self, trusted: BTreeSet<String>) -> HookEnvironment {
        let (ran, foreign) = (Arc::clone(&self.ran), Arc::clone(&self.foreign));
        let record = move |report: HookReport| -> Result<(), Failure> {
            ran.lock().unwrap().push((report.ran, report.outcome));
            foreign.lock().unwrap().extend(report.foreign);
            Ok(())
        };
        HookEnvironment {
            room: Some(Arc::clone(&self.room)),
            record: Arc::new(record),
            session: HookSession {
                id: "run-1".to_owned(),
                permission_mode: "default".to_owned(),
                ..HookSession::default()
            },
            tree: self.tree.clone(),
            trusted,
            marks: ContentMarks::default(),
        }
    }

    /// Runs one hook before a call of bash.
    pub(crate) fn one(&self, hook: Hook) -> CombinedHookAnswer {
        let hooks = self.hooks(vec![hook]);
        wait(hooks.before_tool(&bash())).unwrap()
    }

    pub(crate) fn took(&self) -> Vec<(HookRan, EventOutcome)> {
        std::mem::take(&mut self.ran.lock().unwrap())
    }

    /// Returns where the hooks' content came from.
    pub(crate) fn took_foreign(&self) -> Vec<String> {
        let foreign = std::mem::take(&mut *self.foreign.lock().unwrap());
        foreign.into_iter().map(|source| source.name).collect()
    }
}

/// A hook before tools, from a file that came with the work.
pub(crate) fn hook(command: &str) -> Hook {
    let source = HookSource::Other("/w/artel.toml".into());
    Hook::of_command(
        HookEvent::PreToolUse,
        HookMatcher::new("").unwrap(),
        command,
        source,
    )
}

/// The same from the person's own file.
pub(crate) fn own(command: &str) -> Hook {
    Hook {
        source: HookSource::User("/home/ada/.config/artel/artel.toml".into()),
        ..hook(command)
    }
}

pub(crate) fn on(event: HookEvent, command: &str) -> Hook {
    Hook {
        event,
        ..hook(command)
    }
}

pub(crate) fn bash() -> HookToolCall {
    call("bash", serde_json::json!({"command": "ls"}))
}

pub(crate) fn call(tool: &str, input: Value) -> HookToolCall {
    HookToolCall {
        id: "c-1".to_owned(),
        tool: tool.to_owned(),
        input,
    }
}

pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(future)
}

fn clock() -> Clock {
    let start = Instant::now();
    Clock::new(|| Timestamp::from_micros(0), move || start.elapsed())
}
