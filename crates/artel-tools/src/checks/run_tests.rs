//! `run_tests`: finds the tests of a tree, runs them, and reports what failed and where.

use std::path::Path;

use artel_files::FileEntryKind as Kind;
use artel_policy::{PolicyAction, TargetTree};
use serde::Deserialize;
use serde_json::{Value, json};

use super::command::{TestSelection, words_for};
use super::detect::{self, DetectedTestRunner};
use super::launch::{self, CheckProgramOutput};
use super::parse::{self, TestRunnerOutput};
use super::project::{ProgramSearchPath, ProjectProbe};
use super::report::{TestCounts, TestFailureDetail, TestRunReport};
use super::runner::{MARKERS, RUNNERS, TestRunner};
use super::survey::{ProjectSurvey, is_within, language_of};
use crate::similar::nearest_paths;
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, parse as read,
};

/// Largest number of parts run per call.
const MOST_PARTS: usize = 8;

/// Largest number of failures shown to a model.
const MOST_SHOWN: usize = 30;

/// Longest name of a test, in bytes.
const LONGEST_NAME: usize = 500;

pub(crate) struct RunTestsTool(ToolDescriptor);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: Option<String>,
    file: Option<String>,
    test: Option<String>,
    framework: Option<String>,
}

/// One command to run.
struct TestCommand {
    found: DetectedTestRunner,
    words: Vec<String>,
}

/// The commands to run, and the runners that cannot run.
#[derive(Default)]
struct TestCommandSelection {
    parts: Vec<TestCommand>,
    /// Runners that are used here but not installed.
    missing: Vec<DetectedTestRunner>,
    /// Parts left for another call.
    left: Vec<DetectedTestRunner>,
}

impl RunTestsTool {
    pub(crate) fn new() -> Self {
        let text = |about: &str| json!({"type": "string", "description": about});
        let input = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "path": text("Only this folder or file; the whole tree if not said"),
                "file": text("Only this test file, relative to the tree"),
                "test": text("Only this test, by its name; Rspec and mix take a line number too"),
                "framework": text("Which runner, if not the one that is found: cargo, go, vitest, jest, mocha, pytest, unittest, …"),
            },
        });
        let description = "Finds the test runner of each part of the tree by its configuration, \
            runs it in the sandbox, and returns counts and each failing test with file, line and \
            message. Several languages are run one after another. Nothing is installed.";
        Self(ToolDescriptor {
            effects: vec![ToolEffect::Read, ToolEffect::Write, ToolEffect::Process],
            unknown: ToolCrashRecovery::Restore,
            keywords: &[
                "test", "tests", "check", "pytest", "jest", "cargo", "unit", "verify", "failing",
            ],
            ..super::card(
                "run_tests",
                "Run the tests of the tree, a folder, a file or one test",
                description,
                input,
            )
        })
    }
}

impl Tool for RunTestsTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let plan = plan(&read(input)?, bench)?;
        if plan.parts.is_empty() {
            return Ok(vec![PolicyAction::Nothing]);
        }
        let words = plan
            .parts
            .into_iter()
            .map(|part| PolicyAction::Words(part.words));
        Ok(words.collect())
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let plan = plan(&read(input)?, bench)?;
        if plan.parts.is_empty() {
            return Err(not_installed(&plan.missing));
        }
        let is_single = plan.parts.len() == 1;
        let mut told = RunTestsResults::default();
        for part in &plan.parts {
            match launch::run(bench, &part.words, &part.found.folder) {
                Ok(ran) => told.part(part, &ran, bench),
                Err(trouble) if is_single => return Err(trouble),
                Err(trouble) => told.trouble(part, &trouble),
            }
        }
        Ok(told.observation(&plan))
    }
}

/// Decides what to run, without starting anything.
fn plan(input: &Input, bench: &ToolContext) -> Result<TestCommandSelection, ToolError> {
    check_name(input.test.as_deref())?;
    let only = input.framework.as_deref().map(runner_named).transpose()?;
    let programs = launch::programs(bench)?;
    let (folder, file) = place(input, bench)?;
    let top = ProjectProbe {
        root: &bench.tree,
        programs: &programs,
        folder: String::new(),
    };
    let found = match &file {
        Some(file) => of_file(&top, file, only)?,
        None => of_folder(&top, &folder, only)?,
    };
    let mut plan = TestCommandSelection::default();
    for (found, survey) in found {
        let Some(start) = found.launch.clone() else {
            plan.missing.push(found);
            continue;
        };
        if plan.parts.len() == MOST_PARTS {
            plan.left.push(found);
            continue;
        }
        let scope = scope(&found, &folder, file.as_deref(), input.test.clone());
        let words = words_for(&found, start, &scope, &top, &survey)?;
        plan.parts.push(TestCommand { found, words });
    }
    Ok(plan)
}

