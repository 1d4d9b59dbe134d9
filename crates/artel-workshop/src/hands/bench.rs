//! Sets up where the processes of agents run: the sandbox, its view, its environment.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use artel_config::{MachineProfile, SandboxLevelChoice, Settings};
use artel_policy::environment;
use artel_policy::path::protected_names;
use artel_rules::patience::CommandGracePeriods;
use artel_sandbox::proxy::{ProxyOptions, ProxyResolver};
use artel_sandbox::run::CancelToken;
use artel_sandbox::slots::CommandConcurrencyPool;
use artel_sandbox::{
    DefaultViewSources, RequiredSandboxLevel, Sandbox, SandboxError, SandboxLevel, SandboxLimits,
    SandboxStarterProgram, SandboxView,
};
use artel_tools::{ProcessStartReason, ToolProcessObserver, ToolSandbox, ToolSecretLookup};
use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::portals::holding;
use crate::trouble::WorkshopFailures;

impl CommandContext {
    /// Starts the sandbox, and returns it with the level that the profile requires.
    pub(crate) fn sandbox(&self) -> Result<(Sandbox, RequiredSandboxLevel), WorkshopFailures> {
        let settings = self.settings_here()?;
        let sandbox = SandboxStarterProgram::of_this_program()
            .and_then(Sandbox::new)
            .map_err(|error| sandbox_failed(&error))?;
        Ok((sandbox, demand(&settings)))
    }

    /// Sets up the sandbox for the processes of a tree.
    pub(crate) fn workroom(
        &self,
        tree: &Path,
        spool: PathBuf,
        audience: Arc<dyn ToolProcessObserver>,
        keys: Arc<dyn ToolSecretLookup>,
        started_for: ProcessStartReason,
        closed: &[PathBuf],
    ) -> Result<ToolSandbox, WorkshopFailures> {
        let (sandbox, demand) = self.sandbox()?;
        let mut view = self.view(closed)?;
        view.write.push(tree.to_owned());
        Ok(ToolSandbox {
            sandbox,
            demand,
            view,
            path_walls: Vec::new(),
            environment: self.child_environment(),
            limits: SandboxLimits::default(),
            clock: self.clock.clone(),
            graces: CommandGracePeriods::default(),
            known: self.secrets(),
            formats: self.formats(),
            reach: ProxyOptions::from(ProxyResolver::system()),
            keys,
            audience,
            slots: self.slots()?,
            started_for,
            cancel: cancel()?,
            count: AtomicU64::new(first_free(&spool)),
            spool,
        })
    }

    /// Returns what every command in the sandbox can see, without the command's own tree. Of
    /// the `closed` folders, `PATH` opens only programs.
    pub(crate) fn view(&self, closed: &[PathBuf]) -> Result<SandboxView, WorkshopFailures> {
        let mut view = SandboxView::standard(&self.standard(closed)?);
        view.protected = protected_names().map(str::to_owned).collect();
        Ok(view)
    }

    /// Returns the portals of the current workshop, apart from the portal around the current
    /// folder: a virtual environment there is useful, as it is to a run.
    pub(crate) fn closed_here(&self) -> Vec<PathBuf> {
        let portals = self.workshop().ok().and_then(|it| it.portals().ok());
        let portals = portals.unwrap_or_default();
        let here = self.environment.current_dir();
        let here = here.and_then(|folder| folder.canonicalize().ok());
        let own = here.and_then(|folder| holding(portals.clone(), &folder));
        let others = portals.into_iter().map(|portal| portal.path);
        let is_own = |path: &PathBuf| own.as_ref().is_some_and(|own| own.path == *path);
        others.filter(|path| !is_own(path)).collect()
    }

    /// Returns the sources of the default view.
    pub(crate) fn standard(
        &self,
        closed: &[PathBuf],
    ) -> Result<DefaultViewSources, WorkshopFailures> {
        let settings = self.settings_here()?;
        let path = self.environment.get("PATH").unwrap_or_default();
        Ok(DefaultViewSources {
            home: Some(self.places.home().to_owned()),
            path: std::env::split_paths(path).collect(),
            read: settings
                .hands
                .read
                .value
                .iter()
                .map(|folder| self.below_home(folder))
                .collect(),
            closed: closed.to_vec(),
        })
    }

    /// Returns the environment of a command: an allow-list of variables, none of which holds a
    /// secret.
    pub(crate) fn child_environment(&self) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
        environment::of_child(self.environment.variables(), &[])
    }

    pub(crate) fn slots(&self) -> Result<CommandConcurrencyPool, Failure> {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        CommandConcurrencyPool::of_cores(self.places.state().join("slots"), cores).map_err(
            |error| Failure::new(FailureCode::B002, error.to_string()).because(causes(&error)),
        )
    }

    /// Expands `~` in a path from the settings.
    fn below_home(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(rest) => self.places.home().join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// Returns the first number without command output. An earlier process may have left some
/// output in the folder.
fn first_free(spool: &Path) -> u64 {
    let entries = std::fs::read_dir(spool).into_iter().flatten().flatten();
    let number = |name: std::ffi::OsString| {
        let name = name.to_str()?;
        name.strip_prefix("state-")
            .unwrap_or(name)
            .parse::<u64>()
            .ok()
    };
    let last = entries.filter_map(|entry| number(entry.file_name())).max();
    last.map_or(1, |last| last + 1)
}

/// Returns the sandbox level that the profile requires.
pub(crate) fn demand(settings: &Settings) -> RequiredSandboxLevel {
    let accepts_less = settings.hands.accept.value == SandboxLevelChoice::Partial;
    match settings.hands.profile.value {
        MachineProfile::Local if accepts_less => RequiredSandboxLevel(SandboxLevel::Partial),
        MachineProfile::Local | MachineProfile::Ci | MachineProfile::Production => {
            RequiredSandboxLevel(SandboxLevel::Full)
        }
    }
}

/// Returns the failure for a sandbox that could not be set up.
pub(crate) fn sandbox_failed(error: &SandboxError) -> Failure {
    let code = match error {
        SandboxError::TooLow { .. } | SandboxError::NetworkNeedsFull { .. } => FailureCode::B001,
        _ => FailureCode::B002,
    };
    let failure = Failure::new(code, error.to_string());
    let failure = match std::error::Error::source(error) {
        Some(_) => failure.because(causes(error)),
        None => failure,
    };
    failure.advise("`artel doctor` shows every layer and what would help")
}

/// Returns the causes of an error, outermost first.
fn causes(error: &dyn std::error::Error) -> String {
    let mut texts = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        texts.push(cause.to_string());
        next = cause.source();
    }
    texts.join(": ")
}

pub(crate) fn cancel() -> Result<CancelToken, Failure> {
    CancelToken::new().map_err(|error| {
        Failure::new(FailureCode::B002, "the system gave no handle").because(error.to_string())
    })
}
