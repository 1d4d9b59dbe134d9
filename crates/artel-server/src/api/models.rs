//! Models: which there are, and trying one out.

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::Told;
use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{Admin, Answer, As, At, Developer, shaped, waited};

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
    At(alias): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ModelTried> {
    let done = by.does(move |workshop| Ok(shaped(waited(workshop.try_listed(&alias))?)?));
    done.await.map(Json)
}
