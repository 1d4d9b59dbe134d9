//! Shared code of the commands about planned work: taking it on, carrying it out, and
//! reporting the result.

use std::sync::Arc;

use artel_types::plan::PlanState;
use artel_types::{ChangesetCreated, Failure, FailureCode, FailureKind, RunId, TraceId};
use artel_workshop::{
    CommandContext, OnFailure, PlanRules, PlanRunOutcome, RequestOutcome, RunObservers,
    RunSuspendReason, Work, Workshop, WorkshopFailures, put_in_place,
};
use serde_json::{Map, Value, json};

use super::live;
use super::plan::expected;
use super::run::{FirstUseAnswerMode, PlanScreen, RunScreen, RunWatchArgs};
use crate::CliCommandOutcome;
use crate::render::{counted, harmless, harmless_lines};
use crate::runtime;
use crate::screen::CliOutput;

/// Workshop, screen and options with which planned work is taken on.
pub(crate) struct PlanSession<'a> {
    pub(crate) workshop: Arc<Workshop>,
    pub(crate) caller: &'a CommandContext,
    pub(crate) screen: &'a mut CliOutput,
    /// The model that the person named.
    pub(crate) model: Option<String>,
    pub(crate) answers: FirstUseAnswerMode,
    pub(crate) rules: PlanRules,
    pub(crate) telling: PlanProgressOutput,
    /// Whether records of what happened were printed before the answer.
    followed: bool,
}

/// The amount of progress that programs are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanProgressOutput {
    /// The events of a plan, as they happen; the answer is the last record.
    Live,
    /// Only the answer, which is part of another one.
    AnswerOnly,
}

pub(crate) struct PlanCommandOutcome {
    /// The result as JSON, for programs.
    pub(crate) value: Map<String, Value>,
    /// The result as lines, for people.
    pub(crate) lines: Vec<String>,
    /// The outcome of the command.
    pub(crate) end: Result<CliCommandOutcome, Failure>,
}

/// Returns the rules for carrying out a plan if the person gave no options.
pub(crate) fn usual_rules() -> PlanRules {
    PlanRules {
        at_once: std::thread::available_parallelism().map_or(1, usize::from),
        failure: OnFailure::Continue,
    }
}

impl<'a> PlanSession<'a> {
    pub(crate) fn new(
        workshop: Arc<Workshop>,
        caller: &'a CommandContext,
        screen: &'a mut CliOutput,
    ) -> Self {
        Self {
            workshop,
            caller,
            screen,
            model: None,
            answers: FirstUseAnswerMode::Ask,
            rules: usual_rules(),
            telling: PlanProgressOutput::Live,
            followed: false,
        }
    }

    pub(crate) fn desk(&self) -> RunScreen {
        RunScreen {
            workshop: Arc::clone(&self.workshop),
            watching: RunWatchArgs::USUAL,
            answers: self.answers,
        }
    }

    /// Takes on a request: answers it, plans it, carries it out, or has its plan rewritten.
    pub(crate) fn take_on(
        &mut self,
        trace: TraceId,
    ) -> Result<PlanCommandOutcome, WorkshopFailures> {
        let (workshop, model) = (Arc::clone(&self.workshop), self.model.clone());
        let taken = self.done(trace, async move |company| {
            workshop.take_on(trace, model.as_deref(), company).await
        });
        let short = trace.short();
        let settled = match taken {
            Ok(settled) => settled,
            Err(problems) => {
                let kept = format!("it is kept: `artel resume {short}` goes on with it");
                self.screen.notes(&[kept]);
                return Err(problems);
            }
        };
        match settled {
            RequestOutcome::Answered { run, answer } => Ok(PlanCommandOutcome {
                value: object(json!({ "run": run.to_string(), "answer": answer })),
                lines: vec![harmless_lines(&answer)],
                end: Ok(CliCommandOutcome::Done),
            }),
            RequestOutcome::Planned { version } => self.planned(trace, version),
            RequestOutcome::AtOnce { .. } => self.carry_out(trace),
            RequestOutcome::Failed { why } => {
                let failure = Failure::new(FailureCode::R005, "no plan came of it")
                    .because(why.clone())
                    .advise(format!(
                        "`artel trace {short}` shows why; `artel resume {short}` tries again"
                    ));
                Ok(PlanCommandOutcome {
                    value: object(json!({ "why": why })),
                    lines: Vec::new(),
                    end: Err(failure),
                })
            }
            RequestOutcome::Left(left) => {
                if left == RunSuspendReason::Interrupted {
                    runtime::block_on(self.workshop.rest_work(trace))??;
                }
                self.left(trace, &left)
            }
        }
    }

