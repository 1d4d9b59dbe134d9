//! Lists, counts and hashes everything in a skill's folder, within limits.
//!
//! All of it is read through one handle, so no link can lead out of the folder. The hash
//! covers every file, because a script can read any of them: trust in only some of the
//! files would be worthless.

use std::io::Read;
use std::path::{Path, PathBuf};

use artel_files::{FileAccessKind, FileAccessRefusal, FileEntryKind, RootFolder, RootFolderError};

use crate::{FileComplaint, Remark, SkillScript, SkillSupportingFile};

const MOST_DEPTH: usize = 6;
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Folders that tools leave behind and no author puts a skill in.
pub(crate) const SKIPPED: &[&str] = &[".git", "node_modules"];

/// The contents of a skill's folder.
#[derive(Debug, Default)]
pub(crate) struct SkillFolderInventory {
    pub(crate) hash: String,
    pub(crate) files: Vec<SkillSupportingFile>,
    pub(crate) scripts: Vec<SkillScript>,
    pub(crate) remarks: Vec<Remark>,
}

/// Lists and hashes a folder.
pub(crate) fn take(root: &RootFolder) -> Result<SkillFolderInventory, FileComplaint> {
    let mut walk = SkillFolderWalk {
        root,
        inventory: SkillFolderInventory::default(),
        hasher: blake3::Hasher::new(),
        files: 0,
        bytes: 0,
    };
    walk.folder(Path::new(""), 0)?;
    walk.inventory.hash = walk.hasher.finalize().to_hex().to_string();
    Ok(walk.inventory)
}

/// Permits everything: reading a skill's own folder needs no further permission.
pub(crate) fn any(_: &Path, _: FileAccessKind) -> Result<(), FileAccessRefusal> {
    Ok(())
}

struct SkillFolderWalk<'r> {
    root: &'r RootFolder,
    inventory: SkillFolderInventory,
    hasher: blake3::Hasher,
    files: usize,
    bytes: u64,
}

impl SkillFolderWalk<'_> {
    fn folder(&mut self, path: &Path, depth: usize) -> Result<(), FileComplaint> {
        let named = if depth == 0 { Path::new(".") } else { path };
        let listing = self.root.list(named, MOST_FILES, &any);
        let listing = listing.map_err(|error| cannot("read", path, &error))?;
        if listing.is_cut || depth > MOST_DEPTH {
            return Err(too_much("deeper", path));
        }
        for entry in listing.entries {
            let below = path.join(&entry.name);
            match entry.found {
                FileEntryKind::Folder if SKIPPED.iter().any(|name| entry.name == *name) => {}
                FileEntryKind::Folder => self.folder(&below, depth + 1)?,
                FileEntryKind::File => self.file(&below)?,
                FileEntryKind::Link => self.link(&below)?,
                FileEntryKind::Special => self.remark(&below, "it is a pipe, a socket or a device"),
            }
        }
        Ok(())
    }

    /// Reads a link to a file inside the folder as that file under another name. Every other
    /// link is skipped.
    fn link(&mut self, path: &Path) -> Result<(), FileComplaint> {
        let leads_to = self.root.resolve(path).ok().and_then(|end| end.about);
        match leads_to.map(|about| about.found) {
            Some(FileEntryKind::File) => self.file(path),
            Some(FileEntryKind::Folder) => {
                self.remark(path, "it is a link to a folder, which is not followed");
                Ok(())
            }
            _ => {
                self.remark(path, "it is a link that leads out of the folder or nowhere");
                Ok(())
            }
        }
    }

    fn file(&mut self, path: &Path) -> Result<(), FileComplaint> {
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(too_much("more", path));
        }
        let mut opened = match self.root.open_file(path, &any) {
            Ok(opened) => opened,
            Err(error @ RootFolderError::NamedElsewhere { .. }) => {
                self.remark(path, &error.to_string());
                return Ok(());
            }
            Err(error) => return Err(cannot("open", path, &error)),
        };
        let name = path.to_string_lossy().replace('\\', "/");
        self.header(path, opened.about.mode);
        let mut count = SkillFileCounter::default();
        let mut buffer = vec![0; 64 * 1024];
        let mut hasher = blake3::Hasher::new();
        loop {
            let read = opened.file.read(&mut buffer);
            let read = read.map_err(|error| cannot("read", path, &error))?;
            let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
                break;
            };
            self.bytes += piece.len() as u64;
            if self.bytes > MOST_BYTES {
                return Err(too_much("larger", path));
            }
            hasher.update(piece);
            count.add(piece);
        }
        // Adds each file's own hash, so that bytes cannot move from one file to the next
        // unnoticed.
        self.hasher.update(hasher.finalize().as_bytes());
        self.sort(name, &count, opened.about.mode);
        Ok(())
    }

    /// Adds a file to the scripts, to the supporting files, or to neither.
    fn sort(&mut self, path: String, count: &SkillFileCounter, mode: u32) {
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        if is_hidden || is_bookkeeping(&path) {
            return;
        }
        if path.starts_with("scripts/") {
            if is_script(&path, count, mode) {
                let bytes = count.bytes;
                self.inventory.scripts.push(SkillScript { path, bytes });
            }
            return;
        }
        self.inventory.files.push(SkillSupportingFile {
            path,
            description: None,
            bytes: count.bytes,
            lines: count.lines(),
        });
    }

    fn header(&mut self, path: &Path, mode: u32) {
        let name = path.as_os_str().as_encoded_bytes();
        self.hasher.update(&(name.len() as u64).to_le_bytes());
        self.hasher.update(name);
        self.hasher.update(&[u8::from(mode & 0o111 != 0)]);
    }

    fn remark(&mut self, path: &Path, message: &str) {
        self.header(path, 0);
        let mut remark = FileComplaint::new("files", format!("`{}`: {message}", path.display()));
        remark.file = Some(self.root.path().join(path));
        self.inventory
            .remarks
            .push(remark.advise("put the file itself there if the skill needs it"));
    }
}

