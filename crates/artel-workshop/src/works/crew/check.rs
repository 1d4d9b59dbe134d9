//! Artel's own checks of a step: which tests pass, which no longer pass, and whether the
//! change is exercised.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::PlanOrderOutcome;
use artel_rules::plan::names::{is_code_path, is_plain_path, is_test_path};
use artel_rules::proof;
use artel_types::plan::{ProofStage, StepEvidence, StepEvidenceKind};
use artel_types::{
    BaselineTaken, Fact, Failure, ProofRecorded, RecordedText, StepChecked, listed_paths,
};

use super::parts::{anew, production};
use super::rights::worker;
use super::{AgentExecutor, DETECTED, StepContext, blocking, facts, git_failed};
use crate::works::prover::{
    FileEvidenceStatus, ProjectCheckRunner, ProofLocation, done_with, output_of,
};

/// Largest part of a failing check's output that the next attempt gets, in bytes.
const LONGEST_TOLD: usize = 3_000;

/// Largest number of checks whose output the next attempt gets.
const MOST_TOLD: usize = 3;

/// The reason why a step without any change does not pass.
const UNCHANGED: &str = "no file was changed, and the plan names no other proof for this step: \
    change what it is about, or propose a change of the plan that has a command as its evidence";

/// The attempt that is checked.
pub(super) struct AttemptUnderCheck<'l> {
    pub(super) spot: &'l StepContext,
    base: String,
    pub(super) tree: String,
    changed: Vec<PathBuf>,
    production: Vec<PathBuf>,
    /// The step's tests, relative to the work folder.
    kept: Vec<String>,
    /// Proofs that must still hold: those from before the first step, and those that earlier
    /// steps added.
    pub(super) before: Vec<ProofRecorded>,
    pub(super) known: BTreeSet<String>,
}

