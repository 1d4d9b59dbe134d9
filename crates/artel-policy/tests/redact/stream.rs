//! Streams: every cut comes to the same as the whole, and little is held.

use proptest::prelude::*;

use super::{all, corpus};
use artel_policy::redact::redactor;
use artel_types::{REDACTED, Secret, SecretRedactor};

fn through(redactor: &SecretRedactor, text: &[u8], cuts: &[usize]) -> Vec<u8> {
    let mut stream = redactor.stream();
    let (mut shown, mut from) = (Vec::new(), 0);
    for cut in cuts.iter().copied().chain([text.len()]) {
        shown.extend_from_slice(&stream.push_bytes(&text[from..cut]));
        from = cut;
    }
    shown.extend(stream.finish_bytes());
    shown
}

#[test]
fn a_secret_cut_at_any_byte_goes() {
    let all = all();
    for case in corpus::secrets().iter().chain(&corpus::harmless()) {
        let text = format!("é one\n{}\nand more", case.text);
        let clean = all.redact(&text).into_owned();
        for cut in 0..=text.len() {
            let shown = through(&all, text.as_bytes(), &[cut]);
            assert_eq!(String::from_utf8_lossy(&shown), clean, "cut at {cut}");
        }
        let each: Vec<usize> = (0..text.len()).collect();
        let shown = through(&all, text.as_bytes(), &each);
        assert_eq!(String::from_utf8_lossy(&shown), clean, "cut at each byte");
    }
}

#[test]
fn long_text_in_any_pieces_comes_to_the_same() {
    let cases = corpus::secrets().into_iter().chain(corpus::harmless());
    let text: String = cases.map(|case| case.text + "\n").collect();
    let whole = all().redact_bytes(text.as_bytes()).into_owned();
    let mut state = 7;
    for longest in [1, 3, 17, 150, 1500, 9000] {
        let (mut cuts, mut at) = (Vec::new(), 0);
        while at < text.len() {
            cuts.push(at);
            at += 1 + corpus::next(&mut state) % longest;
        }
        let shown = through(&all(), text.as_bytes(), &cuts);
        assert!(shown == whole, "pieces of up to {longest} bytes");
    }
}

#[test]
fn text_is_shown_while_it_comes() {
    let mut stream = all().stream();
    assert_eq!(
        stream.push("The quick brown fox jum"),
        "The quick brown fox "
    );
    assert_eq!(stream.push("ps over the la"), "jumps over the");
    assert_eq!(stream.finish(), " la");
}

#[test]
fn a_key_without_end_is_swallowed_and_little_is_held() {
    let line = format!("{}\n", "MIIEowIBAAKCAQEA5fak".repeat(3));
    let mut stream = all().stream();
    let mut shown = stream
        .push("a\n-----BEGIN RSA PRIVATE KEY-----\n")
        .into_owned();
    for _ in 0..20_000 {
        shown.push_str(&stream.push(&line));
        assert!(held(&stream) < 4096);
    }
    shown.push_str(&stream.push("-----END RSA PRIVATE KEY-----\nb\n"));
    shown.push_str(&stream.finish());
    assert_eq!(shown, format!("a\n{REDACTED}\nb\n"));
}

#[test]
fn colours_without_end_are_shown_and_little_is_held() {
    let mut stream = all().stream();
    let mut shown = stream.push("password=a1b2c3d4").into_owned();
    for _ in 0..20_000 {
        shown.push_str(&stream.push("\x1b[0m"));
        assert!(held(&stream) < 4096, "{stream:?}");
    }
    shown.push_str(&stream.finish());
    assert_eq!(
        shown,
        format!("password={REDACTED}{}", "\x1b[0m".repeat(20_000))
    );
}

