//! The question that is put before a file is used, on the path it really has.

use std::fmt;
use std::path::Path;

/// What is about to be done with a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// Read a file's bytes, or the names in a folder.
    Read,
    /// Make or replace a file, and the folders above it that are missing.
    Write,
    /// Remove a file, a link or an empty folder.
    Delete,
}

/// Why a guard said no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The rule that decided, as it is written or by its built-in name.
    pub rule: String,
    /// Why, in a sentence without a full stop.
    pub reason: String,
}

/// Decides about a path before it is used.
///
/// The path is relative to the root and holds no `.` and no `..`; the root itself is the empty
/// path, and the path of a folder that is about to be listed ends in a slash. After a yes exactly
/// that path is opened, with links forbidden in all of it, so no change of the tree can put
/// another file under the answer.
///
/// A file that can be reached by several names is judged under each of them, and one no is enough:
/// the path it really has, the path of each link that led to it, and its other hard links.
pub trait Guard {
    /// Says whether that may be done with the file at that path.
    fn judge(&self, path: &Path, op: Op) -> Result<(), Refusal>;
}

impl<F: Fn(&Path, Op) -> Result<(), Refusal>> Guard for F {
    fn judge(&self, path: &Path, op: Op) -> Result<(), Refusal> {
        self(path, op)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Delete => "removed",
        })
    }
}
