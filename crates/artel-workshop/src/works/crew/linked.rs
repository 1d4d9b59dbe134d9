//! What tests read through links: files of a tester behind a link at a place of tests.
//!
//! Git knows such a file by where it lies, which is no place of tests. Code behind a link counts as the
//! work's: nothing keeps a link from leading to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artel_policy::rules::PolicyRule;
use artel_rules::plan::names::is_code_path;
use artel_types::Failure;
use artel_types::plan::PlanStep;

use super::{AgentExecutor, git_failed};

/// Links that lead to one another are followed no further.
const MOST_LINKS: usize = 40;

/// A file, with the link at a place of tests behind which it lies.
pub(super) struct LinkedFile {
    pub(super) file: String,
    pub(super) link: String,
}

impl AgentExecutor {
    /// Returns which of these files tests read through links, by the links of a tree.
    pub(super) fn linked_files(
        &self,
        tree: &str,
        files: impl IntoIterator<Item = String>,
    ) -> Result<Vec<LinkedFile>, Failure> {
        let mut files = files.into_iter().peekable();
        if files.peek().is_none() {
            return Ok(Vec::new());
        }
        let links = self.line.links_at(tree).map_err(git_failed)?;
        let links = test_links(&links, self.test_files());
        let linked = files.filter(|file| !is_code_path(file)).filter_map(|file| {
            let behind = |(_, target): &&(&Path, PathBuf)| Path::new(&file).starts_with(target);
            let link = links.iter().find(behind)?.0.to_string_lossy().into_owned();
            Some(LinkedFile { file, link })
        });
        Ok(linked.collect())
    }

    /// The same for a tester of a step, who makes links too: of what the scope of the step does not
    /// admit, neither it nor the work changes anything.
    pub(super) fn linked_in_scope(
        &self,
        step: &PlanStep,
        tree: &str,
        files: impl IntoIterator<Item = String>,
    ) -> Result<Vec<LinkedFile>, Failure> {
        let mut linked = self.linked_files(tree, files)?;
        let paths = step.scope.paths.iter();
        let rules: Vec<PolicyRule> = paths
            .filter_map(|path| PolicyRule::parse(&format!("Edit({path})")).ok())
            .collect();
        if !step.scope.paths.is_empty() {
            linked.retain(|it| {
                let here = self.in_folder(std::slice::from_ref(&it.file));
                here.iter()
                    .any(|path| rules.iter().any(|rule| rule.admits_path("edit", path)))
            });
        }
        Ok(linked)
    }

    /// Leaves out of the files that a tester may not change those that its tests read through links.
    pub(super) fn beside_linked(
        &self,
        step: &PlanStep,
        tree: &str,
        mut files: Vec<PathBuf>,
    ) -> Result<Vec<PathBuf>, Failure> {
        let names = files.iter().map(|path| path.to_string_lossy().into_owned());
        let linked = self.linked_in_scope(step, tree, names.collect::<Vec<_>>())?;
        let linked: BTreeSet<_> = linked
            .into_iter()
            .map(|it| PathBuf::from(it.file))
            .collect();
        files.retain(|path| !linked.contains(path));
        Ok(files)
    }
}

/// Returns the links at places of tests, and where each leads in the repository. One to a folder that
/// it lies in shows more than tests read.
fn test_links(
    links: &BTreeMap<PathBuf, PathBuf>,
    is_test: impl Fn(&str) -> bool,
) -> Vec<(&Path, PathBuf)> {
    let is_place = |link: &&PathBuf| {
        let inside = link.join("any");
        [*link, &inside]
            .iter()
            .any(|path| is_test(&path.to_string_lossy()))
    };
    let at_tests = links.keys().filter(is_place);
    let leading = at_tests.filter_map(|link| Some((link.as_path(), led_to(link, links)?)));
    leading
        .filter(|(link, target)| !link.starts_with(target))
        .collect()
}

/// Follows a link, with all links on the way, unless it leads out of the repository.
fn led_to(link: &Path, links: &BTreeMap<PathBuf, PathBuf>) -> Option<PathBuf> {
    let mut here = PathBuf::new();
    let mut waiting: Vec<Component<'_>> = link.components().rev().collect();
    let mut followed = 0;
    while let Some(part) = waiting.pop() {
        match part {
            Component::Normal(name) => here.push(name),
            Component::CurDir => continue,
            Component::ParentDir => {
                here.pop().then_some(())?;
                continue;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
        if let Some(named) = links.get(&here) {
            followed += 1;
            if followed > MOST_LINKS {
                return None;
            }
            here.pop();
            waiting.extend(named.components().rev());
        }
    }
    Some(here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_at_places_of_tests_lead_to_what_tests_read() {
        let links = [
            ("tests/data", "../shared/data"),
            ("tests/far", "../hop/cases"),
            ("hop", "shared"),
            ("tests/all", ".."),
            ("tests/own", "."),
            ("tests/out", "../../elsewhere"),
            ("tests/root", "/etc"),
            ("tests/round", "round"),
            ("src/data", "../shared/data"),
            ("spec", "checks"),
        ];
        let links = links.map(|(link, named)| (PathBuf::from(link), PathBuf::from(named)));
        let links = BTreeMap::from(links);
        let is_test = |path: &str| path.starts_with("tests/") || path.starts_with("spec/");
        let found = test_links(&links, is_test);
        let found: Vec<_> = found
            .iter()
            .map(|(link, target)| format!("{} {}", link.display(), target.display()))
            .collect();
        let expected = [
            "spec checks",
            "tests/data shared/data",
            "tests/far shared/cases",
        ];
        assert_eq!(found, expected);
    }
}
