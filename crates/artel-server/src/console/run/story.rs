//! What happened in a run, put where a reader looks for it: by step, attempt, agent and turn.

use std::collections::BTreeMap;

use artel_journal::Record;
use artel_types::{Fact, RunId, Text};
use artel_workshop::{Line, Mark, Narrator};

use super::Milestone;
use crate::console::evidence::{EVIDENCE, Meaning, Verdict, place};
use crate::console::words;

/// So much of one output is shown.
const LONGEST: usize = 20_000;

/// One attempt at a step.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct Attempt {
    pub(in crate::console) round: u32,
    pub(in crate::console) tales: Vec<Tale>,
    pub(in crate::console) findings: Vec<Finding>,
}

/// What one agent did.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct Tale {
    pub(in crate::console) run: String,
    pub(in crate::console) title: String,
    pub(in crate::console) turns: Vec<Turn>,
}

/// One turn of an agent.
#[derive(Debug, Clone, Default)]
pub(in crate::console) struct Turn {
    pub(in crate::console) number: u32,
    pub(in crate::console) lines: Vec<Milestone>,
}

/// A proof, a check or a verdict.
#[derive(Debug, Clone)]
pub(in crate::console) struct Finding {
    pub(in crate::console) state: words::State,
    pub(in crate::console) head: String,
    pub(in crate::console) lines: Vec<String>,
    /// Where a proof was made.
    pub(in crate::console) place: Option<Meaning>,
    /// What was printed.
    pub(in crate::console) output: String,
}

/// What is known of a run while its events go by.
#[derive(Debug, Default)]
struct Known {
    title: String,
    /// The step and which of its attempts it belongs to.
    place: Option<(String, usize)>,
    tale: Tale,
    answer: Option<String>,
    files: usize,
    is_applied: bool,
    is_placed: bool,
}

/// What happened, as it goes by.
pub(super) struct Story {
    narrator: Narrator,
    order: Vec<RunId>,
    runs: BTreeMap<RunId, Known>,
    steps: BTreeMap<String, Vec<Attempt>>,
    milestones: Vec<Milestone>,
}

impl Story {
    pub(super) fn new(narrator: Narrator) -> Self {
        Self {
            narrator,
            order: Vec::new(),
            runs: BTreeMap::new(),
            steps: BTreeMap::new(),
            milestones: Vec::new(),
        }
    }

    /// Takes in an event; `seen` is what may be shown of it, `read` reads a text that is kept
    /// elsewhere.
    pub(super) fn take(
        &mut self,
        record: &Record,
        seen: Option<&Record>,
        read: impl Fn(&Text) -> String,
    ) {
        for line in self.narrator.tell(record) {
            self.line(line);
        }
        let Some(Ok(event)) = seen.map(Record::event) else {
            return;
        };
        match event.fact {
            Fact::RunStarted(it) => {
                let place = match (&it.step, it.parent) {
                    (Some(step), _) => Some((step.clone(), self.attempts(step).max(1) - 1)),
                    (None, Some(parent)) => self.known(parent).place.clone(),
                    (None, None) => None,
                };
                let known = self.known(it.id);
                known.title.clone_from(&it.title);
                known.place = place;
            }
            Fact::RunFinished(it) => {
                let answer = it.answer.as_ref().map(&read);
                let files = it.changed.as_ref().map_or(0, Vec::len);
                let known = self.known(it.id);
                known.answer = answer;
                known.files = files;
            }
            Fact::RunApplied(it) => self.known(it.id).is_applied = true,
            fact => self.step_event(fact, read),
        }
    }

    fn step_event(&mut self, fact: Fact, read: impl Fn(&Text) -> String) {
        match fact {
            Fact::StepStarted(it) => self.attempt(&it.step, it.round),
            Fact::ProofRecorded(it) => {
                if let Some(step) = it.step.clone() {
                    let output = cut(read(&it.output));
                    let found = proof(&it, output);
                    self.find(&step, found);
                }
            }
            Fact::StepChecked(it) => {
                let head = match it.phase.as_str() {
                    "red" => "checks of the tests, before the work".to_owned(),
                    "green" => "checks after the work".to_owned(),
                    phase => format!("checks ({phase})"),
                };
                self.find(&it.step, finding(it.passed.into(), head, it.why));
            }
            Fact::StepJudged(it) => {
                let mut lines = it.evidence.clone();
                lines.extend(it.findings.iter().map(|found| {
                    let line = found.line.map_or(String::new(), |line| format!(":{line}"));
                    let (severity, file, why) = (found.severity, &found.file, &found.why);
                    format!("{severity} {file}{line}: {why} {}", found.fix)
                }));
                let mut made =
                    finding(it.passed.into(), format!("verdict of the {}", it.by), lines);
                made.output = cut(read(&it.feedback));
                self.find(&it.step, made);
            }
            Fact::StepFailed(it) => {
                let head = "the attempt".to_owned();
                let mut made = finding(Verdict::NotPassed, head, Vec::new());
                made.output = cut(read(&it.why));
                self.find(&it.step, made);
            }
            Fact::StepPassed(it) => {
                let mut lines = it.files.clone();
                lines.extend(it.waived.iter().map(|what| format!("waived: {what}")));
                let commit: String = it.commit.iter().flat_map(|it| it.chars().take(8)).collect();
                let head = match commit.is_empty() {
                    true => "the step".to_owned(),
                    false => format!("the step, as commit {commit}"),
                };
                self.find(&it.step, finding(Verdict::Passed, head, lines));
            }
            Fact::StepWaived(it) => {
                let made = finding(Verdict::Waived, it.what, vec![it.reason]);
                self.find(&it.step, made);
            }
            Fact::StepSettled(it) => {
                self.find(
                    &it.step,
                    finding(Verdict::NotPassed, it.state, vec![it.why]),
                );
            }
            _ => {}
        }
    }

