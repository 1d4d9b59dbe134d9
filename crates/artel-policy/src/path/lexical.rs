//! Where a path leads by its letters alone, for judging a command before anything is opened.

use std::path::{Component, Path, PathBuf};

/// Where a path leads by its letters. A link can make it untrue, so it is only ever a reason to
/// ask or to refuse; whatever opens the file resolves it by handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lexical {
    /// Beneath the root: relative, without `.` and `..`; the root itself is `.`.
    Inside(String),
    /// Above or beside the root, or in somebody's home folder.
    Outside,
    /// It cannot be told: the path is empty, holds a NUL, or starts with `~+` or `~-`.
    Unclear,
}

/// Tells where a path leads, component by component. Relative paths start at the root; absolute
/// ones are inside only if the root is known and they lie beneath it. A `~` is taken as the shell
/// takes it: a home folder, which is never the root.
pub fn lexical(path: &str, root: Option<&Path>) -> Lexical {
    if path.is_empty() || path.contains('\0') {
        return Lexical::Unclear;
    }
    if let Some(home) = path.strip_prefix('~') {
        return match home.chars().next() {
            Some('+' | '-' | '0'..='9') => Lexical::Unclear,
            _ => Lexical::Outside,
        };
    }
    let path = Path::new(path);
    if path.is_absolute() {
        return match root {
            Some(root) => absolute(path, root),
            None => Lexical::Outside,
        };
    }
    // A relative path that leaves the root has left it, even if it comes back by name.
    flatten(path).map_or(Lexical::Outside, |path| inside(&path))
}

fn absolute(path: &Path, root: &Path) -> Lexical {
    let (Some(path), Some(root)) = (flatten(path), flatten(root)) else {
        return Lexical::Unclear;
    };
    path.strip_prefix(&root).map_or(Lexical::Outside, inside)
}

/// Returns the path without `.` and `..`, or nothing if it climbs above where it starts. Nothing
/// is above `/`, and going up from there stays there, as the kernel has it.
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

fn inside(relative: &Path) -> Lexical {
    if relative.as_os_str().is_empty() {
        return Lexical::Inside(".".to_owned());
    }
    Lexical::Inside(relative.to_string_lossy().into_owned())
}
