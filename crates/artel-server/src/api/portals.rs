//! Portals: project folders that are open to agents.

use std::path::PathBuf;

use artel_types::model::PrivacyLabel;
use artel_types::{Failure, FailureCode};
use artel_workshop::{DoctorCheckStatus, NewPortal, PortalOperation};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::page::{ApiPageQuery, ApiPageReply, page};
use super::refusal::ApiErrorReply;
use super::requests::none_of;
use super::runs::steer::EmptyBody;
use super::seat::{
    Admin, AdminInPerson, AdminJustSignedIn, ApiCreatedResult, ApiPathParams, ApiQueryParams,
    ApiResult, AuthorizedCaller, Developer, User, made, shaped,
};

/// A project folder that is open to agents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PortalDetailsReply {
    /// The name, as used by people and in `@Name/path`.
    name: String,
    /// The folder, with links resolved.
    path: String,
    /// The operations allowed there: `read`, `write`, `git`.
    operations: Vec<String>,
    /// The roles that may work there; `*` for all.
    agents: Vec<String>,
    /// Where its content may be sent.
    privacy: String,
    /// The detected technology stack.
    stack: Vec<String>,
    /// The commands that build, lint and test it, if a person set them.
    checks: Vec<String>,
}

/// A folder to open as a portal.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenPortalBody {
    /// The absolute path of the folder.
    path: String,
    /// The portal's name; the folder's name if omitted.
    name: Option<String>,
    /// The operations to allow: `read`, `write`, `git`.
    operations: Option<Vec<String>>,
    /// The roles that may work there; `*` for all.
    agents: Option<Vec<String>>,
    /// `any`, or `local-only`: only to models on this machine.
    privacy: Option<String>,
    /// Commands that build, lint or test it; detected from its files if omitted.
    checks: Option<Vec<String>>,
}

/// One check of a portal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct VerifyPortalReplyCheck {
    /// The portal.
    portal: String,
    /// `ok`, `warning` or `problem`.
    health: String,
    /// `folder`, `repository`, `agents`, `card` or `stack`.
    what: String,
    /// The finding.
    found: String,
    /// The remedy, if there is one.
    remedy: Option<String>,
}

/// The result of verifying a portal.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct VerifyPortalReply {
    /// Whether no check found a problem.
    ok: bool,
    /// The checks.
    checks: Vec<VerifyPortalReplyCheck>,
}

/// Lists portals, by name.
#[utoipa::path(get, path = "/api/v1/portals", tag = "portals", operation_id = "listPortals",
    params(ApiPageQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<PortalDetailsReply>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<ApiPageQuery>,
) -> ApiResult<ApiPageReply<PortalDetailsReply>> {
    let done = by.does(move |workshop| {
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(workshop.portals()?, cut, |it| it.name.clone())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Opens a folder to agents.
#[utoipa::path(post, path = "/api/v1/portals", tag = "portals", operation_id = "createPortal",
    request_body = OpenPortalBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = PortalDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn create(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiJsonBody(new): ApiJsonBody<OpenPortalBody>,
) -> ApiCreatedResult<PortalDetailsReply> {
    let new = wanted(new)?;
    let done = by.does(move |workshop| Ok(workshop.open_portal(&new)?));
    let portal = by.told(done.await?);
    Ok(made(shaped(portal)?))
}

/// Shows a portal.
#[utoipa::path(get, path = "/api/v1/portals/{name}", tag = "portals", operation_id = "showPortal",
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = PortalDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(name): ApiPathParams<String>,
) -> ApiResult<PortalDetailsReply> {
    let done = by.does(move |workshop| Ok(shaped(workshop.portal(&name)?)?));
    done.await.map(Json)
}

/// Closes a portal. Its limits, such as its privacy setting, end with it.
#[utoipa::path(post, path = "/api/v1/portals/{name}/remove", tag = "portals",
    operation_id = "removePortal", request_body = EmptyBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = PortalDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn remove(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<PortalDetailsReply> {
    let done = by.does(move |workshop| Ok(workshop.close_portal(&name)?));
    let portal = by.told(done.await?);
    Ok(Json(shaped(portal)?))
}

/// Detects the technology stack of a portal again.
#[utoipa::path(post, path = "/api/v1/portals/{name}/refresh", tag = "portals",
    operation_id = "refreshPortal", request_body = EmptyBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = PortalDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn refresh(
    by: AuthorizedCaller<AdminInPerson>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<PortalDetailsReply> {
    let done = by.does(move |workshop| Ok(workshop.refresh_portal(&name)?));
    let portal = by.told(done.await?);
    Ok(Json(shaped(portal)?))
}

/// Verifies that a portal is still as it was when it was opened.
#[utoipa::path(post, path = "/api/v1/portals/{name}/verify", tag = "portals",
    operation_id = "verifyPortal", request_body = EmptyBody,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = VerifyPortalReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn verify(
    by: AuthorizedCaller<Admin>,
    ApiPathParams(name): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<VerifyPortalReply> {
    let done = by.does(move |workshop| {
        let checks = workshop.verify_portals(&[name])?;
        let ok = !checks
            .iter()
            .any(|check| check.health == DoctorCheckStatus::Problem);
        let checks: Result<Vec<VerifyPortalReplyCheck>, Failure> =
            checks.into_iter().map(shaped).collect();
        Ok(VerifyPortalReply {
            ok,
            checks: checks?,
        })
    });
    done.await.map(Json)
}

fn wanted(new: OpenPortalBody) -> Result<NewPortal, Failure> {
    let path = PathBuf::from(new.path);
    if !path.is_absolute() {
        return Err(Failure::new(
            FailureCode::C004,
            "the folder is not named from the root on",
        )
        .because("the daemon stands in no folder of yours")
        .advise("send the whole path, such as `/home/ada/shop`"));
    }
    let operations = new.operations.map(|words| {
        let parsed = words.iter().map(|word| word.parse::<PortalOperation>());
        parsed.collect::<Result<Vec<_>, _>>()
    });
    let operations = operations.transpose();
    Ok(NewPortal {
        path,
        name: new.name,
        operations: operations.map_err(|_| none_of("operations", &["read", "write", "git"]))?,
        agents: new.agents,
        privacy: match new.privacy.as_deref() {
            None => None,
            Some("any") => Some(PrivacyLabel::Any),
            Some("local-only") => Some(PrivacyLabel::LocalOnly),
            Some(_) => return Err(none_of("privacy", &["any", "local-only"])),
        },
        checks: new.checks,
    })
}
