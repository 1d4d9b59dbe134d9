//! Checks of the machine: the sandbox it supports, and git.

use std::path::Path;
use std::time::Duration;

use artel_sandbox::trusted::{self, TrustedProgramCall};
use artel_types::FailureKind;

use super::DoctorCheck;
use crate::caller::CommandContext;

pub(super) fn checks(caller: &CommandContext) -> Vec<DoctorCheck> {
    vec![sandbox(caller), path(caller), git(caller)]
}

/// Starts the sandbox and checks its level.
fn sandbox(caller: &CommandContext) -> DoctorCheck {
    let (sandbox, demand) = match caller.sandbox() {
        Ok(found) => found,
        Err(problems) => {
            return match problems.0.first() {
                Some(failure) => DoctorCheck::of_failure("sandbox", failure),
                None => DoctorCheck::problem("sandbox", "not tried", "`artel explain B002`"),
            };
        }
    };
    let engaged = sandbox.engaged();
    let found = format!("{}: {}", engaged.level, standing(engaged));
    let missing = engaged.missing();
    if engaged.level < demand.0 {
        let found = format!("{found}; {} is demanded, so nothing runs", demand.0);
        return DoctorCheck {
            kind: FailureKind::Refused,
            ..DoctorCheck::problem("sandbox", found, missing)
        };
    }
    if missing.is_empty() {
        return DoctorCheck::ok("sandbox", found);
    }
    if engaged.level == artel_sandbox::SandboxLevel::Full {
        // A missing cgroup does not lower the level and needs no action.
        return DoctorCheck::ok("sandbox", format!("{found}; without {missing}"));
    }
    DoctorCheck::warning("sandbox", found, missing)
}

/// Shows which folders `PATH` opens to commands, apart from the system's own.
fn path(caller: &CommandContext) -> DoctorCheck {
    let Ok(standard) = caller.standard(&caller.closed_here()) else {
        return DoctorCheck::problem(
            "path",
            "not looked at",
            "`artel config show` says what is wrong",
        );
    };
    let opened = standard.opened_by_path().into_iter().map(|opened| {
        let beside = opened.shown.iter().filter(|path| !path.is_file());
        let beside: Vec<_> = beside.map(|path| format!("`{}`", path.display())).collect();
        let folder = opened.folder.display();
        match beside.len() {
            0 => format!("`{folder}` shows commands its programs"),
            _ => format!("`{folder}` shows commands {}", beside.join(", ")),
        }
    });
    let opened: Vec<_> = opened.collect();
    if opened.is_empty() {
        DoctorCheck::ok("path", "shows commands only the system's own programs")
    } else {
        DoctorCheck::ok("path", opened.join("; "))
    }
}

/// Lists the active layers. Namespaces are listed as one, and details are given only where
/// a layer has more than one form.
fn standing(engaged: &artel_sandbox::EngagedSandbox) -> String {
    let mut words: Vec<String> = Vec::new();
    for layer in engaged.layers.iter().filter(|layer| layer.stands) {
        let word = match layer.name.as_str() {
            name if name.ends_with("namespace") => "namespaces".to_owned(),
            name @ ("Landlock" | "memory limit" | "process limit") => {
                format!("{name} ({})", layer.detail)
            }
            name => name.to_owned(),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// Checks for git 2.38 or newer, which worktrees and `merge-tree --write-tree` need.
fn git(caller: &CommandContext) -> DoctorCheck {
    const OLDEST: (u32, u32) = (2, 38);
    let missing = || DoctorCheck::problem("git", "not found on PATH", "install git 2.38 or newer");
    let Some(program) = caller.program("git") else {
        return missing();
    };
    let Some(version) = git_version(&program) else {
        return DoctorCheck::problem(
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
        return DoctorCheck::ok("git", format!("{version} ({})", program.display()));
    }
    DoctorCheck::problem(
        "git",
        format!("{version} is too old"),
        "install git 2.38 or newer",
    )
}

/// Asks git for its version, with an absolute path, a fixed argument, an empty environment
/// and a short timeout.
fn git_version(program: &Path) -> Option<String> {
    let call = TrustedProgramCall {
        args: vec!["--version".into()],
        timeout: Duration::from_secs(2),
        most_output: 200,
        ..TrustedProgramCall::new(program)
    };
    let said = trusted::run(&call).ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = text.lines().next()?.strip_prefix("git version ")?;
    Some(version.split(' ').next()?.to_owned())
}
