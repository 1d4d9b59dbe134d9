//! Skills: found, validated and prepared.
//!
//! A skill is a folder with a `SKILL.md`: YAML between two `---` lines, then instructions in
//! Markdown. Anybody may have written it, for any agent, so nothing in it is believed: sizes are
//! bounded before anything is parsed, links stay inside the folder, and text is expanded once.
//!
//! *Loading* is lenient: what other agents accept loads here too, with remarks. *Validating* is
//! strict: it says what an author should mend. Neither runs anything. There is no clock here, no
//! environment and no process: whatever the world supplies is handed in.
#![warn(missing_docs)]

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

pub use complaint::{Complaint, Remark};
pub use discover::{Broken, Found, Shadowed, Source, discover};
pub use front::{AgentKind, Context, Front, Mode};
pub use load::{MOST_LINES, SizeLimit, load};
pub use request::{read_request, validate_request};
pub use skill::{Scope, Script, Skill, Supporting};
pub use split::empty_body;
pub use validate::validate_skill;
