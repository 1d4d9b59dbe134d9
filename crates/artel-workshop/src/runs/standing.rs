//! The standing context of a folder, which applies to everything done there: `AGENTS.md`
//! and the workshop's own notes.

use std::path::{Path, PathBuf};

use artel_rules::excerpt::marked;

use crate::workshop::Workshop;

/// Maximum size of the standing context, in bytes. The end is cut off.
const MOST: usize = 32 * 1024;

/// The text of the standing context, and the files it came from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct StandingContext {
    pub(crate) text: String,
    /// Each file, followed by the BLAKE3 hash of its bytes.
    pub(crate) files: Vec<String>,
}

impl Workshop {
    /// Reads the standing context of a folder: first the project's files from its root down,
    /// so that nearer files come later and have more weight, then `Knowledge/Context`.
    pub(crate) fn standing_context(&self, folder: &Path) -> StandingContext {
        let mut standing = Self::project_context(folder);
        let context = self.root.join("Knowledge/Context");
        let mut files: Vec<_> = std::fs::read_dir(context)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .collect();
        files.sort();
        for file in files {
            standing.add(&file);
        }
        standing
    }

    /// Reads the standing context of a project without the workshop's notes.
    pub(crate) fn project_context(folder: &Path) -> StandingContext {
        let mut standing = StandingContext::default();
        for file in project_files(folder) {
            standing.add(&file);
        }
        standing
    }
}

impl StandingContext {
    fn add(&mut self, file: &Path) {
        let Ok(bytes) = artel_files::read_bounded(file, 1 << 20) else {
            return;
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = marked(&text);
        let hash = blake3::hash(&bytes).to_hex();
        let room = MOST.saturating_sub(self.text.len());
        if text.trim().is_empty() || room == 0 {
            return;
        }
        let shown = &text[..text.floor_char_boundary(room.min(text.len()))];
        let cut = if shown.len() < text.len() {
            "\n[cut]"
        } else {
            ""
        };
        let path = file.display();
        self.text.push_str(&format!(
            "<standing file=\"{path}\">\n{}{cut}\n</standing>\n",
            shown.trim_end()
        ));
        self.files.push(format!("{path} {hash}"));
    }
}

/// Returns the instruction files from the root of the project down to a folder. Each
/// folder contributes `AGENTS.override.md`, otherwise `AGENTS.md`, otherwise `CLAUDE.md`.
fn project_files(folder: &Path) -> Vec<PathBuf> {
    let root = folder.ancestors().find(|it| it.join(".git").exists());
    let mut folders: Vec<_> = match root {
        Some(root) => folder
            .ancestors()
            .take_while(|it| it.starts_with(root))
            .collect(),
        None => vec![folder],
    };
    folders.reverse();
    let first = |folder: &Path| {
        ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"]
            .iter()
            .map(|name| folder.join(name))
            .find(|file| file.is_file())
    };
    folders.into_iter().filter_map(first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearer_comes_later_and_all_of_it_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("AGENTS.md", "above the repository");
        put("repo/.git/HEAD", "");
        put("repo/AGENTS.md", "root rules");
        put("repo/CLAUDE.md", "not read beside AGENTS.md");
        put("repo/src/CLAUDE.md", "source rules");
        put("repo/src/deep/AGENTS.md", "plain");
        put("repo/src/deep/AGENTS.override.md", "override");
        let mut standing = StandingContext::default();
        for file in project_files(&home.path().join("repo/src/deep")) {
            standing.add(&file);
        }
        let order = ["root rules", "source rules", "override"];
        let places: Vec<_> = order.iter().map(|text| standing.text.find(text)).collect();
        assert!(places.iter().all(Option::is_some), "{}", standing.text);
        assert!(places.is_sorted());
        assert_eq!(standing.files.len(), 3);
        put(
            "repo/src/deep/AGENTS.override.md",
            "be\u{200b} kind\u{e0041}\u{202e}\n",
        );
        let mut hidden = StandingContext::default();
        hidden.add(&home.path().join("repo/src/deep/AGENTS.override.md"));
        let told = "be<U+200B> kind<U+E0041><U+202E>\n";
        assert!(hidden.text.contains(told), "{}", hidden.text);
        put("repo/src/deep/AGENTS.override.md", &"x".repeat(100_000));
        let mut long = StandingContext::default();
        for file in project_files(&home.path().join("repo/src/deep")) {
            long.add(&file);
        }
        assert!(long.text.len() < MOST + 1_000 && long.text.contains("[cut]"));
    }
}
