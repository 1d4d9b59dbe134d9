//! The process environment as a value: read once, then passed around.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use artel_types::Secret;

/// The variables and the current folder of a process, at one moment.
#[derive(Clone, Default)]
pub struct ProcessEnvironment {
    /// Shared, because many components hold this value.
    variables: Arc<BTreeMap<OsString, OsString>>,
    current_dir: Option<PathBuf>,
}

impl ProcessEnvironment {
    /// Takes the snapshot. Only the binary calls this, once; all other code is handed the
    /// value.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one reader of the environment"
    )]
    pub fn from_process() -> Self {
        Self {
            variables: Arc::new(std::env::vars_os().collect()),
            current_dir: std::env::current_dir().ok(),
        }
    }

    /// Creates an environment from its parts, for tests and child processes.
    pub fn of<Name, Text>(
        variables: impl IntoIterator<Item = (Name, Text)>,
        current_dir: impl Into<PathBuf>,
    ) -> Self
    where
        Name: Into<OsString>,
        Text: Into<OsString>,
    {
        let variables = variables
            .into_iter()
            .map(|(name, text)| (name.into(), text.into()));
        Self {
            variables: Arc::new(variables.collect()),
            current_dir: Some(current_dir.into()),
        }
    }

    /// Returns the same environment with another current folder.
    #[must_use]
    pub fn standing_in(&self, folder: impl Into<PathBuf>) -> Self {
        Self {
            variables: Arc::clone(&self.variables),
            current_dir: Some(folder.into()),
        }
    }

    /// Returns the value of a variable as the system has it.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// Returns the variable as a path if it is absolute. An empty or relative path counts as
    /// absent, as the XDG specification demands.
    pub fn absolute_path(&self, name: &str) -> Option<&Path> {
        self.get(name)
            .map(Path::new)
            .filter(|path| path.is_absolute())
    }

    /// Returns the current folder, or `None` if it was deleted under the process.
    pub fn current_dir(&self) -> Option<&Path> {
        self.current_dir.as_deref()
    }

    /// Returns the values of variables whose names say that they are secret, such as
    /// `GITHUB_TOKEN`, and the passwords of proxies. Nothing that is stored or shown may
    /// contain them. Surrounding whitespace is removed, as it is where the value is used: the
    /// value has to be recognized as it is sent.
    pub fn secrets(&self) -> Vec<Secret> {
        let secret = |(name, text): (&OsString, &OsString)| {
            let (name, text) = (name.to_string_lossy(), text.to_str()?.to_owned());
            let is_proxy = name.to_ascii_lowercase().ends_with("_proxy");
            if says_secret(&name) {
                Some(Secret::new(text.trim()))
            } else if is_proxy {
                password(&text).map(Secret::new)
            } else {
                None
            }
        };
        self.variables.iter().filter_map(secret).collect()
    }

    /// Returns every variable in order of name, for the code that decides which of them a child
    /// process gets.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, text)| (name.as_os_str(), text.as_os_str()))
    }

    /// Returns the variables whose names begin with `prefix`, in order of name.
    pub(crate) fn beginning_with(&self, prefix: &str) -> impl Iterator<Item = (String, &OsStr)> {
        let prefix = prefix.to_owned();
        self.variables.iter().filter_map(move |(name, text)| {
            let name = name.to_string_lossy();
            name.starts_with(&prefix)
                .then(|| (name.into_owned(), text.as_os_str()))
        })
    }
}

/// Returns whether a name says that its value is secret. The last word decides: `API_KEY`
/// holds a key, `KEY_FILE` and `KEY_ID` do not.
fn says_secret(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    let words = [
        "KEY",
        "APIKEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
    ];
    words.contains(&last.to_ascii_uppercase().as_str())
}

/// Returns the password in an address such as `http://ada:word@proxy:3128`.
fn password(address: &str) -> Option<&str> {
    let (user, _) = address.rsplit_once('@')?;
    let user = user.split_once("://").map_or(user, |(_, user)| user);
    let (_, password) = user.split_once(':')?;
    (!password.is_empty()).then_some(password)
}

/// Shows only the names: values of variables are often secrets.
impl fmt::Debug for ProcessEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessEnvironment")
            .field("variables", &self.variables.keys().collect::<Vec<_>>())
            .field("current_dir", &self.current_dir)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_by_names_and_places() {
        let variables = [
            ("GITHUB_TOKEN", "a-token-value"),
            ("anthropic_api_key", "a-key-value"),
            ("KEY_FILE", "/home/ada/key"),
            ("KEYBOARD", "us"),
            ("PATH", "/bin"),
            ("http_proxy", "http://proxy:3128"),
            ("no_proxy", "a.example:80"),
            ("https_proxy", "http://ada:p@ss@proxy:3128"),
            ("ALL_PROXY", "ada:other-word@proxy"),
            ("OPENAI_API_KEY", " sk-with space \t\r\n"),
        ];
        let found = ProcessEnvironment::of(variables, "/").secrets();
        let values: Vec<&str> = found.iter().map(Secret::expose).collect();
        let expected = [
            "other-word",
            "a-token-value",
            "sk-with space",
            "a-key-value",
            "p@ss",
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn debug_text_has_no_values() {
        let environment = ProcessEnvironment::of([("SOME_KEY", "sk-hidden")], "/work");
        let shown = format!("{environment:?}");
        assert!(
            shown.contains("SOME_KEY") && !shown.contains("sk-hidden"),
            "{shown}"
        );
    }

    #[test]
    fn a_path_counts_only_when_absolute() {
        let environment = ProcessEnvironment::of([("A", "/a"), ("B", "b"), ("C", "")], "/work");
        assert_eq!(environment.absolute_path("A"), Some(Path::new("/a")));
        for name in ["B", "C", "D"] {
            assert_eq!(environment.absolute_path(name), None, "{name}");
        }
    }

    #[test]
    fn the_process_has_a_current_folder() {
        assert!(ProcessEnvironment::from_process().current_dir().is_some());
    }
}
