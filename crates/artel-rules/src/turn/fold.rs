//! Folds events into the state of a run.

use std::sync::Arc;

use artel_types::model::{
    MessagePart, MessageRole, ModelMessage, ModelReply, ReplyStopReason, ToolCall, ToolResult,
};
use artel_types::{
    Fact, RecordedText, RunAnswered, RunAsked, RunObjective, ToolFinished, ToolRequested,
};
use serde_json::Value;

use super::call::{PendingToolCall, PendingToolCallOutcome, PendingToolCallState};
use super::react::{ParsedTextReply, clean, read_text};
use super::strikes::FailureStreakKind;
use super::stuck::CompletedToolCall;
use super::{
    ASKED, AgentRun, AgentRunClosing, AgentRunEnding, CanonicalToolCall, ToolCallStyle, ToolTraits,
};
use crate::patience;

/// The tool that ends a run.
const FINISH: &str = "finish";

/// An event that cannot be folded: a text in it is stored elsewhere, or its content is
/// malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a `{kind}` of this run cannot be read: {why}")]
pub struct RunEventFoldError {
    /// The kind of the event.
    pub kind: &'static str,
    /// Why the event cannot be folded.
    pub why: String,
}

impl AgentRun {
    /// Folds an event of the run. Texts stored elsewhere must have been put back.
    pub fn fold(&mut self, fact: &Fact) -> Result<(), RunEventFoldError> {
        let kind = fact.kind();
        match fact {
            // A summary of the conversation is not a part of it.
            Fact::ModelReplied(replied) if replied.account.step.as_deref() == Some("summary") => {}
            Fact::ModelReplied(replied) => {
                let reply = from_json(kind, &replied.reply)?;
                self.replied(&replied.call, &reply);
            }
            Fact::ToolRequested(requested) => self.requested(requested),
            Fact::ToolAnswered(answered) => self.allowed(&answered.call, &answered.answer),
            Fact::ToolFinished(finished) => self.finished(finished, kind)?,
            Fact::RunSaid(said) => self.said(inline(kind, &said.text)?, &said.why),
            Fact::RunSteered(steered) => self.steered(&steered.act, &steered.text),
            Fact::RunContinued(_) => self.continued(),
            Fact::RunAsked(asked) => self.asked(asked),
            Fact::RunAnswered(answered) => self.answered(answered),
            Fact::RunEscalated(_) => self.strikes.escalated(),
            Fact::ContextCompacted(compacted) => {
                self.messages = from_json(kind, &compacted.messages)?;
                self.stuck.shortened(self.turns);
                if compacted.how == "summarised" {
                    let (before, after) = (compacted.before, compacted.after);
                    self.shortened.summarised(before, after);
                }
            }
            Fact::RunHandedOver(handed) => self.heir = Some(handed.to),
            Fact::TreeMade(made) => self.snapped(&made.snapshot),
            Fact::TreeSnapped(snapped) => self.snapped(&snapped.snapshot),
            Fact::TreeRestored(restored) => self.snapshot = Some(restored.snapshot.clone()),
            _ => {}
        }
        Ok(())
    }

    /// Folds a reply as it was recorded.
    pub fn replied(&mut self, call: &str, reply: &ModelReply) {
        self.last_call = Some(call.to_owned());
        self.replies += 1;
        let (calls, answer) = self.meaning(reply);
        if !reply.parts.is_empty() {
            self.messages
                .push(ModelMessage::assistant(reply.parts.clone()));
        }
        // The closing call is not a turn, whatever it brings.
        let is_turn = self.closing == AgentRunClosing::No;
        if self.closing == AgentRunClosing::Said {
            self.closing = AgentRunClosing::Over;
        }
        if !calls.is_empty() {
            let number = self.replies;
            let pending = calls.iter().enumerate();
            self.pending = pending
                .map(|(index, call)| PendingToolCall::new(number, index, call))
                .collect();
            if is_turn && calls.iter().any(|call| call.name != FINISH) {
                self.turns += 1;
            }
            return;
        }
        match reply.stop {
            ReplyStopReason::Refusal => {
                let why = "the model will not answer this".to_owned();
                self.ended = Some(AgentRunEnding::Failed { why });
            }
            ReplyStopReason::Paused => {}
            ReplyStopReason::MaxTokens => {
                self.cut.push_str(&reply.text());
                self.cuts += 1;
                self.nudges_due = true;
            }
            _ => match answer.filter(|answer| !answer.is_empty()) {
                Some(answer) => self.concluded(answer),
                None => {
                    self.stuck.said_nothing();
                    self.silent += 1;
                    self.nudges_due = true;
                }
            },
        }
    }

