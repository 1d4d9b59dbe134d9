//! Authentication: programs by their token, people by the cookie of the console.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use artel_types::{Failure, FailureCode, Timestamp};
use artel_workshop::{AuthenticatedPrincipal, SignIn, SignInAge, ViewerRole, Workshop};
use axum::extract::{ConnectInfo, FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::api::ApiError;
use crate::desk::ServerState;
use crate::door::CalledHostKind;

/// Header in which pages send the key of their sign-in. The key is in no cookie.
const PROOF: &str = "x-artel-proof";

/// Paths that need no authentication: health, signing in by a link, and the stylesheet and
/// script of the sign-in pages. Those two are the same for everyone and reveal nothing
/// about the workshop.
const OPEN: &[&str] = &[
    "/healthz",
    "/readyz",
    "/login",
    "/assets/console.css",
    "/assets/login.js",
];

/// The authenticated sender of a request.
#[derive(Debug, Clone)]
pub(crate) struct AuthenticatedCaller {
    /// The person or program.
    pub(crate) pass: AuthenticatedPrincipal,
    /// The sign-in at the console; `None` for a token.
    pub(crate) sign_in: Option<SignIn>,
}

impl AuthenticatedCaller {
    /// Fails if the sender's role is lower than `role`.
    pub(crate) fn needs(&self, role: ViewerRole) -> Result<(), Failure> {
        if self.pass.role >= role {
            return Ok(());
        }
        let (has, wants) = (self.pass.role.as_str(), role.as_str());
        let what = format!("this needs the role `{wants}`");
        Err(Failure::new(FailureCode::H004, what)
            .because(format!("you are here as `{has}`"))
            .advise(format!(
                "`artel token create --role {wants}`, or `artel open --role {wants}`"
            )))
    }

    /// Fails for programs: approving is a person's act.
    pub(crate) fn in_person(&self) -> Result<(), Failure> {
        if !self.pass.is_program {
            return Ok(());
        }
        let name = &self.pass.name;
        Err(Failure::new(FailureCode::H004, "this needs a person")
            .because(format!("the token of `{name}` is one for a program"))
            .advise("do it at the console (`artel open`) or in a terminal"))
    }

    /// Fails if the person signed in at the console more than five minutes ago. This keeps
    /// permanent grants away from a browser that was left open, and from someone who took
    /// over its session.
    pub(crate) fn freshly_signed_in(&self, now: Timestamp) -> Result<(), Failure> {
        match self.sign_in.as_ref().map(|sign_in| sign_in.age(now)) {
            None | Some(SignInAge::Fresh) => Ok(()),
            Some(SignInAge::Older) => Err(Failure::new(
                FailureCode::H010,
                "this needs a fresh sign-in",
            )
            .because("tokens, grants and trust are given within five minutes of one")
            .advise("`artel open`, follow its link in this browser, and do this once more")),
        }
    }

    /// Returns the workshop as used by the sender: their name stands on what it records.
    pub(crate) fn workshop(&self, desk: &ServerState) -> Result<Arc<Workshop>, Failure> {
        desk.workshop_of(&self.pass)
    }
}

impl<S: Sync> FromRequestParts<S> for AuthenticatedCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let who = parts.extensions.get::<Self>().cloned();
        who.ok_or_else(|| ApiError(unknown()))
    }
}

/// Refuses unauthenticated requests, except to the few open paths. Also refuses changes
/// that were not sent the way programs and our own pages send them.
pub(crate) async fn admit(
    State(desk): State<Arc<ServerState>>,
    mut request: Request,
    next: Next,
) -> Response {
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let who = match find(&desk, &request) {
        Ok(who) => who,
        Err(response) => return *response,
    };
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading {
        let meant = is_meant(&who, request.headers()).and_then(|()| in_time(&desk, &who));
        if let Err(response) = meant {
            return *response;
        }
    }
    request.extensions_mut().insert(who);
    next.run(request).await
}

