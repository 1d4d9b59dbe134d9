//! The sections of a report, each as Markdown text.

use std::collections::BTreeMap;

use artel_types::plan::{FailedTest, VerdictFinding};
use artel_types::{
    Fact, FileChange, FileChangeKind, Money, ProofRecorded, RecordedText, StepJudged, Tokens,
    counted, shown_path,
};

use super::page::{bounded, cell, code, line, table};
use super::past::PastPlanRun;
use crate::works::changeset::{self, proof_line};

pub(super) fn summary(past: &PastPlanRun) -> String {
    let plan = past.conduct.plan();
    let (done, all) = past.conduct.progress();
    let mut text = bounded(plan.overview.trim(), 4_000);
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(&format!("{done} of {all} steps passed"));
    match &past.created {
        Some(made) => text.push_str(&format!(
            "; {}, {}, +{} -{}.",
            counted(made.commits, "commit"),
            counted(made.files.len() as u64, "file"),
            made.added,
            made.removed
        )),
        None => text.push_str("; nothing was committed."),
    }
    let proofs = past.last_proofs();
    text.push_str(&format!("\nProofs: {}.", proof_line(&proofs)));
    let has_tests = proofs.iter().any(|it| it.passed.is_some());
    if has_tests && proofs.iter().all(|it| it.coverage.is_none()) {
        text.push_str("\nCoverage: left out; the tests of this project measure none.");
    }
    text
}

pub(super) fn steps(past: &PastPlanRun) -> String {
    let rows: Vec<Vec<String>> = past
        .conduct
        .steps()
        .enumerate()
        .map(|(number, (spec, step))| {
            let turns = past.turns.get(&spec.id).copied().unwrap_or(0);
            vec![
                format!("{}. {}", number + 1, cell(&spec.title)),
                step.state.to_string(),
                step.round.to_string(),
                cell(&spec.role),
                turns.to_string(),
                cell(&verdicts(past, &spec.id, step.round)),
            ]
        })
        .collect();
    let head = ["Step", "State", "Loops", "Role", "Turns", "Verifiers"];
    table(&head, &rows)
}

/// Returns the verifiers' verdicts on the last attempt at a step.
fn verdicts(past: &PastPlanRun, step: &str, round: u32) -> String {
    let judged = past.events.iter().filter_map(|event| match &event.fact {
        Fact::StepJudged(it) if it.step == step && it.round == round => Some(it),
        _ => None,
    });
    judged.map(verdict).collect::<Vec<_>>().join("; ")
}

fn verdict(judged: &StepJudged) -> String {
    let word = if judged.passed {
        "passed"
    } else {
        "did not pass"
    };
    let mut text = format!("{} {word}", judged.by);
    let counts = |finding: &&VerdictFinding| finding.severity.fails();
    let serious = judged.findings.iter().filter(counts).count() as u64;
    let others = judged.findings.len() as u64 - serious;
    if serious > 0 {
        text.push_str(&format!(", {}", counted(serious, "finding")));
    }
    if others > 0 {
        text.push_str(&format!(", {}", counted(others, "remark")));
    }
    if !judged.passed {
        let why = inline(&judged.feedback);
        text.push_str(&format!(": {}", bounded(&line(why), 120)));
    }
    text
}

pub(super) fn changes(past: &PastPlanRun) -> String {
    let files = past.created.as_ref().map(|made| made.files.as_slice());
    let files = files.unwrap_or_default();
    let part = |title: &str, kinds: &[FileChangeKind]| {
        let of_kind: Vec<&FileChange> =
            files.iter().filter(|it| kinds.contains(&it.kind)).collect();
        let mut text = format!("### Files {title} ({})\n\n", of_kind.len());
        for file in &of_kind {
            text.push_str(&format!(
                "- {}{}\n",
                code(&shown_path(&file.name())),
                lines_of(file)
            ));
        }
        if !of_kind.is_empty() {
            text.push('\n');
        }
        text
    };
    let is_moved = files.iter().any(|it| it.kind == FileChangeKind::Renamed);
    [
        part("Created", &[FileChangeKind::Made]),
        part("Modified", &[FileChangeKind::Changed, FileChangeKind::Mode]),
        if is_moved {
            part("Renamed", &[FileChangeKind::Renamed])
        } else {
            String::new()
        },
        part("Deleted", &[FileChangeKind::Deleted]),
    ]
    .concat()
}

fn lines_of(file: &FileChange) -> String {
    match (file.added, file.removed) {
        (Some(0), Some(0)) if file.kind == FileChangeKind::Mode => " mode only".to_owned(),
        (Some(added), Some(removed)) => format!(" +{added} -{removed}"),
        _ => " not text".to_owned(),
    }
}

