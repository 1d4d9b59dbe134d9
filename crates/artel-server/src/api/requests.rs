//! Requests: what people ask for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_types::plan::{StepVerification, Urgency};
use artel_types::{Failure, FailureCode, TraceId};
use artel_workshop::{
    OutcomeWithNotes, PlanningMode, Portal, RequestStatus, RequestSubmission, Work, WorkIndexQuery,
    WorkRow, Workshop,
};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::page::{ApiPageLimit, ApiPageReply};
use super::refusal::ApiErrorReply;
use super::runs::steer::ResumeOptionsBody;
use super::seat::{
    ApiCreatedResult, ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, User,
    made, shaped, waited,
};
use super::{ApiError, ApiJsonBody, ModelName};
use crate::keeper::{SchedulerTask, TaskOptions};

/// Maximum number of rows in the cache; a list shows far fewer.
const MOST_KNOWN: usize = 1_000;

/// Cache of list rows, each with the number of events it was built from. Building a row
/// takes every recorded event about its request, and lists are read far more often than
/// they change.
#[derive(Debug, Default)]
pub(crate) struct RequestRowCache(Mutex<HashMap<TraceId, (u64, RequestListReplyRow)>>);

/// A request in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct RequestListReplyRow {
    /// The trace, which joins everything about it.
    trace_id: String,
    /// The name of its file.
    filename: String,
    /// The path of its file.
    path: String,
    /// Its status: `pending`, `planned`, …
    status: String,
    /// `low`, `normal`, `high` or `critical`.
    priority: String,
    /// The role that was asked.
    agent: String,
    /// When it was made, as RFC 3339.
    created: String,
    /// The person who made it.
    created_by: String,
    /// The surface through which it was made.
    source: String,
    /// One-line title.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// `question`, `trivial` or `work`.
    size: String,
    /// The reason for that size.
    why_size: String,
    /// Things that must not be done, each with its source.
    constraints: Vec<Value>,
    /// Conditions that must hold in the end, each with its source.
    criteria: Vec<Value>,
    /// The way its steps are verified.
    verify: Option<String>,
    /// The skill to plan.
    skill: Option<String>,
    /// The state of its plan.
    plan_state: Option<String>,
    /// The newest version of its plan.
    plan_version: Option<u32>,
}

/// A request with its result.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RequestDetailsReply {
    #[serde(flatten)]
    row: RequestListReplyRow,
    /// The request, word for word.
    words: String,
    /// The resulting changeset, if there is one.
    changeset: Option<Value>,
}

/// The interpretation of a request before it is made.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PreviewRequestReply {
    /// One-line title.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// The role that is asked.
    agent: String,
    /// `low`, `normal`, `high` or `critical`.
    priority: String,
    /// `trivial`, `question` or `work`.
    size: String,
    /// The reason for that size.
    why_size: String,
    /// The constraints to respect, each with its source.
    constraints: Vec<Value>,
    /// Conditions that must hold in the end, each with its source.
    criteria: Vec<Value>,
}

/// A piece of work that is resumed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ResumeRequestReply {
    /// The trace, which joins everything about it.
    trace_id: String,
    /// A sentence that says what happens next.
    text: String,
}

/// Query parameters for listing requests.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestListQuery {
    /// Only requests with this status.
    status: Option<String>,
    /// Only requests about this portal.
    portal: Option<String>,
    /// Only requests that contain this text.
    q: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    #[param(format = "uint64")]
    before: Option<u64>,
}

/// Whether a request is planned.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RequestPlanningChoice {
    /// Its size decides.
    #[default]
    Auto,
    /// It is planned.
    Always,
    /// It is done at once.
    Never,
}

/// A request to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateRequestBody {
    /// The request, in your own words.
    words: String,
    /// The portal it is about; may be omitted if there is only one.
    portal: Option<String>,
    /// A folder in a portal, instead of the portal's name.
    folder: Option<String>,
    /// The role to ask.
    agent: Option<String>,
    /// `low`, `normal`, `high` or `critical`.
    priority: Option<String>,
    /// Whether it is planned.
    #[serde(default)]
    planning: RequestPlanningChoice,
    /// The way its steps are verified: `none`, `evaluator` or `tdd`.
    verify: Option<String>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
}

