//! The drivers: they carry out what the state machines of `artel-rules` decide, record the
//! results, and resume from there, live or after a process died.

mod act;
mod ask;
mod audience;
mod below;
mod chronicle;
mod conduct;
mod drive;
mod family;
mod first;
mod granted;
mod ground;
mod heir;
mod hooked;
pub mod hooks;
mod knock;
mod log;
mod prompt;
mod resume;
mod shorten;
mod steer;

pub use ask::Voice;
pub use audience::{Audience, Nobody, Spell};
pub use chronicle::{Chronicle, Entry};
pub use conduct::{Conductor, Crew, Did, Doing, Led, Told};
pub use drive::{Driver, Ended, Left, Setup, kinds, rules_of};
pub use family::Family;
pub use first::answer_first;
pub use granted::TreeGrants;
pub use ground::{Furnish, Ground, Plot, Workplace};
pub use heir::{Begin, Followed, Succession};
pub use hooked::{Begins, record_hooks};
pub use knock::{Elsewhere, Knock};
pub use log::CallLog;
pub use prompt::{Prompt, ROLE, Sections};
pub use resume::{fold, prepared, settle};
pub use steer::{Steering, Stop, Wheel};
