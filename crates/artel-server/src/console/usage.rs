//! The page of usage: what models used and cost, by day and by purpose, and what is left of
//! budgets.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_rules::budget::BudgetStatus;
use artel_rules::usage::{UsageDimension, UsageTotals, day};
use artel_types::{Failure, Money, Timestamp};
use artel_workshop::ViewerRole;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use super::frame::{PageContext, PageFrame, PageQueryParams, show};
use super::words;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// The numbers of days that can be shown.
const DAYS: [u32; 4] = [7, 14, 30, 90];

/// The dimensions by which usage is grouped.
const WAYS: [UsageDimension; 5] = [
    UsageDimension::Provider,
    UsageDimension::Model,
    UsageDimension::Skill,
    UsageDimension::Role,
    UsageDimension::Portal,
];

/// Height and width of a chart.
const HEIGHT: u64 = 120;
const WIDTH: u64 = 720;

/// Width and height of a chart in a table row.
const SMALL: (u64, u64) = (180, 24);

#[derive(Template)]
#[template(path = "usage.html")]
pub(super) struct UsagePage {
    pub(super) frame: PageFrame,
    pub(super) days: u32,
    pub(super) spans: &'static [u32],
    pub(super) total: UsagePageRow,
    pub(super) charts: Vec<UsageBarChart>,
    pub(super) daily: Vec<UsagePageRow>,
    pub(super) groups: Vec<UsagePageGroup>,
    pub(super) budgets: Vec<UsagePageBudget>,
}

/// A bar chart with one bar for each day.
#[derive(Debug, Clone, Default)]
pub(super) struct UsageBarChart {
    pub(super) title: &'static str,
    pub(super) width: u64,
    pub(super) height: u64,
    /// The baseline of the bars.
    pub(super) ground: u64,
    pub(super) most: String,
    pub(super) bars: Vec<UsageBar>,
    pub(super) first: String,
    pub(super) last: String,
}

#[derive(Debug, Clone)]
pub(super) struct UsageBar {
    pub(super) x: u64,
    pub(super) y: u64,
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) words: String,
}

/// Usage grouped by one dimension.
#[derive(Debug, Clone)]
pub(super) struct UsagePageGroup {
    pub(super) by: &'static str,
    pub(super) rows: Vec<UsagePageRow>,
}

/// A row of a usage table.
#[derive(Debug, Clone)]
pub(super) struct UsagePageRow {
    pub(super) name: String,
    pub(super) calls: u64,
    pub(super) input: String,
    pub(super) output: String,
    pub(super) tokens: String,
    pub(super) cost: String,
    /// Its share of all tokens, in percent.
    pub(super) share: u64,
    /// Charts of its tokens and cost by day.
    pub(super) days: Vec<UsageBarChart>,
}

/// A limit and what is left of it.
#[derive(Debug, Clone)]
pub(super) struct UsagePageBudget {
    pub(super) whose: String,
    pub(super) period: &'static str,
    pub(super) used: String,
    pub(super) limit: String,
    pub(super) left: String,
    pub(super) percent: u64,
}

/// Query parameters: the number of days.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UsagePageQuery {
    days: Option<u32>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PageQueryParams(wanted): PageQueryParams<UsagePageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &wanted)?)).await
}

fn gather(site: &PageContext, wanted: &UsagePageQuery) -> Result<UsagePage, Failure> {
    site.who.needs(ViewerRole::Developer)?;
    let days = wanted.days.filter(|days| DAYS.contains(days)).unwrap_or(14);
    let now = site.now();
    let board = site.desk.board();
    let by_day = board.usage(&[UsageDimension::Day], days, now);
    let all = by_day.total;
    let daily = every_day(by_day.rows.iter(), days, now);
    let group = |by: &UsageDimension| {
        let over_time = board.usage(&[*by, UsageDimension::Day], days, now).rows;
        let days_of = |name: &Option<String>| {
            let own = over_time
                .iter()
                .filter(|row| row.group.first() == Some(name));
            small_bars(&every_day(own, days, now))
        };
        UsagePageGroup {
            by: by.as_str(),
            rows: rows(&board.usage(&[*by], days, now).rows, *by, &all, days_of),
        }
    };
    let costs: Vec<_> = daily
        .iter()
        .map(|(day, sum)| (day.as_str(), sum.cost.0))
        .collect();
    let tokens: Vec<_> = daily
        .iter()
        .map(|(day, sum)| (day.as_str(), sum.tokens))
        .collect();
    let limits = board.budgets(&site.workshop.settings.budget, now);
    Ok(UsagePage {
        frame: site.frame("usage", "Usage"),
        days,
        spans: &DAYS,
        total: row("all".to_owned(), &all, &all),
        charts: vec![
            match all.cost {
                // An empty chart says why it is empty.
                Money(0) => UsageBarChart {
                    most: words::spent(&all),
                    ..bars("Cost by day", &costs, |_| words::spent(&all))
                },
                _ => bars("Cost by day", &costs, |cost| Money(cost).to_string()),
            },
            bars("Tokens by day", &tokens, words::tokens),
        ],
        daily: daily
            .iter()
            .rev()
            .filter(|(_, sum)| sum.attempts > 0)
            .map(|(day, sum)| row(day.clone(), sum, &all))
            .collect(),
        groups: WAYS.iter().map(group).collect(),
        budgets: limits.iter().flat_map(budgets).collect(),
    })
}

