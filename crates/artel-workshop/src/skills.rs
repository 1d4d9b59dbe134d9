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

pub use lessons::{Given, LessonKept};
pub use list::{SkillList, SkillRow};
pub use make::NewSkill;
pub use measure::SkillReport;
pub use promote::Promoted;
pub use show::{CommandShown, SkillShown};
pub use trials::{RunTried, SkillTried, TriggerTried};
pub use validate::{Checked, validate_skill_line};
