//! Snapshots: git trees of a run's files, and lists of the empty folders, which git does
//! not keep.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use crate::GitError;

use super::aside::SetAsidePath;
use super::copy::MOST_BYTES;
use super::crowd::{OverflowChoice, OverflowExclusions};
use super::store::GitTreeFile;
use super::walk::{Files, RunTreeScan, RunTreeScanOutcome, RunTreeScanner, ScannedTreeFile};
use super::{RunTree, RunTreeError};

/// First line of a snapshot's record.
const RECORD: &str = "artel snapshot 1";

/// Largest size of a snapshot's record, in bytes.
const LARGEST_RECORD: u64 = 64 << 20;

/// Number of new contents from which a pack is worthwhile.
const MANY: usize = 64;

/// Largest number of rounds of choosing folders to leave out. Fewer are enough in practice.
const MOST_CHOICES: usize = 8;

/// Longest total of file names in arguments, in bytes. Longer lists go to standard input,
/// in a call of their own.
const LONGEST_ARGUMENTS: usize = 64 * 1024;

/// The state of a run's files at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTreeSnapshot {
    label: String,
    tree: String,
    set_aside: Vec<SetAsidePath>,
}

impl RunTreeSnapshot {
    /// Creates a snapshot that is still to be taken or found.
    pub(super) fn unknown(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            tree: String::new(),
            set_aside: Vec::new(),
        }
    }

    /// Returns the snapshot's name.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the git tree that holds the files. Snapshots of the same files have the same
    /// tree.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Returns the paths that were found but are not in the snapshot. Only the call that took
    /// the snapshot knows them.
    pub fn set_aside(&self) -> &[SetAsidePath] {
        &self.set_aside
    }
}

/// A hash over the status of every file. While it stays the same, nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTreeFingerprint(blake3::Hash);

/// The state that was last written into the private index.
#[derive(Debug, Default)]
pub(super) struct PrivateIndexState {
    pub(super) files: Files,
    /// Tree of that state, or `None` before the first scan.
    pub(super) tree: Option<String>,
}

/// The state of the files, not stored under a name yet.
#[derive(Debug)]
pub(super) struct UnnamedSnapshot {
    pub(super) tree: String,
    pub(super) walk: RunTreeScan,
}

