//! The order in which keys are searched.

use std::fs;
use std::sync::Arc;

use artel_types::model::Provider;
use artel_types::{Failure, FailureCode, Secret};

use super::{House, Shelf, at};
use crate::{FoundKey, KeyOrigin, KeySources, KeyStoreError, VaultError, find};

/// Variables, the named account and the named variable, then the expected key or error
/// code.
type Case = (
    &'static [(&'static str, &'static str)],
    Option<&'static str>,
    Option<&'static str>,
    Result<Option<(&'static str, KeyOrigin)>, FailureCode>,
);

fn env(name: &str) -> KeyOrigin {
    KeyOrigin::Env(name.to_owned())
}

fn file(account: &str) -> KeyOrigin {
    KeyOrigin::File(account.to_owned())
}

fn ask(
    house: &House,
    provider: Provider,
    (variables, account, api_key_env, _): &Case,
) -> Result<Option<FoundKey>, VaultError> {
    let environment = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, text)| (*text).to_owned())
    };
    find(KeySources {
        provider,
        account: *account,
        api_key_env: *api_key_env,
        environment: &environment,
        vault: &house.vault(),
    })
}

fn check(house: &House, provider: Provider, cases: &[Case]) {
    for case in cases {
        let got = ask(house, provider, case)
            .map(|found| found.map(|found| (found.secret.expose().to_owned(), found.from)))
            .map_err(|error| Failure::from(error).code);
        let wanted = case.3.clone();
        let wanted = wanted.map(|found| found.map(|(key, from)| (key.to_owned(), from)));
        assert_eq!(got, wanted, "{provider}: {:?}", (case.0, case.1, case.2));
    }
}

#[test]
fn the_order_without_stored_keys() {
    let house = House::new();
    let usual: &[_] = &[("ANTHROPIC_API_KEY", "of-env"), ("MINE", "of-mine")];
    check(
        &house,
        Provider::Anthropic,
        &[
            (&[], None, None, Ok(None)),
            (
                usual,
                None,
                None,
                Ok(Some(("of-env", env("ANTHROPIC_API_KEY")))),
            ),
            (
                usual,
                None,
                Some("MINE"),
                Ok(Some(("of-mine", env("MINE")))),
            ),
            (usual, None, Some("YOURS"), Err(FailureCode::M003)),
            (&[("MINE", "")], None, Some("MINE"), Err(FailureCode::M003)),
            (
                &[("MINE", " \n")],
                None,
                Some("MINE"),
                Err(FailureCode::M003),
            ),
            (&[("ANTHROPIC_API_KEY", "")], None, None, Ok(None)),
            (usual, Some("work"), None, Err(FailureCode::K003)),
            (usual, Some("work"), Some("MINE"), Err(FailureCode::K003)),
            (usual, Some("No Name"), None, Err(FailureCode::C004)),
            (
                &[("ANTHROPIC_API_KEY", " of-env\n")],
                None,
                None,
                Ok(Some(("of-env", env("ANTHROPIC_API_KEY")))),
            ),
        ],
    );
    let google: &[_] = &[("GEMINI_API_KEY", ""), ("GOOGLE_API_KEY", "second")];
    let both: &[_] = &[("GEMINI_API_KEY", "first"), ("GOOGLE_API_KEY", "second")];
    check(
        &house,
        Provider::Google,
        &[
            (
                google,
                None,
                None,
                Ok(Some(("second", env("GOOGLE_API_KEY")))),
            ),
            (both, None, None, Ok(Some(("first", env("GEMINI_API_KEY"))))),
        ],
    );
    check(&house, Provider::Ollama, &[(&[], None, None, Ok(None))]);
    assert!(!house.data().exists());
}

#[test]
fn the_order_with_stored_keys() {
    let house = House::new();
    for account in ["default", "work"] {
        let key = Secret::new(format!("stored-{account}"));
        let vault = house.vault();
        vault.set("anthropic", account, &key, at(1)).unwrap();
    }
    let usual: &[_] = &[("ANTHROPIC_API_KEY", "of-env")];
    check(
        &house,
        Provider::Anthropic,
        &[
            (
                &[],
                None,
                None,
                Ok(Some(("stored-default", file("default")))),
            ),
            (
                usual,
                None,
                None,
                Ok(Some(("of-env", env("ANTHROPIC_API_KEY")))),
            ),
            (
                usual,
                Some("work"),
                None,
                Ok(Some(("stored-work", file("work")))),
            ),
            (
                usual,
                Some("default"),
                None,
                Ok(Some(("stored-default", file("default")))),
            ),
            (usual, Some("home"), None, Err(FailureCode::K003)),
            (&[], None, Some("MINE"), Err(FailureCode::M003)),
        ],
    );
    check(&house, Provider::OpenAi, &[(&[], None, None, Ok(None))]);

    fs::write(house.file("keys.enc"), b"damaged").unwrap();
    check(
        &house,
        Provider::Anthropic,
        &[
            (&[], None, None, Err(FailureCode::K001)),
            (&[], Some("work"), None, Err(FailureCode::K001)),
            (
                usual,
                None,
                None,
                Ok(Some(("of-env", env("ANTHROPIC_API_KEY")))),
            ),
        ],
    );
}

#[test]
fn a_key_of_the_store_says_so() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let key = Secret::new("in-the-store");
    vault.set("anthropic", "default", &key, at(1)).unwrap();
    let ask = || {
        find(KeySources {
            provider: Provider::Anthropic,
            account: None,
            api_key_env: None,
            environment: &|_| None,
            vault: &vault,
        })
    };
    let found = ask().unwrap().unwrap();
    assert_eq!(found.from, KeyOrigin::System("default".to_owned()));
    assert_eq!(found.secret, key);
    shelf.fail(KeyStoreError::Locked);
    assert!(ask().is_err(), "a locked store is not an absent key");
}

#[test]
fn origins_read_well() {
    let shown = [
        env("MY_KEY"),
        KeyOrigin::System("work".to_owned()),
        file("default"),
    ]
    .map(|origin| origin.to_string());
    assert_eq!(
        shown,
        [
            "the variable `MY_KEY`",
            "the system key store, account `work`",
            "the encrypted file, account `default`",
        ]
    );
}
