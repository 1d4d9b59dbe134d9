//! The operations on skills other than running them: list, show, validate, create, trust,
//! measure and test.

mod learn;
mod lessons;
mod list;
mod make;
mod measure;
mod promote;
mod rehearse;
mod show;
mod stage;
mod trials;
mod trusting;
mod validate;

pub use lessons::{RunFeedbackOutcome, SkillLesson};
pub use list::{SkillList, SkillRow};
pub use make::NewSkill;
pub use measure::SkillReport;
pub use promote::PromotedTestCase;
pub use show::{SkillCommandRow, SkillDetail};
pub use trials::{RehearsedRunOutcome, SkillTestOutcome, TriggerTestOutcome};
pub use validate::{SkillFileCheck, validate_skill_line};
