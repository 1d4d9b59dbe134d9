//! Hooks: commands and parts of this program that are told what a run does and can stop
//! it.
//!
//! They run one after another, the lowest priority number first. Commands get JSON on
//! their standard input and answer with an exit code and JSON, by the convention of other
//! agents. They always run in the sandbox; hooks that came with the work run only in the
//! form that a person saw. A hook can forbid, ask, change and say something, but it never
//! allows what policy does not. Each hook that ran is recorded before its answer is used.

mod answer;
mod beside;
mod declared;
mod event;
mod fire;
mod gate;
mod hook;
mod input;
mod loads;
mod matcher;
mod runner;
mod transcript;
mod trust;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_tools::{ContentMarks, ToolCallApprover, ToolSandbox};
use artel_types::model::ModelMessage;
use artel_types::{EventOutcome, Failure, ForeignSource, HookRan};
use serde_json::{Value, json};

pub use answer::{HookAnswer, HookVerdict};
pub use declared::DeclaredHooks;
pub use event::HookEvent;
pub use gate::HookFirstApprover;
pub use hook::{BuiltInHook, Hook, HookAction, HookFailureMode, HookSandboxProfile, HookSource};
pub use matcher::{HookMatcher, HookMatcherError};
pub use trust::{UntrustedHook, strangers};

use answer::bounded;
use fire::SharedRunHooks;
use matcher::names_of;

/// Records that a hook ran, and returns once that is durable. It may block.
pub type RecordHook = dyn Fn(HookReport) -> Result<(), Failure> + Send + Sync;

/// The record of a hook that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReport {
    /// The hook's answer.
    pub ran: HookRan,
    pub outcome: EventOutcome,
    /// New unvouched-for sources that the hook brought into the run and that are not
    /// recorded yet.
    pub foreign: Vec<ForeignSource>,
}

/// Everything that hooks need to run.
#[derive(Clone)]
pub struct HookEnvironment {
    /// The sandbox, or `None` if no process may run; then every hook that is a command
    /// fails.
    pub room: Option<Arc<ToolSandbox>>,
    /// Records the hooks that ran.
    pub record: Arc<RecordHook>,
    /// The facts about the run that hooks get.
    pub session: HookSession,
    /// The run's files at its beginning.
    pub tree: PathBuf,
    /// The hashes of hooks that a person trusted.
    pub trusted: BTreeSet<String>,
    /// The sources without a vouching person that the work has read so far.
    pub marks: ContentMarks,
}

/// The facts about a run that hooks get.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookSession {
    /// The id of the session, or of the run if there is no session.
    pub id: String,
    /// Path of the conversation as JSON lines, written before a hook runs; empty for none.
    pub transcript: String,
    /// The permission mode: `default`, `plan`, `acceptEdits`, `dontAsk`.
    pub permission_mode: String,
    /// The kind of agent, if another run called this one.
    pub agent: Option<String>,
}

/// The hooks of one run. All clones share the same state.
#[derive(Clone)]
pub struct RunHooks(Option<Arc<SharedRunHooks>>);

/// A tool call as reported to hooks.
#[derive(Debug, Clone, PartialEq)]
pub struct HookToolCall {
    /// The id of the call.
    pub id: String,
    /// Artel's name of the tool.
    pub tool: String,
    /// The input of the call.
    pub input: Value,
}

/// The combined answers of all hooks of one event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CombinedHookAnswer {
    /// The strictest verdict about the call. [`HookVerdict::Allow`] skips nothing: policy
    /// still decides.
    pub verdict: HookVerdict,
    /// A different input for the call, to be judged like any other.
    pub input: Option<Value>,
    /// Words for the agent, in the order of the hooks.
    pub context: Vec<String>,
    /// Notices for the person: what hooks say to them, and which hooks failed.
    pub notices: Vec<String>,
    /// The reason, if the next thing must not happen. After a run's answer it means: keep
    /// going.
    pub block: Option<String>,
    /// The reason, if the run must end.
    pub stop: Option<String>,
}

