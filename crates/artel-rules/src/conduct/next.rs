//! Decides what can be done now in the run of a plan.

use artel_types::plan::{PlanStep, StepState};
use artel_types::{
    Fact, PlanDecided, RecordedText, RunAnswered, RunAsked, StepFailed, StepSettled, StepWaived,
};

use super::order::{AttemptPart, PlanRunOrder};
use super::step::{StepDecision, StepRun};
use super::{
    BaselineState, LAPSED, MENDS, PlanRun, PlanRunIntent, PlanRunProposal, ProposalDecision,
    StepFailurePolicy,
};

impl PlanRun {
    /// Returns everything that can be done now. A fact to record comes alone, because its
    /// consequences are not known before it is folded.
    pub fn next(&self) -> Vec<PlanRunOrder> {
        if self.is_over {
            return Vec::new();
        }
        if let Some(fact) = self.to_record() {
            return vec![PlanRunOrder::Record(Box::new(fact))];
        }
        let mut orders: Vec<PlanRunOrder> = self.adoptions();
        let awaited = self.questions.values();
        if self.wish == PlanRunIntent::GoOn {
            orders.extend(awaited.map(|asked| PlanRunOrder::Await(Box::new(asked.clone()))));
        }
        if self.wish == PlanRunIntent::GoOn && !self.is_paused() {
            match &self.baseline {
                BaselineState::Unknown => orders.push(PlanRunOrder::Baseline { given: None }),
                BaselineState::Missing(_) => {}
                BaselineState::Given(given) => orders.push(PlanRunOrder::Baseline {
                    given: Some(given.clone()),
                }),
                BaselineState::Taken(_) => orders.extend(self.work()),
            }
        }
        if orders.is_empty() && !self.is_paused() && self.is_settled() {
            orders.push(self.ending());
        }
        orders
    }

    /// Returns whether a step is under way: begun, and waiting neither for a person nor
    /// for other steps.
    fn is_active(&self, spec: &PlanStep) -> bool {
        self.steps.get(&spec.id).is_some_and(|step| {
            let waits = self.is_held(&spec.id, step) || self.is_behind(spec, step);
            step.round > 0 && !step.is_over() && !waits
        })
    }

    /// Returns whether the next attempt of a step has to wait because the plan was changed
    /// and other steps come first now.
    fn is_behind(&self, spec: &PlanStep, step: &StepRun) -> bool {
        step.is_lost && !step.is_spent() && !self.is_ready(spec)
    }

    /// Returns whether a step under way waits for a person.
    pub fn is_waiting(&self, id: &str) -> bool {
        let step = self.steps.get(id);
        step.is_some_and(|step| !step.is_over() && self.is_held(id, step))
    }

    /// Returns the steps that a person paused, in the order of the plan.
    pub fn paused_steps(&self) -> impl Iterator<Item = &PlanStep> {
        let held = self
            .steps()
            .filter(|(_, step)| step.is_paused && !step.is_over());
        held.map(|(spec, _)| spec)
    }

    /// Returns whether a step waits for a person.
    fn is_held(&self, id: &str, step: &StepRun) -> bool {
        step.is_paused || self.is_asking(id, step)
    }

    /// Returns whether a person is being asked about a step.
    fn is_asking(&self, id: &str, step: &StepRun) -> bool {
        let of_step =
            |question: &String| question.split_once('/').is_some_and(|(name, _)| name == id);
        step.waits && self.open_proposal(id)
            || self.questions.keys().any(of_step)
            || self.is_adopting(step)
    }

    /// Returns whether a person accepted the plan change that the architect proposed for a
    /// step, and the change is not adopted yet.
    fn is_adopting(&self, step: &StepRun) -> bool {
        self.advised_change(step)
            .is_some_and(|it| !it.is_settled && it.answer == Some(ProposalDecision::Accept))
    }

    /// Returns the change that the architect proposed for a step that did not pass.
    fn advised_change(&self, step: &StepRun) -> Option<&PlanRunProposal> {
        let id = step.advised.as_ref()?.proposal.as_ref()?;
        self.proposals.get(id)
    }

    fn open_proposal(&self, step: &str) -> bool {
        let mut proposals = self.proposals.values();
        proposals.any(|it| it.step == step && it.is_blocking && !it.is_settled)
    }

