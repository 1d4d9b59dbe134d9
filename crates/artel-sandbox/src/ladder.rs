//! Tests which walls work on this machine, from inside them.
//!
//! The highest level is built and tested first; if that fails, the next lower one. Each
//! failure is reported with what would help. Nothing is remembered between processes,
//! because a machine changes.

use std::fs;
use std::net::TcpListener;

use crate::cgroup::{CgroupFolder, CgroupParents};
use crate::error::SandboxError;
use crate::job::{SandboxCommandSpec, SandboxLimits, SandboxNetwork, SandboxStdin, SandboxView};
use crate::level::{EngagedSandbox, SandboxLayer, SandboxLevel};
use crate::process::CommandExit;
use crate::sandbox::Sandbox;
use crate::spec::{PidLimitScope, SandboxProbeTargets, SandboxStarterSpec, SandboxStarterTask};
use crate::sys;

/// The capabilities of this machine: the level with its walls, and how the tree is
/// limited.
pub(crate) struct SandboxCapabilities {
    pub(crate) engaged: EngagedSandbox,
    pub(crate) groups: CgroupParents,
    pub(crate) numbers: PidLimitScope,
}

/// The oldest Landlock version that is enough for level full.
const LANDLOCK_FOR_FULL: u32 = 4;

/// Finds the highest level that this machine allows.
pub(crate) fn climb(sandbox: &Sandbox) -> Result<SandboxCapabilities, SandboxError> {
    let listener = TcpListener::bind("127.0.0.1:0")
        .map_err(SandboxError::system("listen for the sandbox's own test"))?;
    let outside = SandboxProbeTargets {
        listener: listener
            .local_addr()
            .map_err(SandboxError::system("listen for the sandbox's own test"))?,
        namespaces: own_namespaces(),
    };
    let groups = CgroupParents::find();
    let mut rung = LevelProber {
        sandbox,
        outside,
        groups,
        numbers: PidLimitScope::OfTheMachine,
    };
    if rung.groups.pids.is_none() && rung.has_own_process_numbers() {
        rung.numbers = PidLimitScope::OfTheNamespace;
    }
    let full = rung.attempt(SandboxLevel::Full)?;
    let landlock = sys::landlock_version();
    if full.stands() && landlock >= LANDLOCK_FOR_FULL {
        return Ok(rung.reached(SandboxLevel::Full, full.layers));
    }
    let partial = rung.attempt(SandboxLevel::Partial)?;
    let mut layers = full.missing();
    let stands = partial.stands();
    layers.extend(partial.layers);
    layers.extend(partial.failed);
    if landlock < LANDLOCK_FOR_FULL {
        layers.push(old_landlock(landlock));
    }
    let level = if stands {
        SandboxLevel::Partial
    } else {
        SandboxLevel::None
    };
    Ok(rung.reached(level, layers))
}

/// The outcome of trying one level.
struct LevelProbeOutcome {
    layers: Vec<SandboxLayer>,
    failed: Option<SandboxLayer>,
}

impl LevelProbeOutcome {
    fn stands(&self) -> bool {
        let needed = |layer: &&SandboxLayer| layer.name != "own /proc";
        self.failed.is_none() && self.layers.iter().filter(needed).all(|layer| layer.stands)
    }

    fn missing(self) -> Vec<SandboxLayer> {
        let missing = self.layers.into_iter().filter(|layer| !layer.stands);
        missing.chain(self.failed).collect()
    }
}

struct LevelProber<'a> {
    sandbox: &'a Sandbox,
    outside: SandboxProbeTargets,
    groups: CgroupParents,
    numbers: PidLimitScope,
}

