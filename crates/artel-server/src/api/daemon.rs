//! The daemon itself: its status, pausing new work, reloading settings and scanning the
//! inbox.

use std::sync::atomic::Ordering;

use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{Admin, ApiResult, AuthorizedCaller, Developer, shaped, waited};
use crate::reload;

/// A running daemon.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct DaemonStatusProcess {
    /// Its process id.
    pid: u32,
    /// Its version.
    version: String,
    /// The address it listens on.
    listen: String,
    /// When it started, as RFC 3339.
    since: String,
}

/// The status of the daemon.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct DaemonStatusReply {
    /// The running daemon.
    running: Option<DaemonStatusProcess>,
    /// Whether a person paused it, so that it starts nothing new.
    paused: bool,
    /// The file to which it logs when it runs in the background.
    log: String,
    /// Number of tasks that wait for their turn.
    waiting: u64,
    /// Number of tasks that are running.
    under_way: u64,
    /// Why the last change of settings, roles, skills or policy is not in force.
    refused: Vec<String>,
    /// Tasks that were interrupted by a fault of Artel since the daemon started, newest
    /// first; they are tried again.
    faltered: Vec<String>,
    /// The shortage of disk space, while everything waits for it; `null` if there is none.
    lacks: Option<String>,
}

/// Pauses the daemon.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PauseDaemonBody {
    /// The reason, in words.
    reason: Option<String>,
}

/// Whether the daemon is paused.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DaemonPauseReply {
    /// Whether it starts nothing new.
    paused: bool,
    /// Whether this call changed that.
    changed: bool,
}

/// The result of reloading.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ReloadDaemonReply {
    /// Whether what was found is now in force.
    ok: bool,
    /// The problems found; if there are any, the previous version of what they concern
    /// stays in force.
    problems: Vec<String>,
}

/// The result of scanning the inbox.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ScanInboxReply {
    /// The files that were taken up, refused or corrected.
    files: Vec<Value>,
    /// The traces of the work that is taken up now.
    due: Vec<String>,
}

/// Shows the status of the daemon.
#[utoipa::path(get, path = "/api/v1/daemon", tag = "daemon", operation_id = "showDaemon",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = DaemonStatusReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(by: AuthorizedCaller<Developer>) -> ApiResult<DaemonStatusReply> {
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

/// Pauses the daemon: it starts nothing new, and running tasks continue.
#[utoipa::path(post, path = "/api/v1/daemon/pause", tag = "daemon", operation_id = "pauseDaemon",
    request_body = PauseDaemonBody, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = DaemonPauseReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn pause(
    by: AuthorizedCaller<Admin>,
    ApiJsonBody(told): ApiJsonBody<PauseDaemonBody>,
) -> ApiResult<DaemonPauseReply> {
    let done = by.does(move |workshop| Ok(workshop.pause_daemon(told.reason.as_deref())?));
    let changed = by.told(done.await?);
    Ok(Json(DaemonPauseReply {
        paused: true,
        changed,
    }))
}

/// Lets the daemon start new work again.
#[utoipa::path(post, path = "/api/v1/daemon/resume", tag = "daemon", operation_id = "resumeDaemon",
    request_body = EmptyBody, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = DaemonPauseReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn resume(
    by: AuthorizedCaller<Admin>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<DaemonPauseReply> {
    let done = by.does(|workshop| Ok(workshop.resume_daemon()?));
    let changed = by.told(done.await?);
    Ok(Json(DaemonPauseReply {
        paused: false,
        changed,
    }))
}

/// Reloads settings, roles, skills and policy.
#[utoipa::path(post, path = "/api/v1/daemon/reload", tag = "daemon", operation_id = "reloadDaemon",
    request_body = EmptyBody, extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = ReloadDaemonReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn reload(
    by: AuthorizedCaller<Admin>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ReloadDaemonReply> {
    let problems = reload::reload(&by.desk, vec!["everything".to_owned()]).await?;
    Ok(Json(ReloadDaemonReply {
        ok: problems.is_empty(),
        problems,
    }))
}

/// Takes up files that people put into the inbox or changed there.
#[utoipa::path(post, path = "/api/v1/inbox/scan", tag = "daemon", operation_id = "scanInbox",
    request_body = EmptyBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ScanInboxReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn scan(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ScanInboxReply> {
    let done = by.does(|workshop| Ok(waited(workshop.scan_inbox())?));
    let scanned = done.await?;
    for trace in &scanned.due {
        by.desk.orders.found(*trace);
    }
    Ok(Json(ScanInboxReply {
        files: scanned.files.iter().map(|it| json!(it)).collect(),
        due: scanned.due.iter().map(ToString::to_string).collect(),
    }))
}
