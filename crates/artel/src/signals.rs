//! Ctrl-C and termination requests, received by one thread for as long as the process
//! lives, even while the main thread waits for a key press.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use artel_types::{DiskSpaceMonitor, FailureKind};
use artel_workshop::ShutdownLevel;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Number of signals received.
static HEARD: Mutex<Option<watch::Sender<u64>>> = Mutex::new(None);

/// Number of listeners. Without any, a signal ends the process, as is the system's default.
static EARS: AtomicUsize = AtomicUsize::new(0);

/// The work that signals ask to stop.
static WORK: Mutex<Option<watch::Sender<ShutdownLevel>>> = Mutex::new(None);

/// The monitor with which writers wait for disk space. A process that is told to end stops
/// waiting.
static ROOM: OnceLock<DiskSpaceMonitor> = OnceLock::new();

/// Makes signals end all waiting for disk space.
pub(crate) fn ends_waiting(room: &DiskSpaceMonitor) {
    ROOM.get_or_init(|| room.clone());
}

/// Turns a file that exceeds the size limit into an error of its write, like a full disk,
/// instead of the end of the process. A handled signal is not inherited, so child processes
/// keep the default behaviour.
pub(crate) fn survive_file_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let _inside = runtime.enter();
    // The signal stays handled from here on, even when nobody listens any more.
    let limit = rustix::process::Signal::XFSZ.as_raw();
    signal(SignalKind::from_raw(limit)).map(drop)
}

pub(crate) struct SignalListener {
    heard: watch::Receiver<u64>,
    before: u64,
    asks: SignalStopTarget,
}

/// The effect of signals: with `Work`, they also ask the running work to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SignalStopTarget {
    Nothing,
    Work,
}

impl SignalListener {
    pub(crate) fn open() -> io::Result<Self> {
        Self::new(SignalStopTarget::Nothing)
    }

    /// Starts to listen on behalf of work that can be asked to stop: the first signal asks
    /// it politely, the next at once.
    pub(crate) fn for_work(stop: &watch::Sender<ShutdownLevel>) -> io::Result<Self> {
        *lock(&WORK) = Some(stop.clone());
        Self::new(SignalStopTarget::Work)
    }

    fn new(asks: SignalStopTarget) -> io::Result<Self> {
        let heard = begun()?;
        EARS.fetch_add(1, Ordering::SeqCst);
        let before = *heard.borrow();
        Ok(Self {
            heard,
            before,
            asks,
        })
    }

    /// Returns the number of signals received since this listener started.
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

impl Drop for SignalListener {
    fn drop(&mut self) {
        if self.asks == SignalStopTarget::Work {
            *lock(&WORK) = None;
        }
        EARS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Starts the thread that receives signals, unless it is already running.
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
                        ShutdownLevel::No => ShutdownLevel::Politely,
                        ShutdownLevel::Politely | ShutdownLevel::Now => ShutdownLevel::Now,
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
