//! Hashes of the files beside the scripts that a hook's command names, and of what they
//! may load from there.
//!
//! A script speaks for the hook, and so does everything it loads. Most scripts load files
//! from their own folder, so all of that folder is compared with what a person trusted.
//! The root folder of a project holds the work itself; of that, only files of the script's
//! own kind count that it names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::loads::HookLoadablePaths;

/// Most files in a folder of scripts.
const MOST_FILES: usize = 2_000;

/// Most bytes in a folder of scripts.
const MOST_BYTES: u64 = 32 << 20;

/// Deepest nesting of folders; nobody nests scripts deeper.
const DEEPEST: usize = 16;

/// The files and links beside the scripts of a hook, each with the hash of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct HookSiblingFiles {
    pub(super) files: BTreeMap<PathBuf, blake3::Hash>,
    /// Whether there was more than is examined, or something could not be read.
    pub(super) is_cut: bool,
}

impl HookSiblingFiles {
    /// Hashes everything beside these files of a tree, and everything else that a command
    /// may load. All paths are free of links; the recorded names are relative to the tree.
    pub(super) fn of(scripts: &[PathBuf], loads: &HookLoadablePaths, tree: &Path) -> Self {
        let mut looked = HookSiblingScan {
            tree,
            found: Self::default(),
            bytes: 0,
        };
        for script in scripts.iter().chain(&loads.scripts) {
            match script.parent() {
                Some(folder) if folder != tree => looked.folder(folder, 0),
                _ => looked.named_by(script),
            }
        }
        for folder in &loads.wholes {
            looked.folder(folder, 0);
        }
        for folder in &loads.tops {
            looked.top(folder, |path| !is_no_code(path));
        }
        for folder in &loads.settings {
            looked.top(folder, is_setting);
        }
        for file in &loads.files {
            looked.file(file, file);
        }
        looked.found
    }

    /// Returns whether every file here is unchanged in `trusted`. A run's tree lacks the
    /// files that git ignores, so `trusted` may have more.
    pub(super) fn is_part_of(&self, trusted: &Self) -> bool {
        let is_there =
            |(path, hash): (&PathBuf, &blake3::Hash)| trusted.files.get(path) == Some(hash);
        !self.is_cut && self.files.iter().all(is_there)
    }
}

struct HookSiblingScan<'t> {
    tree: &'t Path,
    found: HookSiblingFiles,
    bytes: u64,
}

impl HookSiblingScan<'_> {
    fn folder(&mut self, folder: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(folder) else {
            self.found.is_cut = true;
            return;
        };
        for entry in entries.flatten() {
            if self.found.is_cut {
                return;
            }
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() && entry.file_name() == ".git" => {}
                Ok(kind) if kind.is_dir() && depth == DEEPEST => self.found.is_cut = true,
                Ok(kind) if kind.is_dir() => self.folder(&path, depth + 1),
                Ok(kind) if kind.is_symlink() => self.link(&path),
                Ok(kind) if kind.is_file() => {
                    self.file(&path, &path);
                }
                // Pipes and the like are not read.
                _ => self.found.is_cut = true,
            }
        }
    }

    /// Adds the files directly in a folder, but not those in its subfolders.
    fn top(&mut self, folder: &Path, counts: fn(&Path) -> bool) {
        let Ok(entries) = fs::read_dir(folder) else {
            self.found.is_cut = true;
            return;
        };
        for entry in entries.flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            let name = path.strip_prefix(self.tree).unwrap_or(&path);
            if self.found.is_cut || self.found.files.contains_key(name) || !counts(&path) {
                continue;
            }
            match kind {
                Ok(kind) if kind.is_symlink() => self.link(&path),
                Ok(kind) if kind.is_file() => {
                    self.file(&path, &path);
                }
                _ => {}
            }
        }
    }

    /// Adds a link by its target, and by the content there.
    fn link(&mut self, path: &Path) {
        let Ok(target) = fs::read_link(path) else {
            self.found.is_cut = true;
            return;
        };
        let inside = path.canonicalize();
        let inside = inside
            .ok()
            .filter(|it| it.starts_with(self.tree) && it.is_file());
        match inside {
            Some(real) => {
                self.file(path, &real);
            }
            None => self.put(path, blake3::hash(target.as_os_str().as_encoded_bytes())),
        }
    }

    /// Adds a file under a name and returns its bytes.
    fn file(&mut self, name: &Path, file: &Path) -> Option<Vec<u8>> {
        let left = MOST_BYTES.saturating_sub(self.bytes);
        let Ok(bytes) = artel_files::read_bounded(file, left) else {
            self.found.is_cut = true;
            return None;
        };
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        self.put(name, blake3::hash(&bytes));
        Some(bytes)
    }

    fn put(&mut self, name: &Path, hash: blake3::Hash) {
        let name = name.strip_prefix(self.tree).unwrap_or(name);
        self.found.files.insert(name.to_owned(), hash);
        self.found.is_cut |= self.found.files.len() > MOST_FILES;
    }

    /// Adds a script at the root of the tree, with the files of its kind there that it
    /// names, and those that they name in turn.
    fn named_by(&mut self, script: &Path) {
        let mut waiting = vec![script.to_owned()];
        while let Some(script) = waiting.pop() {
            let name = script.strip_prefix(self.tree).unwrap_or(&script);
            if self.found.is_cut || self.found.files.contains_key(name) {
                continue;
            }
            let Some(bytes) = self.file(&script, &script) else {
                return;
            };
            let text = String::from_utf8_lossy(&bytes);
            let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
            let words: std::collections::BTreeSet<_> =
                text.split(|letter| !is_part(letter)).collect();
            let siblings = fs::read_dir(self.tree).into_iter().flatten().flatten();
            let siblings = siblings.map(|entry| entry.path()).filter(|path| {
                let stem = path.file_stem().and_then(|stem| stem.to_str());
                path.extension() == script.extension()
                    && stem.is_some_and(|stem| words.contains(stem))
                    && path.is_file()
            });
            waiting.extend(siblings.take(MOST_FILES));
        }
    }
}

