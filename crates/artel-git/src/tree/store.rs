//! Reads a repository's objects: trees, differences between two trees, and contents.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::GitRunner;

use super::RunTreeError;
use super::difference::RunTreeChangeKind;

/// Number of bytes of content read from git at a time.
const BATCH: u64 = 64 << 20;

/// The objects of one repository.
#[derive(Debug)]
pub(crate) struct GitObjectStore {
    git: GitRunner,
    repository: PathBuf,
}

/// A file or link in a git tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitTreeFile {
    pub(crate) mode: u32,
    pub(crate) id: String,
}

impl GitTreeFile {
    pub(crate) fn is_link(&self) -> bool {
        self.mode == 0o120_000
    }

    pub(crate) fn is_executable(&self) -> bool {
        self.mode == 0o100_755
    }

    /// Reads an entry. Returns `None` for a place that git keeps for another repository,
    /// because it holds no file.
    pub(crate) fn of(mode: &[u8], id: &[u8]) -> Option<Self> {
        let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
        let is_file = matches!(mode, 0o100_644 | 0o100_755 | 0o120_000);
        is_file.then(|| Self {
            mode,
            id: String::from_utf8_lossy(id).into_owned(),
        })
    }
}

/// One path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitTreeDifference {
    pub(crate) path: PathBuf,
    pub(crate) old: Option<GitTreeFile>,
    pub(crate) new: Option<GitTreeFile>,
    pub(super) lines: Option<(u64, u64)>,
}

impl GitTreeDifference {
    /// Creates an entry for a file that is the same in both trees but has to be written anyway.
    pub(super) fn written_again(path: PathBuf, side: GitTreeFile) -> Self {
        Self {
            path,
            old: Some(side.clone()),
            new: Some(side),
            lines: None,
        }
    }

    pub(super) fn kind(&self) -> RunTreeChangeKind {
        match (&self.old, &self.new) {
            (None, _) => RunTreeChangeKind::Made,
            (_, None) => RunTreeChangeKind::Deleted,
            (Some(old), Some(new)) if old.id == new.id && !old.is_link() && !new.is_link() => {
                RunTreeChangeKind::Mode
            }
            _ => RunTreeChangeKind::Changed,
        }
    }
}

impl GitObjectStore {
    pub(crate) fn new(git: GitRunner, repository: PathBuf) -> Self {
        Self { git, repository }
    }

    /// Compares two trees.
    pub(crate) fn differences(
        &self,
        old: &str,
        new: &str,
        lines: DiffLineCounting,
    ) -> Result<Vec<GitTreeDifference>, RunTreeError> {
        if old == new {
            return Ok(Vec::new());
        }
        let mut arguments = vec![
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--no-abbrev",
            "--raw",
        ];
        if lines == DiffLineCounting::Counted {
            arguments.extend(["--numstat", "--no-ext-diff", "--no-textconv"]);
        }
        arguments.extend([old, new]);
        let said = self.git.run(&arguments)?;
        read(&said).ok_or_else(|| RunTreeError::Damaged {
            path: self.repository.clone(),
            why: "git compared two trees in words that nobody here knows",
        })
    }

