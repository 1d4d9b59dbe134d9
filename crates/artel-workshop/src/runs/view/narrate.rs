//! The timeline builder: turns the events of runs into timeline lines, one event at a
//! time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_config::ViewerRole;
use artel_journal::{BlobStore, JournalRecord};
use artel_types::model::{MessagePart, ModelReply};
use artel_types::{
    Event, EventVisibility, Fact, ModelFailed, ModelReplied, ModelRequested, RecordedText,
    RunFinished, RunId, RunPrepared, RunStarted, ToolAnswered, ToolFinished, ToolRequested,
    counted,
};
use serde_json::Value;

use super::ending::ending;
use super::line::{RunProgress, TimelineLine, TimelineLineKind, first_line, grouped, span};
use super::phrases::{of_continuation, of_steering, progress, refusal, unanswered};
use super::tools::{self, CallSummary, LookupCallKind};
use super::{ReplyTextMode, RunVisibility, TimelineDetailLevel};

/// Longest message, summary or line of output that a timeline quotes, in characters.
const LONGEST: usize = 200;

/// Turns journal records of runs into timeline lines.
pub struct RunTimelineBuilder {
    eyes: RunVisibility,
    words: ReplyTextMode,
    blobs: BlobStore,
    workshop: PathBuf,
    home: Option<PathBuf>,
    runs: BTreeMap<RunId, RunTimelineState>,
}

/// The timeline builder's state of one run.
#[derive(Debug, Default)]
struct RunTimelineState {
    title: String,
    skill: Option<String>,
    folder: String,
    scope: Option<&'static str>,
    depth: usize,
    most: u32,
    turn: u32,
    calls: BTreeMap<String, (String, Value)>,
    /// Open questions by call: what the agent wanted, and the question.
    asked: BTreeMap<String, (String, ToolRequested)>,
    looked: Vec<(LookupCallKind, Vec<String>)>,
    has_head: bool,
    doing: Option<String>,
    /// The run's progress after the current event.
    progress: Option<RunProgress>,
    /// Whether the run continues the work of another run, which reports the end.
    is_heir: bool,
}

impl RunTimelineBuilder {
    pub(super) fn new(eyes: RunVisibility, words: ReplyTextMode, blobs: BlobStore) -> Self {
        Self {
            eyes,
            words,
            blobs,
            workshop: PathBuf::new(),
            home: None,
            runs: BTreeMap::new(),
        }
    }

    pub(super) fn at_home(mut self, workshop: PathBuf, home: Option<PathBuf>) -> Self {
        self.workshop = workshop;
        self.home = home;
        self
    }

    /// Returns the lines that an event adds to the timeline.
    pub fn tell(&mut self, record: &JournalRecord) -> Vec<TimelineLine> {
        // Records of another build appear in the table of events, but not in this timeline.
        let Ok(event) = record.event() else {
            return Vec::new();
        };
        let is_for_audit = event.visibility == EventVisibility::Hidden;
        if is_for_audit && self.eyes.role != ViewerRole::Admin {
            return Vec::new();
        }
        let run = match &event.fact {
            Fact::RunApplied(applied) => Some(applied.id),
            Fact::FeedbackGiven(given) => Some(given.id),
            _ => event.run,
        };
        let Some(run) = run else {
            return Vec::new();
        };
        let told = self.told(run, &event);
        let call = match &event.fact {
            Fact::ToolRequested(asked) if !self.eyes.hides(&asked.tool) => Some(event.seq),
            _ => None,
        };
        let tale = self.runs.entry(run).or_default();
        let mut lines = Vec::new();
        if !told.is_empty() || matches!(event.fact, Fact::ModelRequested(_)) {
            let looked = std::mem::take(&mut tale.looked).into_iter();
            lines.extend(
                looked.map(|(look, targets)| (TimelineLineKind::Plain, look.told(&targets))),
            );
        }
        lines.extend(told);
        let line = |(mark, text): (TimelineLineKind, String)| TimelineLine {
            mark,
            text,
            depth: tale.depth,
            turn: tale.turn,
            run,
            progress: None,
            call: call.filter(|_| mark == TimelineLineKind::Call),
        };
        let mut lines: Vec<TimelineLine> = lines.into_iter().map(line).collect();
        if let Some(last) = lines.last_mut() {
            last.progress = tale.progress.take();
        }
        lines
    }

    /// Records that some turns of a run are left out of the timeline.
    pub(crate) fn pass_over(&mut self, run: RunId, turns: u32) {
        self.runs.entry(run).or_default().turn += turns;
    }

    /// Describes in a few words the run's current activity.
    pub fn now(&self, run: RunId) -> String {
        let Some(tale) = self.runs.get(&run) else {
            return "beginning".to_owned();
        };
        let doing = tale.doing.as_deref().unwrap_or("thinking");
        match tale.turn {
            0 => doing.to_owned(),
            turn => format!("turn {turn} · {doing}"),
        }
    }

