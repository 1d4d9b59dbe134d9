//! Many runs at once in one process: rehearsed models, tools that only read, a journal on disk.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

use artel_engine::{
    CallLog, Chronicle, Driver, Ended, Family, Furnish, Nobody, Setup, Stop, Voice, Wheel,
    Workplace, kinds,
};
use artel_files::Root;
use artel_model::{Chosen, Context, Gateway, Rehearsal};
use artel_policy::Policy;
use artel_rules::breaker::Thresholds;
use artel_rules::turn::{Rules, Turn};
use artel_testkit::{Scratch, system_clock};
use artel_tools::{Bench, Hands, Log, NoGuard, Registry, Viewer, built_in};
use artel_types::model::{Attribution, ModelEntry, Priority, Privacy, Provider};
use artel_types::{Actor, Failure, Limits, Redactor, RunId, TraceId};
use tokio::sync::watch;

use crate::book::JournalBook;
use crate::figure::{Figure, Goal, median};
use crate::place;

/// What the program calls itself with.
pub(crate) const MANY: &str = "--many";

const TURNS: usize = 15;

/// Measures rounds, each in a process of its own.
pub(crate) fn measure(runs: usize, rounds: usize) {
    let (mut speeds, mut memories, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program)
            .args([MANY, &runs.to_string()])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success(),
            "{text}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        println!("many: {}", text.trim());
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map(|it| it.parse().unwrap())
            .collect();
        speeds.push(numbers[0]);
        memories.push(numbers[1]);
        spreads.push(numbers[2]);
    }
    let name = |what: &str| format!("{runs} runs of {TURNS} turns at once, {what}");
    let middle = |numbers: Vec<f64>| median(numbers);
    Figure::new(name("turns"), middle(speeds), "/s", Goal::AtLeast(3_000.0)).print();
    Figure::new(
        name("memory of one"),
        middle(memories),
        "KB",
        Goal::Below(200.0),
    )
    .print();
    Figure::new(
        name("slowest over median"),
        middle(spreads),
        "times",
        Goal::None,
    )
    .print();
}

/// One round: prints turns per second, kilobytes per run, and the slowest over the median.
pub(crate) fn run(runs: usize) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(16)
        .enable_all()
        .build()
        .unwrap();
    let scratch = Scratch::inside(&place::on_disk().folder);
    let files = tempfile::tempdir().unwrap();
    for number in 0..TURNS {
        let text = format!("file {number}\n").repeat(100);
        std::fs::write(files.path().join(format!("{number}.txt")), text).unwrap();
    }
    let (speed, times) = runtime.block_on(async {
        let journal = scratch.create();
        let gateway = Gateway::open(artel_model::Setup {
            book: Arc::new(JournalBook::new(journal.clone())),
            clock: system_clock(),
            redactor: Redactor::none(),
            formats: None,
            limits: Limits::default(),
            slots: runs,
            max_wait: Duration::from_secs(600),
            thresholds: Thresholds::MODEL,
        })
        .unwrap();
        let (_stop, stops) = watch::channel(Stop::No);
        let wheel = Wheel::default();
        let registry = Registry::of(built_in());
        let drivers: Vec<_> = (0..runs)
            .map(|number| {
                driver(
                    number,
                    &journal,
                    &gateway,
                    &wheel,
                    &registry,
                    &stops,
                    files.path(),
                )
            })
            .collect();
        let began = Instant::now();
        let tasks: Vec<_> = drivers
            .into_iter()
            .map(|driver| {
                tokio::spawn(async move {
                    let ended = driver.drive().await.unwrap();
                    let Ended::Over(finished) = ended else {
                        panic!("left: {ended:?}");
                    };
                    assert_eq!(finished.state.as_deref(), Some("complete"), "{finished:?}");
                    Instant::now()
                })
            })
            .collect();
        let mut times = Vec::new();
        for task in tasks {
            times.push(task.await.unwrap().duration_since(began).as_secs_f64());
        }
        let speed = (runs * TURNS) as f64 / began.elapsed().as_secs_f64();
        (speed, times)
    });
    let slowest = times.iter().copied().fold(0.0, f64::max);
    let spread = slowest / median(times);
    println!("{speed:.0} {:.1} {spread:.2}", peak() / runs as f64);
}

fn driver(
    number: usize,
    journal: &artel_journal::Journal,
    gateway: &Gateway,
    wheel: &Wheel,
    registry: &Registry,
    stops: &watch::Receiver<Stop>,
    files: &std::path::Path,
) -> Driver {
    let run = RunId::from_random((number as u128 + 1).to_le_bytes());
    let trace = TraceId::from_random((number as u128 + 1).to_le_bytes());
    let chronicle = Chronicle::new(journal.clone(), run, trace, None, Actor::agent("default"));
    let log = Arc::new(CallLog::new(chronicle.clone()));
    let bench = Bench::new(Root::open(files).unwrap(), Arc::new(NoGuard), "default");
    let hands = Hands::new(
        registry.clone(),
        bench,
        Policy::default(),
        Arc::clone(&log) as Arc<dyn Log>,
        Redactor::none(),
        system_clock(),
    );
    let furnish: Arc<Furnish> = Arc::new(|_, _| {
        let what = "a run that only reads has no tree";
        Err(Failure::new(artel_types::Code::X001, what))
    });
    let rules = Rules {
        turns: 100,
        retries: 3,
        tools: kinds(registry),
        ..Rules::default()
    };
    let entry = ModelEntry::named(Provider::Rehearsal, format!("run-{number}"));
    Driver::new(Setup {
        turn: Turn::new(rules, "read the files"),
        voice: Voice {
            gateway: gateway.clone(),
            model: Arc::new(Rehearsal::load(&script(), "script").unwrap()),
            chosen: Chosen {
                wanted: "default".into(),
                resolved: "as named".into(),
                entry,
                card: Default::default(),
            },
            priority: Priority::Execution,
            privacy: Privacy::Any,
            account: Attribution::default(),
            context: Context {
                step_of: None,
                trace,
                actor: Actor::agent("default"),
                session: None,
                run: Some(run),
            },
            temperature: None,
        },
        workplace: Workplace::new(hands, None, furnish),
        log,
        viewer: Viewer::default(),
        system: "You read files.".to_owned(),
        window: 200_000,
        steering: wheel.steer(run, stops.clone()),
        audience: Arc::new(Nobody),
        person: None,
        waits: false,
        family: Family::default(),
        left: Arc::new(AtomicU32::new(0)),
        patience: None,
        all_tokens: None,
        is_root: true,
        clock: system_clock(),
        chronicle,
    })
}

/// Fifteen turns that read a file each, and an answer.
fn script() -> String {
    let line = |number| format!("  - call: {{ read: {{ path: \"{number}.txt\" }} }}\n");
    let lines: String = (0..TURNS).map(line).collect();
    format!("lines:\n{lines}  - say: done\n")
}

/// Returns the most memory that was in use, in kilobytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
