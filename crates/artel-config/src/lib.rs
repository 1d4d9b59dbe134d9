//! Settings with their origin; the only reader of the environment.
//!
//! A value comes from the highest layer that sets it: defaults, the user's `artel.toml`,
//! the workshop's `artel.toml`, variables `ARTEL_…`, `--set` flags. Nothing here is global:
//! a component that needs a setting is handed the struct of its area. A misspelt name is
//! refused rather than ignored, and one load reports all problems.

mod budget;
mod clean;
mod clock;
mod decimal;
mod document;
mod edit;
mod environment;
mod file;
mod form;
mod gateway;
mod git_config;
mod hands;
mod hooks;
mod identity;
mod journal;
mod layers;
mod models;
mod names;
mod nearest;
mod origin;
mod output;
mod places;
mod prices;
mod problem;
mod proxy;
mod runs;
mod schema;
mod server;
mod settings;
mod template;
mod url;
mod value;
mod values;

pub use clean::CleanSettings;
pub use clock::system_clock;
pub use edit::with_setting;
pub use environment::ProcessEnvironment;
pub use gateway::GatewaySettings;
pub use hands::{
    AgentAccessSettings, CommandApprovalChoice, ContainmentChoice, MachineProfile,
    SandboxLevelChoice,
};
pub use hooks::{HOOK_EVENTS, HookEntry, HookFailureChoice};
pub use identity::person;
pub use journal::{DurabilityChoice, JournalSettings};
pub use origin::{Setting, SettingOrigin};
pub use output::{OutputColorChoice, OutputSettings};
pub use places::UserFolders;
pub use runs::{
    ContextStrategyChoice, RunSettings, SkillSizeChoice, ToolCallFormChoice, ViewerRole,
    VisibilityLevel,
};
pub use server::ServerSettings;
pub use settings::{SettingSummary, Settings};
pub use template::template;

#[cfg(test)]
mod tests;
