//! The daemon's scheduler. It takes up every task that can continue and that no process
//! drives, most urgent first. The journal says what is to be done; the scheduler only keeps
//! the order.

mod aside;
mod left;
mod manner;
mod orders;
mod queue;
mod task;
mod under_way;

pub(crate) use manner::{TaskOptions, TaskOptionsStore};
pub(crate) use orders::{SchedulerCommandChannel, begin};
pub(crate) use queue::SchedulerTask;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use artel_journal::{EventFilter, JournalRecord, JournalSubscription, LeaseFence};
use artel_types::plan::Urgency;
use artel_types::{ActorSurface, Fact, Failure, FailureCode, RunId, TraceId};
use artel_workshop::{DaemonListenAddress, InboxFound, ShutdownLevel};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use self::aside::{TaskActivityRegistry, TaskActivityTracker};
use self::orders::SchedulerCommand;
use self::queue::SchedulerQueue;
use self::under_way::{EndedTask, RunningTasks};
use crate::desk::ServerState;

/// Time that a command in a terminal has to take up what it recorded, before the daemon
/// does.
const GRACE: Duration = Duration::from_secs(5);

/// Interval between checks for tasks that other processes left.
const SWEEP: Duration = Duration::from_secs(20);

/// Interval at which the daemon renews its lease.
const RENEW: Duration = Duration::from_secs(20);

/// Time that running tasks may take to reach a good place to stop, once the daemon is asked
/// to stop.
const POLITELY: Duration = Duration::from_secs(5);

/// Maximum number of tasks that wait for a person without counting as busy; each keeps a
/// thread.
const MOST_ASIDE: usize = 64;

/// Number of urgent tasks that may run beyond the configured limit.
const FOR_URGENT: usize = 1;

/// The numbers of waiting, running and stuck tasks, for pages and metrics.
#[derive(Debug, Default)]
pub(crate) struct SchedulerLoad {
    pub(crate) waiting: AtomicUsize,
    pub(crate) under_way: AtomicUsize,
    /// Tasks that could not continue, with the reason.
    stuck: Mutex<HashMap<SchedulerTask, String>>,
}

impl SchedulerLoad {
    /// Returns why a task could not continue, until it is tried again.
    pub(crate) fn stuck(&self, task: SchedulerTask) -> Option<String> {
        let stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.get(&task).cloned()
    }

    fn note(&self, task: SchedulerTask, why: Option<&str>) {
        let mut stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        match why {
            Some(why) => drop(stuck.insert(task, why.to_owned())),
            None => drop(stuck.remove(&task)),
        }
    }
}

/// Handle of the running scheduler.
pub(crate) struct SchedulerHandle {
    going: JoinHandle<Result<(), Failure>>,
    /// Notified when the whole server must stop: it was asked to, or another process is the
    /// daemon.
    pub(crate) over: watch::Receiver<ShutdownLevel>,
}

impl SchedulerHandle {
    /// Waits until all running tasks have stopped. Fails if another process has become the
    /// daemon.
    pub(crate) async fn rest(self) -> Result<(), Failure> {
        // The scheduler ends by itself once it is asked to stop.
        self.going.await.unwrap_or_else(|error| {
            let what = "the scheduler broke off";
            Err(Failure::new(FailureCode::X001, what).because(error.to_string()))
        })
    }
}

struct Scheduler {
    desk: Arc<ServerState>,
    fence: LeaseFence,
    queue: SchedulerQueue,
    tasks: RunningTasks,
    /// Number of tasks started so far, which numbers them.
    count: u64,
    /// The tasks that wait for a person.
    asking: TaskActivityRegistry,
    events: JournalSubscription,
    found: mpsc::UnboundedReceiver<TraceId>,
    orders: mpsc::UnboundedReceiver<SchedulerCommand>,
    is_held: bool,
    stop: watch::Receiver<ShutdownLevel>,
    /// Tells running tasks to stop, politely at first.
    ends: watch::Sender<ShutdownLevel>,
}

