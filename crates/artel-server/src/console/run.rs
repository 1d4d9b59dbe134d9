//! The page of a run: its progress, and each step down to what the agents thought, did and
//! proved.

mod story;
mod subject;
mod timeline;

use std::sync::Arc;

use artel_rules::tally::RunMetricsBuilder;
use artel_types::plan::StepState;
use artel_types::{Failure, Money, RunId};
use artel_workshop::{
    AttentionItem, AttentionKind, ReplyTextMode, RunRow, RunStatus, StepRow, TimelineDetailLevel,
    Work, WorkTimelineBuilder,
};
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

pub(super) use self::story::{RunPageAgent, RunPageAttempt, RunPageLine};
#[cfg(test)]
pub(super) use self::story::{RunPageEvidence, RunPageTurn};
use self::subject::RunPageSubject;
pub(super) use self::timeline::RunPageEventRow;
use self::timeline::{EVENTS, RunForkPoints, events};
use super::evidence::EvidenceTerm;
use super::frame::{LOOKING, PageContext, PageFrame, PagePathParams, PageQueryParams, show};
use super::graph::{PlanGraphDrawing, draw};
use super::now::{calls, queries};
use super::questions::{AnswerFormsPanel, UnplannedRequestsPanel};
use super::words;
use crate::desk::ServerState;
use crate::door::AuthenticatedCaller;

/// Number of the latest milestones shown.
const MILESTONES: usize = 60;

