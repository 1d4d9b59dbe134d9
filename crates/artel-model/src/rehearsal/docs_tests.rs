//! The examples on the page about rehearsals work.

use artel_types::model::{ModelFaultKind, ModelReply, ModelRequest, ReplyStopReason};
use futures_util::StreamExt as _;

use super::tests::{offering, refusal, result, user};
use super::{Cassette, CassetteTake, RehearsalModel};
use crate::Model as _;

const PAGE: &str = include_str!("../../../../docs/rehearsal.md");

/// Returns the scripts on the page by name. Their first lines hold the names.
fn examples() -> Vec<(&'static str, RehearsalModel)> {
    let blocks = PAGE.split("```yaml\n").skip(1);
    let example = |block: &'static str| {
        let text = block.split("```").next().unwrap();
        let name = text.lines().next().unwrap().trim_start_matches("# ");
        (name, RehearsalModel::load(text, name).unwrap())
    };
    blocks.map(example).collect()
}

/// Returns the requests to an example, with what is said about each reply.
fn conversation(name: &str) -> Vec<(ModelRequest, &'static str)> {
    let plain = |said: &[&'static str]| said.iter().map(|said| (user("?"), *said)).collect();
    let reviewer = |system: &str, said: &str| ModelRequest {
        system: system.into(),
        ..user(said)
    };
    match name {
        "sales.yaml" => vec![
            (
                offering("Please process sales.csv", &["bash", "read"]),
                "I will read it. read bash tool_use",
            ),
            (result("read", "rows: 12"), "Done. end"),
            (user("?"), "off-script"),
        ],
        "answers.yaml" => plain(&[
            " read tool_use",
            " end",
            "This is as far as I max_tokens",
            "I think so, but slowly. end",
            "Still working. end",
            "Still working. end",
            "Still working. end",
        ]),
        "trouble.yaml" => plain(&[
            "rate-limit",
            "overloaded",
            "cut",
            "cut",
            "server",
            "wait for it end",
            "Done. end",
        ]),
        "team.yaml" => vec![
            (reviewer("You review.", "ready?"), "Looks good. end"),
            (
                reviewer("You plan.", "the release"),
                "First the tests, then the tag. end",
            ),
            (reviewer("You review.", "now?"), "Looks good. end"),
            (reviewer("You code.", "hello"), "What shall I do? end"),
            (user("?"), "I have nothing more to say. end"),
        ],
        other => panic!("the example `{other}` has no conversation here"),
    }
}

async fn outcome(model: &RehearsalModel, request: &ModelRequest) -> String {
    let items: Vec<_> = model.reply(request).collect().await;
    let chunks: Result<Vec<_>, _> = items.into_iter().collect();
    match chunks {
        Err(fault) => fault.kind.as_str().to_owned(),
        Ok(chunks) => {
            let reply = super::tests::gathered(&chunks);
            let stop = serde_json::to_value(&reply.stop).unwrap();
            let calls: String = reply
                .tool_calls()
                .map(|call| format!(" {}", call.name))
                .collect();
            format!("{}{calls} {}", reply.text(), stop.as_str().unwrap())
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_example_plays() {
    let examples = examples();
    assert_eq!(examples.len(), 4);
    for (name, model) in examples {
        for (at, (request, expected)) in conversation(name).into_iter().enumerate() {
            assert_eq!(outcome(&model, &request).await, expected, "{name} {at}");
        }
        assert_eq!(model.unused(), 0, "{name}");
    }
}

#[test]
fn the_page_names_every_fault() {
    for kind in ModelFaultKind::ALL {
        assert!(
            PAGE.contains(&format!("`{kind}`", kind = kind.as_str())),
            "{kind:?}"
        );
    }
}

#[test]
fn the_page_shows_messages_as_they_are() {
    let (_, model) = examples().swap_remove(0);
    let request = offering("Please process prices.csv today", &["read", "write"]);
    let message = refusal(&model, &request);
    assert!(PAGE.contains(&message), "{message}");

    let read = |rows: u32| {
        let columns = "The columns are region, month and amount";
        result("read", &format!("{columns}; rows: {rows}, sum: 340"))
    };
    let requests = (1..=14).map(|at| if at == 2 { read(12) } else { user("?") });
    let reply = ModelReply {
        id: None,
        model: None,
        parts: Vec::new(),
        stop: ReplyStopReason::End,
        usage: None,
    };
    let takes = requests.map(|request| CassetteTake::new(request, reply.clone()));
    let model = RehearsalModel::play(Cassette::new(takes.collect()));
    let asked = ModelRequest {
        max_output: Some(4096),
        ..read(13)
    };
    let message = refusal(&model, &asked);
    assert!(PAGE.contains(&message), "{message}");
}
