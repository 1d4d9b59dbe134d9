//! Reads a line: its log, the differences between two commits, and the files of a commit.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::tree::store::GitTreeFile;
use crate::{GitRunner, RunTreeError};

use super::{PlanBranch, PlanBranchError, spell};

/// One commit in the log of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchLogEntry {
    /// Id of the commit.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
    /// Commit date in seconds since 1970.
    pub when: i64,
    /// Trailers of its message, in order.
    pub trailers: Vec<(String, String)>,
}

/// The differences between two commits, counted as `git diff --stat` counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitDiffStat {
    /// The files that differ, in order.
    pub files: Vec<FileDiffStat>,
    /// Total number of added lines.
    pub added: u64,
    /// Total number of removed lines.
    pub removed: u64,
}

/// The differences in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiffStat {
    /// Path of the file now, or before it was deleted.
    pub path: PathBuf,
    /// Path before the file was moved, if it was.
    pub from: Option<PathBuf>,
    /// Kind of the difference.
    pub kind: FileDiffKind,
    /// Number of added lines, or `None` if the file is not text.
    pub added: Option<u64>,
    /// Number of removed lines, or `None` if the file is not text.
    pub removed: Option<u64>,
}

/// The kind of difference in a file between two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileDiffKind {
    /// The file is new.
    Made,
    /// The file has other bytes, or is a link where a file was.
    Changed,
    /// The file was deleted.
    Deleted,
    /// The file was moved, and perhaps changed.
    Renamed,
    /// Only the executable bit changed.
    Mode,
}

/// The kind of entry that a commit or tree has at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitTreeEntryKind {
    /// A file of any size.
    File,
    /// A symbolic link.
    Link,
    /// A folder, or a place kept for another repository.
    Other,
}

impl PlanBranch {
    /// Returns the commits of a branch since `base`, oldest first.
    pub fn log(&self, base: &str, head: &str) -> Result<Vec<BranchLogEntry>, PlanBranchError> {
        const FORMAT: &str = "--format=%H%x1f%ct%x1f\
            %(trailers:only=true,unfold=true,key_value_separator=%x1d,separator=%x1e)%x1f%s";
        let (base, head) = (format!("^{}", spell(base)?), spell(head)?);
        let said = self
            .git()
            .run(&["log", "-z", "--reverse", FORMAT, &head, &base, "--"])?;
        let said = String::from_utf8_lossy(&said);
        let records = said.split('\0').filter(|record| !record.is_empty());
        Ok(records.filter_map(logged).collect())
    }

    /// Counts the differences between two commits or trees.
    pub fn stat(&self, from: &str, to: &str) -> Result<CommitDiffStat, PlanBranchError> {
        let (from, to) = (spell(from)?, spell(to)?);
        let arguments = [
            "diff-tree",
            "-r",
            "-M",
            "-z",
            "--raw",
            "--numstat",
            "--no-abbrev",
            "--no-ext-diff",
            "--no-textconv",
            &from,
            &to,
        ];
        let said = self.as_the_person_sees().run(&arguments)?;
        counted(&said).ok_or_else(|| PlanBranchError::Damaged {
            path: self.repository_at(),
            why: "git counted in words that nobody here knows",
        })
    }

    /// Returns the difference as text, for these paths or, if there are none, for all. No
    /// attribute hides a file.
    pub fn diff(
        &self,
        from: &str,
        to: &str,
        paths: &[PathBuf],
    ) -> Result<Vec<u8>, PlanBranchError> {
        self.differ(&["-r", "-p", "-M"], from, to, paths)
    }

    /// Returns the difference as a patch for `git apply`, with the bytes of files that are not
    /// text.
    pub fn patch(&self, from: &str, to: &str) -> Result<Vec<u8>, PlanBranchError> {
        let how = ["-r", "-p", "--binary", "--full-index", "--no-renames"];
        self.differ(&how, from, to, &[])
    }

