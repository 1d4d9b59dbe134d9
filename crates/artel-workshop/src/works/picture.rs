//! The progress of a plan, as people see it: each step with its state, its findings and
//! its usage.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use artel_journal::{EventFilter, EventQuery, JournalRecord};
use artel_rules::conduct::{MENDS, PlanRun, PlanRunOrder, PlanRunRules};
use artel_rules::plan::StepGraph;
use artel_types::plan::StepState;
use artel_types::{
    Fact, Failure, Money, RecordedText, RunId, StepAdvised, StepJudged, StepWorked, Timestamp,
    listed_paths,
};
use serde::Serialize;

use super::work::Work;
use crate::runs::{RunTimelineBuilder, TimelineLineKind, left_out_line};
use crate::workshop::Workshop;

/// Prefix of the ids of mending rounds, used in place of a step's id.
const MENDING: &str = "mend.";

/// Longest remark, in characters.
const LONGEST_REMARK: usize = 100;

/// The progress of a plan that is being carried out, as people see it.
pub struct PlanProgress {
    conduct: PlanRun,
    /// The run of the plan, or `None` until it has begun.
    run: Option<RunId>,
    steps: BTreeMap<String, StepProgressState>,
    /// The step of each run under way. A run on the branch belongs to none.
    children: BTreeMap<RunId, String>,
    /// The run at work on the branch as a whole, with its role.
    at_branch: Option<(RunId, String)>,
    /// Questions and calls with which the plan's agents wait for a person.
    asking: BTreeSet<(RunId, String)>,
    narrator: RunTimelineBuilder,
    tokens: u64,
    cost: Option<Money>,
    began: Option<Timestamp>,
    last: Option<Timestamp>,
}

/// Data shown of a step in addition to its state.
#[derive(Default)]
struct StepProgressState {
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
    turns: u64,
    remarks: Vec<ProgressRemark>,
}

/// One line below a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProgressRemark {
    /// Whether the remark is good news.
    pub mark: TimelineLineKind,
    pub text: String,
    /// The event that requested the call in question, if details of the call can be shown.
    #[serde(skip)]
    pub call: Option<u64>,
}

/// The present state of one step.
#[derive(Debug, Clone, Serialize)]
pub struct StepRow {
    pub number: usize,
    pub id: String,
    pub title: String,
    /// The step's layer, from 1. Steps of one layer do not wait for each other.
    pub layer: usize,
    pub state: StepState,
    /// Number of the present attempt.
    pub round: u32,
    /// Number of attempts allowed.
    pub allowed: u32,
    /// Number of turns that its agents took.
    pub turns: u64,
    /// Seconds that it has taken so far.
    pub seconds: Option<f64>,
    /// Whether the step waits for a person.
    pub is_waiting: bool,
    /// Whether a person has paused the step.
    pub is_held: bool,
    /// The agent's present activity.
    pub doing: Option<String>,
    /// Remarks on what was found.
    pub remarks: Vec<ProgressRemark>,
}

/// The totals of a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PlanProgressTotals {
    pub done: usize,
    /// Number of all steps.
    pub all: usize,
    /// Tokens, both input and output.
    pub tokens: u64,
    /// The cost, or `None` if a price is unknown.
    pub cost: Option<Money>,
    /// Seconds that the plan has taken so far.
    pub seconds: f64,
    /// The present activity outside the steps.
    pub phase: Option<String>,
    /// Questions that a person has to answer.
    pub needs: Vec<String>,
}

impl Workshop {
    /// Starts tracking a plan, with its events so far.
    pub fn picture(
        &self,
        work: &Work,
        rules: PlanRunRules,
        narrator: RunTimelineBuilder,
    ) -> Result<PlanProgress, Failure> {
        Ok(self.picture_told(work, rules, narrator)?.0)
    }

    /// Like `picture`, and returns the events so far as lines of text.
    pub fn picture_told(
        &self,
        work: &Work,
        rules: PlanRunRules,
        narrator: RunTimelineBuilder,
    ) -> Result<(PlanProgress, Vec<ProgressRemark>), Failure> {
        let (_, plan) = self.plan_of(work, None)?;
        let mut picture = PlanProgress {
            conduct: PlanRun::new(plan, rules),
            run: work.course.run(),
            steps: BTreeMap::new(),
            children: BTreeMap::new(),
            at_branch: None,
            asking: BTreeSet::new(),
            narrator,
            tokens: 0,
            cost: Some(Money(0)),
            began: None,
            last: None,
        };
        let mut told = Vec::new();
        let filter = EventFilter {
            trace: Some(work.trace.to_string()),
            ..EventFilter::default()
        };
        // Event by event, so that a long history does not have to fit in memory.
        self.reader()?.visit(&EventQuery::of(filter), |record| {
            told.extend(picture.take(&record));
            ControlFlow::Continue(())
        })?;
        Ok((picture, told))
    }
}

