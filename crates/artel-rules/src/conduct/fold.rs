//! Folds the events of a plan's run.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::plan::StepState;
use artel_types::{
    Fact, PlanDecided, PlanProposed, RecordedText, RunAnswered, StepAdvised, StepChecked,
    StepJudged, StepPutBack, StepWorked,
};

use super::order::{AttemptPart, StepVerifier};
use super::step::{StepAdvice, StepDecision, StepRun};
use super::{
    BaselineState, LAPSED, LOOPS, PlanRun, PlanRunIntent, PlanRunProposal, ProposalDecision,
};

impl PlanRun {
    /// Folds an event of the run. Events that belong to none of its steps change nothing.
    pub fn fold(&mut self, fact: &Fact) {
        match fact {
            Fact::BaselineTaken(taken) => {
                self.baseline = if taken.holds {
                    BaselineState::Taken(taken.clone())
                } else {
                    BaselineState::Missing(taken.clone())
                };
            }
            Fact::BranchChecked(it) => {
                self.branch.checks = it.round;
                self.branch.passed = it.passed;
                self.branch.why.clone_from(&it.why);
            }
            Fact::BranchMended(it) => {
                self.branch.mends = it.round;
                self.branch.head = Some(it.head.clone());
            }
            Fact::PlanProposed(it) => self.proposed(it),
            Fact::PlanDecided(it) => self.turned_down(it),
            Fact::PlanAdopted(it) => self.adopted(inline(&it.plan)),
            Fact::RunAsked(it) => {
                self.questions.insert(it.question.clone(), it.clone());
            }
            Fact::RunAnswered(it) => self.answered(it),
            Fact::RunSteered(it) => match it.act.as_str() {
                "pause" => self.paused = true,
                "resume" => self.paused = false,
                "cancel" => self.wish = PlanRunIntent::Cancel,
                "hint" => self.hints.push(it.text.clone()),
                _ => {}
            },
            Fact::RunContinued(_) => self.paused = false,
            Fact::RunFinished(_) => self.is_over = true,
            other => self.fold_step(other),
        }
    }

    /// Folds an event of a step.
    fn fold_step(&mut self, fact: &Fact) {
        match fact {
            Fact::StepStarted(it) => {
                // The files may become ready after a person has decided against the step.
                let step = self.steps.get_mut(&it.step);
                if let Some(step) = step.filter(|step| !step.is_over()) {
                    step.begin(it.round, &it.base);
                }
            }
            Fact::StepWorked(it) => self.worked(it),
            Fact::StepPutBack(it) => self.put_back(it),
            Fact::StepChecked(it) => self.checked(it),
            Fact::StepJudged(it) => self.judged(it),
            Fact::StepFailed(it) => self.in_round(&it.step, it.round, |step| {
                step.is_lost = true;
                step.state = StepState::Running;
                step.fail(inline(&it.why));
            }),
            Fact::StepAdvised(it) => self.advised(it),
            Fact::StepPassed(it) => {
                self.branch.head = Some(it.head.clone());
                if let Some(step) = self.steps.get_mut(&it.step) {
                    step.state = StepState::Done;
                    step.why.clear();
                    step.outputs = values(inline(&it.outputs));
                }
            }
            Fact::StepSteered(it) => self.steered(&it.step, &it.act),
            Fact::StepSettled(it) => self.settled(&it.step, &it.state, &it.why),
            Fact::StepWaived(it) => {
                if let Some(step) = self.steps.get_mut(&it.step) {
                    step.decided = None;
                    step.waive(it);
                    if step.reasons().is_empty() {
                        step.is_lost = false;
                    }
                }
            }
            _ => {}
        }
    }

    /// Changes a step if the event belongs to its current attempt.
    fn in_round(&mut self, id: &str, round: u32, change: impl FnOnce(&mut StepRun)) {
        if let Some(step) = self.steps.get_mut(id)
            && step.round == round
            && !step.is_over()
        {
            change(step);
        }
    }

