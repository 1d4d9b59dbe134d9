//! Placeholders: entries under protected names that do not exist yet.
//!
//! Only a mount over a name can keep it from being created, and a mount needs an existing
//! entry. So while commands run, something stands there that other programs ignore: an
//! empty folder under `.git`, and a socket without a listener under any other name. Git
//! shows neither, and opening the socket fails at once and never waits. All sockets of a
//! folder are hard links to one file, because another link costs a hundredth of a new
//! folder. Placeholders carry permission bits that nobody else would set, as a mark.
//!
//! Every starter that relies on the names of a folder locks that folder, and the last one
//! to leave removes the placeholders. Those left by a killed starter are recognised by
//! their mark and removed by the next one. Anything else found under such a name belongs
//! to the person and stays.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Timespec, flock, linkat,
    mkdirat, mknodat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

/// Mode of a placeholder socket: no permissions, and a bit that has no meaning there.
const SOCKET_MARK: u32 = 0o1000;

/// Mode of a placeholder folder: not writable, and with the bit that only shared folders
/// have.
const FOLDER_MARK: u32 = 0o1555;
/// The mode bits that identify the folder; the others depend on the person's settings.
const FOLDER_MARK_BITS: u32 = 0o1222;

/// Number of attempts to get a lock, one every five milliseconds: two seconds in all.
const LOCK_TRIES: u32 = 400;

/// The names held in one folder.
#[derive(Debug)]
pub(super) struct PlaceholderFolder {
    /// Carries a lock that is shared with other starters.
    handle: OwnedFd,
    path: PathBuf,
    held: Vec<PathBuf>,
    /// The name of a placeholder socket that further names are linked to.
    socket: Option<PathBuf>,
}

/// The state of a protected name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProtectedNameState {
    /// A placeholder.
    Ours,
    /// An entry of the person's.
    Theirs,
    /// No entry, and we cannot create one, so nothing running with our rights can either.
    Impossible,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlaceholderKind {
    Folder,
    Socket,
}

impl PlaceholderKind {
    /// Chooses the kind for a name. Git ignores sockets, but may reject one called `.git`.
    pub(super) fn of(name: &Path) -> Self {
        if name == Path::new(".git") {
            Self::Folder
        } else {
            Self::Socket
        }
    }
}

impl PlaceholderFolder {
    /// Joins the starters that hold names in this folder.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // The path was resolved before, so a link on it now was put there by someone.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        lock(&handle)?;
        Ok(Self {
            handle,
            path: path.to_owned(),
            held: Vec::new(),
            socket: None,
        })
    }

    /// Returns the folder whose names are held.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks the entry under a name, and creates a placeholder if there is none.
    pub(super) fn hold(&mut self, name: &Path) -> io::Result<ProtectedNameState> {
        let held = match self.make(name) {
            Ok(()) => ProtectedNameState::Ours,
            Err(Errno::EXIST) if self.is_ours(name)? => ProtectedNameState::Ours,
            Err(Errno::EXIST) => ProtectedNameState::Theirs,
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => ProtectedNameState::Impossible,
            Err(cause) => return Err(cause.into()),
        };
        if held == ProtectedNameState::Ours {
            if PlaceholderKind::of(name) == PlaceholderKind::Socket {
                self.socket.get_or_insert_with(|| name.to_owned());
            }
            self.held.push(name.to_owned());
        }
        Ok(held)
    }

    fn make(&self, name: &Path) -> Result<(), Errno> {
        if PlaceholderKind::of(name) == PlaceholderKind::Folder {
            return mkdirat(&self.handle, name, Mode::from_raw_mode(FOLDER_MARK));
        }
        if let Some(first) = &self.socket {
            match linkat(&self.handle, first, &self.handle, name, AtFlags::empty()) {
                // Not every file system supports hard links, and all of them limit their
                // number.
                Err(cause) if cause != Errno::EXIST => {}
                other => return other,
            }
        }
        let mode = Mode::from_raw_mode(SOCKET_MARK);
        mknodat(&self.handle, name, FileType::Socket, mode, 0)
    }

    /// Returns whether the entry under a name is a placeholder.
    fn is_ours(&self, name: &Path) -> Result<bool, Errno> {
        let mode = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        Ok(match FileType::from_raw_mode(mode) {
            FileType::Socket => mode & 0o7777 == SOCKET_MARK,
            FileType::Directory => mode & FOLDER_MARK_BITS == FOLDER_MARK & FOLDER_MARK_BITS,
            _ => false,
        })
    }

    /// Removes the placeholders, unless another starter still relies on them.
    pub(super) fn release(self) {
        if flock(&self.handle, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        for name in &self.held {
            let flags = match PlaceholderKind::of(name) {
                PlaceholderKind::Folder => AtFlags::REMOVEDIR,
                PlaceholderKind::Socket => AtFlags::empty(),
            };
            if self.is_ours(name).unwrap_or(false) {
                // A folder that is no longer empty belongs to the person and stays.
                let _ = unlinkat(&self.handle, name, flags);
            }
        }
    }
}

