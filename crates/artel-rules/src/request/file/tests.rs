use super::*;

fn request(words: &str) -> Request {
    Request {
        trace: TraceId::from_random([7; 16]),
        created: Timestamp::from_micros(1_794_732_600_000_000),
        status: RequestStatus::Pending,
        priority: Urgency::High,
        agent: "default".to_owned(),
        source: RequestOrigin::Cli,
        created_by: "ann@host".to_owned(),
        portal: Some("my app: #1".to_owned()),
        tags: vec!["a".to_owned(), "b, c".to_owned()],
        verify: Some(StepVerification::Tdd),
        flow: None,
        other: vec![
            "cssclass: wide".to_owned(),
            "list:".to_owned(),
            "  - 1".to_owned(),
        ],
        words: words.to_owned(),
    }
}

#[test]
fn a_request_looks_like_this() {
    insta::assert_snapshot!(render(&request("Add it.\n\n# Request\n---\nx")), @r#"
    ---
    trace_id: "07070707-0707-4707-8707-070707070707"
    created: 2026-11-15T08:50:00.000000Z
    status: pending
    priority: high
    agent: default
    source: cli
    created_by: ann@host
    portal: "my app: #1"
    tags: [a, "b, c"]
    verify: tdd
    cssclass: wide
    list:
      - 1
    ---

    # Request

    Add it.

    # Request
    ---
    x
    "#);
}

#[test]
fn the_words_are_what_stands_below_the_heading() {
    for (body, words) in [
        ("Add it", "Add it"),
        ("\n# Request\n\nAdd it\n", "Add it"),
        ("# Add it\nmore\n", "# Add it\nmore"),
        ("# Requests\nx", "# Requests\nx"),
        ("# Request", ""),
    ] {
        assert_eq!(words_of(body), words);
    }
}

#[test]
fn words_of_other_tools_are_understood() {
    assert_eq!(RequestStatus::of("completed"), Some(RequestStatus::Done));
    assert_eq!(
        (RequestStatus::of("banana"), RequestOrigin::of("web")),
        (None, None)
    );
    assert!(
        RequestStatus::ALL
            .iter()
            .all(|it| RequestStatus::of(it.as_str()) == Some(*it))
    );
    assert!(
        RequestOrigin::ALL
            .iter()
            .all(|it| RequestOrigin::of(it.as_str()) == Some(*it))
    );
}
