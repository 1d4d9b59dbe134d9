//! `artel resume`

use std::sync::Arc;

use artel_workshop::{Caller, Problems, Stop};
use tokio::sync::watch;

use super::run::{Answers, company, show};
use crate::Verdict;
use crate::runtime;
use crate::screen::Screen;

/// Go on with a run that was left, from its last event
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel resume 5d2f41c0")]
pub(crate) struct Args {
    /// The run's id, or how it begins
    run: String,
    /// Another model than the one it began with
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let workshop = Arc::new(caller.workshop()?);
    let run = workshop.run_named(&args.run)?;
    let (stop, stops) = watch::channel(Stop::No);
    let company = company(caller, screen, Answers::Ask, stops);
    let resumed = workshop.resume_run(run, args.model.as_deref(), company);
    let done = runtime::block_on_stoppable(resumed, &stop)??;
    show(&workshop, &done, screen)
}
