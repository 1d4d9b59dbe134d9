//! Where a run goes past its hooks: when it begins and ends, around the model, calls and what is
//! left out. What they say to the agent is on record like anything that is said to it.

use std::sync::Arc;

use artel_policy::rules::Rule;
use artel_rules::turn::{Act, Ending};
use artel_tools::{Called, Hands};
use artel_types::model::Reply;
use artel_types::{Failure, ForeignRead};
use serde_json::{Value, json};

use crate::chronicle::{Chronicle, Entry};
use crate::drive::Driver;
use crate::hooks::{Active, Heard, HookReport, Hooks, RecordHook, ToolCall, Verdict};

/// So often hooks may have a run go on after its answer.
const MOST_HELD: u32 = 5;

/// The hooks of a run, and what they have to do with it so far.
pub(crate) struct Hooked {
    pub(crate) hooks: Hooks,
    /// How the run begins, until it has.
    begins: Option<Begins>,
    /// Whether it goes on with the work of a run that tells the end.
    is_heir: bool,
    /// How often hooks had it go on after its answer.
    held: u32,
    /// Why a hook ends it.
    stop: Option<String>,
}

/// How a run begins, as hooks are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begins {
    /// With a person's words, or those of the run that called it.
    Startup {
        /// The words.
        prompt: String,
    },
    /// Where another process left it.
    Resume,
    /// With what an earlier run handed over. That one tells the end.
    TakenOver,
}

/// A call that hooks let pass.
pub(crate) struct Cleared {
    pub(crate) act: Act,
    /// Whether a person has to be asked, whatever policy says.
    pub(crate) is_asked: bool,
}

impl Hooked {
    pub(crate) fn none() -> Self {
        Self {
            hooks: Hooks::none(),
            begins: None,
            is_heir: false,
            held: 0,
            stop: None,
        }
    }
}

impl Driver {
    /// Has the run go past hooks, its questions too.
    #[must_use]
    pub fn with_hooks(mut self, hooks: Hooks, begins: Begins) -> Self {
        if !hooks.is_none() {
            self.setup.workplace.asks_through(&hooks);
        }
        self.hooked = Hooked {
            hooks,
            is_heir: begins == Begins::TakenOver,
            begins: Some(begins),
            ..Hooked::none()
        };
        self
    }

    /// Returns the hooks, with the conversation as it is now.
    fn hooks(&self) -> Hooks {
        let hooks = self.hooked.hooks.clone();
        hooks.read_along(self.setup.turn.messages());
        hooks
    }

    /// Tells hooks that the run begins, once; returns why it ends before it began.
    pub(crate) async fn pass_begin(&mut self) -> Result<Option<Ending>, Failure> {
        let Some(begins) = self.hooked.begins.take() else {
            return Ok(self.stopped());
        };
        let hooks = self.hooks();
        if !hooks.is_of_agent() {
            let source = match &begins {
                Begins::Startup { .. } => "startup",
                Begins::Resume => "resume",
                Begins::TakenOver => "compact",
            };
            let heard = hooks.session_started(source).await?;
            self.heed(&heard).await?;
        }
        if let (Begins::Startup { prompt }, None) = (&begins, &self.hooked.stop) {
            let heard = match hooks.is_of_agent() {
                true => hooks.subagent_started(prompt).await?,
                false => hooks.prompt_submitted(prompt).await?,
            };
            self.heed(&heard).await?;
        }
        Ok(self.stopped())
    }

    /// Asks hooks before the model is asked; returns why it is not.
    pub(crate) async fn pass_model(&mut self) -> Result<Option<Ending>, Failure> {
        let hooks = self.hooks();
        let model = self.setup.voice.chosen.entry.model.clone();
        let heard = hooks.before_model(&model, self.setup.turn.turns()).await?;
        self.heed(&heard).await?;
        Ok(self.stopped())
    }

    /// Tells hooks what the model said.
    pub(crate) async fn tell_reply(&mut self, reply: &Reply) -> Result<(), Failure> {
        let hooks = self.hooks();
        let model = self.setup.voice.chosen.entry.model.clone();
        let mut heard = hooks.after_model(&model, &reply.text()).await?;
        heard.context.extend(heard.block.take());
        self.heed(&heard).await
    }

