//! Everything that needs a person: plans, questions, changesets, abandoned work, and calls
//! that wait for approval.

use std::sync::Arc;

use artel_types::{Failure, FailureCode, GrantReach, Timestamp};
use artel_workshop::{
    AttentionItem, AttentionKind, CallApprovalDecision, CallApprovalView, CallAwaitingApproval,
    DriverProcesses, NO_SESSIONS, WorkshopIndex,
};
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::page::ApiPageQuery;
use super::refusal::ApiErrorReply;
use super::seat::{
    ApiPathParams, ApiQueryParams, ApiResult, AuthorizedCaller, DeveloperInPerson, User,
};
use crate::door::AuthenticatedCaller;
use crate::rights;

/// Something that needs a person.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaitListReplyRow {
    /// `question`, `plan`, `changeset`, `failed`, `unfinished`, `left` or `paused`.
    kind: String,
    /// The id to refer to it by.
    id: String,
    /// Trace of the work.
    trace: String,
    /// One-line title.
    title: String,
    /// The question, or the state it is in.
    text: String,
    /// The possible answers; empty if anything can be answered. Choices that only another
    /// role may make are left out, unless there are no others.
    choices: Vec<String>,
    /// The suggested answer.
    suggested: Option<String>,
    /// Since when it has waited, as RFC 3339.
    since: String,
    /// Commands to type in a terminal.
    commands: Vec<String>,
    /// The least role that may decide about it: `user`, `developer` or `admin`.
    role: String,
    /// Whether the caller may decide about it.
    yours: bool,
}

/// A tool call of an agent that waits for approval.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaitListReplyCall {
    /// The call's id, valid for as long as it waits.
    id: String,
    /// Trace of the work.
    trace: String,
    /// The tool.
    tool: String,
    /// Why approval is needed; `null` if the tool is hidden.
    why: Option<String>,
    /// Everything that the call would do; `null` if the tool is hidden.
    what: Option<String>,
    /// The hash of `what`, which an answer must name.
    hash: Option<String>,
    /// The possible answers: `yes` and `no`, and `run` and `always` if an approval may
    /// reach further.
    answers: Vec<String>,
    /// The rules that an answer beyond `yes` grants. If there are none, `run` approves
    /// exactly this call.
    rules: Vec<String>,
}

/// Everything that needs a person.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct WaitListReply {
    /// Questions first; within each kind, oldest first.
    rows: Vec<WaitListReplyRow>,
    /// To continue, pass this as `before`; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Number of rows on all pages.
    total: usize,
    /// Number of rows that the caller may decide about.
    yours: usize,
    /// Calls that wait for approval, oldest first. Empty for the role `user` and for
    /// callers who may only see summaries.
    calls: Vec<WaitListReplyCall>,
}

/// An answer to a call that waits for approval.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = YesNo)]
pub(super) enum CallApprovalAnswer {
    /// Approves this call only.
    Yes,
    /// Also approves what its `rules` allow, in all runs of the tree.
    Run,
    /// The same as `run`: there are no sessions yet.
    Session,
    /// Approves its `rules` permanently, with a `reason`; for admins.
    Always,
    /// Denies the call.
    No,
}

/// An answer to a call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerCallBody {
    /// The hash of what you saw.
    hash: String,
    /// The answer.
    answer: CallApprovalAnswer,
    /// The reason: for a denial, the agent receives it; with `always`, it is recorded with
    /// the grant.
    reason: Option<String>,
}

/// An answer that was recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct AnswerCallReply {
    /// The call's id.
    id: String,
    /// Trace of the work.
    trace: String,
    /// An explanation, if the answer was understood differently from what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// A position in the list as text, which stays valid even if the row it came from is
/// settled.
struct WaitListCursor {
    sort: AttentionKind,
    since: Timestamp,
    id: String,
}

impl WaitListCursor {
    fn read(text: &str) -> Result<Self, Failure> {
        let parts = || {
            let (sort, rest) = text.split_once('~')?;
            let (since, id) = rest.split_once('~')?;
            Some(Self {
                sort: AttentionKind::ALL
                    .into_iter()
                    .find(|it| it.as_str() == sort)?,
                since: Timestamp::from_micros(since.parse().ok()?),
                id: id.to_owned(),
            })
        };
        parts().ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            Failure::new(
                FailureCode::C004,
                format!("`{shown}` is no place in the list"),
            )
            .advise("`before` is the `next` of the page that came last")
        })
    }

    fn of(row: &AttentionItem) -> String {
        let (sort, since, id) = row.place();
        format!("{}~{}~{id}", sort.as_str(), since.as_micros())
    }

    fn comes_before(&self, row: &AttentionItem) -> bool {
        (self.sort, self.since, self.id.as_str()) < row.place()
    }
}

impl WaitListReplyRow {
    fn of(waits: &AttentionItem, who: &AuthenticatedCaller) -> Self {
        let mine = rights::choices_of(who, waits);
        Self {
            role: rights::needed(waits.kind).role.as_str().to_owned(),
            yours: rights::decides(who, waits),
            kind: waits.kind.as_str().to_owned(),
            id: waits.id.clone(),
            trace: waits.trace.to_string(),
            title: waits.title.clone(),
            text: waits.text.clone(),
            choices: if mine.is_empty() {
                waits.choices.clone()
            } else {
                mine
            },
            suggested: waits.suggested.clone(),
            since: waits.since.to_string(),
            commands: waits.commands.clone(),
        }
    }
}

