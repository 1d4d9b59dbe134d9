//! The files that decide what a check does, and what a change does to them.
//!
//! A check proves something as long as it is the one that was there before. A step that rewrites
//! the script it is checked by, or the settings of a runner, could pass with anything: such a
//! change is a person's to agree to, by naming the file in the plan or when they are asked.

mod loads;
mod precedence;
mod settings;
mod stand_ins;

use std::collections::{BTreeMap, BTreeSet};

use artel_types::plan::{Evidence, EvidenceKind, PlanStep};
use artel_types::{ProofRecorded, path_of_pattern};

use crate::plan::names::is_test_path;

use stand_ins::{ModuleFolders, StandIn};

/// No more words of commands are looked up as files.
const MOST_WORDS: usize = 64;

/// How far scripts that start scripts are followed.
const DEEPEST: usize = 3;

/// Folders of scripts: what one of them mentions in the same folder is part of it.
const SCRIPT_FOLDERS: [&str; 7] = ["ci", ".ci", ".github", "scripts", "script", "hack", "tools"];

/// What a project is checked by.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// Files that check commands name or start.
    scripts: BTreeSet<String>,
    /// Those of them that a script takes into itself: they may be what is checked, and they can
    /// also decide how it comes out.
    loaded: BTreeSet<String>,
    /// Whether every test that passes is known by its name, so that none can go unnoticed.
    by_name: bool,
    /// Whether there is anything that tests and settings decide about.
    has_checks: bool,
    /// Where a runner looks for modules.
    modules: ModuleFolders,
    /// Files that count as tests whatever they are called: testers of steps wrote them.
    by_testers: BTreeSet<String>,
}

impl Gauges {
    /// Finds the files that the checks before the first step, and the proofs that a step names,
    /// are made with. `read` returns a file as it was before.
    pub fn of(
        before: &[ProofRecorded],
        evidence: &[Evidence],
        read: impl Fn(&str) -> Option<String>,
    ) -> Self {
        Self::of_folder("", before, evidence, read)
    }

    /// The same where commands are started in a folder of the repository.
    pub fn of_folder(
        start: &str,
        before: &[ProofRecorded],
        evidence: &[Evidence],
        read: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let checks = before.iter().filter(|it| it.sort != "lint");
        let is_named = |it: &ProofRecorded| it.sort == "tests" && it.tests.is_some();
        let by_name = checks.clone().all(is_named) && checks.clone().next().is_some();
        let commands = checks.map(|it| it.what.as_str());
        let commands = commands.chain(
            evidence
                .iter()
                .filter(|it| it.kind == EvidenceKind::Command)
                .map(|it| it.what.as_str()),
        );
        let mut found = Found::default();
        let mut modules = ModuleFolders::default();
        modules.add(commands.clone(), start, &read);
        let words: BTreeSet<String> = commands.flat_map(files_in).collect();
        for word in words.into_iter().take(MOST_WORDS) {
            follow(word, DEEPEST, &read, &mut found);
        }
        Self {
            scripts: found.scripts,
            loaded: found.loaded,
            by_name,
            has_checks: !before.is_empty(),
            modules,
            by_testers: BTreeSet::new(),
        }
    }

    /// Counts these files as tests, whatever they are called.
    #[must_use]
    pub fn with_tests(mut self, files: BTreeSet<String>) -> Self {
        self.by_testers = files;
        self
    }

    fn is_test(&self, path: &str) -> bool {
        is_test_path(path) || self.by_testers.contains(path)
    }

    /// Tells whether a file decides what checks do: a test, a script they start, a setting, a module
    /// that a runner loads in place of another.
    pub fn include(&self, path: &str) -> bool {
        let decides = || self.is_of_tests(path) || self.modules.stand_in(path).is_some();
        self.scripts.contains(path) || (self.has_checks && decides())
    }

    fn is_of_tests(&self, path: &str) -> bool {
        self.has_checks && (settings::is_setting(path) || self.is_test(path))
    }

    /// Tells whether a check takes a file into itself, as a shell script does with `.`: such a file
    /// can be the work as well as a part of the check.
    pub fn load(&self, path: &str) -> bool {
        self.loaded.contains(path)
    }

    /// Says what a change does to what checks the project, where it does something to it. Tests
    /// that are added are none of it.
    pub fn touched(&self, path: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
        if old == new || !self.include(path) {
            return None;
        }
        let gone = || Some("is gone".to_owned());
        if self.scripts.contains(path) {
            return match (old, new) {
                (None, _) => None,
                (_, None) => gone(),
                _ if self.load(path) => Some("is loaded into a check".to_owned()),
                _ => Some("is what a check runs".to_owned()),
            };
        }
        if settings::is_setting(path) {
            let differs = settings::decide_differently(path, old, new);
            return differs.then(|| "decides what checks do".to_owned());
        }
        let stand_in = self.modules.stand_in(path);
        if stand_in == Some(StandIn::Module) && old.is_none() {
            return Some("shadows the module of the same name during checks".to_owned());
        }
        if !self.is_test(path) {
            return None;
        }
        match (old, new) {
            (None, _) => None,
            (_, None) => gone(),
            (Some(_), Some(_)) if !self.by_name => Some("is a test that was there".to_owned()),
            (Some(old), Some(new)) => match lost_lines(old, new) {
                0 => None,
                1 => Some("is a test that lost a line".to_owned()),
                lost => Some(format!("is a test that lost {lost} lines")),
            },
        }
    }

