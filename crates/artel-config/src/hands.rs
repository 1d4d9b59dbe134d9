//! Settings of what agents may do: the profile, the policy, the sandbox, and what counts as
//! a secret.

use std::path::PathBuf;
use std::str::FromStr;

use artel_types::Failure;

use crate::Setting;
use crate::form::SettingTextForm;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const PROFILE_FIELDS: &[SettingField] = &[SettingField {
    key: "profile",
    kind: SettingKind::Choice(&["local", "ci", "production"]),
    default: Some("local"),
    about: "Where this runs; ci and production demand the full sandbox.",
}];

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "policy.commands",
        kind: SettingKind::Choice(&["allow", "ask"]),
        default: Some("allow"),
        about: "Whether commands that can be judged run without a question, in the sandbox, \
                without network and secrets, in the run's own tree.",
    },
    SettingField {
        key: "policy.contained",
        kind: SettingKind::Flag,
        default: Some("true"),
        about: "Whether a command that would be asked about runs without a question where the full \
                sandbox holds it: in a copy, without network grants and secrets. Never in profile \
                production.",
    },
    SettingField {
        key: "policy.secret_fields",
        kind: SettingKind::List(SettingTextForm::Line),
        default: Some(""),
        about: "More names of fields whose values are taken out of whatever is stored or shown.",
    },
    SettingField {
        key: "sandbox.accept",
        kind: SettingKind::Choice(&["full", "partial"]),
        default: Some("full"),
        about: "The lowest level of the sandbox that you accept on this machine, in profile local.",
    },
    SettingField {
        key: "sandbox.read",
        kind: SettingKind::List(SettingTextForm::Line),
        default: Some(""),
        about: "More folders that commands in the sandbox can read, such as a tool chain.",
    },
];

/// The kind of machine that Artel runs on. It sets the sandbox level that is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineProfile {
    /// A person's own machine.
    Local,
    /// An automatic build.
    Ci,
    /// A machine that others rely on.
    Production,
}

/// Settings of what agents may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAccessSettings {
    /// Kind of machine that this is.
    pub profile: Setting<MachineProfile>,
    /// Whether judged commands run in the sandbox without a question.
    pub commands: Setting<CommandApprovalChoice>,
    /// Whether the walls of a run may decide about commands that would otherwise be asked
    /// about.
    pub contained: Setting<ContainmentChoice>,
    /// Additional names of fields that hold secrets.
    pub secret_fields: Setting<Vec<String>>,
    /// Lowest sandbox level that the person accepts in profile local.
    pub accept: Setting<SandboxLevelChoice>,
    /// Additional folders that can be read inside the sandbox.
    pub read: Setting<Vec<PathBuf>>,
}

/// Treatment of commands that can be judged, in the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandApprovalChoice {
    /// The commands run.
    Allow,
    /// The person is asked.
    Ask,
}

/// Whether the walls decide about commands that would otherwise be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainmentChoice {
    /// The walls decide where they stand in full.
    On,
    /// Rules judge every command.
    Off,
}

/// The lowest sandbox level that a person accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxLevelChoice {
    /// Only the full level.
    Full,
    /// The partial level is enough.
    Partial,
}

impl AgentAccessSettings {
    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        let read = values.list("sandbox.read")?;
        let contained = values.flag("policy.contained")?;
        Ok(Self {
            profile: values.word("profile")?,
            commands: values.word("policy.commands")?,
            contained: Setting {
                value: if contained.value {
                    ContainmentChoice::On
                } else {
                    ContainmentChoice::Off
                },
                origin: contained.origin,
            },
            secret_fields: values.list("policy.secret_fields")?,
            accept: values.word("sandbox.accept")?,
            read: Setting {
                value: read.value.into_iter().map(PathBuf::from).collect(),
                origin: read.origin,
            },
        })
    }
}

impl FromStr for MachineProfile {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "local" => Ok(Self::Local),
            "ci" => Ok(Self::Ci),
            "production" => Ok(Self::Production),
            _ => Err(()),
        }
    }
}

impl FromStr for CommandApprovalChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "allow" => Ok(Self::Allow),
            "ask" => Ok(Self::Ask),
            _ => Err(()),
        }
    }
}

impl FromStr for SandboxLevelChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "full" => Ok(Self::Full),
            "partial" => Ok(Self::Partial),
            _ => Err(()),
        }
    }
}
