//! Changes by a step that the plan does not allow: files outside its scope, and files that
//! decide what checks do. A person agrees to such changes, or they are put back.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_git::GitTreeEntryKind;
use artel_policy::rules::PolicyRule;
use artel_rules::conduct::{LAPSED, PlanRun};
use artel_rules::plan::check;
use artel_rules::plan::names::is_test_path;
use artel_rules::proof::{self, ProjectCheckFiles};
use artel_types::plan::{Plan, PlanStep, ProofStage, StepEvidence};
use artel_types::{Fact, Failure, ProofRecorded, listed_paths, literal_pattern, shown_path};

use super::branch::LARGEST_FILE;
use super::check::AttemptUnderCheck;
use super::{AgentExecutor, StepContext, git_failed};
use crate::works::propose::{ProposalText, proposed};
use crate::works::prover::{ProjectCheckRunner, ProofLocation};

/// Largest number of diff lines shown with a question about a change.
const MOST_SHOWN: usize = 60;

/// Changes by a step that the plan does not name.
#[derive(Default)]
struct UnplannedChanges {
    /// Files outside the step's scope.
    outside: Vec<String>,
    /// Files that decide what checks do, each with a description of its change.
    gauges: Vec<(String, String)>,
}

impl UnplannedChanges {
    fn is_nothing(&self) -> bool {
        self.outside.is_empty() && self.gauges.is_empty()
    }

    fn listed(&self) -> String {
        let gauges = self.gauges.iter();
        let gauges: Vec<_> = gauges
            .map(|(path, what)| format!("`{}` {what}", shown_path(path)))
            .collect();
        gauges.join(", ")
    }
}

impl AgentExecutor {
    /// Proposes a change of the plan to the person if a step did more than the plan says, by
    /// whatever means.
    pub(super) fn beyond_scope(
        &self,
        spot: &StepContext,
        tree: &str,
    ) -> Result<Option<Fact>, Failure> {
        let spec = &spot.spec;
        let base = self.base_of(spot);
        let mut beyond = self.beyond(spot, (&base, tree))?;
        // A file that no plan can name, such as one outside the plan's folder, cannot be asked
        // about.
        beyond
            .outside
            .retain(|path| self.pattern_of(path).is_some());
        beyond
            .gauges
            .retain(|(path, _)| self.pattern_of(path).is_some());
        let words = self.words_of(spot, (&base, tree), &beyond)?;
        if beyond.is_nothing() || self.is_turned_down(&words, &spec.id)? {
            return Ok(None);
        }
        let mut step = spec.clone();
        if step.scope.paths.is_empty() {
            // The step may change any file, and this must stay so.
            step.scope.paths.push("**".to_owned());
        }
        let gauges = beyond.gauges.iter().map(|(path, _)| path);
        let named = beyond.outside.iter().chain(gauges);
        for pattern in named.filter_map(|path| self.pattern_of(path)) {
            if !step.scope.paths.contains(&pattern) {
                step.scope.paths.push(pattern);
            }
        }
        let known = self.house.workshop.known();
        let judge = |next: &Plan| check(next, &known);
        let fact = proposed(spot.state.plan(), step, Vec::new(), judge, words);
        // A change that no valid plan can include cannot be asked about: it has to be put back.
        Ok(fact.ok().map(Fact::from))
    }

    /// Returns the pattern by which a plan names only this file of the repository. Returns
    /// `None` if no pattern can, such as for a name that is not UTF-8: two such names may read
    /// the same.
    fn pattern_of(&self, path: &str) -> Option<String> {
        let here = self.in_folder(&[path.to_owned()]);
        let here = here.first().filter(|path| !path.contains('\u{fffd}'));
        here.map(|path| literal_pattern(path))
    }

    /// Returns whether a person has rejected the same proposal before. They are not asked
    /// again in each attempt.
    pub(super) fn is_turned_down(&self, words: &ProposalText, step: &str) -> Result<bool, Failure> {
        let events = self.chronicle.own_events()?;
        let is_refused = |id: &str| {
            let mut facts = events.iter().map(|event| &event.fact);
            facts.any(|fact| match fact {
                Fact::PlanDecided(it) => {
                    it.id == id && it.version.is_none() && !it.reason.starts_with(LAPSED)
                }
                _ => false,
            })
        };
        let mut facts = events.iter().map(|event| &event.fact);
        Ok(facts.any(|fact| match fact {
            Fact::PlanProposed(it) => {
                it.step == step && it.what == words.what && is_refused(&it.id)
            }
            _ => false,
        }))
    }

