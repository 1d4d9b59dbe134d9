//! Limits per process, which every kernel keeps.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::step::{At, Failed};
use crate::cgroup::Groups;
use crate::job::Limits;

/// Sets the limits of this process and of all it will start.
///
/// Memory is limited here only where no cgroup counts that of the whole tree, and then as data and
/// not as address space: programs reserve far more addresses than they use.
pub(super) fn set(limits: &Limits, groups: &Groups, own: Own) -> Result<(), Failed> {
    at_most(Resource::Nofile, limits.open_files, 0)?;
    at_most(Resource::Fsize, limits.file_size, 0)?;
    at_most(Resource::Core, 0, 0)?;
    if let Some(seconds) = limits.cpu_seconds {
        // The first signal says which limit it was; a second later comes the one that cannot be
        // ignored.
        at_most(Resource::Cpu, seconds, 1)?;
    }
    if groups.memory.is_none() {
        at_most(Resource::Data, limits.memory, 0)?;
    }
    // Where the user's processes elsewhere are counted too, the number would be a trap; in a user
    // namespace only those inside count.
    if groups.pids.is_none() && own == Own::UserNamespace {
        at_most(Resource::Nproc, limits.processes, 0)?;
    }
    Ok(())
}

/// Whether processes are counted in a user namespace of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    UserNamespace,
    Nothing,
}

/// Lowers a limit, with some grace above it; one that is stricter already stays.
fn at_most(resource: Resource, wanted: u64, grace: u64) -> Result<(), Failed> {
    let now = getrlimit(resource);
    let within = |wanted: u64| now.maximum.map_or(wanted, |hard| hard.min(wanted));
    let limit = Rlimit {
        current: Some(within(wanted)),
        maximum: Some(within(wanted.saturating_add(grace))),
    };
    setrlimit(resource, limit).at("limits", "set a limit")
}