    fn worked(&mut self, it: &StepWorked) {
        let part = match it.part.as_str() {
            "criteria" => AttemptPart::Criteria,
            "tests" => AttemptPart::Tests,
            _ => AttemptPart::Work,
        };
        self.in_round(&it.step, it.round, |step| {
            step.done.insert(part);
            if !it.tree.is_empty() {
                step.tree = Some(it.tree.clone());
                step.left_out = it.left_out.clone().unwrap_or_default();
            }
            if part == AttemptPart::Criteria {
                step.criteria.clone_from(&it.criteria);
            }
            if part == AttemptPart::Work {
                inline(&it.summary).clone_into(&mut step.said);
            }
            if it.state != "complete" {
                if part == AttemptPart::Tests {
                    step.redo_tests = true;
                }
                step.fault(part, inline(&it.summary).to_owned(), &[]);
            }
        });
    }

    /// Blames the work of an attempt for its changes to the tests that it must pass, by
    /// whatever means: a command, a build or a skill that it called counts as its own
    /// doing.
    fn put_back(&mut self, it: &StepPutBack) {
        if it.part != AttemptPart::Work.as_str() {
            return;
        }
        let files: Vec<String> = it.files.iter().map(|file| format!("`{file}`")).collect();
        let text = format!(
            "{TESTS_CHANGED} {}. They were put back as the tester left them: make them pass as they \
             are",
            files.join(", ")
        );
        self.in_round(&it.step, it.round, |step| {
            step.fault(AttemptPart::Work, text, &[])
        });
    }

    fn checked(&mut self, it: &StepChecked) {
        let part = if it.phase == "red" {
            AttemptPart::Red
        } else {
            AttemptPart::Green
        };
        self.in_round(&it.step, it.round, |step| {
            step.done.insert(part);
            step.state = StepState::Verifying;
            if part == AttemptPart::Red && !it.passed {
                step.redo_tests = true;
            }
            if !it.passed {
                step.fault(part, it.why.join("\n"), &[]);
            } else if part == AttemptPart::Red {
                step.state = StepState::Running;
                step.tests.clone_from(&step.tree);
            }
        });
    }

    fn turned_down(&mut self, it: &PlanDecided) {
        if let Some(proposal) = self.proposals.get_mut(&it.id) {
            proposal.is_settled = true;
            let step = self.steps.get_mut(&proposal.step);
            let step = step.filter(|step| !step.is_over());
            if let (Some(step), None) = (step, it.version) {
                let what = if it.reason.starts_with(LAPSED) {
                    format!("`{}` {}", proposal.what, it.reason)
                } else {
                    format!("a person turned down `{}`: {}", proposal.what, it.reason)
                };
                step.history.push(what);
            }
        }
    }

    fn judged(&mut self, it: &StepJudged) {
        let Some(judge) = StepVerifier::named(&it.by) else {
            return;
        };
        self.in_round(&it.step, it.round, |step| {
            let part = AttemptPart::Judge(judge);
            step.done.insert(part);
            step.state = StepState::Verifying;
            if it.passed {
                step.offered.extend(values(inline(&it.outputs)));
                return;
            }
            if it.fault.as_deref() == Some("test") {
                step.redo_tests = true;
            }
            step.fault(part, inline(&it.feedback).to_owned(), &it.findings);
        });
    }

    /// Folds the architect's advice, which the next attempt also gets.
    fn advised(&mut self, it: &StepAdvised) {
        let advice = inline(&it.advice).trim();
        let said = match (&it.fault, advice) {
            (_, "") => String::new(),
            (None, advice) => advice.to_owned(),
            (Some(fault), advice) => {
                let what = match fault.as_str() {
                    "plan" => "the plan is at fault",
                    "tests" => "the tests are at fault",
                    "surroundings" => "what is around the project is at fault",
                    _ => "the code is at fault",
                };
                format!("The architect says that {what}: {advice}")
            }
        };
        self.in_round(&it.step, it.round, |step| {
            // As if the tester had said so: the next attempt begins with new tests.
            step.redo_tests |= it.fault.as_deref() == Some("tests");
            if it.fault.is_some() && !said.is_empty() {
                step.history.push(said.clone());
            }
            step.advised = Some(StepAdvice {
                said,
                proposal: it.proposal.clone(),
            });
        });
    }

