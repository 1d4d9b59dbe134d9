//! `artel hook`

use artel_types::{Failure, FailureCode};
use artel_workshop::{CommandContext, HookRow, UntrustedHook, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, table};
use crate::screen::{CliOutput, StatusColour, YesFlag};

/// See and trust hooks: commands that are notified of what runs do, and can stop it
///
/// They are declared in artel.toml of the workshop, in your own settings file, in a role,
/// and in .claude/settings.json of the folder that a run works on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel hook list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the hooks of runs started here: what runs, when, who declared it, its trust
    #[command(after_help = "Example: artel hook list --json")]
    List {
        /// Include the hooks of a role
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
    },
    /// Trust the hooks that came with the work, as they are now
    ///
    /// Each hook is shown first. If it or a file that it names changes, you are asked
    /// again.
    #[command(after_help = "Example: artel hook trust\n\
        Example: artel hook trust 3f9a1c02 --yes")]
    Trust {
        /// A prefix of the hook's hash, as the list shows it; all untrusted hooks if not
        /// given
        hash: Option<String>,
        /// Include the hooks of a role
        #[arg(long, value_name = "ROLE")]
        role: Option<String>,
        /// Answer yes in advance
        #[arg(long)]
        yes: bool,
    },
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::List { role } => list(role.as_deref(), caller, screen),
        Command::Trust { hash, role, yes } => {
            let wanted = (hash.as_deref(), role.as_deref());
            trust(wanted, (*yes).into(), caller, screen)
        }
    }
}

fn list(
    role: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let found = workshop.hooks(role)?;
    if screen.json {
        screen.value(&found)?;
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = found.hooks.iter().map(cells).collect();
    if !rows.is_empty() {
        let head = [
            "EVENT", "MATCHER", "PRIORITY", "TRUSTED", "HASH", "REACHES", "RUNS", "FROM",
        ];
        screen.raw(&table(&head, &rows))?;
    }
    for note in &found.notes {
        let word = screen.paint("not run", StatusColour::Doubtful);
        screen.line(format!("{word}  {}", harmless(note)))?;
    }
    let is_open = found.hooks.iter().any(|hook| !hook.trusted);
    if found.hooks.is_empty() {
        screen.say("no hooks here; `docs/hooks.md` shows how to declare one");
    } else if is_open {
        screen.say("`artel hook trust` shows and trusts those that are not");
    }
    Ok(CliCommandOutcome::Done)
}

fn cells(hook: &HookRow) -> Vec<String> {
    let trusted = match (hook.own, hook.trusted) {
        (true, _) => "own",
        (false, true) => "yes",
        (false, false) => "no",
    };
    let hash = hook.hash.as_deref().map_or("", |hash| &hash[..8]);
    let matcher = match hook.matcher.as_str() {
        "" => "*",
        matcher => matcher,
    };
    vec![
        hook.event.to_owned(),
        cell(matcher, 30),
        hook.priority.to_string(),
        trusted.to_owned(),
        hash.to_owned(),
        cell(&reach(hook), 40),
        cell(&hook.command, 60),
        cell(&hook.file.display().to_string(), 60),
    ]
}

/// Describes what a hook can reach outside the sandbox.
fn reach(hook: &HookRow) -> String {
    let lists = [
        ("network", &hook.network),
        ("read", &hook.read),
        ("write", &hook.write),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let parts: Vec<_> = lists
        .map(|(name, list)| format!("{name} {}", list.join(" ")))
        .collect();
    if parts.is_empty() {
        "the run's files".to_owned()
    } else {
        parts.join(", ")
    }
}

fn trust(
    (hash, role): (Option<&str>, Option<&str>),
    yes: YesFlag,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let mut strangers = workshop.strange_hooks(role)?;
    if let Some(hash) = hash {
        strangers.retain(|stranger| stranger.fact.hash.starts_with(hash));
        if strangers.is_empty() {
            let what = format!("no hook that needs trust has the hash `{hash}`");
            let failure = Failure::new(FailureCode::C004, what);
            return Err(failure
                .advise("`artel hook list` shows what there is")
                .into());
        }
    }
    let mut trusted = Vec::new();
    for stranger in &strangers {
        if confirmed(stranger, yes, screen)? {
            workshop.trust_hook(&stranger.fact)?;
            trusted.push(stranger.fact.hash.clone());
        }
    }
    if screen.json {
        let shown = serde_json::json!({ "found": strangers.len(), "trusted": trusted });
        screen.value(&shown)?;
        return Ok(CliCommandOutcome::Done);
    }
    match (strangers.len(), trusted.len()) {
        (0, _) => screen.line("every hook here is yours, or trusted as it is")?,
        (found, trusted) => screen.line(format!("{trusted} of {found} hooks trusted"))?,
    }
    Ok(CliCommandOutcome::Done)
}

fn confirmed(
    stranger: &UntrustedHook,
    yes: YesFlag,
    screen: &mut CliOutput,
) -> Result<bool, WorkshopFailures> {
    if !screen.json {
        for line in &stranger.lines {
            screen.line(harmless(line))?;
        }
    }
    screen.confirm("Trust it until it or a file it names changes", yes)
}
