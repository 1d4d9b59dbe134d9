//! Every stand-in is read with its provider's own Python SDK, which must read what was meant.
//!
//! The SDKs are installed by the set-up of `cargo xtask test`; without them these tests fail.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use artel_testkit::standin::{Answer, Format, StandIn, cases};
use artel_types::model::{MessagePart, ModelReply, ReplyStopReason};
use serde_json::{Value, json};

/// How it is asked, and with which key.
const STREAM: &str = "stream:a-key";
const WHOLE: &str = "whole:a-key";
const MODELS: &str = "models:a-key";
const WRONG_KEY: &str = "stream:wrong-key";

/// What is answered, and what the SDK is to make of it.
struct Case {
    name: &'static str,
    asked: &'static str,
    /// Nothing where the plan is not looked at.
    answer: Option<Answer>,
    expected: Value,
}

#[test]
fn anthropic() {
    check(Format::Anthropic, "read_anthropic.py");
}

#[test]
fn responses() {
    check(Format::Responses, "read_openai_responses.py");
}

#[test]
fn chat() {
    check(Format::Chat, "read_openai_chat.py");
}

#[test]
fn google() {
    check(Format::Google, "read_google.py");
}

#[test]
fn ollama() {
    check(Format::Ollama, "read_ollama.py");
}

fn check(format: Format, script: &str) {
    let cases = [
        speech(format),
        whole(format),
        refusals(format),
        breaks(format),
    ];
    let cases: Vec<Case> = cases.into_iter().flatten().collect();
    let answers = cases.iter().filter_map(|case| case.answer.clone());
    let stand_in = StandIn::start(format, answers);
    let read = read(script, &stand_in.url(), cases.iter().map(|case| case.asked));
    assert_eq!(read.len(), cases.len(), "one line for each case");
    for (case, read) in cases.iter().zip(&read) {
        assert_eq!(read, &case.expected, "{} of {format:?}", case.name);
    }
    let seen = stand_in.seen();
    assert_eq!(
        seen.len(),
        cases.len(),
        "the SDK did not try anything twice"
    );
}

/// What the model says, as everybody is to read it.
fn speech(format: Format) -> Vec<Case> {
    let spoken = cases::spoken(format).into_iter().map(|case| Case {
        name: case.name,
        asked: STREAM,
        expected: neutral(format, &case.reply),
        answer: Some(case.answer),
    });
    spoken.collect()
}

/// What is not streamed: the answers that people do not wait for, and the list of models.
fn whole(format: Format) -> Vec<Case> {
    let path = json!({"path": "a.txt"});
    let parts = vec![
        MessagePart::Thinking {
            text: "Hm.".to_owned(),
            seal: None,
        },
        MessagePart::text("Yes."),
        cases::call("read", &path.to_string()),
    ];
    let answer = Answer::says("Yes.").thinking("Hm.").calls("read", path);
    vec![
        Case {
            name: "whole",
            asked: WHOLE,
            answer: Some(answer),
            expected: neutral(
                format,
                &cases::reply(format, parts, ReplyStopReason::ToolUse),
            ),
        },
        Case {
            name: "models",
            asked: MODELS,
            answer: None,
            expected: json!({
                "text": "stand-in-large stand-in-small",
                "thinking": "",
                "calls": [],
                "stop": null,
                "usage": null,
                "error": null,
            }),
        },
    ]
}

/// What the provider will not do.
fn refusals(format: Format) -> Vec<Case> {
    let refused = |name, asked, answer, status: u16, wait: Value, message: &str| Case {
        name,
        asked,
        answer,
        expected: failed("", json!(status), wait, message),
    };
    let [wrong_key, rate_limit, overloaded] = sentences(format);
    // Google calls a wrong key a bad argument; only Anthropic has a 529.
    let key_status = if format == Format::Google { 400 } else { 401 };
    let busy_status = if format == Format::Anthropic {
        529
    } else {
        503
    };
    // Ollama's SDK does not show the headers.
    let wait = match format {
        Format::Ollama => Value::Null,
        _ => json!("7"),
    };
    let limit = match format {
        Format::Responses | Format::Chat => format!("{rate_limit} Please try again in 7s."),
        _ => rate_limit.to_owned(),
    };
    vec![
        refused("401", WRONG_KEY, None, key_status, Value::Null, wrong_key),
        refused(
            "429",
            STREAM,
            Some(Answer::status(429).retry_after("7")),
            429,
            wait,
            &limit,
        ),
        refused(
            "529",
            STREAM,
            Some(Answer::status(529)),
            busy_status,
            Value::Null,
            overloaded,
        ),
    ]
}

