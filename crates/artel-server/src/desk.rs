//! What all requests share: the workshop, its journal, who may come in, what is new.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use artel_journal::{Filter, Journal, Query, Reader, Record, Sight};
use artel_types::{Actor, Failure, Lack, TraceId, Via};
use artel_workshop::{Access, Board, Drivers, Pass, PassSort, SignIn, Waits, Workshop};
use tokio::sync::{Semaphore, watch};

use crate::Says;
use crate::api::KnownRequests;
use crate::door::{Hosts, Rate, Wrong};
use crate::keeper::{Load, Manners, Orders, Task, blocking};
use crate::live::Hub;
use crate::telemetry::Traffic;

/// How many records the board takes in at once.
const PAGE: u64 = 1_000;

/// So many may look at once for each processor: one of them may wait for the disk.
const LOOKS_EACH: usize = 2;

/// What all requests share.
pub(crate) struct Desk {
    /// As its settings are in force now.
    workshop: watch::Sender<Arc<Workshop>>,
    /// Kept open for as long as the server runs; what it writes is seen by all.
    pub(crate) journal: Journal,
    access: Mutex<Folded<Access>>,
    /// The name of the console's cookie. It counts at the console's own host name alone; behind a
    /// proxy several workshops may share one, so it also says whose it is.
    pub(crate) cookie: String,
    board: RwLock<Board>,
    /// The state of the journal up to which the board was found to be complete.
    complete: Mutex<Option<Sight>>,
    /// What needs a person, by the board and the drivers that it was told from.
    needs: Mutex<Option<Needs>>,
    /// Requests as lists show them.
    pub(crate) requests: KnownRequests,
    pub(crate) hosts: Hosts,
    /// Failed tokens, by where they came from.
    pub(crate) wrong: Wrong,
    /// How fast everybody changes things.
    pub(crate) rate: Rate,
    pub(crate) hub: Hub,
    /// The way to the scheduler.
    pub(crate) orders: Orders,
    /// How things are to be done that the scheduler takes up.
    pub(crate) manners: Manners,
    /// How much there is to do.
    pub(crate) load: Load,
    /// Places for those who only look. Each keeps a processor busy, so more at once than there are
    /// would be slower for all, and whoever changes something would wait for them.
    looks: Arc<Semaphore>,
    /// Places for readers of live events.
    pub(crate) streams: Arc<Semaphore>,
    /// How many such places there are.
    pub(crate) most_streams: usize,
    /// What was asked since the server began.
    pub(crate) traffic: Traffic,
    pub(crate) says: Says,
}

/// Something folded from the journal, and the state of it up to which that was done.
#[derive(Default)]
struct Folded<T> {
    value: T,
    seen: Option<Sight>,
}

/// How far the board was, who drove what, and what needed a person then.
type Needs = (u64, Drivers, Arc<[Arc<Waits>]>);

impl Desk {
    pub(crate) fn open(
        workshop: Arc<Workshop>,
        bound: SocketAddr,
        says: Says,
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
        let hosts = Hosts::of(bound, workshop.name_console()?, &settings.hosts.value);
        let streams = usize::try_from(settings.event_streams.value).unwrap_or(1);
        Ok(Arc::new(Self {
            cookie: format!("artel-{}", workshop.id().short()),
            workshop: watch::Sender::new(workshop),
            journal: opened.journal,
            access: Mutex::default(),
            board: RwLock::new(board),
            complete: Mutex::default(),
            needs: Mutex::default(),
            requests: KnownRequests::default(),
            hosts,
            wrong: Wrong::default(),
            rate: Rate::default(),
            hub: Hub::new(),
            orders: Orders::default(),
            manners: Manners::default(),
            load: Load::default(),
            looks: Arc::new(Semaphore::new(LOOKS_EACH * processors())),
            streams: Arc::new(Semaphore::new(streams)),
            most_streams: streams,
            traffic: Traffic::default(),
            says,
        }))
    }

    /// Returns the workshop as its settings are in force now.
    pub(crate) fn workshop(&self) -> Arc<Workshop> {
        Arc::clone(&self.workshop.borrow())
    }

    /// Returns the same, and tells each time that it is another one.
    pub(crate) fn workshops(&self) -> watch::Receiver<Arc<Workshop>> {
        self.workshop.subscribe()
    }

    /// Puts other settings in force.
    pub(crate) fn replace_workshop(&self, workshop: Workshop) {
        let workshop = workshop.beside(&self.journal);
        self.workshop.send_replace(Arc::new(workshop));
    }

