//! Who asks, in which role, and what they ask for: what every route begins with.

use std::marker::PhantomData;
use std::sync::Arc;

use artel_types::{Code, Failure};
use artel_workshop::{Eyes, Noted, View, Viewer, Workshop};
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Refusal;
use crate::desk::Desk;
use crate::door::Who;
use crate::keeper::blocking;

/// An answer.
pub(super) type Answer<T> = Result<Json<T>, Refusal>;

/// An answer about something that is there from now on.
pub(super) type Made<T> = Result<(StatusCode, Json<T>), Refusal>;

/// A role that a route needs.
pub(super) trait Role: Send + Sync {
    /// What it is called.
    const NEEDED: Viewer;
    /// Whether a person has to do it: no token of a program may.
    const IN_PERSON: bool = false;
    /// How long ago whoever comes from the console may have signed in.
    const SIGN_IN: SignInNeeded = SignInNeeded::Any;
}

/// How long ago somebody at the console may have signed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SignInNeeded {
    /// For as long as they are signed in.
    Any,
    /// A moment ago.
    Fresh,
}

macro_rules! roles {
    ($($(#[$doc:meta])* $name:ident)+) => {
        $(
            $(#[$doc])*
            pub(super) struct $name;

            impl Role for $name {
                const NEEDED: Viewer = Viewer::$name;
            }
        )+
    };
}

roles! {
    /// Whoever was let in.
    User
    /// Whoever may see everything, steer and merge.
    Developer
    /// Whoever settles who may come in and what agents may do.
    Admin
}

macro_rules! in_person {
    ($($(#[$doc:meta])* $name:ident $role:ident)+) => {
        $(
            $(#[$doc])*
            pub(super) struct $name;

            impl Role for $name {
                const NEEDED: Viewer = Viewer::$role;
                const IN_PERSON: bool = true;
            }
        )+
    };
}

in_person! {
    /// A person who was let in.
    UserInPerson User
    /// A person who may steer and merge.
    DeveloperInPerson Developer
    /// A person who settles who may come in and what agents may do.
    AdminInPerson Admin
}

/// A person who settles who may come in and what agents may do, and who, at the console, signed in a
/// moment ago: for what opens a door for good.
pub(super) struct AdminJustSignedIn;

impl Role for AdminJustSignedIn {
    const NEEDED: Viewer = Viewer::Admin;
    const IN_PERSON: bool = true;
    const SIGN_IN: SignInNeeded = SignInNeeded::Fresh;
}

/// Somebody who may do what the route does; nobody else gets past this, and no body is read before.
pub(super) struct As<R> {
    pub(super) desk: Arc<Desk>,
    pub(super) who: Who,
    /// Whether they only look.
    is_look: bool,
    role: PhantomData<R>,
}

impl<R: Role> FromRequestParts<Arc<Desk>> for As<R> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, desk: &Arc<Desk>) -> Result<Self, Refusal> {
        let who = Who::from_request_parts(parts, desk).await?;
        who.needs(R::NEEDED)?;
        if R::IN_PERSON {
            who.in_person()?;
        }
        if R::SIGN_IN == SignInNeeded::Fresh {
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

/// What makes room is done without any.
const FREES: &[&str] = &["/api/v1/clean"];

/// Refuses to change anything while there is no room to put it on record; whoever only looks is
/// answered.
fn refuse_without_room(parts: &Parts, desk: &Desk) -> Result<(), Failure> {
    match desk.lack() {
        Some(lack) if !parts.method.is_safe() && !FREES.contains(&parts.uri.path()) => {
            Err(Failure::new(Code::J006, lack.to_string())
                .because("what was begun waits, and goes on once there is room")
                .advise("free some space (`artel clean` shows what Artel could free), then repeat"))
        }
        _ => Ok(()),
    }
}

impl<R> As<R> {
    /// Takes no turn among those who look: for what takes long, and would keep them waiting.
    pub(super) fn beside_the_line(self) -> Self {
        Self {
            is_look: false,
            ..self
        }
    }

    /// Does something in the workshop in their name, where it keeps nobody waiting.
    pub(super) async fn does<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Arc<Workshop>) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let workshop = self.who.workshop(&self.desk)?;
        let act = move || act(&workshop).map_err(|refusal| refusal.0);
        Ok(match self.is_look {
            true => self.desk.look(act).await?,
            false => blocking(act).await?,
        })
    }

    /// Returns what was done; what was noticed besides is said where the daemon says things.
    pub(super) fn told<T>(&self, noted: Noted<T>) -> T {
        noted.notes.iter().for_each(|note| (self.desk.says)(note));
        noted.done
    }

    /// Returns the eyes with which they look. Users see summaries; asking for more is refused.
    pub(super) fn eyes(&self, view: Option<&str>) -> Result<Eyes, Failure> {
        eyes(&self.desk, &self.who, view)
    }
}

/// Returns the eyes with which somebody looks.
pub(super) fn eyes(desk: &Desk, who: &Who, view: Option<&str>) -> Result<Eyes, Failure> {
    let role = who.pass.role;
    let eyes = desk.workshop().eyes_of(role);
    match (view, eyes.most) {
        (None, _) | (Some("full"), View::Full) => Ok(eyes),
        (Some("summary"), _) => Ok(eyes.looking(View::Summary)),
        (Some("full"), View::Summary) => {
            let role = role.as_str();
            let what = format!("the full view is not for the role `{role}`");
            Err(Failure::new(Code::H004, what)
                .because(format!("`visibility.{role}` is \"summary\""))
                .advise("ask for the summary; an admin says who sees what"))
        }
        (Some(_), _) => {
            Err(Failure::new(Code::C004, "there is no such view").advise("`summary` or `full`"))
        }
    }
}

/// Waits for what a workshop does, on a thread where waiting is fine.
pub(super) fn waited<T>(doing: impl Future<Output = T>) -> T {
    tokio::runtime::Handle::current().block_on(doing)
}

/// Says that an approval has to name what the person saw.
pub(super) fn unnamed(field: &str, what: &str) -> Failure {
    Failure::new(Code::C004, "an approval names what was seen")
        .because("it may have changed since")
        .advise(format!(
            "send `{field}`, {what}, or at least its first 8 letters"
        ))
}

/// Says that something was made.
pub(super) fn made<T>(value: T) -> (StatusCode, Json<T>) {
    (StatusCode::CREATED, Json(value))
}

/// Gives a value the form that the description of the interface has for it, so that the two cannot
/// part.
pub(super) fn shaped<T: DeserializeOwned>(value: impl Serialize) -> Result<T, Failure> {
    let shaped = serde_json::to_value(value).and_then(serde_json::from_value);
    shaped.map_err(|error| {
        Failure::new(Code::X001, "an answer has not the form that is described")
            .because(error.to_string())
    })
}

/// What stands in the path.
pub(super) struct At<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for At<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        let path = path.map_err(|rejection: PathRejection| {
            Failure::new(Code::C004, "the address cannot be read").because(rejection.body_text())
        })?;
        Ok(Self(path.0))
    }
}

/// What stands behind the question mark.
pub(super) struct Asked<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        let query = query.map_err(|rejection: QueryRejection| {
            Failure::new(Code::C004, "the question cannot be read").because(rejection.body_text())
        })?;
        Ok(Self(query.0))
    }
}
