//! `diagnostics`: runs the project's own compilers, linters and type checkers.

use std::path::Path;

use artel_policy::{PolicyAction, TargetTree};
use serde::Deserialize;
use serde_json::{Value, json};

use super::checker::{CHECKERS, CheckerPathSupport, CodeChecker, MARKERS};
use super::finding::{self, CheckerFinding, CheckerFindingSeverity, CheckerFindingSource};
use super::launch::{self, CheckProgramOutput};
use super::parse::plain;
use super::project::{DetectionConfidence, DetectionEvidence, ProjectProbe};
use super::run_tests::in_tree;
use super::survey::{ProjectSurvey, is_within};
use crate::{
    Tool, ToolContext, ToolCrashRecovery, ToolDescriptor, ToolEffect, ToolError, ToolErrorKind,
    ToolObservation, parse,
};

/// Largest number of checks per call.
const MOST_CHECKS: usize = 8;

/// Largest number of findings shown to a model.
const MOST_SHOWN: usize = 100;

pub(crate) struct DiagnosticsTool(ToolDescriptor);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    paths: Vec<String>,
}

/// A checker and the folder that is configured for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfiguredChecker {
    pub(crate) checker: CodeChecker,
    pub(crate) folder: String,
    pub(crate) evidence: DetectionEvidence,
    /// The command words, or `None` if it is not installed.
    pub(crate) words: Option<Vec<String>>,
}

impl DiagnosticsTool {
    pub(crate) fn new() -> Self {
        let input = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "paths": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Only these files and folders; the whole tree if not said",
                },
            },
        });
        let description = "Runs what the project is configured for (cargo check or clippy, tsc, \
            eslint, ruff, mypy, pyright, go vet, golangci-lint) in the sandbox and returns \
            file:line:column, severity and message, the worst first. What is configured but not \
            installed is named. Nothing is installed, nothing is fixed.";
        Self(ToolDescriptor {
            effects: vec![ToolEffect::Read, ToolEffect::Write, ToolEffect::Process],
            unknown: ToolCrashRecovery::Restore,
            keywords: &[
                "lint", "linter", "errors", "warnings", "types", "compile", "clippy", "eslint",
                "mypy",
            ],
            ..super::card(
                "diagnostics",
                "Errors and warnings of the project's own compilers and linters",
                description,
                input,
            )
        })
    }
}

impl Tool for DiagnosticsTool {
    fn card(&self) -> &ToolDescriptor {
        &self.0
    }

    fn intends(&self, input: &Value, bench: &ToolContext) -> Result<Vec<PolicyAction>, ToolError> {
        let plan = plan(&parse(input)?, bench)?;
        let words = plan
            .checks
            .into_iter()
            .filter_map(|check| check.words)
            .map(PolicyAction::Words);
        let words: Vec<_> = words.collect();
        Ok(if words.is_empty() {
            vec![PolicyAction::Nothing]
        } else {
            words
        })
    }

    fn run(&self, input: &Value, bench: &ToolContext) -> Result<ToolObservation, ToolError> {
        let CheckerSelection {
            paths,
            checks,
            left,
        } = plan(&parse(input)?, bench)?;
        let mut told = DiagnosticsResults {
            left,
            ..DiagnosticsResults::default()
        };
        for check in &checks {
            let Some(words) = &check.words else {
                told.missing(check);
                continue;
            };
            match launch::run(bench, words, &check.folder) {
                Ok(ran) => told.check(check, &ran, &paths, bench),
                Err(trouble) => told.trouble(check, &trouble),
            }
        }
        Ok(told.observation())
    }
}

impl ConfiguredChecker {
    fn named(&self) -> Value {
        json!({"tool": self.checker.id(), "folder": shown(&self.folder)})
    }
}

/// Finds all checkers that are configured in the tree.
pub(crate) fn checks(top: &ProjectProbe<'_>, survey: &ProjectSurvey) -> Vec<ConfiguredChecker> {
    let mut all: Vec<ConfiguredChecker> = Vec::new();
    for folder in &survey.folders {
        let here = top.at(folder);
        for checker in CHECKERS {
            let Some(evidence) = checker.evidence(&here) else {
                continue;
            };
            let is_covered = all.iter().any(|outer| {
                let is_go = matches!(checker, CodeChecker::GoVet | CodeChecker::GolangciLint);
                let is_same =
                    outer.checker == checker || is_cargo(outer.checker) && is_cargo(checker);
                // Declaring the same dependency again does not make a configuration of its own.
                let is_own =
                    checker == CodeChecker::Tsc && evidence.strength == DetectionConfidence::High;
                is_same && !is_go && !is_own && is_within(folder, &outer.folder)
            });
            if !is_covered {
                all.push(ConfiguredChecker {
                    checker,
                    folder: folder.clone(),
                    evidence,
                    words: checker.launch(&here),
                });
            }
        }
    }
    all.sort_by(|one, other| (one.checker, &one.folder).cmp(&(other.checker, &other.folder)));
    all
}

