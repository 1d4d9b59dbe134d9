//! Texts shown to people are helpful and hold no key.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use artel_types::model::Provider;
use artel_types::{Failure, Secret};

use super::{CANARY, House, Shelf, at};
use crate::{KeySources, KeyStoreError, VaultError, find};

fn errors() -> Vec<VaultError> {
    let path = || PathBuf::from("/data/keys.enc");
    let (provider, account) = (|| "anthropic".to_owned(), || "work".to_owned());
    vec![
        VaultError::BadName { which: "account" },
        VaultError::BadKey { why: "it is empty" },
        VaultError::damaged(&path(), "it is cut off, or not a file of keys"),
        VaultError::TooNew {
            path: path(),
            found: 2,
            newest: 1,
        },
        VaultError::Full { path: path() },
        VaultError::Busy { path: path() },
        VaultError::Store {
            provider: provider(),
            account: account(),
            cause: KeyStoreError::Locked,
        },
        VaultError::Store {
            provider: provider(),
            account: "default".to_owned(),
            cause: KeyStoreError::TimedOut,
        },
        VaultError::Missing {
            provider: provider(),
            account: account(),
        },
        VaultError::NoVariable {
            name: "MY_KEY".to_owned(),
            provider: provider(),
        },
        VaultError::NoRandom,
    ]
}

#[test]
fn errors_say_what_why_and_what_to_do() {
    let shown: Vec<String> = errors()
        .into_iter()
        .map(|error| Failure::from(error).to_string())
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    error[C004]: that is not the name of an account
      why: names have 1 to 64 letters, digits and `-`, `_`, `.`, `@`
    error[K004]: that is not a key: it is empty
    error[K001]: the keys in `/data/keys.enc` cannot be read
      why: it is cut off, or not a file of keys
      try: move `/data/keys.enc` away or run `artel auth remove --all`, then store the keys again with `artel auth set PROVIDER`
    error[K001]: `/data/keys.enc` has format 2; this build reads up to 1
      try: install the newer Artel
    error[K001]: there is no room for another key in `/data/keys.enc`
      try: remove keys that are not needed with `artel auth remove`
    error[K001]: another process is busy with the keys
      why: it holds `/data/keys.enc`
      try: wait for it to end, and run this again
    error[K001]: could not reach the key of `anthropic`, account `work`, in the system key store
      why: it is locked
      try: unlock it, or store the key again: `artel auth set anthropic --account work`
    error[K001]: could not reach the key of `anthropic`, account `default`, in the system key store
      why: it did not answer in time
      try: log in to your desktop, or store the key again: `artel auth set anthropic`
    error[K003]: there is no key of `anthropic`, account `work`
      try: store it with `artel auth set anthropic --account work`; `artel auth status` lists what is there
    error[M003]: the variable `MY_KEY` that should hold the key is not set, or is empty
      try: set `MY_KEY`, or take `api_key_env` out of the settings and run `artel auth set anthropic`
    error[K001]: the system gave no random bytes
    ");
}

#[test]
fn an_open_file_says_which_command_closes_it() {
    let house = House::with_a_key();
    let path = house.file("keys.key");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = house.vault().get("anthropic", "default").unwrap_err();
    let shown = Failure::from(error).to_string();
    let shown = shown.replace(&house.data().display().to_string(), "DATA");
    insta::assert_snapshot!(shown, @r"
    error[K001]: `DATA/keys.key` is not private: others can read or change it
      try: run `chmod 600 DATA/keys.key`; if others may have read it, replace the keys at your providers
    ");
}

fn all_texts(error: VaultError) -> String {
    format!("{error}\n{error:?}\n") + &Failure::from(error).to_string()
}

/// Checks every text that working with a key produces, in success and in failure.
#[test]
fn no_text_holds_a_key() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let key = Secret::new(CANARY);
    let mut texts = vec![format!("{vault:?}")];
    let mut say = |text: String| texts.push(text);
    for failure in [None, Some(KeyStoreError::Locked)] {
        shelf.fail(failure);
        say(format!(
            "{:?}",
            vault.set("anthropic", "default", &key, at(1))
        ));
        say(format!("{:?}", vault.get("anthropic", "default")));
        say(format!("{:?}", vault.list()));
        say(format!("{:?}", vault.secrets()));
        let found = find(KeySources {
            provider: Provider::Anthropic,
            account: None,
            api_key_env: Some("MY_KEY"),
            environment: &|_| Some(CANARY.to_owned()),
            vault: &vault,
        });
        say(format!("{found:?}"));
    }
    // A key in the place of a name: it happens when somebody types a command in a hurry.
    for (provider, account) in [("A/", CANARY), (CANARY, "A/"), ("SK UPPER", "default")] {
        let error = vault.set(provider, account, &key, at(1)).unwrap_err();
        let shown = all_texts(error);
        assert!(!shown.contains("SK UPPER"), "{shown}");
        say(shown);
    }
    fs::write(house.file("keys.enc"), CANARY).unwrap();
    let error = vault.get("anthropic", "default").unwrap_err();
    texts.push(all_texts(error));
    texts.push(format!("{:?}", vault.forget_all()));
    for text in texts {
        assert!(!text.contains(CANARY), "{text}");
    }
}
