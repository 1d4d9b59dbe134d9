//! Tests of skills.

use artel_types::FailureKind;
use artel_workshop::{CommandContext, SkillTestOutcome, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{counted, harmless, harmless_lines};
use crate::runtime::block_on;
use crate::screen::{CliOutput, StatusColour};

/// Arguments of `artel skill test`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The skill; all skills with tests if not given
    #[arg(value_name = "SKILL", conflicts_with = "from")]
    skill: Option<String>,
    /// Create a test from this run instead
    #[arg(long, value_name = "RUN")]
    from: Option<String>,
    /// The name of that test
    #[arg(long, value_name = "NAME", requires = "from")]
    name: Option<String>,
}

pub(super) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    if let Some(run) = &args.from {
        let made = workshop.promote_run(run, args.name.as_deref())?;
        if screen.json {
            screen.value(&made)?;
            return Ok(CliCommandOutcome::Done);
        }
        for file in [&made.case, &made.recording] {
            screen.line(format!("made {}", harmless(&file.display().to_string())))?;
        }
        for file in &made.files {
            screen.line(format!("  brings {}", harmless(file)))?;
        }
        for file in &made.left_out {
            screen.say(format!(
                "left out: {} (no text, or too large)",
                harmless(file)
            ));
        }
        let name = harmless(&made.skill);
        screen.say(format!(
            "Look through them before you share the skill: they hold what the model said and what \
             it read. Next: `artel skill test {name}`"
        ));
        return Ok(CliCommandOutcome::Done);
    }
    let tried = block_on(workshop.test_skills(args.skill.as_deref()))??;
    let is_fine = tried.iter().all(|it| it.ok);
    if screen.json {
        screen.value(&serde_json::json!({ "ok": is_fine, "skills": tried }))?;
    } else {
        for skill in &tried {
            show(skill, screen)?;
        }
        if tried.is_empty() {
            screen.say("no skill here has tests; `artel skill test --from RUN` makes one");
        }
    }
    Ok(if is_fine {
        CliCommandOutcome::Done
    } else {
        CliCommandOutcome::Bad(FailureKind::Failed)
    })
}

fn show(skill: &SkillTestOutcome, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let name = harmless(&skill.skill);
    if let Some(why) = &skill.skipped {
        let word = screen.paint("skipped", StatusColour::Doubtful);
        return screen.line(format!("{name}  {word}: {}", harmless(why)));
    }
    screen.line(&name)?;
    for complaint in &skill.errors {
        screen.line(format!("  {}", harmless(&complaint.to_string())))?;
    }
    for trigger in &skill.triggers {
        let wish = if trigger.must { "chosen by" } else { "left by" };
        let mark = mark(trigger.ok.into(), screen);
        let request = harmless(&trigger.request);
        screen.line(format!("  {mark} {wish} \"{request}\""))?;
        if !trigger.ok {
            screen.line(format!("      chosen: {}", harmless(&trigger.chosen)))?;
        }
    }
    for run in &skill.runs {
        let mark = mark(run.ok.into(), screen);
        let turns = counted(run.turns, "turn");
        let (name, file) = (harmless(&run.name), harmless(&run.file));
        screen.line(format!("  {mark} {name}  ({file}, {turns})"))?;
        for difference in &run.differences {
            let lines = harmless_lines(difference).replace('\n', "\n      ");
            screen.line(format!("      {lines}"))?;
        }
    }
    let count = skill.triggers.len() + skill.runs.len();
    if count == 0 && skill.errors.is_empty() {
        screen.say("  it has no tests; `artel skill test --from RUN` makes one");
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum SkillTestMark {
    Right,
    Wrong,
}

impl From<bool> for SkillTestMark {
    fn from(is_right: bool) -> Self {
        if is_right { Self::Right } else { Self::Wrong }
    }
}

fn mark(came: SkillTestMark, screen: &CliOutput) -> String {
    match came {
        SkillTestMark::Right => screen.paint("✓", StatusColour::Good),
        SkillTestMark::Wrong => screen.paint("✗", StatusColour::Bad),
    }
}