    /// Returns every file of a tree.
    pub(crate) fn manifest(
        &self,
        tree: &str,
    ) -> Result<BTreeMap<PathBuf, GitTreeFile>, RunTreeError> {
        let said = self.git.run(&["ls-tree", "-r", "-z", tree])?;
        let mut files = BTreeMap::new();
        for line in said.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let mut words = line[..tab].split(|byte| *byte == b' ');
            let (mode, _, id) = (words.next(), words.next(), words.next());
            if let Some(side) = mode
                .zip(id)
                .and_then(|(mode, id)| GitTreeFile::of(mode, id))
            {
                files.insert(PathBuf::from(OsStr::from_bytes(&line[tab + 1..])), side);
            }
        }
        Ok(files)
    }

    /// Reads contents, a bounded number of bytes at a time, and passes each to `each` with its
    /// position in `ids`.
    pub(crate) fn contents<E: From<RunTreeError>>(
        &self,
        ids: &[&str],
        each: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.contents_of_sizes(ids, &self.sizes(ids)?, each)
    }

    /// Does the same with sizes that are already known.
    pub(crate) fn contents_of_sizes<E: From<RunTreeError>>(
        &self,
        ids: &[&str],
        sizes: &[u64],
        mut each: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut first = 0;
        while first < ids.len() {
            let mut bytes = sizes[first];
            let mut next = first + 1;
            while next < ids.len() && bytes + sizes[next] <= BATCH {
                bytes += sizes[next];
                next += 1;
            }
            let said = self.ask("--batch", &ids[first..next], bytes)?;
            let mut rest = &said[..];
            for (number, size) in sizes.iter().enumerate().take(next).skip(first) {
                let size = usize::try_from(*size).unwrap_or(usize::MAX);
                let (content, after) = split(rest, size).ok_or_else(|| self.damaged())?;
                each(number, content)?;
                rest = after;
            }
            first = next;
        }
        Ok(())
    }

    pub(crate) fn sizes(&self, ids: &[&str]) -> Result<Vec<u64>, RunTreeError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let said = self.ask("--batch-check", ids, 0)?;
        let text = String::from_utf8_lossy(&said);
        let size = |line: &str| {
            let mut words = line.split(' ').skip(1);
            let is_content = words.next() == Some("blob");
            is_content.then(|| words.next()?.parse().ok()).flatten()
        };
        let sizes: Option<Vec<u64>> = text.lines().map(size).collect();
        sizes
            .filter(|sizes| sizes.len() == ids.len())
            .ok_or_else(|| self.damaged())
    }

    fn ask(&self, how: &str, ids: &[&str], bytes: u64) -> Result<Vec<u8>, RunTreeError> {
        let mut list = ids.join("\n").into_bytes();
        list.push(b'\n');
        let most = usize::try_from(bytes).unwrap_or(usize::MAX);
        let most = most.saturating_add((ids.len() + 1) * 128);
        let git = self.git.clone().patiently(super::LONGEST_CALL, most);
        Ok(git.run_with(&["cat-file", how], list)?)
    }

    fn damaged(&self) -> RunTreeError {
        RunTreeError::Damaged {
            path: self.repository.clone(),
            why: "contents of a snapshot are missing; was the person's repository pruned?",
        }
    }
}

/// Whether to count lines, which requires reading the contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffLineCounting {
    Counted,
    Uncounted,
}

/// Splits `<head line>\n<content>\n<rest>`.
fn split(said: &[u8], size: usize) -> Option<(&[u8], &[u8])> {
    let start = said.iter().position(|byte| *byte == b'\n')? + 1;
    let end = start.checked_add(size)?;
    let content = said.get(start..end)?;
    let rest = said.get(end + 1..)?;
    Some((content, rest))
}

/// Reads the output of `diff-tree --raw [--numstat] -z`: first all raw entries, then all
/// counts.
fn read(said: &[u8]) -> Option<Vec<GitTreeDifference>> {
    let mut found: BTreeMap<PathBuf, GitTreeDifference> = BTreeMap::new();
    let mut fields = said.split(|byte| *byte == 0).peekable();
    while let Some(field) = fields.next() {
        if field.is_empty() {
            continue;
        }
        if let Some(raw) = field.strip_prefix(b":") {
            let words: Vec<&[u8]> = raw.split(|byte| *byte == b' ').collect();
            let [old_mode, new_mode, old_id, new_id, _] = words[..] else {
                return None;
            };
            let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
            let (old, new) = (
                GitTreeFile::of(old_mode, old_id),
                GitTreeFile::of(new_mode, new_id),
            );
            if old.is_none() && new.is_none() {
                continue;
            }
            let lines = None;
            let difference = GitTreeDifference {
                path: path.clone(),
                old,
                new,
                lines,
            };
            found.insert(path, difference);
        } else {
            let mut words = field.splitn(3, |byte| *byte == b'\t');
            let (added, removed, path) = (words.next()?, words.next()?, words.next()?);
            let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse().ok();
            if let Some(difference) = found.get_mut(Path::new(OsStr::from_bytes(path))) {
                difference.lines = number(added).zip(number(removed));
            }
        }
    }
    Some(found.into_values().collect())
}
