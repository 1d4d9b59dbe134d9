//! What programs see of an event: all of it or nothing, without what is nobody's to see.

use artel_config::Viewer;
use artel_journal::Record;
use artel_types::Visibility;
use serde_json::Value;

use super::tools::hidden;
use super::{Eyes, View};

/// What stands where something is not shown.
const HIDDEN: &str = "[hidden]";

/// Returns an event as these eyes see it; nothing where they do not see it at all.
pub fn seen(eyes: &Eyes, record: &Record) -> Option<Record> {
    let visibility: Visibility = record.visibility.parse().ok()?;
    let most = match (eyes.view, eyes.role) {
        (View::Summary, _) => Visibility::Summary,
        (View::Full, Viewer::Admin) => Visibility::Hidden,
        (View::Full, _) => Visibility::Full,
    };
    if visibility > most {
        return None;
    }
    let mut record = record.clone();
    if !eyes.hidden.is_empty() {
        record.payload = without_hidden(eyes, &record.kind, &record.payload);
    }
    Some(record)
}

/// Takes out what tools whose use is hidden were given and gave. What cannot be told apart goes
/// as a whole.
fn without_hidden(eyes: &Eyes, kind: &str, payload: &str) -> String {
    let Ok(mut fact) = serde_json::from_str::<Value>(payload) else {
        return payload.to_owned();
    };
    match kind {
        "tool.requested" | "tool.finished" => {
            let tool = fact["tool"].as_str().unwrap_or_default().to_owned();
            if eyes.hides(&tool) {
                for field in [
                    "input",
                    "observation",
                    "memory",
                    "reason",
                    "images",
                    "changed",
                ] {
                    if fact.get(field).is_some_and(|value| !value.is_null()) {
                        fact[field] = Value::from(hidden(&tool));
                    }
                }
            }
        }
        "model.requested" => fact["request"] = Value::from(HIDDEN),
        "context.compacted" => fact["messages"] = Value::from(HIDDEN),
        "model.replied" => fact["reply"] = reply_without(eyes, &fact["reply"]),
        "model.failed" => fact["partial"] = Value::Null,
        "run.escalated" => fact["failures"] = Value::from(HIDDEN),
        _ => return payload.to_owned(),
    }
    fact.to_string()
}

fn reply_without(eyes: &Eyes, reply: &Value) -> Value {
    let text = reply.as_str();
    let Some(mut reply) = text.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return Value::from(HIDDEN);
    };
    for part in reply["parts"].as_array_mut().into_iter().flatten() {
        if part["name"].as_str().is_some_and(|tool| eyes.hides(tool)) {
            part["arguments"] = Value::from(HIDDEN);
        }
    }
    Value::from(reply.to_string())
}
