//! The parts of a step that agents do: criteria, tests, work and verdict.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::PlanOrderOutcome;
use artel_git::RunTree;
use artel_policy::{BoundAdmission, PolicyBound, StepWriteAccess};
use artel_rules::conduct::{AttemptPart, StepVerifier};
use artel_rules::proof::ChangedLines;
use artel_types::model::ModelCallReason;
use artel_types::plan::{ProofStage, Requirement, VerdictFinding};
use artel_types::{
    Event, Fact, Failure, RecordedText, RunId, StepJudged, StepPutBack, StepStarted, StepWorked,
    shown_path,
};

use super::{AgentExecutor, StepContext, blocking, facts, git_failed};
use crate::runs::RunDriveOutcome;
use crate::works::briefs;
use crate::works::children::{ChildRunOutcome, ChildRunSpec};
use crate::works::contract::{RunContract, bound_of, grants_of};
use crate::works::forms::{self, InspectorCriteria, VerdictResult, VerifierVerdict};
use crate::works::propose::propose_tool;
use crate::works::prover::{done_with, fresh};

/// Longest diff in a verifier's prompt, in bytes. The verifier can read the files for the
/// rest.
const LONGEST_DIFF: usize = 16 * 1024;

/// Returns the reason for the model calls of a part of a step.
fn reason_of(part: AttemptPart) -> ModelCallReason {
    match part {
        AttemptPart::Criteria | AttemptPart::Judge(_) => ModelCallReason::Judging,
        AttemptPart::Advise => ModelCallReason::Advice,
        AttemptPart::Start
        | AttemptPart::Tests
        | AttemptPart::Red
        | AttemptPart::Work
        | AttemptPart::Green
        | AttemptPart::Commit => ModelCallReason::Work,
    }
}

impl AgentExecutor {
    /// Returns the folder of a step's files.
    fn place(&self, spot: &StepContext) -> PathBuf {
        let base = spot
            .state
            .step(&spot.spec.id)
            .and_then(|it| it.base.clone());
        let base = base.unwrap_or_else(|| self.base.clone());
        self.place_at(&spot.spec.id, &base)
    }

    fn place_at(&self, step: &str, base: &str) -> PathBuf {
        let base: String = base.chars().take(12).collect();
        self.at.join("steps").join(format!("{step}-{base}"))
    }

    /// Opens the files of a step.
    pub(super) fn files(&self, spot: &StepContext) -> Result<(PathBuf, Arc<RunTree>), Failure> {
        let at = self.place(spot);
        let base = spot
            .state
            .step(&spot.spec.id)
            .and_then(|it| it.base.clone());
        let tree = self.checkout(&base.unwrap_or_else(|| self.base.clone()), &at)?;
        Ok((at, tree))
    }

    /// Prepares the files of an attempt. A later attempt continues with the existing files,
    /// unless the branch has moved and conflicts with them.
    pub(super) async fn start(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let this = Arc::clone(self);
        blocking(move || {
            let step = spot.state.step(&spot.spec.id);
            let clashed = step.is_some_and(|it| it.why.starts_with(super::branch::CLASH));
            let anew = clashed || step.is_some_and(artel_rules::conduct::StepRun::begins_anew);
            let before = step.and_then(|it| it.base.clone()).filter(|_| !anew);
            let base = match before {
                Some(base) => base,
                None => this.head()?,
            };
            this.checkout(&base, &this.place_at(&spot.spec.id, &base))?;
            let started = StepStarted {
                step: spot.spec.id.clone(),
                round: spot.round,
                base,
            };
            Ok(facts([started.into()]))
        })
        .await
    }

    /// Returns the terms for a run of a step.
    pub(super) fn contract(&self, spot: &StepContext, bound: PolicyBound) -> RunContract {
        let part = spot.part.as_str();
        // Mending the whole branch is not a step of the plan.
        let number = spot.state.plan().number(&spot.spec.id);
        let place = number.map_or("the branch".to_owned(), |it| format!("step {it}"));
        RunContract {
            step: number.map(|_| spot.spec.id.clone()),
            plan: number.map(|_| self.run()),
            bound: Some(bound),
            grants: grants_of(&spot.spec),
            turns: spot.spec.scope.turns.map(|turns| turns.clamp(1, 100)),
            privacy: self.privacy,
            directive: Some(format!("{}: {}", spot.spec.title, spot.spec.work)),
            ..RunContract::new(
                format!("{place}, {part}: {}", spot.spec.title),
                reason_of(spot.part),
            )
        }
    }

