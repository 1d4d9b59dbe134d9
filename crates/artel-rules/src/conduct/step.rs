//! One step of a plan: its attempts, the finished parts of the current one, and the values
//! it handed on.

use std::collections::{BTreeMap, BTreeSet};

use artel_types::plan::{PlanStep, Requirement, StepState, StepVerification, VerdictFinding};
use artel_types::{LeftOutPath, StepWaived};

use super::LOOPS;
use super::order::{AttemptPart, StepVerifier};

/// The state of one step while its plan runs.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRun {
    pub state: StepState,
    /// Number of the attempt, from 1; 0 before the first.
    pub round: u32,
    /// Number of attempts that the step may have.
    pub allowed: u32,
    /// The commit that the attempt started from.
    pub base: Option<String>,
    /// The criteria, as stated by an inspector.
    pub criteria: Vec<Requirement>,
    /// The tree that the last part left.
    pub tree: Option<String>,
    /// Files of the step that are not in that tree and are kept nowhere.
    pub left_out: Vec<LeftOutPath>,
    /// The tree with the step's tests but without its work.
    pub tests: Option<String>,
    /// Why earlier attempts did not pass, oldest first.
    pub history: Vec<String>,
    /// The worker's own account of the current attempt.
    pub(super) said: String,
    /// Why the step failed or was skipped.
    pub why: String,
    /// The values that the step handed on.
    pub outputs: BTreeMap<String, String>,
    /// Checks and findings that a person waived, oldest first.
    pub waived: Vec<StepWaiver>,
    /// The values that the verifiers of this attempt hand on if it passes.
    pub(super) offered: BTreeMap<String, String>,
    /// Finished parts of this attempt.
    pub(super) done: BTreeSet<AttemptPart>,
    /// Why this attempt does not pass.
    pub(super) faults: Vec<AttemptFailure>,
    /// Whether the attempt is over.
    pub(super) is_lost: bool,
    /// Whether the tests must be written again.
    pub(super) redo_tests: bool,
    /// Whether a person wants nothing of this step to begin for now.
    pub is_paused: bool,
    /// Whether an agent waits for a decision about the plan.
    pub(super) waits: bool,
    /// Rank of the step's return from waiting for a person, counting up; 0 if it did not
    /// wait.
    pub(super) came_back: u32,
    /// A person's decision about the step that is not recorded yet.
    pub(super) decided: Option<StepDecision>,
    /// The architect's advice after the last attempt.
    pub(super) advised: Option<StepAdvice>,
    /// Whether the next attempt starts from the branch because other steps were put before
    /// this one.
    pub(super) begins_anew: bool,
}

/// Something that a person lets pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepWaiver {
    /// The check, or the id of the finding.
    pub what: String,
    /// The finding, if the waiver is for one. Only this finding is waived, even if a later
    /// one has the same id.
    pub finding: Option<VerdictFinding>,
    pub reason: String,
}

/// The architect's advice about a step that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepAdvice {
    /// A sentence for the person who decides, or for the next attempt.
    pub(super) said: String,
    /// The id of the plan change that the architect proposes.
    pub(super) proposal: Option<String>,
}

/// A person's decision about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepDecision {
    Waive { what: String, reason: String },
    Settle { state: &'static str, why: String },
}

/// Why an attempt does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AttemptFailure {
    pub(super) part: AttemptPart,
    pub(super) text: String,
    /// The findings behind the failure, if it is based on findings alone.
    pub(super) findings: Vec<VerdictFinding>,
}

impl Default for StepRun {
    fn default() -> Self {
        Self {
            state: StepState::Waiting,
            round: 0,
            allowed: LOOPS,
            base: None,
            criteria: Vec::new(),
            tree: None,
            left_out: Vec::new(),
            tests: None,
            history: Vec::new(),
            said: String::new(),
            why: String::new(),
            outputs: BTreeMap::new(),
            waived: Vec::new(),
            offered: BTreeMap::new(),
            done: BTreeSet::new(),
            faults: Vec::new(),
            is_lost: false,
            redo_tests: false,
            is_paused: false,
            waits: false,
            came_back: 0,
            decided: None,
            advised: None,
            begins_anew: false,
        }
    }
}

impl StepRun {
    /// Returns whether the step has ended.
    pub fn is_over(&self) -> bool {
        matches!(
            self.state,
            StepState::Done | StepState::Failed | StepState::Skipped
        )
    }

    /// Returns whether the next attempt starts from the branch as it is then.
    pub fn begins_anew(&self) -> bool {
        self.begins_anew
    }

    /// Returns whether all attempts are used up.
    pub(super) fn is_spent(&self) -> bool {
        self.is_lost && self.round >= self.allowed
    }

    /// Returns the values that the step would hand on if it passed now.
    pub fn offered(&self) -> &BTreeMap<String, String> {
        &self.offered
    }

