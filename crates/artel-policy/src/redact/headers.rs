//! Secrets in HTTP headers: bearer tokens, user and password in base64, cookies.

use super::pem::decode_base64;
use super::verdict::{LongSecretEnding, RedactionRuleOutcome};
use super::view::{SecretScanText, contains, is_base64, is_token};

/// Longest token that is held, in bytes. A longer one is hidden while it is read.
const LONGEST: usize = 512;

/// Judges the token after `bearer` at `at`.
pub(super) fn bearer(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let Some(start) = credentials(view, at, b"bearer") else {
        return RedactionRuleOutcome::Nothing;
    };
    let end = view.run(start, LONGEST, |byte| is_token(byte) && byte != b':');
    let token = &view.text()[start..end];
    let digits = token.iter().any(u8::is_ascii_digit);
    let letters = token.iter().any(u8::is_ascii_alphabetic);
    let capital = token.iter().skip(1).any(u8::is_ascii_uppercase);
    let needed = if is_header(view, at) {
        token.len() >= 6 && (digits || token.len() >= 16)
    } else {
        token.len() >= 8 && (digits && letters || capital && token.len() >= 20)
    };
    let filler = token.iter().all(|byte| b"xX.*-_0".contains(byte));
    if !needed || filler || says_placeholder(token) {
        return RedactionRuleOutcome::Nothing;
    }
    verdict(start, end, "bearer token")
}

/// Judges `basic` at `at`: user and password in base64 must follow.
pub(super) fn basic(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let Some(start) = credentials(view, at, b"basic") else {
        return RedactionRuleOutcome::Nothing;
    };
    let end = view.run(start, LONGEST, is_base64);
    let text = decode_base64(&view.text()[start..end]);
    let pair = text.contains(&b':') && text.iter().all(|byte| *byte >= b' ');
    let least = if is_header(view, at) { 4 } else { 8 };
    let short = end - start < 8 && (!text.is_ascii() || view.get(end) == Some(b'('));
    if end - start < least || !pair || short {
        return RedactionRuleOutcome::Nothing;
    }
    verdict(start, end, "basic authorization")
}

/// Judges `cookie` at `at`, by its first value if that opens a session.
pub(super) fn cookie(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let mut here = at + 6;
    here += usize::from(matches!(view.get(here), Some(b'"' | b'\'')));
    let option = view.text()[..at].ends_with(b"--") && matches!(view.get(here), Some(b' ' | b'='));
    if view.get(here) != Some(b':') && !option {
        return RedactionRuleOutcome::Nothing;
    }
    let open = view.run(here + 1, 8, |byte| b" \t\"'".contains(&byte));
    session(view, open)
}

/// Judges the next cookie after `; ` at `at`, if the line holds cookies.
pub(super) fn next_cookie(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let verdict = session(view, at + 2);
    if verdict == RedactionRuleOutcome::Nothing {
        return verdict;
    }
    let line = view.line_before(at).to_ascii_lowercase();
    if contains(&line, b"cookie:") || contains(&line, b"cookie\"") {
        verdict
    } else {
        RedactionRuleOutcome::Nothing
    }
}

fn session(view: &SecretScanText<'_>, start: usize) -> RedactionRuleOutcome {
    let is_part = |byte: u8| !byte.is_ascii_whitespace() && !b"\"';,=\\".contains(&byte);
    let equals = view.run(start, 64, is_part);
    if view.get(equals) != Some(b'=') || equals == start {
        return RedactionRuleOutcome::Nothing;
    }
    let is_value = |byte: u8| is_part(byte) || byte == b'=';
    let end = view.run(equals + 1, LONGEST, is_value);
    let name = view.text()[start..equals].to_ascii_lowercase();
    let value = &view.text()[equals + 1..end];
    const SESSION: [&[u8]; 8] = [
        b"sess",
        b"sid",
        b"token",
        b"auth",
        b"jwt",
        b"csrf",
        b"xsrf",
        b"remember",
    ];
    let named = SESSION.iter().any(|word| contains(&name, word));
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = value
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let random = value.len() >= 16 && digits >= 2 && letters >= 2;
    let needed = named && value.len() >= 6 || random;
    let attribute =
        [&b"expires"[..], b"path", b"domain", b"max-age", b"samesite"].contains(&name.as_slice());
    if !needed || attribute || super::values::is_template(value) || contains(value, b"xxxx") {
        return RedactionRuleOutcome::Nothing;
    }
    verdict_until(equals + 1, end, LongSecretEnding::Word, "cookie")
}

fn verdict(start: usize, end: usize, name: &'static str) -> RedactionRuleOutcome {
    verdict_until(start, end, LongSecretEnding::Token, name)
}

fn verdict_until(
    start: usize,
    end: usize,
    ending: LongSecretEnding,
    name: &'static str,
) -> RedactionRuleOutcome {
    if end - start == LONGEST {
        RedactionRuleOutcome::Long(start..end, ending, name)
    } else {
        RedactionRuleOutcome::Secret(start..end, name)
    }
}

/// Returns where the credentials after a scheme's name begin.
fn credentials(view: &SecretScanText<'_>, at: usize, scheme: &[u8]) -> Option<usize> {
    let end = at + scheme.len();
    if !view.begins_word(at) {
        return None;
    }
    let start = if view.starts(end, b"%20") {
        end + 3
    } else {
        view.run(end, 8, |byte| b" \t:=\"'".contains(&byte))
    };
    (start > end).then_some(start)
}

fn is_header(view: &SecretScanText<'_>, at: usize) -> bool {
    let line = view.line_before(at).to_ascii_lowercase();
    contains(&line, b"authorization")
}

fn says_placeholder(token: &[u8]) -> bool {
    let lower = token.to_ascii_lowercase();
    [&b"your"[..], b"xxxx", b"...", b"token_here", b"placeholder"]
        .iter()
        .any(|word| contains(&lower, word))
}
