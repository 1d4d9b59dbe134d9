//! Lessons that a run of a skill teaches, taken from its events when it is over.

use std::collections::BTreeMap;

use artel_engine::RunJournal;
use artel_journal::{EventBatch, EventFilter, EventQuery};
use artel_rules::tally::kind_of_failure;
use artel_types::{
    Event, Fact, Failure, LessonLearned, RecordedText, RunFinished, RunId, RunOutcome,
};
use serde_json::Value;

use super::lessons::{lesson, one_line};
use crate::runs::{RunEnvironment, started_runs_of};

/// Largest number of calls in one list of a lesson.
const MOST_CALLS: usize = 12;

/// Longest description of a call or failed attempt in a lesson, in characters.
const LONGEST_ABOUT: usize = 60;

impl RunEnvironment {
    /// Keeps what a finished run taught, once. A failure to keep it does not change the run's
    /// result; the person gets a notice.
    pub(crate) async fn learn(&self, chronicle: &RunJournal, skill: &str, finished: &RunFinished) {
        let events = chronicle.events();
        let lesson = events.and_then(|events| self.lesson_of(&events, skill, finished));
        self.keep_lesson(lesson).await;
    }

    /// Keeps what a plan taught about its skill: the lessons of the agents that worked on its
    /// steps.
    pub(crate) async fn learn_planned(&self, chronicle: &RunJournal, skill: &str) {
        let lesson = self.planned_events(chronicle).and_then(|events| {
            let run = chronicle.run();
            let finished = events.iter().find_map(|event| match &event.fact {
                Fact::RunFinished(finished) if finished.id == run => Some(finished.clone()),
                _ => None,
            });
            match finished {
                Some(finished) => self.lesson_of(&events, skill, &finished),
                None => Ok(None),
            }
        });
        self.keep_lesson(lesson).await;
    }

    /// Returns the events of a plan's run and of the agents that worked on its steps, in
    /// order.
    fn planned_events(&self, chronicle: &RunJournal) -> Result<Vec<Event>, Failure> {
        let mut events = chronicle.own_events()?;
        // Artel made the checks itself, so they teach nothing.
        events.retain(|event| !event.fact.kind().starts_with("tool."));
        let trace = chronicle.trace();
        for (started, _) in started_runs_of(self.journal.reader(), trace)? {
            let part = started.call.as_deref().and_then(|it| it.rsplit('/').next());
            let is_work = matches!(part, Some("work" | "tests"));
            if is_work && started.parent == Some(chronicle.run()) {
                events.extend(self.told_by(trace, started.id)?);
            }
        }
        events.sort_by_key(|event| event.seq);
        Ok(events)
    }

    async fn keep_lesson(&self, lesson: Result<Option<LessonLearned>, Failure>) {
        let drafts = match lesson {
            Ok(Some(lesson)) => self.workshop.bounded(self.journal.reader(), lesson),
            Ok(None) => return,
            Err(failure) => Err(failure),
        };
        let kept = match drafts {
            Ok(drafts) => self.journal.append(EventBatch::of(drafts)).await.map(drop),
            Err(failure) => {
                self.company.audience.notice(&failure.to_string());
                return;
            }
        };
        if let Err(error) = kept {
            let failure = Failure::from(error);
            self.company.audience.notice(&failure.to_string());
        }
    }

    fn lesson_of(
        &self,
        events: &[Event],
        skill: &str,
        finished: &RunFinished,
    ) -> Result<Option<LessonLearned>, Failure> {
        let run = finished.id;
        let state = finished.state.as_deref().and_then(|it| it.parse().ok());
        let Some(state) = state.filter(|state| *state != RunOutcome::Cancelled) else {
            return Ok(None);
        };
        let began = events.first().map_or(0, |event| event.seq);
        if self.has_learnt_from(run, began)? {
            return Ok(None);
        }
        let calls = LessonCallHistory::of(events);
        let (sort, text) = match state {
            RunOutcome::Complete => ("success", calls.worked()),
            _ => ("failure", calls.failed(finished)),
        };
        let redactor = self.workshop.redactor();
        let redactor = redactor.with_formats(self.workshop.caller.formats());
        let text = one_line(&redactor.redact(&text));
        lesson(skill, sort, text, Some(run)).map(Some)
    }