    /// Returns the calls of a reply, or the answer that it gives.
    fn meaning(&self, reply: &ModelReply) -> (Vec<ToolCall>, Option<String>) {
        let calls: Vec<_> = reply.tool_calls().cloned().collect();
        if !calls.is_empty() {
            return (calls, None);
        }
        let text = reply.text();
        let id = format!("text-{}", self.replies);
        match read_text(&text, &id, |name| self.rules.tools.contains_key(name)) {
            ParsedTextReply::Call(call) => (vec![call], None),
            ParsedTextReply::Answer(answer) => (Vec::new(), Some(answer)),
            // When calls are text, words without any form are a slip, not an answer.
            ParsedTextReply::Plain
                if self.rules.calls == ToolCallStyle::Text && self.silent == 0 =>
            {
                (Vec::new(), None)
            }
            ParsedTextReply::Plain => (Vec::new(), Some(clean(&text))),
        }
    }

    fn concluded(&mut self, answer: String) {
        let answer = std::mem::take(&mut self.cut) + &answer;
        self.silent = 0;
        self.answer = Some(answer);
    }

    fn requested(&mut self, requested: &ToolRequested) {
        let Some(pending) = self.pending_mut(&requested.call) else {
            return;
        };
        if !pending.is_done() {
            pending.state = PendingToolCallState::InFlight {
                unknown: requested.unknown.clone(),
                was_allowed: requested.decision == "allow",
            };
        }
    }

    fn allowed(&mut self, call: &str, answer: &str) {
        let is_yes = !matches!(answer, "no" | "nobody");
        if let Some(pending) = self.pending_mut(call)
            && let PendingToolCallState::InFlight { was_allowed, .. } = &mut pending.state
        {
            *was_allowed = is_yes;
        }
    }

    fn finished(
        &mut self,
        finished: &ToolFinished,
        kind: &'static str,
    ) -> Result<(), RunEventFoldError> {
        let text = inline(kind, &finished.observation)?.to_owned();
        self.result(finished, text, Vec::new());
        Ok(())
    }

    /// Folds the result of a call, with its images.
    pub fn result(
        &mut self,
        finished: &ToolFinished,
        text: String,
        images: Vec<artel_types::model::MessageImage>,
    ) {
        let exit = finished.exit.filter(|code| *code != 0);
        let is_error = finished.trouble.is_some();
        let Some(pending) = self.pending.iter_mut().find(|it| it.id == finished.call) else {
            return;
        };
        let input = pending.input.clone().unwrap_or(Value::Null);
        let tool = pending.call.name.clone();
        let text: Arc<str> = text.into();
        pending.finish(PendingToolCallOutcome {
            text: Arc::clone(&text),
            images,
            is_error,
        });
        self.calls += u32::from(tool != FINISH);
        let kind = self.rules.tools.get(&tool).copied().unwrap_or_default();
        let approach = CanonicalToolCall::of(&tool, &input);
        self.stuck.called(CompletedToolCall {
            approach: approach.clone(),
            result: Arc::clone(&text),
            is_error,
        });
        let was_tried = !matches!(finished.trouble.as_deref(), Some("refused" | "cancelled"));
        if was_tried {
            let is_failure = is_error || exit.is_some();
            self.tried(&approach, kind, &input, is_failure.then_some(&*text));
        }
        if was_tried && !is_error && !finished.changed.is_empty() {
            let tools = &self.rules.tools;
            let is_edit = |name: &str| tools.get(name).is_some_and(|kind| kind.is_edit);
            self.approaches.files_changed(is_edit);
        }
        if !is_error {
            self.understood(&tool, &input);
        }
        self.gather();
    }

    /// Counts the outcome of a call, both for the call and for its streak.
    fn tried(
        &mut self,
        approach: &CanonicalToolCall,
        kind: ToolTraits,
        input: &Value,
        error: Option<&str>,
    ) {
        let row = row_of(kind, input);
        match error {
            Some(error) => {
                self.approaches.fail(approach.clone(), error);
                if let Some(row) = row {
                    let first = error.lines().next().unwrap_or_default();
                    let first: String = first.chars().take(200).collect();
                    self.strikes
                        .fail(row, format!("{}: {first}", approach.tool));
                }
            }
            None => {
                self.approaches.succeed(approach);
                if let Some(row) = row {
                    self.strikes.succeed(row);
                }
            }
        }
    }

    /// Notes what calls say about the run itself.
    fn understood(&mut self, tool: &str, input: &Value) {
        match tool {
            FINISH => {
                let answer = input["answer"].as_str().unwrap_or_default();
                self.concluded(answer.to_owned());
                self.has_checked = true;
            }
            "todo" => {
                let tasks = input["tasks"].as_array().map(Vec::as_slice);
                let objective = |task: &Value| RunObjective {
                    text: task["text"].as_str().unwrap_or_default().to_owned(),
                    done: task["state"] == "done",
                };
                self.objectives = tasks.unwrap_or_default().iter().map(objective).collect();
            }
            _ => {}
        }
    }

