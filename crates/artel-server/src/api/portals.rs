//! Portals: project folders that are open to agents.

use std::path::PathBuf;

use artel_types::model::PrivacyLabel;
use artel_types::{Failure, FailureCode};
use artel_workshop::{DoctorCheckStatus, NewPortal, PortalOperation};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Told;
use super::page::{PageWanted, Rows, page};
use super::refusal::Troubled;
use super::requests::none_of;
use super::runs::steer::Nothing;
use super::seat::{
    Admin, AdminInPerson, AdminJustSignedIn, Answer, As, Asked, At, Developer, Made, User, made,
    shaped,
};

/// A project folder that is open to agents.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PortalSeen {
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
pub(super) struct PortalWanted {
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
pub(super) struct PortalLooked {
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
pub(super) struct PortalVerified {
    /// Whether no check found a problem.
    ok: bool,
    /// The checks.
    checks: Vec<PortalLooked>,
}

/// Lists portals, by name.
#[utoipa::path(get, path = "/api/v1/portals", tag = "portals", operation_id = "listPortals",
    params(PageWanted), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Rows<PortalSeen>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    by: As<User>,
    Asked(wanted): Asked<PageWanted>,
) -> Answer<Rows<PortalSeen>> {
    let done = by.does(move |workshop| {
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(workshop.portals()?, cut, |it| it.name.clone())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Opens a folder to agents.
#[utoipa::path(post, path = "/api/v1/portals", tag = "portals", operation_id = "createPortal",
    request_body = PortalWanted, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = PortalSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn create(
    by: As<AdminJustSignedIn>,
    Told(new): Told<PortalWanted>,
) -> Made<PortalSeen> {
    let new = wanted(new)?;
    let done = by.does(move |workshop| Ok(workshop.open_portal(&new)?));
    let portal = by.told(done.await?);
    Ok(made(shaped(portal)?))
}

/// Shows a portal.
#[utoipa::path(get, path = "/api/v1/portals/{name}", tag = "portals", operation_id = "showPortal",
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = PortalSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<Developer>, At(name): At<String>) -> Answer<PortalSeen> {
    let done = by.does(move |workshop| Ok(shaped(workshop.portal(&name)?)?));
    done.await.map(Json)
}

/// Closes a portal. Its limits, such as its privacy setting, end with it.
#[utoipa::path(post, path = "/api/v1/portals/{name}/remove", tag = "portals",
    operation_id = "removePortal", request_body = Nothing,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 200, body = PortalSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn remove(
    by: As<AdminJustSignedIn>,
    At(name): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<PortalSeen> {
    let done = by.does(move |workshop| Ok(workshop.close_portal(&name)?));
    let portal = by.told(done.await?);
    Ok(Json(shaped(portal)?))
}

/// Detects the technology stack of a portal again.
#[utoipa::path(post, path = "/api/v1/portals/{name}/refresh", tag = "portals",
    operation_id = "refreshPortal", request_body = Nothing,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = PortalSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn refresh(
    by: As<AdminInPerson>,
    At(name): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<PortalSeen> {
    let done = by.does(move |workshop| Ok(workshop.refresh_portal(&name)?));
    let portal = by.told(done.await?);
    Ok(Json(shaped(portal)?))
}

/// Verifies that a portal is still as it was when it was opened.
#[utoipa::path(post, path = "/api/v1/portals/{name}/verify", tag = "portals",
    operation_id = "verifyPortal", request_body = Nothing,
    params(("name" = String, Path, description = "Its name")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = PortalVerified), (status = "4XX", body = Troubled)))]
pub(super) async fn verify(
    by: As<Admin>,
    At(name): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<PortalVerified> {
    let done = by.does(move |workshop| {
        let checks = workshop.verify_portals(&[name])?;
        let ok = !checks
            .iter()
            .any(|check| check.health == DoctorCheckStatus::Problem);
        let checks: Result<Vec<PortalLooked>, Failure> = checks.into_iter().map(shaped).collect();
        Ok(PortalVerified {
            ok,
            checks: checks?,
        })
    });
    done.await.map(Json)
}

fn wanted(new: PortalWanted) -> Result<NewPortal, Failure> {
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
