//! One folder of the tree as detection sees it: its marker files, the declarations in its
//! manifests, and the programs that can run.
//!
//! Only files named here are read, through the tree's handle. A link from `package.json`
//! to another file is useless, because the guard judges files by their real names.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use artel_files::{FileAccessKind, FileAccessRefusal, RootFolder};
use serde_json::Value;

/// Largest manifest that is read, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// Folders in which programs are looked up.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSearchPath(Vec<PathBuf>);

/// A folder of the tree.
#[derive(Clone)]
pub(crate) struct ProjectProbe<'b> {
    pub(crate) root: &'b RootFolder,
    pub(crate) programs: &'b ProgramSearchPath,
    /// Path relative to the tree; empty for the tree itself.
    pub(crate) folder: String,
}

/// Confidence of a detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DetectionConfidence {
    /// Suggested by the language and the names of files.
    Low,
    /// Declared in a manifest.
    Medium,
    /// Configured explicitly.
    High,
}

/// The reason why a tool was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DetectionEvidence {
    pub(crate) strength: DetectionConfidence,
    pub(crate) what: String,
}

impl DetectionConfidence {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl DetectionEvidence {
    pub(crate) fn high(what: impl Into<String>) -> Self {
        Self {
            strength: DetectionConfidence::High,
            what: what.into(),
        }
    }

    pub(crate) fn medium(what: impl Into<String>) -> Self {
        Self {
            strength: DetectionConfidence::Medium,
            what: what.into(),
        }
    }

    pub(crate) fn low(what: impl Into<String>) -> Self {
        Self {
            strength: DetectionConfidence::Low,
            what: what.into(),
        }
    }
}

impl ProgramSearchPath {
    /// Takes the folders of `PATH` from an environment.
    pub(crate) fn of<'e>(mut environment: impl Iterator<Item = (&'e OsStr, &'e OsStr)>) -> Self {
        let path = environment
            .find(|(name, _)| *name == "PATH")
            .map(|(_, value)| value);
        Self(
            path.map(|path| std::env::split_paths(path).collect())
                .unwrap_or_default(),
        )
    }

    /// Returns the names of the files in those folders, up to a limit.
    pub(crate) fn names(&self) -> Vec<String> {
        const MOST: usize = 10_000;
        let folders = self.0.iter().filter(|folder| folder.is_absolute());
        let entries = folders
            .filter_map(|folder| folder.read_dir().ok())
            .flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .take(MOST)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns whether a program is installed.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .filter(|folder| folder.is_absolute())
            .any(|folder| {
                let about = folder.join(name).metadata();
                about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
            })
    }
}

impl<'b> ProjectProbe<'b> {
    /// Returns the same view of another folder.
    pub(crate) fn at(&self, folder: &str) -> Self {
        Self {
            folder: folder.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the path of a file of this folder, relative to the tree.
    pub(crate) fn path(&self, name: &str) -> String {
        join(&self.folder, name)
    }

    /// Returns whether a file or folder of that name exists.
    pub(crate) fn has(&self, name: &str) -> bool {
        let found = self.root.resolve(Path::new(&self.path(name)));
        found.is_ok_and(|found| found.about.is_some())
    }

    /// Returns the first of these names that exists.
    pub(crate) fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names.iter().copied().find(|name| self.has(name))
    }

    /// Returns the text of a marker file.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let wanted = Path::new(name).file_name()?.to_owned();
        let guard = move |path: &Path, op: FileAccessKind| {
            if op == FileAccessKind::Read && path.file_name() == Some(&wanted) {
                Ok(())
            } else {
                Err(FileAccessRefusal {
                    rule: "detection".to_owned(),
                    reason: "only the marker file itself is read".to_owned(),
                })
            }
        };
        let bytes = self
            .root
            .read(Path::new(&self.path(name)), MOST_BYTES, &guard)
            .ok()?;
        String::from_utf8(bytes).ok()
    }

    /// Returns whether a file has a line that starts with `start`.
    pub(crate) fn has_line(&self, name: &str, start: &str) -> bool {
        let text = self.text(name).unwrap_or_default();
        text.lines()
            .any(|line| line.trim_start().starts_with(start))
    }

    pub(crate) fn package(&self) -> Option<Value> {
        serde_json::from_str(&self.text("package.json")?).ok()
    }

    /// Returns whether `package.json` declares a dependency.
    pub(crate) fn needs_node(&self, name: &str) -> bool {
        let Some(package) = self.package() else {
            return false;
        };
        let kinds = [
            "dependencies",
            "devDependencies",
            "optionalDependencies",
            "peerDependencies",
        ];
        kinds
            .iter()
            .any(|kind| package.get(kind).and_then(|all| all.get(name)).is_some())
    }

    /// Returns the command of a script in `package.json`.
    pub(crate) fn script(&self, name: &str) -> Option<String> {
        Some(
            self.package()?
                .get("scripts")?
                .get(name)?
                .as_str()?
                .to_owned(),
        )
    }

