//! Queries for events.

use artel_types::Timestamp;
use rusqlite::types::Value;

use crate::columns::SELECT;

/// Conditions that an event must meet. All those that are set must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventFilter {
    /// Whole name of the stream.
    pub stream: Option<String>,
    /// Prefix of the kind: `journal.` or `run.finished`.
    pub kind: Option<String>,
    /// Prefix of the trace id.
    pub trace: Option<String>,
    /// Prefix of the session id.
    pub session: Option<String>,
    /// Prefix of the run id.
    pub run: Option<String>,
    /// The actor: `human:ada@example.org`, only the id, or only the sort (`agent`).
    pub actor: Option<String>,
    /// Pattern for the target: `*` any text, `?` one character, `[a-z]`.
    pub target: Option<String>,
    /// The outcome as a word.
    pub outcome: Option<String>,
    /// Earliest time, inclusive.
    pub since: Option<Timestamp>,
    /// Latest time, exclusive.
    pub until: Option<Timestamp>,
}

/// Length of an id that is written out in full.
const WHOLE_ID: usize = 36;

/// The order in which events are returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EventSortOrder {
    /// In the order they were recorded.
    #[default]
    OldestFirst,
    /// The newest first.
    NewestFirst,
}

/// A query for events: conditions, range, limit and order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventQuery {
    /// Conditions that the events must meet.
    pub filter: EventFilter,
    /// Only events after this sequence number.
    pub after: u64,
    /// Only events before this sequence number.
    pub before: Option<u64>,
    /// Largest number of events to return.
    pub limit: Option<u64>,
    /// The order in which events are returned.
    pub order: EventSortOrder,
}

impl EventQuery {
    /// Queries all events that match.
    pub fn of(filter: EventFilter) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Queries all events.
    pub fn all() -> Self {
        Self::default()
    }

    /// Limits the query to events after `seq`.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Self {
        self.after = seq;
        self
    }

    /// Limits the query to events before `seq`.
    #[must_use]
    pub fn before(mut self, seq: u64) -> Self {
        self.before = Some(seq);
        self
    }

    /// Limits the query to `limit` events.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Declares that few events match. They are then looked up by an index and sorted, instead
    /// of being found by reading the whole table in order.
    #[must_use]
    pub fn few(self) -> Self {
        self.limit(u64::MAX)
    }

    /// Returns the newest events first.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.order = EventSortOrder::NewestFirst;
        self
    }

    /// Returns the statement with its parameters.
    pub(crate) fn sql(&self) -> (String, Vec<Value>) {
        let mut parts = EventQueryClauses {
            is_bounded: self.limit.is_some(),
            ..EventQueryClauses::default()
        };
        self.filter.add_to(&mut parts);
        if self.after == 0 {
            // Events count from 1: somebody else put a row with a lower number there. The plus
            // keeps SQLite from taking this for a range to read, which it is not.
            parts.add("+seq > 0", []);
        } else {
            let after = i64::try_from(self.after).unwrap_or(i64::MAX);
            parts.add("seq > ?", [Value::Integer(after)]);
        }
        if let Some(before) = self.before {
            let before = i64::try_from(before).unwrap_or(i64::MAX);
            parts.add("seq < ?", [Value::Integer(before)]);
        }
        let direction = match self.order {
            EventSortOrder::OldestFirst => "ASC",
            EventSortOrder::NewestFirst => "DESC",
        };
        let clauses = parts.clauses();
        let mut sql = format!("SELECT {SELECT} FROM event{clauses} ORDER BY seq {direction}");
        // SQLite looks at the value of a limit when it plans, and plans again whenever a limit
        // is bound. Written out, it lets a cached statement be planned only once.
        if let Some(limit) = self.limit {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        (sql, parts.values)
    }
}

#[derive(Default)]
struct EventQueryClauses {
    is_bounded: bool,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl EventQueryClauses {
    fn add(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.into());
        self.values.extend(values);
    }

    fn add_text(&mut self, condition: &'static str, text: Option<&String>) {
        if let Some(text) = text {
            self.add(condition, [Value::Text(text.clone())]);
        }
    }

    /// Turns the prefix into a range, so that an index can serve it. The index gives the rows
    /// in its own order, though, and sorting them takes memory for every row. So without a
    /// limit the table is read in its order instead. A whole id needs neither.
    fn add_prefix(&mut self, column: &str, prefix: Option<&String>) {
        let Some(prefix) = prefix else {
            return;
        };
        let text = |text: &str| Value::Text(text.to_owned());
        if prefix.len() == WHOLE_ID {
            return self.add(format!("{column} = ?"), [text(prefix)]);
        }
        let end = format!("{prefix}\u{10FFFF}");
        let column = if self.is_bounded || column.starts_with('+') {
            column.to_owned()
        } else {
            format!("+{column}")
        };
        let range = format!("{column} >= ? AND {column} < ?");
        self.add(range, [text(prefix), text(&end)]);
    }

    fn clauses(&self) -> String {
        if self.conditions.is_empty() {
            return String::new();
        }
        format!(" WHERE {}", self.conditions.join(" AND "))
    }
}

impl EventFilter {
    fn add_to(&self, parts: &mut EventQueryClauses) {
        parts.add_text("stream = ?", self.stream.as_ref());
        // Far fewer events belong to one piece of work than to one kind. Without the plus,
        // SQLite would think the index of kinds as good as the others.
        let ids = [&self.stream, &self.trace, &self.session, &self.run];
        let is_named = ids.iter().any(|id| id.is_some());
        let kind = if is_named { "+kind" } else { "kind" };
        parts.add_prefix(kind, self.kind.as_ref());
        parts.add_prefix("trace", self.trace.as_ref());
        parts.add_prefix("session", self.session.as_ref());
        parts.add_prefix("run", self.run.as_ref());
        parts.add_text("target GLOB ?", self.target.as_ref());
        parts.add_text("outcome = ?", self.outcome.as_ref());
        if let Some(actor) = &self.actor {
            let text = |text: &str| Value::Text(text.to_owned());
            parts.add(
                "(actor = ? OR substr(actor, instr(actor, ':') + 1) = ? \
                 OR substr(actor, 1, instr(actor, ':') - 1) = ?)",
                [text(actor), text(actor), text(actor)],
            );
        }
        if let Some(since) = self.since {
            parts.add("at >= ?", [Value::Integer(since.as_micros())]);
        }
        if let Some(until) = self.until {
            parts.add("at < ?", [Value::Integer(until.as_micros())]);
        }
    }
}
