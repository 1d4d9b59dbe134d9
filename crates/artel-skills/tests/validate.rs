//! The strict judgement, field by field: what is taken, what is not, and which field is named.

use artel_rules::request::file::{
    ParsedRequestFile, Request, RequestOrigin, RequestStatus, render,
};
use artel_skills::{empty_body, read_request, validate_request, validate_skill};
use artel_types::plan::{StepVerification, Urgency};
use artel_types::{Timestamp, TraceId};
use proptest::prelude::*;

/// A skill with these lines added to what every skill needs.
fn skill(lines: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads PDF files.\n{lines}\n---\n\nDo it.\n")
}

fn request(without: &str, lines: &str) -> String {
    let fields = [
        ("trace_id", "3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d"),
        ("created", "2026-11-15T08:30:00Z"),
        ("status", "pending"),
        ("agent", "default"),
        ("source", "cli"),
        ("created_by", "anna"),
    ];
    let kept: String = fields
        .iter()
        .filter(|(field, _)| *field != without)
        .map(|(field, value)| format!("{field}: {value}\n"))
        .collect();
    format!("---\n{kept}{lines}\n---\n\nAdd rate limiting.\n")
}

fn fields(text: &str) -> Vec<String> {
    let complaints = validate_skill(text, None);
    complaints
        .into_iter()
        .map(|complaint| complaint.field)
        .collect()
}

#[test]
fn what_the_format_allows_is_taken() {
    let good = [
        "",
        "license: Apache-2.0",
        "compatibility: Needs git",
        "metadata:\n  author: me\n  version: \"1.0\"",
        "metadata: {}",
        "metadata: {version: 1.0, internal: true}",
        "allowed-tools: Read Bash(git log:*)",
        "allowed-tools: Read, Grep",
        "allowed-tools: [Read, \"Bash(git:*)\"]",
        "allowed-tools: []",
        "allowed_tools: Read",
        "model: haiku",
        "model: claude-opus-4.1",
        "context: fork",
        "context: inherit",
        "agent: Explore",
        "agent: my-role",
        "execution-mode: simple",
        "execution_mode: autonomous",
        "max-iterations: 1",
        "max_iterations: 100",
        "max-retries-per-tool: 0",
        "max-retries-per-tool: 10",
        "timeout-per-iteration: 30s",
        "timeout-per-iteration: \"500ms\"",
        "early-termination: false",
        "legacy_large_file: true",
        "max_cost_usd: 1.0",
        "max-cost-usd: 0",
        "max-cost: 2",
        "user-invocable: false",
        "disable-model-invocation: true",
        "argument-hint: \"[file]\"",
        "argument-hint: [file]",
        "paths: \"src/**\"",
        "paths: [a, b]",
        "secrets: [github-token]",
        "hooks:\n  Stop:\n    - command: x",
        "something-new: {a: [1, 2]}",
        "metadata: {artel.max-iterations: \"20\"}",
        "# a comment",
    ];
    for lines in good {
        assert_eq!(validate_skill(&skill(lines), Some("pdf")), [], "{lines}");
    }
}

