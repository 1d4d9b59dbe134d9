//! The files a command sees: an empty root onto which the view is mounted, piece by piece.
//!
//! First everything is opened by handle in the host's view, then the new root is set up.
//! Paths that were not named are absent. The pieces are mounted in path order, so deeper
//! ones cover those above.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, readlinkat, symlinkat};
use rustix::mount::{MountAttrFlags, MountPropagationFlags, UnmountFlags, mount_change, unmount};

use super::protect::ProtectedPaths;
use super::special::{self, CoverMounts, PrivateTmpfs};
use super::step::{SandboxStepContext, SandboxStepError};
use super::tree::{self, MountRights};
use crate::job::{FolderOverlay, SandboxCommandSpec, SandboxLimits, SandboxView, Substitute};
use crate::sys;

const STEP: &str = "view";

/// The visible part of the processor information, by which programs size themselves.
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// A file in the new root without a Landlock rule, which the sandbox's own test tries to
/// read.
pub(super) const BAIT: &str = "/.bait";

/// Presence of the test file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeFilePresence {
    Laid,
    None,
}

/// The view with every path resolved, ready to build.
#[derive(Debug, Default)]
pub(super) struct ResolvedSandboxView {
    /// Paths without links, and the access allowed there.
    pieces: BTreeMap<PathBuf, MountRights>,
    /// Links that lead to these paths.
    links: BTreeMap<PathBuf, PathBuf>,
    hidden: Vec<PathBuf>,
    overlays: Vec<FolderOverlay>,
    substitutes: Vec<Substitute>,
    /// The person's home folder, unless a shown path contains it. Inside it becomes a private
    /// folder.
    home: Option<PathBuf>,
}

/// The parts of the view that the later walls need to know.
#[derive(Debug, Default)]
pub(super) struct BuiltSandboxView {
    pub(super) readable: Vec<PathBuf>,
    pub(super) writable: Vec<PathBuf>,
    /// Whether the processes inside have their own `/proc`.
    pub(super) proc: bool,
}

impl ResolvedSandboxView {
    /// Resolves every link once, in the host's view.
    pub(super) fn of(
        job: &SandboxCommandSpec,
        protected: &ProtectedPaths,
    ) -> Result<Self, SandboxStepError> {
        let view = &job.view;
        let mut resolved = Self::default();
        for path in view.read.iter().chain(&protected.readable) {
            resolved.add(path, MountRights::ReadOnly);
        }
        resolved.add(Path::new(PROCESSORS), MountRights::ReadOnly);
        for path in roots(view)? {
            resolved.pieces.insert(path, MountRights::Writable);
        }
        // What is in an overlay is only there inside.
        let is_overlaid = |path: &Path| view.overlays.iter().any(|it| path.starts_with(&it.at));
        resolved.hidden = view
            .hidden
            .iter()
            .filter_map(|path| {
                if is_overlaid(path) {
                    Some(path.clone())
                } else {
                    std::fs::canonicalize(path).ok()
                }
            })
            .chain(protected.sockets.iter().cloned())
            .collect();
        resolved.overlays.clone_from(&view.overlays);
        let there = view.substitutes.iter().filter_map(|it| {
            Some(Substitute {
                hidden: std::fs::canonicalize(&it.hidden).ok()?,
                shown: it.shown.clone(),
            })
        });
        resolved.substitutes = there.collect();
        let home = job.env.iter().rev().find(|(name, _)| name == "HOME");
        resolved.home = home.and_then(|(_, home)| resolved.own_home(Path::new(home)));
        Ok(resolved)
    }

    /// Returns the writable folders other than the private ones.
    pub(super) fn writable(&self) -> Vec<PathBuf> {
        let writable = |(path, rights): (&PathBuf, &MountRights)| {
            (*rights == MountRights::Writable).then(|| path.clone())
        };
        let folders = self.pieces.iter().filter_map(writable);
        folders
            .chain(self.overlays.iter().map(|overlay| overlay.upper.clone()))
            .collect()
    }