/// What goes wrong in the middle.
fn breaks(format: Format) -> Vec<Case> {
    let [_, rate_limit, overloaded] = sentences(format);
    let broken = |name, status, message| {
        // Google alone repeats the status within the stream.
        let seen = match (format, status) {
            (Format::Google, 529) => json!(503),
            (Format::Google, status) => json!(status),
            _ => Value::Null,
        };
        Case {
            name,
            asked: STREAM,
            answer: Some(Answer::says("Hello, dear world.").error_mid_stream(status)),
            // The first half: two of three pieces.
            expected: failed("Hello, dear worl", seen, Value::Null, message),
        }
    };
    vec![
        broken("overload in the middle", 529, overloaded),
        broken("rate limit in the middle", 429, rate_limit),
    ]
}

/// How each provider says: wrong key, rate limit, overload.
fn sentences(format: Format) -> [&'static str; 3] {
    match format {
        Format::Anthropic => [
            "invalid x-api-key",
            "This request would exceed your organization's rate limit",
            "Overloaded",
        ],
        Format::Responses | Format::Chat => [
            "Incorrect API key provided: wrong-key.",
            "Rate limit reached for requests.",
            "The server is currently overloaded.",
        ],
        Format::Google => [
            "API key not valid. Please pass a valid API key.",
            "Resource has been exhausted (e.g. check quota).",
            "The model is overloaded. Please try again later.",
        ],
        Format::Ollama => [
            "unauthorized",
            "too many requests",
            "server busy, please try again. maximum pending requests exceeded",
        ],
    }
}

/// Returns what a reader prints of a reply.
fn neutral(format: Format, reply: &ModelReply) -> Value {
    let thoughts = reply.parts.iter().filter_map(|part| match part {
        MessagePart::Thinking { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let calls = reply
        .tool_calls()
        .map(|call| json!({"name": call.name, "arguments": call.input().unwrap()}));
    let usage = reply.usage.map(|usage| {
        // Ollama does not count what it had cached.
        let cache_read = (format != Format::Ollama).then_some(usage.cache_read);
        json!({"input": usage.input, "output": usage.output, "cache_read": cache_read})
    });
    json!({
        "text": reply.text(),
        "thinking": thoughts.collect::<String>(),
        "calls": calls.collect::<Vec<_>>(),
        "stop": reply.stop,
        "usage": usage,
        "error": null,
    })
}

fn failed(text: &str, status: Value, retry_after: Value, message: &str) -> Value {
    json!({
        "text": text,
        "thinking": "",
        "calls": [],
        "stop": null,
        "usage": null,
        "error": {"status": status, "retry_after": retry_after, "message": message},
    })
}

/// Runs a reader and returns the lines that it prints.
fn read<'a>(script: &str, url: &str, wishes: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk");
    #[expect(
        clippy::disallowed_methods,
        reason = "the reader is the test's own; only the path to Python is taken over"
    )]
    let (mut command, path) = (Command::new("python3"), std::env::var_os("PATH").unwrap());
    let output = command
        .arg(scripts.join(script))
        .arg(url)
        .args(wishes)
        .env_clear()
        .env("PATH", path)
        .env("PYTHONPATH", packages(&scripts))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap_or_else(|error| panic!("python3 cannot be started ({error}): {ADVICE}"));
    assert!(
        output.status.success(),
        "{script} failed\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

const ADVICE: &str = "run `cargo xtask test`, whose set-up brings in Python and the SDKs";

/// Returns the folder of the SDKs, which lies among the build products, as this test does.
fn packages(scripts: &Path) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test
        .ancestors()
        .map(|folder| folder.join("sdk-python"))
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| panic!("the providers' SDKs are not installed: {ADVICE}"));
    let wanted = std::fs::read_to_string(scripts.join("requirements.txt")).unwrap();
    let installed = std::fs::read_to_string(folder.join("installed.txt")).unwrap_or_default();
    assert!(
        installed.ends_with(&wanted),
        "other versions of the providers' SDKs are wanted than are installed: {ADVICE}"
    );
    folder
}