    /// Returns the steps that take a place.
    pub fn steps_at_work(&self) -> impl Iterator<Item = &str> {
        let active = self.steps().filter(|(spec, _)| self.is_active(spec));
        active.map(|(spec, _)| spec.id.as_str())
    }

    /// Returns the parts of steps that can be done.
    fn work(&self) -> Vec<PlanRunOrder> {
        let mut orders = Vec::new();
        let mut commits = false;
        // A step that comes back from waiting for a person lines up behind those at work.
        let mut at_work: Vec<_> = self
            .steps()
            .filter(|(spec, _)| self.is_active(spec))
            .collect();
        at_work.sort_by_key(|(_, step)| step.came_back);
        let active = at_work.len();
        for (spec, step) in at_work.into_iter().take(self.rules.at_once) {
            for part in self.parts_of(spec, step) {
                // The branch moves one commit at a time.
                if part == AttemptPart::Commit && std::mem::replace(&mut commits, true) {
                    continue;
                }
                let round = if part == AttemptPart::Start {
                    step.round + 1
                } else {
                    step.round
                };
                orders.push(doing(spec, round, part));
            }
        }
        if self.begins_nothing() {
            return orders;
        }
        let places = self.rules.at_once.saturating_sub(active);
        let begins = self.could_begin().into_iter().take(places);
        orders.extend(begins.map(|spec| doing(spec, 1, AttemptPart::Start)));
        orders
    }

    /// Returns the steps that wait only for a place: the most urgent first, equally urgent
    /// ones in the order of the plan.
    fn could_begin(&self) -> Vec<&PlanStep> {
        let is_free = |step: &StepRun| step.round == 0 && !step.is_over() && !step.is_paused;
        let ready = self.steps();
        let ready = ready.filter(|(spec, step)| is_free(step) && self.is_ready(spec));
        let mut ready: Vec<&PlanStep> = ready.map(|(spec, _)| spec).collect();
        ready.sort_by_key(|spec| std::cmp::Reverse(spec.urgency()));
        ready
    }

    fn parts_of(&self, spec: &PlanStep, step: &StepRun) -> Vec<AttemptPart> {
        match (step.is_lost, step.is_spent(), &step.advised) {
            (false, ..) => step.parts(spec),
            (true, false, _) => vec![AttemptPart::Start],
            (true, true, None) => vec![AttemptPart::Advise],
            // The person decides.
            (true, true, Some(_)) => Vec::new(),
        }
    }

    /// Returns whether no further step may begin.
    fn begins_nothing(&self) -> bool {
        let mut proposals = self.proposals.values();
        let is_held = proposals.any(|it| it.is_blocking && !it.is_settled);
        let failed = self
            .steps()
            .any(|(_, step)| step.state == StepState::Failed);
        is_held || (self.rules.failure == StepFailurePolicy::Fast && failed)
    }

    fn is_ready(&self, spec: &PlanStep) -> bool {
        let passed = |id: &String| {
            self.steps
                .get(id)
                .is_some_and(|it| it.state == StepState::Done)
        };
        spec.after.iter().all(passed)
    }

    /// Returns a fact that follows from the state and is not recorded yet.
    fn to_record(&self) -> Option<Fact> {
        if let BaselineState::Missing(taken) = &self.baseline
            && self.questions.is_empty()
            && self.wish == PlanRunIntent::GoOn
        {
            return Some(baseline_question(taken).into());
        }
        for (spec, step) in self.steps() {
            if step.is_over() {
                continue;
            }
            if self.wish != PlanRunIntent::GoOn {
                let why = match self.wish {
                    PlanRunIntent::Cancel => "the run was cancelled",
                    _ => "a person took over",
                };
                let state = if step.round > 0 {
                    "cancelled"
                } else {
                    "skipped"
                };
                return Some(settled(spec, state, why.to_owned()));
            }
            if let Some(fact) = self.of_step(spec, step) {
                return Some(fact);
            }
        }
        self.of_proposals()
    }

