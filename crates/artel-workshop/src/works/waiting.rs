//! Everything that needs a person: plans to decide about, questions, changesets, and runs
//! that were left.

use std::sync::Arc;

use artel_engine::answer_first;
use artel_types::{
    Event, EventDraft, Fact, Failure, FailureCode, RunAnswered, RunAsked, RunId, StreamName,
    Timestamp, TraceId,
};
use serde::Serialize;

use super::work::Work;
use crate::runs::SteeringDelivery;
use crate::workshop::{OpenWorkshopJournal, OutcomeWithNotes, Workshop};

/// The kind of thing that needs a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AttentionKind {
    /// An agent's call awaits approval.
    Call,
    /// A run asks a question.
    Question,
    /// A plan awaits a decision.
    Plan,
    /// A changeset awaits a decision.
    Changeset,
    /// Planning failed and left no plan.
    Failed,
    /// A plan failed without a result. It can be tried again or cancelled.
    Unfinished,
    /// A run that no process drives any more.
    Left,
    /// A run that a person paused. It resumes when they say so.
    Paused,
}

impl AttentionKind {
    /// All kinds, the most urgent first.
    pub const ALL: [Self; 8] = [
        Self::Call,
        Self::Question,
        Self::Plan,
        Self::Changeset,
        Self::Failed,
        Self::Unfinished,
        Self::Left,
        Self::Paused,
    ];

    /// Returns the word for the kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Changeset => "changeset",
            Self::Failed => "failed",
            Self::Unfinished => "unfinished",
            Self::Left => "left",
            Self::Paused => "paused",
        }
    }
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AttentionItem {
    pub kind: AttentionKind,
    /// The id for an answer.
    pub id: String,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// The title of the run or work.
    pub title: String,
    /// The question, or the present state.
    pub text: String,
    /// Possible answers. If empty, any answer is possible.
    pub choices: Vec<String>,
    /// The suggested answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggested: Option<String>,
    /// The choices that settle a step of a plan. Not everybody who may answer may make these.
    #[serde(skip)]
    pub settling: Vec<String>,
    /// The time since when it waits.
    pub since: Timestamp,
    /// Commands that the person can type.
    pub commands: Vec<String>,
}

impl AttentionItem {
    /// Returns the sort key: first by kind, then by time.
    pub fn place(&self) -> (AttentionKind, Timestamp, &str) {
        (self.kind, self.since, &self.id)
    }
}

/// A question that nobody has answered.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The run that asks.
    pub run: RunId,
    /// The trace of the piece of work.
    pub trace: TraceId,
    /// The run's title.
    pub title: String,
    /// Sequence number of the question in the journal.
    pub seq: u64,
    /// The time when it was asked.
    pub since: Timestamp,
    /// The question, as recorded.
    pub asked: RunAsked,
    /// The process that drives the run.
    pub driver: Option<String>,
    /// Whether the run has other open questions as well.
    pub is_one_of_several: bool,
}

impl OpenQuestion {
    /// Returns the question's id: the run, and also the question if the run has several.
    pub fn id(&self) -> String {
        if self.is_one_of_several {
            format!("{}/{}", self.run.short(), self.asked.question)
        } else {
            self.run.short()
        }
    }

    /// Returns the command that answers the question.
    pub fn command(&self) -> String {
        let what = match (self.asked.choices.as_slice(), &self.asked.suggested) {
            ([], Some(text)) if !text.contains('\'') => format!("'{text}'"),
            ([], _) => "\"…\"".to_owned(),
            (choices, _) => choices.join("|"),
        };
        format!("artel answer {} {what}", self.id())
    }

    fn is_named(&self, id: &str) -> bool {
        let lower = id.to_ascii_lowercase();
        let (run, trace) = (self.run.to_string(), self.trace.to_string());
        let by_both = id.split_once('/').is_some_and(|(named, question)| {
            !named.is_empty()
                && run.starts_with(&named.to_ascii_lowercase())
                && question == self.asked.question
        });
        let is_hex = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
        let is_prefix = !lower.is_empty() && lower.chars().all(is_hex);
        let by_one = is_prefix && (run.starts_with(&lower) || trace.starts_with(&lower));
        by_both || by_one || id == self.asked.question
    }
}

impl Workshop {
    /// Lists what needs a person, questions first, and each kind in the order of arrival.
    pub fn waiting(&self) -> Result<Vec<AttentionItem>, Failure> {
        let board = self.board_of_waits()?;
        let waits = board.waiting(&self.drivers_now()?).into_iter();
        Ok(waits.map(Arc::unwrap_or_clone).collect())
    }

    /// Returns the unanswered questions, including those of runs that other runs called.
    pub fn open_questions(&self) -> Result<Vec<OpenQuestion>, Failure> {
        let board = self.board_of_waits()?;
        Ok(board.questions(&self.drivers_now()?))
    }

