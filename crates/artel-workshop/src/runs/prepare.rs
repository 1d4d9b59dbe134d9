//! Prepares everything that is fixed before the first turn: the skill's text, the prompt,
//! the limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use artel_engine::{OpeningPrompt, PromptSections, ROLE};
use artel_rules::excerpt::marked;
use artel_rules::turn::ToolCallStyle;
use artel_skills::prepare::{SkillArguments, SkillVariables};
use artel_skills::{Skill, SkillRunMode, body, catalogue, prepare};
use artel_tools::{ToolRegistry, ToolViewer};
use artel_types::model::PrivacyLabel;
use artel_types::{Failure, Money, RunPrepared};

use super::furnish::{RunToolingContext, skill_list};
use super::house::RunEnvironment;
use super::order::RunStartOptions;
use super::standing::StandingContext;

/// Maximum length of the list of skills in a prompt, in characters.
const CATALOGUE_CHARS: usize = 8_000;

/// The assumed context size of an unknown model, in tokens.
const USUAL_WINDOW: u64 = 128_000;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedRunLimits {
    pub(crate) turns: u32,
    pub(crate) retries: u32,
    pub(crate) cost: Option<Money>,
    pub(crate) mode: SkillRunMode,
}

impl PreparedRunLimits {
    /// Determines the limits. The person's choice takes precedence over the skill, and the
    /// skill over the settings.
    pub(crate) fn of(
        house: &RunEnvironment,
        order: &RunStartOptions,
        skill: Option<&Skill>,
    ) -> Self {
        let front = skill.map(|skill| &skill.front);
        let settings = &house.workshop.settings.runs;
        let usual = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let mode = order.mode.or(front.and_then(|front| front.mode));
        let mode = mode.unwrap_or(SkillRunMode::Autonomous);
        let turns = order
            .max_turns
            .or(front.and_then(|front| front.max_iterations));
        Self {
            turns: match mode {
                SkillRunMode::Simple => 1,
                SkillRunMode::Autonomous => turns.unwrap_or(usual(settings.max_turns.value)),
            },
            retries: front
                .and_then(|front| front.max_retries_per_tool)
                .unwrap_or(usual(settings.max_retries.value)),
            cost: order.max_cost.or(front.and_then(|front| front.max_cost)),
            mode,
        }
    }
}

/// Returns the values of the variables in a skill's text.
pub(crate) fn variables(
    house: &RunEnvironment,
    outfit_files: &std::path::Path,
    skill: &Skill,
    session: &str,
    arguments: &[String],
) -> SkillVariables {
    let caller = &house.workshop.caller;
    let user = caller
        .environment()
        .get("USER")
        .and_then(|user| user.to_str());
    SkillVariables {
        arguments: SkillArguments::from_words(arguments.to_vec()),
        skill_dir: skill.folder.display().to_string(),
        workspace: outfit_files.display().to_string(),
        session: session.to_owned(),
        user: user.unwrap_or("unknown").to_owned(),
        date: caller.clock.now().to_string().chars().take(10).collect(),
        custom: BTreeMap::new(),
    }
}

/// Everything that a run's first prompt is built from.
pub(crate) struct RunPromptInputs<'t> {
    pub(crate) house: &'t RunEnvironment,
    pub(crate) skill: Option<&'t Skill>,
    pub(crate) variables: Option<&'t SkillVariables>,
    pub(crate) injected: &'t BTreeMap<String, String>,
    pub(crate) arguments: &'t [String],
    pub(crate) registry: &'t ToolRegistry,
    pub(crate) viewer: &'t ToolViewer,
    pub(crate) calls: ToolCallStyle,
    pub(crate) standing: &'t StandingContext,
    /// The instructions from the role's own file.
    pub(crate) persona: Option<String>,
    /// The text that the calling run passes on to this run.
    pub(crate) from_parent: Option<String>,
}

