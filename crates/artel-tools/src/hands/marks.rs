//! What a run knows about itself that its calls are judged by: what it read that nobody vouched for,
//! which secrets its processes were given.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_policy::{Action, Place, Situation};
use artel_types::ForeignSource;

/// What was read from strangers and which secrets were handed out, in one piece of work. Clones share
/// it: what one run learns counts at once for those that it calls and for those that called it.
#[derive(Debug, Clone, Default)]
pub struct ContentMarks(Arc<Mutex<Marked>>);

#[derive(Debug, Default)]
struct Marked {
    foreign: Vec<ForeignSource>,
    held_secrets: Vec<String>,
}

impl ContentMarks {
    /// Notes what was read, and returns what of it is new.
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

    /// Notes that a process was given a secret.
    pub fn handed_out(&self, secret: &str) {
        let mut marked = self.lock();
        if !marked.held_secrets.iter().any(|held| held == secret) {
            marked.held_secrets.push(secret.to_owned());
        }
    }

    /// Returns a situation with what is marked in it.
    pub fn in_situation(&self, situation: &Situation) -> Situation {
        let marked = self.lock();
        Situation {
            foreign: marked.foreign.clone(),
            held_secrets: marked.held_secrets.clone(),
            ..situation.clone()
        }
    }

    fn lock(&self) -> MutexGuard<'_, Marked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names what a call brings that nobody vouched for: whatever came from another machine, and files of
/// portals that are not the run's own.
pub(super) fn foreign_in<'a>(
    actions: &'a [Action],
    own_portal: Option<&'a str>,
) -> impl Iterator<Item = ForeignSource> + 'a {
    actions.iter().filter_map(move |action| match action {
        Action::Network(host) => Some(ForeignSource::host(host)),
        Action::Read(target) => match &target.place {
            Place::Portal(name) if Some(name.as_str()) != own_portal => {
                Some(ForeignSource::file(format!("@{name}/{}", target.path)))
            }
            _ => None,
        },
        _ => None,
    })
}
