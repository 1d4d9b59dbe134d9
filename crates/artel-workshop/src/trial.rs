//! A trial of a model: one tiny prompt and one tool call, sent through the whole gateway.

mod question;

use std::time::Duration;

use artel_model::{
    ChosenModel, Gateway, ModelCall, ModelCallContext, ModelCallError, ModelCallProgress,
    ModelCallReply, ModelCallWait,
};
use artel_types::model::{
    MessagePart, ModelCallAttribution, ModelCallPriority, ModelCallReason, ModelFault,
    ModelFaultKind, ModelRequest, PrivacyLabel, ReplyChunk, ToolCall,
};
use artel_types::{ActorKind, Failure, FailureCode, Money};
use artel_vault::KeyOrigin;
use serde::Serialize;

use crate::models::ModelDirectory;
use crate::workshop::{OpenWorkshopJournal, Workshop};

/// Time limit of a trial, so that the command as a whole takes at most 20 s.
const LONGEST: Duration = Duration::from_secs(18);

/// Time limit for settling a call that was called off.
const LAST_REST: Duration = Duration::from_secs(1);

/// Pieces that all arrive within this time were generated earlier, so the speed is
/// measured over the whole answer.
const AT_ONCE: Duration = Duration::from_millis(10);

/// Whether a feature of the model works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelFeatureStatus {
    /// The trial saw it work.
    Works,
    /// The trial did not see it. The model may lack it.
    #[default]
    Unseen,
}

/// The result of a trial.
#[derive(Debug, Clone, Serialize)]
pub struct ModelTrialOutcome {
    /// Whether text and a well-formed call of the offered tool arrived.
    pub ok: bool,
    /// The model name that was asked for.
    pub alias: String,
    /// The model that this name stands for here.
    pub resolved: String,
    pub provider: String,
    pub model: String,
    pub base_url: Option<String>,
    /// Text arrived.
    pub text: ModelFeatureStatus,
    /// A well-formed call of the offered tool arrived.
    pub tool_call: ModelFeatureStatus,
    /// The answer arrived in several pieces.
    pub streaming: ModelFeatureStatus,
    /// Thinking arrived.
    pub thinking: ModelFeatureStatus,
    /// The provider counted tokens.
    pub usage: ModelFeatureStatus,
    /// Milliseconds until the first piece of the first answer.
    pub first_ms: Option<u64>,
    /// Milliseconds for all answers.
    pub total_ms: u64,
    /// Tokens generated per second from the first piece to the last, as the provider counts
    /// them.
    pub tokens_per_second: Option<f64>,
    /// Tokens charged for all answers.
    pub tokens: u64,
    /// The cost in millionths of a US dollar, or `None` if a price is unknown.
    #[serde(rename = "cost_microusd")]
    pub cost: Option<Money>,
    /// The failure that left the trial without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// Notices from along the way.
    pub notes: Vec<String>,
    /// Number of generated tokens, and the time that took.
    #[serde(skip)]
    written: (u64, Duration),
}

impl Workshop {
    /// Tries a model that the person names, which overrides `ARTEL_MODEL`. `say` gets messages
    /// about what the trial waits for.
    pub async fn try_model(
        &self,
        alias: Option<&str>,
        say: &mut dyn FnMut(String),
    ) -> Result<ModelTrialOutcome, Failure> {
        let models = self.models(alias).await?;
        self.try_of(models, alias, say).await
    }

    /// Tries the model that runs get for a listed alias, with `ARTEL_MODEL` in force. A name
    /// that is not an alias is tried as a named model.
    pub async fn try_listed(&self, alias: &str) -> Result<ModelTrialOutcome, Failure> {
        let models = self.models(None).await?;
        if models.list().iter().any(|row| row.alias == alias) {
            return self.try_of(models, Some(alias), &mut |_| {}).await;
        }
        self.try_model(Some(alias), &mut |_| {}).await
    }

