//! Events of every shape, from small pools, so that streams, ids and targets meet again.

use artel_types::{
    Actor, ActorSurface, BudgetLevel, BudgetReserved, BudgetSettled, ConfigLoaded, EventDraft,
    EventOutcome, EventVisibility, Fact, NoteAdded, RecordedText, RunFinished, RunId, RunStarted,
    SessionEnded, SessionId, SessionStarted, SpendAmount, StreamName, TraceId,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) const STREAMS: [&str; 5] = ["a", "a/b", "run/7c1e", "workshop", "z:9"];

pub(crate) const OUTCOMES: [EventOutcome; 6] = [
    EventOutcome::Done,
    EventOutcome::Failed,
    EventOutcome::Allowed,
    EventOutcome::Denied,
    EventOutcome::Cancelled,
    EventOutcome::Unknown,
];

const TARGETS: [&str; 7] = [
    "",
    "src/lib.rs",
    "src/main.rs",
    "docs/é.md",
    "[x]",
    "*",
    "a?c",
];

/// Returns ids that begin alike: `11111111-…`, `12121212-…`, `21212121-…`, `abababab-…`.
pub(crate) fn id_bytes(number: usize) -> [u8; 16] {
    [[0x11, 0x12, 0x21, 0xab][number % 4]; 16]
}

/// Returns actors whose ids look like sorts and the other way around.
pub(crate) fn actors() -> Vec<Actor> {
    vec![
        Actor::human("ada@example.org", ActorSurface::Cli),
        Actor::human("ada@example.org", ActorSurface::Web),
        Actor::agent("engineer"),
        Actor::agent("human"),
        Actor::system("a:b"),
        Actor::system("agent"),
        Actor::system(""),
    ]
}

/// Any event.
pub(crate) fn draft() -> impl Strategy<Value = EventDraft> {
    let ids = (0..4_usize, option::of(0..4_usize), option::of(0..4_usize));
    let about = (
        option::of(select(&TARGETS[..])),
        option::of(select(&OUTCOMES[..])),
        option::of(0..500_u64),
    );
    let visibilities = [
        EventVisibility::Summary,
        EventVisibility::Full,
        EventVisibility::Hidden,
    ];
    (
        select(&STREAMS[..]),
        ids,
        select(actors()),
        about,
        select(visibilities.to_vec()),
        fact(),
    )
        .prop_map(|(stream, ids, actor, about, visibility, fact)| EventDraft {
            stream: StreamName::new(stream).unwrap(),
            trace: TraceId::from_random(id_bytes(ids.0)),
            session: ids.1.map(|id| SessionId::from_random(id_bytes(id))),
            run: ids.2.map(|id| RunId::from_random(id_bytes(id))),
            cause: about.2,
            actor,
            target: about.0.map(str::to_owned),
            outcome: about.1,
            visibility,
            fact,
        })
}

/// Any list of events, split into batches at random.
pub(crate) fn batches(
    events: std::ops::Range<usize>,
) -> impl Strategy<Value = Vec<Vec<EventDraft>>> {
    (vec(draft(), events), vec(1..20_usize, 1..10)).prop_map(|(drafts, sizes)| {
        let mut drafts = drafts.into_iter().peekable();
        let mut sizes = sizes.into_iter().cycle();
        let mut batches = Vec::new();
        while drafts.peek().is_some() {
            let size = sizes.next().unwrap_or(1);
            batches.push(drafts.by_ref().take(size).collect());
        }
        batches
    })
}

fn fact() -> impl Strategy<Value = Fact> {
    let run = || RunId::from_random(id_bytes(0));
    let session = || SessionId::from_random(id_bytes(1));
    prop_oneof![
        4 => any::<String>().prop_map(|text| NoteAdded { text: RecordedText::Inline(text) }.into()),
        1 => ".{0,40}".prop_map(move |title| RunStarted::new(run(), title).into()),
        1 => ".{0,40}".prop_map(move |summary| RunFinished::new(run(), summary).into()),
        1 => ".{0,40}".prop_map(move |title| SessionStarted { id: session(), title }.into()),
        1 => Just(SessionEnded { id: session() }.into()),
        1 => (0..9_u64, any::<u64>()).prop_map(|(key, tokens)| BudgetSettled {
            key: key.to_string(),
            amount: SpendAmount::new(tokens, 1),
        }.into()),
        1 => any::<u64>().prop_map(|money| BudgetReserved {
            step: None,
            key: "call".to_owned(),
            levels: vec![BudgetLevel::Global, BudgetLevel::Step("2".to_owned())],
            amount: SpendAmount::new(0, money),
        }.into()),
        1 => vec("[a-z/]{0,9}", 0..3).prop_map(|files| ConfigLoaded {
            checksum: "00".to_owned(),
            files,
        }.into()),
    ]
}
