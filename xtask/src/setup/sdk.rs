//! The model providers' Python SDKs, which the stand-ins of the test kit are read with.
//!
//! They go to a folder of their own beside the build products, at fixed versions, so that nothing
//! of the machine's Python changes. What is installed is written down there, and installed anew
//! only when that differs from what is wanted.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::stop::Stop;

/// Every package with its version, in pip's form.
const REQUIREMENTS: &str = "crates/artel-testkit/tests/sdk/requirements.txt";

/// The file, within the folder, that says what is installed.
const STAMP: &str = "installed.txt";

/// Installs the SDKs unless they are there.
pub(super) fn run() -> Result<(), Stop> {
    let list = process::root().join(REQUIREMENTS);
    let wanted = std::fs::read_to_string(&list)
        .map_err(|cause| Stop::because(format!("`{REQUIREMENTS}` cannot be read"), cause))?;
    // Some packages are built for one version of Python.
    let wanted = format!("# {}\n{wanted}", python_version()?);
    let folder = folder();
    let stamp = folder.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("the providers' SDKs are in {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .map_err(|cause| Stop::because(format!("`{}` stays", folder.display()), cause))?;
    }
    process::run(&mut installation(&list, &folder))?;
    std::fs::write(&stamp, wanted)
        .map_err(|cause| Stop::because(format!("`{}` cannot be written", stamp.display()), cause))
}

/// The list is complete, so pip need not look for anything beyond it.
fn installation(list: &Path, folder: &Path) -> Command {
    let mut command = Command::new("python3");
    command
        .args(["-m", "pip", "install", "--quiet", "--no-deps", "--no-input"])
        .args(["--disable-pip-version-check", "--root-user-action=ignore"])
        .arg("--requirement")
        .arg(list)
        .arg("--target")
        .arg(folder);
    command
}

fn folder() -> PathBuf {
    let build = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let build = build.unwrap_or_else(|| PathBuf::from("target"));
    process::root().join(build).join("sdk-python")
}

fn python_version() -> Result<String, Stop> {
    let output = Command::new("python3")
        .arg("--version")
        .output()
        .map_err(|cause| Stop::because("`python3` cannot be started", cause))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