pub(super) fn git(past: &PastPlanRun) -> String {
    let Some(made) = &past.created else {
        return "Nothing was committed.".to_owned();
    };
    let mut text = format!(
        "- Files changed: {}\n- Insertions: {}\n- Deletions: {}\n",
        made.files.len(),
        made.added,
        made.removed
    );
    match (&made.branch, &made.patch) {
        (Some(branch), _) => text.push_str(&format!("- Branch: {}\n", code(branch))),
        (None, Some(patch)) => text.push_str(&format!("- Patch: {}\n", code(patch))),
        (None, None) => {}
    }
    if let Some(into) = &made.into {
        text.push_str(&format!(
            "- Started from: {} at {}\n",
            code(into),
            short(&made.base)
        ));
    }
    text.push_str(&format!("- Commits: {}\n", made.commits));
    for (commit, subject) in past.commits() {
        text.push_str(&format!("  - {} {}\n", short(&commit), line(&subject)));
    }
    text
}

pub(super) fn evidence(past: &PastPlanRun) -> String {
    let rows: Vec<Vec<String>> = past.proofs().map(|proof| proof_row(past, proof)).collect();
    let head = ["Where", "Step", "What", "Exit", "Tests", "Holds", "Tree"];
    let mut text = table(&head, &rows);
    let failures = past.last_proofs().into_iter();
    let failures: Vec<&FailedTest> = failures.flat_map(|proof| &proof.failures).collect();
    if !failures.is_empty() {
        text.push_str("\nFailing at the end:\n\n");
        for failure in failures.iter().take(50) {
            text.push_str(&format!("- {}\n", code(&failure.name)));
        }
    }
    let unproven = past.last_check().filter(|check| !check.passed);
    for why in unproven.map(|it| it.why.as_slice()).unwrap_or_default() {
        text.push_str(&format!("\n- Does not hold: {}", line(&bounded(why, 500))));
    }
    text
}

fn proof_row(past: &PastPlanRun, proof: &ProofRecorded) -> Vec<String> {
    let step = proof.step.as_deref();
    let number = step.and_then(|step| past.conduct.plan().number(step));
    let step = number.map(|number| format!("{number}, loop {}", proof.round));
    let place = match proof.place {
        artel_types::plan::ProofStage::Final => "clean checkout".to_owned(),
        place => place.to_string(),
    };
    let tests = match (proof.passed, proof.failed) {
        (Some(passed), failed) => format!("{passed} of {}", passed + failed.unwrap_or(0)),
        (None, _) => "-".to_owned(),
    };
    vec![
        place,
        step.unwrap_or_else(|| format!("all, round {}", proof.round)),
        code(&proof.what).replace('|', "\\|"),
        proof.exit.map_or("-".to_owned(), |exit| exit.to_string()),
        tests,
        if proof.holds { "yes" } else { "no" }.to_owned(),
        short(&proof.tree).to_owned(),
    ]
}

pub(super) fn deferred(past: &PastPlanRun) -> String {
    let mut lines: Vec<String> = match &past.created {
        Some(made) => made.deferred.clone(),
        None => crate::works::deferred(&past.conduct),
    };
    for event in &past.events {
        // In older records, these lines did not contain the reasons.
        if let Fact::StepWaived(it) = &event.fact
            && !lines.iter().any(|line| line.contains(&*it.reason))
        {
            lines.push(format!(
                "{} waived in step {}: {}",
                it.what, it.step, it.reason
            ));
        }
    }
    lines.extend(changeset::waivers(&past.work));
    bullets(&lines)
}

pub(super) fn decisions(past: &PastPlanRun) -> String {
    let mut answers = answers(past);
    // Decisions about another run's changeset are in that run's report.
    if past.work.changeset.as_ref().map(|it| it.run) != Some(past.run) {
        return bullets(&answers);
    }
    let line = |decision: changeset::ChangesetDecision| {
        let mut text = format!(
            "{}: {} by {}",
            decision.at,
            decision.act,
            decision.by.label()
        );
        if let (Some(into), Some(commit)) = (&decision.into, &decision.commit) {
            text.push_str(&format!(", {} is at {}", code(into), short(commit)));
        }
        if let Some(reason) = &decision.reason {
            text.push_str(&format!(" ({reason})"));
        }
        text
    };
    let decided = changeset::decisions(&past.work);
    if decided.is_empty() && past.created.is_some() {
        answers.push("Nobody has decided about the changeset yet.".to_owned());
    }
    answers.extend(decided.into_iter().map(line));
    bullets(&answers)
}

