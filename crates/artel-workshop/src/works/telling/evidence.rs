//! Evidence about an attempt at a step, read from events: findings of checks, verifiers
//! and people.

use artel_types::plan::ProofStage;
use artel_types::{Fact, ProofRecorded, RecordedText, StepJudged, StepPassed};
use serde::Serialize;

use super::LONGEST;
use crate::workshop::Workshop;

/// The result of a check or a verifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TimelineVerdict {
    Passed,
    Failed,
    /// A person waived the failure.
    Waived,
}

/// A proof, a check or a verdict.
#[derive(Debug, Clone, Serialize)]
pub struct TimelineEvidence {
    pub verdict: TimelineVerdict,
    /// The source: `proof`, `checks`, the verifier's name, `attempt`, `step` or `person`.
    pub by: String,
    /// The subject, on one line.
    pub head: String,
    /// The findings, a line each.
    pub lines: Vec<String>,
    /// The stage of the run in which a proof was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<ProofStage>,
    /// The output of a program, or the words of the source.
    pub output: String,
}

impl From<bool> for TimelineVerdict {
    fn from(is_passed: bool) -> Self {
        if is_passed {
            Self::Passed
        } else {
            Self::Failed
        }
    }
}

/// Returns the evidence that an event adds to an attempt, with the id of the step.
pub(super) fn of(workshop: &Workshop, fact: Fact) -> Option<(String, TimelineEvidence)> {
    Some(match fact {
        Fact::ProofRecorded(it) => (it.step.clone()?, proof(workshop, &it)),
        Fact::StepChecked(it) => {
            let head = match it.phase.as_str() {
                "red" => "checks of the tests, before the work".to_owned(),
                "green" => "checks after the work".to_owned(),
                phase => format!("checks ({phase})"),
            };
            (it.step, found(it.passed.into(), "checks", head, it.why))
        }
        Fact::StepJudged(it) => (it.step.clone(), judged(workshop, it)),
        Fact::StepFailed(it) => {
            let head = "the attempt".to_owned();
            let mut made = found(TimelineVerdict::Failed, "attempt", head, Vec::new());
            made.output = cut(read(workshop, &it.why));
            (it.step, made)
        }
        Fact::StepAdvised(it) => {
            let head = match &it.fault {
                Some(fault) => format!("what the architect says: {fault} at fault"),
                None => "what the architect says".to_owned(),
            };
            let mut made = found(TimelineVerdict::Failed, "architect", head, Vec::new());
            made.output = cut(read(workshop, &it.advice));
            (it.step, made)
        }
        Fact::StepWaived(it) => {
            let mut lines = vec![it.reason];
            lines.extend(it.finding.map(|it| it.told()));
            let made = found(TimelineVerdict::Waived, "person", it.what, lines);
            (it.step, made)
        }
        Fact::StepSettled(it) => {
            let made = found(TimelineVerdict::Failed, "step", it.state, vec![it.why]);
            (it.step, made)
        }
        _ => return None,
    })
}

/// Returns the evidence that a step passed.
pub(super) fn passed(it: &StepPassed) -> TimelineEvidence {
    let mut lines = it.files.clone();
    lines.extend(it.waived.iter().map(|what| format!("waived: {what}")));
    let commit: String = it.commit.iter().flat_map(|it| it.chars().take(8)).collect();
    let head = if commit.is_empty() {
        "the step".to_owned()
    } else {
        format!("the step, as commit {commit}")
    };
    found(TimelineVerdict::Passed, "step", head, lines)
}

fn judged(workshop: &Workshop, it: StepJudged) -> TimelineEvidence {
    let mut lines = it.evidence;
    lines.extend(it.findings.iter().map(|found| {
        let line = found.line.map_or(String::new(), |line| format!(":{line}"));
        let (severity, file, why) = (found.severity, &found.file, &found.why);
        format!("{severity} {file}{line}: {why} {}", found.fix)
    }));
    let head = format!("verdict of the {}", it.by);
    let mut made = found(it.passed.into(), &it.by, head, lines);
    made.output = cut(read(workshop, &it.feedback));
    made
}

fn proof(workshop: &Workshop, it: &ProofRecorded) -> TimelineEvidence {
    let mut lines: Vec<String> = Vec::new();
    if let (Some(passed), Some(failed)) = (it.passed, it.failed) {
        lines.push(format!("{passed} passed, {failed} failed"));
    }
    let failures = it.failures.iter();
    lines.extend(failures.map(|test| format!("{}: {}", test.name, test.message)));
    TimelineEvidence {
        place: Some(it.place),
        output: cut(read(workshop, &it.output)),
        ..found(it.holds.into(), "proof", it.what.clone(), lines)
    }
}

fn found(verdict: TimelineVerdict, by: &str, head: String, lines: Vec<String>) -> TimelineEvidence {
    TimelineEvidence {
        verdict,
        by: by.to_owned(),
        head,
        lines,
        place: None,
        output: String::new(),
    }
}

/// Loads a text that may be stored as a blob. If it cannot be read, the returned text says
/// so.
pub(super) fn read(workshop: &Workshop, text: &RecordedText) -> String {
    let read = workshop.whole_text(text);
    read.unwrap_or_else(|failure| format!("[{}]", failure.what))
}

pub(super) fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\n… cut; the journal has all of it", &text[..end]),
        None => text,
    }
}
