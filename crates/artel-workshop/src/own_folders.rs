//! Finds the folders that belong to workshops, by what they are and not by what they are
//! called.
//!
//! A folder is identified by its real path and by device and inode, so a link, a bind
//! mount or another spelling of its name gives the same answer. Workshops are the one in
//! use, all that this user made or trusted, and every folder that is marked as one: a
//! workshop that was moved or cloned, or that comes from somebody else, is in no list. The
//! person's own settings file counts as one of these files, wherever a link in its place
//! leads.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use artel_files::FileIdentity;
use artel_types::Failure;

use crate::caller::CommandContext;
use crate::marker::WorkshopMarker;
use crate::registry;
use crate::workshop::Workshop;

/// The entries of a workshop that are read as configuration or as a person's word. Agents
/// never change them.
const OWN: &[&str] = &[
    ".artel",
    "artel.toml",
    "Agents",
    "Flows",
    "Inbox",
    "Knowledge",
    "Policy",
    "Skills",
    "Tools",
];

/// The folders of a workshop whose entries may be links to where a person keeps them.
const LINKING: &[&str] = &["Agents", "Inbox", "Knowledge", "Policy", "Skills", "Tools"];

/// Maximum number of files and folders that are searched for an unlisted workshop, nearest
/// first. A workshop beyond that is still protected when something is about to be written
/// into it.
const MOST_LOOKED_AT: usize = 50_000;

/// The own files and folders of this user's workshops.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnFolders {
    roots: Vec<IdentifiedPath>,
    own: Vec<IdentifiedPath>,
    mounts: Vec<IdentifiedPath>,
}

/// A file or folder, identified by its real path, device and inode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct IdentifiedPath {
    path: PathBuf,
    identity: Option<FileIdentity>,
}

impl IdentifiedPath {
    fn at(path: PathBuf) -> Self {
        let identity = identity_of(&path);
        Self { path, identity }
    }

    fn is(&self, identity: Option<FileIdentity>) -> bool {
        identity.is_some() && self.identity == identity
    }
}

impl CommandContext {
    /// Finds the own folders of the workshop at `root` and of all workshops that this user
    /// made or trusted.
    pub(crate) fn own_folders(&self, root: &Path) -> Result<OwnFolders, Failure> {
        let mut roots = vec![root.to_owned()];
        roots.extend(registry::places(self.places.data())?);
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        let mut found = OwnFolders::of(&roots, mount_points(&mounts));
        // The person's own settings apply in every workshop, and the file may be kept inside a
        // project.
        found.add_own(self.user_file());
        Ok(found)
    }
}

impl Workshop {
    /// Finds the own folders of this workshop and of the person's other workshops.
    pub(crate) fn own_folders(&self) -> Result<OwnFolders, Failure> {
        self.caller.own_folders(&self.root)
    }
}

impl OwnFolders {
    fn of(roots: &[PathBuf], mounts: Vec<PathBuf>) -> Self {
        let mut found = Self {
            mounts: mounts.into_iter().map(IdentifiedPath::at).collect(),
            ..Self::default()
        };
        for root in roots.iter().filter_map(|root| root.canonicalize().ok()) {
            if found.roots.iter().any(|known| known.path == root) {
                continue;
            }
            for name in OWN {
                found.add_own(root.join(name));
            }
            for folder in LINKING {
                for link in links_in(&root.join(folder)) {
                    found.add_own(link);
                }
            }
            found.roots.push(IdentifiedPath::at(root));
        }
        found
    }

    /// Adds a path by its name in the workshop, and by the target of a link under that name.
    fn add_own(&mut self, path: PathBuf) {
        if let Some(real) = leads_to(&path)
            && real != path
        {
            self.own.push(IdentifiedPath::at(real));
        }
        self.own.push(IdentifiedPath::at(path));
    }

    /// Returns a workshop somewhere beneath a folder, which must be free of links. A folder
    /// that is itself a workshop does not count. Walks the folder.
    pub(crate) fn workshop_beneath(&self, folder: &Path) -> Option<PathBuf> {
        let known = self.known_workshop_beneath(folder).map(Path::to_owned);
        known.or_else(|| marked_beneath(folder))
    }

