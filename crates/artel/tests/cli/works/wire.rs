//! The wide story by models behind HTTP, in the formats of two providers, with tools, sandbox, git
//! and tests real: what is said to run at the same time does.

use artel_testkit::standin::Format;

use super::stage::{Asked, Who};
use super::wide::Wide;

/// Both sides at once, then both judges of the first: each waits for the other to be asked.
fn is_beside_another(asked: &Asked) -> bool {
    match asked.who {
        Who::Worker => asked.step > 1 && asked.attempt == 1,
        Who::Inspector | Who::Tester => asked.step == 2 && asked.turn == 0,
        _ => false,
    }
}

#[test]
fn the_story_by_models_behind_http() {
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        let wide = Wide::speaking(format, is_beside_another);
        let stage = &wide.0;
        let id = stage.town.asked();
        wide.approve(&id).run().expect(3);
        wide.accept(&id).run().expect(0);
        let child = wide.resume(&id).command().spawn().unwrap();
        for _ in ["the two steps", "the two judges"] {
            stage.until_held(2);
            stage.model.release();
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{format:?}: {output:?}");
        wide.merge(&id).run().expect(0);
        wide.is_told();
        let left = wide.left();
        assert_eq!(left.files["left.py"], b"VALUE = 1\n", "{format:?}");
        assert_eq!(
            left.files["right.py"], b"VALUE = 1  # right\n",
            "{format:?}"
        );
        assert_eq!(left.status, "");
        let asked = wide.asked();
        assert!(
            asked.values().all(|times| *times == 1),
            "{format:?}: {asked:?}"
        );
    }
}
