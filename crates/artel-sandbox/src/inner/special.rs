//! Everything that is not on a disk: devices, terminals, processes, private folders, and
//! covers for files.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, chmodat, fstat, mkdirat, openat, symlinkat};
use rustix::mount::MountAttrFlags;

use super::placeholder::PlaceholderKind;
use super::step::{SandboxStepContext, SandboxStepError};
use super::tree::{self, MountRights};
use crate::job::SandboxLimits;
use crate::sys;

/// Devices that programs expect and that reveal nothing.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links that programs expect beside them.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// Parts of `/proc` that reveal the machine or its keys and that root could read.
const MASKED: &[&str] = &[
    "kcore",
    "keys",
    "key-users",
    "timer_list",
    "kpagecount",
    "kpageflags",
    "kpagecgroup",
    "slabinfo",
    "vmallocinfo",
    "sysrq-trigger",
    "kallsyms",
    "kmsg",
    "sched_debug",
];

/// Covers: an empty file and folder without permissions, to hide entries, and a readable
/// empty file and folder, for names under which nothing may be created.
pub(super) struct CoverMounts {
    file: OwnedFd,
    folder: OwnedFd,
    empty_file: OwnedFd,
    empty_folder: OwnedFd,
}

impl CoverMounts {
    /// Creates the covers at the place where `/proc` will be mounted, so that they stay
    /// invisible.
    pub(super) fn make(root: BorrowedFd<'_>) -> Result<Self, SandboxStepError> {
        let made = || -> io::Result<Self> {
            tree::make_folders(root, Path::new("proc"))?;
            tree::make_file(root, Path::new("proc/file"), 0)?;
            mkdirat(root, "proc/folder", Mode::empty())?;
            tree::make_file(root, Path::new("proc/empty-file"), 0o444)?;
            mkdirat(root, "proc/empty-folder", Mode::from_raw_mode(0o555))?;
            let read_only = |path: &str| {
                let below = tree::open_inside(root, Path::new(path))?;
                let copy = tree::copy(below.as_fd(), MountRights::ReadOnly)?;
                tree::attach(copy.as_fd(), below.as_fd())?;
                tree::open_inside(root, Path::new(path))
            };
            Ok(Self {
                file: read_only("proc/file")?,
                folder: read_only("proc/folder")?,
                empty_file: read_only("proc/empty-file")?,
                empty_folder: read_only("proc/empty-folder")?,
            })
        };
        made().at("hidden files", "make what covers them")
    }

    /// Hides an entry.
    pub(super) fn put_over(&self, target: BorrowedFd<'_>) -> io::Result<()> {
        let kind = rustix::fs::FileType::from_raw_mode(fstat(target)?.st_mode);
        let cover = if kind.is_dir() {
            &self.folder
        } else {
            &self.file
        };
        let copy = tree::copy_as_is(cover.as_fd())?;
        tree::attach(copy.as_fd(), target)
    }

    /// Keeps a name in a folder from being created. A placeholder stands under it.
    pub(super) fn mask(&self, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
        let cover = match PlaceholderKind::of(Path::new(name)) {
            PlaceholderKind::Folder => &self.empty_folder,
            PlaceholderKind::Socket => &self.empty_file,
        };
        let copy = tree::copy_as_is(cover.as_fd())?;
        tree::attach_named(copy.as_fd(), folder, name)
    }
}

/// The private folders in memory. They are parts of one file system and so share one
/// limit.
pub(super) struct PrivateTmpfs {
    all: OwnedFd,
}

impl PrivateTmpfs {
    /// Creates the file system at the place where `/proc` will be mounted, so that only its
    /// parts are visible.
    pub(super) fn mount(
        root: BorrowedFd<'_>,
        limits: &SandboxLimits,
    ) -> Result<Self, SandboxStepError> {
        let size = (limits.memory / 2).max(1 << 20).to_string();
        let files = limits.files.max(1024).to_string();
        let options = [
            ("mode", Some("0700")),
            ("size", Some(size.as_str())),
            ("nr_inodes", Some(files.as_str())),
        ];
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let made = || {
            let all = tree::fresh("tmpfs", &options, attributes)?;
            tree::place(root, Path::new("proc/private"), all.as_fd())?;
            Ok::<_, io::Error>(Self { all })
        };
        made().at("private files", "make private folders")
    }