    fn settled(&mut self, id: &str, state: &str, why: &str) {
        if state == "taken-over" {
            self.wish = PlanRunIntent::TakeOver;
        }
        let Some(step) = self.steps.get_mut(id) else {
            return;
        };
        if state == "again" {
            let (waived, history) = (step.waived.clone(), step.history.clone());
            let round = step.round;
            *step = StepRun {
                waived,
                history,
                round,
                allowed: round + LOOPS,
                is_lost: round > 0,
                ..StepRun::default()
            };
            if round > 0 {
                step.state = StepState::Running;
            }
            return;
        }
        // Questions about the step need no answer any more.
        self.questions.retain(|question, _| {
            let of = question.split_once('/').map(|(name, _)| name);
            of != Some(id)
        });
        step.decided = None;
        step.state = if state == "skipped" {
            StepState::Skipped
        } else {
            StepState::Failed
        };
        why.clone_into(&mut step.why);
    }

    fn proposed(&mut self, it: &PlanProposed) {
        if self.proposals.contains_key(&it.id) {
            return;
        }
        let text = format!(
            "Step `{}` wants the plan to change: {}\nWhy: {}\nImpact: {}",
            it.step, it.what, it.why, it.impact
        );
        let proposal = PlanRunProposal {
            step: it.step.clone(),
            what: it.what.clone(),
            impact: it.impact.clone(),
            text,
            is_blocking: it.blocking,
            answer: None,
            is_settled: false,
        };
        self.proposals.insert(it.id.clone(), proposal);
        if it.blocking
            && let Some(step) = self.steps.get_mut(&it.step)
        {
            step.waits = true;
            step.allowed += 1;
        }
    }

    /// Adopts another version of the plan. Steps that have begun stay as they are.
    fn adopted(&mut self, json: &str) {
        let Ok(plan) = serde_json::from_str::<artel_types::plan::Plan>(json) else {
            return;
        };
        for spec in &plan.steps {
            let old = self.plan.step(&spec.id);
            let is_other = old.is_some_and(|it| it.work != spec.work || it.check != spec.check);
            let before = old.map(|it| it.after.clone()).unwrap_or_default();
            let is_new = |id: &&String| !before.contains(id);
            let comes_first: Vec<_> = spec.after.iter().filter(is_new).cloned().collect();
            let step = self.steps.entry(spec.id.clone()).or_default();
            // The existing tests were written for something that is not wanted any more.
            step.redo_tests |= is_other && step.round > 0 && !step.is_over();
            if step.round > 0 && !step.is_over() && !comes_first.is_empty() {
                // The step needs what the new predecessors leave on the branch.
                step.begins_anew = true;
                let names = comes_first.join("`, `");
                step.history.push(format!(
                    "the plan was changed: `{names}` come first now, and the files are those of \
                     the branch again"
                ));
            }
        }
        self.plan = Arc::new(plan);
    }

    fn answered(&mut self, it: &RunAnswered) {
        let Some(asked) = self.questions.remove(&it.question) else {
            return;
        };
        let (choice, reason) = match it.answer.split_once(':') {
            Some((choice, reason)) => (choice.trim(), reason.trim()),
            None => (it.answer.trim(), ""),
        };
        if it.question.starts_with(MENDING) {
            let what = asked.text.lines().next().unwrap_or_default();
            let is_agreed = choice == "accept";
            self.branch
                .agreed
                .extend(is_agreed.then(|| what.to_owned()));
        } else if it.question.starts_with("baseline") {
            self.baseline = BaselineState::Given(it.answer.trim().to_owned());
        } else if let Some(id) = it.question.strip_prefix("proposal/") {
            if let Some(proposal) = self.proposals.get_mut(id) {
                proposal.answer = Some(match choice {
                    "accept" => ProposalDecision::Accept,
                    LAPSED => ProposalDecision::Reject(it.answer.clone()),
                    _ => ProposalDecision::Reject(reason.to_owned()),
                });
            }
        } else if let Some((step, _)) = it.question.split_once('/') {
            let step = step.to_owned();
            self.comes_back(&step);
            self.chosen_about_advice(&step, choice);
            self.decided(&step, choice, reason);
        }
    }

