//! The part of the journal that a long-lived process keeps open: one reader and one writer
//! for all, and the results of recent reads while nothing is written.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_journal::{Journal, JournalOptions, JournalReader, JournalVersion, LeaseInfo};
use artel_types::{Failure, RunId, WorkshopId};

use crate::runs::TimelineRecordScan;

/// Maximum number of long timelines that are kept, the most recently used ones.
const STORIES: usize = 8;

/// Names a timeline: the trace, and a run in it if only that run is meant.
pub(crate) type StoryKey = (String, Option<RunId>);

/// An open journal, with the latest results read from it.
#[derive(Debug)]
pub(crate) struct OpenJournalCache {
    journal: Journal,
    pub(crate) reader: Arc<JournalReader>,
    /// The journal version at which its end was verified to be present.
    whole: Mutex<Option<JournalVersion>>,
    leases: Mutex<Option<(JournalVersion, Arc<[LeaseInfo]>)>>,
    stories: Mutex<Vec<(StoryKey, JournalVersion, TimelineRecordScan)>>,
}

impl OpenJournalCache {
    pub(crate) fn of(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            reader: journal.shared_reader(),
            whole: Mutex::default(),
            leases: Mutex::default(),
            stories: Mutex::default(),
        }
    }

    /// Returns the open journal for a writer with these options.
    pub(crate) fn journal(&self, options: &JournalOptions) -> Option<Journal> {
        self.journal.shared_with(options.clone())
    }

    /// Refuses a journal whose end is missing. Checks again only after something was written.
    pub(crate) fn refuse_cut(&self, workshop: WorkshopId) -> Result<(), Failure> {
        let now = self.reader.sight()?;
        if *lock(&self.whole) == Some(now) {
            return Ok(());
        }
        self.reader.refuse_cut(workshop)?;
        *lock(&self.whole) = Some(now);
        Ok(())
    }

    pub(crate) fn leases(&self) -> Result<Arc<[LeaseInfo]>, Failure> {
        let now = self.reader.sight()?;
        if let Some((seen, leases)) = &*lock(&self.leases)
            && *seen == now
        {
            return Ok(Arc::clone(leases));
        }
        let leases: Arc<[LeaseInfo]> = self.reader.leases()?.into();
        *lock(&self.leases) = Some((now, Arc::clone(&leases)));
        Ok(leases)
    }

    /// Takes the stored scan of a long timeline, if there is one. A caller that continues the
    /// scan puts it back. After a restore of the journal, all stored scans are discarded.
    pub(crate) fn take_story(
        &self,
        key: &StoryKey,
        now: JournalVersion,
    ) -> Option<TimelineRecordScan> {
        let mut stories = lock(&self.stories);
        stories.retain(|(_, seen, _)| now.is_same_file_as(seen));
        let at = stories.iter().position(|(kept, _, _)| kept == key)?;
        Some(stories.remove(at).2)
    }

    /// Stores the scan of a long timeline, with the journal version at which the scan began.
    pub(crate) fn keep_story(
        &self,
        key: StoryKey,
        now: JournalVersion,
        finding: TimelineRecordScan,
    ) {
        let mut stories = lock(&self.stories);
        stories.retain(|(kept, _, _)| *kept != key);
        stories.push((key, now, finding));
        let over = stories.len().saturating_sub(STORIES);
        stories.drain(..over);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
