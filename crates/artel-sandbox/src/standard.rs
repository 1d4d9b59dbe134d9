//! The default view: what programs need to run, and nothing personal.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::job::SandboxView;

mod known;

use known::{BESIDE, CREDENTIALS, KNOWN_ROOTS, NEVER, TOOL_CHAINS};

/// System folders that hold programs and what they need.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/etc",
    "/nix/store",
];

/// Paths in the system settings that hold keys, whatever their permissions.
const KEYS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/krb5.keytab",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/security/opasswd",
];

/// Limits on the depth and number of entries searched in the system settings for
/// restricted files.
const DEPTH: usize = 3;
const ENTRIES: usize = 8000;

/// Depth of the search for private files in a folder of programs.
const PROGRAMS_DEPTH: usize = 4;

/// Limit on programs per folder that are followed to their real place, and on programs of
/// all folders that are shown one by one, because each is a mount.
const PROGRAMS: usize = 500;

/// Limit on folders of one kind that are searched for credentials, such as versions of one
/// program.
const VERSIONS: usize = 200;

/// What the default view is made from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DefaultViewSources {
    /// The person's home folder; only its toolchains are shown.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// Further readable paths named in the settings.
    pub read: Vec<PathBuf>,
    /// Folders in which people work: an entry of `PATH` there makes only its programs
    /// readable.
    pub closed: Vec<PathBuf>,
}

/// The paths that one folder of `PATH` makes readable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPathOpening {
    /// The folder as named in `PATH`.
    pub folder: PathBuf,
    /// Folders and files that become readable because of it.
    pub shown: Vec<PathBuf>,
}

impl DefaultViewSources {
    /// Returns what each folder of `PATH` makes readable beyond the system folders.
    pub fn opened_by_path(&self) -> Vec<SearchPathOpening> {
        let mut singles = PROGRAMS;
        let opened = self.path.iter().map(|folder| SearchPathOpening {
            folder: folder.clone(),
            shown: self.program_folder(folder, &mut singles),
        });
        opened.filter(|opened| !opened.shown.is_empty()).collect()
    }
}

impl SandboxView {
    /// Returns the default view: the system's programs and settings without its keys, the
    /// program folders of `PATH` and their toolchains without credentials, and the paths named
    /// in the settings. Nothing is writable. This reads the disk; call it once for many
    /// commands.
    pub fn standard(from: &DefaultViewSources) -> Self {
        let mut read: BTreeSet<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let mut hidden: BTreeSet<PathBuf> = KEYS.iter().map(PathBuf::from).collect();
        let mut left = ENTRIES;
        for shown in from.opened_by_path().into_iter().flat_map(|it| it.shown) {
            let real = fs::canonicalize(&shown).unwrap_or_else(|_| shown.clone());
            let depth = if is_for_programs(&real) {
                PROGRAMS_DEPTH
            } else {
                1
            };
            private_entries(&shown, depth, &mut left, &mut hidden);
            hidden.extend(from.closed_within(&real));
            read.insert(shown);
        }
        read.extend(from.read.iter().cloned());
        if let Some(home) = &from.home {
            hidden.extend(CREDENTIALS.iter().flat_map(|name| places_of(home, name)));
        }
        left = ENTRIES;
        not_for_everyone(Path::new("/etc"), DEPTH, &mut left, &mut hidden);
        // A path that we cannot read cannot be read inside by the same user; only the rest is
        // masked.
        hidden.retain(|path| access(path, Access::READ_OK).is_ok());
        let nested = |path: &PathBuf| path.ancestors().skip(1).any(|above| hidden.contains(above));
        let hidden = hidden
            .iter()
            .filter(|path| !nested(path))
            .cloned()
            .collect();
        Self {
            read: read.into_iter().collect(),
            hidden,
            ..Self::default()
        }
    }
}

