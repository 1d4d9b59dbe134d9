//! Finds what other users could have written in a workshop. Rules, roles, tools and skills
//! of another user carry nobody's authority.
//!
//! The system's administrator counts as trusted, and so does a group with the workshop's
//! person as its only member: many systems make such a group for each user.

use std::cell::OnceCell;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

use crate::trouble::shell_word;
use crate::workshop::Workshop;

/// Files and folders that decide about agents or become part of their prompts.
const DECIDING: [&str; 5] = [
    "artel.toml",
    "Policy",
    "Agents",
    "Tools",
    "Knowledge/Context",
];

/// Skills are checked one by one when they are used. Only their folder is checked with the
/// rest.
const SKILLS: &str = "Skills";

/// Largest number of files looked at in one of these places, more than anybody keeps
/// there.
const MOST: usize = 50_000;

/// Largest number of paths named in a message.
const MOST_NAMED: usize = 5;

/// The administrator, who can do everything anyway.
const ROOT: u32 = 0;

/// Mode bits that let other users write.
const WRITE_OF_OTHERS: u32 = 0o022;

/// A path that others than its person could have written.
#[derive(Debug)]
struct TamperablePath {
    path: PathBuf,
    /// The file or folder whose scan found the path.
    entry: PathBuf,
    why: TamperableReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TamperableReason {
    /// The path, or the target of the link at it, belongs to this user.
    BelongsTo(u32),
    /// Users other than the owner can write the path; holds its mode.
    Writable(u32),
    /// The folder holds more files than are looked at.
    TooMuch,
}

impl TamperablePath {
    fn said(&self) -> String {
        let shown = self.path.display();
        match self.why {
            TamperableReason::BelongsTo(owner) => format!("`{shown}` belongs to user {owner}"),
            TamperableReason::Writable(mode) => {
                format!("others can write `{shown}` (mode {mode:04o})")
            }
            TamperableReason::TooMuch => {
                format!("there is too much in `{shown}` to look at (more than {MOST} files)")
            }
        }
    }
}

/// All paths found that other users could have written.
#[derive(Debug, Default)]
pub(crate) struct TamperablePathList(Vec<TamperablePath>);

impl TamperablePathList {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Describes the first paths and counts the rest.
    pub(crate) fn said(&self) -> String {
        let named = self.0.iter().take(MOST_NAMED).map(TamperablePath::said);
        let named = named.collect::<Vec<_>>().join("; ");
        match self.0.len().saturating_sub(MOST_NAMED) {
            0 => named,
            more => format!("{named}; and {more} more"),
        }
    }

    /// Returns the remedies for all of the paths.
    pub(crate) fn advice(&self) -> String {
        let chmod = self.chmod();
        let mut advice = Vec::new();
        if self.has(|why| matches!(why, TamperableReason::BelongsTo(_))) {
            advice.push(match rustix::process::geteuid().as_raw() {
                ROOT => {
                    "if the workshop is that user's, run Artel as that user; if not, look at it \
                     and put a copy of your own there"
                }
                _ => "look at it, and put a copy of your own there instead",
            });
        }
        advice.extend(chmod.as_deref());
        if self.has(|why| why == TamperableReason::TooMuch) {
            advice.push("move what no agent needs out of there");
        }
        advice.join("; then ")
    }

    /// Returns whether [`stop_writing`] can remedy all of them.
    pub(crate) fn ends_with_upgrade(&self) -> bool {
        let can_be_shut = |it: &TamperablePath| {
            matches!(it.why, TamperableReason::Writable(_)) && !it.path.is_symlink()
        };
        self.0.iter().all(can_be_shut)
    }

    fn has(&self, of: impl Fn(TamperableReason) -> bool) -> bool {
        self.0.iter().any(|it| of(it.why))
    }

    fn writable(&self) -> impl Iterator<Item = &TamperablePath> {
        let is_writable = |it: &&TamperablePath| matches!(it.why, TamperableReason::Writable(_));
        self.0.iter().filter(is_writable)
    }