/// Takes a shared lock on a folder. Only a starter that cleans up excludes others, and
/// only for a moment; another program's lock could last, so the wait is bounded.
fn lock(handle: &OwnedFd) -> io::Result<()> {
    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: 5_000_000,
    };
    for _ in 0..LOCK_TRIES {
        match flock(handle, FlockOperation::NonBlockingLockShared) {
            Err(Errno::WOULDBLOCK) => {
                let _ = rustix::thread::nanosleep(&moment);
            }
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
    Err(io::Error::other("another program has locked the folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hold(root: &Path, name: &str) -> (PlaceholderFolder, ProtectedNameState) {
        let mut folder = PlaceholderFolder::open(&root.canonicalize().unwrap()).unwrap();
        let held = folder.hold(Path::new(name)).unwrap();
        (folder, held)
    }

    #[test]
    fn the_last_one_takes_it_away() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".artel");
        let there = || path.symlink_metadata().is_ok();
        let (one, first) = hold(root.path(), ".artel");
        let (two, second) = hold(root.path(), ".artel");
        assert_eq!(
            (first, second),
            (ProtectedNameState::Ours, ProtectedNameState::Ours)
        );
        one.release();
        assert!(there(), "it is still relied on");
        two.release();
        assert!(!there());
    }

    #[test]
    fn many_names_are_one_file_but_that_of_git_is_a_folder() {
        use std::os::unix::fs::MetadataExt;
        let root = tempfile::tempdir().unwrap();
        let (mut folder, _) = hold(root.path(), ".artel");
        for name in [".bashrc", ".git", ".npmrc"] {
            assert_eq!(
                folder.hold(Path::new(name)).unwrap(),
                ProtectedNameState::Ours
            );
        }
        let about = root.path().join(".npmrc").symlink_metadata().unwrap();
        assert_eq!(about.nlink(), 3);
        assert!(root.path().join(".git").is_dir());
        folder.release();
        assert_eq!(root.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn one_that_was_left_behind_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        for name in [".artel", ".git"] {
            let path = root.path().join(name);
            drop(hold(root.path(), name));
            assert!(path.symlink_metadata().is_ok());
            hold(root.path(), name).0.release();
            assert!(path.symlink_metadata().is_err());
        }
    }

    #[test]
    fn what_the_person_put_there_stays() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".artel");
        std::fs::create_dir(&path).unwrap();
        let (folder, held) = hold(root.path(), ".artel");
        assert_eq!(held, ProtectedNameState::Theirs);
        folder.release();
        let later = root.path().join(".bashrc");
        let (folder, _) = hold(root.path(), ".bashrc");
        std::fs::remove_file(&later).unwrap();
        std::fs::write(&later, "alias ll='ls -l'").unwrap();
        folder.release();
        assert!(path.exists() && later.exists());
    }
}
