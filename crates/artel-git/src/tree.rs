//! A run's own tree: made from the person's folder as it is, kept in snapshots, restored
//! from them, and put in place.
//!
//! ```text
//! <run>/tree/        the files; `.git` in it points to the repository beside it
//! <run>/git/         a repository of the run's own, which borrows the person's objects
//! <run>/index        git's index of snapshots, so that the visible one stays the person's commit
//! <run>/snapshots/   a record of each snapshot
//! <run>/line         what was checked out, if the files are those of a commit
//! <run>/bringing/    a shared folder on its way into the tree
//! <run>/aside        what was in no snapshot from the start, and how much of a run is kept
//! <run>/plan         what is being put in place at this moment
//! <run>/run          what the tree was made of; written last, so a tree without it is incomplete
//! ```
//!
//! Nothing is written to the person's folder or repository before the person agrees. The
//! run's repository lies beside the tree, out of reach of programs that run in the tree,
//! and has none of the person's settings: no token in an address, no filter, no hook. To
//! remove a run is to remove a folder.

mod apply;
pub(crate) mod aside;
pub(crate) mod beneath;
mod bring;
pub(crate) mod checkout;
pub(crate) mod copy;
mod crowd;
mod difference;
pub(crate) mod error;
mod ignores;
pub(crate) mod layout;
pub(crate) mod listing;
pub(crate) mod own;
pub(crate) mod place;
pub(crate) mod placing;
pub(crate) mod plan;
pub(crate) mod restore;
mod snapshot;
pub(crate) mod store;
pub(crate) mod turn;
mod walk;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

pub use apply::RunTreeApplyOutcome;
pub use aside::{RunTreeLimits, SetAsidePath, SetAsideReason};
pub use difference::{RunTreeChange, RunTreeChangeKind};
pub use error::{RunTreeApplyError, RunTreeError};
pub use ignores::{SHARED_NAMES, shared_folders};
pub use restore::RunTreeRestoreOutcome;
pub use snapshot::{RunTreeFingerprint, RunTreeSnapshot};
pub use turn::FolderWriteTurn;

use aside::InitialSetAside;
use beneath::NoFollowFolder;
use copy::FolderCopier;
use ignores::{GitIgnoreRules, SnapshotFolderFilter};
use listing::PersonFolderLister;
use own::RunFolderPaths;
use place::EnclosingRepository;
use snapshot::PrivateIndexState;
use store::GitObjectStore;
use walk::Files;

/// Longest time of a git call. Git takes less even for the largest tree.
pub(crate) const LONGEST_CALL: Duration = Duration::from_secs(300);

/// Most bytes that a git call may print. The list of all files of the largest tree is
/// shorter.
pub(crate) const MOST_OUTPUT: usize = 256 << 20;

/// First field of a tree's record.
const RECORD: &str = "artel run 1";

/// Name of the first snapshot.
const START: &str = "start";

/// Specification of a tree to make.
#[derive(Debug, Clone, Copy)]
pub struct RunTreeSpec<'m> {
    /// Absolute path of the git to use.
    pub git: &'m Path,
    /// The person's folder.
    pub from: &'m Path,
    /// The run's folder: empty or missing. Leftovers of an earlier attempt are replaced.
    pub at: &'m Path,
    /// Files and folders to take along even if git ignores them, relative to the person's
    /// folder or absolute.
    pub named: &'m [PathBuf],
    /// More names of folders that are shared rather than copied, in addition to
    /// [`SHARED_NAMES`].
    pub share: &'m [String],
    /// Limits on what is kept of the run's files.
    pub bounds: RunTreeLimits,
}

/// A run's own tree, with its repository and snapshots.
#[derive(Debug)]
pub struct RunTree {
    own: RunFolderPaths,
    origin: PathBuf,
    share: Vec<String>,
    start: RunTreeSnapshot,
    left_out: SnapshotFolderFilter,
    /// Object folders that the tree's repository reads but does not own.
    borrowed: Vec<PathBuf>,
    known: Mutex<PrivateIndexState>,
    kind: RunTreeOriginKind,
    began: InitialSetAside,
}

/// The origin that a tree was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunTreeOriginKind {
    /// A commit: the repository borrows its objects.
    Commit,
    /// A repository without a commit yet.
    Unborn,
    /// A folder in no repository.
    Folder,
}

