//! Modules that shadow one which a runner loads from elsewhere.
//!
//! Python looks for modules in the folder of the tests first. `unittest` loads a
//! `pprint.py` there in place of the library's, which can disarm every assertion.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The modules of Python's standard library, one per line.
const LIBRARY: &str = include_str!("../../../data/python-modules.txt");

/// Modules of Python test runners outside the standard library.
const RUNNERS: [&str; 12] = [
    "pytest",
    "_pytest",
    "py",
    "pluggy",
    "iniconfig",
    "exceptiongroup",
    "coverage",
    "nose",
    "nose2",
    "hypothesis",
    "tox",
    "nox",
];

/// Endings of files that Python loads as modules.
const ENDINGS: [&str; 4] = ["py", "pyc", "so", "pyd"];

/// Folders in which runners look for modules, unless the folders are packages themselves.
const FOLDERS: [&str; 6] = ["src", "lib", "python", "py", "test", "tests"];

/// Words of commands that are followed by a folder to look for modules in.
const BEFORE_FOLDERS: [&str; 7] = [
    "cd",
    "-C",
    "-s",
    "--start-directory",
    "-t",
    "--top-level-directory",
    "PYTHONPATH",
];

static NAMES: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let lines = LIBRARY.lines().filter(|line| !line.starts_with('#'));
    lines.chain(RUNNERS).collect()
});

/// The folders in which a project's runner looks for modules.
#[derive(Debug, Clone)]
pub(super) struct ModuleFolders(BTreeSet<String>);

impl Default for ModuleFolders {
    fn default() -> Self {
        Self(BTreeSet::from([String::new()]))
    }
}

impl ModuleFolders {
    /// Adds the folders that the words of commands name, for commands started in `start`.
    /// `read` returns a file as it was before.
    pub(super) fn add<'c>(
        &mut self,
        commands: impl Iterator<Item = &'c str>,
        start: &str,
        read: impl Fn(&str) -> Option<String>,
    ) {
        let start = start.trim_matches('/');
        self.0.insert(start.to_owned());
        let below = |folder: &str| match (start, folder) {
            (start, "" | ".") => start.to_owned(),
            ("", folder) => folder.to_owned(),
            (start, folder) => format!("{start}/{folder}"),
        };
        let is_package = |folder: &str| read(&format!("{folder}/__init__.py")).is_some();
        let mut named = BTreeSet::new();
        for command in commands {
            let mut last = "";
            for word in super::words(command).flat_map(|word| word.split(':')) {
                let folder = word.trim_start_matches("./").trim_end_matches('/');
                if BEFORE_FOLDERS.contains(&last) {
                    _ = self.0.insert(below(folder))
                } else {
                    _ = named.insert(below(folder))
                }
                last = word;
            }
        }
        let mut named: BTreeSet<String> = named.into_iter().take(super::MOST_WORDS).collect();
        named.extend(FOLDERS.map(below));
        let inner = named
            .iter()
            .flat_map(|folder| FOLDERS.map(|it| format!("{folder}/{it}")));
        let mut open: BTreeSet<String> = inner.collect();
        open.extend(named);
        open.retain(|folder| !is_package(folder));
        self.0.extend(open);
    }

    /// Returns how a file, a package or a link shadows a module that a runner loads from
    /// elsewhere, or `None` if it does not.
    pub(super) fn stand_in(&self, path: &str) -> Option<ModuleShadow> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, ending) = match name.split_once('.') {
            Some((stem, rest)) => (stem, rest.rsplit('.').next().unwrap_or(rest)),
            None => (name, ""),
        };
        let is_module = ENDINGS.contains(&ending);
        let (folder, stem) = match stem {
            "__init__" if is_module => folder.rsplit_once('/').unwrap_or(("", folder)),
            stem => (folder, stem),
        };
        let is_looked_for = NAMES.contains(stem) && self.0.contains(folder);
        match (is_looked_for, is_module, ending) {
            (false, ..) => None,
            (_, true, _) => Some(ModuleShadow::Module),
            (_, _, "") => Some(ModuleShadow::Link),
            _ => None,
        }
    }
}

/// The way in which a file or link shadows a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModuleShadow {
    /// A file that is loaded as the module.
    Module,
    /// Harmless as a file, but a link can lead to a folder that is loaded.
    Link,
}