    /// Once every call has its result, adds all results to the conversation in one
    /// message.
    fn gather(&mut self) {
        if !self.pending.iter().all(PendingToolCall::is_done) {
            return;
        }
        // Allocated at the right size, because it stays as long as the conversation.
        let mut results: Vec<ToolResult> = Vec::with_capacity(self.pending.len());
        for pending in self.pending.drain(..) {
            if let PendingToolCallState::Done(result) = pending.state {
                results.push(*result);
            }
        }
        let is_text = results.iter().all(|result| result.id.starts_with("text-"));
        let mut message = if is_text {
            let words = results.iter().map(|it| format!("Observation: {}", it.text));
            ModelMessage::user(words.collect::<Vec<_>>().join("\n\n"))
        } else {
            ModelMessage::results(results)
        };
        let beside = self.beside.drain(..).map(MessagePart::text);
        message.parts.extend(beside);
        self.messages.push(message);
    }

    fn said(&mut self, text: &str, why: &str) {
        match why {
            "hint" => drop(self.hints.pop_front()),
            "warning" => self.strikes.warned(),
            "stuck" => self.stuck.nudged(),
            "closing" => self.closing = AgentRunClosing::Said,
            "directive" => self.reminded = self.calls,
            // A hook keeps the run going: the answer does not count yet.
            "held" => self.answer = None,
            "check" => {
                self.has_checked = true;
                self.answer = None;
            }
            _ => {}
        }
        self.nudges_due = false;
        if !self.pending.is_empty() {
            self.beside.push(text.to_owned());
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last.role == MessageRole::User => {
                last.parts.push(MessagePart::text(text))
            }
            _ => self.messages.push(ModelMessage::user(text)),
        }
    }

    fn steered(&mut self, act: &str, text: &str) {
        match act {
            "pause" => self.is_paused = true,
            "resume" => self.is_paused = false,
            "cancel" => self.is_cancelled = true,
            "hint" => self.hints.push_back(text.to_owned()),
            _ => {}
        }
    }

    /// Folds that another process takes over: repeatable calls wait again, and a person
    /// decides about the others.
    fn continued(&mut self) {
        for pending in &mut self.pending {
            if let PendingToolCallState::InFlight {
                unknown,
                was_allowed,
            } = &pending.state
            {
                pending.state = if unknown == "once" && *was_allowed {
                    PendingToolCallState::Unsure { question: None }
                } else {
                    PendingToolCallState::Waiting
                };
            }
        }
    }

    fn asked(&mut self, asked: &RunAsked) {
        self.question = Some(asked.clone());
        let call = asked.call.as_deref();
        if let Some(pending) = call.and_then(|call| self.pending_mut(call)) {
            pending.state = PendingToolCallState::Unsure {
                question: Some(asked.question.clone()),
            };
        }
    }

    fn answered(&mut self, answered: &RunAnswered) {
        let is_open = |asked: &RunAsked| asked.question == answered.question;
        if self.question.as_ref().is_some_and(is_open) {
            self.question = None;
        }
        for pending in &mut self.pending {
            if let PendingToolCallState::Unsure { question } = &pending.state
                && question.as_deref() == Some(&answered.question)
            {
                if answered.question.starts_with(ASKED) {
                    let text = answered.answer.clone();
                    pending.state = PendingToolCallState::Answered { text };
                    continue;
                }
                pending.state = match answered.answer.as_str() {
                    "happened" => PendingToolCallState::Decided {
                        text: "it happened before the process ended, says the person; its output \
                               is lost",
                    },
                    "again" => PendingToolCallState::Waiting,
                    _ => PendingToolCallState::Decided {
                        text: "the person decided that it is not run again",
                    },
                };
            }
        }
    }

    fn snapped(&mut self, snapshot: &str) {
        self.snapshot = Some(snapshot.to_owned());
        self.strikes.snapped(snapshot);
    }

    fn pending_mut(&mut self, call: &str) -> Option<&mut PendingToolCall> {
        self.pending.iter_mut().find(|pending| pending.id == call)
    }
}

/// Returns the streak that a call belongs to, by its kind or by the command that it runs.
fn row_of(kind: ToolTraits, input: &Value) -> Option<FailureStreakKind> {
    if kind.is_check {
        return Some(FailureStreakKind::Check);
    }
    if kind.is_shell {
        let words: Vec<_> = input["command"].as_str()?.split_whitespace().collect();
        return patience::is_build(&words).then_some(FailureStreakKind::Check);
    }
    kind.is_edit.then_some(FailureStreakKind::Edit)
}

fn inline<'t>(kind: &'static str, text: &'t RecordedText) -> Result<&'t str, RunEventFoldError> {
    match text {
        RecordedText::Inline(text) => Ok(text),
        RecordedText::Kept(at) => Err(RunEventFoldError {
            kind,
            why: format!("its text is kept apart, as {}", at.blob),
        }),
    }
}

fn from_json<T: serde::de::DeserializeOwned>(
    kind: &'static str,
    text: &RecordedText,
) -> Result<T, RunEventFoldError> {
    serde_json::from_str(inline(kind, text)?).map_err(|error| RunEventFoldError {
        kind,
        why: error.to_string(),
    })
}