impl PlanProgress {
    /// Takes in an event and returns its news as lines of text.
    pub fn take(&mut self, record: &JournalRecord) -> Vec<ProgressRemark> {
        drop(self.narrator.tell(record));
        let Ok(mut event) = record.event() else {
            return Vec::new();
        };
        if let Fact::PlanApproved(it) = &event.fact {
            self.run = Some(it.run);
        }
        if event.run.is_none() || self.run.is_none() {
            return Vec::new();
        }
        if let Fact::RunStarted(started) = &event.fact
            && started.parent == self.run
        {
            let step = started.step.clone().unwrap_or_default();
            self.children.insert(started.id, step);
        }
        self.count(&event.fact, event.run);
        self.ask(&event.fact, event.run);
        if event.run != self.run {
            return Vec::new();
        }
        self.began.get_or_insert(event.at);
        self.last = Some(event.at);
        for text in event.fact.machine_texts() {
            if matches!(text, RecordedText::Kept(_)) {
                *text = RecordedText::Inline(String::new());
            }
        }
        self.conduct.fold(&event.fact);
        self.told(&event.fact, event.at)
    }

    fn count(&mut self, fact: &Fact, run: Option<RunId>) {
        let step = run.and_then(|run| self.children.get(&run)).cloned();
        match fact {
            Fact::ModelReplied(it) => {
                self.tokens += it.charged.tokens.0;
                self.cost = match (self.cost, it.paid()) {
                    (Some(sum), Some(cost)) => Some(Money(sum.0 + cost.0)),
                    _ => None,
                };
                if let Some(step) = step {
                    self.steps.entry(step).or_default().turns += 1;
                }
            }
            Fact::RunPrepared(it) if step.as_deref() == Some("") => {
                self.at_branch = run.map(|run| (run, it.role.clone()));
            }
            Fact::RunFinished(it) => {
                self.children.remove(&it.id);
                self.at_branch.take_if(|(run, _)| *run == it.id);
            }
            _ => {}
        }
    }

    /// Records what agents wait for a person with.
    fn ask(&mut self, fact: &Fact, run: Option<RunId>) {
        let Some(run) = run.filter(|run| self.children.contains_key(run)) else {
            return;
        };
        match fact {
            Fact::RunAsked(it) => drop(self.asking.insert((run, it.question.clone()))),
            Fact::RunAnswered(it) => drop(self.asking.remove(&(run, it.question.clone()))),
            Fact::ToolRequested(it) if it.decision == "ask" => {
                self.asking.insert((run, it.call.clone()));
            }
            Fact::ToolAnswered(it) => drop(self.asking.remove(&(run, it.call.clone()))),
            _ => {}
        }
    }

    /// Returns whether a step, or an agent at work on it, waits for a person.
    fn is_waiting(&self, step: &str) -> bool {
        let is_of_step = |run: &RunId| self.children.get(run).is_some_and(|of| of == step);
        self.conduct.is_waiting(step) || self.asking.iter().any(|(run, _)| is_of_step(run))
    }