    /// Returns whether a lesson of this run was kept already. An earlier process may have kept
    /// it and then ended.
    fn has_learnt_from(&self, run: RunId, began: u64) -> Result<bool, Failure> {
        let filter = EventFilter {
            kind: Some("lesson.learned".to_owned()),
            ..EventFilter::default()
        };
        let since = EventQuery::of(filter).after(began);
        for record in self.journal.reader().records(&since)? {
            if let Fact::LessonLearned(lesson) = record.event()?.fact
                && lesson.from == Some(run)
                && lesson.sort != "feedback"
            {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The calls of a run in the order in which they ended, and the failed attempts at steps
/// if the run followed a plan.
struct LessonCallHistory(Vec<LessonCall>, Vec<String>);

struct LessonCall {
    text: String,
    failure: Option<&'static str>,
}

impl LessonCallHistory {
    fn of(events: &[Event]) -> Self {
        let mut inputs: BTreeMap<&str, &RecordedText> = BTreeMap::new();
        let (mut calls, mut attempts) = (Vec::new(), Vec::new());
        for event in events {
            match &event.fact {
                Fact::StepChecked(fact) if !fact.passed => {
                    let why = fact.why.first().map(String::as_str).unwrap_or_default();
                    attempts.push(attempt(&fact.step, fact.round, why));
                }
                Fact::StepJudged(fact) if !fact.passed => {
                    let why = match &fact.feedback {
                        RecordedText::Inline(text) => text,
                        RecordedText::Kept(_) => &fact.by,
                    };
                    attempts.push(attempt(&fact.step, fact.round, why));
                }
                Fact::ToolRequested(fact) => {
                    inputs.insert(&fact.call, &fact.input);
                }
                Fact::ToolFinished(fact) if fact.tool != "finish" => {
                    let about = inputs.get(&*fact.call).copied().map(about);
                    calls.push(LessonCall {
                        text: format!("{} {}", fact.tool, about.unwrap_or_default()),
                        failure: kind_of_failure(fact),
                    });
                }
                _ => {}
            }
        }
        Self(calls, attempts)
    }

    /// Says on one line what worked, and what failed on the way.
    fn worked(&self) -> String {
        let worked = self.0.iter().filter(|call| call.failure.is_none());
        let steps = listed(worked.map(|call| call.text.trim().to_owned()));
        let text = if steps.is_empty() {
            "worked without any tool".to_owned()
        } else {
            format!("worked: {steps}")
        };
        let wrong = self.wrong();
        if wrong.is_empty() {
            return text;
        }
        format!("{text}; did not work: {wrong}")
    }

    /// Says on one line why the run failed, and what was tried.
    fn failed(&self, finished: &RunFinished) -> String {
        let why = finished.why.as_deref().unwrap_or(&finished.summary);
        let why: String = one_line(why).chars().take(200).collect();
        let wrong = self.wrong();
        if wrong.is_empty() {
            return format!("not done: {why}");
        }
        format!("not done: {why}; did not work: {wrong}")
    }

    fn wrong(&self) -> String {
        let failed = self.0.iter().filter_map(|call| {
            let failure = call.failure?;
            Some(format!("{} ({failure})", call.text.trim()))
        });
        let attempts = self.1.iter().cloned();
        listed(attempts.chain(failed))
    }
}

/// Describes a failed attempt at a step.
fn attempt(step: &str, round: u32, why: &str) -> String {
    let why: String = one_line(why).chars().take(LONGEST_ABOUT).collect();
    format!("step {step}, attempt {round} ({why})")
}

/// Joins calls on one line. A repeated call appears only once.
fn listed(calls: impl Iterator<Item = String>) -> String {
    let mut list: Vec<String> = Vec::new();
    for call in calls {
        if !list.contains(&call) && list.len() < MOST_CALLS {
            list.push(call);
        }
    }
    list.join(" → ")
}

/// Returns the object of a call, such as the file, the command or the search text.
fn about(input: &RecordedText) -> String {
    let RecordedText::Inline(text) = input else {
        return String::new();
    };
    let input: Value = serde_json::from_str(text).unwrap_or_default();
    let known = [
        "path", "command", "pattern", "query", "url", "skill", "name",
    ];
    let found = known.iter().find_map(|key| input[key].as_str());
    let found = one_line(found.unwrap_or_default());
    found.chars().take(LONGEST_ABOUT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(text: &str, failure: Option<&'static str>) -> LessonCall {
        LessonCall {
            text: text.to_owned(),
            failure,
        }
    }

    #[test]
    fn a_lesson_is_one_line_of_what_worked_and_what_did_not() {
        let calls = vec![
            call("read a.csv", Some("not-found")),
            call("read b.csv", None),
            call("read b.csv", None),
            call("write c.md", None),
        ];
        let calls = LessonCallHistory(calls, Vec::new());
        assert_eq!(
            calls.worked(),
            "worked: read b.csv → write c.md; did not work: read a.csv (not-found)"
        );
        let finished = RunFinished {
            why: Some("the turns are\nused up".to_owned()),
            ..RunFinished::new(RunId::from_random([1; 16]), "")
        };
        assert_eq!(
            calls.failed(&finished),
            "not done: the turns are used up; did not work: read a.csv (not-found)"
        );
        assert_eq!(
            LessonCallHistory(Vec::new(), Vec::new()).worked(),
            "worked without any tool"
        );
        let again = LessonCallHistory(
            vec![call("edit a.py", None)],
            vec![attempt("mend", 1, "test_add\nfails")],
        );
        assert_eq!(
            again.worked(),
            "worked: edit a.py; did not work: step mend, attempt 1 (test_add fails)"
        );
    }

    #[test]
    fn a_call_is_told_by_what_it_is_about() {
        let told = |json: &str| about(&RecordedText::Inline(json.to_owned()));
        assert_eq!(told(r#"{"path": "a\nb.csv"}"#), "a b.csv");
        assert_eq!(told(r#"{"command": "git status"}"#), "git status");
        assert_eq!(told(r#"{"path": 5}"#), "");
        assert_eq!(told("no json"), "");
        let long = format!(r#"{{"path": "{}"}}"#, "x".repeat(1_000));
        assert_eq!(told(&long).len(), LONGEST_ABOUT);
    }
}
