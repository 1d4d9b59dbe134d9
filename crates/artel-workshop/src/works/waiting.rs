//! What needs a person: plans to decide about, questions, changesets, runs that were left.

use std::collections::BTreeSet;

use artel_journal::{Batch, Filter, Query};
use artel_rules::plan::state::ChangesetState;
use artel_types::plan::PlanState;
use artel_types::{Code, Draft, Failure, RunAnswered, RunAsked, RunId, Stream, Timestamp, TraceId};
use serde::Serialize;

use super::work::Work;
use crate::runs::Steered;
use crate::workshop::{Noted, Open, Workshop};

/// What sort of thing waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitSort {
    /// A run asks something.
    Question,
    /// A plan is to be decided about.
    Plan,
    /// A changeset is to be decided about.
    Changeset,
    /// Nobody drives it any more.
    Left,
}

impl WaitSort {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Changeset => "changeset",
            Self::Left => "left",
        }
    }
}

/// Something that needs a person.
#[derive(Debug, Clone, Serialize)]
pub struct Waits {
    /// What sort of thing it is.
    pub kind: WaitSort,
    /// What to name it by.
    pub id: String,
    /// The piece of work.
    pub trace: TraceId,
    /// What it is about.
    pub title: String,
    /// What is asked, or how it stands.
    pub text: String,
    /// What can be answered; anything if empty.
    pub choices: Vec<String>,
    /// Since when.
    pub since: Timestamp,
    /// What to type.
    pub commands: Vec<String>,
}

/// A question that nobody has answered.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    /// The run that asks.
    pub run: RunId,
    /// The piece of work.
    pub trace: TraceId,
    /// What the run does.
    pub title: String,
    /// When it was asked.
    pub since: Timestamp,
    /// What is asked.
    pub asked: RunAsked,
    /// Who drives the run.
    pub driver: Option<String>,
    /// Whether the run asks something else besides.
    pub is_one_of_several: bool,
}

impl OpenQuestion {
    /// Returns what names it: the run, and the question too where the run has several.
    pub fn id(&self) -> String {
        match self.is_one_of_several {
            true => format!("{}/{}", self.run.short(), self.asked.question),
            false => self.run.short(),
        }
    }

    /// Returns the command that answers it.
    pub fn command(&self) -> String {
        let what = match self.asked.choices.as_slice() {
            [] => "\"…\"".to_owned(),
            choices => choices.join("|"),
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
    /// Lists what needs a person, questions first, each sort in the order in which it came.
    pub fn waiting(&self) -> Result<Vec<Waits>, Failure> {
        let questions = self.open_questions()?;
        let asking: BTreeSet<TraceId> = questions.iter().map(|it| it.trace).collect();
        let mut waits: Vec<Waits> = questions.iter().map(question).collect();
        for work in self.works()? {
            waits.extend(self.plan_waits(&work));
            waits.extend(changeset(&work));
            if !asking.contains(&work.trace) {
                waits.extend(self.left(&work)?);
            }
        }
        waits.sort_by_key(|it| (it.kind, it.since));
        Ok(waits)
    }

    /// Returns the questions that nobody has answered, also those of runs that others called.
    pub fn open_questions(&self) -> Result<Vec<OpenQuestion>, Failure> {
        let filter = Filter {
            kind: Some("run.asked".to_owned()),
            ..Filter::default()
        };
        let records = self.reader()?.records(&Query::of(filter))?;
        let runs = records.iter().filter_map(|record| record.run.as_deref());
        let runs: BTreeSet<RunId> = runs.filter_map(|run| run.parse().ok()).collect();
        let mut open = Vec::new();
        for run in runs {
            let state = self.state_of(run)?;
            if state.finished().is_some() {
                continue;
            }
            let questions = state.questions();
            let is_one_of_several = questions.len() > 1;
            open.extend(questions.into_iter().map(|(since, asked)| OpenQuestion {
                run,
                trace: state.trace,
                title: state.started.title.clone(),
                since,
                asked: asked.clone(),
                driver: state.driver.clone(),
                is_one_of_several,
            }));
        }
        open.sort_by_key(|it| it.since);
        Ok(open)
    }

    /// Returns the question that is meant: by its run, its piece of work, or its own name.
    pub fn question_named(&self, id: &str) -> Result<OpenQuestion, Failure> {
        let open = self.open_questions()?;
        let mut found: Vec<_> = open.iter().filter(|it| it.is_named(id)).collect();
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only.clone()),
            (Some(last), false) => {
                found.push(last);
                let names: Vec<_> = found.iter().map(|it| it.id()).collect();
                Err(Failure::new(Code::W006, format!("`{id}` is not unique"))
                    .because(format!("there are several questions: {}", names.join(", ")))
                    .advise(format!("`{}`", found[0].command())))
            }
            (None, _) => Err(
                Failure::new(Code::R004, format!("there is no open question `{id}`"))
                    .advise("`artel waiting` shows what needs you"),
            ),
        }
    }

    /// Answers a question.
    pub fn answer_question(
        &self,
        question: &OpenQuestion,
        answer: &str,
    ) -> Result<Noted<Steered>, Failure> {
        let answer = checked(question, answer)?;
        let answered = RunAnswered {
            question: question.asked.question.clone(),
            answer: self.redactor().redact(&answer).into_owned(),
        };
        let Open { journal, notes } = self.open()?;
        let (run, by) = (question.run, self.caller.actor());
        let draft = Draft::new(Stream::run(run), question.trace, by, answered).in_run(run);
        journal.append(Batch::of([draft])).wait()?;
        let done = question
            .driver
            .clone()
            .map_or(Steered::Kept, Steered::Heard);
        Ok(Noted { done, notes })
    }

