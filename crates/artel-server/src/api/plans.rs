//! Plans: viewing them. Decisions about plans are in `decide`.

pub(super) mod decide;
pub(super) mod steps;

use std::sync::Arc;

use artel_types::plan::PlanState;
use artel_workshop::{PlanningMode, RequestSubmission, Work, WorkIndexQuery, Workshop};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::page::{ApiPageLimit, ApiPageReply};
use super::refusal::ApiErrorReply;
use super::requests::{self, RequestDetailsReply, none_of};
use super::seat::{
    ApiCreatedResult, ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, User, made,
    shaped, waited,
};
use super::{ApiError, ApiJsonBody};

/// A plan in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanListReplyRow {
    /// Trace of the work.
    trace_id: String,
    /// The plan's state.
    state: Option<String>,
    /// Its newest version.
    version: Option<u32>,
    /// The hash of the newest version.
    hash: Option<String>,
    /// The version that waits for a decision.
    in_review: Option<u32>,
    /// One-line title.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// The run that carries it out.
    run: Option<String>,
    /// The reason for its state.
    why: Option<String>,
}

/// The state of a step.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDetailsStep {
    /// The step.
    id: String,
    /// `waiting`, `running`, `verifying`, `done`, `failed`, `skipped`, …
    state: String,
    /// The number of the attempt.
    round: u32,
    /// The reason for its state.
    why: String,
}

/// A comment on a plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDetailsComment {
    /// The version it is about.
    version: u32,
    /// The comment.
    text: String,
}

/// A version of a plan.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDetailsVersion {
    /// The version number.
    version: u32,
    /// Its hash.
    hash: String,
    /// Its author.
    by: String,
    /// When it was written, as RFC 3339.
    at: String,
}

/// The tokens and cost that a step is expected to take.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDetailsEstimate {
    /// The step.
    step: String,
    /// Tokens, read and written.
    tokens: u64,
    /// Their cost in millionths of a US dollar; `null` if the price is not known.
    cost: Option<u64>,
    /// The model that does the step, as `provider:model`; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// A plan with everything needed to decide about it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDetailsReply {
    /// Trace of the work.
    trace_id: String,
    /// The plan's state.
    state: Option<String>,
    /// The reason for its state.
    why: Option<String>,
    /// The version shown.
    version: u32,
    /// Its hash, which an approval must name.
    hash: String,
    /// Its author.
    by: String,
    /// When it was written, as RFC 3339.
    at: String,
    /// The version that waits for a decision.
    in_review: Option<u32>,
    /// The run that carries it out.
    run: Option<String>,
    /// The plan: steps, scopes, criteria with their sources, risks, questions.
    plan: Value,
    /// The estimate for each step.
    estimates: Vec<PlanDetailsEstimate>,
    /// The total of the estimated tokens.
    tokens: u64,
    /// The total of the estimated cost in millionths of a US dollar; `null` if a price is
    /// not known.
    cost: Option<u64>,
    /// The budgets whose remainder the estimate exceeds, one sentence each.
    short: Vec<String>,
    /// The state of each step, once the plan is being carried out.
    steps: Option<Vec<PlanDetailsStep>>,
    /// The comments that people made.
    comments: Vec<PlanDetailsComment>,
    /// All versions, oldest first.
    versions: Vec<PlanDetailsVersion>,
}

/// A plan as Markdown.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PlanMarkdownReply {
    /// Trace of the work.
    trace_id: String,
    /// The text.
    markdown: String,
}

/// The difference of two versions.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PlanDiffReply {
    /// The older version.
    from: u32,
    /// The newer version.
    to: u32,
    /// The difference, line by line; empty if there is none.
    text: String,
}

/// Query parameters for listing plans.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanListQuery {
    /// Only plans in this state.
    state: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    #[param(format = "uint64")]
    before: Option<u64>,
}

/// Query parameters that choose a version.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanVersionQuery {
    /// The version; the newest if omitted.
    version: Option<u32>,
}

/// Query parameters that choose two versions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanDiffQuery {
    /// The older version. If omitted: the version being carried out, or else the one before
    /// the newest.
    from: Option<u32>,
    /// The newer version; the newest if omitted.
    to: Option<u32>,
}

/// A skill to plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreatePlanBody {
    /// The skill.
    skill: String,
    /// The skill's arguments.
    #[serde(default)]
    arguments: Vec<String>,
    /// The portal; may be omitted if there is only one.
    portal: Option<String>,
    /// A folder in a portal, instead of the portal's name.
    folder: Option<String>,
}

