//! Checks of what people write and of the place itself: skills with their tests, roles, the machine.

use artel_config::Profile;
use artel_types::{Code, Failure};
use artel_workshop::{AgentReport, Checked, Health, SkillTried, validate_skill_line};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::Told;
use super::refusal::Troubled;
use super::requests::{none_of, standing_in};
use super::runs::steer::Nothing;
use super::seat::{Answer, As, Asked, At, Developer, User, shaped, waited};

/// One thing that was looked at.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct HealthLine {
    /// ok, warning or problem.
    health: String,
    /// What was looked at.
    area: String,
    /// What was found.
    found: String,
    /// What to do about it.
    remedy: Option<String>,
}

/// Whether everything that Artel rests on is there.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HealthSeen {
    /// Whether nothing is a problem.
    ok: bool,
    /// Each thing that was looked at.
    checks: Vec<HealthLine>,
}

/// What is gone through.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WhichProfile {
    /// The list for a profile instead: local, ci or production.
    profile: Option<String>,
}

/// Where a skill is looked for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Where {
    /// The project that it came with; the daemon's own folder if not given.
    portal: Option<String>,
}

/// What is to be checked.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillText {
    /// The text of a `SKILL.md`, or of a request; every skill there is if not given.
    text: Option<String>,
    /// What the text is: `skill` or `request`; `skill` if not given.
    kind: Option<String>,
    /// What the folder of the skill is called.
    dir: Option<String>,
    /// The project whose skills are checked, too.
    portal: Option<String>,
}

/// A `SKILL.md` that was checked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillChecked {
    /// The file; nothing for a text that was sent.
    path: Option<String>,
    /// Whether nothing is wrong.
    ok: bool,
    /// What is wrong, where, and what to do.
    errors: Vec<Value>,
    /// What works, and could be better.
    #[serde(default)]
    warnings: Vec<Value>,
}

/// Skills that were checked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillsChecked {
    /// Whether nothing is wrong.
    ok: bool,
    /// Each file.
    files: Vec<SkillChecked>,
}

/// The tests of a skill.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillTestSeen {
    /// Its name.
    skill: String,
    /// Where it is.
    folder: String,
    /// Whether everything is as it must be.
    ok: bool,
    /// Why it was not tried, if it was not.
    skipped: Option<String>,
    /// What is wrong with the files of the tests.
    errors: Vec<Value>,
    /// Requests that must or must not choose it.
    triggers: Vec<Value>,
    /// Rehearsed runs, and what differs.
    runs: Vec<Value>,
}

/// Skills that were tested.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillsTested {
    /// Whether everything is as it must be.
    ok: bool,
    /// Each skill.
    skills: Vec<SkillTestSeen>,
}

/// A role that was checked.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentChecked {
    /// The role.
    id: String,
    /// Its file; nothing where it is built in.
    file: Option<String>,
    /// Whether everything holds.
    ok: bool,
    /// Each thing that was looked at, and what is wrong with it.
    checks: Vec<Value>,
}

/// Roles that were checked.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentsChecked {
    /// Whether everything holds.
    ok: bool,
    /// Each role.
    agents: Vec<AgentChecked>,
}

/// What a code means.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CodeTold {
    /// The code.
    code: String,
    /// In a line.
    title: String,
    /// What it means and what to do.
    text: String,
}

/// What all codes mean.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CodesTold {
    /// Each of them.
    codes: Vec<CodeTold>,
}

/// Looks whether everything that Artel rests on is there. Nothing is changed.
#[utoipa::path(get, path = "/api/v1/doctor", tag = "checks", operation_id = "showHealth",
    params(WhichProfile), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = HealthSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn health(
    by: As<Developer>,
    Asked(wanted): Asked<WhichProfile>,
) -> Answer<HealthSeen> {
    let profile: Option<Profile> = match wanted.profile.as_deref().map(str::parse) {
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
        let ok = !checks.iter().any(|it| it.health == Health::Problem);
        let checks: Result<_, Failure> = checks.into_iter().map(shaped).collect();
        Ok(HealthSeen {
            ok,
            checks: checks?,
        })
    });
    done.await.map(Json)
}

/// Checks a skill strictly.
#[utoipa::path(post, path = "/api/v1/skills/{name}/validate", tag = "skills",
    operation_id = "validateSkill", request_body = Where,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillsChecked), (status = "4XX", body = Troubled)))]
pub(super) async fn validate_skill(
    by: As<Developer>,
    At(name): At<String>,
    Told(told): Told<Where>,
) -> Answer<SkillsChecked> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, told.portal.as_deref())?;
        let folder = workshop.caller().skill_folder(&name)?;
        Ok(checked(workshop.caller().validate_skills(&[folder])?)?)
    });
    done.await.map(Json)
}

/// Checks a text strictly, or every skill there is.
#[utoipa::path(post, path = "/api/v1/checks/skills", tag = "skills",
    operation_id = "validateSkills", request_body = SkillText,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillsChecked), (status = "4XX", body = Troubled)))]
