//! Free disk space, as a value that is passed in: a writer that lacks space reports it here
//! and learns whether to wait.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting writer looks for space again.
const LOOK: Duration = Duration::from_millis(250);

/// The reason why nothing can be written somewhere, although it was possible before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiskShortageReason {
    /// No blocks or no inodes are left.
    Full,
    /// The quota is used up.
    Quota,
    /// The file would exceed the size limit of this process.
    FileSize,
    /// The file system is mounted read-only.
    ReadOnly,
}

impl DiskShortageReason {
    /// Returns the reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "disk full",
            Self::Quota => "quota used up",
            Self::FileSize => "limit of file sizes reached",
            Self::ReadOnly => "disk read-only",
        }
    }
}

/// Disk space that a writer needs and lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskShortage {
    /// The reason.
    pub why: DiskShortageReason,
    /// Number of bytes needed, if known.
    pub need: Option<u64>,
    /// The path that cannot be written.
    pub at: PathBuf,
}

impl fmt::Display for DiskShortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: need ", self.why.as_str())?;
        match self.need {
            Some(bytes) => write!(f, "{bytes} bytes")?,
            None => f.write_str("room")?,
        }
        write!(f, " at {}", self.at.display())
    }
}

/// Checks whether a file can be written, by querying the file system and making one small
/// write.
type DiskSpaceProbe = dyn Fn(&Path) -> Option<DiskShortageReason> + Send + Sync;

/// Receives messages for the person.
type DiskSpaceNotifier = dyn Fn(&str) + Send + Sync;

/// Shared place where all writers of a process report missing disk space and learn whether
/// to wait for it. Clones share their state.
#[derive(Clone)]
pub struct DiskSpaceMonitor(Arc<DiskSpaceMonitorState>);

struct DiskSpaceMonitorState {
    look: Option<Box<DiskSpaceProbe>>,
    teller: Mutex<Option<Arc<DiskSpaceNotifier>>>,
    lacks: Mutex<Vec<(u64, DiskShortage)>>,
    next: AtomicU64,
    /// Folders that a single piece of work waits for; no other writer is affected.
    apart: Mutex<Vec<PathBuf>>,
    is_given_up: AtomicBool,
}

impl DiskSpaceMonitor {
    /// Creates a monitor with which nobody waits: a writer that lacks space fails.
    pub fn unwaited() -> Self {
        Self::with(None)
    }

    /// Creates a monitor with which writers wait. `look` returns why space is lacking, if
    /// it is.
    pub fn awaited(
        look: impl Fn(&Path) -> Option<DiskShortageReason> + Send + Sync + 'static,
    ) -> Self {
        Self::with(Some(Box::new(look)))
    }

    fn with(look: Option<Box<DiskSpaceProbe>>) -> Self {
        Self(Arc::new(DiskSpaceMonitorState {
            look,
            teller: Mutex::new(None),
            lacks: Mutex::new(Vec::new()),
            next: AtomicU64::new(0),
            apart: Mutex::default(),
            is_given_up: AtomicBool::new(false),
        }))
    }

    /// Sets who is notified when something waits and when it resumes.
    pub fn told_by(&self, teller: impl Fn(&str) + Send + Sync + 'static) {
        *lock(&self.0.teller) = Some(Arc::new(teller));
    }

    /// Checks whether nothing can be written at a path, and why. Returns `None` if nobody
    /// waits.
    pub fn shortage(&self, at: &Path) -> Option<DiskShortageReason> {
        self.0.look.as_ref().and_then(|look| look(at))
    }

    /// Ends all waiting, now and in future, because the process is about to end.
    pub fn give_up(&self) {
        self.0.is_given_up.store(true, Ordering::SeqCst);
    }

    /// Returns the shortage of the writer that has waited longest. Writers that wait apart
    /// do not count.
    pub fn lack(&self) -> Option<DiskShortage> {
        lock(&self.0.lacks).first().map(|(_, lack)| lack.clone())
    }

    /// Returns a mark for this moment, for use with [`DiskSpaceMonitor::lacked_since`].
    pub fn mark(&self) -> u64 {
        let lacks = lock(&self.0.lacks);
        // A writer that is waiting now also lacks space after this moment.
        self.0.next.load(Ordering::SeqCst) - lacks.len() as u64
    }

    /// Returns whether a writer has lacked space at any time since the mark. Writers that
    /// wait apart do not count.
    pub fn lacked_since(&self, mark: u64) -> bool {
        self.0.next.load(Ordering::SeqCst) > mark
    }

    /// Returns whether writers that lack space wait for it.
    pub fn is_awaited(&self) -> bool {
        self.0.look.is_some() && !self.0.is_given_up.load(Ordering::SeqCst)
    }

    /// Begins to wait, or returns `None` if writers do not wait.
    pub fn wait(&self, lack: DiskShortage) -> Option<DiskSpaceWait> {
        if !self.is_awaited() {
            return None;
        }
        let text = format!("{lack}; waits until there is");
        let (number, is_first) = {
            let mut lacks = lock(&self.0.lacks);
            let number = self.0.next.fetch_add(1, Ordering::SeqCst);
            lacks.push((number, lack));
            (number, lacks.len() == 1)
        };
        if is_first {
            self.tell(&text);
        }
        let (room, turn) = (self.clone(), DiskSpaceWaitKind::Counted(number));
        Some(DiskSpaceWait { room, turn })
    }

