//! Turns a recorded run into a test of its skill.

mod before;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use artel_files::{create_new, make_dirs};
use artel_journal::{BlobStore, EventFilter, EventQuery};
use artel_model::Cassette;
use artel_skills::Skill;
use artel_skills::cases::{
    self, ExpectedRunState, SkillRunCase, SkillRunExpectation, SkillTestCases, SkillTriggerCases,
};
use artel_types::{
    Fact, Failure, FailureCode, RecordedText, RunFinished, RunId, RunOutcome, RunStarted,
};
use serde::Serialize;

use crate::trouble::{file_failure, path_text};
use crate::workshop::Workshop;
use before::InitialRunFiles;

/// A run that became a test case.
#[derive(Debug, Clone, Serialize)]
pub struct PromotedTestCase {
    pub skill: String,
    /// The file of the case.
    #[serde(serialize_with = "path_text")]
    pub case: PathBuf,
    /// The file with the model's recorded replies.
    #[serde(serialize_with = "path_text")]
    pub recording: PathBuf,
    /// Input files that the case includes.
    pub files: Vec<String>,
    /// Files that the run read but the case leaves out: too large, too many, or not text.
    pub left_out: Vec<String>,
}

impl Workshop {
    /// Writes a test case from a run: its input, the model's replies and its outcome.
    pub fn promote_run(&self, id: &str, name: Option<&str>) -> Result<PromotedTestCase, Failure> {
        let (started, _) = self.started(self.run_named(id)?)?;
        let run = started.id;
        let skill = self.skill_of(&started)?;
        let name = name.map_or_else(|| format!("run-{}", run.short()), str::to_owned);
        check_name(&name)?;
        let seen = self.seen(run)?;
        let Some(finished) = &seen.finished else {
            return Err(Failure::new(FailureCode::R008, "the run is not over")
                .advise(format!("`artel resume {}` goes on with it", run.short())));
        };
        let state = state_of(finished)?;
        let before = InitialRunFiles::of(self, &started)?;
        let arguments = self.text_of(started.task.as_ref())?;
        let answer = self.text_of(finished.answer.as_ref())?;
        let wanted = seen.read.iter().map(String::as_str);
        let wanted = wanted.chain(arguments.split_whitespace());
        let changed = finished.changed.as_deref().unwrap_or_default();
        let (files, left_out) = before.inputs(wanted, changed);
        let turns = finished.metrics.as_ref().map(|metrics| metrics.turns);
        let case = SkillRunCase {
            script: format!("{name}.rehearsal.jsonl"),
            name,
            arguments,
            files,
            expect: SkillRunExpectation {
                state,
                answer_contains: before.expected_line(&answer).into_iter().collect(),
                files: before.outcome(changed),
                turns_at_most: turns.and_then(|turns| u32::try_from(turns).ok()),
            },
        };
        let cassette = before.cleaned(&self.cassette(&run.to_string())?, &skill);
        let promoted = PromotedTestCase {
            case: skill.folder.join(format!("tests/{}.yaml", case.name)),
            recording: skill.folder.join("tests").join(&case.script),
            files: case.files.keys().cloned().collect(),
            left_out,
            skill: skill.name,
        };
        promoted.write(case, &cassette)?;
        Ok(promoted)
    }

    fn skill_of(&self, started: &RunStarted) -> Result<Skill, Failure> {
        let short = started.id.short();
        let Some(name) = &started.skill else {
            return Err(Failure::new(FailureCode::R008, "the run is of no skill")
                .because("a task in free words has no folder to keep a test in")
                .advise("`artel run SKILL …`, then `artel skill test --from RUN`"));
        };
        if let Some(parent) = started.parent {
            return Err(
                Failure::new(FailureCode::R008, "the run was called by another")
                    .because(format!("what `{short}` was given stands there"))
                    .advise(format!("`artel skill test --from {}`", parent.short())),
            );
        }
        let folder = started.folder.as_deref().map(Path::new);
        let folder = folder.filter(|folder| folder.is_dir());
        let found = self.find_skills(&self.run_folder(folder)?);
        found.get(name).cloned()
    }

