//! Changes to several files: all of them, or none.
//!
//! Each file is written whole. If one cannot be written, those before it are restored, and
//! folders created for them are removed.

use std::path::{Path, PathBuf};

use artel_files::RootFolderError;

use super::spot::{ResolvedToolPath, only};
use crate::{ToolContext, ToolError};

/// A file before and after a change; `None` means that it does not exist.
pub(crate) struct PendingFileChange<'b> {
    pub(crate) spot: ResolvedToolPath<'b>,
    pub(crate) before: Option<Vec<u8>>,
    pub(crate) after: Option<Vec<u8>>,
    /// The mode to set, or `None` to keep it.
    pub(crate) mode: Option<u32>,
}

/// A change that was carried out, with the data needed to undo it.
struct AppliedFileChange<'c, 'b> {
    change: &'c PendingFileChange<'b>,
    path: PathBuf,
    made: Vec<PathBuf>,
}

/// Carries out all changes in order, and updates the run's memory of the files.
pub(crate) fn commit(
    changes: &[PendingFileChange<'_>],
    bench: &ToolContext,
) -> Result<(), ToolError> {
    let mut done: Vec<AppliedFileChange<'_, '_>> = Vec::new();
    for change in changes {
        let made = missing_folders(change);
        match carry_out(change) {
            Ok(path) => done.push(AppliedFileChange { change, path, made }),
            Err(mut trouble) => {
                let stuck: Vec<_> = done.iter().rev().filter_map(take_back).collect();
                trouble.hints.push(if stuck.is_empty() {
                    "nothing was changed".to_owned()
                } else {
                    format!("could not be put back: {}", stuck.join(", "))
                });
                return Err(trouble);
            }
        }
    }
    let mut seen = bench.seen();
    for change in changes {
        match &change.after {
            Some(bytes) if change.before.is_none() => seen.wrote(&change.spot.target, bytes),
            Some(bytes) => seen.edited(&change.spot.target, bytes),
            None => seen.forget(&change.spot.target),
        }
    }
    Ok(())
}

fn carry_out(change: &PendingFileChange<'_>) -> Result<PathBuf, ToolError> {
    let Some(after) = &change.after else {
        return change.spot.delete();
    };
    let path = match &change.before {
        Some(before) if before == after => PathBuf::from(&change.spot.target.path),
        _ => change.spot.write(after)?,
    };
    if let Some(mode) = change.mode {
        let set = change.spot.set_mode(mode);
        set.inspect_err(|_| {
            let made = Vec::new();
            let path = path.clone();
            // The caller gets the error about the mode; only the bytes are restored here.
            let _stuck = take_back(&AppliedFileChange { change, path, made });
        })?;
    }
    Ok(path)
}

/// Restores one file. Returns its name if that failed.
fn take_back(done: &AppliedFileChange<'_, '_>) -> Option<String> {
    let spot = &done.change.spot;
    let guard = only(done.path.clone());
    let back: Result<(), RootFolderError> = match &done.change.before {
        Some(bytes) => spot.root.write(&done.path, bytes, &guard).map(drop),
        None => spot.root.delete(&done.path, &guard).map(drop),
    };
    if back.is_err() {
        return Some(spot.name());
    }
    if let (Some(about), true) = (
        spot.about,
        done.change.mode.is_some() || done.change.after.is_none(),
    ) && spot.set_mode(about.mode).is_err()
    {
        return Some(format!("the mode of {}", spot.name()));
    }
    for folder in &done.made {
        // A folder that is not empty has been used by something else, so it stays.
        if spot.root.delete(folder, &only(folder.clone())).is_err() {
            break;
        }
    }
    None
}

/// Returns the folders that the write will create, the deepest first.
fn missing_folders(change: &PendingFileChange<'_>) -> Vec<PathBuf> {
    let spot = &change.spot;
    if spot.about.is_some() {
        return Vec::new();
    }
    let is_missing = |folder: &&Path| {
        let found = spot.root.look(folder);
        found.is_ok_and(|found| found.about.is_none())
    };
    Path::new(&spot.target.path)
        .ancestors()
        .skip(1)
        .take_while(|folder| !folder.as_os_str().is_empty())
        .take_while(is_missing)
        .map(Path::to_owned)
        .collect()
}
