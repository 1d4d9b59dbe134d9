//! The query for events: filters, range, order and view.

use artel_journal::{EventFilter, JournalRecord};
use artel_types::{Failure, FailureCode, Timestamp};
use artel_workshop::RunVisibility;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::journal::moment;
use crate::api::seat::eyes;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Default number of events in a page.
const USUAL: u64 = 100;

/// Largest number of events in a page.
const MOST: u64 = 1_000;

/// Query parameters for events. An event must match all of them.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct EventListQuery {
    /// Start of the kind: `run.` or `plan.approved`.
    kind: Option<String>,
    /// Start of the trace.
    trace: Option<String>,
    /// Start of the run's id.
    run: Option<String>,
    /// `human:ada@example.org`, only the id, or only the kind of actor (`agent`).
    actor: Option<String>,
    /// Start of the session's id.
    session: Option<String>,
    /// Full name of the stream.
    stream: Option<String>,
    /// The outcome.
    outcome: Option<String>,
    /// A pattern for the target, in pages only: `*` any text, `?` one character, `[a-z]`.
    target: Option<String>,
    /// Only events since this time, or since a duration ago such as `2h`; in pages only.
    since: Option<String>,
    /// Only events before this time; in pages only.
    until: Option<String>,
    /// Only events after this number.
    #[param(format = "uint64")]
    pub(super) after: Option<u64>,
    /// Only events before this number; in pages only.
    #[param(format = "uint64")]
    pub(super) before: Option<u64>,
    /// Maximum number of events, at most 1,000.
    #[param(format = "uint64")]
    limit: Option<u64>,
    /// `asc`, or `desc` for the newest first.
    order: Option<String>,
    /// `summary`, or `full` if the role may have it.
    view: Option<String>,
}

/// Returns the failure for a query string that cannot be parsed.
pub(super) fn unreadable(rejection: &axum::extract::rejection::QueryRejection) -> Failure {
    Failure::new(FailureCode::C004, "the question cannot be read").because(rejection.body_text())
}

impl EventListQuery {
    /// Refuses parameters that only work in pages: live events are not looked up in the
    /// journal.
    pub(super) fn refuse_of_pages(&self) -> Result<(), Failure> {
        let named = [
            ("target", self.target.is_some()),
            ("since", self.since.is_some()),
            ("until", self.until.is_some()),
            ("before", self.before.is_some()),
        ];
        match named.iter().find(|(_, is_said)| *is_said) {
            Some((name, _)) => {
                let what = format!("`{name}` is not for live events");
                Err(Failure::new(FailureCode::C004, what)
                    .advise("leave it out, or ask without `Accept: text/event-stream`"))
            }
            None => Ok(()),
        }
    }

    pub(super) fn filter(&self, now: Timestamp) -> Result<EventFilter, Failure> {
        let known = [None, Some("asc"), Some("desc")];
        if !known.contains(&self.order.as_deref()) {
            return Err(
                Failure::new(FailureCode::C004, "there is no such order").advise("`asc` or `desc`")
            );
        }
        Ok(EventFilter {
            kind: self.kind.clone(),
            trace: self.trace.clone(),
            run: self.run.clone(),
            actor: self.actor.clone(),
            session: self.session.clone(),
            stream: self.stream.clone(),
            outcome: self.outcome.clone(),
            target: self.target.clone(),
            since: self
                .since
                .as_deref()
                .map(|it| moment(it, now))
                .transpose()?,
            until: self
                .until
                .as_deref()
                .map(|it| moment(it, now))
                .transpose()?,
        })
    }

    pub(super) fn after(&self) -> u64 {
        self.after.unwrap_or(0)
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit.unwrap_or(USUAL).clamp(1, MOST)
    }

    pub(super) fn is_newest_first(&self) -> bool {
        self.order.as_deref() == Some("desc")
    }

    /// Returns what the caller may see. A caller who may only see summaries and asks for
    /// the full view is refused.
    pub(super) fn eyes(
        &self,
        desk: &ServerState,
        who: &AuthenticatedCaller,
    ) -> Result<RunVisibility, Failure> {
        eyes(desk, who, self.view.as_deref())
    }

    /// Returns whether a live event matches the query.
    pub(super) fn fits(&self, record: &JournalRecord) -> bool {
        let begins = |wanted: &Option<String>, is: Option<&str>| match wanted {
            Some(wanted) => is.is_some_and(|is| is.starts_with(wanted.as_str())),
            None => true,
        };
        let by = self.actor.as_deref().is_none_or(|wanted| {
            let (kind, id) = record.actor.split_once(':').unwrap_or(("", &record.actor));
            record.actor == wanted || kind == wanted || id == wanted
        });
        begins(&self.kind, Some(&record.kind))
            && begins(&self.trace, Some(&record.trace))
            && begins(&self.run, record.run.as_deref())
            && begins(&self.session, record.session.as_deref())
            && self.stream.as_ref().is_none_or(|it| *it == record.stream)
            && (self.outcome.is_none() || self.outcome == record.outcome)
            && by
    }
}
