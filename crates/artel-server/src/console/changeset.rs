//! The page of a changeset: its diff, its proofs, and the decisions about it.

mod diff;
mod paint;

use std::sync::Arc;

use artel_types::{Failure, FileChangeKind, ProofRecorded};
use artel_workshop::{ChangesetDecision, ChangesetDetail};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use self::diff::fit;
pub(super) use self::diff::{FileDiff, parse};
use super::evidence::{EVIDENCE, EvidenceTerm, place};
use super::frame::{PageContext, PageFrame, PagePathParams, PageQueryParams, show};
use super::words;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

#[derive(Template)]
#[template(path = "changeset.html")]
pub(super) struct ChangesetPage {
    pub(super) frame: PageFrame,
    pub(super) it: ChangesetDetail,
    pub(super) state: words::StateLabel,
    pub(super) cost: String,
    pub(super) tokens: String,
    pub(super) files: Vec<ChangesetPageFileRow>,
    pub(super) proofs: Vec<ChangesetPageProofRow>,
    /// Explanations of the words about evidence.
    pub(super) legend: Vec<EvidenceTerm>,
    pub(super) decisions: Vec<ChangesetPageDecisionRow>,
    pub(super) can_decide: bool,
    /// Whether the viewer sees the diff.
    pub(super) sees_lines: bool,
    pub(super) is_side: bool,
    pub(super) diff: Vec<FileDiff>,
    /// The number of the only file shown, if there is one.
    pub(super) only: Option<usize>,
    /// Why the diff cannot be shown.
    pub(super) no_diff: Option<String>,
}

/// A changed file.
#[derive(Debug, Clone)]
pub(super) struct ChangesetPageFileRow {
    pub(super) path: String,
    pub(super) kind: &'static str,
    pub(super) lines: String,
    /// Link to the diff of the file.
    pub(super) href: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ChangesetPageProofRow {
    pub(super) state: words::StateLabel,
    pub(super) place: EvidenceTerm,
    pub(super) step: String,
    pub(super) what: String,
    pub(super) found: String,
    pub(super) took: String,
    pub(super) output: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ChangesetPageDecisionRow {
    pub(super) act: String,
    pub(super) by: String,
    pub(super) at: words::TimeLabel,
    pub(super) more: String,
}

/// Query parameters: the layout of the diff and the file to show.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ChangesetPageQuery {
    #[serde(default)]
    side: String,
    /// The number of the only file to show, from 1. If omitted, all files that fit on the
    /// page are shown.
    file: Option<usize>,
}

/// The layout of a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffLayout {
    /// Removed and added lines below each other.
    Unified,
    /// Old and new version side by side.
    Split,
}

impl DiffLayout {
    fn word(self) -> &'static str {
        match self {
            Self::Unified => "unified",
            Self::Split => "split",
        }
    }
}

impl ChangesetPageQuery {
    fn layout(&self) -> DiffLayout {
        match self.side.as_str() {
            "split" => DiffLayout::Split,
            _ => DiffLayout::Unified,
        }
    }
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
    PageQueryParams(wanted): PageQueryParams<ChangesetPageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &id, &wanted)?)).await
}

