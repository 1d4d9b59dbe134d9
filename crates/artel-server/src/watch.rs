//! The inbox watcher, which takes up the files that people put into the inbox folders once
//! they are complete.
//!
//! Notifications are only hints. [`artel_rules::settle`] decides whether a file is
//! complete, and the workshop decides what it is. A scan of the folders every half minute
//! finds whatever notifications missed. The watcher keeps nothing of a file but its name
//! and a stamp that tells its versions apart.

mod board;
mod ear;
mod folders;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use artel_rules::settle::{FileStability, FileStabilityTracker, WatchedFileEvent};
use artel_types::{Failure, Timestamp, TraceId};
use artel_workshop::{InboxFileKind, Workshop};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use self::ear::{InboxNotification, InboxNotifier};
use self::folders::{InboxFileStamp, fingerprint, in_folders};
use crate::DaemonMessageSink;
use crate::desk::ServerState;
use crate::keeper::blocking;

/// Interval between scans of all folders.
const EVERY: Duration = Duration::from_secs(30);

/// Maximum number of files that are taken up at once.
const AT_ONCE: usize = 500;

/// Delay before files that could not be taken up are tried again.
const AGAIN: Duration = Duration::from_secs(3);

/// A file that was not written to for this long is assumed to be no longer written.
const RESTED: Duration = Duration::from_secs(5);

/// Handle of the running watcher.
pub(crate) struct InboxWatcherHandle {
    tasks: Vec<JoinHandle<()>>,
}

impl InboxWatcherHandle {
    /// Stops the watcher. Whatever it was doing is found again at the next start.
    pub(crate) fn abort(self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Starts to watch the inbox and to keep the dashboard current; sends the traces of work to
/// take up to `finds`.
pub(crate) fn watch(
    desk: &Arc<ServerState>,
    finds: mpsc::UnboundedSender<TraceId>,
) -> InboxWatcherHandle {
    let (inbox, board) = (Arc::clone(desk), Arc::clone(desk));
    let watcher = InboxWatcher::new(move || inbox.workshop(), finds, Arc::clone(&desk.says));
    let tasks = vec![
        tokio::spawn(watcher.go()),
        tokio::spawn(board::keep_current(board)),
    ];
    InboxWatcherHandle { tasks }
}

/// Watches the three folders of the inbox.
struct InboxWatcher<W> {
    /// Returns the workshop with the settings now in force.
    workshop: W,
    finds: mpsc::UnboundedSender<TraceId>,
    says: DaemonMessageSink,
    ear: InboxNotifier,
    settle: FileStabilityTracker,
    /// The stamp of each file when it was last found to be complete.
    known: HashMap<PathBuf, InboxFileStamp>,
    begun: Instant,
}

impl<W: Fn() -> Arc<Workshop> + Send + 'static> InboxWatcher<W> {
    fn new(workshop: W, finds: mpsc::UnboundedSender<TraceId>, says: DaemonMessageSink) -> Self {
        let root = workshop().root().to_owned();
        Self {
            ear: InboxNotifier::new(root),
            workshop,
            finds,
            says,
            settle: FileStabilityTracker::default(),
            known: HashMap::new(),
            begun: Instant::now(),
        }
    }

    async fn go(mut self) {
        let mut rescan = tokio::time::interval(EVERY);
        rescan.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let next = self.settle.next().map(|at| self.begun + at);
            tokio::select! {
                biased;
                // The first tick comes at once, which scans the folders at the start.
                _ = rescan.tick() => self.rescan().await,
                Some(heard) = self.ear.next() => self.hear(heard).await,
                () = until(next) => self.look().await,
            }
        }
    }

    async fn hear(&mut self, heard: InboxNotification) {
        match heard {
            InboxNotification::Happened(path, what) => {
                self.settle.happened(&path, what, self.now())
            }
            InboxNotification::Missed => self.rescan().await,
        }
    }

