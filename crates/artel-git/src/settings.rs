//! What of a repository's settings may be shown to commands: what git reads the repository by, and
//! nothing else. Helpers, headers, proxies and addresses are where tokens stand, and so are comments.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::tree::place::EnclosingRepository;
use crate::{GitError, GitIdentity, GitRunner};

/// How many files and folders are looked at for repositories beneath a folder, the nearest first.
const MOST_LOOKED_AT: usize = 50_000;

/// So many folders deep are repositories of dependencies.
const DEEPEST: usize = 3;

/// More than settings say.
const LARGEST: u64 = 1 << 20;

/// What of `core` says how a repository is read.
const CORE: &[&str] = &[
    "abbrev",
    "autocrlf",
    "bare",
    "checkstat",
    "eol",
    "filemode",
    "ignorecase",
    "logallrefupdates",
    "precomposeunicode",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "repositoryformatversion",
    "safecrlf",
    "sparsecheckout",
    "sparsecheckoutcone",
    "symlinks",
    "trustctime",
    "usereplacerefs",
    "whitespace",
    "worktree",
];

/// The folders in a repository that hold neither settings nor other repositories, and much else.
const SKIPPED: [&str; 5] = ["hooks", "info", "logs", "objects", "refs"];

/// The files in a repository that hold settings.
const FILES: [&str; 2] = ["config", "config.worktree"];

/// A file with the settings of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Where it is.
    pub path: PathBuf,
    /// What of it may be shown; nothing where git cannot read it.
    pub shown: Option<String>,
    /// Whether that is all that it says.
    pub is_whole: bool,
    /// Files that it includes, wherever they are.
    pub included: Vec<PathBuf>,
}

/// Returns the repositories in a folder that others made, such as one of dependencies, relative to it:
/// those at most three folders deep. No link is followed.
pub fn repositories_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(PathBuf::new(), 0)]);
    let mut seen = 0;
    while let Some((inside, depth)) = waiting.pop_front() {
        let entries = fs::read_dir(folder.join(&inside)).into_iter().flatten();
        for entry in entries.flatten() {
            seen += 1;
            let path = inside.join(entry.file_name());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if entry.file_name() == ".git" {
                found.push(path);
            } else if is_folder && depth + 1 < DEEPEST && seen < MOST_LOOKED_AT {
                waiting.push_back((path, depth + 1));
            }
        }
    }
    found
}

/// Returns the settings of all repositories that commands in a folder could see: its own, wherever
/// that lies, and those among the nearest files and folders beneath it. No link is followed.
pub fn settings_files(program: &Path, folder: &Path) -> Vec<SettingsFile> {
    let mut repositories = repositories_beneath(folder);
    if let Some(own) = EnclosingRepository::find(folder) {
        repositories.extend([own.own, own.common]);
    }
    repositories.sort();
    repositories.dedup();
    let files = repositories
        .iter()
        .flat_map(|repository| FILES.map(|name| repository.join(name)));
    files
        .filter(|file| file.symlink_metadata().is_ok())
        .map(|file| read(program, file))
        .collect()
}

fn repositories_beneath(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([folder.to_owned()]);
    let mut seen = 0;
    while let Some(folder) = waiting.pop_front() {
        // A folder that cannot be read by us cannot be read by a command of ours either.
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        let entries: Vec<_> = entries.flatten().take(MOST_LOOKED_AT - seen).collect();
        seen += entries.len();
        let has = |name: &str| entries.iter().any(|entry| entry.file_name() == name);
        let is_repository = has("HEAD") && (has("objects") || has("commondir"));
        if is_repository {
            found.push(folder.clone());
        }
        let is_skipped = |name: &OsStr| is_repository && SKIPPED.iter().any(|it| name == *it);
        let folders = entries.iter().filter(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && !is_skipped(&entry.file_name())
        });
        waiting.extend(folders.map(fs::DirEntry::path));
        if seen >= MOST_LOOKED_AT {
            break;
        }
    }
    found
}