impl AgentExecutor {
    /// Runs the project's checks once, before any change.
    pub(super) async fn baseline(
        self: &Arc<Self>,
        given: Option<String>,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || this.take_baseline(given.as_deref())).await
    }

    fn take_baseline(&self, given: Option<&str>) -> Result<PlanOrderOutcome, Failure> {
        let named: Vec<String> = match given {
            Some("none") => {
                let taken = BaselineTaken {
                    why: Some("a person said that there is nothing to run".to_owned()),
                    ..self.taken(Vec::new())
                };
                return Ok(facts([taken.into()]));
            }
            Some(given) => {
                let commands = given.split(';').map(str::trim);
                let commands = commands.map(|text| text.trim_start_matches(DETECTED));
                commands
                    .filter(|it| !it.is_empty())
                    .map(str::to_owned)
                    .collect()
            }
            None => self.checks.clone(),
        };
        let prover = ProjectCheckRunner::new(&self.house, &self.chronicle, named.clone());
        let place = self.spot_of(ProofStage::Baseline, None, 1, self.base.clone());
        let mut proofs = self.on_checkout(&prover, &self.base, &place)?;
        for proof in &mut proofs {
            proof.holds = true;
        }
        let why = proof::no_baseline(&proofs);
        let mut found: Vec<String> = if named.is_empty() {
            proofs.iter().map(|it| it.what.clone()).collect()
        } else {
            Vec::new()
        };
        if why.is_some() {
            // Suggestions for the person, to accept or to change.
            let read = |path: &str| self.text_at(&self.base, path).ok().flatten();
            found.extend(proof::likely_checks(read));
        }
        let commands = if named.is_empty() || why.is_some() {
            found.iter().map(|it| format!("{DETECTED}{it}")).collect()
        } else {
            named
        };
        let taken = BaselineTaken {
            holds: why.is_none(),
            why,
            ..self.taken(commands)
        };
        let taken = Fact::from(taken);
        Ok(facts(self.recorded(proofs)?.into_iter().chain([taken])))
    }

    fn taken(&self, commands: Vec<String>) -> BaselineTaken {
        BaselineTaken {
            commit: self.base.clone(),
            commands,
            holds: true,
            why: None,
        }
    }

    pub(super) fn spot_of(
        &self,
        place: ProofStage,
        step: Option<String>,
        round: u32,
        tree: String,
    ) -> ProofLocation {
        ProofLocation {
            place,
            step,
            round,
            tree,
        }
    }

    /// Runs the whole suite on a fresh checkout and removes the checkout afterwards.
    pub(super) fn on_checkout(
        &self,
        prover: &ProjectCheckRunner,
        treeish: &str,
        place: &ProofLocation,
    ) -> Result<Vec<ProofRecorded>, Failure> {
        let step = place.step.as_deref().unwrap_or("plan");
        let at = anew(self, &format!("{step}-{}-{}", place.round, place.place))?;
        let tree = self.checkout(treeish, &at)?;
        let proofs = prover.suite((&at, &tree), place);
        drop(tree);
        done_with(&at);
        proofs
    }

    /// Makes facts of proofs. Test names that are too long for an event are stored as a blob.
    pub(super) fn recorded(&self, proofs: Vec<ProofRecorded>) -> Result<Vec<Fact>, Failure> {
        let mut all = Vec::with_capacity(proofs.len());
        for mut proof in proofs {
            if let Some(RecordedText::Inline(names)) = &mut proof.tests {
                proof.tests = Some(self.chronicle.keep(std::mem::take(names))?);
            }
            all.push(proof.into());
        }
        Ok(all)
    }

    /// Returns the recorded proofs of a place.
    pub(super) fn proofs(&self, place: ProofStage) -> Result<Vec<ProofRecorded>, Failure> {
        // The newest proof of an id counts, since an interrupted check is repeated.
        let mut newest: Vec<ProofRecorded> = Vec::new();
        for event in self.chronicle.own_events()? {
            match event.fact {
                Fact::ProofRecorded(proof) if proof.place == place => {
                    newest.retain(|old| old.id != proof.id);
                    newest.push(proof);
                }
                // The proofs of a failed baseline need not hold: the person named other commands.
                Fact::BaselineTaken(it) if !it.holds && place == ProofStage::Baseline => {
                    newest.clear();
                }
                _ => {}
            }
        }
        Ok(newest)
    }

    /// Returns the tests that other steps were meant to leave failing.
    pub(super) fn known_reds(&self, spot: &StepContext) -> Result<BTreeSet<String>, Failure> {
        let wants_red = |id: &str| {
            let step = spot.state.plan().step(id);
            step.is_some_and(|it| {
                it.evidence
                    .iter()
                    .any(|it| it.kind == StepEvidenceKind::Red)
            })
        };
        let proofs = self.proofs(ProofStage::Green)?;
        let proofs = proofs.iter().filter(|proof| {
            let step = proof.step.as_deref().unwrap_or_default();
            step != spot.spec.id && wants_red(step)
        });
        Ok(proofs
            .flat_map(|proof| proof.failures.iter().map(|it| it.name.clone()))
            .collect())
    }

    /// Checks that the tests of a step fail before its work.
    pub(super) async fn red(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let (tree, base) = spot.left_by(&this);
            // When tests are written again, the tree may hold the work of the attempt before.
            let changed = this.line.changed(&base, &tree).map_err(git_failed)?;
            let work = production(&changed, this.test_files());
            let work = this.beside_linked(&spot.spec, &tree, work)?;
            let tree = if work.is_empty() {
                tree
            } else {
                this.line.graft(&tree, &base, &work).map_err(git_failed)?
            };
            let prover = this.prover(&spot.state);
            let id = Some(spot.spec.id.clone());
            let place = this.spot_of(ProofStage::Red, id, spot.round, tree.clone());
            let mut proofs = this.on_checkout(&prover, &tree, &place)?;
            let before = this.has_to_pass(&base)?;
            let reds = proof::reds(&before, &proofs);
            for proof in &mut proofs {
                proof.holds = !reds.is_empty();
            }
            let why = if reds.is_empty() {
                vec!["the new tests pass without the work, so they prove nothing".to_owned()]
            } else {
                reds.clone()
            };
            let checked = StepChecked {
                step: spot.spec.id.clone(),
                round: spot.round,
                phase: "red".to_owned(),
                passed: !reds.is_empty(),
                why,
            };
            let checked = Fact::from(checked);
            Ok(facts(this.recorded(proofs)?.into_iter().chain([checked])))
        })
        .await
    }

    /// Checks what passes after the work.
    pub(super) async fn green(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let look = this.look(&spot)?;
            let (proofs, why) = this.examine(&look)?;
            let worker = if why.is_empty() {
                None
            } else {
                worker(&this.chronicle.own_events()?, &spot)
            };
            let wanted = worker.map(|run| this.beyond_rights(&spot, run));
            let wanted = wanted.transpose()?.flatten();
            let checked = StepChecked {
                step: spot.spec.id.clone(),
                round: spot.round,
                phase: "green".to_owned(),
                passed: why.is_empty(),
                why,
            };
            let checked = Fact::from(checked);
            Ok(facts(
                this.recorded(proofs)?
                    .into_iter()
                    .chain([checked])
                    .chain(wanted),
            ))
        })
        .await
    }

    fn look<'l>(&self, spot: &'l StepContext) -> Result<AttemptUnderCheck<'l>, Failure> {
        let (tree, base) = spot.left_by(self);
        let tree = self.with_tests(spot, tree)?;
        let changed = self.line.changed(&base, &tree).map_err(git_failed)?;
        let kept = self.tests_of(spot)?;
        let is_test = |path: &str| is_test_path(path) || kept.iter().any(|it| it == path);
        Ok(AttemptUnderCheck {
            production: production(&changed, is_test),
            kept: self.in_folder(&kept),
            before: self.asked_of(&spot.spec, &base, &changed)?,
            known: self.known_reds(spot)?,
            spot,
            base,
            tree,
            changed,
        })
    }

    /// Returns the proofs of an attempt, and the reasons why it does not pass.
    fn examine(
        &self,
        look: &AttemptUnderCheck<'_>,
    ) -> Result<(Vec<ProofRecorded>, Vec<String>), Failure> {
        let spec = &look.spot.spec;
        let mut why = Vec::new();
        // Tests that pass as before prove nothing about a step without changes. Other proofs can.
        let shows_none = spec
            .evidence
            .iter()
            .all(|it| it.kind == StepEvidenceKind::Tests);
        if look.changed.is_empty() && shows_none {
            why.push(UNCHANGED.to_owned());
            return Ok((Vec::new(), why));
        }
        why.extend(self.not_agreed_to(look)?);
        if !why.is_empty() {
            return Ok((Vec::new(), why));
        }
        let prover = self.prover(&look.spot.state).keeping(look.kept.clone());
        let id = Some(spec.id.clone());
        let place = self.spot_of(ProofStage::Green, id, look.spot.round, look.tree.clone());
        let has_suite = !look.before.is_empty();
        let mut proofs = Vec::new();
        if has_suite {
            proofs = self.on_checkout(&prover, &look.tree, &place)?;
        }
        let wants = |kind| {
            spec.evidence
                .iter()
                .any(|it: &StepEvidence| it.kind == kind)
        };
        let mut known = look.known.clone();
        if wants(StepEvidenceKind::Red) {
            let reds = proof::reds(&look.before, &proofs);
            if reds.is_empty() {
                why.push("a test was to fail now, and none does".to_owned());
            }
            known.extend(reds);
        }
        let reasons = proof::PlanTestMentions::of(look.spot.state.plan());
        let lost = proof::regressions(&look.before, &proofs, &known, &reasons);
        for proof in &mut proofs {
            proof.holds = lost.is_empty();
        }
        if !lost.is_empty() {
            why.extend(lost);
            why.extend(self.printed(&proofs));
        }
        why.extend(proof::less_covered(&look.before, &proofs));
        let mut without = self.taken_back(look, &prover)?;
        self.named_evidence(look, &prover, (&mut proofs, &mut why))?;
        if why.is_empty() && look.has_to_be_exercised(&proofs) {
            let shown = look.is_plain_beside_tests() && proof::has_more(&look.before, &proofs)
                || !look.production.is_empty()
                    && (proof::is_exercised(&proofs, &without)
                        || self.fails_without(look, &prover, &mut without)?);
            if !shown {
                why.push(unexercised(look));
            }
        }
        proofs.extend(without);
        if why.is_empty() {
            let (held, lost) = self.as_before(look, &prover)?;
            proofs.extend(held);
            why.extend(lost);
        }
        if why.is_empty() {
            let (held, lost) = self.by_given_tests(look, &prover)?;
            proofs.extend(held);
            why.extend(lost);
        }
        Ok((proofs, why))
    }

    /// Returns whether a command that the step names as its proof fails without the step's
    /// change.
    fn fails_without(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
        proofs: &mut Vec<ProofRecorded>,
    ) -> Result<bool, Failure> {
        let spec = &look.spot.spec;
        let back = self.line.graft(&look.tree, &look.base, &look.production);
        let back = back.map_err(git_failed)?;
        let id = Some(spec.id.clone());
        let place = self.spot_of(ProofStage::TakenBack, id, look.spot.round, back.clone());
        let commands = spec.evidence.iter().enumerate();
        let commands = commands.filter(|(_, it)| it.kind == StepEvidenceKind::Command);
        let mut fails = false;
        for (index, evidence) in commands {
            let name = format!("{}-{}-without-{index}", spec.id, look.spot.round);
            let at = anew(self, &name)?;
            let tree = self.checkout(&back, &at)?;
            let sort = format!("evidence-{index}");
            let mut proof = prover.one((&at, &tree), &evidence.what, &place, &sort)?;
            drop(tree);
            done_with(&at);
            fails |= !proof.holds;
            proof.holds = true;
            proofs.push(proof);
        }
        Ok(fails)
    }

    /// Runs the suite with the step's production change taken back and its tests kept.
    fn taken_back(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
    ) -> Result<Vec<ProofRecorded>, Failure> {
        if look.production.is_empty() || look.before.is_empty() {
            return Ok(Vec::new());
        }
        let spec = &look.spot.spec;
        let back = self.line.graft(&look.tree, &look.base, &look.production);
        let back = back.map_err(git_failed)?;
        let id = Some(spec.id.clone());
        let place = self.spot_of(ProofStage::TakenBack, id, look.spot.round, back.clone());
        let mut proofs = self.on_checkout(prover, &back, &place)?;
        for proof in &mut proofs {
            proof.holds = true;
        }
        Ok(proofs)
    }

    /// Checks the commands and files that the step names as its proof.
    fn named_evidence(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
        (proofs, why): (&mut Vec<ProofRecorded>, &mut Vec<String>),
    ) -> Result<(), Failure> {
        let spec = &look.spot.spec;
        let id = Some(spec.id.clone());
        let place = self.spot_of(ProofStage::Green, id, look.spot.round, look.tree.clone());
        for (index, evidence) in spec.evidence.iter().enumerate() {
            match evidence.kind {
                StepEvidenceKind::File => {
                    let path = self.in_repository(evidence.what.trim());
                    let hash = self.hash_at(&look.tree, &path)?;
                    let holds = hash.is_some() && look.changed.contains(&path);
                    if !holds {
                        why.push(format!("`{}` is not there, or is as it was", evidence.what));
                    }
                    proofs.push(prover.file(&evidence.what, &place, (holds.into(), hash))?);
                }
                StepEvidenceKind::Command => {
                    let name = format!("{}-{}-evidence-{index}", spec.id, look.spot.round);
                    let at = anew(self, &name)?;
                    let tree = self.checkout(&look.tree, &at)?;
                    let sort = format!("evidence-{index}");
                    let proof = prover.one((&at, &tree), &evidence.what, &place, &sort)?;
                    done_with(&at);
                    if !proof.holds {
                        why.push(format!("`{}` does not end well", evidence.what));
                        why.extend(self.printed(std::slice::from_ref(&proof)));
                    }
                    proofs.push(proof);
                }
                StepEvidenceKind::Tests | StepEvidenceKind::Red => {}
            }
        }
        proofs.extend(self.plain_files(look, prover, &place)?);
        Ok(())
    }

    /// Records the changed files as proofs, if none of them is executable and the plan names
    /// no proof. The files themselves are the result then, and no test could tell them from
    /// the earlier ones.
    fn plain_files(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
        place: &ProofLocation,
    ) -> Result<Vec<ProofRecorded>, Failure> {
        let mut shown = Vec::new();
        for path in look.changed.iter().filter(|_| look.is_plain()) {
            if let Some(hash) = self.hash_at(&look.tree, path)? {
                for what in self.in_folder(&[path.to_string_lossy().into_owned()]) {
                    let found = (FileEvidenceStatus::New, Some(hash.clone()));
                    shown.push(prover.file(&what, place, found)?);
                }
            }
        }
        Ok(shown)
    }

    /// Returns the useful part of what failing checks printed.
    pub(super) fn printed(&self, proofs: &[ProofRecorded]) -> Vec<String> {
        let bad = proofs.iter().filter(|proof| !proof.holds);
        // All checks of an attempt fail together, so those with a bad exit code of their own come
        // first.
        let ends_badly = |proof: &&ProofRecorded| proof.exit != Some(0);
        let mut bad: Vec<_> = bad.collect();
        bad.sort_by_key(|proof| !ends_badly(proof));
        let worst = bad.iter().filter(|proof| ends_badly(proof)).count();
        let text = |proof: &ProofRecorded| {
            let output = output_of(&self.chronicle, proof);
            let from = output.len().saturating_sub(LONGEST_TOLD);
            let from = output.ceil_char_boundary(from);
            format!("Output of `{}`:\n{}", proof.what, &output[from..])
        };
        let told = bad.into_iter().take(worst.clamp(1, MOST_TOLD));
        told.map(text).collect()
    }
}