#[test]
fn what_it_does_not_allow_names_the_field() {
    let long = |letters: usize| "x".repeat(letters);
    let table = [
        ("license:", "license"),
        ("license: [MIT]", "license"),
        ("compatibility: \"\"", "compatibility"),
        (&*format!("compatibility: {}", long(501)), "compatibility"),
        ("compatibility: {os: linux}", "compatibility"),
        ("metadata: text", "metadata"),
        ("metadata: [a]", "metadata"),
        ("metadata: {a: {b: c}}", "metadata"),
        ("metadata: {a: [b]}", "metadata"),
        ("metadata: {version: }", "metadata"),
        ("metadata: {a: b, a: c}", "metadata"),
        (
            "metadata: {artel.max-iterations: \"0\"}",
            "metadata.artel.max-iterations",
        ),
        ("allowed-tools: {Read: true}", "allowed-tools"),
        ("allowed-tools: [Read, 5]", "allowed-tools"),
        ("allowed-tools: Bash(git", "allowed-tools"),
        ("allowed-tools: bash", "allowed-tools"),
        ("allowed-tools: Read bash(git:*)", "allowed-tools"),
        ("allowed-tools: [read]", "allowed-tools"),
        ("allowed-tools: Bash()", "allowed-tools"),
        ("allowed-tools: Bash(:*)", "allowed-tools"),
        ("allowed-tools: Read, Edit()", "allowed-tools"),
        ("allowed-tools: [\"\"]", "allowed-tools"),
        ("allowed_tools: [[Read]]", "allowed_tools"),
        ("model: \"\"", "model"),
        ("model: two words", "model"),
        ("context: share", "context"),
        ("context: Fork", "context"),
        ("agent: [a]", "agent"),
        ("agent: two words", "agent"),
        ("execution-mode: turbo", "execution-mode"),
        ("execution_mode: 5", "execution_mode"),
        ("max-iterations: 0", "max-iterations"),
        ("max_iterations: 101", "max_iterations"),
        ("max-iterations: -1", "max-iterations"),
        ("max-iterations: 1.5", "max-iterations"),
        ("max-iterations: \"15\"", "max-iterations"),
        ("max-iterations: many", "max-iterations"),
        ("max-iterations:", "max-iterations"),
        ("max-iterations: 99999999999999999999", "max-iterations"),
        ("max-retries-per-tool: 11", "max-retries-per-tool"),
        ("max-retries-per-tool: -1", "max-retries-per-tool"),
        ("timeout-per-iteration: 30", "timeout-per-iteration"),
        ("timeout-per-iteration: 0s", "timeout-per-iteration"),
        ("timeout-per-iteration: soon", "timeout-per-iteration"),
        ("timeout-per-iteration: -5s", "timeout-per-iteration"),
        ("timeout-per-iteration: 25h", "timeout-per-iteration"),
        ("early-termination: maybe", "early-termination"),
        ("early-termination: \"true\"", "early-termination"),
        ("legacy_large_file: 1", "legacy_large_file"),
        ("max_cost_usd: -1", "max_cost_usd"),
        ("max_cost_usd: free", "max_cost_usd"),
        ("max_cost_usd: .nan", "max_cost_usd"),
        ("max_cost_usd: .inf", "max_cost_usd"),
        ("user-invocable: perhaps", "user-invocable"),
        ("disable-model-invocation: 0", "disable-model-invocation"),
        ("paths: {a: b}", "paths"),
        ("secrets: [\"a b\"]", "secrets"),
        ("max-iterations: 5\nmax_iterations: 6", "max_iterations"),
        ("name: again", "name"),
        ("license: MIT\nlicense: MIT", "license"),
        ("a: b: c", "frontmatter"),
        ("a: &x 1\nb: *x", "frontmatter"),
        ("a: !!python/object x", "frontmatter"),
        ("\tb: c", "frontmatter"),
        ("[a]: b", "frontmatter"),
    ];
    for (lines, field) in table {
        assert_eq!(fields(&skill(lines)), [field], "{lines}");
    }
}

