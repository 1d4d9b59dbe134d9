//! Runs a checking program in the sandbox: with the memory that a build needs, a timeout
//! of minutes, and without colours.

use std::path::Path;
use std::time::Duration;

use artel_rules::patience;
use artel_sandbox::SandboxLimits;
use serde_json::Value;

use super::project::ProgramSearchPath;
use crate::process::{self, ToolProcessSpec};
use crate::{ToolContext, ToolError};

/// Shortest timeout of a check.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// Number of bytes read of each stream; of a longer stream, the beginning and the end are
/// read.
const MOST_READ: u64 = 4 * 1024 * 1024;

/// The exit code and output of a program.
pub(crate) struct CheckProgramOutput {
    pub(crate) exit: i64,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The output as a model would see it.
    pub(crate) excerpt: String,
    /// The facts about the sandbox and the output.
    pub(crate) data: Value,
}

/// Returns the folders in which programs are looked up, from the sandbox's environment.
pub(crate) fn programs(bench: &ToolContext) -> Result<ProgramSearchPath, ToolError> {
    let room = process::workroom(bench)?;
    let pairs = room.environment.iter();
    Ok(ProgramSearchPath::of(pairs.map(|(name, value)| {
        (name.as_os_str(), value.as_os_str())
    })))
}

/// Runs a command in a folder of the tree.
pub(crate) fn run(
    bench: &ToolContext,
    words: &[String],
    folder: &str,
) -> Result<CheckProgramOutput, ToolError> {
    let room = process::workroom(bench)?;
    let known = patience::CommandTimeLimits::of_command(words).base;
    let order = ToolProcessSpec {
        words: words.to_vec(),
        cwd: if folder.is_empty() { "." } else { folder }.to_owned(),
        timeout: Some(known.max(PATIENCE)),
        environment: variables(),
        limits: Some(SandboxLimits {
            memory: half_the_memory().unwrap_or(room.limits.memory),
            ..room.limits
        }),
        ..ToolProcessSpec::default()
    };
    let observed = process::run(bench, order)?;
    let stream = |name: &str| {
        let path = observed
            .data
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default();
        read_stream(Path::new(path))
    };
    Ok(CheckProgramOutput {
        exit: observed
            .data
            .get("exit")
            .and_then(Value::as_i64)
            .unwrap_or(-1),
        stdout: stream("stdout"),
        stderr: stream("stderr"),
        excerpt: observed.text,
        data: observed.data,
    })
}

/// Variables that turn off colours, questions, watch modes and installations.
fn variables() -> Vec<(String, String)> {
    let pairs = [
        ("CI", "true"),
        ("NO_COLOR", "1"),
        ("CARGO_TERM_COLOR", "never"),
        ("PY_COLORS", "0"),
        ("npm_config_yes", "false"),
        ("npm_config_update_notifier", "false"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ];
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// Reads a spooled stream: all of it, or its beginning and its end.
fn read_stream(path: &Path) -> String {
    use std::os::unix::fs::FileExt as _;
    let Ok(file) = std::fs::File::open(path) else {
        return String::new();
    };
    let length = file.metadata().map(|about| about.len()).unwrap_or(0);
    let piece = |from: u64, most: u64| {
        let mut bytes = vec![0; usize::try_from(most).unwrap_or(0)];
        let mut count = 0;
        while count < bytes.len() {
            match file.read_at(&mut bytes[count..], from + count as u64) {
                Ok(0) | Err(_) => break,
                Ok(more) => count += more,
            }
        }
        bytes.truncate(count);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    if length <= MOST_READ {
        return piece(0, length);
    }
    let half = MOST_READ / 2;
    format!("{}\n{}", piece(0, half), piece(length - half, half))
}

/// Returns half of the machine's memory in bytes, or `None` if the kernel does not report
/// it.
fn half_the_memory() -> Option<u64> {
    let text = artel_files::read_bounded(Path::new("/proc/meminfo"), 64 * 1024).ok()?;
    let text = String::from_utf8(text).ok()?;
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024 / 2)
}
