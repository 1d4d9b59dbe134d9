//! Requests: what people ask for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use artel_types::plan::{Urgency, Verify};
use artel_types::{Code, Failure, TraceId};
use artel_workshop::{
    AskOrder, Noted, Planning, Portal, RequestStatus, Work, WorkRow, WorksWanted, Workshop,
};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::page::{Limit, Rows};
use super::refusal::Troubled;
use super::runs::steer::GoOn;
use super::seat::{Answer, As, Asked, At, Developer, Made, User, made, shaped, waited};
use super::{ModelName, Refusal, Told};
use crate::keeper::{Manner, Task};

/// So many rows are kept; a list shows far fewer.
const MOST_KNOWN: usize = 1_000;

/// Rows as they were told last, each with how many events there were of it: a row takes everything
/// that is on record about its request, and lists are looked at far more often than they change.
#[derive(Debug, Default)]
pub(crate) struct KnownRequests(Mutex<HashMap<TraceId, (u64, RequestRow)>>);

/// A request in a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub(crate) struct RequestRow {
    /// What joins everything about it.
    trace_id: String,
    /// The name of its file.
    filename: String,
    /// Where its file is.
    path: String,
    /// How it stands: pending, planned, …
    status: String,
    /// low, normal, high or critical.
    priority: String,
    /// The role that was asked.
    agent: String,
    /// When it was asked, as RFC 3339.
    created: String,
    /// Who asked.
    created_by: String,
    /// Through what.
    source: String,
    /// What it is about, in a line.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// question, trivial or work.
    size: String,
    /// Why it is taken for that.
    why_size: String,
    /// What must not be done, each with its source.
    constraints: Vec<Value>,
    /// What has to hold, each with its source.
    criteria: Vec<Value>,
    /// How its steps are verified.
    verify: Option<String>,
    /// The skill that is to be planned.
    skill: Option<String>,
    /// How its plan stands.
    plan_state: Option<String>,
    /// The newest version of its plan.
    plan_version: Option<u32>,
}

/// A request with what came of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RequestShown {
    #[serde(flatten)]
    row: RequestRow,
    /// What was asked, word for word.
    words: String,
    /// What it left, if it left something.
    changeset: Option<Value>,
}

/// What a request would be.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct RequestMeant {
    /// What it is about, in a line.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// The role that is asked.
    agent: String,
    /// low, normal, high or critical.
    priority: String,
    /// trivial, question or work.
    size: String,
    /// Why that.
    why_size: String,
    /// What has to be kept to, each with where it comes from.
    constraints: Vec<Value>,
    /// What has to hold in the end, each with where it comes from.
    criteria: Vec<Value>,
}

/// A piece of work that goes on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RequestResumed {
    /// What joins everything about it.
    trace_id: String,
    /// What comes of it.
    text: String,
}

/// Which requests are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only those that stand so.
    status: Option<String>,
    /// Only those about this portal.
    portal: Option<String>,
    /// Only those that hold this text.
    q: Option<String>,
    /// How many, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: Limit,
    /// Only what comes after this row of an earlier page.
    #[param(format = "uint64")]
    before: Option<u64>,
}

/// Whether a request is planned.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Plans {
    /// Its size decides.
    #[default]
    Auto,
    /// It is.
    Always,
    /// It is done at once.
    Never,
}

/// Something that is asked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRequest {
    /// What is wanted, in your own words.
    words: String,
    /// The portal it is about; the only one there is if not given.
    portal: Option<String>,
    /// A folder in a portal, instead of the portal's name.
    folder: Option<String>,
    /// The role that is asked.
    agent: Option<String>,
    /// low, normal, high or critical.
    priority: Option<String>,
    /// Whether it is planned.
    #[serde(default)]
    planning: Plans,
    /// How its steps are verified: none, evaluator or tdd.
    verify: Option<String>,
    /// The model: an alias, or provider:model.
    model: Option<ModelName>,
}

