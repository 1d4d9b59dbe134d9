//! The sandbox's own test, run from inside: each wall is tested, not assumed.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use super::view::{BAIT, BuiltSandboxView};
use crate::level::SandboxLayer;
use crate::spec::SandboxProbeTargets;

/// Names of namespaces as in `/proc/self/ns`, and as shown to people.
pub(crate) const NAMESPACES: &[(&str, &str)] = &[
    ("user", "user namespace"),
    ("mnt", "mount namespace"),
    ("pid", "process namespace"),
    ("net", "network namespace"),
    ("ipc", "ipc namespace"),
    ("uts", "host name namespace"),
    ("cgroup", "cgroup namespace"),
];

/// Tests every wall of level full.
pub(super) fn inside(outside: &SandboxProbeTargets, built: &BuiltSandboxView) -> Vec<SandboxLayer> {
    let mut layers = namespaces(outside);
    layers.push(files());
    layers.push(layer("own /proc", built.proc.then_some("the processes inside and no others").ok_or("there is no /proc inside, because parts of the machine's are hidden from us: run outside \
         of a container, or with an unmasked /proc")));
    layers.push(landlock(Path::new(BAIT)));
    layers.extend(common(outside));
    layers.push(no_capabilities());
    layers
}

/// Tests the walls that do not need namespaces.
pub(super) fn without_namespaces(outside: &SandboxProbeTargets) -> Vec<SandboxLayer> {
    let mut layers = vec![landlock(Path::new("/etc/passwd"))];
    layers.extend(common(outside));
    layers
}

fn common(outside: &SandboxProbeTargets) -> Vec<SandboxLayer> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = |name: &str| field(&status, name);
    // Without `/proc`, the kernel is asked directly.
    let filter = line("Seccomp").map_or_else(is_refused, |mode| mode == "2");
    let no_new = line("NoNewPrivs").map_or_else(
        || rustix::thread::no_new_privs().unwrap_or(false),
        |value| value == "1",
    );
    let refused = is_refused();
    vec![
        layer(
            "seccomp",
            (filter && refused)
                .then_some("the filter refuses what it must")
                .ok_or("the filter is not in force: the kernel needs CONFIG_SECCOMP_FILTER"),
        ),
        layer(
            "no new privileges",
            no_new.then_some("in force").ok_or("the kernel refuses it"),
        ),
        network(outside),
    ]
}

/// Returns whether a call is refused that only the filter refuses.
fn is_refused() -> bool {
    crate::sys::trace_nobody().raw_os_error() == Some(libc::EPERM)
}

fn namespaces(outside: &SandboxProbeTargets) -> Vec<SandboxLayer> {
    let own = |name: &str| fs::read_link(Path::new("/proc/self/ns").join(name)).ok();
    let differs = |name: &str| {
        let theirs = outside.namespaces.iter().find(|(known, _)| known == name);
        match (own(name), theirs) {
            (Some(own), Some((_, theirs))) => own.as_os_str() != theirs.as_str(),
            // Without `/proc`, we rely on the fact that the calls succeeded.
            _ => true,
        }
    };
    NAMESPACES
        .iter()
        .map(|(name, shown)| {
            layer(
                shown,
                differs(name)
                    .then_some("its own")
                    .ok_or("it is the machine's"),
            )
        })
        .collect()
}

/// Checks that the root is our own and that nothing can be created in it.
fn files() -> SandboxLayer {
    let made = fs::write("/artel-test", "");
    let sees_home = Path::new("/home").exists() || Path::new("/run").exists();
    layer(
        "view",
        (made.is_err() && !sees_home)
            .then_some("only what was named")
            .ok_or("the machine's own files can be seen"),
    )
}

/// Checks that a visible file without a Landlock rule cannot be opened.
fn landlock(unnamed: &Path) -> SandboxLayer {
    let version = format!("ABI {}", crate::sys::landlock_version());
    let seen = fs::metadata(unnamed).is_ok();
    let opened = fs::File::open(unnamed);
    let refused = opened.is_err_and(|cause| cause.kind() == std::io::ErrorKind::PermissionDenied);
    layer(
        "Landlock",
        (seen && refused)
            .then_some(version.as_str())
            .ok_or("it does not refuse: the kernel needs Landlock in `lsm=`"),
    )
}

/// Checks that a listener that everyone outside can reach is out of reach.
fn network(outside: &SandboxProbeTargets) -> SandboxLayer {
    let reached = TcpStream::connect_timeout(&outside.listener, Duration::from_secs(1)).is_ok();
    layer(
        "no network",
        (!reached)
            .then_some("the machine's listeners are out of reach")
            .ok_or("a listener of the machine was reached"),
    )
}

fn no_capabilities() -> SandboxLayer {
    let sets = rustix::thread::capabilities(None);
    let none =
        sets.is_ok_and(|sets| (sets.permitted | sets.effective | sets.inheritable).is_empty());
    layer(
        "no capabilities",
        none.then_some("none are left").ok_or("some are left"),
    )
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = status.lines().filter_map(|line| line.split_once(':'));
    Some(lines.find(|(key, _)| *key == name)?.1.trim())
}

/// Creates a wall's entry from how it stands or why it does not.
fn layer(name: &str, found: Result<&str, &str>) -> SandboxLayer {
    SandboxLayer {
        name: name.to_owned(),
        stands: found.is_ok(),
        detail: found.unwrap_or_else(|why_not| why_not).to_owned(),
    }
}
