//! Frontmatter by the rules that are promised, in the batch command and in the inbox: one reader.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::support::House;

/// What is added to a whole skill or request, and the fields that are named; none is well.
type Case<'t> = (&'t str, &'t [&'t str]);

const SKILLS: &[Case<'static>] = &[
    ("", &[]),
    ("license: MIT\nmetadata: {version: 1.0}", &[]),
    ("allowed-tools: Read, Bash(git log:*)", &[]),
    ("something-new: {a: [1, 2]}", &[]),
    ("allowed-tools: bash(ls:*)", &["allowed-tools"]),
    ("allowed-tools: Bash(:*)", &["allowed-tools"]),
    ("allowed-tools: Bash()", &["allowed-tools"]),
    ("allowed-tools: Read, Run_Tests", &["allowed-tools"]),
    ("allowed-tools: Edit(./)", &["allowed-tools"]),
    ("name: again", &["name"]),
    ("license: MIT\nlicense: X", &["license"]),
    ("metadata: {a: b, a: c}", &["metadata"]),
    ("max-iterations: 0", &["max-iterations"]),
    ("max-iterations: 1e2", &["max-iterations"]),
    ("timeout-per-iteration: 30", &["timeout-per-iteration"]),
    ("user-invocable: \"true\"", &["user-invocable"]),
    ("secrets: [\"../key\"]", &["secrets"]),
    ("context: {fork: true}", &["context"]),
    ("execution-mode: Simple", &["execution-mode"]),
    ("agent: two words", &["agent"]),
    ("a: &x 1\nb: *x", &["frontmatter"]),
    ("a: !!python/object/apply:os.system [id]", &["frontmatter"]),
    ("%YAML 1.1", &["frontmatter"]),
    ("a: \"open", &["frontmatter"]),
    ("? [a, b]\n: c", &["frontmatter"]),
];

const REQUESTS: &[Case<'static>] = &[
    ("", &[]),
    ("priority: critical\ntags: [a, b]", &[]),
    ("portal: calc", &[]),
    ("mine: {a: b}", &[]),
    ("agent: default\nagent: other", &["agent"]),
    ("priority: urgent", &["priority"]),
    ("priority: [low]", &["priority"]),
    ("priority: \"\"", &["priority"]),
    ("portal: ../calc", &["portal"]),
    ("portal: /etc/passwd", &["portal"]),
    ("portal: ~/calc", &["portal"]),
    ("portal: ..", &["portal"]),
    ("flow: ../../Flows/x", &["flow"]),
    ("flow: a\\b", &["flow"]),
    ("skill: /bin/sh", &["skill"]),
    ("skills: [pdf, ../x]", &["skills"]),
    ("tags: a", &["tags"]),
    ("tags: [[a]]", &["tags"]),
    ("tags: {a: b}", &["tags"]),
    ("verify: always", &["verify"]),
    (
        "trace-id: 3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d",
        &["trace-id"],
    ),
    ("a: &x [*x]", &["frontmatter"]),
    ("a: [1", &["frontmatter"]),
    ("- a", &["frontmatter"]),
];

/// The fields that every request has, each with values that it may not have.
const REQUIRED: &[(&str, &str, &[&str])] = &[
    (
        "trace_id",
        "3f0c9a52-7d1e-4b8a-9c40-5e6f7a8b9c0d",
        &["x", "3f0c9a52-7d1e-1b8a-9c40-5e6f7a8b9c0d", "{a: b}"],
    ),
    (
        "created",
        "2026-11-15T08:30:00Z",
        &["2026-11-15", "2026-02-30T08:30:00Z", "now"],
    ),
    ("status", "pending", &["Pending", "[pending]"]),
    ("agent", "default", &["../x", "a/b", ".", "\"a\\u202eb\""]),
    ("source", "file", &["web", "CLI"]),
    ("created_by", "ada", &["\"\"", "[ada]"]),
];

fn skill(lines: &str) -> String {
    format!("---\nname: pdf\ndescription: Reads PDF files.\n{lines}\n---\n\nDo it.\n")
}

fn request(without: &str, lines: &str) -> String {
    let mut text = String::from("---\n");
    for (field, value, _) in REQUIRED.iter().filter(|(field, ..)| *field != without) {
        writeln!(text, "{field}: {value}").unwrap();
    }
    format!("{text}{lines}\n---\n\nAdd rate limiting to calc.py.\n")
}

/// Every case: its kind, its text, and the fields to be named.
fn cases() -> Vec<(&'static str, String, Vec<String>)> {
    let named = |fields: &[&str]| fields.iter().map(|it| (*it).to_owned()).collect();
    let mut all: Vec<(&str, String, Vec<String>)> = Vec::new();
    for (lines, fields) in SKILLS {
        all.push(("skill", skill(lines), named(fields)));
    }
    for (lines, fields) in REQUESTS {
        all.push(("request", request("", lines), named(fields)));
    }
    for (field, _, bad) in REQUIRED {
        all.push(("request", request(field, "mine: 1"), named(&[field])));
        for value in *bad {
            let text = request(field, &format!("{field}: {value}"));
            all.push(("request", text, named(&[field])));
        }
    }
    all
}

