//! A file that a call names: found in its tree and used through the tree's handle, with
//! errors that help the model.

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_files::{
    FileAccessGuard, FileAccessKind, FileAccessRefusal, FileEntryKind, FileError, FileMetadata,
    RootFolder, RootFolderError,
};
use artel_policy::{FileTarget, TargetTree};
use serde_json::json;

use crate::similar::nearest_paths;
use crate::{ToolContext, ToolError, ToolErrorKind};

/// Largest number of similar paths offered.
const MOST_SIMILAR: usize = 5;

/// A resolved path. The known facts about it serve messages and the run's memory; reading
/// and writing check everything again.
pub(crate) struct ResolvedToolPath<'b> {
    pub(crate) root: &'b RootFolder,
    guard: Arc<dyn FileAccessGuard + Send + Sync>,
    asked: PathBuf,
    /// The real location, the same for every way to name the file.
    pub(crate) target: FileTarget,
    /// The file or folder there, or `None` if nothing exists.
    pub(crate) about: Option<FileMetadata>,
}

/// Returns the target that policy is asked about, without accessing the disk. An absolute
/// path beneath the tree is the same file as the relative one.
pub(crate) fn target(bench: &ToolContext, path: &str) -> Result<FileTarget, ToolError> {
    let (mut target, root) = bench.find(path)?;
    if let Ok(inside) = Path::new(&target.path).strip_prefix(root.path())
        && let Some(inside) = inside.to_str()
    {
        target.path = inside.to_owned();
    }
    if target.path.is_empty() {
        ".".clone_into(&mut target.path);
    }
    Ok(target)
}

impl<'b> ResolvedToolPath<'b> {
    /// Resolves a path.
    pub(crate) fn find(bench: &'b ToolContext, path: &str) -> Result<Self, ToolError> {
        if path.is_empty() {
            return Err(ToolError::new(ToolErrorKind::BadInput, "the path is empty"));
        }
        let (_, root) = bench.find(path)?;
        let asked = target(bench, path)?;
        let resolved = root.resolve(Path::new(&asked.path));
        let resolved = resolved.map_err(|error| trouble(root, &asked.path, &error))?;
        Ok(Self {
            root,
            guard: bench.guard.in_place(&asked.place),
            target: FileTarget {
                place: asked.place,
                path: resolved.path.to_string_lossy().into_owned(),
            },
            asked: PathBuf::from(asked.path),
            about: resolved.about,
        })
    }

    /// Returns the path as a call would name it.
    pub(crate) fn name(&self) -> String {
        shown(&self.target.place, &self.target.path)
    }

    /// Returns the kind of entry at the path.
    pub(crate) fn found(&self) -> Option<FileEntryKind> {
        self.about.map(|about| about.found)
    }

    /// Reads the file. If it does not exist, the error offers similar paths.
    pub(crate) fn read(&self, most: u64) -> Result<Vec<u8>, ToolError> {
        match self.found() {
            None => Err(self.missing()),
            Some(FileEntryKind::Folder) => Err(ToolError::new(
                ToolErrorKind::Unfit,
                format!("`{}` is a folder", self.name()),
            )
            .hint(format!(
                "`list {}` shows what is in it, `glob` finds files by name",
                json!({ "path": self.name() })
            ))),
            _ => {
                let bytes = self.root.read(&self.asked, most, &*self.guard);
                bytes.map_err(|error| self.trouble(&error))
            }
        }
    }

    /// Reads the file. Returns `None` if it does not exist yet.
    pub(crate) fn read_if_there(&self, most: u64) -> Result<Option<Vec<u8>>, ToolError> {
        match self.about {
            None => Ok(None),
            Some(_) => self.read(most).map(Some),
        }
    }

    /// Creates or replaces the file. Returns the path that was really written.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<PathBuf, ToolError> {
        let written = self.root.write(&self.asked, bytes, &*self.guard);
        written
            .map(|written| written.path)
            .map_err(|error| self.trouble(&error))
    }

    /// Removes the file. Returns its real path.
    pub(crate) fn delete(&self) -> Result<PathBuf, ToolError> {
        let deleted = self.root.delete(Path::new(&self.target.path), &*self.guard);
        deleted.map_err(|error| self.trouble(&error))
    }

    /// Sets the file's mode on the open file, after the guard has allowed a write.
    pub(crate) fn set_mode(&self, mode: u32) -> Result<(), ToolError> {
        let opened = self.root.open_file(&self.asked, &*self.guard);
        let opened = opened.map_err(|error| self.trouble(&error))?;
        let judged = self.guard.judge(&opened.path, FileAccessKind::Write);
        judged.map_err(|refusal| ToolError::new(ToolErrorKind::Refused, refusal.reason))?;
        let set = opened
            .file
            .set_permissions(Permissions::from_mode(mode & 0o777));
        set.map_err(|cause| {
            let what = format!("could not set the mode of `{}`: {cause}", self.name());
            ToolError::new(ToolErrorKind::Machine, what)
        })
    }

    /// Checks that the file may be read or the folder listed, under the name that the caller
    /// used.
    pub(crate) fn may_read(&self) -> Result<(), ToolError> {
        let asked = match self.found() {
            Some(FileEntryKind::Folder) => self.root.list(&self.asked, 0, &*self.guard).map(drop),
            _ => self.root.open_file(&self.asked, &*self.guard).map(drop),
        };
        asked.map_err(|error| self.trouble(&error))
    }

    /// Returns the error for a missing file, with similar paths.
    pub(crate) fn missing(&self) -> ToolError {
        missing(self.root, &self.target)
    }

    /// Converts an error to one that helps the model.
    pub(crate) fn trouble(&self, error: &RootFolderError) -> ToolError {
        if error.is_missing() {
            return self.missing();
        }
        trouble(self.root, &self.asked.to_string_lossy(), error)
    }
}

