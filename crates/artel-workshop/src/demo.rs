//! The demo: a small project with a bug and something missing, and a rehearsal model that knows
//! how to go about it. Everything else is real.

use std::path::{Path, PathBuf};

use artel_files::{make_dirs, read_bounded, write_atomic};
use artel_journal::Home;
use artel_types::{Code, Failure};

use crate::caller::Caller;
use crate::init::Init;
use crate::marker::Marker;
use crate::portals::NewPortal;
use crate::registry;
use crate::trouble::{Problems, file_failure};

/// What the demo asks for.
pub const DEMO_REQUEST: &str =
    "Fix the rounding bug in invoices and add a CSV export. Half a cent must be rounded up.";

/// Where the demo's files are, in its folder.
const PROJECT: &str = "shop";
const STATE: &str = ".artel";
const SCRIPT: &str = ".artel/demo.yaml";

/// No script is larger.
const LARGEST_SCRIPT: u64 = 64 << 10;

/// How every script of the demo begins: what tells a demo from a folder of the same name.
const MARK: &str = "# What the rehearsal model says in `artel demo`";

/// A project that the demo can be about, and the script of the model that knows it.
struct Sample {
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    /// The commands that check it, where they cannot be found.
    checks: Option<&'static [&'static str]>,
}

macro_rules! files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../demo/", $folder, "/", $file)))),+]
    };
}

/// The project that is tested with Python.
const PYTHON: Sample = Sample {
    files: files!("python":
        "README.md",
        "pyproject.toml",
        ".gitignore",
        "shop/__init__.py",
        "shop/invoice.py",
        "shop/cli.py",
        "tests/__init__.py",
        "tests/test_invoice.py",
    ),
    script: include_str!("../demo/python.yaml"),
    checks: None,
};

/// Its twin for machines that have none.
const SHELL: Sample = Sample {
    files: files!("shell":
        "README.md",
        "shop/invoice.sh",
        "shop/cli.sh",
        "tests/run.sh",
        "tests/check.sh",
        "tests/invoice_test.sh",
    ),
    script: include_str!("../demo/shell.yaml"),
    checks: Some(&["./tests/run.sh"]),
};

/// A demo that is laid out.
#[derive(Debug, Clone)]
pub struct Demo {
    /// Its workshop.
    pub folder: PathBuf,
    /// Its project, as it is to be opened to agents.
    pub portal: NewPortal,
    /// The model that knows it.
    pub model: String,
    /// Whoever calls, from the project.
    pub caller: Caller,
}

impl Caller {
    /// Returns where the demo lives.
    pub fn demo_folder(&self) -> PathBuf {
        self.places.home().join("Artel-demo")
    }

    /// Lays the demo out, anew where it has been: a Python project where there is Python, else
    /// one of shell scripts. What cannot be laid out whole leaves nothing behind.
    pub fn lay_out_demo(&self) -> Result<Demo, Problems> {
        self.remove_demo()?;
        let sample = match self.program("python3") {
            Some(_) => PYTHON,
            None => SHELL,
        };
        let laid_out = self.laid_out(&sample);
        if laid_out.is_err() {
            // Why it could not be made says more than why it could not be removed.
            drop(self.remove_demo());
        }
        laid_out
    }

    fn laid_out(&self, sample: &Sample) -> Result<Demo, Problems> {
        let folder = self.demo_folder();
        let state = folder.join(STATE);
        make_dirs(&state, 0o700).map_err(|error| file_failure(Code::W008, &error))?;
        // The script comes first: from now on this is a demo, and may be removed as one.
        write(&folder.join(SCRIPT), sample.script)?;
        self.init(Some(&folder), Init::Complete)?;
        let folder = folder.canonicalize().map_err(|error| {
            Failure::new(Code::W008, format!("`{}` is not there", folder.display()))
                .because(error.to_string())
        })?;
        let project = folder.join(PROJECT);
        for (name, text) in sample.files {
            write(&project.join(name), text)?;
        }
        self.begin_repository(&project, "A small shop")?;
        let mut caller = self.clone();
        caller.flags.workshop = Some(folder.clone());
        let checks = sample.checks.map(|checks| {
            let checks = checks.iter().copied();
            checks.map(str::to_owned).collect()
        });
        Ok(Demo {
            model: format!("rehearsal:{}", folder.join(SCRIPT).display()),
            portal: NewPortal {
                path: project,
                checks,
                ..NewPortal::default()
            },
            folder,
            caller,
        })
    }

    /// Removes the demo, if what is there is one, and what was noted about it elsewhere.
    pub fn remove_demo(&self) -> Result<(), Failure> {
        let folder = self.demo_folder();
        if folder.symlink_metadata().is_err() {
            return Ok(());
        }
        if !is_demo(&folder) {
            let what = format!("`{}` is there and is no demo", folder.display());
            return Err(Failure::new(Code::W003, what).advise("move it away, then again"));
        }
        let marker = Marker::read(&folder).ok().flatten();
        let root = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        std::fs::remove_dir_all(&folder).map_err(|error| {
            let what = format!("`{}` cannot be removed", folder.display());
            Failure::new(Code::W008, what).because(error.to_string())
        })?;
        let Some(marker) = marker else {
            return Ok(());
        };
        let data = self.places.data();
        Home::new(root.join(STATE), data).forget(marker.id)?;
        registry::forget(data, marker.id, &root)
    }
}

/// Tells whether a folder is a demo: it has the script of one, or nothing at all.
fn is_demo(folder: &Path) -> bool {
    if folder.is_symlink() {
        return false;
    }
    let is_empty = std::fs::read_dir(folder).is_ok_and(|mut list| list.next().is_none());
    let script = read_bounded(&folder.join(SCRIPT), LARGEST_SCRIPT);
    is_empty || script.is_ok_and(|script| script.starts_with(MARK.as_bytes()))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
    make_dirs(folder, 0o755).map_err(|error| file_failure(Code::W008, &error))?;
    write_atomic(file, text.as_bytes(), mode).map_err(|error| file_failure(Code::W008, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_tells_that_it_is_of_the_demo() {
        for sample in [PYTHON, SHELL] {
            assert!(sample.script.starts_with(MARK));
        }
    }
}