    /// Returns where a private home folder can be, if no shown path contains it.
    fn own_home(&mut self, home: &Path) -> Option<PathBuf> {
        let special = ["/proc", "/dev", "/sys", "/tmp"].map(Path::new);
        let home = self.follow(home).filter(|_| home.is_absolute())?;
        let shown = self.pieces.keys().map(PathBuf::as_path);
        let overlays = self.overlays.iter().map(|overlay| overlay.at.as_path());
        let is_free = home.parent().is_some()
            && !special.contains(&home.as_path())
            && !shown.chain(overlays).any(|above| home.starts_with(above));
        (is_free && home.is_dir()).then_some(home)
    }

    fn add(&mut self, path: &Path, rights: MountRights) {
        if let Some(here) = self.follow(path)
            && here.symlink_metadata().is_ok()
        {
            self.pieces.entry(here).or_insert(rights);
        }
    }

    /// Follows a path from the root. Links on the way are recorded, so that the path also
    /// works inside.
    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
        let mut waiting: Vec<OsString> = path
            .components()
            .rev()
            .filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_owned()),
                _ => None,
            })
            .collect();
        let mut here = PathBuf::from("/");
        let mut links = 0;
        while let Some(name) = waiting.pop() {
            if name == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&name);
            let Ok(target) = readlinkat(CWD, &next, Vec::new()) else {
                here = next;
                continue;
            };
            links += 1;
            if links > 40 {
                return None;
            }
            let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            self.links.insert(next, target.clone());
            waiting.extend(target.components().rev().filter_map(|part| match part {
                Component::Normal(name) => Some(name.to_owned()),
                Component::ParentDir => Some("..".into()),
                _ => None,
            }));
        }
        Some(here)
    }

    /// Opens every piece in the host's view, leaving out those that a piece above already
    /// shows with the same rights.
    fn open(&self) -> Result<Vec<(PathBuf, MountRights, OwnedFd)>, SandboxStepError> {
        let mut opened: Vec<(PathBuf, MountRights, OwnedFd)> = Vec::new();
        for (path, rights) in &self.pieces {
            let above = opened
                .iter()
                .rev()
                .find(|(above, _, _)| path.starts_with(above));
            if above.is_some_and(|(_, shown, _)| shown == rights || *shown == MountRights::Writable)
            {
                continue;
            }
            let what = format!("open `{}`", path.display());
            match tree::open_host(path).and_then(|source| tree::copy(source.as_fd(), *rights)) {
                Ok(tree) => opened.push((path.clone(), *rights, tree)),
                // A path that is missing or not readable for us is missing inside too.
                Err(cause) if is_absent(&cause) && *rights == MountRights::ReadOnly => {}
                Err(cause) => return Err(cause).at(STEP, &what),
            }
        }
        Ok(opened)
    }
}

/// Returns the writable folders, resolved. Each must exist.
pub(super) fn roots(view: &SandboxView) -> Result<Vec<PathBuf>, SandboxStepError> {
    let resolve = |path: &PathBuf| {
        let what = format!("find the writable folder `{}`", path.display());
        std::fs::canonicalize(path).at(STEP, &what)
    };
    view.write.iter().map(resolve).collect()
}

fn is_absent(cause: &io::Error) -> bool {
    let absent = [libc::ENOENT, libc::ENOTDIR, libc::EACCES, libc::ELOOP];
    cause
        .raw_os_error()
        .is_some_and(|code| absent.contains(&code))
}