    /// Lists the changes of an attempt that no person agreed to.
    pub(super) fn not_agreed_to(
        &self,
        look: &AttemptUnderCheck<'_>,
    ) -> Result<Vec<String>, Failure> {
        let base = self.base_of(look.spot);
        let beyond = self.beyond(look.spot, (&base, &look.tree))?;
        let outside = beyond.outside.iter();
        let outside = outside.map(|path| {
            let path = shown_path(path);
            format!("`{path}` is not this step's to change, and nobody agreed to it: put it back")
        });
        let mut told: Vec<String> = outside.collect();
        for (path, what) in &beyond.gauges {
            let remedy = if self.is_at(&base, path)? {
                "nobody agreed to its change: put it back as it was, and add new tests \
                     beside it"
            } else {
                "nobody approved it: remove it"
            };
            told.push(format!("`{}` {what}, and {remedy}", shown_path(path)));
        }
        Ok(told)
    }

    /// Runs the suite with the work, but with all tests and checks as they were before the
    /// first step, except those the plan names. So a changed check cannot hide a failure.
    pub(super) fn as_before(
        &self,
        look: &AttemptUnderCheck<'_>,
        prover: &ProjectCheckRunner,
    ) -> Result<(Vec<ProofRecorded>, Vec<String>), Failure> {
        let spec = &look.spot.spec;
        // The tests that steps added to existing files are missing from the old versions of these
        // files.
        let before = self.proofs(ProofStage::Baseline)?;
        let gauges = self.gauges(&before, &spec.evidence, &self.base)?;
        let place = self.spot_of(
            ProofStage::AsBefore,
            Some(spec.id.clone()),
            look.spot.round,
            String::new(),
        );
        let held = OriginalCheckSubject {
            prover,
            state: &look.spot.state,
            before: &before,
            tree: &look.tree,
            gauges: &gauges,
        };
        let known = &look.known;
        let (mut proofs, lost) = self.held_against(&held, place, known)?;
        let why = lost.into_iter().map(|line| {
            format!("with the tests and checks as they were before the first step: {line}")
        });
        let mut why: Vec<String> = why.collect();
        if !why.is_empty() {
            why.extend(self.printed(&proofs));
        }
        for proof in &mut proofs {
            proof.holds = why.is_empty();
        }
        Ok((proofs, why))
    }

    /// Runs the old checks on a tree and returns what no longer passes. New tests may need the
    /// files that were put back. If they get in the way, the old checks run again without the
    /// new tests.
    pub(super) fn held_against(
        &self,
        held: &OriginalCheckSubject<'_>,
        place: ProofLocation,
        known: &BTreeSet<String>,
    ) -> Result<(Vec<ProofRecorded>, Vec<String>), Failure> {
        let RestoredCheckFiles { mut old, new } = self.goes_back(held)?;
        if old.is_empty() || held.before.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let (proofs, lost) = self.with_old(held, &old, (&place, known))?;
        if lost.is_empty() || new.is_empty() {
            return Ok((proofs, lost));
        }
        old.extend(new);
        let (without, still_lost) = self.with_old(held, &old, (&place, known))?;
        if still_lost.is_empty() {
            return Ok((without, still_lost));
        }
        // The code may refer to the new tests and fail to build without them, so the first run
        // says more.
        Ok((proofs, lost))
    }

    /// Runs the suite on a tree with these files as they were before the first step.
    fn with_old(
        &self,
        held: &OriginalCheckSubject<'_>,
        old: &[PathBuf],
        (place, known): (&ProofLocation, &BTreeSet<String>),
    ) -> Result<(Vec<ProofRecorded>, Vec<String>), Failure> {
        let tree = self.line.graft(held.tree, &self.base, old);
        let tree = tree.map_err(git_failed)?;
        let place = ProofLocation {
            tree: tree.clone(),
            ..place.clone()
        };
        let mut proofs = self.on_checkout(held.prover, &tree, &place)?;
        let reasons = proof::PlanTestMentions::of(held.state.plan());
        let lost = proof::regressions(held.before, &proofs, known, &reasons);
        for proof in &mut proofs {
            proof.holds = lost.is_empty();
        }
        Ok((proofs, lost))
    }

    /// Finds the files that must go back for the checks to be those from before the first
    /// step.
    fn goes_back(&self, held: &OriginalCheckSubject<'_>) -> Result<RestoredCheckFiles, Failure> {
        let plan = held.state.plan();
        let is_named = |path: &str| plan.steps.iter().any(|step| self.plan_names(step, path));
        let changed = self.line.changed(&self.base, held.tree);
        let mut back = RestoredCheckFiles::default();
        for path in changed.map_err(git_failed)? {
            let name = path.to_string_lossy();
            if !held.gauges.include(&name) {
                continue;
            }
            match self.text_at(&self.base, &name)? {
                Some(_) if is_named(&name) => {}
                Some(old) => {
                    let new = self.text_at(held.tree, &name)?;
                    if held.gauges.goes_back(&name, &old, new.as_deref()) {
                        back.old.push(path);
                    }
                }
                None if is_test_path(&name) && self.is_new(&name)? => back.new.push(path),
                None => {}
            }
        }
        Ok(back)
    }

