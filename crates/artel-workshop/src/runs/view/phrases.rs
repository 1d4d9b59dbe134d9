//! Timeline sentences that are put together from several parts.

use artel_types::{RunContinued, ToolAnswered, ToolRequested};

use super::line::{RunProgress, TimelineLineKind, grouped};

/// Describes how far a run has come.
pub(super) fn progress(progress: RunProgress) -> String {
    let RunProgress { done, all, percent } = progress;
    if done == all {
        return format!("{done} of {all} steps done (100 %)");
    }
    format!("step {} of {all} ({percent} %)", done + 1)
}

/// Says which call was denied, why, and what the person can do about it.
pub(super) fn refusal(wanted: &str, asked: &ToolRequested) -> Vec<(TimelineLineKind, String)> {
    let can = if asked.rule.starts_with("never.") {
        "do it yourself after the run; no rule can allow it to an agent"
    } else {
        "`artel policy list` shows what is granted"
    };
    let built_in = if asked.rule.starts_with("never.") {
        " (built in)"
    } else {
        ""
    };
    vec![
        (TimelineLineKind::Waits, format!("wants to run: {wanted}")),
        (
            TimelineLineKind::Detail,
            format!("why not: {}; rule `{}`{built_in}", asked.reason, asked.rule),
        ),
        (TimelineLineKind::Detail, format!("you can: {can}")),
    ]
}

/// Says which call was not made because nobody was there to ask, and how the person can
/// allow it. Only rules that would make the question unnecessary are named.
pub(super) fn unanswered(
    wanted: &str,
    asked: &ToolRequested,
    answered: &ToolAnswered,
) -> Vec<(TimelineLineKind, String)> {
    let mut can = "you can: run it in a terminal, which asks you".to_owned();
    for rule in answered.offered.iter().flatten() {
        let rule = rule.replace('\'', "'\\''");
        can.push_str(&format!(" · `artel policy grant '{rule}' --reason …`"));
    }
    match answered.offered.as_deref() {
        None | Some([]) => {}
        Some([_]) => can.push_str(" allows it for good"),
        Some(_) => can.push_str(" together allow it for good"),
    }
    vec![
        (TimelineLineKind::Waits, format!("wants to run: {wanted}")),
        (
            TimelineLineKind::Detail,
            format!(
                "why not: nobody could be asked; {}; rule `{}`",
                asked.reason, asked.rule
            ),
        ),
        (TimelineLineKind::Detail, can),
    ]
}

/// Describes a person's steering command.
pub(super) fn of_steering(act: &str, text: &str) -> String {
    match act {
        "pause" => "paused".to_owned(),
        "resume" => "goes on".to_owned(),
        "cancel" => "cancelled".to_owned(),
        "hint" => format!("hint: {text}"),
        other => other.to_owned(),
    }
}

/// Says that a process resumed a run, and what it settled.
pub(super) fn of_continuation(continued: &RunContinued) -> Vec<(TimelineLineKind, String)> {
    let at = grouped(continued.after);
    let mut lines = vec![(
        TimelineLineKind::Plain,
        format!("picked up after the process ended at event {at}"),
    )];
    let settled = continued.settled.iter();
    lines.extend(settled.map(|what| (TimelineLineKind::Detail, what.clone())));
    lines
}
