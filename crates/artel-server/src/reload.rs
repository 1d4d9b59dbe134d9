//! Reloads settings, roles, skills, policy and keys that change while the daemon runs.
//! Valid changes take effect at once. Invalid ones are reported, and the previous version
//! stays in force.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use artel_types::Failure;
use artel_workshop::{Workshop, WorkshopFailures};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::desk::ServerState;
use crate::keeper::blocking;

/// Interval between checks for changes.
const LOOK: Duration = Duration::from_secs(1);

/// The watched paths in the workshop.
const PLACES: &[&str] = &["artel.toml", "Agents", "Skills", "Policy", "Tools"];

/// Depth to which these paths are searched.
const DEEP: usize = 4;

/// Depth to which skill folders elsewhere are searched: a skill's own files, but not what
/// else projects keep there.
const SHALLOW: usize = 2;

/// Maximum number of files that are examined in one place.
const MOST: usize = 5_000;

/// A watched path.
#[derive(Debug, Clone)]
struct WatchedSettingsPath {
    /// Its name in messages.
    name: String,
    place: PathBuf,
    deep: usize,
}

/// When each watched path last changed, by name; `None` if it does not exist.
type SettingsFileStamps = BTreeMap<String, Option<(SystemTime, u64)>>;

/// Reloads the settings on request, and when they change.
pub(crate) fn watch(desk: Arc<ServerState>, mut told: watch::Receiver<u64>) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut position = desk.board().position();
        let mut spots = spots(&desk).await;
        let mut seen = look(&spots).await;
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
            // Portals are opened and closed by events.
            if desk.board().position() != position {
                position = desk.board().position();
                spots = self::spots(&desk).await;
            }
            let now = look(&spots).await;
            let mut what: Vec<String> = changed(&seen, &now);
            seen = now;
            if is_told && what.is_empty() {
                what.push("everything".to_owned());
            }
            if !what.is_empty() {
                // The result was already reported.
                drop(reload(&desk, what).await);
            }
        }
    })
}

/// Loads everything once, so that what is valid now stays in force if it becomes invalid
/// later.
async fn remember(desk: &Arc<ServerState>) {
    let (workshop, says) = (desk.workshop(), Arc::clone(&desk.says));
    let wrong = blocking(move || Ok(workshop.check_parts()));
    if let Ok(Ok(wrong) | Err(WorkshopFailures(wrong))) = wrong.await {
        wrong.iter().for_each(|it| says(&it.to_string()));
    }
}

/// Reloads everything, reports the result, and returns the problems.
pub(crate) async fn reload(
    desk: &Arc<ServerState>,
    what: Vec<String>,
) -> Result<Vec<String>, Failure> {
    let (says, shared) = (Arc::clone(&desk.says), Arc::clone(desk));
    let done = blocking(move || {
        let old = shared.workshop();
        // Valid settings take effect even if, say, a role is invalid; each invalid part
        // keeps its previous version.
        let (later, wrong) = match old.reloaded() {
            Ok(new) => {
                let later = later(&old, &new);
                shared.replace_workshop(new);
                (later, shared.workshop().check_parts())
            }
            Err(problems) => (Vec::new(), Err(problems)),
        };
        let (Ok(wrong) | Err(WorkshopFailures(wrong))) = wrong;
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

/// Returns the changed settings that are only read when the daemon starts.
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

/// Returns the watched paths: those in the workshop, the person's own settings and keys,
/// and the skills in their home and in portals.
async fn spots(desk: &Arc<ServerState>) -> Arc<[WatchedSettingsPath]> {
    let workshop = desk.workshop();
    let found = blocking(move || {
        let own = PLACES.iter().map(|name| WatchedSettingsPath {
            name: (*name).to_owned(),
            place: workshop.root().join(name),
            deep: DEEP,
        });
        let named = |place: PathBuf, deep| WatchedSettingsPath {
            name: place.display().to_string(),
            place,
            deep,
        };
        let theirs = named(workshop.caller().user_file(), DEEP);
        // Everything shown here is redacted, so a newly stored secret must be known at
        // once.
        let keys = WatchedSettingsPath {
            name: "stored keys".to_owned(),
            place: workshop.caller().keys_file(),
            deep: 0,
        };
        // If the portals cannot be read, everything else is still watched.
        let skills = workshop.skill_folders().unwrap_or_default().into_iter();
        let skills = skills.map(|place| named(place, SHALLOW));
        Ok(own.chain([theirs, keys]).chain(skills).collect())
    });
    found.await.unwrap_or_default()
}

async fn look(spots: &Arc<[WatchedSettingsPath]>) -> SettingsFileStamps {
    let spots = Arc::clone(spots);
    let seen = blocking(move || {
        let look = |spot: &WatchedSettingsPath| {
            let mut left = MOST;
            (spot.name.clone(), newest(&spot.place, spot.deep, &mut left))
        };
        Ok(spots.iter().map(look).collect())
    });
    seen.await.unwrap_or_default()
}

/// Returns when anything below a path last changed, and a number that changes with the
/// count and sizes of the files. At most `left` files are examined.
fn newest(place: &Path, depth: usize, left: &mut usize) -> Option<(SystemTime, u64)> {
    *left = left.checked_sub(1)?;
    let about = std::fs::symlink_metadata(place).ok()?;
    let mut newest = (about.modified().ok()?, 1);
    if !about.is_dir() || depth == 0 {
        return Some((newest.0, newest.1 + about.len()));
    }
    for entry in std::fs::read_dir(place).ok()?.flatten() {
        if let Some((at, count)) = self::newest(&entry.path(), depth - 1, left) {
            newest = (newest.0.max(at), newest.1 + count);
        }
    }
    Some(newest)
}

/// Returns the names of the paths that changed. A path that was not watched before has not
/// changed.
fn changed(before: &SettingsFileStamps, now: &SettingsFileStamps) -> Vec<String> {
    let other = now.iter().filter(|(name, now)| {
        let before = before.get(name.as_str());
        before.is_some_and(|before| before != *now)
    });
    other.map(|(name, _)| name.clone()).collect()
}