    /// Returns the one command that takes write access from all others. The command is
    /// recursive only for folders whose whole contents were looked at, and follows a link only
    /// if the command names it.
    fn chmod(&self) -> Option<String> {
        let (mut alone, mut whole) = (Vec::new(), Vec::new());
        for it in self.writable() {
            if it.path == it.entry || it.path.is_symlink() {
                alone.push(it.path.as_path())
            } else {
                whole.push(it.entry.as_path())
            }
        }
        whole.dedup();
        alone.retain(|path| !whole.contains(path));
        let words = |paths: &[&Path]| {
            let words: Vec<_> = paths.iter().map(|path| shell_word(path)).collect();
            words.join(" ")
        };
        Some(match (&alone[..], &whole[..]) {
            ([], []) => return None,
            (alone, []) => format!("`chmod go-w {}`", words(alone)),
            ([], whole) => format!("`chmod -R go-w {}`", words(whole)),
            (alone, whole) => format!(
                "`chmod go-w {}; chmod -R go-w {}`",
                words(alone),
                words(whole)
            ),
        })
    }
}

/// Finds the deciding files and folders of a workshop that others could have written.
pub(crate) fn written_by_others(root: &Path) -> TamperablePathList {
    let look = TamperScan::at(root);
    let mut found = Vec::new();
    for folder in [root.to_owned(), root.join(SKILLS)] {
        found.extend(look.here(&folder, &folder));
    }
    for name in DECIDING {
        found.extend(look.beneath(&root.join(name)));
    }
    TamperablePathList(found)
}

/// Returns the paths of a workshop's skill that others could have written, or `None` if
/// only its person could.
pub(crate) fn in_skill(root: &Path, folder: &Path) -> Option<TamperablePathList> {
    let found = TamperablePathList(TamperScan::at(root).beneath(folder));
    (!found.is_empty()).then_some(found)
}

/// Takes write access from others on all that decides in a workshop, its skills included.
/// Links stay as they are. Returns the changed paths, relative to the workshop.
pub(crate) fn stop_writing(root: &Path) -> Vec<PathBuf> {
    let look = TamperScan::at(root);
    let mut found: Vec<_> = look.here(root, root).into_iter().collect();
    for name in DECIDING.into_iter().chain([SKILLS]) {
        found.extend(look.beneath(&root.join(name)));
    }
    let found = TamperablePathList(found);
    let stopped = found.writable().filter_map(|it| {
        let about = it.path.symlink_metadata().ok()?;
        if about.is_symlink() {
            return None;
        }
        let rest = fs::Permissions::from_mode(about.mode() & 0o7777 & !WRITE_OF_OTHERS);
        fs::set_permissions(&it.path, rest).ok()?;
        Some(it.path.strip_prefix(root).ok()?.to_owned())
    });
    stopped.collect()
}

/// The scan of a workshop, with the users whose word counts.
struct TamperScan {
    user: u32,
    /// The workshop's owner, if the administrator runs Artel for them: in a container, a
    /// mounted folder often belongs to another user.
    person: Option<u32>,
    /// The private groups of these users, read once and only if a group can write something.
    private_groups: OnceCell<Vec<u32>>,
    most: usize,
}

impl TamperScan {
    fn at(root: &Path) -> Self {
        let user = rustix::process::geteuid().as_raw();
        let person = (user == ROOT).then(|| root.metadata().ok()).flatten();
        Self {
            user,
            person: person.map(|about| about.uid()),
            private_groups: OnceCell::new(),
            most: MOST,
        }
    }