impl RunPromptInputs<'_> {
    pub(crate) fn prompt(&self) -> Result<OpeningPrompt, Failure> {
        let mut role = self.persona.clone().unwrap_or_else(|| ROLE.to_owned());
        let skill_text = match (self.skill, self.variables) {
            (Some(skill), Some(variables)) => {
                role = format!(
                    "You are executing the '{}' skill autonomously. {role}",
                    skill.name
                );
                let expanded = prepare::expand(&skill.body, variables, self.injected);
                for name in &expanded.undefined {
                    let notice = format!("the skill uses {name}, which is not defined");
                    self.house.company.audience.notice(&notice);
                }
                body::section(skill, &marked(&expanded.text))
            }
            _ => self.catalogue(),
        };
        let lessons = match self.skill {
            Some(skill) => self.house.lessons_of(&skill.name, PrivacyLabel::Any)?.text,
            None => String::new(),
        };
        let sections = PromptSections {
            role,
            skill: skill_text,
            manifest: self.registry.manifest(self.viewer, &[]),
            tools: self.registry.specs(self.viewer, &[]),
            calls: self.calls,
            standing: self.standing.text.clone(),
            lessons,
            task: self.task(),
        };
        Ok(sections.prompt())
    }

    fn task(&self) -> String {
        let arguments = SkillArguments::from_words(self.arguments.to_vec());
        let words = arguments.text().trim();
        let task = match (self.skill, words.is_empty()) {
            (Some(skill), true) => format!("Carry out the skill `{}`.", skill.name),
            (Some(skill), false) => format!("Carry out the skill `{}` for: {words}", skill.name),
            (None, _) => words.to_owned(),
        };
        match &self.from_parent {
            Some(text) => format!("{text}\n\n{task}"),
            None => task,
        }
    }

    /// Lists the skills that a model may call by itself.
    fn catalogue(&self) -> String {
        let skills = self.house.skills.skills.iter();
        let open: Vec<Skill> = skills
            .filter(|skill| !skill.front.disable_model_invocation)
            .cloned()
            .collect();
        let (block, dropped) = catalogue::block(&open, CATALOGUE_CHARS);
        if !dropped.is_empty() {
            let notice = format!(
                "not named to the model, for want of room: {}",
                dropped.join(", ")
            );
            self.house.company.audience.notice(&notice);
        }
        if block.is_empty() {
            return block;
        }
        format!("{block}\nThe `skill` tool carries one of them out.")
    }
}

/// Returns the fact that is recorded when a run is ready to start.
pub(crate) fn prepared(
    outfit: &RunToolingContext,
    prompt: &OpeningPrompt,
    limits: &PreparedRunLimits,
    calls: ToolCallStyle,
    model: Option<&str>,
    window: Option<u64>,
    standing: &StandingContext,
) -> Result<RunPrepared, Failure> {
    let skill = outfit.skill.as_ref();
    let keep = |text: &str| outfit.chronicle.keep(text.to_owned());
    Ok(RunPrepared {
        role: outfit.role.clone(),
        model: model.map(str::to_owned),
        mode: match limits.mode {
            SkillRunMode::Simple => "simple",
            SkillRunMode::Autonomous => "autonomous",
        }
        .to_owned(),
        calls: match calls {
            ToolCallStyle::Native => "native",
            ToolCallStyle::Text => "text",
        }
        .to_owned(),
        system: keep(&prompt.system)?,
        opening: keep(&prompt.opening)?,
        turns: limits.turns,
        retries: limits.retries,
        cost: limits.cost,
        checks_itself: skill.is_some_and(|skill| skill.front.early_termination == Some(false)),
        window: window.unwrap_or(USUAL_WINDOW),
        skill_folder: skill.map(|skill| skill.folder.display().to_string()),
        skill_hash: skill.map(|skill| skill.hash.clone()),
        allowed_tools: skill.and_then(|skill| skill_list(skill)),
        parts: prompt.parts.clone(),
        standing: standing.files.clone(),
        calls_limit: outfit.contract.as_ref().and_then(|it| it.calls),
        directive: outfit.contract.as_ref().and_then(|it| it.directive.clone()),
    })
}

/// Returns how models call tools here.
pub(crate) fn calls_of(house: &Arc<RunEnvironment>) -> ToolCallStyle {
    match house.workshop.settings.runs.tool_calls.value {
        artel_config::ToolCallFormChoice::Native => ToolCallStyle::Native,
        artel_config::ToolCallFormChoice::Text => ToolCallStyle::Text,
    }
}
