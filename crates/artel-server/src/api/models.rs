//! Models: which there are, and trying one out.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{Admin, AdminInPerson, Answer, As, At, Developer, shaped, waited};
use super::{ModelName, Told};

/// An alias and what it means here.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ModelListed {
    /// The alias.
    alias: String,
    /// Who answers.
    provider: Option<String>,
    /// The model.
    model: Option<String>,
    /// Its limits and prices.
    card: Option<Value>,
    /// How the alias was resolved, or why it cannot be.
    how: String,
}

/// The models.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ModelList {
    /// Each alias.
    models: Vec<ModelListed>,
}

/// A model with all that is known about it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ModelSeen {
    /// What was asked for.
    alias: String,
    /// Who answers.
    provider: String,
    /// The model.
    model: String,
    /// How the alias was resolved.
    how: String,
    /// Where it is.
    base_url: Option<String>,
    /// Whether it is on this machine.
    is_local: bool,
    /// Where its key comes from.
    key: String,
    /// Its limits and prices.
    card: Value,
    /// The provider's name in the journal and for `reset`.
    provider_name: String,
    /// How the provider is.
    health: String,
    /// Until when it is left alone, if it is.
    until: Option<String>,
}

/// A provider that is asked again.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProviderReset {
    /// The names under which it was held back; none where it was not.
    reset: Vec<String>,
}

/// What a trial showed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ModelTried {
    /// Whether text arrived and a well-formed call of the offered tool.
    ok: bool,
    /// What was asked for.
    alias: String,
    /// What that means here.
    resolved: String,
    /// Who answered.
    provider: String,
    /// The model.
    model: String,
    /// Words arrived: works or unseen.
    text: String,
    /// A well-formed call of the offered tool arrived.
    tool_call: String,
    /// The answer came in several pieces.
    streaming: String,
    /// Thoughts arrived.
    thinking: String,
    /// The provider counted tokens.
    usage: String,
    /// Milliseconds until the first piece of the first answer.
    first_ms: Option<u64>,
    /// Milliseconds for all answers.
    total_ms: u64,
    /// Tokens written in a second.
    tokens_per_second: Option<f64>,
    /// What it took.
    tokens: u64,
    /// What it cost, in millionths of a US dollar; nothing if no price is known.
    cost_microusd: Option<u64>,
    /// Why there is no answer.
    error: Option<Value>,
    /// What was noticed on the way.
    notes: Vec<String>,
}

/// Lists models.
#[utoipa::path(get, path = "/api/v1/models", tag = "models", operation_id = "listModels",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ModelList), (status = "4XX", body = Troubled)))]
pub(super) async fn list(by: As<Developer>) -> Answer<ModelList> {
    let done = by.does(|workshop| {
        let models = waited(workshop.models(None))?.list();
        let models: Result<Vec<ModelListed>, _> = models.into_iter().map(shaped).collect();
        Ok(ModelList { models: models? })
    });
    done.await.map(Json)
}

/// Tries a model out with two small calls: for an alias, the one that runs would use.
#[utoipa::path(post, path = "/api/v1/models/{alias}/test", tag = "models",
    operation_id = "testModel", request_body = Nothing,
    params(("alias" = String, Path, description = "The alias, or provider:model")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = ModelTried), (status = "4XX", body = Troubled)))]
pub(super) async fn test(
    by: As<Admin>,
    At(alias): At<ModelName>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ModelTried> {
    let alias = alias.admitted()?;
    let done = by.does(move |workshop| Ok(shaped(waited(workshop.try_listed(&alias))?)?));
    done.await.map(Json)
}

/// Shows a model: where it is, which key it uses, what it costs, how its provider is.
#[utoipa::path(get, path = "/api/v1/models/{alias}", tag = "models", operation_id = "showModel",
    params(("alias" = String, Path, description = "The alias, or provider:model")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ModelSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<Developer>, At(alias): At<ModelName>) -> Answer<ModelSeen> {
    let alias = alias.admitted()?;
    let done = by.does(move |workshop| {
        let mut shown = waited(workshop.caller().show_listed(&alias))?;
        let redactor = workshop.caller().redactor();
        // Addresses are written by hand, and people put passwords into them.
        shown.base_url = shown.base_url.map(|url| redactor.redact(&url).into_owned());
        Ok(shaped(shown)?)
    });
    done.await.map(Json)
}

/// Has a provider asked again at once that was left alone because it failed or asked for a pause.
#[utoipa::path(post, path = "/api/v1/providers/{name}/reset", tag = "models",
    operation_id = "resetProvider", request_body = Nothing,
    params(("name" = String, Path, description = "Its name, as a model's `provider_name` says")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = ProviderReset), (status = "4XX", body = Troubled)))]
pub(super) async fn reset(
    by: As<AdminInPerson>,
    At(name): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ProviderReset> {
    let done = by.does(move |workshop| {
        let reset = workshop.reset_provider(&name)?;
        Ok(ProviderReset { reset })
    });
    done.await.map(Json)
}
