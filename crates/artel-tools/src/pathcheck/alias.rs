//! Names for folders: `@Name/path` is beneath the folder that the name stands for.
//!
//! A folder beneath the root stays part of it: its paths are paths of the root, so every
//! rule about the root applies and a swapped link leads nowhere. A folder beside the root
//! is a root of its own. A folder that contains the root, such as `/`, would defeat the
//! root and is refused.

use std::path::{Component, Path, PathBuf};

use artel_files::RootFolder;

/// A name used in a path.
#[derive(Debug)]
pub(super) struct PathAlias {
    name: String,
    lies: PathAliasLocation,
}

#[derive(Debug)]
enum PathAliasLocation {
    /// At this path beneath the root.
    Beneath(PathBuf),
    /// Outside the root, as a root of its own.
    Beside,
}

/// The place where a path is looked up.
pub(super) struct PathCheckLocation {
    pub(super) root: RootFolder,
    pub(super) alias: Option<PathAlias>,
    pub(super) path: PathBuf,
}

impl PathAlias {
    /// Finds the root and the path for `inside`, a path in the folder that `name` stands for.
    /// A relative folder is beneath the root.
    pub(super) fn place(
        name: &str,
        folder: &str,
        inside: &str,
        root: RootFolder,
    ) -> Result<PathCheckLocation, String> {
        if climbs(Path::new(inside)) {
            return Err(format!("`{inside}` leads outside of `@{name}`"));
        }
        let folder = Path::new(folder);
        let (root, lies) = match beneath(folder, &root) {
            Some(folder) => {
                let path = root
                    .resolve(&folder)
                    .map_err(|error| error.to_string())?
                    .path;
                (root, PathAliasLocation::Beneath(path))
            }
            None => beside(name, folder, root)?,
        };
        let path = match &lies {
            PathAliasLocation::Beneath(folder) => folder.join(inside),
            PathAliasLocation::Beside => PathBuf::from(inside),
        };
        let alias = Some(Self {
            name: name.to_owned(),
            lies,
        });
        Ok(PathCheckLocation { root, alias, path })
    }

    /// Returns a resolved path written with the name, or `None` if it is not in the folder.
    pub(super) fn named(&self, path: &Path) -> Option<String> {
        let inside = match &self.lies {
            PathAliasLocation::Beneath(folder) => path.strip_prefix(folder).ok()?,
            PathAliasLocation::Beside => path,
        };
        let inside = inside.to_string_lossy();
        Some(format!("@{}/{}", self.name, inside.trim_end_matches('/')))
    }

    /// Returns a resolved path with its root's path in front, or `None` if the name is not a
    /// root of its own.
    pub(super) fn whole(&self, root: &RootFolder, path: &Path) -> Option<String> {
        let PathAliasLocation::Beside = self.lies else {
            return None;
        };
        let whole = root.path().join(path);
        let whole = whole.to_string_lossy();
        Some(whole.trim_start_matches('/').to_owned())
    }
}

/// Returns the folder as a path beneath the root, or `None` if it is not written as one.
fn beneath(folder: &Path, root: &RootFolder) -> Option<PathBuf> {
    let folder = if folder.is_absolute() {
        folder.strip_prefix(root.path()).ok()?
    } else {
        folder
    };
    let is_root = folder.as_os_str().is_empty();
    Some(if is_root { Path::new(".") } else { folder }.to_owned())
}

/// Opens a folder that is written as one beside the root. Links may reveal that it is
/// beneath it.
fn beside(
    name: &str,
    folder: &Path,
    root: RootFolder,
) -> Result<(RootFolder, PathAliasLocation), String> {
    let own = RootFolder::open(folder).map_err(|error| error.to_string())?;
    if let Ok(path) = own.path().strip_prefix(root.path()) {
        return Ok((root, PathAliasLocation::Beneath(path.to_owned())));
    }
    if root.path().starts_with(own.path()) {
        return Err(format!(
            "`@{name}` stands for `{}`, which holds the root itself and is outside of it",
            folder.display()
        ));
    }
    Ok((own, PathAliasLocation::Beside))
}

/// Returns whether a path, as written, leads above its start.
fn climbs(path: &Path) -> bool {
    let mut depth = 0_usize;
    for component in path.components() {
        match component {
            Component::Normal(_) => depth += 1,
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    false
}
