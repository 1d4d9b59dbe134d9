//! Carries out the tool calls of a run.

use std::path::Path;
use std::sync::Arc;

use artel_files::RootFolder;
use artel_rules::turn::{AgentRunAction, RunnableToolCall};
use artel_tools::{ToolCallOutcome, ToolRunner, UnfinishedToolCallError};
use artel_types::model::MessageImage;
use artel_types::{EventOutcome, Failure, FailureCode, RecordedText, ToolFinished};
use serde_json::Value;

use crate::chronicle::RunJournalEntry;
use crate::drive::{RunDriver, blocking};
use crate::hooked::{HookClearedCall, asking, response};
use crate::log::{CallLog, CallLogBuffering, PendingCallEntries};
use crate::steer::{ShutdownLevel, SteeringInbox};

/// The recorded result of a tool call.
struct RecordedToolResult {
    finished: ToolFinished,
    text: String,
    images: Vec<MessageImage>,
}

/// Whether all the calls of a turn have results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolCallsOutcome {
    Done,
    /// The person who was asked about a call left. The call stays open, and so do those
    /// made alongside it.
    Left,
}

impl RunDriver {
    /// Carries out calls, several at once if none of them changes anything.
    pub(crate) async fn act(
        &mut self,
        acts: Vec<RunnableToolCall>,
    ) -> Result<ToolCallsOutcome, Failure> {
        let Some(first) = acts.first() else {
            return Ok(ToolCallsOutcome::Done);
        };
        let workplace = &self.setup.workplace;
        let needs = acts.iter().find(|act| workplace.needs_ground(&act.tool));
        let needs = needs.unwrap_or(first).tool.clone();
        let hands = self.ready(&needs).await?;
        let kinds = &self.setup.turn.rules().tools;
        let is_pure = kinds.get(&first.tool).is_some_and(|kind| kind.is_pure);
        let gathers = if is_pure {
            CallLogBuffering::Yes
        } else {
            CallLogBuffering::No
        };
        let began = self.setup.chronicle.mark_room();
        let cleared = self.pass_calls(acts, &hands).await?;
        let mut acts = Vec::new();
        let mut calls = Vec::new();
        for HookClearedCall { act, is_asked } in cleared {
            acts.push(act.clone());
            let log = Arc::clone(&self.setup.log);
            let hands = if is_asked {
                Arc::new(asking(&hands, &act.tool))
            } else {
                Arc::clone(&hands)
            };
            calls.push(tokio::task::spawn_blocking(move || {
                call(&hands, &log, &act, gathers)
            }));
        }
        let mut all = Box::pin(futures_util::future::join_all(calls));
        let called = loop {
            tokio::select! {
                biased;
                called = &mut all => break called,
                () = self.setup.steering.turned(&hands, &mut self.setup.turn) => {}
            }
        };
        let mut done = Vec::new();
        let mut came = Vec::new();
        let mut entries = Vec::new();
        for (called, act) in called.into_iter().zip(&acts) {
            let called =
                called.map_err(|error| Failure::new(FailureCode::X001, error.to_string()))??;
            let Some((result, written)) = called else {
                return Ok(ToolCallsOutcome::Left);
            };
            entries.extend(written.entries);
            let finished = written.finished.unwrap_or_else(|| {
                // There is no such tool, so nothing was recorded yet.
                let finished = unknown_tool(act, &result);
                let entry = RunJournalEntry::quiet(finished.clone());
                entries.push(entry.ending(EventOutcome::Failed));
                finished
            });
            if !self.hooked.hooks.is_none() {
                came.push((act.clone(), response(&result)));
            }
            done.push(of(&result, finished));
        }
        if done.iter().any(|done| is_failed(&done.finished)) {
            let chronicle = self.setup.chronicle.clone();
            blocking(move || chronicle.ensure_room(began)).await?;
        }
        for RecordedToolResult {
            finished,
            text,
            images,
        } in done
        {
            self.setup.turn.result(&finished, text, images);
        }
        self.hand_in(entries).await?;
        self.tell_calls(came).await?;
        Ok(ToolCallsOutcome::Done)
    }

    /// Records results. If the model is asked next, they are written together with the
    /// intent of that call, which waits for them. Anything else follows only once they are
    /// durable.
    async fn hand_in(&mut self, entries: Vec<RunJournalEntry>) -> Result<(), Failure> {
        if entries.is_empty() {
            return Ok(());
        }
        let chronicle = &self.setup.chronicle;
        if self.hooked.hooks.is_none() && self.setup.turn.next() == AgentRunAction::Ask {
            self.owed = Some(chronicle.append_with_next(entries));
            return Ok(());
        }
        chronicle.append(entries).await
    }

