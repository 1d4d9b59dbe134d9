//! The memory of a run between calls, as it is stored in the journal. A process that takes
//! over knows everything that the previous one knew.

use serde::{Deserialize, Serialize};

use crate::notes::RunNotes;
use crate::seen::ModelKnownFileUpdate;
use crate::{ToolContext, ToolError, ToolErrorKind};

/// The changes made by one call.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct RunMemoryChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<RunNotes>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    seen: Vec<ModelKnownFileUpdate>,
}

impl ToolContext {
    /// Returns the changes to the run's memory since the last call of this function, as JSON,
    /// or `None` without any.
    pub fn news(&self) -> Option<String> {
        let change = RunMemoryChange {
            notes: self.changed_notes(),
            seen: self.seen().news(),
        };
        if change.notes.is_none() && change.seen.is_empty() {
            return None;
        }
        serde_json::to_string(&change).ok()
    }

    /// Restores a change that was recorded before.
    pub fn recall(&self, news: &str) -> Result<(), ToolError> {
        let change: RunMemoryChange = serde_json::from_str(news).map_err(|error| {
            let what = format!("what the run remembered cannot be read: {error}");
            ToolError::new(ToolErrorKind::Machine, what)
        })?;
        self.seen().learn(change.seen);
        if let Some(notes) = change.notes {
            *self.notes() = notes;
            // Notes that come from the journal need not be recorded again.
            drop(self.changed_notes());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use artel_files::RootFolder;
    use artel_policy::{FileTarget, TargetTree};

    use crate::seen::ModelFileFreshness;
    use crate::{NoGuard, TodoTask, TodoTaskState, ToolContext};

    #[test]
    fn what_one_process_knew_the_next_one_knows() {
        let folder = tempfile::tempdir().unwrap();
        let bench = || {
            let tree = RootFolder::open(folder.path()).unwrap();
            ToolContext::new(tree, Arc::new(NoGuard), "default")
        };
        let file = FileTarget {
            place: TargetTree::Worktree,
            path: "a".to_owned(),
        };
        let (one, two) = (bench(), bench());
        assert_eq!(one.news(), None);
        one.seen().send(&file, b"text", (1, 10), Some("latin1"));
        one.notes().cwd = "src".to_owned();
        one.notes().todo.push(TodoTask {
            text: "it".to_owned(),
            state: TodoTaskState::Pending,
        });
        let news = one.news().unwrap();
        assert_eq!(one.news(), None, "told once");
        two.recall(&news).unwrap();
        assert_eq!(two.news(), None, "known already");
        assert_eq!(
            two.seen().standing(&file, b"text"),
            ModelFileFreshness::Same
        );
        assert_eq!(two.seen().encoding(&file), Some("latin1"));
        assert_eq!(*two.notes(), *one.notes());
        one.seen().forget(&file);
        two.recall(&one.news().unwrap()).unwrap();
        assert_eq!(
            two.seen().standing(&file, b"text"),
            ModelFileFreshness::Unread
        );
        assert!(two.recall("{").is_err());
    }
}
