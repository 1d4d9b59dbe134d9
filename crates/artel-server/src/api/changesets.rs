//! Changesets: the branches that plans leave for review, and people's decisions about them.

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{
    ChangesetMergeOptions, ChangesetReceipt, OutcomeWithNotes, TimelineDetailLevel, Workshop,
};
use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::page::{ApiPageLimit, ApiPageReply, page};
use super::refusal::ApiErrorReply;
use super::runs::steer::EmptyBody;
use super::seat::{
    ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, Developer, DeveloperInPerson,
    RouteAccess, User, shaped, unnamed,
};
use super::{ApiError, ApiJsonBody};

/// A changeset in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetListReplyRow {
    /// The changeset's id: the trace, shortened.
    id: String,
    /// Trace of the work.
    trace: String,
    /// The run that made it.
    run: String,
    /// When it was made, as RFC 3339.
    at: String,
    /// One-line title.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// Its branch; `null` if the folder is not in a repository.
    branch: Option<String>,
    /// The branch it started from.
    into: Option<String>,
    /// `open`, `merging`, `merged`, `undoing`, `undone`, `redoing` or `rejected`.
    state: String,
    /// Number of commits.
    commits: u64,
    /// Number of files that differ.
    files: u64,
    /// Number of lines added.
    added: u64,
    /// Number of lines removed.
    removed: u64,
    /// Whether every proof holds on a clean checkout.
    proven: bool,
    /// Whether all steps passed.
    complete: bool,
}

/// A changeset with everything known about it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetDetailsReply {
    #[serde(flatten)]
    row: ChangesetListReplyRow,
    /// The person's folder.
    folder: String,
    /// The commit it started from.
    base: String,
    /// Its last commit, which an approval must name.
    head: String,
    /// Its commits, oldest first.
    log: Vec<Value>,
    /// The files that differ.
    changed: Vec<Value>,
    /// The patch, if there is no branch.
    patch: Option<String>,
    /// Every proof, in the order in which they were made.
    proofs: Vec<Value>,
    /// Result of the last check on a clean checkout, in one line.
    proof: String,
    /// The proofs that did not hold there.
    unproven: Vec<String>,
    /// Checks that were waived or left for later.
    deferred: Vec<String>,
    /// Decisions that people made, oldest first.
    decisions: Vec<Value>,
    /// Number of tokens that the work took.
    tokens: u64,
    /// Its cost in millionths of a US dollar; `null` if a price is not known.
    cost: Option<u64>,
    /// Milliseconds from the request to the end of the last step.
    millis: u64,
    /// Path of the report, relative to the workshop.
    report: Option<String>,
    /// `merged` or `moved` if a person brought its commits into the branch without Artel.
    by_hand: Option<String>,
    /// Suggested next commands.
    next: Vec<String>,
}

/// A changeset with its diff.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChangesetDiffReply {
    /// The changeset.
    changeset: ChangesetDetailsReply,
    /// The diff, as `git diff` prints it.
    diff: String,
}

/// A decision about a changeset, and its result.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetDecisionReply {
    /// The changeset's id.
    id: String,
    /// Trace of the work.
    trace: String,
    /// `approve`, `reject`, `undo` or `redo`.
    act: String,
    /// The branch that moved.
    into: Option<String>,
    /// The resulting commit.
    commit: Option<String>,
    /// The files that changed.
    files: Vec<String>,
    /// Those of `files` that people had changed since; their changes are kept.
    kept: Vec<String>,
    /// Hosts that were reached over the network meanwhile; those effects cannot be undone.
    outside: Vec<String>,
    /// The changeset's branch, if it was removed.
    removed: Option<String>,
    /// Path of the report, relative to the workshop.
    report: Option<String>,
}

/// Query parameters for listing changesets.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangesetListQuery {
    /// Only changesets in this state.
    state: Option<String>,
    /// Maximum number of rows, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: ApiPageLimit,
    /// Continues after this row: the `next` of the previous page.
    before: Option<String>,
}

/// A decision about a changeset.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChangesetDecisionKind {
    /// Merge it.
    Approve,
    /// Reject it.
    Reject,
    /// Revert the merged changeset with a new commit.
    Undo,
    /// Restore the undone changeset with a new commit.
    Redo,
}

/// A decision about a changeset, with its details.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecideChangesetBody {
    /// The changeset's id, or the start of its trace.
    id: String,
    /// The decision.
    decision: ChangesetDecisionKind,
    /// Why it is rejected, or why it is merged although its proofs do not hold.
    reason: Option<String>,
    /// The branch to merge into; by default the branch it started from.
    into: Option<String>,
    /// The last commit you saw, or at least its first 8 letters; an approval must name it.
    #[schema(min_length = 8)]
    head: Option<String>,
}

/// Approves a changeset as it was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveChangesetBody {
    /// The last commit you saw, or at least its first 8 letters. If the changeset now ends
    /// at another commit, it is not merged.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    head: String,
    /// Why it is merged although its proofs do not hold.
    reason: Option<String>,
    /// The branch to merge into; by default the branch it started from.
    into: Option<String>,
}

/// Rejects a changeset.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RejectChangesetBody {
    /// The reason, which is recorded.
    reason: String,
}

/// Lists changesets, newest first.
#[utoipa::path(get, path = "/api/v1/changesets", tag = "changesets",
    operation_id = "listChangesets", params(ChangesetListQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ApiPageReply<ChangesetListReplyRow>), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<ChangesetListQuery>,
) -> ApiResult<ApiPageReply<ChangesetListReplyRow>> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |_| {
        let mut rows = desk.glance(|board, _| board.changesets())?;
        rows.retain(|row| wanted.state.as_ref().is_none_or(|state| state == row.state));
        let cut = (wanted.limit, wanted.before.as_deref());
        let rows = page(rows, cut, |row| row.run.to_string())?;
        Ok(rows.each(shaped)?)
    });
    done.await.map(Json)
}