impl WaitListReplyCall {
    fn of(seen: CallApprovalView) -> Self {
        let (why, what, hash, offer) = match seen.shown {
            Some(it) => (Some(it.why), Some(it.what), Some(it.hash), it.offer),
            None => (None, None, None, None),
        };
        let (rules, reaches) = offer.map_or_else(Default::default, |it| (it.rules, it.reaches));
        let reaches = reaches.into_iter().map(GrantReach::as_str);
        let answers = ["yes"].into_iter().chain(reaches).chain(["no"]);
        Self {
            answers: answers.map(str::to_owned).collect(),
            rules,
            id: seen.id,
            trace: seen.trace.to_string(),
            tool: seen.tool,
            why,
            what,
            hash,
        }
    }
}

/// Lists everything that needs a person.
#[utoipa::path(get, path = "/api/v1/waiting", tag = "waiting", operation_id = "listWaiting",
    params(ApiPageQuery), extensions(("x-role" = json!("user"))),
    responses((status = 200, body = WaitListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn list(
    by: AuthorizedCaller<User>,
    ApiQueryParams(wanted): ApiQueryParams<ApiPageQuery>,
) -> ApiResult<WaitListReply> {
    let after = wanted
        .before
        .as_deref()
        .map(WaitListCursor::read)
        .transpose()?;
    let desk = Arc::clone(&by.desk);
    let eyes = by.eyes(None)?;
    let who = by.who.clone();
    let may_answer = who.pass.role >= rights::needed(AttentionKind::Call).role;
    let waiting = by.does(move |workshop| {
        let look = |board: &WorkshopIndex, drivers: &DriverProcesses| {
            let calls = may_answer.then(|| board.calls(drivers));
            (calls.unwrap_or_default(), drivers.clone())
        };
        let (open, drivers) = desk.glance(look)?;
        let waits = desk.waiting(&drivers);
        let from = after.map_or(0, |after| {
            waits.partition_point(|it| !after.comes_before(it))
        });
        let shown = &waits[from..waits.len().min(from.saturating_add(wanted.limit.0))];
        let is_more = from + shown.len() < waits.len();
        let seen = workshop.calls_seen(open, &eyes)?.into_iter();
        Ok(WaitListReply {
            rows: shown
                .iter()
                .map(|it| WaitListReplyRow::of(it, &who))
                .collect(),
            next: shown
                .last()
                .filter(|_| is_more)
                .map(|it| WaitListCursor::of(it)),
            total: waits.len(),
            yours: waits.iter().filter(|it| rights::decides(&who, it)).count(),
            calls: seen.map(WaitListReplyCall::of).collect(),
        })
    });
    Ok(Json(waiting.await?))
}

/// Answers a call that waits for approval.
///
/// Callers who may not see what the call would do are refused. `always` grants permanently:
/// it takes an admin who, at the console, signed in within the last five minutes.
#[utoipa::path(post, path = "/api/v1/waiting/calls/{id}", tag = "waiting",
    operation_id = "answerCall", request_body = AnswerCallBody,
    params(("id" = String, Path, description = "The call")),
    extensions(("x-role" = json!("developer")), ("x-person" = json!(true))),
    responses((status = 200, body = AnswerCallReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn answer(
    by: AuthorizedCaller<DeveloperInPerson>,
    ApiPathParams(id): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<AnswerCallBody>,
) -> ApiResult<AnswerCallReply> {
    let no = "a person said no";
    let answer = match told.answer {
        CallApprovalAnswer::Yes => CallApprovalDecision::Once,
        CallApprovalAnswer::Run | CallApprovalAnswer::Session => CallApprovalDecision::ForRun,
        CallApprovalAnswer::Always => {
            by.who.needs(rights::TO_GRANT)?;
            let clock = by.desk.workshop().caller().clock().clone();
            by.who.freshly_signed_in(clock.now())?;
            CallApprovalDecision::Always(told.reason.unwrap_or_default())
        }
        CallApprovalAnswer::No => {
            CallApprovalDecision::No(told.reason.unwrap_or_else(|| no.to_owned()))
        }
    };
    let note = matches!(told.answer, CallApprovalAnswer::Session).then(|| NO_SESSIONS.to_owned());
    let eyes = by.eyes(None)?;
    let done = by.does(move |workshop| {
        let call = workshop.call_named(&id)?;
        if !eyes.see_call(&call.asked.tool) {
            return Err(unseen(&call).into());
        }
        let noted = workshop.answer_call(&call, &told.hash, &answer)?;
        Ok((call, noted))
    });
    let (call, noted) = done.await?;
    by.told(noted);
    Ok(Json(AnswerCallReply {
        id: call.id(),
        trace: call.trace.to_string(),
        note,
    }))
}

/// Returns the failure for answering a call that the caller may not see.
fn unseen(call: &CallAwaitingApproval) -> Failure {
    let what = "what the call would do is not yours to see, so the answer is not yours either";
    Failure::new(FailureCode::H004, what)
        .because("an admin said who sees what: `artel config show`")
        .advise(format!("`artel answer {}` in a terminal", call.id()))
}
