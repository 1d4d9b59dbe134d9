//! A folder for a while, and a copy of a tree in it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use artel_types::{Code, Failure};
use similar::TextDiff;

use crate::caller::{Caller, fresh_trace};

/// More than a trial should copy.
const MOST_FILES: usize = 200_000;
const MOST_BYTES: u64 = 4 << 30;

/// A file larger than this is named in a difference, not shown.
const LARGEST_SHOWN: u64 = 1 << 20;

/// A private folder that is gone when this is dropped.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

/// What differs between a tree and its copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Scratch {
    /// Makes a folder of its own.
    pub(crate) fn new(caller: &Caller, name: &str) -> Result<Self, Failure> {
        let id = fresh_trace()?;
        let path = caller.places.state().join(format!("scratch/{name}-{id}"));
        artel_files::make_dirs(&path.join("spool"), 0o700).map_err(|error| failed(&path, &error))?;
        Ok(Self { path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Copies a tree into the folder. Links are copied as links; what is neither file, folder nor
    /// link is left out.
    pub(crate) fn copy(&self, tree: &Path) -> Result<PathBuf, Failure> {
        let to = self.path.join("tree");
        let mut left = Left {
            files: MOST_FILES,
            bytes: MOST_BYTES,
        };
        copy_folder(tree, &to, &mut left).map_err(|error| failed(tree, &error))?;
        Ok(to)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is found by `artel clean`.
        drop(fs::remove_dir_all(&self.path));
    }
}

struct Left {
    files: usize,
    bytes: u64,
}

fn copy_folder(from: &Path, to: &Path, left: &mut Left) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        left.files = left.files.checked_sub(1).ok_or_else(|| {
            io::Error::other(format!("more than {MOST_FILES} files; name a smaller folder"))
        })?;
        if kind.is_dir() {
            copy_folder(&entry.path(), &target, left)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            let size = entry.metadata()?.len();
            left.bytes = left.bytes.checked_sub(size).ok_or_else(|| {
                io::Error::other("more than 4 GiB; name a smaller folder")
            })?;
            fs::copy(entry.path(), &target)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Returns what differs, file by file, as unified differences. Git's own files are left out.
pub(crate) fn differences(before: &Path, after: &Path) -> io::Result<Vec<Difference>> {
    let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
    list(before, Path::new(""), &mut old)?;
    list(after, Path::new(""), &mut new)?;
    let mut names: Vec<_> = old.keys().chain(new.keys()).cloned().collect();
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        let (a, b) = (before.join(&name), after.join(&name));
        // The same size and time since the copy was made cannot be told apart by bytes that the
        // tool wrote: contents are compared.
        let same = match (old.get(&name), new.get(&name)) {
            (Some(a_size), Some(b_size)) => a_size == b_size && fs::read(&a)? == fs::read(&b)?,
            _ => false,
        };
        if same {
            continue;
        }
        let shown = name.to_string_lossy().into_owned();
        let text = match (text_of(&a, old.get(&name)), text_of(&b, new.get(&name))) {
            (Some(was), Some(is)) => unified(&shown, &was, &is),
            _ => format!("Binary or large file {shown} differs\n"),
        };
        found.push(Difference { path: shown, text });
    }
    Ok(found)
}

fn list(root: &Path, inside: &Path, found: &mut BTreeMap<PathBuf, u64>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(inside))? {
        let entry = entry?;
        let path = inside.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if entry.file_name() != ".git" {
                list(root, &path, found)?;
            }
        } else if kind.is_file() {
            found.insert(path, entry.metadata()?.len());
        }
    }
    Ok(())
}

/// Returns the text of a file; the empty text where there is none, nothing where it is no text.
fn text_of(path: &Path, size: Option<&u64>) -> Option<String> {
    match size {
        None => Some(String::new()),
        Some(size) if *size > LARGEST_SHOWN => None,
        Some(_) => String::from_utf8(fs::read(path).ok()?).ok(),
    }
}

fn unified(name: &str, was: &str, is: &str) -> String {
    TextDiff::from_lines(was, is)
        .unified_diff()
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

fn failed(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::new(Code::W008, format!("`{}` could not be copied", path.display()))
        .because(error.to_string())
}
