//! The results of passed steps that must hold afterwards: their tests and their files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use artel_git::RunTree;
use artel_policy::rules::PolicyRule;
use artel_policy::{PathWallKind, PolicyAnswer};
use artel_rules::conduct::AttemptPart;
use artel_rules::plan::names::is_test_path;
use artel_rules::proof::{self, PassedStage};
use artel_types::plan::{PlanStep, ProofStage, StepEvidence, StepEvidenceKind};
use artel_types::{Fact, Failure, ProofRecorded, StepPassed};

use super::branch::LARGEST_FILE;
use super::check::AttemptUnderCheck;
use super::parts::{TEST_PATHS, production};
use super::{AgentExecutor, StepContext, git_failed};
use crate::works::prover::ProjectCheckRunner;

/// A passed step, with its files on the branch.
struct PassedStep {
    stage: PassedStage,
    files: Vec<String>,
}

/// Files that were changed although they may not be, and the tree with their earlier
/// state.
#[derive(Default)]
struct ForbiddenFileChanges {
    from: String,
    changed: Vec<PathBuf>,
}

impl AgentExecutor {
    /// Puts back files that an attempt changed but may not change, by whatever means: for the
    /// worker the tests of the step, for the tester everything but tests, and for both the
    /// files that a rule of the person bans. Returns the tree without these changes, and the
    /// paths.
    pub(super) fn with_kept_files(
        &self,
        spot: &StepContext,
        files: &RunTree,
        left: String,
    ) -> Result<(String, Vec<PathBuf>), Failure> {
        let mut tree = left;
        let mut put_back = Vec::new();
        for find in [Self::changed_in_part, Self::changed_though_banned] {
            let ForbiddenFileChanges { from, changed } = find(self, spot, &tree)?;
            if changed.is_empty() {
                continue;
            }
            self.line
                .put_back(files, &from, &changed)
                .map_err(git_failed)?;
            tree = self.grafted(&tree, &from, &changed)?;
            put_back.extend(changed);
        }
        Ok((tree, put_back))
    }

    /// Returns the changed files that this part of a step may not change.
    fn changed_in_part(
        &self,
        spot: &StepContext,
        left: &str,
    ) -> Result<ForbiddenFileChanges, Failure> {
        match spot.part {
            AttemptPart::Work => self.tests_changed(spot, left),
            AttemptPart::Tests => self.changed_beside_tests(spot, left),
            _ => Ok(ForbiddenFileChanges::default()),
        }
    }

    /// Returns the changed files that a rule of the person bans from being changed.
    fn changed_though_banned(
        &self,
        spot: &StepContext,
        left: &str,
    ) -> Result<ForbiddenFileChanges, Failure> {
        let policy = self.house.workshop.caller.policy(None);
        let policy = policy.map_err(|problems| problems.first())?;
        let mut walls = policy.path_walls();
        walls.retain(|wall| {
            wall.keeps == PathWallKind::Writing && wall.answer == PolicyAnswer::Deny
        });
        if walls.is_empty() || !matches!(spot.part, AttemptPart::Work | AttemptPart::Tests) {
            return Ok(ForbiddenFileChanges::default());
        }
        let from = self.base_of(spot);
        let prefix = self.line.prefix();
        let mut changed = self.line.changed(&from, left).map_err(git_failed)?;
        changed.retain(|path| {
            let here = path.strip_prefix(&prefix).unwrap_or(path).to_string_lossy();
            walls.iter().any(|wall| wall.covers(&here))
        });
        Ok(ForbiddenFileChanges { from, changed })
    }

    /// Returns a tree with the step's tests as the tester left them. Checks and commits use
    /// these tests, whatever the recorded tree contains.
    pub(super) fn with_tests(&self, spot: &StepContext, tree: String) -> Result<String, Failure> {
        let ForbiddenFileChanges { from, changed } = self.tests_changed(spot, &tree)?;
        if changed.is_empty() {
            Ok(tree)
        } else {
            self.grafted(&tree, &from, &changed)
        }
    }

