//! Roles: listing, creating, editing and removing them. A role's file names its secrets and
//! forbidden tools, so every change takes a fresh sign-in.

use artel_workshop::NewAgent;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::checks::AgentValidationReplyRole;
use super::page::{ApiPageLimit, ApiPageReply, holds, page};
use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{
    AdminJustSignedIn, ApiCreatedResult, ApiPathParams, ApiQueryParams, ApiResult,
    AuthorizedCaller, Developer, User, made, shaped, unnamed,
};
use super::{ApiJsonBody, ModelName};

/// A role in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentListReplyRow {
    /// The role's id.
    id: String,
    /// Display name.
    name: String,
    /// Its purpose, in one line.
    description: String,
    /// The model it asks for; `null` for the default model.
    model: Option<String>,
    /// Maximum number of tool calls in one attempt at a step.
    calls: u32,
    /// Its strengths.
    capabilities: Vec<String>,
    /// `built-in`, `file` or `override`.
    source: String,
    /// Why the role cannot be used; `null` if it can.
    broken: Option<String>,
}

/// A role with all its fields.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentDetailsReply {
    #[serde(flatten)]
    row: AgentListReplyRow,
    /// Its file; `null` for a built-in role.
    file: Option<String>,
    /// Tools it may use; `null` for whatever policy allows.
    tools: Option<Vec<String>>,
    /// Tools it may not use.
    disallowed: Vec<String>,
    /// The instructions that say how it works.
    prompt: String,
}

/// A role to create. Omitted fields are taken from the template.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateAgentBody {
    /// The role's id: lower-case letters, digits and hyphens.
    id: String,
    /// Display name.
    name: String,
    /// The model: an alias, or `provider:model`.
    model: Option<ModelName>,
    /// Its purpose, in one line.
    description: Option<String>,
    /// Its strengths.
    capabilities: Option<Vec<String>>,
    /// The instructions that say how it works.
    prompt: Option<String>,
    /// The role to copy; `default` if omitted.
    template: Option<String>,
}

/// The text of a role's file.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct AgentTextReply {
    /// The role's id.
    id: String,
    /// Its file; `null` for a built-in role.
    file: Option<String>,
    /// The whole text.
    text: String,
    /// BLAKE3 hash of the text, in hex; an edit must name it.
    hash: String,
}

/// A new text for a role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EditAgentBody {
    /// The whole text, as returned by `/text`, with your changes.
    text: String,
    /// The hash of the text you edited, or at least its first 8 letters.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    hash: String,
}

/// The result of removing a role.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RemoveAgentReply {
    /// The role's id.
    id: String,
    /// Whether its file was removed.
    removed: bool,
}

/// Query parameters for listing roles.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentListQuery {
    /// Only roles whose id, name or description contains this text.
    q: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    before: Option<String>,
}

/// Lists roles.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", operation_id = "listAgents",
    params(AgentListQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<AgentListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<AgentListQuery>,
) -> ApiResult<ApiPageReply<AgentListReplyRow>> {
    let done = by.does(move |workshop| {
        let mut agents = workshop.caller().agents()?;
        agents.retain(|it| holds(wanted.q.as_deref(), &[&it.id, &it.name, &it.description]));
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(agents, cut, |it| it.id.clone())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Creates a role.
#[utoipa::path(post, path = "/api/v1/agents", tag = "agents", operation_id = "createAgent",
    request_body = CreateAgentBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = AgentDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiJsonBody(new): ApiJsonBody<CreateAgentBody>,
) -> ApiCreatedResult<AgentDetailsReply> {
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
    responses((status = 200, body = AgentDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<AgentDetailsReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.caller().agent(&id)?)?));
    done.await.map(Json)
}

/// Removes a role's file.
#[utoipa::path(post, path = "/api/v1/agents/{id}/remove", tag = "agents",
    operation_id = "removeAgent", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = RemoveAgentReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn remove(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<RemoveAgentReply> {
    let named = id.clone();
    let done = by.does(move |workshop| {
        // Refuse a role that may not be removed before anything is touched.
        workshop.agent_to_remove(&named)?;
        Ok(workshop.remove_agent(&named)?)
    });
    by.told(done.await?);
    Ok(Json(RemoveAgentReply { id, removed: true }))
}

/// Returns the text of a role's file.
#[utoipa::path(get, path = "/api/v1/agents/{id}/text", tag = "agents",
    operation_id = "showAgentText",
    params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = AgentTextReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn text(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<AgentTextReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.caller().agent_text(&id)?)?));
    done.await.map(Json)
}

/// Replaces the text of a role.
///
/// For a built-in role this creates a file that overrides it. A text that is not a valid
/// role is refused.
#[utoipa::path(post, path = "/api/v1/agents/{id}/edit", tag = "agents", operation_id = "editAgent",
    request_body = EditAgentBody, params(("id" = String, Path, description = "Its id")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = AgentValidationReplyRole), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn edit(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<EditAgentBody>,
) -> ApiResult<AgentValidationReplyRole> {
    let done = by.does(move |workshop| {
        if told.hash.len() < 8 {
            return Err(unnamed("hash", "that of the text you read").into());
        }
        Ok(workshop.rewrite_agent(&id, &told.text, &told.hash)?)
    });
    let report = by.told(done.await?);
    Ok(Json(shaped(report)?))
}
