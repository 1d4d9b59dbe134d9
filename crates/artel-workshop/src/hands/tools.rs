//! Lists the tools, and tries one out in a scratch copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_files::RootFolder;
use artel_policy::{PolicyContext, PolicyRuling};
use artel_tools::{
    DeclaredTool, FindToolsTool, NoGuard, ProcessStartReason, Tool, ToolCallApprover,
    ToolCallRecorder, ToolContext, ToolDescriptor, ToolError, ToolObservation, ToolRegistry,
    ToolRunner, ToolSchemaDelivery, ToolViewer, UnfinishedToolCallError, built_in,
};
use artel_types::{ActorKind, Failure, FailureCode, SandboxEngaged};
use serde::Serialize;
use serde_json::Value;

use super::run::{CallSecretStore, JournalCallLog, NetworkPassageRecorder, Told, ToolTrialCallLog};
use super::scratch::{PrivateScratchFolder, differences};
use crate::caller::{CommandContext, fresh_trace};
use crate::trouble::WorkshopFailures;
use crate::workshop::OpenWorkshopJournal;

/// Size limit of a tool declaration, in bytes; far more than one needs.
const LARGEST: u64 = 256 * 1024;

/// A tool, for people and programs.
#[derive(Debug, Clone, Serialize)]
pub struct ToolDetail {
    pub name: String,
    /// Its purpose, in one line.
    pub line: String,
    /// The description that a model gets.
    pub description: String,
    /// The JSON schema of its input.
    pub input: Value,
    pub effects: Vec<artel_tools::ToolEffect>,
    /// The action to take after a crash with an unknown outcome.
    pub unknown: artel_tools::ToolCrashRecovery,
    /// The bundle that it is found in.
    pub bundle: String,
    /// Whether every request contains its schema.
    pub always: bool,
}

/// A tool to try out.
#[derive(Debug, Clone, Default)]
pub struct ToolTrial {
    pub name: String,
    /// The input, as JSON.
    pub input: String,
    /// The folder to copy; the current folder if `None`.
    pub root: Option<PathBuf>,
    /// The role; `default` if `None`.
    pub role: Option<String>,
}

/// The outcome of trying a tool.
#[derive(Debug, Clone)]
pub struct ToolTrialOutcome {
    /// The policy's decision.
    pub decision: PolicyRuling,
    /// The result that a model would see.
    pub result: Result<ToolObservation, ToolError>,
    /// Its changes in the copy, as unified diffs.
    pub difference: String,
    /// The files it changed.
    pub changed: Vec<String>,
}

impl CommandContext {
    /// Returns all tools by name: the built-in ones and those that the current workshop
    /// declares.
    pub fn tools(&self) -> Result<Vec<ToolDetail>, WorkshopFailures> {
        let registry = self.registry("default")?;
        Ok(registry.cards().map(shown).collect())
    }

    pub fn tool(&self, name: &str) -> Result<ToolDetail, WorkshopFailures> {
        let registry = self.registry("default")?;
        let tool = registry.get(name).map_err(unknown)?;
        Ok(shown(tool.card()))
    }

