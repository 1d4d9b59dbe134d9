//! The machine: kernel features and git.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Check;
use crate::caller::Caller;

pub(super) fn checks(caller: &Caller) -> Vec<Check> {
    vec![kernel(), git(caller)]
}

/// The layers that the sandbox is made of.
fn kernel() -> Check {
    let release = word("/proc/sys/kernel/osrelease").unwrap_or_else(|| "unknown".to_owned());
    let layers = [
        (
            "Landlock",
            fs::read_to_string("/sys/kernel/security/lsm")
                .ok()
                .map(|list| list.contains("landlock")),
        ),
        (
            "seccomp",
            Some(Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()),
        ),
        ("user namespaces", Some(has_user_namespaces())),
    ];
    let have = |wanted: Option<bool>| -> Vec<&str> {
        layers
            .iter()
            .filter(|(_, found)| *found == wanted)
            .map(|(name, _)| *name)
            .collect()
    };
    let (present, missing, unknown) = (have(Some(true)), have(Some(false)), have(None));
    let mut found = format!("Linux {release}: {}", present.join(", "));
    if !unknown.is_empty() {
        found.push_str(&format!(
            " ({}: cannot be told from here)",
            unknown.join(", ")
        ));
    }
    if missing.is_empty() {
        return Check::ok("kernel", found);
    }
    let found = format!("{found}; missing: {}", missing.join(", "));
    Check::warning(
        "kernel",
        found,
        "a kernel from 6.7 on with these switched on",
    )
}

fn has_user_namespaces() -> bool {
    let number = |path: &str| word(path).and_then(|text| text.parse::<u64>().ok());
    number("/proc/sys/user/max_user_namespaces").unwrap_or(0) > 0
        && number("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != Some(1)
}

fn word(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Worktrees and `merge-tree --write-tree` need git 2.38 or newer.
fn git(caller: &Caller) -> Check {
    const OLDEST: (u32, u32) = (2, 38);
    let missing = || Check::problem("git", "not found on PATH", "install git 2.38 or newer");
    let Some(program) = find_program(caller, "git") else {
        return missing();
    };
    let Some(version) = git_version(&program) else {
        return Check::problem(
            "git",
            format!("`{}` does not answer", program.display()),
            "`git --version` shows why",
        );
    };
    let mut parts = version
        .split('.')
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found >= OLDEST {
        return Check::ok("git", format!("{version} ({})", program.display()));
    }
    Check::problem(
        "git",
        format!("{version} is too old"),
        "install git 2.38 or newer",
    )
}

fn find_program(caller: &Caller, name: &str) -> Option<PathBuf> {
    let path = caller.environment().get("PATH")?;
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let about = fs::metadata(path);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Asks git for its version: an absolute path, a fixed argument, an empty environment, and no
/// longer than it is worth waiting for.
fn git_version(program: &Path) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "nothing here is chosen by a model; artel-sandbox takes this over when it exists"
    )]
    let mut command = Command::new(program);
    command.arg("--version").env_clear();
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    if !has_ended(&mut child) {
        // It is gone, or will be; either way it did not answer.
        drop(child.kill());
        drop(child.wait());
        return None;
    }
    let mut answer = [0; 200];
    let length = child.stdout.take()?.read(&mut answer).ok()?;
    let text = String::from_utf8_lossy(&answer[..length]).into_owned();
    let version = text.lines().next()?.strip_prefix("git version ")?;
    Some(version.split(' ').next()?.to_owned())
}

/// Waits for the end of a child, two seconds at most.
fn has_ended(child: &mut Child) -> bool {
    const PAUSE: Duration = Duration::from_millis(2);
    (0..1000).any(|_| {
        let has_ended = !matches!(child.try_wait(), Ok(None));
        if !has_ended {
            std::thread::park_timeout(PAUSE);
        }
        has_ended
    })
}