    /// Returns the files that differ between two commits or trees, in order. A moved file is
    /// listed with both paths.
    pub fn changed(&self, from: &str, to: &str) -> Result<Vec<PathBuf>, PlanBranchError> {
        let how = ["-r", "-z", "--no-renames", "--name-only"];
        let said = self.differ(&how, from, to, &[])?;
        let names = said
            .split(|byte| *byte == 0)
            .filter(|name| !name.is_empty());
        Ok(names.map(path_of).collect())
    }

    /// Returns the tree of a commit.
    pub fn tree_of(&self, commit: &str) -> Result<String, PlanBranchError> {
        let trees = self.trees(&[commit])?;
        trees
            .into_iter()
            .next()
            .ok_or_else(|| PlanBranchError::BadName {
                name: commit.to_owned(),
            })
    }

    /// Returns the content of a file in a commit or tree. Returns `None` if there is none, if
    /// it is a link, or if it is larger than `most` bytes.
    pub fn file_at(
        &self,
        treeish: &str,
        path: &Path,
        most: u64,
    ) -> Result<Option<Vec<u8>>, PlanBranchError> {
        let side = side_in(&self.listed(treeish, path)?);
        let Some(side) = side.filter(|side| !side.is_link()) else {
            return Ok(None);
        };
        let store = self.store();
        let ids = [side.id.as_str()];
        if store.sizes(&ids)?.first().is_none_or(|size| *size > most) {
            return Ok(None);
        }
        let mut held = None;
        store.contents(&ids, |_, bytes| {
            held = Some(bytes.to_vec());
            Ok::<(), RunTreeError>(())
        })?;
        Ok(held)
    }

    /// Returns the paths of all files and links in a commit or tree.
    pub fn paths_at(&self, treeish: &str) -> Result<BTreeSet<PathBuf>, PlanBranchError> {
        let files = self.store().manifest(&spell(treeish)?)?;
        Ok(files.into_keys().collect())
    }

    /// Returns the links in a commit or tree, each with the path that it names.
    pub fn links_at(&self, treeish: &str) -> Result<BTreeMap<PathBuf, PathBuf>, PlanBranchError> {
        let store = self.store();
        let mut links = store.manifest(&spell(treeish)?)?;
        links.retain(|_, side| side.is_link());
        let ids: Vec<&str> = links.values().map(|side| side.id.as_str()).collect();
        let mut named = Vec::with_capacity(ids.len());
        store.contents(&ids, |_, bytes| {
            named.push(path_of(bytes));
            Ok::<(), RunTreeError>(())
        })?;
        Ok(links.into_keys().zip(named).collect())
    }

    /// Returns the kind of entry that a commit or tree has at a path, if any.
    pub fn entry_at(
        &self,
        treeish: &str,
        path: &Path,
    ) -> Result<Option<GitTreeEntryKind>, PlanBranchError> {
        let said = self.listed(treeish, path)?;
        let entry = match side_in(&said) {
            Some(side) if side.is_link() => GitTreeEntryKind::Link,
            Some(_) => GitTreeEntryKind::File,
            None => GitTreeEntryKind::Other,
        };
        Ok((!said.is_empty()).then_some(entry))
    }

    /// Returns the file or link that a commit or tree has at a path.
    pub(super) fn side_at(
        &self,
        treeish: &str,
        path: &Path,
    ) -> Result<Option<GitTreeFile>, PlanBranchError> {
        Ok(side_in(&self.listed(treeish, path)?))
    }

    fn listed(&self, treeish: &str, path: &Path) -> Result<Vec<u8>, PlanBranchError> {
        let name = spell(treeish)?;
        let words = ["ls-tree", "-z", name.as_str(), "--"].map(OsString::from);
        let mut arguments = words.to_vec();
        arguments.push(path.into());
        Ok(self.git().run_on(&arguments, Vec::new())?)
    }

