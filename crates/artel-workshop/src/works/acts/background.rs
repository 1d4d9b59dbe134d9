//! A plan that is left to a process in the background, which ends with the run.

use std::ffi::OsString;

use artel_sandbox::trusted::{self, Call};
use artel_types::{Code, Failure, TraceId};

use crate::workshop::Workshop;

impl Workshop {
    /// Has another process carry out what was approved, with these words behind `artel resume`.
    /// Returns what names the process.
    pub fn leave_to_background(&self, trace: TraceId, words: &[String]) -> Result<String, Failure> {
        let failed = |why: String| {
            Failure::new(Code::X001, "no process could be started in the background")
                .because(why)
                .advise(format!(
                    "`artel resume {}` carries it out here",
                    trace.short()
                ))
        };
        let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
        let first = ["--workshop".into(), self.root.clone().into_os_string()];
        let then = ["resume".to_owned(), trace.to_string()];
        let args = first.into_iter().chain(then.map(OsString::from));
        let variables = self.caller.environment.variables();
        let call = Call {
            args: args.chain(words.iter().map(OsString::from)).collect(),
            env: variables
                .map(|(name, text)| (name.into(), text.into()))
                .collect(),
            cwd: self.root.clone(),
            ..Call::new(program)
        };
        let id = trusted::leave(&call).map_err(|error| failed(error.to_string()))?;
        Ok(format!("process {id}"))
    }
}