    pub(super) fn child(
        &self,
        spot: &StepContext,
        role: &str,
        contract: RunContract,
        task: String,
    ) -> ChildRunSpec {
        let known = self.house.workshop.caller.role(role);
        let bound = contract.bound.clone();
        let bound = bound.map(|bound| self.bound_of_role(bound, role));
        ChildRunSpec {
            name: format!("{}/{}/{}", spot.spec.id, spot.round, spot.part.as_str()),
            parent: Some(self.run()),
            role: role.to_owned(),
            task,
            told: Some(briefs::standing(self, spot)),
            contract: RunContract {
                calls: known.ok().map(|role| role.calls),
                bound,
                ..contract
            },
            tree: None,
        }
    }

    /// Adds to a step's bound what the file of a role itself names, since a person wrote it
    /// there. Of the workshop's declared tools, a step may use only those and the ones it
    /// lists.
    pub(super) fn bound_of_role(&self, mut bound: PolicyBound, role: &str) -> PolicyBound {
        let caller = &self.house.workshop.caller;
        let BoundAdmission::Step(step) = &mut bound.admits else {
            return bound;
        };
        let registry = caller.registry("default");
        let cards = registry.iter().flat_map(|registry| registry.cards());
        let declared = cards.filter(|card| card.bundle == "declared");
        step.declared = declared.map(|card| card.name.clone()).collect();
        let named = caller.role(role).ok().filter(|role| role.file.is_some());
        let Some(named) = named.filter(|_| step.changes == StepWriteAccess::Some) else {
            return bound;
        };
        let tools = named.tools.iter().flatten();
        let tools: Vec<_> = tools.collect();
        let by_role = step.declared.iter();
        let by_role = by_role.filter(|name| tools.iter().any(|rule| rule.admits_tool(name)));
        step.tools.extend(by_role.cloned());
        step.secrets.extend(named.secrets.unwrap_or_default());
        bound
    }

    /// Has an inspector name the criteria.
    pub(super) async fn criteria(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let bound = bound_of(&spot.spec, &[], StepWriteAccess::None);
        let contract = RunContract {
            tools: vec![forms::criteria_form()],
            ..self.contract(&spot, bound)
        };
        // The inspector changes no files of the step, but may run commands that write, so it works
        // in a copy that is thrown away.
        let base = self.base_of(&spot);
        let tree = self.before_tests(&spot, &base);
        let (at, tree, _) = self.copied(&spot, "criteria", (tree, base)).await?;
        let child = ChildRunSpec {
            tree: Some((at.clone(), tree)),
            ..self.child(&spot, "inspector", contract, briefs::criteria(&spot.spec))
        };
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        let (done, events) = match came.left() {
            Ok(over) => over,
            Err(left) => return Ok(left),
        };
        blocking(move || {
            done_with(&at);
            Ok(())
        })
        .await?;
        let named = forms::handed_in::<InspectorCriteria>(&events, forms::CRITERIA);
        let mut criteria = spot.spec.scope.criteria.clone();
        criteria.extend(named.map(|it| it.criteria).unwrap_or_default());
        let state = if criteria.is_empty() {
            "failed"
        } else {
            "complete"
        };
        let worked = self.worked(&spot, &done, state, criteria, String::new())?;
        let short = self.short_of_money(&spot, &done)?;
        Ok(facts(std::iter::once(worked.into()).chain(short)))
    }

    /// Has a tester write tests that fail without the work.
    pub(super) async fn tests(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let mut spec = spot.spec.clone();
        spec.scope.paths = TEST_PATHS.map(str::to_owned).to_vec();
        let bound = bound_of(&spec, &[], StepWriteAccess::Some);
        let contract = self.contract(&spot, bound);
        let files = self.opened(&spot).await?;
        let task = briefs::tests(&spot);
        let child = ChildRunSpec {
            tree: Some(files.clone()),
            ..self.child(&spot, "tester", contract, task)
        };
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        self.left_by(spot, came, files).await
    }

    /// Has an agent do the work.
    pub(super) async fn work(
        self: &Arc<Self>,
        spot: StepContext,
    ) -> Result<PlanOrderOutcome, Failure> {
        let files = self.opened(&spot).await?;
        // The tests of the step define its task, so the worker may not change them.
        let kept = self.tests_of(&spot)?;
        let kept_here = self.in_folder(&kept);
        let bound = bound_of(&spot.spec, &kept_here, StepWriteAccess::Some);
        let contract = RunContract {
            tools: vec![propose_tool(self, &spot)],
            kept: kept_here,
            ..self.contract(&spot, bound)
        };
        let task = briefs::work(&spot, &kept);
        let role = spot.spec.role.clone();
        let child = ChildRunSpec {
            tree: Some(files.clone()),
            ..self.child(&spot, &role, contract, task)
        };
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        self.left_by(spot, came, files).await
    }