/// Lists the answers that people gave while the plan was carried out.
fn answers(past: &PastPlanRun) -> Vec<String> {
    let mut asked: BTreeMap<&str, &str> = BTreeMap::new();
    let mut lines = Vec::new();
    for event in &past.events {
        match &event.fact {
            Fact::RunAsked(it) => {
                asked.insert(&it.question, it.text.lines().next().unwrap_or_default());
            }
            Fact::RunAnswered(it) => {
                let to = asked.get(it.question.as_str()).copied().unwrap_or_default();
                lines.push(format!(
                    "{}: {} by {} ({})",
                    event.at,
                    code(&line(&it.answer)),
                    event.actor.label(),
                    line(to)
                ));
            }
            _ => {}
        }
    }
    lines
}

pub(super) fn used(past: &PastPlanRun) -> String {
    let name = past.work.name();
    let mut links = vec![format!("[[{name}]]"), format!("[[{name}_plan]]")];
    let portal = past.work.request.portal.as_ref();
    links.extend(portal.map(|portal| format!("[[Knowledge/Portals/{portal}]]")));
    for reference in &past.conduct.plan().references {
        let reference = line(reference);
        let is_odd = reference.contains("[[") || reference.contains("]]");
        let link = if is_odd {
            reference
        } else {
            format!("[[{reference}]]")
        };
        if !links.contains(&link) {
            links.push(link);
        }
    }
    bullets(&links)
}

pub(super) fn reasoning(past: &PastPlanRun) -> String {
    let plan = past.conduct.plan();
    let mut text = super::page::quoted(&plan.reasoning);
    if !plan.risks.is_empty() {
        text.push_str("\n\nRisks that were seen:\n\n");
        text.push_str(&bullets(&plan.risks));
    }
    text
}

pub(super) fn money(past: &PastPlanRun) -> String {
    crate::runs::price(past.metrics.cost)
}

pub(super) fn cost(past: &PastPlanRun) -> String {
    let took = &past.metrics;
    let tokens = |count: u64| Tokens(count).to_string();
    let cost = money(past);
    let by_model = |(model, cost): (&String, &Money)| format!("  - {}: {cost}\n", code(model));
    let by_model: String = took
        .cost_by_model
        .iter()
        .filter(|it| *it.1 > Money(0))
        .map(by_model)
        .collect();
    format!(
        "- Tokens: {} in ({} from the cache), {} out\n- Money: {cost}\n{by_model}\
         - Time: {} in all, {} of models, {} of tools, {} of people\n- Calls: {} of models, {} of tools\n",
        tokens(took.tokens_input),
        tokens(took.tokens_cached),
        tokens(took.tokens_output),
        span(took.total_ms),
        span(took.model_ms),
        span(took.tool_ms),
        span(took.person_ms),
        took.model_calls,
        took.tool_calls,
    )
}

pub(super) fn next(past: &PastPlanRun) -> String {
    let short = past.work.trace.short();
    let mut lines = Vec::new();
    let row = changeset::row(&past.work).filter(|row| row.run == past.run);
    if past.status() == "failed" {
        lines.push(format!(
            "Go on from the steps that passed: `artel plan retry {short}`"
        ));
        lines.push("Ask again with what was learned here: `artel ask \"…\"`".to_owned());
        if let Some(branch) = past.created.as_ref().and_then(|made| made.branch.as_ref()) {
            lines.push(format!("Take over by hand: `git switch {branch}`"));
        }
        lines.push(format!(
            "See everything that happened: `artel trace {short}`"
        ));
    }
    if let (Some(row), Some(created)) = (row, &past.created) {
        let commands = changeset::next(&row, created).into_iter();
        lines.extend(commands.map(|command| format!("`{command}`")));
    } else if past.created.is_none() {
        lines.push(format!("Read the plan: `artel plan show {short}`"));
    }
    lines.push(format!(
        "Write this report anew: `artel report rebuild {short}`"
    ));
    bullets(&lines)
}

/// Links to the request and the plan. Plans move between folders, so the link holds only
/// the file name.
pub(super) fn links(past: &PastPlanRun) -> String {
    let request = past.work.request.file.as_str();
    let request = request.strip_suffix(".md").unwrap_or(request);
    let name = past.work.name();
    bullets(&[
        format!("Request: [[{request}]]"),
        format!("Plan: [[{name}_plan]]"),
    ])
}

/// Formats milliseconds for people.
fn span(millis: u64) -> String {
    match millis {
        0..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

fn bullets(lines: &[String]) -> String {
    lines
        .iter()
        .map(|text| format!("- {}\n", line(text)))
        .collect()
}

/// Returns a text that is stored in its event, or a placeholder for one stored as a blob.
pub(super) fn inline(text: &RecordedText) -> &str {
    match text {
        RecordedText::Inline(text) => text,
        RecordedText::Kept(_) => "(kept apart)",
    }
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}
