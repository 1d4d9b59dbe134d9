//! Runs checks on a tree and records the results. These are Artel's own observations,
//! which no agent's words can replace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::{CallLog, RunJournal};
use artel_git::RunTree;
use artel_tools::{
    AttributedToolApproval, ProcessStartReason, ToolApprovalAnswer, ToolApprovalQuestion,
    ToolCallApprover, ToolCallOutcome, ToolRunner,
};
use artel_types::plan::{FailedTest, FindingSeverity, ProofStage, TestNames, VerdictFinding};
use artel_types::{Failure, FailureCode, ProofRecorded, RecordedText};
use serde_json::{Value, json};

use crate::runs::{ChildTerms, RunEnvironment, RunToolingContext};

/// Largest part of a check's output that is kept, in bytes.
const LONGEST_OUTPUT: usize = 16 * 1024;

/// Largest number of checker findings on record.
const MOST_FINDINGS: usize = 200;

/// Runs the project's checks and makes proofs of the results.
pub(crate) struct ProjectCheckRunner {
    house: Arc<RunEnvironment>,
    chronicle: RunJournal,
    /// Commands that the person named. If empty, the checks are detected in the tree.
    commands: Vec<String>,
    /// Files that stay unchanged while checks run: code under test could change another test
    /// before its turn comes.
    kept: Vec<String>,
}

/// Approves checks, since the person named them or approved them with the plan. Calls that
/// are never allowed stay forbidden.
struct ProjectCheckApprover;

impl ToolCallApprover for ProjectCheckApprover {
    fn approve(&self, _: &ToolApprovalQuestion) -> Option<AttributedToolApproval> {
        Some(ToolApprovalAnswer::once().into())
    }
}

/// The place, step, round and tree that a proof belongs to.
#[derive(Debug, Clone)]
pub(crate) struct ProofLocation {
    pub(crate) place: ProofStage,
    pub(crate) step: Option<String>,
    pub(crate) round: u32,
    /// The git tree that is checked.
    pub(crate) tree: String,
}

/// Whether a file proves that something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileEvidenceStatus {
    /// The file exists and is new or changed.
    New,
    /// The file does not exist or is unchanged.
    No,
    /// The file exists, but differs from the one shown before.
    Other,
    /// Like `Other`, but other steps changed the file as the plan allows.
    Later,
}

impl From<bool> for FileEvidenceStatus {
    fn from(is_new: bool) -> Self {
        if is_new { Self::New } else { Self::No }
    }
}

impl ProofLocation {
    fn name(&self, sort: &str) -> String {
        let step = self.step.as_deref().unwrap_or("plan");
        format!("{step}/{}/{}/{sort}", self.round, self.place)
    }
}

impl ProjectCheckRunner {
    /// Makes a runner for the commands that the person named. Without commands, the tree
    /// decides which checks there are.
    pub(crate) fn new(
        house: &Arc<RunEnvironment>,
        chronicle: &RunJournal,
        commands: Vec<String>,
    ) -> Self {
        Self {
            house: Arc::clone(house),
            chronicle: chronicle.clone(),
            commands,
            kept: Vec::new(),
        }
    }

    /// Keeps these files unchanged while checks run. Paths are relative to the checked folder.
    pub(crate) fn keeping(self, kept: Vec<String>) -> Self {
        Self { kept, ..self }
    }

    /// Makes a tool runner that can run checks in a tree.
    fn hands(&self, at: &Path, tree: &RunTree, place: ProofStage) -> Result<ToolRunner, Failure> {
        let house = &self.house;
        let registry = house.workshop.caller.registry("tester");
        let outfit = Arc::new(RunToolingContext {
            house: Arc::clone(house),
            log: Arc::new(CallLog::new(self.chronicle.clone())),
            chronicle: self.chronicle.clone(),
            registry: registry.map_err(|problems| problems.first())?,
            role: "tester".to_owned(),
            skill: None,
            variables: None,
            inherits: house.ordered().for_child(ChildTerms {
                kept_tests: self.kept.clone(),
                ..ChildTerms::default()
            }),
            contract: None,
            at: at.to_owned(),
            marks: house.marks_of(self.chronicle.trace())?,
            started_for: self.started_for(place),
        });
        let mut hands = outfit.furnish()(tree, &outfit.reading()?)?;
        hands.approver = Some(Arc::new(ProjectCheckApprover));
        Ok(hands)
    }

