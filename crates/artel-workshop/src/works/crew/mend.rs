//! Mending: an agent repairs what fails on the whole branch, within the scopes of the
//! plan's steps. Another agent inspects the change, and it is committed once that agent
//! accepts it.

use std::path::PathBuf;
use std::sync::Arc;

use artel_engine::PlanOrderOutcome;
use artel_git::{CommitOutcome, CommitSpec};
use artel_policy::StepWriteAccess;
use artel_rules::conduct::{AttemptPart, PlanRun, StepVerifier};
use artel_rules::plan::USUAL_TURNS;
use artel_rules::plan::names::{commit_message, is_test_path};
use artel_types::model::ModelCallReason;
use artel_types::plan::{Plan, PlanStep, StepScope, StepVerification};
use artel_types::{BranchMended, Fact, Failure, FailureCode, RunAsked, RunId, listed_paths};

use super::gauges::shown;
use super::parts::put_back_fact;
use super::{AgentExecutor, StepContext, blocking, facts, git_failed};
use crate::works::briefs;
use crate::works::children::ChildRunSpec;
use crate::works::contract::{RunContract, bound_of, grants_of};

/// The person's agreement to files that mending changed outside the plan.
enum MendApprovalState {
    /// The person must be asked first.
    Ask(RunAsked),
    /// This tree may be committed.
    Take(String),
}

/// The result of mending the branch.
struct MendedFiles {
    run: RunId,
    /// The tree, with everything restored that mending may not change.
    tree: String,
    /// The restored files.
    put_back: Vec<PathBuf>,
    /// The tests of steps among the restored files. Changing them costs the round.
    tests: Vec<PathBuf>,
}

/// Names a round of mending. No step can have such a name.
pub(super) fn name(round: u32) -> String {
    format!("mend.{round}")
}

impl AgentExecutor {
    /// Has an engineer mend what fails on the whole branch.
    pub(super) async fn mend(
        self: &Arc<Self>,
        round: u32,
        state: Arc<PlanRun>,
    ) -> Result<PlanOrderOutcome, Failure> {
        let base = self.checked_at(round)?;
        let spot = StepContext {
            spec: mending(state.plan(), state.proven().1, round),
            round,
            part: AttemptPart::Work,
            state,
        };
        let done = match self.mended_by(&spot, &base).await? {
            Ok(done) => done,
            Err(left) => return Ok(left),
        };
        let mut told: Vec<Fact> = Vec::new();
        told.extend(put_back_fact(&spot, done.run, done.put_back));
        if !done.tests.is_empty() {
            // The round is lost, like an attempt at a step, and the other changes are not looked
            // at.
            let mended = BranchMended {
                round,
                run: done.run,
                head: base,
                commit: None,
            };
            return Ok(facts(told.into_iter().chain([mended.into()])));
        }
        let (run, left) = (done.run, done.tree);
        let (this, on, of) = (Arc::clone(self), base.clone(), spot.clone());
        let agreed = blocking(move || this.agreed(&of, (&on, &left))).await?;
        let left = match agreed {
            MendApprovalState::Ask(asked) => return Ok(facts([asked.into()])),
            MendApprovalState::Take(left) => left,
        };
        let is_changed = self.line.tree_of(&base).map_err(git_failed)? != left;
        let mut commit = None;
        if is_changed {
            let spot = StepContext {
                part: AttemptPart::Judge(StepVerifier::Inspector),
                ..spot.clone()
            };
            let trees = (left.clone(), base.clone());
            let judged = match self.verdict(&spot, StepVerifier::Inspector, trees).await? {
                Ok((judged, _)) => judged,
                Err(left) => return Ok(left),
            };
            if judged.passed {
                let (this, on) = (Arc::clone(self), base.clone());
                commit = blocking(move || this.commit_mend(&spot, (&on, &left))).await?;
            }
            told.push(judged.into());
        }
        let mended = BranchMended {
            round,
            run,
            head: commit.clone().unwrap_or(base),
            commit,
        };
        Ok(facts(told.into_iter().chain([mended.into()])))
    }