/// Returns the sum of each day, oldest first, including days without usage.
fn every_day<'r>(
    rows: impl Iterator<Item = &'r artel_rules::usage::UsageGroupRow>,
    days: u32,
    now: Timestamp,
) -> Vec<(String, UsageTotals)> {
    // The last key of each group is the day.
    let known: BTreeMap<&str, UsageTotals> = rows
        .filter_map(|row| Some((row.group.last()?.as_deref()?, row.sum)))
        .collect();
    let back = |ago: u32| {
        let span = std::time::Duration::from_secs(u64::from(ago) * 86_400);
        day(now.before(span))
    };
    (0..days)
        .rev()
        .map(back)
        .map(|name| {
            let sum = known.get(name.as_str()).copied().unwrap_or_default();
            (name, sum)
        })
        .collect()
}

fn rows(
    rows: &[artel_rules::usage::UsageGroupRow],
    by: UsageDimension,
    all: &UsageTotals,
    days_of: impl Fn(&Option<String>) -> Vec<UsageBarChart>,
) -> Vec<UsagePageRow> {
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.sum.cost.0, row.sum.tokens)));
    let shown = rows.into_iter().map(|it| {
        let name = it.group.first().cloned().flatten();
        let days = days_of(&name);
        let name = name.unwrap_or_else(|| format!("no {}", by.as_str()));
        UsagePageRow {
            days,
            ..row(name, &it.sum, all)
        }
    });
    shown.collect()
}

fn row(name: String, sum: &UsageTotals, all: &UsageTotals) -> UsagePageRow {
    UsagePageRow {
        name,
        calls: sum.attempts,
        input: words::tokens(sum.input),
        output: words::tokens(sum.output),
        tokens: words::tokens(sum.tokens),
        cost: words::spent(sum),
        share: sum.tokens.saturating_mul(100) / all.tokens.max(1),
        days: Vec::new(),
    }
}

/// Draws tokens and cost by day, for a table row.
fn small_bars(daily: &[(String, UsageTotals)]) -> Vec<UsageBarChart> {
    let each = |amount: fn(&UsageTotals) -> u64| -> Vec<(&str, u64)> {
        let days = daily.iter();
        days.map(|(day, sum)| (day.as_str(), amount(sum))).collect()
    };
    let tokens = |count| format!("{} tokens", words::tokens(count));
    let cost = |cost| Money(cost).to_string();
    vec![
        bars_in(SMALL, "Tokens by day", &each(|sum| sum.tokens), tokens),
        bars_in(SMALL, "Cost by day", &each(|sum| sum.cost.0), cost),
    ]
}

fn bars(title: &'static str, days: &[(&str, u64)], shown: impl Fn(u64) -> String) -> UsageBarChart {
    bars_in((WIDTH, HEIGHT), title, days, shown)
}

fn bars_in(
    (width, height): (u64, u64),
    title: &'static str,
    days: &[(&str, u64)],
    shown: impl Fn(u64) -> String,
) -> UsageBarChart {
    let most = days.iter().map(|(_, amount)| *amount).max().unwrap_or(0);
    let ground = height - 1;
    let room = ground - 4;
    let step = width / (days.len() as u64).max(1);
    let bar = |(at, (day, amount)): (usize, &(&str, u64))| {
        // A bar whose amount is not zero is always visible.
        let high = amount.saturating_mul(room).checked_div(most).unwrap_or(0);
        let high = high.max(u64::from(*amount > 0));
        UsageBar {
            x: at as u64 * step + 1,
            y: ground - high,
            width: step.saturating_sub(2).max(1),
            height: high,
            words: format!("{day}: {}", shown(*amount)),
        }
    };
    let ends = |day: Option<&(&str, u64)>| day.map_or(String::new(), |(day, _)| (*day).to_owned());
    UsageBarChart {
        title,
        width,
        height,
        ground,
        most: format!("at most {}", shown(most)),
        bars: days.iter().enumerate().map(bar).collect(),
        first: ends(days.first()),
        last: ends(days.last()),
    }
}

