//! Hands the work of a run over to a fresh run once the conversation is worn out, and
//! waits for that run. To people it stays the same run: it ends as the fresh run ends,
//! with the same files.

use std::sync::Arc;

use artel_rules::context::{HandoverBrief, handover, taken_apart};
use artel_rules::turn::AgentRunEnding;
use artel_types::model::{MessagePart, MessageRole, ModelMessage};
use artel_types::{Actor, Event, Fact, Failure, RunHandedOver, RunId, RunObjective};
use futures_util::future::BoxFuture;

use crate::chronicle::{RunJournal, RunJournalEntry};
use crate::drive::{RunDriver, RunDriverOutcome, RunSuspendReason, blocking};

/// Fewest remaining turns for which a handover is worthwhile.
const FEWEST_TURNS: u32 = 2;

/// The recorded reason for a handover.
const WHY: &str = "its conversation was summarised again and again, and is too long once more";

/// Begins the run with this id and number of turns, or takes it up, and waits until it
/// ends.
pub type Begin =
    dyn Fn(RunId, u32) -> BoxFuture<'static, Result<RunHandoverOutcome, Failure>> + Send + Sync;

/// The run that would take over the work.
#[derive(Clone)]
pub struct RunSuccessor {
    /// The id of the fresh run.
    pub fresh: RunId,
    /// Begins the fresh run.
    pub begin: Arc<Begin>,
}

/// The outcome of the run that took over.
#[derive(Debug)]
pub enum RunHandoverOutcome {
    /// The run is over.
    Over {
        /// The ending of that run.
        ending: AgentRunEnding,
        /// The objectives that the run set itself.
        objectives: Vec<RunObjective>,
    },
    /// The run was left and can be taken up again.
    Left(RunSuspendReason),
}

impl RunDriver {
    /// Lets a fresh run take over once the conversation is worn out.
    #[must_use]
    pub fn with_succession(mut self, succession: RunSuccessor) -> Self {
        self.succession = Some(succession);
        self
    }

    /// Returns whether a handover is better than another summary.
    pub(crate) fn is_worn(&self) -> bool {
        let turn = &self.setup.turn;
        self.succession.is_some() && turn.shortened().is_worn() && turn.left() >= FEWEST_TURNS
    }

    /// Hands the work over: from now on this run only waits.
    pub(crate) async fn hand_over(&mut self) -> Result<(), Failure> {
        let Some(to) = self.succession.as_ref().map(|it| it.fresh) else {
            return Ok(());
        };
        let turn = &self.setup.turn;
        let apart = taken_apart(turn.messages(), self.setup.window / 2);
        let last_words = last_words(turn.messages());
        let (objectives, failed) = (turn.objectives().to_vec(), turn.failed_approaches());
        let summary = self.summary(&apart.work).await;
        let chronicle = self.setup.chronicle.clone();
        let handed = blocking(move || {
            let changed = changed(&chronicle.events()?);
            let opening = handover(&HandoverBrief {
                task: &apart.task,
                why: WHY,
                summary: &summary,
                objectives: &objectives,
                changed: &changed,
                failed: &failed,
                last_words: &last_words,
                pinned: &apart.pinned,
            });
            Ok(RunHandedOver {
                to,
                why: WHY.to_owned(),
                opening: chronicle.keep(opening)?,
            })
        });
        let handed = handed.await?;
        self.record(RunJournalEntry::shown(handed)).await
    }

    /// Waits for the run that took over, and folds how it ended.
    pub(crate) async fn follow(
        &mut self,
        heir: RunId,
    ) -> Result<Option<RunDriverOutcome>, Failure> {
        let Some(succession) = self.succession.clone() else {
            let why = "the run that went on with it cannot be driven here".to_owned();
            let ending = self.setup.turn.partial(why);
            self.setup.turn.followed(ending, Vec::new());
            return Ok(None);
        };
        let left = self.setup.turn.left();
        match (succession.begin)(heir, left).await? {
            RunHandoverOutcome::Over { ending, objectives } => {
                self.setup.turn.followed(ending, objectives);
                Ok(None)
            }
            RunHandoverOutcome::Left(left) => Ok(Some(RunDriverOutcome::Left(left))),
        }
    }
}

/// Returns the events of the runs that took over, to add up the usage of the whole work.
pub(crate) fn events_of_heirs(
    chronicle: &RunJournal,
    first: Option<RunId>,
) -> Result<Vec<Event>, Failure> {
    let (mut all, mut heir) = (Vec::new(), first);
    while let Some(run) = heir {
        let (journal, trace) = (chronicle.journal().clone(), chronicle.trace());
        let of_heir = RunJournal::new(journal, run, trace, None, Actor::agent("default"));
        let mut events = of_heir.own_events()?;
        heir = events.iter().find_map(|event| match &event.fact {
            Fact::RunHandedOver(handed) => Some(handed.to),
            _ => None,
        });
        let is_own = |fact: &Fact| matches!(fact, Fact::RunPrepared(_) | Fact::RunFinished(_));
        events.retain(|event| !is_own(&event.fact));
        events.iter_mut().for_each(|event| rename(run, event));
        all.extend(events);
    }
    Ok(all)
}

/// Makes call names unique across runs: each is unique only within its run, and those of
/// several runs would be mistaken for one another.
fn rename(run: RunId, event: &mut Event) {
    let call = match &mut event.fact {
        Fact::ToolRequested(it) => &mut it.call,
        Fact::ToolAnswered(it) => &mut it.call,
        Fact::ToolFinished(it) => &mut it.call,
        _ => return,
    };
    call.insert_str(0, &run.to_string());
}

/// Returns the files that calls changed, each once.
fn changed(events: &[Event]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for event in events {
        if let Fact::ToolFinished(finished) = &event.fact {
            for file in &finished.changed {
                files.retain(|known| known != file);
                files.push(file.clone());
            }
        }
    }
    files
}

/// Returns the agent's last text, without its calls.
fn last_words(messages: &[ModelMessage]) -> String {
    let said = messages.iter().rev();
    let mut said = said.filter(|message| message.role == MessageRole::Assistant);
    let words = said.find_map(|message| {
        let texts = message.parts.iter().filter_map(|part| match part {
            MessagePart::Text { text, .. } if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        });
        let words = texts.collect::<Vec<_>>().join("\n");
        (!words.is_empty()).then_some(words)
    });
    words.unwrap_or_default()
}
