//! Compares how much of the code the tests cover with how much they covered before. This
//! works only if the project's own tool prints it with the tests.

use artel_types::ProofRecorded;

/// Reports where tests cover a smaller part of the code than before. Nothing is compared
/// if either run does not report coverage, or reports it for other parts.
pub fn less_covered(before: &[ProofRecorded], now: &[ProofRecorded]) -> Vec<String> {
    let of_tests = |proof: &&ProofRecorded| proof.sort == "tests";
    let Some(old) = before.iter().find(of_tests) else {
        return Vec::new();
    };
    let Some(new) = now.iter().find(of_tests) else {
        return Vec::new();
    };
    let (old, new) = (shares(old), shares(new));
    if old.len() != new.len() {
        return Vec::new();
    }
    let fell = old.iter().zip(&new).filter(|(old, new)| new < old);
    fell.map(|(old, new)| {
        format!(
            "the tests cover {new}% of the code, and covered {old}% before: test what was added"
        )
    })
    .collect()
}

fn shares(proof: &ProofRecorded) -> Vec<f64> {
    let text = proof.coverage.as_deref().unwrap_or_default();
    let shares = text.split(',').map(|it| it.trim().trim_end_matches('%'));
    shares.filter_map(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::proof;
    use super::*;

    fn covering(share: Option<&str>) -> [ProofRecorded; 1] {
        [ProofRecorded {
            coverage: share.map(str::to_owned),
            ..proof("tests", 0, 3, &[])
        }]
    }

    #[test]
    fn less_than_before_is_said_with_both_figures() {
        let lines = |old, new| less_covered(&covering(old), &covering(new));
        assert_eq!(
            lines(Some("95%"), Some("91.5%")),
            ["the tests cover 91.5% of the code, and covered 95% before: test what was added"]
        );
        assert_eq!(lines(Some("95%, 80%"), Some("95%, 79.9%")).len(), 1);
        for (old, new) in [
            (Some("95%"), Some("95.0%")),
            (Some("95%"), Some("100%")),
            (None, Some("1%")),
            (Some("95%"), None),
            (Some("95%"), Some("90%, 99%")),
        ] {
            assert_eq!(lines(old, new), [""; 0], "{old:?} {new:?}");
        }
    }
}