    /// Returns the commit that failed the check of a round.
    fn checked_at(&self, round: u32) -> Result<String, Failure> {
        let events = self.chronicle.own_events()?;
        let head = events.iter().rev().find_map(|event| match &event.fact {
            Fact::BranchChecked(it) if it.round == round => Some(it.head.clone()),
            _ => None,
        });
        head.ok_or_else(|| Failure::new(FailureCode::X001, "there is nothing on record to mend"))
    }

    /// Has an engineer mend the branch. Returns the result without changes to the steps' tests
    /// and to other files that check the project, no matter who asked for such changes.
    async fn mended_by(
        self: &Arc<Self>,
        spot: &StepContext,
        base: &str,
    ) -> Result<Result<MendedFiles, PlanOrderOutcome>, Failure> {
        let (this, on, round) = (Arc::clone(self), base.to_owned(), spot.round);
        let (files, kept) = blocking(move || {
            let at = this.at.join("steps").join(name(round));
            let tree = this.checkout(&on, &at)?;
            let changed = this.line.changed(&this.base, &on).map_err(git_failed)?;
            let changed = changed.iter().map(|it| it.to_string_lossy().into_owned());
            let by_testers = this.files_of_testers()?;
            let is_test = |path: &String| is_test_path(path) || by_testers.contains(path);
            let kept: Vec<String> = changed.filter(is_test).collect();
            Ok(((at, tree), kept))
        })
        .await?;
        let plan = spot.state.plan();
        let mut task = briefs::mend(&plan.title, &spot.spec, spot.state.proven().1);
        if let Some(why) = self.why_not_taken(spot.round)? {
            task.push_str(&briefs::not_taken(&why));
        }
        let kept_here = self.in_folder(&kept);
        let bound = bound_of(&spot.spec, &kept_here, StepWriteAccess::Some);
        let bound = self.bound_of_role(bound, "engineer");
        let child = ChildRunSpec {
            name: format!("mend/{}", spot.round),
            parent: Some(self.run()),
            role: "engineer".to_owned(),
            task,
            told: Some(briefs::standing(self, spot)),
            contract: RunContract {
                bound: Some(bound),
                grants: grants_of(&spot.spec),
                turns: spot.spec.scope.turns,
                privacy: self.privacy,
                kept: kept_here,
                ..RunContract::new(
                    format!("mending, round {}: {}", spot.round, plan.title),
                    ModelCallReason::Work,
                )
            },
            tree: Some(files.clone()),
        };
        let came = self.house.child(self.trace(), child, |_, _| {}).await?;
        let (done, _) = match came.left() {
            Ok(over) => over,
            Err(left) => return Ok(Err(left)),
        };
        let (this, on, state) = (Arc::clone(self), base.to_owned(), Arc::clone(&spot.state));
        let mend = blocking(move || {
            let left = this.line.take(&files.1).map_err(git_failed)?;
            let mut put_back = this.checks_touched(state.plan(), (&on, &left))?;
            let mut tests = this.line.changed(&on, &left).map_err(git_failed)?;
            tests.retain(|path| kept.iter().any(|it| path.as_os_str() == it.as_str()));
            let more = tests.iter().filter(|path| !put_back.contains(path));
            put_back.extend(more.cloned().collect::<Vec<_>>());
            let tree = this.line.graft(&left, &on, &put_back).map_err(git_failed)?;
            Ok(MendedFiles {
                run: done.run,
                tree,
                put_back,
                tests,
            })
        })
        .await?;
        Ok(Ok(mend))
    }