    /// Runs a tool in a scratch copy of a folder, and returns what it changed there. `told`
    /// receives messages about what the call is waiting for.
    pub fn run_tool(
        &self,
        run: &ToolTrial,
        approver: Option<Arc<dyn ToolCallApprover>>,
        told: Told,
    ) -> Result<ToolTrialOutcome, WorkshopFailures> {
        let input: Value = serde_json::from_str(&run.input).map_err(|error| {
            Failure::new(FailureCode::T002, "the input is not JSON")
                .because(error.to_string())
                .advise(format!("`artel tool show {}` prints the schema", run.name))
        })?;
        let root = self.root_of(run);
        let role = run.role.as_deref().unwrap_or("default");
        let registry = self.registry(role)?;
        registry.get(&run.name).map_err(unknown)?;
        let scratch = PrivateScratchFolder::new(self, "tool")?;
        let copy = scratch.copy(&root)?;
        let tree = RootFolder::open(&copy)
            .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
        let log = self.tool_log()?;
        let id = fresh_trace()?.to_string();
        let keys = CallSecretStore {
            caller: self.clone(),
            log: Arc::clone(&log),
            call: id.clone(),
            tool: run.name.clone(),
            role: role.to_owned(),
        };
        let audience = Arc::new(NetworkPassageRecorder {
            log: Arc::clone(&log),
            told,
        });
        let spool = scratch.path().join("spool");
        let policy = self.policy(run.role.as_deref())?;
        let mut workroom = self.workroom(
            tree.path(),
            spool,
            audience,
            Arc::new(keys),
            self.tries_tools_for(),
            &self.closed_here(),
        )?;
        workroom.path_walls = policy.path_walls();
        let engaged = workroom.sandbox.engaged().clone();
        let is_walled = engaged.level >= workroom.demand.0;
        self.log_engaged(log.as_ref(), &engaged, workroom.demand)?;
        let situation = PolicyContext {
            is_walled,
            workspace: Some(tree.path().to_owned()),
            ..PolicyContext::default()
        };
        let mut bench = ToolContext::new(tree, Arc::new(NoGuard), role);
        bench.git = self.program("git");
        bench.workroom = Some(Arc::new(workroom));
        let mut hands = ToolRunner::new(
            registry,
            bench,
            policy,
            log,
            self.redactor(),
            self.clock.clone(),
        );
        hands.situation = situation;
        hands.approver = approver;
        let called = hands
            .call(&id, &run.name, &input)
            .map_err(|error| match error {
                UnfinishedToolCallError::NotRecorded(_) => {
                    Failure::new(FailureCode::J001, error.to_string())
                }
                UnfinishedToolCallError::Left => Failure::new(FailureCode::X002, "interrupted"),
            })?;
        let kept = scratch.path().parent().unwrap_or(scratch.path());
        let differences = differences(&root, &copy, kept)
            .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
        Ok(ToolTrialOutcome {
            decision: called.decision,
            result: called
                .result
                .map(|seen| without_spool(seen, scratch.path())),
            difference: differences.iter().map(|it| it.text.as_str()).collect(),
            changed: differences.into_iter().map(|it| it.path).collect(),
        })
    }

    /// Returns why a tool is tried. A command that a program starts does not count as typed by
    /// a person.
    fn tries_tools_for(&self) -> ProcessStartReason {
        match self.actor().kind {
            ActorKind::Human => ProcessStartReason::TypedCommand,
            ActorKind::Program | ActorKind::Agent | ActorKind::System => ProcessStartReason::Agent,
        }
    }

    /// Returns the folder that the tool is tried on.
    fn root_of(&self, run: &ToolTrial) -> PathBuf {
        match &run.root {
            Some(root) => self.absolute(root),
            None => {
                let current = self.environment.current_dir();
                current.unwrap_or(Path::new("/")).to_owned()
            }
        }
    }

    /// Builds the tool registry of a role.
    pub(crate) fn registry(&self, role: &str) -> Result<ToolRegistry, WorkshopFailures> {
        let mut registry = ToolRegistry::of(built_in());
        if let Some(root) = self.workshop_root()? {
            for tool in declared(&root.join("Tools"))? {
                registry.add(tool).map_err(|trouble| {
                    Failure::new(FailureCode::T004, trouble.what)
                        .advise("rename its file in `Tools/`")
                })?;
            }
        }
        let viewer = self.viewer(role)?;
        let find = FindToolsTool::new(registry.clone(), viewer);
        registry
            .add(Arc::new(find))
            .map_err(|trouble| Failure::new(FailureCode::X001, trouble.what))?;
        Ok(registry)
    }

    /// Returns the role and tool list that decide which tools are visible.
    pub(crate) fn viewer(&self, role: &str) -> Result<ToolViewer, WorkshopFailures> {
        Ok(ToolViewer {
            role: role.to_owned(),
            tools: self.role(role)?.tools,
        })
    }

    /// Returns a log in the workshop's journal. Without a workshop, a trial is not recorded.
    fn tool_log(&self) -> Result<Arc<dyn ToolCallRecorder>, WorkshopFailures> {
        if self.workshop_root()?.is_none() {
            return Ok(Arc::new(ToolTrialCallLog::default()));
        }
        let workshop = self.workshop()?;
        let OpenWorkshopJournal { journal, .. } = workshop.open()?;
        let template = workshop.draft(artel_types::NoteAdded { text: "".into() });
        Ok(Arc::new(JournalCallLog::new(journal, template)))
    }

