//! State that all requests share: the workshop, its journal, access, the index and live
//! events.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use artel_journal::{
    EventFilter, EventQuery, Journal, JournalReader, JournalRecord, JournalVersion,
};
use artel_types::{Actor, ActorSurface, DiskShortage, Failure, TraceId};
use artel_workshop::{
    AccessProjection, AttentionItem, AuthenticatedPrincipal, CredentialKind, DriverProcesses,
    SignIn, Workshop, WorkshopIndex,
};
use tokio::sync::{Semaphore, watch};

use crate::DaemonMessageSink;
use crate::api::RequestRowCache;
use crate::door::{AllowedHosts, ChangeRateLimiter, WrongTokenCounter};
use crate::keeper::{
    SchedulerCommandChannel, SchedulerLoad, SchedulerTask, TaskOptionsStore, blocking,
};
use crate::live::LiveEventBroadcaster;
use crate::telemetry::HttpTrafficCounter;

/// Number of records that are added to the index at once.
const PAGE: u64 = 1_000;

/// Number of concurrent read operations per processor: one of them may wait for the disk.
const LOOKS_EACH: usize = 2;

pub(crate) struct ServerState {
    /// The workshop with the settings now in force.
    workshop: watch::Sender<Arc<Workshop>>,
    /// Kept open for as long as the server runs. Everything it writes is seen by all
    /// readers.
    pub(crate) journal: Journal,
    access: Mutex<VersionedProjection<AccessProjection>>,
    /// Name of the console's cookie. The cookie only counts at the console's own host name.
    /// Several workshops may share that name behind a proxy, so the cookie's name contains
    /// the workshop's id.
    pub(crate) cookie: String,
    board: RwLock<WorkshopIndex>,
    /// The journal version at which the index was last found to be complete.
    complete: Mutex<Option<JournalVersion>>,
    /// The cached wait list, with the index position and drivers it was built from.
    needs: Mutex<Option<WaitListCache>>,
    pub(crate) requests: RequestRowCache,
    pub(crate) hosts: AllowedHosts,
    /// Counts wrong tokens by IP address.
    pub(crate) wrong: WrongTokenCounter,
    /// Limits the rate of changes per token or sign-in.
    pub(crate) rate: ChangeRateLimiter,
    pub(crate) hub: LiveEventBroadcaster,
    pub(crate) orders: SchedulerCommandChannel,
    /// Options for the tasks that the scheduler drives.
    pub(crate) manners: TaskOptionsStore,
    pub(crate) load: SchedulerLoad,
    /// Slots for read operations. Each operation keeps a processor busy: running more of
    /// them than there are processors would slow all of them down and delay changes.
    looks: Arc<Semaphore>,
    /// Slots for readers of live events.
    pub(crate) streams: Arc<Semaphore>,
    /// Total number of slots for readers of live events.
    pub(crate) most_streams: usize,
    /// Counts requests since the server started.
    pub(crate) traffic: HttpTrafficCounter,
    pub(crate) says: DaemonMessageSink,
}

/// A projection, with the journal version up to which it was folded.
#[derive(Default)]
struct VersionedProjection<T> {
    value: T,
    seen: Option<JournalVersion>,
}

/// The index position and the drivers at some time, and what needed a person then.
type WaitListCache = (u64, DriverProcesses, Arc<[Arc<AttentionItem>]>);

impl ServerState {
    pub(crate) fn open(
        workshop: Arc<Workshop>,
        bound: SocketAddr,
        says: DaemonMessageSink,
    ) -> Result<Arc<Self>, Failure> {
        let opened = workshop.open()?;
        opened.notes.iter().for_each(|note| says(note));
        let workshop = Arc::new(workshop.beside(&opened.journal));
        let board = workshop.board()?;
        if let Some(damage) = board.damage() {
            says(&format!(
                "the journal is damaged, `artel journal verify` says more: {damage:?}"
            ));
        }
        let settings = &workshop.settings.server;
        let hosts = AllowedHosts::of(bound, workshop.name_console()?, &settings.hosts.value);
        let streams = usize::try_from(settings.event_streams.value).unwrap_or(1);
        Ok(Arc::new(Self {
            cookie: format!("artel-{}", workshop.id().short()),
            workshop: watch::Sender::new(workshop),
            journal: opened.journal,
            access: Mutex::default(),
            board: RwLock::new(board),
            complete: Mutex::default(),
            needs: Mutex::default(),
            requests: RequestRowCache::default(),
            hosts,
            wrong: WrongTokenCounter::default(),
            rate: ChangeRateLimiter::default(),
            hub: LiveEventBroadcaster::new(),
            orders: SchedulerCommandChannel::default(),
            manners: TaskOptionsStore::default(),
            load: SchedulerLoad::default(),
            looks: Arc::new(Semaphore::new(LOOKS_EACH * processors())),
            streams: Arc::new(Semaphore::new(streams)),
            most_streams: streams,
            traffic: HttpTrafficCounter::default(),
            says,
        }))
    }

    /// Returns the workshop with the settings now in force.
    pub(crate) fn workshop(&self) -> Arc<Workshop> {
        Arc::clone(&self.workshop.borrow())
    }

    /// Returns a receiver of the workshop that is notified of each change of settings.
    pub(crate) fn workshops(&self) -> watch::Receiver<Arc<Workshop>> {
        self.workshop.subscribe()
    }

    /// Puts a workshop with other settings in force.
    pub(crate) fn replace_workshop(&self, workshop: Workshop) {
        let workshop = workshop.beside(&self.journal);
        self.workshop.send_replace(Arc::new(workshop));
    }

