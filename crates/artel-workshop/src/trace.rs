//! All events of one piece of work.

use artel_journal::{EventFilter, EventQuery, JournalRecord, TraceLookupKey};
use artel_types::{EventVisibility, Failure, FailureCode};
use serde::Serialize;

use crate::workshop::Workshop;

/// The events of one trace, in order.
#[derive(Debug, Clone, Serialize)]
pub struct TraceEvents {
    pub trace: String,
    /// The events that may be shown.
    pub events: Vec<JournalRecord>,
    /// Number of events that only the full view shows.
    pub hidden: u64,
}

/// Number of ids shown for an ambiguous prefix.
const SHOWN: usize = 5;

impl Workshop {
    /// Returns the events of the trace, run or session whose id begins with `id`, up to a
    /// visibility.
    pub fn trace(&self, id: &str, up_to: EventVisibility) -> Result<TraceEvents, Failure> {
        let trace = self.resolve(id)?;
        let filter = EventFilter {
            trace: Some(trace.clone()),
            ..EventFilter::default()
        };
        let mut events = self.reader_as_it_is()?.records(&EventQuery::of(filter))?;
        let all = events.len();
        events.retain(|record| {
            record
                .visibility
                .parse::<EventVisibility>()
                .is_ok_and(|visibility| visibility <= up_to)
        });
        let hidden = (all - events.len()) as u64;
        Ok(TraceEvents {
            trace,
            events,
            hidden,
        })
    }

    /// Returns the id of the only trace that matches.
    pub(crate) fn resolve(&self, id: &str) -> Result<String, Failure> {
        let prefix = id.to_ascii_lowercase();
        let is_plain = |c: char| c.is_ascii_hexdigit() || c == '-';
        if prefix.is_empty() || !prefix.chars().all(is_plain) {
            return Err(unknown(id).because("ids are made of 0-9, a-f and `-`"));
        }
        let reader = self.reader_as_it_is()?;
        let mut found = Vec::new();
        for by in [
            TraceLookupKey::Trace,
            TraceLookupKey::Run,
            TraceLookupKey::Session,
        ] {
            if found.is_empty() {
                found = reader.traces(by, &prefix, SHOWN + 1)?;
            }
        }
        match &found[..] {
            [] => Err(unknown(id)),
            [only] => Ok(only.clone()),
            several => Err(unclear(id, several)),
        }
    }
}

fn unknown(id: &str) -> Failure {
    let shown: String = id.chars().take(80).collect();
    Failure::new(
        FailureCode::W005,
        format!("no trace, run or session has an id that begins with `{shown}`"),
    )
    .advise("`artel journal tail` shows the ids of recent events")
}

fn unclear(id: &str, several: &[String]) -> Failure {
    let more = if several.len() > SHOWN { ", …" } else { "" };
    let list: Vec<String> = several
        .iter()
        .take(SHOWN)
        .map(|trace| format!("`{trace}`"))
        .collect();
    Failure::new(FailureCode::W006, format!("`{id}` is not unique"))
        .because(format!("it could be {}{more}", list.join(", ")))
        .advise("type more characters")
}
