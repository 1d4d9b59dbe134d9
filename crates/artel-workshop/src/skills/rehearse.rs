//! One rehearsed run of a skill: driven in a temporary workshop and compared with the
//! expected outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_engine::NullRunObserver;
use artel_files::{FileAccessKind, FileAccessRefusal, RootFolder};
use artel_git::RunTree;
use artel_model::{Cassette, RehearsalModel};
use artel_skills::cases::{ExpectedFileState, ExpectedRunState, SkillRunCase, SkillRunExpectation};
use artel_skills::{Skill, prepare};
use artel_tools::HintVisibility;
use artel_types::model::{MessagePart, ModelReply};
use artel_types::{Failure, FailureCode, RunId};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::stage::RehearsalWorkshop;
use super::trials::RehearsedRunOutcome;
use crate::caller::CommandContext;
use crate::runs::{
    RunDriveOutcome, RunObservers, RunStartOptions, ShutdownLevel, TrustApprover, TrustQuestion,
};
use crate::trouble::WorkshopFailures;

/// Largest script or recording that is read, and largest part of a file that is looked at,
/// in bytes.
const LARGEST: u64 = 16 << 20;

/// Placeholders in scripts for folders whose paths differ from run to run.
pub(super) const WORKSPACE: &str = "${WORKSPACE}";
pub(super) const SKILL_DIR: &str = "${SKILL_DIR}";

/// Drives a rehearsed run and returns its differences from the expected outcome.
pub(super) async fn rehearse(
    caller: &CommandContext,
    skill: &Skill,
    trusted: &[&Skill],
    run: &SkillRunCase,
) -> RehearsedRunOutcome {
    let mut tried = RehearsedRunOutcome {
        name: run.name.clone(),
        file: String::new(),
        ok: false,
        state: None,
        turns: 0,
        differences: Vec::new(),
    };
    // Other skills may have the same name, so the skill under test comes first.
    let mut skills = vec![skill];
    skills.extend(trusted.iter().filter(|it| it.folder != skill.folder));
    match play(caller, skill, &skills, run).await {
        Err(problems) => {
            let texts = problems.0.iter().map(ToString::to_string);
            tried.differences.extend(texts);
        }
        Ok((done, files)) => {
            let finished = done.finished.as_ref();
            tried.state = finished.and_then(|it| it.state.clone());
            let metrics = finished.and_then(|it| it.metrics.as_ref());
            tried.turns = metrics.map_or(0, |metrics| metrics.turns);
            tried.differences = differences(&run.expect, &done, tried.turns, &files);
        }
    }
    tried.ok = tried.differences.is_empty();
    tried
}

/// Each file of the expected outcome with its expected state and its content at the end,
/// or `None` if the file does not exist.
type Files = Vec<(String, ExpectedFileState, Option<String>)>;

async fn play(
    caller: &CommandContext,
    skill: &Skill,
    skills: &[&Skill],
    run: &SkillRunCase,
) -> Result<(RunDriveOutcome, Files), WorkshopFailures> {
    let stage = RehearsalWorkshop::set(caller, skills)?;
    for (path, text) in &run.files {
        stage.put(path, text)?;
    }
    let script = script(skill, &run.script)?;
    let script = script
        .replace(WORKSPACE, &stage.work.display().to_string())
        .replace(SKILL_DIR, &skill.folder.display().to_string());
    let script = stage.script(&script)?;
    let arguments = prepare::split_words(&run.arguments);
    let order = RunStartOptions {
        skill: Some(skill.name.clone()),
        arguments: arguments.unwrap_or_else(|_| vec![run.arguments.clone()]),
        model: Some(format!("rehearsal:{}", script.display())),
        folder: Some(stage.work.clone()),
        ..RunStartOptions::default()
    };
    // The sender lives as long as the run, and nobody stops the run.
    let (_stop, stops) = watch::channel(ShutdownLevel::No);
    let company = RunObservers {
        audience: Arc::new(NullRunObserver),
        approver: None,
        person: None,
        trust: Arc::new(RehearsalTrustApprover),
        stop: stops,
        hints: HintVisibility::Shown,
    };
    let done = stage.workshop.start_run(&order, company).await?;
    let files = looked_at(&stage, done.run, &run.expect)?;
    Ok((done, files))
}

/// Trusts every skill. A rehearsal workshop holds only skills that the person trusts
/// already.
struct RehearsalTrustApprover;

impl TrustApprover for RehearsalTrustApprover {
    fn ask(&self, _: &TrustQuestion) -> Option<bool> {
        Some(true)
    }
}

