//! The tree for the path cases.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Every path with its content: text of files, targets of links, kinds of the rest.
pub(super) type Snapshot = BTreeMap<PathBuf, String>;

/// A project, the folders beside it, and every trap between the two.
pub(super) struct World {
    dir: TempDir,
}

const FILES: &[(&str, &str)] = &[
    ("outside/secret.txt", "OUTSIDE"),
    ("outside/dir/deep.txt", "OUTSIDE"),
    ("proj-evil/secret.txt", "OUTSIDE"),
    ("lib/code.txt", "lib"),
    ("lib/private/x", "lib private"),
    ("lib/.git/config", "lib git"),
    ("proj/README.md", "readme"),
    ("proj/src/main.rs", "main"),
    ("proj/src/deep/x.txt", "x"),
    ("proj/private/secret.txt", "private"),
    ("proj/public/a.txt", "public"),
    ("proj/.env", "TOKEN=1"),
    ("proj/.env.example", "TOKEN="),
    ("proj/.gitignore", "target"),
    ("proj/.git/HEAD", "ref: refs/heads/main"),
    ("proj/.git/config", "git config"),
    ("proj/.git/hooks/pre-commit.sample", "sample"),
    ("proj/.artel/journal.db", "journal"),
    ("proj/Policy/grants.toml", "grants"),
    ("proj/vendor/lib/.git/config", "nested"),
    ("proj/vendor/lib/lib.rs", "lib.rs"),
    ("proj/wt/.git", "gitdir: meta\n"),
    ("proj/wt/meta/note", "meta"),
    ("proj/wt/file", "in a tree"),
    ("proj/store/wt/note", "meta"),
    ("proj/store/wt/HEAD", "ref: refs/heads/x"),
    ("proj/store/wt/commondir", "../.."),
    ("proj/bare/HEAD", "ref: refs/heads/main"),
    ("proj/bare/objects/x", "o"),
    ("proj/bare/refs/x", "r"),
    ("proj/bare/config", "bare config"),
    ("proj/dotfiles/bashrc", "bashrc"),
    ("proj/new\nline.txt", "newline"),
    ("proj/back\\slash.txt", "backslash"),
    ("proj/..\\..\\win.txt", "win"),
    ("proj/sp ace.txt", "space"),
    ("proj/@scope/pkg.txt", "scope"),
    ("proj/~file", "tilde"),
    ("proj/...", "dots"),
    ("proj/trailing.", "trailing"),
    ("proj/-rf", "dash"),
    ("proj/twin-a", "twin"),
    ("proj/ünï.txt", "unicode"),
];

/// Name and target; `{B}` is the folder around everything.
const LINKS: &[(&str, &str)] = &[
    ("proj/out-file", "../outside/secret.txt"),
    ("proj/out-abs", "{B}/outside/secret.txt"),
    ("proj/out-dir", "../outside"),
    ("proj/out-evil", "../proj-evil/secret.txt"),
    ("proj/src/out-deep", "../../outside/dir"),
    ("proj/out-chain", "out-chain2"),
    ("proj/out-chain2", "out-dir/secret.txt"),
    ("proj/in-file", "README.md"),
    ("proj/in-dir", "src"),
    ("proj/in-abs", "{B}/proj/src"),
    ("proj/in-abs-file", "{B}/proj/README.md"),
    ("proj/in-back", "../proj/README.md"),
    ("proj/in-dots", "src/../src/./deep/../main.rs"),
    ("proj/chain", "chain2"),
    ("proj/chain2", "in-dir/main.rs"),
    ("proj/loop1", "loop2"),
    ("proj/loop2", "loop1"),
    ("proj/self", "self"),
    ("proj/dangling-in", "src/made.txt"),
    ("proj/dangling-dir", "fresh"),
    ("proj/dangling-out", "../outside/made.txt"),
    ("proj/dangling-abs", "/no/such/place"),
    ("proj/up", ".."),
    ("proj/src/up", ".."),
    ("proj/root-link", "."),
    ("proj/abs-root", "{B}/proj"),
    ("proj/slash-link", "src/"),
    ("proj/file-slash", "README.md/"),
    ("proj/to-git", ".git/config"),
    ("proj/to-hooks", ".git/hooks"),
    ("proj/to-env", ".env"),
    ("proj/.env.local", "public/a.txt"),
    ("proj/to-artel", ".artel"),
    ("proj/private-link", "private"),
    ("proj/private-file", "private/secret.txt"),
    ("proj/private/out-of", "../public/a.txt"),
    ("proj/.bashrc", "dotfiles/bashrc"),
    ("proj/.vscode", "editor"),
    ("proj/proc-root", "/proc/self/root"),
    ("proj/proc-cwd", "/proc/self/cwd"),
    ("proj/proc-fd", "/proc/self/fd/0"),
    ("proj/dev-null", "/dev/null"),
    ("proj/dev-zero", "/dev/zero"),
    ("proj/dev-stdin", "/dev/stdin"),
    ("proj/to-etc", "/etc/passwd"),
    ("lib/out", "../outside/secret.txt"),
];

