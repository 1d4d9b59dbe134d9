//! The events as programs see them. An event is shown as a whole or not at all, without
//! the values that nobody may see.

use artel_config::ViewerRole;
use artel_journal::JournalRecord;
use artel_types::EventVisibility;
use serde_json::Value;

use super::tools::hidden;
use super::{RunVisibility, TimelineDetailLevel};

/// Placeholder for a value that is not shown.
const HIDDEN: &str = "[hidden]";

/// Returns an event with what this viewer may not see removed, or `None` if the viewer may
/// not see the event at all.
pub fn seen(eyes: &RunVisibility, record: &JournalRecord) -> Option<JournalRecord> {
    let visibility: EventVisibility = record.visibility.parse().ok()?;
    let most = match (eyes.view, eyes.role) {
        (TimelineDetailLevel::Summary, _) => EventVisibility::Summary,
        (TimelineDetailLevel::Full, ViewerRole::Admin) => EventVisibility::Hidden,
        (TimelineDetailLevel::Full, _) => EventVisibility::Full,
    };
    if visibility > most {
        return None;
    }
    let mut record = record.clone();
    if !eyes.hidden.is_empty() {
        record.payload = without_hidden(eyes, &record.kind, &record.payload);
    }
    if eyes.most == TimelineDetailLevel::Summary {
        record.payload = without_output(&record.kind, record.payload);
    }
    Some(record)
}

/// Program output and verifier texts, by kind of event. Viewers who may only see summaries
/// do not get these fields.
const OUTPUT: &[(&str, &[&str])] = &[
    ("proof.recorded", &["output", "failures", "findings"]),
    ("step.failed", &["why"]),
    ("step.checked", &["why"]),
    ("step.judged", &["feedback", "findings"]),
    ("step.advised", &["advice"]),
    ("branch.checked", &["why"]),
];

fn without_output(kind: &str, payload: String) -> String {
    let Some((_, fields)) = OUTPUT.iter().find(|(name, _)| *name == kind) else {
        return payload;
    };
    let Ok(mut fact) = serde_json::from_str::<Value>(&payload) else {
        return HIDDEN.to_owned();
    };
    for field in *fields {
        match fact.get_mut(*field) {
            Some(Value::Array(list)) => list.clear(),
            Some(Value::Null) | None => {}
            Some(value) => *value = Value::from(HIDDEN),
        }
    }
    fact.to_string()
}

/// Removes the inputs and outputs of hidden tools. A value that mixes hidden and visible
/// parts is removed as a whole.
fn without_hidden(eyes: &RunVisibility, kind: &str, payload: &str) -> String {
    let Ok(mut fact) = serde_json::from_str::<Value>(payload) else {
        return payload.to_owned();
    };
    match kind {
        "tool.requested" | "tool.asked" | "tool.finished" => {
            let tool = fact["tool"].as_str().unwrap_or_default().to_owned();
            if eyes.hides(&tool) {
                for field in [
                    "input",
                    "observation",
                    "memory",
                    "reason",
                    "shown",
                    "why",
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

fn reply_without(eyes: &RunVisibility, reply: &Value) -> Value {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_sees_summaries_sees_no_output_of_programs() {
        let payload = r#"{"place":"step","output":"SECRET LINE","failures":[{"name":"t"}]}"#;
        let seen = without_output("proof.recorded", payload.to_owned());
        let fact: Value = serde_json::from_str(&seen).unwrap();
        assert_eq!(fact["output"], HIDDEN);
        assert_eq!(fact["failures"], Value::Array(Vec::new()));
        assert_eq!(fact["place"], "step");
        assert_eq!(without_output("plan.ended", payload.to_owned()), payload);
    }
}
