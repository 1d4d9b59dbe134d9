//! Settings of budgets: limits on spending, for whom, and per period.

use artel_types::{ConfiguredSpendLimits, Failure, SpendLimit, Tokens};

use crate::problem;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::{SettingSection, SettingValueTable};

/// Number of tokens. A number above the maximum is a typing mistake.
const TOKENS: SettingKind = SettingKind::Whole {
    least: 0,
    most: 1_000_000_000_000_000,
};

const PERIOD: SettingKind = SettingKind::Choice(&["day", "week", "month"]);

const fn limit(key: &'static str, kind: SettingKind, about: &'static str) -> SettingField {
    SettingField {
        key,
        kind,
        default: None,
        about,
    }
}

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "budget.warn_run",
        kind: SettingKind::UsdOrNever,
        default: Some("0.50"),
        about: "A run that costs more than this is spoken of, once; never switches that off.",
    },
    limit(
        "budget.global.tokens",
        TOKENS,
        "How many tokens the workshop may use in all.",
    ),
    limit(
        "budget.global.usd",
        SettingKind::Usd,
        "How many US dollars the workshop may spend in all.",
    ),
    limit(
        "budget.global.period",
        PERIOD,
        "When the workshop's limits count from zero again, in UTC; never if not set.",
    ),
    limit(
        "budget.session.tokens",
        TOKENS,
        "Limits nothing yet, as there are no sessions; `budget.run` limits each run.",
    ),
    limit(
        "budget.session.usd",
        SettingKind::Usd,
        "Limits nothing yet, as there are no sessions; `budget.run` limits each run.",
    ),
    limit(
        "budget.run.tokens",
        TOKENS,
        "How many tokens each run may use.",
    ),
    limit(
        "budget.run.usd",
        SettingKind::Usd,
        "How many US dollars each run may spend.",
    ),
    limit(
        "budget.step.tokens",
        TOKENS,
        "How many tokens each step of a run may use.",
    ),
    limit(
        "budget.step.usd",
        SettingKind::Usd,
        "How many US dollars each step of a run may spend.",
    ),
    limit(
        "budget.provider.<provider>.tokens",
        TOKENS,
        "How many tokens one provider may be asked for.",
    ),
    limit(
        "budget.provider.<provider>.usd",
        SettingKind::Usd,
        "How many US dollars may be spent at one provider.",
    ),
    limit(
        "budget.provider.<provider>.period",
        PERIOD,
        "When the provider's limits count from zero again, in UTC; never if not set.",
    ),
];

pub(crate) const EXAMPLE: &str = "\
# Limits in tokens and US dollars. What is not named is not limited; zero allows nothing. Those of
# the workshop and of providers may count from zero again every \"day\", \"week\" or \"month\".
#[budget.global]
#tokens = 50000000
#usd = 50
#period = \"month\"
#[budget.run]
#tokens = 5000000
#usd = 5
#[budget.step]
#tokens = 1000000
#usd = 2.50
#[budget.provider.anthropic]
#tokens = 20000000
#usd = 5
#period = \"day\"
";

/// Returns the configured limits.
pub(crate) fn limits(values: &SettingValueTable) -> Result<ConfiguredSpendLimits, Vec<Failure>> {
    let mut problems = Vec::new();
    let mut read = |name: &str, settings: SettingSection<'_>| {
        let limit = settings.limit();
        if limit.tokens.is_none() && limit.money.is_none() && limit.period.is_some() {
            let origin = settings.origin_of("period");
            problems.push(problem::incomplete(name, "`tokens` or `usd`", &origin));
        }
        (!settings.is_empty()).then_some(limit)
    };
    let mut level = |name: &str| read(&format!("budget.{name}"), values.below(&["budget", name]));
    let limits = ConfiguredSpendLimits {
        global: level("global"),
        // Nothing starts a session yet; `warnings` says so.
        session: None,
        run: level("run"),
        step: level("step"),
        providers: values
            .named(&["budget", "provider"])
            .into_iter()
            .filter_map(|(name, settings)| {
                let limit = read(&format!("budget.provider.{name}"), settings)?;
                Some((name, limit))
            })
            .collect(),
        run_warning: values.below(&["budget"]).usd("warn_run"),
    };
    if problems.is_empty() {
        return Ok(limits);
    }
    Err(problems)
}

/// Returns a warning for each limit that has no effect.
pub(crate) fn warnings(values: &SettingValueTable) -> Vec<String> {
    let session = values.below(&["budget", "session"]);
    if session.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "`[budget.session]` limits nothing yet, as there are no sessions ({}); `[budget.run]` \
         limits each run with all that it starts",
        session.origin()
    )]
}

impl SettingSection<'_> {
    fn limit(&self) -> SpendLimit {
        SpendLimit {
            tokens: self.whole("tokens").map(Tokens),
            money: self.usd("usd"),
            period: self.word("period").and_then(|word| word.parse().ok()),
        }
    }
}
