//! The complete orders for a starter, which takes nothing from its own environment.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::cgroup::CgroupParents;
use crate::job::SandboxCommandSpec;
use crate::level::SandboxLevel;

/// What the starter is to build and run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxStarterSpec {
    /// The level, and so the walls.
    pub(crate) level: SandboxLevel,
    /// What runs inside.
    pub(crate) task: SandboxStarterTask,
    /// The command with its view, network and limits.
    pub(crate) job: SandboxCommandSpec,
    /// The listeners to create: `None` for the proxy, `Some` for a granted address.
    pub(crate) doors: Vec<Option<SocketAddr>>,
    /// The cgroups that limit the tree.
    pub(crate) groups: CgroupParents,
    /// Whether process numbers of the namespace limit the processes, if there is no cgroup.
    pub(crate) numbers: PidLimitScope,
}

/// The process numbers that can serve as a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PidLimitScope {
    /// Those of the whole machine: they limit nothing.
    #[default]
    OfTheMachine,
    /// Those of the process namespace, which newer kernels can limit.
    OfTheNamespace,
}

/// The task inside the walls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SandboxStarterTask {
    /// The specified command.
    Command,
    /// The sandbox's own test.
    Probe(SandboxProbeTargets),
}

/// What the test must not reach or must find to be different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SandboxProbeTargets {
    /// A listener that really exists.
    pub(crate) listener: SocketAddr,
    /// The namespaces of the starting process, as in `/proc/self/ns`.
    pub(crate) namespaces: Vec<(String, String)>,
}
