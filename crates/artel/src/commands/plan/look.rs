//! Output of the commands that show plans.

use artel_types::counted;
use artel_types::plan::{Plan, PlanState, PlanStep, StepState};
use artel_workshop::{CommandContext, PlanVersionDetail, Work, WorkshopFailures};
use serde_json::json;

use crate::CliCommandOutcome;
use crate::render::{cell, harmless, harmless_lines, price, table};
use crate::runtime;
use crate::screen::CliOutput;

pub(super) fn list(
    status: Option<PlanState>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let mut works = workshop.works()?;
    works.retain(|work| match (work.course.state(), status) {
        (Some(state), Some(wanted)) => state == wanted,
        (state, None) => state.is_some(),
        (None, Some(_)) => false,
    });
    if screen.json {
        let values: Vec<_> = works.iter().map(listed).collect();
        screen.value(&values)?;
        return Ok(CliCommandOutcome::Done);
    }
    if works.is_empty() {
        screen.say("no plans; `artel ask \"…\"` begins one");
        return Ok(CliCommandOutcome::Done);
    }
    let rows: Vec<_> = works.iter().map(row).collect();
    let head = ["ID", "STATE", "VERSION", "PORTAL", "TITLE"];
    screen.raw(&table(&head, &rows))?;
    Ok(CliCommandOutcome::Done)
}

fn listed(work: &Work) -> serde_json::Value {
    let drafted = work.versions.last();
    json!({
        "trace_id": work.trace.to_string(),
        "state": work.course.state(),
        "version": drafted.map(|it| it.fact.version),
        "hash": drafted.map(|it| it.fact.hash.clone()),
        "in_review": work.course.in_review().map(|it| it.number),
        "title": drafted.map_or(&work.request.title, |it| &it.fact.title),
        "portal": work.request.portal,
        "run": work.course.run().map(|run| run.to_string()),
        "why": work.course.why(),
    })
}

fn row(work: &Work) -> Vec<String> {
    let drafted = work.versions.last();
    let state = work.course.state().map_or("-", PlanState::as_str);
    let title = drafted.map_or(&work.request.title, |it| &it.fact.title);
    vec![
        work.trace.short(),
        state.to_owned(),
        drafted.map_or("-".to_owned(), |it| format!("v{}", it.fact.version)),
        cell(work.request.portal.as_deref().unwrap_or("-"), 30),
        cell(title, 80),
    ]
}

