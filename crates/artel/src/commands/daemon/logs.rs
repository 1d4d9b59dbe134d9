//! What the daemon said while nobody looked.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use artel_workshop::{Problems, Workshop};

use crate::Verdict;
use crate::render::harmless;
use crate::runtime;
use crate::screen::Screen;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How many lines
    #[arg(long, value_name = "N", default_value_t = 50)]
    lines: usize,
    /// Go on showing what comes, until Ctrl-C
    #[arg(long)]
    follow: bool,
}

/// How much of a long log is looked at for its last lines.
const MOST: u64 = 1024 * 1024;

/// How often there is a look for more.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(
    args: &Args,
    workshop: &Workshop,
    screen: &mut Screen,
) -> Result<Verdict, Problems> {
    let log = workshop.daemon_log();
    let mut position = length(&log);
    let text = since(&log, position.saturating_sub(MOST));
    let lines: Vec<&str> = text.lines().collect();
    if lines.is_empty() && !args.follow {
        screen.say("the daemon has said nothing yet");
    }
    for line in &lines[lines.len().saturating_sub(args.lines)..] {
        show(line, screen)?;
    }
    if !args.follow {
        return Ok(Verdict::Done);
    }
    // Until Ctrl-C, which ends the waiting.
    loop {
        screen.flush()?;
        runtime::block_on(async { tokio::time::sleep(LOOK).await })?;
        // A log that is shorter than it was is another one.
        if length(&log) < position {
            position = 0;
        }
        let bytes = bytes_since(&log, position);
        // A line that is not whole yet is shown when it is.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = &bytes[..whole.map_or(0, |at| at + 1)];
        position += whole.len() as u64;
        for line in String::from_utf8_lossy(whole).lines() {
            show(line, screen)?;
        }
    }
}

fn show(line: &str, screen: &mut Screen) -> Result<(), Problems> {
    match screen.json {
        true => screen.value(&serde_json::json!({ "line": line })),
        false => screen.line(harmless(line)),
    }
}

/// Returns how long a log is; one that is not there is empty.
pub(super) fn length(log: &Path) -> u64 {
    std::fs::metadata(log).map_or(0, |about| about.len())
}

/// Returns what a log says from a place on.
pub(super) fn since(log: &Path, position: u64) -> String {
    String::from_utf8_lossy(&bytes_since(log, position)).into_owned()
}

fn bytes_since(log: &Path, position: u64) -> Vec<u8> {
    let read = || {
        let mut file = File::open(log)?;
        file.seek(SeekFrom::Start(position))?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    // A log that is not there says nothing.
    read().unwrap_or_default()
}