    /// Applies an event of the plan's run to the steps and returns its news.
    fn told(&mut self, fact: &Fact, at: Timestamp) -> Vec<ProgressRemark> {
        match fact {
            Fact::BranchBegun(it) => {
                let short: String = it.base.chars().take(8).collect();
                vec![plain(format!("branch {} from {short}", it.branch))]
            }
            Fact::BaselineTaken(it) if it.holds => vec![plain(baseline_text(it))],
            Fact::StepStarted(it) => {
                let shown = self.steps.entry(it.step.clone()).or_default();
                shown.began.get_or_insert(at);
                let round = match it.round {
                    1 => String::new(),
                    round => format!(", attempt {round}"),
                };
                vec![plain(format!("▸ {}{round}", self.name(&it.step)))]
            }
            Fact::StepChecked(it) if !it.passed => {
                let why = it.why.first().cloned().unwrap_or_default();
                self.remark(&it.step, TimelineLineKind::Bad, format!("checks: {why}"))
            }
            Fact::StepChecked(it) if it.phase == "red" => {
                let count = it.why.len();
                let text = format!("tests first: {count} fail, as they should");
                self.remark(&it.step, TimelineLineKind::Done, text)
            }
            Fact::StepJudged(it) => self.judged(it),
            Fact::StepWorked(it) => self.left_out(it),
            Fact::StepPutBack(it) => {
                let text = format!("put back: {}", listed_paths(&it.files));
                self.remark(&it.step, TimelineLineKind::Bad, text)
            }
            Fact::StepAdvised(it) => {
                self.remark(&it.step, TimelineLineKind::Waits, advice_text(it))
            }
            Fact::StepPassed(it) => {
                let shown = self.steps.entry(it.step.clone()).or_default();
                shown.ended = Some(at);
                let text = format!("{} {}", self.name(&it.step), self.took(&it.step));
                vec![remark(TimelineLineKind::Done, text)]
            }
            Fact::StepSettled(it) => {
                let shown = self.steps.entry(it.step.clone()).or_default();
                shown.ended = Some(at);
                let text = format!("{} {}: {}", self.name(&it.step), it.state, it.why);
                vec![remark(TimelineLineKind::Bad, text)]
            }
            Fact::StepFailed(it) => {
                let state = self.conduct.step(&it.step);
                let allowed = state.map_or(0, |step| step.allowed);
                if it.round >= allowed {
                    return Vec::new();
                }
                let text = format!("{}: retry {}/{allowed}", self.name(&it.step), it.round + 1);
                vec![plain(text)]
            }
            Fact::StepSteered(it) => {
                let text = match it.act.as_str() {
                    "pause" => "paused until a person lets it go on",
                    _ => "goes on",
                };
                self.remark(&it.step, TimelineLineKind::Waits, text.to_owned())
            }
            Fact::StepWaived(it) => self.remark(&it.step, TimelineLineKind::Waits, waiver_text(it)),
            Fact::BranchChecked(it) => {
                let mends = self.mending().map(|text| plain(format!("▸ {text}")));
                std::iter::once(whole_branch(it)).chain(mends).collect()
            }
            Fact::BranchMended(it) => vec![mended(it)],
            Fact::RunAsked(it) => vec![remark(TimelineLineKind::Waits, first_line(&it.text))],
            Fact::PlanAdopted(it) => vec![plain(format!("goes on by version {}", it.version))],
            _ => Vec::new(),
        }
    }

    /// Returns a remark on a verdict: its first evidence, or its feedback if it did not pass.
    fn judged(&mut self, it: &StepJudged) -> Vec<ProgressRemark> {
        let (mark, said) = match (&it.feedback, it.passed) {
            (_, true) => (
                TimelineLineKind::Done,
                it.evidence.first().cloned().unwrap_or_default(),
            ),
            (RecordedText::Inline(text), false) => (TimelineLineKind::Bad, text.clone()),
            (RecordedText::Kept(_), false) => (TimelineLineKind::Bad, "not passed".to_owned()),
        };
        self.remark(&it.step, mark, format!("{}: {said}", it.by))
    }

    /// Returns a remark on an agent's files that were not kept.
    fn left_out(&mut self, worked: &StepWorked) -> Vec<ProgressRemark> {
        let left_out = worked.left_out.as_deref().unwrap_or_default();
        let line = left_out_line(left_out);
        line.map_or(Vec::new(), |line| {
            self.remark(&worked.step, TimelineLineKind::Bad, line)
        })
    }

    fn remark(&mut self, step: &str, mark: TimelineLineKind, text: String) -> Vec<ProgressRemark> {
        let made = remark(mark, text);
        let shown = self.steps.entry(step.to_owned()).or_default();
        shown.remarks.push(made.clone());
        let named = format!("{}: {}", self.name(step), made.text);
        vec![ProgressRemark {
            text: named,
            ..made
        }]
    }

    fn name(&self, step: &str) -> String {
        let plan = self.conduct.plan();
        match (plan.number(step), plan.step(step)) {
            (Some(number), Some(spec)) => format!("{number} {}", spec.title),
            // Verdicts about a round of mending.
            _ if step.starts_with(MENDING) => "the branch".to_owned(),
            _ => step.to_owned(),
        }
    }

    fn took(&self, step: &str) -> String {
        let Some(shown) = self.steps.get(step) else {
            return String::new();
        };
        let seconds = span(shown.began, shown.ended).unwrap_or(0.0);
        let rounds = self.conduct.step(step).map_or(1, |it| it.round.max(1));
        let loops = if rounds == 1 {
            "1 loop".to_owned()
        } else {
            format!("{rounds} loops")
        };
        format!("({loops}, {seconds:.1} s)")
    }

