//! Success figures of skills, over all their recorded runs.

use artel_rules::tally::SkillStats;
use artel_skills::savings::SkillTokenSizes;
use artel_types::Failure;
use serde::Serialize;

use crate::board::SkillSums;
use crate::workshop::Workshop;

/// Success figures of one skill.
#[derive(Debug, Clone, Serialize)]
pub struct SkillReport {
    pub skill: String,
    /// The share of complete runs, from 0 to 1.
    pub success_rate: Option<f64>,
    /// Average number of turns of a run.
    pub average_turns: Option<f64>,
    /// The share of failed calls after which the goal was still reached, from 0 to 1.
    pub recovery_rate: Option<f64>,
    /// The most common kind of recovery.
    pub common_recovery: Option<String>,
    /// That kind's share of all recoveries, from 0 to 1.
    pub common_share: Option<f64>,
    /// Tokens saved by loading on demand, in percent.
    pub saved_percent: Option<u64>,
    /// The sums behind these rates.
    #[serde(flatten)]
    pub sums: SkillStats,
}

impl Workshop {
    /// Returns the figures of one skill, or of all skills that have run, by name.
    pub fn skill_stats(&self, skill: Option<&str>) -> Result<Vec<SkillReport>, Failure> {
        self.skill_reports(&self.board_of_skills()?.skills(), skill)
    }

    /// Returns the same figures from counts that are already folded.
    pub fn skill_reports(
        &self,
        sums: &SkillSums,
        skill: Option<&str>,
    ) -> Result<Vec<SkillReport>, Failure> {
        let found = self.find_skills(&self.run_folder(None)?);
        if let Some(name) = skill.filter(|name| !sums.knows(name)) {
            // A misspelt name has no runs either, so the caller gets an error for it.
            found.get(name)?;
        }
        let names = match skill {
            Some(name) => vec![name],
            None => sums.names().collect(),
        };
        let report = |name: &str| {
            let files = found.skills.iter().find(|it| it.name == name);
            let all = files.map(|it| SkillTokenSizes::of(it).all());
            SkillReport::from((name.to_owned(), sums.of(name, all)))
        };
        Ok(names.into_iter().map(report).collect())
    }
}

impl From<(String, SkillStats)> for SkillReport {
    fn from((skill, sums): (String, SkillStats)) -> Self {
        let common = sums.common_recovery();
        Self {
            skill,
            success_rate: sums.success_rate(),
            average_turns: sums.average_turns(),
            recovery_rate: sums.recovery_rate(),
            common_recovery: common.map(|(kind, _)| kind.to_owned()),
            common_share: common.map(|(_, share)| share),
            saved_percent: sums.saved_percent(),
            sums,
        }
    }
}
