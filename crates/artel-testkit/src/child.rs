//! A separate process that appends to a journal and may be killed at any moment.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdout, Command, Stdio};

use crate::Scratch;

/// A running child; it is killed when dropped.
pub struct Child {
    process: std::process::Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// Starts the test kit's appender on a scratch journal: `tasks` threads append batches
    /// of `batch` events, `rounds` times each (0: until killed), and print a line for each
    /// acknowledgement.
    pub fn appender(scratch: &Scratch, tag: &str, shape: [u64; 3]) -> Self {
        Self::start(scratch, tag, shape, |_| {})
    }

    /// Like [`Child::appender`], with a change to the command, such as a fault.
    pub fn start(
        scratch: &Scratch,
        tag: &str,
        [tasks, batch, rounds]: [u64; 3],
        more: impl FnOnce(&mut Command),
    ) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the child is the test's own")]
        let mut command = Command::new(testkit_binary("journal_child"));
        command
            .arg(scratch.home.state())
            .arg(scratch.home.data())
            .arg(scratch.workshop.to_string())
            .args([
                tag,
                &tasks.to_string(),
                &batch.to_string(),
                &rounds.to_string(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        more(&mut command);
        let mut process = command.spawn().expect("the child starts");
        let output = process.stdout.take().expect("a pipe to the child");
        Self {
            process,
            lines: BufReader::new(output).lines(),
        }
    }

    /// Returns the next line that the child prints, or `None` once it has ended.
    pub fn line(&mut self) -> Option<String> {
        self.lines.next().and_then(Result::ok)
    }

    /// Kills it without warning and returns the lines that were not read yet.
    pub fn kill(mut self) -> Vec<String> {
        self.process.kill().expect("a child to kill");
        self.process.wait().expect("a child to collect");
        self.rest()
    }

    /// Waits for it to end. Returns the remaining lines and whether it succeeded.
    pub fn finish(mut self) -> (Vec<String>, bool) {
        let rest = self.rest();
        let status = self.process.wait().expect("a child to collect");
        (rest, status.success())
    }

    fn rest(&mut self) -> Vec<String> {
        // A line that the kill cut off does not count as an acknowledgement.
        let mut lines = Vec::new();
        while let Some(line) = self.line() {
            lines.push(line);
        }
        lines
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Returns the path of a program of the test kit, built next to the running test.
pub fn testkit_binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let folder = test
        .parent()
        .and_then(Path::parent)
        .expect("target/<profile>/deps/<test>");
    let binary = folder.join(name);
    assert!(
        binary.exists(),
        "{} is not built: use `cargo xtask test`",
        binary.display()
    );
    binary
}
