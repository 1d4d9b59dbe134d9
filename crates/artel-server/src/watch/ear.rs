//! Translates notifications of the operating system into the few kinds that the watcher
//! knows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use artel_rules::settle::WatchedFileEvent;
use notify::event::{AccessKind, AccessMode, ModifyKind, RenameMode};
use notify::{Config, Event, EventKind, INotifyWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::folders::{FOLDERS, identity, is_remote};
use super::is_wanted;

/// A notification about the inbox folders.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InboxNotification {
    /// A file changed, appeared or disappeared.
    Happened(PathBuf, WatchedFileEvent),
    /// Notifications were lost or a folder was replaced, so everything must be scanned.
    Missed,
}

/// Receives notifications about the inbox folders.
pub(super) struct InboxNotifier {
    root: PathBuf,
    /// `None` if the system has no notifications.
    watcher: Option<INotifyWatcher>,
    heard: mpsc::UnboundedReceiver<InboxNotification>,
    /// The identity that each folder had when watching began; `None` for folders that are
    /// only scanned.
    folders: HashMap<PathBuf, Option<(u64, u64)>>,
}

impl InboxNotifier {
    pub(super) fn new(root: PathBuf) -> Self {
        let (sender, heard) = mpsc::unbounded_channel();
        let inbox = root.join("Inbox");
        let hear = move |event: notify::Result<Event>| {
            for heard in understood(event, &inbox) {
                // The receiver is gone once the watcher has ended.
                drop(sender.send(heard));
            }
        };
        Self {
            root,
            watcher: INotifyWatcher::new(hear, Config::default()).ok(),
            heard,
            folders: HashMap::new(),
        }
    }

    /// Returns a notifier that receives nothing, as on a system without notifications.
    #[cfg(test)]
    pub(super) fn deaf(root: PathBuf) -> Self {
        Self {
            root,
            watcher: None,
            heard: mpsc::unbounded_channel().1,
            folders: HashMap::new(),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) async fn next(&mut self) -> Option<InboxNotification> {
        self.heard.recv().await
    }

    /// Returns whether all folders are watched.
    pub(super) fn is_whole(&self) -> bool {
        let of = |folder: &&str| self.folders.get(&self.root.join(folder));
        FOLDERS.iter().all(|it| of(it).is_some_and(Option::is_some))
    }

    /// Watches every existing folder that is not watched yet or that was recreated. Returns
    /// messages for people, each only once.
    pub(super) fn listen(&mut self) -> Vec<String> {
        let folders = ["Inbox"].into_iter().chain(FOLDERS);
        let folders: Vec<PathBuf> = folders.map(|folder| self.root.join(folder)).collect();
        folders.iter().filter_map(|it| self.listen_to(it)).collect()
    }

    fn listen_to(&mut self, folder: &Path) -> Option<String> {
        let now = identity(folder);
        let before = self.folders.get(folder).copied();
        if now.is_none() {
            self.folders.remove(folder);
            return None;
        }
        if before.flatten() == now {
            return None;
        }
        let listened = match &mut self.watcher {
            None => Err("the system gives no notifications".to_owned()),
            Some(_) if is_remote(folder) => Err("it lies on another machine".to_owned()),
            Some(watcher) => {
                // A folder that was removed may still be registered.
                drop(watcher.unwatch(folder));
                let watched = watcher.watch(folder, RecursiveMode::NonRecursive);
                watched.map_err(|error| error.to_string())
            }
        };
        let heard = listened.is_ok().then_some(now).flatten();
        self.folders.insert(folder.to_owned(), heard);
        let is_said = before.is_some_and(|before| before.is_none());
        let why = listened.err().filter(|_| !is_said)?;
        let shown = folder.display();
        Some(format!("{shown} is looked through every 30 s: {why}"))
    }
}

/// Translates a notification. Read accesses, and files that are not a person's, are
/// ignored.
fn understood(event: notify::Result<Event>, inbox: &Path) -> Vec<InboxNotification> {
    let Ok(event) = event else {
        return vec![InboxNotification::Missed];
    };
    if event.need_rescan() {
        return vec![InboxNotification::Missed];
    }
    let happened = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => WatchedFileEvent::Changed,
        EventKind::Access(_) => return Vec::new(),
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => WatchedFileEvent::MovedIn,
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) => WatchedFileEvent::Gone,
        // Both halves of the rename were reported separately before.
        EventKind::Modify(ModifyKind::Name(RenameMode::Both)) => return Vec::new(),
        EventKind::Remove(_) => WatchedFileEvent::Gone,
        _ => WatchedFileEvent::Changed,
    };
    let mut heard = Vec::new();
    for path in event.paths {
        let is_folder = path == inbox || path.parent() == Some(inbox);
        let is_ours = FOLDERS.iter().any(|folder| {
            let name = Path::new(folder).file_name();
            name.is_some() && path.file_name() == name
        });
        if is_folder && (is_ours || path == inbox) {
            // The folder itself appeared or disappeared, so its content must be scanned.
            let is_touched = matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(_)));
            if !is_touched {
                heard.push(InboxNotification::Missed);
            }
        } else if !is_folder && is_wanted(&path) {
            heard.push(InboxNotification::Happened(path, happened));
        }
    }
    heard
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag, MetadataKind, RemoveKind};

    use super::*;

    #[test]
    fn notifications_in_our_words() {
        use EventKind as K;
        let name = |mode| K::Modify(ModifyKind::Name(mode));
        let data = K::Modify(ModifyKind::Data(DataChange::Any));
        let touched = K::Modify(ModifyKind::Metadata(MetadataKind::Any));
        let closed = |mode| K::Access(AccessKind::Close(mode));
        let table = [
            (K::Create(CreateKind::File), Some(WatchedFileEvent::Changed)),
            (data, Some(WatchedFileEvent::Changed)),
            (touched, Some(WatchedFileEvent::Changed)),
            (closed(AccessMode::Write), Some(WatchedFileEvent::Changed)),
            (closed(AccessMode::Read), None),
            (K::Access(AccessKind::Open(AccessMode::Any)), None),
            (name(RenameMode::To), Some(WatchedFileEvent::MovedIn)),
            (name(RenameMode::From), Some(WatchedFileEvent::Gone)),
            (K::Remove(RemoveKind::File), Some(WatchedFileEvent::Gone)),
        ];
        let inbox = Path::new("/w/Inbox");
        for (kind, expected) in table {
            let path = PathBuf::from("/w/Inbox/Requests/a.md");
            let event = Event::new(kind).add_path(path.clone());
            let heard = understood(Ok(event), inbox);
            let expected: Vec<_> = expected
                .map(|it| InboxNotification::Happened(path, it))
                .into_iter()
                .collect();
            assert_eq!(heard, expected, "{kind:?}");
        }
        for name in [".a.md", "a.md~", "a.problem.md", "4913"] {
            let path = inbox.join("Requests").join(name);
            let event = Event::new(data).add_path(path);
            assert_eq!(understood(Ok(event), inbox), [], "{name}");
        }
        let folder = Event::new(K::Create(CreateKind::Folder)).add_path("/w/Inbox/Plans".into());
        assert_eq!(understood(Ok(folder), inbox), [InboxNotification::Missed]);
        let full = Event::new(K::Other).set_flag(Flag::Rescan);
        assert_eq!(understood(Ok(full), inbox), [InboxNotification::Missed]);
        let failed = Err(notify::Error::generic("gone"));
        assert_eq!(understood(failed, inbox), [InboxNotification::Missed]);
    }
}