    /// Returns whether the path did not exist before the first step.
    fn is_new(&self, path: &str) -> Result<bool, Failure> {
        Ok(!self.is_at(&self.base, path)?)
    }

    /// Returns whether a tree has an entry at a path.
    fn is_at(&self, tree: &str, path: &str) -> Result<bool, Failure> {
        let entry = self.line.entry_at(tree, path.as_ref());
        Ok(entry.map_err(git_failed)?.is_some())
    }

    /// Returns the changes of a tree to files that check the project, including tests that
    /// steps wrote. What the plan allows a step here, it does not allow mending.
    pub(super) fn checks_touched(
        &self,
        plan: &Plan,
        (base, tree): (&str, &str),
    ) -> Result<Vec<PathBuf>, Failure> {
        let before = self.proofs(ProofStage::Baseline)?;
        let gauges = self.gauges(&before, &evidence_of(plan), base)?;
        // A file that a check only loads counts as work if the plan lets a step change it.
        let is_work = |path: &str| {
            let mut steps = plan.steps.iter();
            gauges.load(path) && steps.any(|step| self.plan_names(step, path))
        };
        let touched = self.touched(&gauges, is_work, (base, tree))?;
        Ok(touched.into_iter().map(|(path, _)| path.into()).collect())
    }

    pub(super) fn base_of(&self, spot: &StepContext) -> String {
        let base = spot
            .state
            .step(&spot.spec.id)
            .and_then(|it| it.base.clone());
        base.unwrap_or_else(|| self.base.clone())
    }

    fn beyond(
        &self,
        spot: &StepContext,
        (base, tree): (&str, &str),
    ) -> Result<UnplannedChanges, Failure> {
        let spec = &spot.spec;
        let before = self.proofs(ProofStage::Baseline)?;
        let gauges = self.gauges(&before, &spec.evidence, base)?;
        let is_named = |path: &str| self.plan_names(spec, path);
        Ok(UnplannedChanges {
            outside: self.outside(spot, (base, tree))?,
            gauges: self.touched(&gauges, is_named, (base, tree))?,
        })
    }

    fn outside(&self, spot: &StepContext, trees: (&str, &str)) -> Result<Vec<String>, Failure> {
        let kept = self.tests_of(spot)?;
        self.outside_of(&spot.spec, &kept, trees)
    }

    /// Returns whether a step names a file of the repository by its path. Plans name files
    /// relative to the work folder.
    pub(super) fn plan_names(&self, step: &PlanStep, path: &str) -> bool {
        let here = self.in_folder(&[path.to_owned()]);
        here.iter().any(|path| proof::names_file(step, path))
    }

    /// Returns the files that differ between two trees and lie outside a scope.
    pub(super) fn outside_of(
        &self,
        spec: &PlanStep,
        kept: &[String],
        (base, tree): (&str, &str),
    ) -> Result<Vec<String>, Failure> {
        let paths = &spec.scope.paths;
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let rules = paths.iter();
        let rules: Vec<_> = rules
            .filter_map(|path| PolicyRule::parse(&format!("Edit({path})")).ok())
            .collect();
        let changed = self.line.changed(base, tree).map_err(git_failed)?;
        let changed = changed
            .iter()
            .map(|path| path.to_string_lossy().into_owned());
        let is_within = |path: &String| {
            let here = self.in_folder(std::slice::from_ref(path));
            here.iter()
                .any(|path| rules.iter().any(|rule| rule.admits_path("edit", path)))
        };
        let outside = changed
            .filter(|path| !kept.contains(path))
            .filter(|path| !is_within(path));
        Ok(outside.collect())
    }

    /// Returns the files that decide what checks do, as they are in a tree.
    pub(super) fn gauges(
        &self,
        before: &[ProofRecorded],
        evidence: &[StepEvidence],
        tree: &str,
    ) -> Result<ProjectCheckFiles, Failure> {
        // Most words of commands are not files, and asking git about each would start hundreds of
        // processes.
        let there = self.line.paths_at(tree).map_err(git_failed)?;
        // A file that cannot be read cannot be started by a check either.
        let read = |path: &str| {
            if there.contains(Path::new(path)) {
                self.text_at(tree, path).ok().flatten()
            } else {
                None
            }
        };
        let start = self.in_repository("");
        let gauges = ProjectCheckFiles::of_folder(&start.to_string_lossy(), before, evidence, read);
        Ok(gauges.with_tests(self.files_of_testers()?))
    }

