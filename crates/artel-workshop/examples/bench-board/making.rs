//! A long journal: pieces of work with ten runs each, of which few are still open.

use std::path::Path;

use artel_config::ProcessEnvironment;
use artel_journal::EventBatch;
use artel_types::plan::{PlanState, Urgency};
use artel_types::{Actor, ActorSurface, EventDraft, Fact, RunId, StreamName, Timestamp, TraceId};
use artel_workshop::{
    CommandContext, GlobalFlags, OpenWorkshopJournal, Workshop, WorkshopInitMode,
};

use crate::facts;

/// How many pieces of work are appended at once.
const AT_ONCE: usize = 50;

/// One piece of work in so many is still under way.
const OPEN: usize = 200;

/// Makes the workshop, and returns how many events are in its journal.
pub(crate) fn workshop(home: &Path, works: usize) -> (Workshop, u64) {
    let environment = ProcessEnvironment::of([("HOME", home.to_str().unwrap().to_owned())], home);
    let clock = artel_config::system_clock();
    let caller = CommandContext::new(
        environment,
        clock,
        GlobalFlags::default(),
        ActorSurface::Cli,
    )
    .unwrap();
    let root = home.join("Artel");
    caller
        .init(Some(&root), WorkshopInitMode::Complete)
        .unwrap();
    std::fs::write(
        root.join("artel.toml"),
        "[journal]\ndurability = \"normal\"\n",
    )
    .unwrap();
    let workshop = caller.workshop().unwrap();
    let OpenWorkshopJournal { journal, .. } = workshop.open().unwrap();
    for first in (0..works).step_by(AT_ONCE) {
        let numbers = first..works.min(first + AT_ONCE);
        journal
            .append(EventBatch::of(numbers.flat_map(work)))
            .wait()
            .unwrap();
    }
    let events = journal.reader().head().unwrap();
    (workshop, events)
}

/// Returns a moment after all events.
pub(crate) fn now() -> Timestamp {
    artel_config::system_clock().now()
}

/// Returns the events of one piece of work: a plan, its run, and nine that were called.
fn work(number: usize) -> Vec<EventDraft> {
    let trace = TraceId::from_random(bytes(number, 255));
    let of_work = |fact: Fact| {
        EventDraft::new(
            StreamName::work(trace),
            trace,
            Actor::human("ada", ActorSurface::Cli),
            fact,
        )
    };
    let title = format!("Make part {number} of the index faster than it was");
    let top = RunId::from_random(bytes(number, 0));
    let mut drafts = vec![
        of_work(facts::request(&title, Urgency::Normal).into()),
        of_work(facts::drafted(1, &title).into()),
    ];
    if number.is_multiple_of(OPEN + 1) {
        return drafts;
    }
    drafts.push(of_work(facts::approved(1, top).into()));
    drafts.push(of_work(facts::running(top, 1).into()));
    for child in 0..10 {
        drafts.extend(run(number, child, top, trace));
    }
    if !number.is_multiple_of(OPEN) {
        drafts.push(of_work(facts::ended(top, PlanState::Done).into()));
        drafts.push(of_work(facts::changeset(top).into()));
    }
    drafts
}

/// Returns the twelve events of a run; the last is missing where it is still under way.
fn run(number: usize, child: u8, top: RunId, trace: TraceId) -> Vec<EventDraft> {
    let run = RunId::from_random(bytes(number, child));
    let mut started = facts::started(run, &format!("Step {child} of part {number}: cache it"));
    started.parent = (child > 0 && child < 6).then_some(top);
    let state = match number % 10 {
        0 => "failed",
        1 => "partial",
        _ => "complete",
    };
    let mut all: Vec<Fact> = vec![started.into(), facts::prepared("engineer").into()];
    for turn in 1..=2 {
        let (reply, call) = (turn.to_string(), format!("{turn}.1"));
        all.push(facts::requested(&reply, 1).into());
        all.push(match turn {
            1 => facts::replied(&reply, 1, Some(30)).into(),
            _ => facts::failed(&reply, 1).into(),
        });
        all.push(facts::tool_requested(&call, "shell", "allow").into());
        all.push(facts::tool_finished(&call, "shell", Some(turn - 1)).into());
    }
    all.push(facts::replied("3", 1, None).into());
    if !number.is_multiple_of(OPEN) {
        all.push(facts::finished(run, state).into());
    }
    let draft = |fact| {
        EventDraft::new(StreamName::run(run), trace, Actor::agent("engineer"), fact).in_run(run)
    };
    all.into_iter().map(draft).collect()
}

fn bytes(number: usize, child: u8) -> [u8; 16] {
    let mut bytes = [child; 16];
    // Spread, as random ids are.
    let spread = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bytes[..8].copy_from_slice(&spread.to_be_bytes());
    bytes[9..13].copy_from_slice(&(number as u32).to_be_bytes());
    bytes
}
