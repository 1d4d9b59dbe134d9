//! All files that the gates read, as text: the gates touch no disk.

use std::collections::{BTreeMap, BTreeSet};

use super::source::SourceFile;

/// The production code of the workspace, and the texts that people read.
#[derive(Debug, Default)]
pub(super) struct SourceTree {
    /// The files that hold production code, by path.
    pub(super) files: Vec<SourceFile>,
    /// Pages and templates.
    pub(super) pages: Vec<TextPage>,
}

/// A file of text for people.
#[derive(Debug)]
pub(super) struct TextPage {
    pub(super) path: String,
    pub(super) text: String,
}

const TEST_FOLDERS: [&str; 4] = ["tests", "benches", "examples", "fuzz"];

impl SourceTree {
    /// Sorts the files by kind and separates production from tests.
    pub(super) fn new(texts: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut sources = Vec::new();
        let mut packages = BTreeMap::new();
        let mut pages = Vec::new();
        for (path, text) in texts {
            if path.ends_with(".rs") {
                sources.push(SourceFile::new(&path, &text));
            } else if path.ends_with("Cargo.toml") {
                packages.extend(package_of(&path, &text));
            } else if !is_generated(&text) {
                pages.push(TextPage { path, text });
            }
        }
        let tests = tests_among(&sources);
        sources.retain(|file| !tests.contains(&file.path));
        for file in &mut sources {
            file.separate_tests();
            file.package = owner(&packages, &file.path);
        }
        sources.retain(|file| file.length > 0);
        sources.sort_by(|one, other| one.path.cmp(&other.path));
        Self {
            files: sources,
            pages,
        }
    }
}

/// Returns the folder and the name of the package that a manifest describes.
fn package_of(path: &str, text: &str) -> Option<(String, String)> {
    let manifest: toml::Table = text.parse().ok()?;
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Some((folder.to_owned(), name.to_owned()))
}

/// Returns the package of the nearest folder above `path`.
fn owner(packages: &BTreeMap<String, String>, path: &str) -> String {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if let Some(name) = packages.get(above) {
            return name.clone();
        }
        folder = above;
    }
    String::new()
}

/// Tells whether `cargo xtask docs` made the page: its words come from the code.
fn is_generated(text: &str) -> bool {
    text.contains("<!-- Made by `cargo xtask docs`")
}

/// Returns the paths of all files that hold nothing but tests.
fn tests_among(sources: &[SourceFile]) -> BTreeSet<String> {
    let by_path: BTreeMap<&str, &SourceFile> =
        sources.iter().map(|file| (&*file.path, file)).collect();
    let mut tests = BTreeSet::new();
    let mut waiting: Vec<String> = sources.iter().flat_map(SourceFile::test_modules).collect();
    while let Some(path) = waiting.pop() {
        if let Some(file) = by_path.get(&*path)
            && tests.insert(path)
        {
            waiting.extend(file.modules());
        }
    }
    let by_name = sources.iter().filter(|file| is_test_path(&file.path));
    tests.extend(by_name.map(|file| file.path.clone()));
    tests
}

fn is_test_path(path: &str) -> bool {
    let (folder, base) = path.rsplit_once('/').unwrap_or(("", path));
    let mut folders = folder.split('/');
    base == "tests.rs"
        || base.ends_with("_tests.rs")
        || folders.any(|part| {
            TEST_FOLDERS.contains(&part) || part.ends_with("testkit") || part.ends_with("testutils")
        })
}

/// Makes a tree of the given files, for the tests of the gates.
#[cfg(test)]
pub(super) fn tree_of<const N: usize>(texts: [(&str, &str); N]) -> SourceTree {
    let owned = texts.map(|(path, text)| (path.to_owned(), text.to_owned()));
    SourceTree::new(owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_path_and_by_declaration() {
        let tree = tree_of([
            ("crates/a/Cargo.toml", "[package]\nname = \"pack\"\n"),
            ("crates/a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod c;\n"),
            ("crates/a/src/b.rs", "fn b() {}\n"),
            ("crates/a/src/c.rs", "mod deep;\n"),
            ("crates/a/src/c/deep.rs", "fn d() {}\n"),
            ("crates/a/src/b_tests.rs", "fn e() {}\n"),
            ("crates/a/tests/f.rs", "fn f() {}\n"),
            ("crates/x-testkit/src/lib.rs", "fn g() {}\n"),
        ]);
        let found: Vec<_> = tree
            .files
            .iter()
            .map(|it| (&*it.path, &*it.package))
            .collect();
        assert_eq!(
            found,
            [
                ("crates/a/src/b.rs", "pack"),
                ("crates/a/src/lib.rs", "pack")
            ]
        );
    }

    #[test]
    fn generated_pages_are_left_out() {
        let made = "# Events\n\n<!-- Made by `cargo xtask docs`; … -->\n";
        let tree = tree_of([("docs/events.md", made), ("docs/a.md", "text")]);
        assert_eq!(tree.pages.len(), 1);
    }
}