/// Returns a row for each limited measure, the one nearer to its limit first: either of
/// them can end a run by itself.
fn budgets(it: &BudgetStatus) -> Vec<UsagePageBudget> {
    let row = |used: u64, limit: u64, shown: fn(u64) -> String| UsagePageBudget {
        whose: it.level.to_string(),
        period: it.period.map_or("in all", |period| period.as_str()),
        used: shown(used),
        limit: shown(limit),
        left: shown(limit.saturating_sub(used)),
        percent: match limit {
            0 => 100,
            limit => (used.saturating_mul(100) / limit).min(100),
        },
    };
    let money = it.money.map(|limit| {
        let shown = |amount| Money(amount).to_string();
        row(it.used.money.0, limit, shown)
    });
    let tokens = it.tokens.map(|limit| {
        let shown = |count| format!("{} tokens", words::tokens(count));
        row(it.used.tokens.0, limit, shown)
    });
    let mut rows: Vec<UsagePageBudget> = [money, tokens].into_iter().flatten().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.percent));
    rows
}

#[cfg(test)]
mod tests {
    use artel_rules::budget::BudgetStatus;
    use artel_rules::usage::UsageTotals;
    use artel_types::model::CalendarPeriod;
    use artel_types::{BudgetLevel, Money, SpendAmount};

    use super::{HEIGHT, WIDTH, bars, budgets, small_bars};

    #[test]
    fn bars_fit_and_what_is_not_nothing_is_seen() {
        let days = [("a", 0), ("b", 1), ("c", u64::MAX / 200)];
        let drawn = bars("t", &days, |amount| amount.to_string());
        let heights: Vec<u64> = drawn.bars.iter().map(|bar| bar.height).collect();
        assert_eq!(heights, [0, 1, HEIGHT - 5]);
        assert!(drawn.bars.iter().all(|bar| bar.x + bar.width <= WIDTH));
        assert!(bars("t", &[], |amount| amount.to_string()).bars.is_empty());
    }

    #[test]
    fn both_measures_of_a_limit_are_told_the_one_nearer_its_end_first() {
        let left = |used: SpendAmount, tokens: Option<u64>, money: Option<u64>| BudgetStatus {
            level: BudgetLevel::Global,
            period: Some(CalendarPeriod::Month),
            resets_at: None,
            used,
            tokens,
            money,
        };
        let told = |left: &BudgetStatus| -> Vec<String> {
            let rows = budgets(left).into_iter();
            rows.map(|it| {
                format!(
                    "{} of {}, {} left, {} %",
                    it.used, it.limit, it.left, it.percent
                )
            })
            .collect()
        };
        let dollars = 1_000_000;
        let both = |used| left(used, Some(5_000), Some(20 * dollars));
        assert_eq!(
            told(&both(SpendAmount::new(21_900, 0))),
            [
                "21.9k tokens of 5.0k tokens, 0 tokens left, 100 %",
                "$0.00 of $20.00, $20.00 left, 0 %",
            ]
        );
        assert_eq!(
            told(&both(SpendAmount::new(500, 15 * dollars))),
            [
                "$15.00 of $20.00, $5.00 left, 75 %",
                "500 tokens of 5.0k tokens, 4.5k tokens left, 10 %",
            ]
        );
        assert_eq!(
            told(&left(SpendAmount::new(0, 0), Some(0), None)),
            ["0 tokens of 0 tokens, 0 tokens left, 100 %"]
        );
    }

    #[test]
    fn a_row_draws_tokens_and_cost_day_by_day() {
        let day = |name: &str, tokens, cost| {
            let sum = UsageTotals {
                tokens,
                cost: Money(cost),
                ..UsageTotals::default()
            };
            (name.to_owned(), sum)
        };
        let drawn = small_bars(&[day("mon", 4_000, 0), day("tue", 1_000, 2_500_000)]);
        let told: Vec<_> = drawn
            .iter()
            .map(|it| {
                (
                    it.title,
                    it.bars[0].words.as_str(),
                    it.bars[1].words.as_str(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("Tokens by day", "mon: 4.0k tokens", "tue: 1.0k tokens"),
                ("Cost by day", "mon: $0.00", "tue: $2.50"),
            ]
        );
    }
}