    async fn try_of(
        &self,
        models: ModelDirectory,
        alias: Option<&str>,
        say: &mut dyn FnMut(String),
    ) -> Result<ModelTrialOutcome, Failure> {
        let chosen = models.choose(alias)?;
        let key = models.key_of(&chosen.entry)?.map(|found| found.from);
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        notes.into_iter().for_each(&mut *say);
        // This comes before connecting the model: its key would give this gateway other keys than
        // runs have.
        let gateway = self.gateway(&journal, &models).await?;
        let model = models.connect(&chosen, self)?;
        let call = ModelCall {
            request: ModelRequest::default(),
            prior: None,
            model,
            chosen: chosen.clone(),
            priority: ModelCallPriority::of_call(
                self.reason_to_try(),
                ModelCallPriority::Background,
            ),
            privacy: PrivacyLabel::Any,
            account: ModelCallAttribution {
                person: Some(self.caller.actor().id),
                ..ModelCallAttribution::default()
            },
            context: ModelCallContext {
                above: Vec::new(),
                step: None,
                trace: self.trace_id(),
                actor: self.caller.actor(),
                session: None,
                run: None,
            },
        };
        let mut trial = ModelTrialOutcome::of(&chosen);
        let asked = tokio::time::timeout(LONGEST, trial.run(&gateway, &call, say)).await;
        trial.error = match asked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(advised(error.into(), &chosen, key.as_ref())),
            Err(_) => Some(advised(trial.too_slow(), &chosen, key.as_ref())),
        };
        // A call that was called off must be settled before the process ends.
        gateway.rest(LAST_REST).await;
        trial.conclude(say);
        Ok(trial)
    }
}

impl Workshop {
    /// Returns the reason for the trial's calls. Nobody waits at a screen for a program's
    /// trial.
    fn reason_to_try(&self) -> ModelCallReason {
        match self.caller.actor().kind {
            ActorKind::Human => ModelCallReason::PersonWaits,
            ActorKind::Program | ActorKind::Agent | ActorKind::System => ModelCallReason::Work,
        }
    }
}

impl ModelTrialOutcome {
    fn of(chosen: &ChosenModel) -> Self {
        Self {
            ok: false,
            alias: chosen.wanted.clone(),
            resolved: chosen.resolved.clone(),
            provider: chosen.entry.provider.to_string(),
            model: chosen.entry.model.clone(),
            base_url: Some(chosen.base_url()).filter(|url| !url.is_empty()),
            text: ModelFeatureStatus::Unseen,
            tool_call: ModelFeatureStatus::Unseen,
            streaming: ModelFeatureStatus::Unseen,
            thinking: ModelFeatureStatus::Unseen,
            usage: ModelFeatureStatus::Unseen,
            first_ms: None,
            total_ms: 0,
            tokens_per_second: None,
            tokens: 0,
            cost: None,
            error: None,
            notes: Vec::new(),
            written: Default::default(),
        }
    }

    fn too_slow(&self) -> Failure {
        let asked = "the model was asked and has not finished answering";
        let why = self.notes.last().map_or(asked, String::as_str);
        let what = format!("no answer within {} s", LONGEST.as_secs());
        Failure::new(FailureCode::M009, what).because(why)
    }

    /// Says what is missing if every question was answered.
    fn conclude(&mut self, say: &mut dyn FnMut(String)) {
        self.ok =
            self.text == ModelFeatureStatus::Works && self.tool_call == ModelFeatureStatus::Works;
        if self.ok || self.error.is_some() {
            return;
        }
        let missing = [
            (self.text, "no words came"),
            (self.tool_call, "no well-formed call of the tool came"),
        ];
        let missing = missing
            .iter()
            .filter(|(seen, _)| *seen == ModelFeatureStatus::Unseen);
        let missing: Vec<&str> = missing.map(|(_, what)| *what).collect();
        let what = format!("the model answered, but {}", missing.join(", and "));
        self.note(what, say);
    }

    /// Asks for text and a call at once, then again for the one that did not arrive.
    async fn run(
        &mut self,
        gateway: &Gateway,
        call: &ModelCall,
        say: &mut dyn FnMut(String),
    ) -> Result<(), ModelCallError> {
        self.ask(gateway, call, question::both(), say).await?;
        if self.tool_call == ModelFeatureStatus::Unseen {
            self.ask(gateway, call, question::only_call(), say).await?;
        }
        if self.text == ModelFeatureStatus::Unseen {
            self.ask(gateway, call, question::only_words(), say).await?;
        }
        Ok(())
    }

    async fn ask(
        &mut self,
        gateway: &Gateway,
        call: &ModelCall,
        request: ModelRequest,
        say: &mut dyn FnMut(String),
    ) -> Result<(), ModelCallError> {
        let asked = ModelCall {
            request,
            ..call.clone()
        };
        let (mut calling, mut pieces) = (gateway.call(asked), 0_u32);
        while let Some(progress) = calling.next().await {
            match progress {
                ModelCallProgress::Piece(
                    ReplyChunk::Text { .. } | ReplyChunk::ToolDelta { .. },
                ) => pieces += 1,
                ModelCallProgress::Waiting(wait) => {
                    if let Some(fault) = self.wait(wait, say) {
                        return Err(ModelCallError::Fault {
                            provider: call.chosen.health_name(),
                            fault,
                            attempts: 1,
                            partial: String::new(),
                        });
                    }
                }
                ModelCallProgress::Notice(notice) => self.note(notice, say),
                ModelCallProgress::Done(answer) => {
                    if pieces > 1 {
                        self.streaming = ModelFeatureStatus::Works;
                    }
                    self.take(&answer, say);
                    return Ok(());
                }
                ModelCallProgress::Failed(error) => return Err(*error),
                ModelCallProgress::Asking { .. } | ModelCallProgress::Piece(_) => {}
            }
        }
        Err(ModelCallError::CalledOff)
    }