/// Lists plans, newest first.
#[utoipa::path(get, path = "/api/v1/plans", tag = "plans", operation_id = "listPlans",
    params(PlanListQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<PlanListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<PlanListQuery>,
) -> ApiResult<ApiPageReply<PlanListReplyRow>> {
    let wanted = WorkIndexQuery {
        state: wanted.state.as_deref().map(state).transpose()?,
        before: wanted.before,
        limit: wanted.limit.0,
        ..WorkIndexQuery::default()
    };
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let mut page = desk.glance(|board, drivers| board.works(&wanted, drivers))?;
        // Requests that were answered directly have no plan, so a page may have fewer rows
        // than `limit`.
        page.rows.retain(|it| it.plan.is_some());
        let rows = ApiPageReply::from(page);
        Ok(rows.each(|it| shaped(row(&workshop.work(it.trace)?)))?)
    });
    done.await.map(Json)
}

/// Creates a plan for a skill. Nothing is done before the plan is approved.
#[utoipa::path(post, path = "/api/v1/plans", tag = "plans", operation_id = "createPlan",
    request_body = CreatePlanBody, extensions(("x-role" = json!("user"))),
    responses((status = 201, body = RequestDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<User>,
    ApiJsonBody(new): ApiJsonBody<CreatePlanBody>,
) -> ApiCreatedResult<RequestDetailsReply> {
    let words = std::iter::once(format!("Carry out the skill {}", new.skill));
    let order = RequestSubmission {
        words: words.chain(new.arguments).collect::<Vec<_>>().join(" "),
        skill: Some(new.skill),
        planning: PlanningMode::Always,
        ..RequestSubmission::default()
    };
    let done = by.does(move |workshop| requests::file(workshop, order, new.portal, new.folder));
    done.await.map(made)
}

/// Shows a plan.
#[utoipa::path(get, path = "/api/v1/plans/{id}", tag = "plans", operation_id = "showPlan",
    params(("id" = String, Path, description = "Its trace, or how it begins"), PlanVersionQuery),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<PlanVersionQuery>,
) -> ApiResult<PlanDetailsReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        shown(workshop, work, wanted.version)
    });
    done.await.map(Json)
}

/// Returns a plan as Markdown, as in its file.
#[utoipa::path(get, path = "/api/v1/plans/{id}/markdown", tag = "plans",
    operation_id = "showPlanMarkdown",
    params(("id" = String, Path, description = "Its trace, or how it begins"), PlanVersionQuery),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanMarkdownReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn markdown(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<PlanVersionQuery>,
) -> ApiResult<PlanMarkdownReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        Ok(PlanMarkdownReply {
            trace_id: work.trace.to_string(),
            markdown: workshop.plan_markdown(&work, wanted.version)?,
        })
    });
    done.await.map(Json)
}

/// Returns the difference of two versions of a plan.
#[utoipa::path(get, path = "/api/v1/plans/{id}/diff", tag = "plans", operation_id = "diffPlan",
    params(("id" = String, Path, description = "Its trace, or how it begins"), PlanDiffQuery),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PlanDiffReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn diff(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<PlanDiffQuery>,
) -> ApiResult<PlanDiffReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let newest = work.course.newest().map_or(0, |it| it.number);
        let versions = match (wanted.from, wanted.to) {
            (None, None) => None,
            (from, to) => {
                let to = to.unwrap_or(newest);
                Some((from.unwrap_or(to.saturating_sub(1)), to))
            }
        };
        Ok(shaped(workshop.plan_difference(&work, versions)?)?)
    });
    done.await.map(Json)
}

fn state(word: &str) -> Result<PlanState, artel_types::Failure> {
    let words: Vec<_> = PlanState::ALL.iter().map(|it| it.as_str()).collect();
    word.parse().map_err(|()| none_of("state", &words))
}

fn row(work: &Work) -> Value {
    let drafted = work.versions.last();
    json!({
        "trace_id": work.trace.to_string(),
        "state": work.course.state(),
        "version": drafted.map(|it| it.fact.version),
        "hash": drafted.map(|it| it.fact.hash.clone()),
        "in_review": work.course.in_review().map(|it| it.number),
        "title": drafted.map_or(&work.request.title, |it| &it.fact.title),
        "portal": work.request.portal,
        "run": work.course.run().map(|run| run.to_string()),
        "why": work.course.why(),
    })
}

fn shown(
    workshop: &Workshop,
    work: Work,
    version: Option<u32>,
) -> Result<PlanDetailsReply, ApiError> {
    Ok(shaped(waited(workshop.plan_look(work, version))?.value())?)
}
