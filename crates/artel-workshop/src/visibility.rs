//! Who sees how much of runs. An admin can change these rules while everything runs.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use artel_config::{ViewerRole, VisibilityLevel, with_setting};
use artel_files::{read_bounded, write_atomic};
use artel_types::{Failure, FailureCode};
use serde::Serialize;

use crate::lock;
use crate::trouble::{WorkshopFailures, file_failure};
use crate::workshop::{OutcomeWithNotes, Workshop};

/// The roles, from the lowest to the highest.
const ROLES: [ViewerRole; 3] = [ViewerRole::User, ViewerRole::Developer, ViewerRole::Admin];

/// The section of the settings with these rules.
const SECTION: &str = "visibility";

/// Larger than any settings file may be, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// Largest number of hidden tools, and the longest of their names.
const MOST_TOOLS: usize = 200;
const LONGEST_TOOL: usize = 200;

/// The visibility for one role, and the setting behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleVisibility {
    pub role: &'static str,
    /// `summary` or `full`.
    pub sees: &'static str,
    /// The setting's origin.
    pub origin: String,
}

/// Who sees how much of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VisibilitySettings {
    pub roles: Vec<RoleVisibility>,
    /// Tools of which every viewer sees only that they ran.
    pub hidden_tools: Vec<String>,
}

/// Changes to who sees how much. `None` leaves a rule as it is.
#[derive(Debug, Clone, Default)]
pub struct VisibilityChange {
    /// Visibility for users.
    pub user: Option<VisibilityLevel>,
    /// Visibility for developers.
    pub developer: Option<VisibilityLevel>,
    /// Visibility for admins.
    pub admin: Option<VisibilityLevel>,
    /// Tools of which viewers see only that they ran.
    pub hidden_tools: Option<Vec<String>>,
}

impl VisibilityChange {
    fn of(&self, role: ViewerRole) -> Option<VisibilityLevel> {
        match role {
            ViewerRole::User => self.user,
            ViewerRole::Developer => self.developer,
            ViewerRole::Admin => self.admin,
        }
    }
}

impl Workshop {
    /// Returns who sees how much of runs.
    pub fn who_sees(&self) -> VisibilitySettings {
        let runs = &self.settings.runs;
        let roles = ROLES.map(|role| {
            let sees = runs.sees(role);
            RoleVisibility {
                role: role.as_str(),
                sees: sees.value.as_str(),
                origin: sees.origin.to_string(),
            }
        });
        VisibilitySettings {
            roles: roles.to_vec(),
            hidden_tools: runs.hidden_tools.value.clone(),
        }
    }

    /// Changes who sees how much in the workshop's settings file, and leaves the rest of the
    /// file as it is. The change applies to every process that loads the settings from then
    /// on, and is on record as the caller's act. If a variable or a flag overrules it, or the
    /// file has no place for it, the file stays unchanged.
    pub fn see_otherwise(
        &self,
        change: &VisibilityChange,
    ) -> Result<OutcomeWithNotes<VisibilitySettings>, WorkshopFailures> {
        if let Some(tools) = &change.hidden_tools {
            check_tools(tools)?;
        }
        let file = self.settings_file();
        // One change at a time, so that none is lost and a change takes back only its own text.
        let _lock = lock::hold(&self.root().join(".artel/settings.lock"))?;
        let old = if file.exists() {
            read_bounded(&file, LARGEST).map_err(|error| file_failure(FailureCode::W008, &error))?
        } else {
            Vec::new()
        };
        let text = String::from_utf8_lossy(&old).into_owned();
        let new = self.changed(&text, change)?;
        let about = std::fs::metadata(&file);
        let mode = about.map_or(0o644, |about| about.permissions().mode() & 0o777);
        let write = |bytes: &[u8]| {
            let written = write_atomic(&file, bytes, mode);
            written.map_err(|error| file_failure(FailureCode::W008, &error))
        };
        let is_new = new != text;
        if is_new {
            write(new.as_bytes())?;
        }
        let loaded = self.reloaded().and_then(|loaded| {
            refuse_overruled(&loaded, change)?;
            Ok(loaded)
        });
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(problems) => {
                if is_new {
                    write(&old)?;
                }
                return Err(problems);
            }
        };
        // The first process that opens the journal with new settings records them.
        let opened = loaded.open()?;
        Ok(OutcomeWithNotes {
            done: loaded.who_sees(),
            notes: opened.notes,
        })
    }

    /// Returns the workshop's settings file, or the target if it is a link.
    fn settings_file(&self) -> PathBuf {
        let file = self.root.join("artel.toml");
        file.canonicalize().unwrap_or(file)
    }

    fn changed(&self, text: &str, change: &VisibilityChange) -> Result<String, Failure> {
        let mut text = text.to_owned();
        let roles = ROLES.iter().filter_map(|role| {
            let sees = change.of(*role)?;
            Some((role.as_str(), format!("\"{}\"", sees.as_str())))
        });
        let tools = change.hidden_tools.iter();
        let tools = tools.map(|tools| ("hidden_tools", list(tools)));
        for (key, value) in roles.chain(tools) {
            text = with_setting(&text, SECTION, key, &value).ok_or_else(|| {
                let what = format!("`{SECTION}.{key}` cannot be put into the settings file");
                Failure::new(FailureCode::S005, what)
                    .because("it is written in a way that leaves no room for it")
                    .advise(format!(
                        "write `{key} = {value}` into `{}` by hand",
                        self.settings_file().display()
                    ))
            })?;
        }
        Ok(text)
    }
}

/// Refuses a change without effect because a higher layer overrules it.
fn refuse_overruled(loaded: &Workshop, change: &VisibilityChange) -> Result<(), Failure> {
    let runs = &loaded.settings.runs;
    let roles = ROLES.iter().filter_map(|role| {
        let is_other = change.of(*role)? != runs.sees(*role).value;
        is_other.then(|| (role.as_str(), runs.sees(*role).origin.to_string()))
    });
    let tools = change.hidden_tools.as_ref();
    let tools = tools.filter(|wanted| **wanted != runs.hidden_tools.value);
    let tools = tools.map(|_| ("hidden_tools", runs.hidden_tools.origin.to_string()));
    match roles.chain(tools).next() {
        None => Ok(()),
        Some((key, origin)) => {
            let what = format!("`{SECTION}.{key}` would stay as it is");
            Err(Failure::new(FailureCode::S005, what)
                .because(format!("it is set above the settings file: {origin}"))
                .advise("change it there"))
        }
    }
}

fn check_tools(tools: &[String]) -> Result<(), Failure> {
    let is_good = |name: &String| {
        let is_short = !name.trim().is_empty() && name.len() <= LONGEST_TOOL;
        is_short && !name.contains(char::is_control)
    };
    if tools.len() <= MOST_TOOLS && tools.iter().all(is_good) {
        return Ok(());
    }
    Err(
        Failure::new(FailureCode::C004, "these are no names of tools")
            .because(format!(
                "at most {MOST_TOOLS} names of one line and {LONGEST_TOOL} characters each"
            ))
            .advise("such as `bash`, or `git_*` for a sort of tools"),
    )
}

fn list(items: &[String]) -> String {
    let quoted = items.iter().map(|item| {
        let escaped = item.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{escaped}\"")
    });
    format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
}
