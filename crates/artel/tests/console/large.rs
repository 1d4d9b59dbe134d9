//! A workshop with very many runs, one of them very long: pages stay as small as any other, and
//! everything is still found.

use artel_journal::{CommitDurability, EventBatch, Journal, JournalOptions};
use artel_testkit::{is_long, scaled, system_clock};
use artel_types::model::{MessagePart, ModelReply, ReplyStopReason, ToolCall};
use artel_types::{Actor, EventDraft, Fact, RunId, RunSteered, StreamName, Tokens, TraceId};
use serde_json::{Value, json};

use crate::facts;
use crate::scripts::talkative;
use crate::stage::Stage;
use crate::support::House;
use crate::town::Town;
use crate::wire::get;

/// Events that are appended at once.
const AT_ONCE: usize = 2_000;

/// Events of a turn.
const TURN: u64 = 4;

/// What a turn reads and writes.
const TOKENS: u64 = 790;

/// The run with very many events.
struct Long {
    run: RunId,
    trace: TraceId,
}

impl Long {
    fn new() -> Self {
        let bytes = [0xab; 16];
        Self {
            run: RunId::from_random(bytes),
            trace: TraceId::from_random(bytes),
        }
    }

    fn draft(&self, fact: impl Into<Fact>) -> EventDraft {
        let actor = Actor::agent("engineer");
        EventDraft::new(StreamName::run(self.run), self.trace, actor, fact).in_run(self.run)
    }

    /// It begins, and a person pauses it, so that nobody goes on with it.
    fn beginning(&self) -> Vec<EventDraft> {
        let mut started = facts::started(self.run, "A very long run");
        started.skill = None;
        let paused = RunSteered {
            act: "pause".to_owned(),
            text: String::new(),
        };
        let mut prepared = facts::prepared("engineer");
        prepared.turns = 1_000_000;
        vec![
            self.draft(started),
            self.draft(prepared),
            self.draft(paused),
        ]
    }

    fn turn(&self, number: u64) -> [EventDraft; TURN as usize] {
        let (reply, call) = (number.to_string(), format!("{number}.1"));
        let mut replied = facts::replied(&reply, 1, Some(30));
        replied.reply = said(&format!("Word {number} of it."), &call)
            .as_str()
            .into();
        [
            self.draft(facts::requested(&reply, 1)),
            self.draft(replied),
            self.draft(facts::tool_requested(&call, "shell", "allow")),
            self.draft(facts::tool_finished(&call, "shell", Some(0))),
        ]
    }
}

/// What a model answers that says something and wants a command run.
fn said(text: &str, call: &str) -> String {
    let reply = ModelReply {
        id: None,
        model: None,
        parts: vec![
            MessagePart::Text {
                text: text.to_owned(),
                seal: None,
            },
            MessagePart::ToolCall(ToolCall {
                id: call.to_owned(),
                name: "shell".to_owned(),
                arguments: r#"{"command":"true"}"#.to_owned(),
                seal: None,
            }),
        ],
        stop: ReplyStopReason::ToolUse,
        usage: None,
    };
    serde_json::to_string(&reply).unwrap()
}

/// Puts on record what is handed over, without waiting for the disk at each batch.
pub(crate) fn record(house: &House, drafts: impl IntoIterator<Item = EventDraft>) {
    let options = JournalOptions {
        durability: CommitDurability::Normal,
        ..JournalOptions::new(system_clock(), TraceId::from_random([1; 16]))
    };
    let journal = Journal::open(&house.journal_home(), house.id(), options);
    let journal = journal.unwrap().journal;
    let mut drafts = drafts.into_iter().peekable();
    while drafts.peek().is_some() {
        let some: Vec<EventDraft> = drafts.by_ref().take(AT_ONCE).collect();
        journal.append(EventBatch::of(some)).wait().unwrap();
    }
}

