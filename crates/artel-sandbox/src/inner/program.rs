//! Finds and starts the program, or reports precisely why not.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{Access, access};

use super::step::SandboxStepError;
use crate::job::SandboxCommandSpec;

const STEP: &str = "program";

pub(super) struct StandardStreams {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Starts the command in a process group of its own.
pub(super) fn start(
    job: &SandboxCommandSpec,
    streams: StandardStreams,
) -> Result<Child, SandboxStepError> {
    let (program, mut command) = command(job, streams)?;
    command.spawn().map_err(|cause| explain(&program, &cause))
}

/// Becomes the command. Returns only if that fails, with the reason.
pub(super) fn become_it(job: &SandboxCommandSpec, streams: StandardStreams) -> SandboxStepError {
    match command(job, streams) {
        Ok((program, mut command)) => explain(&program, &command.exec()),
        Err(failed) => failed,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this crate is the door to processes"
)]
fn command(
    job: &SandboxCommandSpec,
    streams: StandardStreams,
) -> Result<(PathBuf, Command), SandboxStepError> {
    let [name, args @ ..] = job.argv.as_slice() else {
        return Err(SandboxStepError::new(STEP, "no program was named"));
    };
    let cwd = if job.cwd.is_dir() && access(&job.cwd, Access::EXEC_OK).is_ok() {
        job.cwd.as_path()
    } else {
        Path::new("/")
    };
    let program = cwd.join(find(name, &job.env)?);
    let mut command = Command::new(&program);
    command
        .arg0(name)
        .args(args)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .current_dir(cwd)
        .stdin(Stdio::from(streams.stdin))
        .stdout(Stdio::from(streams.stdout))
        .stderr(Stdio::from(streams.stderr))
        .process_group(0);
    Ok((program, command))
}

/// Finds the program as a shell would, in the `PATH` of the command's own environment.
fn find(name: &OsStr, env: &[(OsString, OsString)]) -> Result<PathBuf, SandboxStepError> {
    if name.is_empty() {
        return Err(SandboxStepError::new(STEP, "the program's name is empty"));
    }
    if name.as_bytes().contains(&b'/') {
        return Ok(PathBuf::from(name));
    }
    let path = env.iter().rev().find(|(key, _)| key == "PATH");
    let path = path.map_or(OsStr::new("/usr/bin:/bin"), |(_, value)| value);
    let mut unusable = None;
    for folder in path.as_bytes().split(|byte| *byte == b':') {
        if folder.is_empty() {
            continue;
        }
        let candidate = Path::new(OsStr::from_bytes(folder)).join(name);
        if !candidate.is_file() {
            continue;
        }
        match access(&candidate, Access::EXEC_OK) {
            Ok(()) => return Ok(candidate),
            Err(_) => unusable = unusable.or(Some(candidate)),
        }
    }
    let name = name.to_string_lossy();
    Err(match unusable {
        Some(found) => {
            let why = format!("`{}` is not executable", found.display());
            SandboxStepError::new(STEP, why)
        }
        None => {
            let path = path.to_string_lossy();
            SandboxStepError::new(
                STEP,
                format!("`{name}` was not found inside (PATH is `{path}`)"),
            )
        }
    })
}

/// Explains the system's error for this file.
fn explain(program: &Path, cause: &io::Error) -> SandboxStepError {
    let shown = program.display();
    let why = match cause.raw_os_error() {
        Some(libc::ENOENT) if program.exists() => match interpreter(program) {
            Some(interpreter) => {
                let interpreter = interpreter.display();
                format!(
                    "`{shown}` needs the interpreter `{interpreter}`, which is not there inside"
                )
            }
            None => format!("`{shown}` needs a loader that is not there inside"),
        },
        Some(libc::ENOENT) => format!("`{shown}` was not found inside"),
        Some(libc::ENOEXEC) => {
            format!("`{shown}` is neither a program for this machine nor a script with `#!`")
        }
        Some(libc::EACCES) if program.is_dir() => format!("`{shown}` is a folder"),
        Some(libc::EACCES) => format!("`{shown}` is not executable"),
        Some(libc::E2BIG) => "the arguments and the environment are too long together".to_owned(),
        _ => format!("`{shown}` could not be started: {cause}"),
    };
    SandboxStepError::new(STEP, why)
}

/// Returns the interpreter named in the first line of a script.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut start = Vec::new();
    let file = std::fs::File::open(script).ok()?;
    file.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    Some(PathBuf::from(OsString::from_vec(words.next()?.to_vec())))
}