impl RequestRowCache {
    fn row(&self, workshop: &Workshop, of: &WorkRow) -> Result<RequestListReplyRow, Failure> {
        if let Some((events, row)) = self.locked().get(&of.trace)
            && *events == of.events
        {
            return Ok(row.clone());
        }
        let row: RequestListReplyRow = shaped(workshop.request_value(&workshop.work(of.trace)?))?;
        let mut known = self.locked();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(of.trace, (of.events, row.clone()));
        Ok(row)
    }

    /// Empties the cache, because the journal was replaced.
    pub(crate) fn forget(&self) {
        self.locked().clear();
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<TraceId, (u64, RequestListReplyRow)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists requests, newest first.
#[utoipa::path(get, path = "/api/v1/requests", tag = "requests", operation_id = "listRequests",
    params(RequestListQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<RequestListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<RequestListQuery>,
) -> ApiResult<ApiPageReply<RequestListReplyRow>> {
    let wanted = WorkIndexQuery {
        status: wanted.status.as_deref().map(status).transpose()?,
        portal: wanted.portal,
        text: wanted.q,
        before: wanted.before,
        limit: wanted.limit.0,
        ..WorkIndexQuery::default()
    };
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let rows = desk.glance(|board, drivers| board.works(&wanted, drivers))?;
        let rows = ApiPageReply::from(rows);
        Ok(rows.each(|row| desk.requests.row(workshop, &row))?)
    });
    done.await.map(Json)
}

/// Makes a request. The daemon takes it up by itself.
#[utoipa::path(post, path = "/api/v1/requests", tag = "requests", operation_id = "createRequest",
    request_body = CreateRequestBody, extensions(("x-role" = json!("user"))),
    responses((status = 201, body = RequestDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<User>,
    ApiJsonBody(new): ApiJsonBody<CreateRequestBody>,
) -> ApiCreatedResult<RequestDetailsReply> {
    let (portal, folder) = (new.portal.clone(), new.folder.clone());
    let order = ordered(new)?;
    let done = by.does(move |workshop| file(workshop, order, portal, folder));
    done.await.map(made)
}

/// Shows how a request would be understood, and its size. Nothing is written.
#[utoipa::path(post, path = "/api/v1/requests/preview", tag = "requests",
    operation_id = "previewRequest", request_body = CreateRequestBody,
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = PreviewRequestReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn preview(
    by: AuthorizedCaller<User>,
    ApiJsonBody(new): ApiJsonBody<CreateRequestBody>,
) -> ApiResult<PreviewRequestReply> {
    let (portal, folder) = (new.portal.clone(), new.folder.clone());
    let order = ordered(new)?;
    let done = by.does(move |workshop| {
        let portal = about(workshop, portal.as_deref(), folder)?;
        let prospect = workshop.prospect(&order, Some(portal))?;
        Ok(shaped(workshop.prospect_value(&prospect))?)
    });
    done.await.map(Json)
}

fn ordered(new: CreateRequestBody) -> Result<RequestSubmission, Failure> {
    Ok(RequestSubmission {
        words: new.words,
        agent: new.agent,
        urgency: match new.priority.as_deref() {
            Some(word) => urgency(word)?,
            None => Urgency::default(),
        },
        planning: match new.planning {
            RequestPlanningChoice::Auto => PlanningMode::BySize,
            RequestPlanningChoice::Always => PlanningMode::Always,
            RequestPlanningChoice::Never => PlanningMode::Never,
        },
        verify: new.verify.as_deref().map(verify).transpose()?,
        model: ModelName::admit(new.model)?,
        ..RequestSubmission::default()
    })
}

/// Shows a request with its result.
#[utoipa::path(get, path = "/api/v1/requests/{id}", tag = "requests", operation_id = "showRequest",
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = RequestDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<RequestDetailsReply> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        shown(workshop, &work)
    });
    done.await.map(Json)
}

/// Resumes a piece of work now.
///
/// This is for work that a person stopped, that no process drives, or that could not
/// continue and waits to be tried again.
#[utoipa::path(post, path = "/api/v1/requests/{id}/resume", tag = "requests",
    operation_id = "resumeRequest", request_body = ResumeOptionsBody,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ResumeRequestReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn resume(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(how): ApiJsonBody<ResumeOptionsBody>,
) -> ApiResult<ResumeRequestReply> {
    let (desk, manner) = (Arc::clone(&by.desk), TaskOptions::try_from(how)?);
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let is_over = match work.course.state() {
            Some(state) => state.is_over(),
            None => work.course.request().is_some_and(|it| it.settled.is_some()),
        };
        if is_over && !workshop.is_cut_short(&work)? {
            let what = format!("{} is {}", work.trace.short(), work.status().as_str());
            let failure = Failure::new(FailureCode::R008, what);
            return Err(failure
                .because("there is nothing left to go on with")
                .into());
        }
        waited(manner.check(workshop))?;
        desk.manners.set(SchedulerTask::Work(work.trace), manner);
        let notes = waited(workshop.wake_work(work.trace))?;
        Ok((work.trace, OutcomeWithNotes { done: (), notes }))
    });
    let (trace, noted) = done.await?;
    by.told(noted);
    by.desk.goes_on(trace);
    Ok(Json(ResumeRequestReply {
        trace_id: trace.to_string(),
        text: by.desk.takes_up(&trace.short())?,
    }))
}

