//! Keeps a workshop private: only its person may read it. Requests, plans, reports and
//! policy say more about a project than other users of the machine should know.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// The mode of a file that only the person can read.
pub(crate) const PRIVATE_FILE: u32 = 0o600;

/// The mode of a folder that only the person can enter.
pub(crate) const PRIVATE_FOLDER: u32 = 0o700;

/// The folders that only the person can enter and read.
pub(crate) const PRIVATE: [&str; 4] = [".artel", "Inbox", "Knowledge", "Policy"];

/// The trees of runs keep the modes of the projects they copy; the folder around them is
/// private.
const TREES: &str = ".artel/worktrees";

/// Maximum number of files that are checked at a start; far more than a workshop has.
const MOST: usize = 200_000;

/// The paths of a workshop that other users can read or write.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LoosePermissionPaths {
    /// The paths, relative to the workshop.
    pub(crate) paths: Vec<PathBuf>,
}

impl LoosePermissionPaths {
    /// Searches a workshop. Links are not followed, and files of other users are skipped.
    pub(crate) fn find(root: &Path) -> Self {
        let mut found = Self::default();
        let mut waiting: Vec<PathBuf> = PRIVATE.iter().map(PathBuf::from).collect();
        let mut left = MOST;
        while let Some(path) = waiting.pop() {
            let Ok(about) = root.join(&path).symlink_metadata() else {
                continue;
            };
            let is_ours = about.uid() == rustix::process::geteuid().as_raw();
            if about.is_symlink() || !is_ours || left == 0 {
                continue;
            }
            left -= 1;
            if about.is_dir() && path != Path::new(TREES) {
                let entries = fs::read_dir(root.join(&path)).into_iter().flatten();
                waiting.extend(entries.flatten().map(|entry| path.join(entry.file_name())));
            }
            if about.mode() & 0o077 != 0 {
                found.paths.push(path);
            }
        }
        found.paths.sort();
        found
    }

    /// Removes all rights of other users. Returns the number of paths that were changed.
    pub(crate) fn tighten(&self, root: &Path) -> usize {
        let shut = |path: &&PathBuf| {
            let path = root.join(path);
            let about = path.symlink_metadata();
            about.is_ok_and(|about| {
                let rest = fs::Permissions::from_mode(about.mode() & 0o700);
                fs::set_permissions(&path, rest).is_ok()
            })
        };
        self.paths.iter().filter(shut).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_can_read_is_found_and_shut_and_links_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        let put = |name: &str, mode: u32| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        put("Inbox/Plans/plan.md", 0o644);
        put("Knowledge/Reports/report.md", 0o666);
        put("Policy/grants.toml", 0o600);
        put(".artel/journal.db", 0o640);
        put(".artel/worktrees/run/tree/build.sh", 0o755);
        put("Skills/greet/SKILL.md", 0o644);
        put("outside.md", 0o644);
        std::os::unix::fs::symlink(root.join("outside.md"), root.join("Inbox/link.md")).unwrap();
        for folder in PRIVATE
            .iter()
            .chain(&["Inbox/Plans", "Knowledge/Reports", TREES])
        {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(root.join(folder), mode).unwrap();
        }
        let open = LoosePermissionPaths::find(root);
        let names: Vec<_> = open.paths.iter().filter_map(|it| it.to_str()).collect();
        assert_eq!(
            names,
            [
                ".artel",
                ".artel/journal.db",
                ".artel/worktrees",
                "Inbox",
                "Inbox/Plans",
                "Inbox/Plans/plan.md",
                "Knowledge",
                "Knowledge/Reports",
                "Knowledge/Reports/report.md",
                "Policy",
            ]
        );
        assert_eq!(open.tighten(root), open.paths.len());
        assert_eq!(
            LoosePermissionPaths::find(root),
            LoosePermissionPaths::default()
        );
        let mode = |name: &str| fs::metadata(root.join(name)).unwrap().mode() & 0o777;
        assert_eq!(mode("Inbox/Plans/plan.md"), PRIVATE_FILE);
        assert_eq!(mode("Knowledge"), PRIVATE_FOLDER);
        assert_eq!(mode("outside.md"), 0o644);
        assert_eq!(mode(".artel/worktrees/run/tree/build.sh"), 0o755);
        assert_eq!(mode("Skills/greet/SKILL.md"), 0o644);
    }
}