pub(super) fn markdown(
    id: &str,
    version: Option<u32>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let text = workshop.plan_markdown(&work, version)?;
    if screen.json {
        screen.value(&json!({ "trace_id": work.trace.to_string(), "markdown": text }))?;
    } else {
        screen.line(harmless_lines(&text))?;
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn show(
    id: &str,
    version: Option<u32>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let shown = runtime::block_on(workshop.plan_look(work, version))??;
    if screen.json {
        screen.value(&shown.value())?;
        return Ok(CliCommandOutcome::Done);
    }
    let PlanVersionDetail {
        work,
        drafted,
        plan,
        ..
    } = &shown;
    let state = work.course.state().map_or("-", PlanState::as_str);
    let short = work.trace.short();
    screen.line(format!(
        "{} ({short}, version {}, {state})",
        harmless(&plan.title),
        drafted.fact.version
    ))?;
    let portal = work.request.portal.as_deref().unwrap_or("-");
    screen.line(format!(
        "by {} at {} · portal {} · {}",
        harmless(&drafted.by.label()),
        drafted.at,
        harmless(portal),
        plan.kind
    ))?;
    if let Some(why) = work.course.why() {
        screen.line(format!("why: {}", harmless(why)))?;
    }
    paragraph("", &plan.overview, screen)?;
    paragraph("Why this way", &plan.reasoning, screen)?;
    steps(&shown, screen)?;
    told(plan, screen)?;
    details(&shown, screen)?;
    next(&shown, screen);
    Ok(CliCommandOutcome::Done)
}

fn steps(shown: &PlanVersionDetail, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let numbers = |ids: &[String]| {
        let found = ids.iter().filter_map(|id| shown.plan.number(id));
        let found: Vec<String> = found.map(|it| it.to_string()).collect();
        found.join(", ")
    };
    let row = |(at, step): (usize, &PlanStep)| {
        let estimate = shown.estimates.get(at);
        let state = shown
            .progress
            .as_ref()
            .and_then(|it| it.step(&step.id))
            .map(|it| it.state);
        vec![
            format!("{}", at + 1),
            state.unwrap_or(StepState::Waiting).checkbox().to_owned(),
            cell(&step.title, 50),
            cell(&step.role, 20),
            match step.scope.paths.as_slice() {
                [] => "any file".to_owned(),
                paths => cell(&paths.join(", "), 40),
            },
            numbers(&step.after),
            step.verify.to_string(),
            estimate.map_or("-".to_owned(), |it| tokens(it.tokens)),
            estimate
                .and_then(|it| it.cost)
                .map_or("-".to_owned(), |it| price(Some(it))),
        ]
    };
    let rows: Vec<_> = shown.plan.steps.iter().enumerate().map(row).collect();
    let head = [
        "STEP", "", "TITLE", "ROLE", "CHANGES", "AFTER", "VERIFY", "TOKENS", "COST",
    ];
    screen.line("")?;
    screen.raw(&table(&head, &rows))?;
    screen.line(expected(shown))?;
    for short in &shown.short {
        screen.line(harmless(short))?;
    }
    Ok(())
}

/// Returns a line with the total that the steps of a plan are expected to take.
pub(crate) fn expected(shown: &PlanVersionDetail) -> String {
    let (all, cost) = shown.total();
    format!(
        "{}, expected to take {} tokens: {}",
        counted(shown.plan.steps.len() as u64, "step"),
        tokens(all),
        price(cost)
    )
}

/// Shows the instructions for the worker and the verifier of each step, what has to be
/// shown, and which files the plan is about.
fn told(plan: &Plan, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let files = plan.files.iter().map(|file| {
        let why = match file.why.trim() {
            "" => String::new(),
            why => format!(": {why}"),
        };
        format!("{} ({}){why}", file.path, file.action)
    });
    listing("Files to change", &files.collect::<Vec<_>>(), screen)?;
    for (at, step) in plan.steps.iter().enumerate() {
        let number = at + 1;
        screen.line(format!("\nStep {number}: {}", harmless(&step.title)))?;
        let shown = step.evidence.iter().map(|it| match it.what.trim() {
            "" => it.kind.to_string(),
            what => format!("{} {what}", it.kind),
        });
        let shown: Vec<String> = shown.collect();
        for (word, text) in [
            ("work", step.work.as_str()),
            ("check", step.check.as_str()),
            ("shown by", &shown.join(", ")),
            ("gives", &step.gives.join(", ")),
            ("uses", &step.uses.join(", ")),
        ] {
            labelled(word, text, screen)?;
        }
    }
    listing("References", &plan.references, screen)
}

/// Prints text after its label, with further lines aligned below the first.
fn labelled(label: &str, text: &str, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let text = harmless_lines(text.trim());
    for (at, line) in text.lines().enumerate() {
        let label = if at == 0 { label } else { "" };
        screen.line(format!("  {label:<9} {line}").trim_end())?;
    }
    Ok(())
}

/// Lists what the steps ask for, what must hold, and what a person should know.
fn details(shown: &PlanVersionDetail, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let plan = &shown.plan;
    let mut permissions = Vec::new();
    let mut criteria = Vec::new();
    let mut stands = Vec::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let scope = &step.scope;
        let parts = scope
            .admits()
            .into_iter()
            .map(|(may, list, otherwise)| match list {
                [] => format!("{may} {otherwise}"),
                list => format!("{may} {}", list.join(", ")),
            });
        let mut parts: Vec<String> = parts.collect();
        parts.extend(
            scope
                .turns
                .map(|turns| format!("take {turns} turns an attempt")),
        );
        parts.extend(scope.cost().map(|cost| format!("cost up to {cost}")));
        permissions.push(format!("step {} may {}", at + 1, parts.join("; ")));
        for claim in &scope.criteria {
            criteria.push(format!(
                "step {}: {} ({})",
                at + 1,
                claim.text,
                claim.source
            ));
        }
        if let Some(progress) = &shown.progress
            && let Some(state) = progress.step(&step.id)
            && !state.why.is_empty()
        {
            stands.push(format!("step {} is {}: {}", at + 1, state.state, state.why));
        }
    }
    let asked = shown.work.request.criteria.iter();
    criteria.extend(asked.map(|claim| format!("request: {} ({})", claim.text, claim.source)));
    let comments = shown.work.course.comments().iter();
    let comments: Vec<String> = comments
        .map(|it| format!("v{}: {}", it.version, it.text))
        .collect();
    listing("How the steps stand", &stands, screen)?;
    listing("What an approval allows", &permissions, screen)?;
    listing("What has to hold", &criteria, screen)?;
    listing("Risks", &plan.risks, screen)?;
    listing("Open questions", &plan.questions, screen)?;
    listing("Warnings", &plan.warnings, screen)?;
    listing("Your comments", &comments, screen)
}

fn listing(head: &str, lines: &[String], screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    if lines.is_empty() {
        return Ok(());
    }
    screen.line(format!("\n{head}"))?;
    for line in lines {
        screen.line(format!("  {}", harmless(line)))?;
    }
    Ok(())
}

fn paragraph(head: &str, text: &str, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    if text.trim().is_empty() {
        return Ok(());
    }
    screen.line("")?;
    if !head.is_empty() {
        screen.line(head)?;
    }
    screen.line(harmless_lines(text.trim()))
}

/// Suggests what to type next.
fn next(shown: &PlanVersionDetail, screen: &mut CliOutput) {
    let short = shown.work.trace.short();
    let hash: String = shown.drafted.fact.hash.chars().take(12).collect();
    let review = shown.work.course.in_review().map(|it| it.number);
    let text = match (review, shown.work.course.state()) {
        (Some(number), _) if number == shown.drafted.fact.version => format!(
            "`artel plan approve {short} --hash {hash}` · `artel plan revise {short} --comment \"…\"` · `artel plan edit {short}` · `artel plan reject {short} --reason \"…\"`"
        ),
        (Some(number), _) => format!(
            "version {number} is in review: `artel plan diff {short}`, `artel plan approve {short}`"
        ),
        (None, Some(PlanState::Approved)) => format!("`artel resume {short}` carries it out"),
        (None, Some(PlanState::Running)) => format!(
            "`artel waiting` shows what needs you; `artel resume {short}` goes on if nobody does"
        ),
        (None, Some(PlanState::Done)) => format!("`artel changeset show {short} --diff`"),
        (None, Some(PlanState::Failed)) => {
            format!("`artel plan retry {short}` · `artel changeset show {short}`")
        }
        _ => format!("`artel trace {short}`"),
    };
    screen.say(format!("\nNext: {text}"));
}

pub(super) fn diff(
    id: &str,
    versions: Option<(u32, u32)>,
    caller: &CommandContext,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let workshop = caller.workshop()?;
    let work = workshop.work_named(id)?;
    let difference = workshop.plan_difference(&work, versions)?;
    if screen.json {
        screen.value(&difference)?;
        return Ok(CliCommandOutcome::Done);
    }
    let (from, to) = (difference.from, difference.to);
    screen.line(format!("version {from} → version {to}"))?;
    if difference.text.is_empty() {
        screen.line("nothing differs")?
    } else {
        screen.line(harmless_lines(&difference.text))?
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        _ => format!("{}k", count.div_ceil(1_000)),
    }
}
