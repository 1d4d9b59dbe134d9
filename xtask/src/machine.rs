//! Describes the machine and commit of a measurement; without them a figure means nothing
//! later.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use artel_types::Timestamp;

use crate::process;

/// Returns the lines printed above a table of figures.
pub(crate) fn describe() -> String {
    format!(
        "date {}, commit {}\ncpu {}, {} cores",
        date(),
        commit(),
        cpu(),
        cores()
    )
}

fn date() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let now = Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or_default());
    now.to_string().chars().take("2026-11-15".len()).collect()
}

fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git")
            .args(args)
            .current_dir(process::root())
            .output()
            .ok()?;
        let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        output.status.success().then_some(text)
    };
    match (
        git(&["rev-parse", "--short", "HEAD"]),
        git(&["status", "--porcelain"]),
    ) {
        (Some(commit), Some(changes)) if changes.is_empty() => commit,
        (Some(commit), _) => format!("{commit} with changes"),
        (None, _) => "none".to_owned(),
    }
}

fn cpu() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
