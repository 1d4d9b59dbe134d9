//! The story of a piece of work in a terminal: what was asked, decided, tried, proven and
//! merged.

use artel_types::plan::StepState;
use artel_types::{Actor, ActorKind, Failure, Timestamp};
use artel_workshop::{
    AgentTimeline, ProgressRemark, StepTimeline, TimelineDetailLevel, TimelineEvidence,
    TimelineLineKind, TimelineVerdict as Found, TraceView, ViewerRole, Work, WorkMilestone,
    WorkTimeline, Workshop, WorkshopFailures,
};
use serde_json::json;

use super::{Args, events, show_lines};
use crate::CliCommandOutcome;
use crate::render::{cell, counted, harmless, harmless_below};
use crate::screen::{CliOutput, StatusColour};

/// Width of the labels in front of the lines.
const LABEL: usize = 9;

/// Maximum width of a line.
const WIDEST: usize = 160;

/// Maximum number of lines shown of one piece of evidence.
const MOST_LINES: usize = 12;

pub(super) fn show(
    args: &Args,
    workshop: &Workshop,
    work: &Work,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    let view = args.view();
    let mut eyes = workshop.eyes(Some(view))?;
    let is_one_turn = args.turn.is_some() && args.step.is_none();
    if view == TimelineDetailLevel::Full
        && eyes.most == TimelineDetailLevel::Summary
        && !is_one_turn
    {
        // Nobody has an assigned role here, so a person who asks for everything gets it.
        (eyes.role, eyes.most) = (ViewerRole::Developer, TimelineDetailLevel::Full);
    }
    let me = workshop.caller().actor();
    let story = match workshop.traced(&args.id, &args.wanted(), &eyes)? {
        TraceView::Step(trace, step) => {
            if screen.json {
                screen.value(&json!({ "trace": trace, "step": step }))?
            } else {
                in_full(&step, screen)?
            }
            return Ok(CliCommandOutcome::Done);
        }
        TraceView::Lines(lines) => return show_lines(args, &lines, screen),
        TraceView::Work(story) => story,
    };
    if screen.json {
        let Ok(mut value) = serde_json::to_value(events::gathered(args, workshop)?) else {
            return Err(Failure::new(artel_types::FailureCode::X001, "events are no JSON").into());
        };
        value["story"] = json!(story);
        screen.value(&value)?;
        return Ok(CliCommandOutcome::Done);
    }
    told(&story, view, &me, screen)?;
    if view == TimelineDetailLevel::Summary {
        screen.flush()?;
        let id = work.trace.short();
        screen.say(if story.steps.is_empty() { format!("turn by turn: `artel trace {id} --full`") } else { format!(
                "one step, turn by turn: `artel trace {id} --step 1` · all: `artel trace {id} --full`"
            ) });
    }
    Ok(CliCommandOutcome::Done)
}

fn told(
    story: &WorkTimeline,
    view: TimelineDetailLevel,
    me: &Actor,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let begun = story.before.first().map(|it| it.at);
    for it in &story.before {
        chapter(it, begun, me, screen)?;
    }
    // Without steps, the work of the agents is the whole story.
    if view == TimelineDetailLevel::Full || story.steps.is_empty() {
        for tale in &story.beside {
            agent(tale, screen)?;
        }
    }
    for step in &story.steps {
        summary(step, screen)?;
        if view == TimelineDetailLevel::Full {
            in_full(step, screen)?;
        }
    }
    for it in &story.after {
        chapter(it, begun, me, screen)?;
    }
    Ok(())
}

fn chapter(
    it: &WorkMilestone,
    begun: Option<Timestamp>,
    me: &Actor,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let sign = signed(it.mark, screen);
    let who = match it.by.kind {
        _ if it.by.kind == me.kind && it.by.id == me.id => "you".into(),
        ActorKind::Human | ActorKind::Agent | ActorKind::Program => it.by.label(),
        ActorKind::System => "artel".into(),
    };
    let text = format!(
        "{:<LABEL$}{sign}{}  ({}, {})",
        it.label,
        cell(&it.text, WIDEST),
        harmless(&who),
        moment(it.at, begun)
    );
    screen.line(text)?;
    Ok(())
}

/// Formats a moment. The day is included only if it differs from that of the request.
fn moment(at: Timestamp, begun: Option<Timestamp>) -> String {
    let text = at.to_string();
    let (day, time) = text.split_once('T').unwrap_or(("", &text));
    let time: String = time.chars().take(8).collect();
    let same = begun.is_some_and(|begun| begun != at && begun.to_string().starts_with(day));
    if same { time } else { format!("{day} {time}") }
}

