//! The daemon itself: how it is, holding new work, looking at settings and inbox anew.

use std::sync::atomic::Ordering;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Told;
use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{Admin, Answer, As, Developer, shaped, waited};
use crate::reload;

/// A daemon that runs.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct Running {
    /// Its process.
    pid: u32,
    /// Its version.
    version: String,
    /// Where it listens.
    listen: String,
    /// Since when, as RFC 3339.
    since: String,
}

/// How it is with the daemon.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct DaemonSeen {
    /// The one that runs.
    running: Option<Running>,
    /// Whether it begins nothing new, because a person said so.
    paused: bool,
    /// Where it writes what it says when nobody looks.
    log: String,
    /// How many things wait for their turn.
    waiting: u64,
    /// How many are under way.
    under_way: u64,
    /// Why the last change of settings, roles, skills or policy is not in force.
    refused: Vec<String>,
    /// What broke off by a fault of Artel since it began, the latest first; it is tried again.
    faltered: Vec<String>,
    /// What is lacking on the disk, while everything waits for it.
    lacks: Option<String>,
}

/// Why new work is held.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Why {
    /// In words.
    reason: Option<String>,
}

/// Whether new work is held.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Held {
    /// Whether the daemon begins nothing new.
    paused: bool,
    /// Whether that was different before.
    changed: bool,
}

/// What is in force.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Reloaded {
    /// Whether what was found is in force.
    ok: bool,
    /// What is wrong with it; then what was in force stays in force.
    problems: Vec<String>,
}

/// What a look at the inbox found.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct InboxSeen {
    /// What was taken up, refused or put right, file by file.
    files: Vec<Value>,
    /// The pieces of work that are taken up now.
    due: Vec<String>,
}

/// Says how it is with the daemon.
#[utoipa::path(get, path = "/api/v1/daemon", tag = "daemon", operation_id = "showDaemon",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = DaemonSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<Developer>) -> Answer<DaemonSeen> {
    let load = &by.desk.load;
    let waiting = load.waiting.load(Ordering::Relaxed);
    let under_way = load.under_way.load(Ordering::Relaxed);
    let lacks = by.desk.lack().map(|lack| lack.to_string());
    let done = by.does(move |workshop| {
        let mut value = json!(workshop.daemon_status()?);
        value["lacks"] = json!(lacks);
        value["waiting"] = json!(waiting);
        value["under_way"] = json!(under_way);
        Ok(shaped(value)?)
    });
    done.await.map(Json)
}

/// Has the daemon begin nothing new; what is under way goes on.
#[utoipa::path(post, path = "/api/v1/daemon/pause", tag = "daemon", operation_id = "pauseDaemon",
    request_body = Why, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = Held), (status = "4XX", body = Troubled)))]
pub(super) async fn pause(by: As<Admin>, Told(told): Told<Why>) -> Answer<Held> {
    let done = by.does(move |workshop| Ok(workshop.pause_daemon(told.reason.as_deref())?));
    let changed = by.told(done.await?);
    Ok(Json(Held {
        paused: true,
        changed,
    }))
}

/// Has the daemon begin new work again.
#[utoipa::path(post, path = "/api/v1/daemon/resume", tag = "daemon", operation_id = "resumeDaemon",
    request_body = Nothing, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = Held), (status = "4XX", body = Troubled)))]
pub(super) async fn resume(by: As<Admin>, Told(Nothing {}): Told<Nothing>) -> Answer<Held> {
    let done = by.does(|workshop| Ok(workshop.resume_daemon()?));
    let changed = by.told(done.await?);
    Ok(Json(Held {
        paused: false,
        changed,
    }))
}

/// Looks at settings, roles, skills and policy anew.
#[utoipa::path(post, path = "/api/v1/daemon/reload", tag = "daemon", operation_id = "reloadDaemon",
    request_body = Nothing, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = Reloaded), (status = "4XX", body = Troubled)))]
pub(super) async fn reload(by: As<Admin>, Told(Nothing {}): Told<Nothing>) -> Answer<Reloaded> {
    let problems = reload::reload(&by.desk, vec!["everything".to_owned()]).await?;
    Ok(Json(Reloaded {
        ok: problems.is_empty(),
        problems,
    }))
}

/// Takes up what people put into the inbox or changed there.
#[utoipa::path(post, path = "/api/v1/inbox/scan", tag = "daemon", operation_id = "scanInbox",
    request_body = Nothing, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = InboxSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn scan(by: As<Developer>, Told(Nothing {}): Told<Nothing>) -> Answer<InboxSeen> {
    let done = by.does(|workshop| Ok(waited(workshop.scan_inbox())?));
    let scanned = done.await?;
    for trace in &scanned.due {
        by.desk.orders.found(*trace);
    }
    Ok(Json(InboxSeen {
        files: scanned.files.iter().map(|it| json!(it)).collect(),
        due: scanned.due.iter().map(ToString::to_string).collect(),
    }))
}
