//! Cgroups: limits on the memory and the number of processes of a whole tree.
//!
//! Usable cgroups are found by trying. In version 2 a group above ours must hand down its
//! controllers and let us create groups; in version 1 our own group must be writable. Each
//! command gets its own groups, named after its starter's process id and removed with it.
//! Groups of a killed starter are removed when the next sandbox is set up.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::job::SandboxLimits;
use crate::process::ExceededCommandLimit;

/// Prefix of the names of our groups.
const PREFIX: &str = "artel-";

/// The groups below which we can create our own, one per limited resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CgroupParents {
    pub(crate) memory: Option<CgroupFolder>,
    pub(crate) pids: Option<CgroupFolder>,
    pub(crate) cpu: Option<CgroupFolder>,
}

/// A group below which we can create our own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CgroupFolder {
    pub(crate) folder: PathBuf,
    pub(crate) version: CgroupVersion,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CgroupVersion {
    One,
    Two,
}

#[derive(Debug, Default)]
pub(crate) struct CommandCgroups {
    memory: Option<CgroupFolder>,
    pids: Option<CgroupFolder>,
    /// Every folder once, even if it serves several limits.
    all: Vec<CgroupFolder>,
}

/// A handle through which a process moves itself into a group.
pub(crate) struct CgroupTasksFile(File);

impl CgroupTasksFile {
    /// Moves this process, which must have a single thread, into the group.
    pub(crate) fn go(mut self) -> io::Result<()> {
        self.0.write_all(b"0")
    }
}

impl CgroupFolder {
    fn admit(&self, pid: i32) -> io::Result<()> {
        fs::write(self.folder.join("cgroup.procs"), pid.to_string())
    }
}

impl CgroupVersion {
    /// Returns the name under which people know the interface.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::One => "cgroup v1",
            Self::Two => "cgroup v2",
        }
    }
}

impl CgroupParents {
    /// Finds where groups can be created, by creating one for each resource.
    pub(crate) fn find() -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let find = |controller, file| find_base(&mounts, &memberships, controller, file);
        let groups = Self {
            memory: find("memory", ["memory.limit_in_bytes", "memory.max"]),
            pids: find("pids", ["pids.max", "pids.max"]),
            cpu: find("cpu", ["cpu.cfs_quota_us", "cpu.max"]),
        };
        groups.bases().for_each(sweep);
        groups
    }

    fn bases(&self) -> impl Iterator<Item = &CgroupFolder> {
        [&self.memory, &self.pids, &self.cpu].into_iter().flatten()
    }

    /// Creates the groups of one command with its limits. If that fails, those already created
    /// are removed.
    pub(crate) fn make(&self, limits: &SandboxLimits) -> io::Result<CommandCgroups> {
        let name = format!("{PREFIX}{}", std::process::id());
        let mut own = CommandCgroups::default();
        let made = self.fill(&name, limits, &mut own);
        if made.is_err() {
            own.remove();
        }
        made.map(|()| own)
    }

    fn fill(&self, name: &str, limits: &SandboxLimits, own: &mut CommandCgroups) -> io::Result<()> {
        if let Some(base) = &self.memory {
            let group = own.add(base, name)?;
            let bytes = limits.memory.to_string();
            match base.version {
                CgroupVersion::One => {
                    fs::write(group.join("memory.limit_in_bytes"), &bytes)?;
                    // Only kernels that count swap have this file; without swap it does not
                    // matter.
                    drop(fs::write(group.join("memory.memsw.limit_in_bytes"), &bytes));
                }
                CgroupVersion::Two => {
                    fs::write(group.join("memory.max"), &bytes)?;
                    drop(fs::write(group.join("memory.swap.max"), "0"));
                }
            }
            own.memory = Some(CgroupFolder {
                folder: group,
                version: base.version,
            });
        }
        if let Some(base) = &self.pids {
            let group = own.add(base, name)?;
            // One more for our own first process.
            let most = limits.processes.saturating_add(1).to_string();
            fs::write(group.join("pids.max"), most)?;
            own.pids = Some(CgroupFolder {
                folder: group,
                version: base.version,
            });
        }
        if let (Some(base), Some(percent)) = (&self.cpu, limits.cpu_percent) {
            let group = own.add(base, name)?;
            let quota = u64::from(percent) * 1000;
            match base.version {
                CgroupVersion::One => {
                    fs::write(group.join("cpu.cfs_period_us"), "100000")?;
                    fs::write(group.join("cpu.cfs_quota_us"), quota.to_string())?;
                }
                CgroupVersion::Two => fs::write(group.join("cpu.max"), format!("{quota} 100000"))?,
            }
        }
        Ok(())
    }
}

