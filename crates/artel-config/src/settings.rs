//! The settings in force: every layer read, checked and put over the one below.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use artel_types::model::{ModelCard, ModelEntry};
use artel_types::{Failure, Limits};

use crate::layers::{Entry, Found};
use crate::schema::{dotted, fields};
use crate::values::{Held, Values};
use crate::{
    Clean, Environment, Gateway, Hands, HookEntry, Journal, Origin, Output, Places, Runs, Server,
    Setting, budget, models, prices,
};

/// Every setting, typed, with where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The models that are configured, by alias. The origin is that of the provider.
    pub models: BTreeMap<String, Setting<ModelEntry>>,
    /// What the person says about models, by their providers' names for them.
    pub prices: BTreeMap<String, ModelCard>,
    /// What may be spent.
    pub budget: Limits,
    /// How calls to models are made.
    pub gateway: Gateway,
    /// How the journal is kept.
    pub journal: Journal,
    /// How output looks.
    pub output: Output,
    /// What may be removed, and when.
    pub clean: Clean,
    /// What agents may do.
    pub hands: Hands,
    /// How runs go.
    pub runs: Runs,
    /// How the daemon serves.
    pub server: Server,
    /// Commands that runs go past, the user's first; each layer adds its own.
    pub hooks: Vec<HookEntry>,
    /// Variables that begin with `ARTEL_` and mean nothing to this build.
    pub unknown_variables: Vec<String>,
    /// Settings that are accepted and have no effect, a sentence each.
    pub warnings: Vec<String>,
    /// The settings files that were read, lowest layer first.
    pub files: Vec<PathBuf>,
    values: Values,
}

/// One setting for people, as `artel config show` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The dotted name; parts that are not plain stand in quotes, as in TOML.
    pub key: String,
    /// The value in force, as TOML.
    pub value: String,
    /// Where it came from: `default`, `user FILE:LINE`, `workshop FILE:LINE`, a variable, `--set`.
    pub origin: String,
    /// What the setting does.
    pub about: &'static str,
}

impl Settings {
    /// Reads all layers. Either everything is right, or all that is wrong is returned, lowest
    /// layer first; a bad value is reported also where a higher layer would have replaced it. What
    /// is missing is looked for once all that is there is right.
    ///
    /// `workshop` is the folder of the workshop in use, if it is one whose settings count.
    pub fn load(
        environment: &Environment,
        places: &Places,
        workshop: Option<&Path>,
        flags: &[(String, String)],
    ) -> Result<Self, Vec<Failure>> {
        let mut found = Found::default();
        found.add_file(&places.user_file(), Origin::User);
        if let Some(workshop) = workshop {
            found.add_file(&workshop.join("artel.toml"), Origin::Workshop);
        }
        found.add_variables(environment);
        found.add_flags(flags);
        Self::from_found(found)
    }

    fn from_found(found: Found) -> Result<Self, Vec<Failure>> {
        let Found {
            entries,
            hooks,
            files,
            unknown_variables,
        } = found;
        let mut values = Values::defaults();
        let put = |entry: Result<Entry, Failure>| values.put(entry?);
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
        values: Values,
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
            gateway: Gateway::from_values(&values).map_err(one)?,
            journal: Journal::from_values(&values).map_err(one)?,
            output: Output::from_values(&values).map_err(one)?,
            clean: Clean::from_values(&values).map_err(one)?,
            hands: Hands::from_values(&values).map_err(one)?,
            runs: Runs::from_values(&values).map_err(one)?,
            server: Server::from_values(&values).map_err(one)?,
            hooks,
            unknown_variables,
            warnings: budget::warnings(&values),
            files,
            values,
        })
    }

    /// Returns every setting that has a value, in the order of the documentation.
    pub fn rows(&self) -> Vec<Row> {
        let mut all: Vec<_> = self.values.all().collect();
        all.sort_by_cached_key(|(path, held)| place(path, held));
        let row = |(path, Held { field, setting }): (&[String], &Held)| Row {
            key: dotted(path),
            value: setting.value.to_toml(),
            origin: setting.origin.to_string(),
            about: field.about,
        };
        let hook = |hook: &HookEntry| Row {
            key: format!("hooks.{}", hook.event),
            value: hook.to_toml(),
            origin: hook.origin.to_string(),
            about: "A command that runs go past.",
        };
        let hooks = self.hooks.iter().map(hook);
        all.into_iter().map(row).chain(hooks).collect()
    }

    /// Returns the BLAKE3 hash, in hex, of the values in force. Where they came from, and how a
    /// span is spelt, does not count: it changes when and only when the configuration does.
    pub fn checksum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (path, Held { setting, .. }) in self.values.all() {
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

/// Returns both, or everything that is wrong with either.
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

/// Returns where a value stands in the documentation: what the user named stands together, and
/// inside of that the order of the schema holds.
fn place(path: &[String], held: &Held) -> (usize, String, usize, Vec<String>) {
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
