//! Settings and policy: what holds here, and what was granted for good.

use artel_workshop::CommandCheck;
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
    /// Where that comes from.
    origin: String,
    /// What it is for.
    about: String,
}

/// Every setting that has a value.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SettingRows {
    /// The settings.
    rows: Vec<SettingRow>,
}

/// Something that was granted for good.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantRow {
    /// Its number.
    n: u64,
    /// The rule, as written.
    rule: String,
    /// Why.
    reason: String,
    /// Who granted it.
    by: String,
    /// When, as RFC 3339.
    at: String,
}

/// What was granted for good, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct GrantRows {
    /// The grants.
    rows: Vec<GrantRow>,
}

/// Something to grant for good.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewGrant {
    /// The rule, such as `Bash(cargo test:*)`.
    rule: String,
    /// Why.
    reason: String,
}

/// Which grant is taken back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Revoked {
    /// The rule as it was seen. Grants are numbered by their places, and those may have moved.
    rule: Option<String>,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PolicyDone {
    /// In words.
    done: String,
}

/// A command that somebody wants to know about.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Checks {
    /// What would go to `bash -c`.
    command: String,
    /// Rules to allow besides what holds.
    #[serde(default)]
    allow: Vec<String>,
    /// The role; `default` if not given.
    role: Option<String>,
}

/// What policy answers by its rules, and what comes of that in a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PolicyCheck {
    /// allow, ask or deny.
    decision: String,
    /// The rule that decides.
    rule: String,
    /// Why.
    reason: String,
    /// What decides: rule.
    decided_by: String,
    /// The answer in a run of its own tree, on this machine.
    in_a_run: PolicyDecision,
    /// Why the walls of such a run would not be the judge; nothing where they are.
    #[serde(default)]
    uncontained: Option<String>,
}

/// What policy answers.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct PolicyDecision {
    /// allow, ask or deny.
    decision: String,
    /// The rule that decides, or `contained`.
    rule: String,
    /// Why.
    reason: String,
    /// What decides: rule or contained.
    decided_by: String,
}

/// A text that may hold secrets.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Redact {
    /// The text.
    text: String,
}

/// The same text without them.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Redacted {
    /// The text.
    text: String,
}

/// Lists every setting that has a value, with where it comes from.
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

/// Lists what was granted for good.
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

/// Grants something for good.
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

/// Takes a grant back.
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

/// Says what policy would answer to a command.
#[utoipa::path(post, path = "/api/v1/policy/check", tag = "policy", operation_id = "checkCommand",
    request_body = Checks, extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = PolicyCheck), (status = "4XX", body = Troubled)))]
pub(super) async fn check(by: As<Developer>, Told(told): Told<Checks>) -> Answer<PolicyCheck> {
    let check = CommandCheck {
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

/// Takes secrets out of a text: known values, and whatever looks like one.
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
