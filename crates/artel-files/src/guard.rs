//! The access check before a file is used, on the path the file really has.

use std::fmt;
use std::path::Path;

/// The access about to be made to a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccessKind {
    /// Read a file's bytes or list a folder.
    Read,
    /// Create or replace a file, with its missing parent folders.
    Write,
    /// Remove a file, a link or an empty folder.
    Delete,
}

/// Why a guard refused access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccessRefusal {
    /// The deciding rule, as it was written or by its built-in name.
    pub rule: String,
    /// The reason, as a sentence without a full stop.
    pub reason: String,
}

/// Decides about a path before it is used.
///
/// The path is relative to the root and holds no `.` and no `..`. The root itself is the
/// empty path, and the path of a folder that is about to be listed ends in a slash. If the
/// guard agrees, exactly that path is opened with links forbidden in all of it, so no
/// change of the tree can slip another file under the answer.
///
/// A file that can be reached by several names is judged under each of them, and one
/// refusal is enough: the path it really has, the path of each link that led to it, and
/// its other hard links.
pub trait FileAccessGuard {
    /// Returns `Ok` if this access to that path is allowed.
    fn judge(&self, path: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal>;
}

impl<F: Fn(&Path, FileAccessKind) -> Result<(), FileAccessRefusal>> FileAccessGuard for F {
    fn judge(&self, path: &Path, op: FileAccessKind) -> Result<(), FileAccessRefusal> {
        self(path, op)
    }
}

impl fmt::Display for FileAccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "written",
            Self::Delete => "removed",
        })
    }
}
