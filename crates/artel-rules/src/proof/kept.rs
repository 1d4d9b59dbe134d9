//! Everything that has to pass: what passed before the first step, and what each passed
//! step added.

use std::collections::BTreeSet;

use artel_types::plan::TestNames;
use artel_types::{ProofRecorded, RecordedText};

use super::{is_end, names, same, test_names};

/// A passed step, in the order of the branch.
#[derive(Debug, Clone, Default)]
pub struct PassedStage {
    /// The proofs of its checks, with its work.
    pub proofs: Vec<ProofRecorded>,
    /// Indexes of the earlier stages that were on the branch when it began.
    pub on: Vec<usize>,
    /// Whether its checks held; a person may have waived them.
    pub held: bool,
}

/// Returns everything that has to pass on a tree with these stages: the checks before the
/// first step, with the tests that passed at any stage, whatever they did before. If a
/// stage's checks held without a test that existed when the stage began, it was allowed to
/// remove the test, which is not required any more. Nor is anything that the stages in
/// `free` added.
pub fn kept(
    before: &[ProofRecorded],
    stages: &[PassedStage],
    free: &BTreeSet<usize>,
) -> Vec<ProofRecorded> {
    let mut all = before.to_vec();
    for proof in all.iter_mut().filter(|proof| proof.sort == "tests") {
        let at = |stage: &PassedStage| {
            let mut proofs = stage.proofs.iter();
            proofs.find(|it| same(proof, it)).cloned()
        };
        let greens: Vec<Option<ProofRecorded>> = stages.iter().map(at).collect();
        let past = PassingTestHistory {
            first: passing(proof),
            passing: greens
                .iter()
                .map(|it| it.as_ref().and_then(passing).unwrap_or_default())
                .collect(),
            stages,
        };
        for green in greens.iter().flatten().filter(|_| free.is_empty()) {
            proof.passed = proof.passed.max(green.passed);
        }
        // A failure that a step fixed is not an old failure any more.
        proof.failures.retain(|it| {
            let mut passed = past.passing.iter().flatten();
            !passed.any(|name| is_end(&it.name, name))
        });
        let skipped = test_names(proof).map(|it| it.skipped);
        if let Some(passed) = past.has_to_pass(&greens, free) {
            let list = TestNames {
                passed: passed.into_iter().collect(),
                skipped: skipped.unwrap_or_default(),
            };
            proof.tests = serde_json::to_string(&list).ok().map(RecordedText::Inline);
        }
    }
    for proof in all.iter_mut().filter(|proof| proof.failures.is_empty()) {
        let mut held = stages.iter().filter(|stage| stage.held);
        // A check that a step made end well must not end badly any more.
        let ends_well = |it: &ProofRecorded| same(proof, it) && it.exit == Some(0);
        if held.any(|stage| stage.proofs.iter().any(ends_well)) {
            proof.exit = Some(0);
        }
    }
    all
}

/// The tests that passed before the first step, if their names are known, and at each
/// stage.
struct PassingTestHistory<'p> {
    first: Option<BTreeSet<String>>,
    passing: Vec<BTreeSet<String>>,
    stages: &'p [PassedStage],
}

impl PassingTestHistory<'_> {
    fn has_to_pass(
        &self,
        greens: &[Option<ProofRecorded>],
        free: &BTreeSet<usize>,
    ) -> Option<BTreeSet<String>> {
        let mut has_to = self.first.clone()?;
        for (at, green) in greens.iter().enumerate() {
            let Some(green) = green else {
                continue;
            };
            if self.stages[at].held {
                let failing = names(green);
                let is_there = |name: &String| {
                    let fails = || failing.iter().any(|it| is_end(it, name));
                    self.passing[at].contains(name) || fails()
                };
                has_to.retain(|name| is_there(name) || !self.knew(at, name));
            }
            has_to.extend(self.passing[at].iter().cloned());
        }
        let added = |name: &String| {
            let mut free = free.iter().copied();
            free.any(|at| {
                self.passing.get(at).is_some_and(|it| it.contains(name)) && !self.knew(at, name)
            })
        };
        has_to.retain(|name| !added(name));
        Some(has_to)
    }

    /// Returns whether a test passed on the branch when a stage began.
    fn knew(&self, at: usize, name: &String) -> bool {
        let mut on = self.stages[at].on.iter();
        self.first.as_ref().is_some_and(|it| it.contains(name))
            || on.any(|&at| self.passing.get(at).is_some_and(|it| it.contains(name)))
    }
}