    /// For a step whose tests came first, runs the suite without the files that the work added
    /// among the tests. A new package, helper or fixture could be loaded in place of a given
    /// one, or change the runner.
    pub(super) fn by_given_tests(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
    ) -> Result<(Vec<ProofRecorded>, Vec<String>), Failure> {
        let spec = &look.spot.spec;
        let step = look.spot.state.step(&spec.id);
        let given = step.and_then(|it| it.tests.clone());
        let Some(given) = given.filter(|_| !look.before.is_empty()) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let added = self.added_among_tests(&given, &look.tree)?;
        if added.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let tree = self.grafted(&look.tree, &given, &added)?;
        let id = Some(spec.id.clone());
        let place = self.spot_of(ProofStage::GivenTests, id, look.spot.round, tree.clone());
        let mut proofs = self.on_checkout(prover, &tree, &place)?;
        let reasons = proof::PlanTestMentions::of(look.spot.state.plan());
        let lost = proof::regressions(&look.before, &proofs, &look.known, &reasons);
        for proof in &mut proofs {
            proof.holds = lost.is_empty();
        }
        let mut why: Vec<String> = lost
            .into_iter()
            .map(|line| format!("without what the work added among the tests: {line}"))
            .collect();
        if !why.is_empty() {
            why.extend(self.printed(&proofs));
        }
        Ok((proofs, why))
    }

    /// Returns the files at test paths that one tree has and an earlier one lacks.
    fn added_among_tests(&self, before: &str, tree: &str) -> Result<Vec<PathBuf>, Failure> {
        let there = self.line.paths_at(before).map_err(git_failed)?;
        let is_test = self.test_files();
        let mut added = self.line.changed(before, tree).map_err(git_failed)?;
        added.retain(|path| !there.contains(path) && is_test(&path.to_string_lossy()));
        Ok(added)
    }

    /// Returns the tree that the tester of a step began with.
    pub(super) fn before_tests(&self, spot: &StepContext, base: &str) -> String {
        let step = spot.state.step(&spot.spec.id);
        let before = step.and_then(|it| it.tree.clone());
        before.unwrap_or_else(|| base.to_owned())
    }

    /// Returns the tests of a step that differ from what the tester left, and the tester's
    /// tree.
    fn tests_changed(
        &self,
        spot: &StepContext,
        left: &str,
    ) -> Result<ForbiddenFileChanges, Failure> {
        let step = spot.state.step(&spot.spec.id);
        let Some(tests) = step.and_then(|it| it.tests.clone()) else {
            return Ok(ForbiddenFileChanges::default());
        };
        let kept: BTreeSet<PathBuf> = self
            .tests_of(spot)?
            .into_iter()
            .map(PathBuf::from)
            .collect();
        let mut changed = self.line.changed(&tests, left).map_err(git_failed)?;
        changed.retain(|path| kept.contains(path));
        Ok(ForbiddenFileChanges {
            from: tests,
            changed,
        })
    }

    /// Returns the files other than tests that the tester changed.
    fn changed_beside_tests(
        &self,
        spot: &StepContext,
        left: &str,
    ) -> Result<ForbiddenFileChanges, Failure> {
        let before = self.before_tests(spot, &self.base_of(spot));
        let changed = self.line.changed(&before, left).map_err(git_failed)?;
        let others = production(&changed, self.test_files());
        Ok(ForbiddenFileChanges {
            changed: self.beside_linked(&spot.spec, left, others)?,
            from: before,
        })
    }

    /// Returns a test for files that belong to testers: those in places where testers may
    /// write, with any extension, and those named like tests.
    pub(super) fn test_files(&self) -> impl Fn(&str) -> bool + use<> {
        let rules = TEST_PATHS.map(|path| PolicyRule::parse(&format!("Edit({path})")).ok());
        let prefix = self.line.prefix();
        move |path| {
            let is_place = |here: &Path| {
                let here = here.to_string_lossy();
                let mut rules = rules.iter().flatten();
                rules.any(|rule| rule.admits_path("edit", &here))
            };
            is_test_path(path) || Path::new(path).strip_prefix(&prefix).is_ok_and(is_place)
        }
    }

