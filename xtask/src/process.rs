//! Starts other programs. Every command is shown first, and its exit code decides.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;

use crate::stop::XtaskError;

/// Whether a line of a program's output is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputEcho {
    Show,
    Hide,
}

/// Returns the root folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent().map_or(here.clone(), Path::to_owned)
}

/// Creates a cargo command in the workspace root, with the cargo that runs this task.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end and fails unless it exits with 0.
pub(crate) fn run(command: &mut Command) -> Result<(), XtaskError> {
    println!("$ {}", spell(command));
    let status = command
        .status()
        .map_err(|cause| cannot_start(command, &cause))?;
    judge(command, status)
}

/// Runs a command to its end, passes each line of output to `on_line`, and returns its
/// status.
pub(crate) fn run_reading(
    command: &mut Command,
    mut on_line: impl FnMut(&str) -> OutputEcho,
) -> Result<ExitStatus, XtaskError> {
    println!("$ {}", spell(command));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .map_err(|cause| cannot_start(command, &cause))?;
    let (sender, lines) = channel();
    let readers = [
        child
            .stdout
            .take()
            .map(|pipe| forward(pipe, sender.clone())),
        child.stderr.take().map(|pipe| forward(pipe, sender)),
    ];
    for line in lines {
        let text = String::from_utf8_lossy(&line);
        if on_line(text.trim_end_matches(['\r', '\n'])) == OutputEcho::Show {
            print!("{text}");
        }
    }
    for reader in readers.into_iter().flatten() {
        reader
            .join()
            .map_err(|_| XtaskError::Failed("a reader thread panicked".to_owned()))?;
    }
    std::io::stdout()
        .flush()
        .map_err(|cause| XtaskError::because("standard output", cause))?;
    child
        .wait()
        .map_err(|cause| XtaskError::because(spell(command), cause))
}

/// Fails if `status` is not success; the error names the command.
pub(crate) fn judge(command: &Command, status: ExitStatus) -> Result<(), XtaskError> {
    if status.success() {
        return Ok(());
    }
    Err(XtaskError::Failed(format!(
        "`{}` ended with {status}",
        spell(command)
    )))
}

/// Returns the command as a person would type it.
pub(crate) fn spell(command: &Command) -> String {
    let quote = |text: &str| {
        if text.contains([' ', '"', '(', '|', '&', '$', '*']) {
            format!("'{text}'")
        } else {
            text.to_owned()
        }
    };
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!(
            "{}={}",
            name.to_string_lossy(),
            quote(&value?.to_string_lossy())
        ))
    });
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = command.get_args().map(|arg| quote(&arg.to_string_lossy()));
    variables
        .chain([program.to_string_lossy().into_owned()])
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the text without ANSI colour codes.
pub(crate) fn without_colour(line: &str) -> String {
    let mut pieces = line.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |mut plain, piece| {
        plain.push_str(piece.split_once('m').map_or(piece, |(_, rest)| rest));
        plain
    })
}

fn forward(pipe: impl Read + Send + 'static, lines: Sender<Vec<u8>>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        while pipe
            .read_until(b'\n', &mut line)
            .is_ok_and(|count| count > 0)
        {
            if lines.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    })
}

fn cannot_start(command: &Command, cause: &std::io::Error) -> XtaskError {
    XtaskError::because(format!("`{}` cannot be started", spell(command)), cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_spelt_so_that_they_can_be_typed() {
        let mut command = Command::new("/opt/rust/bin/cargo");
        command
            .args(["nextest", "run", "-E", "test(a) | test(b)"])
            .env("ARTEL_PROOF", "long");
        assert_eq!(
            spell(&command),
            "ARTEL_PROOF=long cargo nextest run -E 'test(a) | test(b)'"
        );
    }

    #[test]
    fn both_streams_are_read_and_the_exit_code_is_kept() {
        let mut seen = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let status = run_reading(&mut command, |line| {
            seen.push(line.to_owned());
            OutputEcho::Hide
        });
        seen.sort();
        assert_eq!(seen, ["err", "out"]);
        assert_eq!(status.map(|status| status.code()), Ok(Some(3)));
    }

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(
            without_colour("\u{1b}[32;1m Summary\u{1b}[0m [ 1s]"),
            " Summary [ 1s]"
        );
    }
}