impl CommandCgroups {
    fn add(&mut self, base: &CgroupFolder, name: &str) -> io::Result<PathBuf> {
        let group = base.folder.join(name);
        if self.all.iter().any(|own| own.folder == group) {
            return Ok(group);
        }
        match fs::create_dir(&group) {
            // A killed starter had the same process id.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_dir(&group)?;
                fs::create_dir(&group)?;
            }
            other => other?,
        }
        self.all.push(CgroupFolder {
            folder: group.clone(),
            version: base.version,
        });
        Ok(group)
    }

    /// Moves a process into all of the groups.
    pub(crate) fn admit(&self, pid: i32) -> io::Result<()> {
        self.all.iter().try_for_each(|own| own.admit(pid))
    }

    /// Opens the handles through which a single-threaded process moves itself into a group.
    /// Moving another process makes the kernel stop every start and end of processes on the
    /// machine until all processors have noticed, which takes milliseconds. Only version 1 has
    /// this way around it.
    pub(crate) fn ways_in(&self) -> io::Result<Vec<CgroupTasksFile>> {
        let own = self
            .all
            .iter()
            .filter(|own| own.version == CgroupVersion::One);
        let open = |own: &CgroupFolder| File::options().write(true).open(own.folder.join("tasks"));
        own.map(|own| open(own).map(CgroupTasksFile)).collect()
    }

    /// Moves a process into the groups that it cannot enter by itself.
    pub(crate) fn admit_to_the_rest(&self, pid: i32) -> io::Result<()> {
        let mut rest = self
            .all
            .iter()
            .filter(|own| own.version == CgroupVersion::Two);
        rest.try_for_each(|own| own.admit(pid))
    }

    /// Returns every process that is still in one of the groups.
    pub(crate) fn members(&self) -> Vec<i32> {
        let read = |own: &CgroupFolder| fs::read_to_string(own.folder.join("cgroup.procs"));
        let texts = self.all.iter().flat_map(read);
        texts
            .flat_map(|text| text.lines().flat_map(str::parse).collect::<Vec<_>>())
            .collect()
    }

    /// Returns the peak memory in bytes, if it is counted.
    pub(crate) fn peak(&self) -> Option<u64> {
        let base = self.memory.as_ref()?;
        let file = match base.version {
            CgroupVersion::One => "memory.max_usage_in_bytes",
            CgroupVersion::Two => "memory.peak",
        };
        let text = fs::read_to_string(base.folder.join(file)).ok()?;
        text.trim().parse().ok()
    }

    /// Returns the limit that was reached, if any.
    pub(crate) fn limited(&self) -> Option<ExceededCommandLimit> {
        let memory = self.memory.as_ref().and_then(|base| {
            let file = match base.version {
                CgroupVersion::One => "memory.oom_control",
                CgroupVersion::Two => "memory.events",
            };
            counter(&base.folder.join(file), "oom_kill")
        });
        if memory.is_some_and(|count| count > 0) {
            return Some(ExceededCommandLimit::Memory);
        }
        let pids = self.pids.as_ref();
        let pids = pids.and_then(|base| counter(&base.folder.join("pids.events"), "max"));
        pids.is_some_and(|count| count > 0)
            .then_some(ExceededCommandLimit::Processes)
    }

    /// Removes the groups. The kernel releases a group a moment after its last process has
    /// ended, so removal is tried a few times; leftovers are swept away later.
    pub(crate) fn remove(&self) {
        for own in &self.all {
            for _ in 0..50 {
                match fs::remove_dir(&own.folder) {
                    Err(cause) if cause.kind() == io::ErrorKind::ResourceBusy => {
                        std::thread::yield_now();
                    }
                    _ => break,
                }
            }
        }
    }
}

/// Reads the value from the line `name value` of a file.
fn counter(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut words = text.lines().filter_map(|line| line.split_once(' '));
    words.find(|(word, _)| *word == name)?.1.trim().parse().ok()
}

