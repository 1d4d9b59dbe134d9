//! The suite: every scenario with hints and without, and the report.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use artel_testkit::standin::StandIn;
use artel_testkit::{figure, start_follower};
use artel_tools::HintVisibility;
use artel_types::{Event, Fact, RecordedText};
use artel_workshop::RunDriveOutcome;

use crate::place::{Place, is_possible};
use crate::scenario::{self, Scenario};

/// So many scenarios there are: one that goes missing is missed.
const SCENARIOS: usize = 111;

/// So many scenarios go on at once.
const AT_ONCE: usize = 3;

/// With hints at least so many of a hundred end well.
const LEAST_WITH: usize = 90;

/// Without hints at most so many of a hundred do.
const MOST_WITHOUT: usize = 20;

struct Row {
    name: String,
    kind: &'static str,
    with: Played,
    without: Played,
}

struct Played {
    is_met: bool,
    turns: u64,
    answer: String,
    /// What was said and done, for those who look why it failed.
    story: String,
}

pub(crate) fn proof_recovery() {
    if !is_possible() {
        return;
    }
    let follower = start_follower();
    let scenarios = scenario::all();
    assert_eq!(scenarios.len(), SCENARIOS);
    // For a look at some of them alone, by a part of their names.
    let wanted = std::env::var("ARTEL_SCENARIO").unwrap_or_default();
    let chosen: Vec<_> = scenarios
        .iter()
        .filter(|it| it.name.contains(&wanted))
        .collect();
    let rows = played(&follower, &chosen);
    report(&rows);
    if !wanted.is_empty() {
        return;
    }
    let count = |is_met: fn(&Row) -> bool| rows.iter().filter(|row| is_met(row)).count();
    let (with, without) = (
        count(|row| row.with.is_met),
        count(|row| row.without.is_met),
    );
    let share =
        |count: usize| format!("{count} of {} ({} %)", rows.len(), count * 100 / rows.len());
    figure(&format!("recovered with hints | {}", share(with)));
    figure(&format!("recovered without hints | {}", share(without)));
    assert!(with * 100 >= rows.len() * LEAST_WITH, "{}", share(with));
    assert!(
        without * 100 <= rows.len() * MOST_WITHOUT,
        "{}",
        share(without)
    );
}

/// Plays every scenario, several at once, each worker in a workshop of its own.
fn played(follower: &StandIn, scenarios: &[&Scenario]) -> Vec<Row> {
    let next = AtomicUsize::new(0);
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(scenarios.len()) {
            scope.spawn(|| {
                let place = Place::new(follower);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scenario) = scenarios.get(number) else {
                        break;
                    };
                    let row = Row {
                        name: scenario.name.clone(),
                        kind: scenario.kind,
                        with: play(&place, scenario, number, HintVisibility::Shown),
                        without: play(&place, scenario, number, HintVisibility::Silent),
                    };
                    rows.lock().unwrap().push((number, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
}

fn play(place: &Place, scenario: &Scenario, number: usize, hints: HintVisibility) -> Played {
    let folder = place.folder(&format!("{number}-{hints:?}"));
    scenario.lay_out(&folder);
    let done = place.run(scenario.skill.as_deref(), &scenario.task(), &folder, hints);
    let answer = done.answer.clone().unwrap_or_default();
    Played {
        is_met: scenario.is_met(&answer),
        turns: turns(&done),
        story: story(&place.events(&done)),
        answer,
    }
}

fn turns(done: &RunDriveOutcome) -> u64 {
    let metrics = done.finished.as_ref().and_then(|it| it.metrics.as_ref());
    metrics.map_or(0, |metrics| metrics.turns)
}

fn story(events: &[Event]) -> String {
    let shown = |text: &RecordedText| match text {
        RecordedText::Inline(text) => text.chars().take(600).collect(),
        RecordedText::Kept(kept) => format!("{} bytes", kept.bytes),
    };
    let lines = events.iter().filter_map(|event| match &event.fact {
        Fact::ToolRequested(fact) => Some(format!("> {} {}", fact.tool, shown(&fact.input))),
        Fact::ToolFinished(fact) => Some(format!("< {}", shown(&fact.observation))),
        Fact::RunSaid(fact) => Some(format!("! {}", fact.why)),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn report(rows: &[Row]) {
    println!(
        "{:<46} {:<9} {:<7} {:>5}  {:<32} without",
        "scenario", "kind", "with", "turns", "recovered by"
    );
    for row in rows {
        let word = |played: &Played| if played.is_met { "yes" } else { "no" };
        let by = row
            .with
            .answer
            .lines()
            .find_map(|line| line.strip_prefix("by: "));
        println!(
            "{:<46} {:<9} {:<7} {:>5}  {:<32} {}",
            row.name,
            row.kind,
            word(&row.with),
            row.with.turns,
            by.unwrap_or_default(),
            word(&row.without)
        );
    }
    for row in rows {
        if !row.with.is_met {
            println!(
                "\n-- {} (with hints)\n{}\n= {}",
                row.name, row.with.story, row.with.answer
            );
        }
        if row.without.is_met {
            println!(
                "\n-- {} (without)\n{}\n= {}",
                row.name, row.without.story, row.without.answer
            );
        }
    }
}
