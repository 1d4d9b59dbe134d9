//! `artel init`

use std::path::PathBuf;

use artel_workshop::{Caller, Init, Problems};

use crate::Verdict;
use crate::render::harmless;
use crate::screen::{Paint, Screen};

/// Make a workshop here or in DIR; what exists stays as it is
///
/// Running it again completes what is missing and changes nothing else.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel init ~/Artel")]
pub(crate) struct Args {
    /// The folder; this one if not given
    dir: Option<PathBuf>,
    /// Write templates anew where nobody edited them
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, caller: &Caller, screen: &mut Screen) -> Result<Verdict, Problems> {
    let how = if args.force {
        Init::Regenerate
    } else {
        Init::Complete
    };
    let made = caller.init(args.dir.as_deref(), how)?;
    if screen.json {
        screen.value(&made)?;
        screen.notes(&made.notes);
        return Ok(Verdict::Done);
    }
    screen.notes(&made.notes);
    let place = harmless(&made.path.display().to_string());
    match (made.is_new, made.made.is_empty()) {
        (true, _) => screen.line(format!(
            "{} workshop {place}",
            screen.paint("made", Paint::Good)
        ))?,
        (false, true) => screen.line(format!("{place} is a workshop already; nothing to do"))?,
        (false, false) => screen.line(format!("completed {place}: {}", made.made.join(", ")))?,
    }
    for name in &made.kept {
        screen.line(format!("kept {name}: it was edited"))?;
    }
    if made.is_new {
        screen.line("  settings   artel.toml (every line is commented out: the defaults hold)")?;
        screen.line(
            "  requests   Inbox/Requests     plans   Inbox/Plans     reports   Knowledge/Reports",
        )?;
        screen.line("Next: `artel doctor` looks whether all is well")?;
    }
    Ok(Verdict::Done)
}
