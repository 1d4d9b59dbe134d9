//! Output of the commands that show portals.

use artel_types::FailureKind;
use artel_workshop::{CommandContext, DoctorCheckStatus, Portal, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, table};
use crate::screen::{CliOutput, StatusColour};

pub(super) fn list(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let portals = caller.workshop()?.portals()?;
    if screen.json {
        screen.value(&portals)?;
        return Ok(CliCommandOutcome::Done);
    }
    if portals.is_empty() {
        screen.say("no portals; `artel portal add PATH` opens a project folder to agents");
        return Ok(CliCommandOutcome::Done);
    }
    let row = |portal: &Portal| {
        vec![
            cell(&portal.name, 40),
            operations(portal, ","),
            cell(&portal.agents.join(","), 40),
            portal.privacy_word().to_owned(),
            cell(&portal.stack.join(", "), 40),
            cell(&portal.path.display().to_string(), 100),
        ]
    };
    let rows: Vec<_> = portals.iter().map(row).collect();
    let head = ["NAME", "OPERATIONS", "AGENTS", "PRIVACY", "STACK", "PATH"];
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

pub(super) fn show(
    name: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let portal = workshop.portal(name)?;
    if screen.json {
        screen.value(&portal)?;
        return Ok(CliCommandOutcome::Done);
    }
    let list = |items: &[String], none: &str| match items {
        [] => none.to_owned(),
        items => items.join(", "),
    };
    let facts = [
        ("name", portal.name.clone()),
        ("path", portal.path.display().to_string()),
        ("operations", operations(&portal, ", ")),
        ("agents", portal.agents.join(", ")),
        ("privacy", portal.privacy_word().to_owned()),
        ("stack", list(&portal.stack, "not known")),
        ("checks", list(&portal.checks, "as detected")),
        ("card", workshop.portal_card(name).display().to_string()),
    ];
    for (name, text) in facts {
        screen.line(format!("{name:<10}  {}", harmless(&text)))?;
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn verify(
    names: &[String],
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let checks = caller.workshop()?.verify_portals(names)?;
    let is_bad = checks
        .iter()
        .any(|check| check.health == DoctorCheckStatus::Problem);
    if screen.json {
        screen.value(&serde_json::json!({ "ok": !is_bad, "checks": checks }))?;
    } else {
        for check in &checks {
            let (word, paint) = match check.health {
                DoctorCheckStatus::Ok => ("ok", StatusColour::Good),
                DoctorCheckStatus::Warning => ("warning", StatusColour::Doubtful),
                DoctorCheckStatus::Problem => ("problem", StatusColour::Bad),
            };
            let word = screen.paint(&format!("{word:<7}"), paint);
            let text = format!("{}: {}: {}", check.portal, check.what, check.found);
            screen.line(format!("{word}  {}", harmless(&text)))?;
            if let Some(remedy) = &check.remedy {
                screen.line(format!("         try: {}", harmless(remedy)))?;
            }
        }
        if checks.is_empty() {
            screen.say("no portals; `artel portal add PATH` opens a project folder to agents");
        }
    }
    Ok(if is_bad {
        CliCommandOutcome::Bad(FailureKind::Failed)
    } else {
        CliCommandOutcome::Done
    })
}

fn operations(portal: &Portal, between: &str) -> String {
    let words: Vec<&str> = portal.operations.iter().map(|it| it.as_str()).collect();
    words.join(between)
}
