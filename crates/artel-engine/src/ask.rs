//! Asks the model with the conversation of the run.

use std::sync::Arc;

use artel_model::{
    ChosenModel, Gateway, Model, ModelCall, ModelCallContext, ModelCallError, ModelCallProgress,
    ModelCallReply,
};
use artel_rules::tokens;
use artel_rules::turn::{AgentRunEnding, ToolCallStyle};
use artel_types::Failure;
use artel_types::model::{
    ModelCallAttribution, ModelCallPriority, ModelCallReason, ModelFaultKind, ModelRequest,
    PrivacyLabel, PromptCacheLifetime, ReplyChunk,
};

use crate::drive::{RunDriver, RunSuspendReason};
use crate::family::TurnAllowance;
use crate::steer::ShutdownLevel;

/// Number of slow replies after which the run ends.
const MOST_SLOW: u32 = 3;

/// The model of a run, with the account and the terms on which it is called.
#[derive(Clone)]
pub struct ModelHandle {
    /// The only way to any model.
    pub gateway: Gateway,
    pub model: Arc<dyn Model>,
    /// The choice of the model, with its settings.
    pub chosen: ChosenModel,
    /// Priority of the run's own calls.
    pub priority: ModelCallPriority,
    /// Minimum priority of the calls made on the side, such as for summaries.
    pub least_priority: ModelCallPriority,
    /// Where the content may be sent.
    pub privacy: PrivacyLabel,
    /// The account that the calls are charged to.
    pub account: ModelCallAttribution,
    /// The ids that every event of a call carries.
    pub context: ModelCallContext,
    /// Sampling temperature, or `None` for the provider's default.
    pub temperature: Option<f64>,
}

/// The run driver's next move after asking the model.
pub(crate) enum ModelAskOutcome {
    /// The reply is folded.
    Replied,
    /// Something changed: decide again what comes next.
    Again,
    /// The run is left here.
    Left(RunSuspendReason),
    /// The run is over.
    Ended(AgentRunEnding),
}

/// The outcome of one gateway call.
enum ModelCallOutcome {
    Answer(Box<ModelCallReply>),
    Failed(Box<ModelCallError>),
    /// The call is not needed any more: the run was cancelled or is to be left.
    CalledOff,
    Slow,
}

impl RunDriver {
    /// Asks the model and folds its reply.
    pub(crate) async fn ask(&mut self) -> Result<ModelAskOutcome, Failure> {
        if self.setup.family.is_spent() {
            let most = TurnAllowance::MOST_TURNS;
            let why = format!("global iteration limit ({most}) exceeded");
            return Ok(ModelAskOutcome::Ended(self.setup.turn.partial(why)));
        }
        if tokens::of_messages(self.setup.turn.messages()) > self.setup.window / 4 {
            // The conversation may be shortened first, and that depends on the last
            // results too.
            self.written().await?;
        }
        if self.shorten().await? {
            return Ok(ModelAskOutcome::Again);
        }
        if let Some(ending) = self.pass_model().await? {
            return Ok(ModelAskOutcome::Ended(ending));
        }
        let request = self.request();
        match self.hear(request).await? {
            ModelCallOutcome::Answer(answer) => {
                self.owed = None;
                self.is_hinted = false;
                self.prior = Some(answer.prior());
                let turns = self.setup.turn.turns();
                self.setup.turn.replied(&answer.call, &answer.reply);
                if self.setup.turn.turns() > turns {
                    self.setup.family.take();
                }
                self.tell_reply(&answer.reply).await?;
                Ok(ModelAskOutcome::Replied)
            }
            ModelCallOutcome::Failed(error) => Ok(self.failed(*error)),
            ModelCallOutcome::CalledOff => Ok(ModelAskOutcome::Again),
            ModelCallOutcome::Slow => {
                self.slow += 1;
                if self.slow < MOST_SLOW {
                    return Ok(ModelAskOutcome::Again);
                }
                let why = "the model took longer than an iteration may, three times".to_owned();
                Ok(ModelAskOutcome::Ended(self.setup.turn.partial(why)))
            }
        }
    }

