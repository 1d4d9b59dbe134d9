//! Redaction by format: what looks like a secret goes, its name stays, harmless text is untouched,
//! and a stream comes to the same as the whole, wherever it is cut.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on may end with a panic"
)]

mod batch;
mod corpus;
mod stream;

use artel_policy::redact::{find_in_json, find_secret_in, formats_with_fields, redactor};
use artel_types::{REDACTED, Secret, SecretRedactor};
use corpus::Case;

fn all() -> SecretRedactor {
    redactor([])
}

#[test]
fn every_secret_goes_and_everything_around_it_stays() {
    let cases = corpus::secrets();
    assert!(cases.len() >= 600, "{} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(difference).collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn harmless_text_stays() {
    let cases = corpus::harmless();
    assert!(cases.len() >= 500, "{} cases", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(difference).collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_token_goes_wherever_it_stands() {
    let carriers: [(&str, &str); 12] = [
        ("", ""),
        ("MY_SETTING=", "\n"),
        ("export SETTING=\"", "\"\n"),
        ("{\"a\": \"", "\", \"b\": 1}"),
        ("a:\n  - ", "\n  - next\n"),
        ("https://h.example/p?x=1&v=", "&y=2"),
        ("X-Header: ", "\r\nNext: 1\r\n"),
        ("2030-01-01 ERROR [main] bad value ", " (retrying)"),
        ("<v>", "</v>"),
        ("text \\n", "\\n more"),
        ("`", "`"),
        ("see ", ", then go on"),
    ];
    let mut wrong = Vec::new();
    for token in corpus::tokens() {
        for (before, after) in carriers {
            let text = format!("{before}{token}{after}");
            let clean = all().redact(&text).into_owned();
            if clean != format!("{before}{REDACTED}{after}") {
                wrong.push(format!("{text:?}\n  became {clean:?}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn redacting_twice_is_redacting_once() {
    for case in corpus::secrets() {
        let once = all().redact(&case.text).into_owned();
        assert_eq!(all().redact(&once), once);
    }
}

#[test]
fn known_values_and_formats_work_together() {
    let key = Secret::new("blue-harbour-value");
    let redactor = redactor([&key]);
    let text = "a blue-harbour-value, password=blue-harbour-value1 and b1ue DB_PASSWORD=hunter2";
    assert_eq!(
        redactor.redact(text),
        "a [REDACTED], password=[REDACTED] and b1ue DB_PASSWORD=[REDACTED]"
    );
}

#[test]
fn known_values_go_in_every_url_form() {
    let key = Secret::new("a-b_c d/e+f=g&h");
    for form in [
        "a-b_c%20d%2Fe%2Bf%3Dg%26h",
        "a-b_c%20d%2fe%2bf%3dg%26h",
        "a-b_c+d%2Fe%2Bf%3Dg%26h",
        "a%2Db%5Fc%20d%2Fe%2Bf%3Dg%26h",
        "a%2db%5fc%20d%2fe%2bf%3dg%26h",
        "a%2Db%5fc%20d%2fe%2Bf%3dg%26h",
        "a-b_c%20d%2Fe%2bf%3Dg%26h",
        "a-b_c%20d/e+f=g&h",
        "a-b_c d/e+f=g&amp;h",
        "a-b_c d\\/e+f=g&h",
        "a-b_c d/e+f=g\\u0026h",
    ] {
        let text = format!("x {form} y");
        let redactor = SecretRedactor::of_known_values([&key]);
        assert_eq!(redactor.redact(&text), "x [REDACTED] y", "{form}");
    }
}

#[test]
fn a_known_value_may_stand_behind_a_percent_sign() {
    let key = Secret::new("abcdefab-c0ffee");
    let redactor = redactor([&key]);
    let line = "mount -o user%abcdefab-c0ffee and %7eabcdefab%2dc0ffee and %7e";
    let clean = "mount -o user%[REDACTED] and %7e[REDACTED] and %7e";
    assert_eq!(redactor.redact(line), clean);
    for cut in 0..line.len() {
        let mut stream = redactor.stream();
        let mut shown = stream.push(&line[..cut]).into_owned();
        shown.push_str(&stream.push(&line[cut..]));
        shown.push_str(&stream.finish());
        assert_eq!(shown, clean, "cut at {cut}");
    }
}

#[test]
fn colours_hide_nothing_and_stay() {
    let key = format!("gh{}_{}", "p", "a1B2".repeat(9));
    let (one, two) = key.split_at(11);
    for (text, clean) in [
        (format!("\x1b[31m{key}\x1b[0m"), "\x1b[31m[REDACTED]\x1b[0m"),
        (
            format!("\x1b[31m{one}\x1b[0m\x1b[K{two}\x1b(B"),
            "\x1b[31m[REDACTED]\x1b(B",
        ),
        (format!("red\x1b[0m{key} "), "red\x1b[0m[REDACTED] "),
        (format!(r"\u001b[1;31m{key}\n"), r"\u001b[1;31m[REDACTED]\n"),
        (
            "\x1b[31mno\x1b[0m secret\x1b".to_owned(),
            "\x1b[31mno\x1b[0m secret\x1b",
        ),
    ] {
        assert_eq!(all().redact(&text), clean);
        let found = find_secret_in(&text);
        assert_eq!(found.len(), usize::from(clean.contains(REDACTED)));
    }
}

#[test]
fn configured_fields_go_whatever_their_value() {
    let redactor = SecretRedactor::none().with_formats(formats_with_fields(["patient-id", "iban"]));
    for (text, clean) in [
        ("patient_id: 12\n", "patient_id: [REDACTED]\n"),
        ("\"patientId\": \"Ann\"", "\"patientId\": \"[REDACTED]\""),
        ("IBAN=DE00 1", "IBAN=[REDACTED] 1"),
        ("patient: 12", "patient: 12"),
    ] {
        assert_eq!(redactor.redact(text), clean);
    }
}

#[test]
fn json_is_judged_by_its_names_and_stays_json() {
    let text = serde_json::json!({
        "password": 12_345_678, "token": "ab12cd34ef56", "max_tokens": 5,
        "env": [{"name": "DB_PASSWORD", "value": "hunter2"}],
        "note": "Authorization: Basic ZGVwbG95OmNvcnJlY3Rob3JzZQ==",
    });
    let clean = all().redact_json(&text.to_string()).into_owned();
    let clean: serde_json::Value = serde_json::from_str(&clean).unwrap();
    assert_eq!(
        clean,
        serde_json::json!({
            "password": REDACTED, "token": REDACTED, "max_tokens": 5,
            "env": [{"name": "DB_PASSWORD", "value": REDACTED}],
            "note": "Authorization: Basic [REDACTED]",
        })
    );
}

#[test]
fn what_was_found_is_named_and_not_repeated() {
    let key = format!("gh{}_{}", "p", "a1B2".repeat(9));
    let found = find_secret_in(&format!("look: {key}!"));
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].name, found[0].range.clone()),
        ("github token", 6..46)
    );
    let value = serde_json::json!({"a": [{"password": "hunter2"}, key.as_str()], key.as_str(): 1});
    let found = find_in_json(&value);
    assert!(!format!("{found:?}").contains(&key));
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["/a/0/password", "/a/1", "/*"]);
    assert!(find_in_json(&serde_json::json!({"path": "src/lib.rs", "limit": 10})).is_empty());
}

fn difference(case: &Case) -> Option<String> {
    let clean = all().redact(&case.text).into_owned();
    (clean != case.clean).then(|| format!("{:?}\n  became {clean:?}", case.text))
}