/// Reads a file of settings. What is none is shown to nobody.
fn read(program: &Path, path: PathBuf) -> SettingsFile {
    let listed = match artel_files::read_bounded(&path, LARGEST) {
        Ok(bytes) => list(program, &path).ok().zip(Some(bytes)),
        Err(_) => None,
    };
    let Some((listed, bytes)) = listed else {
        return SettingsFile {
            path,
            shown: None,
            is_whole: false,
            included: Vec::new(),
        };
    };
    let listed = String::from_utf8_lossy(&listed);
    let entries = listed.split('\0').filter(|entry| !entry.is_empty());
    let entries: Vec<Setting<'_>> = entries.filter_map(Setting::of).collect();
    let shown: Vec<_> = entries.iter().filter_map(Setting::shown).collect();
    let above = path.parent().unwrap_or(Path::new("/"));
    let included = entries.iter().filter(|entry| entry.includes());
    let included = included.filter_map(|entry| Some(above.join(entry.value?)));
    SettingsFile {
        included: included.filter(|path| path.is_file()).collect(),
        is_whole: shown.len() == entries.len() && !bytes.iter().any(|byte| b"#;".contains(byte)),
        shown: Some(shown.concat()),
        path,
    }
}

/// Has git read a file of settings, and nothing else.
fn list(program: &Path, path: &Path) -> Result<Vec<u8>, GitError> {
    let git =
        GitRunner::new(program, "/", GitIdentity::artel()).variable("GIT_DIR", "/nonexistent");
    let words = ["config", "--no-includes", "-z", "--list", "--file"].map(OsStr::new);
    let words: Vec<_> = words.into_iter().chain([path.as_os_str()]).collect();
    git.run_on(&words, Vec::new())
}

/// One setting, as git lists it: section and name in lower case, and between them whatever the person
/// wrote. One without a value is on.
struct Setting<'s> {
    section: &'s str,
    between: Option<&'s str>,
    name: &'s str,
    value: Option<&'s str>,
}

impl<'s> Setting<'s> {
    fn of(entry: &'s str) -> Option<Self> {
        let (key, value) = match entry.split_once('\n') {
            Some((key, value)) => (key, Some(value)),
            None => (entry, None),
        };
        let (section, rest) = key.split_once('.')?;
        let (between, name) = match rest.rsplit_once('.') {
            Some((between, name)) => (Some(between), name),
            None => (None, rest),
        };
        Some(Self {
            section,
            between,
            name,
            value,
        })
    }

    fn includes(&self) -> bool {
        matches!(self.section, "include" | "includeif") && self.name == "path"
    }

    /// Returns its lines in a file of settings, unless it may hold a secret.
    fn shown(&self) -> Option<String> {
        let may_be_shown = match (self.section, self.between.is_some()) {
            ("core", false) => CORE.contains(&self.name),
            ("extensions", false) => true,
            ("user", false) => matches!(self.name, "name" | "email"),
            ("init", false) => self.name == "defaultbranch",
            ("branch", true) => matches!(self.name, "remote" | "merge" | "rebase" | "pushremote"),
            ("remote", true) => match self.name {
                "fetch" | "push" | "mirror" | "tagopt" | "prune" | "promisor" => true,
                "url" | "pushurl" => self.value.is_some_and(is_plain_address),
                _ => false,
            },
            ("submodule", true) => match self.name {
                "active" | "branch" | "path" => true,
                "url" => self.value.is_some_and(is_plain_address),
                _ => false,
            },
            _ => false,
        };
        may_be_shown.then(|| self.written())
    }

    fn written(&self) -> String {
        let between = self.between.map_or(String::new(), |between| {
            format!(
                " \"{}\"",
                between.replace('\\', "\\\\").replace('"', "\\\"")
            )
        });
        let value = self.value.map_or(String::new(), |value| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!(" = \"{}\"", value.replace('\n', "\\n"))
        });
        format!("[{}{between}]\n\t{}{value}\n", self.section, self.name)
    }
}