fn is_cargo(checker: CodeChecker) -> bool {
    matches!(checker, CodeChecker::Clippy | CodeChecker::CargoCheck)
}

/// The checks to run in one call.
struct CheckerSelection {
    /// The paths that the call is limited to.
    paths: Vec<String>,
    checks: Vec<ConfiguredChecker>,
    /// Checks that exceed the limit for one call.
    left: Vec<ConfiguredChecker>,
}

fn plan(input: &Input, bench: &ToolContext) -> Result<CheckerSelection, ToolError> {
    let programs = launch::programs(bench)?;
    let paths = input.paths.iter().map(|path| inside(path, bench));
    let paths = paths.collect::<Result<Vec<_>, _>>()?;
    let top = ProjectProbe {
        root: &bench.tree,
        programs: &programs,
        folder: String::new(),
    };
    let survey = ProjectSurvey::of(&bench.tree, "", MARKERS);
    let mut checks = checks(&top, &survey);
    if checks.is_empty() {
        let names = CHECKERS.map(CodeChecker::id).join(", ");
        return Err(ToolError::new(
            ToolErrorKind::NotFound,
            "no checker is configured in this tree",
        )
        .hint(format!("looked for the configuration of {names}"))
        .hint("`bash` runs a checker by a command of your own"));
    }
    checks.retain(|check| paths.is_empty() || paths.iter().any(|path| concerns(check, path)));
    if checks.is_empty() {
        let what = "no checker of this tree is for these paths";
        return Err(ToolError::new(ToolErrorKind::NotFound, what));
    }
    let left = checks.split_off(MOST_CHECKS.min(checks.len()));
    for check in checks
        .iter_mut()
        .filter(|check| check.checker.takes() == CheckerPathSupport::Paths)
    {
        let rest = arguments(&paths, check);
        if let Some(words) = &mut check.words {
            words.extend(rest);
        }
    }
    Ok(CheckerSelection {
        paths,
        checks,
        left,
    })
}

/// Returns the paths for a checker, relative to its folder.
fn arguments(paths: &[String], check: &ConfiguredChecker) -> Vec<String> {
    let own = paths
        .iter()
        .filter(|path| concerns(check, path))
        .map(|path| {
            let rest = if is_within(path, &check.folder) {
                path.get(check.folder.len()..)
                    .unwrap_or_default()
                    .trim_start_matches('/')
            } else {
                ""
            };
            match rest {
                "" => ".".to_owned(),
                rest if rest.starts_with('-') => format!("./{rest}"),
                rest => rest.to_owned(),
            }
        });
    let own: Vec<_> = own.collect();
    // Without paths, Pyright reads its own configuration.
    if own.is_empty() && check.checker != CodeChecker::Pyright {
        vec![".".to_owned()]
    } else {
        own
    }
}

/// Returns whether a checker can check a path.
fn concerns(check: &ConfiguredChecker, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let is_folder = ending.is_none_or(|ending| ending.is_empty());
    let is_near = is_within(path, &check.folder) || is_folder && is_within(&check.folder, path);
    is_near && (is_folder || ending.is_some_and(|ending| check.checker.endings().contains(&ending)))
}

fn inside(path: &str, bench: &ToolContext) -> Result<String, ToolError> {
    let (target, root) = bench.find(path)?;
    if target.place != TargetTree::Worktree {
        return Err(ToolError::new(
            ToolErrorKind::Unfit,
            "checkers run in the run's own tree only",
        ));
    }
    let resolved = root.resolve(Path::new(&target.path));
    let resolved =
        resolved.map_err(|error| ToolError::new(ToolErrorKind::Refused, error.to_string()))?;
    match resolved.about {
        Some(_) => Ok(resolved.path.to_string_lossy().into_owned()),
        None => Err(
            ToolError::new(ToolErrorKind::NotFound, format!("there is no `{path}`"))
                .hint("`glob` finds files by name"),
        ),
    }
}

/// The results of a call so far.
#[derive(Default)]
struct DiagnosticsResults {
    findings: Vec<CheckerFinding>,
    notes: Vec<String>,
    checks: Vec<Value>,
    sandbox: Value,
    left: Vec<ConfiguredChecker>,
}

