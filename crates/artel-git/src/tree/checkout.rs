//! A tree whose files are those of a commit, whatever the person's folder holds by now.
//!
//! Beside the tree's record lies a file `line`: the commit, its whole tree, and the object
//! folders that the tree's repository reads. With it the work can be returned as the
//! commit's tree with exactly the run's changes in it. So everything that a run does not
//! see (the folders above its part, repositories within the repository) stays as it was.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::aside::InitialSetAside;
use super::ignores::SnapshotFolderFilter;
use super::layout::{RepositoryLayout, alternate};
use super::own::RunFolderPaths;
use super::store::{DiffLineCounting, GitTreeDifference};
use super::{RunTree, RunTreeError, RunTreeLimits, RunTreeOriginKind, RunTreeSnapshot, START};

/// First field of a checkout's record.
const RECORD: &str = "artel checkout 1";

/// Name of that record in the run's folder.
const NAME: &str = "line";

/// A commit to check out, and the place for it.
#[derive(Debug)]
pub(crate) struct CommitCheckoutSpec<'c> {
    pub(crate) git: &'c Path,
    pub(crate) at: &'c Path,
    /// The person's folder, with links resolved.
    pub(crate) origin: &'c Path,
    /// Path of that folder within the commit.
    pub(crate) prefix: &'c Path,
    /// Whether the person has no repository.
    pub(crate) is_private: bool,
    pub(crate) format: &'c str,
    pub(crate) exclude: Option<PathBuf>,
    pub(crate) shallow: Option<PathBuf>,
    pub(crate) source: CheckoutSource,
    pub(crate) share: &'c [String],
    /// Limits on what is kept of the run's files.
    pub(crate) bounds: RunTreeLimits,
}

/// The commit that a tree was checked out from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckoutSource {
    pub(crate) commit: String,
    pub(crate) tree: String,
    /// All object folders that are needed to read the commit.
    pub(crate) objects: Vec<PathBuf>,
}

/// A run's changes to a checkout.
#[derive(Debug)]
pub(crate) struct CheckoutChanges {
    pub(crate) source: CheckoutSource,
    /// Path of the files within the commit.
    pub(crate) prefix: PathBuf,
    /// Tree of all current files, relative to the files.
    pub(crate) now: String,
    /// Changed files, without new ones that git ignores.
    pub(crate) differences: Vec<GitTreeDifference>,
    /// Whether the tree of the files is the whole tree of the commit, and no new file in it is
    /// ignored.
    pub(crate) is_all: bool,
}

impl RunTree {
    /// Makes a tree with the files of a commit.
    pub(crate) fn check_out(order: CommitCheckoutSpec<'_>) -> Result<Self, RunTreeError> {
        let at = super::clear_for(order.at)?;
        let own = RunFolderPaths::new(order.git, &at, order.prefix);
        fs::create_dir_all(&own.files).map_err(RunTreeError::system("make", &own.files))?;
        RepositoryLayout {
            format: order.format,
            exclude: order.exclude,
            shallow: order.shallow,
            objects: &order.source.objects[..1],
            head: Some((&order.source.commit, None)),
            ..RepositoryLayout::new(&own.repository())
        }
        .write()?;
        own.lead()?;
        own.check_out(&order.source.commit, order.prefix)?;
        let listed = own.private().run(&["ls-files", "-z"])?;
        let began: BTreeSet<&Path> = listed
            .split(|byte| *byte == 0)
            .filter(|path| !path.is_empty())
            .map(|path| Path::new(OsStr::from_bytes(path)))
            .collect();
        order.source.write(&at)?;
        let mut tree = Self {
            left_out: SnapshotFolderFilter::new(order.share, began.iter().copied()),
            own,
            origin: order.origin.to_owned(),
            share: order.share.to_vec(),
            start: RunTreeSnapshot::unknown(START),
            borrowed: order.source.objects.clone(),
            known: Mutex::default(),
            kind: if order.is_private {
                RunTreeOriginKind::Folder
            } else {
                RunTreeOriginKind::Commit
            },
            began: InitialSetAside::with(order.bounds, &[]),
        };
        tree.begin_with(&order.source.tree, &began)?;
        tree.begin()?;
        tree.write_record(order.prefix)?;
        Ok(tree)
    }

