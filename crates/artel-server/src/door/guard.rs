//! Refuses requests from other sites, and sets the security headers of responses.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::connections::{BODY_SIZE, HEAD_SIZE};
use crate::desk::ServerState;
use crate::door::CalledHostKind;

/// The content security policy of pages: only this server's resources, and no inline code.
const CONTENT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// Adds the security headers to every response.
pub(crate) async fn headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Refuses requests from other sites, and requests to a host name that is not the server's,
/// before anything else is checked. All of them get the same response.
pub(crate) async fn guard(
    State(desk): State<Arc<ServerState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(called) = called(&desk, &request) else {
        return refused(StatusCode::FORBIDDEN, "foreign request\n");
    };
    request.extensions_mut().insert(called);
    let headers = request.headers();
    let length = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    if headers.iter().map(length).sum::<usize>() > HEAD_SIZE {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        return refused(status, "the headers are larger than 32 KiB\n");
    }
    // Refuse at once, so that no client sends a body that would be rejected.
    let declared = only(headers, header::CONTENT_LENGTH).and_then(|it| it.parse::<usize>().ok());
    if declared.is_some_and(|length| length > BODY_SIZE) {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        return refused(status, "the body is larger than 8 MiB\n");
    }
    next.run(request).await
}

fn refused(status: StatusCode, why: &'static str) -> Response {
    let mut response = status.into_response();
    *response.body_mut() = Body::from(why);
    response
}

/// Returns by which kind of name the server was called, or `None` if the request comes from
/// another site or the name is not the server's.
fn called(desk: &ServerState, request: &Request) -> Option<CalledHostKind> {
    let headers = request.headers();
    let host = only(headers, header::HOST)?;
    let called = desk.hosts.called(host)?;
    // An absolute request target could name another host than `Host` does.
    let target = request.uri().authority();
    let is_target = target.is_none_or(|target| target.as_str().eq_ignore_ascii_case(host));
    let is_origin = if headers.contains_key(header::ORIGIN) {
        only(headers, header::ORIGIN).is_some_and(|it| desk.hosts.is_origin_at(host, it))
    } else {
        true
    };
    let is_site = if headers.contains_key("sec-fetch-site") {
        only(headers, "sec-fetch-site").is_some_and(|it| matches!(it, "none" | "same-origin"))
    } else {
        true
    };
    (is_target && is_origin && is_site).then_some(called)
}

/// Returns the value of a header that occurs exactly once.
fn only(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}