    /// Puts a step that waited for a person behind the steps at work.
    fn comes_back(&mut self, id: &str) {
        let last = self.steps.values().map(|it| it.came_back).max();
        if let Some(step) = self.steps.get_mut(id) {
            step.came_back = last.unwrap_or(0) + 1;
        }
    }

    /// Folds that a person paused or resumed a step.
    fn steered(&mut self, id: &str, act: &str) {
        let Some(step) = self.steps.get_mut(id).filter(|step| !step.is_over()) else {
            return;
        };
        step.is_paused = act == "pause";
        if !step.is_paused {
            self.comes_back(id);
        }
    }

    /// Settles the change that the architect proposed, because one of the ways to proceed
    /// was chosen.
    fn chosen_about_advice(&mut self, step: &str, choice: &str) {
        let step = self.steps.get(step);
        let proposal = step.and_then(|it| it.advised.as_ref()?.proposal.clone());
        let Some(proposal) = proposal.and_then(|id| self.proposals.get_mut(&id)) else {
            return;
        };
        if !proposal.is_settled {
            proposal.answer = Some(match choice {
                "change-plan" => ProposalDecision::Accept,
                _ => ProposalDecision::Reject(format!("they chose `{choice}`")),
            });
        }
    }

    /// Folds a person's decision about a step that did not pass.
    fn decided(&mut self, id: &str, choice: &str, reason: &str) {
        let because = if reason.is_empty() {
            "a person decided so"
        } else {
            reason
        };
        if choice == "cancel" {
            self.wish = PlanRunIntent::Cancel;
            return;
        }
        let Some(step) = self.steps.get_mut(id) else {
            return;
        };
        let settle = |state, why| Some(StepDecision::Settle { state, why });
        match choice {
            "more" | "change-plan" => {
                step.allowed += LOOPS;
                if !reason.is_empty() {
                    step.history.push(format!("a person says: {reason}"));
                }
            }
            "waive-inspector" | "waive-tester" => {
                step.decided = Some(StepDecision::Waive {
                    what: choice.trim_start_matches("waive-").to_owned(),
                    reason: because.to_owned(),
                });
            }
            // Recorded beside the answer.
            "waived" | "skipped" | "cancelled" => {}
            "take-over" => step.decided = settle("taken-over", because.to_owned()),
            "skip" => {
                let last = step.why.lines().next().unwrap_or_default();
                let why = match (reason, last) {
                    ("", "") => "a person left it out".to_owned(),
                    ("", last) => format!("a person left it out: {last}"),
                    (reason, _) => format!("a person left it out: {reason}"),
                };
                step.decided = settle("skipped", why);
            }
            _ => step.decided = settle("failed", format!("given up: {}", step.why)),
        }
    }
}

/// Prefix of the failure reason if an attempt changed its own tests.
const TESTS_CHANGED: &str = "the attempt changed the tests that it is held to:";

/// Prefix of questions about mending; no step can have such a name.
const MENDING: &str = "mend.";

/// Returns an inline text. The journal's reader has already put stored texts back.
pub(super) fn inline(text: &RecordedText) -> &str {
    match text {
        RecordedText::Inline(text) => text,
        RecordedText::Kept(_) => "",
    }
}

/// Reads values; anything but a string is kept as JSON.
fn values(json: &str) -> BTreeMap<String, String> {
    let read = serde_json::from_str::<BTreeMap<String, serde_json::Value>>(json);
    let pairs = read.unwrap_or_default().into_iter();
    let text = |value: serde_json::Value| match value {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    };
    pairs.map(|(name, value)| (name, text(value))).collect()
}
