//! Runs: viewing them, and starting one.

pub(super) mod again;
pub(super) mod steer;
pub(super) mod story;

use std::path::PathBuf;
use std::sync::Arc;

use artel_types::{Failure, FailureCode, Money};
use artel_workshop::{ChildRunFilter, RunIndexQuery, RunStartOptions, RunStatus, SkillRunMode};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::page::{ApiPageLimit, ApiPageReply};
use super::refusal::ApiErrorReply;
use super::requests::{about, none_of};
use super::seat::{
    ApiCreatedResult, ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, User,
    made, shaped,
};
use super::{ApiJsonBody, ModelName};
use crate::keeper::begin;

/// All states of a run that can be filtered by.
const STATES: [RunStatus; 8] = [
    RunStatus::Running,
    RunStatus::Paused,
    RunStatus::Waiting,
    RunStatus::Left,
    RunStatus::Complete,
    RunStatus::Partial,
    RunStatus::Failed,
    RunStatus::Cancelled,
];

/// A run in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct RunListReplyRow {
    /// The run's id.
    run: String,
    /// Trace of the work it belongs to.
    trace: String,
    /// `running`, `paused`, `waiting`, `left`, `complete`, `partial`, `failed` or
    /// `cancelled`.
    state: String,
    /// One-line title.
    title: String,
    /// Number of turns it took.
    turns: u64,
    /// Tokens that models read and wrote for it.
    tokens: u64,
    /// Its cost in millionths of a US dollar; `null` if a price is not known.
    cost: Option<u64>,
    /// Since when it has this state, as RFC 3339.
    since: String,
    /// More about its state.
    note: Option<String>,
    /// The run that called it.
    parent: Option<String>,
    /// Number of files that wait to be put in place.
    files: u64,
}

/// A question that a run asks.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct RunDetailsQuestion {
    /// The question's id.
    question: String,
    /// The question.
    text: String,
    /// The possible answers; empty if anything can be answered.
    choices: Vec<String>,
    /// The suggested answer.
    suggested: Option<String>,
}

/// A run with its open questions.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunDetailsReply {
    #[serde(flatten)]
    row: RunListReplyRow,
    /// The process that drives it.
    driver: Option<String>,
    /// Its questions, oldest first.
    questions: Vec<RunDetailsQuestion>,
}

/// The changes that a run would put in place.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunDiffReply {
    /// The run, its folder and its files.
    proposal: Value,
    /// The diff, as `git diff` prints it.
    diff: String,
}

/// A run that was started.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct StartRunReply {
    /// The run's id.
    run: String,
    /// Trace of the work it belongs to.
    trace: String,
}

/// Query parameters for listing runs.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct RunListQuery {
    /// Only runs in this state.
    state: Option<String>,
    /// Includes runs that were called by other runs.
    all: Option<bool>,
    /// Only runs that contain this text.
    q: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    #[param(format = "uint64")]
    before: Option<u64>,
}

/// A run to start.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StartRunBody {
    /// The skill; if omitted, `task` says what to do.
    skill: Option<String>,
    /// The task, in your own words.
    task: Option<String>,
    /// The arguments.
    #[serde(default)]
    arguments: Vec<String>,
    /// The portal; may be omitted if there is only one.
    portal: Option<String>,
    /// A folder in a portal, instead of the portal's name.
    folder: Option<String>,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
    /// One pass, or turn after turn until it is done; if omitted, the skill decides.
    mode: Option<RunMode>,
    /// Maximum number of turns, from 1 to 100.
    #[schema(minimum = 1, maximum = 100)]
    max_turns: Option<u32>,
    /// Maximum cost, in millionths of a US dollar.
    max_cost: Option<u64>,
}

/// The mode of a run.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RunMode {
    /// One plan, its tools once, one answer.
    Simple,
    /// Turn after turn until it is done.
    Autonomous,
}

