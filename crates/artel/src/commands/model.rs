//! `artel model`

use artel_types::{FailureKind, Tokens};
use artel_workshop::{
    CommandContext, ModelDetail, ModelFeatureStatus, ModelInfo, ModelTrialOutcome, WorkshopFailures,
};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, table};
use crate::runtime::block_on;
use crate::screen::{CliOutput, StatusColour};

/// See which models are available, and test them
///
/// Models are configured in artel.toml in the tables `models.ALIAS`. Without any, keys in
/// the environment or a local Ollama are used. ARTEL_MODEL names another one for a single
/// command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel model test haiku")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the aliases, and what each stands for here
    #[command(after_help = "Example: artel model list --json")]
    List,
    /// Show one model: its address, the key it uses, its prices, and the health of its
    /// provider
    #[command(after_help = "Example: artel model show sonnet")]
    Show {
        /// An alias, or provider:model; the default model if not given
        alias: Option<String>,
    },
    /// Ask a model a tiny question and let it call a tool, along the same path as a real
    /// call
    ///
    /// It costs a few hundred tokens and takes at most 20 seconds. Exit code 0 if text
    /// arrived and a well-formed call of the offered tool.
    #[command(after_help = "Example: artel model test ollama:qwen3:8b --json")]
    Test {
        /// An alias, or provider:model; the default model if not given
        alias: Option<String>,
    },
    /// Call a provider again at once that was left alone because it failed or asked for a
    /// pause
    #[command(after_help = "Example: artel model reset anthropic")]
    Reset {
        /// The provider, as `artel model show` names it
        provider: String,
    },
    /// Print the answered calls of a piece of work as a recording that can be replayed
    ///
    /// Replay it with ARTEL_MODEL=rehearsal:FILE.jsonl, or, in the same workshop, without a
    /// file: ARTEL_MODEL=rehearsal:TRACE.
    #[command(after_help = "Example: artel model record 7c1e90ab > story.jsonl")]
    Record {
        /// The id of a trace, run or session, or a prefix of it
        id: String,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::List => list(caller, screen),
        Command::Show { alias } => show(alias.as_deref(), caller, screen),
        Command::Test { alias } => test(alias.as_deref(), caller, screen),
        Command::Reset { provider } => reset(provider, caller, screen),
        Command::Record { id } => record(id, caller, screen),
    }
}

fn list(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let models = block_on(caller.models_here(None))??;
    let listed = models.list();
    if screen.json {
        screen.value(&serde_json::json!({ "models": listed }))?;
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = listed
        .iter()
        .map(|one| {
            vec![
                cell(&one.alias, 30),
                cell(
                    &one.provider.map_or(String::new(), |name| name.to_string()),
                    20,
                ),
                cell(one.model.as_deref().unwrap_or("-"), 40),
                one.card.as_ref().map_or(String::new(), price),
                cell(&one.how, 70),
            ]
        })
        .collect();
    let head = ["ALIAS", "PROVIDER", "MODEL", "PRICE IN/OUT PER M", "WHY"];
    screen.raw(&table(&head, &rows))?;
    if let Err(failure) = models.choose(None) {
        let advice = failure.advice.unwrap_or_default();
        screen.notes(&[format!("{}: {advice}", failure.what)]);
    }
    Ok(CliCommandOutcome::Done)
}

fn show(
    alias: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let shown = block_on(caller.show_model(alias))??;
    if screen.json {
        screen.value(&shown)?;
        return Ok(CliCommandOutcome::Done);
    }
    for (name, text) in lines(&shown) {
        screen.line(format!("{name:<10} {}", harmless(&text)))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn lines(shown: &ModelDetail) -> Vec<(&'static str, String)> {
    let card = &shown.card;
    let tokens = |count: Option<u64>| {
        count.map_or_else(|| "unknown".to_owned(), |count| Tokens(count).to_string())
    };
    let mut lines = vec![
        ("alias", shown.alias.clone()),
        (
            "means",
            format!("{}:{} ({})", shown.provider, shown.model, shown.how),
        ),
    ];
    if let Some(url) = &shown.base_url {
        lines.push(("place", url.clone()));
    }
    lines.extend([
        ("key", shown.key.clone()),
        ("context", tokens(card.context)),
        ("answer", tokens(card.max_output)),
        ("price", price_in_full(card)),
        ("health", shown.health.clone()),
    ]);
    lines
}

fn test(
    alias: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop_or_new()?;
    screen.notes(&workshop.notes);
    let workshop = workshop.done;
    let is_quiet = screen.json;
    let mut say = |text: String| {
        if !is_quiet {
            screen.say(harmless(&text));
        }
    };
    let trial = block_on(workshop.try_model(alias, &mut say))??;
    if screen.json {
        screen.value(&trial)?;
    } else {
        report(&trial, screen)?;
    }
    match (&trial.error, trial.ok) {
        (_, true) => Ok(CliCommandOutcome::Done),
        // With `--json`, the answer on standard output already contains the failure.
        (Some(failure), false) if !screen.json => Err(failure.clone().into()),
        (Some(failure), false) => Ok(CliCommandOutcome::Bad(failure.kind())),
        (None, false) => Ok(CliCommandOutcome::Bad(FailureKind::Failed)),
    }
}

fn report(trial: &ModelTrialOutcome, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    screen.line(format!(
        "{}:{} ({})",
        trial.provider,
        harmless(&trial.model),
        harmless(&trial.resolved)
    ))?;
    for (name, feature) in [
        ("text", trial.text),
        ("tool call", trial.tool_call),
        ("streaming", trial.streaming),
        ("thinking", trial.thinking),
        ("usage", trial.usage),
    ] {
        let word = match feature {
            ModelFeatureStatus::Works => screen.paint("works", StatusColour::Good),
            ModelFeatureStatus::Unseen => screen.paint("not seen", StatusColour::Doubtful),
        };
        screen.line(format!("  {name:<10} {word}"))?;
    }
    let Some(first) = trial.first_ms else {
        return Ok(());
    };
    let speed = trial
        .tokens_per_second
        .map_or(String::new(), |speed| format!(", {speed} tokens/s"));
    let cost = trial
        .cost
        .map_or("cost unknown".to_owned(), |cost| cost.to_string());
    screen.line(format!(
        "  first piece after {first} ms, {} ms in all{speed}; {} tokens, {cost}",
        trial.total_ms,
        Tokens(trial.tokens)
    ))
}

fn reset(
    provider: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let names = caller.workshop()?.reset_provider(provider)?;
    if screen.json {
        screen.value(&serde_json::json!({ "reset": names }))?;
    } else if names.is_empty() {
        screen.line(format!("{provider} was not held back; nothing to reset"))?;
    } else {
        screen.line(format!("asked again from now on: {}", names.join(", ")))?;
    }
    Ok(CliCommandOutcome::Done)
}

fn record(
    id: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let cassette = caller.workshop()?.cassette(id)?;
    screen.raw(&cassette.write_jsonl()?)?;
    Ok(CliCommandOutcome::Done)
}

fn price_in_full(card: &ModelInfo) -> String {
    match &card.usd_per_million {
        Some(_) => format!("{} for a million tokens read / written", price(card)),
        None => price(card),
    }
}

fn price(card: &ModelInfo) -> String {
    match &card.usd_per_million {
        Some(price) => format!("${} / ${}", price.input, price.output),
        None => "unknown".to_owned(),
    }
}
