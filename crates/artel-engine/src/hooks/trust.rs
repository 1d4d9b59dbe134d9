//! Trust: a hook that came with the work runs only in the form that a person saw.
//!
//! The hash covers the hook's event, its command, what it can write, and the content of
//! every one of the run's files that the command names, with everything beside those (see
//! `beside`).

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use artel_rules::excerpt::is_hidden;
use artel_types::HookTrusted;

use super::beside::HookSiblingFiles;
use super::hook::{Hook, HookAction, HookSource};
use super::loads::HookLoadablePaths;

/// Largest script in bytes; a hook that names a larger file is not trusted.
const LARGEST: u64 = 4 << 20;

/// Most files that a trusted command may name.
const MOST_FILES: usize = 32;

/// Most folders in which a command's words are looked up.
const MOST_FOLDERS: usize = 8;

/// A hook that no person has trusted in its present form.
#[derive(Debug, Clone, PartialEq)]
pub struct UntrustedHook {
    /// The fact to record once the person trusts it.
    pub fact: HookTrusted,
    /// The lines to show the person.
    pub lines: Vec<String>,
}

/// A file that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HookCommandFile {
    word: String,
    /// The real path, without links.
    path: PathBuf,
    /// The hash of the content, or `None` if it could not be read whole.
    hash: Option<blake3::Hash>,
}

/// Returns the hooks that a person has to see first.
pub fn strangers(hooks: &[Hook], tree: &Path, trusted: &BTreeSet<String>) -> Vec<UntrustedHook> {
    let mut seen = BTreeSet::new();
    let unknown = hooks
        .iter()
        .filter_map(|hook| stranger(hook, tree, trusted));
    unknown
        .filter(|it| seen.insert(it.fact.hash.clone()))
        .collect()
}

/// Returns a hook that a person has to see first, or `None` if it needs no further trust.
pub(super) fn stranger(
    hook: &Hook,
    tree: &Path,
    trusted: &BTreeSet<String>,
) -> Option<UntrustedHook> {
    let (HookAction::Command(command), HookSource::Other(file)) = (&hook.action, &hook.source)
    else {
        return None;
    };
    let files = named(command, tree);
    let beside = beside(command, &files, tree);
    let hash = hash(hook, command, (&files, &beside));
    let is_whole = files.iter().all(|file| file.hash.is_some()) && !beside.is_cut;
    if trusted.contains(&hash) && is_whole {
        return None;
    }
    let mut lines = vec![
        format!("hook      {} ({})", hook.event.name(), matcher(hook)),
        format!("from      {}", file.display()),
        format!("runs      {}", visible(command)),
    ];
    let write = hook.profile.write.iter();
    lines.extend(write.map(|path| format!("writes    {}", path.display())));
    lines.extend(files.iter().map(|file| match &file.hash {
        Some(hash) => format!("file      {} {}", file.word, &hash.to_hex()[..16]),
        None => format!("file      {} cannot be read whole", file.word),
    }));
    lines.extend(shown(&beside));
    Some(UntrustedHook {
        fact: HookTrusted {
            file: file.display().to_string(),
            command: command.clone(),
            hash,
        },
        lines,
    })
}

/// Hashes everything beside the files that a command names, and everything else it may
/// load.
fn beside(command: &str, files: &[HookCommandFile], tree: &Path) -> HookSiblingFiles {
    let Ok(tree) = tree.canonicalize() else {
        return HookSiblingFiles::default();
    };
    let scripts: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    let loads = HookLoadablePaths::of(&in_tree(command), &tree);
    HookSiblingFiles::of(&scripts, &loads, &tree)
}

fn shown(beside: &HookSiblingFiles) -> Option<String> {
    if beside.is_cut {
        return Some(
            "beside    too much to check; move the script to a folder of its own".to_owned(),
        );
    }
    if beside.files.is_empty() {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for (path, hash) in &beside.files {
        hasher.update(path.as_os_str().as_encoded_bytes());
        hasher.update(hash.as_bytes());
    }
    let hash = &hasher.finalize().to_hex()[..16];
    let count = artel_types::counted(beside.files.len() as u64, "file");
    Some(format!("beside    {count} {hash}"))
}

/// The files that a hook's command names in a tree, with everything beside them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HookScriptFingerprint {
    named: Vec<(String, Option<blake3::Hash>)>,
    beside: HookSiblingFiles,
}

