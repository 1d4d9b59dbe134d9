//! Usage of models, and counts of what the journal contains.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::model::CalendarPeriod;
use artel_workshop::{UsageBy, UsageQuery, UsageReport, UsageSum};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::refusal::ApiErrorReply;
use super::requests::none_of;
use super::seat::{ApiQueryParams, ApiResult, AuthorizedCaller, Developer, shaped};

/// Query parameters for usage.
///
/// A field without a value groups the rows by it; any other value keeps only what matches.
/// By default, rows are grouped by provider and model.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct UsageReportQuery {
    /// Groups by day, or keeps only this one, such as 2026-11-15.
    day: Option<String>,
    /// Groups by session, or keeps only the session whose id begins like this.
    session: Option<String>,
    /// Groups by run, or keeps only the run whose id begins like this.
    run: Option<String>,
    /// Groups by step, or keeps only this one.
    step: Option<String>,
    /// Groups by provider, or keeps only this one.
    provider: Option<String>,
    /// Groups by model, or keeps only this one.
    model: Option<String>,
    /// Groups by skill, or keeps only this one.
    skill: Option<String>,
    /// Groups by role, or keeps only this one.
    role: Option<String>,
    /// Groups by portal, or keeps only this one.
    portal: Option<String>,
    /// Groups by person, or keeps only this one.
    person: Option<String>,
    /// Only the current `day`, `week` (from Monday) or `month`, in UTC.
    period: Option<String>,
}

/// The usage of models.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct UsageReportReply {
    /// Start of the period, as RFC 3339; `null` for the first event.
    since: Option<String>,
    /// End of the period.
    until: Option<String>,
    /// The dimensions by which the rows are grouped.
    by: Vec<String>,
    /// The rows: names and sums.
    rows: Vec<Value>,
    /// The total of all rows.
    total: Value,
}

/// Counts of what the journal contains.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct JournalStatsReply {
    /// Number of events.
    events: u64,
    /// When the first event was recorded, as RFC 3339.
    first: Option<String>,
    /// When the last event was recorded.
    last: Option<String>,
    /// Number of events of each kind.
    kinds: BTreeMap<String, u64>,
    /// Number of events by each actor.
    actors: BTreeMap<String, u64>,
    /// Bytes of the journal file with its write-ahead log.
    journal_bytes: u64,
    /// Number of blobs.
    blobs: u64,
    /// Bytes of all blobs.
    blob_bytes: u64,
    /// Number of backups.
    backups: u64,
}

/// Statistics of skills.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillStatsReply {
    /// The skills that have run: name, rates and sums.
    skills: Vec<Value>,
}

/// Sums up what models were used for, and the cost.
#[utoipa::path(get, path = "/api/v1/usage", tag = "usage", operation_id = "showUsage",
    params(UsageReportQuery), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = UsageReportReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn usage(
    by: AuthorizedCaller<Developer>,
    ApiQueryParams(wanted): ApiQueryParams<UsageReportQuery>,
) -> ApiResult<UsageReportReply> {
    let period: Option<CalendarPeriod> = match &wanted.period {
        None => None,
        Some(word) => Some(
            word.parse()
                .map_err(|()| none_of("period", &["day", "week", "month"]))?,
        ),
    };
    let mut query = UsageQuery {
        period,
        ..UsageQuery::default()
    };
    for (by, said) in [
        (UsageBy::Day, wanted.day),
        (UsageBy::Session, wanted.session),
        (UsageBy::Run, wanted.run),
        (UsageBy::Step, wanted.step),
        (UsageBy::Provider, wanted.provider),
        (UsageBy::Model, wanted.model),
        (UsageBy::Skill, wanted.skill),
        (UsageBy::Role, wanted.role),
        (UsageBy::Portal, wanted.portal),
        (UsageBy::Person, wanted.person),
    ] {
        match said.as_deref() {
            None => {}
            Some("") => query.by.push(by),
            Some(name) => query.filter.push((by, name.to_owned())),
        }
    }
    let done = by.does(move |workshop| Ok(shaped(value(&workshop.usage(query)?))?));
    done.await.map(Json)
}

/// Counts what the journal contains.
#[utoipa::path(get, path = "/api/v1/stats", tag = "usage", operation_id = "showStats",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = JournalStatsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn stats(by: AuthorizedCaller<Developer>) -> ApiResult<JournalStatsReply> {
    let done = by.does(|workshop| Ok(shaped(workshop.stats()?)?));
    done.await.map(Json)
}

/// Returns statistics of skills: success, turns, recoveries, cost, tokens saved.
#[utoipa::path(get, path = "/api/v1/usage/skills", tag = "usage",
    operation_id = "listSkillStats", extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillStatsReply), (status = "4XX", body = ApiErrorReply)))]
pub(super) async fn skills(by: AuthorizedCaller<Developer>) -> ApiResult<SkillStatsReply> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let sums = desk.glance(|board, _| board.skills())?;
        let reports = workshop.skill_reports(&sums, None)?;
        let skills = reports.iter().map(|it| json!(it)).collect();
        Ok(SkillStatsReply { skills })
    });
    done.await.map(Json)
}

fn value(report: &UsageReport) -> Value {
    let rows = report.rows.iter().map(|row| {
        let mut value = sums(&row.sum);
        for (by, name) in report.by.iter().zip(&row.group) {
            value[by.as_str()] = json!(name);
        }
        value
    });
    json!({
        "since": report.since,
        "until": report.until,
        "by": report.by,
        "rows": rows.collect::<Vec<_>>(),
        "total": sums(&report.total),
    })
}

/// Returns the sums as JSON. Cost is given in dollars to read, and in millionths to add up
/// exactly; an unknown cost is null.
fn sums(sum: &UsageSum) -> Value {
    let mut value = json!(sum);
    let is_unknown = sum.unpriced > 0 && sum.cost.0 == 0;
    let cost = (!is_unknown).then_some(sum.cost.0);
    if let Some(fields) = value.as_object_mut() {
        fields.remove("cost");
    }
    value["cost_usd"] = json!(cost.map(|cost| cost as f64 / 1_000_000.0));
    value["cost_microusd"] = json!(cost);
    value
}