/// Becomes the daemon, takes up leftover tasks, and starts the scheduler, which runs until
/// it is asked to stop.
pub(crate) async fn keep(
    desk: Arc<ServerState>,
    listens: DaemonListenAddress,
    found: mpsc::UnboundedReceiver<TraceId>,
    stop: watch::Receiver<ShutdownLevel>,
) -> Result<SchedulerHandle, Failure> {
    let workshop = desk.workshop();
    let fence = workshop.become_daemon(&desk.journal).await?;
    let head = desk.reader().head()?;
    let orders = desk.orders.take();
    let orders = orders.unwrap_or_else(|| mpsc::unbounded_channel().1);
    let mut keeper = Scheduler {
        orders,
        events: desk.journal.subscribe(EventFilter::default(), head),
        is_held: workshop.is_daemon_held()?,
        queue: SchedulerQueue::default(),
        tasks: RunningTasks::default(),
        count: 0,
        asking: TaskActivityRegistry::default(),
        ends: watch::channel(ShutdownLevel::No).0,
        fence,
        found,
        stop,
        desk,
    };
    let taken = keeper.take_up().await?;
    workshop.daemon_is_up(&keeper.desk.journal, listens, taken)?;
    let (ends, over) = watch::channel(ShutdownLevel::No);
    let going = tokio::spawn(async move {
        let went = keeper.go(&ends).await;
        ends.send_replace(ShutdownLevel::Politely);
        went
    });
    Ok(SchedulerHandle { going, over })
}

impl Scheduler {
    /// Queues all tasks that other processes left, and reports them.
    async fn take_up(&mut self) -> Result<u64, Failure> {
        let desk = Arc::clone(&self.desk);
        let runtime = Handle::current();
        let settled = blocking(move || {
            let workshop = desk.workshop();
            let mut notes = workshop.settle_changesets()?;
            let lost = workshop.lost_plan_files(&desk.board());
            match runtime.block_on(workshop.take_files(&lost)) {
                Ok(restored) => {
                    let said = |it: InboxFound| format!("{} {}: {}", it.what, it.file, it.text);
                    notes.extend(restored.files.into_iter().map(said));
                }
                Err(failure) => notes.push(failure.to_string()),
            }
            Ok((notes, left::left(&desk)?, left::paused(&desk)?))
        });
        let (notes, left, paused) = settled.await?;
        notes.iter().for_each(|note| (self.desk.says)(note));
        for (id, title) in paused {
            (self.desk.says)(&format!(
                "leaves `{title}` as it is, paused: `artel resume {id}` goes on"
            ));
        }
        let now = Instant::now();
        for (task, title, urgency) in &left {
            (self.desk.says)(&format!("takes up `{title}`"));
            self.queue.put(*task, *urgency, Duration::ZERO, now);
        }
        Ok(left.len() as u64)
    }

    /// Runs the scheduler until it is asked to stop or another process has become the
    /// daemon. From then on it starts and records nothing more, because that is the other
    /// daemon's job.
    async fn go(mut self, over: &watch::Sender<ShutdownLevel>) -> Result<(), Failure> {
        let mut renewal = tokio::time::interval(RENEW);
        let mut sweep = tokio::time::interval(SWEEP);
        renewal.tick().await;
        sweep.tick().await;
        let mut stop = self.stop.clone();
        let lost = loop {
            self.begin();
            let due = self.queue.next_at();
            tokio::select! {
                biased;
                () = told_to_stop(&mut stop) => break None,
                Some(ended) = self.tasks.next(), if !self.tasks.is_empty() => self.ended(ended),
                record = self.events.next() => match record {
                    Ok(record) => self.hear(&record),
                    Err(error) => break Some(error.into()),
                },
                Some(trace) = self.found.recv() => self.put(trace),
                Some(order) = self.orders.recv() => self.obey(order),
                () = sleep_until(due) => {}
                () = self.asking.changed() => {}
                _ = sweep.tick() => self.sweep().await,
                _ = renewal.tick() => if let Err(failure) = self.stay().await {
                    break Some(failure);
                },
            }
        };
        over.send_replace(ShutdownLevel::Politely);
        match lost {
            None => {
                self.rest().await;
                let workshop = self.desk.workshop();
                let left = workshop.leave_daemon(&self.desk.journal, &self.fence, "asked to");
                left.await;
                Ok(())
            }
            Some(failure) => {
                (self.desk.says)(&format!("no longer the daemon: {}", failure.what));
                self.rest().await;
                Err(failure)
            }
        }
    }

    /// Starts as many tasks as may run at once.
    fn begin(&mut self) {
        while let Some(least) = self.least_urgent() {
            let Some(task) = self.queue.take(least, Instant::now()) else {
                break;
            };
            self.desk.load.note(task, None);
            let (desk, ways) = (Arc::clone(&self.desk), self.ways());
            let work = async move { (Some(task), task::go_on(desk, task, ways).await) };
            self.tasks.drive(Some(task), work);
        }
        let (waiting, under_way) = self.queue.sizes();
        self.desk.load.waiting.store(waiting, Ordering::Relaxed);
        self.desk.load.under_way.store(under_way, Ordering::Relaxed);
    }

