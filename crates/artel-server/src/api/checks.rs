//! Checks of skills and their tests, of roles and of the machine; also the explanations of
//! error codes.

use artel_config::MachineProfile;
use artel_types::{Failure, FailureCode};
use artel_workshop::{
    AgentReport, DoctorCheckStatus, SkillFileCheck, SkillTestOutcome, validate_skill_line,
};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::requests::{none_of, standing_in};
use super::runs::steer::EmptyBody;
use super::seat::{
    ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, User, shaped, waited,
};

/// One health check.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct HealthReplyCheck {
    /// `ok`, `warning` or `problem`.
    health: String,
    /// The area that was checked.
    area: String,
    /// The finding.
    found: String,
    /// The remedy, if there is one.
    remedy: Option<String>,
}

/// The health checks of everything that Artel depends on.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HealthReply {
    /// Whether no check found a problem.
    ok: bool,
    /// The checks.
    checks: Vec<HealthReplyCheck>,
}

/// Query parameters of the health checks.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct HealthQuery {
    /// Runs the checks for a profile instead: `local`, `ci` or `production`.
    profile: Option<String>,
}

/// Where to look for a skill.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillLocationBody {
    /// The portal whose project contains it; by default the daemon's own folder.
    portal: Option<String>,
}

/// Skills to validate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ValidateSkillsBody {
    /// The text of a `SKILL.md` or of a request; if omitted, every skill is validated.
    text: Option<String>,
    /// The kind of text: `skill` or `request`; by default `skill`.
    kind: Option<String>,
    /// The name of the skill's folder.
    dir: Option<String>,
    /// The portal whose project's skills are validated, too.
    portal: Option<String>,
}

/// A validated `SKILL.md`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillValidationReplyFile {
    /// The file; `null` for a text that was sent.
    path: Option<String>,
    /// Whether there are no errors.
    ok: bool,
    /// The errors: what is wrong, where, and how to fix it.
    errors: Vec<Value>,
    /// The warnings: what works but could be better.
    #[serde(default)]
    warnings: Vec<Value>,
}

/// The result of validating skills.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillValidationReply {
    /// Whether there are no errors.
    ok: bool,
    /// The validated files.
    files: Vec<SkillValidationReplyFile>,
}

/// The test results of one skill.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillTestReplySkill {
    /// The skill's name.
    skill: String,
    /// Its folder.
    folder: String,
    /// Whether everything passed.
    ok: bool,
    /// Why it was not tested; `null` if it was.
    skipped: Option<String>,
    /// Errors in the test files.
    errors: Vec<Value>,
    /// Requests that must or must not choose the skill.
    triggers: Vec<Value>,
    /// Rehearsed runs, with the differences found.
    runs: Vec<Value>,
}

/// Test results of skills.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillTestReply {
    /// Whether everything passed.
    ok: bool,
    /// The results, skill by skill.
    skills: Vec<SkillTestReplySkill>,
}

/// A validated role.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentValidationReplyRole {
    /// The role's id.
    id: String,
    /// Its file; `null` for a built-in role.
    file: Option<String>,
    /// Whether all checks passed.
    ok: bool,
    /// The checks, each with its errors.
    checks: Vec<Value>,
}

/// The result of validating roles.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentValidationReply {
    /// Whether all checks passed.
    ok: bool,
    /// The validated roles.
    agents: Vec<AgentValidationReplyRole>,
}

/// The explanation of an error code.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailureCodeReply {
    /// The code.
    code: String,
    /// A one-line summary.
    title: String,
    /// Its meaning, and what to do.
    text: String,
}

/// The explanations of all error codes.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct FailureCodeListReply {
    /// The codes.
    codes: Vec<FailureCodeReply>,
}

/// Checks everything that Artel depends on, without changing anything.
#[utoipa::path(get, path = "/api/v1/doctor", tag = "checks", operation_id = "showHealth",
    params(HealthQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = HealthReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn health(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<HealthQuery>,
) -> ApiResult<HealthReply> {
    let profile: Option<MachineProfile> = match wanted.profile.as_deref().map(str::parse) {
        None => None,
        Some(Ok(profile)) => Some(profile),
        Some(Err(())) => return Err(none_of("profile", &["local", "ci", "production"]).into()),
    };
    // It verifies the whole journal.
    let by = by.beside_the_line();
    let done = by.does(move |workshop| {
        let checks = match profile {
            None => workshop.caller().doctor(),
            Some(profile) => workshop.caller().doctor_profile(profile),
        };
        let ok = !checks
            .iter()
            .any(|it| it.health == DoctorCheckStatus::Problem);
        let checks: Result<_, Failure> = checks.into_iter().map(shaped).collect();
        Ok(HealthReply {
            ok,
            checks: checks?,
        })
    });
    done.await.map(Json)
}

/// Validates a skill strictly.
#[utoipa::path(post, path = "/api/v1/skills/{name}/validate", tag = "skills",
    operation_id = "validateSkill", request_body = SkillLocationBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillValidationReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn validate_skill(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<SkillLocationBody>,
) -> ApiResult<SkillValidationReply> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        let folder = workshop.caller().skill_folder(&name)?;
        Ok(checked(workshop.caller().validate_skills(&[folder])?)?)
    });
    done.await.map(Json)
}

