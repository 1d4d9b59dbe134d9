//! Applies the person's path rules to the view of one command.
//!
//! A pattern is turned into paths when the command starts. A folder wholly behind a wall
//! is covered as a folder, so files created in it later are covered too. Other patterns
//! cover only the files that exist now.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use artel_policy::{PathWall, PathWallKind, PolicyAnswer};
use artel_sandbox::SandboxView;

use crate::{ToolError, ToolErrorKind};

/// Largest number of files and folders searched for one pattern. A larger tree is not
/// searched in part: the command does not start.
const MOST_ENTRIES: usize = 300_000;

/// The person's consent for a call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolCallConsent {
    /// Nobody was asked.
    #[default]
    None,
    /// The person said yes to the question of this rule. A yes to one question answers no
    /// other.
    To(String),
}

impl ToolCallConsent {
    /// Returns whether a wall applies to the call. A wall that asks is lifted by a yes to its
    /// own question.
    pub(crate) fn leaves_up(&self, wall: &PathWall) -> bool {
        let is_lifted = matches!(self, Self::To(rule) if rule == wall.rule.text());
        wall.answer == PolicyAnswer::Deny || !is_lifted
    }
}

/// Hides or write-protects in a view the paths that the walls cover below the root of the
/// tree.
pub(super) fn raise(
    view: &mut SandboxView,
    root: &Path,
    walls: &[PathWall],
    consent: &ToolCallConsent,
) -> Result<(), ToolError> {
    for wall in walls.iter().filter(|wall| consent.leaves_up(wall)) {
        let paths = paths_of(root, wall)?;
        match wall.keeps {
            PathWallKind::Reading => view.hidden.extend(paths),
            PathWallKind::Writing => view.read_only.extend(paths),
        }
    }
    Ok(())
}

/// Returns whether walls hide from commands the whole of an existing folder below the
/// root, or anything in it. A folder too large to search counts as hidden.
pub fn keep_from_reading_in(root: &Path, folder: &Path, walls: &[PathWall]) -> bool {
    let whole = root.join(folder);
    // Most patterns can match anywhere, so the folder is searched once for all of these.
    let mut searches: BTreeMap<PathBuf, Vec<&PathWall>> = BTreeMap::new();
    for wall in walls
        .iter()
        .filter(|wall| wall.keeps == PathWallKind::Reading)
    {
        let written = PathWallSearchStart::of(root, wall);
        // If the folder where a pattern begins does not exist, the pattern covers nothing.
        let Ok(start) = written.path.canonicalize() else {
            continue;
        };
        if start.starts_with(&whole) {
            searches.entry(written.path).or_default().push(wall);
        } else if let Ok(rest) = whole.strip_prefix(&start) {
            let here = written.path.join(rest);
            searches.entry(here).or_default().push(wall);
        } else {
            continue;
        }
        if written.extent == PathWallExtent::Whole {
            return true;
        }
    }
    searches.into_iter().any(|(here, walls)| {
        let covers = |path: &Path| walls.iter().any(|wall| covers(wall, root, path));
        let mut above = here.ancestors().take_while(|it| *it != root);
        above.any(covers) || found_below(here, covers).is_none_or(|it| !it.is_empty())
    })
}

/// Returns the repositories around files that walls hide, wherever they are below the
/// root: git keeps the past content of such files.
pub fn histories_of_kept(root: &Path, walls: &[PathWall]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for wall in walls
        .iter()
        .filter(|wall| wall.keeps == PathWallKind::Reading)
    {
        let start = PathWallSearchStart::of(root, wall);
        let around = start.path.ancestors();
        let around = around.take_while(|above| above.starts_with(root));
        found.extend(around.map(|above| above.join(GIT)));
        if start.extent == PathWallExtent::Part {
            let is_git = |path: &Path| path.file_name() == Some(OsStr::new(GIT));
            // If the tree is too large to search, no command starts anyway.
            found.extend(found_below(start.path, is_git).unwrap_or_default());
        }
    }
    found.retain(|git| git.symlink_metadata().is_ok());
    let elsewhere: Vec<PathBuf> = found.iter().filter_map(|git| led_to(git)).collect();
    found.extend(elsewhere);
    found.sort();
    found.dedup();
    found
}

/// The repository of a folder, or the file that refers to it.
const GIT: &str = ".git";

/// Longest file that refers to a repository, in bytes.
const LONGEST_LEAD: u64 = 8 << 10;

/// Returns the repository that such a file refers to.
fn led_to(git: &Path) -> Option<PathBuf> {
    let said = artel_files::read_bounded(git, LONGEST_LEAD).ok()?;
    let said = said.trim_ascii_end().strip_prefix(b"gitdir: ")?;
    git.parent()?
        .join(OsStr::from_bytes(said))
        .canonicalize()
        .ok()
}

/// The start of the search for the paths that a wall covers.
struct PathWallSearchStart {
    path: PathBuf,
    extent: PathWallExtent,
}

/// The part of a folder that a wall covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathWallExtent {
    Whole,
    Part,
}

impl PathWallSearchStart {
    /// Follows the pattern into the tree as far as it names folders without wildcards.
    fn of(root: &Path, wall: &PathWall) -> Self {
        let names: Vec<&str> = wall.pattern().split('/').collect();
        let is_open = |name: &&str| name.contains(['*', '?', '[', '{', '\\']);
        let fixed = names.iter().position(is_open).unwrap_or(names.len());
        Self {
            path: root.join(names[..fixed].join("/")),
            extent: match &names[fixed..] {
                [] | ["**"] => PathWallExtent::Whole,
                _ => PathWallExtent::Part,
            },
        }
    }
}