impl RunTree {
    /// Scans every file without reading it, to detect changes.
    pub fn fingerprint(&self) -> Result<RunTreeFingerprint, RunTreeError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(RunTreeFingerprint(self.look(&known.files)?.hash()))
    }

    /// Keeps the current files under a name, durably. An existing name gets the new state. If
    /// nothing has changed since the last time, no process is started.
    pub fn snapshot(&self, label: &str) -> Result<RunTreeSnapshot, RunTreeError> {
        check(label)?;
        let taken = self.take()?;
        self.keep(label, &taken.tree, &taken.walk)?;
        Ok(RunTreeSnapshot {
            label: label.to_owned(),
            tree: taken.tree,
            set_aside: taken.walk.set_aside,
        })
    }

    /// Returns the paths that are in no snapshot now and were not there, or not the same, when
    /// the run began. Paths that git ignores are not part of the run's work, and do not count.
    pub fn set_aside(&self) -> Result<Vec<SetAsidePath>, RunTreeError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut aside = self.look(&known.files)?.set_aside;
        let mut rules = self.rules();
        aside.retain(|one| {
            let is_new = !self.began.holds(one);
            is_new && !rules.hides(&one.path, &self.own.files)
        });
        Ok(aside)
    }

    /// Finds a snapshot by its name.
    pub fn find(&self, label: &str) -> Result<RunTreeSnapshot, RunTreeError> {
        check(label)?;
        let (tree, _) = self.record(label)?;
        Ok(RunTreeSnapshot {
            label: label.to_owned(),
            tree,
            set_aside: Vec::new(),
        })
    }

    /// Scans every file. If there are too many, folders with most of the new ones are left out.
    pub(super) fn look(&self, known: &Files) -> Result<RunTreeScan, RunTreeError> {
        let clock = self.own.at.join("clock");
        let mut without = OverflowExclusions::default();
        let mut seen = 0;
        for _ in 0..MOST_CHOICES {
            let mut look = RunTreeScanner {
                files: &self.own.files,
                ours: self.is_whole().then_some(Path::new(".git")),
                left_out: &self.left_out,
                rules: self.rules(),
                clock: &clock,
                known,
                bounds: self.began.bounds,
                without: &without,
            };
            match look.all()? {
                RunTreeScanOutcome::All(walk) => return Ok(walk),
                RunTreeScanOutcome::TooMany { bytes } => seen = bytes,
            }
            // Files that the run begins with are the person's, and none of them are left out.
            if self.start.tree().is_empty() {
                break;
            }
            let began = self.start_files()?.into_keys().collect();
            let mut more = without.clone();
            if more.choose(&mut look, began) == OverflowChoice::Nothing {
                break;
            }
            without = more;
        }
        Err(RunTreeError::TooLarge {
            folder: self.own.files.clone(),
            files: self.began.bounds.files + 1,
            bytes: seen,
            most_files: self.began.bounds.files,
            most_bytes: MOST_BYTES,
            largest: format!("`{}`", self.own.files.display()),
        })
    }

    /// Returns the files that the run began with. The list is empty until they are known.
    fn start_files(&self) -> Result<BTreeMap<PathBuf, GitTreeFile>, RunTreeError> {
        match self.start.tree() {
            "" => Ok(BTreeMap::new()),
            tree => self.store().manifest(tree),
        }
    }

    /// Returns the files that the run began with below the paths set aside: they count as
    /// unchanged.
    fn unchanged_aside(
        &self,
        walk: &RunTreeScan,
    ) -> Result<Vec<(PathBuf, GitTreeFile)>, RunTreeError> {
        let aside = walk.set_aside.iter().filter(|one| one.why.keeps_start());
        let aside: BTreeSet<&Path> = aside.map(|one| one.path.as_path()).collect();
        if aside.is_empty() {
            return Ok(Vec::new());
        }
        let files = self.start_files()?.into_iter();
        let is_aside = |path: &Path| path.ancestors().any(|above| aside.contains(above));
        Ok(files.filter(|(path, _)| is_aside(path)).collect())
    }

    /// Writes the current files into the object database.
    pub(super) fn take(&self) -> Result<UnnamedSnapshot, RunTreeError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let walk = self.look(&known.files)?;
        let tree = match &known.tree {
            Some(tree) => {
                let changed = GitIndexUpdate::between(&known.files, &walk.files);
                if changed.old.is_empty() && changed.new.is_empty() {
                    tree.clone()
                } else {
                    self.write(&changed, &self.unchanged_aside(&walk)?)?
                }
            }
            None => self.write_all(&walk)?,
        };
        known.files.clone_from(&walk.files);
        known.tree = Some(tree.clone());
        Ok(UnnamedSnapshot { tree, walk })
    }

    /// Brings the whole private index up to date, relying on git's own memory of unchanged
    /// files.
    fn write_all(&self, walk: &RunTreeScan) -> Result<String, RunTreeError> {
        let files = &walk.files;
        let listed = self.own.private().run(&["ls-files", "-z"]);
        let indexed = match listed {
            Err(GitError::Refused { .. }) => {
                // Nobody waits for the index to reach the disk. If a power cut damaged it, it is
                // made again.
                self.own.forget();
                Vec::new()
            }
            listed => listed?,
        };
        let indexed = indexed.split(|byte| *byte == 0);
        let indexed = indexed.filter(|path| !path.is_empty());
        let old = indexed.map(|path| Path::new(OsStr::from_bytes(path)));
        let changed = GitIndexUpdate {
            old: old.filter(|path| !files.contains_key(*path)).collect(),
            new: files.keys().map(PathBuf::as_path).collect(),
        };
        self.write(&changed, &self.unchanged_aside(walk)?)
    }

    /// Brings these paths of the private index up to date, puts the unchanged ones back into
    /// it, and writes its tree.
    fn write(
        &self,
        changed: &GitIndexUpdate<'_>,
        unchanged: &[(PathBuf, GitTreeFile)],
    ) -> Result<String, RunTreeError> {
        let mut git = self.own.private();
        if changed.new.len() > MANY {
            // Makes git write files above this size into one pack, instead of one object file
            // for each.
            git = git.set("core.bigFileThreshold=1").set("pack.compression=1");
        }
        let mut arguments: Vec<OsString> = vec!["update-index".into()];
        let bytes: usize = changed
            .old
            .iter()
            .map(|path| path.as_os_str().len() + 3)
            .sum();
        if bytes <= LONGEST_ARGUMENTS {
            arguments.push("--force-remove".into());
            // The prefix keeps a name that begins with a dash from being an option.
            let names = changed.old.iter().map(|path| Path::new(".").join(path));
            arguments.extend(names.map(PathBuf::into_os_string));
            arguments.push("--no-force-remove".into());
        } else {
            let forget = ["update-index", "--force-remove", "-z", "--stdin"];
            git.run_with(&forget, list(&changed.old))?;
        }
        let add = ["--add", "--remove", "--replace", "-z", "--stdin"];
        arguments.extend(add.map(OsString::from));
        git.run_on(&arguments, list(&changed.new))?;
        if !unchanged.is_empty() {
            git.run_with(&["update-index", "-z", "--index-info"], entries(unchanged))?;
        }
        let said = git.run(&["write-tree"])?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Gives a tree a name. The record is what counts; the ref only lets git see it too.
    pub(super) fn keep(
        &self,
        label: &str,
        tree: &str,
        walk: &RunTreeScan,
    ) -> Result<(), RunTreeError> {
        let mut record = format!("{RECORD}\n{tree}\n").into_bytes();
        for folder in &walk.empty {
            record.extend_from_slice(folder.as_os_str().as_bytes());
            record.push(0);
        }
        let reference = self.own.repository().join("refs/artel").join(label);
        let said = format!("{tree}\n");
        std::fs::write(&reference, said).map_err(RunTreeError::system("write", &reference))?;
        artel_files::write_atomic(&self.record_path(label), &record, 0o600)?;
        Ok(())
    }

    fn record_path(&self, label: &str) -> PathBuf {
        self.own.at.join("snapshots").join(label)
    }

    /// Reads the tree of a snapshot, and the folders that were empty.
    pub(super) fn record(&self, label: &str) -> Result<(String, Vec<PathBuf>), RunTreeError> {
        let path = self.record_path(label);
        let bytes = match artel_files::read_bounded(&path, LARGEST_RECORD) {
            Ok(bytes) => bytes,
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Err(RunTreeError::NoSnapshot {
                    label: label.to_owned(),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let damaged = |why| RunTreeError::Damaged {
            path: path.clone(),
            why,
        };
        let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
        if parts.next() != Some(RECORD.as_bytes()) {
            return Err(damaged("it is no record of a snapshot"));
        }
        let tree = parts.next().map(String::from_utf8_lossy);
        let tree =
            tree.filter(|tree| tree.len() >= 40 && tree.bytes().all(|b| b.is_ascii_hexdigit()));
        let tree = tree
            .ok_or_else(|| damaged("it names no tree"))?
            .into_owned();
        let empty = parts.next().unwrap_or_default().split(|byte| *byte == 0);
        let empty = empty.filter(|path| !path.is_empty());
        let empty = empty.map(|path| PathBuf::from(OsStr::from_bytes(path)));
        Ok((tree, empty.collect()))
    }
}

/// The changes to make to an index.
struct GitIndexUpdate<'f> {
    /// Paths to drop: gone, or to be read again. Git would trust the times of a file, and those
    /// can be set back.
    old: Vec<&'f Path>,
    /// Paths to read.
    new: Vec<&'f Path>,
}

impl<'f> GitIndexUpdate<'f> {
    fn between(old: &'f Files, new: &'f Files) -> Self {
        let is_same = |path: &Path, seen: &ScannedTreeFile| {
            old.get(path).is_some_and(|known| known.is_as(seen))
        };
        let changed = new.iter().filter(|(path, seen)| !is_same(path, seen));
        let changed: Vec<&Path> = changed.map(|(path, _)| path.as_path()).collect();
        let known = changed
            .iter()
            .copied()
            .filter(|path| old.contains_key(*path));
        let gone = old.keys().filter(|path| !new.contains_key(*path));
        Self {
            old: gone.map(PathBuf::as_path).chain(known).collect(),
            new: changed,
        }
    }
}

fn list(paths: &[&Path]) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    list
}

/// Writes entries in the format that git reads into its index.
fn entries(files: &[(PathBuf, GitTreeFile)]) -> Vec<u8> {
    let mut list = Vec::new();
    for (path, side) in files {
        list.extend_from_slice(format!("{:o} {}\t", side.mode, side.id).as_bytes());
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    list
}

/// Accepts only labels that are valid as a file name and as a ref.
fn check(label: &str) -> Result<(), RunTreeError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_good = !label.is_empty()
        && label.len() <= 200
        && !label.starts_with('-')
        && label.bytes().all(is_plain);
    if is_good {
        return Ok(());
    }
    Err(RunTreeError::BadLabel {
        label: label.to_owned(),
    })
}
