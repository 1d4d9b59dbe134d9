//! Walks the tree for detection, to find folders with marker files and files that look
//! like tests. It looks at names only and opens no file.

use std::collections::BTreeSet;
use std::path::Path;

use artel_files::RootFolder;
use ignore::WalkBuilder;

use super::runner::TestLanguage;
use crate::above::{AncestorIgnoreRules, heed_rules};

/// Largest number of entries visited; the survey of a larger tree is incomplete.
const MOST_ENTRIES: usize = 50_000;

/// Largest depth at which projects are found.
const DEEPEST: usize = 8;

/// Folders with third-party code or build output.
const SKIPPED: &[&str] = &[
    "node_modules",
    "target",
    "vendor",
    "venv",
    "__pycache__",
    "dist",
    "build",
    "out",
    "_build",
    "deps",
    "testdata",
    "fixtures",
    "site-packages",
];

/// The result of a walk.
#[derive(Debug, Default)]
pub(crate) struct ProjectSurvey {
    /// Folders with a marker file, relative to the tree.
    pub(crate) folders: BTreeSet<String>,
    /// Files that look like tests, with their language.
    pub(crate) tests: BTreeSet<(String, TestLanguage)>,
    /// Whether the tree had more entries than were visited.
    pub(crate) is_cut: bool,
}

impl ProjectSurvey {
    /// Walks a folder of the tree.
    pub(crate) fn of(root: &RootFolder, folder: &str, markers: &[&str]) -> Self {
        let mut survey = Self::default();
        let start = root.path().join(folder);
        let above = AncestorIgnoreRules::of(root.path(), &start);
        let mut walk = WalkBuilder::new(&start);
        heed_rules(&mut walk, &start);
        walk.hidden(false)
            .parents(false)
            .git_global(false)
            .require_git(false)
            .follow_links(false)
            .max_depth(Some(DEEPEST))
            .filter_entry(move |entry| {
                let name = entry.file_name().to_string_lossy();
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let is_other = name.starts_with('.') || SKIPPED.contains(&name.as_ref());
                entry.depth() == 0 || !(is_folder && is_other || above.hides(entry))
            });
        for (count, entry) in walk.build().filter_map(Result::ok).enumerate() {
            if count >= MOST_ENTRIES {
                survey.is_cut = true;
                break;
            }
            let inside = entry
                .path()
                .strip_prefix(root.path())
                .ok()
                .and_then(Path::to_str);
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if let (true, Some(path)) = (is_file, inside) {
                survey.take(path, markers);
            }
        }
        survey.take_bare(folder);
        survey
    }

    fn take(&mut self, path: &str, markers: &[&str]) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if markers.contains(&name) {
            self.folders.insert(owner(folder, name).to_owned());
        }
        if let Some(language) = test_language(path) {
            self.tests.insert((path.to_owned(), language));
        }
    }

    /// Treats the folder itself as a project if Python tests are outside of every project: a
    /// few scripts with tests beside them need no configuration.
    fn take_bare(&mut self, folder: &str) {
        let mut tests = self.tests.iter();
        let is_bare = |path: &str| !self.folders.iter().any(|folder| is_within(path, folder));
        if tests.any(|(path, of)| *of == TestLanguage::Python && is_bare(path)) {
            self.folders.insert(folder.to_owned());
        }
    }

    /// Returns whether a folder has tests of a language.
    pub(crate) fn has_tests(&self, folder: &str, language: TestLanguage) -> bool {
        let mut tests = self.tests.iter();
        tests.any(|(path, of)| *of == language && is_within(path, folder))
    }
}

/// Returns whether a path is a folder or inside it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the folder that a marker applies to: `tests/conftest.py` applies to the folder
/// above.
fn owner<'f>(folder: &'f str, name: &str) -> &'f str {
    let (above, last) = folder.rsplit_once('/').unwrap_or(("", folder));
    if name == "conftest.py" && matches!(last, "tests" | "test") {
        above
    } else {
        folder
    }
}

/// Returns the language of a test file by its name, or `None` if it does not look like
/// one.
pub(crate) fn test_language(path: &str) -> Option<TestLanguage> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, end) = name.rsplit_once('.')?;
    let in_folder = |wanted: &str| folder.split('/').any(|part| part == wanted);
    let is_test = match end {
        "py" => stem.starts_with("test_") || stem.ends_with("_test"),
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" => {
            stem.ends_with(".test")
                || stem.ends_with(".spec")
                || in_folder("__tests__")
                || in_folder("test")
        }
        "rb" => stem.ends_with("_test") || stem.ends_with("_spec") || stem.starts_with("test_"),
        "go" => stem.ends_with("_test"),
        "rs" => stem.ends_with("_test") || in_folder("tests"),
        "java" | "kt" => stem.ends_with("Test") || stem.ends_with("Tests"),
        "exs" => stem.ends_with("_test"),
        "php" => stem.ends_with("Test"),
        "c" | "cc" | "cpp" => stem.ends_with("_test") || stem.starts_with("test_"),
        _ => false,
    };
    is_test.then(|| language_of(end)).flatten()
}

/// Returns the language of a file by its extension.
pub(crate) fn language_of(end: &str) -> Option<TestLanguage> {
    Some(match end {
        "rs" => TestLanguage::Rust,
        "go" => TestLanguage::Go,
        "js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx" | "vue" | "svelte" => {
            TestLanguage::JavaScript
        }
        "py" | "pyi" => TestLanguage::Python,
        "rb" | "rake" => TestLanguage::Ruby,
        "java" | "kt" | "kts" | "groovy" => TestLanguage::Java,
        "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" | "hxx" => TestLanguage::C,
        "ex" | "exs" => TestLanguage::Elixir,
        "php" => TestLanguage::Php,
        _ => return None,
    })
}
