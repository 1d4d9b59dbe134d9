//! Placeholders: what stands under a protected name that does not exist yet.
//!
//! A name can be kept from being created only by a mount over it, and a mount needs something to
//! stand on. So for as long as commands run, something stands there that other programs pass over:
//! an empty folder under `.git`, a socket of nobody under any other name. Git shows neither, and
//! whoever opens a socket gets an error and never waits. The sockets of a folder are one file under many names: another name for
//! a file costs a hundredth of what a new folder costs. What stands there is marked as nobody else
//! would make it. Every starter that relies on the names of a folder locks that folder, and the last
//! one to leave takes the placeholders away. What a killed starter left is recognised by its mark
//! and taken away by the next one. Whatever else is found under the name is the person's own and
//! stays.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Timespec, flock, linkat,
    mkdirat, mknodat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

/// The permissions of a socket that stands for nothing: none, and a bit that means nothing there.
const SOCKET_MARK: u32 = 0o1000;

/// Those of a folder: nobody may write, and the bit that only shared folders have.
const FOLDER_MARK: u32 = 0o1555;
/// The bits by which it is recognised; others depend on the person's settings.
const FOLDER_MARK_BITS: u32 = 0o1222;

/// How often a lock is tried for: two seconds in all.
const LOCK_TRIES: u32 = 400;

/// The names of one folder, held together.
#[derive(Debug)]
pub(super) struct Folder {
    /// Locked, shared with other starters.
    handle: OwnedFd,
    path: PathBuf,
    held: Vec<PathBuf>,
    /// The name of a socket that gets further names.
    socket: Option<PathBuf>,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    /// A placeholder.
    Ours,
    /// Something of the person's.
    Theirs,
    /// Nothing, and it cannot be made by us, and so by nothing that runs with our rights.
    Impossible,
}

/// How a placeholder looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Folder,
    Socket,
}

impl Kind {
    /// Git passes over sockets, but may take offence at one called `.git`.
    pub(super) fn of(name: &Path) -> Self {
        if name == Path::new(".git") {
            Self::Folder
        } else {
            Self::Socket
        }
    }
}

impl Folder {
    /// Joins those who hold names in this folder.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        // The path was resolved before: a link on it now was put there by someone.
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

    /// Looks what stands under a name, and puts a placeholder there if nothing does.
    pub(super) fn hold(&mut self, name: &Path) -> io::Result<Held> {
        let held = match self.make(name) {
            Ok(()) => Held::Ours,
            Err(Errno::EXIST) if self.is_ours(name)? => Held::Ours,
            Err(Errno::EXIST) => Held::Theirs,
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => Held::Impossible,
            Err(cause) => return Err(cause.into()),
        };
        if held == Held::Ours {
            if Kind::of(name) == Kind::Socket {
                self.socket.get_or_insert_with(|| name.to_owned());
            }
            self.held.push(name.to_owned());
        }
        Ok(held)
    }

    fn make(&self, name: &Path) -> Result<(), Errno> {
        if Kind::of(name) == Kind::Folder {
            return mkdirat(&self.handle, name, Mode::from_raw_mode(FOLDER_MARK));
        }
        if let Some(first) = &self.socket {
            match linkat(&self.handle, first, &self.handle, name, AtFlags::empty()) {
                // Not every file system has further names, and none has any number of them.
                Err(cause) if cause != Errno::EXIST => {}
                other => return other,
            }
        }
        let mode = Mode::from_raw_mode(SOCKET_MARK);
        mknodat(&self.handle, name, FileType::Socket, mode, 0)
    }

    /// Whether what stands under a name is a placeholder.
    fn is_ours(&self, name: &Path) -> Result<bool, Errno> {
        let mode = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode;
        Ok(match FileType::from_raw_mode(mode) {
            FileType::Socket => mode & 0o7777 == SOCKET_MARK,
            FileType::Directory => mode & FOLDER_MARK_BITS == FOLDER_MARK & FOLDER_MARK_BITS,
            _ => false,
        })
    }

    /// Takes the placeholders away, unless another starter still relies on them.
    pub(super) fn release(self) {
        if flock(&self.handle, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        for name in &self.held {
            let flags = match Kind::of(name) {
                Kind::Folder => AtFlags::REMOVEDIR,
                Kind::Socket => AtFlags::empty(),
            };
            if self.is_ours(name).unwrap_or(false) {
                // A folder that is not empty any more is the person's and stays.
                let _ = unlinkat(&self.handle, name, flags);
            }
        }
    }
}

/// Locks a folder together with others. Only whoever clears up excludes them, and only for that
/// moment; a lock of another program's could last, so the wait is bounded.
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

    fn hold(root: &Path, name: &str) -> (Folder, Held) {
        let mut folder = Folder::open(&root.canonicalize().unwrap()).unwrap();
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
        assert_eq!((first, second), (Held::Ours, Held::Ours));
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
            assert_eq!(folder.hold(Path::new(name)).unwrap(), Held::Ours);
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
        assert_eq!(held, Held::Theirs);
        folder.release();
        let later = root.path().join(".bashrc");
        let (folder, _) = hold(root.path(), ".bashrc");
        std::fs::remove_file(&later).unwrap();
        std::fs::write(&later, "alias ll='ls -l'").unwrap();
        folder.release();
        assert!(path.exists() && later.exists());
    }
}