    /// Returns the least urgency that the next task must have to be started, or `None` if
    /// no task may start. Tasks that wait for a person do not count as busy.
    fn least_urgent(&self) -> Option<Urgency> {
        let most = self.desk.workshop().settings.server.works_at_once.value;
        let most = usize::try_from(most).unwrap_or(1);
        let busy = self.tasks.len().saturating_sub(self.asking.count());
        if self.is_held || self.tasks.len() >= most + FOR_URGENT + MOST_ASIDE {
            return None;
        }
        match busy {
            busy if busy < most => Some(Urgency::Low),
            busy if busy < most + FOR_URGENT => Some(Urgency::High),
            _ => None,
        }
    }

    /// Returns the activity tracker and the stop signal for the next task.
    fn ways(&mut self) -> (TaskActivityTracker, watch::Receiver<ShutdownLevel>) {
        self.count += 1;
        (self.asking.of(self.count), self.ends.subscribe())
    }

    /// Executes a command that does not come from the journal. A run that a person starts
    /// this way does not queue behind others, just as a run in a terminal does not.
    fn obey(&mut self, order: SchedulerCommand) {
        match order {
            SchedulerCommand::GoOn(task) => {
                let now = Instant::now();
                let urgency = self.urgent(task);
                self.queue.put(task, urgency, Duration::ZERO, now);
            }
            SchedulerCommand::Found(trace) => self.put(trace),
            SchedulerCommand::Begin(begin) => {
                let (desk, ways) = (Arc::clone(&self.desk), self.ways());
                self.tasks.drive(None, task::begin(desk, begin, ways));
            }
        }
    }

    fn ended(&mut self, (task, rest): EndedTask) {
        let now = Instant::now();
        match (task, rest) {
            (Some(task), Ok(task::TaskOutcome::Done)) => self.queue.done(task, now),
            (Some(task), Ok(task::TaskOutcome::Stuck(why))) => self.stuck(task, &why),
            (Some(task), Err(failure)) => {
                self.note_fault(Some(task), &failure);
                self.stuck(task, &failure.to_string());
            }
            (None, Ok(_)) => {}
            // The task is unknown here; if it was recorded, the next sweep finds it.
            (None, Err(failure)) => {
                (self.desk.says)(&format!("a run broke off: {failure}"));
                self.note_fault(None, &failure);
            }
        }
    }

    /// Records that a task was interrupted by a fault of Artel. Other failures are already
    /// recorded, or are not faults.
    fn note_fault(&self, task: Option<SchedulerTask>, failure: &Failure) {
        if failure.code != FailureCode::X001 {
            return;
        }
        let desk = Arc::clone(&self.desk);
        let id = task.map(SchedulerTask::short);
        let why = failure.why.as_ref().unwrap_or(&failure.what).clone();
        // Recording waits if the disk is full; the scheduler must not.
        tokio::task::spawn_blocking(move || {
            let noted = desk.workshop().daemon_faltered(&desk.journal, id, &why);
            if let Err(failure) = noted {
                (desk.says)(&failure.to_string());
            }
        });
    }

    fn stuck(&mut self, task: SchedulerTask, why: &str) {
        let wait = self.queue.failed(task, Instant::now());
        self.desk.load.note(task, Some(why));
        let name = task.short();
        let seconds = wait.as_secs();
        (self.desk.says)(&format!(
            "{name} cannot go on, tried again in {seconds} s: {why}"
        ));
    }