/// Reads the script of a case. A recording becomes a script with the same replies in the
/// same order: the requests differ a little in every folder and on every day.
fn script(skill: &Skill, name: &str) -> Result<String, Failure> {
    let unusable = |why: String| {
        Failure::new(
            FailureCode::M011,
            format!("the script `tests/{name}` cannot be used"),
        )
        .because(why)
        .advise("`script` names a file beside the case, relative to `tests`")
    };
    let root = RootFolder::open(&skill.folder).map_err(|error| unusable(error.to_string()))?;
    let path = Path::new("tests").join(name);
    let bytes = root.read(&path, LARGEST, &any);
    let bytes = bytes.map_err(|error| unusable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unusable(error.to_string()))?;
    if !name.ends_with(".jsonl") {
        // Load it once under this name, so that an error names the file that the author knows.
        drop(RehearsalModel::load(&text, &format!("tests/{name}"))?);
        return Ok(text);
    }
    let cassette = Cassette::read_jsonl(&text)?;
    let lines: Vec<Value> = cassette.takes().iter().map(|it| line(&it.reply)).collect();
    Ok(json!({ "lines": lines }).to_string())
}

/// Returns a reply as a line of a script.
fn line(reply: &ModelReply) -> Value {
    let (mut think, mut say, mut calls) = (String::new(), String::new(), Vec::new());
    for part in &reply.parts {
        match part {
            MessagePart::Text { text, .. } => say.push_str(text),
            MessagePart::Thinking { text, .. } => think.push_str(text),
            MessagePart::ToolCall(call) => calls.push(json!({ &call.name: call.arguments })),
            MessagePart::Image(_) | MessagePart::ToolResult(_) => {}
        }
    }
    let mut line = json!({ "say": say, "stop": reply.stop });
    if !think.is_empty() {
        line["think"] = think.into();
    }
    if !calls.is_empty() {
        line["call"] = calls.into();
    }
    line
}

fn looked_at(
    stage: &RehearsalWorkshop,
    run: RunId,
    expect: &SkillRunExpectation,
) -> Result<Files, Failure> {
    let root = RootFolder::open(&files_of(stage, run))
        .map_err(|error| Failure::new(FailureCode::W008, error.to_string()))?;
    let look = |(path, wanted): (&String, &ExpectedFileState)| {
        let bytes = root.read(Path::new(path), LARGEST, &any);
        let text = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (path.clone(), wanted.clone(), text.ok())
    };
    Ok(expect.files.iter().map(look).collect())
}

/// Returns the folder of a run's files: its own tree, or the work folder if the run
/// changed nothing.
fn files_of(stage: &RehearsalWorkshop, run: RunId) -> PathBuf {
    let workshop = &stage.workshop;
    let at = workshop.run_place(run);
    let git = workshop.caller.program("git");
    let tree = git.and_then(|git| RunTree::open(&git, &at).ok());
    tree.map_or_else(|| stage.work.clone(), |tree| tree.files().to_owned())
}

fn any(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Ok(())
}

/// Lists the differences between the outcome of a run and the expected one.
fn differences(
    expect: &SkillRunExpectation,
    done: &RunDriveOutcome,
    turns: u64,
    files: &Files,
) -> Vec<String> {
    let mut differences = Vec::new();
    let Some(finished) = &done.finished else {
        return vec![format!("it was left before its end: {:?}", done.left)];
    };
    let wanted = match expect.state {
        ExpectedRunState::Complete => "complete",
        ExpectedRunState::Partial => "partial",
        ExpectedRunState::Failed => "failed",
    };
    let state = finished.state.as_deref().unwrap_or("unknown");
    if state != wanted {
        let why = finished.why.as_deref().unwrap_or("it does not say why");
        differences.push(format!("it ended {state}, not {wanted}: {why}"));
    }
    let answer = done.answer.as_deref().unwrap_or_default();
    for text in &expect.answer_contains {
        if !answer.contains(text) {
            let start: String = answer.chars().take(200).collect();
            differences.push(format!("the answer lacks `{text}`: {start}"));
        }
    }
    for (path, wanted, found) in files {
        differences.extend(file_difference(path, wanted, found.as_deref()));
    }
    if let Some(most) = expect.turns_at_most
        && turns > u64::from(most)
    {
        differences.push(format!(
            "it took {turns} turns, at most {most} were expected"
        ));
    }
    differences
}

fn file_difference(path: &str, wanted: &ExpectedFileState, found: Option<&str>) -> Option<String> {
    match (wanted, found) {
        (ExpectedFileState::Absent(true), Some(_)) => Some(format!("`{path}` should not be there")),
        (ExpectedFileState::Absent(false) | ExpectedFileState::Contains(_), None) => {
            Some(format!("`{path}` is not there"))
        }
        (ExpectedFileState::Contains(text), Some(found)) if !found.contains(text.as_str()) => {
            let start: String = found.chars().take(200).collect();
            Some(format!("`{path}` lacks `{text}`: {start}"))
        }
        _ => None,
    }
}
