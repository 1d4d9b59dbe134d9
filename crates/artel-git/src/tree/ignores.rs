//! Folders that a run shares or leaves out: dependencies and build results that git
//! ignores.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::place::EnclosingRepository;

/// Folders of dependencies and build results, as the tools that make them name them.
pub const SHARED_NAMES: &[&str] = &[
    "node_modules",
    ".venv",
    "venv",
    "target",
    "vendor",
    ".gradle",
];

/// Folders of caches. They are never shared, and no snapshot needs them.
const CACHE_NAMES: &[&str] = &[
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
];

/// Largest ignore file that is read, in bytes.
const LARGEST_RULES: u64 = 1 << 20;

/// Deepest level at which shared folders are looked for.
const DEEPEST: usize = 4;

/// Returns the folders of dependencies and build results below a folder that exist and that
/// git ignores (all of them if there is no git), relative to the folder, in order. Names in
/// `extra` count as well. A folder that was found is not searched further.
pub fn shared_folders(origin: &Path, extra: &[String]) -> Vec<PathBuf> {
    let repository = EnclosingRepository::find(origin);
    let mut search = SharedFolderSearch {
        origin,
        rules: GitIgnoreRules::of(origin, repository.as_ref()),
        extra,
        found: Vec::new(),
    };
    search.folder(Path::new(""), 1);
    search.found.sort();
    search.found
}

struct SharedFolderSearch<'s> {
    origin: &'s Path,
    rules: GitIgnoreRules,
    extra: &'s [String],
    found: Vec<PathBuf>,
}

impl SharedFolderSearch<'_> {
    /// Searches a folder. A folder that cannot be listed cannot be shared either.
    fn folder(&mut self, path: &Path, depth: usize) {
        let Ok(entries) = std::fs::read_dir(self.origin.join(path)) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || name == ".git" {
                continue;
            }
            let path = path.join(&name);
            if is_shared(&name, self.extra) && self.rules.ignores(&path) {
                self.found.push(path);
            } else if depth < DEEPEST {
                self.folder(&path, depth + 1);
            }
        }
    }
}

/// Decides which folders of a run's tree no snapshot holds.
#[derive(Debug)]
pub(super) struct SnapshotFolderFilter {
    extra: Vec<String>,
    /// Folders with files that the run began with. Their files belong in snapshots.
    kept: BTreeSet<PathBuf>,
}

impl SnapshotFolderFilter {
    /// Creates the filter; `began` are the files of the first snapshot.
    pub(super) fn new<'p>(extra: &[String], began: impl Iterator<Item = &'p Path>) -> Self {
        let mut left_out = Self {
            extra: extra.to_vec(),
            kept: BTreeSet::new(),
        };
        let kept = began.flat_map(|path| path.ancestors().skip(1));
        let kept: BTreeSet<PathBuf> = kept
            .filter(|folder| folder.file_name().is_some_and(|name| left_out.may(name)))
            .map(Path::to_owned)
            .collect();
        left_out.kept = kept;
        left_out
    }

    pub(super) fn is_left_out(&self, folder: &Path, rules: &mut GitIgnoreRules) -> bool {
        folder.file_name().is_some_and(|name| self.may(name))
            && !self.kept.contains(folder)
            && rules.ignores(folder)
    }

    fn may(&self, name: &OsStr) -> bool {
        is_shared(name, &self.extra) || CACHE_NAMES.iter().any(|cache| name == *cache)
    }
}

/// Returns whether a folder of that name can be shared or left out.
pub(super) fn is_shared(name: &OsStr, extra: &[String]) -> bool {
    SHARED_NAMES.iter().any(|shared| name == *shared)
        || extra.iter().any(|shared| name == shared.as_str())
}

/// The ignore files of a tree, read on demand.
#[derive(Debug)]
pub(super) struct GitIgnoreRules {
    /// Root of the repository, or `None` if there is none. Without one, every folder with such
    /// a name counts as ignored.
    top: Option<PathBuf>,
    /// Folder that queried paths are relative to.
    folder: PathBuf,
    exclude: Option<Gitignore>,
    read: HashMap<PathBuf, Gitignore>,
}

impl GitIgnoreRules {
    /// Returns the rules for paths relative to `folder`, which lies in that repository.
    pub(super) fn of(folder: &Path, repository: Option<&EnclosingRepository>) -> Self {
        let Some(repository) = repository else {
            return Self::none(folder);
        };
        let exclude = repository.common.join("info/exclude");
        Self::in_tree(&repository.top, &repository.folder, &exclude)
    }

    /// Returns empty rules, for a folder in no repository.
    pub(super) fn none(folder: &Path) -> Self {
        Self {
            top: None,
            folder: folder.to_owned(),
            exclude: None,
            read: HashMap::new(),
        }
    }

    /// Returns the rules for paths relative to `folder`, from the ignore files of `top` and
    /// below.
    pub(super) fn in_tree(top: &Path, folder: &Path, exclude: &Path) -> Self {
        Self {
            top: Some(top.to_owned()),
            folder: folder.to_owned(),
            exclude: Some(read(top, exclude)),
            read: HashMap::new(),
        }
    }

    /// Returns whether git ignores a folder.
    pub(super) fn ignores(&mut self, folder: &Path) -> bool {
        self.top.is_none() || self.matches(folder, GitIgnorePathKind::Folder)
    }

    /// Returns whether git ignores a file that it does not know yet.
    pub(super) fn ignores_file(&mut self, file: &Path) -> bool {
        self.top.is_some() && self.matches(file, GitIgnorePathKind::File)
    }

    /// Returns whether git ignores something that it does not know yet, at `path` in the tree
    /// at `files`.
    pub(super) fn hides(&mut self, path: &Path, files: &Path) -> bool {
        let kind = if files.join(path).is_dir() {
            GitIgnorePathKind::Folder
        } else {
            GitIgnorePathKind::File
        };
        self.matches(path, kind)
    }

    /// Matches a path against the rules. The ignore file nearest to the path decides, and an
    /// ignored folder takes everything in it along.
    fn matches(&mut self, path: &Path, kind: GitIgnorePathKind) -> bool {
        let Some(top) = self.top.clone() else {
            return false;
        };
        let path = self.folder.join(path);
        let Ok(inside) = path.strip_prefix(&top) else {
            return false;
        };
        let mut here = top.clone();
        let count = inside.iter().count();
        for (number, name) in inside.iter().enumerate() {
            here.push(name);
            let kind = if number + 1 < count {
                GitIgnorePathKind::Folder
            } else {
                kind
            };
            if self.says(&top, &here, kind) {
                return true;
            }
        }
        false
    }

    fn says(&mut self, top: &Path, path: &Path, kind: GitIgnorePathKind) -> bool {
        let is_folder = kind == GitIgnorePathKind::Folder;
        let folders = path.ancestors().skip(1);
        let folders = folders.take_while(|folder| folder.starts_with(top));
        for folder in folders {
            let rules = self
                .read
                .entry(folder.to_owned())
                .or_insert_with(|| read(folder, &folder.join(".gitignore")));
            let said = rules.matched(path, is_folder);
            if !said.is_none() {
                return said.is_ignore();
            }
        }
        self.exclude
            .as_ref()
            .is_some_and(|exclude| exclude.matched(path, is_folder).is_ignore())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GitIgnorePathKind {
    File,
    Folder,
}

/// Reads an ignore file as git would. A link or a pipe in its place, a line that makes no
/// sense, or a file of absurd size ignores nothing.
fn read(folder: &Path, file: &Path) -> Gitignore {
    let text = artel_files::read_bounded(file, LARGEST_RULES).unwrap_or_default();
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&text).lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
