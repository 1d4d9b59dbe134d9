//! The branch: a commit for each step that passed, the check of the whole, mending, and going on
//! by another version of the plan.

use std::sync::{Arc, PoisonError};

use artel_engine::Did;
use artel_git::{CommitOrder, Committed, Conflict};
use artel_policy::Changes;
use artel_rules::conduct::Conduct;
use artel_rules::plan::names::commit_message;
use artel_rules::proof;
use artel_types::plan::{EvidenceKind, PlanStep, ProofPlace};
use artel_types::{
    BranchChecked, BranchMended, Fact, Failure, PlanAdopted, PlanDecided, StepFailed, StepPassed,
    Text,
};

use super::{Spot, Workers, blocking, facts, git_failed};
use crate::works::briefs;
use crate::works::children::Child;
use crate::works::contract::{Contract, bound_of};
use crate::works::prover::Where;

/// How the reason begins that another step changed the same places.
pub(super) const CLASH: &str = "Other steps changed the same places";

impl Workers {
    /// Puts a step that passed on the branch.
    pub(super) async fn commit(self: &Arc<Self>, spot: Spot) -> Result<Did, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let step = spot.state.step(&spot.spec.id);
            let left = step.and_then(|it| Some((it.tree.clone()?, it.base.clone()?)));
            let (tree, base) = left.unwrap_or_else(|| (this.base.clone(), this.base.clone()));
            // A step may be on its way to the branch when one before it in the plan gets there.
            let turn = this.branch_turn.lock();
            let _turn = turn.unwrap_or_else(PoisonError::into_inner);
            let onto = this.head()?;
            let changed = this.line.changed(&base, &tree).map_err(git_failed)?;
            let files: Vec<_> = changed
                .iter()
                .map(|it| it.to_string_lossy().into_owned())
                .collect();
            let message = commit_message(&spot.spec, &files, this.trace());
            let committed = this.committed(&tree, (&base, &onto), &message, &spot)?;
            let head = match &committed {
                Committed::Conflict(conflicts) => {
                    let failed = StepFailed {
                        step: spot.spec.id.clone(),
                        round: spot.round,
                        why: this.chronicle.keep(clash(conflicts))?,
                    };
                    return Ok(facts([failed.into()]));
                }
                Committed::Nothing => onto,
                // Another step that passed may have come after it.
                Committed::Done { .. } => this.head()?,
            };
            let commit = match committed {
                Committed::Done { commit, .. } => Some(commit),
                _ => None,
            };
            let outputs = step.map(|it| it.offered().clone()).unwrap_or_default();
            let outputs = serde_json::to_string(&outputs).unwrap_or_default();
            let passed = StepPassed {
                step: spot.spec.id.clone(),
                round: spot.round,
                commit,
                head,
                files,
                outputs: this.chronicle.keep(outputs)?,
                waived: step.map(|it| it.passed_over()).unwrap_or_default(),
            };
            Ok(facts([passed.into()]))
        })
        .await
    }

    /// Commits and moves the branch. The moment of the commit is that of the attempt's first event,
    /// so the same commit comes of it after a crash.
    fn committed(
        &self,
        tree: &str,
        (base, onto): (&str, &str),
        message: &str,
        spot: &Spot,
    ) -> Result<Committed, Failure> {
        // A process that was killed after the branch had moved left its commit there.
        if let Some(done) = self.already(message)? {
            return Ok(done);
        }
        let when = self.when(&spot.spec.id, spot.round)?;
        let order = CommitOrder {
            tree,
            base,
            onto,
            message,
            when,
            author: &self.author,
        };
        let committed = self.line.commit(&order).map_err(git_failed)?;
        if let Committed::Done { commit, .. } = &committed {
            self.line
                .advance(&self.branch, onto, commit)
                .map_err(git_failed)?;
            self.publish()?;
        }
        Ok(committed)
    }

    /// Brings the branch into the person's repository.
    pub(super) fn publish(&self) -> Result<(), Failure> {
        if self.line.is_private() {
            return Ok(());
        }
        self.line.publish(&self.branch).map_err(git_failed)
    }

    /// Returns the commit of a step that is on the branch and not on record.
    fn already(&self, message: &str) -> Result<Option<Committed>, Failure> {
        let step = message
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("Step: "));
        let Some(head) = self.line.head(&self.branch).map_err(git_failed)? else {
            return Ok(None);
        };
        let log = self.line.log(&self.base, &head).map_err(git_failed)?;
        let of_step = log.into_iter().find(|logged| {
            let mut trailers = logged.trailers.iter();
            trailers.any(|(name, value)| name == "Step" && Some(value.as_str()) == step)
        });
        let Some(found) = of_step else {
            return Ok(None);
        };
        self.publish()?;
        let parent = format!("{}^", found.commit);
        let files = self
            .line
            .changed(&parent, &found.commit)
            .map_err(git_failed)?;
        Ok(Some(Committed::Done {
            commit: found.commit,
            files,
        }))
    }

    /// Returns when an attempt began, in seconds.
    fn when(&self, step: &str, round: u32) -> Result<i64, Failure> {
        let events = self.chronicle.own_events()?;
        let began = events.iter().find_map(|event| match &event.fact {
            Fact::StepStarted(it) if it.step == step && it.round == round => Some(event.at),
            Fact::BranchChecked(it) if step == MEND && it.round == round => Some(event.at),
            _ => None,
        });
        let began = began.unwrap_or_else(|| self.house.workshop.caller.clock.now());
        Ok(began.as_micros().div_euclid(1_000_000))
    }

    /// Checks the branch as a whole on a clean checkout.
    pub(super) async fn last_check(
        self: &Arc<Self>,
        round: u32,
        state: Arc<Conduct>,
    ) -> Result<Did, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let head = this.head()?;
            let before = this.proofs(ProofPlace::Baseline)?;
            let prover = this.prover(&state);
            let place = Where {
                place: ProofPlace::Final,
                step: None,
                round,
                tree: this.line.tree_of(&head).map_err(git_failed)?,
            };
            let mut why = Vec::new();
            let mut proofs = Vec::new();
            if !before.is_empty() {
                proofs = this.on_checkout(&prover, &head, &place)?;
                let known = this.left_red(&state)?;
                why = proof::regressions(&before, &proofs, &known);
                for proof in &mut proofs {
                    proof.holds = why.is_empty();
                }
                if !why.is_empty() {
                    why.extend(this.printed(&proofs));
                }
            }
            this.evidence_again(&state, &head, &place, (&mut proofs, &mut why))?;
            let checked = BranchChecked {
                round,
                head,
                passed: why.is_empty(),
                why,
            };
            let checked = Fact::from(checked);
            Ok(facts(proofs.into_iter().map(Fact::from).chain([checked])))
        })
        .await
    }

    /// Returns the tests that may fail at the end: those of steps that nothing comes after.
    fn left_red(&self, state: &Conduct) -> Result<std::collections::BTreeSet<String>, Failure> {
        let plan = state.plan();
        let is_last = |id: &str| {
            !plan
                .steps
                .iter()
                .any(|it| it.after.iter().any(|it| it == id))
        };
        let leaves = |step: &&PlanStep| {
            let wants = step.evidence.iter().any(|it| it.kind == EvidenceKind::Red);
            wants && is_last(&step.id)
        };
        let steps: Vec<_> = plan
            .steps
            .iter()
            .filter(leaves)
            .map(|it| it.id.as_str())
            .collect();
        let proofs = self.proofs(ProofPlace::Green)?;
        let proofs = proofs
            .iter()
            .filter(|proof| proof.step.as_deref().is_some_and(|it| steps.contains(&it)));
        Ok(proofs
            .flat_map(|proof| proof.failures.iter().map(|it| it.name.clone()))
            .collect())
    }

    /// Shows the commands and files again that steps named as their proofs.
    fn evidence_again(
        &self,
        state: &Conduct,
        head: &str,
        place: &Where,
        (proofs, why): (&mut Vec<artel_types::ProofRecorded>, &mut Vec<String>),
    ) -> Result<(), Failure> {
        let prover = self.prover(state);
        let passed = state
            .steps()
            .filter(|(_, it)| it.state == artel_types::plan::StepState::Done);
        for (spec, _) in passed {
            let place = Where {
                step: Some(spec.id.clone()),
                ..place.clone()
            };
            for (index, evidence) in spec.evidence.iter().enumerate() {
                let proof = match evidence.kind {
                    EvidenceKind::File => {
                        let path = std::path::PathBuf::from(evidence.what.trim());
                        let there = self
                            .line
                            .file_at(head, &path, LARGEST_FILE)
                            .map_err(git_failed)?;
                        prover.file(&evidence.what, &place, there.is_some().into())?
                    }
                    EvidenceKind::Command => {
                        let name = format!("{}-final-{}-{index}", spec.id, place.round);
                        let at = super::parts::anew(self, &name)?;
                        let tree = self.checkout(head, &at)?;
                        let sort = format!("evidence-{index}");
                        let proof = prover.one((&at, &tree), &evidence.what, &place, &sort)?;
                        crate::works::prover::done_with(&at);
                        proof
                    }
                    EvidenceKind::Tests | EvidenceKind::Red => continue,
                };
                if !proof.holds {
                    why.push(format!("`{}` no longer holds", evidence.what));
                }
                proofs.push(proof);
            }
        }
        Ok(())
    }

    /// Has what does not hold on the whole branch mended.
    pub(super) async fn mend(
        self: &Arc<Self>,
        round: u32,
        state: Arc<Conduct>,
    ) -> Result<Did, Failure> {
        let this = Arc::clone(self);
        let (head, at, tree) = blocking(move || {
            let head = this.head()?;
            let at = this.at.join("steps").join(format!("{MEND}-{round}"));
            let tree = this.checkout(&head, &at)?;
            Ok((head, at, tree))
        })
        .await?;
        let plan = state.plan();
        let spec = mending(plan);
        let contract = Contract {
            bound: Some(bound_of(&spec, &[], Changes::Some)),
            privacy: self.privacy,
            ..Contract::new(format!("mending, round {round}: {}", plan.title))
        };
        let child = Child {
            name: format!("{MEND}/{round}"),
            parent: Some(self.run()),
            role: "engineer".to_owned(),
            task: briefs::mend(&plan.title, state.proven().1),
            told: None,
            contract,
            tree: Some((at, Arc::clone(&tree))),
        };
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        let (done, _) = match came.left() {
            Ok(over) => over,
            Err(left) => return Ok(left),
        };
        let this = Arc::clone(self);
        blocking(move || {
            let left = this.line.take(&tree).map_err(git_failed)?;
            let changed = this.line.changed(&head, &left).map_err(git_failed)?;
            let files: Vec<_> = changed
                .iter()
                .map(|it| it.to_string_lossy().into_owned())
                .collect();
            let message = commit_message(&spec, &files, this.trace());
            let order = CommitOrder {
                tree: &left,
                base: &head,
                onto: &head,
                message: &message,
                when: this.when(MEND, round)?,
                author: &this.author,
            };
            let committed = this.line.commit(&order).map_err(git_failed)?;
            let commit = match committed {
                Committed::Done { commit, .. } => {
                    this.line
                        .advance(&this.branch, &head, &commit)
                        .map_err(git_failed)?;
                    this.publish()?;
                    Some(commit)
                }
                _ => None,
            };
            let mended = BranchMended {
                round,
                run: done.run,
                head: commit.clone().unwrap_or(head),
                commit,
            };
            Ok(facts([mended.into()]))
        })
        .await
    }

    /// Goes on by the plan of a proposal that a person accepted.
    pub(super) async fn adopt(self: &Arc<Self>, id: &str, _: &Conduct) -> Result<Did, Failure> {
        let events = self.chronicle.own_events()?;
        let found = events.iter().find_map(|event| match &event.fact {
            Fact::PlanProposed(it) if it.id == id => Some(it.clone()),
            _ => None,
        });
        let Some(proposed) = found else {
            return Ok(Did::Facts(Vec::new()));
        };
        let json = self.chronicle.text(&proposed.plan)?;
        let version = self.house.workshop.adopt_version(
            &self.house.journal,
            self.trace(),
            self.run(),
            (&json, &proposed.hash),
        )?;
        let adopted = PlanAdopted {
            version,
            plan: Text::Inline(json),
            hash: proposed.hash,
        };
        let decided = PlanDecided {
            id: id.to_owned(),
            reason: String::new(),
            version: Some(version),
        };
        Ok(facts([adopted.into(), decided.into()]))
    }
}

/// No larger file is looked at.
pub(super) const LARGEST_FILE: u64 = 64 << 20;

const MEND: &str = "mend";

/// The step that mending is.
fn mending(plan: &artel_types::plan::Plan) -> PlanStep {
    PlanStep {
        id: MEND.to_owned(),
        title: format!("Make {} hold as a whole", plan.title),
        role: "engineer".to_owned(),
        work: String::new(),
        check: String::new(),
        after: Vec::new(),
        verify: artel_types::plan::Verify::None,
        scope: artel_types::plan::StepScope::default(),
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
    }
}

fn clash(conflicts: &[Conflict]) -> String {
    let mut text = format!("{CLASH}. Do the step again on top of what is there now.");
    for conflict in conflicts.iter().take(10) {
        let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "(gone)".to_owned());
        text.push_str(&format!(
            "\n\n{}: {}\n<theirs>\n{}\n</theirs>\n<yours>\n{}\n</yours>",
            conflict.path.display(),
            conflict.what.text(),
            side(&conflict.ours),
            side(&conflict.theirs)
        ));
    }
    text
}
