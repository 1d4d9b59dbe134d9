//! Compares proofs with each other: what passed before and fails now, and whether a change
//! is exercised at all.

mod covered;
mod ending;
mod gauge;
mod kept;
mod likely;
mod lines;
mod shape;

use std::collections::BTreeSet;

use artel_types::plan::{Plan, TestNames, VerdictFinding};
use artel_types::{ProofRecorded, RecordedText};

pub use covered::less_covered;
use ending::{bad_end, ended, ends_badly, is_silent};
pub use gauge::{ProjectCheckFiles, names as names_file};
pub use kept::{PassedStage, kept};
pub use likely::likely_checks;
pub use lines::ChangedLines;
pub use shape::unwieldy;

/// The texts of a plan, searched for what becomes of a test.
pub struct PlanTestMentions(String);

impl PlanTestMentions {
    /// Collects the texts of all steps: a test that one step removes is missing for the
    /// others, too.
    pub fn of(plan: &Plan) -> Self {
        let words = plan.steps.iter().flat_map(|step| {
            let criteria = step.scope.criteria.iter().map(|it| it.text.as_str());
            [step.work.as_str(), step.check.as_str()]
                .into_iter()
                .chain(criteria)
        });
        Self(words.collect::<Vec<_>>().join("\n"))
    }

    /// Returns whether the text has the test's own name as a word, whatever its file and
    /// group.
    fn name(&self, test: &str) -> bool {
        let own = own_name(test);
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut found = self.0.match_indices(own);
        !own.is_empty()
            && found.any(|(at, own)| {
                let (before, after) = (&self.0[..at], &self.0[at + own.len()..]);
                !before.ends_with(is_part) && !after.starts_with(is_part)
            })
    }
}

/// Returns the name of a test without its file and its group.
fn own_name(test: &str) -> &str {
    // JavaScript runners name tests by sentences.
    for part in [" › ", " > ", "::"] {
        if let Some((_, last)) = test.rsplit_once(part) {
            return last;
        }
    }
    let last = test.rsplit(' ').next().unwrap_or(test);
    if last.contains('/') {
        last
    } else {
        last.rsplit('.').next().unwrap_or(last)
    }
}

/// Returns everything that passed before and does not pass now, one line each. Known
/// failures are not counted: old ones, and those that a step was meant to leave.
pub fn regressions(
    before: &[ProofRecorded],
    now: &[ProofRecorded],
    known: &BTreeSet<String>,
    reasons: &PlanTestMentions,
) -> Vec<String> {
    let mut lines = Vec::new();
    for proof in now {
        let old = before.iter().find(|old| same(old, proof));
        let Some(old) = old else {
            if ends_badly(proof) && new_failures(&[], proof, known).next().is_none() {
                lines.push(ended(proof));
            }
            lines.extend(new_failures(&[], proof, known));
            continue;
        };
        let fails: Vec<_> = new_failures(&names(old), proof, known).collect();
        if fails.is_empty() {
            match bad_end(old, proof, known) {
                Some(line) => lines.push(line),
                None => lines.extend(gone(old, proof, reasons)),
            }
        }
        lines.extend(fails);
    }
    for old in before {
        if !now.iter().any(|proof| same(old, proof)) {
            lines.push(format!("`{}` ran before and does not now", old.what));
        }
    }
    lines
}

/// Returns the tests that fail now and did not fail before, as new tests should.
pub fn reds(before: &[ProofRecorded], now: &[ProofRecorded]) -> Vec<String> {
    let old: Vec<String> = before.iter().flat_map(names).collect();
    let mut reds: Vec<_> = now
        .iter()
        .filter(|proof| proof.sort == "tests")
        .flat_map(names)
        .filter(|name| !old.contains(name))
        .collect();
    // A test file that cannot even be loaded reports no names.
    if reds.is_empty() {
        let newly = now.iter().filter(|proof| {
            let old = before.iter().find(|old| same(old, proof));
            ends_badly(proof) && old.is_none_or(|old| !ends_badly(old))
        });
        reds.extend(newly.map(ended));
    }
    reds
}

/// Returns whether anything that holds with a change fails without it.
pub fn is_exercised(with: &[ProofRecorded], without: &[ProofRecorded]) -> bool {
    without.iter().any(|back| {
        let Some(green) = with.iter().find(|green| same(green, back)) else {
            return false;
        };
        // A run that does not report how its tests ended does not hold.
        if is_silent(back, green) {
            return false;
        }
        let passes = names(green);
        let fails = names(back).iter().any(|name| !passes.contains(name));
        fails || (ends_badly(back) && !ends_badly(green))
    })
}

