//! Output of the commands that show roles.

use artel_workshop::{AgentRow, CommandContext, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, harmless_lines, table};
use crate::screen::{CliOutput, StatusColour};

pub(super) fn list(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let agents = caller.agents()?;
    if screen.json {
        screen.value(&agents)?;
        return Ok(CliCommandOutcome::Done);
    }
    let row = |agent: &AgentRow| {
        vec![
            cell(&agent.id, 40),
            agent.source.as_str().to_owned(),
            cell(agent.model.as_deref().unwrap_or("default"), 40),
            agent.calls.to_string(),
            cell(&agent.description, 80),
        ]
    };
    let whole = agents.iter().filter(|agent| agent.broken.is_none());
    let rows: Vec<_> = whole.map(row).collect();
    let head = ["ID", "SOURCE", "MODEL", "CALLS", "DESCRIPTION"];
    screen.raw(&table(&head, &rows))?;
    for agent in &agents {
        if let Some(why) = &agent.broken {
            let word = screen.paint("broken", StatusColour::Bad);
            screen.line(format!(
                "{word}  {}: {}",
                harmless(&agent.id),
                harmless(why)
            ))?;
        }
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn show(
    id: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let agent = caller.agent(id)?;
    if screen.json {
        screen.value(&agent)?;
        return Ok(CliCommandOutcome::Done);
    }
    let tools = match &agent.tools {
        Some(tools) => tools.join(", "),
        None => "whatever policy allows".to_owned(),
    };
    let mut facts = vec![
        ("id", agent.row.id.clone()),
        ("name", agent.row.name.clone()),
        ("about", agent.row.description.clone()),
        ("source", agent.row.source.as_str().to_owned()),
        (
            "model",
            agent.row.model.clone().unwrap_or("default".to_owned()),
        ),
        (
            "calls",
            format!("{} in one attempt at a step", agent.row.calls),
        ),
        ("can", agent.row.capabilities.join(", ")),
        ("tools", tools),
    ];
    if !agent.disallowed.is_empty() {
        facts.push(("not", agent.disallowed.join(", ")));
    }
    if let Some(file) = &agent.file {
        facts.push(("file", file.clone()));
    }
    for (name, text) in facts {
        screen.line(format!("{name:<7} {}", harmless(&text)))?;
    }
    screen.line(format!("\n{}", harmless_lines(&agent.prompt)))?;
    Ok(CliCommandOutcome::Done)
}