impl KnownRequests {
    fn row(&self, workshop: &Workshop, of: &WorkRow) -> Result<RequestRow, Failure> {
        if let Some((events, row)) = self.locked().get(&of.trace)
            && *events == of.events
        {
            return Ok(row.clone());
        }
        let row: RequestRow = shaped(workshop.request_value(&workshop.work(of.trace)?))?;
        let mut known = self.locked();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(of.trace, (of.events, row.clone()));
        Ok(row)
    }

    /// Forgets all of them: the journal is another one.
    pub(crate) fn forget(&self) {
        self.locked().clear();
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<TraceId, (u64, RequestRow)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lists requests, the newest first.
#[utoipa::path(get, path = "/api/v1/requests", tag = "requests", operation_id = "listRequests",
    params(Wanted), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Rows<RequestRow>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(by: As<User>, Asked(wanted): Asked<Wanted>) -> Answer<Rows<RequestRow>> {
    let wanted = WorksWanted {
        status: wanted.status.as_deref().map(status).transpose()?,
        portal: wanted.portal,
        text: wanted.q,
        before: wanted.before,
        limit: wanted.limit.0,
        ..WorksWanted::default()
    };
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let rows = desk.glance(|board, drivers| board.works(&wanted, drivers))?;
        let rows = Rows::from(rows);
        Ok(rows.each(|row| desk.requests.row(workshop, &row))?)
    });
    done.await.map(Json)
}

/// Asks for something; the daemon takes it up by itself.
#[utoipa::path(post, path = "/api/v1/requests", tag = "requests", operation_id = "createRequest",
    request_body = NewRequest, extensions(("x-role" = json!("user"))),
    responses((status = 201, body = RequestShown), (status = "4XX", body = Troubled)))]
pub(super) async fn create(by: As<User>, Told(new): Told<NewRequest>) -> Made<RequestShown> {
    let (portal, folder) = (new.portal.clone(), new.folder.clone());
    let order = ordered(new)?;
    let done = by.does(move |workshop| file(workshop, order, portal, folder));
    done.await.map(made)
}

/// Says what a request would be: how it is understood, and how large it is. Nothing is written.
#[utoipa::path(post, path = "/api/v1/requests/preview", tag = "requests",
    operation_id = "previewRequest", request_body = NewRequest,
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = RequestMeant), (status = "4XX", body = Troubled)))]
pub(super) async fn preview(by: As<User>, Told(new): Told<NewRequest>) -> Answer<RequestMeant> {
    let (portal, folder) = (new.portal.clone(), new.folder.clone());
    let order = ordered(new)?;
    let done = by.does(move |workshop| {
        let portal = about(workshop, portal.as_deref(), folder)?;
        let prospect = workshop.prospect(&order, Some(portal))?;
        Ok(shaped(workshop.prospect_value(&prospect))?)
    });
    done.await.map(Json)
}

fn ordered(new: NewRequest) -> Result<AskOrder, Failure> {
    Ok(AskOrder {
        words: new.words,
        agent: new.agent,
        urgency: match new.priority.as_deref() {
            Some(word) => urgency(word)?,
            None => Urgency::default(),
        },
        planning: match new.planning {
            Plans::Auto => Planning::BySize,
            Plans::Always => Planning::Always,
            Plans::Never => Planning::Never,
        },
        verify: new.verify.as_deref().map(verify).transpose()?,
        model: ModelName::admit(new.model)?,
        ..AskOrder::default()
    })
}

/// Shows a request with what came of it.
#[utoipa::path(get, path = "/api/v1/requests/{id}", tag = "requests", operation_id = "showRequest",
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = RequestShown), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<User>, At(id): At<String>) -> Answer<RequestShown> {
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        shown(workshop, &work)
    });
    done.await.map(Json)
}