/// Finds the runner of a file.
fn of_file<'b>(
    top: &ProjectProbe<'b>,
    file: &str,
    only: Option<TestRunner>,
) -> Result<Vec<(DetectedTestRunner, ProjectSurvey)>, ToolError> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let language = name.rsplit_once('.').and_then(|(_, end)| language_of(end));
    let survey = ProjectSurvey::of(top.root, folder, MARKERS);
    let found = match (language, only) {
        (None, None) => None,
        (language, only) => detect::upwards(&top.at(folder), &survey, language, only),
    };
    let found = found.ok_or_else(|| {
        ToolError::new(
            ToolErrorKind::NotFound,
            format!("no test framework found for file `{file}`"),
        )
        .hint(format!("looked for {} from its folder upwards", ids()))
    })?;
    Ok(vec![(found, survey)])
}

/// Finds the runners of a folder, or the runner of the part that contains the folder.
fn of_folder(
    top: &ProjectProbe<'_>,
    folder: &str,
    only: Option<TestRunner>,
) -> Result<Vec<(DetectedTestRunner, ProjectSurvey)>, ToolError> {
    let survey = ProjectSurvey::of(top.root, folder, MARKERS);
    let mut found = match only {
        None => detect::everywhere(top, &survey),
        Some(_) => {
            let folders = survey.folders.iter();
            folders
                .flat_map(|folder| detect::in_folder(&top.at(folder), &survey, only))
                .collect()
        }
    };
    if found.is_empty() {
        found.extend(detect::upwards(&top.at(folder), &survey, None, only));
    }
    if found.is_empty() {
        let place = if folder.is_empty() {
            "the tree"
        } else {
            folder
        };
        let trouble = ToolError::new(ToolErrorKind::NotFound, "no test framework detected")
            .hint(format!("looked in {place} for the marks of {}", ids()))
            .hint("nothing was run; `bash` runs tests by a command of your own");
        return Err(trouble);
    }
    let with_survey = |found: DetectedTestRunner| {
        let survey = ProjectSurvey::of(top.root, &found.folder, MARKERS);
        (found, survey)
    };
    Ok(found.into_iter().map(with_survey).collect())
}

fn ids() -> String {
    RUNNERS.map(TestRunner::id).join(", ")
}

fn runner_named(name: &str) -> Result<TestRunner, ToolError> {
    TestRunner::named(name).ok_or_else(|| {
        ToolError::new(
            ToolErrorKind::BadInput,
            format!("there is no test framework `{name}` here"),
        )
        .hint("leave out `framework` to have it found")
        .hint(format!("known: {}", ids()))
    })
}

/// Checks a test's name. It becomes a word of the runner's command and must not be read as
/// an option.
fn check_name(test: Option<&str>) -> Result<(), ToolError> {
    let Some(test) = test else { return Ok(()) };
    let fits = !test.is_empty()
        && test.len() <= LONGEST_NAME
        && !test.starts_with('-')
        && !test.chars().any(char::is_control);
    if fits {
        Ok(())
    } else {
        Err(ToolError::new(
            ToolErrorKind::BadInput,
            "`test` is a name in one line that does not begin with `-`",
        ))
    }
}

/// Returns the requested folder and file, with links resolved.
fn place(input: &Input, bench: &ToolContext) -> Result<(String, Option<String>), ToolError> {
    let path = input
        .path
        .as_deref()
        .map(|path| existing(bench, path))
        .transpose()?;
    if let Some(file) = &input.file {
        let inside = path
            .as_ref()
            .map(|(folder, _)| super::project::join(folder, file));
        let (file, kind) = match existing(bench, file) {
            Ok(found) => found,
            Err(trouble) => inside
                .and_then(|path| existing(bench, &path).ok())
                .ok_or(trouble)?,
        };
        return match kind {
            Kind::Folder => Ok((file, None)),
            _ => Ok((String::new(), Some(file))),
        };
    }
    Ok(match path {
        None => (String::new(), None),
        Some((folder, Kind::Folder)) => (folder, None),
        Some((file, _)) => (String::new(), Some(file)),
    })
}

