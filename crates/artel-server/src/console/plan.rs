//! The page of a plan: what is going to be done, by whom, with what, and how its success is
//! shown.

mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::plan::{Plan, PlanState, StepState};
use artel_types::{Fact, Failure, Money};
use artel_workshop::{DraftedPlanVersion, PlanRun, StepEstimate, Work};
use askama::Template;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse as _, Response};
use serde::Deserialize;

pub(super) use self::steps::{PlanPageStep, cards};
use super::coded::{InlineCodeText, coded};
use super::frame::{PageContext, PageFrame, PagePathParams, PageQueryParams, render, trouble};
use super::graph::{PlanGraphDrawing, draw};
use super::words::{self, TimeLabel};
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Query parameters: the version to show, and the version to compare it with.
#[derive(Debug, Default, Deserialize)]
pub(super) struct PlanPageQuery {
    v: Option<u32>,
    from: Option<u32>,
}

#[derive(Template)]
#[template(path = "plan.html")]
pub(super) struct PlanPage {
    pub(super) frame: PageFrame,
    pub(super) id: String,
    pub(super) trace: String,
    pub(super) run: Option<String>,
    pub(super) request: String,
    /// Constraints on the work and conditions for its result, taken from the request's
    /// words.
    pub(super) claims: Vec<PlanPageRequirement>,
    pub(super) asked: TimeLabel,
    pub(super) by: String,
    pub(super) portal: Option<String>,
    pub(super) state: words::StateLabel,
    pub(super) why: Option<InlineCodeText>,
    pub(super) version: u32,
    pub(super) hash: String,
    pub(super) versions: Vec<PlanPageVersionRow>,
    /// Whether the shown version waits for a decision.
    pub(super) is_open: bool,
    /// Whether the shown version is being carried out; comments on it then apply to steps
    /// not yet started.
    pub(super) is_running: bool,
    /// Whether it can be cancelled.
    pub(super) is_going: bool,
    pub(super) can_retry: bool,
    /// Whether the viewer can edit its text and act on single steps.
    pub(super) can_edit: bool,
    pub(super) plan: Plan,
    pub(super) graph: Option<PlanGraphDrawing>,
    pub(super) steps: Vec<PlanPageStep>,
    pub(super) tokens: String,
    pub(super) cost: String,
    /// The budgets whose remainder the estimate exceeds.
    pub(super) short: Vec<String>,
    pub(super) comments: Vec<PlanPageComment>,
    pub(super) proposals: Vec<PlanPageProposal>,
    /// The version with which the shown version is compared.
    pub(super) from: u32,
    pub(super) difference: Option<PlanPageDiff>,
}

/// A requirement that a request's words state or suggest.
#[derive(Debug, Clone)]
pub(super) struct PlanPageRequirement {
    pub(super) sort: &'static str,
    pub(super) text: String,
    pub(super) source: String,
}

/// A version in the list of versions.
#[derive(Debug, Clone)]
pub(super) struct PlanPageVersionRow {
    pub(super) number: u32,
    pub(super) by: String,
    pub(super) at: TimeLabel,
    pub(super) is_shown: bool,
}

/// A person's comment on a version.
#[derive(Debug, Clone)]
pub(super) struct PlanPageComment {
    pub(super) version: u32,
    pub(super) text: String,
    pub(super) by: String,
    pub(super) at: TimeLabel,
}

/// A change that an agent proposed.
#[derive(Debug, Clone)]
pub(super) struct PlanPageProposal {
    pub(super) id: String,
    pub(super) step: String,
    pub(super) is_blocking: bool,
}

/// The difference of two versions.
#[derive(Debug, Clone)]
pub(super) struct PlanPageDiff {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) lines: Vec<PlanPageDiffLine>,
}

