//! Output of the commands that show changesets.

use artel_types::{FileChange, FileChangeKind, ProofRecorded, Tokens};
use artel_workshop::{ChangesetDetail, ChangesetRow, WorkshopFailures};

use crate::CliCommandOutcome;
use crate::render::{cell, counted, harmless, harmless_lines, price, table};
use crate::screen::{CliOutput, StatusColour};

/// The level of detail at which a changeset is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChangesetDetailLevel {
    /// As much as fits on one screen.
    Page,
    /// Every file and every proof.
    All,
}

/// Maximum number of lines of one kind on a page.
const ON_A_PAGE: usize = 8;

pub(super) fn list(
    rows: &[ChangesetRow],
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&rows)?;
        return Ok(CliCommandOutcome::Done);
    }
    if rows.is_empty() {
        screen.say("no changesets; `artel ask \"…\"` begins one");
        return Ok(CliCommandOutcome::Done);
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let head = ["ID", "STATE", "FILES", "LINES", "PROVEN", "BRANCH", "TITLE"];
    screen.raw(&table(&head, &cells))?;
    Ok(CliCommandOutcome::Done)
}

fn cells(row: &ChangesetRow) -> Vec<String> {
    let branch = row.branch.as_deref().unwrap_or("(patch)");
    let proven = match (row.proven, row.complete) {
        (true, true) => "yes",
        (true, false) => "in part",
        (false, _) => "no",
    };
    vec![
        row.id.clone(),
        row.state.to_owned(),
        row.files.to_string(),
        format!("+{} −{}", row.added, row.removed),
        proven.to_owned(),
        cell(branch, 60),
        cell(&row.title, 60),
    ]
}

pub(super) fn diff(
    shown: &ChangesetDetail,
    diff: &str,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(&serde_json::json!({ "changeset": shown, "diff": diff }))?;
    } else {
        screen.line(harmless_lines(diff))?;
    }
    Ok(CliCommandOutcome::Done)
}

pub(super) fn show(
    shown: &ChangesetDetail,
    much: ChangesetDetailLevel,
    screen: &mut CliOutput,
) -> Result<CliCommandOutcome, WorkshopFailures> {
    if screen.json {
        screen.value(shown)?;
        return Ok(CliCommandOutcome::Done);
    }
    let row = &shown.row;
    screen.line(format!("{}  {}", row.id, cell(&row.title, 90)))?;
    let by_hand = match (&shown.by_hand, row.state) {
        (Some(_), "open") => "; its commits are in the branch already, by hand: approve closes it",
        (Some(_), _) => " by hand",
        (None, _) => "",
    };
    screen.line(field("state", &format!("{}{by_hand}", state(row))))?;
    for decision in &shown.decisions {
        let by = harmless(&decision.by.label());
        let mut text = format!("{} by {by}, {}", decision.act, decision.at);
        if let Some(reason) = &decision.reason {
            text.push_str(&format!(": {}", cell(reason, 120)));
        }
        screen.line(format!("            {text}"))?;
    }
    screen.line(field("branch", &branch(shown)))?;
    screen.line(field("commits", &row.commits.to_string()))?;
    let log = shown.log.iter().map(|one| {
        let commit = one.commit.get(..8).unwrap_or(&one.commit);
        format!("{commit} {}", cell(&one.subject, 80))
    });
    listed(log, much, screen)?;
    let files = format!("{}, +{} −{}", row.files, row.added, row.removed);
    screen.line(field("files", &files))?;
    listed(shown.changed.iter().map(file), much, screen)?;
    proofs(shown, much, screen)?;
    let deferred = match shown.deferred.len() {
        0 => "nothing".to_owned(),
        count => counted(count as u64, "thing"),
    };
    screen.line(field("deferred", &deferred))?;
    listed(shown.deferred.iter().map(|it| cell(it, 120)), much, screen)?;
    screen.line(field("cost", &cost(shown)))?;
    if let Some(report) = &shown.report {
        screen.line(field("report", &harmless(report)))?;
    }
    let next: Vec<String> = shown
        .next
        .iter()
        .map(|it| format!("`{}`", harmless(it)))
        .collect();
    screen.line(format!("next: {}", next.join(" · ")))?;
    Ok(CliCommandOutcome::Done)
}

