//! A picture of a folder, to be compared with a later one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What stands at a path: its bytes, when it was changed, its mode.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    bytes: Option<Vec<u8>>,
    changed: Option<SystemTime>,
    mode: u32,
}

/// Everything below a folder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree(BTreeMap<PathBuf, Entry>);

impl Tree {
    /// Takes the picture, without files that hold locks and no data. SQLite makes and removes
    /// an empty log beside the journal, also for a reader; that is no change.
    pub(crate) fn of(folder: &Path) -> Self {
        let mut tree = Self::default();
        tree.add(folder);
        tree
    }

    fn add(&mut self, path: &Path) {
        use std::os::unix::fs::MetadataExt as _;
        let about = fs::symlink_metadata(path).unwrap();
        let name = path.to_string_lossy();
        let is_empty_log = name.ends_with("-wal") && about.len() == 0;
        if is_empty_log || name.ends_with("-shm") || name.ends_with(".lock") {
            return;
        }
        let holds_the_log = name.ends_with("/.artel");
        let entry = Entry {
            bytes: about.is_file().then(|| fs::read(path).unwrap()),
            changed: (!holds_the_log).then(|| about.modified().unwrap()),
            mode: about.mode(),
        };
        self.0.insert(path.to_owned(), entry);
        if about.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                self.add(&entry.unwrap().path());
            }
        }
    }

    /// Demands that nothing has changed since.
    #[track_caller]
    pub(crate) fn unchanged(&self, folder: &Path) {
        let now = Self::of(folder);
        let differs = |path: &&PathBuf| self.0.get(*path) != now.0.get(*path);
        let all = self.0.keys().chain(now.0.keys());
        let changed: Vec<&PathBuf> = all.filter(differs).collect();
        assert_eq!(changed, Vec::<&PathBuf>::new(), "changed on disk");
    }

    /// Returns the files that are there, without the folders.
    pub(crate) fn files(&self) -> Vec<&Path> {
        let files = self.0.iter().filter(|(_, entry)| entry.bytes.is_some());
        files.map(|(path, _)| path.as_path()).collect()
    }
}

/// Returns the files below a folder that hold these bytes.
pub(crate) fn holding(folder: &Path, needle: &[u8]) -> Vec<PathBuf> {
    let has_it = |entry: &Entry| {
        let bytes = entry.bytes.as_deref().unwrap_or_default();
        bytes.windows(needle.len()).any(|part| part == needle)
    };
    let tree = Tree::of(folder);
    let found = tree.0.into_iter().filter(|(_, entry)| has_it(entry));
    found.map(|(path, _)| path).collect()
}