/// Returns the paths behind a wall.
fn paths_of(root: &Path, wall: &PathWall) -> Result<Vec<PathBuf>, ToolError> {
    let start = PathWallSearchStart::of(root, wall);
    match start.extent {
        PathWallExtent::Whole => Ok(vec![start.path]),
        PathWallExtent::Part => {
            let found = found_below(start.path, |path| covers(wall, root, path));
            found.ok_or_else(|| too_many(wall))
        }
    }
}

fn covers(wall: &PathWall, root: &Path, path: &Path) -> bool {
    let inside = path.strip_prefix(root).unwrap_or(path);
    wall.covers(&inside.to_string_lossy())
}

/// Finds everything below a folder that is covered, or returns `None` if the folder is too
/// large to search. Links are not followed: their targets are found where they are.
fn found_below(start: PathBuf, covers: impl Fn(&Path) -> bool) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![start];
    let mut seen = 0;
    while let Some(folder) = waiting.pop() {
        // A folder that this process cannot read is unreadable for its commands too.
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries {
            seen += 1;
            if seen > MOST_ENTRIES {
                return None;
            }
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if covers(&path) {
                found.push(path);
            } else if is_folder && entry.file_name() != GIT {
                waiting.push(path);
            }
        }
    }
    Some(found)
}

fn too_many(wall: &PathWall) -> ToolError {
    let what = format!(
        "the tree holds more than {MOST_ENTRIES} files, too many to keep `{}` from a command",
        wall.pattern()
    );
    ToolError::new(ToolErrorKind::Refused, what)
        .hint("name a folder in the rule, such as `Read(private/**)`")
}

#[cfg(test)]
mod tests {
    use artel_policy::Policy;
    use artel_policy::rules::PolicyRule;
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn patterns_become_folders_and_files() {
        let folder = TempDir::new().unwrap();
        let root = folder.path();
        for file in [
            "a/x.key",
            "a/b/y.key",
            "a/b/z.txt",
            "private/k",
            ".git/w.key",
        ] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let below = |pattern: &str| {
            let policy = Policy {
                deny: vec![PolicyRule::parse(&format!("Read({pattern})")).unwrap()],
                ..Policy::default()
            };
            let mut view = SandboxView::default();
            raise(
                &mut view,
                root,
                &policy.path_walls(),
                &ToolCallConsent::None,
            )
            .unwrap();
            let mut names: Vec<String> = view
                .hidden
                .iter()
                .map(|path| path.strip_prefix(root).unwrap().display().to_string())
                .collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(below("private/**"), "private");
        assert_eq!(below("gone/**"), "gone");
        assert_eq!(below("a/x.key"), "a/x.key");
        assert_eq!(below("**/*.key"), "a/b/y.key a/x.key");
        assert_eq!(below("a/*.key"), "a/x.key");
        assert_eq!(below("a/*/**"), "a/b/y.key a/b/z.txt");
    }

    #[test]
    fn a_folder_is_kept_from_commands_by_what_lies_in_it() {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for file in ["deps/m/one.key", "deps/m/plain.txt", "private/k"] {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("deps", root.join("link")).unwrap();
        let is_kept = |rule: &str| {
            let policy = Policy {
                deny: vec![PolicyRule::parse(rule).unwrap()],
                ..Policy::default()
            };
            keep_from_reading_in(&root, Path::new("deps"), &policy.path_walls())
        };
        for pattern in [
            "**",
            "**/*.key",
            "*/m/**",
            "d*",
            "deps",
            "deps/**",
            "deps/m/**",
            "deps/m/one.key",
            "deps/*/*.key",
            "link/m/**",
            "link/**/*.key",
            "link/*/one.key",
        ] {
            assert!(is_kept(&format!("Read({pattern})")), "{pattern}");
        }
        for pattern in [
            "**/.env",
            "*.key",
            "*/*.key",
            "deps/*.key",
            "deps/gone/**",
            "dep/**",
            "private/**",
        ] {
            assert!(!is_kept(&format!("Read({pattern})")), "{pattern}");
        }
        assert!(!is_kept("Edit(deps/**)"));
    }

    #[test]
    fn a_yes_lifts_what_asks_and_nothing_else() {
        let policy = Policy {
            deny: vec![PolicyRule::parse("Edit(kept/**)").unwrap()],
            ask: vec![
                PolicyRule::parse("Read(private/**)").unwrap(),
                PolicyRule::parse("Bash(make:*)").unwrap(),
                PolicyRule::parse("Read").unwrap(),
            ],
            ..Policy::default()
        };
        let walls = policy.path_walls();
        let raised = |consent: ToolCallConsent| {
            let mut view = SandboxView::default();
            raise(&mut view, Path::new("/tree"), &walls, &consent).unwrap();
            (view.hidden, view.read_only)
        };
        let (private, kept) = (PathBuf::from("/tree/private"), PathBuf::from("/tree/kept"));
        let all = (vec![private], vec![kept.clone()]);
        assert_eq!(raised(ToolCallConsent::None), all);
        let yes_to = |rule: &str| raised(ToolCallConsent::To(rule.to_owned()));
        assert_eq!(yes_to("Bash(make:*)"), all, "it was about something else");
        assert_eq!(yes_to("Edit(kept/**)"), all, "a ban is lifted by nobody");
        assert_eq!(yes_to("Read(private/**)"), (vec![], vec![kept]));
    }
}
