//! Parses the arguments of a task: a few words and flags, without a library.

use std::collections::VecDeque;
use std::str::FromStr;

use crate::stop::XtaskError;

/// The arguments that are not yet consumed.
pub(crate) struct Args(VecDeque<String>);

impl Args {
    pub(crate) fn of_this_process() -> Self {
        Self(std::env::args().skip(1).collect())
    }

    /// Removes and returns the next argument, or `None` if it is a flag.
    pub(crate) fn word(&mut self) -> Option<String> {
        self.0.pop_front_if(|next| !next.starts_with('-'))
    }

    /// Removes the flag and returns whether it was present.
    pub(crate) fn flag(&mut self, name: &str) -> bool {
        let place = self.0.iter().position(|arg| arg == name);
        place.and_then(|at| self.0.remove(at)).is_some()
    }

    /// Removes the flag with its value and returns the value: `--seconds 5` or
    /// `--seconds=5`.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str) -> Result<Option<T>, XtaskError> {
        let joined = format!("{name}=");
        let Some(at) = self
            .0
            .iter()
            .position(|arg| arg == name || arg.starts_with(&joined))
        else {
            return Ok(None);
        };
        let flag = self.0.remove(at).unwrap_or_default();
        let value = match flag.strip_prefix(&joined) {
            Some(value) => Some(value.to_owned()),
            None => self.0.remove(at),
        };
        let value = value.ok_or_else(|| XtaskError::Usage(format!("`{name}` needs a value")))?;
        match value.parse() {
            Ok(parsed) => Ok(Some(parsed)),
            Err(_) => Err(XtaskError::Usage(format!("`{name}` cannot be `{value}`"))),
        }
    }

    /// Returns whether every argument has been consumed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails with a usage error if an argument is left over.
    pub(crate) fn finish(self) -> Result<(), XtaskError> {
        match self.0.front() {
            None => Ok(()),
            Some(stray) => Err(XtaskError::Usage(format!(
                "`{stray}` is not understood here"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Args {
        Args(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn words_flags_and_values_are_taken_in_any_order() {
        let mut args = args("fuzz --seconds 5 redact --list --seed=7");
        assert_eq!(args.word().as_deref(), Some("fuzz"));
        assert_eq!(args.value("--seconds"), Ok(Some(5_u64)));
        assert_eq!(args.value("--seed"), Ok(Some(7_u32)));
        assert!(args.flag("--list") && !args.flag("--list"));
        assert_eq!(args.word().as_deref(), Some("redact"));
        assert_eq!(args.finish(), Ok(()));
    }

    #[test]
    fn strays_and_bad_values_are_refused() {
        let usage = |text: &str| XtaskError::Usage(text.to_owned());
        assert_eq!(
            args("--lisst").finish(),
            Err(usage("`--lisst` is not understood here"))
        );
        assert_eq!(
            args("--n x").value::<u8>("--n"),
            Err(usage("`--n` cannot be `x`"))
        );
        assert_eq!(
            args("--n").value::<u8>("--n"),
            Err(usage("`--n` needs a value"))
        );
    }
}