    fn log_engaged(
        &self,
        log: &dyn ToolCallRecorder,
        engaged: &artel_sandbox::EngagedSandbox,
        demand: artel_sandbox::RequiredSandboxLevel,
    ) -> Result<(), WorkshopFailures> {
        let settings = self.settings_here()?;
        let fact = SandboxEngaged {
            level: engaged.level.to_string(),
            demanded: demand.0.to_string(),
            profile: format!("{:?}", settings.hands.profile.value).to_lowercase(),
            layers: engaged.layers.iter().map(layer_text).collect(),
        };
        log.append(fact.into(), artel_types::EventOutcome::Done)
            .map_err(|error| Failure::new(FailureCode::J001, error).into())
    }
}

/// Describes one layer of the sandbox.
pub(crate) fn layer_text(layer: &artel_sandbox::SandboxLayer) -> String {
    let stands = if layer.stands { "" } else { "missing: " };
    format!("{stands}{}: {}", layer.name, layer.detail)
}

/// Returns the names of the tools that a workshop declares, including those that cannot be
/// read.
pub(crate) fn declared_names(root: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(root.join("Tools")).into_iter().flatten();
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    files
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect()
}

/// Reads the declared tools of a folder, by name.
fn declared(folder: &Path) -> Result<Vec<Arc<dyn Tool>>, WorkshopFailures> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    let mut failures = Vec::new();
    for file in files {
        match declaration(&file) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        Ok(tools)
    } else {
        Err(WorkshopFailures(failures))
    }
}

fn declaration(file: &Path) -> Result<DeclaredTool, Failure> {
    let bad = |why: String| {
        Failure::new(
            FailureCode::T004,
            format!("`{}` declares no tool", file.display()),
        )
        .because(why)
        .advise("mend it, or move it out of `Tools/`")
    };
    let bytes = artel_files::read_bounded(file, LARGEST).map_err(|error| bad(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| bad(error.to_string()))?;
    let stem = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    DeclaredTool::parse(stem, &text).map_err(|error| bad(error.to_string()))
}

/// Removes file names that vanish with the scratch folder.
fn without_spool(mut seen: ToolObservation, scratch: &Path) -> ToolObservation {
    if let Value::Object(data) = &mut seen.data {
        data.retain(|_, value| {
            !value
                .as_str()
                .is_some_and(|text| Path::new(text).starts_with(scratch))
        });
    }
    seen
}

fn shown(card: &ToolDescriptor) -> ToolDetail {
    ToolDetail {
        name: card.name.clone(),
        line: card.line.clone(),
        description: card.description.clone(),
        input: card.input.clone(),
        effects: card.effects.clone(),
        unknown: card.unknown,
        bundle: card.bundle.to_owned(),
        always: card.reach == ToolSchemaDelivery::Always,
    }
}

fn unknown(trouble: ToolError) -> Failure {
    let failure = Failure::new(FailureCode::T001, trouble.what);
    let hint = trouble.hints.into_iter().next();
    failure.advise(hint.unwrap_or_else(|| "`artel tool list` shows what there is".to_owned()))
}

#[cfg(test)]
mod tests {
    use artel_config::ProcessEnvironment;
    use artel_types::{Actor, ActorSurface};

    use super::*;
    use crate::caller::GlobalFlags;

    #[test]
    fn what_a_program_tries_no_person_typed() {
        let environment = ProcessEnvironment::of([("HOME", "/nowhere".to_owned())], "/nowhere");
        let clock = artel_config::system_clock();
        let person = CommandContext::new(
            environment,
            clock,
            GlobalFlags::default(),
            ActorSurface::Cli,
        )
        .unwrap();
        assert_eq!(person.tries_tools_for(), ProcessStartReason::TypedCommand);
        let program = person.acting_as(Actor::program("ci"));
        assert_eq!(program.tries_tools_for(), ProcessStartReason::Agent);
    }
}
