//! What providers will not do, and how each of them says so.

use std::time::Duration;

use artel_model::{ModelAddress, RemoteModel};
use artel_testkit::standin::{Answer, Format, StandIn};
use artel_types::Secret;
use artel_types::model::{ModelFault, ModelFaultKind, ModelSpec};

use crate::house::clock;
use crate::support::*;

async fn fault_of(format: Format, answer: Answer) -> ModelFault {
    hear_answer(format, answer).await.fault().clone()
}

/// In the order of [`Format::ALL`].
async fn check(answer: Answer, expected: [ModelFaultKind; 5]) {
    for (format, expected) in Format::ALL.into_iter().zip(expected) {
        let fault = fault_of(format, answer.clone()).await;
        assert_eq!(fault.kind, expected, "{format:?}: {fault}");
        assert!(fault.status.is_some(), "{format:?}: {fault}");
        assert!(!fault.message.is_empty());
    }
}

#[tokio::test]
async fn statuses() {
    use ModelFaultKind::*;
    for (status, expected) in [
        (400, BadRequest),
        (401, Key),
        (402, Quota),
        (403, Key),
        (404, NoSuchModel),
        (408, Network),
        (409, Network),
        (413, TooLarge),
        (418, BadRequest),
        (422, BadRequest),
        (429, RateLimit),
        (500, Server),
        (502, Server),
        (504, Server),
        (529, Overloaded),
    ] {
        check(Answer::status(status), [expected; 5]).await;
        // The status alone is enough: a proxy in between answers with a page of its own.
        let page = Answer::status(status).body("<html><title>Oops</title></html>");
        check(page, [expected; 5]).await;
    }
    // Anthropic says 529 when it has too much to do; a 503 is something else there.
    let busy = Overloaded;
    check(Answer::status(503), [Server, busy, busy, busy, busy]).await;
    check(Answer::status(503).body(""), [Server; 5]).await;
}

#[tokio::test]
async fn too_long_and_nothing_left_to_spend() {
    check(Answer::too_long(), [ModelFaultKind::ContextOverflow; 5]).await;
    check(Answer::no_quota(), [ModelFaultKind::Quota; 5]).await;
}

/// Google calls a wrong key a bad argument; OpenAI repeats it.
#[tokio::test]
async fn wrong_keys_and_none_at_all() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [Answer::says("Hi.").repeating()]);
        for key in [Some("wrong-key"), None] {
            let address = ModelAddress {
                key: key.map(Secret::new),
                ..address(format, stand_in.url())
            };
            let remote = reach(straight(), address);
            if key.is_none() && format == Format::Ollama {
                assert_eq!(hear(&remote, &question()).await.fault, None, "needs none");
                continue;
            }
            let heard = hear(&remote, &question()).await;
            assert_eq!(
                heard.fault().kind,
                ModelFaultKind::Key,
                "{format:?} {heard:?}"
            );
            let looked = remote.look().await.unwrap_err();
            assert_eq!(looked.kind, ModelFaultKind::Key, "{format:?} {looked}");
        }
    }
}

#[tokio::test]
async fn a_good_key_shows_the_models() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, []);
        let names = remote(format, stand_in.url()).look().await.unwrap();
        assert_eq!(names.len(), 2, "{format:?}: {names:?}");
        assert!(names[0].contains("stand-in-large"), "{names:?}");
    }
}

#[tokio::test]
async fn a_model_that_nobody_has() {
    for format in Format::ALL {
        let stand_in = StandIn::start(format, [Answer::says("Hi.")]);
        let (address, card) = (address(format, stand_in.url()), ModelSpec::default());
        let remote = RemoteModel::new(straight(), address, "no-such-model", card, clock());
        let heard = hear(&remote, &question()).await;
        assert_eq!(
            heard.fault().kind,
            ModelFaultKind::NoSuchModel,
            "{format:?}"
        );
        assert!(heard.fault().message.contains("no-such-model"));
    }
}