/// Returns whether more tests pass than before.
pub fn has_more(before: &[ProofRecorded], now: &[ProofRecorded]) -> bool {
    let passed =
        |proofs: &[ProofRecorded]| -> u64 { proofs.iter().filter_map(|proof| proof.passed).sum() };
    passed(now) > passed(before)
}

/// Returns why these proofs cannot be compared with anything: no test ran, or a command
/// cannot be started.
pub fn no_baseline(proofs: &[ProofRecorded]) -> Option<String> {
    let starts = |proof: &&ProofRecorded| proof.exit.is_some_and(|it| it != 126 && it != 127);
    let mut commands = proofs.iter().filter(|proof| proof.sort == "command");
    if let Some(dead) = commands.clone().find(|proof| !starts(proof)) {
        return Some(format!("`{}` cannot be started", dead.what));
    }
    let ran = |proof: &ProofRecorded| {
        let counted = [proof.passed, proof.failed].into_iter().flatten();
        let counted: u64 = counted.sum();
        proof.sort == "tests" && counted > 0
    };
    // A command that a person named is trusted.
    if commands.next().is_some() || proofs.iter().any(ran) {
        return None;
    }
    Some(if proofs.is_empty() {
        "no tests were found".to_owned()
    } else {
        "no test ran".to_owned()
    })
}

fn same(one: &ProofRecorded, other: &ProofRecorded) -> bool {
    one.sort == other.sort && (one.sort != "command" || one.what == other.what)
}

fn names(proof: &ProofRecorded) -> Vec<String> {
    proof.failures.iter().map(|it| it.name.clone()).collect()
}

fn new_failures<'p>(
    old: &'p [String],
    now: &'p ProofRecorded,
    known: &'p BTreeSet<String>,
) -> impl Iterator<Item = String> + 'p {
    let is_new = move |name: &str| !old.iter().any(|it| it == name) && !known.contains(name);
    now.failures
        .iter()
        .filter(move |it| is_new(&it.name))
        .map(|it| {
            if it.message.is_empty() {
                format!("{} fails", it.name)
            } else {
                format!("{} fails: {}", it.name, it.message)
            }
        })
}

/// Returns the new findings of a proof in the files of a change. Findings on unchanged
/// lines become remarks.
pub fn new_findings(
    before: &[ProofRecorded],
    now: &[ProofRecorded],
    changed: &ChangedLines,
) -> Vec<VerdictFinding> {
    let all = |proofs: &[ProofRecorded]| -> Vec<VerdictFinding> {
        let found = proofs.iter().filter_map(|proof| proof.findings.clone());
        found.flatten().collect()
    };
    let old = all(before);
    // The line is ignored, because an edit above moves it.
    let is_old = |it: &VerdictFinding| {
        old.iter()
            .any(|old| old.file == it.file && old.why == it.why)
    };
    let mut new = all(now);
    new.retain(|it| changed.has_file(&it.file) && !is_old(it));
    changed.lower(&mut new);
    new
}

/// Lists the tests that passed before and neither pass nor fail now, unless the plan says
/// why. If the runner reports no names, only the number of missing tests is compared.
fn gone(old: &ProofRecorded, now: &ProofRecorded, reasons: &PlanTestMentions) -> Vec<String> {
    let (Some(before), Some(after)) = (test_names(old), test_names(now)) else {
        return fewer(old, now).into_iter().collect();
    };
    let failing = names(now);
    let is_there = |name: &&String| {
        after.passed.contains(name) || failing.iter().any(|it| it == *name || is_end(it, name))
    };
    let missing = before.passed.iter().filter(|name| !is_there(name));
    let missing = missing.filter(|name| !reasons.name(name));
    let line = |name: &String| {
        let what = if after.skipped.contains(name) {
            "is skipped"
        } else {
            "is gone"
        };
        format!("the test `{name}` passed before and {what}; the plan does not name it")
    };
    missing.map(line).collect()
}

/// Returns whether two names end alike: runners print more or less of the path of a
/// failing test.
fn is_end(one: &str, other: &str) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