/// Validates a text, or every skill, strictly.
#[utoipa::path(post, path = "/api/v1/checks/skills", tag = "skills",
    operation_id = "validateSkills", request_body = ValidateSkillsBody,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillValidationReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn validate_skills(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(told): ApiJsonBody<ValidateSkillsBody>,
) -> ApiResult<SkillValidationReply> {
    let kinds = ["skill", "request"];
    let kind = told.kind.as_deref().unwrap_or(kinds[0]);
    if !kinds.contains(&kind) {
        return Err(none_of("kind", &kinds).into());
    }
    if let Some(text) = &told.text {
        let line = json!({ "kind": kind, "dir": told.dir, "text": text }).to_string();
        let answer: Value = serde_json::from_str(&validate_skill_line(&line)).unwrap_or_default();
        let file: SkillValidationReplyFile = shaped(answer)?;
        return Ok(Json(SkillValidationReply {
            ok: file.ok,
            files: vec![file],
        }));
    }
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        Ok(checked(workshop.caller().validate_skills(&[])?)?)
    });
    done.await.map(Json)
}

/// Runs a skill's own tests.
#[utoipa::path(post, path = "/api/v1/skills/{name}/test", tag = "skills",
    operation_id = "testSkill", request_body = SkillLocationBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillTestReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn test_skill(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<SkillLocationBody>,
) -> ApiResult<SkillTestReply> {
    test(by, Some(name), told.portal).await
}

/// Runs the tests of every trusted skill that has tests.
#[utoipa::path(post, path = "/api/v1/checks/skill-tests", tag = "skills",
    operation_id = "testSkills", request_body = SkillLocationBody,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillTestReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn test_skills(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(told): ApiJsonBody<SkillLocationBody>,
) -> ApiResult<SkillTestReply> {
    test(by, None, told.portal).await
}

/// Validates a role.
#[utoipa::path(post, path = "/api/v1/agents/{id}/validate", tag = "agents",
    operation_id = "validateAgent", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentValidationReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn validate_agent(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<AgentValidationReply> {
    let done = by.does(move |workshop| {
        // Fail if there is no such role.
        workshop.caller().agent_text(&id)?;
        let reports = workshop.caller().validate_agents(Some(&id))?;
        Ok(judged(reports)?)
    });
    done.await.map(Json)
}

/// Validates every role.
#[utoipa::path(post, path = "/api/v1/checks/agents", tag = "agents",
    operation_id = "validateAgents", request_body = EmptyBody,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentValidationReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn validate_agents(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<AgentValidationReply> {
    let done = by.does(|workshop| Ok(judged(workshop.caller().validate_agents(None)?)?));
    done.await.map(Json)
}

/// Lists every error code with its meaning.
#[utoipa::path(get, path = "/api/v1/explain", tag = "checks", operation_id = "listCodes",
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = FailureCodeListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn codes(_by: AuthorizedCaller<User>) -> ApiResult<FailureCodeListReply> {
    let codes = FailureCode::ALL.iter().map(|code| code_told(*code));
    Ok(Json(FailureCodeListReply {
        codes: codes.collect(),
    }))
}

/// Explains what an error code means and what to do.
#[utoipa::path(get, path = "/api/v1/explain/{code}", tag = "checks", operation_id = "explain",
    params(("code" = String, Path, description = "The code, such as `J006`")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = FailureCodeReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn explain(
    _by: AuthorizedCaller<User>,
    ApiPathParams(word): ApiPathParams<String>,
) -> ApiResult<FailureCodeReply> {
    let code: Result<FailureCode, ()> = word.parse();
    let code = code.map_err(|()| {
        Failure::new(FailureCode::C007, "there is no such code")
            .advise("`GET /api/v1/explain` lists them all")
    })?;
    Ok(Json(code_told(code)))
}

fn code_told(code: FailureCode) -> FailureCodeReply {
    let page = code.page();
    FailureCodeReply {
        code: code.to_string(),
        title: page.title.to_owned(),
        text: page.text.to_owned(),
    }
}

async fn test(
    by: AuthorizedCaller<Developer>,
    name: Option<String>,
    portal: Option<String>,
) -> ApiResult<SkillTestReply> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, portal.as_deref())?;
        let tried: Vec<SkillTestOutcome> = waited(workshop.test_skills(name.as_deref()))?;
        let ok = tried.iter().all(|it| it.ok);
        let skills: Result<_, Failure> = tried.into_iter().map(shaped).collect();
        Ok(SkillTestReply {
            ok,
            skills: skills?,
        })
    });
    done.await.map(Json)
}

fn checked(files: Vec<SkillFileCheck>) -> Result<SkillValidationReply, Failure> {
    let ok = files.iter().all(|it| it.ok);
    let files: Result<_, Failure> = files.into_iter().map(shaped).collect();
    Ok(SkillValidationReply { ok, files: files? })
}

fn judged(reports: Vec<AgentReport>) -> Result<AgentValidationReply, Failure> {
    let ok = reports.iter().all(|it| it.ok);
    let agents: Result<_, Failure> = reports.into_iter().map(shaped).collect();
    Ok(AgentValidationReply {
        ok,
        agents: agents?,
    })
}
