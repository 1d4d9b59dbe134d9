//! Keeps the last valid content of configuration files in a long-lived process: when a
//! file is changed and becomes invalid, its previous content stays in force.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_config::Settings;
use artel_policy::Grant;
use artel_policy::rules::PolicyRuleSet;
use artel_skills::Skill;

use crate::hands::AgentRole;

/// The last valid content of each file. A short command remembers nothing and treats an
/// invalid file as an error.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastValidFiles(Option<Arc<LastValidFileMaps>>);

#[derive(Debug, Default)]
pub(crate) struct LastValidFileMaps {
    pub(crate) settings: LastValidFileMap<Settings>,
    /// Each role with the text that it was parsed from.
    pub(crate) roles: LastValidFileMap<(String, AgentRole)>,
    pub(crate) grants: LastValidFileMap<Vec<Grant>>,
    pub(crate) rules: LastValidFileMap<PolicyRuleSet>,
    pub(crate) skills: LastValidFileMap<Skill>,
}

/// The last valid content of one kind of file.
#[derive(Debug)]
pub(crate) struct LastValidFileMap<T>(Mutex<HashMap<PathBuf, T>>);

impl LastValidFiles {
    /// Returns a copy that remembers from now on, if it does not already.
    #[must_use]
    pub(crate) fn remembering(&self) -> Self {
        Self(Some(self.0.clone().unwrap_or_default()))
    }

    /// Returns the remembered content, or `None` if nothing is remembered.
    pub(crate) fn parts(&self) -> Option<&LastValidFileMaps> {
        self.0.as_deref()
    }

    /// Returns what was read if it is valid, otherwise the last valid content.
    pub(crate) fn keep<T: Clone, E>(
        &self,
        of: impl FnOnce(&LastValidFileMaps) -> &LastValidFileMap<T>,
        file: &Path,
        read: Result<T, E>,
    ) -> Result<T, E> {
        match &self.0 {
            Some(parts) => of(parts).keep(file, read),
            None => read,
        }
    }
}

impl<T: Clone> LastValidFileMap<T> {
    fn keep<E>(&self, file: &Path, read: Result<T, E>) -> Result<T, E> {
        match read {
            Ok(right) => {
                self.put(file, right.clone());
                Ok(right)
            }
            Err(wrong) => self.get(file).ok_or(wrong),
        }
    }

    pub(crate) fn put(&self, file: &Path, right: T) {
        self.locked().insert(file.to_owned(), right);
    }

    pub(crate) fn get(&self, file: &Path) -> Option<T> {
        self.locked().get(file).cloned()
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<PathBuf, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for LastValidFileMap<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
