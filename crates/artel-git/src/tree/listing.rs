//! Lists the files of a person's folder that a run takes along.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use super::RunTreeError;
use super::beneath::NoFollowFolder;
use super::ignores::is_shared;
use super::place::EnclosingRepository;

/// Deepest folder that is listed. No tree that people made is deeper.
const DEEPEST: usize = 200;

/// A person's folder to be listed.
pub(crate) struct PersonFolderLister<'l> {
    pub(crate) program: &'l Path,
    /// The folder, with links resolved.
    pub(crate) folder: &'l Path,
    pub(crate) repository: Option<&'l EnclosingRepository>,
    pub(crate) named: &'l [PathBuf],
    pub(crate) share: &'l [String],
    /// The run's folder. If it lies in the listed folder, it is left out, with its neighbours.
    pub(crate) run: &'l Path,
}

impl PersonFolderLister<'_> {
    /// Returns the paths of all files and links to take, relative to the folder. Some may be
    /// missing from the working tree.
    pub(crate) fn paths(&self) -> Result<BTreeSet<PathBuf>, RunTreeError> {
        let beneath = NoFollowFolder::open(self.folder)?;
        let mut found = BTreeSet::new();
        match self.repository {
            Some(repository) => {
                let prefix = repository.prefix();
                self.ask_git(&beneath, repository, prefix, Path::new(""), &mut found)?;
            }
            None => self.folder(Path::new(""), SharedFolderListing::NotShared, 0, &mut found)?,
        }
        found.extend(self.named_only()?);
        Ok(found)
    }

    /// Returns the paths of the named files and folders only.
    pub(crate) fn named_only(&self) -> Result<BTreeSet<PathBuf>, RunTreeError> {
        let beneath = NoFollowFolder::open(self.folder)?;
        let mut found = BTreeSet::new();
        for named in self.named {
            self.name(&beneath, named, &mut found)?;
        }
        Ok(found)
    }

    /// Adds the files that git knows or does not ignore below `prefix` of a repository; `at` is
    /// the path of that folder in the run's tree.
    fn ask_git(
        &self,
        beneath: &NoFollowFolder,
        repository: &EnclosingRepository,
        prefix: &Path,
        at: &Path,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RunTreeError> {
        let git = repository.git(self.program);
        let mut arguments = vec!["ls-files", "-z", "-c", "-o", "--exclude-standard"];
        // A name that is not UTF-8 cannot be passed to git; the whole repository is listed
        // instead.
        if let Some(prefix) = prefix.to_str().filter(|prefix| !prefix.is_empty()) {
            arguments.extend(["--", prefix]);
        }
        let listed = git.run(&arguments)?;
        let paths = listed.split(|byte| *byte == 0).map(OsStr::from_bytes);
        let paths = paths.filter(|path| !path.is_empty());
        for path in paths.map(Path::new) {
            let Ok(path) = path.strip_prefix(prefix) else {
                continue;
            };
            let path: PathBuf = at.join(path).components().collect();
            if path.as_os_str().is_empty() || self.is_without(&path) || found.contains(&path) {
                continue;
            }
            if is_folder(beneath, &path)? {
                self.nested(beneath, &path, found)?;
            } else {
                found.insert(path);
            }
        }
        Ok(())
    }

    /// Adds the working files of a repository within the repository, submodule or not.
    fn nested(
        &self,
        beneath: &NoFollowFolder,
        at: &Path,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RunTreeError> {
        if at.iter().count() > DEEPEST {
            return Ok(());
        }
        let folder = self.folder.join(at);
        match EnclosingRepository::find(&folder) {
            Some(inner) if inner.prefix().as_os_str().is_empty() && inner.top == folder => {
                self.ask_git(beneath, &inner, Path::new(""), at, found)
            }
            _ => self.folder(at, SharedFolderListing::NotShared, 0, found),
        }
    }

    fn folder(
        &self,
        at: &Path,
        take: SharedFolderListing,
        depth: usize,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RunTreeError> {
        let folder = self.folder.join(at);
        if depth > DEEPEST {
            return Ok(());
        }
        let failed = || RunTreeError::system("list", &folder);
        for entry in std::fs::read_dir(&folder).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            let name = entry.file_name();
            let path = at.join(&name);
            if name.eq_ignore_ascii_case(".git") || self.is_without(&path) {
                continue;
            }
            if !entry.file_type().map_err(failed())?.is_dir() {
                found.insert(path);
            } else if take == SharedFolderListing::All || !is_shared(&name, self.share) {
                self.folder(&path, take, depth + 1, found)?;
            }
        }
        Ok(())
    }

    /// Adds a named file or folder, whether git ignores it or not.
    fn name(
        &self,
        beneath: &NoFollowFolder,
        named: &Path,
        found: &mut BTreeSet<PathBuf>,
    ) -> Result<(), RunTreeError> {
        let not_below = || RunTreeError::NotBelow {
            path: named.to_owned(),
            folder: self.folder.to_owned(),
        };
        let path = if named.is_absolute() {
            named.strip_prefix(self.folder).map_err(|_| not_below())?
        } else {
            named
        };
        let path: PathBuf = path
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        let is_plain = |part: Component| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        };
        let is_below = !path.as_os_str().is_empty() && path.components().all(is_plain);
        if !is_below || beneath.look(&path)?.is_none() {
            return Err(not_below());
        }
        if is_folder(beneath, &path)? {
            return self.folder(&path, SharedFolderListing::All, 0, found);
        }
        found.insert(path);
        Ok(())
    }

    fn is_without(&self, path: &Path) -> bool {
        let runs = self.run.parent().unwrap_or(self.run);
        let is_inside = runs != self.folder && runs.starts_with(self.folder);
        let without = if is_inside { runs } else { self.run };
        self.folder.join(path).starts_with(without)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SharedFolderListing {
    NotShared,
    All,
}

/// Returns whether there is a folder at the path. The target of a link does not count.
fn is_folder(beneath: &NoFollowFolder, path: &Path) -> Result<bool, RunTreeError> {
    match beneath.look(path) {
        Ok(Some(stat)) => Ok(rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir()),
        Ok(None) | Err(RunTreeError::LedAway { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
