use proptest::prelude::*;

use super::*;

fn request(words: &str) -> Request {
    Request {
        trace: TraceId::from_random([7; 16]),
        created: Timestamp::from_micros(1_794_732_600_000_000),
        status: Status::Pending,
        priority: Urgency::High,
        agent: "default".to_owned(),
        source: Origin::Cli,
        created_by: "ann@host".to_owned(),
        portal: Some("my app: #1".to_owned()),
        tags: vec!["a".to_owned(), "b, c".to_owned()],
        verify: Some(Verify::Tdd),
        flow: None,
        other: vec![
            "cssclass: wide".to_owned(),
            "list:".to_owned(),
            "  - 1".to_owned(),
        ],
        words: words.to_owned(),
    }
}

fn same(request: &Request, read: &Read) {
    let expected = Read {
        has_front: true,
        trace: Some(request.trace),
        created: Some(request.created),
        status: Some(request.status),
        priority: Some(request.priority),
        agent: Some(request.agent.clone()),
        source: Some(request.source),
        created_by: Some(request.created_by.clone()),
        portal: request.portal.clone(),
        tags: request.tags.clone(),
        verify: request.verify,
        flow: request.flow.clone(),
        other: request.other.clone(),
        words: request.words.clone(),
    };
    assert_eq!(*read, expected);
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
fn plain_markdown_is_a_request() {
    for (text, words) in [
        ("Add it", "Add it"),
        ("\n# Request\n\nAdd it\n", "Add it"),
        ("\u{feff}# Add it\nmore\n", "# Add it\nmore"),
        ("# Requests\nx", "# Requests\nx"),
    ] {
        let read = parse(text).unwrap();
        assert_eq!((read.has_front, &*read.words), (false, words));
    }
    let read = parse("---\npriority: low\n---\nAdd it").unwrap();
    assert_eq!(
        (read.has_front, read.priority, read.trace),
        (true, Some(Urgency::Low), None)
    );
    assert_eq!(
        parse("---\nstatus: completed\n---\nx").unwrap().status,
        Some(Status::Done)
    );
}

#[test]
fn what_cannot_be_used_is_named_with_what_may_be() {
    let table = [
        ("trace_id: 5", "version 4"),
        (
            "trace_id: 3f0c9a52-7d1e-1b8a-9c40-5e6f7a8b9c0d",
            "version 4",
        ),
        (
            "trace_id: 3f0c9a52-7d1e-4b8a-cc40-5e6f7a8b9c0d",
            "version 4",
        ),
        ("created: yesterday", "2026-11-15T08:30:00Z"),
        ("created: 2026-11-15", "2026-11-15T08:30:00Z"),
        ("status: banana", "pending, processing, planned"),
        ("status:", "take the line out"),
        ("priority: urgent", "low, normal, high, critical"),
        ("priority: 5", "low, normal, high, critical"),
        ("source: web", "cli, file, interactive"),
        ("verify: maybe", "none, evaluator, tdd"),
        ("agent: [a]", "name of a role"),
        ("agent: a b", "name of a role"),
        ("created_by: \" \"", "a name"),
        ("portal: {a: b}", "name of a portal"),
        ("tags: a", "[a, b]"),
        ("tags: [a, ]x", "[a, b]"),
        ("tags: [\" \"]", "[a, b]"),
        ("agent: |\n  a", "name of a role"),
    ];
    for (line, expected) in table {
        let wrong = parse(&format!("---\nother: 1\n{line}\n---\nx")).unwrap_err();
        let field = line.split(':').next().unwrap();
        assert_eq!(
            (wrong.len(), &*wrong[0].field, wrong[0].line),
            (1, field, 3),
            "{line}"
        );
        assert!(wrong[0].to_string().contains(expected), "{}", wrong[0]);
    }
    let table = [
        ("---\nstatus: pending\n", "frontmatter", 1),
        ("---\nnonsense\n---\nx", "frontmatter", 2),
        ("---\nstatus: done\nstatus: done\n---\nx", "frontmatter", 3),
        ("---\nstatus: done\n---\n\n# Request\n", "body", 4),
        ("", "body", 1),
    ];
    for (text, field, line) in table {
        let wrong = parse(text).unwrap_err();
        assert_eq!((&*wrong[0].field, wrong[0].line), (field, line), "{text:?}");
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(
        words in "(?s)[^\n\r].{0,80}[^\n\r\\s]",
        name in "[^\\s\n\r\u{0}]{1,20}",
        tag in "\\PC{0,10}x",
    ) {
        let mut request = request(&words);
        request.created_by = name.clone();
        request.portal = Some(name);
        request.tags.push(tag);
        same(&request, &parse(&render(&request)).unwrap());
    }

    #[test]
    fn any_text_is_judged(text in "(?s).{0,200}", front in "[-a-z:{}\\[\\]\"'#| \n]{0,120}") {
        let _read = parse(&text);
        let _read = parse(&format!("---\n{front}\n---\nx"));
    }
}