fn passing(proof: &ProofRecorded) -> Option<BTreeSet<String>> {
    Some(test_names(proof)?.passed.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{named, proof};
    use super::super::{PlanTestMentions, regressions};
    use super::*;

    fn stage(proof: ProofRecorded, on: &[usize]) -> PassedStage {
        PassedStage {
            proofs: vec![proof],
            on: on.to_vec(),
            held: true,
        }
    }

    fn lost(before: &ProofRecorded, stages: &[PassedStage], now: ProofRecorded) -> Vec<String> {
        let before = kept(std::slice::from_ref(before), stages, &BTreeSet::new());
        let reasons = PlanTestMentions(String::new());
        regressions(&before, &[now], &BTreeSet::new(), &reasons)
    }

    #[test]
    fn a_test_that_a_step_added_is_missed_like_one_that_was_there() {
        let before = named(&["t.old"], &[]);
        let first = stage(named(&["t.old", "t.left"], &[]), &[]);
        // It ran in parallel with the first stage, and so never saw its test.
        let beside = stage(named(&["t.old", "t.right"], &[]), &[]);
        let stages = [first, beside];
        let all = ["t.old", "t.left", "t.right"];
        assert_eq!(lost(&before, &stages, named(&all, &[])), [""; 0]);
        assert_eq!(
            lost(&before, &stages, named(&["t.old", "t.right"], &[])),
            ["the test `t.left` passed before and is gone; the plan does not name it"]
        );
        assert_eq!(
            lost(&before, &stages, proof("tests", 1, 2, &["t.left"])),
            ["t.left fails"]
        );
    }

    #[test]
    fn what_a_step_was_let_take_away_is_asked_for_no_more() {
        let before = named(&["t.old"], &[]);
        let first = stage(named(&["t.old", "t.left"], &[]), &[]);
        let second = stage(named(&["t.old", "t.other"], &[]), &[0]);
        let now = || named(&["t.old", "t.other"], &[]);
        assert_eq!(
            lost(&before, &[first.clone(), second.clone()], now()),
            [""; 0]
        );
        let waived = PassedStage {
            held: false,
            ..second
        };
        assert_eq!(
            lost(&before, &[first, waived], now()).len(),
            1,
            "a waiver lets a step pass, and not the branch"
        );
    }

    #[test]
    fn what_a_step_may_change_is_asked_of_the_others_alone() {
        let before = [named(&["t.old"], &[])];
        let first = stage(named(&["t.old", "t.left"], &[]), &[]);
        let second = stage(named(&["t.old", "t.left", "t.right"], &[]), &[0]);
        let asked = kept(&before, &[first, second], &BTreeSet::from([0]));
        let names = test_names(&asked[0]).unwrap().passed;
        assert_eq!(names, ["t.old", "t.right"]);
    }

    #[test]
    fn an_old_failure_that_a_step_mended_is_charged_when_it_comes_back() {
        let before = proof("tests", 1, 1, &["t.bad"]);
        let again = || proof("tests", 1, 1, &["t.bad"]);
        assert_eq!(lost(&before, &[], again()), [""; 0]);
        let mended = stage(named(&["t.old", "t.bad"], &[]), &[]);
        let mended = [mended];
        assert_eq!(lost(&before, &mended, again()), ["t.bad fails"]);
        let why = ["`make test` ends with exit code 1"];
        assert_eq!(lost(&before, &mended, proof("tests", 1, 2, &[])), why);
        let command = |exit| proof("command", exit, 0, &[]);
        let mended = [stage(command(0), &[])];
        assert_eq!(lost(&command(1), &[], command(1)), [""; 0]);
        assert_eq!(lost(&command(1), &mended, command(1)), why);
    }

    #[test]
    fn without_names_the_count_of_the_best_stage_stands() {
        let before = proof("tests", 0, 3, &[]);
        let stages = [stage(proof("tests", 0, 5, &[]), &[])];
        assert_eq!(
            lost(&before, &stages, proof("tests", 0, 4, &[])),
            ["1 tests that passed before are gone"]
        );
    }
}
