//! Settings of models: the names that skills and roles use, and the models behind them.

use std::collections::BTreeMap;
use std::time::Duration;

use artel_types::Failure;
use artel_types::model::ModelAliasSettings;

use crate::form::SettingTextForm;
use crate::schema::{SettingField, dotted};
use crate::value::SettingKind;
use crate::values::{SettingSection, SettingValueTable};
use crate::{Setting, problem};

pub(crate) const FIELDS: &[SettingField] = &[
    SettingField {
        key: "models.<alias>.provider",
        kind: SettingKind::Provider,
        default: None,
        about: "Who answers.",
    },
    SettingField {
        key: "models.<alias>.model",
        kind: SettingKind::Text(SettingTextForm::Line),
        default: None,
        about: "The model, in the provider's word; for a rehearsal, the script.",
    },
    SettingField {
        key: "models.<alias>.base_url",
        kind: SettingKind::Text(SettingTextForm::BaseUrl),
        default: None,
        about: "Where the provider is, if not at its usual place.",
    },
    SettingField {
        key: "models.<alias>.api_key_env",
        kind: SettingKind::Text(SettingTextForm::Variable),
        default: None,
        about: "The variable that holds the key, if not the usual one.",
    },
    SettingField {
        key: "models.<alias>.account",
        kind: SettingKind::Text(SettingTextForm::Account),
        default: None,
        about: "The stored account whose key is used, rather than one from the environment.",
    },
    SettingField {
        key: "models.<alias>.proxy",
        kind: SettingKind::Text(SettingTextForm::Proxy),
        default: None,
        about: "A proxy for this model alone; none keeps the environment's from being used.",
    },
    SettingField {
        key: "models.<alias>.timeout",
        kind: SettingKind::Span {
            least: Duration::from_millis(1),
        },
        default: None,
        about: "How long the provider may be silent in the middle of an answer.",
    },
    SettingField {
        key: "models.<alias>.headers.<header>",
        kind: SettingKind::Text(SettingTextForm::Header),
        default: None,
        about: "A header that is sent with every call.",
    },
];

pub(crate) const EXAMPLE: &str = "\
# Models, by the names that skills and roles use. Without any, the keys in the environment and in
# the key store decide, then a local Ollama. `haiku`, `sonnet`, `opus`, `fast`, `balanced` and
# `strong` need no section: they mean the nearest model of the provider of `default`.
#[models.default]
#provider = \"openai-chat\"        # anthropic | openai | openai-chat | google | ollama | rehearsal
#model = \"qwen3-coder\"
#base_url = \"http://127.0.0.1:8080/v1\"   # optional
#api_key_env = \"MY_KEY\"                   # optional; otherwise the provider's usual variable, then the key store
#account = \"work\"                         # optional: a stored key, as in `artel auth set openai --account work`
#timeout = \"120s\"                         # optional
#proxy = \"none\"                           # optional; otherwise HTTPS_PROXY and NO_PROXY
#headers = { X-Team = \"blue\" }            # optional
#[models.haiku]
#provider = \"anthropic\"
#model = \"claude-haiku-5-5\"
";

/// Returns the model entries. Each needs a provider and a model, from any layer.
pub(crate) fn entries(
    values: &SettingValueTable,
) -> Result<BTreeMap<String, Setting<ModelAliasSettings>>, Vec<Failure>> {
    let mut entries = BTreeMap::new();
    let mut problems = Vec::new();
    for (alias, settings) in values.named(&["models"]) {
        match entry(&alias, &settings) {
            Ok(entry) => drop(entries.insert(alias, entry)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        return Ok(entries);
    }
    Err(problems)
}

fn entry(
    alias: &str,
    settings: &SettingSection<'_>,
) -> Result<Setting<ModelAliasSettings>, Failure> {
    let provider = settings.word("provider").and_then(|word| word.parse().ok());
    let (Some(provider), Some(model)) = (provider, settings.text("model")) else {
        let missing = match (provider, settings.text("model")) {
            (None, None) => "`provider` and `model`",
            (None, Some(_)) => "`provider`",
            (Some(_), _) => "`model`",
        };
        let name = dotted(&["models".to_owned(), alias.to_owned()]);
        return Err(problem::incomplete(&name, missing, &settings.origin()));
    };
    let text = |name: &str| settings.text(name).map(str::to_owned);
    let value = ModelAliasSettings {
        provider,
        model: model.to_owned(),
        base_url: text("base_url"),
        api_key_env: text("api_key_env"),
        account: text("account"),
        headers: settings.texts_below("headers"),
        timeout: settings.span("timeout"),
        proxy: text("proxy"),
    };
    Ok(Setting {
        value,
        origin: settings.origin_of("provider"),
    })
}