    /// Checks a file or folder and everything in it.
    fn beneath(&self, entry: &Path) -> Vec<TamperablePath> {
        let mut found = Vec::new();
        let mut waiting: Vec<PathBuf> = vec![entry.to_owned()];
        let mut left = self.most;
        while let Some(path) = waiting.pop() {
            let Ok(about) = path.symlink_metadata() else {
                continue;
            };
            if left == 0 {
                found.push(TamperablePath {
                    path: entry.to_owned(),
                    entry: entry.to_owned(),
                    why: TamperableReason::TooMuch,
                });
                break;
            }
            left -= 1;
            found.extend(self.here(&path, entry));
            if about.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(entries.map(|entry| entry.path()));
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }

    /// Checks whether others could have written this path. For a link, both the link's owner
    /// and its target count.
    fn here(&self, path: &Path, entry: &Path) -> Option<TamperablePath> {
        let (link, about) = (path.symlink_metadata().ok()?, path.metadata().ok()?);
        let found = |why| TamperablePath {
            path: path.to_owned(),
            entry: entry.to_owned(),
            why,
        };
        let owners = [link.uid(), about.uid()];
        if let Some(owner) = owners.into_iter().find(|owner| !self.is_ours(*owner)) {
            return Some(found(TamperableReason::BelongsTo(owner)));
        }
        let by_all = about.mode() & 0o002 != 0;
        let by_group = about.mode() & 0o020 != 0 && !self.is_private_group(about.gid());
        (by_all || by_group).then(|| found(TamperableReason::Writable(about.mode() & 0o7777)))
    }

    fn is_ours(&self, owner: u32) -> bool {
        owner == ROOT || owner == self.user || self.person == Some(owner)
    }

    /// Returns whether a group has only a user whose word counts.
    fn is_private_group(&self, group: u32) -> bool {
        let groups = self.private_groups.get_or_init(|| self.read_groups());
        groups.contains(&group)
    }

    fn read_groups(&self) -> Vec<u32> {
        let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
        let groups = fs::read_to_string("/etc/group").unwrap_or_default();
        let ours = [Some(self.user), self.person].into_iter().flatten();
        ours.flat_map(|user| groups_of_its_own(user, &users, &groups))
            .collect()
    }
}

/// Returns the private groups of a user by the system's lists: of their listed primary
/// group and the group with the user's number, those that nobody else is in.
fn groups_of_its_own(user: u32, users: &str, groups: &str) -> Vec<u32> {
    let listed = users.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let is_it = fields.get(2)?.parse::<u32>() == Ok(user);
        is_it.then(|| fields.get(3)?.parse().ok()).flatten()
    });
    let mut own: Vec<u32> = listed.into_iter().chain([user]).collect();
    own.dedup();
    own.retain(|group| has_alone(user, *group, users, groups));
    own
}

/// Returns whether a user has a group alone, by the system's lists. A user or group on
/// neither list comes from elsewhere, such as a directory service. There, a private group
/// has the number of its user.
fn has_alone(user: u32, group: u32, users: &str, groups: &str) -> bool {
    let fields = |line: &str| line.split(':').map(str::to_owned).collect::<Vec<_>>();
    let number = |field: Option<&String>| field.and_then(|it| it.parse::<u32>().ok());
    let users: Vec<_> = users.lines().map(fields).collect();
    let groups: Vec<_> = groups.lines().map(fields).collect();
    let own = users.iter().find(|it| number(it.get(2)) == Some(user));
    let listed = groups.iter().find(|it| number(it.get(2)) == Some(group));
    let (Some(own), Some(listed)) = (own, listed) else {
        return user == group;
    };
    let is_own = number(own.get(3)) == Some(group) && listed.first() == own.first();
    let others = users.iter().filter(|it| number(it.get(2)) != Some(user));
    let is_shared = others
        .into_iter()
        .any(|it| number(it.get(3)) == Some(group));
    let members = listed.get(3).map(String::as_str).unwrap_or_default();
    let mut members = members.split(',').map(str::trim);
    let only_own = members.all(|it| it.is_empty() || Some(it) == own.first().map(String::as_str));
    is_own && !is_shared && only_own
}

