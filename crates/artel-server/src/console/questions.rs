//! What waits for a person, as cards with what they can do about it.

use artel_workshop::{OpenCall, WaitSort, Waits};
use askama::Template;
use askama::filters::HtmlSafe;

use super::coded::{Coded, coded};
use super::words::{self, When};

/// Something that waits for a decision on a page of its own.
#[derive(Debug, Clone)]
pub(super) struct Card {
    pub(super) sort: &'static str,
    pub(super) href: String,
    pub(super) title: String,
    pub(super) text: Coded,
    pub(super) since: When,
}

/// A question that is answered where it stands.
#[derive(Debug, Clone)]
pub(super) struct Query {
    /// Names the field, for its label.
    pub(super) field: String,
    pub(super) run: String,
    /// Names the question, where the run has several.
    pub(super) question: Option<String>,
    pub(super) title: String,
    pub(super) text: String,
    pub(super) choices: Vec<String>,
    /// What is filled in as the answer.
    pub(super) suggested: String,
    pub(super) since: When,
}

/// A call that needs a yes, with everything it would do.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) trace: String,
    pub(super) tool: String,
    pub(super) why: String,
    pub(super) what: String,
    pub(super) hash: String,
}

/// A request of which no plan came.
#[derive(Debug, Clone)]
pub(super) struct Unplanned {
    /// Names the field, for its label.
    pub(super) field: String,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) why: Coded,
    pub(super) since: When,
}

/// What is answered where it stands.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "needs.html")]
pub(super) struct Needs {
    pub(super) calls: Vec<Call>,
    pub(super) queries: Vec<Query>,
}

/// Requests of which no plan came.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "unplanned.html")]
pub(super) struct AllUnplanned {
    pub(super) unplanned: Vec<Unplanned>,
}

// What these write is escaped where it is written.
impl HtmlSafe for Needs {}
impl HtmlSafe for AllUnplanned {}

impl AllUnplanned {
    /// Gathers them from what waits.
    pub(super) fn of<'a>(waits: impl Iterator<Item = &'a Waits>) -> Self {
        let failed = waits.filter(|it| it.kind == WaitSort::Failed);
        Self {
            unplanned: failed.map(unplanned).collect(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unplanned.is_empty()
    }
}

impl Needs {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.queries.is_empty()
    }
}

/// Returns what is decided on a page of its own.
pub(super) fn card(waits: &Waits) -> Card {
    let href = match waits.kind {
        WaitSort::Plan | WaitSort::Unfinished => format!("/plans/{}", waits.id),
        WaitSort::Changeset => format!("/changesets/{}", waits.id),
        _ => {
            format!("/runs/{}", waits.trace.short())
        }
    };
    Card {
        sort: waits.kind.as_str(),
        href,
        title: waits.title.clone(),
        text: coded(&waits.text),
        since: words::when(waits.since),
    }
}

/// Returns a question with what it can be answered with.
pub(super) fn query(waits: &Waits) -> Query {
    let (run, question) = match waits.id.split_once('/') {
        Some((run, question)) => (run, Some(question.to_owned())),
        None => (waits.id.as_str(), None),
    };
    Query {
        field: format!("answer-{}", waits.id.replace('/', "-")),
        run: run.to_owned(),
        question,
        title: waits.title.clone(),
        text: waits.text.clone(),
        choices: waits.choices.clone(),
        suggested: waits.suggested.clone().unwrap_or_default(),
        since: words::when(waits.since),
    }
}

/// Returns a request of which no plan came, with why.
fn unplanned(waits: &Waits) -> Unplanned {
    Unplanned {
        field: format!("again-{}", waits.id),
        id: waits.id.clone(),
        title: waits.title.clone(),
        why: coded(&waits.text),
        since: words::when(waits.since),
    }
}

/// Returns a call with the whole record of what it would do.
pub(super) fn call(open: OpenCall, what: String) -> Call {
    Call {
        id: open.id(),
        trace: open.trace.short(),
        tool: open.asked.tool,
        why: open.asked.why,
        what,
        hash: open.asked.record,
    }
}
