//! The files that decide what a check does, and what a change does to them.
//!
//! A check proves something only as long as it stays the same. A step that rewrites the
//! script that checks it, or the settings of a runner, could pass with anything. A person
//! must agree to such a change, by naming the file in the plan or when asked.

mod loads;
mod precedence;
mod settings;
mod stand_ins;

use std::collections::{BTreeMap, BTreeSet};

use artel_types::plan::{PlanStep, StepEvidence, StepEvidenceKind};
use artel_types::{ProofRecorded, path_of_pattern};

use crate::plan::names::is_test_path;

use stand_ins::{ModuleFolders, ModuleShadow};

/// Most words of commands that are looked up as files.
const MOST_WORDS: usize = 64;

/// Depth to which scripts that start scripts are followed.
const DEEPEST: usize = 3;

/// Folders of scripts: a file that a script mentions in the same folder is part of the
/// script.
const SCRIPT_FOLDERS: [&str; 7] = ["ci", ".ci", ".github", "scripts", "script", "hack", "tools"];

/// The files that decide what a project's checks do.
#[derive(Debug, Clone, Default)]
pub struct ProjectCheckFiles {
    /// Files that check commands name or start.
    scripts: BTreeSet<String>,
    /// The part of `scripts` that a script loads into itself: such a file may be the work
    /// to be checked, but it can also decide the result.
    loaded: BTreeSet<String>,
    /// Whether every passing test is known by its name, so that none can disappear
    /// unnoticed.
    by_name: bool,
    /// Whether there are any checks that tests and settings could influence.
    has_checks: bool,
    /// The folders in which a runner looks for modules.
    modules: ModuleFolders,
    /// Files that count as tests whatever their name, because the testers of steps wrote
    /// them.
    by_testers: BTreeSet<String>,
}

impl ProjectCheckFiles {
    /// Finds the files behind the checks before the first step, and behind the proofs that
    /// a step names. `read` returns a file as it was before.
    pub fn of(
        before: &[ProofRecorded],
        evidence: &[StepEvidence],
        read: impl Fn(&str) -> Option<String>,
    ) -> Self {
        Self::of_folder("", before, evidence, read)
    }

    /// Like [`Self::of`], for commands that start in a folder of the repository.
    pub fn of_folder(
        start: &str,
        before: &[ProofRecorded],
        evidence: &[StepEvidence],
        read: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let checks = before.iter().filter(|it| it.sort != "lint");
        let is_named = |it: &ProofRecorded| it.sort == "tests" && it.tests.is_some();
        let by_name = checks.clone().all(is_named) && checks.clone().next().is_some();
        let commands = checks.map(|it| it.what.as_str());
        let commands = commands.chain(
            evidence
                .iter()
                .filter(|it| it.kind == StepEvidenceKind::Command)
                .map(|it| it.what.as_str()),
        );
        let mut found = CheckScriptFiles::default();
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

    /// Counts these files as tests, whatever their names.
    #[must_use]
    pub fn with_tests(mut self, files: BTreeSet<String>) -> Self {
        self.by_testers = files;
        self
    }

    fn is_test(&self, path: &str) -> bool {
        is_test_path(path) || self.by_testers.contains(path)
    }

    /// Returns whether a file decides what checks do: a test, a script that they start, a
    /// setting, or a module that a runner loads in place of another.
    pub fn include(&self, path: &str) -> bool {
        let decides = || self.is_of_tests(path) || self.modules.stand_in(path).is_some();
        self.scripts.contains(path) || (self.has_checks && decides())
    }

    fn is_of_tests(&self, path: &str) -> bool {
        self.has_checks && (settings::is_setting(path) || self.is_test(path))
    }

    /// Returns whether a check loads a file into itself, as a shell script does with `.`:
    /// such a file can be the work and a part of the check at the same time.
    pub fn load(&self, path: &str) -> bool {
        self.loaded.contains(path)
    }

    /// Returns what a change does to the project's checks, or `None` if it does nothing to
    /// them. Added tests do not count.
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
        if stand_in == Some(ModuleShadow::Module) && old.is_none() {
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

    /// Returns what a new file does to tests that it leaves unchanged: it is loaded in
    /// place of a test, or of a file that a test loads, or before its whole folder.
    /// `is_there` returns whether the tree has a file.
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

    /// Returns whether a file is restored before work is judged by the original checks.
    /// Tests are restored even if they only grew, because additions can bend what was
    /// there. A setting that still decides the same stays, because the work may need what
    /// it adds.
    pub fn goes_back(&self, path: &str, old: &str, new: Option<&str>) -> bool {
        let only_sets = settings::is_setting(path) && !self.scripts.contains(path);
        if only_sets {
            self.touched(path, Some(old), new).is_some()
        } else {
            self.scripts.contains(path) || self.is_of_tests(path)
        }
    }
}

/// Returns whether a step names a file by its exact path. A pattern may match files that
/// nobody thought of; a path is something that a person has read and approved.
pub fn names(step: &PlanStep, path: &str) -> bool {
    let mut paths = step.scope.paths.iter();
    paths.any(|it| path_of_pattern(it).as_deref() == Some(path))
}

/// The scripts that checks start or load.
#[derive(Default)]
struct CheckScriptFiles {
    scripts: BTreeSet<String>,
    loaded: BTreeSet<String>,
}

/// Adds a file that a check starts, and everything that the file starts or loads itself.
fn follow(
    path: String,
    deep: usize,
    read: &impl Fn(&str) -> Option<String>,
    found: &mut CheckScriptFiles,
) {
    if deep == 0 || found.scripts.contains(&path) {
        return;
    }
    let Some(text) = read(&path) else {
        return;
    };
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside: Vec<String> = if is_of_scripts(folder) {
        beside(&text, folder)
    } else {
        Vec::new()
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

/// Lists the files of a folder that a script may mention.
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

/// Lists the files that a command may mean.
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

/// Counts the lines of a text that another one lacks. Comments do not count, nor do
/// imports whose names are all imported by a new line.
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

/// Returns the words of an import line, including its keyword.
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
