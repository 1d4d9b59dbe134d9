//! Placeholders: what stands under a protected name that does not exist yet.
//!
//! A name can be kept from being created only by a mount over it, and a mount needs something to
//! stand on. So an empty folder is put there for as long as commands run: git does not see empty
//! folders, neither inside nor outside, and programs that look for a file take a folder for none.
//! It is marked by permissions that nobody else gives. Every starter that relies on the names of a
//! folder locks that folder, and the last one to leave takes the placeholders away. What a killed
//! starter left is recognised by its mark and taken away by the next one. Whatever else is found
//! under the name is the person's own and stays.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, ResolveFlags, Stat, Timespec, flock,
    mkdirat, openat2, statat, unlinkat,
};
use rustix::io::Errno;

/// The permissions of a placeholder: nobody may write, and the bit that only shared folders have.
const MARK: u32 = 0o1555;
/// The bits by which it is recognised; others depend on the person's settings.
const MARK_BITS: u32 = 0o1222;

/// How often a lock is tried for: two seconds in all.
const LOCK_TRIES: u32 = 400;

/// The names of one folder, held together.
#[derive(Debug)]
pub(super) struct Folder {
    /// Locked, shared with other starters.
    handle: OwnedFd,
    path: PathBuf,
    held: Vec<PathBuf>,
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
        })
    }

    /// Returns the folder whose names are held.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks what stands under a name, and puts a placeholder there if nothing does.
    pub(super) fn hold(&mut self, name: &Path) -> io::Result<Held> {
        let held = match mkdirat(&self.handle, name, Mode::from_raw_mode(MARK)) {
            Ok(()) => Held::Ours,
            Err(Errno::EXIST) => match statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(about) if is_marked(&about) => Held::Ours,
                Ok(_) => Held::Theirs,
                Err(cause) => return Err(cause.into()),
            },
            Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => Held::Impossible,
            Err(cause) => return Err(cause.into()),
        };
        if held == Held::Ours {
            self.held.push(name.to_owned());
        }
        Ok(held)
    }

    /// Takes the placeholders away, unless another starter still relies on them.
    pub(super) fn release(self) {
        if flock(&self.handle, FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        for name in &self.held {
            let about = statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW);
            if about.is_ok_and(|about| is_marked(&about)) {
                // One that is not empty any more is the person's and stays.
                let _ = unlinkat(&self.handle, name, AtFlags::REMOVEDIR);
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

fn is_marked(about: &Stat) -> bool {
    let mode = about.st_mode;
    FileType::from_raw_mode(mode).is_dir() && mode & MARK_BITS == MARK & MARK_BITS
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
        let (one, first) = hold(root.path(), ".artel");
        let (two, second) = hold(root.path(), ".artel");
        assert_eq!((first, second), (Held::Ours, Held::Ours));
        one.release();
        assert!(path.exists(), "it is still relied on");
        two.release();
        assert!(!path.exists());
    }

    #[test]
    fn one_that_was_left_behind_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".artel");
        drop(hold(root.path(), ".artel"));
        assert!(path.exists());
        hold(root.path(), ".artel").0.release();
        assert!(!path.exists());
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
        std::fs::remove_dir(&later).unwrap();
        std::fs::write(&later, "alias ll='ls -l'").unwrap();
        folder.release();
        assert!(path.exists() && later.exists());
    }
}