    fn is_full(&self) -> bool {
        self.eyes.view == TimelineDetailLevel::Full
    }

    /// Returns a line for an event that only the full view shows.
    pub(super) fn full(
        &self,
        mark: TimelineLineKind,
        text: impl FnOnce() -> String,
    ) -> Vec<(TimelineLineKind, String)> {
        if self.is_full() {
            vec![(mark, text())]
        } else {
            Vec::new()
        }
    }

    fn told(&mut self, run: RunId, event: &Event) -> Vec<(TimelineLineKind, String)> {
        let one = |mark: TimelineLineKind, text: String| vec![(mark, text)];
        match &event.fact {
            Fact::RunStarted(started) => self.started(run, started),
            Fact::RunPrepared(prepared) => self.prepared(run, prepared),
            Fact::ModelRequested(asked) => self.requested(run, asked),
            Fact::ModelReplied(replied) => self.replied(run, replied),
            Fact::ModelFailed(failed) => self.failed(failed),
            Fact::ToolRequested(asked) => self.called(run, asked),
            Fact::ToolAnswered(answered) => self.allowed(run, answered),
            Fact::ToolFinished(finished) => self.returned(run, finished),
            Fact::RunSteered(steered) => one(
                TimelineLineKind::Waits,
                of_steering(&steered.act, &steered.text),
            ),
            Fact::RunForked(forked) => one(
                TimelineLineKind::Plain,
                format!(
                    "goes on from run {} after event {}",
                    forked.from.short(),
                    grouped(forked.at)
                ),
            ),
            Fact::RunHandedOver(handed) => {
                let heir = handed.to.short();
                one(
                    TimelineLineKind::Plain,
                    format!("handed over to run {heir}: {}", handed.why),
                )
            }
            Fact::RunContinued(continued) => of_continuation(continued),
            Fact::RunAsked(asked) => one(TimelineLineKind::Waits, format!("asks: {}", asked.text)),
            Fact::RunAnswered(answered) => one(
                TimelineLineKind::Plain,
                format!("answered: {}", answered.answer),
            ),
            Fact::RunEscalated(escalated) => one(
                TimelineLineKind::Bad,
                format!("calls for help: {}", escalated.why),
            ),
            Fact::RunSaid(said) => self.full(TimelineLineKind::Words, || {
                format!(
                    "told ({}): {}",
                    said.why,
                    first_line(&self.text(&said.text), LONGEST)
                )
            }),
            Fact::BudgetWarned(warned) => one(
                TimelineLineKind::Waits,
                format!("has cost {} so far", warned.used.money),
            ),
            Fact::RunFinished(finished) => self.finished(run, finished),
            Fact::RunApplied(applied) => one(
                TimelineLineKind::Done,
                format!("put in place: {}", applied.files.join(", ")),
            ),
            Fact::FeedbackGiven(given) => {
                one(TimelineLineKind::Plain, format!("feedback: {}", given.text))
            }
            _ => self.aside(event),
        }
    }

    fn started(&mut self, run: RunId, started: &RunStarted) -> Vec<(TimelineLineKind, String)> {
        let above = started.parent.and_then(|parent| self.runs.get(&parent));
        let is_heir = started.takes_over();
        let depth = above.map_or(0, |parent| parent.depth + usize::from(!is_heir));
        let folder = started
            .folder
            .as_deref()
            .map(|it| self.homely(Path::new(it)));
        let tale = self.runs.entry(run).or_default();
        tale.title.clone_from(&started.title);
        tale.skill.clone_from(&started.skill);
        tale.folder = folder.unwrap_or_default();
        tale.depth = depth;
        tale.has_head = started.parent.is_some();
        tale.is_heir = is_heir;
        if is_heir {
            return vec![(
                TimelineLineKind::Head,
                format!("goes on in a fresh run {}", run.short()),
            )];
        }
        if started.parent.is_none() {
            return vec![(
                TimelineLineKind::Head,
                format!("run {}  {}", run.short(), started.title),
            )];
        }
        let name = started.skill.as_deref().unwrap_or("agent");
        vec![(
            TimelineLineKind::Head,
            format!("{name} begins ({})", run.short()),
        )]
    }

    fn prepared(&mut self, run: RunId, prepared: &RunPrepared) -> Vec<(TimelineLineKind, String)> {
        let scope = prepared
            .skill_folder
            .as_deref()
            .map(|at| self.scope(run, Path::new(at)));
        let tale = self.runs.entry(run).or_default();
        tale.most = prepared.turns;
        tale.scope = scope;
        Vec::new()
    }

