//! Steering runs, wherever they are driven.

use std::sync::Arc;

use artel_types::{Failure, RunId};
use artel_workshop::{ForkOrder, Noted, Standing, Steer, Steered};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::refusal::Troubled;
use crate::api::seat::{
    Answer, As, At, Developer, DeveloperInPerson, Made, UserInPerson, made, shaped, waited,
};
use crate::api::{ModelName, Refusal, Told};
use crate::keeper::{Manner, Task};
use crate::rights::needed_to_answer;

/// Nothing has to be said.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// What a run should know.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hint {
    /// The words.
    text: String,
}

/// An answer to a question.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answered {
    /// A choice, or words; a choice can be followed by a colon and a reason.
    answer: String,
    /// Which question, where the run asks several.
    question: Option<String>,
}

/// Where a run is gone on from, differently.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fork {
    /// The last event that counts.
    at: u64,
    /// What the new run is told first.
    hint: Option<String>,
    /// Another model than the one it began with: an alias, or `provider:model`.
    model: Option<ModelName>,
}

/// Where a wish arrived.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RunSteered {
    /// Which run.
    run: String,
    /// The process that drives it, to which it was sent.
    driver: Option<String>,
    /// What comes of it.
    text: String,
}

/// What was answered.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnswerTaken {
    /// Which run.
    run: String,
    /// Which question.
    question: String,
    /// The process that drives it.
    goes_on_in: Option<String>,
}

/// A run that goes on differently.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Forked {
    /// The new run.
    run: String,
    /// The piece of work it belongs to.
    trace: String,
}

/// What was put in place.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Applied {
    /// Which run.
    run: String,
    /// Where.
    folder: String,
    /// Files that were made or changed.
    written: Vec<String>,
    /// Files that were removed.
    deleted: Vec<String>,
    /// Files that were as the run left them already.
    already: Vec<String>,
}

/// How something goes on, where it is not driven already.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoOn {
    /// Another model than the one it began with: an alias, or provider:model.
    model: Option<ModelName>,
    /// Of a plan: how many steps are under way at once, from 1 to 64.
    #[schema(minimum = 1, maximum = 64)]
    at_once: Option<u16>,
    /// Of a plan: whether nothing new begins once a step failed.
    fail_fast: Option<bool>,
}

impl TryFrom<GoOn> for Manner {
    type Error = Failure;

    fn try_from(how: GoOn) -> Result<Self, Failure> {
        Ok(Self {
            at_once: how.at_once,
            fail_fast: how.fail_fast,
            model: ModelName::admit(how.model)?,
        })
    }
}

/// Has a run begin nothing new until it is resumed.
#[utoipa::path(post, path = "/api/v1/runs/{id}/pause", tag = "runs", operation_id = "pauseRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Nothing, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RunSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn pause(
    by: As<Developer>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<RunSteered> {
    steer(&by, id, Steer::Pause).await
}

/// Has a run go on that was paused, or that nobody drives.
#[utoipa::path(post, path = "/api/v1/runs/{id}/resume", tag = "runs", operation_id = "resumeRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = GoOn, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RunSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn resume(
    by: As<Developer>,
    At(id): At<String>,
    Told(how): Told<GoOn>,
) -> Answer<RunSteered> {
    let named = id.clone();
    let (desk, manner) = (Arc::clone(&by.desk), Manner::try_from(how)?);
    let found = by.does(move |workshop| {
        let run = workshop.run_named(&named)?;
        let trace = workshop.trace_of_run(run)?;
        let (standing, _) = workshop.standing_of(run)?;
        let task = match workshop.work(trace).is_ok() {
            true => Task::Work(trace),
            false => Task::Run(run),
        };
        waited(manner.check(workshop))?;
        desk.manners.set(task, manner);
        Ok((run, standing, task))
    });
    let (run, standing, task) = found.await?;
    if standing != Standing::Left {
        return steer(&by, id, Steer::Resume).await;
    }
    by.desk.orders.go_on(task);
    Ok(Json(RunSteered {
        run: run.to_string(),
        driver: None,
        text: by.desk.takes_up(&run.short())?,
    }))
}

