//! Short options of commands that take a password. Their meaning depends on the command.

use super::values;
use super::verdict::RedactionRuleOutcome;
use super::view::{SecretScanText, contains};

const NAME: &str = "password on a command line";

/// A command, its option, and how the password follows it.
const OPTIONS: [(&[u8], u8, PasswordOptionForm); 20] = [
    (b"curl", b'u', PasswordOptionForm::UserAndPassword),
    (b"curl", b'U', PasswordOptionForm::UserAndPassword),
    (b"wget", b'u', PasswordOptionForm::UserAndPassword),
    (b"http", b'a', PasswordOptionForm::UserAndPassword),
    (b"mysql", b'p', PasswordOptionForm::Glued),
    (b"mariadb", b'p', PasswordOptionForm::Glued),
    (b"sshpass", b'p', PasswordOptionForm::Any),
    (b"docker login", b'p', PasswordOptionForm::Any),
    (b"podman login", b'p', PasswordOptionForm::Any),
    (b"az login", b'p', PasswordOptionForm::Any),
    (b"mongo", b'p', PasswordOptionForm::Any),
    (b"redis-cli", b'a', PasswordOptionForm::Any),
    (b"ldap", b'w', PasswordOptionForm::Any),
    (b"zip", b'P', PasswordOptionForm::Any),
    (b"sqlcmd", b'P', PasswordOptionForm::Any),
    (b"7z", b'p', PasswordOptionForm::Glued),
    (b"openssl enc", b'k', PasswordOptionForm::Any),
    (b"smbclient", b'U', PasswordOptionForm::UserPercentPassword),
    (b"rpcclient", b'U', PasswordOptionForm::UserPercentPassword),
    (b"smbmap", b'p', PasswordOptionForm::Any),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum PasswordOptionForm {
    /// `-u user:password`
    UserAndPassword,
    /// `-U user%password`
    UserPercentPassword,
    /// `-ppassword`
    Glued,
    /// `-p password` or `-ppassword`
    Any,
}

/// Judges an option, a blank, a dash and a letter, at `at`.
pub(super) fn option(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let line = view.line_before(at);
    let has = |word: &[u8]| contains(line, word);
    let Some(letter) = view.get(at + 2) else {
        return RedactionRuleOutcome::Nothing;
    };
    let Some((_, _, form)) = OPTIONS
        .iter()
        .find(|(command, option, _)| *option == letter && has(command))
    else {
        return RedactionRuleOutcome::Nothing;
    };
    let glued = view
        .get(at + 3)
        .is_some_and(|byte| byte != b' ' && byte != b'=');
    let start = if glued {
        at + 3
    } else {
        view.run(at + 3, 4, |byte| b" =".contains(&byte))
    };
    match form {
        PasswordOptionForm::UserAndPassword => user_and_password(view, start),
        PasswordOptionForm::UserPercentPassword => {
            let (start, end) = word(view, start);
            let percent = view.text()[start..end].iter().position(|b| *b == b'%');
            percent.map_or(RedactionRuleOutcome::Nothing, |at| {
                judge(view, start + at + 1, end)
            })
        }
        PasswordOptionForm::Glued if !glued => RedactionRuleOutcome::Nothing,
        PasswordOptionForm::Glued | PasswordOptionForm::Any => password(view, start),
    }
}

/// Judges `--user` and similar options at `at`; `word` is the length of the option.
pub(super) fn user(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let start = view.run(at + word, 4, |byte| b" =".contains(&byte));
    if start > at + word {
        user_and_password(view, start)
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges the arguments at `at` of a call that takes a user and a password: two literals.
pub(super) fn pair(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let user = view.run(at, 16, |byte| byte.is_ascii_whitespace());
    let Some(quote @ (b'"' | b'\'')) = view.get(user) else {
        return RedactionRuleOutcome::Nothing;
    };
    let user_end = view.run(user + 1, 100, |byte| byte != quote && byte != b'\n');
    let comma = view.run(user_end + 1, 4, |byte| byte == b' ');
    let second = view.run(comma + 1, 16, |byte| byte.is_ascii_whitespace());
    let literal = matches!(view.get(second), Some(b'"' | b'\''));
    if view.get(user_end) == Some(quote) && view.get(comma) == Some(b',') && literal {
        password(view, second)
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges the arguments of `Client(` at `at`: an account name and its token.
pub(super) fn client(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let account = view.run(at + 3, 33, |byte| byte.is_ascii_hexdigit());
    if (view.starts(at, b"\"AC") || view.starts(at, b"'AC")) && account == at + 35 {
        pair(view, at)
    } else {
        RedactionRuleOutcome::Nothing
    }
}

/// Judges `IDENTIFIED` at `at`: `IDENTIFIED BY 'password'`, possibly with words in
/// between.
pub(super) fn sql(view: &SecretScanText<'_>, at: usize, word: usize) -> RedactionRuleOutcome {
    let open = view.run(at + word, 48, |byte| {
        byte.is_ascii_alphanumeric() || b" _".contains(&byte)
    });
    let quoted = matches!(view.get(open), Some(b'\'' | b'"'));
    let line = view.line_before(at).to_ascii_lowercase();
    let about = [&b"user"[..], b"grant", b"role", b"alter"];
    let sql = line.trim_ascii().is_empty() || about.into_iter().any(|word| contains(&line, word));
    let by = view.text()[at + word..open].to_ascii_lowercase();
    if sql && quoted && by.ends_with(b"by ") {
        password(view, open)
    } else {
        RedactionRuleOutcome::Nothing
    }
}

fn user_and_password(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let (start, end) = word(view, at);
    let text = &view.text()[start..end];
    match text.iter().position(|byte| *byte == b':') {
        Some(colon) if !text.ends_with(b":") && !contains(text, b"://") => {
            // Two numbers are a user id and a group id.
            if text
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b':')
            {
                RedactionRuleOutcome::Nothing
            } else {
                judge(view, start + colon + 1, end)
            }
        }
        _ => RedactionRuleOutcome::Nothing,
    }
}

fn password(view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
    let (start, end) = word(view, at);
    match view.text().get(start) {
        Some(b'-') | None => RedactionRuleOutcome::Nothing,
        Some(_) => judge(view, start, end),
    }
}

fn judge(view: &SecretScanText<'_>, start: usize, end: usize) -> RedactionRuleOutcome {
    let value = &view.text()[start..end];
    let lower = value.to_ascii_lowercase();
    let plain = [&b"password"[..], b"pass", b"passwd", b"secret"].contains(&lower.as_slice());
    if value.len() < 3 || plain || values::is_template(value) {
        return RedactionRuleOutcome::Nothing;
    }
    RedactionRuleOutcome::Secret(start..end, NAME)
}

/// Returns where the word at `at` begins and ends, without its quotes.
fn word(view: &SecretScanText<'_>, at: usize) -> (usize, usize) {
    match view.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            let end = view.run(at + 1, 200, |byte| byte != quote && byte != b'\n');
            (at + 1, end)
        }
        _ => {
            let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`;|&<>".contains(&byte);
            (at, view.run(at, 200, |byte| !ends(byte)))
        }
    }
}