    /// Copies the objects that the tree reads from below a folder, so that it outlives that
    /// folder.
    pub fn stand_alone(mut self, folder: &Path) -> Result<Self, RunTreeError> {
        let Some(mut source) = CheckoutSource::read(&self.own.at)? else {
            return Ok(self);
        };
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let objects = self.own.repository().join("objects");
        let (inside, outside): (Vec<PathBuf>, _) = source
            .objects
            .into_iter()
            .partition(|it| it.starts_with(&folder));
        for borrowed in &inside {
            take_objects(borrowed, &objects)
                .map_err(RunTreeError::system("copy the objects of", borrowed))?;
        }
        let at = objects.join("info/alternates");
        let lines: Vec<u8> = outside.iter().flat_map(|it| alternate(it)).collect();
        artel_files::write_atomic(&at, &lines, 0o600)?;
        source.objects = outside;
        source.write(&self.own.at)?;
        self.borrowed = source.objects;
        Ok(self)
    }

    /// Takes the tree that git has just written for the state of the files, if it is all of
    /// them. The first snapshot then need not read them again.
    fn begin_with(&self, tree: &str, began: &BTreeSet<&Path>) -> Result<(), RunTreeError> {
        if !self.is_whole() {
            return Ok(());
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let walk = self.look(&known.files)?;
        let is_all = walk.files.len() == began.len()
            && walk.files.keys().all(|path| began.contains(path.as_path()));
        if is_all {
            known.files = walk.files;
            known.tree = Some(tree.to_owned());
        }
        Ok(())
    }

    /// Returns the run's changes to the commit, or `None` if the tree was not checked out from
    /// one.
    pub(crate) fn work(&self) -> Result<Option<CheckoutChanges>, RunTreeError> {
        let Some(source) = CheckoutSource::read(&self.own.at)? else {
            return Ok(None);
        };
        let now = self.take()?.tree;
        let start = self.start.tree();
        let mut differences = self
            .store()
            .differences(start, &now, DiffLineCounting::Uncounted)?;
        let all = differences.len();
        let mut rules = self.rules();
        differences.retain(|one| one.old.is_some() || !rules.ignores_file(&one.path));
        let prefix = self.own.files.strip_prefix(self.own.tree());
        Ok(Some(CheckoutChanges {
            is_all: start == source.tree && all == differences.len(),
            prefix: prefix.unwrap_or(Path::new("")).to_owned(),
            source,
            now,
            differences,
        }))
    }
}

/// Copies missing objects, loose and packed.
fn take_objects(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if name == "info" || !entry.file_type()?.is_dir() {
            continue;
        }
        let there = to.join(&name);
        fs::create_dir_all(&there)?;
        for object in fs::read_dir(&path)? {
            let object = object?;
            let copy = there.join(object.file_name());
            if object.file_type()?.is_file() && !copy.exists() {
                fs::copy(object.path(), &copy)?;
            }
        }
    }
    Ok(())
}

impl CheckoutSource {
    fn write(&self, at: &Path) -> Result<(), RunTreeError> {
        let fields = [RECORD, &self.commit, &self.tree].map(str::as_bytes);
        let objects = self.objects.iter().map(|path| path.as_os_str().as_bytes());
        let mut record = Vec::new();
        for field in fields.into_iter().chain(objects) {
            record.extend_from_slice(field);
            record.push(0);
        }
        artel_files::write_atomic(&at.join(NAME), &record, 0o600)?;
        Ok(())
    }

    /// Reads what a tree was checked out from, or returns `None` for a tree made from a folder.
    pub(crate) fn read(at: &Path) -> Result<Option<Self>, RunTreeError> {
        let path = at.join(NAME);
        let bytes = match artel_files::read_bounded(&path, 1 << 20) {
            Ok(bytes) => bytes,
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let mut fields = bytes.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let begins = fields.next() == Some(OsStr::new(RECORD));
        let commit = fields.next().and_then(OsStr::to_str);
        let tree = fields.next().and_then(OsStr::to_str);
        let (true, Some(commit), Some(tree)) = (begins, commit, tree) else {
            return Err(RunTreeError::Damaged {
                path,
                why: "it is no record of a checkout",
            });
        };
        Ok(Some(Self {
            commit: commit.to_owned(),
            tree: tree.to_owned(),
            objects: fields
                .filter(|field| !field.is_empty())
                .map(PathBuf::from)
                .collect(),
        }))
    }
}