    /// Returns such a workshop among those that this user made or trusted, without walking the
    /// folder.
    pub(crate) fn known_workshop_beneath(&self, folder: &Path) -> Option<&Path> {
        let is_beneath = |root: &&IdentifiedPath| {
            root.path != folder && (root.path.starts_with(folder) || self.is_mounted(root, folder))
        };
        let root = self.roots.iter().find(is_beneath)?;
        Some(&root.path)
    }

    /// Returns whether a mount beneath the folder shows the workshop or one of its parents.
    fn is_mounted(&self, root: &IdentifiedPath, folder: &Path) -> bool {
        let above: Vec<_> = root.path.ancestors().map(identity_of).collect();
        let mut inside = self.mounts_in(folder);
        inside.any(|mount| above.iter().any(|identity| mount.is(*identity)))
    }

    fn mounts_in(&self, folder: &Path) -> impl Iterator<Item = &IdentifiedPath> {
        let mounts = self.mounts.iter();
        mounts.filter(move |mount| mount.path != folder && mount.path.starts_with(folder))
    }

    /// Returns the workshop's own folder that contains a folder or is that folder.
    pub(crate) fn around(&self, folder: &Path) -> Option<PathBuf> {
        let own = self.own.iter().find(|own| folder.starts_with(&own.path));
        own.map(|own| own.path.clone())
            .or_else(|| own_of_marked(folder))
    }

    /// Returns the workshop's own paths beneath a folder, relative to it, for the sandbox and
    /// the policy of a copy of that folder. The folder must be free of links.
    pub(crate) fn within(&self, folder: &Path) -> Vec<PathBuf> {
        let by_path = self.own.iter().map(|own| own.path.as_path());
        let is_own = |mount: &&IdentifiedPath| {
            let known = self.own.iter().chain(&self.roots);
            known.into_iter().any(|it| mount.is(it.identity))
        };
        let mounted = self.mounts_in(folder).filter(is_own);
        let all = by_path.chain(mounted.map(|mount| mount.path.as_path()));
        let inside = all.filter_map(|path| path.strip_prefix(folder).ok());
        let inside = inside.filter(|path| !path.as_os_str().is_empty());
        let mut inside: Vec<PathBuf> = inside.map(Path::to_owned).collect();
        if is_marked(folder) {
            inside.extend(OWN.iter().map(PathBuf::from));
        }
        inside.sort();
        inside.dedup();
        inside
    }

    /// Returns whether writing to a path would change a workshop's own files, even through a
    /// link, a mount, or a name that the file system treats as the same.
    pub(crate) fn owns(&self, place: &Path) -> bool {
        let there = place.ancestors().find_map(|above| {
            let real = above.canonicalize().ok()?;
            let rest = place.strip_prefix(above).ok()?;
            Some(real.join(rest))
        });
        let place = there.as_deref().unwrap_or(place);
        let is_known = |above: &Path| {
            let identity = identity_of(above);
            let mut own = self.own.iter();
            own.any(|own| own.path == above || own.is(identity))
        };
        place.ancestors().any(is_known) || own_of_marked(place).is_some()
    }
}

fn is_marked(folder: &Path) -> bool {
    WorkshopMarker::path(folder).symlink_metadata().is_ok()
}

/// Returns the own path of a marked folder that contains `place` or is `place`.
fn own_of_marked(place: &Path) -> Option<PathBuf> {
    place.ancestors().skip(1).find_map(|root| {
        let entry = place.strip_prefix(root).ok()?.iter().next()?;
        if !is_marked(root) {
            return None;
        }
        let identity = identity_of(&root.join(entry));
        let is_it = |own: &&&str| {
            entry == **own || (identity.is_some() && identity == identity_of(&root.join(**own)))
        };
        OWN.iter().find(is_it).map(|own| root.join(own))
    })
}

