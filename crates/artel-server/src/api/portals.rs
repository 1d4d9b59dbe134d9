//! Portals: project folders that are open to agents.

use std::path::PathBuf;

use artel_types::model::Privacy;
use artel_types::{Code, Failure};
use artel_workshop::{Health, NewPortal, PortalOperation};
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
    /// The name that people and `@Name/path` use.
    name: String,
    /// The folder, without links.
    path: String,
    /// What may be done there: read, write, git.
    operations: Vec<String>,
    /// The roles that may work there; `*` for all.
    agents: Vec<String>,
    /// Where its content may go.
    privacy: String,
    /// What it is made of, as far as it was found.
    stack: Vec<String>,
    /// The commands that build, lint and test it, where a person said so.
    checks: Vec<String>,
}

/// A folder that is to be opened.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PortalWanted {
    /// The folder, from the root on.
    path: String,
    /// The name; the folder's if not given.
    name: Option<String>,
    /// What may be done there: read, write, git.
    operations: Option<Vec<String>>,
    /// The roles that may work there; `*` for all.
    agents: Option<Vec<String>>,
    /// `any`, or `local-only`: only to models on this machine.
    privacy: Option<String>,
    /// Commands that build, lint or test it; found by its files if not given.
    checks: Option<Vec<String>>,
}

/// One thing that was looked at in a portal.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PortalLooked {
    /// The portal.
    portal: String,
    /// ok, warning or problem.
    health: String,
    /// folder, repository, agents, card or stack.
    what: String,
    /// What was found.
    found: String,
    /// What to do about it.
    remedy: Option<String>,
}

/// Whether a portal is still what it was opened as.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PortalVerified {
    /// Whether nothing is wrong.
    ok: bool,
    /// What was looked at.
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

/// Closes a portal. What bounds it, such as its privacy, ends with it.
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

/// Looks anew at what a portal is made of.
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

/// Looks whether a portal is still what it was opened as.
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
        let ok = !checks.iter().any(|check| check.health == Health::Problem);
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
        return Err(
            Failure::new(Code::C004, "the folder is not named from the root on")
                .because("the daemon stands in no folder of yours")
                .advise("send the whole path, such as `/home/ada/shop`"),
        );
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
            Some("any") => Some(Privacy::Any),
            Some("local-only") => Some(Privacy::LocalOnly),
            Some(_) => return Err(none_of("privacy", &["any", "local-only"])),
        },
        checks: new.checks,
    })
}
