//! Planning: the architect reads, asks the person last, and hands in a plan that code
//! checks.

use std::fmt::Write as _;
use std::sync::Arc;

use artel_policy::{BoundAdmission, PolicyBound, PortalPermission};
use artel_rules::plan::state::WorkAction;
use artel_rules::plan::{MOST_ENTRIES, PlanCheckContext, RoleAccess, normalise};
use artel_skills::SkillOrigin;
use artel_types::model::ModelCallReason;
use artel_types::plan::{Plan, StepState};
use artel_types::{
    Actor, ContextLoaded, Event, Fact, Failure, ForeignRead, ForeignSource, PlanExplored,
    PlanFailed, RecordedText, RunId,
};
use serde_json::json;

use super::acts::LOOKING;
use super::ask::RequestOutcome;
use super::children::{ChildRunOutcome, ChildRunSpec};
use super::context::PlanningContext;
use super::contract::{RunContract, WorkshopNotesPlacement};
use super::forms::{self, StructuredAnswerTool, shaped};
use super::named::WorkPlanVocabulary;
use super::work::Work;
use crate::runs::{EarlierRunLessons, RunEnvironment};

/// Longest plan to revise that the prompt includes, in bytes. The rest is cut off.
const LONGEST_PLAN: usize = 40_000;

/// Longest reason for a failed attempt that the prompt includes, in bytes.
const LONGEST_WHY: usize = 600;

/// Returns a bound that admits reading and nothing else.
pub(crate) fn nothing_changes_yet() -> PolicyBound {
    PolicyBound {
        name: "nothing is changed before a plan is approved".to_owned(),
        admits: BoundAdmission::Operations(vec![PortalPermission::Read, PortalPermission::Git]),
    }
}

impl RunEnvironment {
    /// Has the architect write the next version of a plan.
    pub(super) async fn plan(self: &Arc<Self>, work: &Work) -> Result<RequestOutcome, Failure> {
        let is_due = work.course.is_awaiting_architect();
        if let Some(version) = work.course.in_review().filter(|_| !is_due) {
            return Ok(RequestOutcome::Planned {
                version: version.number,
            });
        }
        if let Some(skill) = &work.request.skill {
            let skill = self.skills.get(skill)?;
            self.ensure_trust(skill).await?;
        }
        let version = work.next_version();
        let name = format!("plan/v{version}/{}", work.course.comments().len());
        let named = self.workshop.named_for(&work.request);
        let context = self.load_context(work)?;
        for warning in &context.warnings {
            self.company.audience.notice(warning);
        }
        let lessons = self.lessons_to_plan(work)?;
        let foreign = self.marked_as_told(work, &context, &lessons)?;
        let contract = RunContract {
            brings: WorkshopNotesPlacement::Context,
            bound: Some(nothing_changes_yet()),
            privacy: self.privacy_of(work),
            turns: Some(30),
            tools: vec![plan_form(named, work.owed_role())],
            ..RunContract::new(
                format!("plan: {}", work.request.title),
                ModelCallReason::Planning,
            )
        };
        let child = ChildRunSpec {
            name,
            parent: None,
            role: "architect".to_owned(),
            task: format!("{}{}", self.brief(work, &lessons.text)?, context.text),
            told: None,
            contract,
            tree: None,
        };
        let mut noted = Ok(());
        let came = self
            .child(work.trace, child, |run, _| {
                noted = self.explores(work, run, version, (&context.fact, foreign));
            })
            .await;
        noted?;
        let (done, events) = match came? {
            ChildRunOutcome::Left(left) => return Ok(RequestOutcome::Left(left)),
            ChildRunOutcome::Over(done, events) => (done, events),
        };
        let actor = Actor::agent("architect");
        let work = self.workshop.work(work.trace)?;
        // Meanwhile a person may have cancelled the plan or written a version of their own.
        if let Err(no) = work.course.may(WorkAction::Draft) {
            return Ok(RequestOutcome::Failed { why: no.why });
        }
        let plan = forms::handed_in::<Plan>(&events, forms::PLAN);
        let Some(plan) = plan else {
            let why = done.finished.as_ref().and_then(|it| it.why.clone());
            let why = why.or(done.answer).unwrap_or_default();
            let problems = not_taken(&events);
            let why = match problems.first() {
                Some(problem) => format!("no plan was handed in that can be used: {problem}"),
                None => format!("no plan was handed in: {why}"),
            };
            let failed = PlanFailed {
                why: why.clone(),
                problems,
            };
            self.workshop
                .record_for(&self.journal, &work, actor, vec![failed.into()])?;
            return Ok(RequestOutcome::Failed { why });
        };
        let plan = told_from(settle(plan, &work), &context);
        let by = (actor, Some(done.run));
        let version = self.workshop.draft_plan(&self.journal, &work, &plan, by)?;
        let work = self.workshop.work(work.trace)?;
        self.workshop.write_plan(&work, None)?;
        Ok(RequestOutcome::Planned { version })
    }

