//! Identifies the process that holds a lease, and checks whether it is still alive.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A process, identified so that another process on the same machine can check whether it
/// lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseOwner {
    /// Name that the process gives itself.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// Start time in clock ticks since boot. It tells the process from a later one with the
    /// same pid.
    started: Option<u64>,
    /// Id of the machine it runs on.
    #[serde(default)]
    machine: Option<String>,
    /// Id of the boot it runs in.
    boot: Option<String>,
    /// The PID namespace it lives in; in another one its pid means nothing.
    space: Option<String>,
}

impl LeaseOwner {
    /// Describes the current process.
    pub fn this_process(name: impl Into<String>) -> Self {
        let pid = std::process::id();
        Self {
            name: name.into(),
            pid,
            started: started(pid),
            machine: MACHINE.clone(),
            boot: BOOT.clone(),
            space: SPACE.clone(),
        }
    }

    /// Returns whether the process is known to have ended. `false` may also mean that this
    /// machine cannot tell.
    pub fn is_dead(&self) -> bool {
        if self.shares_uptime() {
            // In another PID namespace the pid means nothing.
            return self.is_near() && has_ended(self.pid, self.started);
        }
        // The same machine was booted again since, so none of its old processes is left.
        let is_known = self.boot.is_some() && BOOT.is_some() && MACHINE.is_some();
        is_known && self.machine == *MACHINE
    }

    /// Returns whether the process is known to be alive, on this machine and with the same
    /// start time.
    pub fn is_alive(&self) -> bool {
        self.is_near() && !has_ended(self.pid, self.started)
    }

    /// Returns whether the process is known to be on its way out: it was killed, and the system
    /// has not cleared it away yet. Until then its sockets and locks are held.
    pub fn is_ending(&self) -> bool {
        self.is_near() && is_ending(self.pid, self.started)
    }

    /// Returns whether the pid means the same here as there.
    fn is_near(&self) -> bool {
        self.shares_uptime() && self.space == *SPACE
    }

    /// Returns whether it ran during this boot of this machine, so that uptimes can be
    /// compared.
    pub(crate) fn shares_uptime(&self) -> bool {
        self.boot.is_some() && self.boot == *BOOT
    }
}

impl std::fmt::Display for LeaseOwner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (process {})", self.name, self.pid)
    }
}

// These values do not change while this process lives.

static BOOT: LazyLock<Option<String>> = LazyLock::new(|| {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
});

static SPACE: LazyLock<Option<String>> = LazyLock::new(|| {
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(space.to_string_lossy().into_owned())
});

static MACHINE: LazyLock<Option<String>> = LazyLock::new(|| {
    let id = fs::read_to_string("/etc/machine-id").ok()?;
    Some(id.trim().to_owned()).filter(|id| !id.is_empty())
});

/// Returns whether no process has this pid and start time any more. Only a clear answer
/// counts: if the look fails for another reason (no descriptors left), that proves nothing.
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

/// Returns when a process started. One that has ended but was not reaped yet counts as
/// ended.
fn started_in(stat: &str) -> Option<u64> {
    let stat = ProcessStatLine::of(stat)?;
    (stat.state != "Z").then_some(stat.started)
}

/// Returns whether a process with this pid and start time was killed, or lost its first
/// thread, while some thread of it is still there.
fn is_ending(pid: u32, since: Option<u64>) -> bool {
    let place = format!("/proc/{pid}");
    let text = fs::read_to_string(format!("{place}/stat")).unwrap_or_default();
    let Some(stat) = ProcessStatLine::of(&text).filter(|stat| Some(stat.started) == since) else {
        return false;
    };
    match stat.state {
        "Z" | "X" => has_threads(&place),
        _ => stat.flags & EXITING != 0 || is_killed(&place),
    }
}

/// The flag of a process that the kernel is clearing away (`PF_EXITING`).
const EXITING: u64 = 0x4;

/// The bit of `SIGKILL`, which no process can refuse.
const KILL: u64 = 1 << 8;

fn has_threads(place: &str) -> bool {
    let threads = fs::read_dir(format!("{place}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        let text = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        ProcessStatLine::of(&text).is_some_and(|stat| !["Z", "X"].contains(&stat.state))
    })
}

fn is_killed(place: &str) -> bool {
    let status = fs::read_to_string(format!("{place}/status")).unwrap_or_default();
    let pending = status.lines().filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        let is_pending = ["SigPnd", "ShdPnd"].contains(&name);
        u64::from_str_radix(value.trim(), 16)
            .ok()
            .filter(|_| is_pending)
    });
    pending.fold(0, |all, some| all | some) & KILL != 0
}

/// A parsed line of `/proc/PID/stat`.
struct ProcessStatLine<'a> {
    state: &'a str,
    flags: u64,
    /// In clock ticks since the machine started.
    started: u64,
}

impl<'a> ProcessStatLine<'a> {
    /// Reads the 3rd, 9th and 22nd field. The second one may hold spaces and brackets.
    fn of(stat: &'a str) -> Option<Self> {
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        Some(Self {
            state: fields.first()?,
            flags: fields.get(6)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    /// Python script that waits for its input to close, then ends its first thread while
    /// another one keeps running.
    const HEADLESS: &str = "\
import ctypes, platform, sys, threading, time
threading.Thread(target=lambda: time.sleep(600)).start()
print('ready', flush=True)
sys.stdin.read()
ctypes.CDLL(None).syscall({'x86_64': 60}.get(platform.machine(), 93), 0)
";

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to look at")]
    fn one_that_has_lost_its_first_thread_is_ending_until_all_are_gone() {
        let mut child = Command::new("python3")
            .args(["-c", HEADLESS])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        let since = started(pid);
        assert!(since.is_some());
        assert!(!is_ending(pid, since) && !has_ended(pid, since));
        drop(child.stdin.take());
        while !has_ended(pid, since) {
            std::thread::yield_now();
        }
        assert!(is_ending(pid, since), "a thread of it is there");
        assert!(!is_ending(pid, None), "another process");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_ending(pid, since) && has_ended(pid, since));
    }
}
