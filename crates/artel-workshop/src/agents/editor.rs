//! Starts the person's own editor.

use std::path::Path;

use artel_sandbox::trusted::{self, TrustedProgramCall};
use artel_types::{Failure, FailureCode};

use crate::caller::CommandContext;
use crate::models::text_of;
use crate::trouble::shell_word;

/// The variables that name an editor; the first one that is set wins.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];

impl CommandContext {
    /// Opens a file in the editor that `VISUAL` or `EDITOR` names, and returns when it is closed.
    pub fn edit_file(&self, file: &Path) -> Result<(), Failure> {
        let set = VARIABLES
            .iter()
            .find_map(|name| text_of(&self.environment, name));
        let set = set.filter(|editor| !editor.trim().is_empty());
        let by_hand = || format!("edit `{}` by hand", shell_word(file));
        let Some(editor) = set else {
            return Err(Failure::new(FailureCode::C005, "no editor is known")
                .because("neither `VISUAL` nor `EDITOR` is set")
                .advise(format!("`EDITOR=nano artel …`, or {}", by_hand())));
        };
        let mut words = editor.split_whitespace();
        let name = words.next().unwrap_or_default();
        let program = match Path::new(name) {
            path if path.is_absolute() => Some(path.to_owned()),
            _ => self.program(name),
        };
        let failed = |why: String| {
            Failure::new(
                FailureCode::C004,
                format!("the editor `{editor}` did not do it"),
            )
            .because(why)
            .advise(format!("set `EDITOR` to one that works, or {}", by_hand()))
        };
        let program = program.ok_or_else(|| failed(format!("`{name}` is not on your `PATH`")))?;
        let variables = self.environment.variables();
        let call = TrustedProgramCall {
            args: words.map(Into::into).chain([file.into()]).collect(),
            env: variables
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
            cwd: file.parent().unwrap_or(Path::new("/")).to_owned(),
            ..TrustedProgramCall::new(program)
        };
        match trusted::attend(&call) {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(failed(format!("it ended with exit code {code}"))),
            Ok(None) => Err(failed("a signal ended it".to_owned())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}