/// Has a piece of work go on now: one that a person stopped, that nobody drives, or that could not
/// go on and waits to be tried again.
#[utoipa::path(post, path = "/api/v1/requests/{id}/resume", tag = "requests",
    operation_id = "resumeRequest", request_body = GoOn,
    params(("id" = String, Path, description = "Its trace, or how it begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RequestResumed), (status = "4XX", body = Troubled)))]
pub(super) async fn resume(
    by: As<Developer>,
    At(id): At<String>,
    Told(how): Told<GoOn>,
) -> Answer<RequestResumed> {
    let (desk, manner) = (Arc::clone(&by.desk), Manner::try_from(how)?);
    let done = by.does(move |workshop| {
        let work = workshop.work_named(&id)?;
        let is_over = match work.course.state() {
            Some(state) => state.is_over(),
            None => work.course.request().is_some_and(|it| it.settled.is_some()),
        };
        if is_over && !workshop.is_cut_short(&work)? {
            let what = format!("{} is {}", work.trace.short(), work.status().as_str());
            let failure = Failure::new(Code::R008, what);
            return Err(failure
                .because("there is nothing left to go on with")
                .into());
        }
        waited(manner.check(workshop))?;
        desk.manners.set(Task::Work(work.trace), manner);
        let notes = waited(workshop.wake_work(work.trace))?;
        Ok((work.trace, Noted { done: (), notes }))
    });
    let (trace, noted) = done.await?;
    by.told(noted);
    by.desk.goes_on(trace);
    Ok(Json(RequestResumed {
        trace_id: trace.to_string(),
        text: by.desk.takes_up(&trace.short())?,
    }))
}

/// Puts a request on record.
pub(super) fn file(
    workshop: &Arc<Workshop>,
    order: AskOrder,
    portal: Option<String>,
    folder: Option<String>,
) -> Result<RequestShown, Refusal> {
    let portal = about(workshop, portal.as_deref(), folder)?;
    let prospect = workshop.prospect(&order, Some(portal))?;
    let work = workshop.file_request(&prospect)?;
    shown(workshop, &work)
}

/// Returns the portal that is meant. A folder that is open to nobody is not opened by asking: that
/// is for whoever may open portals.
pub(super) fn about(
    workshop: &Workshop,
    portal: Option<&str>,
    folder: Option<String>,
) -> Result<Portal, Failure> {
    match (portal, folder) {
        (Some(_), Some(_)) => Err(
            Failure::new(Code::C004, "a portal and a folder are both named")
                .advise("name one of them"),
        ),
        (Some(name), None) => workshop.portal(name),
        (None, Some(folder)) => workshop.ensure_portal(&PathBuf::from(folder), &|_: &_| None),
        (None, None) => {
            let mut portals = workshop.portals()?.into_iter();
            match (portals.next(), portals.next()) {
                (Some(only), None) => Ok(only),
                (None, _) => Err(
                    Failure::new(Code::C005, "no project folder is open to agents")
                        .advise("`artel portal add PATH` opens one"),
                ),
                _ => Err(Failure::new(Code::C005, "it is not said what it is about")
                    .advise("name the `portal`; `/api/v1/portals` lists them")),
            }
        }
    }
}

/// Returns the workshop as it looks from a project: its skills and hooks are found from there.
pub(crate) fn standing_in(
    workshop: &Arc<Workshop>,
    portal: Option<&str>,
) -> Result<Arc<Workshop>, Failure> {
    match portal {
        None => Ok(Arc::clone(workshop)),
        Some(name) => {
            // What the route is about may be there all the same.
            let portal = workshop
                .portal(name)
                .map_err(|failure| match failure.code {
                    Code::F001 => Failure {
                        code: Code::C004,
                        ..failure
                    },
                    _ => failure,
                })?;
            Ok(Arc::new(workshop.standing_in(&portal.path)))
        }
    }
}

fn shown(workshop: &Workshop, work: &Work) -> Result<RequestShown, Refusal> {
    let words = workshop.request_words(work)?;
    let row = shaped(workshop.request_value(work))?;
    let changeset = work.changeset.as_ref().map(|it| json!(it));
    Ok(RequestShown {
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

fn verify(word: &str) -> Result<Verify, Failure> {
    let words: Vec<_> = Verify::ALL.iter().map(|it| it.as_str()).collect();
    word.parse().map_err(|()| none_of("verify", &words))
}

/// Says which words there are.
pub(super) fn none_of(what: &str, words: &[&str]) -> Failure {
    Failure::new(Code::C004, format!("there is no such `{what}`"))
        .advise(format!("it is one of {}", words.join(", ")))
}