    /// Carries out the approved plan, and returns the result.
    pub(crate) fn carry_out(
        &mut self,
        trace: TraceId,
    ) -> Result<PlanCommandOutcome, WorkshopFailures> {
        let (workshop, model) = (Arc::clone(&self.workshop), self.model.clone());
        let rules = self.rules;
        let carrying = async move |company: RunObservers| {
            let id = trace.to_string();
            workshop
                .carry_out(&id, rules, model.as_deref(), company)
                .await
        };
        let is_quiet = self.screen.json && self.telling == PlanProgressOutput::AnswerOnly;
        let carried = if is_quiet {
            self.done(trace, carrying)?
        } else {
            self.followed = true;
            let canvas = PlanScreen {
                workshop: Arc::clone(&self.workshop),
                trace,
                rules,
                answers: self.answers,
            };
            canvas.draw(self.caller, self.screen, carrying)?
        };
        if let Some(left) = &carried.left {
            if *left == RunSuspendReason::Interrupted {
                if let Some(outcome) = self.goes_on_elsewhere(trace, carried.run)? {
                    return Ok(outcome);
                }
                runtime::block_on(self.workshop.rest_run(carried.run))??;
            }
            return self.left(trace, left);
        }
        let work = self.workshop.work(trace)?;
        Ok(carried_out(&work, &carried))
    }

    /// Returns where a run continues that this command only followed, or `None` if nobody
    /// drives it.
    fn goes_on_elsewhere(
        &self,
        trace: TraceId,
        run: RunId,
    ) -> Result<Option<PlanCommandOutcome>, WorkshopFailures> {
        let drivers = self.workshop.drivers_now()?;
        let Some(driver) = drivers.run(run) else {
            return Ok(None);
        };
        let short = trace.short();
        Ok(Some(PlanCommandOutcome {
            value: object(json!({ "run": run.to_string(), "goes_on_in": driver })),
            lines: vec![format!(
                "{short} goes on in {}: `artel resume {short}` stays with it, `artel pause {short}` pauses it",
                harmless(driver)
            )],
            end: Ok(CliCommandOutcome::Bad(FailureKind::Interrupted)),
        }))
    }

    fn done<T>(
        &mut self,
        trace: TraceId,
        work: impl AsyncFnOnce(RunObservers) -> Result<T, Failure>,
    ) -> Result<T, WorkshopFailures> {
        if self.screen.json {
            self.desk().attend_quietly(self.caller, self.screen, work)
        } else {
            live::follow(self, trace, work)
        }
    }

    fn planned(
        &self,
        trace: TraceId,
        version: u32,
    ) -> Result<PlanCommandOutcome, WorkshopFailures> {
        let work = self.workshop.work(trace)?;
        let (drafted, plan) = self.workshop.plan_of(&work, Some(version))?;
        let short = trace.short();
        let look = self.workshop.plan_look(work.clone(), Some(version));
        let look = runtime::block_on(look)??;
        let mut lines = vec![format!("{} (version {version})", harmless(&plan.title))];
        if version > 1 {
            let difference = self.workshop.plan_difference(&work, None)?;
            let from = difference.from;
            lines.push(format!("what differs from version {from}:"));
            lines.push(harmless_lines(&difference.text));
        }
        lines.push(expected(&look));
        lines.push(format!(
            "Plan ready: `artel plan show {short}` · approve with `artel plan approve {short}`"
        ));
        Ok(PlanCommandOutcome {
            value: object(json!({
                "plan": { "version": version, "hash": drafted.fact.hash, "title": plan.title, "steps": plan.steps.len() },
            })),
            lines,
            end: Ok(CliCommandOutcome::Done),
        })
    }

