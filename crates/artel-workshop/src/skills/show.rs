//! One skill in detail, with everything that it may run.

use artel_policy::{BoundAdmission, PolicyBound, PolicyContext};
use artel_skills::savings::SkillTokenSizes;
use artel_skills::{Skill, SkillFrontmatter, SkillOrigin, SkillScript, SkillSupportingFile};
use serde::Serialize;

use crate::caller::CommandContext;
use crate::runs::{TrustQuestion, admitted, skill_rules};
use crate::trouble::WorkshopFailures;

/// A command in the text of a skill, and whether it would run.
#[derive(Debug, Clone, Serialize)]
pub struct SkillCommandRow {
    /// The text between the backticks.
    pub command: String,
    /// Whether the command would run when the skill begins.
    pub allowed: bool,
    /// The rule that decides.
    pub rule: String,
}

/// A skill as it is shown to a person before its first use.
#[derive(Debug, Clone, Serialize)]
pub struct SkillDetail {
    pub name: String,
    /// The skill's purpose, and when to use it.
    pub description: String,
    pub folder: String,
    /// The skill's origin.
    pub scope: SkillOrigin,
    /// Whether the skill in its present form may be used without a question.
    pub trusted: bool,
    /// BLAKE3 hash of its files. Trust is bound to this hash.
    pub hash: String,
    /// Number of lines in its `SKILL.md`.
    pub lines: usize,
    /// The other fields of its frontmatter.
    pub front: SkillFrontmatter,
    /// Files that an agent can read on demand.
    pub files: Vec<SkillSupportingFile>,
    /// Scripts that an agent can run.
    pub scripts: Vec<SkillScript>,
    /// Commands that run when the skill begins.
    pub commands: Vec<SkillCommandRow>,
    /// Addresses in its text.
    pub urls: Vec<String>,
    /// Tokens that the skill adds to every turn.
    pub tokens_first: u64,
    /// Tokens if all its files were loaded at once.
    pub tokens_all: u64,
    /// Remarks for its author, a sentence each.
    pub remarks: Vec<String>,
}

impl CommandContext {
    pub fn skill(&self, name: &str) -> Result<SkillDetail, WorkshopFailures> {
        let here = self.skills_here()?;
        let skill = here.found.get(name)?;
        let question = TrustQuestion::about(skill);
        let sizes = SkillTokenSizes::of(skill);
        Ok(SkillDetail {
            name: skill.name.clone(),
            description: skill.description.clone(),
            folder: question.folder,
            scope: skill.scope,
            trusted: here.trusts(skill),
            hash: skill.hash.clone(),
            lines: skill.lines,
            front: skill.front.clone(),
            files: skill.files.clone(),
            scripts: skill.scripts.clone(),
            commands: self.judged(skill, question.commands)?,
            urls: question.urls,
            tokens_first: sizes.skill,
            tokens_all: sizes.all(),
            remarks: skill.remarks.iter().map(ToString::to_string).collect(),
        })
    }

    /// Judges the commands of a skill as a run from the caller's folder would.
    pub(crate) fn judged(
        &self,
        skill: &Skill,
        commands: Vec<String>,
    ) -> Result<Vec<SkillCommandRow>, WorkshopFailures> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let rules = skill_rules(skill);
        let mut policy = self.policy(Some("default"))?;
        if skill.front.allowed_tools.is_some() {
            policy.bounds.push(PolicyBound {
                name: format!("skill {}", skill.name),
                admits: BoundAdmission::Rules(rules.clone()),
            });
        }
        let situation = PolicyContext {
            is_walled: self
                .sandbox()
                .is_ok_and(|(sandbox, demand)| sandbox.engaged().level >= demand.0),
            workspace: self.environment.current_dir().map(ToOwned::to_owned),
            ..PolicyContext::default()
        };
        let judged = |command: String| {
            let decided = admitted(&command, &rules, &policy, &situation);
            SkillCommandRow {
                allowed: decided.is_ok(),
                rule: decided.unwrap_or_else(|rule| rule),
                command,
            }
        };
        Ok(commands.into_iter().map(judged).collect())
    }
}
