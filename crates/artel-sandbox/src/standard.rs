//! The default view: what programs need to run, and nothing of the person's own.

use std::collections::BTreeSet;
use std::ffi::OsStr;
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

/// What lies beside a `bin` where programs need it.
const BESIDE: &[&str] = &["lib", "lib32", "lib64", "libexec", "share", "include"];

/// Tool chains that are known by what lies at their root, wherever that is: each with what is needed
/// of it. Dot files of their own do not count against them.
const KNOWN_ROOTS: &[(&[&str], &[&str])] = &[
    // A virtual environment.
    (
        &["pyvenv.cfg"],
        &["pyvenv.cfg", "lib", "lib64", "share", "include"],
    ),
    // Conda.
    (
        &["conda-meta"],
        &["conda-meta", "lib", "libexec", "share", "include", "ssl"],
    ),
    // Go.
    (
        &["VERSION", "src/runtime", "pkg"],
        &["VERSION", "go.env", "lib", "pkg", "src"],
    ),
    // A Java development kit.
    (
        &["release", "lib/modules"],
        &["release", "conf", "include", "jmods", "legal", "lib"],
    ),
    // Version managers in the form of pyenv and rbenv: their shims start what lies in `versions`.
    (
        &["libexec", "shims", "versions"],
        &[
            "libexec", "plugins", "pyenv.d", "rbenv.d", "shims", "version", "versions",
        ],
    ),
    // Maven.
    (&["boot", "lib", "conf/m2.conf"], &["boot", "lib", "conf"]),
    (&["boot", "lib", "bin/m2.conf"], &["boot", "lib"]),
];

/// Folders in which no tool chain lies, whatever shape they have.
const NEVER: &[&str] = &[
    ".artel",
    ".aws",
    ".azure",
    ".config",
    ".docker",
    ".git",
    ".gnupg",
    ".kube",
    ".password-store",
    ".ssh",
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
    /// Folders of which the path opens nothing but programs: those that people work in.
    pub closed: Vec<PathBuf>,
}

/// What a folder of the path opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedByPath {
    /// The folder, as the path names it.
    pub folder: PathBuf,
    /// Folders and files that can be read because of it.
    pub shown: Vec<PathBuf>,
}

impl Standard {
    /// Returns what each folder of the path opens beyond the system's own.
    pub fn opened_by_path(&self) -> Vec<OpenedByPath> {
        let opened = self.path.iter().map(|folder| OpenedByPath {
            folder: folder.clone(),
            shown: self.program_folder(folder),
        });
        opened.filter(|opened| !opened.shown.is_empty()).collect()
    }
}

