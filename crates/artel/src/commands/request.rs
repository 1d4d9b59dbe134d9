//! `artel request`

use artel_types::plan::PlanState;
use artel_workshop::{CommandContext, RequestStatus, Work, Workshop, WorkshopFailures};
use serde_json::json;

use super::planned::object;
use crate::CliCommandOutcome;
use crate::render::{cell, harmless, harmless_lines, table};
use crate::screen::CliOutput;

/// Look at your requests
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: artel request list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List requests, newest first
    #[command(after_help = "Example: artel request list --status planned")]
    List {
        /// Only requests with this status
        #[arg(long, value_name = "STATUS", value_parser = status)]
        status: Option<RequestStatus>,
    },
    /// Show a request and its result
    #[command(after_help = "Example: artel request show 5d2f41c0")]
    Show {
        /// The request's trace, or a prefix of it
        id: String,
    },
}

fn status(word: &str) -> Result<RequestStatus, String> {
    let mut all = RequestStatus::ALL.into_iter();
    let found = all.find(|it| it.as_str() == word);
    found.ok_or_else(|| {
        let words = RequestStatus::ALL.map(RequestStatus::as_str);
        format!("it is one of {}", words.join(", "))
    })
}

pub(crate) fn run(
    args: &Args,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    match &args.command {
        Command::List { status } => list(&workshop, *status, screen),
        Command::Show { id } => show(&workshop, id, screen),
    }
}

fn list(
    workshop: &Workshop,
    status: Option<RequestStatus>,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let mut works = workshop.works()?;
    works.retain(|work| status.is_none_or(|wanted| work.status() == wanted));
    if screen.json {
        let values: Vec<_> = works.iter().map(|it| workshop.request_value(it)).collect();
        screen.value(&values)?;
        return Ok(CliCommandOutcome::Done);
    }
    if works.is_empty() {
        screen.say("no requests; `artel ask \"…\"` makes one");
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<_> = works.iter().map(row).collect();
    let head = [
        "ID", "STATUS", "PRIORITY", "AGENT", "BY", "CREATED", "TITLE",
    ];
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

fn row(work: &Work) -> Vec<String> {
    let created: String = work.at.to_string().chars().take(16).collect();
    vec![
        work.trace.short(),
        work.status().as_str().to_owned(),
        work.request.urgency.to_string(),
        cell(&work.request.agent, 20),
        cell(&work.by.label(), 30),
        created.replace('T', " "),
        cell(&work.request.title, 80),
    ]
}

fn show(
    workshop: &Workshop,
    id: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let work = workshop.work_named(id)?;
    let words = workshop.request_words(&work)?;
    if screen.json {
        let mut value = object(workshop.request_value(&work));
        value.extend(object(
            json!({ "words": words, "changeset": work.changeset }),
        ));
        screen.value(&value)?;
        return Ok(CliCommandOutcome::Done);
    }
    let request = &work.request;
    let short = work.trace.short();
    let facts = [
        ("trace", work.trace.to_string()),
        ("status", work.status().as_str().to_owned()),
        ("priority", request.urgency.to_string()),
        ("agent", request.agent.clone()),
        ("portal", request.portal.clone().unwrap_or_default()),
        ("size", format!("{}: {}", request.size, request.why)),
        (
            "created",
            format!("{} by {} ({})", work.at, work.by.label(), request.source),
        ),
        ("file", request.file.clone()),
        ("skill", request.skill.clone().unwrap_or_default()),
        (
            "verify",
            request.verify.map_or(String::new(), |it| it.to_string()),
        ),
    ];
    for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
        screen.line(format!("{name:<10}  {}", harmless(text)))?;
    }
    for (word, claims) in [
        ("constraint", &request.constraints),
        ("criterion", &request.criteria),
    ] {
        for claim in claims {
            screen.line(format!(
                "{word:<10}  {} ({})",
                harmless(&claim.text),
                claim.source
            ))?;
        }
    }
    screen.line("")?;
    screen.line(harmless_lines(&words))?;
    let next = match work.course.state() {
        Some(PlanState::Done) => format!("artel changeset show {short}"),
        Some(_) if !work.versions.is_empty() => format!("artel plan show {short}"),
        _ => format!("artel trace {short}"),
    };
    screen.say(format!("Next: `{next}`"));
    Ok(CliCommandOutcome::Done)
}
