//! Hooks: commands and parts of this program that are told what a run does, and can stop it.
//!
//! They run one after another, the lowest priority first. Commands get JSON on their standard input
//! and answer with an exit code and JSON, as the convention of other agents has it. They always run
//! in the sandbox; those that came with the work run only as a person saw them. A hook can forbid,
//! ask, change and say something; it never allows what policy does not. Each one that ran is on
//! record before its answer is used.

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

use artel_tools::{Approver, ContentMarks, Workroom};
use artel_types::model::Message;
use artel_types::{Failure, ForeignSource, HookRan, Outcome};
use serde_json::{Value, json};

pub use answer::{Answer, Verdict};
pub use declared::Declared;
pub use event::Event;
pub use gate::Gate;
pub use hook::{Action, BuiltIn, Hook, OnFailure, Profile, Source};
pub use matcher::{BadMatcher, Matcher};
pub use trust::{Stranger, strangers};

use answer::bounded;
use fire::Shared;
use matcher::names_of;

/// Writes down that a hook ran, and returns once that is durable. It may wait.
pub type RecordHook = dyn Fn(HookReport) -> Result<(), Failure> + Send + Sync;

/// What is written down of a hook that ran.
#[derive(Debug, Clone, PartialEq)]
pub struct HookReport {
    /// What it said.
    pub ran: HookRan,
    /// How it ended.
    pub outcome: Outcome,
    /// What it brought into the run that nobody vouched for and that is not on record yet.
    pub foreign: Vec<ForeignSource>,
}

/// What hooks need to run.
#[derive(Clone)]
pub struct Runner {
    /// The sandbox; nothing where no process may run, which every hook that is a command fails of.
    pub room: Option<Arc<Workroom>>,
    /// Where it is written down.
    pub record: Arc<RecordHook>,
    /// What hooks are told about the run.
    pub session: Session,
    /// The run's files, to begin with.
    pub tree: PathBuf,
    /// The hashes of hooks that a person trusted.
    pub trusted: BTreeSet<String>,
    /// What the piece of work has read that nobody vouched for.
    pub marks: ContentMarks,
}

/// What hooks are told about a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The session, or else the run.
    pub id: String,
    /// Where the conversation is put as JSON lines before a hook runs; empty for nowhere.
    pub transcript: String,
    /// How questions are answered: `default`, `plan`, `acceptEdits`, `dontAsk`.
    pub permission_mode: String,
    /// The kind of agent, of a run that another one called.
    pub agent: Option<String>,
}

/// The hooks of one run. Clones are one.
#[derive(Clone)]
pub struct Hooks(Option<Arc<Shared>>);

/// A call that hooks are told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Names it.
    pub id: String,
    /// Our name of the tool.
    pub tool: String,
    /// What it is called with.
    pub input: Value,
}

/// What all hooks of one event said together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Heard {
    /// About the call; the strictest stands. [`Verdict::Allow`] spares nothing: policy decides.
    pub verdict: Verdict,
    /// Other input for the call, to be judged like any.
    pub input: Option<Value>,
    /// Words for the agent, in the order of the hooks.
    pub context: Vec<String>,
    /// Words for the person: what hooks say to them, and which hooks failed.
    pub notices: Vec<String>,
    /// What comes next is not to happen, and why. After a run's answer this means: go on.
    pub block: Option<String>,
    /// The run is to end, and why.
    pub stop: Option<String>,
}

impl Hooks {
    /// Puts the hooks of a run in order. Those that need trust and have none are left out: whoever
    /// asks people asks about [`strangers`] first.
    pub fn new(hooks: Vec<Hook>, runner: Runner) -> Self {
        let is_known = |hook: &Hook| trust::stranger(hook, &runner.tree, &runner.trusted).is_none();
        let mut hooks: Vec<_> = hooks.into_iter().filter(is_known).collect();
        hooks.sort_by_key(|hook| hook.priority);
        if hooks.is_empty() {
            return Self::none();
        }
        Self(Some(Arc::new(Shared::new(hooks, runner))))
    }

    /// No hooks.
    pub fn none() -> Self {
        Self(None)
    }

    /// Returns the same hooks for a run that this one calls.
    #[must_use]
    pub fn of_child(&self, session: Session, record: Arc<RecordHook>) -> Self {
        let Some(shared) = &self.0 else {
            return Self::none();
        };
        let runner = Runner {
            session,
            record,
            ..shared.runner.clone()
        };
        Self(Some(Arc::new(shared.for_child(runner))))
    }

    /// Says where the run's files are from now on.
    pub fn works_in(&self, tree: &Path) {
        if let Some(shared) = &self.0 {
            shared.works_in(tree);
        }
    }

    /// Says what the conversation is by now; hooks find it as a file.
    pub(crate) fn read_along(&self, messages: &[Message]) {
        if let Some(shared) = &self.0 {
            shared.read_along(messages);
        }
    }

    /// Puts the hooks that hear of questions before whoever answers them.
    pub fn before(&self, person: Option<Arc<dyn Approver>>) -> Option<Arc<dyn Approver>> {
        let hears = |shared: &Arc<Shared>| {
            let mut hooks = shared.hooks.iter();
            hooks.any(|hook| hook.event == Event::PermissionRequest)
        };
        if !self.0.as_ref().is_some_and(hears) {
            return person;
        }
        let hooks = self.clone();
        Some(Arc::new(Gate { hooks, person }))
    }

    /// A run begins: `startup`, `resume`, `clear` or `compact`.
    pub async fn session_started(&self, source: &str) -> Result<Heard, Failure> {
        let facts = json!({"source": source});
        self.fire(Event::SessionStart, vec![source.to_owned()], facts)
            .await
    }

