//! Maintenance: the served workshop, backups, pruning old streams, cleaning up, and the
//! daemon's log.

use artel_types::Failure;
use artel_workshop::CleanupCandidate;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiJsonBody;
use super::journal::moment;
use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{
    AdminInPerson, ApiCreatedResult, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, made,
    shaped,
};

/// The served workshop.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WorkshopReply {
    /// Its folder.
    path: String,
    /// Its id.
    id: String,
}

/// A backup of the journal.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct BackUpJournalReply {
    /// The file.
    file: String,
    /// Number of events in it.
    events: u64,
    /// A description of the damage, if the journal is damaged; in that case all older
    /// backups are kept.
    damage: Option<String>,
}

/// Moves old streams to an archive.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PruneJournalBody {
    /// Moves streams that ended before this: a time, or a duration back from now such as
    /// `90d`.
    before: String,
    /// Only counts them.
    #[serde(default)]
    dry_run: bool,
}

/// The streams that a prune would move.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PruneJournalReplyCount {
    /// Streams that ended before this time are moved.
    before: String,
    /// Number of streams.
    streams: u64,
    /// Number of events in them.
    events: u64,
}

/// The streams that were moved.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PruneJournalReplyArchive {
    /// Number of events.
    events: u64,
    /// The archive they were moved to.
    archive: String,
}

/// The result of a prune or its dry run.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PruneJournalReply {
    /// The streams that could be moved.
    plan: PruneJournalReplyCount,
    /// The streams that were moved; `null` if none were.
    pruned: Option<PruneJournalReplyArchive>,
}

/// A leftover that can be removed.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CleanupListReplyRow {
    /// `worktree`, `blob`, `log` or `leftover`.
    sort: String,
    /// Its path.
    path: String,
    /// Its size in bytes.
    bytes: u64,
}

/// Everything that can be removed.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CleanupListReply {
    /// The leftovers.
    found: Vec<CleanupListReplyRow>,
    /// Their total size in bytes.
    bytes: u64,
}

/// The result of cleaning up.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CleanupReply {
    /// Number of things that were removed.
    removed: u64,
    /// Their total size in bytes.
    bytes: u64,
}

/// Query parameters for the daemon's log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct DaemonLogQuery {
    /// Number of the last lines to return, from 1 to 1000; 50 if omitted.
    #[param(minimum = 1, maximum = 1000)]
    lines: Option<u16>,
    /// Only lines after this position: the `position` of an earlier response.
    #[param(format = "uint64")]
    after: Option<u64>,
}

/// Lines of the daemon's log.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DaemonLogReply {
    /// The lines, oldest first.
    lines: Vec<String>,
    /// To follow the log, pass this as `after`.
    position: u64,
}

/// Shows which workshop is served.
#[utoipa::path(get, path = "/api/v1/workshop", tag = "upkeep", operation_id = "showWorkshop",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = WorkshopReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn workshop(by: AuthorizedCaller<Developer>) -> ApiResult<WorkshopReply> {
    let workshop = by.desk.workshop();
    Ok(Json(WorkshopReply {
        path: workshop.root().display().to_string(),
        id: workshop.id().to_string(),
    }))
}

/// Makes a backup of the journal.
#[utoipa::path(post, path = "/api/v1/journal/backup", tag = "journal",
    operation_id = "backUpJournal", request_body = EmptyBody,
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 201, body = BackUpJournalReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn back_up(
    by: AuthorizedCaller<AdminInPerson>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiCreatedResult<BackUpJournalReply> {
    let done = by.does(|workshop| Ok(workshop.back_up()?));
    let backup = by.told(done.await?);
    Ok(made(BackUpJournalReply {
        file: backup.file.display().to_string(),
        events: backup.events,
        damage: backup.damage,
    }))
}

/// Moves streams that ended long ago to a signed archive, where they remain readable as
/// before.
#[utoipa::path(post, path = "/api/v1/journal/prune", tag = "journal",
    operation_id = "pruneJournal", request_body = PruneJournalBody,
    extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = PruneJournalReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn prune(
    by: AuthorizedCaller<AdminInPerson>,
    ApiJsonBody(told): ApiJsonBody<PruneJournalBody>,
) -> ApiResult<PruneJournalReply> {
    let done = by.does(move |workshop| {
        let before = moment(&told.before, workshop.caller().clock().now())?;
        let plan = workshop.plan_prune(before)?;
        let pruned = if told.dry_run || plan.streams == 0 {
            None
        } else {
            Some(workshop.prune(before)?)
        };
        Ok((shaped(plan)?, pruned))
    });
    let (plan, pruned) = done.await?;
    let pruned = pruned.and_then(|noted| by.told(noted));
    Ok(Json(PruneJournalReply {
        plan,
        pruned: pruned.map(|it| PruneJournalReplyArchive {
            events: it.events,
            archive: it.archive.display().to_string(),
        }),
    }))
}

/// Lists leftovers that are no longer needed.
#[utoipa::path(get, path = "/api/v1/clean", tag = "upkeep", operation_id = "showRubbish",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = CleanupListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn rubbish(by: AuthorizedCaller<Developer>) -> ApiResult<CleanupListReply> {
    let done = by.does(|workshop| Ok(found(workshop.rubbish()?)?));
    done.await.map(Json)
}

/// Removes leftovers that are no longer needed. Live and undecided work is never touched.
#[utoipa::path(post, path = "/api/v1/clean", tag = "upkeep", operation_id = "clean",
    request_body = EmptyBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true))),
    responses((status = 200, body = CleanupReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn clean(
    by: AuthorizedCaller<AdminInPerson>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<CleanupReply> {
    let done = by.does(|workshop| {
        let rubbish = workshop.rubbish()?;
        Ok(shaped(workshop.clean(&rubbish)?)?)
    });
    done.await.map(Json)
}

/// Shows the daemon's log.
#[utoipa::path(get, path = "/api/v1/daemon/logs", tag = "daemon", operation_id = "showLog",
    params(DaemonLogQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = DaemonLogReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn logs(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<DaemonLogQuery>,
) -> ApiResult<DaemonLogReply> {
    let most = usize::from(wanted.lines.unwrap_or(50));
    if !(1..=1000).contains(&most) {
        return Err(Failure::new(
            artel_types::FailureCode::C004,
            "`lines` is a number from 1 to 1000",
        )
        .into());
    }
    let done = by.does(move |workshop| {
        let log = match wanted.after {
            Some(after) => workshop.daemon_said(after),
            None => workshop.daemon_said_last(),
        };
        let redactor = workshop.caller().redactor();
        let lines: Vec<&str> = log.text.split_inclusive('\n').collect();
        // With `after`, return the next lines and continue behind them; otherwise return
        // the last lines.
        let (lines, rest) = match wanted.after {
            Some(_) => lines.split_at(lines.len().min(most)),
            None => (&lines[lines.len().saturating_sub(most)..], &[][..]),
        };
        let rest: usize = rest.iter().map(|line| line.len()).sum();
        let shown = |line: &&str| redactor.redact(line.trim_end()).into_owned();
        Ok(DaemonLogReply {
            lines: lines.iter().map(shown).collect(),
            position: log.position.saturating_sub(rest as u64),
        })
    });
    done.await.map(Json)
}

fn found(rubbish: Vec<CleanupCandidate>) -> Result<CleanupListReply, Failure> {
    let bytes = rubbish.iter().map(|it| it.bytes).sum();
    let found: Result<_, Failure> = rubbish.into_iter().map(shaped).collect();
    Ok(CleanupListReply {
        found: found?,
        bytes,
    })
}