fn summary(step: &StepTimeline, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let row = &step.row;
    let mark = match row.state {
        StepState::Done => TimelineLineKind::Done,
        StepState::Failed => TimelineLineKind::Bad,
        StepState::Skipped => TimelineLineKind::Detail,
        StepState::Waiting | StepState::Running | StepState::Verifying => TimelineLineKind::Waits,
    };
    let mut facts = Vec::new();
    if row.state != StepState::Done {
        facts.push(row.state.to_string());
    }
    if row.round > 0 {
        facts.push(counted(u64::from(row.round), "loop"));
        facts.push(counted(row.turns, "turn"));
    }
    facts.extend(row.seconds.map(|it| format!("{it:.1} s")));
    if !step.recovered.is_empty() {
        facts.push(format!("recovered: {}", step.recovered.join(", ")));
    }
    let commit = step.commit.iter();
    facts.extend(commit.map(|it| format!("commit {}", it.chars().take(8).collect::<String>())));
    let sign = match mark {
        TimelineLineKind::Detail => "- ".to_owned(),
        mark => signed(mark, screen),
    };
    let label = format!("step {}", row.number);
    let title = cell(&row.title, WIDEST);
    screen.line(format!(
        "{label:<LABEL$}{sign}{title}  ({})",
        facts.join(", ")
    ))?;
    for remark in &row.remarks {
        let sign = signed(remark.mark, screen);
        let text = cell(&remark.text, WIDEST);
        screen.line(format!("{:LABEL$}  {sign}{text}", ""))?;
    }
    Ok(())
}

/// Shows one step down to the turns of its agents.
fn in_full(step: &StepTimeline, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let row = &step.row;
    for attempt in &step.attempts {
        screen.line(format!(
            "step {} · attempt {} · {}",
            row.number,
            attempt.round,
            cell(&row.title, WIDEST)
        ))?;
        for tale in &attempt.agents {
            agent(tale, screen)?;
        }
        for found in &attempt.evidence {
            evidence(found, screen)?;
        }
    }
    Ok(())
}

fn agent(tale: &AgentTimeline, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let known = [&tale.part, &tale.role, &tale.model];
    let mut head: Vec<String> = known.into_iter().flatten().map(|it| harmless(it)).collect();
    head.dedup();
    if head.is_empty() {
        head.push(cell(&tale.title, WIDEST));
    }
    screen.line(format!(
        "  {}  (run {})",
        head.join(" · "),
        tale.run.short()
    ))?;
    let remarks = tale.turns.iter().flat_map(|turn| &turn.lines);
    // The head line above already names the agent.
    for remark in remarks.filter(|it| it.mark != TimelineLineKind::Head) {
        let text = laid_out(remark, screen);
        screen.line(text)?;
    }
    Ok(())
}

fn laid_out(remark: &ProgressRemark, screen: &CliOutput) -> String {
    let sign = match remark.mark {
        TimelineLineKind::Call => "  → ".to_owned(),
        TimelineLineKind::Result => "  ← ".to_owned(),
        TimelineLineKind::Failed => format!("  {} ", screen.paint("✗", StatusColour::Bad)),
        TimelineLineKind::Detail => "    ".to_owned(),
        mark => signed(mark, screen),
    };
    format!("    {sign}{}", harmless_below(&remark.text, "        "))
}

fn evidence(found: &TimelineEvidence, screen: &mut CliOutput) -> Result<(), WorkshopFailures> {
    let (sign, paint) = match found.verdict {
        Found::Passed => ("✓", StatusColour::Good),
        Found::Failed => ("✗", StatusColour::Bad),
        Found::Waived => ("⊘", StatusColour::Doubtful),
    };
    let sign = screen.paint(sign, paint);
    let place = found.place.map(|it| format!("{it}: ")).unwrap_or_default();
    screen.line(format!("  {sign} {place}{}", cell(&found.head, WIDEST)))?;
    let lines = found.lines.iter().flat_map(|it| it.lines());
    let said = found
        .output
        .lines()
        .filter(|_| found.verdict == Found::Failed);
    let all: Vec<&str> = lines
        .chain(said)
        .filter(|it| !it.trim().is_empty())
        .collect();
    for line in all.iter().take(MOST_LINES) {
        screen.line(format!("      {}", cell(line, WIDEST)))?;
    }
    if all.len() > MOST_LINES {
        let more = counted((all.len() - MOST_LINES) as u64, "more line");
        screen.line(format!("      … [{more}]"))?;
    }
    Ok(())
}

fn signed(mark: TimelineLineKind, screen: &CliOutput) -> String {
    match mark {
        TimelineLineKind::Done => format!("{} ", screen.paint("✓", StatusColour::Good)),
        TimelineLineKind::Bad => format!("{} ", screen.paint("✗", StatusColour::Bad)),
        TimelineLineKind::Waits => format!("{} ", screen.paint("⏸", StatusColour::Doubtful)),
        TimelineLineKind::Turn | TimelineLineKind::Head => String::new(),
        _ => "  ".to_owned(),
    }
}