    /// Asks hooks before calls are carried out, and answers those that they deny.
    pub(crate) async fn pass_calls(
        &mut self,
        acts: Vec<Act>,
        hands: &Hands,
    ) -> Result<Vec<Cleared>, Failure> {
        let hooks = self.hooks();
        if hooks.is_none() {
            let pass = |act| Cleared {
                act,
                is_asked: false,
            };
            return Ok(acts.into_iter().map(pass).collect());
        }
        hooks.works_in(hands.bench.tree.path());
        let mut cleared = Vec::new();
        for mut act in acts {
            let mut heard = hooks.before_tool(&call_of(&act)).await?;
            let is_asked = matches!(heard.verdict, Verdict::Ask(_) | Verdict::Defer(_));
            if let Verdict::Ask(why) | Verdict::Defer(why) = &heard.verdict {
                heard
                    .notices
                    .push(format!("a hook wants you to decide: {why}"));
            }
            let denied = match (&heard.verdict, &heard.stop) {
                (Verdict::Deny(why), _) | (_, Some(why)) => Some(why.clone()),
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
            cleared.push(Cleared { act, is_asked });
        }
        Ok(cleared)
    }

    /// Tells hooks what came of calls. What they say stands beside the results.
    pub(crate) async fn tell_calls(
        &mut self,
        came: Vec<(Act, Result<Value, String>)>,
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

    /// Tells whether hooks keep the conversation as long as it is.
    pub(crate) async fn keeps_length(&mut self) -> Result<bool, Failure> {
        let mut heard = self.hooks().compacting("auto").await?;
        let is_kept = heard.block.take().is_some();
        self.heed(&heard).await?;
        Ok(is_kept)
    }

    /// Tells hooks that the conversation was made shorter.
    pub(crate) async fn tell_shortened(&mut self) -> Result<(), Failure> {
        let mut heard = self.hooks().compacted("auto").await?;
        heard.block = None;
        self.heed(&heard).await
    }

    /// Tells whether hooks have the run go on although it has its answer.
    pub(crate) async fn is_held(&mut self, ending: &Ending) -> Result<bool, Failure> {
        let Ending::Complete { answer } = ending else {
            return Ok(false);
        };
        if self.setup.turn.heir().is_some() {
            // The run that went on was asked, and its answer stands.
            return Ok(false);
        }
        let active = match self.hooked.held {
            0 => Active::No,
            _ => Active::Yes,
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

    /// Tells hooks that the run is over. Whatever they say, it is.
    pub(crate) async fn tell_end(&mut self, ending: &Ending) -> Result<(), Failure> {
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

    /// Tells people and the agent what hooks say to them, and remembers whether the run ends.
    async fn heed(&mut self, heard: &Heard) -> Result<(), Failure> {
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

    fn stopped(&self) -> Option<Ending> {
        let why = self.hooked.stop.clone()?;
        Some(self.setup.turn.partial(why))
    }
}

/// Returns what writes hooks into the journal of a run.
pub fn record_hooks(chronicle: Chronicle) -> Arc<RecordHook> {
    Arc::new(move |report: HookReport| {
        let mut entries = vec![Entry::quiet(report.ran).ending(report.outcome)];
        if !report.foreign.is_empty() {
            entries.push(Entry::quiet(ForeignRead {
                call: None,
                sources: report.foreign,
            }));
        }
        chronicle.append_blocking(entries)
    })
}

/// Returns hands that ask about a call whatever policy says.
pub(crate) fn asking(hands: &Hands, tool: &str) -> Hands {
    hands.moved(hands.bench.clone(), |policy, _| {
        policy.ask.push(Rule::of_tool(tool));
    })
}

/// Returns what came of a call, as hooks are told.
pub(crate) fn response(called: &Called) -> Result<Value, String> {
    match &called.result {
        Ok(observation) => Ok(json!({
            "content": observation.text,
            "data": observation.data,
        })),
        Err(trouble) => Err(trouble.to_string()),
    }
}

fn call_of(act: &Act) -> ToolCall {
    ToolCall {
        id: act.id.clone(),
        tool: act.tool.clone(),
        input: act.input.clone(),
    }
}
