//! What differs between two snapshots, and the contents of one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{RunTree, Snapshot, TreeError};

/// Contents are read from git so many bytes at a time.
const BATCH: u64 = 64 << 20;

/// One file that a run made, changed or removed. A file that was moved is removed and made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path, relative to the files.
    pub path: PathBuf,
    /// What was done.
    pub kind: ChangeKind,
    /// Lines that are new; nothing for what is not text.
    pub lines_added: Option<u64>,
    /// Lines that are gone.
    pub lines_removed: Option<u64>,
    /// How many bytes it holds now.
    pub bytes: u64,
    /// It is a symbolic link.
    pub is_link: bool,
    /// It is new and git ignores it. Such files are put in place only when they are named.
    pub is_ignored: bool,
}

/// What was done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// It was not there.
    Made,
    /// It has other bytes, or is a link where a file was.
    Changed,
    /// It is gone.
    Deleted,
    /// It only became executable, or no longer is.
    Mode,
}

impl Change {
    /// Tells whether it holds something else than text.
    pub fn is_binary(&self) -> bool {
        self.lines_added.is_none()
    }
}

/// A file in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) mode: u32,
    pub(super) id: String,
}

impl Side {
    pub(super) fn is_link(&self) -> bool {
        self.mode == 0o120_000
    }

    pub(super) fn is_executable(&self) -> bool {
        self.mode == 0o100_755
    }

    /// A place that git keeps for a repository in the repository; it holds no file.
    fn of(mode: &[u8], id: &[u8]) -> Option<Self> {
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
pub(super) struct Difference {
    pub(super) path: PathBuf,
    pub(super) old: Option<Side>,
    pub(super) new: Option<Side>,
    lines: Option<(u64, u64)>,
}

impl Difference {
    fn kind(&self) -> ChangeKind {
        match (&self.old, &self.new) {
            (None, _) => ChangeKind::Made,
            (_, None) => ChangeKind::Deleted,
            (Some(old), Some(new)) if old.id == new.id && !old.is_link() && !new.is_link() => {
                ChangeKind::Mode
            }
            _ => ChangeKind::Changed,
        }
    }
}

impl RunTree {
    /// Returns what the run made, changed and removed since a snapshot, in the order of paths.
    pub fn changes(&self, since: &Snapshot) -> Result<Vec<Change>, TreeError> {
        let taken = self.take()?;
        let mut rules = self.rules();
        let differences = self.differences(since.tree(), &taken.tree, Lines::Counted)?;
        let change = |difference: Difference| {
            let kind = difference.kind();
            let path = &difference.path;
            let bytes = taken.walk.files.get(path).map_or(0, |seen| seen.stamp.size);
            let side = difference.new.as_ref().or(difference.old.as_ref());
            Change {
                kind,
                lines_added: difference.lines.map(|(added, _)| added),
                lines_removed: difference.lines.map(|(_, removed)| removed),
                bytes,
                is_link: side.is_some_and(Side::is_link),
                is_ignored: kind == ChangeKind::Made && rules.ignores_file(path),
                path: difference.path,
            }
        };
        Ok(differences.into_iter().map(change).collect())
    }

    /// Returns what a file held at a snapshot; nothing where there was none, where it was a link,
    /// or where it had more than `most` bytes.
    pub fn file_at(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        most: u64,
    ) -> Result<Option<Vec<u8>>, TreeError> {
        let files = self.manifest(snapshot.tree())?;
        let Some(side) = files.get(path).filter(|side| !side.is_link()) else {
            return Ok(None);
        };
        let ids = [side.id.as_str()];
        if self.sizes(&ids)?.first().is_none_or(|size| *size > most) {
            return Ok(None);
        }
        let mut held = None;
        self.contents(&ids, |_, bytes| {
            held = Some(bytes.to_vec());
            Ok::<(), TreeError>(())
        })?;
        Ok(held)
    }

    /// Returns the difference as text, of these paths or of all.
    pub fn diff(&self, since: &Snapshot, paths: &[PathBuf]) -> Result<Vec<u8>, TreeError> {
        let taken = self.take()?;
        let mut arguments = vec![
            "diff-tree",
            "-r",
            "-p",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            since.tree(),
            &taken.tree,
            "--",
        ];
        let text = |path: &PathBuf| path.to_str().map(str::to_owned);
        let named: Vec<String> = paths.iter().filter_map(text).collect();
        if named.len() < paths.len() {
            // A name that is no text cannot be an argument here.
            return Err(TreeError::NotBelow {
                path: paths
                    .iter()
                    .find(|p| p.to_str().is_none())
                    .cloned()
                    .unwrap_or_default(),
                folder: self.own.files.clone(),
            });
        }
        arguments.extend(named.iter().map(String::as_str));
        Ok(self.own.private().run(&arguments)?)
    }

    /// Compares two trees.
    pub(super) fn differences(
        &self,
        old: &str,
        new: &str,
        lines: Lines,
    ) -> Result<Vec<Difference>, TreeError> {
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
        if lines == Lines::Counted {
            arguments.extend(["--numstat", "--no-ext-diff", "--no-textconv"]);
        }
        arguments.extend([old, new]);
        let said = self.own.private().run(&arguments)?;
        read(&said).ok_or_else(|| TreeError::Damaged {
            path: self.own.repository(),
            why: "git compared two trees in words that nobody here knows",
        })
    }

    /// Returns every file of a tree.
    pub(super) fn manifest(&self, tree: &str) -> Result<BTreeMap<PathBuf, Side>, TreeError> {
        let said = self.own.private().run(&["ls-tree", "-r", "-z", tree])?;
        let mut files = BTreeMap::new();
        for line in said.split(|byte| *byte == 0) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let mut words = line[..tab].split(|byte| *byte == b' ');
            let (mode, _, id) = (words.next(), words.next(), words.next());
            if let Some(side) = mode.zip(id).and_then(|(mode, id)| Side::of(mode, id)) {
                files.insert(PathBuf::from(OsStr::from_bytes(&line[tab + 1..])), side);
            }
        }
        Ok(files)
    }

    /// Reads contents, a bounded number of bytes at a time, and hands each to `each` with its
    /// number in `ids`.
    pub(super) fn contents<E: From<TreeError>>(
        &self,
        ids: &[&str],
        mut each: impl FnMut(usize, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let sizes = self.sizes(ids)?;
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

    fn sizes(&self, ids: &[&str]) -> Result<Vec<u64>, TreeError> {
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

    fn ask(&self, how: &str, ids: &[&str], bytes: u64) -> Result<Vec<u8>, TreeError> {
        let mut list = ids.join("\n").into_bytes();
        list.push(b'\n');
        let most = usize::try_from(bytes).unwrap_or(usize::MAX);
        let most = most.saturating_add((ids.len() + 1) * 128);
        let git = self.own.private().patiently(super::LONGEST_CALL, most);
        Ok(git.run_with(&["cat-file", how], list)?)
    }

    fn damaged(&self) -> TreeError {
        TreeError::Damaged {
            path: self.own.repository(),
            why: "contents of a snapshot are missing; was the person's repository pruned?",
        }
    }
}

/// Whether lines are counted, which means reading the contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
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

/// Reads what `diff-tree --raw [--numstat] -z` prints: first every raw entry, then every count.
fn read(said: &[u8]) -> Option<Vec<Difference>> {
    let mut found: BTreeMap<PathBuf, Difference> = BTreeMap::new();
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
            let (old, new) = (Side::of(old_mode, old_id), Side::of(new_mode, new_id));
            if old.is_none() && new.is_none() {
                continue;
            }
            let lines = None;
            let difference = Difference {
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
