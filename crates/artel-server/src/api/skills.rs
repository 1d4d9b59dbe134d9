//! Skills: listing them, their statistics, and the lessons kept for their next runs.

use std::sync::Arc;

use artel_types::{Failure, FailureCode};
use artel_workshop::SkillReport;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::ApiJsonBody;
use super::page::{ApiPageLimit, ApiPageReply, holds, page};
use super::refusal::ApiErrorReply;
use super::requests::standing_in;
use super::runs::steer::EmptyBody;
use super::seat::{
    AdminJustSignedIn, ApiCreatedResult, ApiPathParams, ApiQueryParams, ApiResult,
    AuthorizedCaller, Developer, made, shaped, unnamed,
};

/// A skill in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillListReplyRow {
    /// The skill's name.
    name: String,
    /// Where it belongs: `workshop`, `portal` or `user`.
    scope: String,
    /// Whether it may be used in its present form without a question.
    trusted: bool,
    /// Number of lines of its `SKILL.md`.
    lines: u64,
    /// A description of what it does and when to use it.
    description: String,
    /// Its folder.
    folder: String,
    /// Remarks for its author, one sentence each.
    remarks: Vec<String>,
}

/// A skill with its files, statistics and lessons.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillDetailsReply {
    /// The skill's name.
    name: String,
    /// A description of what it does and when to use it.
    description: String,
    /// Its folder.
    folder: String,
    /// Where it belongs: `workshop`, `portal` or `user`.
    scope: String,
    /// Whether it may be used in its present form without a question.
    trusted: bool,
    /// BLAKE3 hash of its files, to which trust is bound.
    hash: String,
    /// Number of lines of its `SKILL.md`.
    lines: u64,
    /// Its other fields.
    front: Value,
    /// Files that can be read on demand.
    files: Vec<Value>,
    /// Scripts that can be run.
    scripts: Vec<Value>,
    /// Commands that run when the skill begins.
    commands: Vec<Value>,
    /// Addresses in its text.
    urls: Vec<String>,
    /// Tokens that it adds to every turn.
    tokens_first: u64,
    /// Tokens if all its files were loaded at once.
    tokens_all: u64,
    /// Remarks for its author, one sentence each.
    remarks: Vec<String>,
    /// Its statistics; `null` before its first run.
    stats: Option<Value>,
    /// The lessons kept for its next runs.
    lessons: Vec<SkillDetailsLesson>,
}

/// A lesson kept for the next runs of a skill.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillDetailsLesson {
    /// The lesson's id.
    id: String,
    /// `success`, `failure` or `feedback`.
    sort: String,
    /// The text of the lesson.
    text: String,
    /// The run it comes from.
    from: Option<String>,
    /// Who put it into words; nothing where a run taught it.
    by: Option<String>,
}

/// A skill to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateSkillBody {
    /// The skill's name: lower-case letters, digits and hyphens.
    name: String,
}

/// A skill that was created.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CreateSkillReply {
    /// The skill's name.
    name: String,
    /// Its folder.
    folder: String,
    /// Its files, relative to the folder.
    files: Vec<String>,
}

/// The text of a lesson.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LessonTextBody {
    /// The text.
    text: String,
}

/// A lesson that was added, edited or removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChangeLessonReply {
    /// The skill.
    skill: String,
    /// The lesson's id.
    id: String,
}

/// Query parameters for listing skills.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillListQuery {
    /// Only skills whose name or description contains this text.
    q: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    before: Option<String>,
    /// Includes the skills of this portal's project; by default, those of the daemon's own
    /// folder.
    portal: Option<String>,
}

/// Query parameters that say where to look for a skill.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillLocationQuery {
    /// The portal whose project contains it; by default the daemon's own folder.
    portal: Option<String>,
}

/// Trusts a skill as it was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustSkillBody {
    /// The hash of its files, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
    /// The portal whose project contains it; by default the daemon's own folder.
    portal: Option<String>,
}

/// A skill that is trusted now.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct TrustSkillReply {
    /// The skill's name.
    skill: String,
    /// The hash that trust is bound to.
    hash: String,
    /// Whether it was not trusted before.
    changed: bool,
}

/// Lists skills, by name.
#[utoipa::path(get, path = "/api/v1/skills", tag = "skills", operation_id = "listSkills",
    params(SkillListQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ApiPageReply<SkillListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<SkillListQuery>,
) -> ApiResult<ApiPageReply<SkillListReplyRow>> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, wanted.portal.as_deref())?;
        let mut skills = workshop.caller().skills()?.skills;
        skills.retain(|it| holds(wanted.q.as_deref(), &[&it.name, &it.description]));
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(skills, cut, |it| it.name.clone())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Creates a skill in the workshop, with files to fill in.
#[utoipa::path(post, path = "/api/v1/skills", tag = "skills", operation_id = "createSkill",
    request_body = CreateSkillBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = CreateSkillReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(new): ApiJsonBody<CreateSkillBody>,
) -> ApiCreatedResult<CreateSkillReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.new_skill(&new.name)?)?));
    done.await.map(made)
}

