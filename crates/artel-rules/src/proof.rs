//! What proofs show when they are held against each other: what passed before and fails now, and
//! whether a change is exercised at all.

use std::collections::BTreeSet;

use artel_types::ProofRecorded;

/// Returns what passed before and does not now, a line each. Failures that are known, old ones and
/// those that a step was to leave, are not charged.
pub fn regressions(
    before: &[ProofRecorded],
    now: &[ProofRecorded],
    known: &BTreeSet<String>,
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
        let unexplained = ends_badly(proof) && !ends_badly(old) && proof.failures.is_empty();
        if unexplained {
            lines.push(ended(proof));
        }
        if fails.is_empty() && !unexplained {
            lines.extend(gone(old, proof));
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

/// Returns the tests that fail now and did not before: what tests that were just written show.
pub fn reds(before: &[ProofRecorded], now: &[ProofRecorded]) -> Vec<String> {
    let old: Vec<String> = before.iter().flat_map(names).collect();
    let mut reds: Vec<_> = now
        .iter()
        .filter(|proof| proof.sort == "tests")
        .flat_map(names)
        .filter(|name| !old.contains(name))
        .collect();
    // A test file that cannot even be loaded has no name to give.
    if reds.is_empty() {
        let newly = now.iter().filter(|proof| {
            let old = before.iter().find(|old| same(old, proof));
            ends_badly(proof) && old.is_none_or(|old| !ends_badly(old))
        });
        reds.extend(newly.map(ended));
    }
    reds
}

/// Tells whether something that holds with a change fails without it.
pub fn is_exercised(with: &[ProofRecorded], without: &[ProofRecorded]) -> bool {
    without.iter().any(|back| {
        let Some(green) = with.iter().find(|green| same(green, back)) else {
            return false;
        };
        let passes = names(green);
        let fails = names(back).iter().any(|name| !passes.contains(name));
        fails || (ends_badly(back) && !ends_badly(green))
    })
}

/// Tells whether more tests pass than before.
pub fn has_more(before: &[ProofRecorded], now: &[ProofRecorded]) -> bool {
    let passed =
        |proofs: &[ProofRecorded]| -> u64 { proofs.iter().filter_map(|proof| proof.passed).sum() };
    passed(now) > passed(before)
}

/// Tells whether any test ran.
pub fn has_tests(proofs: &[ProofRecorded]) -> bool {
    let ran = |proof: &ProofRecorded| {
        let counted = [proof.passed, proof.failed].into_iter().flatten();
        let counted: Option<u64> = counted.reduce(|a, b| a + b);
        match proof.sort.as_str() {
            "tests" => counted.unwrap_or(0) > 0,
            // A command that a person named is taken at its word.
            "command" => proof.exit.is_some_and(|exit| exit != 126 && exit != 127),
            _ => false,
        }
    };
    proofs.iter().any(ran)
}

fn same(one: &ProofRecorded, other: &ProofRecorded) -> bool {
    one.sort == other.sort && (one.sort != "command" || one.what == other.what)
}

fn names(proof: &ProofRecorded) -> Vec<String> {
    proof.failures.iter().map(|it| it.name.clone()).collect()
}

fn ends_badly(proof: &ProofRecorded) -> bool {
    proof.exit != Some(0) || !proof.failures.is_empty()
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
        .map(|it| match it.message.is_empty() {
            true => format!("{} fails", it.name),
            false => format!("{} fails: {}", it.name, it.message),
        })
}

fn gone(old: &ProofRecorded, now: &ProofRecorded) -> Option<String> {
    let (before, after) = (old.passed?, now.passed?);
    let failing = now
        .failed
        .unwrap_or(0)
        .saturating_sub(old.failed.unwrap_or(0));
    let missing = before.saturating_sub(after + failing);
    (missing > 0).then(|| format!("{missing} tests that passed before are gone"))
}

fn ended(proof: &ProofRecorded) -> String {
    match proof.exit {
        Some(code) => format!("`{}` ends with exit code {code}", proof.what),
        None => format!("`{}` does not end by itself", proof.what),
    }
}

#[cfg(test)]
mod tests {
    use artel_types::plan::{FailedTest, ProofPlace};

    use super::*;

    fn proof(sort: &str, exit: i64, passed: u64, failing: &[&str]) -> ProofRecorded {
        let failure = |name: &&str| FailedTest {
            name: (*name).to_owned(),
            message: String::new(),
        };
        ProofRecorded {
            id: "p".to_owned(),
            place: ProofPlace::Green,
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
        }
    }

    fn lines(before: &ProofRecorded, now: &ProofRecorded, known: &[&str]) -> Vec<String> {
        let known = known.iter().map(|it| (*it).to_owned()).collect();
        regressions(
            std::slice::from_ref(before),
            std::slice::from_ref(now),
            &known,
        )
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
            regressions(&[before], &[], &BTreeSet::new()),
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
        assert!(has_tests(&before) && !has_tests(&[proof("tests", 0, 0, &[])]));
    }
}
