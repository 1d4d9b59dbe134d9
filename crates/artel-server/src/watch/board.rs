//! The dashboard, kept current: written a moment after something happened that it shows.

use std::sync::Arc;
use std::time::Duration;

use artel_journal::Filter;
use artel_workshop::Overview;
use tokio::time::Instant;

use crate::desk::Desk;
use crate::keeper::blocking;

/// How soon the page shows what happened, and how seldom it is written.
const SOON: Duration = Duration::from_secs(1);

/// The page takes at most this share of the time, also where there is much to tell.
const SHARE: u32 = 20;

/// Writes the page at the start and whenever what it shows may have changed.
pub(super) async fn keep_current(desk: Arc<Desk>) {
    loop {
        // What happens from here on may not be on the page.
        let head = desk.reader().head().unwrap_or(0);
        let begun = Instant::now();
        let here = Arc::clone(&desk);
        let written = blocking(move || {
            let overview = here.glance(Overview::of)?;
            here.workshop().write_dashboard(&overview)
        });
        if let Err(failure) = written.await {
            (desk.says)(&format!("the dashboard is not current: {failure}"));
        }
        tokio::time::sleep(begun.elapsed().saturating_mul(SHARE)).await;
        let mut events = desk.journal.subscribe(Filter::default(), head);
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

/// Tells whether the page may be another one after an event of this kind.
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