    /// Returns paths of the repository relative to the work folder.
    pub(super) fn in_folder(&self, files: &[String]) -> Vec<String> {
        let prefix = self.line.prefix();
        let inside = files.iter().filter_map(|file| {
            let path = std::path::Path::new(file).strip_prefix(&prefix).ok()?;
            Some(path.to_string_lossy().into_owned())
        });
        inside.collect()
    }

    /// Returns a path of the work folder relative to the repository.
    pub(super) fn in_repository(&self, file: &str) -> PathBuf {
        self.line.prefix().join(file)
    }

    /// Returns the files that the tester of the step wrote.
    pub(super) fn tests_of(&self, spot: &StepContext) -> Result<Vec<String>, Failure> {
        let step = spot.state.step(&spot.spec.id);
        let Some((tests, base)) = step.and_then(|it| Some((it.tests.clone()?, it.base.clone()?)))
        else {
            return Ok(Vec::new());
        };
        let changed = self.line.changed(&base, &tests).map_err(git_failed)?;
        let names = changed
            .iter()
            .map(|path| path.to_string_lossy().into_owned());
        // When tests are written again, the tree also holds the work of the attempt before. Only
        // test files count as the tester's.
        let is_test = self.test_files();
        let (own, others): (Vec<_>, Vec<_>) = names.partition(|path| is_test(path));
        let linked = self.linked_in_scope(&spot.spec, &tests, others)?;
        // Another link would show other files.
        let linked = linked.into_iter().flat_map(|it| [it.file, it.link]);
        let kept: BTreeSet<String> = own.into_iter().chain(linked).collect();
        Ok(kept.into_iter().collect())
    }

    /// Takes over the files that an agent left.
    async fn left_by(
        self: &Arc<Self>,
        spot: StepContext,
        came: ChildRunOutcome,
        (_, tree): (PathBuf, Arc<RunTree>),
    ) -> Result<PlanOrderOutcome, Failure> {
        let (done, _) = match came.left() {
            Ok(over) => over,
            Err(left) => return Ok(left),
        };
        let this = Arc::clone(self);
        blocking(move || {
            let left = this.line.take(&tree).map_err(git_failed)?;
            let (left, back) = this.with_kept_files(&spot, &tree, left)?;
            let state = done.finished.as_ref().and_then(|it| it.state.clone());
            let state = state.unwrap_or_else(|| "failed".to_owned());
            let worked = this.worked(&spot, &done, &state, Vec::new(), left.clone())?;
            let mut all = vec![worked.into()];
            let is_charged = spot.part == AttemptPart::Work && !back.is_empty();
            all.extend(put_back_fact(&spot, done.run, back));
            if is_charged {
                // The attempt is lost. Its other changes are checked when it is repeated.
                return Ok(facts(all));
            }
            all.extend(this.short_of_money(&spot, &done)?);
            if spot.part == AttemptPart::Work && state == "complete" {
                all.extend(this.beyond_scope(&spot, &left)?);
            } else if spot.part == AttemptPart::Work && all.len() == 1 {
                all.extend(this.beyond_rights(&spot, done.run)?);
            }
            Ok(facts(all))
        })
        .await
    }

    fn worked(
        &self,
        spot: &StepContext,
        done: &RunDriveOutcome,
        state: &str,
        criteria: Vec<Requirement>,
        tree: String,
    ) -> Result<StepWorked, Failure> {
        let why = done.finished.as_ref().and_then(|it| it.why.clone());
        let mut summary = done.answer.clone().unwrap_or_default();
        if let Some(why) = why {
            summary = format!("{why}\n{summary}");
        }
        Ok(StepWorked {
            step: spot.spec.id.clone(),
            round: spot.round,
            part: spot.part.as_str().to_owned(),
            run: done.run,
            state: state.to_owned(),
            summary: self.chronicle.keep(summary.trim().to_owned())?,
            criteria,
            tree,
            left_out: done.finished.as_ref().and_then(|it| it.left_out.clone()),
        })
    }

