//! Following a path, component by component, without ever leaving the root.
//!
//! The kernel could follow links beneath a root by itself, but it refuses absolute links
//! that lead back inside, and it does not report the path it ended at. So links are
//! followed here: each name is opened without following it, and the text of a link
//! replaces it in the steps still to do. Nothing is opened that is not one name beneath a
//! folder beneath the root. The result is a proposal; the kernel checks it when the path
//! is used.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::beneath::{about, changed_or};
use super::error::{RootAttemptError, RootFolderError};
use super::{FileMetadata, ResolvedRootPath, RootFolder, ask};
use crate::{FileAccessGuard, FileAccessKind, FileEntryKind, FileError};

/// The kernel's limit on links followed in one path.
const MOST_LINKS: usize = 40;
/// The kernel's limits in bytes for one path and for one name.
const MOST_BYTES: usize = 4095;
const MOST_NAME_BYTES: usize = 255;

/// The treatment of a link at the very end of the path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalLinkHandling {
    Follow,
    Keep,
}

/// The place that a path led to.
pub(super) struct WalkedPath {
    pub(super) path: PathBuf,
    /// What is there, or `None` if it or a folder above it is missing.
    pub(super) about: Option<FileMetadata>,
    /// Number of names at the end of the path that are missing.
    pub(super) missing: usize,
    /// The paths of the links that were followed on the way.
    pub(super) links: Vec<PathBuf>,
    /// Whether only a folder will do, because the path ended in a slash or a dot.
    pub(super) wants_folder: bool,
}

impl WalkedPath {
    /// Asks the guard about the path and about each link that led to it.
    pub(super) fn ask(
        &self,
        guard: &dyn FileAccessGuard,
        asked: &Path,
        op: FileAccessKind,
    ) -> Result<(), RootFolderError> {
        let names = [&self.path].into_iter().chain(&self.links);
        names
            .into_iter()
            .try_for_each(|name| ask(guard, asked, name, op))
    }

    /// Asks the guard whether the folder may be listed.
    pub(super) fn ask_to_list(
        &self,
        guard: &dyn FileAccessGuard,
        asked: &Path,
    ) -> Result<(), RootFolderError> {
        let names = [&self.path].into_iter().chain(&self.links);
        names
            .into_iter()
            .try_for_each(|name| ask(guard, asked, &name.join(""), FileAccessKind::Read))
    }

    pub(super) fn resolved(self) -> ResolvedRootPath {
        ResolvedRootPath {
            path: self.path,
            about: self.about,
        }
    }

    /// Returns the metadata, or an error if the path does not exist.
    pub(super) fn there(&self, asked: &Path) -> Result<FileMetadata, RootFolderError> {
        let about = self
            .about
            .ok_or_else(|| RootFolderError::system(asked, "open")(Errno::NOENT))?;
        if self.wants_folder && about.found != FileEntryKind::Folder {
            return Err(wrong_kind(asked, about.found, FileEntryKind::Folder));
        }
        Ok(about)
    }
}

/// Returns the error for an entry of the wrong kind.
pub(super) fn wrong_kind(
    asked: &Path,
    found: FileEntryKind,
    wanted: FileEntryKind,
) -> RootFolderError {
    let path = asked.to_owned();
    RootFolderError::File(FileError::Other {
        path,
        found,
        wanted,
    })
}

/// Follows a path from the root.
pub(super) fn walk(
    root: &RootFolder,
    asked: &Path,
    last: FinalLinkHandling,
) -> Result<WalkedPath, RootAttemptError> {
    let mut walk = PathWalk {
        root,
        asked,
        names: Vec::new(),
        here: None,
        todo: Vec::new(),
        links: Vec::new(),
        wants_folder: ends_as_folder(asked.as_os_str()),
    };
    walk.todo = walk.first_steps()?;
    while let Some(step) = walk.todo.pop() {
        let is_last = walk.todo.is_empty();
        match step {
            PathWalkStep::Up => walk.up()?,
            PathWalkStep::Name(name) => {
                match walk.enter(
                    &name,
                    if is_last {
                        last
                    } else {
                        FinalLinkHandling::Follow
                    },
                )? {
                    PathStepOutcome::Moved => {}
                    PathStepOutcome::Linked {
                        wants_folder: wants,
                    } => walk.wants_folder |= is_last && wants,
                    PathStepOutcome::Missing => return walk.missing(name),
                }
            }
        }
    }
    let here = about(walk.here(), asked)?;
    let path = walk.names.iter().collect();
    Ok(WalkedPath {
        path,
        about: Some(here),
        missing: 0,
        links: walk.links,
        wants_folder: walk.wants_folder,
    })
}

struct PathWalk<'w> {
    root: &'w RootFolder,
    asked: &'w Path,
    /// The names from the root to the current position: folders, until the last step.
    names: Vec<OsString>,
    /// Handle of the current position; `None` means the root.
    here: Option<OwnedFd>,
    /// The steps left, the next one last.
    todo: Vec<PathWalkStep>,
    links: Vec<PathBuf>,
    wants_folder: bool,
}

enum PathWalkStep {
    Up,
    Name(OsString),
}

impl PathWalkStep {
    fn name(&self) -> Option<&OsStr> {
        match self {
            Self::Name(name) => Some(name),
            Self::Up => None,
        }
    }
}

enum PathStepOutcome {
    Moved,
    Linked { wants_folder: bool },
    Missing,
}

