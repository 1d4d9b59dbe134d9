//! Runs of skills and tasks: begun, taken up again, steered, put in place.

mod child;
mod furnish;
mod house;
mod inject;
mod lessons;
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