    /// Returns the test files of passed steps whose tests came first.
    pub(super) fn files_of_testers(&self) -> Result<BTreeSet<String>, Failure> {
        let proofs = self.proofs(ProofStage::Red)?;
        let is_tested = |step: &str| proofs.iter().any(|it| it.step.as_deref() == Some(step));
        let is_test = self.test_files();
        let events = self.chronicle.own_events()?.into_iter();
        let passed = events.filter_map(|event| match event.fact {
            Fact::StepPassed(it) if is_tested(&it.step) => Some(it),
            _ => None,
        });
        let mut files = BTreeSet::new();
        for step in passed {
            let (own, others): (Vec<_>, Vec<_>) =
                step.files.into_iter().partition(|it| is_test(it));
            files.extend(own);
            if let Some(commit) = step.commit {
                let linked = self.linked_files(&commit, others)?;
                files.extend(linked.into_iter().map(|it| it.file));
            }
        }
        Ok(files)
    }

    fn grafted(&self, tree: &str, from: &str, paths: &[PathBuf]) -> Result<String, Failure> {
        self.line.graft(tree, from, paths).map_err(git_failed)
    }

    /// Returns the proofs that must hold on a commit of the branch.
    pub(super) fn has_to_pass(&self, head: &str) -> Result<Vec<ProofRecorded>, Failure> {
        let before = self.proofs(ProofStage::Baseline)?;
        let stages: Vec<PassedStage> = self
            .passed_on(head)?
            .into_iter()
            .map(|it| it.stage)
            .collect();
        Ok(proof::kept(&before, &stages, &BTreeSet::new()))
    }

    /// Returns the proofs that a step must keep, if it began on `base` and changed these
    /// files. Tests of another step may change if the plan names every changed file of them by
    /// its path: a person has approved that.
    pub(super) fn asked_of(
        &self,
        spec: &PlanStep,
        base: &str,
        changed: &[PathBuf],
    ) -> Result<Vec<ProofRecorded>, Failure> {
        let before = self.proofs(ProofStage::Baseline)?;
        let passed = self.passed_on(base)?;
        let is_free = |it: &PassedStep| {
            let tests = it.files.iter().filter(|file| is_test_path(file));
            let mut touched = tests
                .filter(|file| changed.iter().any(|path| path.as_os_str() == file.as_str()))
                .peekable();
            touched.peek().is_some() && touched.all(|file| self.plan_names(spec, file))
        };
        let free = passed.iter().enumerate().filter(|(_, it)| is_free(it));
        let free = free.map(|(at, _)| at).collect();
        let stages: Vec<PassedStage> = passed.into_iter().map(|it| it.stage).collect();
        Ok(proof::kept(&before, &stages, &free))
    }

    /// Returns the steps whose commits the branch has up to this commit, oldest first.
    fn passed_on(&self, head: &str) -> Result<Vec<PassedStep>, Failure> {
        let events = self.chronicle.own_events()?;
        let facts: Vec<&Fact> = events.iter().map(|event| &event.fact).collect();
        let log = self.line.log(&self.base, head).map_err(git_failed)?;
        let places = log.iter().enumerate();
        let places: BTreeMap<&str, usize> =
            places.map(|(at, it)| (it.commit.as_str(), at)).collect();
        let steps = facts.iter().filter_map(|fact| match fact {
            Fact::StepPassed(it) => Some((*places.get(it.commit.as_deref()?)?, it)),
            _ => None,
        });
        let mut steps: Vec<(usize, &StepPassed)> = steps.collect();
        steps.sort_by_key(|(place, _)| *place);
        let passed = steps.iter().map(|(_, it)| {
            let base = base_of(&facts, it);
            // The step builds on all commits up to its base.
            let until = places.get(base).map_or(0, |place| place + 1);
            let on = steps.iter().take_while(|(place, _)| *place < until).count();
            PassedStep {
                stage: PassedStage {
                    proofs: green_of(&facts, it),
                    on: (0..on).collect(),
                    held: held(&facts, it),
                },
                files: it.files.clone(),
            }
        });
        Ok(passed.collect())
    }

