//! The access of agents: policy, sandbox and tools, assembled from the settings, the
//! workshop's files and the person's environment.

mod bench;
mod command;
mod grants;
mod policy;
mod role;
mod run;
mod scratch;
mod tools;

pub(crate) use grants::outdated_grants;
pub(crate) use policy::{command_rules, stored_rules, unread_bans, unread_text};
pub(crate) use role::{AgentRole, parse as parse_role};
pub(crate) use run::{CallSecretStore, NetworkPassageRecorder};
pub(crate) use scratch::PrivateScratchFolder;
pub(crate) use tools::{declared_names, layer_text};

pub use command::{SandboxedCommand, SandboxedCommandOutcome};
pub use policy::{CommandPolicyAnswer, CommandPolicyQuery, PolicyDetail, PolicyRuleRow};
pub use tools::{ToolDetail, ToolTrial, ToolTrialOutcome};