/// Lists runs, latest first.
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", operation_id = "listRuns",
    params(RunListQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<RunListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<RunListQuery>,
) -> ApiResult<ApiPageReply<RunListReplyRow>> {
    let wanted = RunIndexQuery {
        state: wanted.state.as_deref().map(standing).transpose()?,
        kinship: match wanted.all {
            Some(true) => ChildRunFilter::All,
            _ => ChildRunFilter::TopLevel,
        },
        text: wanted.q,
        before: wanted.before,
        limit: wanted.limit.0,
        ..RunIndexQuery::default()
    };
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |_| {
        let rows = desk.glance(|board, drivers| board.runs(&wanted, drivers))?;
        Ok(ApiPageReply::from(rows).each(shaped)?)
    });
    done.await.map(Json)
}

/// Starts a run, which the daemon drives.
#[utoipa::path(post, path = "/api/v1/runs", tag = "runs", operation_id = "createRun",
    request_body = StartRunBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = StartRunReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(new): ApiJsonBody<StartRunBody>,
) -> ApiCreatedResult<StartRunReply> {
    let arguments = new.task.into_iter().chain(new.arguments).collect();
    let (portal, folder) = (new.portal, new.folder);
    let found = by.does(move |workshop| {
        let portal = about(workshop, portal.as_deref(), folder.clone())?;
        Ok(folder.map_or(portal.path, PathBuf::from))
    });
    let order = RunStartOptions {
        skill: new.skill,
        arguments,
        model: ModelName::admit(new.model)?,
        mode: new.mode.map(|mode| match mode {
            RunMode::Simple => SkillRunMode::Simple,
            RunMode::Autonomous => SkillRunMode::Autonomous,
        }),
        max_turns: new.max_turns.map(turns).transpose()?,
        max_cost: new.max_cost.map(Money),
        folder: Some(found.await?),
    };
    let workshop = by.who.workshop(&by.desk)?;
    let (run, trace) = begin(&by.desk, workshop, order).await?;
    Ok(made(StartRunReply {
        run: run.to_string(),
        trace: trace.to_string(),
    }))
}

/// Shows a run.
#[utoipa::path(get, path = "/api/v1/runs/{id}", tag = "runs", operation_id = "showRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = RunDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<RunDetailsReply> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        let found = desk.glance(|board, drivers| {
            let questions = board.questions(drivers).into_iter();
            let questions = questions
                .filter(|it| it.run == run)
                .map(|it| RunDetailsQuestion {
                    question: it.asked.question,
                    text: it.asked.text,
                    choices: it.asked.choices,
                    suggested: it.asked.suggested,
                });
            let driver = drivers.run(run).map(str::to_owned);
            (board.run(run, drivers), driver, questions.collect())
        });
        let (row, driver, questions) = found?;
        let gone = || Failure::new(FailureCode::R004, "there is no such run");
        Ok(RunDetailsReply {
            row: shaped(row.ok_or_else(gone)?)?,
            driver,
            questions,
        })
    });
    done.await.map(Json)
}

/// Shows the changes that a finished run would put in place. Needs the full view.
#[utoipa::path(get, path = "/api/v1/runs/{id}/diff", tag = "runs", operation_id = "diffRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RunDiffReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn diff(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<RunDiffReply> {
    by.eyes(Some("full"))?;
    // It waits for git.
    let by = by.beside_the_line();
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        let proposal = json!(workshop.proposal(run)?);
        let diff = workshop.run_diff(run)?;
        Ok(RunDiffReply { proposal, diff })
    });
    done.await.map(Json)
}

fn turns(count: u32) -> Result<u32, Failure> {
    match count {
        1..=100 => Ok(count),
        _ => Err(
            Failure::new(FailureCode::C004, "a run has from 1 to 100 turns")
                .advise("`max_turns` is a number from 1 to 100"),
        ),
    }
}

fn standing(word: &str) -> Result<RunStatus, Failure> {
    let mut all = STATES.into_iter();
    let found = all.find(|it| it.as_str() == word);
    found.ok_or_else(|| none_of("state", &STATES.map(RunStatus::as_str)))
}
