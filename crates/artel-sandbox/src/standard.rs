//! The default view: what programs need to run, and nothing of the person's own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::job::View;

/// Folders of the system that hold programs and what they need.
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

/// Tool chains in a home folder, each with what belongs to it.
const TOOL_CHAINS: &[(&str, &[&str])] = &[
    (".cargo", &[".cargo", ".rustup"]),
    (".rustup", &[".rustup"]),
    (".pyenv", &[".pyenv"]),
    (".nvm", &[".nvm"]),
    (".volta", &[".volta"]),
    (".fnm", &[".fnm"]),
    (".bun", &[".bun"]),
    (".deno", &[".deno"]),
    (".asdf", &[".asdf"]),
    (".rbenv", &[".rbenv"]),
    (".rvm", &[".rvm"]),
    (".goenv", &[".goenv"]),
    ("go", &["go"]),
    (".go", &[".go"]),
    (".sdkman", &[".sdkman"]),
    (".jenv", &[".jenv"]),
    (".dotnet", &[".dotnet"]),
    (".ghcup", &[".ghcup"]),
    (".opam", &[".opam"]),
    (".juliaup", &[".juliaup"]),
    (".npm-global", &[".npm-global"]),
    (".local/share/mise", &[".local/share/mise"]),
    (".local/share/fnm", &[".local/share/fnm"]),
    (".local/share/uv", &[".local/share/uv"]),
    (
        ".local/bin",
        &[
            ".local/bin",
            ".local/lib",
            ".local/share/pipx",
            ".local/share/uv",
            ".local/pipx",
        ],
    ),
];

/// Files below tool chains that hold what opens doors elsewhere.
const CREDENTIALS: &[&str] = &[
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".nvm/.npmrc",
    ".npm-global/.npmrc",
    ".npm-global/etc/npmrc",
    ".bun/.npmrc",
    ".gem/credentials",
    ".deno/.npmrc",
];

/// Folders of the system's settings that hold keys, whatever their permissions.
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

/// How deep and how far the system's settings are looked through for what is not for everyone.
const DEPTH: usize = 3;
const ENTRIES: usize = 8000;

/// How many programs of one folder are followed to where they really are.
const PROGRAMS: usize = 500;

/// What the default view is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standard {
    /// The person's home folder: of it only tool chains are shown.
    pub home: Option<PathBuf>,
    /// The folders of `PATH`.
    pub path: Vec<PathBuf>,
    /// What the settings name beyond that.
    pub read: Vec<PathBuf>,
}

impl View {
    /// Returns the default view: the system's programs and settings without its keys, the folders
    /// of programs on the path with their tool chains without credentials, and what was named.
    /// Nothing can be written. It looks at the disk and is to be made once for many commands.
    pub fn standard(from: &Standard) -> Self {
        let mut read: BTreeSet<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        for folder in &from.path {
            read.extend(program_folder(folder, from.home.as_deref()));
        }
        read.extend(from.read.iter().cloned());
        let mut hidden: BTreeSet<PathBuf> = KEYS.iter().map(PathBuf::from).collect();
        if let Some(home) = &from.home {
            hidden.extend(CREDENTIALS.iter().map(|name| home.join(name)));
        }
        let mut left = ENTRIES;
        not_for_everyone(Path::new("/etc"), DEPTH, &mut left, &mut hidden);
        // What we cannot read cannot be read inside, with the same user: only the rest is masked.
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

/// Returns what the programs of one folder of the path need.
fn program_folder(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let Ok(real) = fs::canonicalize(folder) else {
        return Vec::new();
    };
    if !folder.is_absolute() || real == Path::new("/") {
        return Vec::new();
    }
    let is_systems = SYSTEM.iter().any(|system| real.starts_with(system));
    if is_systems {
        return Vec::new();
    }
    let in_home = home.and_then(|home| real.strip_prefix(fs::canonicalize(home).ok()?).ok());
    if let (Some(home), Some(inside)) = (home, in_home) {
        let chain = TOOL_CHAINS
            .iter()
            .find(|(name, _)| inside.starts_with(name));
        if let Some((_, parts)) = chain {
            let mut shown: Vec<_> = parts.iter().map(|part| home.join(part)).collect();
            shown.extend(real_programs(&real));
            return shown;
        }
    }
    let holds_home = home.is_some_and(|home| home.starts_with(&real));
    let is_for_programs = real.ends_with("bin") || real.ends_with("shims");
    if holds_home || (in_home.is_some() && !is_for_programs) {
        // More lies there than programs: a home folder on the path opens none of the rest.
        return own_programs(&real);
    }
    let mut shown = vec![folder.to_owned()];
    let prefix = real.parent().filter(|_| real.ends_with("bin"));
    // A folder such as `tools/node/bin` needs what lies beside it; a home folder does not count.
    let is_home = |prefix: &Path| home.is_some_and(|home| home.starts_with(prefix));
    shown.extend(
        prefix
            .filter(|prefix| !is_home(prefix) && prefix.parent().is_some())
            .map(Path::to_owned),
    );
    shown.extend(real_programs(&real));
    shown
}

/// Returns the programs that lie in a folder, without all else that does.
fn own_programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let programs = entries.filter(|entry| {
        let about = entry.metadata();
        about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    });
    let programs = programs.take(PROGRAMS).map(|entry| entry.path());
    programs.chain(real_programs(folder)).collect()
}

/// Returns where programs that are links really are.
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

/// Collects what others may not read: the system's own sign for what is secret.
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
mod tests {
    use super::*;

    #[test]
    fn tool_chains_are_shown_without_credentials_and_the_home_is_not() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        for folder in [".cargo/bin", ".rustup", ".ssh", "bin", "tools/node/bin"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
        let view = View::standard(&Standard {
            home: Some(home.clone()),
            path: [".cargo/bin", "bin", "tools/node/bin"]
                .map(|name| home.join(name))
                .into(),
            read: vec!["/srv/data".into()],
        });
        let shown = |name: &str| view.read.contains(&home.join(name));
        assert!(shown(".cargo") && shown(".rustup") && shown("bin") && shown("tools/node"));
        assert!(!view.read.contains(&home) && !shown(".ssh") && !shown("tools"));
        assert!(view.read.contains(&"/srv/data".into()));
        assert!(view.hidden.contains(&home.join(".cargo/credentials.toml")));
    }

    #[test]
    fn a_home_folder_on_the_path_shows_its_programs_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("ada");
        for (name, mode) in [("tool", 0o755), ("notes.txt", 0o644), (".local/key", 0o600)] {
            let path = home.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let above = home.parent().unwrap().to_owned();
        let view = View::standard(&Standard {
            path: vec![home.clone(), home.join(".local"), above],
            home: Some(home.clone()),
            ..Standard::default()
        });
        let shown: Vec<_> = view
            .read
            .iter()
            .filter(|it| it.starts_with(&home))
            .collect();
        assert_eq!(shown, [&home.join("tool")]);
        let opens = |path: &PathBuf| home.starts_with(path);
        assert!(!view.read.iter().any(opens), "{:?}", view.read);
    }

    #[test]
    fn what_is_not_for_everyone_is_hidden() {
        let etc = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = etc.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        file("passwd", 0o644);
        file("shadow", 0o640);
        file("ssh/host_key", 0o600);
        let mut found = BTreeSet::new();
        not_for_everyone(etc.path(), DEPTH, &mut 100, &mut found);
        let expected = ["shadow", "ssh/host_key"].map(|name| etc.path().join(name));
        assert_eq!(found, BTreeSet::from(expected));
    }
}
