//! `artel open`

use artel_types::{Failure, FailureCode};
use artel_workshop::{CommandContext, ViewerRole, WorkshopFailures};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::screen::CliOutput;

/// Print a link that opens the web console; it is valid for a minute and works once
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel open")]
pub(crate) struct Args {
    /// What you can see and do there: user, developer or admin
    #[arg(long, default_value = "admin", value_parser = super::token::role)]
    role: ViewerRole,
    /// The port that leads here on your browser's machine, if that is a different one (`ssh
    /// -L`)
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let Some(runs) = workshop.daemon_status()?.running else {
        return Err(Failure::new(FailureCode::H003, "no daemon serves this workshop")
            .advise(
                "`artel daemon start` starts it in the background, `artel serve` in this terminal",
            )
            .into());
    };
    let Some(console) = workshop.console_name()? else {
        return Err(Failure::new(
            FailureCode::H003,
            "the running daemon is from an older Artel",
        )
        .because("it does not know the host name that the console has now")
        .advise("run `artel daemon restart`, then `artel open`")
        .into());
    };
    let hosts = &workshop.settings.server.hosts.value;
    let bases = match args.port {
        Some(port) => vec![format!("http://{console}:{port}")],
        None => artel_server::console_bases(&console, &runs.listen, hosts),
    };
    let Some((base, others)) = bases.split_first() else {
        let what = format!("browsers cannot reach the console at {}", runs.listen);
        return Err(Failure::new(FailureCode::H011, what)
            .because("its name leads to 127.0.0.1 and [::1], and the server listens on neither")
            .advise("add the name of your proxy to `server.hosts`, or listen on 127.0.0.1:7717")
            .into());
    };
    let offer = workshop.offer_login(args.role)?;
    let link = |base: &String| format!("{base}/login?code={}", offer.code);
    if screen.json {
        let others: Vec<String> = others.iter().map(link).collect();
        screen.value(&json!({
            "url": link(base), "others": others, "role": args.role.as_str(), "until": offer.until,
        }))?;
    } else {
        screen.line(link(base))?;
        for other in others {
            screen.say(format!("or {}", link(other)));
        }
        screen.say("it holds for a minute and works once");
    }
    Ok(CliCommandOutcome::Done)
}
