//! The extractors that every route begins with: the caller and their role, the path and the
//! query.

use std::marker::PhantomData;
use std::sync::Arc;

use artel_types::{Failure, FailureCode};
use artel_workshop::{OutcomeWithNotes, RunVisibility, TimelineDetailLevel, ViewerRole, Workshop};
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ApiError;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;
use crate::keeper::blocking;

/// The result of a handler: JSON, or a failure.
pub(super) type ApiResult<T> = Result<Json<T>, ApiError>;

/// The result of a handler that creates something: 201 with JSON, or a failure.
pub(super) type ApiCreatedResult<T> = Result<(StatusCode, Json<T>), ApiError>;

/// The access that a route requires.
pub(super) trait RouteAccess: Send + Sync {
    /// The least role.
    const NEEDED: ViewerRole;
    /// Whether it takes a person: tokens of programs are refused.
    const IN_PERSON: bool = false;
    /// The required age of the sign-in, for callers from the console.
    const SIGN_IN: RequiredSignInAge = RequiredSignInAge::Any;
}

/// The required age of a console sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredSignInAge {
    /// Any sign-in that is still valid.
    Any,
    /// A sign-in within the last five minutes.
    Fresh,
}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident)+) => {
        $(
            $(#[$doc])*
            pub(super) struct $name;

            impl RouteAccess for $name {
                const NEEDED: ViewerRole = ViewerRole::$name;
            }
        )+
    };
}

roles! {
    /// Anyone with access.
    User
    /// Developers: they may see everything, steer and merge.
    Developer
    /// Admins: they decide who has access and what agents may do.
    Admin
}

