//! The orders a starter gets, complete: it takes nothing from its own environment.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::cgroup::Groups;
use crate::job::Job;
use crate::level::Level;

/// What the starter is to build and to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// Which walls.
    pub(crate) level: Level,
    /// What runs inside.
    pub(crate) task: Task,
    /// The command and its view.
    pub(crate) job: Job,
    /// The listeners to make: none is the proxy's, some is a granted address.
    pub(crate) doors: Vec<Option<SocketAddr>>,
    /// Where the tree's limits are kept.
    pub(crate) groups: Groups,
    /// Whether process numbers of the namespace limit the processes, for want of a cgroup.
    pub(crate) numbers: Numbers,
}

/// Whose process numbers count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Numbers {
    /// Those of the whole machine: they limit nothing.
    #[default]
    OfTheMachine,
    /// Those of the process namespace, which newer kernels can limit.
    OfTheNamespace,
}

/// What runs inside the walls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Task {
    /// The job's command.
    Command,
    /// The ladder's own test.
    Probe(Outside),
}

/// What the test must not reach or must find to differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outside {
    /// A listener that is really there.
    pub(crate) listener: SocketAddr,
    /// The namespaces of the starting process, as `/proc/self/ns` names them.
    pub(crate) namespaces: Vec<(String, String)>,
}
