//! Changesets: what plans left, and what people decide about it.

use std::sync::Arc;

use artel_types::Failure;
use artel_workshop::{ChangesetDone, Merging, Noted, View, Workshop};
use axum::Json;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::page::{Limit, Rows, page};
use super::refusal::Troubled;
use super::runs::steer::Nothing;
use super::seat::{
    Answer, As, Asked, At, Developer, DeveloperInPerson, Role, User, shaped, unnamed,
};
use super::{Refusal, Told};

/// A changeset in a list.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetListed {
    /// What it is called: the trace, cut short.
    id: String,
    /// The piece of work.
    trace: String,
    /// The run that made it.
    run: String,
    /// When it was made, as RFC 3339.
    at: String,
    /// What it does, in a line.
    title: String,
    /// The portal.
    portal: Option<String>,
    /// Its branch; nothing where the folder is in no repository.
    branch: Option<String>,
    /// The branch that it started from.
    into: Option<String>,
    /// open, merging, merged, undoing, undone, redoing or rejected.
    state: String,
    /// How many commits it has.
    commits: u64,
    /// How many files differ.
    files: u64,
    /// Lines added.
    added: u64,
    /// Lines removed.
    removed: u64,
    /// Whether every proof holds on a clean checkout.
    proven: bool,
    /// Whether all steps passed.
    complete: bool,
}

/// A changeset with all that is known about it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetSeen {
    #[serde(flatten)]
    row: ChangesetListed,
    /// The person's folder.
    folder: String,
    /// The commit that it started from.
    base: String,
    /// Its last commit, which an approval names.
    head: String,
    /// Its commits, the oldest first.
    log: Vec<Value>,
    /// The files.
    changed: Vec<Value>,
    /// The patch, where there is no branch.
    patch: Option<String>,
    /// Every proof, in the order in which they were made.
    proofs: Vec<Value>,
    /// What the last check on a clean checkout gave, in a line.
    proof: String,
    /// What did not hold there.
    unproven: Vec<String>,
    /// What was waived or left for later.
    deferred: Vec<String>,
    /// What people decided, the oldest first.
    decisions: Vec<Value>,
    /// Tokens that it took.
    tokens: u64,
    /// What it cost, in millionths of a US dollar; nothing if a price is not known.
    cost: Option<u64>,
    /// Milliseconds from the request to the end of the last step.
    millis: u64,
    /// The report, relative to the workshop.
    report: Option<String>,
    /// How a person brought its commits into the branch themselves, if they did: merged or moved.
    by_hand: Option<String>,
    /// Commands that come next.
    next: Vec<String>,
}

/// What differs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChangesetDiff {
    /// The changeset.
    changeset: ChangesetSeen,
    /// The difference, as `git diff` writes it.
    diff: String,
}

/// What was decided, and what came of it.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct ChangesetDecided {
    /// What it is called.
    id: String,
    /// The piece of work.
    trace: String,
    /// approve, reject, undo or redo.
    act: String,
    /// The branch that moved.
    into: Option<String>,
    /// The commit that came of it.
    commit: Option<String>,
    /// The files that changed.
    files: Vec<String>,
    /// Of them, those that people changed since, whose changes stay.
    kept: Vec<String>,
    /// What was reached over the network meanwhile, and cannot be taken back.
    outside: Vec<String>,
    /// The changeset's branch that was removed.
    removed: Option<String>,
    /// The report, relative to the workshop.
    report: Option<String>,
}

/// Which changesets are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Only those that stand so.
    state: Option<String>,
    /// How many, from 1 to 200.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 200)]
    limit: Limit,
    /// Only what comes after this row of an earlier page.
    before: Option<String>,
}

/// What can be decided.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Decision {
    /// It is merged.
    Approve,
    /// It is turned down.
    Reject,
    /// It is taken back by a new commit.
    Undo,
    /// It is brought back by a new commit.
    Redo,
}

/// A decision about a changeset.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Decide {
    /// Its id, or how its trace begins.
    id: String,
    /// What is decided.
    decision: Decision,
    /// Why it is turned down, or why it is merged although its proofs do not hold.
    reason: Option<String>,
    /// The branch to merge into; the one it started from if not given.
    into: Option<String>,
    /// The last commit that was seen, or at least its first 8 letters: an approval names it.
    #[schema(min_length = 8)]
    head: Option<String>,
}

/// An approval names what was seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Merge {
    /// The last commit that was seen, or at least its first 8 letters; a changeset that ends
    /// elsewhere is not merged.
    #[serde(default)]
    #[schema(required = true, min_length = 8)]
    head: String,
    /// Why it is merged although its proofs do not hold.
    reason: Option<String>,
    /// The branch to merge into; the one it started from if not given.
    into: Option<String>,
}

/// Why a changeset is turned down.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reject {
    /// Why; it stays on record.
    reason: String,
}

/// Lists changesets, the newest first.
#[utoipa::path(get, path = "/api/v1/changesets", tag = "changesets",
    operation_id = "listChangesets", params(Wanted), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = Rows<ChangesetListed>), (status = "4XX", body = Troubled)))]
