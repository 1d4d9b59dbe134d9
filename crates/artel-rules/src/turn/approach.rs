//! What was tried and how often it failed.

use std::collections::BTreeMap;

use serde_json::Value;

/// A tool with its arguments, written in one way only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approach {
    /// The tool.
    pub tool: String,
    /// The arguments as canonical JSON.
    pub arguments: String,
}

/// No more of an error is repeated.
const LONGEST_ERROR: usize = 200;

/// No more of an approach is shown.
const LONGEST_SHOWN: usize = 160;

#[derive(Debug, Clone, Default)]
pub(super) struct Approaches {
    failed: BTreeMap<Approach, Failed>,
}

#[derive(Debug, Clone)]
struct Failed {
    count: u32,
    error: String,
}

impl Approach {
    /// Names an approach.
    pub fn of(tool: &str, input: &Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: normal(input).to_string(),
        }
    }
}

impl std::fmt::Display for Approach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.arguments.chars().take(LONGEST_SHOWN).collect();
        let rest = if shown.len() < self.arguments.len() {
            "…"
        } else {
            ""
        };
        write!(f, "{} {shown}{rest}", self.tool)
    }
}

/// Returns arguments without what makes no difference: the order of keys, space around words, `./`
/// before a path, a null where nothing would do.
pub fn normal(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), normal(value)))
                .collect();
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(normal).collect()),
        Value::String(text) => {
            let mut text = text.trim();
            while let Some(rest) = text.strip_prefix("./") {
                text = rest.trim_start_matches('/');
            }
            Value::String(text.to_owned())
        }
        other => other.clone(),
    }
}

impl Approaches {
    /// Counts a failure, and returns how often the approach failed by now.
    pub(super) fn fail(&mut self, approach: Approach, error: &str) -> u32 {
        let error: String = error
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(LONGEST_ERROR)
            .collect();
        let failed = self.failed.entry(approach).or_insert(Failed {
            count: 0,
            error: String::new(),
        });
        failed.count += 1;
        failed.error = error;
        failed.count
    }

    /// Tells how often an approach failed, and how at last.
    pub(super) fn failures(&self, approach: &Approach) -> Option<(u32, &str)> {
        let failed = self.failed.get(approach)?;
        Some((failed.count, &failed.error))
    }

    /// An approach that worked is none that fails.
    pub(super) fn succeed(&mut self, approach: &Approach) {
        self.failed.remove(approach);
    }

    /// The files are others than they were: what failed before may work now, changes aside.
    pub(super) fn files_changed(&mut self, is_edit: impl Fn(&str) -> bool) {
        self.failed.retain(|approach, _| is_edit(&approach.tool));
    }

    /// Lists what was tried, for the model.
    pub(super) fn list(&self) -> Vec<String> {
        let line = |(approach, failed): (&Approach, &Failed)| {
            format!("{approach}: failed {}×, {}", failed.count, failed.error)
        };
        self.failed.iter().map(line).collect()
    }
}
