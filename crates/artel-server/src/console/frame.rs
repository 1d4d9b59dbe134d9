//! The frame around every page, and the steps from a request to a rendered page.

use std::cell::OnceCell;
use std::sync::Arc;

use artel_types::{Failure, FailureCode, Timestamp, TraceId};
use artel_workshop::{
    AttentionItem, AttentionKind, CallAwaitingApproval, DriverProcesses, OnFailure, PagedRows,
    PlanRules, RunIndexQuery, RunRow, RunVisibility, TimelineDetailLevel, ViewerRole,
    WorkIndexQuery, WorkRow, Workshop, WorkshopFailures,
};
use askama::Template;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse as _, Response};
use serde::de::DeserializeOwned;

use super::coded::{InlineCodeText, coded};
use super::words;
use crate::api::ApiError;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;
use crate::rights;

/// Rules for viewing a plan, where no step is started.
pub(super) const LOOKING: PlanRules = PlanRules {
    at_once: 1,
    failure: OnFailure::Continue,
};

/// The frame around a page: title, menu and viewer.
#[derive(Debug, Clone, Default)]
pub(super) struct PageFrame {
    pub(super) title: String,
    /// The menu entry that the page belongs to.
    pub(super) place: &'static str,
    /// The last event that the page includes; the browser follows those after it.
    pub(super) seq: u64,
    /// The id of the sign-in whose key the page needs to send changes; empty for a viewer
    /// with a token.
    pub(super) sign_in: String,
    /// Name of the viewer.
    pub(super) name: String,
    /// The viewer's role.
    pub(super) role: &'static str,
    /// Number of things that wait for the viewer. It is part of the title, so that it shows
    /// on the tabs of pages in the background.
    pub(super) needs: usize,
    /// The view in which events are followed: `summary` or `full`.
    pub(super) view: &'static str,
    /// The shortage of disk space, while everything waits for it.
    pub(super) lacks: Option<String>,
}

/// An entry of the menu.
pub(super) struct MenuEntry {
    pub(super) place: &'static str,
    pub(super) href: &'static str,
    pub(super) label: &'static str,
    pub(super) key: &'static str,
    /// The least role that can open it.
    least: ViewerRole,
}

use ViewerRole::{Developer, User};

/// The menu; `g` followed by the entry's key opens its page.
const MENU: &[MenuEntry] = &[
    entry("now", "/", "Now", "n", User),
    entry("plans", "/plans", "Plans", "p", User),
    entry("runs", "/runs", "Runs", "r", User),
    entry("changesets", "/changesets", "Changesets", "c", User),
    entry("reports", "/reports", "Reports", "o", User),
    entry("skills", "/skills", "Skills", "s", Developer),
    entry("agents", "/agents", "Agents", "a", User),
    entry("usage", "/usage", "Usage", "u", Developer),
    entry("journal", "/journal", "Journal", "j", User),
    entry("settings", "/settings", "Settings", "t", Developer),
];

const fn entry(
    place: &'static str,
    href: &'static str,
    label: &'static str,
    key: &'static str,
    least: ViewerRole,
) -> MenuEntry {
    MenuEntry {
        place,
        href,
        label,
        key,
        least,
    }
}

impl PageFrame {
    /// Returns the menu entries that the viewer can open.
    pub(super) fn menu(&self) -> Vec<&'static MenuEntry> {
        let can = |entry: &&MenuEntry| entry.least == User || self.role != User.as_str();
        MENU.iter().filter(can).collect()
    }
}

/// Everything that a page is built from.
pub(super) struct PageContext {
    pub(super) desk: Arc<ServerState>,
    pub(super) who: AuthenticatedCaller,
    pub(super) workshop: Arc<Workshop>,
    /// The processes that drive runs and work.
    pub(super) drivers: DriverProcesses,
    /// The wait list, loaded on first use, because most pages need it more than once.
    waiting: OnceCell<Arc<[Arc<AttentionItem>]>>,
    /// The last event before building began, so that no later event is missed.
    seq: u64,
}

/// The page that is shown instead when a page fails.
#[derive(Template)]
#[template(path = "trouble.html")]
struct FailurePage {
    frame: PageFrame,
    code: String,
    what: InlineCodeText,
    why: Option<InlineCodeText>,
    advice: Option<InlineCodeText>,
}

impl PageContext {
    pub(super) fn open(desk: Arc<ServerState>, who: AuthenticatedCaller) -> Result<Self, Failure> {
        let seq = desk.board().position();
        let workshop = who.workshop(&desk)?;
        Ok(Self {
            drivers: workshop.drivers_now()?,
            waiting: OnceCell::new(),
            workshop,
            desk,
            who,
            seq,
        })
    }