fn find(desk: &ServerState, request: &Request) -> Result<AuthenticatedCaller, Box<Response>> {
    let headers = request.headers();
    let broken = |failure: Failure| Box::new(ApiError(failure).into_response());
    if let Some(token) = bearer(headers) {
        let from = peer(request);
        // Wrong tokens from the same address never delay a valid one.
        if let Some(pass) = desk.token(token).map_err(broken)? {
            let sign_in = None;
            return Ok(AuthenticatedCaller { pass, sign_in });
        }
        if desk.wrong.is_too_many(from) {
            let failure =
                Failure::new(FailureCode::H009, "too many wrong tokens from this address")
                    .advise("wait a minute");
            let answer = (StatusCode::TOO_MANY_REQUESTS, ApiError(failure).body());
            return Err(Box::new(answer.into_response()));
        }
        desk.wrong.count(from);
        return Err(Box::new(stranger(request)));
    }
    // Cookies set at a shared address are also sent to every other program that listens
    // there.
    let called = request.extensions().get::<CalledHostKind>();
    if called.is_some_and(|called| called.takes_cookies())
        && let Some(shown) = cookie(headers, &desk.cookie)
        && let Some(sign_in) = desk.sign_in(shown).map_err(broken)?
    {
        let pass = sign_in.pass.clone();
        let sign_in = Some(sign_in);
        return Ok(AuthenticatedCaller { pass, sign_in });
    }
    Err(Box::new(stranger(request)))
}

/// Checks that a change was intended: the body must be JSON, and with a cookie the page's
/// key must be sent as well, because browsers add cookies to any request.
fn is_meant(who: &AuthenticatedCaller, headers: &HeaderMap) -> Result<(), Box<Response>> {
    if let Some(sign_in) = &who.sign_in {
        let shown = headers.get(PROOF).and_then(|value| value.to_str().ok());
        if !shown.is_some_and(|shown| sign_in.has_key(shown)) {
            let failure = Failure::new(FailureCode::H007, "this page can read and not act")
                .because("it has no key, or that of another sign-in")
                .advise("`artel open`, and follow its link in this browser");
            return Err(Box::new(ApiError(failure).into_response()));
        }
    }
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if kind.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let failure = Failure::new(FailureCode::C004, "what changes something is sent as JSON")
        .advise("send `Content-Type: application/json`");
    let answer = (StatusCode::UNSUPPORTED_MEDIA_TYPE, ApiError(failure).body());
    Err(Box::new(answer.into_response()))
}

/// Refuses changes that arrive faster than the settings allow.
fn in_time(desk: &ServerState, who: &AuthenticatedCaller) -> Result<(), Box<Response>> {
    let most = desk.workshop().settings.server.acts_per_second.value;
    let Err(wait) = desk.rate.take(&who.pass.id, most) else {
        return Ok(());
    };
    let failure = Failure::new(FailureCode::H009, "too much is sent at once")
        .because(format!("at most {most} a second change something"))
        .advise("send it more slowly, or raise `server.acts_per_second`");
    let mut response = ApiError(failure).into_response();
    let seconds = header::HeaderValue::from(wait.as_secs() + 1);
    response.headers_mut().insert(header::RETRY_AFTER, seconds);
    Err(Box::new(response))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let cookies = cookies.filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';'));
    pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

fn peer(request: &Request) -> IpAddr {
    let info = request.extensions().get::<ConnectInfo<SocketAddr>>();
    info.map_or(IpAddr::from([127, 0, 0, 1]), |info| info.0.ip())
}

fn unknown() -> Failure {
    Failure::new(FailureCode::H008, "a token is needed").advise(
        "send `Authorization: Bearer TOKEN` (`artel token create --role developer`), or sign in with the link that `artel open` prints",
    )
}

/// Answers an unauthenticated request: programs get JSON, people a page that says how to
/// sign in.
fn stranger(request: &Request) -> Response {
    let path = request.uri().path();
    let is_program = path.starts_with("/api/") || path == "/metrics";
    let mut response = if is_program {
        (StatusCode::UNAUTHORIZED, ApiError(unknown()).body()).into_response()
    } else {
        (StatusCode::UNAUTHORIZED, crate::console::stranger()).into_response()
    };
    response.headers_mut().insert(
        header::WWW_AUTHENTICATE,
        header::HeaderValue::from_static("Bearer"),
    );
    response
}
