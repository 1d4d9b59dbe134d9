//! The lease of a run: one process at a time drives it, and whoever comes second waits.

use std::time::Duration;

use artel_engine::ShutdownLevel;
use artel_journal::{LeaseFence, LeaseOwner};
use artel_types::{Failure, FailureCode, RunId, StreamName};

use super::house::RunEnvironment;
use super::start::LEASE;

/// How often there is a look whether a run that another process drives has become free.
const LOOK: Duration = Duration::from_millis(500);

impl RunEnvironment {
    /// Takes the lease of a run; refused while another process holds it.
    pub(crate) async fn lease(&self, run: RunId) -> Result<LeaseFence, Failure> {
        let daemon = self.workshop.daemon_status()?.running;
        let mut owner = LeaseOwner::this_process("artel run");
        if daemon.is_some_and(|it| it.pid == owner.pid) {
            owner.name = "artel serve".to_owned();
        }
        let name = StreamName::run(run).to_string();
        let lease = self.journal.take_lease(&name, owner, LEASE).await?;
        Ok(lease.fence)
    }

    /// Takes the lease of a run, after whoever holds it; nothing where the person does not want
    /// to wait any longer.
    pub(crate) async fn lease_in_turn(&self, run: RunId) -> Result<Option<LeaseFence>, Failure> {
        let mut stop = self.company.stop.clone();
        let mut holder = String::new();
        loop {
            let failure = match self.lease(run).await {
                Ok(fence) => return Ok(Some(fence)),
                Err(failure) if failure.code == FailureCode::J011 => failure,
                Err(failure) => return Err(failure),
            };
            if *stop.borrow() != ShutdownLevel::No {
                return Ok(None);
            }
            let (name, short) = (format!("`run/{run}`"), format!("run {}", run.short()));
            let what = failure.what.replace(&name, &short);
            // For how long it is held changes with every look; who holds it is news.
            let holds = what.split(" for another ").next().unwrap_or_default();
            if holds != holder {
                self.company.audience.waits(&what);
                holds.clone_into(&mut holder);
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                changed = stop.changed() => if changed.is_err() {
                    tokio::time::sleep(LOOK).await;
                },
            }
        }
    }
}
