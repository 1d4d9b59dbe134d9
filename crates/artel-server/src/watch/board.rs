//! Keeps the dashboard file current: it is written shortly after an event that it shows.

use std::sync::Arc;
use std::time::Duration;

use artel_journal::EventFilter;
use artel_workshop::DashboardOverview;
use tokio::time::Instant;

use crate::desk::ServerState;
use crate::keeper::blocking;

/// Delay before the page is written after an event; also limits how often it is written.
const SOON: Duration = Duration::from_secs(1);

/// After writing the page, how many times as long as that took to wait before the next
/// event.
const SHARE: u32 = 20;

/// Writes the page at the start and whenever what it shows may have changed.
pub(super) async fn keep_current(desk: Arc<ServerState>) {
    loop {
        // Events after this one may not be on the page.
        let head = desk.reader().head().unwrap_or(0);
        let begun = Instant::now();
        let here = Arc::clone(&desk);
        let written = blocking(move || {
            let overview = here.glance(DashboardOverview::of)?;
            here.workshop().write_dashboard(&overview)
        });
        if let Err(failure) = written.await {
            (desk.says)(&format!("the dashboard is not current: {failure}"));
        }
        tokio::time::sleep(begun.elapsed().saturating_mul(SHARE)).await;
        let mut events = desk.journal.subscribe(EventFilter::default(), head);
        loop {
            match events.next().await {
                Ok(record) if is_shown(&record.kind) => break,
                Ok(_) => {}
                Err(_) => return,
            }
        }
        tokio::time::sleep(SOON).await;
    }
}

/// Returns whether an event of this kind may change the page.
fn is_shown(kind: &str) -> bool {
    let kinds = [
        "request.",
        "plan.",
        "changeset.",
        "report.",
        "run.asked",
        "run.answered",
        "run.finished",
        "run.steered",
        "tool.asked",
        "tool.answered",
    ];
    kinds.iter().any(|it| kind.starts_with(it))
}
