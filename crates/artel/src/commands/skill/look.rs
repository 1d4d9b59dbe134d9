//! Output of the commands that show skills.

use artel_types::Tokens;
use artel_workshop::{CommandContext, SkillDetail, SkillList, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{bytes, cell, harmless, table};
use crate::screen::{CliOutput, StatusColour};

pub(super) fn list(
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let found = caller.skills()?;
    if screen.json {
        screen.value(&found)?;
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<Vec<String>> = found
        .skills
        .iter()
        .map(|skill| {
            vec![
                cell(&skill.name, 40),
                word(&skill.scope),
                if skill.trusted { "yes" } else { "no" }.to_owned(),
                skill.lines.to_string(),
                cell(&skill.description, 80),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let head = ["NAME", "SCOPE", "TRUSTED", "LINES", "DESCRIPTION"];
        screen.raw(&table(&head, &rows))?;
    }
    others(&found, screen)?;
    if found.skills.is_empty() {
        screen.say("no skill here; `artel skill new NAME` makes one to begin with");
    }
    Ok(CliCommandOutcome::Done)
}

/// Shows skills that were found but cannot be used, with the reason.
fn others(found: &SkillList, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    for shadowed in &found.shadowed {
        let word = screen.paint("shadowed", StatusColour::Doubtful);
        let (path, by) = (shadowed.path.display(), shadowed.by.display());
        let text = format!("{} in {path}: {by} counts", shadowed.name);
        screen.line(format!("{word}  {}", harmless(&text)))?;
    }
    for broken in &found.broken {
        let word = screen.paint("broken", StatusColour::Bad);
        let path = harmless(&broken.path.display().to_string());
        screen.line(format!("{word}  {path}"))?;
        for complaint in &broken.complaints {
            screen.line(format!("  {}", harmless(&complaint.to_string())))?;
        }
    }
    Ok(())
}

pub(super) fn show(
    name: &str,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let skill = caller.skill(name)?;
    if screen.json {
        screen.value(&skill)?;
        return Ok(CliCommandOutcome::Done);
    }
    screen.line(format!(
        "{}: {}\n",
        harmless(&skill.name),
        harmless(&skill.description)
    ))?;
    for (name, text) in facts(&skill) {
        screen.line(format!("{name:<9} {}", harmless(&text)))?;
    }
    for file in &skill.files {
        let about = file.description.as_deref().unwrap_or("");
        screen.line(
            format!(
                "  file    {}  {}  {}",
                harmless(&file.path),
                bytes(file.bytes),
                harmless(about)
            )
            .trim_end(),
        )?;
    }
    for script in &skill.scripts {
        screen.line(format!(
            "  script  {}  {}",
            harmless(&script.path),
            bytes(script.bytes)
        ))?;
    }
    for command in &skill.commands {
        let (word, paint) = if command.allowed {
            ("runs", StatusColour::Good)
        } else {
            ("refused", StatusColour::Bad)
        };
        let word = screen.paint(&format!("{word:<7}"), paint);
        screen.line(format!(
            "  {word} {}  ({})",
            harmless(&command.command),
            harmless(&command.rule)
        ))?;
    }
    for url in &skill.urls {
        screen.line(format!("  address {}", harmless(url)))?;
    }
    for remark in &skill.remarks {
        let word = screen.paint("warning", StatusColour::Doubtful);
        screen.line(format!("{word}: {}", harmless(remark)))?;
    }
    if !skill.trusted {
        screen.say(format!(
            "It was never trusted as it is: `artel skill trust {}`",
            harmless(&skill.name)
        ));
    }
    Ok(CliCommandOutcome::Done)
}

fn facts(skill: &SkillDetail) -> Vec<(&'static str, String)> {
    let tools = match &skill.front.allowed_tools {
        Some(tools) => tools.join(", "),
        None => "whatever policy allows".to_owned(),
    };
    let trust = if skill.trusted { "yes" } else { "no" };
    let (first, all) = (Tokens(skill.tokens_first), Tokens(skill.tokens_all));
    let mut facts = vec![
        ("folder", skill.folder.clone()),
        ("scope", word(&skill.scope)),
        ("trusted", format!("{trust} (content {})", &skill.hash)),
        ("size", format!("{} lines", skill.lines)),
        (
            "tokens",
            format!("{first} up front, {all} if everything were loaded"),
        ),
        ("tools", tools),
    ];
    if let Some(model) = &skill.front.model {
        facts.push(("model", model.clone()));
    }
    facts
}

/// Returns the word that programs read, for use in text for people.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::json!(value).to_string().replace('"', "")
}
