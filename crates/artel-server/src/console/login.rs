//! Sign-in by a link that works once.
//!
//! The link leads to a page, and only the form on that page uses up the link: mail and chat
//! programs open links to show a preview. The response gives the browser two secrets: a
//! cookie, with which pages can be viewed, and in the page itself a key, without which
//! nothing can be changed. The page's script keeps the key for the tab.

use std::sync::Arc;

use artel_types::ActorSurface;
use askama::Template;
use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use serde::Deserialize;

use super::frame::render;
use crate::api::ApiError;
use crate::desk::ServerState;
use crate::door::CalledHostKind;
use crate::keeper::blocking;

#[derive(Debug, Deserialize)]
pub(super) struct SignInLinkQuery {
    #[serde(default)]
    code: String,
}

/// Number of hexadecimal digits in the code of a link.
const CODE_LENGTH: usize = 64;

/// The page that a link leads to; it sends the link's code.
#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    code: String,
}

/// The page that hands the key to the tab and opens the console.
#[derive(Template)]
#[template(path = "signed_in.html")]
struct SignedInPage {
    /// The id of the sign-in.
    login: String,
    key: String,
}

/// Answers an opened link with the page that sends its code. This does not use up the link.
pub(super) async fn page(
    Extension(called): Extension<CalledHostKind>,
    headers: HeaderMap,
    link: Result<Query<SignInLinkQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let code = link.map(|link| link.0.code).unwrap_or_default();
    let is_code = code.len() == CODE_LENGTH && code.bytes().all(|it| it.is_ascii_hexdigit());
    if !called.takes_cookies() || !is_code {
        return Ok(unknown());
    }
    // A prefetched page may run its script.
    if is_ahead(&headers) {
        return Ok(StatusCode::FORBIDDEN.into_response());
    }
    Ok(Html(render(&SignInPage { code })?).into_response())
}

/// Signs a person in by the code of a link, which is used up. At an address shared with
/// other programs it refuses, and the link remains valid.
pub(super) async fn by_code(
    State(desk): State<Arc<ServerState>>,
    Extension(called): Extension<CalledHostKind>,
    sent: String,
) -> Result<Response, ApiError> {
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
        workshop.acting(&by, ActorSurface::Web)?.use_login(&code)
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
        // A proxy has TLS; without TLS, the browser discards a `Secure` cookie.
        CalledHostKind::Proxied => "; Secure",
        CalledHostKind::Console | CalledHostKind::Address => "",
    };
    let cookie =
        format!("{name}={cookie}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800{secure}");
    // Hexadecimal text is always a valid header value.
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

fn unknown() -> Response {
    (StatusCode::UNAUTHORIZED, super::stranger()).into_response()
}

/// Returns whether the browser prefetches the page, whose link the person may never open.
fn is_ahead(headers: &HeaderMap) -> bool {
    let mut purposes = ["sec-purpose", "purpose", "x-moz"]
        .into_iter()
        .flat_map(|name| headers.get_all(name));
    purposes.any(|value| value.as_bytes().starts_with(b"prefetch"))
}
