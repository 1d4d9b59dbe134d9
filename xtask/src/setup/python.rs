//! Python packages for tests: the model providers' SDKs, which read the answers of the test
//! kit's stand-in servers, and schemathesis, which calls the HTTP interface as its
//! description says.
//!
//! Each set has its own folder in the build folder, at fixed versions, so the machine's own
//! Python stays unchanged. A stamp file records what is installed; the set is installed
//! again only when that differs from the list.

use std::path::Path;
use std::process::Command;

use crate::process;
use crate::stop::XtaskError;

/// Python packages that are installed together.
struct PythonPackageSet {
    about: &'static str,
    /// File that lists every package with its version, in pip's format.
    list: &'static str,
    folder: &'static str,
}

const PACKS: [PythonPackageSet; 2] = [
    PythonPackageSet {
        about: "the providers' SDKs",
        list: "crates/artel-testkit/tests/sdk/requirements.txt",
        folder: "sdk-python",
    },
    PythonPackageSet {
        about: "schemathesis",
        list: "crates/artel/tests/console/requirements.txt",
        folder: "schemathesis",
    },
];

/// Name of the file in each folder that records what is installed.
const STAMP: &str = "installed.txt";

/// Installs the sets that are not up to date.
pub(super) fn run() -> Result<(), XtaskError> {
    // Some packages are built for one version of Python.
    let version = python_version()?;
    PACKS
        .iter()
        .try_for_each(|pack| install(pack, version.trim()))
}

fn install(pack: &PythonPackageSet, version: &str) -> Result<(), XtaskError> {
    let list = process::root().join(pack.list);
    let wanted = std::fs::read_to_string(&list)
        .map_err(|cause| XtaskError::because(format!("`{}` cannot be read", pack.list), cause))?;
    let wanted = format!("# {version}\n{wanted}");
    let folder = super::beside_the_build(pack.folder);
    let stamp = folder.join(STAMP);
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("{} in {}", pack.about, folder.display());
        return Ok(());
    }
    super::remove(&folder)?;
    process::run(&mut installation(&list, &folder))?;
    std::fs::write(&stamp, wanted).map_err(|cause| {
        XtaskError::because(format!("`{}` cannot be written", stamp.display()), cause)
    })
}

/// Returns the pip command that installs `list`. The list is complete, so pip resolves no
/// further dependencies.
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

fn python_version() -> Result<String, XtaskError> {
    let output = Command::new("python3")
        .arg("--version")
        .output()
        .map_err(|cause| XtaskError::because("`python3` cannot be started", cause))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