    /// Returns the frame for a page.
    pub(super) fn frame(&self, place: &'static str, title: impl Into<String>) -> PageFrame {
        let needs_me =
            |it: &AttentionItem| !matches!(it.kind, AttentionKind::Left | AttentionKind::Paused);
        let mine = self.waiting().filter(|it| self.decides(it));
        PageFrame {
            seq: self.seq,
            needs: mine.filter(|it| needs_me(it)).count() + self.calls().len(),
            // The summary contains no calls, models or grants.
            view: if self.sees_all() { "full" } else { "summary" },
            lacks: self.desk.lack().map(|lack| lack.to_string()),
            ..bare(&self.who, place, title.into())
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        self.workshop.caller().clock().now()
    }

    /// Returns whether the viewer may see how things are done, and not only the results.
    pub(super) fn is_developer(&self) -> bool {
        self.who.pass.role >= ViewerRole::Developer
    }

    pub(super) fn is_admin(&self) -> bool {
        self.who.pass.role >= ViewerRole::Admin
    }

    /// Returns what the viewer may see, limited to `view`.
    pub(super) fn eyes(&self, view: TimelineDetailLevel) -> RunVisibility {
        self.workshop.eyes_of(self.who.pass.role).looking(view)
    }

    /// Returns whether the viewer may see runs in full.
    pub(super) fn sees_all(&self) -> bool {
        self.eyes(TimelineDetailLevel::Full).view == TimelineDetailLevel::Full
    }
}

impl PageContext {
    /// Returns whether the viewer may decide about a waiting item.
    pub(super) fn decides(&self, waits: &AttentionItem) -> bool {
        rights::decides(&self.who, waits)
    }

    /// Lists everything that needs a person, whichever person that is.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &AttentionItem> + Clone {
        let waits = self
            .waiting
            .get_or_init(|| self.desk.waiting(&self.drivers));
        waits.iter().map(|it| &**it)
    }

    /// Lists the calls that wait for approval, if the viewer may approve them. Viewers who
    /// may only see summaries may not see what a call would do.
    pub(super) fn calls(&self) -> Vec<CallAwaitingApproval> {
        if self.is_developer() && self.sees_all() {
            self.desk.board().calls(&self.drivers)
        } else {
            Vec::new()
        }
    }

    pub(super) fn runs(&self, wanted: &RunIndexQuery) -> PagedRows<RunRow> {
        self.desk.board().runs(wanted, &self.drivers)
    }

    pub(super) fn works(&self, wanted: &WorkIndexQuery) -> PagedRows<WorkRow> {
        self.desk.board().works(wanted, &self.drivers)
    }

    /// Returns the list row of a piece of work.
    pub(super) fn work(&self, trace: TraceId) -> Option<WorkRow> {
        self.desk.board().work(trace, &self.drivers)
    }
}

/// Builds a page on a thread that may block, and renders it.
pub(super) async fn show<P, G>(
    desk: Arc<ServerState>,
    who: AuthenticatedCaller,
    gather: G,
) -> Response
where
    P: Template + Send + 'static,
    G: FnOnce(&PageContext) -> Result<P, WorkshopFailures> + Send + 'static,
{
    let looking = who.clone();
    let seen = Arc::clone(&desk);
    let rendered = desk.look(move || {
        let site = PageContext::open(seen, looking)?;
        let page = gather(&site).map_err(|problems| problems.first())?;
        render(&page)
    });
    match rendered.await {
        Ok(text) => Html(text).into_response(),
        Err(failure) => trouble(&who, failure),
    }
}

/// The query parameters of a page. Invalid ones are answered with a page in our own words.
pub(super) struct PageQueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for PageQueryParams<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let who = AuthenticatedCaller::from_request_parts(parts, state).await;
        let who = who.map_err(|refusal| refusal.into_response())?;
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|read| Self(read.0)).map_err(|rejection| {
            let failure = Failure::new(FailureCode::C004, "what the address asks for does not fit")
                .because(rejection.body_text())
                .advise("leave out what stands after the `?`, or follow a link of the menu");
            trouble(&who, failure)
        })
    }
}

/// The path parameters of a page.
pub(super) struct PagePathParams<T = String>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PagePathParams<T> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        let who = AuthenticatedCaller::from_request_parts(parts, state).await;
        let who = who.map_err(|refusal| refusal.into_response())?;
        let read = Path::<T>::from_request_parts(parts, state).await;
        read.map(|read| Self(read.0)).map_err(|rejection| {
            let failure = Failure::new(FailureCode::C004, "the name in the address cannot be read")
                .because(rejection.body_text())
                .advise("follow a link of the menu");
            trouble(&who, failure)
        })
    }
}

/// Returns the page that shows a failure.
pub(super) fn trouble(who: &AuthenticatedCaller, failure: Failure) -> Response {
    let status = ApiError(failure.clone()).status();
    let page = FailurePage {
        frame: bare(who, "", failure.what.clone()),
        code: failure.code.to_string(),
        what: coded(&failure.what),
        why: failure.why.as_deref().map(coded),
        advice: failure.advice.as_deref().map(coded),
    };
    match render(&page) {
        Ok(text) => (status, Html(text)).into_response(),
        Err(failure) => ApiError(failure).into_response(),
    }
}

/// Renders a page. Deceptive characters are escaped, wherever they come from.
pub(super) fn render(page: &impl Template) -> Result<String, Failure> {
    let text = page.render().map_err(|error| {
        Failure::new(FailureCode::X001, "a page could not be rendered").because(error.to_string())
    })?;
    Ok(words::seen(text))
}

fn bare(who: &AuthenticatedCaller, place: &'static str, title: String) -> PageFrame {
    PageFrame {
        title,
        place,
        seq: 0,
        sign_in: who
            .sign_in
            .as_ref()
            .map(|it| it.pass.id.clone())
            .unwrap_or_default(),
        name: who.pass.name.clone(),
        role: who.pass.role.as_str(),
        needs: 0,
        view: "summary",
        lacks: None,
    }
}