    /// Records that the architect reads, before it begins.
    fn explores(
        &self,
        work: &Work,
        run: RunId,
        version: u32,
        (loaded, foreign): (&ContextLoaded, Option<ForeignRead>),
    ) -> Result<(), Failure> {
        let is_known = |event: &Event| match &event.fact {
            Fact::PlanExplored(it) => it.run == run,
            _ => false,
        };
        let why = match (work.course.comments().len(), &work.request.skill) {
            (0, Some(_)) => "skill",
            (0, None) => "request",
            _ => "revise",
        };
        let explored = PlanExplored {
            run,
            version,
            why: why.to_owned(),
        };
        let mut facts: Vec<Fact> = foreign.into_iter().map(Fact::from).collect();
        if !work.events.iter().any(is_known) {
            facts.push(explored.into());
            facts.push(loaded.clone().into());
        }
        if facts.is_empty() {
            return Ok(());
        }
        let actor = Actor::agent("architect");
        self.workshop.record_for(&self.journal, work, actor, facts)
    }

    /// Marks the work with the untrusted sources that the architect's prompt contains, and
    /// returns the ones to be recorded.
    fn marked_as_told(
        &self,
        work: &Work,
        context: &PlanningContext,
        lessons: &EarlierRunLessons,
    ) -> Result<Option<ForeignRead>, Failure> {
        let mut foreign = [&context.foreign[..], &lessons.foreign[..]].concat();
        foreign.extend(self.foreign_skill_of(work)?);
        self.marked_with(work.trace, foreign)
    }

    /// Returns the skill to be planned, if it is not the workshop's own.
    fn foreign_skill_of(&self, work: &Work) -> Result<Option<ForeignSource>, Failure> {
        let Some(name) = &work.request.skill else {
            return Ok(None);
        };
        let is_foreign = self.skills.get(name)?.scope != SkillOrigin::Workshop;
        Ok(is_foreign.then(|| ForeignSource::skill(name)))
    }

    /// Returns lessons of earlier runs that may help with this plan.
    fn lessons_to_plan(&self, work: &Work) -> Result<EarlierRunLessons, Failure> {
        let privacy = self.privacy_of(work);
        match &work.request.skill {
            Some(skill) => self.lessons_of(skill, privacy),
            None => {
                let words = self.workshop.whole_text(&work.request.words)?;
                self.lessons_for(&words, privacy)
            }
        }
    }

    /// Returns the architect's task: what to plan, and what is known of it.
    fn brief(&self, work: &Work, lessons: &str) -> Result<String, Failure> {
        let words = self.workshop.whole_text(&work.request.words)?;
        let mut text = format!("Plan this request.\n<request>\n{words}\n</request>");
        let lists = [
            ("Constraints", &work.request.constraints),
            ("Success criteria", &work.request.criteria),
        ];
        for (name, claims) in lists {
            if !claims.is_empty() {
                let _ = write!(text, "\n{name}:");
                for claim in claims {
                    let _ = write!(text, "\n- {} ({})", claim.text, claim.source);
                }
            }
        }
        match &work.request.skill {
            Some(skill) => text.push_str(&self.skill_to_plan(skill, lessons)?),
            None if lessons.is_empty() => {}
            None => text.push_str(&format!("\n{lessons}")),
        }
        let roles: Vec<_> = self.workshop.known().roles.into_keys().collect();
        let _ = write!(text, "\nRoles: {}.", roles.join(", "));
        if let Some(role) = work.asked_role() {
            let _ = write!(
                text,
                "\nThe person wants it done by: {role}. Give the steps to that role; where one \
                 needs another, say why in `reasoning`."
            );
        }
        if let Some(verify) = work.request.verify {
            let _ = write!(text, "\nThe person wants every step verified by: {verify}.");
        }
        if !work.versions.is_empty() {
            let (drafted, plan) = self.workshop.plan_of(work, None)?;
            let plan = serde_json::to_string_pretty(&plan).unwrap_or_default();
            let plan = &plan[..plan.floor_char_boundary(LONGEST_PLAN)];
            let _ = write!(
                text,
                "\n<plan version=\"{}\">\n{plan}\n</plan>\nThe person wants it changed:",
                drafted.fact.version
            );
            for comment in work.course.comments() {
                let _ = write!(text, "\n- (v{}) {}", comment.version, comment.text);
            }
            text.push_str(&self.under_way(work)?);
            text.push_str("\nKeep the ids of steps that stay. Hand in the whole plan.");
        } else if !work.course.comments().is_empty() {
            text.push_str("\nNo plan came of the last attempt. The person says since:");
            for comment in work.course.comments() {
                let _ = write!(text, "\n- {}", comment.text);
            }
        }
        Ok(text)
    }