    fn started_for(&self, place: ProofStage) -> ProcessStartReason {
        match (place, &self.house.company.person) {
            (ProofStage::Baseline, Some(_)) => ProcessStartReason::AttendedBaseline,
            (ProofStage::Baseline, None) => ProcessStartReason::UnattendedBaseline,
            _ => ProcessStartReason::Proof,
        }
    }

    /// Runs every check of the project in a tree. This may take a long time.
    pub(crate) fn suite(
        &self,
        (at, tree): (&Path, &RunTree),
        place: &ProofLocation,
    ) -> Result<Vec<ProofRecorded>, Failure> {
        let hands = self.hands(at, tree, place.place)?;
        if !self.commands.is_empty() {
            let proofs = self.commands.iter().enumerate();
            return proofs
                .map(|(index, command)| {
                    self.command(&hands, command, place, &format!("command-{index}"))
                })
                .collect();
        }
        let mut proofs = Vec::new();
        proofs.extend(self.tests(&hands, place)?);
        proofs.extend(self.lint(&hands, place)?);
        Ok(proofs)
    }

    pub(crate) fn one(
        &self,
        (at, tree): (&Path, &RunTree),
        command: &str,
        place: &ProofLocation,
        sort: &str,
    ) -> Result<ProofRecorded, Failure> {
        let hands = self.hands(at, tree, place.place)?;
        self.command(&hands, command, place, sort)
    }

    fn call(
        &self,
        hands: &ToolRunner,
        id: &str,
        tool: &str,
        input: &Value,
    ) -> Result<ToolCallOutcome, Failure> {
        let began = self.chronicle.mark_room();
        let called = hands.call(id, tool, input);
        let called = called.map_err(|error| Failure::new(FailureCode::J001, error.to_string()))?;
        // On a full disk every check fails, and such failures prove nothing.
        self.chronicle.ensure_room(began)?;
        Ok(called)
    }

    /// Runs the detected tests. Returns `None` if the project has none.
    fn tests(
        &self,
        hands: &ToolRunner,
        place: &ProofLocation,
    ) -> Result<Option<ProofRecorded>, Failure> {
        let id = place.name("tests");
        let began = self.house.workshop.caller.clock.uptime();
        let called = self.call(hands, &id, "run_tests", &json!({}))?;
        let seen = match called.result {
            Ok(seen) => seen,
            Err(trouble) if trouble.kind == artel_tools::ToolErrorKind::NotFound => {
                return Ok(None);
            }
            Err(trouble) => {
                let text = trouble.to_string();
                return Ok(Some(self.proof(
                    place,
                    (id, "tests"),
                    "tests".to_owned(),
                    text,
                    began,
                )?));
            }
        };
        let runs = seen.data["runs"].as_array().cloned().unwrap_or_default();
        let what: Vec<_> = runs.iter().map(words_of).collect();
        let mut proof = self.proof(place, (id, "tests"), what.join(" ; "), seen.text, began)?;
        let exits = runs.iter().map(|run| run["exit"].as_i64().unwrap_or(-1));
        proof.exit = exits.max_by_key(|exit| exit.abs());
        let counted = runs.iter().all(|run| run["passed"].is_u64());
        if counted {
            proof.passed = seen.data["passed"].as_u64();
            proof.failed = seen.data["failed"].as_u64();
            proof.skipped = seen.data["skipped"].as_u64();
        }
        let failures = runs.iter().filter_map(|run| run["failures"].as_array());
        proof.failures = failures.flatten().filter_map(failed_test).collect();
        proof.failures.sort();
        proof.failures.dedup();
        proof.tests = names_of(&runs);
        let coverage = runs.iter().filter_map(|run| run["coverage"].as_str());
        let coverage: Vec<_> = coverage.collect();
        proof.coverage = (!coverage.is_empty()).then(|| coverage.join(", "));
        proof.holds = proof.exit == Some(0);
        Ok(Some(proof))
    }

