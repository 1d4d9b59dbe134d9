//! The only crate that starts processes, and the only place for `unsafe`.
//!
//! A command chosen by a model runs behind walls that the kernel enforces: its own view of
//! the files, no network, few system calls, limits, and an end for every process of the
//! tree. The walls that are really in force are tested and reported, and never quietly
//! lowered.

mod cgroup;
mod control;
pub mod docker;
mod error;
mod inner;
mod job;
mod ladder;
mod level;
mod process;
pub mod proxy;
pub mod run;
mod sandbox;
pub mod slots;
mod spec;
mod standard;
mod sys;
pub mod trusted;

pub use error::SandboxError;
pub use inner::{FIRST_ARGUMENT, enter_if_asked};
pub use job::{
    FolderOverlay, GrantedHost, SandboxCommandSpec, SandboxLimits, SandboxNetwork, SandboxStdin,
    SandboxView, Substitute,
};
pub use level::{EngagedSandbox, RequiredSandboxLevel, SandboxLayer, SandboxLevel};
pub use process::{CommandExit, CommandResourceUsage, ExceededCommandLimit, SandboxedProcess};
pub use rustix::process::Signal;
pub use sandbox::{ProxyDoor, ProxyDoorKind, Sandbox, SandboxStarterProgram, StartedCommand};
pub use standard::{DefaultViewSources, SearchPathOpening};
