//! Queries: every answer is the one that a plain look at all events gives, also where some of them
//! were archived.

use std::time::Duration;

use artel_journal::{EventBatch, EventFilter, EventQuery, EventSortOrder, JournalRecord};
use artel_testkit::{ManualClock, Scratch};
use artel_types::{Actor, EventDraft, Fact, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cases;
use crate::events::{OUTCOMES, STREAMS, batches};

const START: &str = "2026-01-01T00:00:00Z";

fn text(choices: &[&'static str]) -> impl Strategy<Value = Option<String>> + use<> {
    let choices = choices.to_vec();
    option::weighted(0.25, select(choices).prop_map(str::to_owned))
}

/// A moment within the time of the journal, often the very one of an event.
fn moment() -> impl Strategy<Value = Option<Timestamp>> {
    option::weighted(
        0.25,
        (0..40_u64, -1..2_i64).prop_map(|(seconds, micros)| {
            let start: Timestamp = START.parse().unwrap();
            let event = start.after(Duration::from_secs(seconds));
            Timestamp::from_micros(event.as_micros() + micros)
        }),
    )
}

fn filter() -> impl Strategy<Value = EventFilter> {
    let ids = [
        "",
        "1",
        "11",
        "12121212-1212",
        "a",
        "21212121-2121-4121-a121-212121212121",
        "x",
    ];
    let kinds = [
        "",
        "note.",
        "note.added",
        "run.",
        "run.finished",
        "s",
        "journal.",
        "nothing.",
    ];
    let actors = [
        "human",
        "agent",
        "system",
        "ada@example.org",
        "human:ada@example.org",
        "engineer",
        "agent:engineer",
        "agent:human",
        "a:b",
        "b",
        "system:a:b",
        "system:",
        "",
        ":",
        ":engineer",
    ];
    let patterns = [
        "",
        "*",
        "?",
        "src/*",
        "src/*.rs",
        "*.md",
        "*é*",
        "docs/?.md",
        "[a-m]*",
        "[^s]*",
        "[[]x]",
        "[*]",
        "a[?]c",
        "s?c/l*b.??",
        "src/lib.rs",
    ];
    let streams: Vec<&str> = STREAMS.into_iter().chain(["journal", "none"]).collect();
    let outcomes: Vec<&str> = OUTCOMES.iter().map(|outcome| outcome.as_str()).collect();
    (
        (
            text(&streams),
            text(&kinds),
            text(&ids),
            text(&ids),
            text(&ids),
        ),
        (
            text(&actors),
            text(&patterns),
            text(&outcomes),
            moment(),
            moment(),
        ),
    )
        .prop_map(|(first, second)| EventFilter {
            stream: first.0,
            kind: first.1,
            trace: first.2,
            session: first.3,
            run: first.4,
            actor: second.0,
            target: second.1,
            outcome: second.2,
            since: second.3,
            until: second.4,
        })
}

fn query() -> impl Strategy<Value = EventQuery> {
    let order = select(vec![
        EventSortOrder::OldestFirst,
        EventSortOrder::NewestFirst,
    ]);
    let numbers = (0..80_u64, option::of(0..80_u64), option::of(0..30_u64));
    (filter(), numbers, order).prop_map(|(filter, (after, before, limit), order)| EventQuery {
        filter,
        after: after.saturating_sub(20),
        before,
        limit,
        order,
    })
}

fn fits(filter: &EventFilter, record: &JournalRecord) -> bool {
    let begins = |wanted: &Option<String>, found: Option<&str>| {
        let Some(wanted) = wanted else { return true };
        found.is_some_and(|found| found.starts_with(wanted.as_str()))
    };
    let is = |wanted: &Option<String>, found: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
    };
    let (sort, id) = record.actor.split_once(':').unwrap();
    is(&filter.stream, Some(&record.stream))
        && begins(&filter.kind, Some(&record.kind))
        && begins(&filter.trace, Some(&record.trace))
        && begins(&filter.session, record.session.as_deref())
        && begins(&filter.run, record.run.as_deref())
        && filter
            .actor
            .as_deref()
            .is_none_or(|actor| [&record.actor, sort, id].contains(&actor))
        && filter.target.as_deref().is_none_or(|pattern| {
            let target = record.target.as_deref();
            target.is_some_and(|target| matches(&chars(pattern), &chars(target)))
        })
        && is(&filter.outcome, record.outcome.as_deref())
        && filter.since.is_none_or(|since| record.at >= since)
        && filter.until.is_none_or(|until| record.at < until)
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect()
}

/// Matches `*`, `?` and `[…]` in the plainest way.
fn matches(pattern: &[char], text: &[char]) -> bool {
    match pattern {
        [] => text.is_empty(),
        ['*', rest @ ..] => (0..=text.len()).any(|skip| matches(rest, &text[skip..])),
        ['?', rest @ ..] => !text.is_empty() && matches(rest, &text[1..]),
        ['[', rest @ ..] => {
            let (is_not, class) = match rest {
                ['^', class @ ..] => (true, class),
                class => (false, class),
            };
            let end = class.iter().position(|c| *c == ']').unwrap();
            let fits = |c: char| match class[..end] {
                [first, '-', last] => (first..=last).contains(&c),
                ref list => list.contains(&c),
            };
            text.first().is_some_and(|c| fits(*c) != is_not)
                && matches(&class[end + 1..], &text[1..])
        }
        [c, rest @ ..] => text.first() == Some(c) && matches(rest, &text[1..]),
    }
}

/// Answers a query the plain way.
fn look(all: &[JournalRecord], query: &EventQuery) -> Vec<JournalRecord> {
    let mut found: Vec<JournalRecord> = all
        .iter()
        .filter(|record| record.seq > query.after)
        .filter(|record| query.before.is_none_or(|before| record.seq < before))
        .filter(|record| fits(&query.filter, record))
        .cloned()
        .collect();
    if query.order == EventSortOrder::NewestFirst {
        found.reverse();
    }
    let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
    found.truncate(limit);
    found
}

/// Fills a journal, a second passing with each batch, and prunes now and then.
fn filled(batches: Vec<Vec<EventDraft>>, prune_after: &[usize]) -> (Scratch, Vec<JournalRecord>) {
    let clock = ManualClock::at(START);
    let scratch = Scratch::with_clock(clock.clock());
    let journal = scratch.create();
    let mut all = Vec::new();
    for (number, batch) in batches.into_iter().enumerate() {
        journal.append(EventBatch::of(batch)).wait().unwrap();
        clock.pass(Duration::from_secs(1));
        if prune_after.contains(&number) {
            all = journal.reader().records(&EventQuery::all()).unwrap();
            let now = scratch.options.clock.now();
            let by = Actor::system("test");
            journal.prune(now, Fact::ends_stream, &by).unwrap();
            let after = journal.reader().records(&EventQuery::all()).unwrap();
            assert_eq!(after[..all.len()], all[..], "no event is lost or changed");
        }
    }
    let after = journal.reader().records(&EventQuery::all()).unwrap();
    assert_eq!(after[..all.len()], all[..]);
    drop(journal);
    (scratch, after)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn answers_are_those_of_a_plain_look_at_everything(
        batches in batches(0..120),
        prune_after in vec(0..12_usize, 0..4),
        queries in vec(query(), 40),
    ) {
        let (scratch, all) = filled(batches, &prune_after);
        let reader = scratch.reader();
        for query in queries {
            let found = reader.records(&query).unwrap();
            let seqs = |records: &[JournalRecord]| -> Vec<u64> {
                records.iter().map(|record| record.seq).collect()
            };
            let expected = look(&all, &query);
            prop_assert_eq!(seqs(&found), seqs(&expected), "{:?}", query);
            prop_assert_eq!(found, expected);
        }
        prop_assert!(scratch.verify().ok);
    }
}
