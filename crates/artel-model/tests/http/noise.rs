//! Bytes that were never an answer, or once were.

use artel_testkit::Random;
use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::json;

use crate::support::*;

/// How many answers of each format.
const ANSWERS: usize = 200;

#[tokio::test]
async fn nothing_panics_hangs_or_breaks_the_grammar() {
    let mut random = Random::for_test("noise");
    for format in Format::ALL {
        let answer = Answer::says("Hello, dear world.")
            .thinking("A greeting.")
            .calls("read", json!({"path": "a.txt"}));
        let recorded = record(format, answer).await;
        let bodies: Vec<Vec<u8>> = (0..ANSWERS)
            .map(|number| match number % 3 {
                0 => anything(&mut random),
                1 => shuffled(&recorded, &mut random),
                _ => damaged(&recorded, &mut random),
            })
            .collect();
        let answers = bodies
            .iter()
            .map(|body| Answer::status(200).body(body.clone()));
        let stand_in = StandIn::start(format, answers);
        let remote = hasty(format, stand_in.url());
        for body in &bodies {
            // Listening has a limit, and putting the pieces together checks their grammar.
            let heard = hear(&remote, &question()).await;
            drop(heard.gathered());
            let fault = heard.fault.map(|fault| fault.message).unwrap_or_default();
            assert!(fault.chars().count() <= 500, "{body:?}");
        }
        assert_eq!(stand_in.seen().len(), ANSWERS);
    }
}

fn anything(random: &mut Random) -> Vec<u8> {
    let length = random.below(2_000);
    (0..length).map(|_| random.bits() as u8).collect()
}

/// The lines of an answer, some of them left out, some of them twice, in any order.
fn shuffled(recorded: &[u8], random: &mut Random) -> Vec<u8> {
    let events: Vec<&[u8]> = recorded.split_inclusive(|byte| *byte == b'\n').collect();
    let count = random.below(2 * events.len() as u64);
    let chosen = (0..count).map(|_| events[random.below(events.len() as u64) as usize]);
    chosen.collect::<Vec<_>>().concat()
}

/// An answer with a few bytes changed.
fn damaged(recorded: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = recorded.to_vec();
    for _ in 0..=random.below(5) {
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] = random.bits() as u8;
    }
    bytes
}
