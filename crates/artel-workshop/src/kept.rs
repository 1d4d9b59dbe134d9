//! What a process that stays keeps of the journal: one reader for all who look, one writer for all
//! who write, and what was read last for as long as nobody does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_journal::{Journal, LeaseInfo, Options, Reader, Sight};
use artel_types::{Failure, RunId, WorkshopId};

use crate::runs::Finding;

/// So many long stories are kept, those that were looked at last.
const STORIES: usize = 8;

/// Which story: the trace, and the run in it if one is meant.
pub(crate) type StoryKey = (String, Option<RunId>);

/// A journal that is open anyway, with what was found in it last.
#[derive(Debug)]
pub(crate) struct Kept {
    journal: Journal,
    pub(crate) reader: Arc<Reader>,
    /// When its end was found to be there.
    whole: Mutex<Option<Sight>>,
    leases: Mutex<Option<(Sight, Arc<[LeaseInfo]>)>>,
    stories: Mutex<Vec<(StoryKey, Sight, Finding)>>,
}

impl Kept {
    pub(crate) fn of(journal: &Journal) -> Self {
        Self {
            journal: journal.clone(),
            reader: journal.shared_reader(),
            whole: Mutex::default(),
            leases: Mutex::default(),
            stories: Mutex::default(),
        }
    }

    /// Returns the journal that is open anyway, for whoever writes with these options.
    pub(crate) fn journal(&self, options: &Options) -> Option<Journal> {
        self.journal.shared_with(options.clone())
    }

    /// Refuses a journal whose end is missing; looks again only after something was written.
    pub(crate) fn refuse_cut(&self, workshop: WorkshopId) -> Result<(), Failure> {
        let now = self.reader.sight()?;
        if *lock(&self.whole) == Some(now) {
            return Ok(());
        }
        self.reader.refuse_cut(workshop)?;
        *lock(&self.whole) = Some(now);
        Ok(())
    }

    /// Returns the leases there are.
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

    /// Takes out what was found of a long story when it was looked at before; whoever goes on with
    /// it puts it back. Of a journal that was restored since, nothing holds.
    pub(crate) fn take_story(&self, key: &StoryKey, now: Sight) -> Option<Finding> {
        let mut stories = lock(&self.stories);
        stories.retain(|(_, seen, _)| now.is_same_file_as(seen));
        let at = stories.iter().position(|(kept, _, _)| kept == key)?;
        Some(stories.remove(at).2)
    }

    /// Keeps what was found of a long story, and when it was begun to be looked for.
    pub(crate) fn keep_story(&self, key: StoryKey, now: Sight, finding: Finding) {
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