    /// Says what a new file does to tests that it leaves as they are: it is loaded in place of one,
    /// or of what one loads, or before all of its folder. `is_there` tells which files the tree has.
    pub fn displaces(
        &self,
        path: &str,
        text: &str,
        is_there: impl Fn(&str) -> bool,
    ) -> Option<String> {
        if !self.has_checks {
            return None;
        }
        let displaced = precedence::displaced(path, is_there).filter(|file| self.is_test(file));
        if let Some(file) = displaced {
            return Some(format!("is loaded in place of `{file}`"));
        }
        let is_first = path.ends_with("/__init__.py") && self.is_test(path);
        (is_first && precedence::runs_code(text))
            .then(|| "is run before the tests of its folder".to_owned())
    }

    /// Tells whether a file that was there is put back where work is held against the checks as
    /// they were. Tests go back also where they only grew: what is added can bend what was there.
    /// A setting that decides the same stays, for the work may need what it brings.
    pub fn goes_back(&self, path: &str, old: &str, new: Option<&str>) -> bool {
        let only_sets = settings::is_setting(path) && !self.scripts.contains(path);
        match only_sets {
            true => self.touched(path, Some(old), new).is_some(),
            false => self.scripts.contains(path) || self.is_of_tests(path),
        }
    }
}

/// Tells whether a step names a file by its own path: a pattern may mean files that nobody thought
/// of, a path is something a person has read and agreed to.
pub fn names(step: &PlanStep, path: &str) -> bool {
    let mut paths = step.scope.paths.iter();
    paths.any(|it| path_of_pattern(it).as_deref() == Some(path))
}

/// What checks start.
#[derive(Default)]
struct Found {
    scripts: BTreeSet<String>,
    loaded: BTreeSet<String>,
}

/// Adds a file to those that a check starts, and what it starts or loads itself.
fn follow(path: String, deep: usize, read: &impl Fn(&str) -> Option<String>, found: &mut Found) {
    if deep == 0 || found.scripts.contains(&path) {
        return;
    }
    let Some(text) = read(&path) else {
        return;
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside: Vec<String> = match is_of_scripts(folder) {
        true => beside(&text, folder),
        false => Vec::new(),
    };
    let loaded = loads::of(&text, folder, read);
    found.scripts.insert(path);
    for path in loaded.into_iter().take(MOST_WORDS) {
        let its_folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if !is_test_path(&path) && !is_of_scripts(its_folder) {
            found.loaded.insert(path.clone());
        }
        follow(path, deep - 1, read, found);
    }
    for path in beside.into_iter().take(MOST_WORDS) {
        follow(path, deep - 1, read, found);
    }
}

fn is_of_scripts(folder: &str) -> bool {
    SCRIPT_FOLDERS.contains(&folder.rsplit('/').next().unwrap_or_default())
}

/// Names the files of a folder that a script may mention.
fn beside(text: &str, folder: &str) -> Vec<String> {
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let names = code.flat_map(words).filter(|word| word.contains('.'));
    let names = names.filter_map(|word| word.rsplit('/').next().map(str::to_owned));
    let names: BTreeSet<String> = names.filter(|name| name.len() > 1).collect();
    names
        .iter()
        .map(|name| format!("{folder}/{name}"))
        .collect()
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| letter.is_whitespace() || ";|&()<>\"'`=,{}$".contains(letter);
    text.split(ends).filter(|word| !word.is_empty())
}

/// Names the files that a command may mean.
fn files_in(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    let mut is_module = false;
    for word in words(command) {
        if std::mem::replace(&mut is_module, word == "-m") {
            let path = word.replace('.', "/");
            files.extend([format!("{path}.py"), format!("{path}/__main__.py")]);
        }
        let word = word.trim_start_matches("./");
        let is_path = !word.starts_with(['-', '/']) && !word.split('/').any(|it| it == "..");
        if is_path && !word.is_empty() {
            files.push(word.to_owned());
        }
    }
    files
}

/// Counts the lines of a text that another does not have any more. Notes do not count, nor do
/// lines that bring in names and now bring in more.
fn lost_lines(old: &str, new: &str) -> usize {
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for line in new.lines() {
        *there.entry(line.trim_end()).or_default() += 1;
    }
    let brings: Vec<BTreeSet<&str>> = new.lines().filter_map(brought).collect();
    let lost = old.lines().map(str::trim_end).filter(|line| {
        if let Some(count) = there.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            return false;
        }
        let grew = brought(line).is_some_and(|old| brings.iter().any(|new| old.is_subset(new)));
        !grew && !is_note(line)
    });
    lost.count()
}

fn is_note(line: &str) -> bool {
    let line = line.trim_start();
    let is_attribute = line.starts_with("#[") || line.starts_with("#include");
    line.is_empty() || line.starts_with("//") || (line.starts_with('#') && !is_attribute)
}

/// Returns the names on a line that brings in names, with the word it begins with.
fn brought(line: &str) -> Option<BTreeSet<&str>> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words = line.split(|letter: char| !is_part(letter));
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    let begins = ["import ", "from ", "use ", "#include", "using "];
    let line = line.trim_start();
    begins
        .iter()
        .any(|it| line.starts_with(it))
        .then_some(words)
}

#[cfg(test)]
mod tests;