fn proofs(
    shown: &ChangesetDetail,
    much: ChangesetDetailLevel,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let line = if shown.row.proven {
        shown.proof.clone()
    } else {
        let bad = screen.paint("do not hold", StatusColour::Bad);
        format!("{bad}; {}", shown.proof)
    };
    screen.line(field("proofs", &line))?;
    listed(shown.unproven.iter().map(|it| cell(it, 120)), much, screen)?;
    if much == ChangesetDetailLevel::All {
        listed(shown.proofs.iter().map(proof), much, screen)?;
    }
    Ok(())
}

fn proof(proof: &ProofRecorded) -> String {
    let step = proof.step.as_deref().unwrap_or("all");
    let exit = proof.exit.map_or("-".to_owned(), |exit| exit.to_string());
    let tests = match (proof.passed, proof.failed) {
        (Some(passed), failed) => format!(", {passed} of {} tests", passed + failed.unwrap_or(0)),
        (None, _) => String::new(),
    };
    let holds = if proof.holds {
        "holds"
    } else {
        "does not hold"
    };
    format!(
        "{:<10} {:<12} {holds}, exit {exit}{tests}  {}",
        proof.place,
        cell(step, 12),
        cell(&proof.what, 80)
    )
}

fn listed(
    lines: impl ExactSizeIterator<Item = String>,
    much: ChangesetDetailLevel,
    screen: &mut CliOutput,
) -> Result<(), WorkshopFailures> {
    let count = lines.len();
    let shown = match much {
        ChangesetDetailLevel::Page => ON_A_PAGE,
        ChangesetDetailLevel::All => usize::MAX,
    };
    for line in lines.take(shown) {
        screen.line(format!("    {line}"))?;
    }
    if count > shown {
        screen.line(format!("    … and {} more: `--stat`", count - shown))?;
    }
    Ok(())
}

fn field(name: &str, text: &str) -> String {
    format!("  {name:<9} {text}")
}

fn state(row: &ChangesetRow) -> String {
    let words = match row.state {
        "open" => "waits for your decision",
        "merging" => "is being merged",
        "undoing" => "is being undone",
        "redoing" => "is being brought back",
        other => other,
    };
    if row.complete {
        words.to_owned()
    } else {
        format!("{words}; not all steps of its plan passed")
    }
}

fn branch(shown: &ChangesetDetail) -> String {
    let into = shown
        .row
        .into
        .as_deref()
        .map_or("(none)".to_owned(), harmless);
    let portal = shown.row.portal.as_deref();
    let place = portal.map_or_else(
        || harmless(&shown.folder),
        |it| format!("portal {}", harmless(it)),
    );
    let base = shown.base.get(..8).unwrap_or(&shown.base);
    match (&shown.row.branch, &shown.patch) {
        (Some(branch), _) => format!("{} → {into}, from {base}, {place}", harmless(branch)),
        (None, Some(patch)) => format!(
            "none, {place} is in no repository; patch {}",
            harmless(patch)
        ),
        (None, None) => place,
    }
}

fn file(file: &FileChange) -> String {
    let kind = match file.kind {
        FileChangeKind::Made => "A",
        FileChangeKind::Changed | FileChangeKind::Mode => "M",
        FileChangeKind::Deleted => "D",
        FileChangeKind::Renamed => "renamed",
    };
    let lines = match (file.added, file.removed) {
        (Some(added), Some(removed)) => format!("+{added} −{removed}"),
        _ => "not text".to_owned(),
    };
    format!("{kind} {}  {lines}", harmless(&file.name()))
}

fn cost(shown: &ChangesetDetail) -> String {
    let money = price(shown.cost);
    let seconds = shown.millis / 1_000;
    format!("{} tokens, {money}, {seconds} s", Tokens(shown.tokens))
}