    fn differ(
        &self,
        how: &[&str],
        from: &str,
        to: &str,
        paths: &[PathBuf],
    ) -> Result<Vec<u8>, PlanBranchError> {
        let (from, to) = (spell(from)?, spell(to)?);
        let mut arguments: Vec<OsString> = vec!["diff-tree".into()];
        arguments.extend(how.iter().map(OsString::from));
        let plain = ["--no-ext-diff", "--no-textconv", &from, &to, "--"];
        arguments.extend(plain.map(OsString::from));
        arguments.extend(paths.iter().map(|path| path.clone().into()));
        Ok(self.git().run_on(&arguments, Vec::new())?)
    }

    /// Returns a git runner for the line's repository with the person's files, because their
    /// `.gitattributes` decide what counts as text. It has no index, and reads nothing else of
    /// theirs.
    fn as_the_person_sees(&self) -> GitRunner {
        let top = self
            .repository()
            .map_or(self.origin.clone(), |found| found.top);
        self.git_with(&self.at.join("no-index"), &top)
    }
}

/// Reads a line of `ls-tree`, or returns `None` if it is neither a file nor a link.
fn side_in(said: &[u8]) -> Option<GitTreeFile> {
    let mut words = said.split(|byte| matches!(byte, b' ' | b'\t'));
    let (mode, _, id) = (words.next(), words.next(), words.next());
    mode.zip(id)
        .and_then(|(mode, id)| GitTreeFile::of(mode, id))
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn logged(record: &str) -> Option<BranchLogEntry> {
    let mut fields = record.splitn(4, '\u{1f}');
    let (commit, when, trailers) = (fields.next()?, fields.next()?, fields.next()?);
    let trailers = trailers.split('\u{1e}').filter_map(|trailer| {
        let (key, value) = trailer.split_once('\u{1d}')?;
        Some((key.to_owned(), value.trim().to_owned()))
    });
    Some(BranchLogEntry {
        commit: commit.trim().to_owned(),
        when: when.parse().ok()?,
        trailers: trailers.collect(),
        subject: fields.next()?.to_owned(),
    })
}

/// Reads the output of `diff-tree --raw --numstat -z -M`: first all raw entries, then all
/// counts.
fn counted(said: &[u8]) -> Option<CommitDiffStat> {
    let mut stat = CommitDiffStat::default();
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    let mut fields = said.split(|byte| *byte == 0);
    while let Some(field) = fields.next() {
        if field.is_empty() {
            continue;
        }
        if let Some(raw) = field.strip_prefix(b":") {
            let file = raw_entry(raw, &mut fields)?;
            places.insert(file.path.clone(), stat.files.len());
            stat.files.push(file);
            continue;
        }
        let mut words = field.splitn(3, |byte| *byte == b'\t');
        let (added, removed, path) = (words.next()?, words.next()?, words.next()?);
        let path = match path {
            // A moved file: its old and its new path follow.
            b"" => fields.by_ref().take(2).last()?,
            path => path,
        };
        let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u64>().ok();
        let file = stat.files.get_mut(*places.get(&path_of(path))?)?;
        (file.added, file.removed) = (number(added), number(removed));
        stat.added += file.added.unwrap_or(0);
        stat.removed += file.removed.unwrap_or(0);
    }
    Some(stat)
}

fn raw_entry<'f>(raw: &[u8], fields: &mut impl Iterator<Item = &'f [u8]>) -> Option<FileDiffStat> {
    let words: Vec<&[u8]> = raw.split(|byte| *byte == b' ').collect();
    let [old_mode, new_mode, old_id, new_id, status] = words[..] else {
        return None;
    };
    let first = path_of(fields.next()?);
    let kind = match status.first()? {
        b'A' => FileDiffKind::Made,
        b'D' => FileDiffKind::Deleted,
        b'R' => FileDiffKind::Renamed,
        _ if old_id == new_id && old_mode != new_mode => FileDiffKind::Mode,
        _ => FileDiffKind::Changed,
    };
    let (path, from) = match kind {
        FileDiffKind::Renamed => (path_of(fields.next()?), Some(first)),
        _ => (first, None),
    };
    Some(FileDiffStat {
        path,
        from,
        kind,
        added: None,
        removed: None,
    })
}