    /// Processes an event: a person's action may mean that a task can continue.
    fn hear(&mut self, record: &JournalRecord) {
        let kinds = [
            "request.created",
            "plan.approved",
            "plan.commented",
            "plan.handed_over",
            "run.answered",
            "run.steered",
            "step.steered",
            "daemon.",
        ];
        if !kinds.iter().any(|kind| record.kind.starts_with(kind)) {
            return;
        }
        let Ok(event) = record.event() else { return };
        // A person at a terminal usually continues there; if they do not, the daemon does.
        let grace = match event.actor.via {
            Some(ActorSurface::Cli) => GRACE,
            _ => Duration::ZERO,
        };
        let now = Instant::now();
        let work = SchedulerTask::Work(event.trace);
        match event.fact {
            Fact::DaemonPaused(_) => self.is_held = true,
            Fact::DaemonResumed(_) => self.is_held = false,
            Fact::RequestCreated(it) => {
                let urgency = left::asked(&it.source, it.size, it.urgency);
                self.queue.put(work, urgency, grace, now);
            }
            Fact::PlanApproved(_) | Fact::PlanCommented(_) => {
                self.queue.put(work, self.urgent(work), grace, now);
            }
            Fact::PlanHandedOver(_) => {
                let urgency = self.urgent(work);
                self.queue.put(work, urgency, Duration::ZERO, now);
            }
            Fact::RunSteered(it) if it.act == "hint" || it.act == "pause" => {}
            Fact::StepSteered(it) if it.act == "pause" => {}
            Fact::StepSteered(_) => self.queue.put(work, self.urgent(work), grace, now),
            Fact::RunAnswered(_) | Fact::RunSteered(_) => match record.run.as_deref() {
                Some(run) => self.put_run(event.trace, run.parse().ok(), grace),
                None => self.queue.put(work, self.urgent(work), grace, now),
            },
            _ => {}
        }
    }

    fn put(&mut self, trace: TraceId) {
        if let Some(urgency) = left::urgency(&self.desk, trace) {
            let (task, now) = (SchedulerTask::Work(trace), Instant::now());
            self.queue.put(task, urgency, Duration::ZERO, now);
        }
    }

    /// Returns the urgency of a task about which a person has just decided. It is at least
    /// high, because that person is waiting, however urgent the original request was.
    fn urgent(&self, task: SchedulerTask) -> Urgency {
        let asked = match task {
            SchedulerTask::Work(trace) => left::urgency(&self.desk, trace),
            SchedulerTask::Run(_) => None,
        };
        asked.unwrap_or_default().max(Urgency::High)
    }

    /// Queues the work that a run belongs to, or the run itself if it belongs to none.
    fn put_run(&mut self, trace: TraceId, run: Option<RunId>, after: Duration) {
        let is_work = self.desk.workshop().work(trace).is_ok();
        let task = match (is_work, run) {
            (false, Some(run)) => SchedulerTask::Run(run),
            _ => SchedulerTask::Work(trace),
        };
        let urgency = self.urgent(task);
        self.queue.put(task, urgency, after, Instant::now());
    }

    /// Queues tasks that other processes left meanwhile, and makes a backup if one is due.
    async fn sweep(&mut self) {
        let desk = Arc::clone(&self.desk);
        let found = blocking(move || {
            desk.journal.back_up_when_due();
            left::left(&desk)
        })
        .await;
        for (task, _, urgency) in found.unwrap_or_default() {
            self.queue.offer(task, urgency, GRACE, Instant::now());
        }
    }

    /// Renews the daemon's lease; fails if another process has become the daemon.
    async fn stay(&mut self) -> Result<(), Failure> {
        let (workshop, journal) = (self.desk.workshop(), &self.desk.journal);
        match workshop.stay_daemon(journal, &self.fence).await {
            Ok(()) => {}
            // A restored journal does not know of this daemon, so it becomes the daemon
            // again.
            Err(failure) if failure.code == FailureCode::J010 => {
                self.fence = workshop.become_daemon(journal).await?;
            }
            // A journal that cannot be written now does not mean that another process is
            // the daemon.
            Err(failure) => (self.desk.says)(&failure.to_string()),
        }
        Ok(())
    }

    /// Stops all running tasks, first politely, then at once.
    async fn rest(&mut self) {
        self.ends.send_replace(ShutdownLevel::Politely);
        let count = self.tasks.len();
        if count > 0 {
            (self.desk.says)(&format!("stopping; {count} under way come to rest first"));
        }
        let all = async { while self.tasks.next().await.is_some() {} };
        if tokio::time::timeout(POLITELY, all).await.is_err() {
            self.ends.send_replace(ShutdownLevel::Now);
            let all = async { while self.tasks.next().await.is_some() {} };
            // Tasks that still run are taken up at the next start, as after a crash.
            drop(tokio::time::timeout(Duration::from_secs(2), all).await);
        }
    }
}

/// Waits until the server is asked to stop.
pub(crate) async fn told_to_stop(stop: &mut watch::Receiver<ShutdownLevel>) {
    // A dropped sender also means stop.
    drop(stop.wait_for(|stop| *stop != ShutdownLevel::No).await);
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Runs `work` on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        let code = artel_types::FailureCode::X001;
        Err(Failure::new(code, "a part of the server broke off").because(error.to_string()))
    })
}
