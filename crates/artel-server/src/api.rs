//! The HTTP interface under `/api/v1`, with its description made from the code.

mod events;
mod health;
mod refusal;
mod told;

pub(crate) use refusal::Refusal;
pub(crate) use told::Told;

use std::sync::Arc;

use artel_types::{Code, Failure};
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::desk::Desk;

#[derive(OpenApi)]
#[openapi(info(
    title = "Artel",
    description = "A workshop for AI agents: ask, review, approve, watch, merge."
))]
struct Description;

/// Returns the routes of the interface.
pub(crate) fn router() -> Router<Arc<Desk>> {
    described().split_for_parts().0
}

/// Returns the description of the interface.
pub(crate) fn description() -> serde_json::Value {
    let described = described().split_for_parts().1;
    // A description of our own types always has a form in JSON.
    serde_json::to_value(described).unwrap_or_default()
}

fn described() -> OpenApiRouter<Arc<Desk>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::openapi))
        .routes(routes!(events::list))
}

/// Answers where there is nothing.
pub(crate) async fn nothing_here() -> Response {
    let failure = Failure::new(Code::W005, "there is nothing at this address")
        .advise("`/api/v1/openapi.json` describes what there is");
    Refusal(failure).into_response()
}

/// Answers where there is something, but not for this method.
pub(crate) async fn not_that_way() -> Response {
    let failure = Failure::new(Code::C004, "this address does not take that method")
        .advise("`/api/v1/openapi.json` describes what there is");
    (StatusCode::METHOD_NOT_ALLOWED, Refusal(failure).body()).into_response()
}