/// Returns whether a file at the root of a project looks like the settings of a program.
fn is_setting(path: &Path) -> bool {
    const ENDINGS: [&str; 9] = [
        "toml", "json", "json5", "jsonc", "yaml", "yml", "cfg", "ini", "conf",
    ];
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ending = path.extension().and_then(|ending| ending.to_str());
    name.starts_with('.')
        || name.contains("config")
        || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

/// Returns whether a file at the root of a project is one that no program loads as code:
/// prose, data tables, images, logs.
fn is_no_code(path: &Path) -> bool {
    const ENDINGS: [&str; 12] = [
        "md", "rst", "adoc", "csv", "tsv", "png", "jpg", "jpeg", "gif", "svg", "pdf", "log",
    ];
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_counts_whole_and_the_project_by_what_a_script_names() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().canonicalize().unwrap();
        let put = |name: &str, text: &str| {
            let path = tree.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let check = put("ci/check.sh", ". ci/lib/common.sh");
        put("ci/lib/common.sh", "true");
        put("ci/.git/config", "x");
        std::os::unix::fs::symlink("lib/common.sh", tree.join("ci/link.sh")).unwrap();
        let lint = put("lint.py", "import helper, os\n");
        put("helper.py", "from deeper import x\n");
        put("deeper.py", "");
        put("app.py", "the work");
        put("helper.md", "notes");
        let names = |scripts: &[PathBuf]| {
            let found = HookSiblingFiles::of(scripts, &HookLoadablePaths::default(), &tree);
            assert!(!found.is_cut);
            let names = found.files.into_keys();
            names.map(|it| it.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            names(std::slice::from_ref(&check)),
            ["ci/check.sh", "ci/lib/common.sh", "ci/link.sh"]
        );
        assert_eq!(
            names(std::slice::from_ref(&lint)),
            ["deeper.py", "helper.py", "lint.py"]
        );
        let before = HookSiblingFiles::of(
            std::slice::from_ref(&check),
            &HookLoadablePaths::default(),
            &tree,
        );
        put("ci/lib/common.sh", "exit 2");
        let after = HookSiblingFiles::of(
            std::slice::from_ref(&check),
            &HookLoadablePaths::default(),
            &tree,
        );
        assert_ne!(before, after);
        assert!(!after.is_part_of(&before) && before.is_part_of(&before));
        for number in 0..=MOST_FILES {
            put(&format!("many/{number}.sh"), "");
        }
        assert!(
            HookSiblingFiles::of(
                &[tree.join("many/1.sh")],
                &HookLoadablePaths::default(),
                &tree
            )
            .is_cut
        );
    }
}
