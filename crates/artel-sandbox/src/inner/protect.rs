//! Protected names: what must stay unchanged inside writable folders.
//!
//! They are looked for at the root of every writable folder and in every repository found
//! there. Existing ones are shown read-only, missing ones are masked. Other spellings of
//! them are shown read-only too, and set aside if they appear. The search is bounded,
//! because a start must not cost a walk through a large tree. Whatever lies deeper or
//! appears later is left to the code that takes over the tree's changes.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::placeholder::{PlaceholderFolder, ProtectedNameState};
use super::step::{SandboxStepContext, SandboxStepError};
use super::variant::{self, ProtectedSpellings, SpellingWatchFolder};
use crate::job::SandboxView;

const STEP: &str = "protected names";

/// Depth of the search for repositories and sockets.
const DEPTH: usize = 3;
/// Limit on the folders that are searched.
const FOLDERS: usize = 256;

/// Large folders of generated or third-party files, which are not searched.
const SKIPPED: &[&str] = &["node_modules", "target", ".venv", "__pycache__"];

/// Paths that the walls must keep unchanged inside the writable folders.
#[derive(Debug, Default)]
pub(super) struct ProtectedPaths {
    /// Paths shown read-only in place; links stay links.
    pub(super) frozen: Vec<PathBuf>,
    /// Names that do not exist and cannot be created: a placeholder stands there outside.
    pub(super) masked: Vec<PathBuf>,
    /// Folders that must keep their place, because something frozen lies below them.
    pub(super) pinned: Vec<PathBuf>,
    /// Metadata of repositories that lies elsewhere and must be readable.
    pub(super) readable: Vec<PathBuf>,
    /// Sockets of the host.
    pub(super) sockets: Vec<PathBuf>,
    /// Whether a Go module was found.
    pub(super) has_go: bool,
    /// Folders with placeholders, to be released when everything has ended.
    folders: Vec<PlaceholderFolder>,
    /// Folders in which other spellings may appear.
    watched: Vec<SpellingWatchFolder>,
    spellings: ProtectedSpellings,
}

/// Finds everything that must stay unchanged, and holds the names that do not exist.
pub(super) fn prepare(
    view: &SandboxView,
    roots: &[PathBuf],
) -> Result<ProtectedPaths, SandboxStepError> {
    let mut protected = ProtectedPaths {
        spellings: ProtectedSpellings::of(&view.protected),
        ..ProtectedPaths::default()
    };
    let names = &view.protected;
    // A hidden file is hidden by its path, so the folders on the way must not be moved either.
    let substituted = view.substitutes.iter().map(|it| &it.hidden);
    let hidden = view.hidden.iter().chain(substituted);
    for hidden in hidden.flat_map(fs::canonicalize) {
        for root in roots.iter().filter(|root| hidden.starts_with(root)) {
            protected.pin(root, hidden.parent().unwrap_or(root));
        }
    }
    let prepared = roots
        .iter()
        .try_for_each(|root| protected.root(root, roots, names))
        .and_then(|()| protected.keep(&view.read_only, roots));
    // Placeholder sockets of running or killed starters are masked and not hidden.
    let masked = &protected.masked;
    protected.sockets.retain(|path| !masked.contains(path));
    match prepared {
        Ok(()) => Ok(protected),
        Err(failed) => {
            protected.release();
            Err(failed)
        }
    }
}

impl ProtectedPaths {
    /// Sets aside other spellings of protected names that have appeared, and returns their
    /// paths.
    pub(super) fn set_aside(&self) -> Vec<PathBuf> {
        let watched = self.watched.iter();
        let moved = watched.flat_map(|watched| watched.set_aside(&self.spellings));
        variant::reported(moved.collect())
    }

    /// Removes the placeholders.
    pub(super) fn release(&mut self) {
        self.folders.drain(..).for_each(PlaceholderFolder::release);
    }

    fn root(
        &mut self,
        root: &Path,
        roots: &[PathBuf],
        names: &[String],
    ) -> Result<(), SandboxStepError> {
        let found = search(root);
        self.sockets.extend(found.sockets);
        self.has_go |= found.has_go;
        self.repository(root, roots, names)?;
        for bare in found.bare {
            self.pin(root, bare.parent().unwrap_or(root));
            self.freeze(bare);
        }
        for repository in found.repositories {
            self.pin(root, &repository);
            self.repository(&repository, roots, names)?;
        }
        Ok(())
    }

