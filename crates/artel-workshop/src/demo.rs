//! The demo: a small project with a bug and something missing, and a rehearsal model that knows
//! how to go about it. Everything else is real.

use std::path::{Path, PathBuf};

use artel_files::{make_dirs, write_atomic};
use artel_git::{Git, Identity};
use artel_types::{Code, Failure};

use crate::caller::Caller;
use crate::init::Init;
use crate::trouble::{Problems, file_failure};

/// What the demo asks for.
pub const DEMO_REQUEST: &str =
    "Fix the rounding bug in invoices and add a CSV export. Half a cent must be rounded up.";

/// Where the demo's files are, in its folder.
const PROJECT: &str = "shop";
const SCRIPT: &str = ".artel/demo.yaml";

/// Files of the project that is tested with Python.
const PYTHON: &[(&str, &str)] = &[
    ("README.md", include_str!("../demo/python/README.md")),
    (
        "pyproject.toml",
        include_str!("../demo/python/pyproject.toml"),
    ),
    (".gitignore", include_str!("../demo/python/.gitignore")),
    (
        "shop/__init__.py",
        include_str!("../demo/python/shop/__init__.py"),
    ),
    (
        "shop/invoice.py",
        include_str!("../demo/python/shop/invoice.py"),
    ),
    ("shop/cli.py", include_str!("../demo/python/shop/cli.py")),
    (
        "tests/__init__.py",
        include_str!("../demo/python/tests/__init__.py"),
    ),
    (
        "tests/test_invoice.py",
        include_str!("../demo/python/tests/test_invoice.py"),
    ),
];

/// A demo that is laid out.
#[derive(Debug, Clone)]
pub struct Demo {
    /// Its workshop.
    pub folder: PathBuf,
    /// Its project.
    pub project: PathBuf,
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

    /// Lays the demo out, anew where it has been.
    pub fn lay_out_demo(&self) -> Result<Demo, Problems> {
        let folder = self.demo_folder();
        self.remove_demo()?;
        self.init(Some(&folder), Init::Complete)?;
        let folder = folder.canonicalize().map_err(|error| {
            Failure::new(Code::W008, format!("`{}` is not there", folder.display()))
                .because(error.to_string())
        })?;
        let project = folder.join(PROJECT);
        for (name, text) in PYTHON {
            write(&project.join(name), text)?;
        }
        write(&folder.join(SCRIPT), include_str!("../demo/python.yaml"))?;
        self.commit_all(&project)?;
        let mut caller = self.clone();
        caller.flags.workshop = Some(folder.clone());
        Ok(Demo {
            model: format!("rehearsal:{}", folder.join(SCRIPT).display()),
            folder,
            project,
            caller,
        })
    }

    /// Removes the demo, if what is there is one.
    pub fn remove_demo(&self) -> Result<(), Failure> {
        let folder = self.demo_folder();
        if !folder.exists() {
            return Ok(());
        }
        if !folder.join(SCRIPT).exists() {
            let what = format!("`{}` is there and is no demo", folder.display());
            return Err(Failure::new(Code::W003, what).advise("move it away, then again"));
        }
        std::fs::remove_dir_all(&folder).map_err(|error| {
            Failure::new(
                Code::W008,
                format!("`{}` cannot be removed", folder.display()),
            )
            .because(error.to_string())
        })
    }

    fn commit_all(&self, project: &Path) -> Result<(), Failure> {
        let git = self.program("git").ok_or_else(|| {
            Failure::new(Code::W008, "the demo needs git")
                .because("there is no `git` on the PATH")
                .advise("install git")
        })?;
        let identity = Identity {
            name: "Artel".to_owned(),
            email: "artel@localhost".to_owned(),
        };
        let git = Git::new(git, project, identity);
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message=A small shop"],
        ] {
            git.run(words).map_err(|error| {
                Failure::new(Code::W008, "the demo's project could not be made")
                    .because(error.to_string())
            })?;
        }
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let folder = file.parent().unwrap_or(file);
    make_dirs(folder, 0o755).map_err(|error| file_failure(Code::W008, &error))?;
    write_atomic(file, text.as_bytes(), 0o644).map_err(|error| file_failure(Code::W008, &error))
}