impl DefaultViewSources {
    /// Returns what the programs of one folder of `PATH` need. `singles` is the number of
    /// programs that can still be shown one by one.
    fn program_folder(&self, folder: &Path, singles: &mut usize) -> Vec<PathBuf> {
        let home = self.home.as_deref();
        let Ok(real) = fs::canonicalize(folder) else {
            return Vec::new();
        };
        if !folder.is_absolute() || real == Path::new("/") {
            return Vec::new();
        }
        if SYSTEM.iter().any(|system| real.starts_with(system)) {
            return Vec::new();
        }
        if let Some(mut shown) = self.tool_chain(&real) {
            shown.extend(real_programs(&real));
            return shown;
        }
        let holds_home = home.is_some_and(|home| home.starts_with(&real));
        let is_for_programs = is_for_programs(&real) || holds_only_programs(&real);
        if holds_home || !is_for_programs || self.is_closed(&real) {
            // More than programs lies there, wherever it is: `PATH_add .` puts a whole project
            // on `PATH`. It makes none of the rest readable.
            return own_programs(&real, singles);
        }
        let mut shown = vec![folder.to_owned()];
        if let Some(root) = real.parent() {
            shown.extend(self.beside(root));
        }
        shown.extend(real_programs(&real));
        shown
    }

    /// Returns the parts of the home folder's toolchain that a folder belongs to, without
    /// those in a closed folder.
    fn tool_chain(&self, real: &Path) -> Option<Vec<PathBuf>> {
        let home = self.home.as_deref()?;
        let real_home = fs::canonicalize(home).ok()?;
        let inside = real.strip_prefix(&real_home).ok()?;
        let mut chains = TOOL_CHAINS.iter();
        let (name, parts) = chains.find(|(name, _)| inside.starts_with(name))?;
        // A path in the toolchain's folder that is not one of its parts may be anybody's
        // project.
        if !parts.iter().any(|part| inside.starts_with(part)) {
            return None;
        }
        // Working in the whole home folder closes none of its toolchains.
        let closed = self.closed.iter().flat_map(fs::canonicalize);
        let closed: Vec<_> = closed
            .filter(|closed| !real_home.starts_with(closed))
            .collect();
        let is_open = |path: &Path| {
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            !closed.iter().any(|closed| path.starts_with(closed))
        };
        if !is_open(real) {
            return None;
        }
        let parts = parts.iter().map(|part| home.join(part));
        let mut shown: Vec<_> = parts.filter(|part| is_open(part)).collect();
        let mut known = known_parts(&home.join(name)).unwrap_or_default();
        known.retain(|part| !shown.iter().any(|above| part.starts_with(above)));
        shown.extend(known);
        Some(shown)
    }

    /// Returns what a folder such as `tools/node/bin` needs from its parent folder: the parts
    /// of a toolchain, and only if the parent has the shape of one. A project has a `bin` too,
    /// beside private files.
    fn beside(&self, root: &Path) -> Vec<PathBuf> {
        let is_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.starts_with(root));
        let is_never = |name: &OsStr| NEVER.iter().any(|never| name == *never);
        if is_home || root.parent().is_none() || root.iter().any(is_never) || self.is_closed(root) {
            return Vec::new();
        }
        match known_parts(root) {
            Some(known) => known,
            None if has_dot_file(root) => Vec::new(),
            None => own_parts(root, BESIDE),
        }
    }

    /// Returns the closed folders inside a shown folder.
    fn closed_within(&self, shown: &Path) -> Vec<PathBuf> {
        let closed = self.closed.iter().flat_map(fs::canonicalize);
        closed.filter(|closed| closed.starts_with(shown)).collect()
    }

    /// Returns whether a folder lies in a closed folder or contains one.
    fn is_closed(&self, folder: &Path) -> bool {
        let closed = self.closed.iter().flat_map(fs::canonicalize);
        closed
            .into_iter()
            .any(|closed| folder.starts_with(&closed) || closed.starts_with(folder))
    }
}

fn is_for_programs(folder: &Path) -> bool {
    folder.ends_with("bin") || folder.ends_with("shims")
}

/// Returns whether a folder contains nothing but programs and links to programs. Then
/// there is nothing to hide, whatever its name. A folder too large to search may contain
/// more.
fn holds_only_programs(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return false;
    };
    let mut entries = entries.take(ENTRIES + 1).peekable();
    let mut count = 0;
    entries.peek().is_some()
        && entries.all(|entry| {
            count += 1;
            let about = entry.and_then(|entry| fs::metadata(entry.path()));
            count <= ENTRIES && about.is_ok_and(|about| is_program(&about))
        })
}