#[derive(Template)]
#[template(path = "run.html")]
pub(super) struct RunPage {
    pub(super) frame: PageFrame,
    pub(super) run: Option<String>,
    pub(super) short: String,
    pub(super) trace: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    pub(super) note: Option<String>,
    pub(super) is_over: bool,
    /// Whether the run can be paused: a process drives it, and it is not paused or
    /// abandoned.
    pub(super) can_pause: bool,
    /// Whether it is paused or no process drives it.
    pub(super) can_resume: bool,
    /// The work, if it could not continue and waits to be tried again.
    pub(super) stuck: Option<String>,
    pub(super) is_full: bool,
    pub(super) can_full: bool,
    pub(super) can_steer: bool,
    pub(super) totals: Vec<(&'static str, String)>,
    pub(super) done: Option<(usize, usize)>,
    pub(super) phase: Option<String>,
    pub(super) links: Vec<(&'static str, String)>,
    pub(super) graph: Option<PlanGraphDrawing>,
    pub(super) needs: AnswerFormsPanel,
    pub(super) unplanned: UnplannedRequestsPanel,
    pub(super) milestones: Vec<RunPageLine>,
    pub(super) steps: Vec<RunPageStep>,
    pub(super) tales: Vec<RunPageAgent>,
    pub(super) answer: Option<String>,
    /// Number of files that wait to be put in place.
    pub(super) files: Option<usize>,
    pub(super) events: Vec<RunPageEventRow>,
    /// Whether some fork points are left out because their files are gone.
    pub(super) is_cut: bool,
    /// The run that can be forked.
    pub(super) fork: Option<String>,
    /// Whether the timeline shows older events than the latest.
    pub(super) is_older: bool,
    /// Where older events begin.
    pub(super) older: Option<u64>,
    /// Number of events that the page leaves out because there are too many.
    pub(super) left_out: u64,
    /// Explanations of the words about evidence.
    pub(super) legend: Vec<EvidenceTerm>,
    /// The work whose plan the run carries out.
    pub(super) plan: Option<String>,
}

/// A step with everything that was done for it.
#[derive(Debug, Clone)]
pub(super) struct RunPageStep {
    pub(super) number: usize,
    pub(super) id: String,
    pub(super) title: String,
    pub(super) state: words::StateLabel,
    /// Whether the step has started and is not finished, so that one of its checks can be
    /// waived.
    pub(super) is_open: bool,
    /// Whether a person has paused the step; `None` once it is finished.
    pub(super) hold: Option<StepHoldState>,
    pub(super) round: u32,
    pub(super) allowed: u32,
    pub(super) turns: u64,
    pub(super) took: Option<String>,
    pub(super) doing: Option<String>,
    pub(super) remarks: Vec<RunPageLine>,
    pub(super) attempts: Vec<RunPageAttempt>,
}

/// Whether a step is paused by a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepHoldState {
    /// The step runs, or will run.
    Free,
    /// A person has paused the step.
    Held,
}

/// Query parameters: the view and the position in the timeline.
#[derive(Debug, Default, Deserialize)]
pub(super) struct RunPageQuery {
    #[serde(default)]
    view: String,
    /// Only events before this one are in the timeline.
    before: Option<u64>,
}

pub(super) async fn page(
    State(desk): State<Arc<ServerState>>,
    who: AuthenticatedCaller,
    PagePathParams(id): PagePathParams,
    PageQueryParams(wanted): PageQueryParams<RunPageQuery>,
) -> Response {
    show(desk, who, move |site| Ok(gather(site, &id, &wanted)?)).await
}

fn gather(site: &PageContext, id: &str, wanted: &RunPageQuery) -> Result<RunPage, Failure> {
    let subject = RunPageSubject::find(site, id)?;
    let is_full = wanted.view == "full" && site.sees_all();
    let eyes = site.eyes(if is_full {
        TimelineDetailLevel::Full
    } else {
        TimelineDetailLevel::Summary
    });
    let mut story = site.workshop.excerpt_told(&subject.excerpt, &eyes);
    let title = story.title_of(subject.run);
    let title = title.or_else(|| Some(subject.work.as_ref()?.request.title.clone()));
    let title = title.unwrap_or_else(|| "A piece of work".to_owned());
    let mut page = blank(site, &subject, title)?;
    page.is_full = is_full;
    page.can_full = site.sees_all();
    // The files of a step are looked up; those of a run are gone once they are put in
    // place.
    let has_files =
        !page.is_over || subject.planned().is_some() || story.files_of(subject.run).is_some();
    let points = site
        .is_developer()
        .then(|| RunForkPoints::of(&subject, &site.workshop))
        .flatten();
    let points = points.map(|points| {
        if has_files {
            points
        } else {
            points.without_files(&subject)
        }
    });
    page.events = events(
        &subject,
        &site.workshop,
        &eyes,
        points.as_ref(),
        wanted.before,
    )?;
    page.is_older = wanted.before.is_some();
    page.older = page.events.last().map(|it| it.seq);
    page.older = page.older.filter(|_| page.events.len() == EVENTS);
    page.is_cut = points.is_some() && !has_files;
    page.fork = points.map(|points| points.run.to_string());
    page.answer = story.answer_of(subject.run);
    match subject.planned() {
        Some(work) => planned(site, work, &mut page, &mut story)?,
        None => {
            page.totals = totals(site, &subject);
            let latest = story.milestones(MILESTONES).iter();
            page.milestones = latest.map(RunPageLine::from).collect();
            page.files = story.files_of(subject.run).filter(|_| site.is_developer());
        }
    }
    page.tales = story.rest().into_iter().map(RunPageAgent::from).collect();
    Ok(page)
}

/// Returns the page with everything that does not depend on the run's story.
fn blank(site: &PageContext, subject: &RunPageSubject, title: String) -> Result<RunPage, Failure> {
    let trace = subject.trace;
    let standing = match subject.run {
        Some(run) => Some(standing(site, subject, run)?),
        None => None,
    };
    let waits = site.waiting();
    let of_trace = waits.filter(|it| it.trace == trace);
    let unplanned = UnplannedRequestsPanel::of(of_trace.clone().filter(|it| site.decides(it)));
    let waits: Vec<&AttentionItem> = of_trace
        .filter(|it| it.kind == AttentionKind::Question)
        .collect();
    let is_over = standing.as_ref().is_some_and(|(it, _)| it.is_over());
    let status = subject.work.as_ref().map(|work| work.status().as_str());
    let state = match &standing {
        // While it waits for an answer no process drives it, which must not look like an
        // abandoned run.
        Some((RunStatus::Left, _)) if !waits.is_empty() => words::standing(RunStatus::Waiting),
        Some((standing, _)) => words::standing(*standing),
        None => words::state(status.unwrap_or("pending")),
    };
    let can_resume = standing.as_ref().is_some_and(|(it, _)| match it {
        RunStatus::Paused => true,
        RunStatus::Left => waits.is_empty(),
        _ => false,
    });
    let can_pause = !can_resume
        && standing
            .as_ref()
            .is_some_and(|(_, driver)| driver.is_some());
    // The reason why a task got stuck is outdated if the task was since resumed elsewhere,
    // answered, paused or ended.
    let is_left = match &standing {
        Some((standing, driver)) => *standing == RunStatus::Left && driver.is_none(),
        None => status == Some("pending"),
    };
    let stuck = subject.task().and_then(|task| site.desk.load.stuck(task));
    let stuck = stuck.filter(|_| is_left && waits.is_empty());
    let driver = standing.and_then(|(_, driver)| driver);
    Ok(RunPage {
        frame: site.frame("runs", format!("Run: {title}")),
        short: subject.run.map_or_else(|| trace.short(), |run| run.short()),
        run: subject.run.map(|run| run.to_string()),
        trace: trace.to_string(),
        title,
        state,
        note: match (&stuck, driver.filter(|_| !is_over)) {
            (Some(why), _) => Some(words::stuck(why)),
            (None, driver) => driver.map(|it| format!("driven by {it}")),
        },
        is_over,
        can_pause,
        can_resume,
        // Only work is retried from here; a run that belongs to no work has its own button
        // to resume it.
        stuck: stuck
            .filter(|_| subject.work.is_some() && site.is_developer())
            .map(|_| trace.short()),
        is_full: false,
        can_full: false,
        can_steer: subject.run.is_some() && !is_over && site.is_developer(),
        totals: Vec::new(),
        done: None,
        phase: None,
        links: subject.links(),
        graph: None,
        needs: AnswerFormsPanel {
            calls: calls(site, Some(trace))?,
            queries: queries(site, waits.into_iter()),
        },
        unplanned,
        milestones: Vec::new(),
        steps: Vec::new(),
        tales: Vec::new(),
        answer: None,
        files: None,
        events: Vec::new(),
        is_cut: false,
        fork: None,
        is_older: false,
        older: None,
        left_out: subject.excerpt.left_out,
        legend: Vec::new(),
        plan: None,
    })
}

/// Fills in what is known about a plan that is being carried out.
fn planned(
    site: &PageContext,
    work: &Work,
    page: &mut RunPage,
    story: &mut WorkTimelineBuilder,
) -> Result<(), Failure> {
    let eyes = site.eyes(TimelineDetailLevel::Summary);
    let narrator = site.workshop.narrator(eyes, ReplyTextMode::Told);
    let (picture, told) = site.workshop.picture_told(work, LOOKING, narrator)?;
    let now = site.now();
    let rows = picture.rows(now);
    let sum = picture.sum(now);
    let states = rows
        .iter()
        .map(|row| (row.id.clone(), state(row)))
        .collect();
    let (_, plan) = site.workshop.plan_of(work, None)?;
    page.graph = draw(&plan, &states);
    page.steps = rows.iter().map(|row| step(row, story)).collect();
    if !site.sees_all() {
        let attempts = page.steps.iter_mut().flat_map(|it| &mut it.attempts);
        let found = attempts.flat_map(|it| &mut it.findings);
        // Viewers who may only see summaries do not see the output of programs and
        // verifiers.
        found.for_each(|it| it.output.clear());
    }
    let from = told.len().saturating_sub(MILESTONES);
    page.milestones = told[from..].iter().map(RunPageLine::from).collect();
    page.legend = story::legend(&page.steps);
    page.plan = Some(work.trace.short());
    page.done = Some((sum.done, sum.all));
    page.phase = sum.phase.clone();
    page.totals = vec![
        ("steps", format!("{} of {}", sum.done, sum.all)),
        ("tokens", words::tokens(sum.tokens)),
        ("cost", words::cost(sum.cost, sum.tokens)),
    ];
    if !page.is_over {
        page.totals.push(("time", words::span(sum.seconds)));
    }
    Ok(())
}

fn is_over(state: StepState) -> bool {
    matches!(
        state,
        StepState::Done | StepState::Failed | StepState::Skipped
    )
}

fn state(row: &StepRow) -> words::StateLabel {
    if row.is_waiting {
        words::WAITS
    } else {
        words::step(row.state)
    }
}

fn step(row: &StepRow, story: &mut WorkTimelineBuilder) -> RunPageStep {
    let attempts = story.attempts_of(&row.id).into_iter();
    RunPageStep {
        number: row.number,
        id: row.id.clone(),
        title: row.title.clone(),
        state: state(row),
        is_open: row.round > 0 && !is_over(row.state),
        hold: (!is_over(row.state)).then_some(if row.is_held {
            StepHoldState::Held
        } else {
            StepHoldState::Free
        }),
        round: row.round,
        allowed: row.allowed,
        turns: row.turns,
        took: row.seconds.map(words::span),
        doing: row.doing.clone().filter(|_| !row.is_waiting),
        remarks: row.remarks.iter().map(RunPageLine::from).collect(),
        attempts: attempts.map(RunPageAttempt::from).collect(),
    }
}

/// Returns the state of a run and the process that drives it. For a long run they come from
/// the index, which has read all of its events already.
fn standing(
    site: &PageContext,
    subject: &RunPageSubject,
    run: RunId,
) -> Result<(RunStatus, Option<String>), Failure> {
    match listed(site, subject) {
        Some(row) => Ok((row.state, site.drivers.run(run).map(str::to_owned))),
        None => site.workshop.standing_of(run),
    }
}

/// Returns the index row of a long run.
fn listed(site: &PageContext, subject: &RunPageSubject) -> Option<RunRow> {
    let run = subject.run.filter(|_| subject.is_long())?;
    site.desk.board().run(run, &site.drivers)
}

fn totals(site: &PageContext, subject: &RunPageSubject) -> Vec<(&'static str, String)> {
    if let Some(row) = listed(site, subject) {
        return taken(row.turns, row.tokens, row.cost);
    }
    let mut tally = RunMetricsBuilder::default();
    let events = subject.records().iter();
    let events = events.filter_map(|record| record.event().ok());
    events.for_each(|event| tally.fold(&event));
    let metrics = tally.metrics(None);
    let tokens = metrics.tokens_input + metrics.tokens_output;
    taken(metrics.turns, tokens, metrics.cost)
}

fn taken(turns: u64, tokens: u64, cost: Option<Money>) -> Vec<(&'static str, String)> {
    vec![
        ("turns", turns.to_string()),
        ("tokens", words::tokens(tokens)),
        ("cost", words::cost(cost, tokens)),
    ]
}
