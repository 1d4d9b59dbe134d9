//! The way in by a link that works once.
//!
//! The answer gives a browser two secrets: a cookie, which shows pages, and in the page itself a key,
//! which its script keeps for the tab and without which nothing is changed.

use std::sync::Arc;

use artel_types::Via;
use askama::Template;
use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use serde::Deserialize;

use super::frame::render;
use crate::api::Refusal;
use crate::desk::Desk;
use crate::door::CalledAs;
use crate::keeper::blocking;

#[derive(Debug, Deserialize)]
pub(super) struct Link {
    #[serde(default)]
    code: String,
}

/// Hands the key to the tab, and leads to the console.
#[derive(Template)]
#[template(path = "signed_in.html")]
struct SignedInPage {
    /// Names the sign-in.
    login: String,
    key: String,
}

/// Lets somebody in by the code of a link, which is used up by that. At an address that others on
/// this machine share it lets nobody in, and the link holds on.
pub(super) async fn by_link(
    State(desk): State<Arc<Desk>>,
    Extension(called): Extension<CalledAs>,
    headers: HeaderMap,
    link: Result<Query<Link>, QueryRejection>,
) -> Result<Response, Refusal> {
    if !called.takes_cookies() {
        return Ok((StatusCode::UNAUTHORIZED, super::stranger()).into_response());
    }
    if is_ahead(&headers) {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    let code = link.map(|link| link.0.code).unwrap_or_default();
    let name = desk.cookie.clone();
    let used = blocking(move || {
        let workshop = desk.workshop();
        let by = workshop.caller().actor().id;
        workshop.acting(&by, Via::Web)?.use_login(&code)
    });
    let Some(given) = used.await? else {
        return Ok((StatusCode::UNAUTHORIZED, super::stranger()).into_response());
    };
    let cookie = given.cookie;
    let page = SignedInPage {
        login: given.id,
        key: given.key,
    };
    let mut response = Html(render(&page)?).into_response();
    let secure = match called {
        // A proxy has TLS; without it the browser keeps no such cookie.
        CalledAs::Proxied => "; Secure",
        CalledAs::Console | CalledAs::Address => "",
    };
    let cookie =
        format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800{secure}");
    // What is written in hex is always fit for a header.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Tells whether a browser asks ahead of its person, who may never follow the link.
fn is_ahead(headers: &HeaderMap) -> bool {
    let mut purposes = ["sec-purpose", "purpose", "x-moz"]
        .into_iter()
        .flat_map(|name| headers.get_all(name));
    purposes.any(|value| value.as_bytes().starts_with(b"prefetch"))
}