    /// Returns the hash of a file in a tree.
    pub(super) fn hash_at(&self, tree: &str, path: &Path) -> Result<Option<String>, Failure> {
        let bytes = self.line.file_at(tree, path, LARGEST_FILE);
        let bytes = bytes.map_err(git_failed)?;
        Ok(bytes.map(|bytes| blake3::hash(&bytes).to_hex().to_string()))
    }

    /// Returns the hash that a file had when a step proved it.
    pub(super) fn hash_on_record(&self, step: &str, what: &str) -> Result<Option<String>, Failure> {
        let proofs = self.proofs(ProofStage::Green)?;
        let mut proofs = proofs.into_iter().rev();
        let found = proofs.find(|it| {
            it.sort == "file" && it.step.as_deref() == Some(step) && it.what == what && it.holds
        });
        Ok(found.and_then(|it| it.hash))
    }

    /// Returns the files that an attempt proved although the plan does not name them.
    pub(super) fn files_shown(
        &self,
        step: &str,
        round: u32,
        named: &[StepEvidence],
    ) -> Result<Vec<StepEvidence>, Failure> {
        let is_named = |what: &str| {
            let mut named = named.iter();
            named.any(|it| it.kind == StepEvidenceKind::File && it.what == what)
        };
        let mut proofs = self.proofs(ProofStage::Green)?;
        proofs.retain(|it| {
            let is_of_step = it.step.as_deref() == Some(step) && it.round == round;
            is_of_step && it.sort == "file" && it.holds && !is_named(&it.what)
        });
        let shown = proofs.into_iter().map(|it| StepEvidence {
            kind: StepEvidenceKind::File,
            what: it.what,
        });
        Ok(shown.collect())
    }

    /// Returns whether other passed steps changed a file, as the plan allows.
    pub(super) fn others_changed(&self, step: &str, path: &Path) -> Result<bool, Failure> {
        let events = self.chronicle.own_events()?;
        Ok(events.iter().any(|event| match &event.fact {
            Fact::StepPassed(it) => {
                it.step != step && it.files.iter().any(|file| Path::new(file) == path)
            }
            _ => false,
        }))
    }
}

fn base_of<'f>(facts: &[&'f Fact], passed: &StepPassed) -> &'f str {
    let base = facts.iter().rev().find_map(|fact| match fact {
        Fact::StepStarted(it) if it.step == passed.step && it.round == passed.round => {
            Some(it.base.as_str())
        }
        _ => None,
    });
    base.unwrap_or_default()
}

/// Returns the check results of the attempt that passed, the newest of each check.
fn green_of(facts: &[&Fact], passed: &StepPassed) -> Vec<ProofRecorded> {
    let mut proofs: Vec<ProofRecorded> = Vec::new();
    for fact in facts {
        let Fact::ProofRecorded(proof) = fact else {
            continue;
        };
        let is_own = proof.step.as_deref() == Some(&*passed.step) && proof.round == passed.round;
        if is_own && proof.place == ProofStage::Green {
            proofs.retain(|old| old.id != proof.id);
            proofs.push(proof.clone());
        }
    }
    proofs
}

fn held(facts: &[&Fact], passed: &StepPassed) -> bool {
    let checked = facts.iter().rev().find_map(|fact| match fact {
        Fact::StepChecked(it)
            if it.step == passed.step && it.round == passed.round && it.phase == "green" =>
        {
            Some(it.passed)
        }
        _ => None,
    });
    checked.unwrap_or_default()
}