/// Builds the view and enters it, so that nothing else of the host's files is left.
pub(super) fn build(
    resolved: &ResolvedSandboxView,
    protected: &ProtectedPaths,
    limits: &SandboxLimits,
    pid_max: Option<u64>,
    bait: ProbeFilePresence,
) -> Result<BuiltSandboxView, SandboxStepError> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).at(STEP, "keep mounts apart from the host's")?;
    let pieces = resolved.open()?;
    let devices = special::open_devices()?;
    let overlays = open_overlays(&resolved.overlays)?;
    let substitutes = open_substitutes(&resolved.substitutes)?;
    let root = new_root()?;
    let covers = CoverMounts::make(root.as_fd())?;
    let mut built = BuiltSandboxView::default();
    let private = PrivateTmpfs::mount(root.as_fd(), limits)?;
    private.show(root.as_fd(), "tmp", Path::new("/tmp"), 0o1777)?;
    if let Some(home) = &resolved.home {
        private.show(root.as_fd(), "home", home, 0o700)?;
        built.writable.push(home.clone());
    }
    let mut shown = Vec::new();
    for (path, rights, tree) in pieces {
        tree::place(root.as_fd(), &path, tree.as_fd())
            .at(STEP, &format!("show `{}`", path.display()))?;
        shown.push((path, rights));
    }
    for (path, rights, tree) in overlays {
        tree::place(root.as_fd(), &path, tree.as_fd())
            .at("overlay", &format!("show `{}`", path.display()))?;
        shown.push((path, rights));
    }
    make_links(root.as_fd(), &resolved.links);
    special::mount_devices(root.as_fd(), devices)?;
    private.show(root.as_fd(), "shm", Path::new("/dev/shm"), 0o1777)?;
    built.proc = special::mount_proc(root.as_fd(), pid_max, &covers)?;
    freeze(root.as_fd(), protected)?;
    mask(root.as_fd(), protected, &covers)?;
    substitute(root.as_fd(), substitutes)?;
    hide(root.as_fd(), &resolved.hidden, &covers)?;
    if bait == ProbeFilePresence::Laid {
        let path = tree::relative(Path::new(BAIT));
        tree::make_file(root.as_fd(), path, 0o444).at(STEP, "make a file")?;
    }
    enter(root)?;
    for (path, rights) in shown {
        match rights {
            MountRights::Writable => built.writable.push(path),
            _ => built.readable.push(path),
        }
    }
    Ok(built)
}

/// Creates the new root and mounts it where it hides nothing that is still needed:
/// everything is already open.
fn new_root() -> Result<OwnedFd, SandboxStepError> {
    let options = [
        ("mode", Some("0755")),
        ("size", Some("1m")),
        ("nr_inodes", Some("4k")),
    ];
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let root = tree::fresh("tmpfs", &options, attributes).at(STEP, "make a new root")?;
    let target = ["/tmp", "/usr", "/var"]
        .iter()
        .find_map(|path| tree::open_host(Path::new(path)).ok())
        .ok_or_else(|| SandboxStepError::new(STEP, "found no folder to mount the new root on"))?;
    tree::attach(root.as_fd(), target.as_fd()).at(STEP, "mount the new root")?;
    Ok(root)
}

/// Creates the links that lie in the new root itself; those inside a shown folder exist
/// already.
fn make_links(root: BorrowedFd<'_>, links: &BTreeMap<PathBuf, PathBuf>) {
    for (path, target) in links {
        let path = tree::relative(path);
        let parent = path.parent().unwrap_or(Path::new(""));
        // If a link cannot be created, the path does not work inside; the view promises
        // nothing more.
        if tree::make_folders(root, parent).is_ok() {
            let _ = symlinkat(target, root, path);
        }
    }
}

/// Mounts a writable layer over each folder. Not every file system can be the upper layer,
/// for example a container's own; then the folder is read-only.
fn open_overlays(
    overlays: &[FolderOverlay],
) -> Result<Vec<(PathBuf, MountRights, OwnedFd)>, SandboxStepError> {
    let open = |overlay: &FolderOverlay| {
        let part = |path: &Path| {
            path.to_string_lossy()
                .replace('\\', "\\\\")
                .replace(':', "\\:")
        };
        let (lower, upper, work) = (
            part(&overlay.lower),
            part(&overlay.upper),
            part(&overlay.work),
        );
        let options = [
            ("lowerdir", Some(lower.as_str())),
            ("upperdir", Some(upper.as_str())),
            ("workdir", Some(work.as_str())),
            ("userxattr", None),
        ];
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        let what = format!("lay `{upper}` over `{lower}`");
        if let Ok(made) = tree::fresh("overlay", &options, attributes) {
            return Ok((overlay.at.clone(), MountRights::Writable, made));
        }
        let made = tree::open_host(&overlay.lower)
            .and_then(|source| tree::copy(source.as_fd(), MountRights::ReadOnly))
            .at("overlay", &what)?;
        Ok((overlay.at.clone(), MountRights::ReadOnly, made))
    };
    overlays.iter().map(open).collect()
}

