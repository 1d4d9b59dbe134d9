//! `artel skill`

mod look;
mod memory;
mod trial;

use std::path::PathBuf;

use artel_types::FailureKind;
use artel_workshop::{
    CommandContext, SkillFileCheck, TrustQuestion, WorkshopFailures, validate_skill_line,
};

use super::lines;
use crate::CliCommandOutcome;
use crate::render::harmless;
use crate::screen::{CliOutput, StatusColour, YesFlag};

/// Find, check, create, trust, measure and test skills
///
/// A skill is a folder with a SKILL.md: in Skills/ of the workshop, or in .agents/skills
/// and .claude/skills of the project and of your home folder.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel skill list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the skills that can be used from here, and those that cannot, with the reason
    #[command(after_help = "Example: artel skill list --json")]
    List,
    /// Show a skill: its files, what it may run, whether it is trusted, what it saves
    #[command(after_help = "Example: artel skill show csv-report")]
    Show {
        /// The skill's name
        name: String,
    },
    /// Check skills strictly: what is wrong, where, and what to do
    ///
    /// No workshop is needed. Exit code 1 if something is wrong.
    #[command(after_help = "Example: artel skill validate Skills/csv-report\n\
        Example: artel skill validate --batch < cases.jsonl")]
    Validate {
        /// Folders or SKILL.md files; if not given, the skill in this folder, or all that
        /// are found
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Read JSON lines, each with kind (skill or request), text and optionally dir
        #[arg(long, conflicts_with = "paths")]
        batch: bool,
    },
    /// Create a skill in the workshop's Skills folder
    #[command(after_help = "Example: artel skill new csv-report")]
    New {
        /// The skill's name: lower-case letters, digits and hyphens
        name: String,
    },
    /// Trust a skill from outside the workshop as it is now
    ///
    /// What it may run is shown first. If one of its files changes, you are asked again.
    #[command(after_help = "Example: artel skill trust csv-report")]
    Trust {
        /// The skill's name
        name: String,
        /// Answer yes in advance
        #[arg(long)]
        yes: bool,
    },
    /// Show how skills perform: success, turns, recoveries, cost, tokens saved
    #[command(after_help = "Example: artel skill stats csv-report")]
    Stats {
        /// One skill; all skills that have run if not given
        name: Option<String>,
    },
    /// Show or change what is stored for the next runs of a skill
    ///
    /// Runs are told a few of these lessons as data. At most 20 of each kind are stored.
    #[command(after_help = "Example: artel skill feedback csv-report\n\
        Example: artel skill feedback csv-report --add \"totals belong into the first line\"\n\
        Example: artel skill feedback csv-report --remove 5d2f41c0")]
    Feedback(memory::Args),
    /// Run a skill's own tests, or create one from a run
    ///
    /// Tests are in tests/*.yaml of the skill: requests that must or must not choose it,
    /// and rehearsed runs. Exit code 1 if one fails.
    #[command(after_help = "Example: artel skill test csv-report\n\
        Example: artel skill test --from 5d2f41c0 --name two-rows")]
    Test(trial::Args),
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    match &args.command {
        Command::List => look::list(caller, screen),
        Command::Show { name } => look::show(name, caller, screen),
        Command::Validate { batch: true, .. } => lines::each(screen, validate_skill_line),
        Command::Validate { paths, .. } => validate(paths, caller, screen),
        Command::New { name } => new(name, caller, screen),
        Command::Trust { name, yes } => trust(name, (*yes).into(), caller, screen),
        Command::Stats { name } => memory::stats(name.as_deref(), caller, screen),
        Command::Feedback(args) => memory::feedback(args, caller, screen),
        Command::Test(args) => trial::run(args, caller, screen),
    }
}

fn validate(
    paths: &[PathBuf],
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let checked = caller.validate_skills(paths)?;
    let is_fine = checked.iter().all(|it| it.ok);
    if screen.json {
        screen.value(&serde_json::json!({ "ok": is_fine, "files": checked }))?;
    } else {
        for one in &checked {
            show_checked(one, screen)?;
        }
        if checked.is_empty() {
            screen.say("no skill here; `artel skill new NAME` makes one to begin with");
        }
    }
    Ok(if is_fine {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Failed)
    })
}

fn show_checked(checked: &SkillFileCheck, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    for complaint in &checked.errors {
        screen.line(harmless(&complaint.to_string()))?;
    }
    for remark in &checked.warnings {
        let word = screen.paint("warning", StatusColour::Doubtful);
        screen.line(format!("{word}: {}", harmless(&remark.to_string())))?;
    }
    if checked.ok {
        let word = screen.paint("ok", StatusColour::Good);
        let path = checked.path.display().to_string();
        screen.line(format!("{word}  {}", harmless(&path)))?;
    }
    Ok(())
}

fn new(
    name: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop_or_new()?;
    screen.notes(&workshop.notes);
    let made = workshop.done.new_skill(name)?;
    if screen.json {
        screen.value(&made)?;
        return Ok(CliCommandOutcome::Done);
    }
    let folder = harmless(&made.folder.display().to_string());
    screen.line(format!("made {folder}"))?;
    for file in &made.files {
        screen.line(format!("  {file}"))?;
    }
    screen.say(format!(
        "Next: write what it does into `SKILL.md`, then `artel skill validate {folder}`, \
         `artel skill test {name}`, `artel run {name} …`"
    ));
    Ok(CliCommandOutcome::Done)
}

fn trust(
    name: &str,
    yes: YesFlag,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop_or_new()?;
    screen.notes(&workshop.notes);
    let workshop = workshop.done;
    let Some(question) = workshop.trust_question(name)? else {
        return said(screen, name, "needs no trust, or has it as it is");
    };
    if !screen.json {
        show_question(&question, screen)?;
    }
    let asked = format!("Trust `{name}` until a file of it changes");
    if !screen.confirm(&asked, yes)? {
        return said(screen, name, "is not trusted");
    }
    workshop.trust_skill(&question)?;
    said(screen, name, "is trusted as it is")
}

fn said(
    screen: &mut CliOutput,
    name: &str,
    what: &str,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "skill": name, "done": what }))?;
    } else {
        screen.line(format!("{} {what}", harmless(name)))?;
    }
    Ok(CliCommandOutcome::Done)
}

/// Shows what a skill may run.
fn show_question(question: &TrustQuestion, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    screen.line(format!(
        "{} in {}",
        harmless(&question.skill),
        harmless(&question.folder)
    ))?;
    let lists = [
        ("runs at its start", &question.commands),
        ("brings the script", &question.scripts),
        ("names the address", &question.urls),
    ];
    for (what, items) in lists {
        for item in items {
            screen.line(format!("  {what}: {}", harmless(item)))?;
        }
    }
    match &question.tools {
        Some(tools) => screen.line(format!("  may use: {}", harmless(&tools.join(", "))))?,
        None => screen.line("  may use: whatever policy allows")?,
    }
    screen.line(format!("  content: {}", &question.hash))
}