    /// Keeps single paths below the writable folders unchanged.
    fn keep(&mut self, paths: &[PathBuf], roots: &[PathBuf]) -> Result<(), SandboxStepError> {
        for path in paths {
            // A writable folder may be named through a link; the entry itself is taken by its
            // name.
            let found = path.ancestors().skip(1).find_map(|above| {
                let real = fs::canonicalize(above).ok()?;
                let rest = path.strip_prefix(above).ok()?;
                Some(real.join(rest))
            });
            let Some(path) = found else { continue };
            for root in roots {
                match path.strip_prefix(root) {
                    Ok(name) if name.as_os_str().is_empty() => self.freeze(path.clone()),
                    Ok(name) => self.name(root, name, roots)?,
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Protects every name in one folder.
    fn repository(
        &mut self,
        folder: &Path,
        roots: &[PathBuf],
        names: &[String],
    ) -> Result<(), SandboxStepError> {
        if names.is_empty() {
            return Ok(());
        }
        let watched = self.spellings.watch(folder);
        let watched = watched.at(STEP, &format!("look through `{}`", folder.display()))?;
        for other in watched.known() {
            self.freeze_with_target(other, roots);
        }
        self.watched.push(watched);
        for name in names {
            self.name(folder, Path::new(name), roots)?;
        }
        if names.iter().any(|name| name == ".git") {
            match linked_metadata(folder, roots) {
                LinkedGitMetadata::Inside(own) => self.freeze(own),
                LinkedGitMetadata::Outside(metadata) => self.readable.push(metadata),
                LinkedGitMetadata::Nowhere => {}
            }
        }
        Ok(())
    }

    /// Protects one name, which may lead through folders. The first missing component is held.
    fn name(
        &mut self,
        folder: &Path,
        name: &Path,
        roots: &[PathBuf],
    ) -> Result<(), SandboxStepError> {
        let mut above = folder.to_owned();
        let mut parts = name.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else {
                let why = format!("`{}` is not a name inside a folder", name.display());
                return Err(SandboxStepError::new(STEP, why));
            };
            let path = above.join(part);
            match self.hold(&above, Path::new(part))? {
                ProtectedNameState::Ours => {
                    self.masked.push(path);
                    return Ok(());
                }
                ProtectedNameState::Impossible => return Ok(()),
                ProtectedNameState::Theirs if parts.peek().is_none() => {
                    self.freeze_with_target(path.clone(), roots);
                }
                // A file or a link is on the way, so the rest of the path is not in this
                // folder.
                ProtectedNameState::Theirs if !path.is_dir() || path.is_symlink() => {
                    self.freeze_with_target(path, roots);
                    return Ok(());
                }
                ProtectedNameState::Theirs => self.pin(folder, &path),
            }
            above = path;
        }
        Ok(())
    }

    fn hold(&mut self, folder: &Path, name: &Path) -> Result<ProtectedNameState, SandboxStepError> {
        let what = || format!("keep `{}` from being made", folder.join(name).display());
        let known = self.folders.iter_mut().find(|known| known.path() == folder);
        if let Some(known) = known {
            return known.hold(name).at(STEP, &what());
        }
        let mut opened = PlaceholderFolder::open(folder).at(STEP, &what())?;
        let held = opened.hold(name).at(STEP, &what());
        self.folders.push(opened);
        held
    }

    /// Freezes an existing path, and the target of a link too if it is writable.
    fn freeze_with_target(&mut self, path: PathBuf, roots: &[PathBuf]) {
        if path.is_symlink()
            && let Ok(target) = fs::canonicalize(&path)
            && roots
                .iter()
                .any(|root| target.starts_with(root) && target != *root)
        {
            self.freeze(target);
        }
        self.freeze(path);
    }

    fn freeze(&mut self, path: PathBuf) {
        if !self.frozen.contains(&path) {
            self.frozen.push(path);
        }
    }

    /// Pins a folder and its ancestors up to the root, which cannot be moved anyway.
    fn pin(&mut self, root: &Path, folder: &Path) {
        let on_the_way = folder.ancestors().take_while(|above| *above != root);
        for above in on_the_way {
            if above.starts_with(root) && !self.pinned.iter().any(|pinned| pinned == above) {
                self.pinned.push(above.to_owned());
            }
        }
    }
}

#[derive(Debug, Default)]
struct WritableTreeScan {
    repositories: Vec<PathBuf>,
    bare: Vec<PathBuf>,
    sockets: Vec<PathBuf>,
    has_go: bool,
}

/// Searches the upper folders of a tree, those nearest to the root first.
fn search(root: &Path) -> WritableTreeScan {
    use std::os::unix::fs::FileTypeExt;
    let mut found = WritableTreeScan::default();
    let mut waiting = std::collections::VecDeque::from([(root.to_owned(), 0)]);
    let mut read = 0;
    while let Some((folder, depth)) = waiting.pop_front() {
        read += 1;
        if read > FOLDERS {
            break;
        }
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let mut names = Vec::new();
        let mut folders = Vec::new();
        for entry in entries.flatten() {
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else {
                continue;
            };
            if kind.is_socket() {
                found.sockets.push(entry.path());
            } else if kind.is_dir() && name != ".git" && !SKIPPED.iter().any(|skip| name == *skip) {
                folders.push(entry.path());
            }
            names.push(name);
        }
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        found.has_go |= has("go.mod");
        if has("HEAD") && has("objects") && has("refs") && folder != root {
            found.bare.push(folder);
            continue;
        }
        if has(".git") && folder != root {
            found.repositories.push(folder);
        }
        if depth < DEPTH {
            waiting.extend(folders.into_iter().map(|folder| (folder, depth + 1)));
        }
    }
    found
}

/// The real place of the metadata of a linked worktree or a submodule.
enum LinkedGitMetadata {
    /// Below a writable folder. It is readable there anyway, and its content was written by
    /// somebody with access to that folder, so it opens nothing further.
    Inside(PathBuf),
    /// Elsewhere; the path includes the repository that the worktree shares.
    Outside(PathBuf),
    /// There is none, or it does not name this worktree in return.
    Nowhere,
}

/// Finds the metadata of a linked worktree or a submodule. A `.git` file comes from the
/// repository and could name anything, so metadata is believed only if it names this
/// worktree in return, and the shared repository must be the one it lies in.
fn linked_metadata(worktree: &Path, roots: &[PathBuf]) -> LinkedGitMetadata {
    let pointer = worktree.join(".git");
    let Some(own) = follow(&pointer, "gitdir: ", worktree).filter(|own| own.is_dir()) else {
        return LinkedGitMetadata::Nowhere;
    };
    if !own.join("HEAD").is_file() {
        return LinkedGitMetadata::Nowhere;
    }
    let is_inside = |path: &PathBuf| roots.iter().any(|root| path.starts_with(root));
    if is_inside(&own) {
        let whole = shared_by(&own).filter(is_inside).unwrap_or(own);
        return if worktree.starts_with(&whole) {
            LinkedGitMetadata::Nowhere
        } else {
            LinkedGitMetadata::Inside(whole)
        };
    }
    let returned = follow(&own.join("gitdir"), "", &own);
    if returned.as_deref() == Some(&pointer) {
        return shared_by(&own).map_or(LinkedGitMetadata::Nowhere, LinkedGitMetadata::Outside);
    }
    let is_submodule = own.ancestors().any(|above| above.ends_with(".git/modules"))
        && own.join("objects").is_dir()
        && names_worktree(&own, worktree);
    if is_submodule {
        LinkedGitMetadata::Outside(own)
    } else {
        LinkedGitMetadata::Nowhere
    }
}

/// Returns the repository that a linked worktree's metadata lies in, if that is the one it
/// shares.
fn shared_by(own: &Path) -> Option<PathBuf> {
    let shared = follow(&own.join("commondir"), "", own)?;
    let is_metadata = shared.join("objects").is_dir() && shared.join("HEAD").is_file();
    let lies_in_it = own.parent()?.parent()? == shared;
    (is_metadata && lies_in_it).then_some(shared)
}

/// Returns whether a submodule's settings name this worktree.
fn names_worktree(metadata: &Path, worktree: &Path) -> bool {
    let Ok(config) = fs::read_to_string(metadata.join("config")) else {
        return false;
    };
    config.lines().any(|line| {
        let Some((key, value)) = line.split_once('=') else {
            return false;
        };
        key.trim() == "worktree"
            && fs::canonicalize(metadata.join(value.trim())).is_ok_and(|path| path == worktree)
    })
}

/// Reads a small file that holds a path, and resolves the path.
fn follow(file: &Path, prefix: &str, base: &Path) -> Option<PathBuf> {
    let about = fs::symlink_metadata(file).ok()?;
    if !about.is_file() || about.len() > 4096 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let path = base.join(text.strip_prefix(prefix)?.trim_end_matches('\n'));
    if path.is_dir() {
        return fs::canonicalize(path).ok();
    }
    // The last component may be a pointer file; the folders above it are resolved.
    let parent = fs::canonicalize(path.parent()?).ok()?;
    Some(parent.join(path.file_name()?))
}