/// A line of a difference.
#[derive(Debug, Clone)]
pub(super) struct PlanPageDiffLine {
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// Everything that is read before the cost is estimated.
struct PlanPageSource {
    site: PageContext,
    work: Work,
    drafted: DraftedPlanVersion,
    plan: Plan,
    from: Option<u32>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
    PageQueryParams(wanted): PageQueryParams<PlanPageQuery>,
) -> Response {
    match rendered(desk, who.clone(), id, wanted).await {
        Ok(text) => Html(text).into_response(),
        Err(failure) => trouble(&who, failure),
    }
}

async fn rendered(
    desk: Arc<ServerState>,
    who: AuthenticatedCaller,
    id: String,
    wanted: PlanPageQuery,
) -> Result<String, Failure> {
    let seen = Arc::clone(&desk);
    let read = desk.look(move || {
        let site = PageContext::open(seen, who)?;
        let work = site.workshop.work_named(&id)?;
        let (drafted, plan) = site.workshop.plan_of(&work, wanted.v)?;
        Ok(PlanPageSource {
            site,
            work,
            drafted,
            plan,
            from: wanted.from,
        })
    });
    let read = read.await?;
    let model = read.work.request.model.clone();
    let estimates = read.site.workshop.estimate(&read.plan, model.as_deref());
    let estimates = estimates.await?;
    desk.look(move || render(&gather(read, &estimates)?)).await
}

fn gather(read: PlanPageSource, estimates: &[StepEstimate]) -> Result<PlanPage, Failure> {
    let PlanPageSource {
        site,
        work,
        drafted,
        plan,
        from,
    } = read;
    let version = drafted.fact.version;
    let difference = difference(&site, &work, from, version)?;
    let conduct = site.workshop.progress_of(&work)?;
    let steps = conduct.iter().flat_map(PlanRun::steps);
    let states: BTreeMap<_, _> = steps
        .map(|(step, stands)| (step.id.clone(), stands.state))
        .collect();
    let shown = |(id, state): (&String, &StepState)| {
        let waits = conduct.as_ref().is_some_and(|it| it.is_waiting(id));
        let state = if waits {
            words::WAITS
        } else {
            words::step(*state)
        };
        (id.clone(), state)
    };
    let drawn: BTreeMap<_, _> = states.iter().map(shown).collect();
    let in_review = work.course.in_review().map(|it| it.number);
    let newest = work.course.newest().map(|it| it.number);
    let state = work.course.state();
    let short = work.trace.short();
    let tokens = estimates.iter().map(|it| it.tokens).sum();
    Ok(PlanPage {
        frame: site.frame("plans", format!("Plan: {}", plan.title)),
        trace: work.trace.to_string(),
        run: work.course.run().map(|run| run.to_string()),
        request: site.workshop.whole_text(&work.request.words)?,
        claims: claims(&work),
        asked: words::when(work.at),
        by: work.by.label().into_owned(),
        portal: work.request.portal.clone(),
        state: words::state(state.map_or("planned", PlanState::as_str)),
        why: work.course.why().map(coded),
        is_open: in_review == Some(version),
        is_running: matches!(state, Some(PlanState::Approved | PlanState::Running))
            && newest == Some(version),
        is_going: state.is_some_and(|state| !state.is_over()),
        can_retry: state == Some(PlanState::Failed)
            && work.course.run().is_some()
            && site.is_developer(),
        can_edit: site.is_developer(),
        versions: versions(&work, version),
        graph: draw(&plan, &drawn),
        steps: cards(&plan, (&states, &drawn), estimates),
        tokens: words::tokens(tokens),
        cost: words::cost(sum(estimates), tokens),
        short: match in_review {
            Some(_) => site.workshop.shortages(tokens, sum(estimates))?,
            None => Vec::new(),
        },
        comments: comments(&work),
        proposals: proposals(&work),
        from: difference.as_ref().map_or(version, |it| it.from),
        difference,
        hash: drafted.fact.hash,
        id: short,
        version,
        plan,
    })
}

fn claims(work: &Work) -> Vec<PlanPageRequirement> {
    let sorts = [
        ("limit", &work.request.constraints),
        ("has to hold", &work.request.criteria),
    ];
    let claimed = sorts.into_iter().flat_map(|(sort, claims)| {
        claims.iter().map(move |claim| PlanPageRequirement {
            sort,
            text: claim.text.clone(),
            source: claim.source.to_string(),
        })
    });
    claimed.collect()
}

fn versions(work: &Work, shown: u32) -> Vec<PlanPageVersionRow> {
    let row = |it: &DraftedPlanVersion| PlanPageVersionRow {
        number: it.fact.version,
        by: it.by.label().into_owned(),
        at: words::when(it.at),
        is_shown: it.fact.version == shown,
    };
    work.versions.iter().rev().map(row).collect()
}

fn comments(work: &Work) -> Vec<PlanPageComment> {
    let said = work.events.iter().flat_map(|event| {
        let (version, texts) = match &event.fact {
            Fact::PlanCommented(it) => (it.version, it.comments.as_slice()),
            _ => (0, [].as_slice()),
        };
        texts.iter().map(move |text| PlanPageComment {
            version,
            text: text.clone(),
            by: event.actor.label().into_owned(),
            at: words::when(event.at),
        })
    });
    said.collect()
}

fn proposals(work: &Work) -> Vec<PlanPageProposal> {
    let proposed = work
        .course
        .proposals()
        .iter()
        .map(|(id, it)| PlanPageProposal {
            id: id.clone(),
            step: it.step.clone(),
            is_blocking: it.is_blocking,
        });
    proposed.collect()
}

fn difference(
    site: &PageContext,
    work: &Work,
    from: Option<u32>,
    to: u32,
) -> Result<Option<PlanPageDiff>, Failure> {
    let before = work.versions.iter().map(|it| it.fact.version);
    let before = from.or_else(|| before.filter(|number| *number < to).max());
    let Some(from) = before.filter(|from| *from != to) else {
        return Ok(None);
    };
    let made = site.workshop.plan_difference(work, Some((from, to)))?;
    Ok(Some(PlanPageDiff {
        from,
        to,
        lines: made.text.lines().map(changed).collect(),
    }))
}

/// Returns a line of a difference with the CSS class that its sign stands for.
fn changed(line: &str) -> PlanPageDiffLine {
    let class = match line.trim_start().chars().next() {
        Some('+') => "added",
        Some('-') => "removed",
        Some('~') => "changed",
        _ => "same",
    };
    PlanPageDiffLine {
        class,
        text: line.to_owned(),
    }
}

fn sum(estimates: &[StepEstimate]) -> Option<Money> {
    let all: Option<Vec<Money>> = estimates.iter().map(|it| it.cost).collect();
    all.map(|all| all.into_iter().fold(Money(0), |sum, cost| sum + cost))
}

/// Returns a plan as Markdown for editing.
pub(super) async fn text(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
    PageQueryParams(wanted): PageQueryParams<PlanPageQuery>,
) -> Response {
    let looking = who.clone();
    let seen = Arc::clone(&desk);
    let read = desk.look(move || {
        let site = PageContext::open(seen, looking)?;
        let work = site.workshop.work_named(&id)?;
        site.workshop.plan_markdown(&work, wanted.v)
    });
    match read.await {
        Ok(text) => {
            let sort = (header::CONTENT_TYPE, "text/plain; charset=utf-8");
            ([sort], text).into_response()
        }
        Err(failure) => trouble(&who, failure),
    }
}
