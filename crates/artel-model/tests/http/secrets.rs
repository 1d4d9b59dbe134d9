//! The key is in its header, and nowhere else: not in what a person sees, not in the record, not in
//! what a program prints about itself.

use artel_model::ModelCallProgress;
use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::{Failure, Secret, SecretRedactor};
use serde_json::json;

use crate::gateway::call_to;
use crate::house::house;
use crate::support::*;

/// Answers that repeat the key wherever a provider, or whoever has taken its place, could.
fn repeating_the_key() -> Vec<Answer> {
    let message = format!("Incorrect API key provided: {KEY}.");
    let error = json!({"error": {"message": message, "type": KEY, "code": KEY}}).to_string();
    let refusal = |status: u16| {
        Answer::status(status)
            .header("request-id", KEY)
            .header("x-request-id", KEY)
            .body(error.clone())
    };
    let said = format!("Your key is {KEY}, is it not?");
    vec![
        Answer::says("Hi."),
        Answer::status(200).body(format!("data: {KEY}\n\n{KEY}\n")),
        refusal(400),
        refusal(401),
        refusal(403),
        refusal(404),
        refusal(429).retry_after("0"),
        Answer::status(500).body(said.clone()),
        Answer::says(said.clone()).thinking(said.clone()),
        Answer::says(said.clone())
            .one_char_deltas()
            .cut_after(1_500),
        Answer::default().calls(KEY, json!({"key": KEY, KEY: [KEY]})),
        Answer::says(said).error_mid_stream(500),
    ]
}

/// An answer with the key in the place of the model's name, of ids and of seals.
async fn named_like_the_key(format: Format) -> Answer {
    let answer = Answer::says("Hi.").thinking("Hm.").calls("read", json!({}));
    let recorded = String::from_utf8(record(format, answer).await).unwrap();
    let names = [
        MODEL,
        "c2lnbmVk0001",
        "c2VhbGVk0001",
        "msg_0001",
        "resp_0001",
    ];
    let renamed = names
        .iter()
        .fold(recorded, |text, name| text.replace(name, KEY));
    Answer::status(200).body(renamed)
}

#[tokio::test]
async fn the_key_is_seen_nowhere() {
    for format in Format::ALL {
        let mut answers = repeating_the_key();
        answers.push(named_like_the_key(format).await);
        let mut cleaned = 0;
        for (place, answer) in answers.into_iter().enumerate() {
            let stand_in = StandIn::start(format, [answer, Answer::status(400)]);
            let house = house(|setup| {
                setup.redactor = SecretRedactor::of_known_values([&Secret::new(KEY)]);
                // One failure is enough for everything that follows from many.
                setup.thresholds.consecutive = 1;
            });
            let mut calling = house.gateway.call(call_to(format, &stand_in.url()));
            let mut shown = Vec::new();
            while let Some(progress) = calling.next().await {
                shown.push(format!("{progress:?}"));
                match progress {
                    ModelCallProgress::Failed(error) => {
                        shown.push(Failure::from(*error).to_string());
                    }
                    // What comes after a wait is what came before it.
                    ModelCallProgress::Waiting(wait) => {
                        shown.push(wait.to_string());
                        break;
                    }
                    _ => {}
                }
            }
            drop(calling);
            for event in house.book.events() {
                shown.push(format!("{event:?}"));
                shown.push(event.fact.encode().unwrap());
            }
            let seen = stand_in.seen();
            assert!(format!("{seen:?}").contains(KEY), "the server did get it");
            cleaned += usize::from(shown.iter().any(|text| text.contains("[REDACTED]")));
            for text in shown {
                assert!(!text.contains("canary"), "{format:?} {place}: {text}");
            }
        }
        assert!(cleaned >= 9, "{format:?} repeated it {cleaned} times");
    }
}

#[test]
fn what_describes_a_model_does_not_show_its_key() {
    for format in Format::ALL {
        let mut address = address(format, "https://example.com");
        address.headers = vec![("x-other-key".to_owned(), KEY.to_owned())];
        let connection = straight();
        let remote = reach(connection.clone(), address.clone());
        let shown = format!("{address:?} {address:#?} {remote:?} {connection:?}");
        assert!(!shown.contains("canary"), "{shown}");
        assert!(shown.contains("x-other-key"), "{shown}");
        assert!(shown.contains("example.com"), "{shown}");
    }
}
