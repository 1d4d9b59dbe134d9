//! Node packages that drive a browser in the tests of the console.
//!
//! They are installed in the build folder, exactly as the lock file in the repository says,
//! and without running their install scripts. The lock file is copied there last: a folder
//! that has it is complete.

use std::process::Command;

use crate::process;
use crate::stop::XtaskError;

/// The folder with `package.json` and the lock file.
const LIST: &str = "crates/artel/tests/console";
const LOCK: &str = "package-lock.json";

/// Installs the packages unless they are up to date.
pub(super) fn run() -> Result<(), XtaskError> {
    let list = process::root().join(LIST);
    let folder = super::beside_the_build("console-node");
    let read = |path: &std::path::Path| {
        std::fs::read(path).map_err(|cause| {
            XtaskError::because(format!("`{}` cannot be read", path.display()), cause)
        })
    };
    let wanted = read(&list.join(LOCK))?;
    let stamp = folder.join("installed.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("playwright and axe in {}", folder.display());
        return Ok(());
    }
    super::remove(&folder)?;
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).map_err(|cause| {
            XtaskError::because(format!("`{}` stays empty", path.display()), cause)
        })
    };
    std::fs::create_dir_all(&folder)
        .map_err(|cause| XtaskError::because(format!("no folder `{}`", folder.display()), cause))?;
    write("package.json", &read(&list.join("package.json"))?)?;
    write(LOCK, &wanted)?;
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
        .current_dir(&folder);
    process::run(&mut npm)?;
    write("installed.json", &wanted)
}
