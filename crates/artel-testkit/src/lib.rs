//! Building blocks for tests: temporary journals, a manual clock, seeded randomness,
//! children to kill, injected faults, and stand-ins for the model providers.
#![expect(clippy::expect_used, reason = "a test that cannot be set up fails")]

mod child;
mod clock;
mod drafts;
mod follower;
mod random;
mod scale;
mod scratch;
pub mod shim;
pub mod standin;
mod wait;

pub use child::{Child, testkit_binary};
pub use clock::{ManualClock, system_clock};
pub use drafts::{note, note_text, plan_of_one_step, random_trace, run_events};
pub use follower::start_follower;
pub use random::Random;
pub use scale::{figure, is_long, scaled};
pub use scratch::Scratch;
pub use wait::block_on;
