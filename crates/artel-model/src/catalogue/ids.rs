//! Names of models: the same model has several.

/// Finds the listed name of a model: the exact one, or else the longest one that the
/// model's name extends with a date, a tag or a vendor.
pub(super) fn find<'a>(
    listed: impl Iterator<Item = &'a str> + Clone,
    model: &str,
) -> Option<&'a str> {
    let exactly = listed.clone().find(|id| *id == model);
    exactly.or_else(|| {
        let model = plain(bare(model));
        listed
            .filter(|id| is_of(&model, &plain(bare(id))))
            .max_by_key(|id| id.len())
    })
}

/// Removes vendor and tag: `anthropic/claude-opus-5.5:thinking` is `claude-opus-5.5`.
fn bare(model: &str) -> &str {
    let (model, _tag) = model.split_once(':').unwrap_or((model, ""));
    model.rsplit_once('/').map_or(model, |(_, model)| model)
}

/// Unifies spellings: some write versions with a point, others with a dash.
fn plain(model: &str) -> String {
    model.replace(['.', '@'], "-").to_ascii_lowercase()
}

fn is_of(model: &str, id: &str) -> bool {
    let rest = model.strip_prefix(id);
    !id.is_empty() && rest.is_some_and(|rest| rest.is_empty() || is_date(rest))
}

/// Returns whether a text is a date such as `-20251001` or `-2025-10-01`.
fn is_date(text: &str) -> bool {
    let Some(text) = text.strip_prefix('-') else {
        return false;
    };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_dashed = text.len() == 10 && text.match_indices('-').map(|(at, _)| at).eq([4, 7]);
    text.starts_with("20") && digits == 8 && (text.len() == 8 || is_dashed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTED: [&str; 6] = [
        "claude-opus-5",
        "claude-opus-5-5",
        "gpt-6",
        "gpt-6.1-sol",
        "qwen3:8b",
        "meta/llama-4",
    ];

    #[test]
    fn models_are_found_under_their_other_names() {
        for (model, expected) in [
            ("claude-opus-5", Some("claude-opus-5")),
            ("claude-opus-5-5", Some("claude-opus-5-5")),
            ("claude-opus-5-20260724", Some("claude-opus-5")),
            ("claude-opus-5-5-20260922", Some("claude-opus-5-5")),
            ("claude-opus-5@20260724", Some("claude-opus-5")),
            ("anthropic/claude-opus-5.5", Some("claude-opus-5-5")),
            ("a/b/claude-opus-5.5:thinking", Some("claude-opus-5-5")),
            ("models/gpt-6", Some("gpt-6")),
            ("gpt-6.1-sol-2026-09-29", Some("gpt-6.1-sol")),
            ("GPT-6", Some("gpt-6")),
            ("qwen3:8b", Some("qwen3:8b")),
            ("meta/llama-4", Some("meta/llama-4")),
            ("llama-4:free", Some("meta/llama-4")),
            ("claude-opus-5-6", None),
            ("claude-opus-5-latest", None),
            ("claude-opus-5-2026072", None),
            ("gpt-6-2026-0929", None),
            ("gpt-6-20a60929", None),
            ("gpt-60", None),
            ("gpt", None),
            ("", None),
            (":", None),
            ("/", None),
        ] {
            assert_eq!(find(LISTED.into_iter(), model), expected, "{model}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_answered(model in ".{0,40}", near in "gpt-6[-.:/@0-9a-z]{0,14}") {
            let _ = find(LISTED.into_iter(), &model);
            let _ = find(LISTED.into_iter(), &near);
        }
    }
}