    /// Prepares the files for a call and records what that took.
    async fn ready(&mut self, tool: &str) -> Result<Arc<ToolRunner>, Failure> {
        if !self.setup.workplace.needs_ground(tool) {
            return Ok(Arc::clone(self.setup.workplace.hands()));
        }
        let mut workplace = self.setup.workplace.clone();
        let tool = tool.to_owned();
        let (workplace, ready) = blocking(move || {
            let ready = workplace.ready(&tool)?;
            Ok((workplace, ready))
        })
        .await?;
        self.setup.workplace = workplace;
        for entry in ready.entries {
            self.record(entry).await?;
        }
        Ok(ready.hands)
    }
}

fn is_failed(finished: &ToolFinished) -> bool {
    finished.trouble.is_some() || finished.exit.is_some_and(|exit| exit != 0)
}

/// Carries out one call. Returns `None` if its question was left open.
fn call(
    hands: &ToolRunner,
    log: &CallLog,
    act: &RunnableToolCall,
    gathers: CallLogBuffering,
) -> Result<Option<(ToolCallOutcome, PendingCallEntries)>, Failure> {
    log.begin(&act.id, gathers);
    let named = of_the_skill(hands, act);
    let called = hands.call(&act.id, &act.tool, named.as_ref().unwrap_or(&act.input));
    let written = log.end(&act.id);
    match called {
        Ok(called) => Ok(Some((called, written))),
        Err(UnfinishedToolCallError::Left) => Ok(None),
        Err(UnfinishedToolCallError::NotRecorded(why)) => {
            Err(Failure::new(FailureCode::J001, "the journal did not take a call").because(why))
        }
    }
}

/// Returns the input of a call that reads a file of the skill by the name that the skill's
/// text uses: a path that does not exist in the tree but does exist in the skill's folder.
fn of_the_skill(hands: &ToolRunner, act: &RunnableToolCall) -> Option<Value> {
    let skill = hands.bench.skill.as_ref().filter(|_| act.tool == "read")?;
    let path = act.input["path"].as_str()?;
    let is_named = path.starts_with(['/', '@']);
    let is_there = |root: &RootFolder| {
        let found = root.resolve(Path::new(path));
        found.is_ok_and(|found| found.about.is_some())
    };
    if is_named || is_there(&hands.bench.tree) || !is_there(skill) {
        return None;
    }
    let mut input = act.input.clone();
    input["path"] = Value::from(format!("@skill/{path}"));
    Some(input)
}

/// Joins what the model sees with what is recorded.
fn of(called: &ToolCallOutcome, finished: ToolFinished) -> RecordedToolResult {
    let (text, images) = match &called.result {
        Ok(observation) => (observation.text.clone(), &observation.images[..]),
        Err(trouble) => (trouble.to_string(), &[][..]),
    };
    let images = images.iter().map(|image| MessageImage {
        media_type: image.media_type.clone(),
        data: base64(&image.bytes),
    });
    RecordedToolResult {
        finished,
        text,
        images: images.collect(),
    }
}

fn unknown_tool(act: &RunnableToolCall, called: &ToolCallOutcome) -> ToolFinished {
    let text = match &called.result {
        Ok(observation) => observation.text.clone(),
        Err(trouble) => trouble.to_string(),
    };
    ToolFinished {
        call: act.id.clone(),
        tool: act.tool.clone(),
        observation: RecordedText::Inline(text),
        trouble: Some("not-found".to_owned()),
        changed: Vec::new(),
        millis: 0,
        sandbox: None,
        redacted: 0,
        exit: None,
        memory: None,
        images: None,
    }
}

impl SteeringInbox {
    /// Waits for something to reach the run and folds it. If the run was cancelled, the
    /// running command is ended.
    async fn turned(&mut self, hands: &ToolRunner, turn: &mut artel_rules::turn::AgentRun) {
        if let Some(fact) = self.heard().await {
            // Facts that people record contain no texts that are kept apart.
            drop(turn.fold(&fact));
        }
        if (turn.is_cancelled() || self.stop() == ShutdownLevel::Now)
            && let Some(room) = &hands.bench.workroom
        {
            room.cancel.soft();
        }
    }
}

/// Encodes bytes as standard base64, the form in which images are sent.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4_usize {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            let is_there = place <= chunk.len();
            text.push(if is_there { char::from(letter) } else { '=' });
        }
    }
    text
}
