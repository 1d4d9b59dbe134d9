//! Several failures at once: a settings file can be wrong in many places.

use std::path::Path;

use artel_files::FileError;
use artel_types::{Failure, FailureCode};

/// One or more failures. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkshopFailures(pub Vec<Failure>);

impl WorkshopFailures {
    /// Returns the first failure, for callers that asked for one thing.
    pub fn first(self) -> Failure {
        let none = || {
            Failure::new(
                FailureCode::X001,
                "something is wrong, and nobody says what",
            )
        };
        self.0.into_iter().next().unwrap_or_else(none)
    }
}

impl<F: Into<Failure>> From<F> for WorkshopFailures {
    fn from(failure: F) -> Self {
        Self(vec![failure.into()])
    }
}

/// Makes a failure of an error with a workshop file.
pub(crate) fn file_failure(code: FailureCode, error: &FileError) -> Failure {
    use std::error::Error as _;
    let what = error.to_string();
    let failure = match error.source().map(ToString::to_string) {
        // The error's text ends with its cause, which is shown only once.
        Some(why) => {
            let what = what.strip_suffix(&format!(": {why}")).unwrap_or(&what);
            Failure::new(code, what).because(why)
        }
        None => Failure::new(code, what),
    };
    failure.advise(match error {
        FileError::Other { .. } | FileError::Exists { .. } => {
            "move away what stands there, or name another place"
        }
        FileError::TooLarge { .. } => "put it back from a copy",
        FileError::NoName { .. } => "name a file or folder",
        FileError::System { .. } => "look at its folder, owner and mode, then repeat",
    })
}

/// Serializes a path as text. A name that is not UTF-8 is shown as closely as possible.
pub(crate) fn path_text<S: serde::Serializer>(
    path: &Path,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Returns a path as it is typed into a shell: advice must work as it is printed.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+,:@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_typed_so_that_the_shell_takes_it_whole() {
        assert_eq!(shell_word(Path::new("/home/ada/Artel")), "/home/ada/Artel");
        assert_eq!(shell_word(Path::new("/my work")), "'/my work'");
        assert_eq!(shell_word(Path::new("it's")), r"'it'\''s'");
    }
}
