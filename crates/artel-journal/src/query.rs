//! Which events are wanted.

use artel_types::Timestamp;
use rusqlite::types::Value;

use crate::columns::SELECT;

/// What an event must be like. Everything that is named must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The stream's whole name.
    pub stream: Option<String>,
    /// How the kind begins: `journal.` or `run.finished`.
    pub kind: Option<String>,
    /// How the trace begins.
    pub trace: Option<String>,
    /// How the session begins.
    pub session: Option<String>,
    /// How the run begins.
    pub run: Option<String>,
    /// `human:ada@example.org`, only the id, or only the sort (`agent`).
    pub actor: Option<String>,
    /// A pattern for the target: `*` any text, `?` one character, `[a-z]`.
    pub target: Option<String>,
    /// The outcome's word.
    pub outcome: Option<String>,
    /// Not before this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub until: Option<Timestamp>,
}

/// The length of an id that is written out.
const WHOLE_ID: usize = 36;

/// In which order events come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// As they happened.
    #[default]
    OldestFirst,
    /// The last first.
    NewestFirst,
}

/// Which events, from where on, how many, in which order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// What they must be like.
    pub filter: Filter,
    /// Only events after this sequence number.
    pub after: u64,
    /// Only events before this sequence number.
    pub before: Option<u64>,
    /// At most this many.
    pub limit: Option<u64>,
    /// The order.
    pub order: Order,
}

impl Query {
    /// Asks for all events that fit.
    pub fn of(filter: Filter) -> Self {
        Self {
            filter,
            ..Self::default()
        }
    }

    /// Asks for everything.
    pub fn all() -> Self {
        Self::default()
    }

    /// Asks only for events after `seq`.
    #[must_use]
    pub fn after(mut self, seq: u64) -> Self {
        self.after = seq;
        self
    }

    /// Asks only for events before `seq`.
    #[must_use]
    pub fn before(mut self, seq: u64) -> Self {
        self.before = Some(seq);
        self
    }

    /// Asks for at most `limit` events.
    #[must_use]
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Says that few events fit: they are looked up by an index and put in order, instead of being
    /// found by reading everything in its order.
    #[must_use]
    pub fn few(self) -> Self {
        self.limit(u64::MAX)
    }

    /// Asks for the last first.
    #[must_use]
    pub fn newest_first(mut self) -> Self {
        self.order = Order::NewestFirst;
        self
    }

    /// Returns the statement with its parameters.
    pub(crate) fn sql(&self) -> (String, Vec<Value>) {
        let mut parts = Parts {
            is_bounded: self.limit.is_some(),
            ..Parts::default()
        };
        self.filter.add_to(&mut parts);
        if self.after == 0 {
            // Events count from 1: a row below that was put there by somebody else. The plus
            // keeps this from looking like a range to read, which it is not.
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
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        let clauses = parts.clauses();
        let mut sql = format!("SELECT {SELECT} FROM event{clauses} ORDER BY seq {direction}");
        // SQLite looks at the value of a limit when it plans, and plans anew whenever one is bound:
        // written out, a statement that is kept is planned once.
        if let Some(limit) = self.limit {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            sql.push_str(&format!(" LIMIT {limit}"));
        }
        (sql, parts.values)
    }
}

#[derive(Default)]
struct Parts {
    is_bounded: bool,
    conditions: Vec<String>,
    values: Vec<Value>,
}

impl Parts {
    fn add(&mut self, condition: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        self.conditions.push(condition.into());
        self.values.extend(values);
    }

    fn add_text(&mut self, condition: &'static str, text: Option<&String>) {
        if let Some(text) = text {
            self.add(condition, [Value::Text(text.clone())]);
        }
    }

    /// A prefix is a range, so that an index can serve it. The index gives the rows in its own
    /// order, though, and sorting them takes as much memory as there are rows: without a limit
    /// the table is read in its order instead. A whole id needs neither.
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

impl Filter {
    fn add_to(&self, parts: &mut Parts) {
        parts.add_text("stream = ?", self.stream.as_ref());
        // Far fewer events belong to one piece of work than are of one kind; without the plus,
        // the index of kinds would be taken for as good as the others.
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
