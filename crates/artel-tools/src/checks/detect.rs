//! Detects the test runner of each part of the tree.
//!
//! There is one runner for each language and part: a repository with several languages has
//! several. A part inside another part of the same language is left out if the outer
//! part's runner covers it.

use super::project::{DetectionEvidence, ProjectProbe};
use super::runner::{RUNNERS, TestLanguage, TestRunner};
use super::survey::{ProjectSurvey, is_within};

/// A detected test runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetectedTestRunner {
    pub(crate) runner: TestRunner,
    /// The folder that it belongs to, relative to the tree.
    pub(crate) folder: String,
    pub(crate) evidence: DetectionEvidence,
    /// Other runners that would also fit.
    pub(crate) alternatives: Vec<TestRunner>,
    /// The command words that start it, or `None` if it is not installed.
    pub(crate) launch: Option<Vec<String>>,
}

/// Finds the runners of all parts of a survey.
pub(crate) fn everywhere(
    project: &ProjectProbe<'_>,
    survey: &ProjectSurvey,
) -> Vec<DetectedTestRunner> {
    let mut all: Vec<DetectedTestRunner> = Vec::new();
    // Folders are sorted, so outer ones come first.
    for folder in &survey.folders {
        let here = project.at(folder);
        for found in in_folder(&here, survey, None) {
            let is_covered = all.iter().any(|outer| covers(project, outer, &found));
            if !is_covered {
                all.push(found);
            }
        }
    }
    all.sort_by(|one, other| (one.runner, &one.folder).cmp(&(other.runner, &other.folder)));
    all
}

/// Finds the nearest folder, at or above a path, that has a runner for a language.
pub(crate) fn upwards(
    project: &ProjectProbe<'_>,
    survey: &ProjectSurvey,
    language: Option<TestLanguage>,
    only: Option<TestRunner>,
) -> Option<DetectedTestRunner> {
    let fits = |found: &DetectedTestRunner| {
        language.is_none_or(|language| found.runner.language() == language)
            && only.is_none_or(|only| found.runner == only)
    };
    let mut above = project.upwards();
    above.find_map(|(here, _)| {
        in_folder(&here, survey, only)
            .into_iter()
            .find(|found| fits(found))
    })
}

/// Finds the runners of one folder, one per language: strongest evidence first, then table
/// order.
pub(crate) fn in_folder(
    project: &ProjectProbe<'_>,
    survey: &ProjectSurvey,
    only: Option<TestRunner>,
) -> Vec<DetectedTestRunner> {
    let has_tests = |language| survey.has_tests(&project.folder, language);
    let mut candidates: Vec<(TestRunner, DetectionEvidence)> = RUNNERS
        .into_iter()
        .filter(|runner| only.is_none_or(|only| only == *runner))
        .filter_map(|runner| Some((runner, runner.evidence(project, &has_tests)?)))
        .collect();
    candidates.sort_by_key(|(runner, evidence)| (std::cmp::Reverse(evidence.strength), *runner));
    let mut found: Vec<DetectedTestRunner> = Vec::new();
    for (runner, evidence) in candidates {
        let same = |found: &&mut DetectedTestRunner| found.runner.language() == runner.language();
        match found.iter_mut().find(same) {
            Some(chosen) => chosen.alternatives.push(runner),
            None => found.push(DetectedTestRunner {
                runner,
                folder: project.folder.clone(),
                evidence,
                alternatives: Vec::new(),
                launch: runner.launch(project),
            }),
        }
    }
    found
}

/// Returns whether running the outer part also runs the inner one.
fn covers(
    project: &ProjectProbe<'_>,
    outer: &DetectedTestRunner,
    inner: &DetectedTestRunner,
) -> bool {
    let is_inside = outer.runner.language() == inner.runner.language()
        && outer.folder != inner.folder
        && is_within(&inner.folder, &outer.folder);
    if !is_inside {
        return false;
    }
    match outer.runner {
        // Go tests each module by itself.
        TestRunner::Go => false,
        TestRunner::Cargo => workspace_has(project, outer, inner),
        // A package with its own, different configuration does not belong to the outer one.
        TestRunner::Npm | TestRunner::Node => inner.runner == TestRunner::Node,
        TestRunner::Unittest => inner.runner == TestRunner::Unittest,
        _ => true,
    }
}

/// Returns whether a package is a member of a Cargo workspace. A package that is excluded,
/// or is itself a workspace, is not a member.
fn workspace_has(
    project: &ProjectProbe<'_>,
    outer: &DetectedTestRunner,
    inner: &DetectedTestRunner,
) -> bool {
    let manifest = project
        .at(&outer.folder)
        .toml("Cargo.toml")
        .unwrap_or_default();
    let Some(workspace) = manifest.get("workspace") else {
        return false;
    };
    let own = project
        .at(&inner.folder)
        .toml("Cargo.toml")
        .unwrap_or_default();
    if own.contains_key("workspace") {
        return false;
    }
    let excluded = workspace.get("exclude").and_then(toml::Value::as_array);
    let mut excluded = excluded
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str);
    let inside = inner.folder.strip_prefix(&outer.folder).unwrap_or_default();
    let inside = inside.trim_start_matches('/');
    !excluded.any(|folder| is_within(inside, folder.trim_end_matches('/')))
}