    /// Shows a part of it as a folder.
    pub(super) fn show(
        &self,
        root: BorrowedFd<'_>,
        name: &str,
        path: &Path,
        mode: u32,
    ) -> Result<(), SandboxStepError> {
        let made = || {
            mkdirat(&self.all, name, Mode::from_raw_mode(mode))?;
            let part = tree::open_inside(self.all.as_fd(), Path::new(name))?;
            // The person's umask made the folder more restrictive than intended.
            chmodat(&self.all, name, Mode::from_raw_mode(mode), AtFlags::empty())?;
            let copy = tree::copy_as_is(part.as_fd())?;
            tree::place(root, path, copy.as_fd())
        };
        made().at(
            "private files",
            &format!("make a private `{}`", path.display()),
        )
    }
}

/// Opens the devices in the host's view.
pub(super) fn open_devices() -> Result<Vec<(&'static str, OwnedFd)>, SandboxStepError> {
    let mut opened = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        let Ok(source) = tree::open_host(&path) else {
            continue;
        };
        let device = tree::copy(source.as_fd(), MountRights::Devices)
            .at("devices", &format!("open `{}`", path.display()))?;
        opened.push((*name, device));
    }
    Ok(opened)
}

/// Mounts the devices, and our own terminals.
pub(super) fn mount_devices(
    root: BorrowedFd<'_>,
    devices: Vec<(&str, OwnedFd)>,
) -> Result<(), SandboxStepError> {
    let step = "devices";
    tree::make_folders(root, Path::new("dev/pts")).at(step, "make `/dev`")?;
    for (name, device) in devices {
        let path = Path::new("dev").join(name);
        tree::place(root, &path, device.as_fd())
            .at(step, &format!("show `/{}`", path.display()))?;
    }
    for (target, name) in DEVICE_LINKS {
        symlinkat(*target, root, Path::new("dev").join(name)).at(step, "make a link")?;
    }
    let options = [("ptmxmode", Some("0666")), ("mode", Some("0620"))];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let terminals = tree::fresh("devpts", &options, attributes).at(step, "make terminals")?;
    tree::place(root, Path::new("dev/pts"), terminals.as_fd()).at(step, "show the terminals")
}

/// Mounts a read-only `/proc` of the processes inside. If the machine hides parts of its
/// own `/proc` from us, the kernel refuses; then there is none inside, and the sandbox's
/// test reports it.
pub(super) fn mount_proc(
    root: BorrowedFd<'_>,
    pid_max: Option<u64>,
    covers: &CoverMounts,
) -> Result<bool, SandboxStepError> {
    let step = "processes";
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let proc = match tree::fresh("proc", &[], attributes) {
        Ok(proc) => proc,
        Err(cause) if cause.raw_os_error() == Some(libc::EPERM) => return Ok(false),
        Err(cause) => return Err(cause).at(step, "make a `/proc`"),
    };
    if let Some(most) = pid_max {
        limit_processes(proc.as_fd(), most).at("processes", "limit the process numbers")?;
    }
    let read_only = u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits());
    sys::mount_setattr(proc.as_fd(), 0, read_only).at(step, "make `/proc` read-only")?;
    tree::place(root, Path::new("proc"), proc.as_fd()).at(step, "show `/proc`")?;
    for name in MASKED {
        let path = Path::new("proc").join(name);
        let Ok(target) = tree::open_inside(root, &path) else {
            continue;
        };
        if is_readable(target.as_fd()) {
            covers
                .put_over(target.as_fd())
                .at(step, &format!("mask `/{}`", path.display()))?;
        }
    }
    Ok(true)
}

/// Limits process numbers, which newer kernels count per namespace. The kernel needs room
/// for 300 of its own.
fn limit_processes(proc: BorrowedFd<'_>, most: u64) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(proc, "sys/kernel/pid_max", flags, Mode::empty())?;
    let text = most.saturating_add(302).min(4_194_304).to_string();
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}

/// Returns whether we could read a file; a file that only others may read needs no cover.
fn is_readable(file: BorrowedFd<'_>) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    fstat(file).is_ok_and(|about| about.st_uid == ours || about.st_mode & 0o004 != 0)
}