impl Workshop {
    /// Refuses to begin anything while another user's words could be in force.
    pub(crate) fn refuse_written_by_others(&self) -> Result<(), Failure> {
        let open = written_by_others(self.root());
        if open.is_empty() {
            return Ok(());
        }
        let what = if open.has(|why| why != TamperableReason::TooMuch) {
            "another user can change files that control agents"
        } else {
            "whether another user can change files that control agents cannot be told"
        };
        Err(
            Failure::new(FailureCode::W007, format!("{what}: {}", open.said()))
                .because("they could change what agents may do")
                .advise(open.advice()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n\
                         ben:x:1001:1001::/home/ben:/bin/sh\neve:x:1002:100::/home/eve:/bin/sh\n";
    const GROUPS: &str = "root:x:0:\nada:x:1000:\nben:x:1001:ada\nusers:x:100:\nteam:x:200:ada\n";

    #[test]
    fn a_group_that_has_its_user_alone_for_a_member_is_no_stranger() {
        let alone = |user, group| has_alone(user, group, USERS, GROUPS);
        assert!(alone(1000, 1000) && alone(0, 0));
        // A group with another member, a group of another user, and groups of many.
        for (user, group) in [
            (1001, 1001),
            (1000, 1001),
            (1000, 200),
            (1002, 100),
            (1000, 0),
        ] {
            assert!(!alone(user, group), "{user} in {group}");
        }
        let shared = format!("{USERS}joe:x:1003:1000::/home/joe:/bin/sh\n");
        assert!(!has_alone(1000, 1000, &shared, GROUPS));
        let own = |user| groups_of_its_own(user, USERS, GROUPS);
        assert_eq!(
            (own(1000), own(1001), own(5000)),
            (vec![1000], vec![], vec![5000])
        );
        // Users of a directory service are in no file.
        assert!(has_alone(5000, 5000, USERS, GROUPS) && !has_alone(5000, 200, USERS, GROUPS));
    }

    fn put(root: &Path, name: &str, mode: u32) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn more_than_anybody_keeps_is_a_reason_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        for number in 0..5 {
            put(home.path(), &format!("Tools/{number}.toml"), 0o644);
        }
        let tools = home.path().join("Tools");
        let mut look = TamperScan::at(home.path());
        assert!(look.beneath(&tools).is_empty());
        look.most = 5;
        let found = TamperablePathList(look.beneath(&tools));
        assert!(
            found.said().contains("there is too much in"),
            "{}",
            found.said()
        );
        assert!(
            found.advice().contains("out of there"),
            "{}",
            found.advice()
        );
    }

    #[test]
    fn all_that_others_can_write_is_counted_and_one_command_mends_it() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        for number in 0..8 {
            put(root, &format!("Agents/{number}.md"), 0o666);
        }
        put(root, "artel.toml", 0o666);
        put(root, "Skills/greet/SKILL.md", 0o664);
        put(root, "project/open.txt", 0o666);
        let found = written_by_others(root);
        assert!(found.said().ends_with("; and 4 more"), "{}", found.said());
        let shown = root.display();
        assert_eq!(
            found.advice(),
            format!("`chmod go-w {shown}/artel.toml; chmod -R go-w {shown}/Agents`")
        );
    }

    #[test]
    fn what_others_can_write_is_shut_and_links_and_projects_are_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        put(root, "Agents/helper.md", 0o666);
        put(root, "Skills/greet/SKILL.md", 0o646);
        put(root, "Tools/x.toml", 0o644);
        put(root, "project/open.txt", 0o666);
        std::os::unix::fs::symlink(root.join("project/open.txt"), root.join("Tools/y.toml"))
            .unwrap();
        fs::set_permissions(root, fs::Permissions::from_mode(0o2777)).unwrap();
        let shut = stop_writing(root);
        let names: Vec<_> = shut.iter().filter_map(|it| it.to_str()).collect();
        assert_eq!(names, ["", "Agents/helper.md", "Skills/greet/SKILL.md"]);
        let mode = |name: &str| fs::metadata(root.join(name)).unwrap().mode() & 0o7777;
        assert_eq!(mode(""), 0o2755);
        assert_eq!(mode("Skills/greet/SKILL.md"), 0o644);
        assert_eq!(mode("project/open.txt"), 0o666);
        // The link is still reported, with a command that follows it.
        let found = written_by_others(root);
        assert!(
            found.advice().ends_with("Tools/y.toml`"),
            "{}",
            found.advice()
        );
        assert!(stop_writing(root).is_empty());
    }

    #[test]
    fn for_the_administrator_the_folders_owner_is_no_stranger() {
        let home = tempfile::tempdir().unwrap();
        let mut look = TamperScan::at(home.path());
        (look.user, look.person) = (ROOT, Some(1000));
        assert!(look.is_ours(ROOT) && look.is_ours(1000) && !look.is_ours(1001));
        (look.user, look.person) = (1000, None);
        assert!(look.is_ours(ROOT) && look.is_ours(1000) && !look.is_ours(1001));
    }
}
