//! The start page: what needs someone, what is running, what has finished, and the box for
//! new requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use artel_types::{Failure, TraceId};
use artel_workshop::{
    AttentionItem, AttentionKind, RunCompletionFilter, RunIndexQuery, RunRow, RunStatus,
    TimelineDetailLevel,
};
use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::State;
use axum::response::Response;

use super::coded::coded;
use super::frame::{PageContext, PageFrame, show};
use super::questions::{
    AnswerFormsPanel, CallApprovalForm, PendingDecisionRow, QuestionForm, UnplannedRequestsPanel,
    call, card, query,
};
use super::words::{self, TimeLabel};
use super::wrong::ProblemsPanel;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;
use crate::keeper::SchedulerTask;
use crate::rights;

/// Number of finished runs shown.
const FINISHED: usize = 12;

/// Maximum number of waiting or running items shown; the lists show all of them.
const SHOWN: usize = 50;

/// Maximum number of runs for which steps are counted.
const CLOSELY: usize = 12;

#[derive(Template)]
#[template(path = "now.html")]
pub(super) struct NowPage {
    pub(super) frame: PageFrame,
    pub(super) wrong: ProblemsPanel,
    pub(super) portals: Vec<String>,
    pub(super) needs: AnswerFormsPanel,
    pub(super) cards: Vec<PendingDecisionRow>,
    pub(super) unplanned: UnplannedRequestsPanel,
    /// Number of cards that are not shown.
    pub(super) left_out: usize,
    /// Items that another role decides about.
    pub(super) theirs: Vec<PendingDecisionRow>,
    /// Number of such items that are not shown.
    pub(super) theirs_left_out: usize,
    pub(super) running: RunTable,
    pub(super) finished: RunTable,
    pub(super) is_held: bool,
    /// Work that waits for its turn, with the reason if it could not continue.
    pub(super) queue: Vec<PendingDecisionRow>,
    /// Whether the viewer may have it tried now.
    pub(super) can_try: bool,
    pub(super) in_queue: usize,
    pub(super) under_way: u64,
}

/// A run in a table.
#[derive(Debug, Clone)]
pub(super) struct RunTableRow {
    pub(super) href: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    pub(super) note: String,
    /// Number of finished steps, and of all steps.
    pub(super) steps: Option<(usize, usize)>,
    pub(super) turns: u64,
    pub(super) tokens: Option<String>,
    pub(super) cost: String,
    pub(super) since: TimeLabel,
}

/// A table of runs.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "going.html")]
pub(super) struct RunTable {
    pub(super) caption: &'static str,
    pub(super) rows: Vec<RunTableRow>,
}

// The template escapes its values itself.
impl HtmlSafe for RunTable {}

impl RunTable {
    /// Returns whether the column of steps has content; an empty one is left out.
    fn has_steps(&self) -> bool {
        self.rows.iter().any(|row| row.steps.is_some())
    }

    /// Returns whether the column of tokens has content.
    fn has_tokens(&self) -> bool {
        self.rows.iter().any(|row| row.tokens.is_some())
    }
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
) -> Response {
    show(desk, who, |site| Ok(gather(site)?)).await
}

fn gather(site: &PageContext) -> Result<NowPage, Failure> {
    let waits = site.waiting();
    let of = |kind: AttentionKind| waits.clone().filter(move |it| it.kind == kind);
    let is_asked =
        |it: &AttentionItem| matches!(it.kind, AttentionKind::Question | AttentionKind::Failed);
    let decided = |it: &AttentionItem| {
        matches!(
            it.kind,
            AttentionKind::Plan | AttentionKind::Changeset | AttentionKind::Unfinished
        )
    };
    let (mine, theirs): (Vec<&AttentionItem>, Vec<&AttentionItem>) = waits
        .clone()
        .filter(|it| decided(it) || is_asked(it) && !site.decides(it))
        .partition(|it| site.decides(it));
    let under_way = site.runs(&RunIndexQuery {
        stage: RunCompletionFilter::Open,
        state: Some(RunStatus::Running),
        ..RunIndexQuery::default()
    });
    Ok(NowPage {
        frame: site.frame("now", "Now"),
        wrong: ProblemsPanel::of(site)?,
        portals: site
            .workshop
            .portals()?
            .into_iter()
            .map(|it| it.name)
            .collect(),
        needs: AnswerFormsPanel {
            calls: calls(site, None)?,
            queries: queries(site, of(AttentionKind::Question).take(SHOWN)),
        },
        unplanned: UnplannedRequestsPanel::of(
            of(AttentionKind::Failed)
                .filter(|it| site.decides(it))
                .take(SHOWN),
        ),
        left_out: mine.len().saturating_sub(SHOWN),
        cards: mine.into_iter().take(SHOWN).map(card).collect(),
        theirs_left_out: theirs.len().saturating_sub(SHOWN),
        theirs: theirs.into_iter().take(SHOWN).map(card).collect(),
        running: RunTable {
            caption: "Runs that are not over",
            rows: running(site, &asking(waits.clone()))?,
        },
        finished: RunTable {
            caption: "The latest runs that are over",
            rows: finished(site),
        },
        is_held: site.workshop.is_daemon_held()?,
        can_try: site.is_developer(),
        in_queue: of(AttentionKind::Left).count(),
        queue: of(AttentionKind::Left)
            .take(SHOWN)
            .map(|it| queued(site, it))
            .collect(),
        under_way: under_way.total,
    })
}

