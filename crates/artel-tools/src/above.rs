//! Ignore rules from folders above the one where a walk begins.
//!
//! They apply up to the root of the repository and no further. A tree inside an ignored
//! folder, as the trees of runs are, is walked all the same: a rule that ignores the whole
//! tree says nothing about its content.

use std::path::Path;

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, WalkBuilder};

/// The files that hold such rules.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// The rules from above that apply to a walk, in addition to those that it finds on its
/// way.
#[derive(Debug, Clone, Default)]
pub(crate) struct AncestorIgnoreRules(Vec<Gitignore>);

impl AncestorIgnoreRules {
    /// Reads the rules for a walk in a folder of a tree.
    pub(crate) fn of(tree: &Path, folder: &Path) -> Self {
        let has_git = |path: &&Path| path.join(".git").exists();
        let top = tree.ancestors().find(has_git).unwrap_or(tree);
        let above = folder.ancestors().skip(1);
        let rules = above
            .take_while(|path| path.starts_with(top))
            .flat_map(|path| FILES.map(|name| path.join(name)))
            .filter(|file| file.is_file())
            .map(|file| Gitignore::new(file).0);
        let judges = |rules: &Gitignore| {
            let lies_below = tree.starts_with(rules.path()) && tree != rules.path();
            !lies_below || !rules.matched_path_or_any_parents(tree, true).is_ignore()
        };
        Self(rules.filter(judges).collect())
    }

    /// Returns whether a walk skips an entry. The folder where it begins was named, so it is
    /// never skipped.
    pub(crate) fn hides(&self, entry: &DirEntry) -> bool {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let hides = |rules: &Gitignore| rules.matched(entry.path(), is_folder).is_ignore();
        let is_hidden =
            || self.0.iter().any(hides) || is_folder && !rules_can_be_read(entry.path());
        entry.depth() > 0 && is_hidden()
    }
}

/// Makes a walk apply the rules in its first folder, unless a pipe has taken their place.
pub(crate) fn heed_rules(walk: &mut WalkBuilder, folder: &Path) {
    let can_be_read = rules_can_be_read(folder);
    walk.git_ignore(can_be_read).ignore(can_be_read);
}

/// Returns whether reading the rules in a folder will end. A command can put a pipe in
/// their place, and opening a pipe waits for a writer.
fn rules_can_be_read(folder: &Path) -> bool {
    let has_end = |name: &str| {
        let about = folder.join(name).metadata();
        about.map_or(true, |about| about.is_file() || about.is_dir())
    };
    FILES.iter().all(|name| has_end(name))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn rules_hold_up_to_the_repository_and_not_for_a_tree_that_is_ignored() {
        let home = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("repo/.git/HEAD", ""),
            ("repo/.gitignore", "*.log\n/build\n"),
            ("repo/sub/a.txt", ""),
            ("repo/sub/a.log", ""),
            (".gitignore", "*\n"),
            ("state/.gitignore", "*\n"),
            ("state/tree/src/b.txt", ""),
            ("state/tree/src/b.tmp", ""),
            ("state/tree/.gitignore", "*.tmp\n"),
        ] {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let seen = |tree: &str, folder: &str| {
            let (tree, folder) = (home.path().join(tree), home.path().join(folder));
            let above = AncestorIgnoreRules::of(&tree, &folder);
            let walk = WalkBuilder::new(&folder)
                .parents(false)
                .require_git(false)
                .filter_entry(move |entry| !above.hides(entry))
                .build();
            let names = walk.filter_map(|entry| {
                let entry = entry.unwrap();
                let is_file = entry.file_type().unwrap().is_file();
                is_file.then(|| entry.file_name().to_string_lossy().into_owned())
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(seen("repo", "repo/sub"), ["a.txt"]);
        assert_eq!(seen("repo/sub", "repo/sub"), ["a.txt"]);
        assert_eq!(seen("state/tree", "state/tree"), ["b.txt"]);
        assert_eq!(seen("state/tree", "state/tree/src"), ["b.txt"]);
        // The same holds if the workshop itself is in a repository.
        fs::create_dir(home.path().join(".git")).unwrap();
        assert_eq!(seen("state/tree", "state/tree/src"), ["b.txt"]);
    }
}
