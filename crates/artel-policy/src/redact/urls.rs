//! Passwords in URLs of any scheme. User and host stay visible.

use super::values;
use super::verdict::RedactionRuleOutcome;
use super::view::{SecretScanText, is_token};

const NAME: &str = "password in a url";

/// Longest user, password and host that are examined together, in bytes.
const LONGEST: usize = 400;

/// Judges the authority after `://` at `at`.
pub(super) fn authority(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let scheme = view.run_before(at, 20, |byte| {
        byte.is_ascii_alphanumeric() || b"+.-".contains(&byte)
    });
    if scheme == at {
        return RedactionRuleOutcome::Nothing;
    }
    let start = at + 3;
    let end = view.run(start, LONGEST, |byte| {
        is_authority(byte) && !b"/?#".contains(&byte)
    });
    let text = &view.text()[start..end];
    let end = match text.iter().rposition(|byte| *byte == b'@') {
        Some(sign) => start + sign,
        None => match unescaped(view, start, end) {
            Some(sign) => sign,
            None => return RedactionRuleOutcome::Nothing,
        },
    };
    let user = &view.text()[start..end];
    let Some(colon) = user.iter().position(|byte| *byte == b':') else {
        return lone_user(start, user);
    };
    let password = &user[colon + 1..];
    if password.is_empty() || is_shown_only(password) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start + colon + 1..end, NAME)
}

/// Judges the path after a webhook's host, where knowing the path is enough to send
/// messages.
pub(super) fn hook(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let path = |byte: u8| byte.is_ascii_alphanumeric() || b"/_-@.%".contains(&byte);
    let mut end = view.run(at + word, LONGEST, path);
    while end > at + word && matches!(view.before(end), Some(b'/' | b'.')) {
        end -= 1;
    }
    if end - at - word < 12 {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(at + word..end, "webhook url")
}

/// Judges `/webhooks/` at `at`. Only after `/api` or a version of it is it a chat webhook,
/// with a number and a token.
pub(super) fn chat_hook(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let version = view.run_before(at, 4, |byte| byte.is_ascii_alphanumeric());
    let api = match view.text()[version..at].first() {
        Some(b'v') => version - usize::from(version > 0),
        _ => at,
    };
    let number = view.run(at + word, 24, |byte| byte.is_ascii_digit());
    let numbered = number - at - word >= 12 && view.get(number) == Some(b'/');
    if view.text()[..api].ends_with(b"/api") && numbered {
        hook(view, at, word)
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges `user/password@host` after `thin:` at `at`.
pub(super) fn oracle(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let user = view.run(at + 5, 64, |byte| {
        byte.is_ascii_alphanumeric() || byte == b'_'
    });
    if user == at + 5 || view.get(user) != Some(b'/') {
        return RedactionRuleOutcome::Nothing;
    }
    let end = view.run(user + 1, 128, |byte| {
        is_authority(byte) && !b"@/".contains(&byte)
    });
    let password = &view.text()[user + 1..end];
    if password.is_empty() || view.get(end) != Some(b'@') || is_shown_only(password) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(user + 1..end, NAME)
}

/// Judges `user:password@tcp(host)` with `@tcp(` at `at`.
pub(super) fn go_dsn(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let start = view.run_before(at, 64, is_token);
    let user = &view.text()[start..at];
    let Some(colon) = user.iter().position(|byte| *byte == b':') else {
        return RedactionRuleOutcome::Nothing;
    };
    let password = &user[colon + 1..];
    if password.is_empty() || is_shown_only(password) {
        RedactionRuleOutcome::Nothing
    } else {
        RedactionRuleOutcome::Secret(start + colon + 1..at, NAME)
    }
}

/// Finds the `@` after a password with a slash. A password should be escaped in a URL, but
/// often is not, so text that cannot be a port counts as one if an `@` follows.
fn unescaped(view: &SecretScanText<'_>, start: usize, end: usize) -> Option<usize> {
    let text = &view.text()[start..end];
    let colon = text.iter().position(|byte| *byte == b':')?;
    let port = &text[colon + 1..];
    if port.is_empty() || port.iter().all(u8::is_ascii_digit) || text.starts_with(b"[") {
        return None;
    }
    let sign = view.run(end, 128, |byte| is_authority(byte) && byte != b'@');
    (view.get(sign) == Some(b'@')).then_some(sign)
}

/// Judges a user without a password, which may be a token.
fn lone_user(start: usize, user: &[u8]) -> RedactionRuleOutcome {
    let digits = user.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = user
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    let whole = user
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if user.len() < 20 || !whole || digits < 3 || letters < 3 {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..start + user.len(), "token in a url")
}

/// Returns whether the password is a template or a word that only says what goes there.
fn is_shown_only(password: &[u8]) -> bool {
    const WORDS: [&str; 9] = [
        "password", "passwd", "pass", "pwd", "pw", "secret", "token", "xxx", "changeme",
    ];
    let lower = String::from_utf8_lossy(password).to_lowercase();
    values::is_template(password)
        || WORDS.contains(&lower.as_str())
        || password.iter().all(|byte| b"*xX.".contains(byte))
        || lower.contains("your-")
        || lower.contains("your_")
        || lower.contains("...")
}

fn is_authority(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !byte.is_ascii_control() && !b"\"'`<>\\|".contains(&byte)
}
