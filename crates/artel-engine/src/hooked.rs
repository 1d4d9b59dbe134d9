//! The points at which a run calls its hooks: at the beginning and end, and around the
//! model, calls and compaction. What hooks say to the agent is recorded like any other
//! message to it.

use std::sync::Arc;

use artel_policy::rules::PolicyRule;
use artel_rules::turn::{AgentRunEnding, RunnableToolCall};
use artel_tools::{ToolCallOutcome, ToolRunner};
use artel_types::model::ModelReply;
use artel_types::{Failure, ForeignRead};
use serde_json::{Value, json};

use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::drive::RunDriver;
use crate::hooks::{
    CombinedHookAnswer, HookReport, HookToolCall, HookVerdict, RecordHook, RunHooks, StopHookActive,
};

/// Most times that hooks may keep a run going after its answer.
const MOST_HELD: u32 = 5;

/// The hooks of a run, with what they have done to it so far.
pub(crate) struct RunHookState {
    pub(crate) hooks: RunHooks,
    /// The kind of beginning; `None` once the run has begun.
    begins: Option<RunStartKind>,
    /// Whether the run continues the work of an earlier run, which reports the end itself.
    is_heir: bool,
    /// Number of times that hooks kept the run going after its answer.
    held: u32,
    /// The reason, if a hook ended the run.
    stop: Option<String>,
}

/// The kind of a run's beginning, as reported to hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStartKind {
    /// With a prompt from a person, or from the run that called it.
    Startup { prompt: String },
    /// At the point where another process left it.
    Resume,
    /// With the handover of an earlier run, which reports the end itself.
    TakenOver,
}

/// A call that hooks let pass.
pub(crate) struct HookClearedCall {
    pub(crate) act: RunnableToolCall,
    /// Whether a person must be asked, whatever policy says.
    pub(crate) is_asked: bool,
}

impl RunHookState {
    pub(crate) fn none() -> Self {
        Self {
            hooks: RunHooks::none(),
            begins: None,
            is_heir: false,
            held: 0,
            stop: None,
        }
    }
}

impl RunDriver {
    /// Makes the run call hooks, also for its questions to the person.
    #[must_use]
    pub fn with_hooks(mut self, hooks: RunHooks, begins: RunStartKind) -> Self {
        if !hooks.is_none() {
            self.setup.workplace.asks_through(&hooks);
        }
        self.hooked = RunHookState {
            hooks,
            is_heir: begins == RunStartKind::TakenOver,
            begins: Some(begins),
            ..RunHookState::none()
        };
        self
    }

    /// Returns the hooks, updated with the current conversation.
    fn hooks(&self) -> RunHooks {
        let hooks = self.hooked.hooks.clone();
        hooks.read_along(self.setup.turn.messages());
        hooks
    }

    /// Reports the beginning of the run to hooks, once. Returns the ending if a hook ended
    /// the run.
    pub(crate) async fn pass_begin(&mut self) -> Result<Option<AgentRunEnding>, Failure> {
        let Some(begins) = self.hooked.begins.take() else {
            return Ok(self.stopped());
        };
        let hooks = self.hooks();
        if !hooks.is_of_agent() {
            let source = match &begins {
                RunStartKind::Startup { .. } => "startup",
                RunStartKind::Resume => "resume",
                RunStartKind::TakenOver => "compact",
            };
            let heard = hooks.session_started(source).await?;
            self.heed(&heard).await?;
        }
        if let (RunStartKind::Startup { prompt }, None) = (&begins, &self.hooked.stop) {
            let heard = if hooks.is_of_agent() {
                hooks.subagent_started(prompt).await?
            } else {
                hooks.prompt_submitted(prompt).await?
            };
            self.heed(&heard).await?;
        }
        Ok(self.stopped())
    }

    /// Calls the hooks before a model call. Returns the ending if a hook ended the run.
    pub(crate) async fn pass_model(&mut self) -> Result<Option<AgentRunEnding>, Failure> {
        let hooks = self.hooks();
        let model = self.setup.voice.chosen.entry.model.clone();
        let heard = hooks.before_model(&model, self.setup.turn.turns()).await?;
        self.heed(&heard).await?;
        Ok(self.stopped())
    }

    /// Reports the model's reply to hooks.
    pub(crate) async fn tell_reply(&mut self, reply: &ModelReply) -> Result<(), Failure> {
        let hooks = self.hooks();
        let model = self.setup.voice.chosen.entry.model.clone();
        let mut heard = hooks.after_model(&model, &reply.text()).await?;
        heard.context.extend(heard.block.take());
        self.heed(&heard).await
    }

    /// Calls the hooks before tool calls are carried out, and answers those that they
    /// deny.
    pub(crate) async fn pass_calls(
        &mut self,
        acts: Vec<RunnableToolCall>,
        hands: &ToolRunner,
    ) -> Result<Vec<HookClearedCall>, Failure> {
        let hooks = self.hooks();
        if hooks.is_none() {
            let pass = |act| HookClearedCall {
                act,
                is_asked: false,
            };
            return Ok(acts.into_iter().map(pass).collect());
        }
        hooks.works_in(hands.bench.tree.path());
        let mut cleared = Vec::new();
        for mut act in acts {
            let mut heard = hooks.before_tool(&call_of(&act)).await?;
            let is_asked = matches!(heard.verdict, HookVerdict::Ask(_) | HookVerdict::Defer(_));
            if let HookVerdict::Ask(why) | HookVerdict::Defer(why) = &heard.verdict {
                heard
                    .notices
                    .push(format!("a hook wants you to decide: {why}"));
            }
            let denied = match (&heard.verdict, &heard.stop) {
                (HookVerdict::Deny(why), _) | (_, Some(why)) => Some(why.clone()),
                _ => None,
            };
            self.heed(&heard).await?;
            if let Some(why) = denied {
                self.refuse(&act, "refused", format!("a hook denies this: {why}"))
                    .await?;
                continue;
            }
            if let Some(input) = heard.input {
                act.input = input;
            }
            cleared.push(HookClearedCall { act, is_asked });
        }
        Ok(cleared)
    }