#[test]
fn a_value_without_end_is_swallowed_and_little_is_held() {
    for (before, part, after) in [
        ("password=", "a1b2c3d4", " b"),
        ("password=\"", "a1b2c3d4", "\" b"),
        ("Authorization: Bearer ", "a1b2c3d4", " b"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIi", "a1b2c3d4", " b"),
        ("ghp_", "a1b2c3d4", " b"),
    ] {
        let mut stream = all().stream();
        let mut shown = stream.push(before).into_owned();
        for _ in 0..20_000 {
            shown.push_str(&stream.push(part));
            assert!(held(&stream) < 4096, "{stream:?}");
        }
        shown.push_str(&stream.push(after));
        shown.push_str(&stream.finish());
        assert!(
            shown.contains(REDACTED) && !shown.contains(part),
            "{shown:.200}"
        );
        assert!(shown.ends_with(" b") || shown.ends_with("\" b"), "{before}");
    }
}

/// A stream says in its debug form how much it holds.
fn held(stream: &artel_types::SecretStreamRedactor) -> usize {
    let said = format!("{stream:?}");
    let digits: String = said.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Pieces that rules look at, put together in any order.
fn fragments() -> impl Strategy<Value = Vec<u8>> {
    let words: &'static [&'static str] = &[
        "password",
        "token",
        "api_key",
        "Key",
        "secret",
        "=",
        ": ",
        " = ",
        "\"",
        "'",
        "\\n",
        "\n",
        " ",
        "hunter2",
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4",
        "ghp_",
        "sk-",
        "eyJ",
        ".",
        "-----",
        "---- ",
        "BEGIN ",
        "END ",
        "PRIVATE KEY",
        "://",
        "user:",
        "@",
        "host",
        "Bearer ",
        "Basic ",
        "Cookie: ",
        "sid=",
        "; ",
        "&",
        "curl",
        " -u ",
        " -p",
        "<",
        ">",
        "/",
        "--",
        "é",
        "\u{1F600}",
        "[REDACTED]",
        "${X}",
        "knownvalue",
        "known",
        "value: ",
        "name",
        "Q~",
        "-us",
        ":AA",
        "xxxx",
        "\x1b[31m",
        "\x1b[0m",
        "\x1b",
        "[1;2",
        "%2D",
        "%5f",
        "%3D",
        "%",
        "correct-horse-battery",
        "\"d\":",
        "fm2_",
        "(",
        ")",
        ",",
    ];
    let word = prop_oneof![
        8 => proptest::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 1..6),
        1 => "[a-zA-Z0-9]{1,40}".prop_map(String::into_bytes),
    ];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_cuts_come_to_the_same(text in fragments(), seed in any::<u64>()) {
        let known = [Secret::new("knownvalue"), Secret::new("valueknown")];
        let redactor = redactor(&known);
        let whole = redactor.redact_bytes(&text).into_owned();
        let mut state = seed | 1;
        let mut cuts: Vec<usize> =
            (0..corpus::next(&mut state) % 8).map(|_| corpus::next(&mut state) % (text.len() + 1)).collect();
        cuts.sort_unstable();
        let shown = through(&redactor, &text, &cuts);
        prop_assert_eq!(String::from_utf8_lossy(&shown), String::from_utf8_lossy(&whole), "{:?}", cuts);
        let each: Vec<usize> = (0..text.len()).collect();
        prop_assert_eq!(through(&redactor, &text, &each), whole);
    }

    #[test]
    fn characters_stay_whole(text in "(password=|token: |é|x1|\u{1F600}|\"| ){0,30}") {
        let clean = all().redact(&text).into_owned();
        prop_assert!(!clean.contains(char::REPLACEMENT_CHARACTER));
        let mut stream = all().stream();
        let mut shown: String = text.chars().map(|char| stream.push(&char.to_string()).into_owned()).collect();
        shown.push_str(&stream.finish());
        prop_assert_eq!(shown, clean);
    }

    #[test]
    fn prose_stays(words in proptest::collection::vec("[a-z]{1,9}[,.]?", 0..60)) {
        let text = words.join(" ");
        prop_assert_eq!(&*all().redact(&text), &*text);
    }

    #[test]
    fn what_was_redacted_stays_redacted(text in fragments()) {
        let once = all().redact_bytes(&text).into_owned();
        let twice = all().redact_bytes(&once).into_owned();
        // A mark may close a gap, so more may go; what is left is never more than before.
        prop_assert!(twice.len() <= once.len() + REDACTED.len() * 4);
        prop_assert_eq!(all().redact_bytes(&twice).into_owned(), twice);
    }
}