/// Whole skills, the folder that they lie in, and the fields to be named.
const WHOLE: &[(&str, &str, &[&str])] = &[
    ("---\nname: pdf\ndescription: x\n---\nDo it.\n", "pdf", &[]),
    (
        "---\nname: pdf\ndescription: x\n---\nDo it.\n",
        "skills/pdf",
        &[],
    ),
    (
        "---\nname: pdf\ndescription: x\n---\nDo it.\n",
        "docx",
        &["name"],
    ),
    (
        "---\nname: pdf\ndescription: x\n---\nDo it.\n",
        "PDF",
        &["name"],
    ),
    ("---\ndescription: x\n---\nDo it.\n", "pdf", &["name"]),
    ("---\nname: pdf\n---\nDo it.\n", "pdf", &["description"]),
    (
        "---\nname: pdf\ndescription: x\n---\nDo\0it.\n",
        "pdf",
        &["body"],
    ),
];

#[test]
fn what_a_skill_lacks_and_where_it_lies_is_named() {
    let house = House::empty();
    let line = |(text, dir, _): &(&str, &str, &[&str])| json!({ "kind": "skill", "text": text, "dir": dir });
    let lines: Vec<Value> = WHOLE.iter().map(line).collect();
    for ((text, dir, fields), answer) in WHOLE.iter().zip(batch(&house, &lines)) {
        let errors = answer["errors"].as_array().unwrap();
        let named: Vec<&str> = errors
            .iter()
            .filter_map(|it| it["field"].as_str())
            .collect();
        assert_eq!(named, *fields, "{dir}: {text}\n{answer}");
    }
}

fn batch(house: &House, lines: &[Value]) -> Vec<Value> {
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let seen = house
        .artel(["skill", "validate", "--batch"])
        .given(&input)
        .run();
    let answers: Vec<Value> = seen
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), lines.len(), "{}", seen.err);
    answers
}

#[test]
fn each_case_of_a_batch_names_its_field() {
    let house = House::empty();
    let cases = cases();
    assert!(cases.len() >= 60, "{}", cases.len());
    let lines: Vec<Value> = cases
        .iter()
        .map(|(kind, text, _)| json!({ "kind": kind, "text": text }))
        .collect();
    for ((_, text, fields), answer) in cases.iter().zip(batch(&house, &lines)) {
        let errors = answer["errors"].as_array().unwrap();
        let named: Vec<&str> = errors
            .iter()
            .map(|it| it["field"].as_str().unwrap())
            .collect();
        assert_eq!(named, *fields, "{text}\n{answer}");
        assert_eq!(answer["ok"], fields.is_empty(), "{answer}");
    }
}

#[test]
fn the_inbox_refuses_what_the_batch_refuses_and_names_the_same_field() {
    let house = House::new();
    let project = house.folder("calc");
    house
        .artel(["portal", "add"])
        .words([&project])
        .run()
        .expect(0);
    let cases = cases();
    let has = |text: &str, field: &str| text.contains(&format!("\n{field}:"));
    let is_missing = |text: &str| REQUIRED.iter().any(|(field, ..)| !has(text, field));
    let cases: Vec<_> = cases
        .iter()
        .filter(|(kind, text, fields)| {
            *kind == "request" && !fields.is_empty() && !is_missing(text)
        })
        .collect();
    assert!(cases.len() >= 35, "{}", cases.len());
    for (at, (_, text, _)) in cases.iter().enumerate() {
        fs::write(
            house.workshop.join(format!("Inbox/Requests/r{at:02}.md")),
            text,
        )
        .unwrap();
    }
    house.artel(["inbox", "scan", "--no-plan"]).run().expect(1);
    let out = house
        .ok(["journal", "export", "--kind", "request.refused"])
        .out;
    let refused: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (at, (_, text, fields)) in cases.iter().enumerate() {
        let file = format!("Inbox/Requests/r{at:02}.md");
        let said = refused.iter().find(|it| it["payload"]["file"] == *file);
        let said = said.unwrap_or_else(|| panic!("taken: {text}"));
        assert_eq!(said["payload"]["field"], *fields[0], "{text}\n{said}");
        let note = house
            .workshop
            .join(format!("Inbox/Requests/r{at:02}.problem.md"));
        assert!(
            fs::read_to_string(note).unwrap().contains(&*fields[0]),
            "{text}"
        );
    }
    assert_eq!(out.lines().count(), cases.len());
    assert!(!house.kinds().iter().any(|kind| kind == "request.created"));
}

