//! Request bodies: JSON of a limited size that must arrive within a limited time.

use std::time::Duration;

use artel_types::{Failure, FailureCode};
use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::de::DeserializeOwned;

use super::ApiError;

/// Time limit for receiving a body.
const BODY_TIME: Duration = Duration::from_secs(20);

/// A JSON body.
pub(crate) struct ApiJsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for ApiJsonBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let reading = Bytes::from_request(request, state);
        let Ok(read) = tokio::time::timeout(BODY_TIME, reading).await else {
            let failure = Failure::new(FailureCode::H009, "what was sent took too long to come");
            return Err((StatusCode::REQUEST_TIMEOUT, ApiError(failure).body()).into_response());
        };
        let bytes = read.map_err(|rejection| {
            let failure = Failure::new(FailureCode::H009, "what was sent cannot be taken")
                .because(rejection.body_text())
                .advise("send at most 8 MiB");
            (rejection.status(), ApiError(failure).body()).into_response()
        })?;
        // An empty body stands for an object whose fields are all omitted.
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // serde would also read a struct from a list of its values, which is never what the
        // caller meant.
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if first != Some(&b'{') {
            return Err(misfit("it is no JSON object".to_owned()));
        }
        let read = serde_json::from_slice(text);
        read.map(Self).map_err(|error| misfit(error.to_string()))
    }
}

fn misfit(why: String) -> Response {
    let failure = Failure::new(FailureCode::C004, "what was sent does not fit")
        .because(why)
        .advise("`/api/v1/openapi.json` describes what is expected");
    ApiError(failure).into_response()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use axum::body::Body;
    use futures_util::stream::{self, StreamExt as _};
    use serde_json::Value;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Reads a body that arrives in `pieces`, one every `each`.
    async fn read(pieces: usize, each: Duration) -> Result<Value, StatusCode> {
        let trickle = stream::iter(0..pieces).then(move |_| async move {
            sleep(each).await;
            Ok::<_, Infallible>(Bytes::from_static(b" "))
        });
        let end = stream::iter([Ok(Bytes::from_static(b"{}"))]);
        let request = Request::new(Body::from_stream(trickle.chain(end)));
        let read = ApiJsonBody::<Value>::from_request(request, &()).await;
        read.map(|told| told.0).map_err(|answer| answer.status())
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_sends_too_slowly_is_not_waited_for() {
        let second = Duration::from_secs(1);
        assert_eq!(read(10, second).await, Ok(serde_json::json!({})));
        let began = Instant::now();
        // Pieces keep arriving, and would for hours.
        let refused = read(10_000, second).await;
        assert_eq!(refused, Err(StatusCode::REQUEST_TIMEOUT));
        assert_eq!(began.elapsed().as_secs(), BODY_TIME.as_secs());
    }
}