    fn touched(
        &self,
        gauges: &ProjectCheckFiles,
        is_named: impl Fn(&str) -> bool,
        (base, tree): (&str, &str),
    ) -> Result<Vec<(String, String)>, Failure> {
        let mut touched = Vec::new();
        let before = self.line.paths_at(base).map_err(git_failed)?;
        let there = self.line.paths_at(tree).map_err(git_failed)?;
        for path in self.line.changed(base, tree).map_err(git_failed)? {
            let path = path.to_string_lossy().into_owned();
            if is_named(&path) {
                continue;
            }
            if !before.contains(Path::new(&path)) {
                let text = if path.ends_with("/__init__.py") {
                    self.text_at(tree, &path)?.unwrap_or_default()
                } else {
                    String::new()
                };
                let is_there = |file: &str| there.contains(Path::new(file));
                if let Some(what) = gauges.displaces(&path, &text, is_there) {
                    touched.push((path, what));
                    continue;
                }
            }
            if !gauges.include(&path) {
                continue;
            }
            let (old, new) = (self.text_at(base, &path)?, self.text_at(tree, &path)?);
            let what = match (&old, &new) {
                (_, None) => match (self.unread(tree, &path)?, &old) {
                    (Some(what), _) => Some(what.to_owned()),
                    (None, Some(old)) => gauges.touched(&path, Some(old), None),
                    (None, None) => Some("is gone".to_owned()),
                },
                (_, Some(_)) => gauges.touched(&path, old.as_deref(), new.as_deref()),
            };
            touched.extend(what.map(|what| (path, what)));
        }
        Ok(touched)
    }

    pub(super) fn text_at(&self, tree: &str, path: &str) -> Result<Option<String>, Failure> {
        let bytes = self.line.file_at(tree, path.as_ref(), LARGEST_FILE);
        let bytes = bytes.map_err(git_failed)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Says why the entry at a path has no text to compare, if there is one.
    fn unread(&self, tree: &str, path: &str) -> Result<Option<&'static str>, Failure> {
        let entry = self.line.entry_at(tree, path.as_ref());
        let why = |entry| match entry {
            GitTreeEntryKind::Link => "is a link that leads elsewhere",
            GitTreeEntryKind::File => "is too large to be looked at",
            GitTreeEntryKind::Other => "is no file any more",
        };
        Ok(entry.map_err(git_failed)?.map(why))
    }

    fn words_of(
        &self,
        spot: &StepContext,
        (base, tree): (&str, &str),
        beyond: &UnplannedChanges,
    ) -> Result<ProposalText, Failure> {
        let (mut what, mut why) = (Vec::new(), Vec::new());
        let mut impact = "the change stays in the step's own files until you decide".to_owned();
        if !beyond.outside.is_empty() {
            what.push(format!("it also changed {}", listed_paths(&beyond.outside)));
            why.push("the files lie outside of what the plan lets this step change");
        }
        if !beyond.gauges.is_empty() {
            what.push(format!(
                "it changed what it is checked by: {}",
                beyond.listed()
            ));
            why.push(
                "a check that a step changes itself proves nothing, and the plan does not name \
                 these files by their paths",
            );
            let paths: Vec<PathBuf> = beyond.gauges.iter().map(|(path, _)| path.into()).collect();
            let diff = self.line.diff(base, tree, &paths).map_err(git_failed)?;
            impact.push_str(&shown(&String::from_utf8_lossy(&diff)));
        }
        Ok(ProposalText {
            id: format!("{}-{}-scope", spot.spec.id, spot.round),
            what: what.join("; "),
            why: why.join("; "),
            impact,
        })
    }
}

/// The files to put back or set aside so that the checks are as they were.
#[derive(Default)]
struct RestoredCheckFiles {
    /// Files that existed before the first step, to be put back.
    old: Vec<PathBuf>,
    /// Tests that did not exist then, to be set aside.
    new: Vec<PathBuf>,
}

/// Work to be checked by the checks as they were.
pub(super) struct OriginalCheckSubject<'h> {
    pub(super) prover: &'h ProjectCheckRunner,
    pub(super) state: &'h PlanRun,
    pub(super) before: &'h [ProofRecorded],
    pub(super) tree: &'h str,
    pub(super) gauges: &'h ProjectCheckFiles,
}

/// Returns the proofs that the steps of a plan name.
pub(super) fn evidence_of(plan: &Plan) -> Vec<StepEvidence> {
    let evidence = |step: &PlanStep| step.evidence.clone();
    plan.steps.iter().flat_map(evidence).collect()
}

pub(super) fn shown(diff: &str) -> String {
    let lines: Vec<_> = diff.lines().collect();
    let first = lines.len().min(MOST_SHOWN);
    let rest = match lines.len() - first {
        0 => String::new(),
        more => format!("\n[{more} more lines]"),
    };
    format!("\n{}{rest}", lines[..first].join("\n"))
}
