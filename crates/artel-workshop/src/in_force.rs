//! What is in force in a process that stays: a file that is changed and wrong leaves in force what
//! it said before.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_config::Settings;
use artel_policy::Grant;
use artel_policy::rules::RuleSet;
use artel_skills::Skill;

use crate::hands::Role;

/// What was right when it was last read, by its file. A command that begins and ends remembers
/// nothing: for it, what is wrong is wrong.
#[derive(Debug, Clone, Default)]
pub(crate) struct InForce(Option<Arc<Parts>>);

#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) settings: Part<Settings>,
    /// With the text that they were read from.
    pub(crate) roles: Part<(String, Role)>,
    pub(crate) grants: Part<Vec<Grant>>,
    pub(crate) rules: Part<RuleSet>,
    pub(crate) skills: Part<Skill>,
}

/// Things of one sort.
#[derive(Debug)]
pub(crate) struct Part<T>(Mutex<HashMap<PathBuf, T>>);

impl InForce {
    /// Remembers from now on, if it does not already.
    #[must_use]
    pub(crate) fn remembering(&self) -> Self {
        Self(Some(self.0.clone().unwrap_or_default()))
    }

    /// Returns what is remembered, where something is.
    pub(crate) fn parts(&self) -> Option<&Parts> {
        self.0.as_deref()
    }

    /// Returns what was read where it is right, else what was in force before.
    pub(crate) fn keep<T: Clone, E>(
        &self,
        of: impl FnOnce(&Parts) -> &Part<T>,
        file: &Path,
        read: Result<T, E>,
    ) -> Result<T, E> {
        match &self.0 {
            Some(parts) => of(parts).keep(file, read),
            None => read,
        }
    }
}

impl<T: Clone> Part<T> {
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

impl<T> Default for Part<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}
