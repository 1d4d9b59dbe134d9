//! Durable appends: how many per second and how long one takes, compared with SQLite alone.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use artel_journal::{AppendAcknowledgement, Journal};
use artel_testkit::Scratch;
use artel_types::EventDraft;

use crate::bare::Bare;
use crate::events::Work;
use crate::figure::{Figure, Goal, Measure, median, millis, percentile};

/// Number of tasks that append at once, and number of events that each of them appends per
/// round.
const APPENDERS: [(usize, usize); 3] = [(1, 800), (8, 800), (64, 250)];

/// Number of rows that the bare loop inserts per round.
const BARE_ROWS: usize = 16_000;

/// One round of one contestant.
pub(crate) struct Round {
    rate: f64,
    waits: Vec<Duration>,
}

impl Round {
    pub(crate) fn new(events: usize, took: Duration, waits: Vec<Duration>) -> Self {
        Self {
            rate: events as f64 / took.as_secs_f64(),
            waits,
        }
    }
}

/// The results of a contestant in all its rounds.
struct Shown(Vec<Round>);

impl Shown {
    fn rate(&self) -> f64 {
        median(self.0.iter().map(|round| round.rate))
    }

    fn wait(&self, percent: usize) -> f64 {
        let waits = self.0.iter().flat_map(|round| &round.waits);
        percentile(waits.map(|wait| millis(*wait)), percent)
    }
}

/// Runs the measurements and prints the figures.
pub(crate) fn measure(folder: &Path, rounds: usize) {
    let scratch = Scratch::inside(folder);
    let journal = scratch.create();
    let mut bare = Bare::new(folder, BARE_ROWS * (rounds + 1));
    let mut shown = [(); 4].map(|()| Shown(Vec::new()));
    // The first round is only a warm-up: files grow and statements are prepared.
    for round in 0..=rounds {
        let mut order = [0, 1, 2, 3];
        if round % 2 == 1 {
            order.reverse();
        }
        for contestant in order {
            let result = match contestant {
                0 => bare.round(BARE_ROWS),
                _ => append(&journal, APPENDERS[contestant - 1], round),
            };
            if round > 0 {
                shown[contestant].0.push(result);
            }
        }
    }
    drop(journal);
    assert!(scratch.verify().ok, "what was measured must be right");
    print(&shown);
}

/// Lets `appenders` tasks append `each` events, one at a time, and wait for each of them.
/// The tasks share a thread, like those of the engine; the journal's writer has the other
/// core.
fn append(journal: &Journal, (appenders, each): (usize, usize), round: usize) -> Round {
    let mut tasks: Vec<Task> = (0..appenders)
        .map(|task| Task {
            drafts: Work::of_seed((round * 1_000 + appenders + task) as u64)
                .take(each)
                .into_iter(),
            waiting: None,
        })
        .collect();
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut waits = Vec::with_capacity(appenders * each);
    let begun = Instant::now();
    while waits.len() < appenders * each {
        for task in &mut tasks {
            task.go_on(journal, &mut context, &mut waits);
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    Round::new(appenders * each, begun.elapsed(), waits)
}

/// One appender, between two of its appends.
struct Task {
    drafts: std::vec::IntoIter<EventDraft>,
    waiting: Option<(AppendAcknowledgement, Instant)>,
}

impl Task {
    fn go_on(&mut self, journal: &Journal, context: &mut Context<'_>, waits: &mut Vec<Duration>) {
        if let Some((ack, since)) = &mut self.waiting {
            let Poll::Ready(answer) = Pin::new(ack).poll(context) else {
                return;
            };
            answer.unwrap();
            waits.push(since.elapsed());
            self.waiting = None;
        }
        if let Some(draft) = self.drafts.next() {
            let since = Instant::now();
            let mut ack = journal.append(draft);
            // The first poll only registers the waker; nothing is recorded that fast.
            assert!(Pin::new(&mut ack).poll(context).is_pending());
            self.waiting = Some((ack, since));
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn print(shown: &[Shown; 4]) {
    let [bare, one, _, many] = shown;
    let rate = bare.rate();
    let (typical, slow) = (bare.wait(50), bare.wait(99));
    Figure::new("bare inserts, 64 per commit", rate, "events/s", Goal::None).print();
    Figure::new("bare commit of 64, p50", typical, "ms", Goal::None).print();
    Figure::new("bare commit of 64, p99", slow, "ms", Goal::None).print();
    for ((appenders, _), shown) in APPENDERS.iter().zip(&shown[1..]) {
        let name = |what: &str| format!("append, {appenders} at once{what}");
        let mut figure = Figure::new(name(""), shown.rate(), "events/s", Goal::None).against(rate);
        if *appenders == 64 {
            figure.goal = (Measure::Ratio, Goal::AtLeast(0.5));
        }
        figure.print();
        Figure::new(name(", p50"), shown.wait(50), "ms", Goal::Below(2.0))
            .against(typical)
            .print();
        Figure::new(name(", p99"), shown.wait(99), "ms", Goal::None)
            .against(slow)
            .print();
    }
    let gain = many.rate() / one.rate();
    Figure::new(
        "append, 64 at once against 1",
        gain,
        "times",
        Goal::AtLeast(5.0),
    )
    .print();
}