/// A run that is over.
pub(crate) fn over(number: u64, title: &str) -> [EventDraft; 2] {
    let mut bytes = [7; 16];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    let (run, trace) = (RunId::from_random(bytes), TraceId::from_random(bytes));
    let draft = |fact: Fact| {
        let actor = Actor::agent("engineer");
        EventDraft::new(StreamName::run(run), trace, actor, fact).in_run(run)
    };
    let started = facts::started(run, title);
    [
        draft(started.into()),
        draft(facts::finished(run, "complete").into()),
    ]
}

/// A town with so many runs, and a run of so many turns.
fn large(runs: u64, turns: u64) -> (Town, Long) {
    let town = Town::saying(&talkative());
    let long = Long::new();
    let others = (0..runs).flat_map(|number| over(number, &format!("Row {number}")));
    let turns = (1..=turns).flat_map(|number| long.turn(number));
    record(&town.house, others.chain(long.beginning()).chain(turns));
    (town, long)
}

/// The events on a page's time line, and where it goes on.
fn time_line(page: &str) -> (Vec<u64>, Option<u64>) {
    let rows = page.split("<th scope=\"row\" class=\"num\">").skip(1);
    let number = |part: &str| part.split('<').next().unwrap().parse::<u64>().unwrap();
    let older = page.split("&amp;before=").nth(1);
    let older = older.map(|rest| rest.split('#').next().unwrap().parse().unwrap());
    (rows.map(number).collect(), older)
}

#[test]
fn of_a_long_run_the_latest_is_told_and_all_of_it_is_found() {
    let turns = 1_100;
    let (town, long) = large(20, turns);
    let stage = Stage::of(town);
    let token = stage.token("developer");
    let path = format!("/runs/{}", long.run);
    let page = get(&stage.listen, &token, &format!("{path}?view=full")).text;
    assert!(page.contains(&format!("Word {turns} of it.")), "the latest");
    assert!(page.contains(&format!("[turn {turns}")), "by its number");
    assert!(!page.contains("Word 1 of it."), "the first is left out");
    assert!(page.contains("This is a long story"), "and that is said");
    assert!(page.contains("A very long run"));
    assert!(
        page.contains(&format!("<dt>turns</dt><dd>{turns}</dd>")),
        "{page}"
    );
    let tokens = Tokens(turns * TOKENS);
    assert!(
        page.contains(&format!("<dt>tokens</dt><dd>{tokens}</dd>")),
        "{page}"
    );
    assert!(page.contains(">Resume<"), "it is paused");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());

    let mut seen = Vec::new();
    let mut before: Option<u64> = None;
    loop {
        let more = before.map_or(String::new(), |before| format!("&before={before}"));
        let page = get(&stage.listen, &token, &format!("{path}?view=full{more}")).text;
        let (rows, older) = time_line(&page);
        seen.extend(rows);
        match older {
            Some(older) => before = Some(older),
            None => break,
        }
    }
    let events = turns * TURN + 3;
    assert_eq!(seen.len() as u64, events, "each event of it");
    assert!(seen.is_sorted_by(|one, other| one > other), "once");
    // Those who are told of by another name see the same.
    let page = get(&stage.listen, &token, &format!("/runs/{}", long.trace)).text;
    assert!(page.contains("This is a long story"));
}

/// Ten thousand runs, and one of two hundred thousand events, in a browser.
#[test]
fn proof_console_is_quick_with_very_much_on_record() {
    let (runs, events) = (scaled(10_000), scaled(200_000));
    let (town, long) = large(runs, events / TURN);
    let stage = Stage::of(town);
    let last = std::cell::Cell::new(events / TURN);
    stage.play_with("large.mjs", &|word| match word {
        "extent" => json!({
            "runs": runs, "events": events, "rounds": if is_long() { 100 } else { 8 },
            "run": long.run.to_string(), "last": last.get(),
        }),
        "turn" => {
            last.set(last.get() + 1);
            record(&stage.town.house, long.turn(last.get()));
            Value::from(last.get())
        }
        word => panic!("nobody can `{word}` here"),
    });
}
