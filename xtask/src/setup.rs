//! Installs what the tests need beyond Rust, git and a C compiler.
//!
//! A missing cargo tool is installed at a fixed version; an installed one is used at
//! whatever version it has. System packages are installed only by root on a system with
//! apt. The Python and Node packages for the tests stay in the build folder.

mod node;
mod python;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::process;
use crate::stop::XtaskError;

struct CargoTool {
    name: &'static str,
    subcommand: &'static str,
    version: &'static str,
    features: &'static [&'static str],
}

const CARGO_TOOLS: [CargoTool; 2] = [
    CargoTool {
        name: "cargo-nextest",
        subcommand: "nextest",
        version: "0.9.143",
        // Its version is pinned here, so it does not need the self-update feature.
        features: &["--no-default-features", "--features", "default-no-update"],
    },
    CargoTool {
        name: "cargo-deny",
        subcommand: "deny",
        version: "0.20.2",
        features: &[],
    },
];

struct SystemPackage {
    name: &'static str,
    program: &'static str,
    why: &'static str,
}

const PACKAGES: [SystemPackage; 9] = [
    SystemPackage {
        name: "git",
        program: "git",
        why: "tests run real git",
    },
    SystemPackage {
        name: "gcc",
        program: "cc",
        why: "SQLite and the fault shim are C",
    },
    SystemPackage {
        name: "g++",
        program: "c++",
        why: "libFuzzer is C++",
    },
    SystemPackage {
        name: "sqlite3",
        program: "sqlite3",
        why: "tests look at the journal from outside",
    },
    SystemPackage {
        name: "python3",
        program: "python3",
        why: "the providers' SDKs, which tests compare with, and schemathesis are Python",
    },
    SystemPackage {
        name: "python3-pip",
        program: "pip3",
        why: "it installs Python packages that tests use",
    },
    SystemPackage {
        name: "chromium",
        program: "chromium",
        why: "the console is tested in a real browser",
    },
    SystemPackage {
        name: "nodejs",
        program: "node",
        why: "the browser is driven by Node scripts",
    },
    SystemPackage {
        name: "npm",
        program: "npm",
        why: "it installs what drives the browser",
    },
];

/// Installs whatever is missing, or fails with the list of what to install.
pub(crate) fn run() -> Result<(), XtaskError> {
    system_packages()?;
    for component in ["fmt", "clippy"] {
        if version_of(component).is_none() {
            let advice = "run `rustup component add rustfmt clippy`";
            return Err(XtaskError::Failed(format!(
                "`cargo {component}` is missing: {advice}"
            )));
        }
    }
    for tool in CARGO_TOOLS {
        match version_of(tool.subcommand) {
            Some(version) => println!("{version}"),
            None => process::run(&mut installation(&tool))?,
        }
    }
    python::run()?;
    node::run()
}

/// Returns the path of a folder inside cargo's build folder.
fn beside_the_build(name: &str) -> PathBuf {
    let build = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let build = build.unwrap_or_else(|| PathBuf::from("target"));
    process::root().join(build).join(name)
}

/// Removes a folder whose content is out of date.
fn remove(folder: &Path) -> Result<(), XtaskError> {
    if !folder.exists() {
        return Ok(());
    }
    std::fs::remove_dir_all(folder)
        .map_err(|cause| XtaskError::because(format!("`{}` stays", folder.display()), cause))
}

/// Returns the command that installs `tool`.
///
/// The build is unoptimised, since these tools spend nearly all their time waiting: nextest
/// builds in two minutes instead of nine.
fn installation(tool: &CargoTool) -> Command {
    let mut command = process::cargo(["install", "--locked", "--debug", tool.name]);
    command
        .args(["--version", tool.version])
        .args(tool.features);
    command.env("CARGO_PROFILE_DEV_DEBUG", "0");
    command
}

fn system_packages() -> Result<(), XtaskError> {
    let missing: Vec<SystemPackage> = PACKAGES
        .into_iter()
        .filter(|package| !is_on_path(package.program))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    if !(is_root() && is_on_path("apt-get")) {
        let list: Vec<String> = missing
            .iter()
            .map(|package| format!("\n  {}: {}", package.name, package.why))
            .collect();
        let advice = "install these system packages and run this again:";
        return Err(XtaskError::Failed(format!("{advice}{}", list.concat())));
    }
    process::run(apt_get().arg("update"))?;
    let names = missing.iter().map(|package| package.name);
    process::run(
        apt_get()
            .args(["install", "-y", "--no-install-recommends"])
            .args(names),
    )
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Returns what `cargo <subcommand> --version` prints first, or `None` if it fails.
fn version_of(subcommand: &str) -> Option<String> {
    let mut command = process::cargo([subcommand, "--version"]);
    let output = command.stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    output
        .status
        .success()
        .then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn is_root() -> bool {
    Path::new("/proc/self")
        .metadata()
        .is_ok_and(|owner| owner.uid() == 0)
}
