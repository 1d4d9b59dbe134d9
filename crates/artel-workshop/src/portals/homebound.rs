//! What came of projects whose content stays on this machine: reports and lessons outlive the run
//! that they tell of, and are told only where nothing leaves it either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use artel_journal::{Filter, Query, Reader};
use artel_types::model::Privacy;
use artel_types::{Fact, Failure, RunId, TraceId};

use super::{Portal, label_of};

/// The last word on every folder that ever was a portal. One that was closed keeps its label: what
/// came of it is still there.
pub(crate) struct Homebound(Vec<Portal>);

impl Homebound {
    /// Reads the labels from a journal.
    pub(crate) fn read(reader: &Reader) -> Result<Self, Failure> {
        let filter = Filter {
            kind: Some("portal.opened".to_owned()),
            ..Filter::default()
        };
        let mut last = BTreeMap::new();
        for record in reader.records(&Query::of(filter).few())? {
            if let Fact::PortalOpened(fact) = record.event()?.fact {
                last.insert(fact.path.clone(), Portal::from(fact));
            }
        }
        Ok(Self(last.into_values().collect()))
    }

    /// Tells whether what comes of a folder stays here.
    fn has(&self, folder: &Path) -> bool {
        label_of(folder, &self.0) == Privacy::LocalOnly
    }

    fn is_empty(&self) -> bool {
        let mut labels = self.0.iter().map(Portal::privacy);
        labels.all(|label| label == Privacy::Any)
    }

    /// Returns the pieces of work of which nothing may leave.
    pub(crate) fn works(&self, reader: &Reader) -> Result<BTreeSet<TraceId>, Failure> {
        let mut works = BTreeSet::new();
        if self.is_empty() {
            return Ok(works);
        }
        let filter = Filter {
            kind: Some("request.created".to_owned()),
            ..Filter::default()
        };
        for record in reader.records(&Query::of(filter))? {
            let event = record.event()?;
            if let Fact::RequestCreated(request) = &event.fact
                && self.has(Path::new(&request.folder))
            {
                works.insert(event.trace);
            }
        }
        Ok(works)
    }

    /// Tells whether nothing of a run may leave. Of one that is not known any more nobody can say
    /// that it may, where there is anything that has to stay.
    pub(crate) fn has_run(&self, reader: &Reader, run: RunId) -> Result<bool, Failure> {
        if self.is_empty() {
            return Ok(false);
        }
        let filter = Filter {
            run: Some(run.to_string()),
            kind: Some("run.started".to_owned()),
            ..Filter::default()
        };
        for record in reader.records(&Query::of(filter).few())? {
            if let Fact::RunStarted(started) = record.event()?.fact {
                let folder = started.folder.as_deref().map(Path::new);
                return Ok(folder.is_none_or(|folder| self.has(folder)));
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_outlives_its_portal_and_counts_for_what_holds_it() {
        let portal = |name: &str, path: &str, privacy| Portal {
            name: name.to_owned(),
            path: path.into(),
            operations: Vec::new(),
            agents: Vec::new(),
            privacy,
            stack: Vec::new(),
            checks: Vec::new(),
        };
        let labels = Homebound(vec![
            portal("home", "/home", Privacy::LocalOnly),
            portal("open", "/home/open", Privacy::Any),
        ]);
        for (folder, stays) in [
            ("/home", true),
            ("/home/open", true),
            ("/home/x", true),
            ("/", true),
            ("/elsewhere", false),
        ] {
            assert_eq!(labels.has(Path::new(folder)), stays, "{folder}");
        }
        assert!(!labels.is_empty() && Homebound(Vec::new()).is_empty());
    }
}
