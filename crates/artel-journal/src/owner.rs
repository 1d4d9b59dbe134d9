//! Which process holds a lease, and whether it is still alive.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A process, named so that another process on the same machine can tell whether it lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// What it calls itself.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since the machine did: tells it from a later process with the
    /// same number.
    started: Option<u64>,
    /// The machine it runs on.
    #[serde(default)]
    machine: Option<String>,
    /// The boot of the machine it runs on.
    boot: Option<String>,
    /// The process-number space it lives in: in another one its number means nothing.
    space: Option<String>,
}

impl Owner {
    /// Returns this process.
    pub fn this_process(name: impl Into<String>) -> Self {
        let pid = std::process::id();
        Self {
            name: name.into(),
            pid,
            started: started(pid),
            machine: machine(),
            boot: boot(),
            space: space(),
        }
    }

    /// Tells whether the process is known to have ended: on this machine, since its start.
    pub fn is_dead(&self) -> bool {
        let (boot, machine) = (boot(), machine());
        if self.boot.is_some() && self.boot == boot {
            // In another process-number space the number means nothing.
            return self.space == space() && has_ended(self.pid, self.started);
        }
        // The same machine, started anew: nothing of before is left.
        self.boot.is_some() && boot.is_some() && machine.is_some() && self.machine == machine
    }

    /// Tells whether it ran during this boot of this machine, so that uptimes can be compared.
    pub(crate) fn shares_uptime(&self) -> bool {
        self.boot.is_some() && self.boot == boot()
    }
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

fn space() -> Option<String> {
    Some(
        fs::read_link("/proc/self/ns/pid")
            .ok()?
            .to_string_lossy()
            .into_owned(),
    )
}

fn machine() -> Option<String> {
    let id = fs::read_to_string("/etc/machine-id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Tells whether no process has this number and start any more. Only a clear answer counts: a
/// look that fails for another reason (no descriptors left) is no proof of death.
fn has_ended(pid: u32, since: Option<u64>) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => started_in(&stat) != since,
        Err(cause) => {
            cause.kind() == std::io::ErrorKind::NotFound && Path::new("/proc/self").exists()
        }
    }
}

fn started(pid: u32) -> Option<u64> {
    started_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Returns the 22nd field; the second one may hold spaces and brackets. A process that has ended
/// but was not collected yet counts as ended.
fn started_in(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    if fields.next() == Some("Z") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}
