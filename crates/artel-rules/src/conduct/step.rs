//! One step of a plan: its attempts, what of the present one is done, what it handed on.

use std::collections::{BTreeMap, BTreeSet};

use artel_types::plan::{Claim, Finding, PlanStep, StepState, Verify};
use artel_types::{LeftOutPath, StepWaived};

use super::LOOPS;
use super::order::{Judge, Part};

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// How far it has come.
    pub state: StepState,
    /// Which attempt it is, from 1; 0 before the first.
    pub round: u32,
    /// How many attempts it has.
    pub allowed: u32,
    /// The commit that the attempt started from.
    pub base: Option<String>,
    /// What has to hold, as an inspector named it.
    pub criteria: Vec<Claim>,
    /// The tree that the last part left.
    pub tree: Option<String>,
    /// What of its files is not in that tree, and kept nowhere.
    pub left_out: Vec<LeftOutPath>,
    /// The tree with the tests of the step and without its work.
    pub tests: Option<String>,
    /// Why earlier attempts did not pass, oldest first.
    pub history: Vec<String>,
    /// What the worker of the present attempt says it did.
    pub(super) said: String,
    /// Why it failed or was skipped.
    pub why: String,
    /// The values it handed on.
    pub outputs: BTreeMap<String, String>,
    /// Checks and findings that a person waived, oldest first.
    pub waived: Vec<Waiver>,
    /// What the judges of this attempt hand on if it passes.
    pub(super) offered: BTreeMap<String, String>,
    /// Parts of this attempt that are over.
    pub(super) done: BTreeSet<Part>,
    /// Why this attempt does not pass.
    pub(super) faults: Vec<Fault>,
    /// Whether the attempt is over.
    pub(super) is_lost: bool,
    /// Whether the tests are written anew.
    pub(super) redo_tests: bool,
    /// Whether a person wants nothing of it to begin for now.
    pub is_paused: bool,
    /// Whether an agent waits for a decision about the plan.
    pub(super) waits: bool,
    /// When it came back from waiting for a person, counted up; 0 for one that did not wait.
    pub(super) came_back: u32,
    /// What a person decided about it and what is not on record yet.
    pub(super) decided: Option<Decided>,
    /// What the architect said after the last attempt.
    pub(super) advised: Option<Advised>,
    /// Whether the next attempt starts from the branch: steps were put before this one.
    pub(super) begins_anew: bool,
}

/// Something that a person lets pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// The check, or the name that the finding had.
    pub what: String,
    /// The finding, where it is one: it alone is let pass, whatever is called so later.
    pub finding: Option<Finding>,
    /// Why.
    pub reason: String,
}

/// What the architect said about a step that did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Advised {
    /// A sentence for whoever decides or tries again.
    pub(super) said: String,
    /// The change of the plan that it proposes.
    pub(super) proposal: Option<String>,
}

/// What a person decided about a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decided {
    Waive { what: String, reason: String },
    Settle { state: &'static str, why: String },
}

/// Why an attempt does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) part: Part,
    pub(super) text: String,
    /// The findings it rests on, where it rests on findings alone.
    pub(super) findings: Vec<Finding>,
}

impl Default for Step {
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

impl Step {
    /// Tells whether nothing more happens to it.
    pub fn is_over(&self) -> bool {
        matches!(
            self.state,
            StepState::Done | StepState::Failed | StepState::Skipped
        )
    }

    /// Tells whether its next attempt starts from the branch as it is then.
    pub fn begins_anew(&self) -> bool {
        self.begins_anew
    }

    /// Tells whether it has had all its attempts.
    pub(super) fn is_spent(&self) -> bool {
        self.is_lost && self.round >= self.allowed
    }

    /// Returns the values that it would hand on if it passed now.
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

    /// Returns what a waiver of a whole check let pass, a text each.
    pub fn let_pass_by(&self, waiver: &Waiver) -> Vec<&str> {
        let meant =
            |fault: &&Fault| waiver.finding.is_none() && fault.part.is_meant_by(&waiver.what);
        let faults = self.faults.iter().filter(meant);
        faults.map(|fault| fault.text.as_str()).collect()
    }

    /// Takes in what a person lets pass. Records from before findings stood in them mean the one
    /// of the attempt that is called so.
    pub(super) fn waive(&mut self, it: &StepWaived) {
        let mut found = self.faults.iter().flat_map(|fault| &fault.findings);
        let named = found.find(|finding| finding.id == it.what).cloned();
        self.waived.push(Waiver {
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
            // Other files: what was there before has to be done again.
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
        self.done.insert(Part::Start);
        if self.tests.is_some() && !self.redo_tests {
            self.done.extend([Part::Criteria, Part::Tests, Part::Red]);
        }
        self.redo_tests = false;
    }

    /// Notes why the attempt did not pass, for the next one with what was tried: whoever does not
    /// know the approach repeats it.
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

    /// Returns what of this attempt can be done now.
    pub(super) fn parts(&self, spec: &PlanStep) -> Vec<Part> {
        use Part::{Commit, Criteria, Green, Red, Start, Tests, Work};
        let line: &[Part] = match spec.verify {
            Verify::None | Verify::Evaluator => &[Start, Work, Green],
            Verify::Tdd => &[Start, Criteria, Tests, Red, Work, Green],
        };
        if let Some(part) = line.iter().find(|part| !self.done.contains(part)) {
            return vec![*part];
        }
        let judges: &[Judge] = match spec.verify {
            Verify::None => &[],
            Verify::Evaluator => &[Judge::Evaluator],
            Verify::Tdd => &[Judge::Inspector, Judge::Tester],
        };
        let judges = judges.iter().map(|judge| Part::Judge(*judge));
        let open = judges.filter(|part| !self.done.contains(part) && !self.is_let_pass(*part));
        let open: Vec<_> = open.collect();
        if open.is_empty() { vec![Commit] } else { open }
    }

    /// Notes that a part does not pass.
    pub(super) fn fault(&mut self, part: Part, text: String, findings: &[Finding]) {
        let failing = findings.iter().filter(|finding| finding.severity.fails());
        self.faults.push(Fault {
            part,
            text,
            findings: failing.cloned().collect(),
        });
        // Whichever of two judges is done first, they are heard in the same order.
        self.faults.sort_by_key(|fault| fault.part);
    }

    /// Returns why the attempt does not pass, without what was waived.
    pub(super) fn reasons(&self) -> Vec<&str> {
        let faults = self.faults.iter().filter(|fault| !self.is_waived(fault));
        faults.map(|fault| fault.text.as_str()).collect()
    }

    fn is_waived(&self, fault: &Fault) -> bool {
        let is_let_pass = |finding: &Finding| {
            let mut waived = self.waived.iter().filter_map(|it| it.finding.as_ref());
            waived.any(|it| it.is_same(finding))
        };
        let by_finding = !fault.findings.is_empty() && fault.findings.iter().all(is_let_pass);
        by_finding || self.is_let_pass(fault.part)
    }

    /// Tells whether a person waived a check as a whole.
    fn is_let_pass(&self, part: Part) -> bool {
        let mut whole = self.waived.iter().filter(|it| it.finding.is_none());
        whole.any(|it| part.is_meant_by(&it.what))
    }
}