    async fn opened(
        self: &Arc<Self>,
        spot: &StepContext,
    ) -> Result<(PathBuf, Arc<RunTree>), Failure> {
        let (this, spot) = (Arc::clone(self), spot.clone());
        blocking(move || this.files(&spot)).await
    }

    /// Has an attempt verified, in a copy of its files.
    pub(super) async fn judge(
        self: &Arc<Self>,
        spot: StepContext,
        judge: StepVerifier,
    ) -> Result<PlanOrderOutcome, Failure> {
        let trees = spot.left_by(self);
        match self.verdict(&spot, judge, trees).await? {
            Ok((judged, done)) => {
                let short = self.short_of_money(&spot, &done)?;
                Ok(facts(std::iter::once(judged.into()).chain(short)))
            }
            Err(left) => Ok(left),
        }
    }

    /// Makes a copy of an attempt's files for a verifier and returns it with the diff of the
    /// attempt.
    pub(super) async fn copied(
        self: &Arc<Self>,
        spot: &StepContext,
        whose: &str,
        (left, base): (String, String),
    ) -> Result<(PathBuf, Arc<RunTree>, String), Failure> {
        let this = Arc::clone(self);
        let name = format!("{}-{}-{whose}", spot.spec.id, spot.round);
        let at = self.at.join("judges").join(name);
        blocking(move || {
            let tree = this.checkout(&left, &at)?;
            let diff = this.line.diff(&base, &left, &[]).map_err(git_failed)?;
            Ok((at, tree, String::from_utf8_lossy(&diff).into_owned()))
        })
        .await
    }

    /// Has the change from one tree to another verified.
    pub(super) async fn verdict(
        self: &Arc<Self>,
        spot: &StepContext,
        judge: StepVerifier,
        trees: (String, String),
    ) -> Result<Result<(StepJudged, Box<RunDriveOutcome>), PlanOrderOutcome>, Failure> {
        let left = trees.0.clone();
        let (at, tree, diff) = self.copied(spot, judge.as_str(), trees).await?;
        let role = match judge {
            StepVerifier::Tester => "tester",
            StepVerifier::Evaluator | StepVerifier::Inspector => "inspector",
        };
        let bound = bound_of(&spot.spec, &[], StepWriteAccess::None);
        // While tests run, the code under test could try to change them.
        let contract = RunContract {
            kept: self.in_folder(&self.tests_of(spot)?),
            ..self.contract(spot, bound)
        };
        let lines = Arc::new(ChangedLines::of(&diff));
        let task = briefs::judge(self, spot, judge, &cut(diff));
        let copy = Arc::clone(&tree);
        let child = ChildRunSpec {
            tree: Some((at.clone(), tree)),
            ..self.child(spot, role, contract, task)
        };
        let (house, trace) = (Arc::clone(&self.house), self.trace());
        let changed = Arc::clone(&lines);
        let finish = move |run: RunId, contract: &mut RunContract| {
            let looked = move || {
                let events = house.told_by(trace, run).unwrap_or_default();
                forms::looked_at(&events)
            };
            let put_back = move || put_back(&copy);
            let form = forms::verdict_form(judge, looked, put_back, changed);
            contract.tools.push(form);
        };
        let came = self.house.child(self.trace(), child, finish).await?;
        let (done, events) = match came.left() {
            Ok(over) => over,
            Err(left) => return Ok(Err(left)),
        };
        let judged = self.judged(spot, (judge, &lines, &left), &done, &events)?;
        blocking(move || {
            done_with(&at);
            Ok(())
        })
        .await?;
        Ok(Ok((judged, done)))
    }

    fn judged(
        &self,
        spot: &StepContext,
        (judge, lines, tree): (StepVerifier, &ChangedLines, &str),
        done: &RunDriveOutcome,
        events: &[Event],
    ) -> Result<StepJudged, Failure> {
        let verdict = forms::handed_in::<VerifierVerdict>(events, forms::VERDICT);
        let verdict = verdict.unwrap_or_else(|| VerifierVerdict {
            verdict: VerdictResult::Fail,
            feedback: format!("no verdict was handed in by the {}", judge.as_str()),
            ..VerifierVerdict::default()
        });
        let mut findings = verdict.findings;
        lines.lower(&mut findings);
        if judge != StepVerifier::Tester {
            findings.extend(self.checked_findings(spot, lines, tree)?);
        }
        let findings: Vec<VerdictFinding> = numbered(findings, judge);
        let passed = verdict.verdict == VerdictResult::Pass
            && !findings.iter().any(|it| it.severity.fails());
        let mut feedback = verdict.feedback;
        for finding in findings.iter().filter(|it| it.severity.fails()) {
            feedback.push_str(&briefs::finding(finding));
        }
        let outputs = serde_json::Value::Object(verdict.outputs).to_string();
        Ok(StepJudged {
            step: spot.spec.id.clone(),
            round: spot.round,
            by: judge.as_str().to_owned(),
            run: done.run,
            passed,
            feedback: self.chronicle.keep(feedback)?,
            findings,
            evidence: verdict.evidence,
            outputs: if passed {
                self.chronicle.keep(outputs)?
            } else {
                RecordedText::Inline("{}".to_owned())
            },
            fault: verdict.fault.map(|it| match it {
                forms::VerdictFault::Test => "test".to_owned(),
                forms::VerdictFault::Code => "code".to_owned(),
            }),
        })
    }
}

