//! The branch: a commit for each passed step, the check of the whole, and the switch to
//! another version of the plan.

use std::sync::{Arc, PoisonError};

use artel_engine::PlanOrderOutcome;
use artel_git::{CommitOutcome, CommitSpec, MergeConflict};
use artel_rules::conduct::{LAPSED, PlanRun};
use artel_rules::plan::names::commit_message;
use artel_rules::proof;
use artel_types::plan::{PlanStep, ProofStage, StepEvidence, StepEvidenceKind};
use artel_types::{
    BranchChecked, Event, Fact, Failure, PlanAdopted, PlanDecided, RecordedText, StepFailed,
    StepPassed, shown_path,
};

use super::gauges::{OriginalCheckSubject, evidence_of};
use super::{AgentExecutor, StepContext, blocking, facts, git_failed, mend};
use crate::works::prover::{FileEvidenceStatus, ProofLocation};

/// Beginning of the reason for a failure when another step changed the same places.
pub(super) const CLASH: &str = "Other steps changed the same places";

impl AgentExecutor {
    /// Commits a passed step to the branch.
    pub(super) async fn commit(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let step = spot.state.step(&spot.spec.id);
            let left = step.and_then(|it| Some((it.tree.clone()?, it.base.clone()?)));
            let (tree, base) = left.unwrap_or_else(|| (this.base.clone(), this.base.clone()));
            let tree = this.with_tests(&spot, tree)?;
            // Another step may be on its way to the branch at the same time.
            let turn = this.branch_turn.lock();
            let _turn = turn.unwrap_or_else(PoisonError::into_inner);
            let onto = this.head()?;
            let changed = this.line.changed(&base, &tree).map_err(git_failed)?;
            let files: Vec<_> = changed
                .iter()
                .map(|it| it.to_string_lossy().into_owned())
                .collect();
            let message = commit_message(&spot.spec, spot.state.plan().kind, &files, this.trace());
            let committed = this.committed(&tree, (&base, &onto), &message, &spot)?;
            let head = match &committed {
                CommitOutcome::Conflict(conflicts) => {
                    let failed = StepFailed {
                        step: spot.spec.id.clone(),
                        round: spot.round,
                        why: this.chronicle.keep(clash(conflicts))?,
                    };
                    return Ok(facts([failed.into()]));
                }
                CommitOutcome::Nothing => onto,
                // Another passed step may have been committed after this one.
                CommitOutcome::Done { .. } => this.head()?,
            };
            let commit = match committed {
                CommitOutcome::Done { commit, .. } => Some(commit),
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

    /// Commits and moves the branch. The commit has the time of the attempt's first event, so
    /// after a crash the same commit results.
    fn committed(
        &self,
        tree: &str,
        (base, onto): (&str, &str),
        message: &str,
        spot: &StepContext,
    ) -> Result<CommitOutcome, Failure> {
        // If a process was killed after moving the branch, its commit is there already.
        if let Some(done) = self.already(message)? {
            return Ok(done);
        }
        let when = self.when(&spot.spec.id, spot.round)?;
        let order = CommitSpec {
            tree,
            base,
            onto,
            message,
            when,
            author: &self.author,
        };
        let committed = self.line.commit(&order).map_err(git_failed)?;
        if let CommitOutcome::Done { commit, .. } = &committed {
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

    /// Returns the commit of a step that is on the branch but not on record.
    pub(super) fn already(&self, message: &str) -> Result<Option<CommitOutcome>, Failure> {
        let step = message
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("Step: "));
        let Some(head) = self.line.head(&self.branch).map_err(git_failed)? else {
            return Ok(None);
        };
        let log = self.line.log(&self.base, &head).map_err(git_failed)?;
        let of_step = log.iter().position(|logged| {
            let mut trailers = logged.trailers.iter();
            trailers.any(|(name, value)| name == "Step" && Some(value.as_str()) == step)
        });
        let Some(at) = of_step else {
            return Ok(None);
        };
        self.publish()?;
        // The branch is linear, so the previous commit is the parent.
        let parent = at.checked_sub(1).map_or(&self.base, |it| &log[it].commit);
        let commit = &log[at].commit;
        let files = self.line.changed(parent, commit).map_err(git_failed)?;
        Ok(Some(CommitOutcome::Done {
            commit: commit.clone(),
            files,
        }))
    }

    /// Returns the start of an attempt, in seconds since the epoch.
    pub(super) fn when(&self, step: &str, round: u32) -> Result<i64, Failure> {
        let events = self.chronicle.own_events()?;
        let began = events.iter().find_map(|event| match &event.fact {
            Fact::StepStarted(it) if it.step == step && it.round == round => Some(event.at),
            Fact::BranchChecked(it) if step == mend::name(it.round) => Some(event.at),
            _ => None,
        });
        let began = began.unwrap_or_else(|| self.house.workshop.caller.clock.now());
        Ok(began.as_micros().div_euclid(1_000_000))
    }

    /// Checks the whole branch on a clean checkout.
    pub(super) async fn last_check(
        self: &Arc<Self>,
        round: u32,
        state: Arc<PlanRun>,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let head = this.head()?;
            let before = this.has_to_pass(&head)?;
            let prover = this.prover(&state);
            let place = ProofLocation {
                place: ProofStage::Final,
                step: None,
                round,
                tree: this.line.tree_of(&head).map_err(git_failed)?,
            };
            let mut why = Vec::new();
            let mut proofs = Vec::new();
            if !before.is_empty() {
                proofs = this.on_checkout(&prover, &head, &place)?;
                let known = this.left_red(&state)?;
                let reasons = proof::PlanTestMentions::of(state.plan());
                why = proof::regressions(&before, &proofs, &known, &reasons);
                for proof in &mut proofs {
                    proof.holds = why.is_empty();
                }
                if why.is_empty() {
                    let (held, lost) = this.whole_as_before(round, &state, (&head, &known))?;
                    proofs.extend(held);
                    why = lost;
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
            Ok(facts(this.recorded(proofs)?.into_iter().chain([checked])))
        })
        .await
    }

    /// Runs the checks as they were before the first step against the branch.
    fn whole_as_before(
        &self,
        round: u32,
        state: &PlanRun,
        (head, known): (&str, &std::collections::BTreeSet<String>),
    ) -> Result<(Vec<artel_types::ProofRecorded>, Vec<String>), Failure> {
        let before = self.proofs(ProofStage::Baseline)?;
        let gauges = self.gauges(&before, &evidence_of(state.plan()), &self.base)?;
        let held = OriginalCheckSubject {
            prover: &self.prover(state),
            state,
            before: &before,
            tree: head,
            gauges: &gauges,
        };
        let place = self.spot_of(ProofStage::AsBefore, None, round, String::new());
        self.held_against(&held, place, known)
    }

    /// Returns the tests that may fail at the end: those of steps that no other step follows.
    fn left_red(&self, state: &PlanRun) -> Result<std::collections::BTreeSet<String>, Failure> {
        let plan = state.plan();
        let is_last = |id: &str| {
            !plan
                .steps
                .iter()
                .any(|it| it.after.iter().any(|it| it == id))
        };
        let leaves = |step: &&PlanStep| {
            let wants = step
                .evidence
                .iter()
                .any(|it| it.kind == StepEvidenceKind::Red);
            wants && is_last(&step.id)
        };
        let steps: Vec<_> = plan
            .steps
            .iter()
            .filter(leaves)
            .map(|it| it.id.as_str())
            .collect();
        let proofs = self.proofs(ProofStage::Green)?;
        let proofs = proofs
            .iter()
            .filter(|proof| proof.step.as_deref().is_some_and(|it| steps.contains(&it)));
        Ok(proofs
            .flat_map(|proof| proof.failures.iter().map(|it| it.name.clone()))
            .collect())
    }

    /// Repeats the proofs that steps named: their commands and files.
    fn evidence_again(
        &self,
        state: &PlanRun,
        head: &str,
        place: &ProofLocation,
        (proofs, why): (&mut Vec<artel_types::ProofRecorded>, &mut Vec<String>),
    ) -> Result<(), Failure> {
        let prover = self.prover(state);
        let passed = state
            .steps()
            .filter(|(_, it)| it.state == artel_types::plan::StepState::Done);
        for (spec, step) in passed {
            let place = ProofLocation {
                step: Some(spec.id.clone()),
                ..place.clone()
            };
            let mut shown = spec.evidence.clone();
            shown.extend(self.files_shown(&spec.id, step.round, &spec.evidence)?);
            for (index, evidence) in shown.iter().enumerate() {
                let proof = match evidence.kind {
                    StepEvidenceKind::File => {
                        let path = self.in_repository(evidence.what.trim());
                        let now = self.hash_at(head, &path)?;
                        let was = self.hash_on_record(&spec.id, &evidence.what)?;
                        let found = match (&now, &was) {
                            (None, _) => FileEvidenceStatus::No,
                            (Some(now), Some(was)) if now != was => {
                                if self.others_changed(&spec.id, &path)? {
                                    FileEvidenceStatus::Later
                                } else {
                                    FileEvidenceStatus::Other
                                }
                            }
                            (Some(_), _) => FileEvidenceStatus::New,
                        };
                        prover.file(&evidence.what, &place, (found, now))?
                    }
                    StepEvidenceKind::Command => {
                        let name = format!("{}-final-{}-{index}", spec.id, place.round);
                        let at = super::parts::anew(self, &name)?;
                        let tree = self.checkout(head, &at)?;
                        let sort = format!("evidence-{index}");
                        let proof = prover.one((&at, &tree), &evidence.what, &place, &sort)?;
                        crate::works::prover::done_with(&at);
                        proof
                    }
                    StepEvidenceKind::Tests | StepEvidenceKind::Red => continue,
                };
                if !proof.holds {
                    why.push(no_longer(evidence));
                }
                proofs.push(proof);
            }
        }
        Ok(())
    }

    /// Continues with the plan of a proposal that a person accepted.
    pub(super) async fn adopt(
        self: &Arc<Self>,
        id: &str,
        _: &PlanRun,
    ) -> Result<PlanOrderOutcome, Failure> {
        let events = self.chronicle.own_events()?;
        let found = events.iter().find_map(|event| match &event.fact {
            Fact::PlanProposed(it) if it.id == id => Some(it.clone()),
            _ => None,
        });
        let Some(proposed) = found else {
            return Ok(PlanOrderOutcome::Facts(Vec::new()));
        };
        // A proposal is a whole plan, so adopting it would silently drop changes that were adopted
        // since.
        let after = events.iter().skip_while(|event| !is_proposal(event, id));
        if after
            .into_iter()
            .any(|event| matches!(event.fact, Fact::PlanAdopted(_)))
        {
            let decided = PlanDecided {
                id: id.to_owned(),
                reason: format!("{LAPSED}: the plan was changed since it was proposed"),
                version: None,
            };
            return Ok(facts([decided.into()]));
        }
        let json = self.chronicle.text(&proposed.plan)?;
        let version = self.house.workshop.adopt_version(
            &self.house.journal,
            self.trace(),
            self.run(),
            (&json, &proposed.hash),
        )?;
        let adopted = PlanAdopted {
            version,
            plan: RecordedText::Inline(json),
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

fn is_proposal(event: &Event, id: &str) -> bool {
    matches!(&event.fact, Fact::PlanProposed(it) if it.id == id)
}

fn no_longer(evidence: &StepEvidence) -> String {
    match evidence.kind {
        StepEvidenceKind::File => format!(
            "`{}` is gone, or is not the file any more that its step showed",
            evidence.what
        ),
        _ => format!("`{}` no longer holds", evidence.what),
    }
}

/// Largest file that is read from a tree, in bytes.
pub(super) const LARGEST_FILE: u64 = 64 << 20;

fn clash(conflicts: &[MergeConflict]) -> String {
    let mut text = format!("{CLASH}. Do the step again on top of what is there now.");
    for conflict in conflicts.iter().take(10) {
        let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "(gone)".to_owned());
        text.push_str(&format!(
            "\n\n{}: {}\n<theirs>\n{}\n</theirs>\n<yours>\n{}\n</yours>",
            shown_path(&conflict.path.to_string_lossy()),
            conflict.what.text(),
            side(&conflict.ours),
            side(&conflict.theirs)
        ));
    }
    text
}