impl RunTree {
    /// Makes a tree from a person's folder as it is: files that git knows, as they are on disk,
    /// new files that git does not ignore, and the named files. Modes and times are those of
    /// the person's files. Leaves out paths that lead through a link, and anything that is
    /// neither file nor link.
    pub fn make(making: &RunTreeSpec<'_>) -> Result<Self, RunTreeError> {
        let at = clear_for(making.at)?;
        let origin = making.from.canonicalize();
        let origin = origin.map_err(RunTreeError::system("find", making.from))?;
        let repository = EnclosingRepository::find(&origin);
        let head = match &repository {
            Some(repository) => repository.head(making.git)?,
            None => None,
        };
        let prefix = repository
            .as_ref()
            .map_or(Path::new(""), EnclosingRepository::prefix);
        let own = RunFolderPaths::new(making.git, &at, prefix);
        fs::create_dir_all(&own.files).map_err(RunTreeError::system("make", &own.files))?;
        let copied = copy_files(making, &own, &origin, repository.as_ref())?;
        own.lay_out(repository.as_ref(), head.as_ref())?;
        own.fill(head.as_ref(), prefix)?;
        let kind = match (&repository, &head) {
            (Some(_), Some(_)) => RunTreeOriginKind::Commit,
            (Some(_), None) => RunTreeOriginKind::Unborn,
            (None, _) => RunTreeOriginKind::Folder,
        };
        let mut tree = Self {
            left_out: SnapshotFolderFilter::new(making.share, copied.iter().map(PathBuf::as_path)),
            own,
            origin,
            share: making.share.to_vec(),
            start: RunTreeSnapshot::unknown(START),
            borrowed: borrowed(kind, repository.as_ref()),
            known: Mutex::default(),
            kind,
            began: InitialSetAside::with(making.bounds, &[]),
        };
        tree.begin()?;
        tree.write_record(prefix)?;
        Ok(tree)
    }

    /// Takes the first snapshot, and notes what it does not hold.
    fn begin(&mut self) -> Result<(), RunTreeError> {
        self.start = self.snapshot(START)?;
        self.began = InitialSetAside::with(self.began.bounds, self.start.set_aside());
        self.began.write(&self.own.at, self.start.set_aside())
    }

    /// Opens an existing tree.
    pub fn open(git: &Path, at: &Path) -> Result<Self, RunTreeError> {
        let not_made = || RunTreeError::NotMade { at: at.to_owned() };
        let whole = at.canonicalize().map_err(|_| not_made())?;
        let record = whole.join("run");
        let bytes = artel_files::read_bounded(&record, 1 << 20).map_err(|_| not_made())?;
        let damaged = || RunTreeError::Damaged {
            path: record.clone(),
            why: "it is no record of a tree",
        };
        let mut fields = bytes.split(|byte| *byte == 0).map(OsStr::from_bytes);
        if fields.next() != Some(OsStr::new(RECORD)) {
            return Err(damaged());
        }
        let kind = fields
            .next()
            .and_then(RunTreeOriginKind::of)
            .ok_or_else(damaged)?;
        let origin = PathBuf::from(fields.next().ok_or_else(damaged)?);
        let prefix = PathBuf::from(fields.next().ok_or_else(damaged)?);
        let share = fields.filter(|name| !name.is_empty());
        let share = share.map(|name| name.to_string_lossy().into_owned());
        let mut tree = Self {
            own: RunFolderPaths::new(git, &whole, &prefix),
            share: share.collect(),
            start: RunTreeSnapshot::unknown(START),
            left_out: SnapshotFolderFilter::new(&[], std::iter::empty()),
            borrowed: match checkout::CheckoutSource::read(&whole)? {
                Some(source) => shown(source.objects, &whole, &origin),
                None => borrowed(kind, EnclosingRepository::find(&origin).as_ref()),
            },
            known: Mutex::default(),
            origin,
            kind,
            began: InitialSetAside::read(&whole)?,
        };
        tree.start = tree.find(START)?;
        let began = tree.store().manifest(tree.start.tree())?;
        tree.left_out = SnapshotFolderFilter::new(&tree.share, began.keys().map(PathBuf::as_path));
        Ok(tree)
    }

    /// Removes what a process that is gone had not finished writing, for the process that takes
    /// over its work. The caller must be the only one that writes in the tree.
    pub fn clear_unfinished(&self) -> Result<(), RunTreeError> {
        let walk = self.look(&Files::default())?;
        let is_leftover = |path: &&PathBuf| path.file_name().is_some_and(artel_files::is_leftover);
        let leftovers: Vec<&PathBuf> = walk.files.keys().filter(is_leftover).collect();
        if leftovers.is_empty() {
            return Ok(());
        }
        // Files that the tree began with are the person's, whatever their names.
        let began = self.store().manifest(self.start.tree())?;
        let beneath = NoFollowFolder::open(&self.own.files)?;
        let mut left = leftovers.iter().filter(|path| !began.contains_key(**path));
        left.try_for_each(|path| beneath.remove(path))
    }

    /// Returns the folder with the run's files.
    pub fn files(&self) -> &Path {
        &self.own.files
    }

    /// Returns the person's folder, with links resolved.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// Returns the snapshot of the files that the run began with.
    pub fn start(&self) -> &RunTreeSnapshot {
        &self.start
    }

    /// Returns whether this is a plain copy, not based on a commit of the person's.
    pub fn is_copy(&self) -> bool {
        self.kind != RunTreeOriginKind::Commit
    }

    /// Returns the foreign folder that the person's repository borrows from or leads to, if
    /// any. The run sees nothing of it, and gets a plain copy of the files.
    pub fn foreign(&self) -> Option<PathBuf> {
        let repository = EnclosingRepository::find(&self.origin).filter(|_| self.is_copy());
        repository.and_then(|found| found.foreign())
    }

