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

pub use ask::ModelHandle;
pub use audience::{NullRunObserver, RunObserver, Spell};
pub use chronicle::{RunJournal, RunJournalEntry};
pub use conduct::{ConductorOutcome, Doing, PlanConductor, PlanExecutor, PlanOrderOutcome, Told};
pub use drive::{RunDriver, RunDriverOutcome, RunDriverSetup, RunSuspendReason, kinds, rules_of};
pub use family::TurnAllowance;
pub use first::answer_first;
pub use granted::RunFamilyGrants;
pub use ground::{Furnish, RunToolEnvironment, RunTreeHandle, RunTreeLocation};
pub use heir::{Begin, RunHandoverOutcome, RunSuccessor};
pub use hooked::{RunStartKind, record_hooks};
pub use knock::{RecordingApprover, RemoteApprover};
pub use log::CallLog;
pub use prompt::{OpeningPrompt, PromptSections, ROLE};
pub use resume::{fold, prepared, settle};
pub use steer::{ShutdownLevel, SteeringHub, SteeringInbox};