pub(super) async fn list(
    by: As<User>,
    Asked(wanted): Asked<Wanted>,
) -> Answer<Rows<ChangesetListed>> {
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
    operation_id = "decideChangeset", request_body = Decide,
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecided), (status = "4XX", body = Troubled)))]
pub(super) async fn decide(
    by: As<DeveloperInPerson>,
    Told(told): Told<Decide>,
) -> Answer<ChangesetDecided> {
    let Decide { id, reason, .. } = told;
    match told.decision {
        Decision::Approve => {
            let head = told.head.unwrap_or_default();
            let into = told.into;
            merge(&by, id, Merge { head, reason, into }).await
        }
        Decision::Reject => {
            let reason = reason.unwrap_or_default();
            decided(&by, move |it| it.reject_changeset(&id, &reason)).await
        }
        Decision::Undo => decided(&by, move |it| it.undo_changeset(&id)).await,
        Decision::Redo => decided(&by, move |it| it.redo_changeset(&id)).await,
    }
}

/// Shows a changeset.
#[utoipa::path(get, path = "/api/v1/changesets/{id}", tag = "changesets",
    operation_id = "showChangeset",
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("user"))),
    responses((status = 200, body = ChangesetSeen), (status = "4XX", body = Troubled)))]
pub(super) async fn show(by: As<User>, At(id): At<String>) -> Answer<ChangesetSeen> {
    let sees_all = by.eyes(None)?.most == View::Full;
    let done = by.does(move |workshop| Ok(shaped(workshop.changeset(&id)?)?));
    let mut seen: ChangesetSeen = done.await?;
    if !sees_all {
        seen.sum_up();
    }
    Ok(Json(seen))
}

impl ChangesetSeen {
    /// Leaves out what programs printed and what files hold: that is not for whoever sees summaries
    /// alone.
    fn sum_up(&mut self) {
        self.patch = None;
        for proof in self.proofs.iter_mut().filter_map(Value::as_object_mut) {
            for printed in ["output", "failures", "findings"] {
                proof.remove(printed);
            }
        }
    }
}

/// Shows what differs: as JSON, or as it is with `Accept: text/plain`.
#[utoipa::path(get, path = "/api/v1/changesets/{id}/diff", tag = "changesets",
    operation_id = "diffChangeset",
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, content((ChangesetDiff = "application/json"), (String = "text/plain"))),
        (status = "4XX", body = Troubled)))]
pub(super) async fn diff(
    by: As<Developer>,
    At(id): At<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    // It waits for git.
    let by = by.beside_the_line();
    let done = by.does(move |workshop| {
        let changeset: ChangesetSeen = shaped(workshop.changeset(&id)?)?;
        let diff = workshop.changeset_diff(&id)?;
        Ok(ChangesetDiff { changeset, diff })
    });
    let done = done.await?;
    let accepted = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if accepted.is_some_and(|accepted| accepted.starts_with("text/plain")) {
        let kind = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
        return Ok((kind, done.diff).into_response());
    }
    Ok(Json(done).into_response())
}

/// Merges a changeset with a commit of its own.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/approve", tag = "changesets",
    operation_id = "approveChangeset", request_body = Merge,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecided), (status = "4XX", body = Troubled)))]
pub(super) async fn approve(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(told): Told<Merge>,
) -> Answer<ChangesetDecided> {
    merge(&by, id, told).await
}

/// Turns a changeset down.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/reject", tag = "changesets",
    operation_id = "rejectChangeset", request_body = Reject,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = ChangesetDecided), (status = "4XX", body = Troubled)))]
pub(super) async fn reject(
    by: As<Developer>,
    At(id): At<String>,
    Told(told): Told<Reject>,
) -> Answer<ChangesetDecided> {
    decided(&by, move |it| it.reject_changeset(&id, &told.reason)).await
}

/// Takes a merged changeset back by a new commit; what people changed since stays.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/undo", tag = "changesets",
    operation_id = "undoChangeset", request_body = Nothing,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecided), (status = "4XX", body = Troubled)))]
pub(super) async fn undo(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ChangesetDecided> {
    decided(&by, move |it| it.undo_changeset(&id)).await
}

/// Brings back a changeset that was undone, by a new commit.
#[utoipa::path(post, path = "/api/v1/changesets/{id}/redo", tag = "changesets",
    operation_id = "redoChangeset", request_body = Nothing,
    params(("id" = String, Path, description = "Its id, or how its trace begins")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = ChangesetDecided), (status = "4XX", body = Troubled)))]
pub(super) async fn redo(
    by: As<DeveloperInPerson>,
    At(id): At<String>,
    Told(Nothing {}): Told<Nothing>,
) -> Answer<ChangesetDecided> {
    decided(&by, move |it| it.redo_changeset(&id)).await
}

async fn merge<R: Role>(by: &As<R>, id: String, told: Merge) -> Answer<ChangesetDecided> {
    if told.head.len() < 8 {
        return Err(unnamed("head", "the last commit of the changeset").into());
    }
    let merged = move |workshop: &Workshop| {
        let how = Merging {
            waiver: told.reason.as_deref(),
            into: told.into.as_deref(),
            seen: Some(&told.head),
        };
        workshop.approve_changeset(&id, how)
    };
    decided(by, merged).await
}

async fn decided<R: Role>(
    by: &As<R>,
    act: impl FnOnce(&Workshop) -> Result<Noted<ChangesetDone>, Failure> + Send + 'static,
) -> Answer<ChangesetDecided> {
    let done = by.does(move |workshop| Ok(act(workshop)?));
    let done = by.told(done.await?);
    Ok(Json(shaped(done)?))
}