/// Returns the card of work that waits for its turn. If the work could not continue, the
/// card says why: that is not an event, and the daemon tries again by itself.
fn queued(site: &PageContext, waits: &AttentionItem) -> PendingDecisionRow {
    let mut queued = card(waits);
    if let Some(why) = site.desk.load.stuck(SchedulerTask::Work(waits.trace)) {
        queued.text = coded(&words::stuck(&why));
    }
    queued
}

/// Returns the questions that the viewer may answer, with the answers that they may give.
pub(super) fn queries<'w>(
    site: &PageContext,
    asked: impl Iterator<Item = &'w AttentionItem>,
) -> Vec<QuestionForm> {
    let mine = asked.filter(|it| site.decides(it));
    mine.map(|it| query(it, &rights::choices_of(&site.who, it)))
        .collect()
}

/// Returns the calls that wait for approval, of one piece of work or of all.
pub(super) fn calls(
    site: &PageContext,
    trace: Option<TraceId>,
) -> Result<Vec<CallApprovalForm>, Failure> {
    let open = site.calls().into_iter();
    let open = open.filter(|it| trace.is_none_or(|trace| it.trace == trace));
    let eyes = site.eyes(TimelineDetailLevel::Full);
    let seen = site.workshop.calls_seen(open.collect(), &eyes)?;
    let widest = rights::widest_grant(&site.who);
    Ok(seen.into_iter().map(|it| call(it, widest)).collect())
}

fn running(site: &PageContext, asking: &BTreeSet<TraceId>) -> Result<Vec<RunTableRow>, Failure> {
    let open = site.runs(&RunIndexQuery {
        stage: RunCompletionFilter::Open,
        limit: SHOWN,
        ..RunIndexQuery::default()
    });
    let mut rows = Vec::new();
    for row in &open.rows {
        let mut going = listed(row, asking);
        let is_driven = site.drivers.run(row.run).is_some();
        if is_driven && rows.len() < CLOSELY {
            going.steps = steps(site, row)?;
        }
        if let Some(work) = site.work(row.trace) {
            going.tokens = Some(words::tokens(work.tokens));
            going.cost = words::cost(work.cost, work.tokens);
        } else if row.state == RunStatus::Left
            && let Some(why) = site.desk.load.stuck(SchedulerTask::Run(row.run))
        {
            // Work shows this in the queue; a run without work has no other place to show
            // it.
            going.note = words::stuck(&why);
        }
        rows.push(going);
    }
    Ok(rows)
}

/// Returns the number of finished steps and of all steps of the plan that a run carries
/// out, or `None` if it carries out no plan.
fn steps(site: &PageContext, row: &RunRow) -> Result<Option<(usize, usize)>, Failure> {
    let Ok(work) = site.workshop.work(row.trace) else {
        return Ok(None);
    };
    if work.course.run() != Some(row.run) {
        return Ok(None);
    }
    let conduct = site.workshop.progress_of(&work)?;
    Ok(conduct.map(|conduct| conduct.progress()))
}

fn finished(site: &PageContext) -> Vec<RunTableRow> {
    let over = site.runs(&RunIndexQuery {
        stage: RunCompletionFilter::Over,
        limit: FINISHED,
        ..RunIndexQuery::default()
    });
    let nobody = BTreeSet::new();
    over.rows.iter().map(|row| listed(row, &nobody)).collect()
}

/// Returns the traces of the works with an unanswered question.
pub(super) fn asking<'w>(waits: impl Iterator<Item = &'w AttentionItem>) -> BTreeSet<TraceId> {
    let questions = waits.filter(|it| it.kind == AttentionKind::Question);
    questions.map(|it| it.trace).collect()
}

/// Returns the table row of a run. While an agent waits for an answer no process drives the
/// run, which is shown as waiting and not as abandoned.
pub(super) fn listed(row: &RunRow, asking: &BTreeSet<TraceId>) -> RunTableRow {
    let standing = match row.state {
        RunStatus::Left if asking.contains(&row.trace) => RunStatus::Waiting,
        standing => standing,
    };
    RunTableRow {
        href: format!("/runs/{}", row.run),
        title: words::short(&row.title, 160),
        state: words::standing(standing),
        note: match row.state {
            RunStatus::Waiting => row.note.clone().unwrap_or_default(),
            _ => String::new(),
        },
        steps: None,
        turns: row.turns,
        tokens: None,
        cost: words::cost(row.cost, row.turns),
        since: words::when(row.since),
    }
}
