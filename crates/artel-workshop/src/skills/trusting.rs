//! Trust in a skill, which a person gives before its first use.

use artel_types::Failure;

use crate::runs::TrustQuestion;
use crate::workshop::{OpenWorkshopJournal, Workshop};

impl Workshop {
    /// Returns the question about trust in a skill, or `None` if the skill may be used in its
    /// present form without one.
    pub fn trust_question(&self, name: &str) -> Result<Option<TrustQuestion>, Failure> {
        let found = self.find_skills(&self.run_folder(None)?);
        let skill = found.get(name)?;
        if self.trusts(&*self.reader()?, skill)? {
            return Ok(None);
        }
        Ok(Some(TrustQuestion::about(skill)))
    }

    /// Records that a person trusts a skill as it was shown. A later change to the skill is
    /// not covered.
    pub fn trust_skill(&self, question: &TrustQuestion) -> Result<(), Failure> {
        let fact = artel_types::SkillTrusted {
            skill: question.skill.clone(),
            folder: question.folder.clone(),
            hash: question.hash.clone(),
        };
        let OpenWorkshopJournal { journal, .. } = self.open()?;
        let draft = self.draft(fact).on(question.folder.clone());
        journal.append(draft).wait()?;
        Ok(())
    }
}