    /// Decides what a failed call means for the run.
    fn failed(&mut self, error: ModelCallError) -> ModelAskOutcome {
        match error {
            ModelCallError::OverBudget { .. } | ModelCallError::NoPrice { .. } => {
                let why = Failure::from(error).to_string();
                ModelAskOutcome::Ended(self.setup.turn.partial(why))
            }
            ModelCallError::Fault { ref fault, .. }
                if matches!(
                    fault.kind,
                    ModelFaultKind::ContextOverflow | ModelFaultKind::TooLarge
                ) && !self.has_shortened =>
            {
                // The estimate was wrong: this does not fit. From now on half as much is
                // sent.
                self.has_shortened = true;
                self.setup.window /= 2;
                ModelAskOutcome::Again
            }
            other => ModelAskOutcome::Left(RunSuspendReason::Model(other.into())),
        }
    }

    /// Builds the request for the model.
    pub(crate) fn request(&self) -> ModelRequest {
        let setup = &self.setup;
        let mut request = ModelRequest {
            system: setup.system.clone(),
            cache: PromptCacheLifetime::Short,
            temperature: setup.voice.temperature,
            ..ModelRequest::default()
        };
        if setup.turn.rules().calls == ToolCallStyle::Native {
            let hands = setup.workplace.hands();
            let found = hands.bench.notes().found.clone();
            request.tools = hands.registry.specs(&setup.viewer, &found);
        }
        setup.turn.fill(&mut request);
        request
    }

    async fn hear(&mut self, request: ModelRequest) -> Result<ModelCallOutcome, Failure> {
        let ModelHandle {
            gateway,
            model,
            chosen,
            priority,
            privacy,
            account,
            context,
            ..
        } = self.setup.voice.clone();
        // The person who gave a hint is waiting for its effect.
        let priority = if self.is_hinted {
            ModelCallPriority::of_call(ModelCallReason::PersonWaits, priority)
        } else {
            priority
        };
        let call = ModelCall {
            request,
            model,
            chosen,
            priority,
            privacy,
            account,
            context,
            prior: self.prior.clone(),
        };
        let mut calling = match &self.owed {
            Some(owed) => gateway.call_after(call, owed.clone()),
            None => gateway.call(call),
        };
        let patience = self.setup.patience;
        let mut late = std::pin::pin!(async move {
            match patience {
                Some(patience) => tokio::time::sleep(patience).await,
                None => std::future::pending().await,
            }
        });
        loop {
            let progress = tokio::select! {
                biased;
                progress = calling.next() => progress,
                fact = self.setup.steering.heard() => {
                    if let Some(fact) = fact {
                        self.fold(&fact)?;
                    }
                    let is_off = self.setup.turn.is_cancelled();
                    if is_off || self.setup.steering.stop() != ShutdownLevel::No {
                        return Ok(ModelCallOutcome::CalledOff);
                    }
                    continue;
                }
                () = &mut late => return Ok(ModelCallOutcome::Slow),
            };
            match progress {
                Some(ModelCallProgress::Piece(ReplyChunk::Text { text })) => {
                    self.setup.audience.words(&text)
                }
                Some(ModelCallProgress::Asking { .. }) => self.setup.audience.begins(),
                Some(ModelCallProgress::Waiting(wait)) => {
                    self.setup.audience.waits(&wait.to_string())
                }
                Some(ModelCallProgress::Notice(text)) => self.setup.audience.notice(&text),
                Some(ModelCallProgress::Done(answer)) => {
                    return Ok(ModelCallOutcome::Answer(answer));
                }
                Some(ModelCallProgress::Failed(error)) => {
                    return Ok(ModelCallOutcome::Failed(error));
                }
                Some(ModelCallProgress::Piece(_)) => {}
                None => {
                    return Ok(ModelCallOutcome::Failed(Box::new(
                        ModelCallError::CalledOff,
                    )));
                }
            }
        }
    }
}