#[tokio::test]
async fn waits_in_every_way_they_are_said() {
    let seconds = Some(Duration::from_secs(7));
    for format in Format::ALL {
        // As each provider does: in a header, or in Google's `RetryInfo`.
        let fault = fault_of(format, Answer::status(429).retry_after("7")).await;
        assert_eq!(fault.retry_after, seconds, "{format:?}");
        let fault = fault_of(format, Answer::status(529).retry_after("7")).await;
        assert_eq!(fault.retry_after, seconds, "{format:?}");
        // As a moment: the clock of these tests begins at nine.
        let moment = "Sun, 15 Nov 2026 09:00:30 GMT";
        let fault = fault_of(format, Answer::status(429).retry_after(moment)).await;
        let wait = fault.retry_after.unwrap().as_secs_f32();
        assert!((25.0..=30.0).contains(&wait), "{format:?}: {wait}");
        // What cannot be read says nothing.
        for nonsense in ["-5", "soon", ""] {
            let fault = fault_of(format, Answer::status(429).retry_after(nonsense)).await;
            assert_eq!(fault.retry_after, None, "{format:?} {nonsense}");
        }
    }
    // In a sentence, without any header.
    let sentence = r#"{"error": {"message": "Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Please try again in 11.054s.", "code": "rate_limit_exceeded"}}"#;
    for format in [Format::Responses, Format::Chat] {
        let fault = fault_of(format, Answer::status(429).body(sentence)).await;
        let wait = fault.retry_after.unwrap();
        assert_eq!(wait, Duration::from_millis(11_054), "{format:?}");
    }
}

#[tokio::test]
async fn the_name_of_the_request_is_kept_for_their_support() {
    for format in Format::ALL {
        let named = match format {
            // Ollama does not name requests.
            Format::Ollama => None,
            _ => Some(format!("req_{}_0001", format.as_str())),
        };
        for answer in [
            Answer::status(500),
            Answer::says("Hello, dear world.").error_mid_stream(500),
            Answer::says("Hello, dear world.").cut_after(100),
            Answer::says("Hello, dear world.").garbage("data: {\n\n"),
        ] {
            let fault = fault_of(format, answer).await;
            assert_eq!(fault.request_id, named, "{format:?}: {fault}");
        }
    }
}

#[tokio::test]
async fn errors_in_the_middle_of_an_answer() {
    use ModelFaultKind::*;
    let middle = |status| Answer::says("Hello, dear world.").error_mid_stream(status);
    for (status, expected) in [
        (500, [Server; 5]),
        (529, [Overloaded; 5]),
        // Ollama has nothing but a sentence then, which says too little.
        (429, [RateLimit, RateLimit, RateLimit, RateLimit, Server]),
    ] {
        for (format, expected) in Format::ALL.into_iter().zip(expected) {
            let heard = hear_answer(format, middle(status)).await;
            assert_eq!(heard.fault().kind, expected, "{format:?} {heard:?}");
            assert_eq!(heard.gathered().text(), "Hello, dear worl", "{format:?}");
        }
    }
}

#[tokio::test]
async fn rubbish_in_the_middle_of_an_answer() {
    let middle = |rubbish: &[u8]| Answer::says("Hello, dear world.").garbage(rubbish);
    for format in Format::ALL {
        for rubbish in [
            &b"data: {\"half\": \n\n"[..],
            b"data: \xff\xfe\n\n",
            b"data: {} {}\n\n",
            b"data: NaN\n\n",
            b"data: \0\n\n",
        ] {
            let heard = hear_answer(format, middle(rubbish)).await;
            assert_eq!(
                heard.fault().kind,
                ModelFaultKind::Garbled,
                "{format:?} {heard:?}"
            );
            assert_eq!(heard.gathered().text(), "Hello, dear worl", "{format:?}");
        }
    }
    // Comments, events and fields that nobody knows belong to the framing.
    for format in [Format::Anthropic, Format::Responses, Format::Chat] {
        for strange in [
            &b": keep-alive\n\n"[..],
            b"id: 7\nretry: 100\n\n",
            b"event: news\ndata: not even JSON\n\n",
            b"\xff\xfe\n\n",
        ] {
            let heard = hear_answer(format, middle(strange)).await;
            let reply = heard
                .reply()
                .unwrap_or_else(|| panic!("{format:?} {heard:?}"));
            assert_eq!(reply.text(), "Hello, dear world.");
        }
    }
}

/// A page instead of an answer, with the best of statuses: a login page in a hotel.
#[tokio::test]
async fn a_page_instead_of_an_answer() {
    for format in Format::ALL {
        for page in [
            "<html>\n<body>Please log in</body>\n</html>\n",
            "",
            "\n",
            "OK",
        ] {
            let heard = hear_answer(format, Answer::status(200).body(page)).await;
            let kind = heard.fault().kind;
            assert!(
                matches!(kind, ModelFaultKind::Cut | ModelFaultKind::Garbled),
                "{format:?} {page}: {heard:?}"
            );
            assert_eq!(heard.chunks, []);
        }
    }
}
