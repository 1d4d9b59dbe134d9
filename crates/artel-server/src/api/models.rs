//! Models: listing and testing them.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{
    Admin, AdminInPerson, ApiPathParams, ApiResult, AuthorizedCaller, Developer, shaped, waited,
};
use super::{ApiJsonBody, ModelName};

/// A model alias and the model it resolves to.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ModelListReplyRow {
    /// The alias.
    alias: String,
    /// The provider.
    provider: Option<String>,
    /// The model.
    model: Option<String>,
    /// Its limits and prices.
    card: Option<Value>,
    /// An explanation of how the alias was resolved, or why it cannot be.
    how: String,
}

/// The models.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModelListReply {
    /// The aliases.
    models: Vec<ModelListReplyRow>,
}

/// A model with everything known about it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ModelDetailsReply {
    /// The alias or model that was asked for.
    alias: String,
    /// The provider.
    provider: String,
    /// The model.
    model: String,
    /// An explanation of how the alias was resolved.
    how: String,
    /// The base URL of the provider.
    base_url: Option<String>,
    /// Whether it runs on this machine.
    is_local: bool,
    /// Where its key comes from.
    key: String,
    /// Its limits and prices.
    card: Value,
    /// The provider's name in the journal and for `reset`.
    provider_name: String,
    /// The provider's health.
    health: String,
    /// Until when the provider is not called; `null` if it is called.
    until: Option<String>,
}

/// A provider that is called again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ResetProviderReply {
    /// The names under which it was blocked; empty if it was not.
    reset: Vec<String>,
}

/// The result of testing a model.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct TestModelReply {
    /// Whether the model returned text and a well-formed call of the offered tool.
    ok: bool,
    /// The alias or model that was asked for.
    alias: String,
    /// The resolved alias.
    resolved: String,
    /// The provider that answered.
    provider: String,
    /// The model.
    model: String,
    /// Whether text arrived: `works` or `unseen`.
    text: String,
    /// Whether a well-formed call of the offered tool arrived: `works` or `unseen`.
    tool_call: String,
    /// Whether the answer arrived in several chunks: `works` or `unseen`.
    streaming: String,
    /// Whether thinking arrived: `works` or `unseen`.
    thinking: String,
    /// Whether the provider counted tokens: `works` or `unseen`.
    usage: String,
    /// Milliseconds until the first chunk of the first answer.
    first_ms: Option<u64>,
    /// Milliseconds for all answers.
    total_ms: u64,
    /// Tokens generated per second.
    tokens_per_second: Option<f64>,
    /// Number of tokens used.
    tokens: u64,
    /// Cost in millionths of a US dollar; `null` if no price is known.
    cost_microusd: Option<u64>,
    /// Why there is no answer.
    error: Option<Value>,
    /// Observations made during the test.
    notes: Vec<String>,
}

/// Lists models.
#[utoipa::path(get, path = "/api/v1/models", tag = "models", operation_id = "listModels",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ModelListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(by: AuthorizedCaller<Developer>) -> ApiResult<ModelListReply> {
    let done = by.does(|workshop| {
        let models = waited(workshop.models(None))?.list();
        let models: Result<Vec<ModelListReplyRow>, _> = models.into_iter().map(shaped).collect();
        Ok(ModelListReply { models: models? })
    });
    done.await.map(Json)
}

/// Tests a model with two small calls.
///
/// For an alias, this is the model that runs would use.
#[utoipa::path(post, path = "/api/v1/models/{alias}/test", tag = "models",
    operation_id = "testModel", request_body = EmptyBody,
    params(("alias" = String, Path, description = "The alias, or provider:model")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = TestModelReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn test(
    by: AuthorizedCaller<Admin>,
    ApiPathParams(alias): ApiPathParams<ModelName>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<TestModelReply> {
    let alias = alias.admitted()?;
    let done = by.does(move |workshop| Ok(shaped(waited(workshop.try_listed(&alias))?)?));
    done.await.map(Json)
}

/// Shows a model: its address, key, prices, and the health of its provider.
#[utoipa::path(get, path = "/api/v1/models/{alias}", tag = "models", operation_id = "showModel",
    params(("alias" = String, Path, description = "The alias, or provider:model")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ModelDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(alias): ApiPathParams<ModelName>,
) -> ApiResult<ModelDetailsReply> {
    let alias = alias.admitted()?;
    let done = by.does(move |workshop| {
        let mut shown = waited(workshop.caller().show_listed(&alias))?;
        let redactor = workshop.caller().redactor();
        // The addresses are written by hand, and people put passwords into them.
        shown.base_url = shown.base_url.map(|url| redactor.redact(&url).into_owned());
        Ok(shaped(shown)?)
    });
    done.await.map(Json)
}

/// Lets a provider be called again at once that was blocked because it failed or asked for
/// a pause.
#[utoipa::path(post, path = "/api/v1/providers/{name}/reset", tag = "models",
    operation_id = "resetProvider", request_body = EmptyBody,
    params(("name" = String, Path, description = "Its name, as a model's `provider_name` says")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = ResetProviderReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn reset(
    by: AuthorizedCaller<AdminInPerson>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ResetProviderReply> {
    let done = by.does(move |workshop| {
        let reset = workshop.reset_provider(&name)?;
        Ok(ResetProviderReply { reset })
    });
    done.await.map(Json)
}
