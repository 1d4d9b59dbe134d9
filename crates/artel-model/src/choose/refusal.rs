//! Failures for the cases in which no model can be chosen.

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode};

/// Longest text for which a similar name is suggested. Longer text is not a typing mistake.
const LONGEST: usize = 100;

pub(super) fn nothing_configured(entries: usize) -> Failure {
    let models = match entries {
        0 => "no `[models]` in `artel.toml`".to_owned(),
        some => format!("none of the {some} entries of `[models]` is named `default`"),
    };
    Failure::new(FailureCode::M004, "no model is configured")
        .because(format!(
            "no key in the environment or in the key store, no Ollama on 127.0.0.1:11434, {models}"
        ))
        .advise(
            "`artel auth set anthropic`, or start Ollama, or set `ARTEL_MODEL=rehearsal:FILE.yaml`",
        )
}

pub(super) fn no_such_alias(word: &str, known: &[&str]) -> Failure {
    let list: Vec<_> = known.iter().map(|alias| format!("`{alias}`")).collect();
    let advice = match (word.parse::<Provider>(), nearest(word, known)) {
        (Ok(provider), _) => format!("name a model of it too: `{provider}:MODEL`"),
        (Err(_), Some(meant)) => format!("did you mean `{meant}`?"),
        (Err(_), None) => "`artel model list` shows what each means here".to_owned(),
    };
    Failure::new(
        FailureCode::M002,
        format!("there is no model alias `{}`", shown(word)),
    )
    .because(format!("known are {}", list.join(", ")))
    .advise(advice)
}

pub(super) fn no_such_provider(word: &str) -> Failure {
    let known = Provider::ALL.map(Provider::as_str);
    let list = known.map(|provider| format!("`{provider}`")).join(", ");
    let advice = match nearest(word, &known) {
        Some(meant) => format!("did you mean `{meant}:…`?"),
        None => "a model is named as `provider:model`, or by an alias".to_owned(),
    };
    Failure::new(
        FailureCode::M001,
        format!("there is no provider `{}`", shown(word)),
    )
    .because(format!("known are {list}"))
    .advise(advice)
}

pub(super) fn no_model_named(provider: Provider) -> Failure {
    Failure::new(FailureCode::M002, format!("`{provider}:` names no model"))
        .because("what follows the colon is empty")
        .advise(format!("name a model of it too: `{provider}:MODEL`"))
}

fn nearest<'a>(wanted: &str, known: &[&'a str]) -> Option<&'a str> {
    if wanted.len() > LONGEST {
        return None;
    }
    let wanted = wanted.to_lowercase();
    let farthest = (wanted.chars().count() / 3).max(2);
    known
        .iter()
        .map(|name| (strsim::osa_distance(&wanted, &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= farthest && *distance < name.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Makes a word safe to print, because skills choose it.
fn shown(word: &str) -> String {
    let mut shown = String::new();
    for letter in word.chars().take(LONGEST) {
        if letter.is_ascii_graphic() || letter == ' ' || letter.is_alphanumeric() {
            shown.push(letter);
        } else {
            shown.extend(letter.escape_unicode());
        }
    }
    shown
}
