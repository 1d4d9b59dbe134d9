//! The cases of `secrets.txt` and `harmless.txt`, with their random parts filled in.

use artel_types::REDACTED;

/// A text and what has to become of it.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) clean: String,
}

/// Returns texts with secrets.
pub(crate) fn secrets() -> Vec<Case> {
    let cases: Vec<Case> = lines(include_str!("secrets.txt")).map(case).collect();
    assert!(cases.iter().all(|case| case.text != case.clean));
    cases
}

/// Returns texts without.
pub(crate) fn harmless() -> Vec<Case> {
    lines(include_str!("harmless.txt")).map(case).collect()
}

/// Returns the secrets that are tokens of a vendor, which are known without their name.
pub(crate) fn tokens() -> Vec<String> {
    let cases = lines(include_str!("secrets.txt"));
    let vendors = cases.take_while(|(_, line)| !line.starts_with("cookie jar"));
    let bare = vendors
        .map(|(seed, line)| (seed, line.split(['«', '»']).nth(1).unwrap_or_default()))
        .filter(|(_, secret)| !secret.starts_with('{') && !secret.starts_with("T{"))
        .map(|(seed, secret)| fill(secret, seed));
    bare.collect()
}

fn lines(file: &'static str) -> impl Iterator<Item = (u64, &'static str)> {
    let cases = file.lines().filter(|line| !line.starts_with('#'));
    (1..).zip(cases)
}

fn case((seed, line): (u64, &str)) -> Case {
    let filled = fill(&line.replace('⏎', "\n").replace('␛', "\x1b"), seed);
    let mut clean = String::new();
    for (index, part) in filled.split(['«', '»']).enumerate() {
        clean.push_str(if index % 2 == 0 { part } else { REDACTED });
    }
    Case {
        text: filled.replace(['«', '»'], ""),
        clean,
    }
}

/// Replaces `{kind:length}` with random characters; other braces stay.
fn fill(template: &str, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut parts = template.split('{');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let random = part.split_once('}').and_then(|(inner, rest)| {
            let (kind, length) = inner.split_once(':')?;
            Some((random(kind, length.parse().ok()?, &mut state)?, rest))
        });
        match random {
            Some((random, rest)) => filled.extend([random.as_str(), rest]),
            None => filled.extend(["{", part]),
        }
    }
    filled
}

fn random(kind: &str, length: usize, state: &mut u64) -> Option<String> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let alphabet = match kind {
        "alnum" | "dash" | "b64" => ALPHABET.to_owned(),
        "hex" => "0123456789abcdef".to_owned(),
        "upper" => "ABCDEFGHJKLMNPQRSTUVWXYZ234567".to_owned(),
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789".to_owned(),
        "digit" => "123456789".to_owned(),
        _ => return None,
    };
    let mut text: Vec<u8> = (0..length)
        .map(|_| alphabet.as_bytes()[next(state) % alphabet.len()])
        .collect();
    // Real ones have all sorts of characters, so that these do too.
    for (index, byte) in text.iter_mut().enumerate() {
        *byte = match (kind, index % 9) {
            ("alnum" | "dash" | "b64", 2) => b'a' + (next(state) % 26) as u8,
            ("alnum" | "dash" | "b64", 3) => b'2' + (next(state) % 8) as u8,
            ("alnum" | "dash" | "b64", 4) => b'A' + (next(state) % 26) as u8,
            ("hex" | "lower", 1) => b'1' + (next(state) % 9) as u8,
            ("hex", 2) => b'a' + (next(state) % 6) as u8,
            ("dash", 7) if index + 1 < length => [b'-', b'_'][next(state) % 2],
            ("b64", 7) if index + 1 < length => [b'+', b'/'][next(state) % 2],
            _ => *byte,
        };
    }
    String::from_utf8(text).ok()
}

/// Returns the next number of a plain generator: the cases are the same on every run.
pub(crate) fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 33) as usize
}