/// Tells whether an address names nobody and asks for nothing: both are where tokens stand. `git@host:x`
/// names the user that everybody has there.
fn is_plain_address(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else {
        let user = address.split_once('@').map(|(user, _)| user);
        return !address.contains("::") && user.is_none_or(|user| !user.contains(':'));
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user);
    user.is_none_or(|user| user == "git") && !rest.contains(['?', '#'])
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn program() -> PathBuf {
        let known = ["/usr/local/bin/git", "/usr/bin/git"].map(PathBuf::from);
        known.into_iter().find(|path| path.exists()).unwrap()
    }

    fn written(text: &str) -> SettingsFile {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("config");
        fs::write(&file, text).unwrap();
        read(&program(), file)
    }

    #[test]
    fn what_git_reads_a_repository_by_is_shown() {
        let plain = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
                     [extensions]\n\tobjectformat = sha1\n[user]\n\tname = A \\\"B\\\" C\n\
                     [remote \"or\\\"igin\"]\n\turl = https://example.org/a.git\n\
                     \tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [remote \"up\"]\n\turl = git@example.org:a/b.git\n\
                     [branch \"main.x\"]\n\tremote = origin\n\tmerge = refs/heads/main\n\
                     [submodule \"s\"]\n\tactive\n";
        let seen = written(plain);
        assert!(seen.is_whole);
        let again = written(&seen.shown.clone().unwrap());
        assert_eq!(again.shown, seen.shown, "git reads what was written");
        assert_eq!(seen.shown.unwrap().matches("[remote").count(), 3);
    }

    #[test]
    fn what_may_hold_a_secret_is_not_shown() {
        for secret in [
            "[http]\n\textraheader = AUTHORIZATION: basic SECRET\n",
            "[http \"https://example.org/\"]\n\textraHeader = \"X-Key: SECRET\"\n",
            "[http]\n\tproxy = http://me:SECRET@proxy.example.org\n",
            "[remote \"origin\"]\n\turl = https://SECRET@example.org/a.git\n",
            "[remote \"origin\"]\n\turl = https://me:SECRET@example.org/a.git\n",
            "[remote \"origin\"]\n\turl = https://git:SECRET@example.org/a.git\n",
            "[remote \"origin\"]\n\tpushurl = https://example.org/a.git?key=SECRET\n",
            "[remote \"origin\"]\n\turl = ext::sh -c SECRET\n",
            "[remote \"origin\"]\n\tproxy = http://me:SECRET@proxy.example.org\n",
            "[url \"https://me:SECRET@example.org/\"]\n\tinsteadOf = https://example.org/\n",
            "[submodule \"s\"]\n\turl = https://SECRET@example.org/s.git\n",
            "[submodule \"s\"]\n\tupdate = !fetch SECRET\n",
            "[credential]\n\thelper = \"!echo password=SECRET\"\n",
            "[core]\n\tsshCommand = ssh -o SECRET\n",
            "[alias]\n\tup = !curl -H SECRET\n",
            "[sendemail]\n\tsmtpPass = SECRET\n",
            "[github]\n\ttoken = SECRET\n",
            "[core]\n\tbare = false # SECRET\n",
            "; SECRET\n",
        ] {
            let seen = written(secret);
            assert!(!seen.is_whole, "{secret}");
            assert!(!seen.shown.unwrap().contains("SECRET"), "{secret}");
        }
        assert_eq!(written("[core\nSECRET").shown, None);
        let including = written("[include]\n\tpath = config\n");
        assert!(including.included[0].ends_with("config"));
    }

    #[test]
    fn repositories_are_found_where_they_are() {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (repository, more) in [
            (".git", "objects"),
            (".git/modules/a/b", "objects"),
            (".git/worktrees/w", "commondir"),
            ("x/y/bare.git", "objects"),
            ("x/y/z/.git", "objects"),
            (".git/refs/none", "objects"),
        ] {
            let repository = root.join(repository);
            fs::create_dir_all(repository.join(more)).unwrap();
            fs::write(repository.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(repository.join("config"), "[core]\n\tbare = false\n").unwrap();
        }
        fs::write(root.join("x/config"), "no settings of git\n").unwrap();
        let found = settings_files(&program(), &root);
        let found: Vec<_> = found
            .iter()
            .map(|it| it.path.strip_prefix(&root).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(repositories_in(&root), [PathBuf::from(".git")]);
        assert_eq!(
            repositories_in(&root.join("x")),
            [PathBuf::from("y/z/.git")]
        );
        let expected = [
            ".git/config",
            ".git/modules/a/b/config",
            ".git/worktrees/w/config",
            "x/y/bare.git/config",
            "x/y/z/.git/config",
        ];
        assert_eq!(found, expected);
    }
}
