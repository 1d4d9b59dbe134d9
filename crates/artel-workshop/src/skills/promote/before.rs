//! The files of a run as they were when it began, and those of them that a test needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use artel_files::{FileAccessKind, FileAccessRefusal, RootFolder, read_bounded};
use artel_git::RunTree;
use artel_model::{Cassette, CassetteTake};
use artel_skills::Skill;
use artel_skills::cases::ExpectedFileState;
use artel_types::model::{MessagePart, ModelReply, ModelRequest};
use artel_types::{Failure, FailureCode, FileChange, FileChangeKind, RunStarted};

use crate::skills::rehearse::{SKILL_DIR, WORKSPACE};
use crate::workshop::Workshop;

/// Limits of the input files that a test includes: their number, their bytes in all, the
/// bytes of each.
const MOST_FILES: usize = 50;
const MOST_BYTES: usize = 512 * 1024;
const LARGEST_FILE: u64 = 128 * 1024;

/// Longest line that stands for a text in the expected outcome, in characters.
const LONGEST_EXPECTED: usize = 80;

/// The files of a run as they were when it began.
pub(super) struct InitialRunFiles {
    folder: PathBuf,
    tree: Option<RunTree>,
}

impl InitialRunFiles {
    pub(super) fn of(workshop: &Workshop, started: &RunStarted) -> Result<Self, Failure> {
        let folder = started.folder.as_deref().map(PathBuf::from);
        let folder =
            folder.ok_or_else(|| Failure::new(FailureCode::R008, "the run names no folder"))?;
        let git = workshop.caller.program("git");
        let at = workshop.run_place(started.id);
        // A run that changed nothing has no tree of its own: it read its folder.
        let tree = git.and_then(|git| RunTree::open(&git, &at).ok());
        Ok(Self { folder, tree })
    }

    /// Returns a path relative to the workspace, or `None` if it lies outside.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let tree = self.tree.as_ref().map(RunTree::files);
        let relative = tree
            .and_then(|tree| path.strip_prefix(tree).ok())
            .or_else(|| path.strip_prefix(&self.folder).ok())
            .unwrap_or(path);
        let plain: PathBuf = relative
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        let mut parts = plain.components();
        let is_plain = parts.all(|part| matches!(part, Component::Normal(_)));
        (is_plain && !plain.as_os_str().is_empty()).then_some(plain)
    }

    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        match &self.tree {
            Some(tree) => tree.file_at(tree.start(), path, LARGEST_FILE).ok()?,
            None => {
                let root = RootFolder::open(&self.folder).ok()?;
                root.read(path, LARGEST_FILE, &any).ok()
            }
        }
    }

    /// Returns the files of these names that existed when the run began, and the names of
    /// those that a test cannot include.
    pub(super) fn inputs<'p>(
        &self,
        paths: impl Iterator<Item = &'p str>,
        changed: &[FileChange],
    ) -> (BTreeMap<String, String>, Vec<String>) {
        let paths: BTreeSet<PathBuf> = paths.filter_map(|path| self.inside(path)).collect();
        let (mut files, mut left_out, mut bytes) = (BTreeMap::new(), Vec::new(), 0);
        for path in paths {
            let name = path.display().to_string();
            // Without the run's tree, the earlier content of a file that the run changed is lost.
            let mut changes = changed.iter().filter(|_| self.tree.is_none());
            if let Some(change) = changes.find(|change| change.path == name) {
                if change.kind != FileChangeKind::Made {
                    left_out.push(name);
                }
                continue;
            }
            let Some(held) = self.read(&path) else {
                if self.folder.join(&path).is_file() {
                    left_out.push(name);
                }
                continue;
            };
            let fits = files.len() < MOST_FILES && bytes + held.len() <= MOST_BYTES;
            match String::from_utf8(held) {
                Ok(text) if fits && path.to_str().is_some() => {
                    bytes += text.len();
                    files.insert(name, text);
                }
                _ => left_out.push(name),
            }
        }
        (files, left_out)
    }

    /// Returns the expected states of the changed files after a run.
    pub(super) fn outcome(&self, changed: &[FileChange]) -> BTreeMap<String, ExpectedFileState> {
        let expected = changed.iter().take(MOST_FILES).filter_map(|change| {
            let state = match change.kind {
                FileChangeKind::Deleted => ExpectedFileState::Absent(true),
                FileChangeKind::Mode => return None,
                FileChangeKind::Made | FileChangeKind::Changed | FileChangeKind::Renamed => {
                    let tree = self.tree.as_ref().map(RunTree::files);
                    let file = tree.unwrap_or(&self.folder).join(&change.path);
                    let bytes = read_bounded(&file, 4 << 20).ok();
                    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
                    let line = text.and_then(|text| self.expected_line(&text));
                    line.map_or(
                        ExpectedFileState::Absent(false),
                        ExpectedFileState::Contains,
                    )
                }
            };
            Some((change.path.clone(), state))
        });
        expected.collect()
    }

    /// Returns a recording with placeholders for the paths that differ from folder to folder,
    /// and without the requests: they hold the whole conversation, and a test makes its own.
    pub(super) fn cleaned(&self, cassette: &Cassette, skill: &Skill) -> Cassette {
        let mut names = vec![
            (skill.folder.display().to_string(), SKILL_DIR),
            (self.folder.display().to_string(), WORKSPACE),
        ];
        if let Some(tree) = &self.tree {
            names.push((tree.files().display().to_string(), WORKSPACE));
        }
        // The longest paths come first, so that a folder inside another one is replaced before it.
        names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        let clean = |text: &mut String| {
            for (path, name) in &names {
                *text = text.replace(path.as_str(), name);
            }
        };
        let takes = cassette.takes().iter().map(|take| {
            let mut reply: ModelReply = take.reply.clone();
            for part in &mut reply.parts {
                match part {
                    MessagePart::Text { text, .. } | MessagePart::Thinking { text, .. } => {
                        clean(text)
                    }
                    MessagePart::ToolCall(call) => clean(&mut call.arguments),
                    MessagePart::Image(_) | MessagePart::ToolResult(_) => {}
                }
            }
            CassetteTake::new(ModelRequest::default(), reply)
        });
        Cassette::new(takes.collect())
    }

    fn names_a_folder(&self, text: &str) -> bool {
        let tree = self
            .tree
            .as_ref()
            .map(|tree| tree.files().display().to_string());
        tree.is_some_and(|tree| text.contains(&tree))
            || text.contains(&*self.folder.display().to_string())
    }

    /// Returns the first line that is not empty and holds no path of this run.
    pub(super) fn expected_line(&self, text: &str) -> Option<String> {
        let mut lines = text.lines().map(str::trim);
        let line = lines.find(|line| !line.is_empty() && !self.names_a_folder(line))?;
        Some(line.chars().take(LONGEST_EXPECTED).collect())
    }
}

fn any(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Ok(())
}