impl World {
    pub(super) fn new() -> Self {
        // In memory if possible: every write is synced to the disk.
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new());
        let world = Self { dir: dir.unwrap() };
        let base = world.base();
        for (path, text) in FILES {
            let path = base.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for (path, target) in LINKS {
            symlink(world.spell(target), base.join(path)).unwrap();
        }
        let root = world.root();
        fs::create_dir_all(root.join("empty")).unwrap();
        fs::create_dir_all(root.join("editor")).unwrap();
        let hard = |from: PathBuf, to: &str| fs::hard_link(from, root.join(to)).unwrap();
        hard(base.join("outside/secret.txt"), "hard-out");
        hard(base.join("outside/secret.txt"), "src/hard-out2");
        hard(root.join("twin-a"), "src/twin-b");
        hard(root.join(".env"), "hard-env");
        hard(root.join(".git/config"), "hard-git");
        rustix_fifo(&root.join("fifo"));
        drop(UnixListener::bind(root.join("socket")).unwrap());
        world
    }

    pub(super) fn root(&self) -> PathBuf {
        self.base().join("proj")
    }

    /// Replaces `{P}` and `{B}` by the real folders.
    pub(super) fn spell(&self, text: &str) -> String {
        let base = self.base();
        let text = text.replace("{P}", self.root().to_str().unwrap());
        text.replace("{B}", base.to_str().unwrap())
    }

    /// Creates devices, if this process is allowed to.
    pub(super) fn add_devices(&self) -> bool {
        let devices = [("null", 1, 3), ("tty", 5, 0), ("disk", 8, 0)];
        devices.iter().all(|(name, major, minor)| {
            let kind = match *name {
                "disk" => rustix::fs::FileType::BlockDevice,
                _ => rustix::fs::FileType::CharacterDevice,
            };
            let device = rustix::fs::makedev(*major, *minor);
            let path = self.root().join(name);
            rustix::fs::mknodat(rustix::fs::CWD, path, kind, 0o666.into(), device).is_ok()
        })
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new();
        note(&self.base(), Path::new(""), &mut snapshot);
        snapshot
    }

    /// Returns everything beside the project.
    pub(super) fn outside(&self) -> Snapshot {
        let all = self.snapshot().into_iter();
        all.filter(|(path, _)| !path.starts_with("proj")).collect()
    }

    fn base(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }
}

/// Checks that the trees are the same except for one path and the folders above it that
/// are new.
pub(super) fn assert_only(before: &Snapshot, after: &Snapshot, only: Option<&Path>, said: &str) {
    let may_change = |path: &Path| {
        only.is_some_and(|only| {
            path == only || (only.starts_with(path) && !before.contains_key(path))
        })
    };
    for path in before.keys().chain(after.keys()) {
        let is_same = before.get(path) == after.get(path);
        assert!(
            is_same || may_change(path),
            "{said}: {} has changed",
            path.display()
        );
    }
    if let Some(only) = only {
        assert_ne!(
            before.get(only),
            after.get(only),
            "{said}: nothing has changed"
        );
    }
}

fn note(base: &Path, below: &Path, snapshot: &mut Snapshot) {
    for entry in fs::read_dir(base.join(below)).unwrap() {
        let entry = entry.unwrap();
        let (path, kind) = (below.join(entry.file_name()), entry.file_type().unwrap());
        let what = if kind.is_symlink() {
            format!("-> {}", fs::read_link(entry.path()).unwrap().display())
        } else if kind.is_dir() {
            note(base, &path, snapshot);
            "folder".to_owned()
        } else if kind.is_fifo() || kind.is_socket() {
            "special".to_owned()
        } else {
            fs::read_to_string(entry.path()).unwrap()
        };
        snapshot.insert(path, what);
    }
}

fn rustix_fifo(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, 0o644.into(), 0).unwrap();
}