fn test_names(proof: &ProofRecorded) -> Option<TestNames> {
    match proof.tests.as_ref()? {
        RecordedText::Inline(json) => serde_json::from_str(json).ok(),
        RecordedText::Kept(_) => None,
    }
}

fn fewer(old: &ProofRecorded, now: &ProofRecorded) -> Option<String> {
    let (before, after) = (old.passed?, now.passed?);
    let failing = now
        .failed
        .unwrap_or(0)
        .saturating_sub(old.failed.unwrap_or(0));
    let missing = before.saturating_sub(after + failing);
    (missing > 0).then(|| format!("{missing} tests that passed before are gone"))
}

#[cfg(test)]
mod tests {
    use artel_types::plan::{FailedTest, ProofStage};

    use super::*;

    pub(super) fn proof(sort: &str, exit: i64, passed: u64, failing: &[&str]) -> ProofRecorded {
        let failure = |name: &&str| FailedTest {
            name: (*name).to_owned(),
            message: String::new(),
        };
        ProofRecorded {
            id: "p".to_owned(),
            place: ProofStage::Green,
            step: None,
            round: 1,
            sort: sort.to_owned(),
            what: "make test".to_owned(),
            exit: Some(exit),
            passed: (sort == "tests").then_some(passed),
            failed: (sort == "tests").then_some(failing.len() as u64),
            skipped: None,
            failures: failing.iter().map(failure).collect(),
            tree: "t".to_owned(),
            output: "".into(),
            holds: true,
            millis: 1,
            tests: None,
            findings: None,
            coverage: None,
            hash: None,
        }
    }

    pub(super) fn lines(
        before: &ProofRecorded,
        now: &ProofRecorded,
        known: &[&str],
    ) -> Vec<String> {
        let known = known.iter().map(|it| (*it).to_owned()).collect();
        regressions(
            std::slice::from_ref(before),
            std::slice::from_ref(now),
            &known,
            &PlanTestMentions(String::new()),
        )
    }

    pub(super) fn named(passed: &[&str], skipped: &[&str]) -> ProofRecorded {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let names = TestNames {
            passed: owned(passed),
            skipped: owned(skipped),
        };
        let json = serde_json::to_string(&names).unwrap();
        ProofRecorded {
            tests: Some(RecordedText::Inline(json)),
            ..proof("tests", 0, passed.len() as u64, &[])
        }
    }

    #[test]
    fn a_test_that_takes_the_place_of_another_is_noticed_by_name() {
        let before = named(
            &["a::adds", "a::doubles", "s.test.js › sum › is right"],
            &[],
        );
        let after = |now: ProofRecorded, reasons: &str| {
            let reasons = PlanTestMentions(reasons.to_owned());
            let (before, known) = (std::slice::from_ref(&before), BTreeSet::new());
            regressions(before, std::slice::from_ref(&now), &known, &reasons)
        };
        let right = "s.test.js › sum › is right";
        assert_eq!(
            after(named(&["a::adds", "a::doubles", "b::more", right], &[]), ""),
            [""; 0]
        );
        let swapped = named(&["a::adds", "a::other", right], &[]);
        assert_eq!(
            after(swapped.clone(), ""),
            ["the test `a::doubles` passed before and is gone; the plan does not name it"]
        );
        assert_eq!(
            after(swapped, "Take `doubles` out: it is two adds."),
            [""; 0]
        );
        assert_eq!(
            after(named(&["a::adds", right], &["a::doubles"]), ""),
            ["the test `a::doubles` passed before and is skipped; the plan does not name it"]
        );
        assert_eq!(
            after(
                named(&["a::adds", "a::doubles"], &[]),
                "so that it is right"
            ),
            [""; 0]
        );
        assert_eq!(after(named(&["a::adds", "a::doubles"], &[]), "").len(), 1);
        // If a runner stops reporting names, its tests are still counted.
        assert_eq!(
            after(proof("tests", 0, 2, &[]), ""),
            ["1 tests that passed before are gone"]
        );
    }

