//! `artel sandbox`

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use artel_types::parse_span;
use artel_workshop::{CommandContext, SandboxedCommand, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::screen::CliOutput;

/// Run something in the sandbox that agents' commands run in
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel sandbox run -- cargo test")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Run a command in the sandbox
    ///
    /// It sees programs and their toolchains, none of your own files except those you name,
    /// and no network. It starts in the current folder if that is visible, otherwise in the
    /// root. The exit code is the command's; 3 if the sandbox does not reach the required
    /// level, 124 if the time ran out.
    #[command(after_help = "Example: artel sandbox run --write . -- make test\n\
        Example: artel sandbox run --net pypi.org --timeout 5m -- pip download requests")]
    Run(SandboxRunArgs),
}

#[derive(Debug, clap::Args)]
struct SandboxRunArgs {
    /// A folder that it can read and write
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// A host that it can reach, such as example.com, example.com:8443 or 127.0.0.1:5432
    #[arg(long, value_name = "HOST[:PORT]")]
    net: Vec<String>,
    /// How much memory it may use, such as 512M or 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// How long it may take, such as 500ms, 10s or 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
    /// The command
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let Command::Run(run) = &args.command;
    let done = caller.sandbox_run(&SandboxedCommand {
        argv: run.command.clone(),
        write: run.write.clone(),
        net: run.net.clone(),
        memory: run.memory,
        timeout: run.timeout,
    })?;
    if let Some(note) = done.note {
        screen.notes(&[note]);
    }
    if screen.json {
        // The output of the command was printed before this.
        screen.value(&serde_json::json!({ "exit": done.code }))?;
    }
    Ok(CliCommandOutcome::Exit(done.code))
}

fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size such as 512M or 2G");
    let end = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let number: u64 = text[..end].parse().map_err(|_| wrong())?;
    let shift = match text[end..].to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        _ => return Err(wrong()),
    };
    let size = number.checked_mul(1 << shift).ok_or_else(wrong)?;
    if size < 1 << 20 {
        return Err(format!(
            "`{text}` is too little to start anything; at least 1M"
        ));
    }
    Ok(size)
}

fn time(text: &str) -> Result<Duration, String> {
    let time =
        parse_span(text).map_err(|_| format!("`{text}` is no time such as 500ms, 10s, 5m"))?;
    if time.is_zero() {
        return Err("a time of nothing lets nothing run".to_owned());
    }
    Ok(time)
}
