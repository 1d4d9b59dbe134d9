//! Shows a piece of work while it is in progress.

use artel_types::{Failure, TraceId};
use artel_workshop::{RunObservers, WorkshopFailures};

use super::planned::PlanSession;
use super::run::WatchedRun;
use super::story::laid_out;

/// Runs `work` for a trace and shows what happens meanwhile. The end of its first run is
/// shown last.
pub(crate) fn follow<T>(
    bench: &mut PlanSession<'_>,
    trace: TraceId,
    work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
) -> Result<T, WorkshopFailures> {
    let (desk, caller) = (bench.desk(), bench.caller);
    let screen = &mut *bench.screen;
    let (done, ending) = desk.attend(caller, screen, trace, WatchedRun::New, work)?;
    if !screen.json {
        for line in &ending {
            let text = laid_out(line, |sign, paint| screen.paint_told(sign, paint));
            screen.say(text);
        }
    }
    Ok(done)
}
