//! Shortens a conversation before it no longer fits. First old results are left out, then
//! the old part becomes a summary, and if that happened often, a fresh run takes over. All
//! of it stays in the journal.

use artel_model::{ModelCall, ModelCallError};
use artel_rules::context::{
    CompactionDecision, fallback_summary, plan, summary_request, with_summary,
};
use artel_rules::tokens;
use artel_types::model::{ModelCallPriority, ModelCallReason, ModelMessage, ModelRequest};
use artel_types::{ContextCompacted, Failure};

use crate::chronicle::RunJournalEntry;
use crate::drive::{RunDriver, blocking};

/// Step name that marks calls for summaries; they are not turns of the agent.
const STEP: &str = "summary";

/// Tokens reserved for the reply and for errors of the estimate.
const RESERVE: u64 = 8_000;

impl RunDriver {
    /// Shortens the conversation if it would not fit, or hands the work over. Returns
    /// whether it did either.
    pub(crate) async fn shorten(&mut self) -> Result<bool, Failure> {
        // The instructions and tools never take more than half of the window, so a short
        // conversation always fits.
        let before = tokens::of_messages(self.setup.turn.messages());
        if before <= self.setup.window / 4 {
            return Ok(false);
        }
        let request = self.request();
        let bare = ModelRequest {
            messages: Vec::new(),
            ..request.clone()
        };
        let reserve = tokens::of_request(&bare).saturating_add(RESERVE);
        let window = self.setup.window;
        let plan = plan(&request.messages, window, reserve.min(window / 2));
        if plan == CompactionDecision::Fits || self.keeps_length().await? {
            return Ok(false);
        }
        let (how, messages) = match plan {
            CompactionDecision::Fits => return Ok(false),
            CompactionDecision::Elide(messages) => ("elided", messages),
            CompactionDecision::Summarise { .. } if self.is_worn() => {
                self.hand_over().await?;
                return Ok(true);
            }
            CompactionDecision::Summarise { head, old, recent } => {
                let summary = self.summary(&old).await;
                ("summarised", with_summary(head, &summary, recent))
            }
        };
        self.compacted(how, before, messages).await?;
        self.tell_shortened().await?;
        Ok(true)
    }

    async fn compacted(
        &mut self,
        how: &str,
        before: u64,
        messages: Vec<ModelMessage>,
    ) -> Result<(), Failure> {
        let after = tokens::of_messages(&messages);
        let json = serde_json::to_string(&messages).unwrap_or_default();
        let chronicle = self.setup.chronicle.clone();
        let stored = json.clone();
        let kept = blocking(move || chronicle.keep(stored)).await?;
        let mut fact = ContextCompacted {
            how: how.to_owned(),
            before,
            after,
            messages: kept,
        };
        let entry = RunJournalEntry::quiet(fact.clone());
        self.setup.chronicle.append(vec![entry]).await?;
        fact.messages = artel_types::RecordedText::Inline(json);
        self.fold(&fact.into())?;
        // Earlier file contents are gone from the conversation, so a file is sent again
        // when it is asked for again.
        self.setup.workplace.hands().bench.seen().forget_sent();
        Ok(())
    }

    /// Asks for a summary. If none arrives, one is made from the calls themselves.
    pub(crate) async fn summary(&self, old: &[ModelMessage]) -> String {
        let voice = self.setup.voice.clone();
        let mut account = voice.account;
        account.step = Some(STEP.to_owned());
        let calling = voice.gateway.call(ModelCall {
            request: ModelRequest {
                messages: vec![ModelMessage::user(summary_request(old))],
                max_output: Some(2_000),
                ..ModelRequest::default()
            },
            model: voice.model,
            chosen: voice.chosen,
            priority: ModelCallPriority::of_call(ModelCallReason::Upkeep, voice.least_priority),
            privacy: voice.privacy,
            account,
            context: voice.context,
            prior: None,
        });
        let answer: Result<_, ModelCallError> = calling.answer().await;
        let text = answer.map(|answer| answer.reply.text()).unwrap_or_default();
        if text.trim().is_empty() {
            return fallback_summary(old);
        }
        text
    }
}