    /// Begins to wait for space in a folder that only one piece of work needs. The person
    /// is notified, and all other writers continue as if there were space. Returns `None`
    /// if writers do not wait.
    pub fn wait_apart(&self, lack: DiskShortage) -> Option<DiskSpaceWait> {
        if !self.is_awaited() {
            return None;
        }
        let text = format!("{lack}; waits until there is");
        let is_first = {
            let mut apart = lock(&self.0.apart);
            apart.push(lack.at.clone());
            apart.iter().filter(|at| **at == lack.at).count() == 1
        };
        if is_first {
            self.tell(&text);
        }
        let (room, turn) = (self.clone(), DiskSpaceWaitKind::Apart(lack.at));
        Some(DiskSpaceWait { room, turn })
    }

    fn tell(&self, text: &str) {
        let teller = lock(&self.0.teller).clone();
        if let Some(teller) = teller {
            teller(text);
        }
    }
}

impl fmt::Debug for DiskSpaceMonitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DiskSpaceMonitor")
            .field(&self.lack())
            .finish()
    }
}

/// A writer's wait for disk space, which lasts as long as this value.
#[derive(Debug)]
pub struct DiskSpaceWait {
    room: DiskSpaceMonitor,
    turn: DiskSpaceWaitKind,
}

/// The kind of wait.
#[derive(Debug)]
enum DiskSpaceWaitKind {
    /// A wait that holds up everyone, by its number.
    Counted(u64),
    /// A wait for a folder that affects nobody else.
    Apart(PathBuf),
}

impl DiskSpaceWait {
    /// Returns how long to wait before the next try, or `None` if waiting is over.
    pub fn pause(&self) -> Option<Duration> {
        let is_given_up = self.room.0.is_given_up.load(Ordering::SeqCst);
        (!is_given_up).then_some(LOOK)
    }
}

impl Drop for DiskSpaceWait {
    fn drop(&mut self) {
        let is_last = match &self.turn {
            DiskSpaceWaitKind::Counted(number) => {
                let mut lacks = lock(&self.room.0.lacks);
                lacks.retain(|(other, _)| other != number);
                lacks.is_empty()
            }
            DiskSpaceWaitKind::Apart(at) => {
                let mut apart = lock(&self.room.0.apart);
                if let Some(index) = apart.iter().position(|other| other == at) {
                    apart.swap_remove(index);
                }
                !apart.contains(at)
            }
        };
        if is_last && !self.room.0.is_given_up.load(Ordering::SeqCst) {
            self.room.tell("there is room again; goes on");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lack() -> DiskShortage {
        DiskShortage {
            why: DiskShortageReason::Full,
            need: Some(4096),
            at: "/w/journal.db".into(),
        }
    }

    #[test]
    fn whoever_waits_is_seen_and_the_person_told_once() {
        let room = DiskSpaceMonitor::awaited(|_| None);
        let before = room.mark();
        assert!(!room.lacked_since(before));
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        room.told_by(move |text| lock(&hears).push(text.to_owned()));
        let first = room.wait(lack());
        let second = room.clone().wait(lack());
        assert_eq!(room.lack(), Some(lack()));
        assert!(first.as_ref().is_some_and(|it| it.pause().is_some()));
        drop(first);
        assert_eq!(room.lack(), Some(lack()), "the other one still waits");
        let meanwhile = room.mark();
        drop(second);
        assert_eq!(room.lack(), None);
        assert!(room.lacked_since(before) && room.lacked_since(meanwhile));
        assert!(!room.lacked_since(room.mark()));
        let told = lock(&told).join("\n");
        assert_eq!(
            told,
            "disk full: need 4096 bytes at /w/journal.db; waits until there is\n\
             there is room again; goes on"
        );
    }

    #[test]
    fn whoever_waits_apart_keeps_nobody_else_waiting() {
        let room = DiskSpaceMonitor::awaited(|_| None);
        let told = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&told);
        room.told_by(move |text| lock(&hears).push(text.to_owned()));
        let before = room.mark();
        let waits = [room.wait_apart(lack()), room.wait_apart(lack())];
        assert!(waits.iter().flatten().all(|it| it.pause().is_some()));
        assert_eq!(room.lack(), None);
        assert!(!room.lacked_since(before) && !room.lacked_since(room.mark()));
        drop(waits);
        assert!(!room.lacked_since(before));
        assert_eq!(lock(&told).len(), 2, "that it waits, and that it goes on");
        room.give_up();
        assert!(room.wait_apart(lack()).is_none());
    }

    #[test]
    fn nobody_waits_where_nobody_is_to_or_any_more() {
        assert!(DiskSpaceMonitor::unwaited().wait(lack()).is_none());
        let room = DiskSpaceMonitor::awaited(|_| Some(DiskShortageReason::Quota));
        let waits = room.wait(lack()).unwrap();
        room.give_up();
        assert_eq!(waits.pause(), None);
        assert!(room.wait(lack()).is_none());
    }
}