impl LevelProber<'_> {
    /// Builds a level and runs the test inside.
    fn attempt(&self, level: SandboxLevel) -> Result<LevelProbeOutcome, SandboxError> {
        let started = self.sandbox.launch(&self.spec(level, self.numbers))?;
        let exit = started.process.wait();
        let failed = match exit {
            CommandExit::NotStarted { step, why } => Some(failed(&step, &why)),
            CommandExit::Code(0) => None,
            other => Some(failed("starter", &format!("it ended with {other:?}"))),
        };
        Ok(LevelProbeOutcome {
            layers: started.process.layers(),
            failed,
        })
    }

    /// Returns whether this kernel limits process numbers per namespace, by trying it.
    fn has_own_process_numbers(&self) -> bool {
        let spec = self.spec(SandboxLevel::Full, PidLimitScope::OfTheNamespace);
        let started = self.sandbox.launch(&spec);
        started.is_ok_and(|started| started.process.wait() == CommandExit::Code(0))
    }

    fn spec(&self, level: SandboxLevel, numbers: PidLimitScope) -> SandboxStarterSpec {
        SandboxStarterSpec {
            level,
            task: SandboxStarterTask::Probe(self.outside.clone()),
            job: SandboxCommandSpec {
                argv: Vec::new(),
                cwd: "/".into(),
                env: Vec::new(),
                view: SandboxView {
                    read: vec!["/usr".into()],
                    ..SandboxView::default()
                },
                network: SandboxNetwork::None,
                limits: SandboxLimits::default(),
                stdin: SandboxStdin::Empty,
            },
            doors: Vec::new(),
            groups: self.groups.clone(),
            numbers,
        }
    }

    fn reached(self, level: SandboxLevel, mut layers: Vec<SandboxLayer>) -> SandboxCapabilities {
        layers.push(memory(self.groups.memory.as_ref()));
        layers.push(processes(self.groups.pids.as_ref(), self.numbers, level));
        layers.dedup_by(|one, other| one.name == other.name);
        SandboxCapabilities {
            engaged: EngagedSandbox { level, layers },
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

fn memory(base: Option<&CgroupFolder>) -> SandboxLayer {
    let detail = base.map_or(
        "counted per process and not for the tree, because no cgroup can be written; a delegated \
         one helps, such as `systemd-run --user --scope -p Delegate=yes`",
        |base| base.version.name(),
    );
    SandboxLayer {
        name: "memory limit".to_owned(),
        stands: base.is_some(),
        detail: detail.to_owned(),
    }
}

fn processes(
    base: Option<&CgroupFolder>,
    numbers: PidLimitScope,
    level: SandboxLevel,
) -> SandboxLayer {
    let is_root = rustix::process::geteuid().is_root();
    let (stands, detail) = match base {
        Some(base) => (true, base.version.name()),
        None if numbers == PidLimitScope::OfTheNamespace => {
            (true, "process numbers of the own namespace")
        }
        None if level == SandboxLevel::Full && !is_root => {
            (true, "counted in the own user namespace")
        }
        None => (
            false,
            "nothing counts them, because no cgroup can be written and the kernel is older than \
             6.14; a delegated cgroup helps",
        ),
    };
    SandboxLayer {
        name: "process limit".to_owned(),
        stands,
        detail: detail.to_owned(),
    }
}

fn old_landlock(version: u32) -> SandboxLayer {
    let detail = match version {
        0 => "the kernel has none; `lsm=landlock,…` on its command line helps".to_owned(),
        version => format!("ABI {version}, and full needs {LANDLOCK_FOR_FULL}: Linux 6.7"),
    };
    SandboxLayer {
        name: "Landlock".to_owned(),
        stands: false,
        detail,
    }
}

/// Creates the entry of a step that failed, with what would help.
fn failed(step: &str, why: &str) -> SandboxLayer {
    let help = match step {
        "user namespace" => user_namespace_help(),
        "view" | "devices" | "processes" | "network namespace" => apparmor_help(),
        _ => None,
    };
    let detail = match help {
        Some(help) => format!("{why}; {help}"),
        None => why.to_owned(),
    };
    SandboxLayer {
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
