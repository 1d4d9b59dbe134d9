//! The place a path leads to by its text alone, for judging a command before anything is
//! opened.

use std::path::{Component, Path, PathBuf};

/// The place a path leads to by its text. A link can make this wrong, so it is only ever a
/// reason to ask or refuse; the code that opens the file resolves it by handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LexicalLocation {
    /// Beneath the root: relative, without `.` and `..`; the root itself is `.`.
    Inside(String),
    /// Above or beside the root, or in a home folder.
    Outside,
    /// Unknown: the path is empty, holds a NUL, or starts with `~+` or `~-`.
    Unclear,
}

/// Returns where a path leads, component by component. Relative paths start at the root;
/// absolute paths are inside only if the root is known and they lie beneath it. A leading
/// `~` is a home folder, as in the shell, and never the root.
pub fn lexical(path: &str, root: Option<&Path>) -> LexicalLocation {
    if path.is_empty() || path.contains('\0') {
        return LexicalLocation::Unclear;
    }
    if let Some(home) = path.strip_prefix('~') {
        return match home.chars().next() {
            Some('+' | '-' | '0'..='9') => LexicalLocation::Unclear,
            _ => LexicalLocation::Outside,
        };
    }
    let path = Path::new(path);
    if path.is_absolute() {
        return match root {
            Some(root) => absolute(path, root),
            None => LexicalLocation::Outside,
        };
    }
    // A relative path that leaves the root is outside, even if it comes back by name.
    flatten(path).map_or(LexicalLocation::Outside, |path| inside(&path))
}

fn absolute(path: &Path, root: &Path) -> LexicalLocation {
    let (Some(path), Some(root)) = (flatten(path), flatten(root)) else {
        return LexicalLocation::Unclear;
    };
    path.strip_prefix(&root)
        .map_or(LexicalLocation::Outside, inside)
}

/// Returns the path without `.` and `..`, or `None` if it climbs above where it starts. As
/// in the kernel, going up from `/` stays at `/`.
fn flatten(path: &Path) -> Option<PathBuf> {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                if !flat.pop() && !path.is_absolute() {
                    return None;
                }
            }
            Component::CurDir => {}
            other => flat.push(other),
        }
    }
    Some(flat)
}

fn inside(relative: &Path) -> LexicalLocation {
    if relative.as_os_str().is_empty() {
        return LexicalLocation::Inside(".".to_owned());
    }
    LexicalLocation::Inside(relative.to_string_lossy().into_owned())
}
