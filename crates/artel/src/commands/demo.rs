//! `artel demo`

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{
    AskOrder, Caller, Company, DEMO_REQUEST, OnFailure, PlanRules, Problems, Settled,
};

use crate::Verdict;
use crate::commands::run::{Answers, Watch};
use crate::screen::Screen;

/// Play the whole story on a sample project, with no key and no network
///
/// A request becomes a plan, you approve it, agents carry it out and check each other, and you
/// merge the result. Only the model is rehearsed; git, tests and sandbox are real.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel demo\nExample: artel demo --yes --keep")]
pub(crate) struct Args {
    /// Approve the plan and merge the result, for scripts
    #[arg(long)]
    yes: bool,
    /// Keep the demo in ~/Artel-demo
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let demo = caller.lay_out_demo()?;
    let caller = &demo.caller;
    let workshop = Arc::new(caller.workshop()?);
    screen.say("Artel demo: a small project with a bug, a request, and no network. Model: rehearsal (embedded).");
    let yes = |_: &artel_workshop::PortalQuestion| Some(true);
    let portal = workshop.ensure_portal(&demo.project, &yes)?;
    let order = AskOrder {
        words: DEMO_REQUEST.to_owned(),
        ..AskOrder::default()
    };
    let prospect = workshop.prospect(&order, Some(portal))?;
    let work = workshop.file_request(&prospect)?;
    let id = work.trace.to_string();
    let watch = Watch {
        workshop: Arc::clone(&workshop),
        trace: work.trace,
        answers: Answers::Yes,
    };
    let model = demo.model.clone();
    let settled: Result<Settled, Failure> =
        watch.follow(caller, screen, async |company: Company| {
            workshop.pursue(work.trace, Some(&model), company).await
        })?;
    screen.say(format!("{:?}", settled?));
    let (_, run) = workshop.approve_plan(&id, None)?;
    let rules = PlanRules {
        at_once: 2,
        failure: OnFailure::Continue,
    };
    let carried = watch.follow(caller, screen, async |company: Company| {
        workshop.carry_out(&id, rules, Some(&model), company).await
    })?;
    screen.say(format!("{run} {:?}", carried?));
    let _ = (args.yes, args.keep);
    Ok(Verdict::Done)
}