    /// Runs the other checkers of the project. Returns `None` if it has none.
    fn lint(
        &self,
        hands: &ToolRunner,
        place: &ProofLocation,
    ) -> Result<Option<ProofRecorded>, Failure> {
        let id = place.name("lint");
        let began = self.house.workshop.caller.clock.uptime();
        let called = self.call(hands, &id, "diagnostics", &json!({}))?;
        let Ok(seen) = called.result else {
            return Ok(None);
        };
        let ran = seen.data["checks"].as_array().cloned().unwrap_or_default();
        let ran: Vec<_> = ran
            .iter()
            .filter(|check| check["failed"] == false)
            .collect();
        let commands: Vec<_> = ran.iter().map(|check| words_of(check)).collect();
        if commands.is_empty() {
            return Ok(None);
        }
        let what = commands.join(" ; ");
        let mut proof = self.proof(place, (id, "lint"), what, seen.text, began)?;
        let findings = seen.data["findings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let shown = findings.iter().take(MOST_FINDINGS).filter_map(found);
        proof.findings = Some(shown.collect());
        let errors = findings.iter().filter(|it| it["severity"] == "error");
        proof.failures = errors.filter_map(lint_error).collect();
        proof.failures.sort();
        proof.failures.dedup();
        proof.exit = Some(i64::from(!proof.failures.is_empty()));
        proof.holds = proof.failures.is_empty();
        Ok(Some(proof))
    }

    fn command(
        &self,
        hands: &ToolRunner,
        command: &str,
        place: &ProofLocation,
        sort: &str,
    ) -> Result<ProofRecorded, Failure> {
        let id = place.name(sort);
        let began = self.house.workshop.caller.clock.uptime();
        let called = self.call(hands, &id, "bash", &json!({ "command": command }))?;
        let (text, exit) = match &called.result {
            Ok(seen) => (seen.text.clone(), seen.data["exit"].as_i64()),
            Err(trouble) => (trouble.to_string(), None),
        };
        let mut proof = self.proof(place, (id, "command"), command.to_owned(), text, began)?;
        proof.exit = exit;
        proof.holds = exit == Some(0);
        Ok(proof)
    }

    /// Makes a proof for a file, with the hash of its content.
    pub(crate) fn file(
        &self,
        path: &str,
        place: &ProofLocation,
        (found, hash): (FileEvidenceStatus, Option<String>),
    ) -> Result<ProofRecorded, Failure> {
        let id = format!("{}-{path}", place.name("file"));
        let began = self.house.workshop.caller.clock.uptime();
        let text = match found {
            FileEvidenceStatus::New => "it is there, and was not before or differs",
            FileEvidenceStatus::No => "it is not there, or is as it was",
            FileEvidenceStatus::Other => "it is there, and is not the one that its step showed",
            FileEvidenceStatus::Later => {
                "it is there; other steps have changed it since it was shown"
            }
        };
        let mut proof = self.proof(place, (id, "file"), path.to_owned(), text.to_owned(), began)?;
        proof.holds = matches!(found, FileEvidenceStatus::New | FileEvidenceStatus::Later);
        proof.hash = hash;
        Ok(proof)
    }

    fn proof(
        &self,
        place: &ProofLocation,
        (id, sort): (String, &str),
        what: String,
        mut output: String,
        began: std::time::Duration,
    ) -> Result<ProofRecorded, Failure> {
        let took = self
            .house
            .workshop
            .caller
            .clock
            .uptime()
            .saturating_sub(began);
        if output.len() > LONGEST_OUTPUT {
            output.truncate(output.floor_char_boundary(LONGEST_OUTPUT));
            output.push_str("\n[cut]");
        }
        Ok(ProofRecorded {
            id,
            place: place.place,
            step: place.step.clone(),
            round: place.round,
            sort: sort.to_owned(),
            what,
            exit: None,
            passed: None,
            failed: None,
            skipped: None,
            failures: Vec::new(),
            tree: place.tree.clone(),
            output: self.chronicle.keep(output)?,
            holds: false,
            millis: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            tests: None,
            findings: None,
            coverage: None,
            hash: None,
        })
    }
}

/// Returns the path for a proof's checkout and removes an earlier one there.
pub(crate) fn fresh(at: &Path, name: &str) -> Result<PathBuf, Failure> {
    let place = at.join("proofs").join(name.replace('/', "-"));
    if place.exists() {
        artel_files::remove_tree(&place)
            .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
    }
    Ok(place)
}

/// Removes a checkout. Anything that remains goes with the run's folder.
pub(crate) fn done_with(place: &Path) {
    // The tree's record goes first: without it, the remains after a kill do not count as a
    // tree.
    drop(std::fs::remove_file(place.join("run")));
    drop(artel_files::remove_tree(place));
}

fn failed_test(failure: &Value) -> Option<FailedTest> {
    let message = failure["message"].as_str().unwrap_or_default();
    let line = message.lines().find(|line| !line.trim().is_empty());
    Some(FailedTest {
        name: failure["name"].as_str()?.to_owned(),
        message: line.unwrap_or_default().trim().chars().take(300).collect(),
    })
}

/// Merges the test names of all runs, or returns `None` if one of them does not list its
/// own.
fn names_of(runs: &[Value]) -> Option<RecordedText> {
    let mut all = TestNames::default();
    for run in runs {
        let names: TestNames = serde_json::from_value(run["names"].clone()).ok()?;
        all.passed.extend(names.passed);
        all.skipped.extend(names.skipped);
    }
    let json = serde_json::to_string(&all).ok()?;
    (!runs.is_empty()).then_some(RecordedText::Inline(json))
}

/// Returns the command of a run on one line.
fn words_of(run: &Value) -> String {
    let words = run["command"].as_array().cloned().unwrap_or_default();
    let words = words.iter().filter_map(Value::as_str);
    words.collect::<Vec<_>>().join(" ")
}

/// Converts a checker's finding to one of an inspector. An error of a compiler or type
/// checker is a blocker, since it keeps all the code from working.
fn found(finding: &Value) -> Option<VerdictFinding> {
    Some(VerdictFinding {
        id: String::new(),
        severity: match finding["severity"].as_str()? {
            "error" if finding["sort"] == "types" => FindingSeverity::Blocker,
            "error" => FindingSeverity::Error,
            "warning" => FindingSeverity::Warning,
            _ => FindingSeverity::Info,
        },
        file: finding["file"].as_str()?.to_owned(),
        line: finding["line"].as_u64(),
        why: finding["message"].as_str()?.to_owned(),
        fix: String::new(),
    })
}

fn lint_error(finding: &Value) -> Option<FailedTest> {
    let file = finding["file"].as_str().unwrap_or_default();
    let message = finding["message"].as_str()?;
    let line = finding["line"].as_u64();
    Some(FailedTest {
        // Without the line number, because edits above would move it.
        name: format!("{file}: {message}"),
        message: line.map_or(String::new(), |line| format!("{file}:{line}")),
    })
}

/// Returns the text of a proof's output, empty if it cannot be read.
pub(crate) fn output_of(chronicle: &RunJournal, proof: &ProofRecorded) -> String {
    match &proof.output {
        RecordedText::Inline(text) => text.clone(),
        kept => chronicle.text(kept).unwrap_or_default(),
    }
}