    fn of_step(&self, spec: &PlanStep, step: &StepRun) -> Option<Fact> {
        if let Some(cause) = self.blocker(spec) {
            return Some(settled(spec, "skipped", cause));
        }
        if let Some(decided) = &step.decided {
            return Some(decided_fact(spec, decided));
        }
        if step.round == 0 {
            if self.rules.failure == StepFailurePolicy::Continue {
                return None;
            }
            let failed = self.steps().find(|(_, it)| it.state == StepState::Failed);
            return failed.map(|(failed, _)| {
                settled(spec, "skipped", format!("`{}` failed first", failed.title))
            });
        }
        let reasons = step.reasons();
        if !step.is_lost && !reasons.is_empty() && !self.has_open_judge(spec, step) {
            return Some(
                StepFailed {
                    step: spec.id.clone(),
                    round: step.round,
                    why: RecordedText::Inline(reasons.join("\n\n")),
                }
                .into(),
            );
        }
        let is_due = step.is_spent() && step.advised.is_some();
        let is_asked = self.is_asking(&spec.id, step);
        (is_due && !is_asked).then(|| self.question(spec, step).into())
    }

    /// Returns whether a verifier still has to report. The attempt is lost only after all
    /// verifiers that examine it side by side were heard.
    fn has_open_judge(&self, spec: &PlanStep, step: &StepRun) -> bool {
        let is_judging = step
            .faults
            .iter()
            .all(|it| matches!(it.part, AttemptPart::Judge(_)));
        let mut parts = step.parts(spec).into_iter();
        is_judging && parts.any(|part| matches!(part, AttemptPart::Judge(_)))
    }

    /// Returns why a step can never begin.
    fn blocker(&self, spec: &PlanStep) -> Option<String> {
        spec.after.iter().find_map(|id| {
            let what = match self.steps.get(id)?.state {
                StepState::Failed => "failed",
                StepState::Skipped => "was skipped",
                _ => return None,
            };
            Some(format!("step {} {what}", self.plan.number(id)?))
        })
    }

    fn of_proposals(&self) -> Option<Fact> {
        self.proposals.iter().find_map(|(id, it)| match &it.answer {
            _ if it.is_settled => None,
            // The run ends, and everything open ends with it.
            None if self.wish != PlanRunIntent::GoOn => None,
            None => match self.over(&it.step) {
                Some(why) => Some(self.lapsed(id, why)),
                None => self.proposal_question(id, it),
            },
            Some(ProposalDecision::Accept) => None,
            Some(ProposalDecision::Reject(reason)) => Some(
                PlanDecided {
                    id: id.clone(),
                    reason: reason.clone(),
                    version: None,
                }
                .into(),
            ),
        })
    }

    /// Asks about a proposal, unless that is already asked, alone or with another
    /// question.
    fn proposal_question(&self, id: &str, proposal: &PlanRunProposal) -> Option<Fact> {
        let question = format!("proposal/{id}");
        if self.is_advice(id) || self.questions.contains_key(&question) {
            return None;
        }
        let asked = RunAsked {
            question,
            text: proposal.text.clone(),
            choices: ["accept", "reject"].map(str::to_owned).to_vec(),
            call: None,
            suggested: None,
        };
        Some(asked.into())
    }

    /// Returns how a step ended, or `None` if it is not over.
    fn over(&self, id: &str) -> Option<String> {
        let step = self.steps.get(id).filter(|step| step.is_over())?;
        let number = self.plan.number(id)?;
        Some(format!("step {number} is {} by now", step.state))
    }

    /// Ends a proposal that is not needed any more, and the question about it if there is
    /// one.
    fn lapsed(&self, id: &str, why: String) -> Fact {
        let question = format!("proposal/{id}");
        if self.questions.contains_key(&question) {
            let answer = format!("{LAPSED}: {why}");
            return RunAnswered { question, answer }.into();
        }
        PlanDecided {
            id: id.to_owned(),
            reason: format!("{LAPSED}: {why}"),
            version: None,
        }
        .into()
    }

    /// Returns whether a proposal is shown to the person among the other choices for its
    /// step.
    fn is_advice(&self, id: &str) -> bool {
        let proposed = |step: &StepRun| step.advised.as_ref()?.proposal.clone();
        let mut steps = self.steps.values();
        steps.any(|step| proposed(step).is_some_and(|it| it == id))
    }

