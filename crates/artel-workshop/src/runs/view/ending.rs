//! The lines that a timeline shows when a run is over.

use artel_types::{
    FileChange, FileChangeKind, LeftOutPath, LeftOutReason, RunFinished, RunMetrics, RunOutcome,
    counted,
};

use super::line::{TimelineLineKind, first_line, span, tokens};

/// Changed files beyond this number are counted, not listed.
const MOST_FILES: usize = 20;

/// Left-out paths beyond this number are counted, not named.
const MOST_LEFT_OUT: usize = 5;

/// Number of characters shown of a left-out path.
const LONGEST_PATH: usize = 60;

/// Returns the lines for how a run ended, its usage, its achievements and the files it
/// changed.
pub(super) fn ending(finished: &RunFinished) -> Vec<(TimelineLineKind, String)> {
    let state = finished.state.as_deref().and_then(|word| word.parse().ok());
    let took = finished.metrics.as_ref().map_or(String::new(), took);
    let changed = finished.changed.as_deref().unwrap_or_default();
    let mut lines = Vec::new();
    match state {
        Some(RunOutcome::Complete) | None => {
            let what = achieved(changed).unwrap_or_else(|| match state {
                Some(_) => "done".to_owned(),
                None => first_line(&finished.summary, 100),
            });
            lines.push((TimelineLineKind::Done, format!("{what}{took}")));
        }
        Some(state) => {
            let why = finished.why.as_deref().unwrap_or("it did not say why");
            lines.push((TimelineLineKind::Bad, format!("{state}: {why}{took}")));
            lines.extend(objectives(finished));
        }
    }
    lines.extend(files(changed));
    let left_out = finished.left_out.as_deref().unwrap_or_default();
    lines.extend(left_out_line(left_out).map(|line| (TimelineLineKind::Bad, line)));
    lines
}

/// Names the run's files that were not kept, on one line, or returns `None` if all were
/// kept.
pub(crate) fn left_out_line(left_out: &[LeftOutPath]) -> Option<String> {
    let mut shown: Vec<_> = left_out.iter().take(MOST_LEFT_OUT).map(reason).collect();
    let more = left_out.len().saturating_sub(MOST_LEFT_OUT);
    if more > 0 {
        shown.push(format!("{} more", counted(more as u64, "path")));
    }
    (!shown.is_empty()).then(|| format!("left out: {}", shown.join(", ")))
}

fn reason(one: &LeftOutPath) -> String {
    let amount = one.amount.unwrap_or_default();
    let why = match one.why {
        LeftOutReason::GitMetadata => "git metadata".to_owned(),
        LeftOutReason::Repository => "git takes it for a repository".to_owned(),
        LeftOutReason::SpecialFile => "not a file or folder".to_owned(),
        LeftOutReason::TooDeep => "too deep".to_owned(),
        LeftOutReason::TooLarge => format!("{amount} bytes, too large"),
        LeftOutReason::TooMany => format!("{}, too many", counted(amount, "new file")),
    };
    format!("{} ({why})", shown_path(&one.path))
}

/// Shortens a path. The beginning is enough to tell where it lies.
fn shown_path(path: &str) -> String {
    let mut letters = path.chars();
    let start: String = letters.by_ref().take(LONGEST_PATH).collect();
    match letters.next() {
        None => start,
        Some(_) => format!("{start}…"),
    }
}

/// Lists the run's objectives and marks those that are done.
fn objectives(finished: &RunFinished) -> Vec<(TimelineLineKind, String)> {
    let objectives = finished.objectives.as_deref().unwrap_or_default();
    if objectives.is_empty() {
        let has_result = finished.answer.is_some() || finished.changed.is_some();
        let none = "nothing came of it".to_owned();
        return if has_result {
            Vec::new()
        } else {
            vec![(TimelineLineKind::Detail, none)]
        };
    }
    let done = objectives.iter().filter(|objective| objective.done).count();
    let mut lines = vec![(
        TimelineLineKind::Detail,
        format!("Completed {done} of {}", objectives.len()),
    )];
    lines.extend(objectives.iter().map(|objective| {
        let mark = if objective.done { "✓" } else { "·" };
        (
            TimelineLineKind::Detail,
            format!("  {mark} {}", objective.text),
        )
    }));
    lines
}

fn took(metrics: &RunMetrics) -> String {
    let own = metrics.tokens_input.saturating_add(metrics.tokens_output);
    let below = metrics.below.clone().unwrap_or_default();
    let all = own.saturating_add(below.tokens);
    // If the price of any called run is unknown, the total is unknown too.
    let cost = match &metrics.below {
        Some(below) => metrics.cost.zip(below.cost).map(|(own, more)| own + more),
        None => metrics.cost,
    };
    let mut text = format!(
        " · {} · {} tokens",
        counted(metrics.turns, "turn"),
        tokens(all)
    );
    // Only rehearsals cost nothing, so a cost of zero is not shown.
    if let Some(cost) = cost.filter(|cost| cost.0 > 0) {
        text.push_str(&format!(" · {cost}"));
    }
    text.push_str(&format!(" · {}", span(metrics.total_ms)));
    text
}

fn achieved(changed: &[FileChange]) -> Option<String> {
    let lines = |file: &FileChange| {
        let added = file.added.map(|added| counted(added, "line"));
        added.map_or(String::new(), |lines| format!(" ({lines})"))
    };
    match changed {
        [] => None,
        [file] if file.kind == FileChangeKind::Made => {
            Some(format!("wrote {}{}", file.path, lines(file)))
        }
        [file] if file.kind == FileChangeKind::Deleted => Some(format!("removed {}", file.path)),
        [file] => Some(format!("changed {}", file.path)),
        several => Some(format!("changed {}", counted(several.len() as u64, "file"))),
    }
}

/// Lists the changed files with their added and removed lines.
pub(super) fn files(changed: &[FileChange]) -> Vec<(TimelineLineKind, String)> {
    let shown = changed.iter().take(MOST_FILES);
    let mut lines: Vec<_> = shown
        .map(|file| (TimelineLineKind::Detail, file_line(file)))
        .collect();
    if changed.len() > MOST_FILES {
        let more = counted((changed.len() - MOST_FILES) as u64, "more file");
        lines.push((TimelineLineKind::Detail, more));
    }
    lines
}

fn file_line(file: &FileChange) -> String {
    let sign = match file.kind {
        FileChangeKind::Made => '+',
        FileChangeKind::Changed => '~',
        FileChangeKind::Deleted => '-',
        FileChangeKind::Renamed => '→',
        FileChangeKind::Mode => 'x',
    };
    let lines = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("+{added} −{removed}"),
        _ => format!("{} bytes", file.bytes),
    };
    format!("{sign} {}  {lines}", file.name())
}
