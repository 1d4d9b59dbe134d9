//! Ctrl-C and the request to end, heard by one thread for as long as the process lives: also while
//! whoever works waits for a key press.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use artel_types::{FailureKind, Room};
use artel_workshop::Stop;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// How many signals came.
static HEARD: Mutex<Option<watch::Sender<u64>>> = Mutex::new(None);

/// How many listen. Where nobody does, a signal ends the process, as it does by itself.
static EARS: AtomicUsize = AtomicUsize::new(0);

/// What the signals ask to stop.
static WORK: Mutex<Option<watch::Sender<Stop>>> = Mutex::new(None);

/// Where writers wait for room on a disk; whoever is told to end waits no longer.
static ROOM: OnceLock<Room> = OnceLock::new();

/// Has signals end the waiting for room on a disk.
pub(crate) fn ends_waiting(room: &Room) {
    ROOM.get_or_init(|| room.clone());
}

/// Has a file that becomes too large be an error of its write, as a full disk is, instead of the
/// end of the process. A signal that is heard is not inherited: what is started keeps its own ways.
pub(crate) fn survive_file_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    // It is heard from here on, also once nobody listens.
    let limit = rustix::process::Signal::XFSZ.as_raw();
    signal(SignalKind::from_raw(limit)).map(drop)
}

/// Somebody who listens for signals.
pub(crate) struct Ear {
    heard: watch::Receiver<u64>,
    before: u64,
    asks: Asks,
}

/// Whether the signals ask something to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    Work,
}

impl Ear {
    /// Begins to listen.
    pub(crate) fn open() -> io::Result<Self> {
        Self::new(Asks::Nothing)
    }

    /// Begins to listen for something that can be asked to stop: the first signal asks it to,
    /// politely, the next at once.
    pub(crate) fn for_work(stop: &watch::Sender<Stop>) -> io::Result<Self> {
        *lock(&WORK) = Some(stop.clone());
        Self::new(Asks::Work)
    }

    fn new(asks: Asks) -> io::Result<Self> {
        let heard = begun()?;
        EARS.fetch_add(1, Ordering::SeqCst);
        let before = *heard.borrow();
        Ok(Self {
            heard,
            before,
            asks,
        })
    }

    /// Returns how many signals came since.
    pub(crate) fn count(&self) -> u64 {
        self.heard.borrow().saturating_sub(self.before)
    }

    /// Waits for the next signal.
    pub(crate) async fn hear(&mut self) {
        if self.heard.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if self.asks == Asks::Work {
            *lock(&WORK) = None;
        }
        EARS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Starts the thread that listens, unless it runs.
fn begun() -> io::Result<watch::Receiver<u64>> {
    let mut heard = lock(&HEARD);
    if let Some(heard) = heard.as_ref() {
        return Ok(heard.subscribe());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (interrupt, terminate) = {
        let _inside = runtime.enter();
        let terminate = signal(SignalKind::terminate())?;
        (signal(SignalKind::interrupt())?, terminate)
    };
    let (sender, receiver) = watch::channel(0);
    *heard = Some(sender.clone());
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || listen(&runtime, (interrupt, terminate), &sender))?;
    Ok(receiver)
}

fn listen(
    runtime: &Runtime,
    (mut interrupt, mut terminate): (Signal, Signal),
    heard: &watch::Sender<u64>,
) {
    runtime.block_on(async {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if EARS.load(Ordering::SeqCst) == 0 {
                std::process::exit(FailureKind::Interrupted.exit_code().0.into());
            }
            if let Some(room) = ROOM.get() {
                room.give_up();
            }
            if let Some(stop) = lock(&WORK).as_ref() {
                stop.send_modify(|wish| {
                    *wish = match wish {
                        Stop::No => Stop::Politely,
                        Stop::Politely | Stop::Now => Stop::Now,
                    };
                });
            }
            heard.send_modify(|count| *count += 1);
        }
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
