//! Tests which walls work on this machine, from inside them.
//!
//! The highest level is built and tested first; if that fails, the next lower one. Each
//! failure is reported with what would help. Nothing is remembered between processes,
//! because a machine changes.

use std::fs;
use std::net::TcpListener;

use crate::cgroup::{Base, Groups};
use crate::error::SandboxError;
use crate::job::{Job, Limits, Network, Stdin, View};
use crate::level::{Engaged, Layer, Level};
use crate::process::Exit;
use crate::sandbox::Sandbox;
use crate::spec::{Numbers, Outside, Spec, Task};
use crate::sys;

/// The capabilities of this machine: the level with its walls, and how the tree is
/// limited.
pub(crate) struct Climbed {
    pub(crate) engaged: Engaged,
    pub(crate) groups: Groups,
    pub(crate) numbers: Numbers,
}

/// The oldest Landlock version that is enough for level full.
const LANDLOCK_FOR_FULL: u32 = 4;

/// Finds the highest level that this machine allows.
pub(crate) fn climb(sandbox: &Sandbox) -> Result<Climbed, SandboxError> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .map_err(SandboxError::system("listen for the sandbox's own test"))?;
    let outside = Outside {
        listener: listener
            .local_addr()
            .map_err(SandboxError::system("listen for the sandbox's own test"))?,
        namespaces: own_namespaces(),
    };
    let groups = Groups::find();
    let mut rung = Rung {
        sandbox,
        outside,
        groups,
        numbers: Numbers::OfTheMachine,
    };
    if rung.groups.pids.is_none() && rung.has_own_process_numbers() {
        rung.numbers = Numbers::OfTheNamespace;
    }
    let full = rung.attempt(Level::Full)?;
    let landlock = sys::landlock_version();
    if full.stands() && landlock >= LANDLOCK_FOR_FULL {
        return Ok(rung.reached(Level::Full, full.layers));
    }
    let partial = rung.attempt(Level::Partial)?;
    let mut layers = full.missing();
    let stands = partial.stands();
    layers.extend(partial.layers);
    layers.extend(partial.failed);
    if landlock < LANDLOCK_FOR_FULL {
        layers.push(old_landlock(landlock));
    }
    let level = if stands { Level::Partial } else { Level::None };
    Ok(rung.reached(level, layers))
}

/// The outcome of trying one level.
struct Attempt {
    layers: Vec<Layer>,
    failed: Option<Layer>,
}

impl Attempt {
    fn stands(&self) -> bool {
        let needed = |layer: &&Layer| layer.name != "own /proc";
        self.failed.is_none() && self.layers.iter().filter(needed).all(|layer| layer.stands)
    }

    fn missing(self) -> Vec<Layer> {
        let missing = self.layers.into_iter().filter(|layer| !layer.stands);
        missing.chain(self.failed).collect()
    }
}

struct Rung<'a> {
    sandbox: &'a Sandbox,
    outside: Outside,
    groups: Groups,
    numbers: Numbers,
}

impl Rung<'_> {
    /// Builds a level and runs the test inside.
    fn attempt(&self, level: Level) -> Result<Attempt, SandboxError> {
        let started = self.sandbox.launch(&self.spec(level, self.numbers))?;
        let exit = started.process.wait();
        let failed = match exit {
            Exit::NotStarted { step, why } => Some(failed(&step, &why)),
            Exit::Code(0) => None,
            other => Some(failed("starter", &format!("it ended with {other:?}"))),
        };
        Ok(Attempt {
            layers: started.process.layers(),
            failed,
        })
    }

    /// Returns whether this kernel limits process numbers per namespace, by trying it.
    fn has_own_process_numbers(&self) -> bool {
        let spec = self.spec(Level::Full, Numbers::OfTheNamespace);
        let started = self.sandbox.launch(&spec);
        started.is_ok_and(|started| started.process.wait() == Exit::Code(0))
    }

    fn spec(&self, level: Level, numbers: Numbers) -> Spec {
        Spec {
            level,
            task: Task::Probe(self.outside.clone()),
            job: Job {
                argv: Vec::new(),
                cwd: "/".into(),
                env: Vec::new(),
                view: View {
                    read: vec!["/usr".into()],
                    ..View::default()
                },
                network: Network::None,
                limits: Limits::default(),
                stdin: Stdin::Empty,
            },
            doors: Vec::new(),
            groups: self.groups.clone(),
            numbers,
        }
    }

    fn reached(self, level: Level, mut layers: Vec<Layer>) -> Climbed {
        layers.push(memory(self.groups.memory.as_ref()));
        layers.push(processes(self.groups.pids.as_ref(), self.numbers, level));
        layers.dedup_by(|one, other| one.name == other.name);
        Climbed {
            engaged: Engaged { level, layers },
            groups: self.groups,
            numbers: self.numbers,
        }
    }
}