/// Ends a run, and what it called.
#[utoipa::path(post, path = "/api/v1/runs/{id}/cancel", tag = "runs", operation_id = "cancelRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Nothing, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RunSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn cancel(
    by: As<Developer>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<RunSteered> {
    steer(&by, id, Steer::Cancel).await
}

/// Tells a run something while it works.
#[utoipa::path(post, path = "/api/v1/runs/{id}/hint", tag = "runs", operation_id = "hintRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Hint, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RunSteered), (status = "4XX", body = Troubled)))]
pub(crate) async fn hint(
    by: As<Developer>,
    At(id): At<String>,
    Told(told): Told<Hint>,
) -> Answer<RunSteered> {
    steer(&by, id, Steer::Hint(told.text)).await
}

/// Answers what a run or a plan asks.
#[utoipa::path(post, path = "/api/v1/runs/{id}/answer", tag = "runs", operation_id = "answerRun",
    params(("id" = String, Path, description = "The id of the run or its piece of work, or how it begins")),
    request_body = Answered, extensions(("x-role" = json!("user")), ("x-person" = json!(true))),
    responses((status = 200, body = AnswerTaken), (status = "4XX", body = Troubled)))]
pub(crate) async fn answer(
    by: As<UserInPerson>,
    At(id): At<String>,
    Told(told): Told<Answered>,
) -> Answer<AnswerTaken> {
    let who = by.who.clone();
    let done = by.does(move |workshop| {
        let name = match &told.question {
            Some(question) => format!("{id}/{question}"),
            None => id,
        };
        let question = workshop.question_named(&name)?;
        who.needs(needed_to_answer(&question.asked, &told.answer))?;
        let noted = workshop.answer_question(&question, &told.answer)?;
        Ok((question, noted))
    });
    let (question, noted) = done.await?;
    Ok(Json(AnswerTaken {
        run: question.run.to_string(),
        question: question.asked.question,
        goes_on_in: match by.told(noted) {
            Steered::Sent(driver) => Some(driver),
            Steered::Kept | Steered::Ended => None,
        },
    }))
}

/// Goes on differently from any event of a run; the run itself stays as it is.
#[utoipa::path(post, path = "/api/v1/runs/{id}/fork", tag = "runs", operation_id = "forkRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Fork, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = Forked), (status = "4XX", body = Troubled)))]
pub(crate) async fn fork(
    by: As<Developer>,
    At(id): At<String>,
    Told(told): Told<Fork>,
) -> Made<Forked> {
    let model = ModelName::admit(told.model)?;
    let done = by.does(move |workshop| {
        let order = ForkOrder {
            from: workshop.run_named(&id)?,
            at: told.at,
            hint: told.hint,
            model,
        };
        let run = waited(workshop.fork_run(&order))?;
        Ok((run, workshop.trace_of_run(run)?))
    });
    let (run, trace) = done.await?;
    by.desk.orders.go_on(Task::Run(run));
    Ok(made(Forked {
        run: run.to_string(),
        trace: trace.to_string(),
    }))
}

/// Puts the files that a run made or changed in place: all of them, or none.
#[utoipa::path(post, path = "/api/v1/runs/{id}/apply", tag = "runs", operation_id = "applyRun",
    params(("id" = String, Path, description = "Its id, or how it begins")),
    request_body = Nothing, extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = Applied), (status = "4XX", body = Troubled)))]
pub(crate) async fn apply(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<Applied> {
    let done = by.does(move |workshop| {
        let run = workshop.run_named(&id)?;
        Ok(waited(workshop.apply_run(run))?)
    });
    let placed = by.told(done.await?);
    Ok(Json(shaped(placed)?))
}

async fn steer(by: &As<Developer>, id: String, wish: Steer) -> Answer<RunSteered> {
    let asked = wish.clone();
    let done = by.does(
        move |workshop| -> Result<(RunId, Noted<Steered>), Refusal> {
            let run = workshop.run_named(&id)?;
            let noted = waited(workshop.steer_run(run, &wish))?;
            Ok((run, noted))
        },
    );
    let (run, noted) = done.await?;
    let steered = by.told(noted);
    let text = asked.told(run, &steered);
    let driver = match steered {
        Steered::Sent(driver) => Some(driver),
        Steered::Kept | Steered::Ended => None,
    };
    Ok(Json(RunSteered {
        run: run.to_string(),
        driver,
        text,
    }))
}