/// Returns whether a file is about the skill rather than for it: its licence, its tests,
/// or data that other programs keep there.
fn is_bookkeeping(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let top = path.split('/').next().unwrap_or("");
    let upper = name.to_ascii_uppercase();
    path == "SKILL.md"
        || top == "tests"
        || path.contains("__pycache__/")
        || (folder == "agents" && name == "openai.yaml")
        || ["LICENSE", "LICENCE", "NOTICE", "COPYING"]
            .iter()
            .any(|word| upper == *word || upper.starts_with(&format!("{word}.")))
}

/// Returns whether a file of the `scripts` folder is meant to be run, not data or a module
/// beside it.
fn is_script(path: &str, count: &SkillFileCounter, mode: u32) -> bool {
    const ENDINGS: &[&str] = &["py", "js", "mjs", "cjs", "sh", "bash"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_known = ENDINGS.contains(&ending) && name != "__init__.py";
    is_known || count.has_shebang || (ending.is_empty() && mode & 0o111 != 0)
}

/// Counts the bytes and lines of a file while it is read.
#[derive(Debug, Default)]
struct SkillFileCounter {
    bytes: u64,
    newlines: usize,
    ends_in_newline: bool,
    is_binary: bool,
    has_shebang: bool,
}

impl SkillFileCounter {
    fn add(&mut self, piece: &[u8]) {
        if self.bytes == 0 {
            self.has_shebang = piece.starts_with(b"#!");
        }
        self.bytes += piece.len() as u64;
        self.newlines += piece.iter().filter(|byte| **byte == b'\n').count();
        self.ends_in_newline = piece.last() == Some(&b'\n');
        self.is_binary |= piece.contains(&0);
    }

    fn lines(&self) -> Option<usize> {
        let unfinished = usize::from(self.bytes > 0 && !self.ends_in_newline);
        (!self.is_binary).then_some(self.newlines + unfinished)
    }
}

fn cannot(doing: &str, path: &Path, error: &dyn std::fmt::Display) -> FileComplaint {
    let message = format!("could not {doing} `{}`: {error}", shown_path(path));
    FileComplaint::new("files", message)
}

fn too_much(how: &str, path: &Path) -> FileComplaint {
    let message = format!(
        "the folder is {how} than can be checked (at `{}`)",
        shown_path(path)
    );
    FileComplaint::new("files", message).advise(format!(
        "keep a skill within {MOST_FILES} files, {MOST_DEPTH} levels and {} MiB",
        MOST_BYTES / (1024 * 1024)
    ))
}

fn shown_path(path: &Path) -> String {
    let path: PathBuf = if path.as_os_str().is_empty() {
        ".".into()
    } else {
        path.to_owned()
    };
    crate::complaint::shown(&path.to_string_lossy())
}