impl RunHooks {
    /// Sorts the hooks of a run by priority. Hooks that need trust and have none are left
    /// out: the caller asks people about [`strangers`] first.
    pub fn new(hooks: Vec<Hook>, runner: HookEnvironment) -> Self {
        let is_known = |hook: &Hook| trust::stranger(hook, &runner.tree, &runner.trusted).is_none();
        let mut hooks: Vec<_> = hooks.into_iter().filter(is_known).collect();
        hooks.sort_by_key(|hook| hook.priority);
        if hooks.is_empty() {
            return Self::none();
        }
        Self(Some(Arc::new(SharedRunHooks::new(hooks, runner))))
    }

    /// Returns a handle without hooks.
    pub fn none() -> Self {
        Self(None)
    }

    /// Returns the same hooks for a run that this one calls.
    #[must_use]
    pub fn of_child(&self, session: HookSession, record: Arc<RecordHook>) -> Self {
        let Some(shared) = &self.0 else {
            return Self::none();
        };
        let runner = HookEnvironment {
            session,
            record,
            ..shared.runner.clone()
        };
        Self(Some(Arc::new(shared.for_child(runner))))
    }

    /// Sets the folder with the run's files.
    pub fn works_in(&self, tree: &Path) {
        if let Some(shared) = &self.0 {
            shared.works_in(tree);
        }
    }

    /// Updates the conversation that hooks find as a file.
    pub(crate) fn read_along(&self, messages: &[ModelMessage]) {
        if let Some(shared) = &self.0 {
            shared.read_along(messages);
        }
    }

    /// Puts hooks that listen to permission requests in front of the approver.
    pub fn before(
        &self,
        person: Option<Arc<dyn ToolCallApprover>>,
    ) -> Option<Arc<dyn ToolCallApprover>> {
        let hears = |shared: &Arc<SharedRunHooks>| {
            let mut hooks = shared.hooks.iter();
            hooks.any(|hook| hook.event == HookEvent::PermissionRequest)
        };
        if !self.0.as_ref().is_some_and(hears) {
            return person;
        }
        let hooks = self.clone();
        Some(Arc::new(HookFirstApprover { hooks, person }))
    }

