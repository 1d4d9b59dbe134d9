//! Writes a call to the journal: the request with its decision, the answer, the secrets
//! that were denied, the result.

use std::collections::BTreeSet;

use artel_policy::{PolicyAction, PolicyAnswer, PolicyRuling, openings};
use artel_types::{
    EventOutcome, Fact, ForeignRead, KeptImage, PortalRefused, RecordedText, SecretUsed,
    ToolFinished, ToolRequested,
};
use serde_json::Value;

use super::marks::foreign_in;
use super::{
    ActiveToolCall, AttributedToolApproval, ToolApprovalAnswer, ToolApprovalQuestion, ToolRunner,
    UnfinishedToolCallError,
};
use crate::{ToolError, ToolErrorKind, ToolObservation};

impl ToolRunner {
    pub(super) fn requested(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
        decision: &PolicyRuling,
        record: &str,
    ) -> Result<(), UnfinishedToolCallError> {
        let opens: BTreeSet<_> = openings(actions).collect();
        let input = call.input.to_string();
        let card = call.tool.card();
        let outcome = match decision.answer {
            PolicyAnswer::Allow => EventOutcome::Allowed,
            PolicyAnswer::Deny => EventOutcome::Denied,
            // The question is put now; its answer is a separate event.
            PolicyAnswer::Ask => EventOutcome::Done,
        };
        self.append(
            ToolRequested {
                call: call.id.to_owned(),
                tool: card.name.clone(),
                role: self.bench.role.clone(),
                input: RecordedText::Inline(self.redactor.redact_json(&input).into_owned()),
                decision: format!("{:?}", decision.answer).to_lowercase(),
                rule: decision.rule.clone(),
                reason: self.redactor.redact(&decision.reason).into_owned(),
                record: record.to_owned(),
                unknown: format!("{:?}", card.unknown).to_lowercase(),
                decided_by: Some(decision.decided_by),
                opens: (!opens.is_empty()).then(|| opens.into_iter().collect()),
            },
            outcome,
        )?;
        match decision.answer {
            PolicyAnswer::Deny => self.portal_refused(call, decision),
            PolicyAnswer::Allow | PolicyAnswer::Ask => Ok(()),
        }
    }

    /// Records it if the portal is what refuses a call.
    fn portal_refused(
        &self,
        call: &ActiveToolCall<'_>,
        decision: &PolicyRuling,
    ) -> Result<(), UnfinishedToolCallError> {
        let Some(name) = self.policy.portal.clone() else {
            return Ok(());
        };
        let bound = decision.rule.strip_prefix("bound.portal ");
        let rest = bound.and_then(|rest| rest.strip_prefix(name.as_str()));
        if !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(',')) {
            return Ok(());
        }
        let refused = PortalRefused {
            name,
            role: self.bench.role.clone(),
            wanted: call.tool.card().name.clone(),
            why: self.redactor.redact(&decision.reason).into_owned(),
            call: Some(call.id.to_owned()),
        };
        self.append(refused, EventOutcome::Denied)
    }

    pub(super) fn answered(
        &self,
        question: &ToolApprovalQuestion,
        said: Option<&AttributedToolApproval>,
    ) -> Result<(), UnfinishedToolCallError> {
        let nobody = AttributedToolApproval::from(ToolApprovalAnswer::Nobody);
        let said = said.unwrap_or(&nobody);
        if said.is_recorded {
            return Ok(());
        }
        let (mut fact, outcome) = said.fact(question);
        fact.reason = self.redactor.redact(&fact.reason).into_owned();
        let by = said.by.clone();
        let appended = self.log.append_by(by, fact.into(), outcome);
        appended.map_err(UnfinishedToolCallError::NotRecorded)
    }

    pub(super) fn finished(
        &self,
        call: &ActiveToolCall<'_>,
        result: &Result<ToolObservation, ToolError>,
        millis: u64,
    ) -> Result<(), UnfinishedToolCallError> {
        let (text, trouble, changed) = match result {
            Ok(observation) => (observation.text.clone(), None, observation.changed.clone()),
            Err(trouble) => (trouble.to_string(), Some(trouble.kind), Vec::new()),
        };
        let outcome = match trouble {
            None => EventOutcome::Done,
            Some(ToolErrorKind::Refused) => EventOutcome::Denied,
            Some(ToolErrorKind::Cancelled) => EventOutcome::Cancelled,
            Some(_) => EventOutcome::Failed,
        };
        let data = result.as_ref().ok().map(|observation| &observation.data);
        let number = |name: &str| data.and_then(|data| data.get(name));
        self.append(
            ToolFinished {
                call: call.id.to_owned(),
                tool: call.tool.card().name.clone(),
                observation: RecordedText::Inline(text),
                trouble: trouble.map(ToolErrorKind::word).map(str::to_owned),
                changed,
                millis,
                sandbox: number("sandbox").and_then(Value::as_str).map(str::to_owned),
                redacted: number("redacted").and_then(Value::as_u64).unwrap_or(0),
                exit: number("exit").and_then(Value::as_i64),
                memory: self.news(),
                images: self.kept_images(result),
            },
            outcome,
        )
    }

    /// Records the untrusted content that a call brought, before anybody sees it.
    pub(super) fn foreign_read(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
    ) -> Result<(), UnfinishedToolCallError> {
        let portal = self.policy.portal.as_deref();
        let sources = self.marks.read(foreign_in(actions, portal));
        if sources.is_empty() {
            return Ok(());
        }
        let call = Some(call.id.to_owned());
        self.append(ForeignRead { call, sources }, EventOutcome::Done)
    }

    /// Returns the changes to the run's memory since the last call.
    fn news(&self) -> Option<RecordedText> {
        let news = self.bench.news()?;
        Some(RecordedText::Inline(
            self.redactor.redact_json(&news).into_owned(),
        ))
    }

    /// Stores the images of a result, so that a process that takes over finds them.
    fn kept_images(&self, result: &Result<ToolObservation, ToolError>) -> Option<Vec<KeptImage>> {
        let images = &result.as_ref().ok()?.images;
        let kept = images.iter().filter_map(|image| {
            let at = self.log.keep(&image.bytes)?;
            let media_type = image.media_type.clone();
            Some(KeptImage { media_type, at })
        });
        let kept: Vec<_> = kept.collect();
        (!kept.is_empty()).then_some(kept)
    }

    /// Records which secrets a refused call does not get. A secret that policy would have
    /// granted was not the reason for the refusal.
    pub(super) fn secrets_denied(
        &self,
        call: &ActiveToolCall<'_>,
        actions: &[PolicyAction],
    ) -> Result<(), UnfinishedToolCallError> {
        let (tool, granted) = (&call.tool.card().name, self.granted());
        let situation = self.situation_now();
        for action in actions {
            let PolicyAction::Secret(name) = action else {
                continue;
            };
            let one = std::slice::from_ref(action);
            if granted.policy().decide(tool, one, &situation).answer == PolicyAnswer::Allow {
                continue;
            }
            let used = SecretUsed {
                call: call.id.to_owned(),
                secret: name.clone(),
                role: self.bench.role.clone(),
                tool: tool.clone(),
                verdict: "denied".to_owned(),
            };
            self.append(used, EventOutcome::Denied)?;
        }
        Ok(())
    }

    fn append(
        &self,
        fact: impl Into<Fact>,
        outcome: EventOutcome,
    ) -> Result<(), UnfinishedToolCallError> {
        self.log
            .append(fact.into(), outcome)
            .map_err(UnfinishedToolCallError::NotRecorded)
    }
}
