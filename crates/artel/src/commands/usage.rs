//! `artel usage`

use artel_rules::usage::{UsageDimension, UsageTotals};
use artel_types::Tokens;
use artel_types::model::CalendarPeriod;
use artel_workshop::{CommandContext, UsageQuery, UsageReport, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, counted, price, table};
use crate::screen::CliOutput;

/// Show what models were used for, and what it cost
///
/// A flag without a value groups the rows by it; with a value it leaves out everything
/// else. Without any flag, rows are providers and their models. The last line is the sum of
/// the rows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel usage --period week --role")]
pub(crate) struct Args {
    /// By day in UTC, or only this one
    #[arg(long, value_name = "2026-11-15", num_args = 0..=1, default_missing_value = "")]
    day: Option<String>,
    /// By session, or only sessions whose id begins like this
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    session: Option<String>,
    /// By run, or only runs whose id begins like this
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    run: Option<String>,
    /// By step, or only this one
    #[arg(long, value_name = "STEP", num_args = 0..=1, default_missing_value = "")]
    step: Option<String>,
    /// By provider, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    provider: Option<String>,
    /// By model, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    model: Option<String>,
    /// By skill, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    skill: Option<String>,
    /// By role, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    role: Option<String>,
    /// By portal, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    portal: Option<String>,
    /// By person, or only this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    person: Option<String>,
    /// Only this day, week (from Monday) or month, in UTC
    #[arg(long, value_name = "day|week|month", value_parser = period)]
    period: Option<CalendarPeriod>,
}

fn period(word: &str) -> Result<CalendarPeriod, String> {
    word.parse()
        .map_err(|()| "expected day, week or month".to_owned())
}

impl Args {
    fn query(&self) -> UsageQuery {
        let flags = [
            (UsageDimension::Day, &self.day),
            (UsageDimension::Session, &self.session),
            (UsageDimension::Run, &self.run),
            (UsageDimension::Step, &self.step),
            (UsageDimension::Provider, &self.provider),
            (UsageDimension::Model, &self.model),
            (UsageDimension::Skill, &self.skill),
            (UsageDimension::Role, &self.role),
            (UsageDimension::Portal, &self.portal),
            (UsageDimension::Person, &self.person),
        ];
        let mut query = UsageQuery {
            period: self.period,
            ..UsageQuery::default()
        };
        for (by, flag) in flags {
            match flag.as_deref() {
                None => {}
                Some("") => query.by.push(by),
                Some(wanted) => query.filter.push((by, wanted.to_owned())),
            }
        }
        query
    }
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let query = args.query();
    let is_narrowed = query.period.is_some() || !query.filter.is_empty();
    let report = caller.workshop()?.usage(query)?;
    if screen.json {
        screen.value(&json(&report))?;
        return Ok(CliCommandOutcome::Done);
    }
    if let (Some(since), Some(until)) = (report.since, report.until) {
        let day = |at: artel_types::Timestamp| at.to_string().chars().take(10).collect::<String>();
        screen.say(format!(
            "from {} to before {} (UTC)",
            day(since),
            day(until)
        ));
    }
    if report.rows.is_empty() {
        screen.say(if is_narrowed {
            "nothing fits the filter"
        } else {
            "no model was asked"
        });
        return Ok(CliCommandOutcome::Done);
    }
    let names: Vec<String> = report
        .by
        .iter()
        .map(|by| by.as_str().to_uppercase())
        .collect();
    let mut head: Vec<&str> = names.iter().map(String::as_str).collect();
    head.extend(["CALLS", "INPUT", "CACHED", "OUTPUT", "TOKENS", "COST", ""]);
    let mut rows: Vec<Vec<String>> = report
        .rows
        .iter()
        .map(|row| {
            let names = row.group.iter();
            let names = names.map(|name| cell(name.as_deref().unwrap_or("-"), 40));
            names.chain(cells(&row.sum)).collect()
        })
        .collect();
    let mut total = vec![String::new(); report.by.len()];
    total[0] = "total".to_owned();
    total.extend(cells(&report.total));
    rows.push(total);
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

fn cells(sum: &UsageTotals) -> Vec<String> {
    vec![
        sum.attempts.to_string(),
        Tokens(sum.input).to_string(),
        Tokens(sum.cache_read).to_string(),
        Tokens(sum.output).to_string(),
        Tokens(sum.tokens).to_string(),
        cost(sum),
        remarks(sum),
    ]
}

/// An unknown cost is never shown as zero, and if no tokens were used there is no cost.
fn cost(sum: &UsageTotals) -> String {
    match sum.unpriced {
        _ if sum.tokens == 0 => "-".to_owned(),
        _ if is_unknown(sum) => "unknown".to_owned(),
        0 => price(Some(sum.cost)),
        _ => format!("{} + unknown", sum.cost),
    }
}

fn remarks(sum: &UsageTotals) -> String {
    let said = [
        (sum.failed, "failed"),
        (sum.cancelled, "called off"),
        (sum.denied, "refused"),
        (sum.unknown, "without a known end"),
    ];
    let said = said.iter().filter(|(count, _)| *count > 0);
    let said: Vec<String> = said
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    let mut text = said.join(", ");
    if sum.estimated > 0 {
        let tokens = counted(sum.estimated, "token");
        text = format!(
            "{text}{} estimated",
            if text.is_empty() {
                tokens
            } else {
                format!(", {tokens}")
            }
        );
    }
    text
}

fn json(report: &UsageReport) -> serde_json::Value {
    let rows: Vec<serde_json::Value> = report
        .rows
        .iter()
        .map(|row| {
            let mut value = sums(&row.sum);
            for (by, name) in report.by.iter().zip(&row.group) {
                value[by.as_str()] = serde_json::json!(name);
            }
            value
        })
        .collect();
    serde_json::json!({
        "since": report.since,
        "until": report.until,
        "by": report.by,
        "rows": rows,
        "total": sums(&report.total),
    })
}

/// Costs are given in dollars for readers, and in exact millionths for sums; an unknown
/// cost is null.
fn sums(sum: &UsageTotals) -> serde_json::Value {
    let mut value = serde_json::json!(sum);
    let cost = (!is_unknown(sum)).then_some(sum.cost.0);
    if let Some(fields) = value.as_object_mut() {
        fields.remove("cost");
    }
    value["cost_usd"] = serde_json::json!(cost.map(|cost| cost as f64 / 1_000_000.0));
    value["cost_microusd"] = serde_json::json!(cost);
    value
}

fn is_unknown(sum: &UsageTotals) -> bool {
    sum.unpriced > 0 && sum.cost.0 == 0
}