/// Decides about a changeset.
#[utoipa::path(post, path = "/api/v1/changesets", tag = "changesets",
    operation_id = "decideChangeset", request_body = DecideChangesetBody,
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn decide(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiJsonBody(told): ApiJsonBody<DecideChangesetBody>,
) -> ApiResult<ChangesetDecisionReply> {
    let DecideChangesetBody { id, reason, .. } = told;
    match told.decision {
        ChangesetDecisionKind::Approve => {
            let head = told.head.unwrap_or_default();
            let into = told.into;
            merge(&by, id, ApproveChangesetBody { head, reason, into }).await
        }
        ChangesetDecisionKind::Reject => {
            let reason = reason.unwrap_or_default();
            decided(&by, move |it| it.reject_changeset(&id, &reason)).await
        }
        ChangesetDecisionKind::Undo => decided(&by, move |it| it.undo_changeset(&id)).await,
        ChangesetDecisionKind::Redo => decided(&by, move |it| it.redo_changeset(&id)).await,
    }
}

/// Shows a changeset.
#[utoipa::path(get, path = "/api/v1/changesets/{id}", tag = "changesets",
    operation_id = "showChangeset",
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ChangesetDetailsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn show(
    by: AuthorizedCaller<User>,
    ApiPathParams(id): ApiPathParams<String>,
) -> ApiResult<ChangesetDetailsReply> {
    let sees_all = by.eyes(None)?.most == TimelineDetailLevel::Full;
    let done = by.does(move |workshop| Ok(shaped(workshop.changeset(&id)?)?));
    let mut seen: ChangesetDetailsReply = done.await?;
    if !sees_all {
        seen.sum_up();
    }
    Ok(Json(seen))
}

impl ChangesetDetailsReply {
    /// Removes file contents and the output of programs, for callers who may only see
    /// summaries.
    fn sum_up(&mut self) {
        self.patch = None;
        for proof in self.proofs.iter_mut().filter_map(Value::as_object_mut) {
            for printed in ["output", "failures", "findings"] {
                proof.remove(printed);
            }
        }
    }
}

/// Shows the diff of a changeset, as JSON or (`Accept: text/plain`) as text. Needs the full view.
#[utoipa::path(get, path = "/api/v1/changesets/{id}/diff", tag = "changesets",
    operation_id = "diffChangeset",
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, content((ChangesetDiffReply = "application/json"), (String = "text/plain"))),
        (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn diff(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    by.eyes(Some("full"))?;
    // It waits for git.
    let by = by.beside_the_line();
    let done = by.does(move |workshop| {
        let changeset: ChangesetDetailsReply = shaped(workshop.changeset(&id)?)?;
        let diff = workshop.changeset_diff(&id)?;
        Ok(ChangesetDiffReply { changeset, diff })
    });
    let done = done.await?;
    let accepted = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.starts_with("text/plain")) {
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return Ok((kind, done.diff).into_response());
    }
    Ok(Json(done).into_response())
}

/// Merges a changeset with a merge commit.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/approve", tag = "changesets",
    operation_id = "approveChangeset", request_body = ApproveChangesetBody,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn approve(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<ApproveChangesetBody>,
) -> ApiResult<ChangesetDecisionReply> {
    merge(&by, id, told).await
}

/// Rejects a changeset.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/reject", tag = "changesets",
    operation_id = "rejectChangeset", request_body = RejectChangesetBody,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ChangesetDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn reject(
    by: AuthorizedCaller<Developer>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<RejectChangesetBody>,
) -> ApiResult<ChangesetDecisionReply> {
    decided(&by, move |it| it.reject_changeset(&id, &told.reason)).await
}

/// Undoes a merged changeset with a new commit. Later changes by people are kept.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/undo", tag = "changesets",
    operation_id = "undoChangeset", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn undo(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ChangesetDecisionReply> {
    decided(&by, move |it| it.undo_changeset(&id)).await
}

/// Restores an undone changeset with a new commit.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/redo", tag = "changesets",
    operation_id = "redoChangeset", request_body = EmptyBody,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecisionReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn redo(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(EmptyBody {}): ApiJsonBody<EmptyBody>,
) -> ApiResult<ChangesetDecisionReply> {
    decided(&by, move |it| it.redo_changeset(&id)).await
}

async fn merge<R: RouteAccess>(
    by: &AuthorizedCaller<R>,
    id: String,
    told: ApproveChangesetBody,
) -> ApiResult<ChangesetDecisionReply> {
    if told.head.len() < 8 {
        return Err(unnamed("head", "the last commit of the changeset").into());
    }
    let merged = move |workshop: &Workshop| {
        let how = ChangesetMergeOptions {
            waiver: told.reason.as_deref(),
            into: told.into.as_deref(),
            seen: Some(&told.head),
        };
        workshop.approve_changeset(&id, how)
    };
    decided(by, merged).await
}

async fn decided<R: RouteAccess>(
    by: &AuthorizedCaller<R>,
    act: impl FnOnce(&Workshop) -> Result<OutcomeWithNotes<ChangesetReceipt>, Failure> + Send + 'static,
) -> ApiResult<ChangesetDecisionReply> {
    let done = by.does(move |workshop| Ok(act(workshop)?));
    let done = by.told(done.await?);
    Ok(Json(shaped(done)?))
}