    /// Explains why the previous round's work was refused, if it was.
    fn why_not_taken(&self, round: u32) -> Result<Option<String>, Failure> {
        let Some(before) = round.checked_sub(1).map(name) else {
            return Ok(None);
        };
        let events = self.chronicle.own_events()?;
        let is_taken = events.iter().any(|event| match &event.fact {
            Fact::BranchMended(it) => name(it.round) == before && it.commit.is_some(),
            _ => false,
        });
        let mut why = Vec::new();
        for event in events.iter().filter(|_| !is_taken) {
            match &event.fact {
                Fact::StepPutBack(it) if it.step == before => {
                    let files = listed_paths(&it.files);
                    why.push(format!("It changed {files}: they stay as they are."));
                }
                Fact::StepJudged(it) if it.step == before && !it.passed => {
                    why.push(self.chronicle.text(&it.feedback)?);
                }
                _ => {}
            }
        }
        Ok(Some(why.join("\n")).filter(|why| !why.is_empty()))
    }

    /// Asks the person once about changed files outside the scopes of all steps. Rejected
    /// changes are put back.
    fn agreed(
        &self,
        spot: &StepContext,
        (base, left): (&str, &str),
    ) -> Result<MendApprovalState, Failure> {
        let outside = self.outside_of(&spot.spec, &[], (base, left))?;
        if outside.is_empty() {
            return Ok(MendApprovalState::Take(left.to_owned()));
        }
        let paths: Vec<_> = outside.iter().map(Into::into).collect();
        let what = format!("Mending the branch also changed {}", listed_paths(&outside));
        let question = format!("{}/scope", spot.spec.id);
        match self.answer_to(&question, &what)? {
            Some(answer) if answer.starts_with("accept") => {
                Ok(MendApprovalState::Take(left.to_owned()))
            }
            Some(_) => {
                let left = self.line.graft(left, base, &paths).map_err(git_failed)?;
                Ok(MendApprovalState::Take(left))
            }
            None => {
                let diff = self.line.diff(base, left, &paths).map_err(git_failed)?;
                let text = format!(
                    "{what}\nWhy: the files lie outside of what the plan lets its steps change\n\
                     Impact: they are put back unless you accept{}",
                    shown(&String::from_utf8_lossy(&diff))
                );
                Ok(MendApprovalState::Ask(RunAsked {
                    question,
                    text,
                    choices: ["accept", "reject"].map(str::to_owned).to_vec(),
                    call: None,
                    suggested: None,
                }))
            }
        }
    }

    /// Returns the person's answer to a question. A no to the same question in an earlier
    /// round counts, too: they are not asked again for something they do not want.
    fn answer_to(&self, question: &str, what: &str) -> Result<Option<String>, Failure> {
        let events = self.chronicle.own_events()?;
        let same = events.iter().filter_map(|event| match &event.fact {
            Fact::RunAsked(it) if it.text.lines().next() == Some(what) => Some(&it.question),
            _ => None,
        });
        let same: Vec<_> = same.collect();
        Ok(events.iter().rev().find_map(|event| match &event.fact {
            Fact::RunAnswered(it) if same.contains(&&it.question) => {
                let answer = it.answer.trim();
                let counts = it.question == question || !answer.starts_with("accept");
                counts.then(|| answer.to_owned())
            }
            _ => None,
        }))
    }

    /// Commits the mended files to the branch.
    fn commit_mend(
        &self,
        spot: &StepContext,
        (base, left): (&str, &str),
    ) -> Result<Option<String>, Failure> {
        let changed = self.line.changed(base, left).map_err(git_failed)?;
        let files: Vec<_> = changed
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        let kind = spot.state.plan().kind;
        let message = commit_message(&spot.spec, kind, &files, self.trace());
        if let Some(CommitOutcome::Done { commit, .. }) = self.already(&message)? {
            return Ok(Some(commit));
        }
        let order = CommitSpec {
            tree: left,
            base,
            onto: base,
            message: &message,
            when: self.when(&spot.spec.id, spot.round)?,
            author: &self.author,
        };
        let committed = self.line.commit(&order).map_err(git_failed)?;
        let CommitOutcome::Done { commit, .. } = committed else {
            return Ok(None);
        };
        let advanced = self.line.advance(&self.branch, base, &commit);
        advanced.map_err(git_failed)?;
        self.publish()?;
        Ok(Some(commit))
    }
}

