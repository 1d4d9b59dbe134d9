//! The file tools by what they do, on real temporary trees.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod cards;
mod change;
mod find;
mod patch;
mod read;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_files::{FileAccessGuard, FileAccessKind, FileAccessRefusal, RootFolder};
use artel_policy::TargetTree;
use artel_tools::{
    PlaceGuardProvider, Tool, ToolContext, ToolError, ToolErrorKind, ToolObservation, file_tools,
};
use serde_json::Value;
use tempfile::TempDir;

/// A tree with the tools laid out.
pub struct Shop {
    dir: TempDir,
    pub bench: ToolContext,
}

/// Lets everything be done but what has `secret` in its name; `fixed` may be read only.
struct Careful;

impl PlaceGuardProvider for Careful {
    fn in_place(&self, _: &TargetTree) -> Arc<dyn FileAccessGuard + Send + Sync> {
        Arc::new(|path: &Path, op: FileAccessKind| {
            let name = path.to_string_lossy();
            let refused =
                name.contains("secret") || (op != FileAccessKind::Read && name.contains("fixed"));
            let refusal = || FileAccessRefusal {
                rule: "test".to_owned(),
                reason: "the test says so".to_owned(),
            };
            if refused { Err(refusal()) } else { Ok(()) }
        })
    }
}

impl Shop {
    /// Makes a tree of these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        for (path, content) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = RootFolder::open(dir.path()).unwrap();
        let bench = ToolContext::new(root, Arc::new(Careful), "engineer");
        Self { dir, bench }
    }

    /// Adds a portal of one file.
    pub fn with_portal(mut self, name: &str, path: &str, content: &str) -> (Self, TempDir) {
        let other = TempDir::new().unwrap();
        fs::write(other.path().join(path), content).unwrap();
        let root = RootFolder::open(other.path()).unwrap();
        self.bench.portals = Arc::new(BTreeMap::from([(name.to_owned(), root)]));
        (self, other)
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    pub fn content(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    pub fn run(&self, tool: &str, input: Value) -> Result<ToolObservation, ToolError> {
        let tool = tool_named(tool);
        tool.intends(&input, &self.bench)?;
        tool.run(&input, &self.bench)
    }

    /// Runs a call that works, and returns its text.
    pub fn does(&self, tool: &str, input: Value) -> String {
        self.run(tool, input).unwrap().text
    }

    /// Runs a call that does not work, and returns why.
    pub fn fails(&self, tool: &str, input: Value, kind: ToolErrorKind) -> String {
        let trouble = self.run(tool, input).unwrap_err();
        assert_eq!(trouble.kind, kind, "{trouble}");
        trouble.to_string()
    }

    /// Returns every file of the tree with its content, so that any change shows.
    pub fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.symlink_metadata().unwrap() {
                    about if about.is_dir() => {
                        all.insert(path.clone(), b"folder".to_vec());
                        folders.push(path);
                    }
                    about if about.is_file() => {
                        all.insert(path.clone(), fs::read(path).unwrap());
                    }
                    _ => {}
                }
            }
        }
        all
    }
}

pub fn tool_named(name: &str) -> Arc<dyn Tool> {
    let mut tools = file_tools().into_iter();
    tools.find(|tool| tool.card().name == name).unwrap()
}

pub fn contains(text: &str, wanted: &str) {
    assert!(text.contains(wanted), "{wanted:?} is not in:\n{text}");
}
