//! How an answer travels: in pieces, held, cut, silent.

use artel_testkit::block_on;
use artel_testkit::standin::{Answer, Format, StandIn};
use serde_json::json;

use crate::asking::{Ask, Reply};

fn answer() -> Answer {
    Answer::says("Grüße, 🦀.")
        .thinking("Hm.")
        .calls("read", json!({"path": "a.txt"}))
}

/// Returns the body of the answer as it is when nothing happens to it.
fn whole_body(format: Format) -> Vec<u8> {
    let stand_in = StandIn::start(format, [answer()]);
    let reply = Reply::head(Ask::short(format).send(&stand_in));
    reply.rest().bytes()
}

#[test]
fn pieces_have_their_size_and_make_the_same_whole() {
    for format in Format::ALL {
        let whole = whole_body(format);
        for size in [1, 7] {
            let stand_in = StandIn::start(format, [answer().in_pieces_of(size)]);
            let rest = Reply::head(Ask::short(format).send(&stand_in)).rest();
            let (last, before) = rest.chunks.split_last().unwrap();
            assert!(before.iter().all(|chunk| chunk.len() == size), "{format:?}");
            assert!(last.len() <= size, "{format:?}");
            assert!(rest.is_whole, "{format:?}");
            assert_eq!(rest.bytes(), whole, "{format:?}");
        }
    }
}

#[test]
fn an_answer_can_be_cut_anywhere() {
    for format in Format::ALL {
        let whole = whole_body(format);
        // Every byte of the shortest format; a prime number of bytes apart, and at the end, in all.
        let step = if format == Format::Ollama { 1 } else { 53 };
        let places = (0..whole.len()).step_by(step).chain([whole.len()]);
        let stand_in = StandIn::start(
            format,
            places.clone().map(|place| answer().cut_after(place)),
        );
        for place in places {
            let reply = Reply::head(Ask::short(format).send(&stand_in));
            assert_eq!(reply.status, 200);
            let rest = reply.rest();
            assert!(!rest.is_whole, "{format:?} cut after {place}");
            // The ids count the requests, so only the length can be compared.
            assert_eq!(rest.bytes().len(), place, "{format:?}");
        }
    }
}

#[test]
fn a_silent_answer_stays_open_until_its_client_goes() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [answer().silent_after(10)]);
        let mut reply = Reply::head(Ask::short(format).send(&stand_in));
        assert_eq!(reply.bytes(10).len(), 10);
        assert_eq!((stand_in.open(), stand_in.held()), (1, 0));
        drop(reply);
        block_on(stand_in.until_open(0));
    }
}

#[test]
fn held_answers_go_on_one_by_one_and_the_oldest_first() {
    let stand_in = StandIn::start(
        Format::Chat,
        [Answer::says("one").held(), Answer::says("two").held()],
    );
    let ask = Ask::short(Format::Chat);
    let first = ask.send(&stand_in);
    block_on(stand_in.until_held(1));
    let second = ask.send(&stand_in);
    block_on(stand_in.until_held(2));
    assert_eq!((stand_in.open(), stand_in.peak()), (2, 2));

    assert!(stand_in.release_one());
    assert!(Reply::head(first).rest().text().contains("one"));
    block_on(stand_in.until_open(1));
    assert_eq!(stand_in.held(), 1, "the second one still waits");

    stand_in.release();
    assert!(Reply::head(second).rest().text().contains("two"));
    block_on(stand_in.until_open(0));
    assert!(!stand_in.release_one(), "nothing is held any more");
    assert_eq!(stand_in.peak(), 2);
}

#[test]
fn an_answer_can_be_held_in_the_middle() {
    let whole = whole_body(Format::Anthropic);
    let stand_in = StandIn::start(Format::Anthropic, [answer().held_after(100)]);
    let mut reply = Reply::head(Ask::short(Format::Anthropic).send(&stand_in));
    let mut body = reply.bytes(100);
    block_on(stand_in.until_held(1));
    assert_eq!(body, whole[..100]);
    stand_in.release();
    body.extend(reply.rest().bytes());
    assert_eq!(body, whole);
}

#[test]
fn a_held_answer_is_forgotten_when_its_client_goes() {
    let stand_in = StandIn::start(Format::Ollama, [Answer::says("one").held()]);
    let connection = Ask::short(Format::Ollama).send(&stand_in);
    block_on(stand_in.until_held(1));
    drop(connection);
    block_on(stand_in.until_held(0));
    block_on(stand_in.until_open(0));
}

#[test]
fn hanging_up_leaves_no_word() {
    let stand_in = StandIn::start(Format::Google, [Answer::hang_up(), Answer::says("again")]);
    let mut connection = Ask::short(Format::Google).send(&stand_in);
    let mut words = Vec::new();
    drop(std::io::Read::read_to_end(&mut connection, &mut words));
    assert_eq!(words, b"");
    let (status, body) = Ask::short(Format::Google).get(&stand_in);
    assert_eq!(status, 200, "the next connection is served");
    assert!(body.contains("again"));
}

#[test]
fn stopping_breaks_off_what_is_being_said() {
    let stand_in = StandIn::start(Format::Chat, [answer().silent_after(10)]);
    let mut reply = Reply::head(Ask::short(Format::Chat).send(&stand_in));
    reply.bytes(10);
    drop(stand_in);
    assert!(!reply.rest().is_whole);
}

/// One thread, so that few cores serve many; the number is below the usual limit of open files.
#[test]
fn hundreds_are_answered_at_once() {
    const MANY: usize = 300;
    let stand_in = StandIn::start(
        Format::Chat,
        [Answer::says("Hello.").held_after(50).repeating()],
    );
    let asks = (0..MANY).map(|_| Ask::short(Format::Chat).send(&stand_in));
    let connections: Vec<_> = asks.collect();
    block_on(stand_in.until_held(MANY));
    assert_eq!((stand_in.open(), stand_in.peak()), (MANY, MANY));
    stand_in.release();
    for connection in connections {
        assert!(Reply::head(connection).rest().is_whole);
    }
    block_on(stand_in.until_open(0));
}