/// Searches beneath a folder, on the same file system only, for one that is marked as a
/// workshop.
fn marked_beneath(folder: &Path) -> Option<PathBuf> {
    let device = identity_of(folder)?.device;
    let mut left = MOST_LOOKED_AT;
    let mut waiting = VecDeque::from([folder.to_owned()]);
    while let Some(at) = waiting.pop_front() {
        if at != folder && identity_of(&at).is_none_or(|it| it.device != device) {
            continue;
        }
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            left = left.checked_sub(1)?;
            let name = entry.file_name();
            if name == ".artel" {
                if at != folder && is_marked(&at) {
                    return Some(at);
                }
            } else if name != ".git" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push_back(entry.path());
            }
        }
    }
    None
}

/// Returns where a path leads. Also follows a link to a missing target: whatever is
/// created there is read through the link.
fn leads_to(path: &Path) -> Option<PathBuf> {
    if let Ok(real) = path.canonicalize() {
        return Some(real);
    }
    let named = path.parent()?.join(fs::read_link(path).ok()?);
    let folder = named.parent()?.canonicalize().ok()?;
    Some(folder.join(named.file_name()?))
}

fn identity_of(path: &Path) -> Option<FileIdentity> {
    let about = path.metadata().ok()?;
    Some(FileIdentity {
        device: about.dev(),
        inode: about.ino(),
    })
}

fn links_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_link = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_symlink());
    entries.filter(is_link).map(|entry| entry.path()).collect()
}

/// Returns the mount points in the kernel's list: the fifth word of each line, with spaces
/// and similar characters in octal.
fn mount_points(listed: &[u8]) -> Vec<PathBuf> {
    let lines = listed.split(|&byte| byte == b'\n');
    let fifth = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    let path = |word: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(unescaped(word)));
    fifth.map(path).collect()
}

fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&first, more)) = rest.split_first() {
        let octal = more.get(..3).filter(|_| first == b'\\');
        let octal = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &more[3..];
            }
            None => {
                plain.push(first);
                rest = more;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn workshop(home: &Path, name: &str) -> PathBuf {
        let root = home.join(name);
        for folder in ["Inbox", "Policy", "Skills", "Agents", "Tools", ".artel"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        root
    }

    #[test]
    fn a_folder_above_a_workshop_is_known_however_it_is_reached() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let root = workshop(&home, "work/Artel");
        fs::create_dir_all(home.join("view")).unwrap();
        symlink(&root, home.join("work/link")).unwrap();
        let known = OwnFolders::of(std::slice::from_ref(&root), Vec::new());
        for (folder, holds) in [
            ("work", true),
            ("", true),
            ("work/Artel", false),
            ("work/Artel/Skills", false),
            ("work/Art", false),
            ("view", false),
        ] {
            let found = known.known_workshop_beneath(&home.join(folder));
            assert_eq!(found.is_some(), holds, "{folder}");
        }
        // A bind mount shows the device and inode of its source. Here a folder stands in for it.
        let mount = |of: &Path| IdentifiedPath {
            path: home.join("view/mounted"),
            identity: identity_of(of),
        };
        for (of, holds) in [
            (root.as_path(), true),
            (&home.join("work"), true),
            (&home.join("view"), false),
        ] {
            let mut known = known.clone();
            known.mounts = vec![mount(of)];
            assert_eq!(
                known.known_workshop_beneath(&home.join("view")).is_some(),
                holds,
                "{of:?}"
            );
        }
    }

    #[test]
    fn links_are_own_however_much_lies_beside_them() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let root = workshop(&home, "shop");
        let code = home.join("code");
        fs::create_dir(&code).unwrap();
        for number in 0..3_000 {
            let name = format!("{number}.md");
            let place = root.join("Inbox").join(&name);
            if number % 100 == 0 {
                fs::write(code.join(&name), "").unwrap();
                symlink(code.join(&name), place).unwrap();
            } else {
                fs::write(place, "").unwrap();
            }
        }
        let known = OwnFolders::of(std::slice::from_ref(&root), Vec::new());
        assert_eq!(known.within(&code).len(), 30);
    }

    #[test]
    fn what_is_own_is_found_by_what_it_is() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let root = workshop(&home, "shop");
        let code = home.join("code");
        fs::create_dir_all(code.join("skills/greet")).unwrap();
        fs::create_dir_all(code.join("roles")).unwrap();
        fs::write(code.join("roles/coder.md"), "x").unwrap();
        symlink(code.join("skills/greet"), root.join("Skills/greet")).unwrap();
        symlink(code.join("roles/coder.md"), root.join("Agents/coder.md")).unwrap();
        fs::create_dir_all(root.join("Knowledge")).unwrap();
        fs::create_dir_all(code.join("rules")).unwrap();
        symlink(code.join("rules"), root.join("Knowledge/Context")).unwrap();
        fs::remove_dir(root.join("Tools")).unwrap();
        fs::create_dir_all(code.join("tools")).unwrap();
        symlink(code.join("tools"), root.join("Tools")).unwrap();
        symlink(&root, home.join("elsewhere")).unwrap();
        let known = OwnFolders::of(std::slice::from_ref(&root), Vec::new());
        let inside = known.within(&code);
        let names: Vec<_> = inside.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(names, ["roles/coder.md", "rules", "skills/greet", "tools"]);
        let own: Vec<_> = known.within(&root);
        assert!(
            own.contains(&"Inbox".into()) && own.contains(&"artel.toml".into()),
            "{own:?}"
        );
        for (path, owned) in [
            ("shop/Inbox/Active/x.md", true),
            ("shop/Skills/new/SKILL.md", true),
            ("shop/Flows/made-later.yaml", true),
            ("shop/src/main.rs", false),
            ("shop/skills/x", false),
            ("elsewhere/Policy/grants.toml", true),
            ("code/skills/greet/SKILL.md", true),
            ("code/skills/other/SKILL.md", false),
            ("code/tools/deploy.toml", true),
            ("code/roles/coder.md", true),
            ("code/rules/kind.md", true),
            ("code/roles/other.md", false),
            ("code/Policy/grants.toml", false),
        ] {
            assert_eq!(known.owns(&home.join(path)), owned, "{path}");
        }
        assert_eq!(
            known.around(&root.join("Skills/greet")),
            Some(root.join("Skills"))
        );
        assert_eq!(known.around(&root), None);
    }

    #[test]
    fn a_workshop_that_is_in_no_list_is_known_by_its_mark() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let root = workshop(&home, "work/deep/moved");
        fs::create_dir_all(home.join("work/.git/modules/x/.artel")).unwrap();
        fs::write(home.join("work/.git/modules/x/.artel/workshop.json"), "{}").unwrap();
        let known = OwnFolders::default();
        let work = home.join("work");
        assert_eq!(known.workshop_beneath(&work), None, "neither is marked");
        fs::write(root.join(".artel/workshop.json"), "{}").unwrap();
        assert_eq!(known.workshop_beneath(&work).as_ref(), Some(&root));
        assert_eq!(known.workshop_beneath(&root), None, "it is one itself");
        assert_eq!(known.known_workshop_beneath(&work), None);
        for (path, owned) in [
            ("Skills/new/SKILL.md", true),
            (".artel", true),
            ("artel.toml", true),
            ("skills/new/SKILL.md", false),
            ("src/Skills/main.rs", false),
        ] {
            assert_eq!(known.owns(&root.join(path)), owned, "{path}");
        }
        assert_eq!(
            known.around(&root.join("Inbox/Requests")),
            Some(root.join("Inbox"))
        );
        assert!(known.within(&root).contains(&"Policy".into()));
        assert_eq!(known.within(&work), Vec::<PathBuf>::new());
    }

    #[test]
    fn mount_points_are_read_as_the_kernel_writes_them() {
        let listed = b"36 35 98:0 /mnt1 /mnt/my\\040work rw - ext3 /dev/root rw\n\
            37 35 0:5 / /proc/\\134x rw - proc proc rw\nbroken\n";
        let found = mount_points(listed);
        assert_eq!(
            found,
            [PathBuf::from("/mnt/my work"), PathBuf::from("/proc/\\x")]
        );
    }
}