    /// Reports that a run begins: `startup`, `resume`, `clear` or `compact`.
    pub async fn session_started(&self, source: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"source": source});
        self.fire(HookEvent::SessionStart, vec![source.to_owned()], facts)
            .await
    }

    /// Reports that a run is over, with the reason.
    pub async fn session_ended(&self, reason: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"reason": reason});
        self.fire(HookEvent::SessionEnd, vec![reason.to_owned()], facts)
            .await
    }

    /// Reports that a person's words are about to reach the agent.
    pub async fn prompt_submitted(&self, prompt: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"prompt": prompt});
        self.fire(HookEvent::UserPromptSubmit, Vec::new(), facts)
            .await
    }

    /// Reports that the model is about to be called for this turn.
    pub async fn before_model(
        &self,
        model: &str,
        turn: u32,
    ) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"model": model, "turn": turn});
        self.fire(HookEvent::PreModel, vec![model.to_owned()], facts)
            .await
    }

    /// Reports the model's reply.
    pub async fn after_model(
        &self,
        model: &str,
        said: &str,
    ) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"model": model, "last_assistant_message": said});
        self.fire(HookEvent::PostModel, vec![model.to_owned()], facts)
            .await
    }

    /// Reports that a tool is about to be called. The returned input is in the tool's own
    /// form.
    pub async fn before_tool(&self, call: &HookToolCall) -> Result<CombinedHookAnswer, Failure> {
        let Some(shared) = self.wanted(HookEvent::PreToolUse, &names_of(&call.tool)) else {
            return Ok(CombinedHookAnswer::default());
        };
        let facts = shared.call(call);
        let mut heard = self.fire(HookEvent::PreToolUse, names(call), facts).await?;
        let tree = shared.tree();
        heard.input = heard
            .input
            .map(|told| input::inward(&call.tool, &told, &tree));
        Ok(heard)
    }

    /// Reports the result of a tool call, or the reason why there is none.
    pub async fn after_tool(
        &self,
        call: &HookToolCall,
        came: Result<&Value, &str>,
    ) -> Result<CombinedHookAnswer, Failure> {
        let event = match came {
            Ok(_) => HookEvent::PostToolUse,
            Err(_) => HookEvent::PostToolUseFailure,
        };
        let Some(shared) = self.wanted(event, &names_of(&call.tool)) else {
            return Ok(CombinedHookAnswer::default());
        };
        let mut facts = shared.call(call);
        match came {
            Ok(response) => facts["tool_response"] = response.clone(),
            Err(error) => facts["error"] = json!(error),
        }
        self.fire(event, names(call), facts).await
    }

    /// Reports that a run is about to end with this answer; `active` if it continues only
    /// because a hook said so. [`CombinedHookAnswer::block`] is the reason to keep going.
    pub async fn stopping(
        &self,
        last: &str,
        active: StopHookActive,
    ) -> Result<CombinedHookAnswer, Failure> {
        let event = match self
            .0
            .as_ref()
            .and_then(|it| it.runner.session.agent.as_ref())
        {
            Some(_) => HookEvent::SubagentStop,
            None => HookEvent::Stop,
        };
        let is_active = active == StopHookActive::Yes;
        let facts = json!({"stop_hook_active": is_active, "last_assistant_message": last});
        self.fire(event, self.agent(), facts).await
    }

    /// Reports that a run begins that another run called.
    pub async fn subagent_started(&self, prompt: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"prompt": prompt});
        self.fire(HookEvent::SubagentStart, self.agent(), facts)
            .await
    }

    /// Reports that the conversation is about to be shortened: `manual` or `auto`.
    pub async fn compacting(&self, trigger: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"trigger": trigger, "custom_instructions": ""});
        self.fire(HookEvent::PreCompact, vec![trigger.to_owned()], facts)
            .await
    }

    /// Reports that the conversation was shortened.
    pub async fn compacted(&self, trigger: &str) -> Result<CombinedHookAnswer, Failure> {
        let facts = json!({"trigger": trigger});
        self.fire(HookEvent::PostCompact, vec![trigger.to_owned()], facts)
            .await
    }

    /// Returns whether these are the hooks of a run that another run called.
    pub(crate) fn is_of_agent(&self) -> bool {
        let session = self.0.as_ref().map(|shared| &shared.runner.session);
        session.is_some_and(|session| session.agent.is_some())
    }

    /// Returns whether there are no hooks.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    fn agent(&self) -> Vec<String> {
        let session = self.0.as_ref().map(|shared| &shared.runner.session);
        session
            .and_then(|it| it.agent.clone())
            .into_iter()
            .collect()
    }

    /// Returns the shared state if any hook is for this event.
    fn wanted(&self, event: HookEvent, names: &[&str]) -> Option<&Arc<SharedRunHooks>> {
        let shared = self.0.as_ref()?;
        let is_wanted = |hook: &Hook| hook.event == event && hook.matcher.admits(names);
        shared.hooks.iter().any(is_wanted).then_some(shared)
    }

    async fn fire(
        &self,
        event: HookEvent,
        names: Vec<String>,
        facts: Value,
    ) -> Result<CombinedHookAnswer, Failure> {
        let known: Vec<_> = names.iter().map(String::as_str).collect();
        let Some(shared) = self.wanted(event, &known) else {
            return Ok(CombinedHookAnswer::default());
        };
        let shared = Arc::clone(shared);
        crate::drive::blocking(move || {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            shared.fire(event, &names, facts)
        })
        .await
    }
}

/// Whether a run continues only because a hook said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopHookActive {
    /// A hook kept the run going.
    Yes,
    /// No hook has kept the run going.
    No,
}

impl CombinedHookAnswer {
    /// Adds the answer of one hook.
    fn take(&mut self, answer: HookAnswer) {
        let HookAnswer {
            verdict,
            input,
            context,
            notice,
            block,
            stop,
        } = answer;
        self.verdict = std::mem::take(&mut self.verdict).or_stricter(verdict);
        self.input = input.or(self.input.take());
        self.context.extend(context);
        self.notices.extend(notice);
        self.block = self.block.take().or(block);
        self.stop = self.stop.take().or(stop);
    }

    /// Returns whether the next thing is prevented, whatever other hooks say.
    fn is_final(&self) -> bool {
        let is_denied = matches!(self.verdict, HookVerdict::Deny(_));
        is_denied || self.block.is_some() || self.stop.is_some()
    }

    /// Returns the words for the agent as one text, or `None` if there are none.
    pub fn words(&self) -> Option<String> {
        (!self.context.is_empty()).then(|| bounded(&self.context.join("\n\n")))
    }
}

fn names(call: &HookToolCall) -> Vec<String> {
    let names = names_of(&call.tool).into_iter();
    names.map(str::to_owned).collect()
}