impl AttemptUnderCheck<'_> {
    /// Returns whether none of the changed files is executable and the plan names no proof.
    fn is_plain(&self) -> bool {
        let mut changed = self.changed.iter();
        self.spot.spec.evidence.is_empty() && changed.all(|path| is_plain(path))
    }

    /// Returns whether the changed files that are not tests are all non-executable.
    fn is_plain_beside_tests(&self) -> bool {
        self.production.iter().all(|path| is_plain(path))
    }

    /// Returns whether some check must notice the change. This holds for code, and for any
    /// step that relies on tests. A step without named proofs relies on tests unless its files
    /// are the proof. If no check can be run, the question cannot be decided.
    fn has_to_be_exercised(&self, proofs: &[ProofRecorded]) -> bool {
        let evidence = &self.spot.spec.evidence;
        let mut proofs = proofs.iter();
        let is_shown = self.is_plain() && proofs.any(|it| it.sort == "file" && it.holds);
        let leans_on_tests = evidence.is_empty() && !is_shown
            || evidence.iter().any(|it| it.kind == StepEvidenceKind::Tests);
        let has_suite = !self.before.is_empty();
        let has_command = evidence
            .iter()
            .any(|it| it.kind == StepEvidenceKind::Command);
        let mut production = self.production.iter();
        let is_code = production.any(|path| is_code_path(&path.to_string_lossy()));
        (leans_on_tests && has_suite && !self.changed.is_empty())
            || (is_code && (has_suite || has_command))
    }
}

fn is_plain(path: &Path) -> bool {
    is_plain_path(&path.to_string_lossy())
}

fn unexercised(look: &AttemptUnderCheck<'_>) -> String {
    if look.production.is_empty() {
        return "no more tests pass than before, so the step shows nothing".to_owned();
    }
    let files: Vec<_> = look
        .production
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    format!(
        "every check passes also without the change of {}: nothing exercises it. Add a test that \
         fails without it, or have a command as evidence that does.",
        listed_paths(&files)
    )
}
