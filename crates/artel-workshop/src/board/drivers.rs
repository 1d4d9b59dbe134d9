//! Which process drives which run or piece of work, read from the leases.

use std::collections::BTreeMap;

use artel_journal::{JournalReader, LeaseInfo, LeaseOwner};
use artel_types::{Failure, RunId, Timestamp, TraceId};

use crate::workshop::Workshop;

/// The processes at work now, each by its own description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DriverProcesses {
    runs: BTreeMap<RunId, String>,
    works: BTreeMap<TraceId, String>,
}

impl Workshop {
    /// Returns which process drives each run, and which has taken up each piece of work.
    pub fn drivers_now(&self) -> Result<DriverProcesses, Failure> {
        let now = self.caller.clock.now();
        match &self.kept {
            Some(kept) => Ok(DriverProcesses::of(&kept.leases()?, now)),
            None => DriverProcesses::read(&*self.reader()?, now),
        }
    }
}

impl DriverProcesses {
    pub(crate) fn read(reader: &JournalReader, now: Timestamp) -> Result<Self, Failure> {
        Ok(Self::of(&reader.leases()?, now))
    }

    /// Ignores a lease that has expired or whose process has ended.
    fn of(leases: &[LeaseInfo], now: Timestamp) -> Self {
        let mut drivers = Self::default();
        // Asking the system whether a process is alive costs time, so each process is asked about
        // once.
        let mut asked: Vec<(&LeaseOwner, Option<String>)> = Vec::new();
        for lease in leases.iter().filter(|lease| lease.expires > now) {
            let Some(owner) = &lease.owner else { continue };
            let known = asked.iter().position(|(known, _)| *known == owner);
            let at = known.unwrap_or_else(|| {
                asked.push((owner, (!owner.is_dead()).then(|| owner.to_string())));
                asked.len() - 1
            });
            let Some(name) = &asked[at].1 else { continue };
            match lease.name.split_once('/') {
                Some(("run", id)) => {
                    let run = id.parse().ok();
                    run.map(|run| drivers.runs.insert(run, name.clone()))
                }
                Some(("work", id)) => {
                    let trace = id.parse().ok();
                    trace.map(|trace| drivers.works.insert(trace, name.clone()))
                }
                _ => None,
            };
        }
        drivers
    }

    /// Returns the process that drives a run.
    pub fn run(&self, run: RunId) -> Option<&str> {
        self.runs.get(&run).map(String::as_str)
    }

    /// Returns the process that has taken up a piece of work.
    pub fn work(&self, trace: TraceId) -> Option<&str> {
        self.works.get(&trace).map(String::as_str)
    }

    /// Returns every run that is driven, with the process that drives it.
    pub fn runs(&self) -> impl Iterator<Item = (RunId, &str)> {
        self.runs.iter().map(|(run, owner)| (*run, owner.as_str()))
    }

    #[cfg(test)]
    pub(super) fn with_run(mut self, run: RunId) -> Self {
        self.runs.insert(run, "artel run (process 7)".to_owned());
        self
    }

    #[cfg(test)]
    pub(super) fn with_work(mut self, trace: TraceId) -> Self {
        self.works.insert(trace, "artel ask (process 7)".to_owned());
        self
    }
}
