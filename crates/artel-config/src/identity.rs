//! The identity of the person: the name under which the journal records their acts.

use std::path::{Path, PathBuf};

use crate::ProcessEnvironment;
use crate::file;
use crate::git_config;

/// Deepest include that is followed, the same as in git itself.
const DEEPEST_INCLUDE: usize = 10;

/// Largest number of files read in total, because files that include each other multiply.
const MOST_FILES: usize = 50;

/// Longest name in bytes. No e-mail address is longer (RFC 5321).
const LONGEST: usize = 254;

/// Returns the person's global git `user.email`, else their name on this machine, else
/// `uid-<n>`.
///
/// A repository's own configuration never counts: its author could choose the name under
/// which approvals are recorded.
pub fn person(environment: &ProcessEnvironment) -> String {
    let uid = rustix::process::getuid().as_raw();
    global_email(environment).unwrap_or_else(|| {
        let accounts = read(Path::new("/etc/passwd")).unwrap_or_default();
        account_name(&accounts, uid).unwrap_or_else(|| format!("uid-{uid}"))
    })
}

fn global_email(environment: &ProcessEnvironment) -> Option<String> {
    let mut search = GitEmailSearch {
        home: environment.absolute_path("HOME"),
        files_left: MOST_FILES,
        email: None,
    };
    for path in global_files(environment) {
        search.read(&path, 0);
    }
    search.email.filter(|email| is_usable(email))
}

/// Returns git's global files, the one that wins last. If `GIT_CONFIG_GLOBAL` is set, it
/// replaces all of them; a relative one is ignored, because it could lead into a
/// repository.
fn global_files(environment: &ProcessEnvironment) -> Vec<PathBuf> {
    if environment.get("GIT_CONFIG_GLOBAL").is_some() {
        let only = environment.absolute_path("GIT_CONFIG_GLOBAL");
        return only.map(Path::to_owned).into_iter().collect();
    }
    let home = environment.absolute_path("HOME");
    let config = environment
        .absolute_path("XDG_CONFIG_HOME")
        .map(Path::to_owned);
    let config = config.or_else(|| Some(home?.join(".config")));
    [
        config.map(|config| config.join("git/config")),
        home.map(|home| home.join(".gitconfig")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

struct GitEmailSearch<'e> {
    home: Option<&'e Path>,
    files_left: usize,
    email: Option<String>,
}

impl GitEmailSearch<'_> {
    /// Reads one file and, in place, the files that it includes. `includeIf` depends on the
    /// repository and is ignored.
    fn read(&mut self, path: &Path, depth: usize) {
        if self.files_left == 0 || depth > DEEPEST_INCLUDE {
            return;
        }
        self.files_left -= 1;
        let Some(text) = read(path) else { return };
        for item in git_config::parse(&text) {
            match (item.key.as_str(), item.value) {
                ("user.email", Some(email)) => self.email = Some(email.trim().to_owned()),
                ("include.path", Some(named)) => {
                    if let Some(included) = self.resolve(&named, path) {
                        self.read(&included, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the file that an include in `from` names. `~name/` is ignored.
    fn resolve(&self, named: &str, from: &Path) -> Option<PathBuf> {
        if let Some(rest) = named.strip_prefix("~/") {
            return Some(self.home?.join(rest));
        }
        let is_plain = !named.is_empty() && !named.starts_with('~') && !named.contains('\0');
        is_plain.then(|| from.parent().map(|folder| folder.join(named)))?
    }
}

/// Returns the name of the account with this user id in the text of `/etc/passwd`.
fn account_name(accounts: &str, uid: u32) -> Option<String> {
    let name = accounts.lines().find_map(|line| {
        let mut columns = line.split(':');
        let name = columns.next()?;
        (columns.nth(1)?.parse() == Ok(uid)).then_some(name)
    })?;
    is_usable(name).then(|| name.to_owned())
}

/// Returns whether a name is fit for the journal and a screen.
fn is_usable(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && !name.contains(char::is_control)
}

/// Returns the text of a file if it exists and is sane. Any other file names nobody.
fn read(path: &Path) -> Option<String> {
    let bytes = file::read_bytes(path).ok()??;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[path = "identity_tests.rs"]
mod tests;
