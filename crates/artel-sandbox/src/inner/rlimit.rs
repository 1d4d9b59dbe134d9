//! Limits per process, which every kernel enforces.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::step::{SandboxStepContext, SandboxStepError};
use crate::cgroup::CgroupParents;
use crate::job::SandboxLimits;

/// Sets the limits of this process and of all processes it will start.
///
/// Memory is limited here only if no cgroup counts the whole tree, and then as data rather
/// than address space: programs reserve far more addresses than they use.
pub(super) fn set(
    limits: &SandboxLimits,
    groups: &CgroupParents,
    own: NprocLimitScope,
) -> Result<(), SandboxStepError> {
    at_most(Resource::Nofile, limits.open_files, 0)?;
    at_most(Resource::Fsize, limits.file_size, 0)?;
    at_most(Resource::Core, 0, 0)?;
    if let Some(seconds) = limits.cpu_seconds {
        // The first signal tells which limit was reached; the one that cannot be ignored
        // follows a second later.
        at_most(Resource::Cpu, seconds, 1)?;
    }
    if groups.memory.is_none() {
        at_most(Resource::Data, limits.memory, 0)?;
    }
    // If the user's other processes were counted too, the limit would hit at random. A user
    // namespace counts only the processes inside.
    if groups.pids.is_none() && own == NprocLimitScope::UserNamespace {
        at_most(Resource::Nproc, limits.processes, 0)?;
    }
    Ok(())
}

/// The scope in which processes are counted: their own user namespace or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NprocLimitScope {
    UserNamespace,
    Nothing,
}

/// Lowers a limit, with some grace for the hard limit. A stricter limit stays.
fn at_most(resource: Resource, wanted: u64, grace: u64) -> Result<(), SandboxStepError> {
    let now = getrlimit(resource);
    let within = |wanted: u64| now.maximum.map_or(wanted, |hard| hard.min(wanted));
    let limit = Rlimit {
        current: Some(within(wanted)),
        maximum: Some(within(wanted.saturating_add(grace))),
    };
    setrlimit(resource, limit).at("limits", "set a limit")
}
