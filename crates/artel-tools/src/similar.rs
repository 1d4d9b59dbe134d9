//! Finds names and paths similar to a missing one, for hints.

use std::path::Path;

use ignore::WalkBuilder;

use crate::above::{AncestorIgnoreRules, heed_rules};

/// Largest number of entries in a tree examined for similar paths.
const MOST_ENTRIES: usize = 20_000;
/// Smallest similarity that counts as similar.
const ALIKE: f64 = 0.78;

/// Returns the names most similar to the wanted one, best first.
pub fn nearest<'n>(
    wanted: &str,
    names: impl IntoIterator<Item = &'n str>,
    most: usize,
) -> Vec<&'n str> {
    let wanted = wanted.to_lowercase();
    let rate = |name: &'n str| (alike(&wanted, &name.to_lowercase()), name);
    best(names.into_iter().map(rate), most)
}

/// Returns paths beneath a folder that resemble the wanted one: the same name elsewhere
/// first, then similar names. The search ends after a limited number of entries; ignored
/// and hidden files are not offered.
pub(crate) fn nearest_paths(root: &Path, wanted: &str, most: usize) -> Vec<String> {
    let paths = walk(root)
        .take(MOST_ENTRIES)
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let path = entry.path().strip_prefix(root).ok()?.to_str()?;
            (!path.is_empty()).then(|| path.to_owned())
        });
    best(paths.map(|path| (likeness(wanted, &path), path)), most)
}

/// Walks a folder without ignored or hidden files, with and without git.
pub(crate) fn walk(root: &Path) -> ignore::Walk {
    let above = AncestorIgnoreRules::of(root, root);
    let mut walk = WalkBuilder::new(root);
    heed_rules(&mut walk, root);
    walk.parents(false)
        .require_git(false)
        .git_global(false)
        .filter_entry(move |entry| !above.hides(entry))
        .build()
}

/// Rates a path: its last name counts most, the folders above it break ties.
fn likeness(wanted: &str, path: &str) -> f64 {
    let (wanted, path) = (wanted.to_lowercase(), path.to_lowercase());
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let names = alike(&name(&wanted), &name(&path));
    let whole = strsim::jaro_winkler(&wanted, &path);
    names * 0.8 + whole * 0.2
}

/// Rates two names. A single typing mistake always counts as similar, even in short names.
fn alike(one: &str, other: &str) -> f64 {
    let rate = strsim::jaro_winkler(one, other);
    let is_slip = one.len() > 2 && one != other && strsim::osa_distance(one, other) == 1;
    if is_slip { rate.max(0.9) } else { rate }
}

fn best<T: Ord>(rated: impl Iterator<Item = (f64, T)>, most: usize) -> Vec<T> {
    let mut rated: Vec<_> = rated.filter(|(rate, _)| *rate >= ALIKE).collect();
    rated.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
    rated.truncate(most);
    rated.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn names_are_found_by_likeness() {
        let names = ["rust", "ruby", "python", "py"];
        assert_eq!(nearest("Rusty", names, 2), ["rust", "ruby"]);
        assert_eq!(nearest("pyton", names, 1), ["python"]);
        assert_eq!(nearest("ruts", names, 1), ["rust"]);
        assert!(nearest("zzz", names, 3).is_empty());
    }

    #[test]
    fn a_file_elsewhere_comes_first() {
        let dir = TempDir::new().unwrap();
        for path in [
            "src/config.rs",
            "src/confit.rs",
            "tests/other.rs",
            "target/config.rs",
        ] {
            fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
            fs::write(dir.path().join(path), "").unwrap();
        }
        fs::write(dir.path().join(".gitignore"), "/target\n").unwrap();
        assert_eq!(
            nearest_paths(dir.path(), "lib/config.rs", 5),
            ["src/config.rs", "src/confit.rs"]
        );
    }
}
