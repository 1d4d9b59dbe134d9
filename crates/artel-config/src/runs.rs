//! Settings of runs: skills, turns, shared folders, visibility.

use std::str::FromStr;

use artel_types::Failure;

use crate::Setting;
use crate::form::SettingTextForm;
use crate::schema::SettingField;
use crate::value::SettingKind;
use crate::values::SettingValueTable;

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "agents.tool_calls",
        kind: SettingKind::Choice(&["native", "text"]),
        default: Some("native"),
        about: "How models call tools; text is for those that have no form of their own for it.",
    },
    SettingField {
        key: "agents.max_turns",
        kind: SettingKind::Whole {
            least: 1,
            most: 100,
        },
        default: Some("15"),
        about: "How many turns a run has, where its skill does not say.",
    },
    SettingField {
        key: "agents.max_retries",
        kind: SettingKind::Whole { least: 0, most: 10 },
        default: Some("3"),
        about: "How often one call may fail with the same arguments before it is refused.",
    },
    SettingField {
        key: "skills.size_limit",
        kind: SettingKind::Choice(&["warn", "enforce"]),
        default: Some("warn"),
        about: "What a SKILL.md of more than 500 lines means: a warning, or that it is not loaded.",
    },
    SettingField {
        key: "portal.share",
        kind: SettingKind::List(SettingTextForm::Line),
        default: Some(""),
        about: "More ignored folders that runs can see and change for themselves, as they can \
                node_modules, .venv, target, vendor and .gradle.",
    },
    SettingField {
        key: "portal.most_files",
        kind: SettingKind::Whole {
            least: 100,
            most: 10_000_000,
        },
        default: Some("200000"),
        about: "How many files a run's own tree may hold. Beyond that, the folders with most new \
                files are left out.",
    },
    SettingField {
        key: "portal.largest_file",
        kind: SettingKind::Whole {
            least: 1,
            most: 1_000_000,
        },
        default: Some("100"),
        about: "How many MiB a file may have that a run makes or changes; larger ones are left out.",
    },
    SettingField {
        key: "context.max_tokens",
        kind: SettingKind::Whole {
            least: 1_000,
            most: 10_000_000,
        },
        default: Some("50000"),
        about: "How many tokens of notes and reports the architect may be given; four fifths are used.",
    },
    SettingField {
        key: "context.strategy",
        kind: SettingKind::Choice(&[
            "smallest-first",
            "drop-largest",
            "drop-oldest",
            "truncate-each",
        ]),
        default: Some("smallest-first"),
        about: "What is left out where they do not fit.",
    },
    SettingField {
        key: "context.file_tokens",
        kind: SettingKind::Whole {
            least: 0,
            most: 10_000_000,
        },
        default: Some("0"),
        about: "The most of one file that is loaded; 0 for no limit.",
    },
    SettingField {
        key: "visibility.role",
        kind: SettingKind::Choice(&["user", "developer", "admin"]),
        default: Some("user"),
        about: "Whose view of runs is shown: a user's summary, or everything.",
    },
    SettingField {
        key: "visibility.user",
        kind: SettingKind::Choice(&["summary", "full"]),
        default: Some("summary"),
        about: "What users may see of runs: what came of each step, or everything.",
    },
    SettingField {
        key: "visibility.developer",
        kind: SettingKind::Choice(&["summary", "full"]),
        default: Some("full"),
        about: "What developers may see of runs.",
    },
    SettingField {
        key: "visibility.admin",
        kind: SettingKind::Choice(&["summary", "full"]),
        default: Some("full"),
        about: "What admins may see of runs; in full, also what is kept for audit.",
    },
    SettingField {
        key: "visibility.hidden_tools",
        kind: SettingKind::List(SettingTextForm::Line),
        default: Some(""),
        about: "Tools, or sorts of tools such as `git_*`, of which is shown only that they ran.",
    },
];

