//! Recordings: the replies, their order, and the message if nothing fits.

use artel_types::FailureCode;
use artel_types::model::{
    MessagePart, ModelFault, ModelMessage, ModelReply, ModelRequest, ProviderSignature,
    ReplyStopReason, TokenUsage, ToolCall, ToolSpec,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::difference::{between, off_script};
use super::tests::{answer, gathered, offering, refusal, result, user};
use super::{Cassette, CassetteTake, RehearsalModel, chunks_of, fingerprint};

fn says(text: &str) -> ModelReply {
    ModelReply {
        id: Some("r1".into()),
        model: None,
        parts: vec![MessagePart::text(text)],
        stop: ReplyStopReason::End,
        usage: None,
    }
}

fn recording(takes: &[(ModelRequest, &str)]) -> RehearsalModel {
    let take =
        |(request, text): &(ModelRequest, &str)| CassetteTake::new(request.clone(), says(text));
    RehearsalModel::play(Cassette::new(takes.iter().map(take).collect()))
}

#[test]
fn takes_fit_by_request_and_equal_ones_come_in_order() {
    let [hello, bye] = ["hello", "bye"].map(user);
    let model = recording(&[
        (hello.clone(), "first"),
        (bye.clone(), "see you"),
        (hello.clone(), "again"),
    ]);
    assert_eq!(model.unused(), 3);
    assert_eq!(answer(&model, &bye).text(), "see you");
    assert_eq!(answer(&model, &hello).text(), "first");
    assert_eq!(answer(&model, &hello).text(), "again");
    assert_eq!(model.unused(), 0);
    let message = refusal(&model, &hello);
    assert_eq!(
        message,
        "the recording has no further answer to this request"
    );
    let message = refusal(&model, &user("new"));
    assert_eq!(message, "the recording has no take left (it had 3)");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_side_by_side_get_their_own_answers() {
    let texts: Vec<_> = (0..64).map(|at| format!("question {at}")).collect();
    let takes: Vec<_> = texts
        .iter()
        .map(|text| (user(text), text.as_str()))
        .collect();
    let model = recording(&takes);
    let asking: Vec<_> = texts
        .iter()
        .rev()
        .map(|text| {
            let (model, text) = (model.clone(), text.clone());
            tokio::spawn(async move { (answer(&model, &user(&text)).text(), text) })
        })
        .collect();
    for one in asking {
        let (said, asked) = one.await.unwrap();
        assert_eq!(said, asked);
    }
    assert_eq!(model.unused(), 0);
}

#[test]
fn a_mismatch_shows_the_nearest_take() {
    let mut recorded = result("read", &format!("{}rows: 12, sum: 340", "x".repeat(500)));
    recorded.system = "You are careful.".into();
    let model = recording(&[
        (user("hello"), "hi"),
        (recorded.clone(), "done"),
        (user("bye"), "bye"),
    ]);
    let mut asked = result("read", &format!("{}rows: 13, sum: 340", "x".repeat(500)));
    asked.system = recorded.system.clone();
    asked.tools = offering("", &["write"]).tools;
    insta::assert_snapshot!(refusal(&model, &asked), @r#"
    take 2 of 3 expects another request
      messages[2].parts[0].text: expected "…xxxxxxxxxxxxxxxxrows: 12, sum: 340", got "…xxxxxxxxxxxxxxxxrows: 13, sum: 340"
      tools: expected nothing, got [{"description":"Does it.","name":"write","schema":{"type":"object"}}]
    "#);
    asked.messages.pop();
    asked.messages[1] = ModelMessage::user("line one\nline \"two\"");
    asked.temperature = Some(0.5);
    asked.max_output = Some(100);
    asked.stop = vec!["END".into()];
    insta::assert_snapshot!(refusal(&model, &asked), @r#"
    take 1 of 3 expects another request
      messages[0].parts[0].text: expected "hello", got "go on"
      messages[1]: expected nothing, got {"parts":[{"part":"text","text":"line on…
      max_output: expected nothing, got 100
      stop: expected nothing, got ["END"]
      system: expected nothing, got "You are careful."
      … and 2 more
    "#);
}

#[test]
fn a_take_that_only_looks_equal_is_said_to() {
    let mut take = CassetteTake::new(user("hello"), says("hi"));
    take.fingerprint = "edited".into();
    let model = RehearsalModel::play(Cassette::new(vec![take]));
    let message = refusal(&model, &user("hello"));
    assert_eq!(
        message,
        "take 1 of 1 looks the same, but has another fingerprint"
    );
}

#[test]
fn a_fingerprint_stays_what_it_is() {
    let schema = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
    let request = |text: &str| ModelRequest {
        tools: vec![
            ToolSpec {
                name: "read".into(),
                description: "Reads.".into(),
                schema: schema(text),
            }
            .into(),
        ],
        temperature: Some(0.5),
        ..user("héllo \"you\"\n")
    };
    let one = request(r#"{"type":"object","properties":{"b":[],"a":{},"c":[1,null]}}"#);
    let other = request(r#"{"properties":{"a":{},"c":[1,null],"b":[]},"type":"object"}"#);
    assert_eq!(fingerprint(&one), fingerprint(&other));
    assert_ne!(fingerprint(&one), fingerprint(&user("héllo")));
    // Recordings are kept, so this must never change.
    let sorted = r#"{"messages":[{"parts":[{"part":"text","text":"héllo \"you\"\n"}],"role":"user"}],"temperature":0.5,"tools":[{"description":"Reads.","name":"read","schema":{"properties":{"a":{},"b":[],"c":[1,null]},"type":"object"}}]}"#;
    assert_eq!(
        fingerprint(&one),
        blake3::hash(sorted.as_bytes()).to_hex().to_string()
    );
}

#[test]
fn recordings_read_back() {
    let takes = vec![
        CassetteTake::new(user("a\nb"), says("one")),
        CassetteTake::new(result("read", "x"), says("two")),
    ];
    let cassette = Cassette::new(takes);
    let text = cassette.write_jsonl().unwrap();
    assert_eq!(text.lines().count(), 2);
    assert_eq!(Cassette::read_jsonl(&text).unwrap(), cassette);
    assert_eq!(
        Cassette::read_jsonl(&format!("\n{text}\r\n\n")).unwrap(),
        cassette
    );
    assert_eq!(Cassette::read_jsonl("").unwrap().takes(), []);
    for (bad, why) in [
        ("{", "EOF"),
        ("[]", "expected an object with `fingerprint`"),
        ("{\"fingerprint\":1}", "expected a string"),
        ("{\"fingerprint\":\"x\",\"request\":{}}", "messages"),
    ] {
        let failure = Cassette::read_jsonl(&format!("{text}{bad}")).unwrap_err();
        assert_eq!(failure.code, FailureCode::M011);
        let shown = failure.to_string();
        assert!(
            shown.contains("line 3, column") && shown.contains(why),
            "{shown}"
        );
    }
}

fn any_seal() -> impl Strategy<Value = Option<ProviderSignature>> {
    let seal =
        ("[a-z]{1,6}", "\\PC{0,12}").prop_map(|(wire, data)| ProviderSignature { wire, data });
    prop::option::of(seal)
}

fn any_part() -> impl Strategy<Value = MessagePart> {
    let text = || prop_oneof![Just(String::new()), ".{0,20}", "\\PC{0,20}"];
    let call = (text(), "[a-z_]{0,8}", text(), any_seal());
    prop_oneof![
        (text(), any_seal()).prop_map(|(text, seal)| MessagePart::Text { text, seal }),
        (text(), any_seal()).prop_map(|(text, seal)| MessagePart::Thinking { text, seal }),
        call.prop_map(|(id, name, arguments, seal)| {
            MessagePart::ToolCall(ToolCall {
                id,
                name,
                arguments,
                seal,
            })
        }),
    ]
}

/// Returns whether a reply can hold a part after another. Text continues until another kind
/// comes or a seal closes it, and empty text without a seal is not a part.
fn follows(before: Option<&MessagePart>, part: &MessagePart) -> bool {
    let goes_on = matches!(
        (before, part),
        (
            Some(MessagePart::Text { seal: None, .. }),
            MessagePart::Text { .. }
        ) | (
            Some(MessagePart::Thinking { seal: None, .. }),
            MessagePart::Thinking { .. }
        )
    );
    let is_nothing = matches!(
        part,
        MessagePart::Text { text, seal: None } | MessagePart::Thinking { text, seal: None } if text.is_empty()
    );
    !goes_on && !is_nothing
}

fn any_reply() -> impl Strategy<Value = ModelReply> {
    let stop = prop_oneof![
        Just(ReplyStopReason::End),
        Just(ReplyStopReason::ToolUse),
        Just(ReplyStopReason::MaxTokens),
        Just(ReplyStopReason::Refusal),
        "[a-z]{0,5}".prop_map(ReplyStopReason::Other),
    ];
    let usage = any::<[u64; 5]>().prop_map(|[input, cache_read, cache_write, output, thinking]| {
        TokenUsage {
            input,
            cache_read,
            cache_write,
            output,
            thinking,
        }
    });
    let parts = prop::collection::vec(any_part(), 0..12).prop_map(|drawn| {
        drawn
            .into_iter()
            .fold(Vec::new(), |mut parts: Vec<MessagePart>, part| {
                if follows(parts.last(), &part) {
                    parts.push(part);
                }
                parts
            })
    });
    let name = || prop::option::of("\\PC{0,8}");
    (name(), name(), parts, stop, prop::option::of(usage)).prop_map(
        |(id, model, parts, stop, usage)| ModelReply {
            id,
            model,
            parts,
            stop,
            usage,
        },
    )
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,300}".prop_map(Value::from),
        "[ab]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..6)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn a_reply_comes_back_as_it_was(reply in any_reply()) {
        prop_assert_eq!(&gathered(&chunks_of(&reply)), &reply);
        let take = CassetteTake::new(user("?"), reply.clone());
        let text = Cassette::new(vec![take]).write_jsonl().unwrap();
        let played = answer(&RehearsalModel::play(Cassette::read_jsonl(&text).unwrap()), &user("?"));
        prop_assert_eq!(
            serde_json::to_string(&played).unwrap(),
            serde_json::to_string(&reply).unwrap()
        );
    }

    #[test]
    fn any_order_of_asking_plays_every_take(
        asked in prop::collection::vec(0_u8..5, 1..20).prop_shuffle(),
    ) {
        let mut recorded = asked.clone();
        recorded.sort_unstable();
        let takes = recorded.iter().enumerate().map(|(at, which)| {
            CassetteTake::new(user(&which.to_string()), says(&at.to_string()))
        });
        let model = RehearsalModel::play(Cassette::new(takes.collect()));
        let mut last = [None; 5];
        for which in asked {
            let at: usize = answer(&model, &user(&which.to_string())).text().parse().unwrap();
            prop_assert_eq!(recorded[at], which);
            let before = last[usize::from(which)].replace(at);
            prop_assert!(before < Some(at));
        }
        prop_assert_eq!(model.unused(), 0);
    }

    #[test]
    fn differences_are_found_and_shown_in_few_words(one in any_json(), other in any_json()) {
        let differences = between(&one, &other);
        prop_assert_eq!(differences.is_empty(), one == other);
        let message = off_script("head", &differences).message;
        prop_assert!(message.chars().count() <= ModelFault::LONGEST);
        prop_assert!(message.lines().count() <= 7, "{}", message);
        prop_assert!(between(&one, &one).is_empty());
    }
}

#[test]
fn a_difference_deep_down_is_named_by_its_path() {
    let one = json!({"a": [{"b": "x"}, 1], "c": null});
    let other = json!({"a": [{"b": "y"}, "1", []], "d": {}});
    let message = off_script("head", &between(&one, &other)).message;
    insta::assert_snapshot!(message, @r#"
    head
      a[0].b: expected "x", got "y"
      a[1]: expected 1, got "1"
      a[2]: expected nothing, got []
      c: expected null, got nothing
      d: expected nothing, got {}
    "#);
}
