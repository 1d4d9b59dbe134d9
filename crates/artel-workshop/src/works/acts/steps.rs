//! A person's decisions about single steps: skip one, or let one pass although a check
//! fails.

use std::collections::BTreeMap;

use artel_rules::conduct::PlanRun;
use artel_rules::plan::state::WorkAction;
use artel_types::plan::{PlanState, PlanStep, StepState, StepVerification, VerdictFinding};
use artel_types::{
    EventDraft, Fact, Failure, FailureCode, RunAnswered, RunId, StepSettled, StepWaived, StreamName,
};

use super::LOOKING;
use crate::works::carry::refused;
use crate::works::work::Work;
use crate::workshop::{OpenWorkshopJournal, Workshop};

impl Workshop {
    /// Skips a step and every step that needs it. Returns the step's title.
    pub fn skip_step(&self, work: &Work, step: &str, why: Option<&str>) -> Result<String, Failure> {
        let (run, conduct) = self.under_way(work)?;
        let spec = step_named(&conduct, step)?;
        let state = conduct.step(&spec.id).map(|it| it.state);
        if let Some(state @ (StepState::Done | StepState::Failed | StepState::Skipped)) = state {
            return Err(
                Failure::new(FailureCode::R008, "the step cannot be skipped")
                    .because(format!("`{}` is {state} already", spec.title))
                    .advise(format!("`artel plan show {}`", work.trace.short())),
            );
        }
        let why = why.map(str::trim).filter(|why| !why.is_empty());
        let why = why.unwrap_or("a person decided so");
        self.refuse_secret_in(why)?;
        let settled = StepSettled {
            step: spec.id.clone(),
            state: "skipped".to_owned(),
            why: why.to_owned(),
        };
        let mut facts = vec![settled.into()];
        facts.extend(self.answers_of(run, &spec.id, "skipped")?);
        self.tell_run(work, run, facts)?;
        Ok(spec.title.clone())
    }

    /// Lets a step pass although a check fails or has a finding. Returns the step's title.
    pub fn waive_step(
        &self,
        work: &Work,
        step: &str,
        what: &str,
        reason: &str,
    ) -> Result<String, Failure> {
        let reason = reason.trim();
        if reason.is_empty() {
            return Err(Failure::new(FailureCode::C005, "a waiver needs a reason")
                .because("it stays in the changeset and the report")
                .advise(format!(
                    "`artel plan waive {} {step} {what} --reason \"…\"`",
                    work.trace.short()
                )));
        }
        let (run, conduct) = self.under_way(work)?;
        let spec = step_named(&conduct, step)?;
        let findings = self.findings(run, &spec.id)?;
        let finding = findings.iter().find(|it| it.id == what).cloned();
        let checks = checks_of(spec.verify);
        if !checks.contains(&what) && finding.is_none() {
            let mut known: Vec<&str> = checks.to_vec();
            known.extend(findings.iter().map(|it| it.id.as_str()));
            return Err(
                Failure::new(FailureCode::C004, format!("`{what}` is nothing to waive"))
                    .because(format!(
                        "of `{}` there is: {}",
                        spec.title,
                        known.join(", ")
                    ))
                    .advise(format!("`artel plan show {}`", work.trace.short())),
            );
        }
        self.refuse_secret_in(reason)?;
        let waived = StepWaived {
            step: spec.id.clone(),
            what: what.to_owned(),
            reason: reason.to_owned(),
            finding,
        };
        let mut facts = vec![waived.into()];
        facts.extend(self.answers_of(run, &spec.id, "waived")?);
        self.tell_run(work, run, facts)?;
        Ok(spec.title.clone())
    }

    /// Returns the run of a plan and the state of its steps, if the run is not over.
    pub(super) fn under_way(&self, work: &Work) -> Result<(RunId, PlanRun), Failure> {
        let state = work.course.state();
        let is_open = matches!(state, Some(PlanState::Approved | PlanState::Running));
        let conduct = self.conduct_of(work, LOOKING)?;
        let run = work.course.run();
        match (run, conduct) {
            (Some(run), Some(conduct)) if is_open && !conduct.is_over() => Ok((run, conduct)),
            _ => {
                let no = work.course.may(WorkAction::Propose).err();
                let failure = no.map(refused).unwrap_or_else(|| {
                    Failure::new(FailureCode::R008, "").because("the steps are over")
                });
                Err(Failure {
                    what: "no step is under way".to_owned(),
                    ..failure
                })
            }
        }
    }

    /// Answers the open questions about a step with the decision about it. The answers come
    /// after the decision: in the other order the step would ask again in between.
    pub(super) fn answers_of(
        &self,
        run: RunId,
        step: &str,
        answer: &str,
    ) -> Result<Vec<Fact>, Failure> {
        let state = self.state_of(run)?;
        let questions = state.questions().into_iter().map(|(_, it)| &it.question);
        let own = questions.filter(|it| it.split_once('/').is_some_and(|(id, _)| id == step));
        let answered = |question: &String| {
            let answer = answer.to_owned();
            let question = question.clone();
            RunAnswered { question, answer }.into()
        };
        Ok(own.map(answered).collect())
    }

    /// Returns the findings of a step's verifiers, from the last verdict of each. Every
    /// verdict numbers its findings afresh, so a finding of an older verdict is not the one
    /// that the person means.
    fn findings(&self, run: RunId, step: &str) -> Result<Vec<VerdictFinding>, Failure> {
        let mut last: BTreeMap<String, Vec<VerdictFinding>> = BTreeMap::new();
        for event in self.run_events(run)? {
            if let Fact::StepJudged(judged) = event.fact
                && judged.step == step
            {
                last.insert(judged.by, judged.findings);
            }
        }
        let mut found: Vec<VerdictFinding> = last.into_values().flatten().collect();
        found.retain(|finding| !finding.id.is_empty());
        Ok(found)
    }

    /// Records a person's decision in the stream of the run, where its driver finds it.
    pub(super) fn tell_run(
        &self,
        work: &Work,
        run: RunId,
        facts: Vec<Fact>,
    ) -> Result<(), Failure> {
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let by = self.caller.actor();
        let drafts = facts.into_iter().map(|fact| {
            EventDraft::new(StreamName::run(run), work.trace, by.clone(), fact).in_run(run)
        });
        journal
            .append(artel_journal::EventBatch::of(drafts))
            .wait()?;
        self.refresh_sheets(work.trace, LOOKING);
        Ok(())
    }
}

/// Returns the checks of a step that can be waived as a whole. Waiving a check that the
/// step does not have would have no effect. The single verifier of an evaluated step has
/// two names.
fn checks_of(verify: StepVerification) -> &'static [&'static str] {
    match verify {
        StepVerification::None => &["tester"],
        StepVerification::Evaluator => &["evaluator", "inspector", "tester"],
        StepVerification::Tdd => &["inspector", "tester"],
    }
}

/// Finds a step by its number or its name.
pub(super) fn step_named<'c>(conduct: &'c PlanRun, name: &str) -> Result<&'c PlanStep, Failure> {
    let plan = conduct.plan();
    let number = name.parse::<usize>().ok();
    let by_number = number
        .and_then(|it| it.checked_sub(1))
        .and_then(|at| plan.steps.get(at));
    by_number.or_else(|| plan.step(name)).ok_or_else(|| {
        let known = plan.steps.iter().enumerate();
        let known: Vec<_> = known
            .map(|(at, step)| format!("{} {}", at + 1, step.title))
            .collect();
        Failure::new(FailureCode::C004, format!("the plan has no step `{name}`"))
            .because(format!("it has: {}", known.join("; ")))
            .advise("name it by its number")
    })
}
