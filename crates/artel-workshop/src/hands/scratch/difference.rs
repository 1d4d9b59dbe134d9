//! Compares a tree with its copy, and shows the differences to people.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use similar::TextDiff;

/// Largest file whose differences are shown, in bytes. Larger files are only named.
const LARGEST_SHOWN: u64 = 1 << 20;

/// The differences of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScratchFileDiff {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// The file or link at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScratchTreeEntry {
    File { size: u64, mode: u32 },
    Link(PathBuf),
}

/// Returns the differences as unified diffs, one per file. Git's own files and everything
/// in `without` are left out.
pub(crate) fn differences(
    before: &Path,
    after: &Path,
    without: &Path,
) -> io::Result<Vec<ScratchFileDiff>> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    list(before, Path::new(""), without, &mut old)?;
    list(after, Path::new(""), Path::new(""), &mut new)?;
    let names: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let was = ScratchDiffSide::of(before, name, old.get(name));
        let is = ScratchDiffSide::of(after, name, new.get(name));
        if !was.is_same(&is)? {
            let path = name.to_string_lossy().into_owned();
            let text = told(&path, &was, &is)?;
            found.push(ScratchFileDiff { path, text });
        }
    }
    Ok(found)
}

fn list(
    root: &Path,
    inside: &Path,
    without: &Path,
    found: &mut BTreeMap<PathBuf, ScratchTreeEntry>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(inside))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        let kind = entry.file_type()?;
        if entry.file_name() == ".git" || entry.path() == without {
            continue;
        }
        if kind.is_dir() {
            list(root, &path, without, found)?;
        } else if kind.is_symlink() {
            found.insert(path, ScratchTreeEntry::Link(fs::read_link(entry.path())?));
        } else if kind.is_file() {
            let about = entry.metadata()?;
            let mode = about.permissions().mode() & 0o777;
            found.insert(
                path,
                ScratchTreeEntry::File {
                    size: about.len(),
                    mode,
                },
            );
        }
    }
    Ok(())
}

/// A path in one of the two trees.
struct ScratchDiffSide<'s> {
    path: PathBuf,
    entry: Option<&'s ScratchTreeEntry>,
}

impl<'s> ScratchDiffSide<'s> {
    fn of(root: &Path, name: &Path, entry: Option<&'s ScratchTreeEntry>) -> Self {
        Self {
            path: root.join(name),
            entry,
        }
    }

    /// Compares contents, because files of the same size and mode may still differ.
    fn is_same(&self, other: &Self) -> io::Result<bool> {
        match (self.entry, other.entry) {
            (Some(ScratchTreeEntry::File { .. }), Some(ScratchTreeEntry::File { .. })) => {
                Ok(self.entry == other.entry && fs::read(&self.path)? == fs::read(&other.path)?)
            }
            (was, is) => Ok(was == is),
        }
    }

    fn header(&self, side: &str, path: &str) -> String {
        self.entry
            .map_or("/dev/null".to_owned(), |_| format!("{side}/{path}"))
    }

    fn mode(&self) -> Option<u32> {
        match self.entry {
            Some(ScratchTreeEntry::File { mode, .. }) => Some(*mode),
            Some(ScratchTreeEntry::Link(_)) | None => None,
        }
    }

    /// Returns the text to compare: the text of a file, the target of a link, or an empty text
    /// if nothing exists there. Returns `None` if the file is too large or not UTF-8.
    fn text(&self) -> io::Result<Option<String>> {
        Ok(match self.entry {
            None => Some(String::new()),
            Some(ScratchTreeEntry::Link(to)) => Some(format!(
                "link to {}\n",
                String::from_utf8_lossy(to.as_os_str().as_bytes())
            )),
            Some(ScratchTreeEntry::File { size, .. }) if *size > LARGEST_SHOWN => None,
            Some(ScratchTreeEntry::File { .. }) => String::from_utf8(fs::read(&self.path)?).ok(),
        })
    }
}

fn told(path: &str, was: &ScratchDiffSide<'_>, is: &ScratchDiffSide<'_>) -> io::Result<String> {
    let modes = match (was.mode(), is.mode()) {
        (Some(old), Some(new)) if old != new => format!("mode of {path}: {old:o} -> {new:o}\n"),
        _ => String::new(),
    };
    let headers = (was.header("a", path), is.header("b", path));
    let text = match (was.text()?, is.text()?) {
        (Some(old), Some(new)) if old == new && modes.is_empty() => {
            format!("--- {}\n+++ {}\n", headers.0, headers.1)
        }
        (Some(old), Some(new)) => TextDiff::from_lines(&old, &new)
            .unified_diff()
            .header(&headers.0, &headers.1)
            .to_string(),
        _ => format!("--- {}\n+++ {}\nbinary or large\n", headers.0, headers.1),
    };
    Ok(modes + &text)
}
