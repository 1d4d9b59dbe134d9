//! Names that people choose in settings: aliases, models, providers, headers.

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode};

use crate::SettingOrigin;
use crate::nearest::nearest;
use crate::problem::{is_harmless, shown, with_providers};
use crate::schema;

/// Longest name of a model, in bytes. People do not type longer ones.
const LONGEST_MODEL: usize = 200;

/// Headers that every call sets itself.
const OURS: [&str; 7] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
];

/// Checks the last part of a name, if the user chooses that part.
pub(crate) fn check(path: &[String], origin: &SettingOrigin) -> Result<(), Failure> {
    let (Some(sort), Some(name)) = (schema::own_part(path), path.last()) else {
        return Ok(());
    };
    match sort {
        "<alias>" => alias(name, origin),
        "<model>" => model(name, origin),
        "<provider>" => provider(name, origin),
        _ => header(name, origin),
    }
}

fn alias(name: &str, origin: &SettingOrigin) -> Result<(), Failure> {
    let refused = |advice: &str| {
        Err(Failure::new(
            FailureCode::S005,
            format!("`{}` cannot name a model", shown(name)),
        )
        .because(origin.place())
        .advise(advice))
    };
    let is_plain =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_.".contains(&byte);
    if name == "inherit" {
        return refused("write `[models.default]`: `inherit` always means the default");
    }
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
        return refused("use 1 to 64 characters of a-z, 0-9, `-`, `_`, `.`");
    }
    Ok(())
}

fn model(name: &str, origin: &SettingOrigin) -> Result<(), Failure> {
    let is_plain = |letter: char| !letter.is_whitespace() && !"\"\\".contains(letter);
    let is_short = !name.is_empty() && name.len() <= LONGEST_MODEL;
    if is_short && is_harmless(name) && name.chars().all(is_plain) {
        return Ok(());
    }
    Err(Failure::new(
        FailureCode::S005,
        format!("`{}` is not a model's name", shown(name)),
    )
    .because(origin.place())
    .advise("write the name as the provider has it, such as `[prices.\"qwen3-coder\"]`"))
}

fn provider(name: &str, origin: &SettingOrigin) -> Result<(), Failure> {
    if name.parse::<Provider>().is_ok() {
        return Ok(());
    }
    let failure = Failure::new(
        FailureCode::M001,
        format!("there is no provider `{}`", shown(name)),
    );
    let meant = nearest(name, Provider::ALL.map(Provider::as_str));
    Err(with_providers(failure.because(origin.place()), meant))
}

fn header(name: &str, origin: &SettingOrigin) -> Result<(), Failure> {
    let lower = name.to_ascii_lowercase();
    let refused = |why: &str, advice: &str| {
        Err(Failure::new(
            FailureCode::S005,
            format!("the header `{}` cannot be set", shown(name)),
        )
        .because(format!("{}: {why}", origin.place()))
        .advise(advice))
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > 100 || !name.bytes().all(is_plain) {
        return refused(
            "it is not a header's name",
            "use letters, digits and `-`, such as `X-Team`",
        );
    }
    if carries_key(&lower) {
        return refused(
            "settings are no place for keys",
            "name the variable that holds the key: `api_key_env = \"MY_KEY\"`",
        );
    }
    if OURS.contains(&lower.as_str()) {
        return refused("every call sets it itself", "take the line away");
    }
    Ok(())
}

/// Returns whether a header may carry a key. The words of its name decide: `x-goog-api-key`
/// holds a key.
fn carries_key(name: &str) -> bool {
    let words = [
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "key",
        "password",
        "secret",
        "token",
    ];
    name.split(['-', '_', '.'])
        .any(|word| words.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(path: &[&str]) -> bool {
        let path: Vec<_> = path.iter().map(|part| (*part).to_owned()).collect();
        check(&path, &SettingOrigin::Flag).is_ok()
    }

    #[test]
    fn aliases_are_short_and_plain() {
        let long = "a".repeat(64);
        for name in ["default", "haiku", "qwen2.5", "my-model_1", "0", &long] {
            assert!(accepted(&["models", name]), "{name}");
        }
        let too_long = "a".repeat(65);
        for name in [
            "", "Default", "a b", "a:b", "é", "inherit", "a\n", &too_long,
        ] {
            assert!(!accepted(&["models", name]), "{name}");
        }
    }

    #[test]
    fn models_and_providers_are_checked() {
        for name in ["gpt-6", "anthropic/claude-opus-5.5", "qwen3:8b", "模型"] {
            assert!(accepted(&["prices", name]), "{name}");
        }
        for name in ["", "a b", "a\"b", "a\\b", "a\u{202e}b", "\u{1b}"] {
            assert!(!accepted(&["prices", name]), "{name}");
        }
        for name in ["anthropic", "openai-chat"] {
            assert!(accepted(&["budget", "provider", name]), "{name}");
        }
        for name in ["", "antropic", "Anthropic", "openai-chat:127.0.0.1:8080"] {
            assert!(!accepted(&["budget", "provider", name]), "{name}");
        }
    }

    #[test]
    fn headers_that_carry_keys_are_refused() {
        let accepts = |name: &str| accepted(&["models", "a", "headers", name]);
        for name in ["X-Team", "anthropic-beta", "HTTP-Referer", "openai-project"] {
            assert!(accepts(name), "{name}");
        }
        for name in [
            "authorization",
            "Authorization",
            "X-API-Key",
            "x-goog-api-key",
            "api_key",
            "Cookie",
            "x-auth-token",
            "Proxy-Authorization",
            "Host",
            "content-length",
            "",
            "a b",
            "a:b",
            "a\r\nb",
            "é",
        ] {
            assert!(!accepts(name), "{name}");
        }
    }

    #[test]
    fn parts_that_are_not_the_user_s_own_are_left_alone() {
        assert!(accepted(&["models"]));
        assert!(accepted(&["models", "a", "headers"]));
        assert!(accepted(&["nothing", "Like", "this"]));
    }
}