impl View {
    /// Returns the default view: the system's programs and settings without its keys, the folders
    /// of programs on the path with their tool chains without credentials, and what was named.
    /// Nothing can be written. It looks at the disk and is to be made once for many commands.
    pub fn standard(from: &Standard) -> Self {
        let mut read: BTreeSet<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let mut hidden: BTreeSet<PathBuf> = KEYS.iter().map(PathBuf::from).collect();
        for shown in from.opened_by_path().into_iter().flat_map(|it| it.shown) {
            hidden.extend(private_entries(&shown));
            read.insert(shown);
        }
        read.extend(from.read.iter().cloned());
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

impl Standard {
    /// Returns what the programs of one folder of the path need.
    fn program_folder(&self, folder: &Path) -> Vec<PathBuf> {
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
        if holds_home || (in_home.is_some() && !is_for_programs) || self.is_closed(&real) {
            // More lies there than programs: a home folder on the path opens none of the rest.
            return own_programs(&real);
        }
        let mut shown = vec![folder.to_owned()];
        if let Some(root) = real.parent().filter(|_| is_for_programs) {
            shown.extend(self.beside(root));
        }
        shown.extend(real_programs(&real));
        shown
    }

    /// Returns what a folder such as `tools/node/bin` needs of what lies beside it: only where that
    /// has the shape of a tool chain, and only the parts of one. A project has a `bin` too, and
    /// beside it what is nobody else's.
    fn beside(&self, root: &Path) -> Vec<PathBuf> {
        let is_home = self
            .home
            .as_ref()
            .is_some_and(|home| home.starts_with(root));
        let is_never = |name: &OsStr| NEVER.iter().any(|never| name == *never);
        if is_home || root.parent().is_none() || root.iter().any(is_never) || self.is_closed(root) {
            return Vec::new();
        }
        let there = |parts: &[&str]| -> Vec<PathBuf> {
            let parts = parts.iter().map(|part| root.join(part));
            parts.filter(|part| is_own(part, root)).collect()
        };
        let has_all = |signs: &[&str]| signs.iter().all(|sign| root.join(sign).exists());
        let known = KNOWN_ROOTS.iter().find(|(signs, _)| has_all(signs));
        if let Some((_, parts)) = known {
            return there(parts);
        }
        match has_dot_file(root) {
            true => Vec::new(),
            false => there(BESIDE),
        }
    }

    /// Tells whether a folder lies in one that is closed, or holds one.
    fn is_closed(&self, folder: &Path) -> bool {
        let closed = self.closed.iter().flat_map(fs::canonicalize);
        closed
            .into_iter()
            .any(|closed| folder.starts_with(&closed) || closed.starts_with(folder))
    }
}

/// Tells whether something is there and no link that leads out of its root.
fn is_own(part: &Path, root: &Path) -> bool {
    fs::canonicalize(part).is_ok_and(|real| real.starts_with(root))
}

/// Tells whether a folder holds dot files, as projects and home folders do; what cannot be listed
/// may.
fn has_dot_file(folder: &Path) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let Ok(mut entries) = fs::read_dir(folder) else {
        return true;
    };
    entries.any(|entry| entry.is_ok_and(|entry| entry.file_name().as_bytes().starts_with(b".")))
}

/// Returns what in a shown folder is never shown: settings with secrets, and metadata.
fn private_entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_private = |name: &str| {
        name.starts_with(".env") || NEVER.contains(&name) || name == ".netrc" || name == ".npmrc"
    };
    let private = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_private));
    private.map(|entry| entry.path()).collect()
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
        for folder in [
            ".cargo/bin",
            ".rustup",
            ".ssh",
            "bin",
            "tools/node/bin",
            "tools/node/lib",
        ] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join(".cargo/credentials.toml"), "token").unwrap();
        let view = View::standard(&Standard {
            home: Some(home.clone()),
            path: [".cargo/bin", "bin", "tools/node/bin"]
                .map(|name| home.join(name))
                .into(),
            read: vec!["/srv/data".into()],
            closed: Vec::new(),
        });
        let shown = |name: &str| view.read.contains(&home.join(name));
        assert!(shown(".cargo") && shown(".rustup") && shown("bin") && shown("tools/node/bin"));
        assert!(shown("tools/node/lib") && !shown("tools/node"));
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

    /// A folder with these entries, `/` at the end of folders, and what its `bin` opens besides.
    fn beside(entries: &[&str]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let app = root.join("home/code/app");
        fs::create_dir_all(app.join("bin")).unwrap();
        for entry in entries {
            let path = app.join(entry);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match entry.ends_with('/') {
                true => fs::create_dir_all(&path).unwrap(),
                false => fs::write(&path, "x").unwrap(),
            }
        }
        let standard = Standard {
            home: Some(root.join("home")),
            path: vec![app.join("bin")],
            ..Standard::default()
        };
        let opened = standard.opened_by_path();
        let shown = opened.iter().flat_map(|opened| &opened.shown);
        let shown = shown.filter_map(|path| path.strip_prefix(&app).ok()?.to_str());
        shown
            .filter(|name| *name != "bin")
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_bin_opens_what_lies_beside_it_only_where_that_is_a_tool_chain() {
        let cases: &[(&[&str], &[&str])] = &[
            // A project, in the ways that projects look.
            (&[".env", "lib/"], &[]),
            (&[".git/", "lib/", "share/"], &[]),
            (&[".gitignore", "lib/"], &[]),
            (&["src/", "config/", "notes.txt"], &[]),
            (&["other/.env", "third/.git/"], &[]),
            (&[".git/", ".env", "bin/", "shims/", "versions/"], &[]),
            // Tool chains.
            (
                &[
                    ".git/",
                    ".vimrc",
                    "libexec/",
                    "shims/",
                    "src/",
                    "version",
                    "versions/",
                ],
                &["libexec", "shims", "version", "versions"],
            ),
            (&["lib/", "share/", "README", "secrets/"], &["lib", "share"]),
            (&["libexec/", "include/", "etc/"], &["libexec", "include"]),
            (
                &["pyvenv.cfg", "lib/", ".gitignore"],
                &["pyvenv.cfg", "lib"],
            ),
            (
                &["VERSION", "src/runtime/", "pkg/", ".gitattributes"],
                &["VERSION", "pkg", "src"],
            ),
            (
                &["release", "lib/modules", "conf/"],
                &["release", "conf", "lib"],
            ),
        ];
        for (entries, expected) in cases {
            assert_eq!(beside(entries), *expected, "{entries:?}");
        }
    }

    #[test]
    fn the_path_opens_nothing_of_settings_and_of_folders_that_people_work_in() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().canonicalize().unwrap().join("home");
        for folder in [
            ".config/bin",
            ".config/lib",
            "code/bin",
            "code/lib",
            "code/portal/bin",
        ] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [
            "code/bin/.env",
            "code/portal/bin/notes",
            "code/bin/.env.local",
        ] {
            fs::write(home.join(file), "x").unwrap();
        }
        std::os::unix::fs::symlink(home.join(".config"), home.join("code/share")).unwrap();
        let names = [".config/bin", "code/bin", "code/portal/bin"];
        let standard = Standard {
            path: names.map(|name| home.join(name)).into(),
            home: Some(home.clone()),
            closed: vec![home.join("code/portal")],
            ..Standard::default()
        };
        let view = View::standard(&standard);
        let below = |list: &[PathBuf]| -> Vec<String> {
            let below = list.iter().filter_map(|path| path.strip_prefix(&home).ok());
            below
                .map(|path| path.to_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(below(&view.read), [".config/bin", "code/bin"]);
        assert_eq!(
            below(&view.hidden),
            ["code/bin/.env", "code/bin/.env.local"]
        );
        let open = Standard {
            closed: Vec::new(),
            ..standard
        };
        let view = View::standard(&open);
        let expected = [".config/bin", "code/bin", "code/lib", "code/portal/bin"];
        assert_eq!(below(&view.read), expected, "a link leads nowhere else");
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
