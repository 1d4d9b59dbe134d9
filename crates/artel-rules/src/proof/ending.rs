//! Compares how a run of checks ended with how it ended before. A run that dies, or stops
//! reporting its tests, shows nothing, whatever its exit code is.

use std::collections::BTreeSet;

use artel_types::ProofRecorded;

pub(super) fn ends_badly(proof: &ProofRecorded) -> bool {
    proof.exit != Some(0) || !proof.failures.is_empty()
}

pub(super) fn ended(proof: &ProofRecorded) -> String {
    match proof.exit {
        Some(code) => format!("`{}` ends with exit code {code}", proof.what),
        None => format!("`{}` does not end by itself", proof.what),
    }
}

/// Returns what is wrong with the end of a run that names no new failure. A run that ended
/// badly before without naming a failure may do so again. Failures known by name may
/// explain why tests are not counted.
pub(super) fn bad_end(
    old: &ProofRecorded,
    now: &ProofRecorded,
    known: &BTreeSet<String>,
) -> Option<String> {
    if now.failures.is_empty() && ends_badly(now) && !is_like(old, now) {
        return Some(ended(now));
    }
    let is_known = now.failures.iter().any(|it| known.contains(&it.name));
    if is_silent(old, now) && !is_known {
        let passed = old.passed.unwrap_or_default();
        return Some(format!(
            "`{}` does not say any more how its tests ended, and {passed} passed before",
            now.what
        ));
    }
    more_fail(old, now)
}

/// Returns whether a run that used to report the number of passed tests does not report it
/// now.
pub(super) fn is_silent(old: &ProofRecorded, now: &ProofRecorded) -> bool {
    old.passed.is_some() && now.passed.is_none()
}

/// Returns whether a run without names of failures ends no worse than an earlier run
/// without any.
fn is_like(old: &ProofRecorded, now: &ProofRecorded) -> bool {
    ends_badly(old) && old.failures.is_empty() && (dies(old) || !dies(now))
}

/// Returns whether a run was ended from outside: by a signal, or because it took too long.
fn dies(proof: &ProofRecorded) -> bool {
    proof.exit.is_none_or(|code| !(0..128).contains(&code))
}

/// Reports the number of new failures if the runner gives no names.
fn more_fail(old: &ProofRecorded, now: &ProofRecorded) -> Option<String> {
    let more = now.failed?.saturating_sub(old.failed?);
    let is_nameless = now.failures.is_empty() && old.failures.is_empty();
    (is_nameless && more > 0).then(|| format!("`{}`: {more} more tests fail than before", now.what))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{lines, proof};
    use super::*;

    /// A run of tests that ended before it could report anything about them.
    fn died(exit: Option<i64>, failing: &[&str]) -> ProofRecorded {
        ProofRecorded {
            exit,
            passed: None,
            failed: None,
            ..proof("tests", 0, 0, failing)
        }
    }

    const SILENT: &str =
        "`make test` does not say any more how its tests ended, and 2 passed before";

    #[test]
    fn a_run_that_dies_without_a_result_shows_nothing() {
        let green = proof("tests", 0, 2, &[]);
        let red = proof("tests", 1, 2, &["old"]);
        let nameless = ProofRecorded {
            failed: Some(1),
            ..proof("tests", 1, 2, &[])
        };
        let abort = "`make test` ends with exit code 134";
        let timeout = "`make test` does not end by itself";
        for (before, now, why) in [
            (&green, died(Some(0), &[]), Some(SILENT)),
            (&green, died(Some(134), &[]), Some(abort)),
            (&green, died(None, &[]), Some(timeout)),
            (&red, died(Some(0), &[]), Some(SILENT)),
            (&red, died(Some(134), &[]), Some(abort)),
            (&red, died(None, &[]), Some(timeout)),
            // Output before the end is not a result.
            (&red, died(Some(134), &["old"]), Some(SILENT)),
            (&nameless, died(Some(1), &[]), Some(SILENT)),
            (&nameless, died(Some(134), &[]), Some(abort)),
            (&nameless, nameless.clone(), None),
            // A run that never reports counts is judged by its exit code.
            (&died(Some(0), &[]), died(Some(0), &[]), None),
            (&died(Some(1), &[]), died(Some(1), &[]), None),
            (&died(Some(1), &[]), died(Some(134), &[]), Some(abort)),
            (&died(Some(0), &[]), proof("tests", 0, 1, &[]), None),
        ] {
            let why: Vec<_> = why.into_iter().collect();
            assert_eq!(lines(before, &now, &[]), why, "{before:?} {now:?}");
        }
    }

    #[test]
    fn a_command_that_fails_as_before_is_not_charged_and_one_that_dies_is() {
        let command = |exit| ProofRecorded {
            exit,
            ..proof("command", 0, 0, &[])
        };
        let is_charged = |before, now| !lines(&command(before), &command(now), &[]).is_empty();
        assert!(!is_charged(Some(1), Some(1)) && !is_charged(Some(2), Some(1)));
        assert!(is_charged(Some(1), Some(139)) && is_charged(Some(1), None));
        assert!(!is_charged(Some(1), Some(0)) && !is_charged(None, None));
    }

    #[test]
    fn a_test_that_was_to_fail_may_keep_the_others_from_running() {
        let before = proof("tests", 0, 2, &[]);
        let now = died(Some(101), &["(does not compile)"]);
        assert_eq!(lines(&before, &now, &["(does not compile)"]), [""; 0]);
        assert_eq!(lines(&before, &now, &[]), ["(does not compile) fails"]);
    }

    #[test]
    fn failures_without_names_are_counted() {
        let failing = |passed, failed, exit| ProofRecorded {
            failed: Some(failed),
            ..proof("tests", exit, passed, &[])
        };
        let more = ["`make test`: 1 more tests fail than before"];
        assert_eq!(lines(&failing(4, 1, 1), &failing(3, 2, 1), &[]), more);
        assert_eq!(lines(&failing(4, 0, 0), &failing(3, 1, 0), &[]), more);
        assert_eq!(lines(&failing(4, 1, 1), &failing(4, 1, 1), &[]), [""; 0]);
        assert_eq!(lines(&failing(4, 2, 1), &failing(5, 1, 1), &[]), [""; 0]);
    }
}