    fn adoptions(&self) -> Vec<PlanRunOrder> {
        let accepted = self.proposals.iter();
        let accepted = accepted
            .filter(|(_, it)| !it.is_settled && it.answer == Some(ProposalDecision::Accept));
        accepted
            .map(|(id, _)| PlanRunOrder::Adopt { id: id.clone() })
            .collect()
    }

    fn question(&self, spec: &PlanStep, step: &StepRun) -> RunAsked {
        let number = self.plan.number(&spec.id).unwrap_or(0);
        let change = self.advised_change(step).filter(|it| !it.is_settled);
        let mut choices = Vec::new();
        choices.extend(change.map(|_| "change-plan"));
        choices.push("more");
        let owns = |owner: &str| step.faults.iter().any(|fault| fault.part.owner() == owner);
        for (owner, choice) in [("inspector", "waive-inspector"), ("tester", "waive-tester")] {
            if owns(owner) && !step.waived.iter().any(|it| it.what == owner) {
                choices.push(choice);
            }
        }
        choices.extend(["take-over", "skip", "give-up", "cancel"]);
        let mut text = format!(
            "Step {number} ({}) did not pass in {} attempts. The last one: {}",
            spec.title, step.round, step.why
        );
        if let Some(advised) = step.advised.as_ref().filter(|it| !it.said.is_empty()) {
            text.push_str(&format!("\n{}", advised.said));
        }
        if let Some(change) = change {
            text.push_str(&format!(
                "\nIt would change the plan: {}\nImpact: {}\n`change-plan` goes on by that.",
                change.what, change.impact
            ));
        }
        RunAsked {
            question: format!("{}/{}/{}", spec.id, step.round, step.waived.len()),
            text,
            choices: choices.into_iter().map(str::to_owned).collect(),
            call: None,
            suggested: None,
        }
    }

    fn is_settled(&self) -> bool {
        self.steps().all(|(_, step)| step.is_over())
    }

    /// Returns what comes after the last step.
    fn ending(&self) -> PlanRunOrder {
        let (state, why) = self.outcome();
        let close = PlanRunOrder::Close { state, why };
        if self.branch.head.is_none() || self.wish == PlanRunIntent::Cancel {
            return close;
        }
        let branch = &self.branch;
        if branch.checks == 0 || branch.mends == branch.checks {
            return PlanRunOrder::Final {
                round: branch.checks + 1,
            };
        }
        let is_whole = state == artel_types::plan::PlanState::Done;
        if !branch.passed && is_whole && branch.mends < MENDS {
            return PlanRunOrder::Mend {
                round: branch.checks,
            };
        }
        close
    }
}

fn doing(spec: &PlanStep, round: u32, part: AttemptPart) -> PlanRunOrder {
    PlanRunOrder::Do {
        step: spec.id.clone(),
        round,
        part,
    }
}

fn settled(spec: &PlanStep, state: &str, why: String) -> Fact {
    StepSettled {
        step: spec.id.clone(),
        state: state.to_owned(),
        why,
    }
    .into()
}

fn decided_fact(spec: &PlanStep, decided: &StepDecision) -> Fact {
    match decided {
        StepDecision::Settle { state, why } => settled(spec, state, why.clone()),
        StepDecision::Waive { what, reason } => StepWaived {
            step: spec.id.clone(),
            what: what.clone(),
            reason: reason.clone(),
            finding: None,
        }
        .into(),
    }
}

fn baseline_question(taken: &artel_types::BaselineTaken) -> RunAsked {
    let found = taken.commands.iter();
    let found: Vec<_> = found.map(|it| it.trim_start_matches("found: ")).collect();
    let suggested = (!found.is_empty()).then(|| found.join(" ; "));
    let found = match &suggested {
        Some(found) => format!("These look like checks: {found}."),
        None => "Nothing was found to run.".to_owned(),
    };
    RunAsked {
        question: "baseline".to_owned(),
        text: format!(
            "There is nothing to compare the steps with: {}. {found} Which commands build, lint and \
             test this project? Separate them with `;`, or answer `none`.",
            taken.why.as_deref().unwrap_or("no test ran")
        ),
        choices: Vec::new(),
        call: None,
        suggested,
    }
}
