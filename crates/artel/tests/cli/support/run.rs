//! Runs the binary in a world of its own, and keeps what it said.

use std::ffi::OsStr;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// A command about to be run.
pub(crate) struct Artel {
    command: Command,
    home: String,
    here: String,
}

impl Artel {
    /// Prepares the binary with an empty environment but for `HOME` and `PATH`.
    pub(crate) fn new(home: &Path, here: &Path, tools: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_artel"));
        command
            .env_clear()
            .env("HOME", home)
            .env("PATH", tools)
            .current_dir(here)
            .stdin(Stdio::null());
        Self {
            command,
            home: home.display().to_string(),
            here: here.display().to_string(),
        }
    }

    /// Adds arguments.
    pub(crate) fn words<Word: AsRef<OsStr>>(
        mut self,
        words: impl IntoIterator<Item = Word>,
    ) -> Self {
        self.command.args(words);
        self
    }

    /// Sets a variable.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Takes a variable away.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// Gives it something to read.
    pub(crate) fn given(mut self, text: &str) -> Self {
        let mut input = tempfile::tempfile().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.rewind().unwrap();
        self.command.stdin(input);
        self
    }

    /// Stands elsewhere.
    pub(crate) fn standing_in(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Returns the command itself, for pipes.
    pub(crate) fn command(mut self) -> Command {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        self.command
    }

    /// Runs it to its end. It never dies of a signal and never has a bug to report.
    pub(crate) fn run(self) -> Seen {
        let (home, here) = (self.home.clone(), self.here.clone());
        let output = self.command().output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8 output");
        let seen = Seen {
            code: output.status.code().expect("no signal"),
            out: text(output.stdout),
            err: text(output.stderr),
            home,
            here,
        };
        assert!(
            seen.code != 70 && !seen.err.contains("a mistake in Artel"),
            "{seen:?}"
        );
        seen
    }
}

/// What a command said and how it ended.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
    home: String,
    here: String,
}

impl Seen {
    /// Demands an exit code.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Demands an error code on standard error, and nothing like a stack trace.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, name: &str) -> Self {
        let seen = self.expect(code);
        let head = format!("error[{name}]: ");
        assert!(seen.err.starts_with(&head), "{}", seen.err);
        assert!(seen.err.contains("\n  try: "), "{}", seen.err);
        assert!(!seen.err.contains("backtrace"), "{}", seen.err);
        seen
    }

    /// The same where something was said before the error.
    #[track_caller]
    pub(crate) fn fails_last(self, code: i32, name: &str) -> Self {
        let at = self.err.find("error[").unwrap_or_default();
        let last = Self {
            err: self.err[at..].to_owned(),
            ..self
        };
        last.fails(code, name)
    }

    /// Demands some words in the output.
    #[track_caller]
    pub(crate) fn says(self, words: &str) -> Self {
        let all = format!("{}{}", self.out, self.err);
        assert!(all.contains(words), "no `{words}` in:\n{all}");
        self
    }

    /// Returns standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// Returns what came of it, which is the last of the records on standard output.
    #[track_caller]
    pub(crate) fn result(&self) -> serde_json::Value {
        let records: Vec<serde_json::Value> = self
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {line}")))
            .collect();
        assert!(records.len() > 1, "nothing before it: {}", self.out);
        let last = records.last().cloned().unwrap_or_default();
        last["result"].clone()
    }

    /// Returns everything that was seen, without what differs from run to run.
    pub(crate) fn text(&self) -> String {
        let whole = format!("exit {}\n{}{}", self.code, self.out, self.err);
        let placed = whole
            .replace(&self.here, "HERE")
            .replace(&self.home, "HOME");
        super::masked(&placed)
    }
}