/// Records a request.
pub(super) fn file(
    workshop: &Arc<Workshop>,
    order: RequestSubmission,
    portal: Option<String>,
    folder: Option<String>,
) -> Result<RequestDetailsReply, ApiError> {
    let portal = about(workshop, portal.as_deref(), folder)?;
    let prospect = workshop.prospect(&order, Some(portal))?;
    let work = workshop.file_request(&prospect)?;
    shown(workshop, &work)
}

/// Returns the portal that a request is about. Naming a folder that is not open does not
/// open it: that takes a caller who may open portals.
pub(super) fn about(
    workshop: &Workshop,
    portal: Option<&str>,
    folder: Option<String>,
) -> Result<Portal, Failure> {
    match (portal, folder) {
        (Some(_), Some(_)) => Err(Failure::new(
            FailureCode::C004,
            "a portal and a folder are both named",
        )
        .advise("name one of them")),
        (Some(name), None) => workshop.portal(name),
        (None, Some(folder)) => workshop.ensure_portal(&PathBuf::from(folder), &|_: &_| None),
        (None, None) => {
            let mut portals = workshop.portals()?.into_iter();
            match (portals.next(), portals.next()) {
                (Some(only), None) => Ok(only),
                (None, _) => Err(Failure::new(
                    FailureCode::C005,
                    "no project folder is open to agents",
                )
                .advise("`artel portal add PATH` opens one")),
                _ => Err(
                    Failure::new(FailureCode::C005, "it is not said what it is about")
                        .advise("name the `portal`; `/api/v1/portals` lists them"),
                ),
            }
        }
    }
}

/// Returns the workshop as seen from a portal's project, so that its skills and hooks are
/// found.
pub(crate) fn standing_in(
    workshop: &Arc<Workshop>,
    portal: Option<&str>,
) -> Result<Arc<Workshop>, Failure> {
    match portal {
        None => Ok(Arc::clone(workshop)),
        Some(name) => {
            // A missing portal must not be reported as "not found": the subject of the
            // route may well exist.
            let portal = workshop
                .portal(name)
                .map_err(|failure| match failure.code {
                    FailureCode::F001 => Failure {
                        code: FailureCode::C004,
                        ..failure
                    },
                    _ => failure,
                })?;
            Ok(Arc::new(workshop.standing_in(&portal.path)))
        }
    }
}

fn shown(workshop: &Workshop, work: &Work) -> Result<RequestDetailsReply, ApiError> {
    let words = workshop.request_words(work)?;
    let row = shaped(workshop.request_value(work))?;
    let changeset = work.changeset.as_ref().map(|it| json!(it));
    Ok(RequestDetailsReply {
        row,
        words,
        changeset,
    })
}

fn status(word: &str) -> Result<RequestStatus, Failure> {
    let mut all = RequestStatus::ALL.into_iter();
    let words = RequestStatus::ALL.map(RequestStatus::as_str);
    all.find(|it| it.as_str() == word)
        .ok_or_else(|| none_of("status", &words))
}

fn urgency(word: &str) -> Result<Urgency, Failure> {
    let words: Vec<_> = Urgency::ALL.iter().map(|it| it.as_str()).collect();
    word.parse().map_err(|()| none_of("priority", &words))
}

fn verify(word: &str) -> Result<StepVerification, Failure> {
    let words: Vec<_> = StepVerification::ALL.iter().map(|it| it.as_str()).collect();
    word.parse().map_err(|()| none_of("verify", &words))
}

/// Returns the failure for an unknown word, listing the valid ones.
pub(super) fn none_of(what: &str, words: &[&str]) -> Failure {
    Failure::new(FailureCode::C004, format!("there is no such `{what}`"))
        .advise(format!("it is one of {}", words.join(", ")))
}
