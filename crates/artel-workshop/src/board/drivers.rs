//! Who is at work on what, told by leases.

use std::collections::BTreeMap;

use artel_journal::{LeaseInfo, Reader};
use artel_types::{Failure, RunId, Timestamp, TraceId};

use crate::workshop::Workshop;

/// The processes that are at work now, each by what it calls itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Drivers {
    runs: BTreeMap<RunId, String>,
    works: BTreeMap<TraceId, String>,
}

impl Workshop {
    /// Returns who drives which run and who is taking which piece of work on.
    pub fn drivers_now(&self) -> Result<Drivers, Failure> {
        let now = self.caller.clock.now();
        match &self.kept {
            Some(kept) => Ok(Drivers::of(&kept.leases()?, now)),
            None => Drivers::read(&*self.reader()?, now),
        }
    }
}

impl Drivers {
    pub(crate) fn read(reader: &Reader, now: Timestamp) -> Result<Self, Failure> {
        Ok(Self::of(&reader.leases()?, now))
    }

    /// A lease that has run out, or whose process has ended, is nobody's.
    fn of(leases: &[LeaseInfo], now: Timestamp) -> Self {
        let mut drivers = Self::default();
        for lease in leases.iter().filter(|lease| lease.expires > now) {
            let Some(owner) = lease.owner.as_ref().filter(|owner| !owner.is_dead()) else {
                continue;
            };
            let owner = owner.to_string();
            match lease.name.split_once('/') {
                Some(("run", id)) => id.parse().ok().map(|run| drivers.runs.insert(run, owner)),
                Some(("work", id)) => id.parse().ok().map(|it| drivers.works.insert(it, owner)),
                _ => None,
            };
        }
        drivers
    }

    /// Returns the process that drives a run.
    pub fn run(&self, run: RunId) -> Option<&str> {
        self.runs.get(&run).map(String::as_str)
    }

    /// Returns the process that takes a piece of work on.
    pub fn work(&self, trace: TraceId) -> Option<&str> {
        self.works.get(&trace).map(String::as_str)
    }

    /// Returns every run that is driven, with by whom.
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