    /// Returns the checks that a person waived and that would not have passed.
    pub fn passed_over(&self) -> Vec<String> {
        let faults = self.faults.iter().filter(|fault| self.is_waived(fault));
        let mut names: Vec<_> = faults.map(|fault| fault.part.owner().to_owned()).collect();
        names.dedup();
        names
    }

    /// Returns the failures that a waiver of a whole check lets pass, one text each.
    pub fn let_pass_by(&self, waiver: &StepWaiver) -> Vec<&str> {
        let meant = |fault: &&AttemptFailure| {
            waiver.finding.is_none() && fault.part.is_meant_by(&waiver.what)
        };
        let faults = self.faults.iter().filter(meant);
        faults.map(|fault| fault.text.as_str()).collect()
    }

    /// Folds a waiver. Old records do not contain the finding; they mean the finding of
    /// the attempt with that id.
    pub(super) fn waive(&mut self, it: &StepWaived) {
        let mut found = self.faults.iter().flat_map(|fault| &fault.findings);
        let named = found.find(|finding| finding.id == it.what).cloned();
        self.waived.push(StepWaiver {
            what: it.what.clone(),
            finding: it.finding.clone().or(named),
            reason: it.reason.clone(),
        });
    }

    /// Begins an attempt.
    pub(super) fn begin(&mut self, round: u32, base: &str) {
        self.state = StepState::Running;
        self.round = round;
        if self.base.as_deref() != Some(base) {
            // The files are different, so everything from before has to be done again.
            self.tree = None;
            self.left_out.clear();
            self.tests = None;
            self.criteria.clear();
        }
        self.base = Some(base.to_owned());
        self.done.clear();
        self.faults.clear();
        self.offered.clear();
        self.said.clear();
        self.is_lost = false;
        self.waits = false;
        self.came_back = 0;
        self.advised = None;
        self.begins_anew = false;
        self.done.insert(AttemptPart::Start);
        if self.tests.is_some() && !self.redo_tests {
            self.done
                .extend([AttemptPart::Criteria, AttemptPart::Tests, AttemptPart::Red]);
        }
        self.redo_tests = false;
    }

    /// Notes why the attempt did not pass, together with what was tried: a worker that
    /// does not know the approach repeats it.
    pub(super) fn fail(&mut self, why: &str) {
        why.clone_into(&mut self.why);
        let said = self.said.trim();
        let is_told = said.is_empty() || why.contains(said);
        self.history.push(if is_told {
            why.to_owned()
        } else {
            format!("{why}\nWhat its worker said about it: {said}")
        });
    }

    /// Returns the parts of this attempt that can be done now.
    pub(super) fn parts(&self, spec: &PlanStep) -> Vec<AttemptPart> {
        use AttemptPart::{Commit, Criteria, Green, Red, Start, Tests, Work};
        let line: &[AttemptPart] = match spec.verify {
            StepVerification::None | StepVerification::Evaluator => &[Start, Work, Green],
            StepVerification::Tdd => &[Start, Criteria, Tests, Red, Work, Green],
        };
        if let Some(part) = line.iter().find(|part| !self.done.contains(part)) {
            return vec![*part];
        }
        let judges: &[StepVerifier] = match spec.verify {
            StepVerification::None => &[],
            StepVerification::Evaluator => &[StepVerifier::Evaluator],
            StepVerification::Tdd => &[StepVerifier::Inspector, StepVerifier::Tester],
        };
        let judges = judges.iter().map(|judge| AttemptPart::Judge(*judge));
        let open = judges.filter(|part| !self.done.contains(part) && !self.is_let_pass(*part));
        let open: Vec<_> = open.collect();
        if open.is_empty() { vec![Commit] } else { open }
    }

    /// Notes that a part does not pass.
    pub(super) fn fault(&mut self, part: AttemptPart, text: String, findings: &[VerdictFinding]) {
        let failing = findings.iter().filter(|finding| finding.severity.fails());
        self.faults.push(AttemptFailure {
            part,
            text,
            findings: failing.cloned().collect(),
        });
        // Two verifiers are heard in the same order, whichever finishes first.
        self.faults.sort_by_key(|fault| fault.part);
    }

    /// Returns why the attempt does not pass, without waived failures.
    pub(super) fn reasons(&self) -> Vec<&str> {
        let faults = self.faults.iter().filter(|fault| !self.is_waived(fault));
        faults.map(|fault| fault.text.as_str()).collect()
    }

    fn is_waived(&self, fault: &AttemptFailure) -> bool {
        let is_let_pass = |finding: &VerdictFinding| {
            let mut waived = self.waived.iter().filter_map(|it| it.finding.as_ref());
            waived.any(|it| it.is_same(finding))
        };
        let by_finding = !fault.findings.is_empty() && fault.findings.iter().all(is_let_pass);
        by_finding || self.is_let_pass(fault.part)
    }

    /// Returns whether a person waived a check as a whole.
    fn is_let_pass(&self, part: AttemptPart) -> bool {
        let mut whole = self.waived.iter().filter(|it| it.finding.is_none());
        whole.any(|it| part.is_meant_by(&it.what))
    }
}