impl AgentExecutor {
    /// Returns new findings of the project's own checkers in the files of an attempt. They are
    /// recorded with the inspector's findings and can be waived like them.
    fn checked_findings(
        &self,
        spot: &StepContext,
        lines: &ChangedLines,
        tree: &str,
    ) -> Result<Vec<VerdictFinding>, Failure> {
        let mut now = self.proofs(ProofStage::Green)?;
        now.retain(|it| it.step.as_deref() == Some(&*spot.spec.id) && it.round == spot.round);
        let before = self.proofs(ProofStage::Baseline)?;
        let mut found = artel_rules::proof::new_findings(&before, &now, lines);
        for file in lines.files() {
            let text = self.text_at(tree, file)?.unwrap_or_default();
            found.extend(artel_rules::proof::unwieldy(file, &text, lines));
        }
        Ok(found)
    }
}

/// Records which files of an attempt were put back, if any were.
pub(super) fn put_back_fact(spot: &StepContext, run: RunId, files: Vec<PathBuf>) -> Option<Fact> {
    let names = files.iter().map(|path| path.to_string_lossy().into_owned());
    let fact = StepPutBack {
        step: spot.spec.id.clone(),
        round: spot.round,
        part: spot.part.as_str().to_owned(),
        run,
        files: names.collect(),
    };
    (!files.is_empty()).then(|| fact.into())
}

/// Patterns for the places of tests in common projects.
pub(super) const TEST_PATHS: [&str; 12] = [
    "**/test/**",
    "**/tests/**",
    "**/__tests__/**",
    "**/spec/**",
    "**/test_*",
    "**/*_test.*",
    "**/*.test.*",
    "**/*.spec.*",
    "**/*_spec.*",
    "**/*Test.*",
    "**/*Tests.*",
    "**/conftest.py",
];

/// Gives each finding an id.
fn numbered(findings: Vec<VerdictFinding>, judge: StepVerifier) -> Vec<VerdictFinding> {
    let letter = judge.as_str().chars().next().unwrap_or('f');
    let findings = findings.into_iter().enumerate();
    findings
        .map(|(index, finding)| VerdictFinding {
            id: format!("{letter}{}", index + 1),
            ..finding
        })
        .collect()
}

pub(super) fn cut(mut diff: String) -> String {
    if diff.len() > LONGEST_DIFF {
        diff.truncate(diff.floor_char_boundary(LONGEST_DIFF));
        diff.push_str("\n[cut: read the files for the rest]");
    }
    diff
}

/// Restores the files that a verifier was given, and names those it changed: a shell can
/// write where the verifier's tools cannot. New files are not part of the work.
fn put_back(copy: &RunTree) -> Result<Vec<String>, String> {
    let failed =
        |error: artel_git::RunTreeError| format!("the files could not be looked at: {error}");
    let changes = copy.changes(copy.start()).map_err(failed)?;
    let changes = changes
        .iter()
        .filter(|change| change.kind != artel_git::RunTreeChangeKind::Made);
    let names: Vec<String> = changes
        .map(|change| format!("`{}`", shown_path(&change.path.to_string_lossy())))
        .collect();
    if !names.is_empty() {
        copy.restore(copy.start()).map_err(failed)?;
    }
    Ok(names)
}

/// Returns the paths that are not tests.
pub(super) fn production(paths: &[PathBuf], is_test: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut production = paths.to_vec();
    production.retain(|path| !is_test(&path.to_string_lossy()));
    production
}

/// Returns a path for a checkout and removes an earlier one there.
pub(super) fn anew(this: &AgentExecutor, name: &str) -> Result<PathBuf, Failure> {
    fresh(&this.at, name)
}