    fn line(&mut self, line: Line) {
        let (sign, class) = words::mark(line.mark);
        let made = Milestone {
            sign,
            class,
            text: cut(line.text),
        };
        let is_milestone = matches!(
            line.mark,
            Mark::Head | Mark::Done | Mark::Bad | Mark::Waits | Mark::Plain
        );
        if is_milestone {
            self.milestones.push(made.clone());
        }
        // A turn is headed before its reply is there.
        let number = line.turn + u32::from(line.mark == Mark::Turn);
        let turns = &mut self.known(line.run).tale.turns;
        match turns.last_mut() {
            Some(turn) if turn.number == number => turn.lines.push(made),
            _ => turns.push(Turn {
                number,
                lines: vec![made],
            }),
        }
    }

    fn known(&mut self, run: RunId) -> &mut Known {
        if !self.runs.contains_key(&run) {
            self.order.push(run);
        }
        self.runs.entry(run).or_default()
    }

    fn attempts(&self, step: &str) -> usize {
        self.steps.get(step).map_or(0, Vec::len)
    }

    fn attempt(&mut self, step: &str, round: u32) {
        let attempts = self.steps.entry(step.to_owned()).or_default();
        attempts.push(Attempt {
            round,
            ..Attempt::default()
        });
    }

    fn find(&mut self, step: &str, found: Finding) {
        if self.attempts(step) == 0 {
            self.attempt(step, 1);
        }
        let attempts = self.steps.entry(step.to_owned()).or_default();
        if let Some(last) = attempts.last_mut() {
            last.findings.push(found);
        }
    }

    pub(super) fn title_of(&self, run: Option<RunId>) -> Option<String> {
        let known = self.runs.get(&run?)?;
        Some(known.title.clone()).filter(|title| !title.is_empty())
    }

    pub(super) fn answer_of(&self, run: Option<RunId>) -> Option<String> {
        let answer = self.runs.get(&run?)?.answer.clone()?;
        Some(answer).filter(|answer| !answer.trim().is_empty())
    }

    /// Returns how many files of a run wait to be put in place.
    pub(super) fn files_of(&self, run: Option<RunId>) -> Option<usize> {
        let known = self.runs.get(&run?)?;
        Some(known.files).filter(|files| *files > 0 && !known.is_applied)
    }

    /// Returns the latest milestones, the newest last.
    pub(super) fn milestones(&self, most: usize) -> Vec<Milestone> {
        let from = self.milestones.len().saturating_sub(most);
        self.milestones[from..].to_vec()
    }

    /// Returns the attempts at a step, with what the agents did in each.
    pub(super) fn attempts_of(&mut self, step: &str) -> Vec<Attempt> {
        let mut attempts = self.steps.remove(step).unwrap_or_default();
        for run in &self.order {
            let Some(known) = self.runs.get_mut(run) else {
                continue;
            };
            let Some((_, at)) = known.place.as_ref().filter(|(of, _)| of == step) else {
                continue;
            };
            if let Some(attempt) = attempts.get_mut(*at) {
                known.is_placed = true;
                attempt.tales.push(tale(*run, known));
            }
        }
        attempts
    }

    /// Returns what belongs to no step.
    pub(super) fn rest(&mut self) -> Vec<Tale> {
        let mut rest = Vec::new();
        for run in &self.order {
            if let Some(known) = self.runs.get_mut(run)
                && !known.is_placed
                && !known.tale.turns.is_empty()
            {
                rest.push(tale(*run, known));
            }
        }
        rest
    }
}

/// Explains the words about evidence that the steps have, each once.
pub(super) fn legend(steps: &[super::StepView]) -> Vec<Meaning> {
    let attempts = steps.iter().flat_map(|step| &step.attempts);
    let mut found = attempts.flat_map(|attempt| &attempt.findings).peekable();
    if found.peek().is_none() {
        return Vec::new();
    }
    let mut legend = EVIDENCE.to_vec();
    for place in found.filter_map(|it| it.place) {
        if !legend.contains(&place) {
            legend.push(place);
        }
    }
    legend
}

fn tale(run: RunId, known: &mut Known) -> Tale {
    Tale {
        run: run.short(),
        title: match known.title.is_empty() {
            true => "run".to_owned(),
            false => words::short(&known.title, 120),
        },
        turns: std::mem::take(&mut known.tale.turns),
    }
}

fn finding(verdict: Verdict, head: String, lines: Vec<String>) -> Finding {
    Finding {
        state: verdict.into(),
        head,
        lines,
        place: None,
        output: String::new(),
    }
}

fn proof(it: &artel_types::ProofRecorded, output: String) -> Finding {
    let mut lines: Vec<String> = Vec::new();
    if let (Some(passed), Some(failed)) = (it.passed, it.failed) {
        lines.push(format!("{passed} passed, {failed} failed"));
    }
    let failures = it.failures.iter();
    lines.extend(failures.map(|test| format!("{}: {}", test.name, test.message)));
    Finding {
        state: it.holds.into(),
        head: it.what.clone(),
        lines,
        place: Some(place(it.place)),
        output,
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\n… cut; the journal has all of it", &text[..end]),
        None => text,
    }
}