/// Resolves a path in the run's own tree.
fn existing(bench: &ToolContext, path: &str) -> Result<(String, Kind), ToolError> {
    let (target, root) = bench.find(path)?;
    if target.place != TargetTree::Worktree {
        let what = "tests run in the run's own tree only";
        return Err(ToolError::new(ToolErrorKind::Unfit, what));
    }
    let resolved = root.resolve(Path::new(&target.path));
    let resolved =
        resolved.map_err(|error| ToolError::new(ToolErrorKind::Refused, error.to_string()))?;
    let missing = || {
        let near = nearest_paths(root.path(), path, 3);
        let near: Vec<_> = near.iter().map(|path| format!("`{path}`")).collect();
        let trouble = ToolError::new(ToolErrorKind::NotFound, format!("there is no `{path}`"));
        if near.is_empty() {
            trouble.hint("`glob` finds files by name")
        } else {
            trouble.hint(format!("similar paths: {}", near.join(", ")))
        }
    };
    let about = resolved.about.ok_or_else(missing)?;
    let path = resolved.path.to_str().ok_or_else(missing)?;
    Ok((path.to_owned(), about.found))
}

/// Returns the selection relative to the part's own folder.
fn scope(
    found: &DetectedTestRunner,
    folder: &str,
    file: Option<&str>,
    test: Option<String>,
) -> TestSelection {
    let inside = |path: &str| {
        let rest = if is_within(path, &found.folder) {
            path.get(found.folder.len()..).unwrap_or_default()
        } else {
            ""
        };
        let rest = rest.trim_start_matches('/');
        (!rest.is_empty()).then(|| rest.to_owned())
    };
    TestSelection {
        folder: inside(folder),
        file: file.and_then(inside),
        test,
    }
}

fn not_installed(missing: &[DetectedTestRunner]) -> ToolError {
    let names = missing.iter().map(|found| {
        format!(
            "{} is used here ({}) but is not installed",
            found.runner.id(),
            found.evidence.what
        )
    });
    let what = names.collect::<Vec<_>>().join("\n");
    let trouble = ToolError::new(ToolErrorKind::NotFound, what);
    missing.iter().fold(trouble, |trouble, found| {
        trouble.hint(format!(
            "a person can install it: {}",
            found.runner.install()
        ))
    })
}

/// The results of a call so far.
#[derive(Default)]
struct RunTestsResults {
    text: Vec<String>,
    runs: Vec<Value>,
    total: TestCounts,
    sandbox: Value,
    is_partial: bool,
}

impl RunTestsResults {
    fn part(&mut self, part: &TestCommand, ran: &CheckProgramOutput, bench: &ToolContext) {
        let report = report(part, ran, bench);
        self.total.add(report.counts.unwrap_or_default());
        self.sandbox = ran.data["sandbox"].clone();
        self.text.push(headline(part, &report, ran.exit));
        let shown = report.failures.iter().take(MOST_SHOWN);
        self.text.extend(shown.map(failure_text));
        let more = report.failures.len().saturating_sub(MOST_SHOWN);
        if more > 0 {
            self.is_partial = true;
            self.text.push(format!(
                "… {more} more failures: narrow it with `file` or `test`"
            ));
        }
        // If the failures do not explain the exit code, the output must.
        let is_explained = ran.exit == 0 || !report.failures.is_empty();
        if !is_explained || report.counts.is_none() {
            self.text.push(ran.excerpt.clone());
        }
        self.runs.push(json!({
            "framework": part.found.runner.id(),
            "folder": shown_folder(&part.found.folder),
            "command": part.words,
            "reason": part.found.evidence.what,
            "confidence": part.found.evidence.strength.word(),
            "alternatives": part.found.alternatives.iter().map(|other| other.id()).collect::<Vec<_>>(),
            "exit": ran.exit,
            "passed": report.counts.map(|counts| counts.passed),
            "failed": report.counts.map(|counts| counts.failed),
            "skipped": report.counts.map(|counts| counts.skipped),
            "millis": report.millis.or(ran.data["millis"].as_u64()),
            "failures": report.failures,
            "names": report.names,
            "coverage": report.coverage,
            "stdout": ran.data["stdout"],
            "stderr": ran.data["stderr"],
        }));
    }