/// Allows one path and nothing else, to undo a change that was allowed before.
pub(crate) fn only(
    path: PathBuf,
) -> impl Fn(&Path, FileAccessKind) -> Result<(), FileAccessRefusal> {
    move |asked, _| {
        if asked == path {
            Ok(())
        } else {
            Err(FileAccessRefusal {
                rule: "take-back".to_owned(),
                reason: "it is not the file that was changed".to_owned(),
            })
        }
    }
}

/// Returns a path as a call would name it.
pub(crate) fn shown(place: &TargetTree, path: &str) -> String {
    match place {
        TargetTree::Worktree => path.to_owned(),
        TargetTree::Portal(name) => format!("@{name}/{path}"),
        TargetTree::Skill => format!("@skill/{path}"),
    }
}

fn missing(root: &RootFolder, target: &FileTarget) -> ToolError {
    let what = format!("there is no `{}`", shown(&target.place, &target.path));
    let trouble = ToolError::new(ToolErrorKind::NotFound, what);
    let similar = nearest_paths(root.path(), &target.path, MOST_SIMILAR);
    if similar.is_empty() {
        return trouble.hint("`glob` finds files by name, `list` shows a folder");
    }
    trouble.hint(format!(
        "similar paths: {}",
        marked(&target.place, &similar)
    ))
}

/// Formats paths for hints.
fn marked(place: &TargetTree, paths: &[String]) -> String {
    let marked = paths.iter().map(|path| format!("`{}`", shown(place, path)));
    marked.collect::<Vec<_>>().join(", ")
}

/// Returns a hint about similar paths inside a tree for a path outside it.
pub(crate) fn inside_hint(root: &RootFolder, path: &str) -> String {
    let name = Path::new(path)
        .file_name()
        .map(|name| name.to_string_lossy());
    let name = name.unwrap_or_default();
    let mut similar = nearest_paths(root.path(), &name, MOST_SIMILAR + 1);
    similar.retain(|other| other != path);
    similar.truncate(MOST_SIMILAR);
    match (similar.is_empty(), name.is_empty()) {
        (false, _) => format!(
            "similar paths inside: {}",
            marked(&TargetTree::Worktree, &similar)
        ),
        (true, false) => format!("write `path` as `{name}` to have it inside the tree"),
        (true, true) => "`list` shows what is in the tree".to_owned(),
    }
}

fn trouble(root: &RootFolder, path: &str, error: &RootFolderError) -> ToolError {
    let kind = match error {
        RootFolderError::File(FileError::Other { .. } | FileError::TooLarge { .. }) => {
            ToolErrorKind::Unfit
        }
        RootFolderError::File(FileError::NoName { .. }) => ToolErrorKind::BadInput,
        RootFolderError::File(FileError::Exists { .. }) | RootFolderError::NotEmpty { .. } => {
            ToolErrorKind::Mismatch
        }
        RootFolderError::File(error)
            if error.system_kind() == Some(ErrorKind::PermissionDenied) =>
        {
            ToolErrorKind::Refused
        }
        RootFolderError::File(error) if error.system_kind() == Some(ErrorKind::NotADirectory) => {
            ToolErrorKind::Unfit
        }
        RootFolderError::File(_)
        | RootFolderError::Unsteady { .. }
        | RootFolderError::Unsupported { .. } => ToolErrorKind::Machine,
        RootFolderError::Outside { .. }
        | RootFolderError::Mount { .. }
        | RootFolderError::Refused { .. }
        | RootFolderError::NamedElsewhere { .. }
        | RootFolderError::IsRoot { .. } => ToolErrorKind::Refused,
    };
    let trouble = ToolError::new(kind, error.to_string());
    match error {
        RootFolderError::Outside { .. } => trouble
            .hint(format!(
                "paths are relative to `{}`; `@Portal/path` names a file of a portal",
                root.path().display()
            ))
            .hint(inside_hint(root, path)),
        RootFolderError::File(FileError::TooLarge { .. }) => {
            trouble.hint("`grep` searches files of any size")
        }
        RootFolderError::File(FileError::System { .. }) if kind == ToolErrorKind::Refused => {
            let folder = Path::new(path).parent().map(Path::to_string_lossy);
            let folder = folder.filter(|folder| !folder.is_empty());
            trouble.hint(format!(
                "check the permissions: ls -la {}",
                folder.unwrap_or(".".into())
            ))
        }
        _ => trouble,
    }
}
