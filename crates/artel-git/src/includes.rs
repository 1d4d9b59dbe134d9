//! The files that a repository's settings include.
//!
//! Git opens every one of them before it does anything else: it waits for a pipe, and reads
//! a device without end. So they are checked here first, and if one is not a file, git is
//! not started.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use artel_sandbox::trusted::{self, TrustedProgramCall};

use crate::GitError;

/// Size in bytes above which a settings file is assumed to include others. Files without an
/// include are smaller.
const LARGEST: u64 = 1 << 20;

/// Largest number of settings files. Real settings are spread over fewer.
const MOST_FILES: usize = 64;

/// Largest size of git's one-line files, in bytes.
const LONGEST_LINE: u64 = 64 * 1024;

/// Pattern of the keys that include a file, as git spells them.
const KEYS: &str = "^include(if\\..*)?\\.path$";

/// Refuses a repository whose settings include something that is not a file, directly or
/// through other files. `call` is the git call that is about to be made; `git_dir` is the
/// repository's folder.
pub(crate) fn refuse_odd(call: &TrustedProgramCall, git_dir: &Path) -> Result<(), GitError> {
    let mut waiting = settings_of(git_dir);
    let mut next = 0;
    while let Some(config) = waiting.get(next).cloned() {
        next += 1;
        if !may_include(&config) {
            continue;
        }
        for named in included(call, &config)? {
            let is_odd = named.metadata().is_ok_and(|about| !about.is_file());
            let is_new = !waiting.contains(&named);
            if is_odd || (is_new && waiting.len() >= MOST_FILES) {
                return Err(GitError::OddInclude { config, named });
            }
            if is_new {
                waiting.push(named);
            }
        }
    }
    Ok(())
}

/// Returns the folder of the repository that git finds in a tree, whatever that is.
pub(crate) fn git_dir_of(tree: &Path) -> PathBuf {
    let dot_git = tree.join(".git");
    match pointed_to(&dot_git, "gitdir:") {
        Some(named) => tree.join(named),
        None => dot_git,
    }
}

/// Returns the files that hold a repository's settings.
fn settings_of(git_dir: &Path) -> Vec<PathBuf> {
    let common = pointed_to(&git_dir.join("commondir"), "");
    let common = common.map_or_else(|| git_dir.to_owned(), |named| git_dir.join(named));
    vec![common.join("config"), git_dir.join("config.worktree")]
}

fn pointed_to(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = artel_files::read_bounded(file, LONGEST_LINE).ok()?;
    let named = text.strip_prefix(prefix.as_bytes())?.trim_ascii();
    Some(PathBuf::from(OsStr::from_bytes(named)))
}

/// Returns whether git has to be asked for the includes of a settings file. A missing file
/// has none.
fn may_include(config: &Path) -> bool {
    let word = b"include";
    match artel_files::read_bounded(config, LARGEST) {
        Ok(text) => text
            .windows(word.len())
            .any(|it| it.eq_ignore_ascii_case(word)),
        Err(_) => config.metadata().is_ok_and(|about| about.is_file()),
    }
}

/// Returns the files that a settings file includes, under whatever condition. Git itself
/// reads the file, and reads no other.
fn included(call: &TrustedProgramCall, config: &Path) -> Result<Vec<PathBuf>, GitError> {
    let words = ["config", "--no-includes", "-z", "--type=path", "--file"].map(OsStr::new);
    let words = words.into_iter().chain([config.as_os_str()]);
    let words = words.chain(["--get-regexp", KEYS].map(OsStr::new));
    let mut env = call.env.clone();
    env.retain(|(name, _)| name != "GIT_DIR");
    env.push(("GIT_DIR".into(), "/nonexistent".into()));
    let output = trusted::run(&TrustedProgramCall {
        args: words.map(OsStr::to_owned).collect(),
        env,
        cwd: PathBuf::from("/"),
        stdin: Vec::new(),
        ..call.clone()
    })?;
    let above = config.parent().unwrap_or(Path::new("/"));
    // If git cannot read the file, the actual call will report it.
    let entries = output.stdout.split(|byte| *byte == 0);
    let named = entries.filter_map(|entry| {
        let at = entry.iter().position(|byte| *byte == b'\n')?;
        Some(above.join(OsStr::from_bytes(&entry[at + 1..])))
    });
    Ok(named.collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;

    use crate::{GitError, GitIdentity, GitRunner};

    use super::*;

    fn repository() -> (TempDir, GitRunner) {
        let folder = TempDir::new().unwrap();
        let programs = ["/usr/local/bin/git", "/usr/bin/git"].map(PathBuf::from);
        let program = programs.into_iter().find(|path| path.exists()).unwrap();
        let git = GitRunner::new(program, folder.path(), GitIdentity::artel());
        let git = git.patiently(Duration::from_secs(20), 1 << 20);
        git.run(&["init", "-q", "-b", "main"]).unwrap();
        (folder, git)
    }

    fn make_pipe(path: &Path) {
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            path,
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        );
        made.unwrap();
    }

    #[test]
    fn what_is_not_a_file_is_included_by_no_settings() {
        for (config, place) in [
            ("[include]\n\tpath = PIPE\n", ".git/config"),
            ("[INCLUDE] Path = \"PIPE\"\n", ".git/config"),
            (
                "[includeIf \"onbranch:x\"]\n\tpath = \\\n  ../pipe\n",
                ".git/config",
            ),
            ("[include]\n\tpath = PIPE\n", "other"),
            ("[include]\n\tpath = /dev/zero\n", ".git/config"),
        ] {
            let (folder, git) = repository();
            let pipe = folder.path().join("pipe");
            make_pipe(&pipe);
            let own = folder.path().join(".git/config");
            let before = fs::read_to_string(&own).unwrap();
            let text = config.replace("PIPE", &pipe.to_string_lossy());
            let more = match place {
                "other" => {
                    fs::write(folder.path().join("other"), text).unwrap();
                    "[include]\n\tpath = ../other\n".to_owned()
                }
                _ => text,
            };
            fs::write(&own, format!("{before}{more}")).unwrap();
            for words in [&["status"][..], &["ls-files"], &["rev-parse", "HEAD"]] {
                let found = git.run(words);
                assert!(
                    matches!(&found, Err(GitError::OddInclude { .. })),
                    "{config} in {place}: {found:?}"
                );
            }
            let told = git.run(&["status"]).unwrap_err().to_string();
            assert!(
                told.contains("is not a file") && told.contains("remove"),
                "{told}"
            );
            fs::write(&own, before).unwrap();
            git.run(&["status"]).unwrap();
        }
    }

    #[test]
    fn settings_that_include_files_are_read_as_ever() {
        let (folder, git) = repository();
        let own = folder.path().join(".git/config");
        let before = fs::read_to_string(&own).unwrap();
        let includes = "[include]\n\tpath = more\n\tpath = missing\n\tpath = ~/mine\n";
        fs::write(&own, format!("{before}{includes}")).unwrap();
        let more = "[include]\n\tpath = last\n[artel]\n\tword = seen\n";
        fs::write(folder.path().join(".git/more"), more).unwrap();
        fs::write(
            folder.path().join(".git/last"),
            "[include]\n\tpath = missing\n",
        )
        .unwrap();
        let said = git.run(&["config", "artel.word"]).unwrap();
        assert_eq!(said, b"seen\n");
    }
}
