//! Hands the work of a run over to a fresh one where its conversation is worn out, and waits for
//! that one. The run stays the one that people know: it ends as its heir ends, with the same files.

use std::sync::Arc;

use artel_rules::context::{Handover, handover, taken_apart};
use artel_rules::turn::Ending;
use artel_types::model::{Message, Part, Role};
use artel_types::{Actor, Event, Fact, Failure, Objective, RunHandedOver, RunId};
use futures_util::future::BoxFuture;

use crate::chronicle::{Chronicle, Entry};
use crate::drive::{Driver, Ended, Left, blocking};

/// With fewer turns left nothing is worth handing over.
const FEWEST_TURNS: u32 = 2;

/// Why work is handed over.
const WHY: &str = "its conversation was summarised again and again, and is too long once more";

/// Begins the run of this name, which has so many turns, or takes it up, and waits for it.
pub type Begin = dyn Fn(RunId, u32) -> BoxFuture<'static, Result<Followed, Failure>> + Send + Sync;

/// Who goes on with the work of a run.
#[derive(Clone)]
pub struct Succession {
    /// The name of the run that would.
    pub fresh: RunId,
    /// Has it begin.
    pub begin: Arc<Begin>,
}

/// What came of the run that went on.
#[derive(Debug)]
pub enum Followed {
    /// It is over.
    Over {
        /// How it ended.
        ending: Ending,
        /// What it set out to do.
        objectives: Vec<Objective>,
    },
    /// It can be taken up again.
    Left(Left),
}

impl Driver {
    /// Lets a fresh run go on where a conversation is worn out.
    #[must_use]
    pub fn with_succession(mut self, succession: Succession) -> Self {
        self.succession = Some(succession);
        self
    }

    /// Tells whether the work is better handed over than summarised once more.
    pub(crate) fn is_worn(&self) -> bool {
        let turn = &self.setup.turn;
        self.succession.is_some() && turn.shortened().is_worn() && turn.left() >= FEWEST_TURNS
    }

    /// Hands the work over: from here on the run only waits.
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
            let opening = handover(&Handover {
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
        self.record(Entry::shown(handed)).await
    }

    /// Waits for the run that goes on, and takes in how it ended.
    pub(crate) async fn follow(&mut self, heir: RunId) -> Result<Option<Ended>, Failure> {
        let Some(succession) = self.succession.clone() else {
            let why = "the run that went on with it cannot be driven here".to_owned();
            let ending = self.setup.turn.partial(why);
            self.setup.turn.followed(ending, Vec::new());
            return Ok(None);
        };
        let left = self.setup.turn.left();
        match (succession.begin)(heir, left).await? {
            Followed::Over { ending, objectives } => {
                self.setup.turn.followed(ending, objectives);
                Ok(None)
            }
            Followed::Left(left) => Ok(Some(Ended::Left(left))),
        }
    }
}

/// Returns what those recorded who went on with the work, for what all of it took.
pub(crate) fn events_of_heirs(
    chronicle: &Chronicle,
    first: Option<RunId>,
) -> Result<Vec<Event>, Failure> {
    let (mut all, mut heir) = (Vec::new(), first);
    while let Some(run) = heir {
        let (journal, trace) = (chronicle.journal().clone(), chronicle.trace());
        let of_heir = Chronicle::new(journal, run, trace, None, Actor::agent("default"));
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

/// Calls are named by their run alone: those of several would be taken for one another.
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

/// Returns what the agent said last, besides its calls.
fn last_words(messages: &[Message]) -> String {
    let said = messages.iter().rev();
    let mut said = said.filter(|message| message.role == Role::Assistant);
    let words = said.find_map(|message| {
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text { text, .. } if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        });
        let words = texts.collect::<Vec<_>>().join("\n");
        (!words.is_empty()).then_some(words)
    });
    words.unwrap_or_default()
}