    /// Returns the state of the steps at a moment.
    pub fn rows(&self, now: Timestamp) -> Vec<StepRow> {
        let graph = StepGraph::of(self.conduct.plan()).ok();
        let layer = |id: &str| graph.as_ref().and_then(|it| it.layer(id));
        let rows = self.conduct.steps().enumerate();
        rows.map(|(index, (spec, step))| {
            let shown = self.steps.get(&spec.id);
            let ended = shown.and_then(|it| it.ended).unwrap_or(now);
            let began = shown.and_then(|it| it.began);
            let is_waiting = self.is_waiting(&spec.id);
            let doing = if is_waiting {
                Some("waits for you".to_owned())
            } else {
                self.doing(&spec.id)
            };
            StepRow {
                number: index + 1,
                id: spec.id.clone(),
                title: spec.title.clone(),
                layer: layer(&spec.id).map_or(1, |it| it + 1),
                state: step.state,
                round: step.round,
                allowed: step.allowed,
                turns: shown.map_or(0, |it| it.turns),
                seconds: span(began, Some(ended)),
                is_waiting: is_waiting && !step.is_over(),
                is_held: step.is_paused && !step.is_over(),
                doing: doing.filter(|_| !step.is_over()),
                remarks: shown.map(|it| it.remarks.clone()).unwrap_or_default(),
            }
        })
        .collect()
    }

    /// Describes the present activity of a step's agents.
    fn doing(&self, step: &str) -> Option<String> {
        let mut children = self.children.iter().filter(|(_, of)| *of == step);
        children.next_back().map(|(run, _)| self.narrator.now(*run))
    }

    /// Returns the totals of the plan at a moment.
    pub fn sum(&self, now: Timestamp) -> PlanProgressTotals {
        let (done, all) = self.conduct.progress();
        let needs = self
            .conduct
            .questions()
            .map(|asked| first_line(&asked.text));
        PlanProgressTotals {
            done,
            all,
            tokens: self.tokens,
            cost: self.cost,
            seconds: span(self.began, Some(now)).unwrap_or(0.0),
            phase: self.phase_now(),
            needs: needs.collect(),
        }
    }

    fn phase_now(&self) -> Option<String> {
        if self.conduct.is_over() {
            return None;
        }
        if self.conduct.baseline().is_none() {
            return Some("running the project's own checks first".to_owned());
        }
        if let Some(mending) = self.mending() {
            return Some(match &self.at_branch {
                Some((run, role)) => format!("{mending} · {role}: {}", self.narrator.now(*run)),
                None => mending,
            });
        }
        let mut orders = self.conduct.next().into_iter();
        let is_checked = orders.any(|order| matches!(order, PlanRunOrder::Final { .. }));
        is_checked.then(|| "checking the whole branch on a clean checkout".to_owned())
    }

    /// Names the round of mending that is under way.
    fn mending(&self) -> Option<String> {
        let mut orders = self.conduct.next().into_iter();
        orders.find_map(|order| match order {
            PlanRunOrder::Mend { round } => {
                Some(format!("mending the branch, round {round} of {MENDS}"))
            }
            _ => None,
        })
    }
}

fn whole_branch(checked: &artel_types::BranchChecked) -> ProgressRemark {
    if checked.passed {
        let text = "the whole branch holds on a clean checkout";
        return remark(TimelineLineKind::Done, text.to_owned());
    }
    let why = checked.why.first().cloned().unwrap_or_default();
    remark(TimelineLineKind::Bad, format!("on a clean checkout: {why}"))
}

fn mended(mended: &artel_types::BranchMended) -> ProgressRemark {
    match &mended.commit {
        Some(commit) => {
            let short: String = commit.chars().take(8).collect();
            remark(
                TimelineLineKind::Done,
                format!("the branch was mended, as commit {short}"),
            )
        }
        None => remark(
            TimelineLineKind::Bad,
            "nothing that was tried mends the branch".to_owned(),
        ),
    }
}

fn waiver_text(waived: &artel_types::StepWaived) -> String {
    let found = waived.finding.as_ref();
    let found = found.map_or(String::new(), |it| format!(" ({})", it.told()));
    format!("{}{found} waived: {}", waived.what, waived.reason)
}

fn advice_text(advised: &StepAdvised) -> String {
    match (&advised.advice, &advised.fault) {
        (RecordedText::Inline(text), Some(fault)) => format!("architect: {fault} at fault: {text}"),
        (RecordedText::Inline(text), None) => format!("architect: {text}"),
        (RecordedText::Kept(_), _) => "architect: has said why".to_owned(),
    }
}

fn baseline_text(taken: &artel_types::BaselineTaken) -> String {
    match taken.commands.as_slice() {
        [] => "no checks to compare with, as you said".to_owned(),
        commands => {
            let commands = commands.join(" ; ");
            format!("before the first step: {}", commands.replace("found: ", ""))
        }
    }
}

fn span(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<f64> {
    Some(to?.since(from?).as_secs_f64())
}

fn remark(mark: TimelineLineKind, text: String) -> ProgressRemark {
    let text = first_line(&text);
    ProgressRemark {
        mark,
        text,
        call: None,
    }
}

fn plain(text: String) -> ProgressRemark {
    remark(TimelineLineKind::Plain, text)
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_default().trim();
    match line.char_indices().nth(LONGEST_REMARK) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
