//! Tests of a changeset's line against real git, in temporary folders.

mod branching;
mod committing;
mod hostile;
mod killing;
mod merging;
mod reading;
mod undoing;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

const WHEN: i64 = 1_700_000_000;

/// Returns every git of this machine, the oldest and the newest alike.
fn programs() -> Vec<PathBuf> {
    ["/usr/local/bin/git", "/usr/bin/git"]
        .map(PathBuf::from)
        .into_iter()
        .filter(|path| path.exists())
        .collect()
}

fn ada() -> GitIdentity {
    GitIdentity {
        name: "Ada".to_owned(),
        email: "ada@localhost".to_owned(),
    }
}

/// A person's folder, and a place for lines and checkouts.
struct Scene {
    folder: TempDir,
    program: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let scene = Self {
            folder: TempDir::new().unwrap(),
            program: programs().remove(0),
        };
        fs::create_dir(scene.origin()).unwrap();
        scene
    }

    /// Makes a scene with a repository and these files committed on `main`.
    fn committed(files: &[(&str, &str)]) -> Self {
        let scene = Self::new();
        scene.git(&["init", "-q", "-b", "main"]);
        for (path, text) in files {
            scene.write(path, text);
        }
        scene.commit("first");
        scene
    }

    fn origin(&self) -> PathBuf {
        self.folder.path().join("origin")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn line(&self) -> PlanBranch {
        self.line_at("line")
    }

    fn line_at(&self, name: &str) -> PlanBranch {
        PlanBranch::make(
            &self.program,
            &self.path(name),
            &self.origin(),
            RunTreeLimits::default(),
        )
        .unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        put(&self.origin(), path, text);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.origin().join(path)).unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.origin(), arguments)
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let identity = GitIdentity {
            name: "A Person".to_owned(),
            email: "person@localhost".to_owned(),
        };
        let git = GitRunner::new(&self.program, folder, identity).with_programs();
        String::from_utf8(git.run(arguments).unwrap()).unwrap()
    }

    fn id(&self, name: &str) -> String {
        self.git(&["rev-parse", name]).trim().to_owned()
    }

    fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.id("HEAD")
    }

    /// Returns what git says about the person's files and index.
    fn status(&self) -> String {
        self.git(&["status", "--porcelain", "--untracked-files=all"])
    }

    /// Returns everything of the person's: files, what git says about them, and where `HEAD`
    /// and the branches are.
    fn everything(&self) -> (BTreeMap<PathBuf, String>, String, String) {
        let refs = self.git(&["for-each-ref", "--format=%(refname) %(objectname)"]);
        let head = self.git(&["rev-parse", "--symbolic-full-name", "HEAD"]);
        let staged = self.git(&["ls-files", "-s"]);
        (files(&self.origin()), refs + &head + &staged, self.status())
    }
}

/// A line with one branch whose commits are made step by step.
struct Work<'s> {
    scene: &'s Scene,
    line: PlanBranch,
    head: String,
    steps: usize,
}

impl<'s> Work<'s> {
    fn new(scene: &'s Scene) -> Self {
        Self::at(scene, "line")
    }

    fn at(scene: &'s Scene, name: &str) -> Self {
        let line = scene.line_at(name);
        let head = line.base().unwrap().commit;
        Self {
            scene,
            line,
            head,
            steps: 0,
        }
    }

    /// Commits what `change` does to a checkout of the branch.
    fn step(&mut self, change: impl Fn(&Path)) -> String {
        let base = self.head.clone();
        let tree = self.tree(&base, change);
        match self.commit(&tree, &base) {
            CommitOutcome::Done { commit, .. } => commit,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the tree of what `change` does to a checkout of a commit.
    fn tree(&mut self, base: &str, change: impl Fn(&Path)) -> String {
        self.steps += 1;
        let name = self.line.at.file_name().unwrap().to_str().unwrap();
        let at = self.scene.path(&format!("{name}-step-{}", self.steps));
        let tree = self.line.checkout(base, &at, &[]).unwrap();
        change(tree.files());
        self.line.take(&tree).unwrap()
    }

    fn commit(&mut self, tree: &str, base: &str) -> CommitOutcome {
        let message = format!("step {}\n\nTrace-Id: abc", self.steps);
        let committed = self
            .line
            .commit(&CommitSpec {
                tree,
                base,
                onto: &self.head,
                message: &message,
                when: WHEN,
                author: &ada(),
            })
            .unwrap();
        if let CommitOutcome::Done { commit, .. } = &committed {
            self.line.advance("fix/it-1", &self.head, commit).unwrap();
            self.head.clone_from(commit);
        }
        committed
    }

    fn plan(&self) -> Result<PreparedMerge, MergeRefusedError> {
        self.line.plan_merge(&MergeSpec {
            head: &self.head,
            into: "main",
            message: "Merge branch 'fix/it-1'",
            when: WHEN,
            author: &ada(),
        })
    }

    fn merge(&self) -> PreparedMerge {
        let merge = self.plan().unwrap();
        self.line.carry_out(&merge).unwrap();
        merge
    }

    fn undo(&self, commit: &str) -> Result<PreparedMerge, MergeRefusedError> {
        self.line.plan_undo(&UndoSpec {
            commit,
            into: "main",
            message: "Undo it",
            when: WHEN + 1,
            author: &ada(),
        })
    }
}

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns every file and link below a folder, without git's own files.
fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut todo = vec![folder.to_owned()];
    while let Some(here) = todo.pop() {
        for entry in fs::read_dir(&here).unwrap() {
            let path = entry.unwrap().path();
            let about = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(folder).unwrap().to_owned();
            if name == Path::new(".git") {
                continue;
            }
            if about.is_dir() {
                found.insert(name, "folder".to_owned());
                todo.push(path);
            } else if about.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, format!("link {}", target.display()));
            } else {
                let mode = about.permissions().mode() & 0o777;
                let bytes = fs::read(&path).unwrap();
                found.insert(
                    name,
                    format!("{mode:o} {}", String::from_utf8_lossy(&bytes)),
                );
            }
        }
    }
    found
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}
