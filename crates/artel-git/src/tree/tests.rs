//! Tests of a run's tree against real git, in temporary folders.

mod applying;
mod aside;
mod hostile;
mod making;
mod restoring;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::{GitIdentity, GitRunner};

fn program() -> PathBuf {
    ["/usr/local/bin/git", "/usr/bin/git"]
        .map(PathBuf::from)
        .into_iter()
        .find(|path| path.exists())
        .unwrap()
}

/// A person's folder, and a place for runs.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir(scene.origin()).unwrap();
        scene
    }

    /// Makes a scene with a repository and these files committed.
    fn committed(files: &[(&str, &str)]) -> Self {
        let scene = Self::new();
        scene.git(&["init", "-q", "-b", "main"]);
        for (path, text) in files {
            scene.write(path, text);
        }
        scene.git(&["add", "-A"]);
        scene.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        scene
    }

    fn origin(&self) -> PathBuf {
        self.folder.path().join("origin")
    }

    fn at(&self) -> PathBuf {
        self.folder.path().join("runs/one")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.origin().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.origin(), arguments)
    }

    fn make(&self) -> RunTree {
        self.make_with(&self.origin(), &[])
    }

    fn make_with(&self, from: &Path, named: &[PathBuf]) -> RunTree {
        RunTree::make(&RunTreeSpec {
            git: &program(),
            from,
            at: &self.at(),
            named,
            share: &[],
            bounds: RunTreeLimits::default(),
        })
        .unwrap()
    }
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let identity = GitIdentity {
        name: "A Person".to_owned(),
        email: "person@localhost".to_owned(),
    };
    let said = GitRunner::new(program(), folder, identity)
        .set("protocol.file.allow=always")
        .with_programs()
        .run(arguments)
        .unwrap();
    String::from_utf8(said).unwrap()
}

/// Returns every file and link below a folder with its kind, executable bit and bytes.
fn state(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(here) = todo.pop() {
        for entry in fs::read_dir(&here).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if about.is_dir() {
                found.insert(name, "folder".to_owned());
                todo.push(path);
            } else if about.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, format!("link {}", target.display()));
            } else if about.is_file() {
                let mode = about.permissions().mode() & 0o777;
                let bytes = blake3::hash(&fs::read(&path).unwrap());
                found.insert(name, format!("file {mode:o} {bytes}"));
            }
        }
    }
    found
}

/// Returns the files of a run, without the file that points to its repository.
fn files_of(tree: &RunTree) -> BTreeMap<PathBuf, String> {
    let mut state = state(tree.files());
    state.remove(Path::new(".git"));
    state
}

fn names(tree: &RunTree) -> Vec<String> {
    let text = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let is_file = |kind: &String| kind != "folder";
    let files = files_of(tree);
    let files = files.iter().filter(|(_, kind)| is_file(kind));
    files.map(|(path, _)| text(path)).collect()
}

fn changed(tree: &RunTree) -> Vec<(String, RunTreeChangeKind)> {
    let changes = tree.changes(tree.start()).unwrap();
    let name = |change: RunTreeChange| (change.path.to_str().unwrap().to_owned(), change.kind);
    changes.into_iter().map(name).collect()
}
