//! The way in by a link that works once.

use std::sync::Arc;

use artel_types::Via;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use crate::api::Refusal;
use crate::desk::Desk;
use crate::keeper::blocking;

#[derive(Debug, Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    code: String,
}

/// Lets somebody in by the code of a link, which is used up by that.
pub(super) async fn by_link(
    State(desk): State<Arc<Desk>>,
    link: Result<Query<Link>, QueryRejection>,
) -> Result<Response, Refusal> {
    let code = link.map(|link| link.0.code).unwrap_or_default();
    let name = desk.cookie.clone();
    let used = blocking(move || {
        let workshop = desk.workshop();
        let by = workshop.caller().actor().id;
        workshop.acting(&by, Via::Web)?.use_login(&code)
    });
    let Some(cookie) = used.await? else {
        return Ok((StatusCode::UNAUTHORIZED, super::stranger()).into_response());
    };
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response();
    let cookie = format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800");
    // What is written in hex is always fit for a header.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}
