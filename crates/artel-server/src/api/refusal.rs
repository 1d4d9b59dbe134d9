//! Failures as HTTP responses: what failed, why, what to do, and a code.

use artel_types::{Failure, FailureCode, FailureKind};
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// A failure to send to the caller.
#[derive(Debug)]
pub(crate) struct ApiError(pub(crate) Failure);

/// A failure: what failed, why, and what to do.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApiErrorReplyFailure {
    /// The error code; `artel explain CODE` says more.
    code: String,
    /// A description of the failure.
    what: String,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Advice on what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

/// The response to a request that failed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApiErrorReply {
    error: ApiErrorReplyFailure,
}

impl ApiError {
    /// Returns the response body, for a response with another status.
    pub(crate) fn body(self) -> Json<ApiErrorReply> {
        let Failure {
            code,
            what,
            why,
            advice,
            ..
        } = self.0;
        let code = code.to_string();
        Json(ApiErrorReply {
            error: ApiErrorReplyFailure {
                code,
                what,
                why,
                advice,
            },
        })
    }

    pub(crate) fn status(&self) -> StatusCode {
        match self.0.code {
            FailureCode::R008 | FailureCode::P008 | FailureCode::J011 => {
                return StatusCode::CONFLICT;
            }
            FailureCode::H008 => return StatusCode::UNAUTHORIZED,
            FailureCode::H009 => return StatusCode::TOO_MANY_REQUESTS,
            FailureCode::J006 => return StatusCode::SERVICE_UNAVAILABLE,
            _ => {}
        }
        match self.0.kind() {
            FailureKind::Usage => StatusCode::BAD_REQUEST,
            FailureKind::Refused => StatusCode::FORBIDDEN,
            FailureKind::NotFound => StatusCode::NOT_FOUND,
            FailureKind::Failed => StatusCode::UNPROCESSABLE_ENTITY,
            FailureKind::Bug | FailureKind::Interrupted => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl From<artel_workshop::WorkshopFailures> for ApiError {
    fn from(problems: artel_workshop::WorkshopFailures) -> Self {
        Self(problems.first())
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status(), self.body()).into_response()
    }
}