    /// Names the steps that have begun if the plan is being carried out: they stay as they
    /// are. The reasons for failed attempts are included, because repeating such an attempt
    /// will not help.
    fn under_way(&self, work: &Work) -> Result<String, Failure> {
        let Some(conduct) = self.workshop.conduct_of(work, LOOKING)? else {
            return Ok(String::new());
        };
        let begun = conduct.steps().filter(|(_, step)| step.round > 0);
        let begun: Vec<_> = begun
            .map(|(spec, step)| format!("{} ({})", spec.id, step.state))
            .collect();
        if begun.is_empty() {
            return Ok(String::new());
        }
        let mut text = format!(
            "\nIt is being done. These steps have begun and stay as they are: {}.",
            begun.join(", ")
        );
        for (spec, step) in conduct.steps() {
            if step.state == StepState::Done || step.history.is_empty() {
                continue;
            }
            let attempts = artel_types::counted(step.round.into(), "attempt");
            let _ = write!(text, "\nStep `{}` did not pass in {attempts}:", spec.id);
            for why in &step.history {
                let why = &why[..why.floor_char_boundary(LONGEST_WHY)];
                let _ = write!(text, "\n- {}", why.trim());
            }
        }
        Ok(text)
    }

    /// Returns the text of a skill to be planned, with the lessons of its earlier runs.
    fn skill_to_plan(&self, name: &str, lessons: &str) -> Result<String, Failure> {
        let skill = self.skills.get(name)?;
        let files = skill.files.iter().map(|file| file.path.clone());
        let files: Vec<_> = files.collect();
        let scripts = skill.scripts.iter().map(|script| script.path.clone());
        let scripts: Vec<_> = scripts.collect();
        Ok(format!(
            "\nCarry out the skill `{name}` by a plan.\n<skill>\n{}\n</skill>\nIts files: {}.\n\
             Its scripts: {}.\n{lessons}",
            skill.body,
            files.join(", "),
            scripts.join(", ")
        ))
    }
}

/// Returns the problems of the last plan that was handed in and refused.
fn not_taken(events: &[Event]) -> Vec<String> {
    let refused = events.iter().rev().find_map(|event| match &event.fact {
        Fact::ToolFinished(it) if it.tool == forms::PLAN && it.trouble.is_some() => {
            Some(&it.observation)
        }
        _ => None,
    });
    let Some(RecordedText::Inline(text)) = refused else {
        return Vec::new();
    };
    let lines = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "));
    let lines = lines.filter(|line| !line.starts_with("mend that"));
    lines.map(str::to_owned).collect()
}

impl Work {
    /// Returns the role that the person named for the work, unless the role plans or delegates
    /// anyway.
    fn asked_role(&self) -> Option<&str> {
        let plans = ["default", "architect", "guide", "orchestrator"];
        let role = self.request.agent.as_str();
        (!plans.contains(&role)).then_some(role)
    }

    /// Returns the named role if the plan must give it a step. This holds for the first
    /// version only: later comments of the person count more.
    fn owed_role(&self) -> Option<String> {
        let role = self.asked_role().filter(|_| self.versions.is_empty());
        role.map(str::to_owned)
    }
}

/// Puts the person's wishes above the architect's choices.
fn settle(plan: Plan, work: &Work) -> Plan {
    let mut plan = normalise(given_to(plan, work.asked_role()));
    if let Some(verify) = work.request.verify {
        for step in &mut plan.steps {
            step.verify = verify;
        }
    }
    // A role that changes no files may have nothing to do. The person who asked for the role
    // gets a warning.
    let is_for = |role: &String| plan.steps.iter().any(|step| step.role == *role);
    if let Some(role) = work.owed_role().filter(|role| !is_for(role)) {
        plan.warnings.push(format!(
            "you asked for the role `{role}`, which has no step"
        ));
    }
    plan
}

/// Gives steps without a role to the role that the person named.
fn given_to(mut plan: Plan, role: Option<&str>) -> Plan {
    let steps = plan.steps.iter_mut();
    for step in steps.filter(|step| step.role.trim().is_empty()) {
        step.role = role.unwrap_or_default().to_owned();
    }
    plan
}

