//! `artel init`

use std::path::PathBuf;

use artel_workshop::{
    CommandContext, PreexistingWorkshopFiles, WorkshopFailures, WorkshopInitMode,
};

use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::{CliOutput, StatusColour};

/// Create a workshop here or in DIR; existing files stay as they are
///
/// Running it again completes what is missing and changes nothing else. If the folder
/// already has settings, policy, roles, skills or the like, they are shown first and you
/// are asked, because they apply from then on. Existing skills have to be trusted one by
/// one, with `artel skill trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel init ~/Artel")]
pub(crate) struct Args {
    /// The folder; the current one if not given
    dir: Option<PathBuf>,
    /// Rewrite templates that nobody edited
    #[arg(long)]
    force: bool,
    /// Accept in advance what is already there
    #[arg(long)]
    yes: bool,
}

/// Maximum number of files and of lines of settings shown.
const MOST_SHOWN: usize = 40;

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let how = if args.force {
        WorkshopInitMode::Regenerate
    } else {
        WorkshopInitMode::Complete
    };
    let made = match caller.brought(args.dir.as_deref())? {
        None => caller.init(args.dir.as_deref(), how)?,
        Some(brought) => {
            show(&brought, screen);
            if !screen.confirm(
                "use these files and settings in your workshop",
                args.yes.into(),
            )? {
                return Err(brought.refusal().into());
            }
            caller.init_with(&brought, how)?
        }
    };
    if screen.json {
        screen.value(&made)?;
        screen.notes(&made.notes);
        return Ok(CliCommandOutcome::Done);
    }
    screen.notes(&made.notes);
    let place = harmless(&made.path.display().to_string());
    match (made.is_new, made.made.is_empty()) {
        (true, _) => screen.line(format!(
            "{} workshop {place}",
            screen.paint("made", StatusColour::Good)
        ))?,
        (false, true) => screen.line(format!("{place} is a workshop already; nothing to do"))?,
        (false, false) => screen.line(format!("completed {place}: {}", made.made.join(", ")))?,
    }
    for name in &made.kept {
        screen.line(format!("kept {name}: it was edited"))?;
    }
    if made.is_new {
        let settings = if made.made.iter().any(|name| name == "artel.toml") {
            "every line is commented out: the defaults hold"
        } else {
            "as it was there; `artel config show --origin` says what holds"
        };
        screen.line(format!("  settings   artel.toml ({settings})"))?;
        screen.line(
            "  requests   Inbox/Requests     plans   Inbox/Plans     reports   Knowledge/Reports",
        )?;
        screen.line("Next: `artel doctor` looks whether all is well")?;
    }
    Ok(CliCommandOutcome::Done)
}

/// Shows what decides in the workshop from then on.
pub(super) fn show(brought: &PreexistingWorkshopFiles, screen: &mut CliOutput) {
    let place = brought.root.display().to_string();
    screen.notes(&[format!(
        "`{place}` already contains files that will control agents"
    )]);
    let files = brought.files.iter().map(|it| it.display().to_string());
    list(&files.collect::<Vec<_>>(), "files", screen);
    if !brought.settings.is_empty() {
        screen.notes(&["artel.toml sets".to_owned()]);
        list(&brought.settings, "lines", screen);
    }
}

fn list(lines: &[String], noun: &str, screen: &mut CliOutput) {
    let shown: Vec<_> = lines
        .iter()
        .take(MOST_SHOWN)
        .map(|it| format!("  {it}"))
        .collect();
    screen.notes(&shown);
    let rest = lines.len().saturating_sub(MOST_SHOWN);
    if rest > 0 {
        screen.notes(&[format!("  and {rest} more {noun}")]);
    }
}
