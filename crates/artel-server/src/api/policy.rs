//! Settings and policy: the settings in force, and permanent grants.

use artel_workshop::CommandPolicyQuery;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ApiJsonBody;
use super::refusal::ApiErrorReply;
use super::seat::{
    Admin, AdminJustSignedIn, ApiCreatedResult, ApiPathParams, ApiResult, AuthorizedCaller,
    Developer, made, shaped,
};

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingListReplyRow {
    /// Its name.
    key: String,
    /// Its value, as TOML.
    value: String,
    /// Where the value comes from.
    origin: String,
    /// Its purpose.
    about: String,
}

/// The settings that have a value.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingListReply {
    /// The settings.
    rows: Vec<SettingListReplyRow>,
}

/// A permanent grant.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantListReplyRow {
    /// Its number.
    n: u64,
    /// The rule, as written.
    rule: String,
    /// The reason.
    reason: String,
    /// The person who granted it.
    by: String,
    /// When it was granted, as RFC 3339.
    at: String,
}

/// The permanent grants.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantListReply {
    /// The grants, oldest first.
    rows: Vec<GrantListReplyRow>,
}

/// A rule to grant permanently.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AddGrantBody {
    /// The rule, such as `Bash(cargo test:*)`.
    rule: String,
    /// The reason.
    reason: String,
}

/// Revokes a grant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RevokeGrantBody {
    /// The rule as you saw it. Grants are numbered by position, and positions may have
    /// changed.
    rule: Option<String>,
}

/// The result of granting or revoking.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ChangeGrantReply {
    /// A sentence that says what was done.
    done: String,
}

/// A command to check against policy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckPolicyBody {
    /// The command, as it would be passed to `bash -c`.
    command: String,
    /// Rules to allow, in addition to those in force.
    #[serde(default)]
    allow: Vec<String>,
    /// The role; `default` if omitted.
    role: Option<String>,
}

/// The decision of policy by its rules, and the decision in a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CheckPolicyReply {
    /// `allow`, `ask` or `deny`.
    decision: String,
    /// The rule that decides.
    rule: String,
    /// The reason.
    reason: String,
    /// The kind of decision: `rule`.
    decided_by: String,
    /// The decision in a run with its own tree, on this machine.
    in_a_run: CheckPolicyReplyRun,
    /// Why the sandbox of such a run would not settle the decision; `null` if it would.
    #[serde(default)]
    uncontained: Option<String>,
}

/// A decision of policy.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct CheckPolicyReplyRun {
    /// `allow`, `ask` or `deny`.
    decision: String,
    /// The rule that decides, or `contained`.
    rule: String,
    /// The reason.
    reason: String,
    /// The kind of decision: `rule` or `contained`.
    decided_by: String,
}

/// A text that may contain secrets.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RedactTextBody {
    /// The text.
    text: String,
}

/// The same text without the secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RedactTextReply {
    /// The text.
    text: String,
}

/// Lists every setting that has a value, and where it comes from.
#[utoipa::path(get, path = "/api/v1/settings", tag = "settings", operation_id = "listSettings",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = SettingListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn settings(by: AuthorizedCaller<Admin>) -> ApiResult<SettingListReply> {
    let done = by.does(|workshop| {
        let redactor = workshop.caller().redactor();
        let rows = workshop
            .settings
            .rows()
            .into_iter()
            .map(|row| SettingListReplyRow {
                key: row.key,
                value: redactor.redact(&row.value).into_owned(),
                origin: row.origin,
                about: row.about.to_owned(),
            });
        Ok(SettingListReply {
            rows: rows.collect(),
        })
    });
    done.await.map(Json)
}

/// Lists the permanent grants.
#[utoipa::path(get, path = "/api/v1/policy/grants", tag = "policy", operation_id = "listGrants",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = GrantListReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn grants(by: AuthorizedCaller<Admin>) -> ApiResult<GrantListReply> {
    let done = by.does(|workshop| {
        let grants = workshop.grants()?.into_iter().zip(1..);
        let rows = grants.map(|(grant, n)| GrantListReplyRow {
            n,
            rule: grant.rule,
            reason: grant.reason,
            by: grant.by,
            at: grant.at,
        });
        Ok(GrantListReply {
            rows: rows.collect(),
        })
    });
    done.await.map(Json)
}

/// Grants a rule permanently.
#[utoipa::path(post, path = "/api/v1/policy/grants", tag = "policy", operation_id = "createGrant",
    request_body = AddGrantBody, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = ChangeGrantReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn grant(
    by: AuthorizedCaller<AdminJustSignedIn>,
    ApiJsonBody(new): ApiJsonBody<AddGrantBody>,
) -> ApiCreatedResult<ChangeGrantReply> {
    let done = by.does(move |workshop| {
        let notes = workshop.grant(&new.rule, &new.reason)?.notes;
        let granted = format!("granted for good: {}", new.rule);
        let done = std::iter::once(granted)
            .chain(notes)
            .collect::<Vec<_>>()
            .join("; ");
        Ok(ChangeGrantReply { done })
    });
    done.await.map(made)
}

/// Revokes a grant.
#[utoipa::path(post, path = "/api/v1/policy/grants/{n}/revoke", tag = "policy",
    operation_id = "revokeGrant", request_body = RevokeGrantBody,
    params(("n" = String, Path, description = "Its number, or its rule")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = ChangeGrantReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn revoke(
    by: AuthorizedCaller<Admin>,
    ApiPathParams(n): ApiPathParams<String>,
    ApiJsonBody(told): ApiJsonBody<RevokeGrantBody>,
) -> ApiResult<ChangeGrantReply> {
    let done = by.does(move |workshop| {
        let revoked = workshop.revoke(&n, told.rule.as_deref())?;
        let done = format!("no longer granted: {}", revoked.rule);
        Ok(ChangeGrantReply { done })
    });
    done.await.map(Json)
}

/// Returns what policy would decide about a command.
#[utoipa::path(post, path = "/api/v1/policy/check", tag = "policy", operation_id = "checkCommand",
    request_body = CheckPolicyBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = CheckPolicyReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn check(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(told): ApiJsonBody<CheckPolicyBody>,
) -> ApiResult<CheckPolicyReply> {
    let check = CommandPolicyQuery {
        command: told.command,
        allow: told.allow,
        role: told.role,
    };
    let done = by.does(move |workshop| {
        let judged = workshop.caller().check_command(&check)?;
        let in_a_run = shaped(judged.in_a_run)?;
        let CheckPolicyReplyRun {
            decision,
            rule,
            reason,
            decided_by,
        } = shaped(judged.by_rule)?;
        Ok(CheckPolicyReply {
            decision,
            rule,
            reason,
            decided_by,
            in_a_run,
            uncontained: judged.uncontained.map(|why| why.to_string()),
        })
    });
    done.await.map(Json)
}

/// Redacts secrets in a text: known values, and everything that looks like one.
#[utoipa::path(post, path = "/api/v1/policy/redact", tag = "policy", operation_id = "redact",
    request_body = RedactTextBody, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = RedactTextReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn redact(
    by: AuthorizedCaller<Developer>,
    ApiJsonBody(told): ApiJsonBody<RedactTextBody>,
) -> ApiResult<RedactTextReply> {
    let done = by.does(move |workshop| {
        let redactor = workshop.caller().redactor();
        let text = redactor.redact(&told.text).into_owned();
        Ok(RedactTextReply { text })
    });
    done.await.map(Json)
}