fn is_program(about: &fs::Metadata) -> bool {
    about.is_file() && about.permissions().mode() & 0o111 != 0
}

/// Returns the needed parts of a toolchain that is recognised by the entries at its root.
fn known_parts(root: &Path) -> Option<Vec<PathBuf>> {
    let has_all = |signs: &[&str]| signs.iter().all(|sign| root.join(sign).exists());
    let (_, parts) = KNOWN_ROOTS.iter().find(|(signs, _)| has_all(signs))?;
    Some(own_parts(root, parts))
}

fn own_parts(root: &Path, parts: &[&str]) -> Vec<PathBuf> {
    let parts = parts.iter().map(|part| root.join(part));
    parts.filter(|part| is_own(part, root)).collect()
}

/// Returns whether a path exists and is not a link that leads out of its root.
fn is_own(part: &Path, root: &Path) -> bool {
    fs::canonicalize(part).is_ok_and(|real| real.starts_with(root))
}

/// Returns whether a folder contains dot files, as projects and home folders do. One that
/// cannot be listed counts too.
fn has_dot_file(folder: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let Ok(mut entries) = fs::read_dir(folder) else {
        return true;
    };
    entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().as_bytes().starts_with(b".")))
}

/// Collects the entries of a shown folder that are never shown: settings with secrets, and
/// metadata. Its own entries are always checked, those of folders below it while some are
/// `left`.
fn private_entries(folder: &Path, depth: usize, left: &mut usize, found: &mut BTreeSet<PathBuf>) {
    let is_private = |name: &str| {
        name.starts_with(".env") || NEVER.contains(&name) || name == ".netrc" || name == ".npmrc"
    };
    let mut level = vec![folder.to_owned()];
    for below in 0..depth {
        let mut next = Vec::new();
        for entry in level.iter().flat_map(fs::read_dir).flatten().flatten() {
            if below > 0 {
                if *left == 0 {
                    return;
                }
                *left -= 1;
            }
            if entry.file_name().to_str().is_some_and(is_private) {
                found.insert(entry.path());
            } else if below + 1 < depth && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                next.push(entry.path());
            }
        }
        level = next;
    }
}

/// Returns the paths below a folder that a name stands for; `*` stands for any one
/// component.
fn places_of(folder: &Path, name: &str) -> Vec<PathBuf> {
    let Some((before, after)) = name.split_once("/*/") else {
        return vec![folder.join(name)];
    };
    let entries = fs::read_dir(folder.join(before));
    let entries = entries.into_iter().flatten().flatten().take(VERSIONS);
    entries
        .flat_map(|entry| places_of(&entry.path(), after))
        .collect()
}

/// Returns only the programs in a folder.
fn own_programs(folder: &Path, singles: &mut usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let programs = entries.filter(|entry| {
        let about = entry.metadata();
        about.is_ok_and(|about| is_program(&about))
    });
    let programs = programs.map(|entry| entry.path());
    let programs = programs.chain(real_programs(folder)).take(*singles);
    let programs: Vec<_> = programs.collect();
    *singles -= programs.len();
    programs
}

/// Returns the targets of programs that are links.
fn real_programs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .flatten()
        .take(PROGRAMS)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()))
        .filter_map(|entry| fs::canonicalize(entry.path()).ok())
        .filter(|program| !program.starts_with(folder) && program.is_file())
        .filter(|program| !SYSTEM.iter().any(|system| program.starts_with(system)))
        .collect()
}

/// Collects files that others may not read, which is the system's own sign of a secret.
fn not_for_everyone(folder: &Path, depth: usize, left: &mut usize, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let Ok(about) = entry.metadata() else {
            continue;
        };
        let mode = about.permissions().mode();
        if about.is_symlink() {
            continue;
        }
        if mode & 0o004 == 0 {
            found.insert(entry.path());
        } else if about.is_dir() && depth > 1 {
            not_for_everyone(&entry.path(), depth - 1, left, found);
        }
    }
}

#[cfg(test)]
#[path = "standard_tests.rs"]
mod tests;
