//! The plan of the files to put in place, written down before the first one is.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::RunTreeError;
use super::store::{GitTreeDifference, GitTreeFile};

/// First field of a plan.
const PLAN: &str = "artel plan 1";

/// Largest size of a plan, in bytes.
const LARGEST: u64 = 256 << 20;

/// Text for a side that does not exist.
const NOTHING: &str = "-";

/// One file to put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacementStep {
    pub(crate) path: PathBuf,
    /// The file that the run began with, or `None` if it is new.
    pub(crate) old: Option<GitTreeFile>,
    /// The file that the run left, or `None` if it is to be removed.
    pub(crate) new: Option<GitTreeFile>,
    /// Permission bits of the person's file.
    pub(crate) mode: u32,
}

/// Everything to put in place, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PlacementPlan {
    /// The steps. Removals come first, so that folders can take the places of files and vice
    /// versa.
    pub(crate) steps: Vec<PlacementStep>,
    /// Folders to make.
    pub(crate) folders: Vec<PathBuf>,
}

impl PlacementStep {
    pub(crate) fn of(difference: GitTreeDifference, mode: u32) -> Self {
        Self {
            path: difference.path,
            old: difference.old,
            new: difference.new,
            mode,
        }
    }
}

impl PlacementPlan {
    /// Writes the plan durably.
    pub(crate) fn write(&self, path: &Path) -> Result<(), RunTreeError> {
        let mut bytes = PLAN.as_bytes().to_vec();
        bytes.push(0);
        for step in &self.steps {
            let line = format!(
                "{} {} {:o}",
                side_text(step.old.as_ref()),
                side_text(step.new.as_ref()),
                step.mode
            );
            add(&mut bytes, line.as_bytes(), &step.path);
        }
        for folder in &self.folders {
            add(&mut bytes, b"folder", folder);
        }
        artel_files::write_atomic(path, &bytes, 0o600)?;
        Ok(())
    }

    /// Reads the plan that is under way, or returns `None` if there is none.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, RunTreeError> {
        let bytes = match artel_files::read_bounded(path, LARGEST) {
            Ok(bytes) => bytes,
            Err(error) if error.system_kind() == Some(std::io::ErrorKind::NotFound) => {
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let plan = parse(&bytes).ok_or_else(|| RunTreeError::Damaged {
            path: path.to_owned(),
            why: "it is no plan",
        })?;
        Ok(Some(plan))
    }
}

fn add(bytes: &mut Vec<u8>, line: &[u8], path: &Path) {
    bytes.extend_from_slice(line);
    bytes.push(0);
    bytes.extend_from_slice(path.as_os_str().as_bytes());
    bytes.push(0);
}

fn side_text(side: Option<&GitTreeFile>) -> String {
    side.map_or(format!("{NOTHING} {NOTHING}"), |side| {
        format!("{:o} {}", side.mode, side.id)
    })
}

fn parse(bytes: &[u8]) -> Option<PlacementPlan> {
    let mut fields = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0);
    if fields.next() != Some(PLAN.as_bytes()) {
        return None;
    }
    let mut plan = PlacementPlan::default();
    while let Some(line) = fields.next() {
        let path = PathBuf::from(OsStr::from_bytes(fields.next()?));
        if line == b"folder" {
            plan.folders.push(path);
            continue;
        }
        let words: Vec<&str> = std::str::from_utf8(line).ok()?.split(' ').collect();
        let [old_mode, old_id, new_mode, new_id, mode] = words[..] else {
            return None;
        };
        plan.steps.push(PlacementStep {
            path,
            old: parse_side(old_mode, old_id)?,
            new: parse_side(new_mode, new_id)?,
            mode: u32::from_str_radix(mode, 8).ok()?,
        });
    }
    Some(plan)
}

/// Parses one side. The outer `None` is an error, the inner one a side that does not exist.
fn parse_side(mode: &str, id: &str) -> Option<Option<GitTreeFile>> {
    if mode == NOTHING {
        return Some(None);
    }
    Some(Some(GitTreeFile {
        mode: u32::from_str_radix(mode, 8).ok()?,
        id: id.to_owned(),
    }))
}
