//! The stylesheet, scripts and logo, which are compiled into the program.

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::frame::trouble;
use crate::api::ApiError;
use crate::door::AuthenticatedCaller;

struct StaticAsset {
    name: &'static str,
    sort: &'static str,
    text: &'static str,
}

const ASSETS: &[StaticAsset] = &[
    StaticAsset {
        name: "console.css",
        sort: "text/css; charset=utf-8",
        text: include_str!("../../assets/console.css"),
    },
    StaticAsset {
        name: "console.js",
        sort: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/console.js"),
    },
    StaticAsset {
        name: "login.js",
        sort: "text/javascript; charset=utf-8",
        text: include_str!("../../assets/login.js"),
    },
    StaticAsset {
        name: "mark.svg",
        sort: "image/svg+xml",
        text: include_str!("../../assets/mark.svg"),
    },
];

/// Returns a file, or tells the browser that its cached copy is current.
///
/// Access control decides which files need no authentication.
pub(super) async fn asset(
    Path(name): Path<String>,
    who: Result<AuthenticatedCaller, ApiError>,
    headers: HeaderMap,
) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        let failure =
            artel_types::Failure::new(artel_types::FailureCode::W005, "there is no such file");
        return match who {
            Ok(who) => trouble(&who, failure),
            Err(refusal) => refusal.into_response(),
        };
    };
    let tag = format!(
        "\"{}\"",
        &blake3::hash(asset.text.as_bytes()).to_hex()[..16]
    );
    let has = headers.get(header::IF_NONE_MATCH);
    let mut response = if has.is_some_and(|has| has.as_bytes() == tag.as_bytes()) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        asset.text.into_response()
    };
    let out = response.headers_mut();
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.sort));
    // The browser asks each time, so that a new version is seen at once; the response is a
    // few bytes.
    out.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-cache"),
    );
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        out.insert(header::ETAG, tag);
    }
    response
}