    /// Reports the results of tool calls to hooks. Their words are added beside the
    /// results.
    pub(crate) async fn tell_calls(
        &mut self,
        came: Vec<(RunnableToolCall, Result<Value, String>)>,
    ) -> Result<(), Failure> {
        let hooks = self.hooks();
        for (act, came) in came {
            let came = came.as_ref().map_err(String::as_str);
            let mut heard = hooks.after_tool(&call_of(&act), came).await?;
            heard.context.extend(heard.block.take());
            self.heed(&heard).await?;
        }
        Ok(())
    }

    /// Returns whether hooks prevent the conversation from being shortened.
    pub(crate) async fn keeps_length(&mut self) -> Result<bool, Failure> {
        let mut heard = self.hooks().compacting("auto").await?;
        let is_kept = heard.block.take().is_some();
        self.heed(&heard).await?;
        Ok(is_kept)
    }

    /// Reports to hooks that the conversation was shortened.
    pub(crate) async fn tell_shortened(&mut self) -> Result<(), Failure> {
        let mut heard = self.hooks().compacted("auto").await?;
        heard.block = None;
        self.heed(&heard).await
    }

    /// Returns whether hooks keep the run going although it has its answer.
    pub(crate) async fn is_held(&mut self, ending: &AgentRunEnding) -> Result<bool, Failure> {
        let AgentRunEnding::Complete { answer } = ending else {
            return Ok(false);
        };
        if self.setup.turn.heir().is_some() {
            // The run that took over has already asked its hooks, and its answer stands.
            return Ok(false);
        }
        let active = match self.hooked.held {
            0 => StopHookActive::No,
            _ => StopHookActive::Yes,
        };
        let mut heard = self.hooks().stopping(answer, active).await?;
        let why = heard.block.take().filter(|_| heard.stop.is_none());
        heard.stop = None;
        heard.context.clear();
        self.heed(&heard).await?;
        let Some(why) = why else {
            return Ok(false);
        };
        if self.hooked.held >= MOST_HELD {
            let said = format!("hooks had the run go on {MOST_HELD} times; it ends all the same");
            self.setup.audience.notice(&said);
            return Ok(false);
        }
        self.hooked.held += 1;
        self.say(format!("A hook wants you to go on: {why}"), "held")
            .await?;
        Ok(true)
    }

    /// Reports the end of the run to hooks. They cannot prevent it.
    pub(crate) async fn tell_end(&mut self, ending: &AgentRunEnding) -> Result<(), Failure> {
        let hooks = self.hooks();
        if hooks.is_of_agent() || self.hooked.is_heir {
            return Ok(());
        }
        let heard = hooks.session_ended(ending.state().as_str()).await?;
        for notice in &heard.notices {
            self.setup.audience.notice(notice);
        }
        Ok(())
    }

    /// Passes the hooks' words to people and the agent, and notes whether the run ends.
    async fn heed(&mut self, heard: &CombinedHookAnswer) -> Result<(), Failure> {
        for notice in &heard.notices {
            self.setup.audience.notice(notice);
        }
        if let Some(words) = heard.words() {
            self.say(words, "hook").await?;
        }
        let why = heard.stop.as_ref().or(heard.block.as_ref());
        if let (Some(why), None) = (why, &self.hooked.stop) {
            self.hooked.stop = Some(format!("a hook ended it: {why}"));
        }
        Ok(())
    }

    fn stopped(&self) -> Option<AgentRunEnding> {
        let why = self.hooked.stop.clone()?;
        Some(self.setup.turn.partial(why))
    }
}

/// Returns the function that records hooks in the journal of a run.
pub fn record_hooks(chronicle: RunJournal) -> Arc<RecordHook> {
    Arc::new(move |report: HookReport| {
        let mut entries = vec![RunJournalEntry::quiet(report.ran).ending(report.outcome)];
        if !report.foreign.is_empty() {
            entries.push(RunJournalEntry::quiet(ForeignRead {
                call: None,
                sources: report.foreign,
            }));
        }
        chronicle.append_blocking(entries)
    })
}

/// Returns a tool runner that asks about a call whatever policy says.
pub(crate) fn asking(hands: &ToolRunner, tool: &str) -> ToolRunner {
    hands.moved(hands.bench.clone(), |policy, _| {
        policy.ask.push(PolicyRule::of_tool(tool));
    })
}

/// Returns the result of a call in the form that hooks get.
pub(crate) fn response(called: &ToolCallOutcome) -> Result<Value, String> {
    match &called.result {
        Ok(observation) => Ok(json!({
            "content": observation.text,
            "data": observation.data,
        })),
        Err(trouble) => Err(trouble.to_string()),
    }
}

fn call_of(act: &RunnableToolCall) -> HookToolCall {
    HookToolCall {
        id: act.id.clone(),
        tool: act.tool.clone(),
        input: act.input.clone(),
    }
}
