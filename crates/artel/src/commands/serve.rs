//! `artel serve`

use std::sync::Arc;

use artel_server::{DaemonOptions, ListenAddress, ListenAddressSource, ListenReach};
use artel_workshop::{CommandContext, OutcomeWithNotes, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::runtime;
use crate::screen::CliOutput;

/// Run the daemon in this terminal: scheduler, inbox, console and API
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: artel serve --listen 127.0.0.1:7717, then `artel open` in another terminal"
)]
pub(crate) struct Args {
    /// The address to listen on, instead of `server.listen`; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Also listen where others can reach it; put a proxy with TLS in front of it
    #[arg(long)]
    public: bool,
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let OutcomeWithNotes {
        done: workshop,
        notes,
    } = caller.workshop_or_new()?;
    screen.notes(&notes);
    let reach = if args.public {
        ListenReach::Public
    } else {
        ListenReach::Loopback
    };
    let listen = &workshop.settings.server.listen.value;
    let listen = args.listen.as_ref().unwrap_or(listen);
    let address = ListenAddress::parse(listen, reach)?;
    let jotter = workshop.daemon_jotter();
    let tell = screen.teller_beside(move |line| jotter.write(line));
    let clock = caller.clock().clone();
    let says: artel_server::DaemonMessageSink =
        Arc::new(move |text: &str| tell(&format!("{} {text}", clock.now())));
    let tell = Arc::clone(&says);
    caller.room().told_by(move |text| tell(text));
    let said = match args.listen {
        Some(_) => ListenAddressSource::AtStart,
        None => ListenAddressSource::BySettings,
    };
    let options = DaemonOptions {
        address,
        said,
        says,
    };
    screen.say(format!(
        "artel {} starts for {}",
        env!("CARGO_PKG_VERSION"),
        workshop.root().display()
    ));
    runtime::block_on_serving(|stop, reload| {
        artel_server::serve(Arc::new(workshop), options, stop, reload)
    })??;
    screen.say("stopped");
    Ok(CliCommandOutcome::Done)
}
