//! What was used, and what is in the journal, counted.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_types::model::Period;
use artel_workshop::{UsageBy, UsageQuery, UsageReport, UsageSum};
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Troubled;
use super::requests::none_of;
use super::seat::{Answer, As, Asked, Developer, shaped};

/// What is asked about usage: an empty value makes rows of it, any other leaves out everything
/// else. Rows are providers and their models where nothing is said.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// By day, or only this one, such as 2026-11-15.
    day: Option<String>,
    /// By session, or only the session whose id begins like this.
    session: Option<String>,
    /// By run, or only the run whose id begins like this.
    run: Option<String>,
    /// By step, or only this one.
    step: Option<String>,
    /// By provider, or only this one.
    provider: Option<String>,
    /// By model, or only this one.
    model: Option<String>,
    /// By skill, or only this one.
    skill: Option<String>,
    /// By role, or only this one.
    role: Option<String>,
    /// By portal, or only this one.
    portal: Option<String>,
    /// By person, or only this one.
    person: Option<String>,
    /// Only this day, week (from Monday) or month, in UTC.
    period: Option<String>,
}

/// What was used.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct Usage {
    /// From when on, as RFC 3339; the first event if nothing.
    since: Option<String>,
    /// Until when.
    until: Option<String>,
    /// What the names of a row stand for.
    by: Vec<String>,
    /// The rows: names and sums.
    rows: Vec<Value>,
    /// All of them together.
    total: Value,
}

/// What is in the journal, counted.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct JournalStats {
    /// How many events there are.
    events: u64,
    /// When the first was recorded, as RFC 3339.
    first: Option<String>,
    /// When the last was recorded.
    last: Option<String>,
    /// How many of each kind.
    kinds: BTreeMap<String, u64>,
    /// How many by each actor.
    actors: BTreeMap<String, u64>,
    /// Bytes of the journal file with its log.
    journal_bytes: u64,
    /// How many large values there are.
    blobs: u64,
    /// Their bytes.
    blob_bytes: u64,
    /// How many backups there are.
    backups: u64,
}

/// How skills do.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct SkillsDone {
    /// Each that has run: its name, rates and sums.
    skills: Vec<Value>,
}

/// Adds up what models were used for, and what it cost.
#[utoipa::path(get, path = "/api/v1/usage", tag = "usage", operation_id = "showUsage",
    params(Wanted), extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = Usage), (status = "4XX", body = Troubled)))]
pub(super) async fn usage(by: As<Developer>, Asked(wanted): Asked<Wanted>) -> Answer<Usage> {
    let period: Option<Period> = match &wanted.period {
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

/// Counts what is in the journal.
#[utoipa::path(get, path = "/api/v1/stats", tag = "usage", operation_id = "showStats",
    extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = JournalStats), (status = "4XX", body = Troubled)))]
pub(super) async fn stats(by: As<Developer>) -> Answer<JournalStats> {
    let done = by.does(|workshop| Ok(shaped(workshop.stats()?)?));
    done.await.map(Json)
}

/// Says how skills do: success, turns, recoveries, cost, tokens saved.
#[utoipa::path(get, path = "/api/v1/usage/skills", tag = "usage",
    operation_id = "listSkillStats", extensions(("x-role" = json!("developer"))),
    responses((status = 200, body = SkillsDone), (status = "4XX", body = Troubled)))]
pub(super) async fn skills(by: As<Developer>) -> Answer<SkillsDone> {
    let desk = Arc::clone(&by.desk);
    let done = by.does(move |workshop| {
        let sums = desk.glance(|board, _| board.skills())?;
        let reports = workshop.skill_reports(&sums, None)?;
        let skills = reports.iter().map(|it| json!(it)).collect();
        Ok(SkillsDone { skills })
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

/// Costs are in dollars for readers, and exact in millionths for sums; what is not known is null.
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
