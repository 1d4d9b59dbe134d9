//! Rebuilds what a run inherited when it is resumed on its own, from the runs above it. If
//! a parent cannot be read, the resume is refused: missing records never widen anything.

use std::path::Path;

use artel_engine::TurnAllowance;
use artel_policy::{BoundAdmission, PolicyBound};
use artel_skills::{SkillContextMode, SkillOrigin, SkillSizeEnforcement};
use artel_types::model::{ModelCallReason, PrivacyLabel};
use artel_types::{Actor, Failure, FailureCode, RunId, RunPrepared, RunStarted};

use super::{ChildTerms, RunInheritance};
use crate::runs::RunEnvironment;
use crate::runs::child::bound_of_kind;
use crate::runs::furnish::bound_of_skill;
use crate::works::nothing_changes_yet;

impl RunEnvironment {
    /// Returns what a run inherits from the person here, before its purpose is known.
    pub(crate) fn ordered(&self) -> RunInheritance {
        RunInheritance::of_person(self.named.as_deref())
    }

    /// Returns what a run inherits that a person starts here and now.
    pub(crate) fn ordered_now(&self) -> RunInheritance {
        let reason = if self.is_attended() {
            ModelCallReason::PersonWaits
        } else {
            ModelCallReason::Work
        };
        self.ordered().for_child(ChildTerms {
            reason: Some(reason),
            ..ChildTerms::default()
        })
    }

    /// Returns whether a person is waiting at the screen.
    pub(crate) fn is_attended(&self) -> bool {
        self.company.person.is_some()
    }

    /// Returns what a run inherited according to the journal. For a run from before this was
    /// recorded, it is derived from the runs above.
    pub(crate) fn inheritance_of(&self, started: &RunStarted) -> Result<RunInheritance, Failure> {
        let above = self.runs_above(started)?;
        let mut line = vec![started.clone()];
        line.extend(above);
        let ancestors: Vec<RunId> = line[1..].iter().map(|it| it.id).collect();
        let known = line.iter().position(|it| it.inherits.is_some());
        let (mut inherits, below) =
            match known.and_then(|at| line[at].inherits.as_ref().zip(Some(at))) {
                Some((recorded, at)) => {
                    let above = ancestors[at..].to_vec();
                    (RunInheritance::of_record(recorded, above)?, at)
                }
                None => {
                    let last = line.len() - 1;
                    (self.of_old_root(&line[last])?, last)
                }
            };
        // From the oldest run without a record down to the run itself.
        for child in (0..below).rev() {
            let terms = self.old_terms(&line[child + 1], &line[child])?;
            inherits = inherits.for_child(terms);
        }
        let inherits = inherits.with_model(self.named.as_deref());
        let is_ordered = started.parent.is_none() && started.call.is_none();
        Ok(if is_ordered && self.is_attended() {
            inherits.waited_for()
        } else {
            inherits
        })
    }

    /// Returns the start facts of the runs above a run, its parent first.
    fn runs_above(&self, started: &RunStarted) -> Result<Vec<RunStarted>, Failure> {
        let mut above: Vec<RunStarted> = Vec::new();
        let mut parent = started.parent;
        while let Some(run) = parent {
            let is_round = run == started.id || above.iter().any(|it| it.id == run);
            if is_round || above.len() >= MOST_ABOVE {
                let why = "its chain of parent runs is too long or loops".to_owned();
                return Err(unbounded(started.id, why));
            }
            let found = self.workshop.started(run).map_err(|failure| {
                let why = format!("its parent run {} cannot be read: {failure}", run.short());
                unbounded(started.id, why)
            })?;
            parent = found.0.parent;
            above.push(found.0);
        }
        Ok(above)
    }

    /// Returns what a top-level run inherited from a person, if that was not recorded.
    fn of_old_root(&self, started: &RunStarted) -> Result<RunInheritance, Failure> {
        let model = self.prepared_of(started.id)?.and_then(|it| it.model);
        // The architect, and an agent that answers a question, change nothing.
        let call = started.call.as_deref().unwrap_or_default();
        let only_reads = call == "answer" || call.starts_with("plan/");
        let terms = ChildTerms {
            bounds: only_reads.then(nothing_changes_yet).into_iter().collect(),
            reason: Some(ModelCallReason::Work),
            ..ChildTerms::default()
        };
        Ok(RunInheritance::of_person(model.as_deref()).for_child(terms))
    }

    /// Returns what a run set for its child, if that was not recorded.
    fn old_terms(&self, parent: &RunStarted, child: &RunStarted) -> Result<ChildTerms, Failure> {
        let mut terms = ChildTerms {
            parent: Some(parent.id),
            privacy: self.privacy(PrivacyLabel::Any),
            ..ChildTerms::default()
        };
        if child.takes_over() {
            return Ok(terms);
        }
        if parent.plan.is_some() {
            let why = "its plan step sets its limits, and they were not recorded".to_owned();
            return Err(unbounded(child.id, why));
        }
        let Some(facts) = self.prepared_of(parent.id)? else {
            let why = format!(
                "its parent run {} never finished starting",
                parent.id.short()
            );
            return Err(unbounded(child.id, why));
        };
        let caller = &self.workshop.caller;
        let policy = caller.policy(Some(&facts.role));
        let policy = policy.map_err(|problems| problems.first())?;
        terms.bounds = policy.bounds;
        terms.bounds.push(PolicyBound {
            name: format!("rights of {}", facts.role),
            admits: BoundAdmission::RightsOf {
                role: facts.role.clone(),
                secrets: policy.role_secrets,
            },
        });
        let role = caller
            .role(&facts.role)
            .map_err(|problems| problems.first())?;
        terms.denied = role.deny;
        if let Some(list) = &facts.allowed_tools {
            let name = parent.skill.as_deref().unwrap_or("of before");
            terms.bounds.push(bound_of_skill(name, list));
        }
        terms.bounds.extend(self.old_kind(child)?);
        Ok(terms)
    }

    /// Returns the bound of an old fork, according to the skill that it carries out.
    fn old_kind(&self, child: &RunStarted) -> Result<Option<PolicyBound>, Failure> {
        let facts = self.prepared_of(child.id)?;
        let Some(folder) = facts.and_then(|it| it.skill_folder) else {
            return Ok(None);
        };
        let skill = artel_skills::load(
            Path::new(&folder),
            SkillOrigin::User,
            SkillSizeEnforcement::Warn,
        );
        let skill = skill.map_err(|_| {
            let why = format!("its skill sets its limits, and the skill is gone from `{folder}`");
            unbounded(child.id, why)
        })?;
        let is_fork = skill.front.context == SkillContextMode::Fork;
        Ok(bound_of_kind(
            skill.front.agent.as_ref().filter(|_| is_fork),
        ))
    }

    fn prepared_of(&self, run: RunId) -> Result<Option<RunPrepared>, Failure> {
        let (_, trace) = self.workshop.started(run)?;
        let actor = Actor::agent("default");
        let journal = self.journal.clone();
        let chronicle = artel_engine::RunJournal::new(journal, run, trace, None, actor);
        Ok(artel_engine::prepared(&chronicle.events()?).cloned())
    }
}

/// Maximum length of a chain of runs: the skills of a chain, each with its successors.
const MOST_ABOVE: usize = TurnAllowance::MOST_TURNS as usize;

fn unbounded(run: RunId, why: String) -> Failure {
    let what = format!("the limits of run {} are unknown", run.short());
    Failure::new(FailureCode::R008, what)
        .because(why)
        .advise("resume its parent instead; `artel runs` lists it")
}
