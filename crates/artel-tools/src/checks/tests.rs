//! Tests detection by tables, on real temporary trees with programs that the test chooses.

mod detection;
mod findings;
mod formatters;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use artel_files::RootFolder;
use tempfile::TempDir;

use super::project::{ProgramSearchPath, ProjectProbe};

/// A tree, with a folder of programs beside it.
struct Place {
    _tree: TempDir,
    _bin: TempDir,
    root: RootFolder,
    programs: ProgramSearchPath,
}

impl Place {
    fn new(files: &[(&str, &str)], programs: &[&str]) -> Self {
        let (tree, bin) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for (path, content) in files {
            let path = tree.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        for name in programs {
            let path = bin.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let pair = (OsStr::new("PATH"), bin.path().as_os_str());
        Self {
            root: RootFolder::open(tree.path()).unwrap(),
            programs: ProgramSearchPath::of([pair].into_iter()),
            _tree: tree,
            _bin: bin,
        }
    }

    fn top(&self) -> ProjectProbe<'_> {
        ProjectProbe {
            root: &self.root,
            programs: &self.programs,
            folder: String::new(),
        }
    }
}

/// Parses `path=content path=content`, with `~` for a space and `\n` for a line break.
fn files(text: &'static str) -> Vec<(&'static str, String)> {
    let one = |item: &'static str| {
        let (path, content) = item.split_once('=').unwrap_or((item, ""));
        (path, content.replace("~", " ").replace("\\n", "\n"))
    };
    text.split_whitespace().map(one).collect()
}

fn place(text: &'static str, programs: &str) -> Place {
    let files = files(text);
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (*path, text.as_str()))
        .collect();
    Place::new(&files, &programs.split_whitespace().collect::<Vec<_>>())
}