impl PathWalk<'_> {
    /// Splits the requested path into steps. The person who writes `~` means a home folder;
    /// treating it as a name would create a folder that nobody wanted.
    fn first_steps(&self) -> Result<Vec<PathWalkStep>, RootAttemptError> {
        let bytes = self.asked.as_os_str().as_bytes();
        if bytes.is_empty() {
            return Err(FileError::NoName {
                path: self.asked.to_owned(),
            }
            .into());
        }
        let is_home = bytes == b"~" || (bytes[0] == b'~' && bytes.contains(&b'/'));
        if is_home {
            return Err(self.outside("`~` is a home folder"));
        }
        self.steps(self.asked, "it is absolute and not beneath the root")
    }

    /// Splits a path into steps; an absolute path must lie beneath the root.
    fn steps(&self, path: &Path, otherwise: &str) -> Result<Vec<PathWalkStep>, RootAttemptError> {
        let relative = if path.is_absolute() {
            let beneath = [&self.root.given, &self.root.real];
            let mut beneath = beneath
                .into_iter()
                .filter_map(|root| path.strip_prefix(root).ok());
            beneath.next().ok_or_else(|| self.outside(otherwise))?
        } else {
            path
        };
        if path.as_os_str().len() > MOST_BYTES {
            return Err(self.failed(Errno::NAMETOOLONG));
        }
        let mut steps = Vec::new();
        for component in relative.components().rev() {
            match component {
                Component::Normal(name) => steps.push(PathWalkStep::Name(self.checked(name)?)),
                Component::ParentDir => steps.push(PathWalkStep::Up),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        Ok(steps)
    }

    fn checked(&self, name: &OsStr) -> Result<OsString, RootAttemptError> {
        if name.len() > MOST_NAME_BYTES {
            return Err(self.failed(Errno::NAMETOOLONG));
        }
        if name.as_bytes().contains(&0) {
            return Err(self.failed(Errno::INVAL));
        }
        Ok(name.to_owned())
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.here
            .as_ref()
            .map_or(self.root.handle.as_fd(), AsFd::as_fd)
    }

    fn up(&mut self) -> Result<(), RootAttemptError> {
        if self.names.pop().is_none() {
            return Err(self.outside("`..` climbs above the root"));
        }
        let above: PathBuf = self.names.iter().collect();
        let opened = self.root.open_at(&above, OFlags::PATH | OFlags::DIRECTORY);
        self.here = Some(opened.map_err(|cause| changed_or(self.asked, cause))?);
        Ok(())
    }

    fn enter(
        &mut self,
        name: &OsStr,
        last: FinalLinkHandling,
    ) -> Result<PathStepOutcome, RootAttemptError> {
        let handle = match self.root.open_name(self.here(), name, OFlags::PATH) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(PathStepOutcome::Missing),
            Err(Errno::XDEV) => return Err(self.mounted(name)),
            Err(cause) => return Err(self.failed(cause)),
        };
        let found = about(&handle, self.asked)?.found;
        if found == FileEntryKind::Link && last == FinalLinkHandling::Follow {
            return self.follow(name, &handle);
        }
        if found != FileEntryKind::Folder && !self.todo.is_empty() {
            return Err(self.failed(Errno::NOTDIR));
        }
        self.names.push(name.to_owned());
        self.here = Some(handle);
        Ok(PathStepOutcome::Moved)
    }

    fn follow(
        &mut self,
        name: &OsStr,
        link: &OwnedFd,
    ) -> Result<PathStepOutcome, RootAttemptError> {
        if self.links.len() == MOST_LINKS {
            return Err(self.failed(Errno::LOOP));
        }
        let spelled = self.names.iter().map(OsString::as_os_str).chain([name]);
        let rest = self.todo.iter().rev().map_while(PathWalkStep::name);
        self.links.push(spelled.chain(rest).collect());
        let target = rustix::fs::readlinkat(link, "", Vec::new());
        let target = target.map_err(|cause| self.failed(cause))?;
        let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
        if target.is_absolute() {
            self.names.clear();
            self.here = None;
        }
        let steps = self.steps(
            &target,
            "a link on the way leads to an absolute path elsewhere",
        )?;
        self.todo.extend(steps);
        Ok(PathStepOutcome::Linked {
            wants_folder: ends_as_folder(target.as_os_str()),
        })
    }

    /// Ends the walk at a name that does not exist. The steps left must be plain names: nobody
    /// can go up from a missing folder.
    fn missing(mut self, name: OsString) -> Result<WalkedPath, RootAttemptError> {
        let mut missing = 1;
        self.names.push(name);
        while let Some(step) = self.todo.pop() {
            match step {
                PathWalkStep::Name(name) => self.names.push(name),
                PathWalkStep::Up => return Err(self.failed(Errno::NOENT)),
            }
            missing += 1;
        }
        let path = self.names.iter().collect();
        Ok(WalkedPath {
            path,
            about: None,
            missing,
            links: self.links,
            wants_folder: self.wants_folder,
        })
    }

    fn outside(&self, how: &str) -> RootAttemptError {
        let (path, root) = (self.asked.to_owned(), self.root.real.clone());
        RootAttemptError::Failed(RootFolderError::Outside {
            path,
            root,
            how: how.to_owned(),
        })
    }

    fn mounted(&self, name: &OsStr) -> RootAttemptError {
        let at = self
            .names
            .iter()
            .map(OsString::as_os_str)
            .chain([name])
            .collect();
        RootAttemptError::Failed(RootFolderError::Mount {
            path: self.asked.to_owned(),
            at,
        })
    }

    fn failed(&self, cause: Errno) -> RootAttemptError {
        RootAttemptError::Failed(RootFolderError::system(self.asked, "open")(cause))
    }
}

fn ends_as_folder(path: &OsStr) -> bool {
    let last = path.as_bytes().rsplit(|byte| *byte == b'/').next();
    matches!(last, Some(b"" | b"." | b".."))
}
