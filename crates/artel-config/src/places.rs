//! Folders on this machine, by the XDG base directory specification.

use std::path::{Path, PathBuf};

use artel_types::{Failure, FailureCode};

use crate::ProcessEnvironment;

/// Artel's folders outside of workshops. Finding them does not make them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    home: PathBuf,
    config: PathBuf,
    data: PathBuf,
    cache: PathBuf,
    state: PathBuf,
}

impl UserFolders {
    /// Finds the folders. Fails only without a usable `HOME`.
    pub fn find(environment: &ProcessEnvironment) -> Result<Self, Failure> {
        let home = environment
            .absolute_path("HOME")
            .ok_or_else(|| no_home(environment))?;
        let base = |variable: &str, otherwise: &str| {
            let base = environment.absolute_path(variable).map(Path::to_owned);
            base.unwrap_or_else(|| home.join(otherwise)).join("artel")
        };
        Ok(Self {
            home: home.to_owned(),
            config: base("XDG_CONFIG_HOME", ".config"),
            data: base("XDG_DATA_HOME", ".local/share"),
            cache: base("XDG_CACHE_HOME", ".cache"),
            state: base("XDG_STATE_HOME", ".local/state"),
        })
    }

    /// Returns the person's home folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the folder of the user's settings.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// Returns the folder of data that must not get lost: keys, trust.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the folder of data that can be made again.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Returns the folder of logs.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the user's settings file, whether it exists or not.
    pub fn user_file(&self) -> PathBuf {
        self.config.join("artel.toml")
    }

    /// Returns the workshop that is used if none is named or found.
    pub fn default_workshop(&self) -> PathBuf {
        self.home.join("Artel")
    }
}

fn no_home(environment: &ProcessEnvironment) -> Failure {
    let why = match environment.get("HOME") {
        None => "`HOME` is not set",
        Some(text) if text.is_empty() => "`HOME` is empty",
        Some(_) => "`HOME` is not an absolute path",
    };
    Failure::new(FailureCode::S005, "cannot tell where your home folder is")
        .because(why)
        .advise("set `HOME` to the absolute path of your home folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(variables: &[(&str, &str)]) -> Result<UserFolders, Failure> {
        UserFolders::find(&ProcessEnvironment::of(variables.iter().copied(), "/work"))
    }

    #[test]
    fn folders_follow_home_and_the_xdg_variables() {
        let plain = places(&[
            ("HOME", "/home/ada"),
            ("XDG_DATA_HOME", "rel"),
            ("XDG_CACHE_HOME", ""),
        ])
        .unwrap();
        assert_eq!(plain.config(), Path::new("/home/ada/.config/artel"));
        assert_eq!(plain.data(), Path::new("/home/ada/.local/share/artel"));
        assert_eq!(plain.cache(), Path::new("/home/ada/.cache/artel"));
        assert_eq!(plain.state(), Path::new("/home/ada/.local/state/artel"));
        assert_eq!(
            plain.user_file(),
            Path::new("/home/ada/.config/artel/artel.toml")
        );
        assert_eq!(plain.default_workshop(), Path::new("/home/ada/Artel"));

        let moved = places(&[
            ("HOME", "/home/ada"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_DATA_HOME", "/d"),
            ("XDG_CACHE_HOME", "/k"),
            ("XDG_STATE_HOME", "/s"),
        ])
        .unwrap();
        assert_eq!(
            [moved.config(), moved.data(), moved.cache(), moved.state()],
            ["/c/artel", "/d/artel", "/k/artel", "/s/artel"].map(Path::new)
        );
    }

    #[test]
    fn a_missing_home_says_what_to_set() {
        let failure = places(&[]).unwrap_err();
        insta::assert_snapshot!(failure, @r"
        error[S005]: cannot tell where your home folder is
          why: `HOME` is not set
          try: set `HOME` to the absolute path of your home folder
        ");
        assert!(places(&[("HOME", "")]).is_err());
        assert!(places(&[("HOME", "ada")]).is_err());
    }
}
