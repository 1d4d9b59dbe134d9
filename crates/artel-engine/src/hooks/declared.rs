//! Reads hooks as `.claude/settings.json` and the frontmatter of roles declare them.

use std::time::Duration;

use serde_json::{Map, Value};

use super::event::HookEvent;
use super::hook::{Hook, HookFailureMode, HookSource};
use super::matcher::HookMatcher;

/// The hooks that a file declares.
#[derive(Debug, Clone, Default)]
pub struct DeclaredHooks {
    /// The hooks in the order of the file.
    pub hooks: Vec<Hook>,
    /// What is not run, and why.
    pub notes: Vec<String>,
}

impl DeclaredHooks {
    /// Reads a whole settings file.
    pub fn of_settings(settings: &Value, source: &HookSource) -> Self {
        let is_off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
        match settings.get("hooks") {
            Some(hooks) if !is_off => Self::of_hooks(hooks, source),
            _ => Self::default(),
        }
    }

    /// Reads a table of hooks: events, each with matchers, each with what is run.
    pub fn of_hooks(hooks: &Value, source: &HookSource) -> Self {
        let mut declared = Self::default();
        let Value::Object(events) = hooks else {
            declared.note("`hooks` is not a table of events");
            return declared;
        };
        for (name, groups) in events {
            let Some(event) = HookEvent::find(name) else {
                declared.note(format!(
                    "nothing here is called `{name}`; its hooks are not run"
                ));
                continue;
            };
            let Value::Array(groups) = groups else {
                declared.note(format!("`{name}` is not a list"));
                continue;
            };
            for group in groups {
                declared.group(event, group, source);
            }
        }
        declared
    }

    fn group(&mut self, event: HookEvent, group: &Value, source: &HookSource) {
        let name = event.name();
        let matcher = match group.get("matcher") {
            None | Some(Value::Null) => HookMatcher::new(""),
            Some(Value::String(text)) => HookMatcher::new(text),
            Some(_) => return self.note(format!("a matcher of `{name}` is not text")),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(error) => return self.note(format!("hooks of `{name}` are not run: {error}")),
        };
        let Some(Value::Array(handlers)) = group.get("hooks") else {
            return self.note(format!("a part of `{name}` has no list `hooks`"));
        };
        for handler in handlers {
            match one(event, &matcher, handler, source) {
                Ok(hook) => self.hooks.push(hook),
                Err(why) => self.note(format!("a hook of `{name}` is not run: {why}")),
            }
        }
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

fn one(
    event: HookEvent,
    matcher: &HookMatcher,
    handler: &Value,
    source: &HookSource,
) -> Result<Hook, String> {
    let Value::Object(fields) = handler else {
        return Err("it is not a table".to_owned());
    };
    match fields.get("type").and_then(Value::as_str) {
        None | Some("command") => {}
        Some(other) => return Err(format!("its type is `{other}`, and only commands are run")),
    }
    let command = fields.get("command").and_then(Value::as_str).map(str::trim);
    let Some(command) = command.filter(|command| !command.is_empty()) else {
        return Err("it has no `command`".to_owned());
    };
    let mut hook = Hook::of_command(event, matcher.clone(), command, source.clone());
    hook.timeout = timeout(fields)?;
    if let Some(priority) = fields.get("priority") {
        let priority = priority.as_u64().filter(|priority| *priority <= 100);
        let priority = priority.ok_or("`priority` is not a number from 0 to 100")?;
        hook.priority = u8::try_from(priority).unwrap_or(Hook::PRIORITY);
    }
    hook.on_failure = match fields.get("on_failure").map(Value::as_str) {
        None | Some(Some("warn")) => HookFailureMode::Warn,
        Some(Some("block")) => HookFailureMode::Block,
        Some(_) => return Err("`on_failure` is neither \"warn\" nor \"block\"".to_owned()),
    };
    Ok(hook)
}

/// Reads a time: seconds as a number, or a span such as `30s`.
fn timeout(fields: &Map<String, Value>) -> Result<Option<Duration>, String> {
    let bad = || "`timeout` is not a number of seconds".to_owned();
    let time = match fields.get("timeout") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(span)) => artel_types::parse_span(span).map_err(|_| bad())?,
        Some(number) => {
            let seconds = number.as_f64().ok_or_else(bad)?;
            Duration::try_from_secs_f64(seconds).map_err(|_| bad())?
        }
    };
    if time.is_zero() {
        return Err(bad());
    }
    Ok(Some(time))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source() -> HookSource {
        HookSource::Other("/w/.claude/settings.json".into())
    }

    #[test]
    fn the_usual_form_is_read() {
        let declared = DeclaredHooks::of_settings(
            &json!({"model": "opus", "hooks": {
                "PreToolUse": [{
                    "matcher": "Bash|Edit",
                    "hooks": [
                        {"type": "command", "command": "a", "timeout": 30},
                        {"type": "command", "command": "b", "priority": 0, "on_failure": "block"},
                    ],
                }],
                "Stop": [{"hooks": [{"type": "command", "command": "c", "async": true}]}],
            }}),
            &source(),
        );
        assert!(declared.notes.is_empty(), "{:?}", declared.notes);
        let [a, b, c] = &declared.hooks[..] else {
            panic!("{declared:?}");
        };
        assert_eq!((a.label(), a.time()), ("a", Duration::from_secs(30)));
        assert_eq!((b.priority, b.on_failure), (0, HookFailureMode::Block));
        assert_eq!(b.matcher.text(), "Bash|Edit");
        assert_eq!(
            (c.event, c.time()),
            (HookEvent::Stop, Duration::from_secs(600))
        );
        assert_eq!(c.source, source());
    }

    #[test]
    fn what_is_not_run_is_said() {
        let declared = DeclaredHooks::of_settings(
            &json!({"hooks": {
                "Notification": [{"hooks": [{"type": "command", "command": "x"}]}],
                "Stop": [
                    {"hooks": [{"type": "prompt", "prompt": "x"}, {"command": " "}, 7]},
                    {"matcher": "(", "hooks": []},
                    {"hooks": [{"command": "x", "timeout": -1}, {"command": "x", "priority": 101}]},
                    {},
                ],
                "SessionEnd": {},
            }}),
            &source(),
        );
        assert!(declared.hooks.is_empty(), "{declared:?}");
        assert_eq!(declared.notes.len(), 9, "{:#?}", declared.notes);
        let off =
            json!({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}});
        assert!(DeclaredHooks::of_settings(&off, &source()).hooks.is_empty());
        assert!(
            DeclaredHooks::of_settings(&json!([]), &source())
                .hooks
                .is_empty()
        );
    }
}