    /// Finds an open question by its run, its piece of work, or its own name.
    pub fn question_named(&self, id: &str) -> Result<OpenQuestion, Failure> {
        let open = self.open_questions()?;
        let mut found: Vec<_> = open.iter().filter(|it| it.is_named(id)).collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only.clone()),
            (Some(last), false) => {
                found.push(last);
                let names: Vec<_> = found.iter().map(|it| it.id()).collect();
                Err(
                    Failure::new(FailureCode::W006, format!("`{id}` is not unique"))
                        .because(format!("there are several questions: {}", names.join(", ")))
                        .advise(format!("`{}`", found[0].command())),
                )
            }
            (None, _) => Err(Failure::new(
                FailureCode::R004,
                format!("there is no open question `{id}`"),
            )
            .advise("`artel waiting` shows what needs you")),
        }
    }

    pub fn answer_question(
        &self,
        question: &OpenQuestion,
        answer: &str,
    ) -> Result<OutcomeWithNotes<SteeringDelivery>, Failure> {
        let answer = checked(question, answer)?;
        self.refuse_secret_in(&answer)?;
        let answered = RunAnswered {
            question: question.asked.question.clone(),
            answer,
        };
        let OpenWorkshopJournal { journal, notes } = self.open()?;
        let (run, by) = (question.run, self.caller.actor());
        let draft = EventDraft::new(StreamName::run(run), question.trace, by, answered).in_run(run);
        if let Some(first) = answer_first(&journal, run, question.seq, draft)? {
            return Err(already_decided(&first, run));
        }
        let done = question
            .driver
            .clone()
            .map_or(SteeringDelivery::Kept, SteeringDelivery::Sent);
        Ok(OutcomeWithNotes { done, notes })
    }

    /// Returns whether the process that carried out a plan died between the end of the plan
    /// and the end of its run.
    pub fn is_cut_short(&self, work: &Work) -> Result<bool, Failure> {
        let ended = work
            .events
            .iter()
            .rev()
            .find_map(|event| match &event.fact {
                Fact::PlanEnded(it) => Some(it.run),
                _ => None,
            });
        match work.course.run().filter(|run| ended == Some(*run)) {
            Some(run) => Ok(self.state_of(run)?.finished().is_none()),
            None => Ok(false),
        }
    }
}

/// Returns whether an answer settles a step of a plan: the step is skipped, given up,
/// waived or taken over, or the plan is cancelled. Questions of agents never settle a
/// step: the agent decides what the answer means.
pub fn answer_settles(asked: &RunAsked, answer: &str) -> bool {
    let meant = answer_meant(&asked.choices, answer).unwrap_or_default();
    let choice = meant.split(':').next().unwrap_or_default();
    let settles = ["skip", "give-up", "cancel", "take-over"].contains(&choice)
        || choice.starts_with("waive-");
    asked.call.is_none() && settles
}

/// Says that somebody else answered first.
pub(crate) fn already_decided(first: &Event, run: RunId) -> Failure {
    let what = format!("already decided: {} answered first", first.actor.label());
    Failure::new(FailureCode::R008, what).advise(format!("`artel trace {}` shows it", run.short()))
}

/// Returns an answer in its recorded form, or explains why it is not an answer.
fn checked(question: &OpenQuestion, answer: &str) -> Result<String, Failure> {
    let answer = answer.trim();
    let asked = &question.asked;
    if answer.is_empty() {
        return Err(Failure::new(FailureCode::C005, "there is no answer in it")
            .because(format!("it asks: {}", asked.text))
            .advise(format!("`{}`", question.command())));
    }
    answer_meant(&asked.choices, answer).ok_or_else(|| {
        Failure::new(FailureCode::C004, format!("`{answer}` is no answer to it"))
            .because(format!("it asks: {}", asked.text))
            .advise(format!("answer one of: {}", asked.choices.join(", ")))
    })
}

/// Returns an answer in its recorded form, or `None` if it is not an answer. A choice is
/// given by its word or number, with an optional reason after a colon. Without choices,
/// any words are an answer.
pub fn answer_meant(choices: &[String], answer: &str) -> Option<String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return None;
    }
    if choices.is_empty() || choices.iter().any(|choice| choice == answer) {
        return Some(answer.to_owned());
    }
    let (word, reason) = match answer.split_once(':') {
        Some((word, reason)) => (word.trim(), Some(reason.trim())),
        None => (answer, None),
    };
    let number = word.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    let by_number = number.and_then(|at| choices.get(at));
    let chosen = choices
        .iter()
        .find(|choice| *choice == word)
        .or(by_number)?;
    Some(match reason {
        None => chosen.clone(),
        Some(reason) => format!("{chosen}: {reason}"),
    })
}