    fn plan_waits(&self, work: &Work) -> Option<Waits> {
        let version = work.course.in_review()?;
        let mut drafted = work.versions.iter().rev();
        let drafted = drafted.find(|it| it.fact.version == version.number)?;
        let short = work.trace.short();
        let beside = match work.course.state() {
            Some(PlanState::Running) => " beside the one that is being done",
            _ => "",
        };
        Some(Waits {
            kind: WaitSort::Plan,
            id: short.clone(),
            trace: work.trace,
            title: drafted.fact.title.clone(),
            text: format!("version {} is in review{beside}", version.number),
            choices: Vec::new(),
            since: drafted.at,
            commands: vec![
                format!("artel plan show {short}"),
                format!("artel plan approve {short}"),
            ],
        })
    }

    /// Tells whether the process that carried a plan out died between the plan's end and that of
    /// its run.
    pub fn is_cut_short(&self, work: &Work) -> Result<bool, Failure> {
        let ended = |run| {
            matches!(work.events.iter().rev().find_map(|event| match &event.fact {
            artel_types::Fact::PlanEnded(it) => Some(it.run),
            _ => None,
        }), Some(it) if it == run)
        };
        match work.course.run().filter(|run| ended(*run)) {
            Some(run) => Ok(self.state_of(run)?.finished().is_none()),
            None => Ok(false),
        }
    }

    /// Tells whether a piece of work is to go on and nobody drives it.
    pub(crate) fn left(&self, work: &Work) -> Result<Option<Waits>, Failure> {
        let state = work.course.state();
        let text = match state {
            Some(PlanState::Approved) => "approved and not begun",
            Some(PlanState::Running) => "left on its way",
            Some(PlanState::Exploring | PlanState::Drafting) => "left while it was planned",
            None if work.course.request().is_some_and(|it| it.settled.is_none()) => {
                "nobody has taken it up"
            }
            Some(state) if state.is_over() && self.is_cut_short(work)? => {
                "its end was not written down whole"
            }
            _ => return Ok(None),
        };
        for run in self.open_runs(work)? {
            if self.state_of(run)?.driver.is_some() {
                return Ok(None);
            }
        }
        let short = work.trace.short();
        Ok(Some(Waits {
            kind: WaitSort::Left,
            id: short.clone(),
            trace: work.trace,
            title: work.request.title.clone(),
            text: text.to_owned(),
            choices: Vec::new(),
            since: work.events.last().map_or(work.at, |event| event.at),
            commands: vec![format!("artel resume {short}")],
        }))
    }
}

fn question(open: &OpenQuestion) -> Waits {
    Waits {
        kind: WaitSort::Question,
        id: open.id(),
        trace: open.trace,
        title: open.title.clone(),
        text: open.asked.text.clone(),
        choices: open.asked.choices.clone(),
        since: open.since,
        commands: vec![open.command()],
    }
}

fn changeset(work: &Work) -> Option<Waits> {
    let changeset = work.course.changeset()?;
    let made = work.changeset.as_ref()?;
    if changeset.state != ChangesetState::Open {
        return None;
    }
    let short = work.trace.short();
    let proven = match changeset.is_proven {
        true => "",
        false => ", its proofs do not hold",
    };
    let since = work.events.iter().rev();
    let since = since
        .filter(|event| matches!(event.fact, artel_types::Fact::ChangesetCreated(_)))
        .map(|event| event.at)
        .next();
    Some(Waits {
        kind: WaitSort::Changeset,
        id: short.clone(),
        trace: work.trace,
        title: work.request.title.clone(),
        text: format!(
            "{} files, +{} -{}{proven}",
            made.files.len(),
            made.added,
            made.removed
        ),
        choices: Vec::new(),
        since: since.unwrap_or(work.at),
        commands: vec![
            format!("artel changeset show {short} --diff"),
            format!("artel changeset approve {short}"),
        ],
    })
}

/// Returns an answer as it is recorded: a choice by its word or number, with a reason behind a
/// colon if the person gives one; anything where there are no choices.
fn checked(question: &OpenQuestion, answer: &str) -> Result<String, Failure> {
    let answer = answer.trim();
    let asked = &question.asked;
    if answer.is_empty() {
        return Err(Failure::new(Code::C005, "there is no answer in it")
            .because(format!("it asks: {}", asked.text))
            .advise(format!("`{}`", question.command())));
    }
    if asked.choices.is_empty() {
        return Ok(answer.to_owned());
    }
    if asked.choices.iter().any(|choice| choice == answer) {
        return Ok(answer.to_owned());
    }
    let (word, reason) = match answer.split_once(':') {
        Some((word, reason)) => (word.trim(), Some(reason.trim())),
        None => (answer, None),
    };
    let number = word.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    let by_number = number.and_then(|at| asked.choices.get(at));
    let chosen = asked.choices.iter().find(|choice| *choice == word);
    match (chosen.or(by_number), reason) {
        (Some(choice), None) => Ok(choice.clone()),
        (Some(choice), Some(reason)) => Ok(format!("{choice}: {reason}")),
        (None, _) => Err(
            Failure::new(Code::C004, format!("`{answer}` is no answer to it"))
                .because(format!("it asks: {}", asked.text))
                .advise(format!("answer one of: {}", asked.choices.join(", "))),
        ),
    }
}
