//! Roles: which there are, and making, changing and removing them. The file of a role names its secrets
//! and what it may not use, so each of these takes a fresh sign-in.

use artel_workshop::NewAgent;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::checks::AgentChecked;
use super::page::{Limit, Rows, holds, page};
use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{
    AdminJustSignedIn, Answer, As, Asked, At, Developer, Made, User, made, shaped, unnamed,
};
use super::{ModelName, Told};

/// A role in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentListed {
    /// Its id.
    id: String,
    /// What people call it.
    name: String,
    /// What it is for, in a line.
    description: String,
    /// The model it asks for; the usual one if not said.
    model: Option<String>,
    /// How many tool calls one attempt at a step has.
    calls: u32,
    /// What it is good at.
    capabilities: Vec<String>,
    /// built-in, file or override.
    source: String,
    /// Why it cannot be used.
    broken: Option<String>,
}

/// A role with everything that it says.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentSeen {
    #[serde(flatten)]
    row: AgentListed,
    /// Its file; nothing where it is built in.
    file: Option<String>,
    /// What it may use; whatever policy allows if not said.
    tools: Option<Vec<String>>,
    /// What it may not.
    disallowed: Vec<String>,
    /// How it works, in words.
    prompt: String,
}

/// A role to make. What is not said comes from the template.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentWanted {
    /// Its id: lower-case letters, digits and hyphens.
    id: String,
    /// What people call it.
    name: String,
    /// The model: an alias, or provider:model.
    model: Option<ModelName>,
    /// What it is for, in a line.
    description: Option<String>,
    /// What it is good at.
    capabilities: Option<Vec<String>>,
    /// How it works, in words.
    prompt: Option<String>,
    /// What it is made from; `default` if not given.
    template: Option<String>,
}

/// A role as it is written.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentWritten {
    /// Its id.
    id: String,
    /// Its file; nothing where it is built in.
    file: Option<String>,
    /// The whole text.
    text: String,
    /// BLAKE3 of the text, in hex: what a change of it names.
    hash: String,
}

/// A role in a person's own words.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditAgent {
    /// The whole text, as `/text` gives it, with what is to be different.
    text: String,
    /// The hash of the text that was changed, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
}

/// What became of a role.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AgentRemoved {
    /// Its id.
    id: String,
    /// Whether its file is gone.
    removed: bool,
}

/// Which roles are wanted.
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
}

/// Lists roles.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", operation_id = "listAgents",
    params(Wanted), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Rows<AgentListed>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(by: As<User>, Asked(wanted): Asked<Wanted>) -> Answer<Rows<AgentListed>> {
    let done = by.does(move |workshop| {
        let mut agents = workshop.caller().agents()?;
        agents.retain(|it| holds(wanted.q.as_deref(), &[&it.id, &it.name, &it.description]));
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(agents, cut, |it| it.id.clone())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Makes a role.
#[utoipa::path(post, path = "/api/v1/agents", tag = "agents", operation_id = "createAgent",
    request_body = AgentWanted, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = AgentSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn create(
    by: As<AdminJustSignedIn>,
    Told(new): Told<AgentWanted>,
) -> Made<AgentSeen> {
    let new = NewAgent {
        id: new.id,
        name: new.name,
        model: ModelName::admit(new.model)?,
        description: new.description,
        capabilities: new.capabilities,
        prompt: new.prompt,
        prompt_file: None,
        template: new.template,
    };
    let done = by.does(move |workshop| Ok(workshop.create_agent(&new)?));
    let shown = by.told(done.await?);
    Ok(made(shaped(shown)?))
}

/// Shows a role.
#[utoipa::path(get, path = "/api/v1/agents/{id}", tag = "agents", operation_id = "showAgent",
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<Developer>, At(id): At<String>) -> Answer<AgentSeen> {
    let done = by.does(move |workshop| Ok(shaped(workshop.caller().agent(&id)?)?));
    done.await.map(Json)
}

/// Removes a role's file.
#[utoipa::path(post, path = "/api/v1/agents/{id}/remove", tag = "agents",
    operation_id = "removeAgent", request_body = Nothing,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = AgentRemoved), (status = "4XX", body = Troubled)))]
pub(super) async fn remove(
    by: As<AdminJustSignedIn>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<AgentRemoved> {
    let named = id.clone();
    let done = by.does(move |workshop| {
        // What may not be removed is refused before anything is touched.
        workshop.agent_to_remove(&named)?;
        Ok(workshop.remove_agent(&named)?)
    });
    by.told(done.await?);
    Ok(Json(AgentRemoved { id, removed: true }))
}

/// Returns a role as it is written.
#[utoipa::path(get, path = "/api/v1/agents/{id}/text", tag = "agents",
    operation_id = "showAgentText",
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentWritten), (status = "4XX", body = Troubled)))]
pub(super) async fn text(by: As<Developer>, At(id): At<String>) -> Answer<AgentWritten> {
    let done = by.does(move |workshop| Ok(shaped(workshop.caller().agent_text(&id)?)?));
    done.await.map(Json)
}

/// Puts a person's text in the place of a role's. A built-in role gets a file that takes its place;
/// a text that cannot be used is refused.
#[utoipa::path(post, path = "/api/v1/agents/{id}/edit", tag = "agents", operation_id = "editAgent",
    request_body = EditAgent, params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = AgentChecked), (status = "4XX", body = Troubled)))]
pub(super) async fn edit(
    by: As<AdminJustSignedIn>,
    At(id): At<String>,
    Told(told): Told<EditAgent>,
) -> Answer<AgentChecked> {
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of the text you read").into());
        }
        Ok(workshop.rewrite_agent(&id, &told.text, &told.hash)?)
    });
    let report = by.told(done.await?);
    Ok(Json(shaped(report)?))
}