impl HookScriptFingerprint {
    /// Fingerprints the files of a hook that came with the work; `None` for other hooks.
    pub(super) fn of(hook: &Hook, tree: &Path) -> Option<Self> {
        let (HookAction::Command(command), HookSource::Other(_)) = (&hook.action, &hook.source)
        else {
            return None;
        };
        let files = named(command, tree);
        Some(Self {
            beside: beside(command, &files, tree),
            named: files.into_iter().map(|it| (it.word, it.hash)).collect(),
        })
    }

    /// Returns whether a copy of the tree has the same scripts, and nothing new beside
    /// them.
    pub(super) fn is_copied_to(&self, copy: &Self) -> bool {
        let is_read = copy.named.iter().all(|(_, hash)| hash.is_some());
        self.named == copy.named && is_read && copy.beside.is_part_of(&self.beside)
    }
}

/// Returns the hash that trust is bound to. Every part is hashed with its length, and every
/// list with its count, so that entries of one list cannot pass for entries of another.
fn hash(
    hook: &Hook,
    command: &str,
    (files, beside): (&[HookCommandFile], &HookSiblingFiles),
) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut put = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    let writes = &hook.profile.write;
    // A command without files has a single list, which no other can be confused with, so
    // trust from before there were counts stays valid. `artel hook 2` hashed files without
    // counts.
    let has_files = !files.is_empty() || !beside.files.is_empty();
    let format = if has_files {
        "artel hook 3"
    } else {
        "artel hook 1"
    };
    put(format.as_bytes());
    put(hook.event.name().as_bytes());
    put(hook.matcher.text().as_bytes());
    put(command.as_bytes());
    if has_files {
        for count in [writes.len(), files.len(), beside.files.len()] {
            put(&(count as u64).to_le_bytes());
        }
    }
    for path in writes {
        put(path.as_os_str().as_encoded_bytes());
    }
    put(b"files");
    for file in files {
        put(file.word.as_bytes());
        match &file.hash {
            Some(hash) => put(hash.as_bytes()),
            None => put(b""),
        }
    }
    for (path, hash) in &beside.files {
        put(path.as_os_str().as_encoded_bytes());
        put(hash.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

/// Finds the files of a tree that a command names, whatever role they have in it. Names
/// relative to a folder that it names count too.
fn named(command: &str, tree: &Path) -> Vec<HookCommandFile> {
    let Ok(tree) = tree.canonicalize() else {
        return Vec::new();
    };
    let words: BTreeSet<_> = words(command).into_iter().collect();
    let found = |word: &str| {
        let path = inside(word, &tree)?.canonicalize().ok()?;
        path.starts_with(&tree).then_some(path)
    };
    let is_folder = |word: &&String| found(word).is_some_and(|path| path.is_dir());
    let folders = words.iter().filter(is_folder).take(MOST_FOLDERS);
    let deeper =
        folders.flat_map(|folder| words.iter().map(move |word| format!("{folder}/{word}")));
    let all = words.iter().cloned().chain(deeper);
    let file = |word: String| {
        let path = found(&word).filter(|path| path.is_file())?;
        let bytes = artel_files::read_bounded(&path, LARGEST).ok();
        let hash = bytes.map(|bytes| blake3::hash(&bytes));
        Some(HookCommandFile { word, path, hash })
    };
    let mut files: Vec<_> = all.filter_map(file).take(MOST_FILES + 1).collect();
    if files.len() > MOST_FILES {
        // More than anybody examines, so the hook stays untrusted.
        files.iter_mut().for_each(|file| file.hash = None);
    }
    files
}

/// Returns the place of a word in a tree, or `None` if it is surely elsewhere.
fn inside(word: &str, tree: &Path) -> Option<PathBuf> {
    let path = Path::new(word);
    if path.is_absolute() {
        return path.starts_with(tree).then(|| path.to_owned());
    }
    let is_named = path
        .components()
        .any(|part| matches!(part, Component::Normal(_)));
    is_named.then(|| tree.join(path))
}

/// Replaces the variables for the tree in a command by `.`.
fn in_tree(command: &str) -> String {
    let names = ["CLAUDE_PROJECT_DIR", "ARTEL_PROJECT_DIR", "PWD"];
    names.iter().fold(command.to_owned(), |text, name| {
        text.replace(&format!("${{{name}}}"), ".")
            .replace(&format!("${name}"), ".")
    })
}

/// Splits a command roughly into words: anything that could be a path, without quotes and
/// without the variables for the tree.
fn words(command: &str) -> Vec<String> {
    let plain = in_tree(command).replace(['"', '\''], "");
    let splits = |letter: char| letter.is_whitespace() || ";|&()<>=`:,".contains(letter);
    let words = plain.split(splits).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn matcher(hook: &Hook) -> &str {
    match hook.matcher.text() {
        "" => "*",
        text => text,
    }
}

/// Escapes characters that could deceive the eye.
fn visible(text: &str) -> String {
    let letter = |letter: char| {
        if letter.is_control() || is_hidden(letter) {
            return letter.escape_default().to_string();
        }
        letter.to_string()
    };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::event::HookEvent;
    use super::super::matcher::HookMatcher;
    use super::*;

    fn hook(command: &str) -> Hook {
        let matcher = HookMatcher::new("Bash").unwrap();
        let source = HookSource::Other("/w/artel.toml".into());
        Hook::of_command(HookEvent::PreToolUse, matcher, command, source)
    }

    fn hash_of(hook: &Hook, tree: &Path) -> String {
        stranger(hook, tree, &BTreeSet::new()).unwrap().fact.hash
    }

    #[test]
    fn whatever_is_run_is_part_of_the_hash() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("ci")).unwrap();
        fs::write(dir.path().join("ci/check.sh"), "true").unwrap();
        for command in [
            "./ci/check.sh",
            "ci/check.sh --quick",
            "sh -e ci/check.sh",
            "\"$CLAUDE_PROJECT_DIR\"/ci/check.sh",
            "\"${CLAUDE_PROJECT_DIR}/ci/check.sh\" x",
            "cd . && ./ci/check.sh; true",
            "CONFIG=ci/check.sh make",
            "cd ci && ./check.sh",
        ] {
            let hook = hook(command);
            let before = hash_of(&hook, dir.path());
            let trusted = BTreeSet::from([before.clone()]);
            assert_eq!(stranger(&hook, dir.path(), &trusted), None, "{command}");
            fs::write(dir.path().join("ci/check.sh"), "false").unwrap();
            assert!(stranger(&hook, dir.path(), &trusted).is_some(), "{command}");
            fs::write(dir.path().join("ci/check.sh"), "true").unwrap();
            assert_eq!(hash_of(&hook, dir.path()), before);
        }
        let plain = hash_of(&hook("make lint"), dir.path());
        let mut other = hook("make lint");
        other.matcher = HookMatcher::new("Edit").unwrap();
        assert_ne!(hash_of(&other, dir.path()), plain);
        let mut writes = hook("make lint");
        writes.profile.write = vec!["target".into()];
        assert_ne!(hash_of(&writes, dir.path()), plain);
        let mut later = hook("make lint");
        later.event = HookEvent::PostToolUse;
        assert_ne!(hash_of(&later, dir.path()), plain);
    }

    #[test]
    fn what_is_written_what_is_named_and_what_lies_beside_is_not_confused() {
        let file = |word: &str| HookCommandFile {
            word: word.to_owned(),
            path: word.into(),
            hash: Some(blake3::hash(b"true")),
        };
        let beside = |names: &[&str]| HookSiblingFiles {
            files: { names.iter() }
                .map(|name| (name.into(), blake3::hash(b"true")))
                .collect(),
            is_cut: false,
        };
        let hook = hook("./a b");
        let of = |files: &[HookCommandFile], beside: &HookSiblingFiles| {
            hash(&hook, "./a b", (files, beside))
        };
        assert_ne!(
            of(&[file("a"), file("b")], &beside(&[])),
            of(&[file("a")], &beside(&["b"]))
        );
        assert_ne!(
            of(&[file("a")], &beside(&["b"])),
            of(&[], &beside(&["a", "b"]))
        );
    }

    /// Nobody is asked again about a hook whose old hash was unambiguous.
    #[test]
    fn trust_in_a_command_that_names_no_file_holds_from_before() {
        let dir = tempfile::tempdir().unwrap();
        let mut hasher = blake3::Hasher::new();
        let words = [
            "artel hook 1",
            "PreToolUse",
            "Bash",
            "make lint",
            "target",
            "files",
        ];
        for word in words {
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word.as_bytes());
        }
        let mut lint = hook("make lint");
        lint.profile.write = vec!["target".into()];
        let before = hasher.finalize().to_hex().to_string();
        assert_eq!(hash_of(&lint, dir.path()), before);
    }

    #[test]
    fn the_persons_own_hooks_are_no_strangers_and_the_rest_is_shown() {
        let dir = tempfile::tempdir().unwrap();
        let mut own = hook("make\u{202e}\t\u{ad}");
        let lines = strangers(&[own.clone(), own.clone()], dir.path(), &BTreeSet::new());
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].lines[2], "runs      make\\u{202e}\\t\\u{ad}");
        own.source = HookSource::User("/home/ada/artel.toml".into());
        assert!(strangers(&[own], dir.path(), &BTreeSet::new()).is_empty());
    }
}