    /// Collects the facts of a run from its events.
    fn seen(&self, run: RunId) -> Result<PromotionRunFacts, Failure> {
        let filter = EventFilter {
            run: Some(run.to_string()),
            ..EventFilter::default()
        };
        let mut seen = PromotionRunFacts::default();
        let query = EventQuery::of(filter);
        for record in self.reader()?.records(&query)? {
            match record.event()?.fact {
                Fact::ToolRequested(fact) => {
                    let input = self.text_of(Some(&fact.input))?;
                    let input: serde_json::Value = serde_json::from_str(&input).unwrap_or_default();
                    seen.read.extend(paths_in(&input));
                }
                Fact::RunFinished(finished) => seen.finished = Some(finished),
                _ => {}
            }
        }
        Ok(seen)
    }

    fn text_of(&self, text: Option<&RecordedText>) -> Result<String, Failure> {
        match text {
            None => Ok(String::new()),
            Some(RecordedText::Inline(text)) => Ok(text.clone()),
            Some(RecordedText::Kept(kept)) => {
                let bytes = BlobStore::at(self.home.blobs()).get(&kept.blob)?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
        }
    }
}

#[derive(Default)]
struct PromotionRunFacts {
    /// Paths that the run's calls named.
    read: BTreeSet<String>,
    finished: Option<RunFinished>,
}

/// Returns the words of an input that may be paths of files: path fields, and the words of
/// commands.
fn paths_in(input: &serde_json::Value) -> Vec<String> {
    let mut paths = Vec::new();
    for key in ["path", "file", "from", "input"] {
        paths.extend(input[key].as_str().map(str::to_owned));
    }
    for item in input["paths"].as_array().into_iter().flatten() {
        paths.extend(item.as_str().map(str::to_owned));
    }
    let command = input["command"].as_str().unwrap_or_default();
    let words = command.split_whitespace();
    paths.extend(words.map(|word| word.trim_matches(['"', '\'']).to_owned()));
    paths
}

impl PromotedTestCase {
    /// Writes the files. Existing files are never overwritten.
    fn write(&self, case: SkillRunCase, cassette: &Cassette) -> Result<(), Failure> {
        for file in [&self.case, &self.recording] {
            if file.symlink_metadata().is_ok() {
                let what = format!("`{}` is there already", file.display());
                return Err(
                    Failure::new(FailureCode::C004, what).advise("`--name` gives another name")
                );
            }
        }
        let cases = SkillTestCases {
            triggers: SkillTriggerCases::default(),
            runs: vec![case],
        };
        let failed = |error| file_failure(FailureCode::W008, &error);
        if let Some(folder) = self.case.parent() {
            make_dirs(folder, 0o755).map_err(failed)?;
        }
        let recording = cassette.write_jsonl()?;
        create_new(&self.recording, recording.as_bytes(), 0o644).map_err(failed)?;
        create_new(&self.case, cases::write(&cases).as_bytes(), 0o644).map_err(failed)
    }
}

fn state_of(finished: &RunFinished) -> Result<ExpectedRunState, Failure> {
    match finished.state.as_deref().and_then(|it| it.parse().ok()) {
        Some(RunOutcome::Complete) => Ok(ExpectedRunState::Complete),
        Some(RunOutcome::Partial) => Ok(ExpectedRunState::Partial),
        Some(RunOutcome::Failed) => Ok(ExpectedRunState::Failed),
        Some(RunOutcome::Cancelled) | None => Err(Failure::new(
            FailureCode::R008,
            "a cancelled run is no example",
        )
        .advise("`artel runs` shows those that came to an end")),
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let is_fine = |letter: char| letter.is_alphanumeric() || "-_".contains(letter);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_fine) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(Failure::new(
        FailureCode::C004,
        format!("`{shown}` is no name for a test"),
    )
    .advise("letters, digits, `-` and `_`, at most 64 of them"))
}