    /// A run is over, and why.
    pub async fn session_ended(&self, reason: &str) -> Result<Heard, Failure> {
        let facts = json!({"reason": reason});
        self.fire(Event::SessionEnd, vec![reason.to_owned()], facts)
            .await
    }

    /// A person's words are about to reach the agent.
    pub async fn prompt_submitted(&self, prompt: &str) -> Result<Heard, Failure> {
        let facts = json!({"prompt": prompt});
        self.fire(Event::UserPromptSubmit, Vec::new(), facts).await
    }

    /// The model is about to be asked for the answer of this turn.
    pub async fn before_model(&self, model: &str, turn: u32) -> Result<Heard, Failure> {
        let facts = json!({"model": model, "turn": turn});
        self.fire(Event::PreModel, vec![model.to_owned()], facts)
            .await
    }

    /// The model answered.
    pub async fn after_model(&self, model: &str, said: &str) -> Result<Heard, Failure> {
        let facts = json!({"model": model, "last_assistant_message": said});
        self.fire(Event::PostModel, vec![model.to_owned()], facts)
            .await
    }

    /// A tool is about to be called. The input that comes back is the tool's own.
    pub async fn before_tool(&self, call: &ToolCall) -> Result<Heard, Failure> {
        let Some(shared) = self.wanted(Event::PreToolUse, &names_of(&call.tool)) else {
            return Ok(Heard::default());
        };
        let facts = shared.call(call);
        let mut heard = self.fire(Event::PreToolUse, names(call), facts).await?;
        let tree = shared.tree();
        heard.input = heard
            .input
            .map(|told| input::inward(&call.tool, &told, &tree));
        Ok(heard)
    }

    /// A tool was called, and this came of it, or this is why nothing did.
    pub async fn after_tool(
        &self,
        call: &ToolCall,
        came: Result<&Value, &str>,
    ) -> Result<Heard, Failure> {
        let event = match came {
            Ok(_) => Event::PostToolUse,
            Err(_) => Event::PostToolUseFailure,
        };
        let Some(shared) = self.wanted(event, &names_of(&call.tool)) else {
            return Ok(Heard::default());
        };
        let mut facts = shared.call(call);
        match came {
            Ok(response) => facts["tool_response"] = response.clone(),
            Err(error) => facts["error"] = json!(error),
        }
        self.fire(event, names(call), facts).await
    }

    /// A run is about to end with this answer; `active` if it goes on only because a hook said so.
    /// [`Heard::block`] says why it goes on.
    pub async fn stopping(&self, last: &str, active: Active) -> Result<Heard, Failure> {
        let event = match self
            .0
            .as_ref()
            .and_then(|it| it.runner.session.agent.as_ref())
        {
            Some(_) => Event::SubagentStop,
            None => Event::Stop,
        };
        let is_active = active == Active::Yes;
        let facts = json!({"stop_hook_active": is_active, "last_assistant_message": last});
        self.fire(event, self.agent(), facts).await
    }

    /// A run begins that another one called.
    pub async fn subagent_started(&self, prompt: &str) -> Result<Heard, Failure> {
        let facts = json!({"prompt": prompt});
        self.fire(Event::SubagentStart, self.agent(), facts).await
    }

    /// The conversation is about to be made shorter: `manual` or `auto`.
    pub async fn compacting(&self, trigger: &str) -> Result<Heard, Failure> {
        let facts = json!({"trigger": trigger, "custom_instructions": ""});
        self.fire(Event::PreCompact, vec![trigger.to_owned()], facts)
            .await
    }

    /// The conversation was made shorter.
    pub async fn compacted(&self, trigger: &str) -> Result<Heard, Failure> {
        let facts = json!({"trigger": trigger});
        self.fire(Event::PostCompact, vec![trigger.to_owned()], facts)
            .await
    }

    /// Tells whether they are those of a run that another one called.
    pub(crate) fn is_of_agent(&self) -> bool {
        let session = self.0.as_ref().map(|shared| &shared.runner.session);
        session.is_some_and(|session| session.agent.is_some())
    }

    /// Tells whether there are any.
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

    /// Returns what runs hooks, if there is one for this.
    fn wanted(&self, event: Event, names: &[&str]) -> Option<&Arc<Shared>> {
        let shared = self.0.as_ref()?;
        let is_wanted = |hook: &Hook| hook.event == event && hook.matcher.admits(names);
        shared.hooks.iter().any(is_wanted).then_some(shared)
    }

    async fn fire(&self, event: Event, names: Vec<String>, facts: Value) -> Result<Heard, Failure> {
        let known: Vec<_> = names.iter().map(String::as_str).collect();
        let Some(shared) = self.wanted(event, &known) else {
            return Ok(Heard::default());
        };
        let shared = Arc::clone(shared);
        crate::drive::blocking(move || {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            shared.fire(event, &names, facts)
        })
        .await
    }
}

/// Whether a run goes on only because a hook said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    /// It does.
    Yes,
    /// It does not.
    No,
}

impl Heard {
    /// Takes in what one hook answered.
    fn take(&mut self, answer: Answer) {
        let Answer {
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

    /// Tells whether what comes next does not happen, whatever others say.
    fn is_final(&self) -> bool {
        let is_denied = matches!(self.verdict, Verdict::Deny(_));
        is_denied || self.block.is_some() || self.stop.is_some()
    }

    /// Returns the words for the agent as one text, if there are any.
    pub fn words(&self) -> Option<String> {
        (!self.context.is_empty()).then(|| bounded(&self.context.join("\n\n")))
    }
}

fn names(call: &ToolCall) -> Vec<String> {
    let names = names_of(&call.tool).into_iter();
    names.map(str::to_owned).collect()
}
