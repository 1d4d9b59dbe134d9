//! Other spellings of protected names: `.GIT` is `.git` on file systems that ignore case.
//!
//! There are too many of them to hold each. Those that exist at the start are shown
//! read-only, like the name itself. Those that appear while a command runs are set aside
//! by the starter, after everything has ended and before the result is reported. They keep
//! their content under a name that no program looks for.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with};
use rustix::io::Errno;

/// Limit on the reported paths, in bytes.
const REPORTED: usize = 16 << 10;

/// Number of names tried for an entry that is set aside.
const TRIES: usize = 1000;

/// The names whose other spellings are looked for.
#[derive(Debug, Default)]
pub(super) struct ProtectedSpellings {
    exact: HashSet<String>,
    folded: HashSet<String>,
}

/// A folder that is checked again at the end.
#[derive(Debug)]
pub(super) struct SpellingWatchFolder {
    handle: OwnedFd,
    path: PathBuf,
    known: Vec<OsString>,
}

impl ProtectedSpellings {
    /// Takes the names that stand directly in a folder. For names with a path only the exact
    /// spelling is protected.
    pub(super) fn of(names: &[String]) -> Self {
        let plain = || names.iter().filter(|name| !name.contains('/'));
        Self {
            exact: plain().cloned().collect(),
            folded: plain().map(|name| fold(name)).collect(),
        }
    }

    /// Returns whether this is another spelling of one of the names.
    fn is_other(&self, name: &str) -> bool {
        !self.exact.contains(name) && self.folded.contains(&fold(name))
    }

    fn others_in(&self, handle: &OwnedFd) -> io::Result<Vec<OsString>> {
        let mut found = Vec::new();
        for entry in Dir::read_from(handle)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_ok_and(|name| self.is_other(name)) {
                found.push(OsString::from_vec(name.to_bytes().to_vec()));
            }
        }
        Ok(found)
    }

    /// Records the other spellings that exist in a folder now.
    pub(super) fn watch(&self, folder: &Path) -> io::Result<SpellingWatchFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let handle = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        Ok(SpellingWatchFolder {
            known: self.others_in(&handle)?,
            handle,
            path: folder.to_owned(),
        })
    }
}

impl SpellingWatchFolder {
    /// Returns the other spellings that existed at the start.
    pub(super) fn known(&self) -> impl Iterator<Item = PathBuf> {
        self.known.iter().map(|name| self.path.join(name))
    }

    /// Sets aside the other spellings that have appeared, and returns their original paths.
    pub(super) fn set_aside(&self, spellings: &ProtectedSpellings) -> Vec<PathBuf> {
        // A folder that can no longer be read is invisible to everyone.
        let now = spellings.others_in(&self.handle).unwrap_or_default();
        now.into_iter()
            .filter(|name| !self.known.contains(name))
            .filter(|name| self.move_away(name))
            .map(|name| self.path.join(name))
            .collect()
    }

    fn move_away(&self, name: &OsString) -> bool {
        for number in 1..=TRIES {
            let mut aside = name.clone();
            aside.push(".set-aside");
            if number > 1 {
                aside.push(format!("-{number}"));
            }
            let flags = RenameFlags::NOREPLACE;
            match renameat_with(&self.handle, name, &self.handle, &aside, flags) {
                Err(Errno::EXIST) => {}
                done => return done.is_ok(),
            }
        }
        false
    }
}

/// Leaves out the paths that do not fit into one report.
pub(super) fn reported(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut room = REPORTED;
    let fits = |path: &PathBuf| {
        let length = path.as_os_str().len() + 8;
        let fits = length <= room;
        room = room.saturating_sub(length);
        fits
    };
    paths.into_iter().take_while(fits).collect()
}

/// Folds the spellings of a name into one, as the most forgiving file system would.
fn fold(name: &str) -> String {
    let is_seen = |letter: &char| {
        !matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}')
    };
    let folded: String = name
        .trim_end_matches(['.', ' '])
        .chars()
        .filter(is_seen)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_are_told_apart_from_names() {
        let spellings = ProtectedSpellings::of(&[".git", ".ssh", ".config/git"].map(str::to_owned));
        for other in [
            ".GIT",
            ".Git",
            ".g\u{200c}it",
            ".git.",
            ".ſsh",
            ".gıt".to_uppercase().as_str(),
        ] {
            assert!(spellings.is_other(other), "{other}");
        }
        for fine in [".git", "git", ".gitignore", ".config", "GIT", ".git2"] {
            assert!(!spellings.is_other(fine), "{fine}");
        }
    }

    #[test]
    fn what_appears_is_set_aside_and_what_was_there_stays() {
        let root = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(root.path()).unwrap();
        let spellings = ProtectedSpellings::of(&[".git".to_owned()]);
        std::fs::write(root.join(".GIT"), "mine").unwrap();
        let watched = spellings.watch(&root).unwrap();
        assert_eq!(watched.known().collect::<Vec<_>>(), [root.join(".GIT")]);
        std::fs::create_dir(root.join(".Git")).unwrap();
        std::fs::write(root.join(".Git/config"), "theirs").unwrap();
        std::fs::write(root.join(".Git.set-aside"), "taken").unwrap();
        assert_eq!(watched.set_aside(&spellings), [root.join(".Git")]);
        let moved = std::fs::read_to_string(root.join(".Git.set-aside-2/config"));
        assert_eq!(moved.unwrap(), "theirs");
        assert!(root.join(".GIT").exists() && !root.join(".Git").exists());
    }
}