    #[test]
    fn what_checkers_find_anew_in_changed_files_is_told_with_its_place() {
        let finding = |file: &str, line: u64, why: &str| VerdictFinding {
            id: String::new(),
            severity: artel_types::plan::FindingSeverity::Warning,
            file: file.to_owned(),
            line: Some(line),
            why: why.to_owned(),
            fix: String::new(),
        };
        let lint = |findings: Vec<VerdictFinding>| ProofRecorded {
            findings: Some(findings),
            ..proof("lint", 0, 0, &[])
        };
        let before = [lint(vec![finding("a.py", 1, "old")])];
        let now = [lint(vec![
            finding("a.py", 3, "old"),
            finding("a.py", 4, "new"),
            finding("b.py", 1, "elsewhere"),
        ])];
        let lines = ChangedLines::of("diff --git a/a.py b/a.py\n+++ b/a.py\n@@ -3,0 +4 @@\n+x\n");
        assert_eq!(
            new_findings(&before, &now, &lines),
            [finding("a.py", 4, "new")]
        );
        let error = |line: u64| VerdictFinding {
            severity: artel_types::plan::FindingSeverity::Error,
            ..finding("a.py", line, "bad")
        };
        let found = new_findings(&before, &[lint(vec![error(4), error(9)])], &lines);
        let fails: Vec<_> = found.iter().map(|it| it.severity.fails()).collect();
        assert_eq!(fails, [true, false], "told, and charged where it changed");
    }

    #[test]
    fn old_failures_are_not_charged_and_new_ones_are() {
        let before = proof("tests", 1, 5, &["old"]);
        assert_eq!(
            lines(&before, &proof("tests", 1, 5, &["old"]), &[]),
            [""; 0]
        );
        assert_eq!(
            lines(&before, &proof("tests", 1, 4, &["old", "new"]), &[]),
            ["new fails"]
        );
        assert_eq!(
            lines(&before, &proof("tests", 1, 5, &["old", "red"]), &["red"]),
            [""; 0]
        );
    }

    #[test]
    fn tests_that_vanish_and_commands_that_break_are_noticed() {
        let before = proof("tests", 0, 5, &[]);
        assert_eq!(
            lines(&before, &proof("tests", 0, 3, &[]), &[]),
            ["2 tests that passed before are gone"]
        );
        let before = proof("command", 0, 0, &[]);
        let now = proof("command", 2, 0, &[]);
        assert_eq!(
            lines(&before, &now, &[]),
            ["`make test` ends with exit code 2"]
        );
        assert_eq!(
            regressions(
                &[before],
                &[],
                &BTreeSet::new(),
                &PlanTestMentions(String::new())
            ),
            ["`make test` ran before and does not now"]
        );
    }

    #[test]
    fn a_change_is_exercised_if_something_fails_without_it() {
        let green = [proof("tests", 0, 6, &[])];
        assert!(is_exercised(&green, &[proof("tests", 1, 5, &["half_up"])]));
        assert!(!is_exercised(&green, &[proof("tests", 0, 6, &[])]));
        let old = [proof("tests", 1, 5, &["old"])];
        assert!(
            !is_exercised(&old, &old),
            "an old failure exercises nothing"
        );
        let died = ProofRecorded {
            passed: None,
            ..proof("tests", 0, 0, &[])
        };
        assert!(
            !is_exercised(&[died], &[proof("tests", 1, 5, &["half_up"])]),
            "nothing holds in a run that died"
        );
    }

    #[test]
    fn new_tests_are_red_by_name_or_by_not_loading() {
        let before = [proof("tests", 0, 5, &[])];
        assert_eq!(
            reds(&before, &[proof("tests", 1, 5, &["half_up"])]),
            ["half_up"]
        );
        assert_eq!(
            reds(&before, &[proof("tests", 1, 0, &[])]),
            ["`make test` ends with exit code 1"]
        );
        assert_eq!(reds(&before, &before.clone()), [""; 0]);
    }

    #[test]
    fn a_baseline_is_one_in_which_tests_run_and_commands_start() {
        let (ran, none) = (proof("tests", 1, 5, &["old"]), proof("tests", 0, 0, &[]));
        let command = |exit| proof("command", exit, 0, &[]);
        let lint = proof("lint", 0, 0, &[]);
        for (proofs, why) in [
            (vec![ran.clone(), lint.clone()], None),
            (vec![none, lint.clone()], Some("no test ran")),
            (vec![lint], Some("no test ran")),
            (vec![], Some("no tests were found")),
            (vec![command(1)], None),
            (
                vec![command(0), command(127)],
                Some("`make test` cannot be started"),
            ),
        ] {
            assert_eq!(no_baseline(&proofs).as_deref(), why, "{proofs:?}");
        }
    }
}