    pub(crate) fn toml(&self, name: &str) -> Option<toml::Table> {
        self.text(name)?.parse().ok()
    }

    /// Returns whether `pyproject.toml` has a table for a tool: `[tool.ruff]`.
    pub(crate) fn has_python_table(&self, tool: &str) -> bool {
        let table = self.toml("pyproject.toml");
        table.is_some_and(|table| {
            table
                .get("tool")
                .and_then(|tools| tools.get(tool))
                .is_some()
        })
    }

    /// Returns the file that declares a Python dependency.
    pub(crate) fn needs_python(&self, name: &str) -> Option<&'static str> {
        let lists = [
            "requirements.txt",
            "requirements-dev.txt",
            "requirements-test.txt",
            "dev-requirements.txt",
            "test-requirements.txt",
            "requirements/dev.txt",
            "requirements/test.txt",
            "Pipfile",
            "setup.cfg",
            "setup.py",
        ];
        let declares = |file: &&&str| {
            let text = self.text(file).unwrap_or_default();
            text.split(['\n', ',', '[', ']'])
                .any(|item| is_requirement(item, name))
        };
        if let Some(file) = lists.iter().find(declares) {
            return Some(file);
        }
        let project = self.toml("pyproject.toml")?;
        declares_python(&toml::Value::Table(project), name, "").then_some("pyproject.toml")
    }

    /// Returns whether the `Gemfile` names a gem.
    pub(crate) fn needs_gem(&self, name: &str) -> bool {
        ["'", "\""].iter().any(|quote| {
            self.has_line("Gemfile", &format!("gem {quote}{name}{quote}"))
                || self.has_line("Gemfile", &format!("gem({quote}{name}{quote}"))
        })
    }

    /// Returns this folder and those above it up to the tree, each with the relative path to
    /// it.
    pub(crate) fn upwards(&self) -> impl Iterator<Item = (Self, String)> {
        let depth = self
            .folder
            .split('/')
            .filter(|part| !part.is_empty())
            .count();
        (0..=depth).map(move |up| {
            let parts: Vec<_> = self
                .folder
                .split('/')
                .filter(|part| !part.is_empty())
                .collect();
            (self.at(&parts[..depth - up].join("/")), "../".repeat(up))
        })
    }

    /// Returns the words that start a program of a Node package: through `npx`, which finds
    /// the package's own copy; by name if it is installed globally; or by its path.
    pub(crate) fn node_program(&self, name: &str, fetch: NpxFallback) -> Option<Vec<String>> {
        let local = self.local_node_program(name);
        let with_npx = || vec!["npx".to_owned(), name.to_owned()];
        match local {
            Some(_) if self.programs.has("npx") => Some(with_npx()),
            _ if self.programs.has(name) => Some(vec![name.to_owned()]),
            Some(path) => Some(vec![path]),
            None if fetch == NpxFallback::Npx && self.programs.has("npx") => Some(with_npx()),
            None => None,
        }
    }

    fn local_node_program(&self, name: &str) -> Option<String> {
        let inside = format!("node_modules/.bin/{name}");
        let mut above = self.upwards();
        let (_, way) = above.find(|(project, _)| project.has(&inside))?;
        Some(if way.is_empty() {
            format!("./{inside}")
        } else {
            format!("{way}{inside}")
        })
    }

    /// Returns the words that start a Python program, preferring the project's own
    /// environment.
    pub(crate) fn python_program(&self, name: &str) -> Option<Vec<String>> {
        for (project, way) in self.upwards() {
            for environment in [".venv", "venv"] {
                let inside = format!("{environment}/bin/{name}");
                if project.has(&inside) {
                    return Some(vec![format!("{way}{inside}")]);
                }
            }
        }
        self.programs.has(name).then(|| vec![name.to_owned()])
    }
}

/// Whether having `npx` alone counts as having a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NpxFallback {
    /// It counts: the package may be in npx's cache.
    Npx,
    /// It does not count.
    Installed,
}

/// Joins a path in the tree; the empty path is the tree itself.
pub(crate) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

/// Returns whether a list item is a requirement of that name: `pytest>=8`.
fn is_requirement(item: &str, name: &str) -> bool {
    let item = item.trim().trim_matches(['"', '\'', ' ']);
    let Some(rest) = item.strip_prefix(name) else {
        return false;
    };
    !rest.starts_with(|letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/')
    })
}

/// Searches a manifest for a requirement, in lists and as a key in tables of dependencies.
fn declares_python(value: &toml::Value, name: &str, within: &str) -> bool {
    match value {
        toml::Value::String(text) => within.contains("dependenc") && is_requirement(text, name),
        toml::Value::Array(items) => items.iter().any(|item| declares_python(item, name, within)),
        toml::Value::Table(table) => table.iter().any(|(key, value)| {
            let is_named = within.contains("dependenc") && key == name;
            let within = format!("{within}.{key}");
            is_named || declares_python(value, name, &within)
        }),
        _ => false,
    }
}
