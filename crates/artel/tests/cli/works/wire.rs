//! The demo's story with models behind HTTP: the same rules, spoken in two providers' formats, with
//! tools, sandbox, git and tests real.

use std::sync::Mutex;

use artel_testkit::standin::{Answer, Format, StandIn};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::town::{SCRIPT, Town};
use crate::support::House;

#[derive(Debug, Clone, Deserialize)]
struct Script {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, Deserialize)]
struct Rule {
    expect: Expect,
    call: Option<Calls>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Expect {
    says: Option<String>,
    matches: Option<String>,
    tools: Vec<String>,
    result_of: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Calls {
    Several(Vec<serde_json::Map<String, Value>>),
    One(serde_json::Map<String, Value>),
}

/// What a model is asked, whatever the format.
struct Asked {
    last: String,
    tools: Vec<String>,
    results: Vec<String>,
}

impl Asked {
    fn anthropic(body: &Value) -> Self {
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap();
        let parts = last["content"].as_array().cloned().unwrap_or_default();
        let used = |id: &Value| {
            let all = messages
                .iter()
                .filter_map(|it| it["content"].as_array())
                .flatten();
            let mut uses = all.filter(|it| it["type"] == "tool_use" && it["id"] == *id);
            uses.next()
                .map(|it| it["name"].as_str().unwrap().to_owned())
        };
        let results = parts.iter().filter(|it| it["type"] == "tool_result");
        Self {
            last: words(last),
            tools: named(&body["tools"], |tool| &tool["name"]),
            results: results.filter_map(|it| used(&it["tool_use_id"])).collect(),
        }
    }

    fn openai(body: &Value) -> Self {
        let messages = body["messages"].as_array().unwrap();
        let from = messages.iter().rposition(|it| it["role"] == "assistant");
        let new = &messages[from.map_or(0, |at| at + 1)..];
        let used = |id: &Value| {
            let all = messages
                .iter()
                .filter_map(|it| it["tool_calls"].as_array())
                .flatten();
            let mut uses = all.filter(|it| it["id"] == *id);
            uses.next()
                .map(|it| it["function"]["name"].as_str().unwrap().to_owned())
        };
        let news = new
            .iter()
            .filter(|it| it["role"] != "system" && it["role"] != "developer");
        let results = new.iter().filter(|it| it["role"] == "tool");
        Self {
            last: news.map(words).collect::<Vec<_>>().join("\n"),
            tools: named(&body["tools"], |tool| &tool["function"]["name"]),
            results: results.filter_map(|it| used(&it["tool_call_id"])).collect(),
        }
    }

    fn fits(&self, expect: &Expect) -> bool {
        let says = expect
            .says
            .as_ref()
            .is_none_or(|text| self.last.contains(text));
        let matches = expect.matches.as_ref();
        let matches = matches.is_none_or(|text| Regex::new(text).unwrap().is_match(&self.last));
        let tools = expect.tools.iter().all(|tool| self.tools.contains(tool));
        let result = expect.result_of.as_ref();
        let result = result.is_none_or(|tool| self.results.contains(tool));
        says && matches && tools && result
    }
}

fn named(tools: &Value, name: impl Fn(&Value) -> &Value) -> Vec<String> {
    let tools = tools.as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|it| name(it).as_str().unwrap_or_default().to_owned())
        .collect()
}

/// Every text in a value, one after the other.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.values().map(words).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// A model behind HTTP that knows the rules.
fn actor(format: Format) -> StandIn {
    let script: Script = serde_saphyr::from_str(SCRIPT).unwrap();
    let strays = Mutex::new(Vec::new());
    StandIn::minded(format, move |body| {
        let asked = match format {
            Format::Anthropic => Asked::anthropic(body),
            _ => Asked::openai(body),
        };
        let Some(rule) = script.rules.iter().find(|rule| asked.fits(&rule.expect)) else {
            strays.lock().unwrap().push(asked.last.clone());
            return Answer::says(format!("I do not know what to say to: {}", asked.last));
        };
        let calls = match rule.call.clone().unwrap() {
            Calls::One(call) => vec![call],
            Calls::Several(calls) => calls,
        };
        let all = calls.into_iter().flatten();
        all.fold(Answer::says(""), |answer, (name, input)| {
            answer.calls(&name, input)
        })
    })
}

#[test]
fn the_story_by_models_behind_http() {
    for format in [Format::Anthropic, Format::Chat] {
        let model = actor(format);
        let house = House::with_model(format, &model);
        let town = Town::asking(house, "default".to_owned());
        town.to_the_end();
        let left = town.left();
        assert_eq!(left.files["NOTES.md"], b"add adds\n");
        assert_eq!(left.status, "");
        assert_eq!(town.count("step.passed"), 2, "{format:?}");
        assert!(model.seen().len() >= 8, "{format:?}");
    }
}