impl DiagnosticsResults {
    fn check(
        &mut self,
        check: &ConfiguredChecker,
        ran: &CheckProgramOutput,
        paths: &[String],
        bench: &ToolContext,
    ) {
        let programs = super::project::ProgramSearchPath::default();
        let here = ProjectProbe {
            root: &bench.tree,
            programs: &programs,
            folder: check.folder.clone(),
        };
        let text = match check.checker.form() {
            finding::CheckerOutputFormat::Eslint => plain(&ran.stdout),
            finding::CheckerOutputFormat::Lines => {
                plain(&format!("{}\n{}", ran.stdout, ran.stderr))
            }
        };
        let mut found = finding::read(check.checker.form(), &text);
        for finding in &mut found {
            finding.file = in_tree(&finding.file, &here);
            if check.checker.is_of_types(finding) {
                finding.sort = CheckerFindingSource::Types;
            }
        }
        let is_meant = |finding: &CheckerFinding| {
            paths.is_empty() || paths.iter().any(|path| is_within(&finding.file, path))
        };
        let all = found.len();
        found.retain(is_meant);
        let has_failed = ran.exit != 0 && all == 0;
        if has_failed {
            let id = check.checker.id();
            self.notes
                .push(format!("{id} failed and found nothing:\n{}", ran.excerpt));
        }
        self.sandbox = ran.data["sandbox"].clone();
        self.checks.push(json!({
            "tool": check.checker.id(),
            "folder": shown(&check.folder),
            "command": check.words,
            "reason": check.evidence.what,
            "confidence": check.evidence.strength.word(),
            "is_installed": true,
            "exit": ran.exit,
            "failed": has_failed,
            "findings": found.len(),
        }));
        self.findings.extend(found);
    }

    fn missing(&mut self, check: &ConfiguredChecker) {
        let (id, folder) = (check.checker.id(), shown(&check.folder));
        let install = check.checker.install();
        self.notes.push(format!(
            "{id} is configured in `{folder}` ({}) but not installed; a person can: {install}",
            check.evidence.what
        ));
        self.checks.push(json!({
            "tool": id,
            "folder": folder,
            "reason": check.evidence.what,
            "confidence": check.evidence.strength.word(),
            "is_installed": false,
            "install": install,
        }));
    }

    fn trouble(&mut self, check: &ConfiguredChecker, trouble: &ToolError) {
        let id = check.checker.id();
        self.notes.push(format!("{id} did not finish: {trouble}"));
        self.checks.push(
            json!({"tool": id, "folder": shown(&check.folder), "trouble": trouble.kind.word()}),
        );
    }

    fn observation(mut self) -> ToolObservation {
        self.findings
            .sort_by(|one, other| (one.severity, one).cmp(&(other.severity, other)));
        self.findings.dedup();
        let count = |severity| {
            self.findings
                .iter()
                .filter(|it| it.severity == severity)
                .count()
        };
        let (errors, warnings) = (
            count(CheckerFindingSeverity::Error),
            count(CheckerFindingSeverity::Warning),
        );
        let mut lines = Vec::new();
        let names = self.checks.iter().filter(|check| check["failed"] == false);
        let names: Vec<_> = names.filter_map(|check| check["tool"].as_str()).collect();
        if !names.is_empty() {
            lines.push(format!(
                "{errors} errors, {warnings} warnings from {}",
                names.join(", ")
            ));
        }
        let shown = self.findings.iter().take(MOST_SHOWN);
        lines.extend(shown.map(finding_text));
        let more = self.findings.len().saturating_sub(MOST_SHOWN);
        if more > 0 {
            lines.push(format!("… {more} more: narrow it with `paths`"));
        }
        lines.append(&mut self.notes);
        lines.extend(left_out(&self.left));
        let left: Vec<_> = self.left.iter().map(ConfiguredChecker::named).collect();
        ToolObservation {
            text: lines.join("\n"),
            data: json!({
                "errors": errors,
                "warnings": warnings,
                "findings": self.findings.iter().take(10 * MOST_SHOWN).collect::<Vec<_>>(),
                "checks": self.checks,
                "left_out": left,
                "sandbox": self.sandbox,
            }),
            is_partial: more > 0 || !self.left.is_empty(),
            ..ToolObservation::default()
        }
    }
}

/// Names the checks that did not run because there were too many.
fn left_out(left: &[ConfiguredChecker]) -> Option<String> {
    const NAMED: usize = 5;
    let named = left.iter().take(NAMED);
    let named: Vec<_> = named
        .map(|check| format!("{} in `{}`", check.checker.id(), shown(&check.folder)))
        .collect();
    let more = match left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!left.is_empty()).then(|| {
        format!(
            "{} of {} checks were left out ({}{more}): run them with `paths`",
            left.len(),
            left.len() + MOST_CHECKS,
            named.join(", ")
        )
    })
}

fn finding_text(finding: &CheckerFinding) -> String {
    let column = finding
        .column
        .map(|column| format!(":{column}"))
        .unwrap_or_default();
    let CheckerFinding {
        file,
        line,
        message,
        ..
    } = finding;
    format!(
        "{file}:{line}{column} {} {message}",
        finding.severity.word()
    )
}

fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder }
}
