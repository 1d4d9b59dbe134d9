//! The one API that every surface calls: finding and making workshops, their journal, their
//! health. Surfaces parse, call this, and print; none has logic of its own.
#![warn(missing_docs)]

mod caller;
mod clean;
mod doctor;
mod find;
mod init;
mod journal;
mod marker;
mod registry;
mod safety;
mod stats;
mod trace;
mod trouble;
mod workshop;

pub use caller::{Caller, Flags};
pub use clean::{Cleaned, Rubbish, Sort};
pub use doctor::{Check, Health};
pub use find::Found;
pub use init::{Init, Made};
pub use journal::{PrunePlan, RestorePlan};
pub use marker::Marker;
pub use stats::{Count, Stats};
pub use trace::Story;
pub use trouble::Problems;
pub use workshop::{Noted, Open, Workshop};