    /// Reports what the trial waits for. If the model is unreachable, returns the fault
    /// instead: the person who is watching is the one who can change that.
    fn wait(&mut self, wait: ModelCallWait, say: &mut dyn FnMut(String)) -> Option<ModelFault> {
        let text = wait.to_string();
        let last = self.notes.last().map(String::as_str).unwrap_or_default();
        let ModelCallWait::Retry { fault, .. } = wait else {
            // A pause is often announced already by the attempt that caused it.
            let until = text.rsplit_once(" until ").map(|(_, until)| until);
            if !until.is_some_and(|until| last.ends_with(until)) {
                self.note(text, say);
            }
            return None;
        };
        if fault.kind == ModelFaultKind::Unreachable {
            return Some(fault);
        }
        // The fault may have been reported just before.
        let said = fault.to_string();
        let rest = text.strip_prefix(&said).filter(|_| last.ends_with(&said));
        let rest = rest.map(|rest| rest.trim_start_matches("; ").to_owned());
        self.note(rest.unwrap_or(text), say);
        None
    }

    fn note(&mut self, text: String, say: &mut dyn FnMut(String)) {
        self.notes.push(text.clone());
        say(text);
    }

    fn take(&mut self, answer: &ModelCallReply, say: &mut dyn FnMut(String)) {
        let reply = &answer.reply;
        let is_thought = |part: &MessagePart| matches!(part, MessagePart::Thinking { .. });
        let is_good = |call: &ToolCall| question::complaint(call).is_none();
        let seen = [
            (&mut self.text, !reply.text().trim().is_empty()),
            (&mut self.tool_call, reply.tool_calls().any(is_good)),
            (&mut self.thinking, reply.parts.iter().any(is_thought)),
            (&mut self.usage, reply.usage.is_some()),
        ];
        for (feature, is_seen) in seen {
            if is_seen {
                *feature = ModelFeatureStatus::Works;
            }
        }
        for what in reply.tool_calls().filter_map(question::complaint) {
            self.note(what, say);
        }
        self.cost = match self.first_ms {
            None => answer.cost,
            Some(_) => self.cost.zip(answer.cost).map(|(sum, cost)| sum + cost),
        };
        self.first_ms.get_or_insert(millis(answer.first));
        self.total_ms += millis(answer.total);
        self.tokens = self.tokens.saturating_add(answer.charged.tokens.0);
        self.measure(answer);
    }

    /// Adds an answer to the speed. An answer that arrived all at once was generated before it
    /// arrived.
    fn measure(&mut self, answer: &ModelCallReply) {
        let Some(usage) = answer.reply.usage else {
            return;
        };
        let streamed = answer.total.saturating_sub(answer.first);
        let span = if streamed < AT_ONCE {
            answer.total
        } else {
            streamed
        };
        let (tokens, time) = &mut self.written;
        *tokens = tokens.saturating_add(usage.output);
        *time += span;
        let speed = *tokens as f64 / time.as_secs_f64();
        self.tokens_per_second = speed.is_finite().then(|| (speed * 10.0).round() / 10.0);
    }
}

/// Adds a next step to any failure.
fn advised(failure: Failure, chosen: &ChosenModel, key: Option<&KeyOrigin>) -> Failure {
    let provider = chosen.entry.provider;
    let advice = match (failure.code, key) {
        (FailureCode::M003, Some(KeyOrigin::Env(name))) => {
            format!("the key is from `{name}`: set another")
        }
        (FailureCode::M003, Some(KeyOrigin::System(account) | KeyOrigin::File(account))) => {
            format!("`artel auth set {provider} --account {account}`")
        }
        (FailureCode::M003, None) => format!("`artel auth set {provider}`"),
        _ if failure.advice.is_some() => return failure,
        (FailureCode::M012, _) => {
            "mend the script, or record it again: `docs/rehearsal.md`".to_owned()
        }
        _ => "`artel model show` names the place, and how the provider is".to_owned(),
    };
    failure.advise(advice)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
