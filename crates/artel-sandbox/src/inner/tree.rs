//! Mounts by handle: source and target are opened first and never looked up again.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use crate::sys;

/// The access allowed in a mounted tree, within what the host allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MountRights {
    ReadOnly,
    Writable,
    /// Device files work, but nothing can be executed.
    Devices,
}

impl MountRights {
    fn attributes(self) -> MountAttrFlags {
        let safe = MountAttrFlags::MOUNT_ATTR_NOSUID;
        match self {
            Self::ReadOnly => {
                safe | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_RDONLY
            }
            Self::Writable => safe | MountAttrFlags::MOUNT_ATTR_NODEV,
            Self::Devices => safe | MountAttrFlags::MOUNT_ATTR_NOEXEC,
        }
    }
}

/// Opens a path of the host without following any link. Links were resolved once before.
pub(super) fn open_plain(base: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(base, path, flags, Mode::empty(), resolve)?)
}

/// Opens a path of the host's view.
pub(super) fn open_host(path: &Path) -> io::Result<OwnedFd> {
    open_plain(CWD, path)
}

/// Opens a path inside the new root. A link as the last component is opened itself.
pub(super) fn open_inside(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let path = relative(path);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // With these flags a trailing link is opened instead of followed.
    let parent = path.parent().unwrap_or(Path::new(""));
    let Some(name) = path.file_name() else {
        return root.try_clone_to_owned();
    };
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    let folder = if parent.as_os_str().is_empty() {
        root.try_clone_to_owned()?
    } else {
        openat2(
            root,
            parent,
            flags | OFlags::DIRECTORY,
            Mode::empty(),
            resolve,
        )?
    };
    Ok(openat(&folder, name, flags, Mode::empty())?)
}

/// Copies the mounts at a handle, with everything below it, under these rights.
pub(super) fn copy(source: BorrowedFd<'_>, mode: MountRights) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(source, "", flags)?;
    let attributes = u64::from(mode.attributes().bits());
    sys::mount_setattr(tree.as_fd(), libc::AT_RECURSIVE, attributes)?;
    Ok(tree)
}

/// Copies a single mount with its own rights.
pub(super) fn copy_as_is(source: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH;
    Ok(open_tree(source, "", flags)?)
}

/// Mounts a tree onto a handle.
pub(super) fn attach(tree: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", target, "", flags)?)
}

/// Mounts a tree onto a name in a folder. A link under that name is covered, not followed.
pub(super) fn attach_named(
    tree: BorrowedFd<'_>,
    folder: BorrowedFd<'_>,
    name: &OsStr,
) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(tree, "", folder, name, flags)?)
}

/// Mounts a tree at a path inside the new root, creating the mount point if needed.
pub(super) fn place(root: BorrowedFd<'_>, path: &Path, tree: BorrowedFd<'_>) -> io::Result<()> {
    let target = match open_inside(root, path) {
        Ok(target) => target,
        Err(cause) if cause.raw_os_error() == Some(libc::ENOENT) => {
            let kind = rustix::fs::FileType::from_raw_mode(fstat(tree)?.st_mode);
            let inside = relative(path);
            make_folders(root, inside.parent().unwrap_or(Path::new("")))?;
            if kind.is_dir() {
                mkdirat(root, inside, Mode::from_raw_mode(0o755))?;
            } else {
                make_file(root, inside, 0o444)?;
            }
            open_inside(root, path)?
        }
        Err(cause) => return Err(cause),
    };
    attach(tree, target.as_fd())
}

/// Creates a folder inside the new root, with its parents.
pub(super) fn make_folders(root: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let mut here = PathBuf::new();
    for part in path.components() {
        here.push(part);
        match mkdirat(root, &here, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
    Ok(())
}

/// Creates an empty file inside the new root.
pub(super) fn make_file(root: BorrowedFd<'_>, path: &Path, mode: u32) -> io::Result<OwnedFd> {
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(openat(root, path, flags, Mode::from_raw_mode(mode))?)
}

/// Creates a new file system, not mounted anywhere yet.
pub(super) fn fresh(
    kind: &str,
    options: &[(&str, Option<&str>)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        match value {
            Some(value) => fsconfig_set_string(context.as_fd(), *name, *value)?,
            None => fsconfig_set_flag(context.as_fd(), *name)?,
        }
    }
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(
        context.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}

/// Returns an absolute path relative to the root.
pub(super) fn relative(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}