pub(super) async fn validate_skills(
    by: As<Developer>,
    Told(told): Told<SkillText>,
) -> Answer<SkillsChecked> {
    let kinds = ["skill", "request"];
    let kind = told.kind.as_deref().unwrap_or(kinds[0]);
    if !kinds.contains(&kind) {
        return Err(none_of("kind", &kinds).into());
    }
    if let Some(text) = &told.text {
        let line = json!({ "kind": kind, "dir": told.dir, "text": text }).to_string();
        let answer: Value = serde_json::from_str(&validate_skill_line(&line)).unwrap_or_default();
        let file: SkillChecked = shaped(answer)?;
        return Ok(Json(SkillsChecked {
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
    operation_id = "testSkill", request_body = Where,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillsTested), (status = "4XX", body = Troubled)))]
pub(super) async fn test_skill(
    by: As<Developer>,
    At(name): At<String>,
    Told(told): Told<Where>,
) -> Answer<SkillsTested> {
    test(by, Some(name), told.portal).await
}

/// Runs the tests of every skill that has any and is trusted.
#[utoipa::path(post, path = "/api/v1/checks/skill-tests", tag = "skills",
    operation_id = "testSkills", request_body = Where,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillsTested), (status = "4XX", body = Troubled)))]
pub(super) async fn test_skills(
    by: As<Developer>,
    Told(told): Told<Where>,
) -> Answer<SkillsTested> {
    test(by, None, told.portal).await
}

/// Checks a role: each thing that has to hold.
#[utoipa::path(post, path = "/api/v1/agents/{id}/validate", tag = "agents",
    operation_id = "validateAgent", request_body = Nothing,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentsChecked), (status = "4XX", body = Troubled)))]
pub(super) async fn validate_agent(
    by: As<Developer>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<AgentsChecked> {
    let done = by.does(move |workshop| {
        // Whoever names one means one that is there.
        workshop.caller().agent_text(&id)?;
        let reports = workshop.caller().validate_agents(Some(&id))?;
        Ok(judged(reports)?)
    });
    done.await.map(Json)
}

/// Checks every role there is.
#[utoipa::path(post, path = "/api/v1/checks/agents", tag = "agents",
    operation_id = "validateAgents", request_body = Nothing,
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentsChecked), (status = "4XX", body = Troubled)))]
pub(super) async fn validate_agents(
    by: As<Developer>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<AgentsChecked> {
    let done = by.does(|workshop| Ok(judged(workshop.caller().validate_agents(None)?)?));
    done.await.map(Json)
}

/// Lists every error code with what it means.
#[utoipa::path(get, path = "/api/v1/explain", tag = "checks", operation_id = "listCodes",
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = CodesTold), (status = "4XX", body = Troubled)))]
pub(super) async fn codes(_by: As<User>) -> Answer<CodesTold> {
    let codes = Code::ALL.iter().map(|code| code_told(*code));
    Ok(Json(CodesTold {
        codes: codes.collect(),
    }))
}

/// Says what an error code means and what to do.
#[utoipa::path(get, path = "/api/v1/explain/{code}", tag = "checks", operation_id = "explain",
    params(("code" = String, Path, description = "The code, such as `J006`")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = CodeTold), (status = "4XX", body = Troubled)))]
pub(super) async fn explain(_by: As<User>, At(word): At<String>) -> Answer<CodeTold> {
    let code: Result<Code, ()> = word.parse();
    let code = code.map_err(|()| {
        Failure::new(Code::C007, "there is no such code")
            .advise("`GET /api/v1/explain` lists them all")
    })?;
    Ok(Json(code_told(code)))
}

fn code_told(code: Code) -> CodeTold {
    let page = code.page();
    CodeTold {
        code: code.to_string(),
        title: page.title.to_owned(),
        text: page.text.to_owned(),
    }
}

async fn test(
    by: As<Developer>,
    name: Option<String>,
    portal: Option<String>,
) -> Answer<SkillsTested> {
    let done = by.does(move |workshop| {
        let workshop = standing_in(workshop, portal.as_deref())?;
        let tried: Vec<SkillTried> = waited(workshop.test_skills(name.as_deref()))?;
        let ok = tried.iter().all(|it| it.ok);
        let skills: Result<_, Failure> = tried.into_iter().map(shaped).collect();
        Ok(SkillsTested {
            ok,
            skills: skills?,
        })
    });
    done.await.map(Json)
}

fn checked(files: Vec<Checked>) -> Result<SkillsChecked, Failure> {
    let ok = files.iter().all(|it| it.ok);
    let files: Result<_, Failure> = files.into_iter().map(shaped).collect();
    Ok(SkillsChecked { ok, files: files? })
}

fn judged(reports: Vec<AgentReport>) -> Result<AgentsChecked, Failure> {
    let ok = reports.iter().all(|it| it.ok);
    let agents: Result<_, Failure> = reports.into_iter().map(shaped).collect();
    Ok(AgentsChecked {
        ok,
        agents: agents?,
    })
}