/// Shows a skill.
#[utoipa::path(get, path = "/api/v1/skills/{name}", tag = "skills", operation_id = "showSkill",
    params(("name" = String, Path, description = "Its name"), SkillLocationQuery),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiQueryParams(wanted): ApiQueryParams<SkillLocationQuery>,
) -> ApiResult<SkillDetailsReply> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, wanted.portal.as_deref())?;
        let mut value = json!(workshop.caller().skill(&name)?);
        let sums = desk.glance(|board, _| board.skills())?;
        let reports: Vec<SkillReport> = workshop.skill_reports(&sums, Some(&name))?;
        value["stats"] = json!(reports.first());
        value["lessons"] = json!(workshop.lessons(&name)?);
        Ok(shaped(value)?)
    });
    done.await.map(Json)
}

/// Trusts a skill from outside the workshop as it was seen.
///
/// If one of its files changes, it needs to be trusted again.
#[utoipa::path(post, path = "/api/v1/skills/{name}/trust", tag = "skills",
    operation_id = "trustSkill", request_body = TrustSkillBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = TrustSkillReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn trust(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<TrustSkillBody>,
) -> ApiResult<TrustSkillReply> {
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of its files").into());
        }
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        let hash = workshop.caller().skill(&name)?.hash;
        let question = workshop.trust_question(&name)?;
        let now = question.as_ref().map_or(&hash, |it| &it.hash);
        if !now.starts_with(&told.hash) {
            return Err(
                Failure::new(FailureCode::R008, "the skill is another one by now")
                    .because("files of it changed since you saw it")
                    .advise("look at it again, then trust what it is")
                    .into(),
            );
        }
        if let Some(question) = &question {
            workshop.trust_skill(question)?;
        }
        Ok(TrustSkillReply {
            skill: name,
            hash,
            changed: question.is_some(),
        })
    });
    done.await.map(Json)
}

/// Adds a lesson for the next runs of a skill.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons", tag = "skills",
    operation_id = "addLesson", request_body = LessonTextBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = ChangeLessonReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn teach(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(new): ApiJsonBody<LessonTextBody>,
) -> ApiCreatedResult<ChangeLessonReply> {
    let done = by.does(move |workshop| {
        let id = workshop.add_lesson(&name, &new.text)?;
        Ok(ChangeLessonReply { skill: name, id })
    });
    done.await.map(made)
}

/// Edits a lesson of a skill.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons/{id}/edit", tag = "skills",
    operation_id = "editLesson", request_body = LessonTextBody,
    params(("name" = String, Path, description = "The skill"), ("id" = String, Path, description = "The lesson")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ChangeLessonReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn reword(
    by: AuthorizedCaller<Developer>,
    ApiPathParams((name, id)): ApiPathParams<(String, String)>,
    ApiJsonBody(new): ApiJsonBody<LessonTextBody>,
) -> ApiResult<ChangeLessonReply> {
    let done = by.does(move |workshop| {
        workshop.edit_lesson(&name, &id, &new.text)?;
        Ok(ChangeLessonReply { skill: name, id })
    });
    done.await.map(Json)
}

/// Removes a lesson of a skill.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons/{id}/remove", tag = "skills",
    operation_id = "removeLesson", request_body = EmptyBody,
    params(("name" = String, Path, description = "The skill"), ("id" = String, Path, description = "The lesson")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ChangeLessonReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn forget(
    by: AuthorizedCaller<Developer>,
    ApiPathParams((name, id)): ApiPathParams<(String, String)>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ChangeLessonReply> {
    let done = by.does(move |workshop| {
        workshop.remove_lesson(&name, &id)?;
        Ok(ChangeLessonReply { skill: name, id })
    });
    done.await.map(Json)
}

/// A person's feedback on a run.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunFeedbackBody {
    /// The run's id, or the start of it.
    run: String,
    /// The feedback.
    text: String,
}

/// Recorded feedback.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct RunFeedbackReply {
    /// The run's id.
    run: String,
    /// The skill whose next runs get the feedback; `null` for a run of a task.
    skill: Option<String>,
}

/// Gives feedback on a run, which the next runs of its skill get.
#[utoipa::path(post, path = "/api/v1/feedback", tag = "skills", operation_id = "giveFeedback",
    request_body = RunFeedbackBody, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = RunFeedbackReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn feedback(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(told): ApiJsonBody<RunFeedbackBody>,
) -> ApiCreatedResult<RunFeedbackReply> {
    let done = by.does(move |workshop| {
        let given = workshop.give_feedback(&told.run, &told.text)?;
        Ok(shaped(given)?)
    });
    done.await.map(made)
}