    /// Names the owner of a skill (workshop, project, user or elsewhere) by its folder.
    fn scope(&self, run: RunId, at: &Path) -> &'static str {
        let folder = self.runs.get(&run).map_or("", |tale| tale.folder.as_str());
        if at.starts_with(self.workshop.join("Skills")) {
            return "workshop";
        }
        if !folder.is_empty() && self.homely(at).starts_with(&format!("{folder}/")) {
            return "project";
        }
        let home = self.home.as_deref();
        if home.is_some_and(|home| at.starts_with(home)) {
            "user"
        } else {
            "elsewhere"
        }
    }

    fn requested(&mut self, run: RunId, asked: &ModelRequested) -> Vec<(TimelineLineKind, String)> {
        let is_full = self.is_full();
        let model = self.homely(Path::new(&asked.model));
        let tale = self.runs.entry(run).or_default();
        tale.doing = None;
        let mut lines = Vec::new();
        if !std::mem::replace(&mut tale.has_head, true) {
            let what = match (&tale.skill, tale.scope) {
                (Some(skill), scope) => {
                    format!("skill {skill} ({}, trusted)", scope.unwrap_or("elsewhere"))
                }
                (None, _) => "task".to_owned(),
            };
            let place = &tale.folder;
            lines.push((
                TimelineLineKind::Detail,
                format!("{what} · {}:{model} · {place}", asked.provider),
            ));
        }
        if is_full && asked.attempt == 1 {
            let turn = tale.turn + 1;
            let text = match tale.most {
                0 => format!("[turn {turn}]"),
                most if turn > most => "[closing call]".to_owned(),
                most => format!("[turn {turn}/{most}]"),
            };
            lines.push((TimelineLineKind::Turn, text));
        }
        lines
    }

    fn replied(&mut self, run: RunId, replied: &ModelReplied) -> Vec<(TimelineLineKind, String)> {
        let reply = serde_json::from_str::<ModelReply>(&self.text(&replied.reply)).ok();
        let parts = reply.map(|reply| reply.parts).unwrap_or_default();
        let is_turn = |part: &MessagePart| matches!(part, MessagePart::ToolCall(call) if call.name != "finish");
        let tale = self.runs.entry(run).or_default();
        if parts.iter().any(is_turn) {
            tale.turn += 1;
        }
        if self.eyes.view == TimelineDetailLevel::Summary {
            return Vec::new();
        }
        let said = |part: &MessagePart| match part {
            MessagePart::Thinking { text, .. }
                if !text.is_empty() && self.eyes.most == TimelineDetailLevel::Full =>
            {
                Some((TimelineLineKind::Words, format!("thought: {text}")))
            }
            MessagePart::Text { text, .. }
                if self.words == ReplyTextMode::Told && !text.trim().is_empty() =>
            {
                Some((TimelineLineKind::Words, text.trim().to_owned()))
            }
            _ => None,
        };
        let mut lines: Vec<_> = parts.iter().filter_map(said).collect();
        let model = format!("{}:{}", replied.provider, replied.model);
        if replied.attempt > 1 {
            lines.insert(
                0,
                (
                    TimelineLineKind::Plain,
                    format!("attempt {} by {model}", replied.attempt),
                ),
            );
        }
        lines
    }

    fn failed(&self, failed: &ModelFailed) -> Vec<(TimelineLineKind, String)> {
        let then = if failed.retry_at.is_some() {
            "; tries again"
        } else {
            ""
        };
        self.full(TimelineLineKind::Bad, || {
            let who = format!("{}:{}", failed.provider, failed.model);
            format!("{who}: {}{then}", first_line(&failed.message, LONGEST))
        })
    }

    fn called(&mut self, run: RunId, asked: &ToolRequested) -> Vec<(TimelineLineKind, String)> {
        let input = serde_json::from_str(&self.text(&asked.input)).unwrap_or(Value::Null);
        let is_hidden = self.eyes.hides(&asked.tool);
        let shown = if is_hidden {
            tools::hidden(&asked.tool)
        } else {
            format!("{} {}", asked.tool, tools::arguments(&input))
        };
        let (wanted, doing) = if is_hidden {
            (shown.clone(), shown.clone())
        } else {
            let doing = tools::doing(&asked.tool, &input);
            (tools::wanted(&asked.tool, &input), doing)
        };
        let tale = self.runs.entry(run).or_default();
        tale.doing = Some(doing);
        tale.calls
            .insert(asked.call.clone(), (asked.tool.clone(), input));
        if asked.decision == "ask" {
            let question = (wanted.clone(), asked.clone());
            tale.asked.insert(asked.call.clone(), question);
        }
        let mut lines = self.full(TimelineLineKind::Call, || shown);
        // A call that does not fit the tool's schema is the model's mistake, and of no interest to
        // a person.
        if asked.decision == "deny" && asked.rule != "default.unfit" {
            lines.extend(refusal(&wanted, asked));
        }
        lines
    }

    fn allowed(&mut self, run: RunId, answered: &ToolAnswered) -> Vec<(TimelineLineKind, String)> {
        let tale = self.runs.entry(run).or_default();
        let asked = tale.asked.remove(&answered.call);
        match answered.answer.as_str() {
            "no" => vec![(TimelineLineKind::Waits, "not allowed by you".to_owned())],
            "nobody" => match asked {
                Some((wanted, asked)) => unanswered(&wanted, &asked, answered),
                None => vec![(
                    TimelineLineKind::Waits,
                    "not done: nobody could be asked".to_owned(),
                )],
            },
            scope => self.full(TimelineLineKind::Plain, || {
                format!("allowed by you ({scope})")
            }),
        }
    }

    fn returned(&mut self, run: RunId, finished: &ToolFinished) -> Vec<(TimelineLineKind, String)> {
        let observation = self.text(&finished.observation);
        let tale = self.runs.entry(run).or_default();
        tale.doing = None;
        let (_, input) = tale.calls.remove(&finished.call).unwrap_or_default();
        let is_hidden = self.eyes.hides(&finished.tool);
        let is_bad = finished.trouble.is_some() || finished.exit.is_some_and(|code| code != 0);
        if self.is_full() {
            let mark = if is_bad {
                TimelineLineKind::Failed
            } else {
                TimelineLineKind::Result
            };
            return self.result(finished, &observation, mark);
        }
        let tale = self.runs.entry(run).or_default();
        if is_bad {
            return Vec::new();
        }
        if is_hidden {
            return vec![(TimelineLineKind::Plain, tools::hidden(&finished.tool))];
        }
        match tools::milestone(&input, finished, &observation) {
            CallSummary::Nothing => Vec::new(),
            CallSummary::Line(text) => vec![(TimelineLineKind::Plain, text)],
            CallSummary::Progress(done, all) => {
                let now = RunProgress::of(done, all);
                tale.progress = Some(now);
                vec![(TimelineLineKind::Plain, progress(now))]
            }
            CallSummary::Looked(look, target) => {
                match tale.looked.iter_mut().find(|(same, _)| *same == look) {
                    Some((_, targets)) => targets.push(target),
                    None => tale.looked.push((look, vec![target])),
                }
                Vec::new()
            }
        }
    }

    fn result(
        &self,
        finished: &ToolFinished,
        text: &str,
        mark: TimelineLineKind,
    ) -> Vec<(TimelineLineKind, String)> {
        let took = span(finished.millis);
        if self.eyes.hides(&finished.tool) {
            return vec![(mark, format!("{} · {took}", tools::hidden(&finished.tool)))];
        }
        let most = self.eyes.lines_of_results();
        let all: Vec<&str> = text.lines().collect();
        let cut = |line: &&str| line.chars().take(LONGEST).collect::<String>();
        let mut lines: Vec<_> = all.iter().take(most).map(cut).collect();
        if all.len() > most {
            let more = counted((all.len() - most) as u64, "more line");
            lines.push(format!("… [{more}, {} bytes]", text.len()));
        }
        let first = if lines.is_empty() {
            String::new()
        } else {
            lines.remove(0)
        };
        let mut told = vec![(mark, format!("{first} · {took}"))];
        told.extend(
            lines
                .into_iter()
                .map(|line| (TimelineLineKind::Detail, line)),
        );
        told
    }

    fn finished(&mut self, run: RunId, finished: &RunFinished) -> Vec<(TimelineLineKind, String)> {
        let tale = self.runs.entry(run).or_default();
        if tale.is_heir {
            // The run whose work this one continues reports the end.
            return Vec::new();
        }
        if tale.depth == 0 {
            return ending(finished);
        }
        let name = tale.skill.as_deref().unwrap_or("agent");
        let is_done = finished.state.as_deref() == Some("complete");
        let (mark, word) = if is_done {
            (TimelineLineKind::Done, "")
        } else {
            (TimelineLineKind::Bad, " is not done")
        };
        vec![(
            mark,
            format!("{name}{word}: {}", first_line(&finished.summary, LONGEST)),
        )]
    }

    fn text(&self, text: &RecordedText) -> String {
        match text {
            RecordedText::Inline(text) => text.clone(),
            RecordedText::Kept(at) => match self.blobs.get(&at.blob) {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(_) => format!("[{} bytes that are gone]", at.bytes),
            },
        }
    }

    /// Shows a path the way people write it, with `~` for the home folder.
    fn homely(&self, path: &Path) -> String {
        let home = self.home.as_deref();
        match home.and_then(|home| path.strip_prefix(home).ok()) {
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }
}
