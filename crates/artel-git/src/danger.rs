//! The settings by which a repository could make git start programs.

/// A setting that starts a program or loads settings from elsewhere, and that cannot be
/// switched off without changing what git would do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitConfigDanger {
    /// Key of the setting, such as `filter.lfs.smudge`.
    pub key: String,
    /// Value of the setting: the program it would start, or what it would read.
    pub value: String,
}

/// All dangerous settings of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitConfigDangers(pub Vec<GitConfigDanger>);

impl GitConfigDangers {
    /// Returns the hash that a person's trust is bound to. A changed setting changes it.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for GitConfigDanger { key, value } in &self.0 {
            for part in [key, value] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Finds the dangers in the output of `git config --list -z`.
pub(crate) fn find(listed: &[u8]) -> GitConfigDangers {
    let mut dangers: Vec<_> = listed
        .split(|byte| *byte == 0)
        .filter_map(|entry| {
            let text = String::from_utf8_lossy(entry);
            let (key, value) = text.split_once('\n').unwrap_or((&text, ""));
            is_dangerous(key).then(|| GitConfigDanger {
                key: key.to_owned(),
                value: value.to_owned(),
            })
        })
        .collect();
    dangers.sort();
    GitConfigDangers(dangers)
}

/// Returns whether a setting is dangerous. Git writes the section and the last part of the
/// key in lower case; anything between is the person's own spelling.
fn is_dangerous(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    match section {
        "include" | "includeif" => true,
        "filter" => matches!(name, "clean" | "smudge" | "process"),
        "merge" => name == "driver",
        "core" => name == "worktree",
        "remote" => matches!(name, "uploadpack" | "receivepack" | "vcs" | "proxy"),
        "url" => matches!(name, "insteadof" | "pushinsteadof"),
        "http" => matches!(
            name,
            "proxy" | "sslcert" | "sslkey" | "cookiefile" | "extraheader"
        ),
        "extensions" => name == "partialclone",
        _ => false,
    }
}
