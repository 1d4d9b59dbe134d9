//! What is not on any disk: devices, terminals, processes, private folders, and what covers files.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, fstat, mkdirat, openat, symlinkat};
use rustix::mount::MountAttrFlags;

use super::step::{At, Failed};
use super::tree::{self, Rights};
use crate::job::Limits;
use crate::sys;

/// Devices that programs expect and that give nothing away.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links that programs expect beside them.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// Parts of `/proc` that tell about the machine or its keys and that root could read.
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

/// An empty file and an empty folder that nobody may open, to be put over what must not be seen.
pub(super) struct Covers {
    file: OwnedFd,
    folder: OwnedFd,
}

impl Covers {
    /// Makes them where the processes will be shown, so that they are seen nowhere.
    pub(super) fn make(root: BorrowedFd<'_>) -> Result<Self, Failed> {
        let made = || -> io::Result<Self> {
            tree::make_folders(root, Path::new("proc"))?;
            tree::make_file(root, Path::new("proc/file"), 0)?;
            mkdirat(root, "proc/folder", Mode::empty())?;
            let read_only = |path: &str| {
                let below = tree::open_inside(root, Path::new(path))?;
                let copy = tree::copy(below.as_fd(), Rights::ReadOnly)?;
                tree::attach(copy.as_fd(), below.as_fd())?;
                tree::open_inside(root, Path::new(path))
            };
            Ok(Self {
                file: read_only("proc/file")?,
                folder: read_only("proc/folder")?,
            })
        };
        made().at("hidden files", "make what covers them")
    }

    /// Covers something.
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
}

/// How much the private folders in memory may hold together with the command's own memory.
pub(super) fn scratch_size(limits: &Limits) -> String {
    (limits.memory / 2).max(1 << 20).to_string()
}

/// Mounts a private folder in memory.
pub(super) fn mount_scratch(root: BorrowedFd<'_>, name: &str, size: &str) -> Result<(), Failed> {
    let what = format!("make a private `/{name}`");
    let options = [("mode", Some("1777")), ("size", Some(size))];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let scratch = tree::fresh("tmpfs", &options, attributes).at("private files", &what)?;
    tree::place(root, Path::new(name), scratch.as_fd()).at("private files", &what)
}

/// Opens the devices in the host's view.
pub(super) fn open_devices() -> Result<Vec<(&'static str, OwnedFd)>, Failed> {
    let mut opened = Vec::new();
    for name in DEVICES {
        let path = Path::new("/dev").join(name);
        let Ok(source) = tree::open_host(&path) else {
            continue;
        };
        let device = tree::copy(source.as_fd(), Rights::Devices)
            .at("devices", &format!("open `{}`", path.display()))?;
        opened.push((*name, device));
    }
    Ok(opened)
}

/// Shows the devices, a private folder in memory, and terminals of our own.
pub(super) fn mount_devices(
    root: BorrowedFd<'_>,
    devices: Vec<(&str, OwnedFd)>,
    scratch: &str,
) -> Result<(), Failed> {
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
    mount_scratch(root, "dev/shm", scratch)?;
    let options = [("ptmxmode", Some("0666")), ("mode", Some("0620"))];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let terminals = tree::fresh("devpts", &options, attributes).at(step, "make terminals")?;
    tree::place(root, Path::new("dev/pts"), terminals.as_fd()).at(step, "show the terminals")
}

/// Shows the own processes, read-only. A machine that hides parts of its `/proc` from us does not
/// let us make one; then there is none inside, and the ladder says so.
pub(super) fn mount_proc(
    root: BorrowedFd<'_>,
    pid_max: Option<u64>,
    covers: &Covers,
) -> Result<bool, Failed> {
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

/// Newer kernels count process numbers per namespace; the kernel wants room for 300 of its own.
fn limit_processes(proc: BorrowedFd<'_>, most: u64) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(proc, "sys/kernel/pid_max", flags, Mode::empty())?;
    let text = most.saturating_add(302).min(4_194_304).to_string();
    rustix::io::write(&file, text.as_bytes())?;
    Ok(())
}

/// Whether we could read it: what only others may read needs no cover.
fn is_readable(file: BorrowedFd<'_>) -> bool {
    let ours = rustix::process::geteuid().as_raw();
    fstat(file).is_ok_and(|about| about.st_uid == ours || about.st_mode & 0o004 != 0)
}
