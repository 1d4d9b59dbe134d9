//! Tracks what came of projects whose content stays on this machine. Reports and lessons
//! outlive their run, and may be shown only to runs whose content stays here too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use artel_journal::{EventFilter, EventQuery, JournalReader};
use artel_types::model::PrivacyLabel;
use artel_types::{Fact, Failure, RunId, TraceId};

use super::{Portal, label_of};

/// The last label of every folder that ever was a portal. A closed portal keeps its label,
/// because its reports and lessons still exist.
pub(crate) struct PortalPrivacyLabels(Vec<Portal>);

impl PortalPrivacyLabels {
    pub(crate) fn read(reader: &JournalReader) -> Result<Self, Failure> {
        let filter = EventFilter {
            kind: Some("portal.opened".to_owned()),
            ..EventFilter::default()
        };
        let mut last = BTreeMap::new();
        for record in reader.records(&EventQuery::of(filter).few())? {
            if let Fact::PortalOpened(fact) = record.event()?.fact {
                last.insert(fact.path.clone(), Portal::from(fact));
            }
        }
        Ok(Self(last.into_values().collect()))
    }

    /// Returns whether the results of work on a folder stay on this machine.
    fn has(&self, folder: &Path) -> bool {
        label_of(folder, &self.0) == PrivacyLabel::LocalOnly
    }

    fn is_empty(&self) -> bool {
        let mut labels = self.0.iter().map(Portal::privacy);
        labels.all(|label| label == PrivacyLabel::Any)
    }

    /// Returns the pieces of work whose content must not leave this machine.
    pub(crate) fn works(&self, reader: &JournalReader) -> Result<BTreeSet<TraceId>, Failure> {
        let mut works = BTreeSet::new();
        if self.is_empty() {
            return Ok(works);
        }
        let filter = EventFilter {
            kind: Some("request.created".to_owned()),
            ..EventFilter::default()
        };
        for record in reader.records(&EventQuery::of(filter))? {
            let event = record.event()?;
            if let Fact::RequestCreated(request) = &event.fact
                && self.has(Path::new(&request.folder))
            {
                works.insert(event.trace);
            }
        }
        Ok(works)
    }

    /// Returns whether the content of a run must not leave this machine. An unknown run counts
    /// as local-only if there is any local-only portal.
    pub(crate) fn has_run(&self, reader: &JournalReader, run: RunId) -> Result<bool, Failure> {
        if self.is_empty() {
            return Ok(false);
        }
        let filter = EventFilter {
            run: Some(run.to_string()),
            kind: Some("run.started".to_owned()),
            ..EventFilter::default()
        };
        for record in reader.records(&EventQuery::of(filter).few())? {
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
        let labels = PortalPrivacyLabels(vec![
            portal("home", "/home", PrivacyLabel::LocalOnly),
            portal("open", "/home/open", PrivacyLabel::Any),
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
        assert!(!labels.is_empty() && PortalPrivacyLabels(Vec::new()).is_empty());
    }
}