    /// Returns the run's own repository. Programs in the tree may read it but never write it.
    pub fn repository(&self) -> PathBuf {
        self.own.repository()
    }

    /// Returns the folders that git in the tree reads in addition to the run's own: the
    /// person's objects.
    pub fn borrowed(&self) -> &[PathBuf] {
        &self.borrowed
    }

    /// Removes the tree with all its snapshots.
    pub fn remove(self) -> Result<(), RunTreeError> {
        let at = &self.own.at;
        // Without its record it no longer counts as a tree, even if removing the rest is cut
        // short.
        drop(fs::remove_file(at.join("run")));
        artel_files::remove_tree(at).map_err(RunTreeError::system("remove", at))
    }

    /// Returns whether the files are the whole tree, not a folder within it.
    fn is_whole(&self) -> bool {
        self.own.files == self.own.tree()
    }

    fn store(&self) -> GitObjectStore {
        GitObjectStore::new(self.own.private(), self.own.repository())
    }

    fn rules(&self) -> GitIgnoreRules {
        if self.kind == RunTreeOriginKind::Folder {
            return GitIgnoreRules::none(&self.own.files);
        }
        let exclude = self.own.repository().join("info/exclude");
        GitIgnoreRules::in_tree(&self.own.tree(), &self.own.files, &exclude)
    }

    fn write_record(&self, prefix: &Path) -> Result<(), RunTreeError> {
        let fields = [
            RECORD.as_bytes(),
            self.kind.text().as_bytes(),
            self.origin.as_os_str().as_bytes(),
            prefix.as_os_str().as_bytes(),
        ];
        let share = self.share.iter().map(String::as_bytes);
        let mut record = Vec::new();
        for field in fields.into_iter().chain(share) {
            record.extend_from_slice(field);
            record.push(0);
        }
        artel_files::write_atomic(&self.own.at.join("run"), &record, 0o600)?;
        Ok(())
    }
}

impl RunTreeOriginKind {
    fn text(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Unborn => "unborn",
            Self::Folder => "folder",
        }
    }

    fn of(text: &OsStr) -> Option<Self> {
        [Self::Commit, Self::Unborn, Self::Folder]
            .into_iter()
            .find(|kind| text == kind.text())
    }
}

/// Drops object folders that an older build noted although they are not the repository's
/// own.
fn shown(mut objects: Vec<PathBuf>, at: &Path, origin: &Path) -> Vec<PathBuf> {
    let Some(repository) = EnclosingRepository::find(origin) else {
        return objects;
    };
    if repository.foreign().is_some() {
        let own = repository.objects();
        let runs = at.ancestors().find(|above| above.ends_with("worktrees"));
        let runs = runs.or(at.parent()).unwrap_or(at);
        objects.retain(|path| own.contains(path) || path.starts_with(runs));
    }
    objects
}

fn borrowed(kind: RunTreeOriginKind, repository: Option<&EnclosingRepository>) -> Vec<PathBuf> {
    let repository = repository.filter(|_| kind == RunTreeOriginKind::Commit);
    repository
        .map(EnclosingRepository::objects)
        .unwrap_or_default()
}

/// Makes the folder of a new run, without leftovers of an attempt that was cut short.
fn clear_for(at: &Path) -> Result<PathBuf, RunTreeError> {
    if at.join("run").symlink_metadata().is_ok() {
        return Err(RunTreeError::Exists { at: at.to_owned() });
    }
    artel_files::make_dirs(at, 0o700)?;
    for part in ["tree", "git", "snapshots"] {
        let part = at.join(part);
        artel_files::remove_tree(&part).map_err(RunTreeError::system("remove", &part))?;
    }
    for file in ["index", "line", "aside"] {
        drop(fs::remove_file(at.join(file)));
    }
    artel_files::make_dir(&at.join("snapshots"), 0o700)?;
    at.canonicalize().map_err(RunTreeError::system("find", at))
}

/// Copies the files, and the ignore files in the folders above them, which apply to them
/// too.
fn copy_files(
    making: &RunTreeSpec<'_>,
    own: &RunFolderPaths,
    origin: &Path,
    repository: Option<&EnclosingRepository>,
) -> Result<Vec<PathBuf>, RunTreeError> {
    let listing = PersonFolderLister {
        program: making.git,
        folder: origin,
        repository,
        named: making.named,
        share: making.share,
        run: &own.at,
    };
    let copied = FolderCopier::new(origin, &own.files, making.bounds)?.all(&listing.paths()?)?;
    let Some(repository) = repository else {
        return Ok(copied);
    };
    let above = repository.prefix().ancestors().skip(1);
    for folder in above.map(|folder| folder.join(".gitignore")) {
        if let Ok(text) = artel_files::read_bounded(&repository.top.join(&folder), 1 << 20) {
            let to = own.tree().join(&folder);
            fs::write(&to, text).map_err(RunTreeError::system("write", &to))?;
        }
    }
    Ok(copied)
}

#[cfg(test)]
mod tests;
