//! Lessons and feedback about the runs of a skill.

use artel_workshop::{CommandContext, SkillReport, WorkshopFailures};

use super::said;
use crate::CliCommandOutcome;
use crate::render::{cell, harmless, table};
use crate::screen::CliOutput;

/// Arguments of `artel skill feedback`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The skill
    name: String,
    /// Store a lesson for its next runs
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["edit", "remove"])]
    add: Option<String>,
    /// Change the text of a lesson
    #[arg(long, num_args = 2, value_names = ["ID", "TEXT"], conflicts_with = "remove")]
    edit: Option<Vec<String>>,
    /// Remove a lesson
    #[arg(long, value_name = "ID")]
    remove: Option<String>,
}

pub(super) fn feedback(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let name = &args.name;
    if let Some(text) = &args.add {
        let id = workshop.add_lesson(name, text)?;
        return said(screen, name, &format!("is told from now on ({id})"));
    }
    if let Some([id, text]) = args.edit.as_deref() {
        workshop.edit_lesson(name, id, text)?;
        return said(screen, name, &format!("is told otherwise ({id})"));
    }
    if let Some(id) = &args.remove {
        workshop.remove_lesson(name, id)?;
        return said(screen, name, &format!("is no longer told ({id})"));
    }
    let lessons = workshop.lessons(name)?;
    if screen.json {
        screen.value(&lessons)?;
        return Ok(CliCommandOutcome::Done);
    }
    if lessons.is_empty() {
        screen.say(format!(
            "nothing is kept yet; `artel skill feedback {} --add TEXT` keeps something",
            harmless(name)
        ));
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = lessons
        .iter()
        .map(|lesson| {
            let from = lesson.from.as_deref().unwrap_or("-");
            vec![
                cell(&lesson.id, 12),
                cell(&lesson.sort, 10),
                from.chars().take(8).collect(),
                cell(lesson.by.as_deref().unwrap_or("-"), 30),
                harmless(&lesson.text),
            ]
        })
        .collect();
    screen.raw(&table(&["ID", "SORT", "RUN", "BY", "WHAT"], &rows))?;
    Ok(CliCommandOutcome::Done)
}

pub(super) fn stats(
    name: Option<&str>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let reports = caller.workshop()?.skill_stats(name)?;
    if screen.json {
        screen.value(&reports)?;
        return Ok(CliCommandOutcome::Done);
    }
    if reports.is_empty() {
        screen.say("no skill has run yet; `artel run SKILL` runs one");
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = reports.iter().map(row).collect();
    let head = [
        "SKILL",
        "RUNS",
        "SUCCESS",
        "TURNS",
        "RECOVERED",
        "MOSTLY",
        "COST",
        "SAVED",
    ];
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

fn row(report: &SkillReport) -> Vec<String> {
    let none = || "-".to_owned();
    let percent =
        |share: Option<f64>| share.map_or_else(none, |share| format!("{:.0} %", 100.0 * share));
    let mostly = report.common_recovery.as_ref().map_or_else(none, |kind| {
        format!("{kind} {}", percent(report.common_share))
    });
    let sums = &report.sums;
    let cost = match sums.unpriced {
        0 => sums.cost.to_string(),
        unpriced => format!("{} + {unpriced} without a price", sums.cost),
    };
    vec![
        cell(&report.skill, 40),
        sums.runs.to_string(),
        percent(report.success_rate),
        report
            .average_turns
            .map_or_else(none, |turns| format!("{turns:.1}")),
        percent(report.recovery_rate),
        cell(&mostly, 40),
        cost,
        report
            .saved_percent
            .map_or_else(none, |saved| format!("{saved} %")),
    ]
}