/// Adds the notes and reports that the architect was given to read, and the warnings about
/// them.
fn told_from(mut plan: Plan, context: &PlanningContext) -> Plan {
    for warning in &context.warnings {
        if !plan.warnings.contains(warning) {
            plan.warnings.push(warning.clone());
        }
    }
    for path in &context.fact.included {
        // Notes link to each other without the file extension.
        let name = path.strip_suffix(".md").unwrap_or(path);
        let is_known = |it: &String| {
            let link = it.trim_start_matches("[[").trim_end_matches("]]");
            link.strip_suffix(".md").unwrap_or(link) == name
        };
        if plan.references.len() < MOST_ENTRIES && !plan.references.iter().any(is_known) {
            plan.references.push(name.to_owned());
        }
    }
    plan
}

/// Returns a complaint if a plan has no step for the role that the person named. A role
/// that changes no files may have nothing to do.
fn left_out(plan: &Plan, role: &str, known: &PlanCheckContext) -> Option<String> {
    let writes = known.roles.get(role) == Some(&RoleAccess::Writes);
    let has_step = plan.steps.iter().any(|step| step.role == role);
    (writes && !has_step).then(|| {
        format!("the person wants it done by `{role}`, which has no step: give the work to it")
    })
}

/// Returns the tool for handing in a plan. Code checks the plan before a person sees it.
fn plan_form(named: WorkPlanVocabulary, owed: Option<String>) -> Arc<dyn artel_tools::Tool> {
    let text = |about: &str| json!({"type": "string", "description": about});
    let list =
        |about: &str| json!({"type": "array", "items": {"type": "string"}, "description": about});
    let claim = json!({"type": "object", "required": ["text"], "properties": {
        "text": text("What has to hold"),
        "source": {"enum": ["explicit", "inferred", "answered"]},
    }});
    let step = json!({
        "type": "object",
        "required": ["id", "title", "role", "work", "check"],
        "properties": {
            "id": text("Lower case, digits, hyphens; it stays when others are put before it"),
            "title": text("What it does, in a line"),
            "role": text("Who does it"),
            "work": text("What the worker has to do: one goal, concrete files, when it is done"),
            "check": text("How another agent verifies it, and which values of `gives` to read off"),
            "after": list("Ids of steps that have to have passed"),
            "verify": {"enum": ["none", "evaluator", "tdd"]},
            "scope": {"type": "object", "properties": {
                "paths": list("Files it may change, as patterns, as few as possible; a test, check script or runner setting that is there already and has to change by its own path"),
                "commands": list("Normally left out: the step then runs whatever its sandbox contains. Only where the request limits what may run: those commands, as rules such as `npm test:*`"),
                "network": list("Hosts it has to reach; normally none"),
                "tools": list("Declared tools it has to use, by name; normally none"),
                "secrets": list("Secrets its tools or commands need, by name; normally none"),
                "turns": {"type": "integer"},
                "cost_usd": {"type": "number"},
                "criteria": {"type": "array", "items": claim},
            }},
            "evidence": {"type": "array", "items": {"type": "object", "required": ["kind"],
                "properties": {"kind": {"enum": ["tests", "red", "command", "file"]}, "what": text("The command, file or test")}},
                "description": "What shows that it is done; `red`: a test that fails until a later step"},
            "gives": list("Names of values for later steps"),
            "uses": list("Names of values of earlier steps"),
            "tokens": {"type": "integer", "description": "Estimate"},
            "priority": {"enum": ["low", "normal", "high", "critical"],
                "description": "Which of the steps that could begin does so first; normally left out"},
        },
    });
    let input = json!({
        "type": "object",
        "required": ["title", "overview", "steps"],
        "properties": {
            "title": text("What the plan does, in a line"),
            "kind": {"enum": ["feat", "fix", "docs", "refactor", "test", "style", "chore"]},
            "overview": text("What will be different afterwards"),
            "reasoning": text("Why this way"),
            "files": {"type": "array", "items": {"type": "object", "required": ["path"], "properties": {
                "path": text("Path"), "action": {"enum": ["create", "modify", "delete"]}, "why": text("Why")}}},
            "steps": {"type": "array", "items": step},
            "risks": list("What could go wrong"),
            "questions": list("What is still open"),
            "references": list("What you read: files, reports"),
            "warnings": list("What you could not read"),
        },
    });
    let description = "Hands in the plan. It is checked; what is wrong comes back to be mended.";
    StructuredAnswerTool::tool(
        forms::PLAN,
        "Hand in the plan",
        description,
        input,
        move |input| {
            let plan: Plan = shaped(input)?;
            let plan = normalise(given_to(plan, owed.as_deref()));
            let known = named.for_plan(&plan);
            let mut problems = match named.check(&plan, None) {
                Ok(_) => Vec::new(),
                Err(problems) => problems.iter().map(ToString::to_string).collect(),
            };
            problems.extend(
                owed.as_deref()
                    .and_then(|role| left_out(&plan, role, &known)),
            );
            if problems.is_empty() {
                Ok("The plan is taken.".to_owned())
            } else {
                Err(problems)
            }
        },
    )
}