    fn trouble(&mut self, part: &TestCommand, trouble: &ToolError) {
        let (id, folder) = (part.found.runner.id(), shown_folder(&part.found.folder));
        self.text
            .push(format!("{id} in `{folder}` did not finish: {trouble}"));
        self.runs.push(json!({
            "framework": id,
            "folder": folder,
            "command": part.words,
            "trouble": trouble.kind.word(),
        }));
    }

    fn observation(mut self, plan: &TestCommandSelection) -> ToolObservation {
        for found in &plan.missing {
            let (id, folder) = (found.runner.id(), shown_folder(&found.folder));
            let install = found.runner.install();
            self.text.push(format!(
                "{id} is used in `{folder}` ({}) but is not installed; a person can: {install}",
                found.evidence.what
            ));
        }
        for found in &plan.left {
            let (id, folder) = (found.runner.id(), shown_folder(&found.folder));
            self.text
                .push(format!("not run: {id} in `{folder}`; name it with `path`"));
        }
        let TestCounts {
            passed,
            failed,
            skipped,
        } = self.total;
        if plan.parts.len() > 1 {
            let parts = plan.parts.len();
            self.text.insert(
                0,
                format!("{passed} passed, {failed} failed, {skipped} skipped in {parts} parts"),
            );
        }
        ToolObservation {
            text: self.text.join("\n"),
            data: json!({
                "passed": passed,
                "failed": failed,
                "skipped": skipped,
                "runs": self.runs,
                "sandbox": self.sandbox,
            }),
            is_partial: self.is_partial || !plan.left.is_empty(),
            ..ToolObservation::default()
        }
    }
}

/// Parses the output, and converts the places of failures to paths in the tree.
fn report(part: &TestCommand, ran: &CheckProgramOutput, bench: &ToolContext) -> TestRunReport {
    let programs = ProgramSearchPath::default();
    let here = ProjectProbe {
        root: &bench.tree,
        programs: &programs,
        folder: part.found.folder.clone(),
    };
    let manifest = here.text("go.mod").unwrap_or_default();
    let module = manifest
        .lines()
        .find_map(|line| line.strip_prefix("module "))
        .unwrap_or_default();
    let printed = TestRunnerOutput {
        stdout: &ran.stdout,
        stderr: &ran.stderr,
        module: module.trim(),
    };
    let mut report = parse::parse(part.found.runner, printed);
    for failure in &mut report.failures {
        failure.file = failure.file.take().map(|file| in_tree(&file, &here));
    }
    report
}

/// Converts a path that a runner printed to a path in the tree.
pub(crate) fn in_tree(file: &str, here: &ProjectProbe<'_>) -> String {
    if let Ok(inside) = Path::new(file).strip_prefix(here.root.path()) {
        return inside.to_string_lossy().into_owned();
    }
    let file = file.trim_start_matches("./");
    if here.has(file) {
        here.path(file)
    } else {
        file.to_owned()
    }
}

fn headline(part: &TestCommand, report: &TestRunReport, exit: i64) -> String {
    let (id, folder) = (part.found.runner.id(), shown_folder(&part.found.folder));
    let Some(TestCounts {
        passed,
        failed,
        skipped,
    }) = report.counts
    else {
        return format!("{id} in `{folder}`: exit code {exit}, no counts in its output");
    };
    let took = report
        .millis
        .map(|millis| format!(" in {:.1} s", millis as f64 / 1000.0));
    let took = took.unwrap_or_default();
    let note = match (exit, failed) {
        (0, 0) => "",
        (0, _) => " (yet its exit code is 0)",
        (_, 0) => " (yet it ended badly)",
        _ => "",
    };
    format!("{passed} passed, {failed} failed, {skipped} skipped{took}: {id} in `{folder}`{note}")
}

fn failure_text(failure: &TestFailureDetail) -> String {
    let place = failure
        .place()
        .map(|place| format!(" at {place}"))
        .unwrap_or_default();
    let message = failure.message.lines().map(|line| format!("\n  {line}"));
    format!(
        "FAILED {}{place}{}",
        failure.name,
        message.collect::<String>()
    )
}

fn shown_folder(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}
