//! A changeset's line: the commits of a plan's run, made beside the person's repository.
//!
//! ```text
//! <line>/git/    a bare repository of the line's own, which borrows the person's objects
//! <line>/line    what it belongs to; written last, so a line without it is incomplete
//! ```
//!
//! Every commit is made here, where none of the person's hooks, filters or settings exist.
//! The person's repository gets objects first and a branch last. Their files, index and
//! `HEAD` change only when a merge that a person ordered is carried out. A commit depends
//! only on its order, dates included, so the same order makes the same commit again.
//! Anything that was cut short is therefore simply ordered again.

mod branch;
mod commit;
mod deed;
mod error;
mod locks;
mod merge;
mod paths;
mod person;
mod place;
mod read;
mod swap;
mod threeway;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use commit::{CommitOutcome, CommitSpec};
pub use error::{MergeRefusedError, PlanBranchError};
pub use merge::{ManualMerge, ManualMergeKind, MergeSpec, PreparedMerge, UndoSpec};
pub use person::PersonCheckoutState;
pub use read::{BranchLogEntry, CommitDiffStat, FileDiffKind, FileDiffStat, GitTreeEntryKind};
pub use threeway::{MergeConflict, MergeConflictKind};

use crate::tree::RunTreeLimits;
use crate::tree::beneath::NoFollowFolder;
use crate::tree::checkout::{CheckoutSource, CommitCheckoutSpec};
use crate::tree::copy::{self, MOST_BYTES};
use crate::tree::layout::RepositoryLayout;
use crate::tree::listing::PersonFolderLister;
use crate::tree::own::SETTINGS;
use crate::tree::place::EnclosingRepository;
use crate::tree::store::GitObjectStore;
use crate::tree::{LONGEST_CALL, MOST_OUTPUT};
use crate::{GitIdentity, GitRunner, RunTree, RunTreeError};

/// First field of a line's record.
const RECORD: &str = "artel line 1";

/// Attributes that leave every byte as it is. The person's `.gitattributes` still decide
/// what counts as text.
const ATTRIBUTES: &str = "* -text -filter -ident -working-tree-encoding !eol !crlf !merge\n";

/// A changeset's line: the commits of a plan's run, in a repository beside the person's.
#[derive(Debug)]
pub struct PlanBranch {
    program: PathBuf,
    at: PathBuf,
    origin: PathBuf,
    format: String,
    /// The first commit, if the line made it from a folder in no repository.
    first: Option<String>,
    /// Limits on what its checkouts keep of a run's files.
    bounds: RunTreeLimits,
}

impl PlanBranch {
    /// Makes a line for a person's folder, or opens the existing one. For a folder in no
    /// repository, its current files become the first commit, unless they exceed the bounds.
    /// The bounds also hold for checkouts.
    pub fn make(
        git: &Path,
        at: &Path,
        origin: &Path,
        bounds: RunTreeLimits,
    ) -> Result<Self, PlanBranchError> {
        match Self::open(git, at) {
            Err(PlanBranchError::NotMade { .. }) => {}
            opened => return Ok(Self { bounds, ..opened? }),
        }
        artel_files::make_dirs(at, 0o700)?;
        let origin = origin.canonicalize().map_err(found(origin))?;
        let mut line = Self {
            program: git.to_owned(),
            at: at.canonicalize().map_err(found(at))?,
            format: "sha1".to_owned(),
            first: None,
            origin,
            bounds,
        };
        match EnclosingRepository::find(&line.origin) {
            Some(repository) => line.beside(&repository)?,
            None => line.alone()?,
        }
        line.write_record()?;
        Ok(line)
    }

