//! Settings, roles, skills and policy that change while the daemon runs: what is right is in force
//! from then on, what is wrong leaves the old in force and is said.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use artel_types::Failure;
use artel_workshop::{Problems, Workshop};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::desk::Desk;
use crate::keeper::blocking;

/// How often there is a look whether something changed.
const LOOK: Duration = Duration::from_secs(1);

/// What is looked at, in the workshop.
const PLACES: &[&str] = &["artel.toml", "Agents", "Skills", "Policy", "Tools"];

/// When something was changed last, by its place; nothing where there is nothing.
type Seen = Vec<(String, Option<(SystemTime, u64)>)>;

/// Looks at the settings anew when told to, and when they changed.
pub(crate) fn watch(desk: Arc<Desk>, mut told: watch::Receiver<u64>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let places = places(&desk.workshop());
        let mut seen = look(&places).await;
        remember(&desk).await;
        loop {
            let is_told = tokio::select! {
                changed = told.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    true
                }
                () = tokio::time::sleep(LOOK) => false,
            };
            let now = look(&places).await;
            let mut what: Vec<String> = changed(&seen, &now);
            seen = now;
            if is_told && what.is_empty() {
                what.push("everything".to_owned());
            }
            if !what.is_empty() {
                // What came of it was said.
                drop(reload(&desk, what).await);
            }
        }
    })
}

/// Looks at everything once: what is right now stays in force if it is wrong later.
async fn remember(desk: &Arc<Desk>) {
    let (workshop, says) = (desk.workshop(), Arc::clone(&desk.says));
    let wrong = blocking(move || Ok(workshop.check_parts()));
    if let Ok(Ok(wrong) | Err(Problems(wrong))) = wrong.await {
        wrong.iter().for_each(|it| says(&it.to_string()));
    }
}

/// Looks at everything anew, says what came of it, and returns what is wrong.
pub(crate) async fn reload(desk: &Arc<Desk>, what: Vec<String>) -> Result<Vec<String>, Failure> {
    let (says, shared) = (Arc::clone(&desk.says), Arc::clone(desk));
    let done = blocking(move || {
        let old = shared.workshop();
        // Settings that are right hold although a role, say, is wrong: each of those stays what it
        // was.
        let (later, wrong) = match old.reloaded() {
            Ok(new) => {
                let later = later(&old, &new);
                shared.replace_workshop(new);
                (later, shared.workshop().check_parts())
            }
            Err(problems) => (Vec::new(), Err(problems)),
        };
        let (Ok(wrong) | Err(Problems(wrong))) = wrong;
        let problems: Vec<String> = wrong.iter().map(ToString::to_string).collect();
        old.daemon_reloaded(&shared.journal, what.clone(), problems.clone())?;
        Ok((what, later, problems))
    });
    let done = done.await.inspect_err(|failure| says(&failure.to_string()));
    let (what, later, problems) = done?;
    let what = what.join(", ");
    says(&match problems.is_empty() {
        true if later.is_empty() => format!("{what} changed; in force"),
        true => format!(
            "{what} changed; in force, but for {}: from the next start on",
            later.join(", ")
        ),
        false => format!(
            "{what} changed; what is wrong stays as it was in force:\n{}",
            problems.join("\n")
        ),
    });
    Ok(problems)
}

/// Returns the settings that changed and are only looked at when the daemon starts.
fn later(old: &Workshop, new: &Workshop) -> Vec<&'static str> {
    let (old, new) = (&old.settings.server, &new.settings.server);
    let changed = [
        ("`server.listen`", old.listen.value != new.listen.value),
        ("`server.hosts`", old.hosts.value != new.hosts.value),
        (
            "`server.event_streams`",
            old.event_streams.value != new.event_streams.value,
        ),
    ];
    let changed = changed.into_iter().filter(|(_, is_other)| *is_other);
    changed.map(|(name, _)| name).collect()
}

/// Returns what is looked at, by what it is called: in the workshop, and the person's own settings.
fn places(workshop: &Workshop) -> Arc<[(String, PathBuf)]> {
    let own = PLACES.iter().map(|name| {
        let place = workshop.root().join(name);
        ((*name).to_owned(), place)
    });
    let theirs = workshop.caller().user_file();
    own.chain([(theirs.display().to_string(), theirs)])
        .collect()
}

async fn look(places: &Arc<[(String, PathBuf)]>) -> Seen {
    let places = Arc::clone(places);
    let seen = blocking(move || {
        let look = |(name, place): &(String, PathBuf)| (name.clone(), newest(place, 4));
        Ok(places.iter().map(look).collect())
    });
    seen.await.unwrap_or_default()
}

/// Returns when something below a place was changed last, and a number that changes with how many
/// files there are and how long they are.
fn newest(place: &Path, depth: usize) -> Option<(SystemTime, u64)> {
    let about = std::fs::symlink_metadata(place).ok()?;
    let mut newest = (about.modified().ok()?, 1);
    if !about.is_dir() || depth == 0 {
        return Some((newest.0, newest.1 + about.len()));
    }
    for entry in std::fs::read_dir(place).ok()?.flatten() {
        if let Some((at, count)) = self::newest(&entry.path(), depth - 1) {
            newest = (newest.0.max(at), newest.1 + count);
        }
    }
    Some(newest)
}

fn changed(before: &Seen, now: &Seen) -> Vec<String> {
    let pairs = before.iter().zip(now);
    let other = pairs.filter(|(before, now)| before != now);
    other.map(|(_, (place, _))| place.clone()).collect()
}