/// Opens what is shown in the place of other files.
fn open_substitutes(
    substitutes: &[Substitute],
) -> Result<Vec<(PathBuf, OwnedFd)>, SandboxStepError> {
    let open = |it: &Substitute| {
        let shown = std::fs::canonicalize(&it.shown)
            .and_then(|path| tree::open_host(&path))
            .and_then(|source| tree::copy(source.as_fd(), MountRights::ReadOnly))
            .at("substitutes", &format!("open `{}`", it.shown.display()))?;
        Ok((it.hidden.clone(), shown))
    };
    substitutes.iter().map(open).collect()
}

/// Puts files over others that are shown.
fn substitute(
    root: BorrowedFd<'_>,
    files: Vec<(PathBuf, OwnedFd)>,
) -> Result<(), SandboxStepError> {
    let step = "substitutes";
    for (path, shown) in files {
        match tree::open_inside(root, &path) {
            Ok(target) => tree::attach(shown.as_fd(), target.as_fd())
                .at(step, &format!("cover `{}`", path.display()))?,
            Err(cause) if is_absent(&cause) => {}
            Err(cause) => return Err(cause).at(step, "look for a file to cover"),
        }
    }
    Ok(())
}

/// Freezes the protected paths: first the folders on the way, which must not be moved,
/// then the frozen paths, each mounted over itself by handle.
fn freeze(root: BorrowedFd<'_>, protected: &ProtectedPaths) -> Result<(), SandboxStepError> {
    let step = "protected names";
    let mut pieces: Vec<_> = protected
        .pinned
        .iter()
        .map(|path| (path, MountRights::Writable))
        .chain(
            protected
                .frozen
                .iter()
                .map(|path| (path, MountRights::ReadOnly)),
        )
        .collect();
    pieces.sort_by(|one, other| one.0.cmp(other.0));
    for (path, rights) in pieces {
        let what = format!("keep `{}` as it is", path.display());
        let target = tree::open_inside(root, path).at(step, &what)?;
        let copy = tree::copy(target.as_fd(), rights).at(step, &what)?;
        tree::attach(copy.as_fd(), target.as_fd()).at(step, &what)?;
    }
    Ok(())
}

/// Keeps names from being created. They are sorted by folder, so each folder is opened
/// once.
fn mask(
    root: BorrowedFd<'_>,
    protected: &ProtectedPaths,
    covers: &CoverMounts,
) -> Result<(), SandboxStepError> {
    let step = "protected names";
    let mut open: Option<(&Path, OwnedFd)> = None;
    for path in &protected.masked {
        let what = || format!("keep `{}` from being made", path.display());
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        if open.as_ref().is_none_or(|(folder, _)| *folder != parent) {
            let folder = tree::open_inside(root, parent).at(step, &what())?;
            open = Some((parent, folder));
        }
        if let Some((_, folder)) = &open {
            covers.mask(folder.as_fd(), name).at(step, &what())?;
        }
    }
    Ok(())
}

fn hide(
    root: BorrowedFd<'_>,
    hidden: &[PathBuf],
    covers: &CoverMounts,
) -> Result<(), SandboxStepError> {
    for path in hidden {
        match tree::open_inside(root, path) {
            Ok(target) => covers
                .put_over(target.as_fd())
                .at("hidden files", &format!("hide `{}`", path.display()))?,
            Err(cause) if is_absent(&cause) => {}
            Err(cause) => return Err(cause).at("hidden files", "look for a hidden file"),
        }
    }
    Ok(())
}

/// Makes the new root the only one, permanently.
fn enter(root: OwnedFd) -> Result<(), SandboxStepError> {
    let read_only = u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits());
    sys::mount_setattr(root.as_fd(), 0, read_only).at(STEP, "make the root read-only")?;
    rustix::process::fchdir(&root).at(STEP, "go to the new root")?;
    sys::pivot_root_here().at(STEP, "enter the new root")?;
    unmount(".", UnmountFlags::DETACH).at(STEP, "leave the host's files")?;
    rustix::process::chdir("/").at(STEP, "go to the new root")
}