/// Finds a group for one controller: our own in version 1, the nearest ancestor that hands
/// the controller down in version 2.
fn find_base(
    mounts: &str,
    memberships: &str,
    controller: &str,
    [one, two]: [&str; 2],
) -> Option<CgroupFolder> {
    let one = version_one(mounts, memberships, controller)
        .filter(|base| try_out(base, one))
        .into_iter();
    let two = version_two(mounts, memberships)
        .into_iter()
        .filter(|base| hands_down(base, controller) && try_out(base, two));
    one.chain(two).next()
}

fn version_one(mounts: &str, memberships: &str, controller: &str) -> Option<CgroupFolder> {
    let own = memberships.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (names, path) = rest.split_once(':')?;
        names
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    })?;
    let (root, point) = mounted(mounts, "cgroup", Some(controller))?;
    let folder = below(&root, &point, own)?;
    Some(CgroupFolder {
        folder,
        version: CgroupVersion::One,
    })
}

/// Returns our group and its ancestors, nearest first.
fn version_two(mounts: &str, memberships: &str) -> Vec<CgroupFolder> {
    let own = memberships
        .lines()
        .find_map(|line| line.strip_prefix("0::"));
    let (Some(own), Some((root, point))) = (own, mounted(mounts, "cgroup2", None)) else {
        return Vec::new();
    };
    let Some(folder) = below(&root, &point, own) else {
        return Vec::new();
    };
    let above = folder
        .ancestors()
        .take_while(|above| above.starts_with(&point));
    above
        .map(|folder| CgroupFolder {
            folder: folder.to_owned(),
            version: CgroupVersion::Two,
        })
        .collect()
}

fn hands_down(base: &CgroupFolder, controller: &str) -> bool {
    let file = base.folder.join("cgroup.subtree_control");
    fs::read_to_string(file)
        .is_ok_and(|text| text.split_whitespace().any(|word| word == controller))
}

/// Returns the root and the mount point of a file system of this type, with this option if
/// one is given.
fn mounted(mounts: &str, kind: &str, option: Option<&str>) -> Option<(PathBuf, PathBuf)> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut after = after.split(' ');
        let found = after.next()? == kind;
        let options = after.nth(1)?;
        let wanted = option.is_none_or(|option| options.split(',').any(|word| word == option));
        let mut before = before.split(' ').skip(3);
        let (root, point) = (before.next()?, before.next()?);
        (found && wanted).then(|| (PathBuf::from(root), PathBuf::from(point)))
    })
}

fn below(root: &Path, point: &Path, own: &str) -> Option<PathBuf> {
    let inside = Path::new(own).strip_prefix(root).ok()?;
    Some(point.join(inside))
}

/// Creates a group, checks for the file that sets the limit, and removes the group again.
fn try_out(base: &CgroupFolder, file: &str) -> bool {
    let group = base
        .folder
        .join(format!("{PREFIX}try-{}", std::process::id()));
    let made = fs::create_dir(&group).is_ok();
    let writable = |file| {
        fs::OpenOptions::new()
            .write(true)
            .open(group.join(file))
            .is_ok()
    };
    let usable = made && writable(file) && writable("cgroup.procs");
    if made {
        drop(fs::remove_dir(&group));
    }
    usable
}

/// Removes the groups of starters that were killed.
fn sweep(base: &CgroupFolder) {
    let Ok(entries) = fs::read_dir(&base.folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let number: Option<u32> = number.and_then(|number| number.parse().ok());
        if number.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
            // A group with processes cannot be removed, so no running command is affected.
            drop(fs::remove_dir(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
30 25 0:27 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory
31 25 0:28 /user /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
32 25 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
";

    #[test]
    fn our_group_is_found_below_its_mount() {
        let own = "4:memory:/a/b\n8:pids:/user/c\n0::/x/y\n";
        let folder = |controller| version_one(MOUNTS, own, controller).map(|base| base.folder);
        assert_eq!(folder("memory"), Some("/sys/fs/cgroup/memory/a/b".into()));
        assert_eq!(folder("pids"), Some("/sys/fs/cgroup/pids/c".into()));
        assert_eq!(folder("cpu"), None);
        let two: Vec<_> = version_two(MOUNTS, own)
            .into_iter()
            .map(|base| base.folder)
            .collect();
        let expected =
            ["/x/y", "/x", ""].map(|path| PathBuf::from(format!("/sys/fs/cgroup/unified{path}")));
        assert_eq!(two, expected);
    }
}
