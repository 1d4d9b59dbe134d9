//! The demo: a small project with a bug and a missing feature, and a rehearsal model that
//! knows how to deal with both. Everything else is real.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use artel_files::{make_dirs, write_atomic};
use artel_journal::JournalFolders;
use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::init::WorkshopInitMode;
use crate::marker::WorkshopMarker;
use crate::portals::NewPortal;
use crate::registry;
use crate::trouble::{WorkshopFailures, file_failure};

/// The request of the demo.
pub const DEMO_REQUEST: &str =
    "Fix the rounding bug in invoices and add a CSV export. Half a cent must be rounded up.";

/// The folder of the project, inside the demo's folder.
const PROJECT: &str = "shop";
const STATE: &str = ".artel";
const SCRIPT: &str = ".artel/demo.yaml";

/// The name of a demo's folder in the person's home folder.
const FOLDER: &str = "Artel-demo";

/// Maximum number of demo folders that can exist side by side.
const MOST_DEMOS: u32 = 99;

/// A project for the demo, and the script of the model that knows it.
struct DemoProject {
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    /// The commands that check the project, if Artel cannot detect them.
    checks: Option<&'static [&'static str]>,
}

macro_rules! files {
    ($folder:literal: $($file:literal),+ $(,)?) => {
        &[$(($file, include_str!(concat!("../demo/", $folder, "/", $file)))),+]
    };
}

/// The project that is tested with Python.
const PYTHON: DemoProject = DemoProject {
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

/// The same project for machines without Python.
const SHELL: DemoProject = DemoProject {
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

/// A demo that is ready to run.
#[derive(Debug, Clone)]
pub struct DemoSetup {
    /// The workshop of the demo.
    pub folder: PathBuf,
    /// The project, as it will be opened to agents.
    pub portal: NewPortal,
    /// The rehearsal model that knows the project.
    pub model: String,
    /// The context for commands in the demo's workshop.
    pub caller: CommandContext,
}

impl CommandContext {
    /// Creates a demo in a folder of its own, beside earlier demos that were kept. The project
    /// is written in Python if `python3` is found, otherwise in shell. A demo that cannot be
    /// completed is removed again.
    pub fn lay_out_demo(&self) -> Result<DemoSetup, WorkshopFailures> {
        let sample = match self.program("python3") {
            Some(_) => PYTHON,
            None => SHELL,
        };
        let folder = self.new_demo_folder()?;
        let laid_out = self.laid_out(&sample, folder.clone());
        if laid_out.is_err() {
            // The error of the creation says more than an error of the cleanup would.
            drop(self.remove(&folder));
        }
        laid_out
    }

    /// Creates the first demo folder that does not exist yet.
    fn new_demo_folder(&self) -> Result<PathBuf, Failure> {
        let home = self.places.home();
        let mut last = None;
        for number in 1..=MOST_DEMOS {
            let name = match number {
                1 => FOLDER.to_owned(),
                _ => format!("{FOLDER}-{number}"),
            };
            let folder = home.join(name);
            match std::fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = Some(folder),
                Err(error) => {
                    let what = format!("`{}` cannot be made", folder.display());
                    return Err(Failure::new(FailureCode::W008, what).because(error.to_string()));
                }
            }
        }
        let what = format!("{MOST_DEMOS} demos are there, up to {last:?}");
        Err(Failure::new(FailureCode::W003, what)
            .advise("remove those that you do not need, then again"))
    }

    fn laid_out(
        &self,
        sample: &DemoProject,
        folder: PathBuf,
    ) -> Result<DemoSetup, WorkshopFailures> {
        self.init(Some(&folder), WorkshopInitMode::Complete)?;
        write(&folder.join(SCRIPT), sample.script)?;
        let folder = folder.canonicalize().map_err(|error| {
            Failure::new(
                FailureCode::W008,
                format!("`{}` is not there", folder.display()),
            )
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
        Ok(DemoSetup {
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

    /// Removes a demo, and the data about it that is kept elsewhere.
    pub fn remove_demo(&self, demo: &DemoSetup) -> Result<(), Failure> {
        self.remove(&demo.folder)
    }

    fn remove(&self, folder: &Path) -> Result<(), Failure> {
        let marker = WorkshopMarker::read(folder).ok().flatten();
        let root = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        std::fs::remove_dir_all(folder).map_err(|error| {
            let what = format!("`{}` cannot be removed", folder.display());
            Failure::new(FailureCode::W008, what).because(error.to_string())
        })?;
        let Some(marker) = marker else {
            return Ok(());
        };
        let data = self.places.data();
        JournalFolders::new(root.join(STATE), data).forget(marker.id)?;
        registry::forget(data, marker.id, &root)
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
    make_dirs(folder, 0o755).map_err(|error| file_failure(FailureCode::W008, &error))?;
    write_atomic(file, text.as_bytes(), mode)
        .map_err(|error| file_failure(FailureCode::W008, &error))
}
