//! Runs of skills and tasks: begun, taken up again, steered, put in place.

mod child;
mod furnish;
mod hooks;
mod house;
mod inject;
pub(crate) mod lessons;
mod order;
mod prepare;
mod skills;
mod standing;
mod start;
mod take_up;
mod trust;

pub use artel_engine::{Left, Stop};
pub use house::Company;
pub use order::{RunDone, RunOrder};
pub use skills::SkillsFound;
pub use trust::{Trust, TrustQuestion};

pub(crate) use furnish::skill_rules;
pub(crate) use house::House;
pub(crate) use inject::admitted;
pub(crate) use trust::untrusted;
