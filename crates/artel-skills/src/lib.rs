//! Skills: found, validated and prepared.
//!
//! A skill is a folder with a `SKILL.md`: YAML between two `---` lines, then instructions
//! in Markdown. Anybody may have written it, for any agent, so nothing in it is trusted:
//! sizes are limited before anything is parsed, links stay inside the folder, and text is
//! expanded once.
//!
//! *Loading* is lenient: a skill that other agents accept loads here too, with remarks.
//! *Validating* is strict: it tells the author what to fix. Neither runs anything. This
//! crate uses no clock, no environment and no process: callers hand in whatever it needs
//! of the outside world.

pub mod body;
pub mod cases;
pub mod catalogue;
pub mod choose;
mod complaint;
mod describe;
mod discover;
mod folder;
mod front;
mod load;
mod name;
pub mod prepare;
mod repair;
mod request;
pub mod savings;
mod skill;
mod split;
pub mod template;
mod validate;
mod yaml;

pub use complaint::{FileComplaint, Remark};
pub use discover::{
    BrokenSkillFolder, DiscoveredSkills, ShadowedSkill, SkillSourceFolder, discover,
};
pub use front::{SkillAgentKind, SkillContextMode, SkillFrontmatter, SkillRunMode};
pub use load::{MOST_LINES, SkillSizeEnforcement, load};
pub use request::{read_request, validate_request};
pub use skill::{Skill, SkillOrigin, SkillScript, SkillSupportingFile};
pub use split::empty_body;
pub use validate::validate_skill;