    /// Returns how a run that was left can be continued.
    fn left(
        &self,
        trace: TraceId,
        left: &RunSuspendReason,
    ) -> Result<PlanCommandOutcome, WorkshopFailures> {
        let short = trace.short();
        let resume = format!("`artel resume {short}`");
        let (value, end) = match left {
            RunSuspendReason::Interrupted => {
                let verdict = CliCommandOutcome::Bad(FailureKind::Interrupted);
                (json!({ "left": "stopped" }), Ok(verdict))
            }
            RunSuspendReason::Question(asked) => {
                let open = self.workshop.open_questions()?;
                let mut open = open.iter().filter(|it| it.trace == trace);
                let command = open.next().map(|it| it.command());
                // A call is answered by its own id, because the question under that id says
                // what would be done.
                let command = command.unwrap_or_else(|| match asked.call {
                    Some(_) => format!(
                        "artel answer {} {}",
                        asked.question,
                        asked.choices.join("|")
                    ),
                    None => format!("artel answer {short}"),
                });
                let failure = Failure::new(FailureCode::P002, "a person has to answer first")
                    .because(asked.text.clone())
                    .advise(format!("`{command}`, then {resume}"));
                let value = json!({ "left": "question", "question": asked.text, "choices": asked.choices, "suggested": asked.suggested, "answer_with": command });
                (value, Err(failure))
            }
            RunSuspendReason::Model(failure) => {
                let first = failure.advice.clone();
                let first = first.map_or(String::new(), |it| format!("{it}; then "));
                let failure = failure.clone();
                let value = json!({ "left": "model", "why": failure.what });
                let advice = format!("{first}{resume} goes on from here");
                (value, Err(failure.advise(advice)))
            }
        };
        let stopped = matches!(left, RunSuspendReason::Interrupted);
        let lines = stopped.then(|| format!("stopped; {resume} goes on"));
        Ok(PlanCommandOutcome {
            value: object(value),
            lines: lines.into_iter().collect(),
            end,
        })
    }

    /// Prints the result, and ends the command.
    pub(crate) fn conclude(
        &mut self,
        trace: TraceId,
        outcome: PlanCommandOutcome,
    ) -> Result<CliCommandOutcome, WorkshopFailures> {
        if self.screen.json {
            let work = self.workshop.work(trace)?;
            let mut value = object(self.workshop.request_value(&work));
            value.extend(outcome.value);
            if self.followed {
                // The result comes after records and is marked, so that programs can tell
                // it apart.
                self.screen.value(&json!({ "result": value }))?;
            } else {
                self.screen.value(&value)?;
            }
        } else {
            for line in &outcome.lines {
                self.screen.line(line)?;
            }
        }
        Ok(outcome.end?)
    }
}

fn carried_out(work: &Work, carried: &PlanRunOutcome) -> PlanCommandOutcome {
    let short = work.trace.short();
    let made = work.changeset.as_ref().filter(|it| it.run == carried.run);
    let mut lines = Vec::new();
    let why = work.course.why();
    if let Some(made) = made {
        lines.push(format!("changeset {}", harmless(&summary(made))));
    }
    let end = match carried.state {
        PlanState::Done => {
            if let Some(why) = why {
                lines.push(format!("left out: {}", harmless(why)));
            }
            lines.push(match (made, put_in_place(work)) {
                (Some(made), Some(command)) => format!(
                    "Done: `artel changeset show {short} --diff` · {} with `{}`",
                    match made.patch {
                        Some(_) => "put it in place",
                        None => "merge",
                    },
                    harmless(&command)
                ),
                _ => "Done; no file changed".to_owned(),
            });
            Ok(CliCommandOutcome::Done)
        }
        PlanState::Cancelled => {
            lines.push("Cancelled; the commits of its passed steps are kept".to_owned());
            Ok(CliCommandOutcome::Bad(FailureKind::Failed))
        }
        state => {
            let look = match made {
                Some(_) => format!("`artel changeset show {short} --diff` shows what there is"),
                None => format!("`artel report show {short}` says what was tried"),
            };
            let advice =
                format!("`artel plan retry {short}` goes on from the steps that passed; {look}");
            let why = why.unwrap_or("some steps did not pass").to_owned();
            Err(
                Failure::new(FailureCode::R005, format!("the plan is {state}"))
                    .because(why)
                    .advise(advice),
            )
        }
    };
    PlanCommandOutcome {
        value: object(json!({
            "run": carried.run.to_string(),
            "state": carried.state,
            "why": why,
            "changeset": made,
        })),
        lines,
        end,
    }
}

/// Describes a changeset in one line.
pub(crate) fn summary(made: &ChangesetCreated) -> String {
    let name = made.branch.as_deref().or(made.patch.as_deref());
    let proven = if made.proven {
        ""
    } else {
        ", its proofs do not hold"
    };
    format!(
        "{}: {}, {}, +{} −{}{proven}",
        name.unwrap_or("without a name"),
        counted(made.commits, "commit"),
        counted(made.files.len() as u64, "file"),
        made.added,
        made.removed
    )
}

/// Returns the fields of a value that is an object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
