//! Skills: which there are, how they do, and what is kept for their next runs.

use std::sync::Arc;

use artel_types::{Code, Failure};
use artel_workshop::SkillReport;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::Told;
use super::page::{Limit, Rows, holds, page};
use super::refusal::Troubled;
use super::requests::standing_in;
use super::runs::steer::Nothing;
use super::seat::{
    AdminJustSignedIn, Answer, As, Asked, At, Developer, Made, made, shaped, unnamed,
};

/// A skill in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillListed {
    /// Its name.
    name: String,
    /// Whose it is.
    scope: String,
    /// Whether it may be used as it is without a question.
    trusted: bool,
    /// How many lines its `SKILL.md` has.
    lines: u64,
    /// What it does and when to use it.
    description: String,
    /// Where it is.
    folder: String,
    /// What its author should know, a sentence each.
    remarks: Vec<String>,
}

/// A skill with its files, how it does, and what is kept for its next runs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillSeen {
    /// Its name.
    name: String,
    /// What it does and when to use it.
    description: String,
    /// Where it is.
    folder: String,
    /// Whose it is.
    scope: String,
    /// Whether it may be used as it is without a question.
    trusted: bool,
    /// BLAKE3 of its files: what trust is given to.
    hash: String,
    /// How many lines its `SKILL.md` has.
    lines: u64,
    /// Its other fields.
    front: Value,
    /// What can be read on demand.
    files: Vec<Value>,
    /// What can be run.
    scripts: Vec<Value>,
    /// Commands that run when it begins.
    commands: Vec<Value>,
    /// Addresses in its text.
    urls: Vec<String>,
    /// Tokens that every turn carries.
    tokens_first: u64,
    /// Tokens if all its files were loaded at once.
    tokens_all: u64,
    /// What its author should know, a sentence each.
    remarks: Vec<String>,
    /// How it does; nothing before its first run.
    stats: Option<Value>,
    /// What is kept for its next runs.
    lessons: Vec<Lesson>,
}

/// Something that is kept for the next runs of a skill.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct Lesson {
    /// Names it.
    id: String,
    /// success, failure or feedback.
    sort: String,
    /// What is kept.
    text: String,
    /// The run it comes from.
    from: Option<String>,
    /// Who put it into words; nothing where a run taught it.
    by: Option<String>,
}

/// A skill to begin.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillName {
    /// Its name: lower-case letters, digits and hyphens.
    name: String,
}

/// A skill that was begun.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillBegun {
    /// Its name.
    name: String,
    /// Where it is.
    folder: String,
    /// Its files, relative to the folder.
    files: Vec<String>,
}

/// What is to be kept.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewLesson {
    /// The words.
    text: String,
}

/// What is kept, or no longer.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct LessonDone {
    /// The skill.
    skill: String,
    /// The lesson.
    id: String,
}

/// Which skills are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only those that hold this text.
    q: Option<String>,
    /// How many, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: Limit,
    /// Only what comes after this row of an earlier page.
    before: Option<String>,
    /// Those that came with a project, too; the daemon's own folder if not given.
    portal: Option<String>,
}

/// From where a skill is looked for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct FromWhere {
    /// The project that it came with; the daemon's own folder if not given.
    portal: Option<String>,
}

/// A skill that was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrustSkill {
    /// The hash of its files, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
    /// The project that it came with; the daemon's own folder if not given.
    portal: Option<String>,
}

/// A skill that may be used as it is.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillTrusted {
    /// Its name.
    skill: String,
    /// What trust is bound to.
    hash: String,
    /// Whether it was not trusted before.
    changed: bool,
}

/// Lists skills, by name.
#[utoipa::path(get, path = "/api/v1/skills", tag = "skills", operation_id = "listSkills",
    params(Wanted), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = Rows<SkillListed>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    by: As<Developer>,
    Asked(wanted): Asked<Wanted>,
) -> Answer<Rows<SkillListed>> {
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

/// Begins a skill in the workshop, with files to write into.
#[utoipa::path(post, path = "/api/v1/skills", tag = "skills", operation_id = "createSkill",
    request_body = SkillName, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = SkillBegun), (status = "4XX", body = Troubled)))]
pub(super) async fn create(by: As<Developer>, Told(new): Told<SkillName>) -> Made<SkillBegun> {
    let done = by.does(move |workshop| Ok(shaped(workshop.new_skill(&new.name)?)?));
    done.await.map(made)
}