/// Returns mending in the form of a step. It may do whatever any of the plan's steps may.
fn mending(plan: &Plan, why: &[String], round: u32) -> PlanStep {
    PlanStep {
        id: name(round),
        title: format!("Make {} hold as a whole", plan.title),
        role: "engineer".to_owned(),
        work: format!(
            "Put right what did not hold on a clean checkout:\n- {}",
            why.join("\n- ")
        ),
        check:
            "What did not hold holds now, by the smallest change, and everything that the steps \
                made still does what the plan says."
                .to_owned(),
        after: Vec::new(),
        verify: StepVerification::None,
        scope: union_of(plan),
        evidence: Vec::new(),
        gives: Vec::new(),
        uses: Vec::new(),
        tokens: None,
        priority: None,
    }
}

/// Returns the union of the scopes of a plan's steps. An empty list of files or commands
/// means any of them, so one such step makes the union unlimited.
fn union_of(plan: &Plan) -> StepScope {
    let scopes = || plan.steps.iter().map(|step| &step.scope);
    let any_or_all = |list: fn(&StepScope) -> &Vec<String>| {
        if scopes().any(|scope| list(scope).is_empty()) {
            return Vec::new();
        }
        all_of(scopes().map(list))
    };
    StepScope {
        paths: any_or_all(|scope| &scope.paths),
        commands: any_or_all(|scope| &scope.commands),
        network: all_of(scopes().map(|scope| &scope.network)),
        // Mending changes only the branch's own code and does not repeat what steps did elsewhere.
        tools: Vec::new(),
        secrets: Vec::new(),
        turns: turns_of(plan),
        cost_usd: None,
        criteria: Vec::new(),
    }
}

/// Returns the largest number of turns of any step, or `None` if that is the usual number.
fn turns_of(plan: &Plan) -> Option<u32> {
    let turns = || plan.steps.iter().map(|step| step.scope.turns);
    let is_usual = turns().any(|it| it.is_none());
    let most = turns().flatten().max();
    most.filter(|most| !is_usual || *most > USUAL_TURNS)
}

fn all_of<'s>(lists: impl Iterator<Item = &'s Vec<String>>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for entry in lists.flatten() {
        if !all.contains(entry) {
            all.push(entry.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(scopes: &[serde_json::Value]) -> Plan {
        let step = |(at, scope): (usize, &serde_json::Value)| {
            let step = serde_json::json!({
                "id": format!("s{at}"), "title": "Do", "work": "w", "check": "c", "scope": scope,
            });
            serde_json::from_value(step).unwrap()
        };
        Plan {
            steps: scopes.iter().enumerate().map(step).collect(),
            ..Plan::default()
        }
    }

    #[test]
    fn mending_may_do_what_one_of_the_steps_may_and_no_more() {
        let both = plan(&[
            serde_json::json!({"paths": ["a.py"], "commands": ["make a"], "network": ["x.org"], "turns": 4}),
            serde_json::json!({"paths": ["a.py", "b.py"], "commands": ["make b"], "turns": 9}),
        ]);
        let scope = union_of(&both);
        assert_eq!(scope.paths, ["a.py", "b.py"]);
        assert_eq!(scope.commands, ["make a", "make b"]);
        assert_eq!(scope.network, ["x.org"]);
        assert_eq!(scope.turns, Some(9));
        let open = plan(&[
            serde_json::json!({"paths": ["a.py"], "commands": ["make a"]}),
            serde_json::json!({}),
        ]);
        let scope = union_of(&open);
        assert_eq!((scope.paths.len(), scope.commands.len()), (0, 0));
        assert_eq!(scope.turns, None);
        let few_and_usual = [serde_json::json!({"turns": 4}), serde_json::json!({})];
        assert_eq!(union_of(&plan(&few_and_usual)).turns, None);
        let many_and_usual = [serde_json::json!({"turns": 40}), serde_json::json!({})];
        assert_eq!(union_of(&plan(&many_and_usual)).turns, Some(40));
    }
}