macro_rules! in_person {
    ($($(#[$doc:meta])* $name:ident $role:ident)+) => {
        $(
            $(#[$doc])*
            pub(super) struct $name;

            impl RouteAccess for $name {
                const NEEDED: ViewerRole = ViewerRole::$role;
                const IN_PERSON: bool = true;
            }
        )+
    };
}

in_person! {
    /// A person with access.
    UserInPerson User
    /// A person who is at least a developer.
    DeveloperInPerson Developer
    /// A person who is an admin.
    AdminInPerson Admin
}

/// A person who is an admin and, at the console, signed in within the last five minutes:
/// for changes that grant something permanently.
pub(super) struct AdminJustSignedIn;

impl RouteAccess for AdminJustSignedIn {
    const NEEDED: ViewerRole = ViewerRole::Admin;
    const IN_PERSON: bool = true;
    const SIGN_IN: RequiredSignInAge = RequiredSignInAge::Fresh;
}

/// An authorized caller. Everyone else is refused before the body is read.
pub(super) struct AuthorizedCaller<R> {
    pub(super) desk: Arc<ServerState>,
    pub(super) who: AuthenticatedCaller,
    /// Whether the caller only reads.
    is_look: bool,
    role: PhantomData<R>,
}

impl<R: RouteAccess> FromRequestParts<Arc<ServerState>> for AuthorizedCaller<R> {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        desk: &Arc<ServerState>,
    ) -> Result<Self, ApiError> {
        let who = AuthenticatedCaller::from_request_parts(parts, desk).await?;
        who.needs(R::NEEDED)?;
        if R::IN_PERSON {
            who.in_person()?;
        }
        if R::SIGN_IN == RequiredSignInAge::Fresh {
            who.freshly_signed_in(desk.workshop().caller().clock().now())?;
        }
        refuse_without_room(parts, desk)?;
        Ok(Self {
            desk: Arc::clone(desk),
            who,
            is_look: parts.method.is_safe(),
            role: PhantomData,
        })
    }
}

/// Paths that work without free disk space, because they free some.
const FREES: &[&str] = &["/api/v1/clean"];

/// Refuses changes while there is no disk space to record them. Reading still works.
fn refuse_without_room(parts: &Parts, desk: &ServerState) -> Result<(), Failure> {
    match desk.lack() {
        Some(lack) if !parts.method.is_safe() && !FREES.contains(&parts.uri.path()) => {
            Err(Failure::new(FailureCode::J006, lack.to_string())
                .because("what was begun waits, and goes on once there is room")
                .advise("free some space (`artel clean` shows what Artel could free), then repeat"))
        }
        _ => Ok(()),
    }
}

impl<R> AuthorizedCaller<R> {
    /// Does not use one of the slots for reading: for operations that take long and would
    /// make others wait.
    pub(super) fn beside_the_line(self) -> Self {
        Self {
            is_look: false,
            ..self
        }
    }

    /// Runs an operation in the workshop in the caller's name, on a thread that may block.
    pub(super) async fn does<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Arc<Workshop>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let workshop = self.who.workshop(&self.desk)?;
        let act = move || act(&workshop).map_err(|refusal| refusal.0);
        Ok(if self.is_look {
            self.desk.look(act).await?
        } else {
            blocking(act).await?
        })
    }

    /// Returns the result, and passes the notes to the daemon's messages.
    pub(super) fn told<T>(&self, noted: OutcomeWithNotes<T>) -> T {
        noted.notes.iter().for_each(|note| (self.desk.says)(note));
        noted.done
    }

    /// Returns what the caller may see. Asking for more than the role allows is refused.
    pub(super) fn eyes(&self, view: Option<&str>) -> Result<RunVisibility, Failure> {
        eyes(&self.desk, &self.who, view)
    }
}

/// Returns what a person or program may see, limited to `view`.
pub(super) fn eyes(
    desk: &ServerState,
    who: &AuthenticatedCaller,
    view: Option<&str>,
) -> Result<RunVisibility, Failure> {
    let role = who.pass.role;
    let eyes = desk.workshop().eyes_of(role);
    match (view, eyes.most) {
        (None, _) | (Some("full"), TimelineDetailLevel::Full) => Ok(eyes),
        (Some("summary"), _) => Ok(eyes.looking(TimelineDetailLevel::Summary)),
        (Some("full"), TimelineDetailLevel::Summary) => {
            let role = role.as_str();
            let what = format!("the full view is not for the role `{role}`");
            Err(Failure::new(FailureCode::H004, what)
                .because(format!("`visibility.{role}` is \"summary\""))
                .advise("ask for the summary; an admin says who sees what"))
        }
        (Some(_), _) => {
            Err(Failure::new(FailureCode::C004, "there is no such view")
                .advise("`summary` or `full`"))
        }
    }
}

/// Blocks on a future; only for threads that may block.
pub(super) fn waited<T>(doing: impl Future<Output = T>) -> T {
    tokio::runtime::Handle::current().block_on(doing)
}

/// Returns the failure for an approval that does not name what the person saw.
pub(super) fn unnamed(field: &str, what: &str) -> Failure {
    Failure::new(FailureCode::C004, "an approval names what was seen")
        .because("it may have changed since")
        .advise(format!(
            "send `{field}`, {what}, or at least its first 8 letters"
        ))
}

/// Returns a 201 response.
pub(super) fn made<T>(value: T) -> (StatusCode, Json<T>) {
    (StatusCode::CREATED, Json(value))
}

/// Converts a value to the type that the OpenAPI description gives for it, so that the two
/// cannot diverge.
pub(super) fn shaped<T: DeserializeOwned>(value: impl Serialize) -> Result<T, Failure> {
    let shaped = serde_json::to_value(value).and_then(serde_json::from_value);
    shaped.map_err(|error| {
        Failure::new(
            FailureCode::X001,
            "an answer has not the form that is described",
        )
        .because(error.to_string())
    })
}

/// The path parameters.
pub(super) struct ApiPathParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for ApiPathParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let path = path.map_err(|rejection: PathRejection| {
            Failure::new(FailureCode::C004, "the address cannot be read")
                .because(rejection.body_text())
        })?;
        Ok(Self(path.0))
    }
}

/// The query parameters.
pub(super) struct ApiQueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ApiQueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let query = query.map_err(|rejection: QueryRejection| {
            Failure::new(FailureCode::C004, "the question cannot be read")
                .because(rejection.body_text())
        })?;
        Ok(Self(query.0))
    }
}
