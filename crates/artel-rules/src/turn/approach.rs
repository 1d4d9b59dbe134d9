//! Which calls were tried, and how often they failed.

use std::collections::BTreeMap;

use serde_json::Value;

/// A tool with its arguments in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CanonicalToolCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments as canonical JSON.
    pub arguments: String,
}

/// Most characters of an error that are repeated.
const LONGEST_ERROR: usize = 200;

/// Most characters shown of the arguments.
const LONGEST_SHOWN: usize = 160;

#[derive(Debug, Clone, Default)]
pub(super) struct FailedToolCalls {
    failed: BTreeMap<CanonicalToolCall, ToolCallFailures>,
}

#[derive(Debug, Clone)]
struct ToolCallFailures {
    count: u32,
    error: String,
}

impl CanonicalToolCall {
    /// Makes the canonical form of a call.
    pub fn of(tool: &str, input: &Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: normal(input).to_string(),
        }
    }
}

impl std::fmt::Display for CanonicalToolCall {
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

/// Returns arguments without irrelevant differences: the order of keys, space around text,
/// `./` before a path, and `null` for a missing value.
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

impl FailedToolCalls {
    /// Counts a failure, and returns how often the call has failed now.
    pub(super) fn fail(&mut self, approach: CanonicalToolCall, error: &str) -> u32 {
        let error: String = error
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(LONGEST_ERROR)
            .collect();
        let failed = self.failed.entry(approach).or_insert(ToolCallFailures {
            count: 0,
            error: String::new(),
        });
        failed.count += 1;
        failed.error = error;
        failed.count
    }

    /// Returns how often a call failed, and its last error.
    pub(super) fn failures(&self, approach: &CanonicalToolCall) -> Option<(u32, &str)> {
        let failed = self.failed.get(approach)?;
        Some((failed.count, &failed.error))
    }

    /// Forgets the failures of a call that succeeded.
    pub(super) fn succeed(&mut self, approach: &CanonicalToolCall) {
        self.failed.remove(approach);
    }

    /// Forgets failures after files have changed, because the calls may work now. Failed
    /// edits are kept.
    pub(super) fn files_changed(&mut self, is_edit: impl Fn(&str) -> bool) {
        self.failed.retain(|approach, _| is_edit(&approach.tool));
    }

    /// Lists the failed calls for the model.
    pub(super) fn list(&self) -> Vec<String> {
        let line = |(approach, failed): (&CanonicalToolCall, &ToolCallFailures)| {
            format!("{approach}: failed {}×, {}", failed.count, failed.error)
        };
        self.failed.iter().map(line).collect()
    }
}