fn gather(
    site: &PageContext,
    id: &str,
    wanted: &ChangesetPageQuery,
) -> Result<ChangesetPage, Failure> {
    let it = site.workshop.changeset(id)?;
    let sees_lines = site.is_developer() && site.sees_all();
    let diff = match (sees_lines, &it.patch) {
        (false, _) => Ok(String::new()),
        (true, Some(patch)) => Ok(patch.clone()),
        (true, None) => site.workshop.changeset_diff(id),
    };
    let (mut diff, no_diff) = match diff {
        Ok(text) => (parse(&text), None),
        // The commits may be gone; everything else about the changeset is in the journal.
        Err(failure) => (Vec::new(), Some(failure.to_string())),
    };
    let names: Vec<String> = diff.iter().map(|it| it.name.clone()).collect();
    fit(&mut diff, wanted.file);
    let is_side = wanted.layout() == DiffLayout::Split;
    let place = |path: &str| {
        let number = names.iter().position(|name| name == path)? + 1;
        let is_here = |it: &FileDiff| it.number == number && it.folded == 0;
        Some(if diff.iter().any(is_here) {
            format!("#file-{number}")
        } else {
            own_page(number, wanted.layout())
        })
    };
    let files = it.changed.iter();
    let files = files.map(|it| file(it, place(&it.path))).collect();
    let proofs: Vec<ChangesetPageProofRow> =
        it.proofs.iter().map(|proof| row(site, proof)).collect();
    Ok(ChangesetPage {
        frame: site.frame("changesets", format!("Changeset: {}", it.row.title)),
        state: words::state(it.row.state),
        cost: words::cost(it.cost, it.tokens),
        tokens: words::tokens(it.tokens),
        files,
        legend: legend(&proofs),
        proofs,
        decisions: it.decisions.iter().map(decision).collect(),
        can_decide: site.is_developer(),
        sees_lines,
        only: wanted.file,
        is_side,
        diff,
        no_diff,
        it,
    })
}

/// Returns the explanations of the words in the table, each once.
fn legend(proofs: &[ChangesetPageProofRow]) -> Vec<EvidenceTerm> {
    let mut legend = EVIDENCE.to_vec();
    for proof in proofs {
        if !legend.contains(&proof.place) {
            legend.push(proof.place);
        }
    }
    legend
}

/// Returns the link to the page that shows only this file.
fn own_page(number: usize, layout: DiffLayout) -> String {
    format!("?side={}&file={number}#diff", layout.word())
}

fn file(change: &artel_types::FileChange, href: Option<String>) -> ChangesetPageFileRow {
    ChangesetPageFileRow {
        href,
        path: change.name(),
        kind: match change.kind {
            FileChangeKind::Made => "new",
            FileChangeKind::Changed => "changed",
            FileChangeKind::Deleted => "gone",
            FileChangeKind::Renamed => "renamed",
            FileChangeKind::Mode => "mode",
        },
        lines: match (change.added, change.removed) {
            (Some(added), Some(removed)) => format!("+{added} −{removed}"),
            _ => words::bytes(change.bytes),
        },
    }
}

fn row(site: &PageContext, proof: &ProofRecorded) -> ChangesetPageProofRow {
    let found = match (proof.passed, proof.failed, proof.exit) {
        (Some(passed), failed, _) => {
            format!("{passed} of {} tests", passed + failed.unwrap_or(0))
        }
        (None, _, Some(exit)) => format!("exit {exit}"),
        (None, _, None) => String::new(),
    };
    // Viewers who may only see summaries do not see the output of programs.
    let output = site.sees_all().then(|| {
        let read = site.workshop.whole_text(&proof.output);
        read.unwrap_or_else(|failure| failure.to_string())
    });
    ChangesetPageProofRow {
        state: proof.holds.into(),
        place: place(proof.place),
        step: proof.step.clone().unwrap_or_default(),
        what: proof.what.clone(),
        found,
        took: words::span(proof.millis as f64 / 1_000.0),
        output: output.filter(|text| !text.trim().is_empty()),
    }
}

fn decision(it: &ChangesetDecision) -> ChangesetPageDecisionRow {
    let into = it.into.as_ref().map(|into| format!("into {into}"));
    let commit = it.commit.as_ref();
    let commit = commit.map(|commit| commit.chars().take(10).collect::<String>());
    let more = [into, commit, it.reason.clone()].into_iter().flatten();
    ChangesetPageDecisionRow {
        act: it.act.clone(),
        by: it.by.label().into_owned(),
        at: words::when(it.at),
        more: more.collect::<Vec<_>>().join(", "),
    }
}