/// Puts a request with these lines into the inbox, and returns the field that it was refused for and
/// the note beside it.
fn refused_request(lines: &str) -> (Value, String) {
    let house = House::new();
    let project = house.folder("calc");
    let add = house.artel(["portal", "add"]).words([&project]);
    add.run().expect(0);
    let requests = house.workshop.join("Inbox/Requests");
    let text = request("", lines);
    fs::write(requests.join("review.md"), &text).unwrap();
    house.artel(["inbox", "scan", "--no-plan"]).run().expect(1);
    let query = ["journal", "query", "--kind", "request.refused", "--json"];
    let refused = house.ok(query).json();
    assert_eq!(refused.as_array().unwrap().len(), 1, "{refused}");
    let payload: Value = match &refused[0]["payload"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        other => other.clone(),
    };
    assert_eq!(payload["file"], "Inbox/Requests/review.md");
    assert_eq!(
        fs::read_to_string(requests.join("review.md")).unwrap(),
        text
    );
    assert!(!house.kinds().iter().any(|kind| kind == "request.created"));
    let note = fs::read_to_string(requests.join("review.problem.md")).unwrap();
    (payload["field"].clone(), note)
}

#[test]
fn a_request_for_a_flow_is_refused_with_a_note_and_not_filed() {
    let (field, note) = refused_request("flow: code-review");
    assert_eq!(field, "flow");
    assert!(note.contains("flows are not built yet"), "{note}");
}

#[test]
fn a_request_that_names_skills_is_refused_with_a_note_and_not_filed() {
    for (lines, named) in [
        ("skill: csv-report", "skill"),
        ("skills: [csv-report, pdf]", "skills"),
        ("skills: csv-report, pdf", "skills"),
    ] {
        let (field, note) = refused_request(lines);
        assert_eq!(field, named);
        assert!(note.contains("requests cannot name skills yet"), "{note}");
        assert!(note.contains("artel run csv-report"), "{note}");
        // The batch judges form, and the form is good.
        let line = json!({ "kind": "request", "text": request("", lines) });
        let answer = &batch(&House::empty(), &[line])[0];
        assert_eq!(answer["errors"], json!([]), "{answer}");
    }
}

#[test]
fn an_empty_body_is_a_warning_as_the_reference_has_it() {
    let house = House::new();
    let blank = "---\nname: pdf\ndescription: Reads PDF files.\n---\n \n";
    let asked = request("", "").replace("Add rate limiting to calc.py.", "");
    let lines = [
        json!({ "kind": "skill", "text": blank }),
        json!({ "kind": "request", "text": asked }),
    ];
    for answer in batch(&house, &lines) {
        assert_eq!(
            (&answer["ok"], answer["errors"].as_array().unwrap().len()),
            (&json!(true), 0)
        );
        assert_eq!(answer["warnings"][0]["field"], "body", "{answer}");
    }
    let folder = house.workshop.join("Skills/pdf");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), blank).unwrap();
    house
        .artel(["skill", "validate"])
        .words([&folder])
        .run()
        .expect(0)
        .says("no text after the frontmatter");
    house.ok(["skill", "list"]).says("pdf");
}

#[test]
fn hostile_frontmatter_is_answered_shortly_and_line_by_line() {
    let house = House::empty();
    let big = |piece: &str| piece.repeat(60_000 / piece.len());
    let pieces = [
        "[", "{", "- ", "? ", ": ", "a: ", "\"", "'", "|", "&a ", "*a ", "!!x ", "%", "\u{202e}",
        "\t", "\u{0}", "#", "a: [", "- - ", "\r", "\u{feff}", "---", "x: {y: ", "'\"'\"", "\\",
        "a: b: ", "k: >\n ", "- ? - ", "{a: [", "~",
    ];
    let mut lines: Vec<Value> = Vec::new();
    for piece in pieces {
        for kind in ["skill", "request"] {
            for front in [
                big(piece),
                format!("a: {}", big(piece)),
                big(&format!("{piece}\n")),
            ] {
                let text = format!("---\n{front}\n---\nbody");
                lines.push(json!({ "kind": kind, "text": text }));
            }
        }
    }
    lines.push(json!({ "kind": "x".repeat(100_000), "text": "" }));
    lines.push(
        json!({ "kind": "skill", "text": skill(&format!("{0}: 1\n{0}: 2", "k".repeat(9_000))) }),
    );
    for (line, answer) in lines.iter().zip(batch(&house, &lines)) {
        let shown: String = line.to_string().chars().take(80).collect();
        assert_eq!(answer["ok"], false, "{shown}");
        for error in answer["errors"].as_array().unwrap() {
            for part in ["field", "message"] {
                let text = error[part].as_str().unwrap();
                assert!(
                    !text.is_empty() && text.chars().count() <= 300,
                    "{shown}: {text}"
                );
                let longest = text.split(' ').map(|word| word.chars().count()).max();
                assert!(longest <= Some(200), "{shown}: {text}");
            }
        }
    }
}
