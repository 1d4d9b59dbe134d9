//! Settings and policy: the settings in force, and permanent grants.

use artel_workshop::CommandPolicyQuery;
use axum::Json;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Told;
use super::refusal::Troubled;
use super::seat::{Admin, AdminJustSignedIn, Answer, As, At, Developer, Made, made, shaped};

/// A setting.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingRow {
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
pub(super) struct SettingRows {
    /// The settings.
    rows: Vec<SettingRow>,
}

/// A permanent grant.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantRow {
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
pub(super) struct GrantRows {
    /// The grants, oldest first.
    rows: Vec<GrantRow>,
}

/// A rule to grant permanently.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGrant {
    /// The rule, such as `Bash(cargo test:*)`.
    rule: String,
    /// The reason.
    reason: String,
}

/// Revokes a grant.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Revoked {
    /// The rule as you saw it. Grants are numbered by position, and positions may have
    /// changed.
    rule: Option<String>,
}

/// The result of granting or revoking.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PolicyDone {
    /// A sentence that says what was done.
    done: String,
}

/// A command to check against policy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Checks {
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
pub(super) struct PolicyCheck {
    /// `allow`, `ask` or `deny`.
    decision: String,
    /// The rule that decides.
    rule: String,
    /// The reason.
    reason: String,
    /// The kind of decision: `rule`.
    decided_by: String,
    /// The decision in a run with its own tree, on this machine.
    in_a_run: PolicyDecision,
    /// Why the sandbox of such a run would not settle the decision; `null` if it would.
    #[serde(default)]
    uncontained: Option<String>,
}

/// A decision of policy.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PolicyDecision {
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
pub(super) struct Redact {
    /// The text.
    text: String,
}

/// The same text without the secrets.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Redacted {
    /// The text.
    text: String,
}

/// Lists every setting that has a value, and where it comes from.
#[utoipa::path(get, path = "/api/v1/settings", tag = "settings", operation_id = "listSettings",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = SettingRows), (status = "4XX", body = Troubled)))]
pub(super) async fn settings(by: As<Admin>) -> Answer<SettingRows> {
    let done = by.does(|workshop| {
        let redactor = workshop.caller().redactor();
        let rows = workshop.settings.rows().into_iter().map(|row| SettingRow {
            key: row.key,
            value: redactor.redact(&row.value).into_owned(),
            origin: row.origin,
            about: row.about.to_owned(),
        });
        Ok(SettingRows {
            rows: rows.collect(),
        })
    });
    done.await.map(Json)
}

/// Lists the permanent grants.
#[utoipa::path(get, path = "/api/v1/policy/grants", tag = "policy", operation_id = "listGrants",
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = GrantRows), (status = "4XX", body = Troubled)))]
pub(super) async fn grants(by: As<Admin>) -> Answer<GrantRows> {
    let done = by.does(|workshop| {
        let grants = workshop.grants()?.into_iter().zip(1..);
        let rows = grants.map(|(grant, n)| GrantRow {
            n,
            rule: grant.rule,
            reason: grant.reason,
            by: grant.by,
            at: grant.at,
        });
        Ok(GrantRows {
            rows: rows.collect(),
        })
    });
    done.await.map(Json)
}

/// Grants a rule permanently.
#[utoipa::path(post, path = "/api/v1/policy/grants", tag = "policy", operation_id = "createGrant",
    request_body = NewGrant, extensions(("x-role" = json!("admin")), ("x-person" = json!(true)),
        ("x-fresh-sign-in" = json!(true))),
    responses((status = 201, body = PolicyDone), (status = "4XX", body = Troubled)))]
pub(super) async fn grant(
    by: As<AdminJustSignedIn>,
    Told(new): Told<NewGrant>,
) -> Made<PolicyDone> {
    let done = by.does(move |workshop| {
        let notes = workshop.grant(&new.rule, &new.reason)?.notes;
        let granted = format!("granted for good: {}", new.rule);
        let done = std::iter::once(granted)
            .chain(notes)
            .collect::<Vec<_>>()
            .join("; ");
        Ok(PolicyDone { done })
    });
    done.await.map(made)
}

/// Revokes a grant.
#[utoipa::path(post, path = "/api/v1/policy/grants/{n}/revoke", tag = "policy",
    operation_id = "revokeGrant", request_body = Revoked,
    params(("n" = String, Path, description = "Its number, or its rule")),
    extensions(("x-role" = json!("admin"))),
    responses((status = 200, body = PolicyDone), (status = "4XX", body = Troubled)))]
pub(super) async fn revoke(
    by: As<Admin>,
    At(n): At<String>,
    Told(told): Told<Revoked>,
) -> Answer<PolicyDone> {
    let done = by.does(move |workshop| {
        let revoked = workshop.revoke(&n, told.rule.as_deref())?;
        let done = format!("no longer granted: {}", revoked.rule);
        Ok(PolicyDone { done })
    });
    done.await.map(Json)
}

/// Returns what policy would decide about a command.
#[utoipa::path(post, path = "/api/v1/policy/check", tag = "policy", operation_id = "checkCommand",
    request_body = Checks, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = PolicyCheck), (status = "4XX", body = Troubled)))]
pub(super) async fn check(by: As<Developer>, Told(told): Told<Checks>) -> Answer<PolicyCheck> {
    let check = CommandPolicyQuery {
        command: told.command,
        allow: told.allow,
        role: told.role,
    };
    let done = by.does(move |workshop| {
        let judged = workshop.caller().check_command(&check)?;
        let in_a_run = shaped(judged.in_a_run)?;
        let PolicyDecision {
            decision,
            rule,
            reason,
            decided_by,
        } = shaped(judged.by_rule)?;
        Ok(PolicyCheck {
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
    request_body = Redact, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = Redacted), (status = "4XX", body = Troubled)))]
pub(super) async fn redact(by: As<Developer>, Told(told): Told<Redact>) -> Answer<Redacted> {
    let done = by.does(move |workshop| {
        let redactor = workshop.caller().redactor();
        let text = redactor.redact(&told.text).into_owned();
        Ok(Redacted { text })
    });
    done.await.map(Json)
}