#[test]
fn names_descriptions_and_structure() {
    let table: &[(&str, &[&str])] = &[
        ("", &["frontmatter"]),
        ("no frontmatter", &["frontmatter"]),
        ("---\nname: pdf\n", &["frontmatter"]),
        ("---\n---\nbody", &["frontmatter", "name", "description"]),
        (
            "---\n- a\n---\nbody",
            &["frontmatter", "name", "description"],
        ),
        ("---\nname: pdf\n---\nbody", &["description"]),
        ("---\ndescription: x\n---\nbody", &["name"]),
        ("---\nname: PDF\ndescription: x\n---\nbody", &["name"]),
        ("---\nname: 5\ndescription: x\n---\nbody", &["name"]),
        ("---\nname:\ndescription: x\n---\nbody", &["name"]),
        ("---\nname: [a]\ndescription: x\n---\nbody", &["name"]),
        ("---\nname: \"\"\ndescription: x\n---\nbody", &["name"]),
        ("---\nname: a--b\ndescription: x\n---\nbody", &["name"]),
        (
            "---\nname: a\ndescription: \"  \"\n---\nbody",
            &["description"],
        ),
        ("---\nname: a\ndescription:\n---\nbody", &["description"]),
        ("---\nname: a\ndescription: 5\n---\nbody", &["description"]),
        (
            "---\nname: a\ndescription: {b: c}\n---\nbody",
            &["description"],
        ),
        ("---\nname: a\ndescription: x\n---\n", &[]),
        ("---\nname: a\ndescription: x\n---\n \n\n", &[]),
        ("---\nname: a\ndescription: x\n---\nbo\0dy", &["body"]),
        (
            "\u{feff}---\nname: a\ndescription: x\n---\nbody",
            &["frontmatter"],
        ),
        ("---\r\nname: a\r\ndescription: x\r\n---\r\nbody", &[]),
        ("---\nname: größe\ndescription: x\n---\nbody", &[]),
        (
            "---\nname: a\ndescription: >-\n  two\n  lines\n---\nbody",
            &[],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(fields(text), *expected, "{text:?}");
    }
    let letters = |count: usize| "ü".repeat(count);
    let described = |count| format!("---\nname: a\ndescription: {}\n---\nb", letters(count));
    assert_eq!(fields(&described(1024)), [""; 0]);
    assert_eq!(fields(&described(1025)), ["description"]);
    let named = |count| format!("---\nname: {}\ndescription: x\n---\nb", "a".repeat(count));
    assert_eq!(fields(&named(64)), [""; 0]);
    assert_eq!(fields(&named(65)), ["name"]);
    for dir in ["pdf", "skills/pdf", "/skills/pdf/"] {
        assert_eq!(validate_skill(&skill(""), Some(dir)), []);
    }
    let other = validate_skill(&skill(""), Some("docx"));
    assert_eq!(other[0].field, "name");
    assert_eq!(other[0].line, Some(2));
}

#[test]
fn a_message_says_line_value_range_and_remedy() {
    let complaints = validate_skill(&skill("max-iterations: 0"), None);
    assert_eq!(complaints[0].line, Some(4));
    assert_eq!(
        complaints[0].message,
        "`0` is not a whole number from 1 to 100"
    );
    let complaints = validate_skill(&skill("execution-mode: turbo"), None);
    assert_eq!(
        complaints[0].message,
        "`turbo` is not `autonomous` or `simple`"
    );
    let complaints = validate_skill(&skill("timeout-per-iteration: 30"), None);
    assert!(complaints[0].remedy.as_ref().unwrap().contains("`30s`"));
    let complaints = validate_skill(&skill("license: MIT\nlicense: X"), None);
    assert_eq!(complaints[0].message, "the key `license` is given twice");
    assert_eq!(complaints[0].line, Some(5));
    let complaints = validate_skill(&skill("metadata:\n  a: x\n  b: x\n  a: 2"), None);
    assert_eq!(complaints[0].message, "the key `a` is given twice");
    assert_eq!(complaints[0].line, Some(7));
}

#[test]
fn more_than_five_hundred_lines_are_no_error_here() {
    let text = skill("") + &"line\n".repeat(600);
    assert_eq!(validate_skill(&text, None), []);
}

#[test]
fn what_is_hostile_is_refused_and_little_of_it_is_shown() {
    let huge = "x".repeat(1_000_000);
    let hostile = [
        format!("---\nname: {huge}\ndescription: x\n---\nb"),
        skill(&format!("model: {}", "x".repeat(50_000))),
        skill(&format!("{}: 1", "k".repeat(900)).repeat(1)),
        skill(&format!("{0}: 1\n{0}: 2", "k".repeat(900))),
        skill(&format!("allowed-tools: {}", "(".repeat(50_000))),
        skill(&format!("a: {}", "[".repeat(50_000))),
        skill(&format!("metadata: {{{}: 1}}", "k".repeat(900))),
        format!("---\n{}", "a: b\n".repeat(20_000_000)),
        format!(
            "---\nname: a\ndescription: x\n---\n{}",
            "b".repeat(100_000_000)
        ),
        "-".repeat(10_000_000),
        "---\n".repeat(1_000_000),
    ];
    for text in hostile {
        for complaint in validate_skill(&text, Some("pdf")) {
            let all = format!("{complaint}");
            assert!(all.chars().count() < 500, "{all}");
            let longest = all.split(' ').map(|word| word.chars().count()).max();
            assert!(longest <= Some(200), "{all}");
        }
    }
}

#[test]
fn requests_are_judged_field_by_field() {
    let good = [
        "",
        "priority: low",
        "priority: critical",
        "portal: my-app",
        "tags: [a, b]",
        "tags: []",
        "flow: review",
        "portal: \"@My App\"",
        "skills: [pdf, csv-report]",
        "agent-notes: {a: [1]}",
    ];
    for lines in good {
        assert_eq!(validate_request(&request("", lines)), [], "{lines}");
    }
    let required = [
        "trace_id",
        "created",
        "status",
        "agent",
        "source",
        "created_by",
    ];
    for field in required {
        let complaints = validate_request(&request(field, ""));
        assert_eq!(complaints.len(), 1, "{field}");
        assert_eq!(
            (&*complaints[0].field, &*complaints[0].message),
            (field, "it is missing")
        );
    }
}

#[test]
fn a_wrong_value_of_a_request_names_its_field() {
    let table = [
        ("trace_id", "5"),
        ("trace_id", "not-a-uuid"),
        ("trace_id", "3f0c9a527d1e4b8a9c405e6f7a8b9c0d"),
        ("trace_id", "3f0c9a52-7d1e-1b8a-9c40-5e6f7a8b9c0d"),
        ("trace_id", "3f0c9a52-7d1e-4b8a-cc40-5e6f7a8b9c0d"),
        ("trace_id", "00000000-0000-0000-0000-000000000000"),
        ("trace_id", "\"{3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d}\""),
        ("created", "yesterday"),
        ("created", "2026-11-15"),
        ("created", "2026-11-15 08:30:00Z"),
        ("created", "2026-11-15T08:30:00"),
        ("created", "2026-11-15T08:30Z"),
        ("created", "2026-02-30T08:30:00Z"),
        ("created", "2026-13-01T08:30:00Z"),
        ("created", "2026-11-15T24:30:00Z"),
        ("created", "2026-11-15T08:30:00+25:00"),
        ("created", "2026-11-15T08:30:00.Z"),
        ("created", "20261115T083000Z"),
        ("created", "1794732600"),
        ("status", "banana"),
        ("status", ""),
        ("agent", ""),
        ("agent", "[a]"),
        ("source", "web"),
        ("source", "CLI"),
        ("source", "api"),
        ("source", "console"),
        ("created_by", ""),
        ("created_by", "\" \""),
        ("priority", "5"),
        ("priority", "urgent"),
        ("portal", "\"\""),
        ("portal", "[a]"),
        ("tags", "a"),
        ("tags", "{a: b}"),
        ("tags", "[a, [b]]"),
        ("tags", "[\" \"]"),
    ];
    for (field, value) in table {
        let complaints = validate_request(&request(field, &format!("{field}: {value}")));
        let named: Vec<&str> = complaints.iter().map(|one| &*one.field).collect();
        assert_eq!(named, [field], "{field}: {value}");
    }
    for created in [
        "2026-11-15T08:30:00.123456+01:00",
        "2026-11-15t08:30:00z",
        "2024-02-29T23:59:60Z",
        "\"2026-11-15T08:30:00-00:00\"",
    ] {
        let text = request("created", &format!("created: {created}"));
        assert_eq!(validate_request(&text), [], "{created}");
    }
    let twice = validate_request(&request("", "status: pending"));
    assert_eq!((&*twice[0].field, twice.len()), ("status", 1));
    let blank = request("", "").replace("Add rate limiting.", "");
    assert_eq!(validate_request(&blank), []);
    assert_eq!(empty_body(&blank).unwrap().field, "body");
    assert_eq!(read_request(&blank).unwrap_err()[0].field, "body");
    assert_eq!(validate_request("hello")[0].field, "frontmatter");
}

/// A request in which every field is set.
fn full(words: &str) -> Request {
    Request {
        trace: TraceId::from_random([7; 16]),
        created: Timestamp::from_micros(1_794_732_600_000_000),
        status: RequestStatus::Pending,
        priority: Urgency::High,
        agent: "default".to_owned(),
        source: RequestOrigin::Cli,
        created_by: "ann@host".to_owned(),
        portal: Some("my-app".to_owned()),
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

fn same(request: &Request, read: &ParsedRequestFile) {
    let expected = ParsedRequestFile {
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
        skill: None,
        skills: Vec::new(),
        other: request.other.clone(),
        words: request.words.clone(),
    };
    assert_eq!(*read, expected);
}

#[test]
fn the_inbox_takes_plain_markdown_and_what_is_incomplete() {
    for (text, words) in [
        ("Add it", "Add it"),
        ("\n# Request\n\nAdd it\n", "Add it"),
        ("\u{feff}# Add it\nmore\n", "# Add it\nmore"),
        ("# Requests\nx", "# Requests\nx"),
    ] {
        let read = read_request(text).unwrap();
        assert_eq!((read.has_front, &*read.words), (false, words));
    }
    let read = read_request("---\npriority: low\n---\nAdd it").unwrap();
    assert_eq!(
        (read.has_front, read.priority, read.trace),
        (true, Some(Urgency::Low), None)
    );
    let read = read_request("---\nstatus: completed\n---\nx").unwrap();
    assert_eq!(read.status, Some(RequestStatus::Done));
    let read = read_request("---\n---\nx").unwrap();
    assert!(read.has_front && read.other.is_empty());
    assert_eq!(
        read_request("---\nportal: \"@Shop\"\n---\nx")
            .unwrap()
            .portal,
        Some("Shop".to_owned())
    );
}

#[test]
fn the_inbox_knows_every_source_that_artel_writes() {
    for source in RequestOrigin::ALL {
        let request = Request {
            source,
            ..full("Add it")
        };
        same(&request, &read_request(&render(&request)).unwrap());
    }
}

#[test]
fn what_a_person_keeps_besides_stays_as_it_stands() {
    let table: [(&str, &[&str]); 5] = [
        ("mine: 7\nagent: x", &["mine: 7"]),
        (
            "# note\nagent: x # why\n# more\nmine: |\n  a\n\n  b",
            &["# note", "# more", "mine: |", "  a", "", "  b"],
        ),
        (
            "list:\n- 1\n- 2\nagent: x\ntags:\n- y\nz: {a: b}",
            &["list:", "- 1", "- 2", "z: {a: b}"],
        ),
        (
            "{mine: 7, agent: x, two: [a]}",
            &["\"mine\": 7", "\"two\": [\"a\"]"],
        ),
        ("agent: x\n? mine\n: 7", &["? mine", ": 7"]),
    ];
    for (front, other) in table {
        let read = read_request(&format!("---\n{front}\n---\nx")).unwrap();
        assert_eq!(read.other, other, "{front}");
        let mut again = full("x");
        again.other = read.other.clone();
        same(&again, &read_request(&render(&again)).unwrap());
    }
}

/// A file that was taken before such fields were refused keeps them.
#[test]
fn skills_that_a_request_names_are_read_and_stay_as_they_stand() {
    let read = read_request("---\nskill: pdf\nskills: [a, b]\n---\nx").unwrap();
    assert_eq!(read.skill.as_deref(), Some("pdf"));
    assert_eq!(read.skills, ["a", "b"]);
    assert_eq!(read.other, ["skill: pdf", "skills: [a, b]"]);
}

#[test]
fn both_manners_name_the_same_field_and_say_what_may_be() {
    let table = [
        ("trace_id: 5", "version 4"),
        (
            "trace_id: 3f0c9a52-7d1e-1b8a-9c40-5e6f7a8b9c0d",
            "version 4",
        ),
        ("created: yesterday", "2026-11-15T08:30:00Z"),
        ("created: 2026-11-15", "2026-11-15T08:30:00Z"),
        ("status: banana", "pending, processing, planned"),
        ("status:", "no value"),
        ("priority: urgent", "low, normal, high, critical"),
        ("priority: 5", ""),
        ("source: web", "cli, file, interactive"),
        ("verify: maybe", "none, evaluator, tdd"),
        ("agent: [a]", "not text"),
        ("agent: a b", "name of a role"),
        ("agent: ../../x", "not a path"),
        ("agent: a/b", "not a path"),
        ("agent: .hidden", "name of a role"),
        ("agent: --yes", "name of a role"),
        ("created_by: \" \"", "blank"),
        ("portal: {a: b}", "not text"),
        ("portal: /etc", "not a path"),
        ("portal: 'C:\\x'", "not a path"),
        ("portal: \"@a/b\"", "not a path"),
        ("flow: ../x", "not a path"),
        ("flow: [a]", "not text"),
        ("skill: ../x", "not a path"),
        ("skills: [good, ../x]", "not a path"),
        ("tags: a", "[a, b]"),
        ("tags: [\" \"]", "[a, b]"),
        ("tags: {a: b}", "[a, b]"),
        ("agent: |\n  a", "name of a role"),
        ("created_by: ann\ncreated-by: bob", "keep one"),
    ];
    for (line, expected) in table {
        let field = line.split(':').next().unwrap();
        let field = if expected == "keep one" {
            "created-by"
        } else {
            field
        };
        let lenient = read_request(&format!("---\nother: 1\n{line}\n---\nx")).unwrap_err();
        assert_eq!((lenient.len(), &*lenient[0].field), (1, field), "{line}");
        assert!(lenient[0].to_string().contains(expected), "{}", lenient[0]);
        let without = line.split(':').next().unwrap();
        let strict = validate_request(&request(without, line));
        assert_eq!((strict.len(), &*strict[0].field), (1, field), "{line}");
    }
    for (text, field) in [
        ("---\nstatus: pending\n", "frontmatter"),
        ("---\nnonsense\n---\nx", "frontmatter"),
        ("---\nstatus: done\nstatus: done\n---\nx", "status"),
        ("---\nstatus: done\n---\n\n# Request\n", "body"),
        ("", "body"),
    ] {
        let wrong = read_request(text).unwrap_err();
        assert_eq!(&*wrong[0].field, field, "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_judged(text in "\\PC{0,400}", front in "[-a-z:{}\\[\\]\"'&*!|> \\n#]{0,200}") {
        validate_skill(&text, None);
        validate_request(&text);
        let wrapped = format!("---\n{front}\n---\nbody");
        validate_skill(&wrapped, Some("a"));
        let strict = validate_request(&wrapped);
        if let Err(lenient) = read_request(&wrapped) {
            // Whatever the inbox refuses, the strict check names, too.
            let names = |field: &str| strict.iter().any(|it| it.field == field);
            assert!(lenient.iter().all(|it| names(&it.field)), "{wrapped}");
        }
    }

    #[test]
    fn what_is_written_reads_back(
        words in "(?s)[^\n\r].{0,80}[^\n\r\\s]",
        name in "[^\\s\n\r\u{0}]{1,20}",
        tag in "\\PC{0,10}x",
    ) {
        let mut request = full(&words);
        request.created_by = name;
        request.tags.push(tag);
        same(&request, &read_request(&render(&request)).unwrap());
    }
}
