//! The settings in force: every layer is read, checked and put over the one below.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_types::model::{ModelAliasSettings, ModelSpec};
use artel_types::{ConfiguredSpendLimits, Failure};

use crate::layers::{SettingLayerEntry, SettingLayers};
use crate::schema::{dotted, fields};
use crate::values::{SettingFieldValue, SettingValueTable};
use crate::{
    AgentAccessSettings, CleanSettings, GatewaySettings, HookEntry, JournalSettings,
    OutputSettings, ProcessEnvironment, RunSettings, ServerSettings, Setting, SettingOrigin,
    UserFolders, budget, models, prices,
};

/// All settings, typed, with their origins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Configured models by alias. The origin is that of the provider.
    pub models: BTreeMap<String, Setting<ModelAliasSettings>>,
    /// The person's prices and limits of models, by the names that the providers use.
    pub prices: BTreeMap<String, ModelSpec>,
    /// Limits on spending.
    pub budget: ConfiguredSpendLimits,
    /// Settings of calls to models.
    pub gateway: GatewaySettings,
    /// Settings of the journal.
    pub journal: JournalSettings,
    /// Settings of output.
    pub output: OutputSettings,
    /// Settings of what `artel clean` may remove, and when.
    pub clean: CleanSettings,
    /// Settings of what agents may do.
    pub hands: AgentAccessSettings,
    /// Settings of runs.
    pub runs: RunSettings,
    /// Settings of the daemon.
    pub server: ServerSettings,
    /// Commands that runs go through, the user's first. Each layer adds its own.
    pub hooks: Vec<HookEntry>,
    /// Variables that begin with `ARTEL_` but mean nothing to this build.
    pub unknown_variables: Vec<String>,
    /// Settings that are accepted but have no effect, a sentence each.
    pub warnings: Vec<String>,
    /// The settings files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    values: SettingValueTable,
}

/// One setting for people, as `artel config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingSummary {
    /// Dotted name. Parts with special characters are quoted, as in TOML.
    pub key: String,
    /// The value in force, as TOML.
    pub value: String,
    /// Origin: `default`, `user FILE:LINE`, `workshop FILE:LINE`, a variable, `--set`.
    pub origin: String,
    /// Effect of the setting.
    pub about: &'static str,
}

impl Settings {
    /// Reads all layers. If anything is wrong, returns all problems, lowest layer first; a bad
    /// value is reported even if a higher layer would have replaced it. Missing values are
    /// looked for only once everything else is right.
    ///
    /// `workshop` is the folder of the workshop in use, if its settings count.
    pub fn load(
        environment: &ProcessEnvironment,
        places: &UserFolders,
        workshop: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Self, Vec<Failure>> {
        let mut found = SettingLayers::default();
        found.add_file(&places.user_file(), SettingOrigin::User);
        if let Some(workshop) = workshop {
            found.add_file(&workshop.join("artel.toml"), SettingOrigin::Workshop);
        }
        found.add_variables(environment);
        found.add_flags(flags);
        Self::from_found(found)
    }

    fn from_found(found: SettingLayers) -> Result<Self, Vec<Failure>> {
        let SettingLayers {
            entries,
            hooks,
            files,
            unknown_variables,
        } = found;
        let mut values = SettingValueTable::defaults();
        let put = |entry: Result<SettingLayerEntry, Failure>| values.put(entry?);
        let problems: Vec<_> = entries
            .into_iter()
            .map(put)
            .filter_map(Result::err)
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        Self::typed(values, hooks, files, unknown_variables)
    }

    fn typed(
        values: SettingValueTable,
        hooks: Vec<HookEntry>,
        files: Vec<PathBuf>,
        unknown_variables: Vec<String>,
    ) -> Result<Self, Vec<Failure>> {
        let one = |failure| vec![failure];
        let (models, budget) = both(models::entries(&values), budget::limits(&values))?;
        Ok(Self {
            models,
            prices: prices::cards(&values),
            budget,
            gateway: GatewaySettings::from_values(&values).map_err(one)?,
            journal: JournalSettings::from_values(&values).map_err(one)?,
            output: OutputSettings::from_values(&values).map_err(one)?,
            clean: CleanSettings::from_values(&values).map_err(one)?,
            hands: AgentAccessSettings::from_values(&values).map_err(one)?,
            runs: RunSettings::from_values(&values).map_err(one)?,
            server: ServerSettings::from_values(&values).map_err(one)?,
            hooks,
            unknown_variables,
            warnings: budget::warnings(&values),
            files,
            values,
        })
    }

    /// Returns every setting that has a value, in the order of the documentation.
    pub fn rows(&self) -> Vec<SettingSummary> {
        let mut all: Vec<_> = self.values.all().collect();
        all.sort_by_cached_key(|(path, held)| place(path, held));
        let row =
            |(path, SettingFieldValue { field, setting }): (&[String], &SettingFieldValue)| {
                SettingSummary {
                    key: dotted(path),
                    value: setting.value.to_toml(),
                    origin: setting.origin.to_string(),
                    about: field.about,
                }
            };
        let hook = |hook: &HookEntry| SettingSummary {
            key: format!("hooks.{}", hook.event),
            value: hook.to_toml(),
            origin: hook.origin.to_string(),
            about: "A command that runs go past.",
        };
        let hooks = self.hooks.iter().map(hook);
        all.into_iter().map(row).chain(hooks).collect()
    }

    /// Returns the BLAKE3 hash, in hex, of the values in force. Their origins, and the spelling
    /// of a duration, do not count: the hash changes if and only if the configuration does.
    pub fn checksum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, SettingFieldValue { setting, .. }) in self.values.all() {
            let line = format!("{}={}\n", dotted(path), setting.value.canonical());
            hasher.update(line.as_bytes());
        }
        for hook in &self.hooks {
            let line = format!("hooks.{}={}\n", hook.event, hook.to_toml());
            hasher.update(line.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// Returns both values, or the problems of both.
fn both<A, B>(
    one: Result<A, Vec<Failure>>,
    other: Result<B, Vec<Failure>>,
) -> Result<(A, B), Vec<Failure>> {
    match (one, other) {
        (Ok(one), Ok(other)) => Ok((one, other)),
        (Err(mut one), Err(other)) => {
            one.extend(other);
            Err(one)
        }
        (Err(problems), Ok(_)) | (Ok(_), Err(problems)) => Err(problems),
    }
}

/// Returns a sort key for the order of the documentation: settings below one of the user's
/// names stay together, in the order of the schema.
fn place(path: &[String], held: &SettingFieldValue) -> (usize, String, usize, Vec<String>) {
    let index = |is_it: &dyn Fn(&str) -> bool| {
        let found = fields().position(|field| is_it(field.key));
        found.unwrap_or(usize::MAX)
    };
    let key = held.field.key;
    let own = index(&|other| other == key);
    let Some((before, _)) = key.split_once('<') else {
        return (own, String::new(), own, Vec::new());
    };
    let group = index(&|other| other.starts_with(before));
    let name = path.get(before.matches('.').count());
    (group, name.cloned().unwrap_or_default(), own, path.to_vec())
}