/// Shows a skill.
#[utoipa::path(get, path = "/api/v1/skills/{name}", tag = "skills", operation_id = "showSkill",
    params(("name" = String, Path, description = "Its name"), FromWhere),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(
    by: As<Developer>,
    At(name): At<String>,
    Asked(wanted): Asked<FromWhere>,
) -> Answer<SkillSeen> {
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

/// Trusts a skill from outside the workshop as it was seen. Once a file of it changes, it is asked
/// about again.
#[utoipa::path(post, path = "/api/v1/skills/{name}/trust", tag = "skills",
    operation_id = "trustSkill", request_body = TrustSkill,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = SkillTrusted), (status = "4XX", body = Troubled)))]
pub(super) async fn trust(
    by: As<AdminJustSignedIn>,
    At(name): At<String>,
    Told(told): Told<TrustSkill>,
) -> Answer<SkillTrusted> {
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of its files").into());
        }
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        let hash = workshop.caller().skill(&name)?.hash;
        let question = workshop.trust_question(&name)?;
        let now = question.as_ref().map_or(&hash, |it| &it.hash);
        if !now.starts_with(&told.hash) {
            return Err(Failure::new(Code::R008, "the skill is another one by now")
                .because("files of it changed since you saw it")
                .advise("look at it again, then trust what it is")
                .into());
        }
        if let Some(question) = &question {
            workshop.trust_skill(question)?;
        }
        Ok(SkillTrusted {
            skill: name,
            hash,
            changed: question.is_some(),
        })
    });
    done.await.map(Json)
}

/// Keeps something for the next runs of a skill.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons", tag = "skills",
    operation_id = "addLesson", request_body = NewLesson,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = LessonDone), (status = "4XX", body = Troubled)))]
pub(super) async fn teach(
    by: As<Developer>,
    At(name): At<String>,
    Told(new): Told<NewLesson>,
) -> Made<LessonDone> {
    let done = by.does(move |workshop| {
        let id = workshop.add_lesson(&name, &new.text)?;
        Ok(LessonDone { skill: name, id })
    });
    done.await.map(made)
}

/// Says otherwise what is kept for the next runs of a skill.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons/{id}/edit", tag = "skills",
    operation_id = "editLesson", request_body = NewLesson,
    params(("name" = String, Path, description = "The skill"), ("id" = String, Path, description = "The lesson")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = LessonDone), (status = "4XX", body = Troubled)))]
pub(super) async fn reword(
    by: As<Developer>,
    At((name, id)): At<(String, String)>,
    Told(new): Told<NewLesson>,
) -> Answer<LessonDone> {
    let done = by.does(move |workshop| {
        workshop.edit_lesson(&name, &id, &new.text)?;
        Ok(LessonDone { skill: name, id })
    });
    done.await.map(Json)
}

/// Forgets something that was kept.
#[utoipa::path(post, path = "/api/v1/skills/{name}/lessons/{id}/remove", tag = "skills",
    operation_id = "removeLesson", request_body = Nothing,
    params(("name" = String, Path, description = "The skill"), ("id" = String, Path, description = "The lesson")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = LessonDone), (status = "4XX", body = Troubled)))]
pub(super) async fn forget(
    by: As<Developer>,
    At((name, id)): At<(String, String)>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<LessonDone> {
    let done = by.does(move |workshop| {
        workshop.remove_lesson(&name, &id)?;
        Ok(LessonDone { skill: name, id })
    });
    done.await.map(Json)
}

/// How a run went, in a person's words.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Feedback {
    /// The run, or how its id begins.
    run: String,
    /// The words.
    text: String,
}

/// What became of a person's words.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct FeedbackTaken {
    /// Which run.
    run: String,
    /// The skill whose next runs are told; none for a task.
    skill: Option<String>,
}

/// Says how a run went; the next runs of its skill are told.
#[utoipa::path(post, path = "/api/v1/feedback", tag = "skills", operation_id = "giveFeedback",
    request_body = Feedback, extensions(("x-role" = json!("developer"))),
    responses((status = 201, body = FeedbackTaken), (status = "4XX", body = Troubled)))]
pub(super) async fn feedback(by: As<Developer>, Told(told): Told<Feedback>) -> Made<FeedbackTaken> {
    let done = by.does(move |workshop| {
        let given = workshop.give_feedback(&told.run, &told.text)?;
        Ok(shaped(given)?)
    });
    done.await.map(made)
}