    /// Watches folders that are not watched yet, and compares all files with the known
    /// stamps.
    async fn rescan(&mut self) {
        for note in self.ear.listen() {
            (self.says)(&note);
        }
        let (root, is_heard) = (self.ear.root().to_owned(), self.ear.is_whole());
        let found = blocking(move || Ok(in_folders(&root))).await;
        let (Ok(found), wall) = (found, self.wall()) else {
            return;
        };
        let now = self.now();
        self.known.retain(|path, _| {
            let is_there = found.contains_key(path);
            if !is_there {
                self.settle.happened(path, WatchedFileEvent::Gone, now);
            }
            is_there
        });
        for (path, stamp) in &found {
            if self.known.get(path) != Some(stamp) && !self.settle.knows(path) {
                let what = if is_heard && stamp.has_rested(wall, RESTED) {
                    WatchedFileEvent::MovedIn
                } else {
                    WatchedFileEvent::Changed
                };
                self.settle.happened(path, what, now);
            }
        }
    }

    /// Examines the files that are due, and takes up those that are complete or gone.
    async fn look(&mut self) {
        let due = self.settle.due(self.now(), AT_ONCE);
        let looked = blocking(move || {
            let look = |path: PathBuf| {
                let seen = fingerprint(&path);
                (path, seen)
            };
            Ok(due.into_iter().map(look).collect::<Vec<_>>())
        });
        let Ok(looked) = looked.await else { return };
        let now = self.now();
        let (mut ready, mut restless) = (Vec::new(), Vec::new());
        for (path, seen) in looked {
            let print = seen.map(|(print, _)| print);
            match (self.settle.seen(&path, print, now), seen) {
                (FileStability::Settled, Some((_, stamp))) => {
                    self.known.insert(path.clone(), stamp);
                    ready.push(path);
                }
                (FileStability::Settled | FileStability::Gone, _) => {
                    self.known.remove(&path);
                    ready.push(path);
                }
                (FileStability::Unstable, _) => restless.push(path),
                (FileStability::NotYet, _) => {}
            }
        }
        for path in restless {
            self.give_up(path).await;
        }
        if !ready.is_empty() {
            self.take(ready).await;
        }
    }

    async fn take(&mut self, files: Vec<PathBuf>) {
        let taking = files.clone();
        let taken = self
            .with_workshop(move |workshop, handle| handle.block_on(workshop.take_files(&taking)));
        match taken.await {
            Ok(scanned) => {
                for found in scanned.files {
                    (self.says)(&format!("{} {}: {}", found.what, found.file, found.text));
                }
                for trace in scanned.due {
                    // The scheduler is only gone when the daemon ends.
                    let _ = self.finds.send(trace);
                }
            }
            Err(failure) => {
                (self.says)(&format!("the inbox is looked at again soon: {failure}"));
                tokio::time::sleep(AGAIN).await;
                let now = self.now();
                for file in &files {
                    self.known.remove(file);
                    self.settle.happened(file, WatchedFileEvent::MovedIn, now);
                }
            }
        }
    }

    /// Reports that a file never stops changing.
    async fn give_up(&mut self, path: PathBuf) {
        let shown = path.display().to_string();
        let told = self
            .with_workshop(move |workshop, handle| handle.block_on(workshop.leave_restless(&path)));
        let more = match told.await {
            Ok(()) => String::new(),
            Err(failure) => format!(" ({failure})"),
        };
        (self.says)(&format!(
            "{shown} never stops changing and is left alone until it changes again{more}"
        ));
    }

    async fn with_workshop<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Workshop, &tokio::runtime::Handle) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (workshop, handle) = ((self.workshop)(), tokio::runtime::Handle::current());
        blocking(move || act(&workshop, &handle)).await
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn wall(&self) -> Timestamp {
        (self.workshop)().caller().clock().now()
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Returns whether a file of this name may be a person's. Temporary files of editors,
/// Artel's own files and notes beside files are not.
fn is_wanted(path: &Path) -> bool {
    InboxFileKind::at(path) != InboxFileKind::Passing
}

#[cfg(test)]
mod tests;
