//! Hands a plan to a process in the background, which ends with the run.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use artel_sandbox::trusted::{self, TrustedProgramCall};
use artel_types::{Failure, FailureCode, TraceId};

use crate::workshop::Workshop;

impl Workshop {
    /// Has another process carry out an approved plan, with `words` as further arguments of
    /// `artel resume`. Returns a name for the process.
    pub fn leave_to_background(&self, trace: TraceId, words: &[String]) -> Result<String, Failure> {
        let failed = |why: String| {
            Failure::new(
                FailureCode::X001,
                "no process could be started in the background",
            )
            .because(why)
            .advise(format!(
                "`artel resume {}` carries it out here",
                trace.short()
            ))
        };
        let then = ["resume".to_owned(), trace.to_string()];
        let words: Vec<String> = then.into_iter().chain(words.iter().cloned()).collect();
        let log = self.log_file(&format!("work-{}.log", trace.short()));
        let id = self.leave(&words, &log).map_err(failed)?;
        Ok(format!("process {id}"))
    }

    /// Returns the log file for a process in the background.
    pub(crate) fn log_file(&self, name: &str) -> PathBuf {
        self.home.state().join("logs").join(name)
    }

    /// Starts this program again for this workshop, in the background, and returns its process
    /// id.
    pub(crate) fn leave(&self, words: &[String], log: &Path) -> Result<u32, String> {
        let text = |error: std::io::Error| error.to_string();
        let program = std::env::current_exe().map_err(text)?;
        if let Some(folder) = log.parent() {
            std::fs::create_dir_all(folder).map_err(text)?;
        }
        let log = File::options()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(log);
        let first = ["--workshop".into(), self.root.clone().into_os_string()];
        let set = self.caller.flags.set.iter();
        let set = set.flat_map(|(key, value)| ["--set".into(), format!("{key}={value}").into()]);
        let variables = self.caller.environment.variables();
        let call = TrustedProgramCall {
            args: first
                .into_iter()
                .chain(set)
                .chain(words.iter().map(OsString::from))
                .collect(),
            env: variables
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
            cwd: self.root.clone(),
            ..TrustedProgramCall::new(program)
        };
        trusted::leave(&call, &log.map_err(text)?).map_err(|error| error.to_string())
    }
}