/// Settings of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSettings {
    /// The way in which models call tools.
    pub tool_calls: Setting<ToolCallFormChoice>,
    /// Number of turns of a run, unless its skill sets one.
    pub max_turns: Setting<u64>,
    /// Number of times that one call may fail.
    pub max_retries: Setting<u64>,
    /// Consequence of a skill that is too long.
    pub size_limit: Setting<SkillSizeChoice>,
    /// Additional folders that runs share.
    pub share: Setting<Vec<String>>,
    /// Largest number of files in a run's tree.
    pub most_files: Setting<u64>,
    /// Largest file of a run, in MiB.
    pub largest_file: Setting<u64>,
    /// Largest context for the architect, in tokens.
    pub context_tokens: Setting<u64>,
    /// Parts that are left out if the context does not fit.
    pub context_strategy: Setting<ContextStrategyChoice>,
    /// Largest part of one file that is loaded, in tokens; 0 for no limit.
    pub context_file_tokens: Setting<u64>,
    /// Role whose view of runs is shown.
    pub role: Setting<ViewerRole>,
    /// The part of runs that users may see.
    pub user_sees: Setting<VisibilityLevel>,
    /// The part of runs that developers may see.
    pub developer_sees: Setting<VisibilityLevel>,
    /// The part of runs that admins may see.
    pub admin_sees: Setting<VisibilityLevel>,
    /// Tools whose input and output are shown to nobody.
    pub hidden_tools: Setting<Vec<String>>,
}

/// The ways in which models can call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolCallFormChoice {
    /// In the provider's own format.
    Native,
    /// As text.
    Text,
}

/// The consequence of a SKILL.md with more than 500 lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillSizeChoice {
    /// A warning.
    Warn,
    /// The skill is not loaded.
    Enforce,
}

/// The choice of what to leave out of a context that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextStrategyChoice(&'static str);

impl ContextStrategyChoice {
    /// Returns the strategy as a word.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl FromStr for ContextStrategyChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        let all = [
            "smallest-first",
            "drop-largest",
            "drop-oldest",
            "truncate-each",
        ];
        all.into_iter().find(|it| *it == word).map(Self).ok_or(())
    }
}

/// The role whose view of runs is shown. Each role sees and may do what those before it
/// may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViewerRole {
    /// Sees the results.
    User,
    /// Sees everything.
    Developer,
    /// Sees everything, and who did it.
    Admin,
}

impl ViewerRole {
    /// Returns the word that settings and tokens use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Developer => "developer",
            Self::Admin => "admin",
        }
    }
}

/// The part of runs that a role may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisibilityLevel {
    /// The result of each step.
    Summary,
    /// Everything.
    Full,
}

impl VisibilityLevel {
    /// Returns the word that settings use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Full => "full",
        }
    }
}

impl RunSettings {
    /// Returns the part that a role may see, with the origin of that setting.
    pub fn sees(&self, role: ViewerRole) -> &Setting<VisibilityLevel> {
        match role {
            ViewerRole::User => &self.user_sees,
            ViewerRole::Developer => &self.developer_sees,
            ViewerRole::Admin => &self.admin_sees,
        }
    }

    pub(crate) fn from_values(values: &SettingValueTable) -> Result<Self, Failure> {
        Ok(Self {
            tool_calls: values.word("agents.tool_calls")?,
            max_turns: values.whole("agents.max_turns")?,
            max_retries: values.whole("agents.max_retries")?,
            size_limit: values.word("skills.size_limit")?,
            share: values.list("portal.share")?,
            most_files: values.whole("portal.most_files")?,
            largest_file: values.whole("portal.largest_file")?,
            context_tokens: values.whole("context.max_tokens")?,
            context_strategy: values.word("context.strategy")?,
            context_file_tokens: values.whole("context.file_tokens")?,
            role: values.word("visibility.role")?,
            user_sees: values.word("visibility.user")?,
            developer_sees: values.word("visibility.developer")?,
            admin_sees: values.word("visibility.admin")?,
            hidden_tools: values.list("visibility.hidden_tools")?,
        })
    }
}

impl FromStr for ToolCallFormChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "native" => Ok(Self::Native),
            "text" => Ok(Self::Text),
            _ => Err(()),
        }
    }
}

impl FromStr for SkillSizeChoice {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "warn" => Ok(Self::Warn),
            "enforce" => Ok(Self::Enforce),
            _ => Err(()),
        }
    }
}

impl FromStr for ViewerRole {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "user" => Ok(Self::User),
            "developer" => Ok(Self::Developer),
            "admin" => Ok(Self::Admin),
            _ => Err(()),
        }
    }
}

impl FromStr for VisibilityLevel {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "summary" => Ok(Self::Summary),
            "full" => Ok(Self::Full),
            _ => Err(()),
        }
    }
}
