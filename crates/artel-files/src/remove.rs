//! Removing a folder with everything in it, however deep it goes.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::TEMP_PREFIX;

/// Number of nested folders held open at once, one handle each. Deeper folders are first
/// moved up, so neither handles nor the stack grow with the depth.
const LEVELS: usize = 64;

/// Number of times a folder is emptied again when new entries appeared in it meanwhile.
const PASSES: usize = 8;

/// Removes a file, a link or a folder with everything in it; a missing path is fine. Links
/// are removed, not followed. Permissions of folders are relaxed where they are in the
/// way. A tree of any depth takes bounded memory.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let about = match rustix::fs::lstat(path) {
        Err(Errno::NOENT) => return Ok(()),
        about => about?,
    };
    if !FileType::from_raw_mode(about.st_mode).is_dir() {
        return Ok(rustix::fs::unlink(path)?);
    }
    let top = match rustix::fs::open(path, folder_flags(), Mode::empty()) {
        Err(Errno::ACCESS) => {
            rustix::fs::chmod(path, Mode::RWXU)?;
            rustix::fs::open(path, folder_flags(), Mode::empty())?
        }
        opened => opened?,
    };
    let mut removal = TreeRemoval {
        top: &top,
        moved: 0,
    };
    // Folders that were moved up appear in the topmost folder, so it is emptied until nothing
    // is left.
    while removal.empty(top.as_fd(), 0)? == FolderOccupancy::Something {}
    Ok(rustix::fs::rmdir(path)?)
}

/// One recursive removal in progress.
struct TreeRemoval<'t> {
    top: &'t OwnedFd,
    /// Number of folders moved up so far; it makes their new names unique.
    moved: u64,
}

#[derive(PartialEq, Eq)]
enum FolderOccupancy {
    Nothing,
    Something,
}

impl TreeRemoval<'_> {
    /// Removes or moves away everything in a folder, and returns whether it held anything.
    fn empty(&mut self, folder: BorrowedFd<'_>, level: usize) -> io::Result<FolderOccupancy> {
        rustix::fs::fchmod(folder, Mode::RWXU)?;
        let mut found = FolderOccupancy::Nothing;
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            found = FolderOccupancy::Something;
            match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                // Unlinking a folder fails with one or the other.
                Err(Errno::ISDIR | Errno::PERM) => self.inner(folder, name, level)?,
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(found)
    }

    fn inner(&mut self, folder: BorrowedFd<'_>, name: &CStr, level: usize) -> io::Result<()> {
        let inner = match rustix::fs::openat(folder, name, folder_flags(), Mode::empty()) {
            Err(Errno::ACCESS) => {
                rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty())?;
                rustix::fs::openat(folder, name, folder_flags(), Mode::empty())?
            }
            opened => opened?,
        };
        if level >= LEVELS {
            // Moving a folder changes its `..` entry, which takes the right to write in it.
            rustix::fs::fchmod(&inner, Mode::RWXU)?;
            return self.move_up(folder, name);
        }
        for _ in 0..PASSES {
            self.empty(inner.as_fd(), level + 1)?;
            match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => return Ok(()),
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        Err(Errno::NOTEMPTY.into())
    }

    fn move_up(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> io::Result<()> {
        loop {
            self.moved += 1;
            let to = CString::new(format!("{TEMP_PREFIX}deep-{}", self.moved))?;
            let flags = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(folder, name, self.top, &to, flags) {
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                moved => return Ok(moved?),
            }
        }
    }
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::PathBuf;

    use super::*;

    /// Creates nested folders, deeper than any path can name.
    fn make_deep(at: &Path, levels: usize) {
        let mut here = rustix::fs::open(at, folder_flags(), Mode::empty()).unwrap();
        for _ in 0..levels {
            rustix::fs::mkdirat(&here, "d", Mode::RWXU).unwrap();
            here = rustix::fs::openat(&here, "d", folder_flags(), Mode::empty()).unwrap();
        }
        rustix::fs::openat(&here, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
    }

    #[test]
    fn a_tree_of_any_depth_goes_with_what_is_closed_and_links_lead_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let (at, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        std::fs::create_dir_all(at.join("closed/inner")).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::fs::write(outside.join("kept"), "x").unwrap();
        symlink(&outside, at.join("link")).unwrap();
        symlink(&outside, at.join("closed/inner/link")).unwrap();
        make_deep(&at, 5000);
        make_deep(&at.join("closed"), LEVELS + 1);
        for closed in ["closed/inner", "closed"] {
            let mode = std::fs::Permissions::from_mode(0o0);
            std::fs::set_permissions(at.join(closed), mode).unwrap();
        }
        remove_tree(&at).unwrap();
        assert!(!at.exists() && outside.join("kept").exists());
        remove_tree(&at).unwrap();
        let link = folder.path().join("link");
        symlink(&outside, &link).unwrap();
        remove_tree(&link).unwrap();
        assert!(!link.is_symlink() && outside.join("kept").exists());
        remove_tree(&PathBuf::from(&outside)).unwrap();
        assert!(!outside.exists());
    }
}
