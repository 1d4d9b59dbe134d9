//! The way in by a link that works once.
//!
//! The link leads to a page, and only what that page sends uses the link up: mail and chat programs
//! follow links to show what is there. The answer to it gives a browser two secrets: a cookie, which shows pages, and in the page itself a key,
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

/// How many digits the code of a link has.
const CODE_LENGTH: usize = 64;

/// Sends the code of the link that leads here.
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
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

/// Answers a followed link with the page that sends its code. This does not use the link up.
pub(super) async fn page(
    Extension(called): Extension<CalledAs>,
    headers: HeaderMap,
    link: Result<Query<Link>, QueryRejection>,
) -> Result<Response, Refusal> {
    let code = link.map(|link| link.0.code).unwrap_or_default();
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|it| it.is_ascii_hexdigit());
    if !called.takes_cookies() || !is_code {
        return Ok(unknown());
    }
    // A page that is loaded ahead may run its script.
    if is_ahead(&headers) {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    Ok(Html(render(&SignInPage { code })?).into_response())
}

/// Lets somebody in by the code of a link, which is used up by that. At an address that others on
/// this machine share it lets nobody in, and the link holds on.
pub(super) async fn by_code(
    State(desk): State<Arc<Desk>>,
    Extension(called): Extension<CalledAs>,
    sent: String,
) -> Result<Response, Refusal> {
    let Some(code) = sent
        .strip_prefix("code=")
        .filter(|_| called.takes_cookies())
    else {
        return Ok(unknown());
    };
    let code = code.to_owned();
    let name = desk.cookie.clone();
    let used = blocking(move || {
        let workshop = desk.workshop();
        let by = workshop.caller().actor().id;
        workshop.acting(&by, Via::Web)?.use_login(&code)
    });
    let Some(given) = used.await? else {
        return Ok(unknown());
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

fn unknown() -> Response {
    (StatusCode::UNAUTHORIZED, super::stranger()).into_response()
}

/// Tells whether a browser asks ahead of its person, who may never follow the link.
fn is_ahead(headers: &HeaderMap) -> bool {
    let mut purposes = ["sec-purpose", "purpose", "x-moz"]
        .into_iter()
        .flat_map(|name| headers.get_all(name));
    purposes.any(|value| value.as_bytes().starts_with(b"prefetch"))
}
