//! The input of hooks: JSON with the field names that hooks written for other agents
//! expect.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::HookSession;
use super::event::HookEvent;

/// Fields with another name in other agents' tools: tool, Artel's name, the other name.
const FIELDS: &[(&str, &str, &str)] = &[
    ("read", "path", "file_path"),
    ("write", "path", "file_path"),
    ("edit", "path", "file_path"),
    ("edit", "old", "old_string"),
    ("edit", "new", "new_string"),
    ("edit", "all", "replace_all"),
    ("multi_edit", "path", "file_path"),
    ("multi_edit", "old", "old_string"),
    ("multi_edit", "new", "new_string"),
    ("multi_edit", "all", "replace_all"),
];

/// The direction in which fields are renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookFieldDirection {
    Out,
    In,
}

/// Returns the fields that every hook gets.
pub(super) fn common(session: &HookSession, event: HookEvent, tree: &Path) -> Map<String, Value> {
    let mut map = Map::new();
    let mut put = |name: &str, value: &str| map.insert(name.to_owned(), json!(value));
    put("session_id", &session.id);
    put("transcript_path", &session.transcript);
    put("cwd", &tree.to_string_lossy());
    put("permission_mode", &session.permission_mode);
    put("hook_event_name", event.name());
    if let Some(agent) = &session.agent {
        put("agent_id", &session.id);
        put("agent_type", agent);
    }
    map
}

/// Returns the input of a call as hooks see it: with the other agents' field names and
/// absolute paths.
pub(super) fn outward(tool: &str, input: &Value, tree: &Path) -> Value {
    let mut told = renamed(tool, input, HookFieldDirection::Out);
    if let Some(Value::String(path)) = told.get_mut("file_path")
        && !path.starts_with('@')
    {
        *path = tree.join(&*path).to_string_lossy().into_owned();
    }
    told
}

/// Returns the input that a hook gave back, in the tool's own form.
pub(super) fn inward(tool: &str, told: &Value, tree: &Path) -> Value {
    let mut input = renamed(tool, told, HookFieldDirection::In);
    let has_path = FIELDS
        .iter()
        .any(|(name, ours, _)| *name == tool && *ours == "path");
    if has_path && let Some(Value::String(path)) = input.get_mut("path") {
        let inside = Path::new(&*path).strip_prefix(tree).ok();
        if let Some(inside) = inside.and_then(Path::to_str) {
            *path = inside.to_owned();
        }
    }
    input
}

fn renamed(tool: &str, value: &Value, way: HookFieldDirection) -> Value {
    let Value::Object(fields) = value else {
        return value.clone();
    };
    let name = |field: &str| {
        let find = FIELDS.iter().find(|(of, ours, theirs)| {
            let from = if way == HookFieldDirection::Out {
                ours
            } else {
                theirs
            };
            *of == tool && *from == field
        });
        let other = find.map(|(_, ours, theirs)| {
            if way == HookFieldDirection::Out {
                theirs
            } else {
                ours
            }
        });
        other.map_or(field.to_owned(), |other| (*other).to_owned())
    };
    let inner = |field: &str, value: &Value| match value {
        // The edits within one call have the fields of an edit.
        Value::Array(items) if field == "edits" => {
            items.iter().map(|item| renamed(tool, item, way)).collect()
        }
        other => other.clone(),
    };
    let fields = fields.iter();
    fields
        .map(|(field, value)| (name(field), inner(field, value)))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_go_out_in_other_words_and_come_back_in_ours() {
        let tree = Path::new("/run/tree");
        for (tool, ours, theirs) in [
            (
                "edit",
                json!({"path": "src/a.rs", "old": "x", "new": "y", "all": true}),
                json!({"file_path": "/run/tree/src/a.rs", "old_string": "x", "new_string": "y",
                       "replace_all": true}),
            ),
            (
                "multi_edit",
                json!({"path": "a", "edits": [{"old": "x", "new": "y"}]}),
                json!({"file_path": "/run/tree/a", "edits": [{"old_string": "x", "new_string": "y"}]}),
            ),
            (
                "read",
                json!({"path": "@Other/a", "limit": 3}),
                json!({"file_path": "@Other/a", "limit": 3}),
            ),
            ("bash", json!({"command": "ls"}), json!({"command": "ls"})),
            ("grep", json!({"path": "src"}), json!({"path": "src"})),
        ] {
            assert_eq!(outward(tool, &ours, tree), theirs);
            assert_eq!(inward(tool, &theirs, tree), ours);
        }
    }
}