    /// Returns the index as of the last event that was followed, which may lag behind the
    /// journal.
    pub(crate) fn board(&self) -> RwLockReadGuard<'_, WorkshopIndex> {
        self.board.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event to the index. After a restore of the journal, rebuilds the index and
    /// discards all other projections, including access.
    pub(crate) fn take(&self, record: &JournalRecord) -> Result<(), Failure> {
        let fresh = match record.kind.as_str() {
            "journal.restored" => {
                *self.locked_access() = VersionedProjection::default();
                *self.locked_needs() = None;
                self.requests.forget();
                Some(self.workshop().board()?)
            }
            _ => None,
        };
        let mut board = self.board.write().unwrap_or_else(PoisonError::into_inner);
        match fresh {
            Some(fresh) => *board = fresh,
            None => board.take(record),
        }
        Ok(())
    }

    /// Runs `look` on the complete index, so that callers find what they have just
    /// recorded.
    ///
    /// It may block, so it must run on a thread that may.
    pub(crate) fn glance<T>(
        &self,
        look: impl FnOnce(&WorkshopIndex, &DriverProcesses) -> T,
    ) -> Result<T, Failure> {
        self.catch_up()?;
        let drivers = self.workshop().drivers_now()?;
        Ok(look(&self.board(), &drivers))
    }

    /// Runs a read operation on a thread that may block, once there is a slot for it.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        // Acquiring cannot fail, because nobody closes the semaphore. The slot is held
        // until the operation ends, even if the caller is gone.
        let turn = Arc::clone(&self.looks).acquire_owned().await;
        blocking(move || {
            let _turn = turn;
            look()
        })
        .await
    }

    /// Lists what needs a person. Every page shows the count, so the list is cached until
    /// the next event.
    pub(crate) fn waiting(&self, drivers: &DriverProcesses) -> Arc<[Arc<AttentionItem>]> {
        let mut needs = self.locked_needs();
        let board = self.board();
        if let Some((position, known, waits)) = &*needs
            && *position == board.position()
            && known == drivers
        {
            return Arc::clone(waits);
        }
        let waits: Arc<[Arc<AttentionItem>]> = board.waiting(drivers).into();
        *needs = Some((board.position(), drivers.clone(), Arc::clone(&waits)));
        waits
    }

    fn locked_needs(&self) -> MutexGuard<'_, Option<WaitListCache>> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the events that the index does not have yet.
    fn catch_up(&self) -> Result<(), Failure> {
        // Take the version before reading, so that events written meanwhile are picked up
        // next time.
        let now = self.reader().sight()?;
        if *self.locked_complete() == Some(now) {
            return Ok(());
        }
        loop {
            let asked = EventQuery::of(EventFilter::default()).after(self.board().position());
            let records = self.reader().records(&asked.limit(PAGE))?;
            for record in &records {
                self.take(record)?;
            }
            if (records.len() as u64) < PAGE {
                break;
            }
        }
        *self.locked_complete() = Some(now);
        Ok(())
    }

    fn locked_complete(&self) -> MutexGuard<'_, Option<JournalVersion>> {
        self.complete.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the shortage of disk space, whether or not something already waits for it.
    pub(crate) fn lack(&self) -> Option<DiskShortage> {
        self.workshop().lack_seen()
    }

    /// Returns a sentence that says whether the scheduler takes `name` up now or waits
    /// until it is resumed.
    pub(crate) fn takes_up(&self, name: &str) -> Result<String, Failure> {
        Ok(if self.workshop().is_daemon_held()? {
            format!("{name} waits: the daemon is held until `artel daemon resume`")
        } else {
            format!("{name} is taken up by the daemon")
        })
    }

    /// Has the scheduler resume a piece of work soon.
    pub(crate) fn goes_on(&self, trace: TraceId) {
        self.orders.go_on(SchedulerTask::Work(trace));
    }

    pub(crate) fn reader(&self) -> &JournalReader {
        self.journal.reader()
    }

    /// Returns the person or program that a token stands for, by the latest events of the
    /// journal.
    pub(crate) fn token(&self, shown: &str) -> Result<Option<AuthenticatedPrincipal>, Failure> {
        Ok(self.access()?.value.token(shown))
    }

    /// Returns the sign-in that issued this cookie.
    pub(crate) fn sign_in(&self, shown: &str) -> Result<Option<SignIn>, Failure> {
        let now = self.workshop().caller().clock().now();
        Ok(self.access()?.value.sign_in(shown, now).cloned())
    }

    /// Returns whether a token or sign-in is still valid.
    pub(crate) fn is_welcome(&self, pass: &AuthenticatedPrincipal) -> Result<bool, Failure> {
        let now = self.workshop().caller().clock().now();
        Ok(self.access()?.value.holds(pass, now))
    }

    /// Returns the access projection, updated with the latest events of the journal.
    fn access(&self) -> Result<MutexGuard<'_, VersionedProjection<AccessProjection>>, Failure> {
        let mut access = self.locked_access();
        let now = self.reader().sight()?;
        if access.seen != Some(now) {
            access.value.refresh(self.reader())?;
            access.seen = Some(now);
        }
        Ok(access)
    }

    fn locked_access(&self) -> MutexGuard<'_, VersionedProjection<AccessProjection>> {
        self.access.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the workshop as used by this person or program: their name stands on what it
    /// records.
    pub(crate) fn workshop_of(
        &self,
        pass: &AuthenticatedPrincipal,
    ) -> Result<Arc<Workshop>, Failure> {
        let actor = match (pass.is_program, pass.sort) {
            (true, _) => Actor::program(&pass.name),
            (false, CredentialKind::Token) => Actor::human(&pass.name, ActorSurface::Api),
            (false, CredentialKind::Login) => Actor::human(&pass.name, ActorSurface::Web),
        };
        Ok(Arc::new(self.workshop().acting_as(actor)?))
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
