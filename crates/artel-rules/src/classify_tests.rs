//! The classifier's table.

use std::fmt;

use proptest::prelude::*;

use super::*;

fn classifier(patterns: &[(Class, &str)]) -> Classifier {
    let patterns = patterns
        .iter()
        .map(|(class, text)| (*class, (*text).to_owned()))
        .collect();
    Classifier::new(Rules {
        patterns,
        ..Rules::default()
    })
    .unwrap()
}

#[track_caller]
fn check(symptom: Symptom, expected: Class) {
    assert_eq!(classifier(&[]).classify(&symptom), expected, "{symptom:?}");
}

#[test]
fn statuses_decide_first() {
    let of = |status| Symptom::of_text("permission denied, then a timeout").with_status(status);
    check(of(429), Class::RateLimit);
    for status in [500, 502, 503, 504] {
        check(of(status), Class::Degrading);
    }
    check(Symptom::of_text("").with_status(401), Class::UserFixable);
    check(Symptom::of_text("").with_status(403), Class::UserFixable);
    check(Symptom::of_text("").with_status(404), Class::Permanent);
    check(
        Symptom::of_text("request timeout").with_status(408),
        Class::Transient,
    );
}

#[test]
fn words_decide_where_there_is_nothing_better() {
    for (text, class) in [
        ("permission denied", Class::UserFixable),
        ("Missing API key", Class::UserFixable),
        ("set OPENAI_API_KEY", Class::UserFixable),
        ("invalid user credentials", Class::UserFixable),
        ("Quota exceeded for this month", Class::UserFixable),
        ("No such file or directory", Class::Permanent),
        ("model not found", Class::Permanent),
        ("parse error at line 3", Class::Permanent),
        ("connection reset by peer", Class::Transient),
        ("operation timed out", Class::Transient),
        ("Temporary failure in name resolution", Class::Transient),
        ("unexpected EOF", Class::Transient),
        ("Connection refused (os error 111)", Class::Degrading),
        ("geofencing", Class::Permanent),
        ("something odd", Class::Permanent),
        ("", Class::Permanent),
        // The first class wins where several would fit.
        (
            "permission denied: no such file: timeout",
            Class::UserFixable,
        ),
        ("no such file: timeout", Class::Permanent),
    ] {
        check(Symptom::of_text(text), class);
    }
}

#[test]
fn what_the_system_reported_wins_over_words() {
    let of = |kind, text: &str| Symptom {
        kind: Some(kind),
        ..Symptom::of_text(text)
    };
    check(
        of(io::ErrorKind::ConnectionRefused, "timeout"),
        Class::Degrading,
    );
    check(
        of(io::ErrorKind::ConnectionReset, "permission denied"),
        Class::Transient,
    );
    check(
        of(io::ErrorKind::PermissionDenied, "timeout"),
        Class::UserFixable,
    );
    check(of(io::ErrorKind::NotFound, "timeout"), Class::Permanent);
    check(of(io::ErrorKind::StorageFull, ""), Class::UserFixable);
    check(of(io::ErrorKind::Other, "timeout"), Class::Transient);
    check(
        of(io::ErrorKind::NotFound, "").with_status(503),
        Class::Degrading,
    );
}

#[test]
fn a_configured_pattern_is_honoured() {
    let classifier = classifier(&[
        (Class::Transient, "schema .* is being migrated"),
        (Class::RateLimit, "slow down"),
    ]);
    let class = |text: &str| classifier.classify(&Symptom::of_text(text));
    assert_eq!(class("schema users is being MIGRATED"), Class::Transient);
    assert_eq!(class("schema violation"), Class::Permanent);
    assert_eq!(
        class("please slow down, schema x is being migrated"),
        Class::RateLimit
    );
}

#[test]
fn statuses_can_be_configured() {
    let rules = Rules {
        rate_limit_statuses: vec![529],
        degrading_statuses: vec![429],
        ..Rules::default()
    };
    let classifier = Classifier::new(rules).unwrap();
    let class = |status| classifier.classify(&Symptom::default().with_status(status));
    assert_eq!(
        [class(529), class(429)],
        [Class::RateLimit, Class::Degrading]
    );
    assert_eq!(class(500), Class::Permanent);
}

#[test]
fn a_bad_pattern_is_refused_when_the_classifier_is_made() {
    for pattern in ["(", "a{1000}{1000}{1000}", r"(?P<x", r"\p{Nope}"] {
        let patterns = vec![(Class::Transient, pattern.to_owned())];
        let refused = Classifier::new(Rules {
            patterns,
            ..Rules::default()
        })
        .unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("the pattern `{pattern}` is not a regular expression")
        );
        assert!(refused.source().is_some());
    }
}

#[derive(Debug)]
struct Outer(io::Error);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call failed")
    }
}

impl Error for Outer {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

#[test]
fn wrapped_errors_are_unwrapped() {
    let typed = Outer(io::Error::from(io::ErrorKind::ConnectionRefused));
    check(Symptom::of_error(&typed), Class::Degrading);
    let worded = Outer(io::Error::other("connection reset"));
    let symptom = Symptom::of_error(&worded);
    assert_eq!(symptom.text, "the call failed: connection reset");
    check(symptom, Class::Transient);
    let twice = Outer(io::Error::other(Outer(io::Error::from(
        io::ErrorKind::NotConnected,
    ))));
    check(Symptom::of_error(&twice), Class::Transient);
}

proptest! {
    #[test]
    fn every_failure_has_a_class(text in ".{0,200}", status: Option<u16>) {
        let symptom = Symptom { status, ..Symptom::of_text(text) };
        let class = classifier(&[]).classify(&symptom);
        prop_assert_eq!(class == Class::RateLimit, status == Some(429));
    }
}
