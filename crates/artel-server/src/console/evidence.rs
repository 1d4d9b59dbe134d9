//! The words about evidence, with the explanations shown on every page that uses them.

use artel_types::plan::ProofStage;
use artel_workshop::TimelineVerdict;

use super::words::StateLabel;

/// A word with its explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EvidenceTerm {
    pub(super) word: &'static str,
    pub(super) means: &'static str,
}

/// Words that occur on every page with evidence.
pub(super) const EVIDENCE: [EvidenceTerm; 3] = [
    EvidenceTerm {
        word: "holds",
        means: "it shows what it has to show at this point",
    },
    EvidenceTerm {
        word: "does not hold",
        means: "it does not; the step or the branch has not passed",
    },
    EvidenceTerm {
        word: "waived",
        means: "a person let it pass without this, and said why",
    },
];

/// Returns the name of a proof's place, and what a proof there has to show.
pub(super) fn place(place: ProofStage) -> EvidenceTerm {
    let (word, means) = match place {
        ProofStage::Baseline => (
            "before the first step",
            "what passes before anything is changed; none of it may break",
        ),
        ProofStage::Red => (
            "tests first (red)",
            "the new tests of a step before its work: they have to fail",
        ),
        ProofStage::Green => (
            "after the work (green)",
            "the same after the work of the step: everything has to pass",
        ),
        ProofStage::TakenBack => (
            "work taken back",
            "the work of the step removed and its tests kept: tests that show it have to fail again",
        ),
        ProofStage::AsBefore => (
            "checks as before",
            "the work with tests, scripts and settings as they were: what passed has to pass still",
        ),
        ProofStage::GivenTests => (
            "given tests alone",
            "the work without what it added among the tests: what was written first has to pass",
        ),
        ProofStage::Final => (
            "clean checkout (final)",
            "the finished branch in a fresh folder: everything has to pass",
        ),
    };
    EvidenceTerm { word, means }
}

impl From<TimelineVerdict> for StateLabel {
    fn from(verdict: TimelineVerdict) -> Self {
        let (sign, word, class) = match verdict {
            TimelineVerdict::Passed => ("✓", "passed", "good"),
            TimelineVerdict::Failed => ("✗", "not passed", "bad"),
            TimelineVerdict::Waived => ("⊘", "waived", "waits"),
        };
        Self { sign, word, class }
    }
}
