//! Facts about a run that affect the decisions about its calls: the untrusted content that
//! it read, and the secrets that its processes were given.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_policy::{PolicyAction, PolicyContext, TargetTree};
use artel_types::ForeignSource;

/// The untrusted content read and the secrets handed out in one piece of work. Clones
/// share them: a fact that one run learns counts at once for the runs that it calls and
/// for those that called it.
#[derive(Debug, Clone, Default)]
pub struct ContentMarks(Arc<Mutex<ContentMarkSets>>);

#[derive(Debug, Default)]
struct ContentMarkSets {
    foreign: Vec<ForeignSource>,
    held_secrets: Vec<String>,
}

impl ContentMarks {
    /// Records sources that were read, and returns the new ones.
    pub fn read(&self, sources: impl IntoIterator<Item = ForeignSource>) -> Vec<ForeignSource> {
        let mut marked = self.lock();
        let mut new = Vec::new();
        for source in sources {
            if !marked.foreign.contains(&source) {
                marked.foreign.push(source.clone());
                new.push(source);
            }
        }
        new
    }

    /// Records that a process was given a secret.
    pub fn handed_out(&self, secret: &str) {
        let mut marked = self.lock();
        if !marked.held_secrets.iter().any(|held| held == secret) {
            marked.held_secrets.push(secret.to_owned());
        }
    }

    /// Returns a situation with these marks.
    pub fn in_situation(&self, situation: &PolicyContext) -> PolicyContext {
        let marked = self.lock();
        PolicyContext {
            foreign: marked.foreign.clone(),
            held_secrets: marked.held_secrets.clone(),
            ..situation.clone()
        }
    }

    fn lock(&self) -> MutexGuard<'_, ContentMarkSets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the untrusted sources of a call: everything from another machine, and files of
/// portals other than the run's own.
pub(super) fn foreign_in<'a>(
    actions: &'a [PolicyAction],
    own_portal: Option<&'a str>,
) -> impl Iterator<Item = ForeignSource> + 'a {
    actions.iter().filter_map(move |action| match action {
        PolicyAction::Network(host) => Some(ForeignSource::host(host)),
        PolicyAction::Read(target) => match &target.place {
            TargetTree::Portal(name) if Some(name.as_str()) != own_portal => {
                Some(ForeignSource::file(format!("@{name}/{}", target.path)))
            }
            _ => None,
        },
        _ => None,
    })
}