    /// Returns everything at a glance, as it stands after the last event that was followed.
    pub(crate) fn board(&self) -> RwLockReadGuard<'_, Board> {
        self.board.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one more event in. After a restore of the journal everything is folded anew, also who
    /// may come in.
    pub(crate) fn take(&self, record: &Record) -> Result<(), Failure> {
        let fresh = match record.kind.as_str() {
            "journal.restored" => {
                *self.locked_access() = Folded::default();
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

    /// Looks at everything at a glance, with what was put on record a moment ago: whoever did
    /// something finds it in the next list. It may take its time, so it is for threads that keep
    /// nobody waiting.
    pub(crate) fn glance<T>(&self, look: impl FnOnce(&Board, &Drivers) -> T) -> Result<T, Failure> {
        self.catch_up()?;
        let drivers = self.workshop().drivers_now()?;
        Ok(look(&self.board(), &drivers))
    }

    /// Looks at something where it keeps nobody waiting, in its turn.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce() -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        // Nobody closes it, so there is always a turn. It lasts until the look is over, also where
        // whoever wanted it is gone.
        let turn = Arc::clone(&self.looks).acquire_owned().await;
        blocking(move || {
            let _turn = turn;
            look()
        })
        .await
    }

    /// Lists what needs a person. Every page says how much that is, so it is gathered once for all
    /// who look before the next event.
    pub(crate) fn waiting(&self, drivers: &Drivers) -> Arc<[Arc<Waits>]> {
        let mut needs = self.locked_needs();
        let board = self.board();
        if let Some((position, known, waits)) = &*needs
            && *position == board.position()
            && known == drivers
        {
            return Arc::clone(waits);
        }
        let waits: Arc<[Arc<Waits>]> = board.waiting(drivers).into();
        *needs = Some((board.position(), drivers.clone(), Arc::clone(&waits)));
        waits
    }

    fn locked_needs(&self) -> MutexGuard<'_, Option<Needs>> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the board take in what it has not seen yet.
    fn catch_up(&self) -> Result<(), Failure> {
        // Told before it is read: what is written in between is looked for the next time.
        let now = self.reader().sight()?;
        if *self.locked_complete() == Some(now) {
            return Ok(());
        }
        loop {
            let asked = Query::of(Filter::default()).after(self.board().position());
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

    fn locked_complete(&self) -> MutexGuard<'_, Option<Sight>> {
        self.complete.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is lacking on the disk, whether or not something waits for it yet.
    pub(crate) fn lack(&self) -> Option<Lack> {
        self.workshop().lack_seen()
    }

    /// Says when something goes on that the scheduler was told of.
    pub(crate) fn takes_up(&self, name: &str) -> Result<String, Failure> {
        Ok(match self.workshop().is_daemon_held()? {
            true => format!("{name} waits: the daemon is held until `artel daemon resume`"),
            false => format!("{name} is taken up by the daemon"),
        })
    }

    /// Has the scheduler go on with a piece of work.
    pub(crate) fn goes_on(&self, trace: TraceId) {
        self.orders.go_on(Task::Work(trace));
    }

    pub(crate) fn reader(&self) -> &Reader {
        self.journal.reader()
    }

    /// Returns whom a token stands for, by what the journal says now.
    pub(crate) fn token(&self, shown: &str) -> Result<Option<Pass>, Failure> {
        Ok(self.access()?.value.token(shown))
    }

    /// Returns the sign-in that gave a cookie.
    pub(crate) fn sign_in(&self, shown: &str) -> Result<Option<SignIn>, Failure> {
        let now = self.workshop().caller().clock().now();
        Ok(self.access()?.value.sign_in(shown, now).cloned())
    }

    /// Tells whether somebody who came in may still be here.
    pub(crate) fn is_welcome(&self, pass: &Pass) -> Result<bool, Failure> {
        let now = self.workshop().caller().clock().now();
        Ok(self.access()?.value.holds(pass, now))
    }

    /// Returns who may come in, by what the journal says now.
    fn access(&self) -> Result<MutexGuard<'_, Folded<Access>>, Failure> {
        let mut access = self.locked_access();
        let now = self.reader().sight()?;
        if access.seen != Some(now) {
            access.value.refresh(self.reader())?;
            access.seen = Some(now);
        }
        Ok(access)
    }

    fn locked_access(&self) -> MutexGuard<'_, Folded<Access>> {
        self.access.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the workshop in whose journal somebody acts by their own name.
    pub(crate) fn workshop_of(&self, pass: &Pass) -> Result<Arc<Workshop>, Failure> {
        let actor = match (pass.is_program, pass.sort) {
            (true, _) => Actor::program(&pass.name),
            (false, PassSort::Token) => Actor::human(&pass.name, Via::Api),
            (false, PassSort::Login) => Actor::human(&pass.name, Via::Web),
        };
        Ok(Arc::new(self.workshop().acting_as(actor)?))
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