    /// Opens an existing line, with the default bounds.
    pub fn open(git: &Path, at: &Path) -> Result<Self, PlanBranchError> {
        let not_made = || PlanBranchError::NotMade { at: at.to_owned() };
        let at = at.canonicalize().map_err(|_| not_made())?;
        let record = at.join("line");
        let bytes = artel_files::read_bounded(&record, 1 << 20).map_err(|_| not_made())?;
        let fields: Vec<&[u8]> = bytes.split(|byte| *byte == 0).collect();
        let [begins, origin, format, first, ..] = fields[..] else {
            return Err(not_a_record(record));
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if begins != RECORD.as_bytes() {
            return Err(not_a_record(record));
        }
        Ok(Self {
            program: git.to_owned(),
            at,
            origin: PathBuf::from(OsStr::from_bytes(origin)),
            format: text(format),
            first: Some(text(first)).filter(|first| !first.is_empty()),
            bounds: RunTreeLimits::default(),
        })
    }

    /// Returns the person's folder, with links resolved.
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// Returns the path of the person's folder within their repository. Paths of a line start
    /// at the root of the repository, those of a checkout at this folder.
    pub fn prefix(&self) -> PathBuf {
        let repository = self.repository();
        repository.map_or(PathBuf::new(), |found| found.prefix().to_owned())
    }

    /// Returns whether the person's folder is in no repository, so that the line's is the only
    /// one.
    pub fn is_private(&self) -> bool {
        self.first.is_some()
    }

    /// Makes a tree with the files of a commit or tree, in a folder that is empty or missing.
    /// Shared folders are still looked for in the person's folder.
    pub fn checkout(
        &self,
        treeish: &str,
        at: &Path,
        share: &[String],
    ) -> Result<RunTree, PlanBranchError> {
        let source = self.source(treeish)?;
        let repository = self.repository();
        let shallow = repository.as_ref();
        let shallow = shallow.map(|found| found.common.join("shallow"));
        Ok(RunTree::check_out(CommitCheckoutSpec {
            git: &self.program,
            at,
            origin: &self.origin,
            prefix: repository
                .as_ref()
                .map_or(Path::new(""), EnclosingRepository::prefix),
            is_private: self.is_private(),
            format: &self.format,
            exclude: repository.as_ref().map(EnclosingRepository::exclude),
            shallow,
            source,
            share,
            bounds: self.bounds,
        })?)
    }

    /// Removes the line. The person's repository keeps what was brought there.
    pub fn remove(self) -> Result<(), PlanBranchError> {
        drop(fs::remove_file(self.at.join("line")));
        artel_files::remove_tree(&self.at)
            .map_err(RunTreeError::system("remove", &self.at))
            .map_err(PlanBranchError::from)
    }

    fn source(&self, treeish: &str) -> Result<CheckoutSource, PlanBranchError> {
        let name = spell(treeish)?;
        let asked = format!("{name}\n{name}^{{tree}}\n").into_bytes();
        let said = self.git().run_with(&["cat-file", "--batch-check"], asked)?;
        let said = String::from_utf8_lossy(&said);
        let words: Vec<Vec<&str>> = said.lines().map(|line| line.split(' ').collect()).collect();
        let bad_name = || PlanBranchError::BadName {
            name: treeish.to_owned(),
        };
        let [named, tree] = &words[..] else {
            return Err(bad_name());
        };
        let ([id, kind, _], [tree, "tree", _]) = (&named[..], &tree[..]) else {
            return Err(bad_name());
        };
        let commit = match *kind {
            "commit" => (*id).to_owned(),
            _ => self.side(tree, &[])?,
        };
        let mut objects = vec![self.repository_at().join("objects")];
        let borrowed = self.repository().map(|found| found.objects());
        objects.extend(borrowed.unwrap_or_default());
        Ok(CheckoutSource {
            commit,
            tree: (*tree).to_owned(),
            objects,
        })
    }

    /// Returns the person's repository, or `None` for a private line.
    fn repository(&self) -> Option<EnclosingRepository> {
        match self.first {
            Some(_) => None,
            None => EnclosingRepository::find(&self.origin),
        }
    }

    fn repository_at(&self) -> PathBuf {
        self.at.join("git")
    }

    /// Returns a git runner for the line's repository, with no working tree.
    fn git(&self) -> GitRunner {
        let at = self.repository_at();
        self.settle(GitRunner::new(&self.program, &at, GitIdentity::artel()))
            .variable("GIT_DIR", at)
    }

    /// Returns a git runner for the line's repository, with an index of its own and `work_tree`
    /// as the working tree.
    fn git_with(&self, index: &Path, work_tree: &Path) -> GitRunner {
        self.settle(GitRunner::new(
            &self.program,
            work_tree,
            GitIdentity::artel(),
        ))
        .set("core.bare=false")
        .variable("GIT_DIR", self.repository_at())
        .variable("GIT_WORK_TREE", work_tree)
        .variable("GIT_INDEX_FILE", index)
    }

    fn settle(&self, git: GitRunner) -> GitRunner {
        let git = git.patiently(LONGEST_CALL, MOST_OUTPUT);
        SETTINGS.iter().fold(git, |git, setting| git.set(setting))
    }

    fn store(&self) -> GitObjectStore {
        GitObjectStore::new(self.git(), self.repository_at())
    }

    /// Returns a temporary index, deleted on drop.
    fn index(&self) -> TemporaryGitIndex {
        TemporaryGitIndex(self.at.join(new_name()))
    }

    /// Creates the line's repository beside a person's.
    fn beside(&mut self, repository: &EnclosingRepository) -> Result<(), PlanBranchError> {
        if let Some(from) = repository.foreign() {
            let folder = self.origin.clone();
            let list = repository.common.join("objects/info/alternates");
            return Err(match repository.link_in_objects() {
                Some(link) if link != list => PlanBranchError::LinkedObjects { folder, link },
                _ => PlanBranchError::Borrows { folder, from, list },
            });
        }
        let Some(head) = repository.head(&self.program)? else {
            return Err(PlanBranchError::NoCommit {
                folder: self.origin.clone(),
            });
        };
        self.format = head.format;
        let objects = [repository.common.join("objects")];
        Ok(RepositoryLayout {
            format: &self.format,
            is_bare: true,
            attributes: ATTRIBUTES,
            shallow: Some(repository.common.join("shallow")),
            objects: &objects,
            ..RepositoryLayout::new(&self.repository_at())
        }
        .write()?)
    }

    /// Creates the line's repository for a folder in no repository, and commits the folder's
    /// files.
    fn alone(&mut self) -> Result<(), PlanBranchError> {
        RepositoryLayout {
            is_bare: true,
            attributes: ATTRIBUTES,
            ..RepositoryLayout::new(&self.repository_at())
        }
        .write()?;
        let listing = PersonFolderLister {
            program: &self.program,
            folder: &self.origin,
            repository: None,
            named: &[],
            share: &[],
            run: &self.at,
        };
        let beneath = NoFollowFolder::open(&self.origin)?;
        let paths = listing.paths()?;
        let mut there = Vec::new();
        for path in &paths {
            let stat = beneath.look(path)?;
            let kept = stat.filter(|stat| {
                let kind = rustix::fs::FileType::from_raw_mode(stat.st_mode);
                kind.is_file() || kind.is_symlink()
            });
            there.extend(kept.map(|stat| (path, stat)));
        }
        copy::check(&self.origin, &there, (self.bounds.files, MOST_BYTES))?;
        let mut list = Vec::new();
        for (path, _) in &there {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        let index = self.index();
        let git = self
            .git_with(&index.0, &self.origin)
            // Makes git write files above this size into one pack, instead of one object file
            // for each.
            .set("core.bigFileThreshold=1")
            .set("pack.compression=1");
        git.run_with(
            &["update-index", "--add", "--remove", "-z", "--stdin"],
            list,
        )?;
        let tree = id_of(&git.run(&["write-tree"])?);
        self.first = Some(self.side(&tree, &[])?);
        Ok(())
    }

    fn write_record(&self) -> Result<(), PlanBranchError> {
        let first = self.first.as_deref().unwrap_or_default();
        let mut record = Vec::new();
        for field in [
            RECORD.as_bytes(),
            self.origin.as_os_str().as_bytes(),
            self.format.as_bytes(),
            first.as_bytes(),
        ] {
            record.extend_from_slice(field);
            record.push(0);
        }
        artel_files::write_atomic(&self.at.join("line"), &record, 0o600)?;
        Ok(())
    }
}

/// An index file for git, deleted on drop.
struct TemporaryGitIndex(PathBuf);

impl Drop for TemporaryGitIndex {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
        drop(fs::remove_file(self.0.with_extension("lock")));
    }
}

/// Returns a new name for an index. Nothing else uses it, not even a git that outlived a
/// kill.
fn new_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("index-{}-{count}", std::process::id())
}

/// Spells a name so that git can take it for nothing else: as a whole object id, or as a
/// branch.
fn spell(name: &str) -> Result<String, PlanBranchError> {
    if is_id(name) {
        return Ok(name.to_owned());
    }
    if is_branch(name) {
        return Ok(format!("refs/heads/{name}"));
    }
    Err(PlanBranchError::BadName {
        name: name.to_owned(),
    })
}

fn is_id(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a branch may have this name, for git and for a file system.
fn is_branch(name: &str) -> bool {
    let is_good =
        |part: &str| !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with(".lock");
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+#".contains(&byte);
    name.len() <= 200
        && name.split('/').all(is_good)
        && name.bytes().all(is_plain)
        && !name.contains("..")
        && !name.ends_with('.')
        && !is_id(name)
}

/// Returns the id that git printed.
fn id_of(said: &[u8]) -> String {
    String::from_utf8_lossy(said).trim().to_owned()
}

fn found(path: &Path) -> impl FnOnce(std::io::Error) -> RunTreeError {
    RunTreeError::system("find", path)
}

fn not_a_record(path: PathBuf) -> PlanBranchError {
    PlanBranchError::Damaged {
        path,
        why: "it is no record of a line",
    }
}

#[cfg(test)]
mod tests;
