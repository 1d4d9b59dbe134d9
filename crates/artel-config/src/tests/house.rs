//! A home and a workshop in a temporary folder, to load settings from.

use std::fs;
use std::path::{Path, PathBuf};

use artel_types::Failure;
use tempfile::TempDir;

use crate::{ProcessEnvironment, Settings, UserFolders};

/// A temporary home and workshop, with everything that settings are read from.
pub(crate) struct House {
    root: TempDir,
    variables: Vec<(String, String)>,
    flags: Vec<(String, String)>,
}

impl House {
    pub(crate) fn new() -> Self {
        let root = TempDir::new().unwrap();
        let house = Self {
            root,
            variables: Vec::new(),
            flags: Vec::new(),
        };
        for file in [house.user_file(), house.workshop_file()] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
        }
        house
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    pub(crate) fn user_file(&self) -> PathBuf {
        self.home().join(".config/artel/artel.toml")
    }

    pub(crate) fn workshop_file(&self) -> PathBuf {
        self.root.path().join("workshop/artel.toml")
    }

    pub(crate) fn user(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.user_file(), text).unwrap();
        self
    }

    pub(crate) fn workshop(self, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.workshop_file(), text).unwrap();
        self
    }

    pub(crate) fn variable(mut self, name: &str, text: &str) -> Self {
        self.variables.push((name.to_owned(), text.to_owned()));
        self
    }

    pub(crate) fn flag(mut self, key: &str, text: &str) -> Self {
        self.flags.push((key.to_owned(), text.to_owned()));
        self
    }

    pub(crate) fn load(&self) -> Result<Settings, Vec<Failure>> {
        let home = ("HOME".to_owned(), self.home().display().to_string());
        let variables = self.variables.iter().cloned().chain([home]);
        let environment = ProcessEnvironment::of(variables, self.root.path());
        let places = UserFolders::find(&environment).unwrap();
        let workshop = self.workshop_file();
        Settings::load(&environment, &places, workshop.parent(), &self.flags)
    }

    /// Returns the failures as they are printed, without the name of the temporary folder.
    pub(crate) fn complaints(&self) -> String {
        let failures = self
            .load()
            .expect_err("something is wrong with these settings");
        let lines: Vec<_> = failures.iter().map(Failure::to_string).collect();
        self.anonymous(&lines.join("\n"))
    }

    pub(crate) fn anonymous(&self, text: &str) -> String {
        let shown = |path: &Path| path.display().to_string();
        text.replace(&shown(&self.home()), "HOME")
            .replace(&shown(&self.root.path().join("workshop")), "WORKSHOP")
    }
}