fn own_namespaces() -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir("/proc/self/ns") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let link = fs::read_link(entry.path()).ok()?;
            let name = entry.file_name().into_string().ok()?;
            Some((name, link.into_os_string().into_string().ok()?))
        })
        .collect()
}

fn memory(base: Option<&Base>) -> Layer {
    let detail = base.map_or(
        "counted per process and not for the tree, because no cgroup can be written; a delegated \
         one helps, such as `systemd-run --user --scope -p Delegate=yes`",
        |base| base.version.name(),
    );
    Layer {
        name: "memory limit".to_owned(),
        stands: base.is_some(),
        detail: detail.to_owned(),
    }
}

fn processes(base: Option<&Base>, numbers: Numbers, level: Level) -> Layer {
    let is_root = rustix::process::geteuid().is_root();
    let (stands, detail) = match base {
        Some(base) => (true, base.version.name()),
        None if numbers == Numbers::OfTheNamespace => {
            (true, "process numbers of the own namespace")
        }
        None if level == Level::Full && !is_root => (true, "counted in the own user namespace"),
        None => (
            false,
            "nothing counts them, because no cgroup can be written and the kernel is older than \
             6.14; a delegated cgroup helps",
        ),
    };
    Layer {
        name: "process limit".to_owned(),
        stands,
        detail: detail.to_owned(),
    }
}

fn old_landlock(version: u32) -> Layer {
    let detail = match version {
        0 => "the kernel has none; `lsm=landlock,…` on its command line helps".to_owned(),
        version => format!("ABI {version}, and full needs {LANDLOCK_FOR_FULL}: Linux 6.7"),
    };
    Layer {
        name: "Landlock".to_owned(),
        stands: false,
        detail,
    }
}

/// Creates the entry of a step that failed, with what would help.
fn failed(step: &str, why: &str) -> Layer {
    let help = match step {
        "user namespace" => user_namespace_help(),
        "view" | "devices" | "processes" | "network namespace" => apparmor_help(),
        _ => None,
    };
    let detail = match help {
        Some(help) => format!("{why}; {help}"),
        None => why.to_owned(),
    };
    Layer {
        name: step.to_owned(),
        stands: false,
        detail,
    }
}

fn user_namespace_help() -> Option<String> {
    let setting = |path: &str| {
        fs::read_to_string(path)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    if setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        return Some("`sysctl kernel.unprivileged_userns_clone=1` helps".to_owned());
    }
    if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        return Some("`sysctl user.max_user_namespaces=10000` helps".to_owned());
    }
    let container = "a container may forbid them: Docker needs `--security-opt seccomp=unconfined`";
    apparmor_help().or_else(|| Some(container.to_owned()))
}

fn apparmor_help() -> Option<String> {
    let file = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    let restricted = fs::read_to_string(file).is_ok_and(|text| text.trim() == "1");
    restricted.then(|| {
        "AppArmor restricts user namespaces: a profile for this program with `userns,` helps, or \
         `sysctl kernel.apparmor_restrict_unprivileged_userns=0`"
            .to_owned()
    })
}
