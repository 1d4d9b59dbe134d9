//! Liveness, readiness, and the OpenAPI description of the interface.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::Value;

use crate::desk::ServerState;

/// Answers `ok` while the server is alive.
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "isAlive", security(()), responses((status = 200, body = String)))]
pub(super) async fn alive() -> &'static str {
    "ok"
}

/// Answers `ok` if work can be done: the journal is readable and the disk has room to
/// write.
///
/// Otherwise answers 503 with the reason.
#[utoipa::path(get, path = "/readyz", tag = "server", operation_id = "isReady", security(()),
    responses((status = 200, body = String), (status = 503, body = String)))]
pub(super) async fn ready(State(desk): State<Arc<ServerState>>) -> (StatusCode, String) {
    if let Some(lack) = desk.lack() {
        // Anyone may call this, so the location of the problem is not disclosed.
        let why = lack.why.as_str().to_owned();
        return (StatusCode::SERVICE_UNAVAILABLE, why);
    }
    match desk.reader().head() {
        Ok(_) => (StatusCode::OK, "ok".to_owned()),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "not ready".to_owned()),
    }
}

/// Returns the OpenAPI description of the interface.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "server", operation_id = "describe",
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Value), (status = "4XX", body = super::refusal::ApiErrorReply)))]
pub(super) async fn openapi() -> Json<Value> {
    Json(super::description())
}
