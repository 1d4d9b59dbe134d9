//! The system's key store together with the file.

use std::sync::Arc;

use artel_types::Secret;

use super::{CANARY, House, Shelf, at};
use crate::{KeyLocation, KeyRemovalOutcome, KeyStorageOutcome, KeyStoreError, VaultError};

fn failures() -> [KeyStoreError; 4] {
    [
        KeyStoreError::Unavailable("no bus".to_owned()),
        KeyStoreError::Locked,
        KeyStoreError::TimedOut,
        KeyStoreError::Refused("no".to_owned()),
    ]
}

#[test]
fn a_key_goes_to_the_store_that_takes_it() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let kept = vault.set("anthropic", "work", &Secret::new(CANARY), at(1));
    let store = "the shelf".to_owned();
    assert_eq!(kept.unwrap(), KeyStorageOutcome::System { store });
    assert_eq!(shelf.values(), [CANARY]);

    let asked = shelf.asked();
    let listed = vault.list().unwrap();
    assert_eq!((listed[0].place, listed.len()), (KeyLocation::System, 1));
    assert_eq!(vault.get("anthropic", "default").unwrap(), None);
    assert_eq!(shelf.asked(), asked, "the list answers by itself");

    let found = vault.get("anthropic", "work").unwrap();
    assert_eq!(found, Some(Secret::new(CANARY)));
    assert_eq!(vault.secrets(), [Secret::new(CANARY)]);
    let removed = vault.remove("anthropic", "work").unwrap();
    assert_eq!(removed, KeyRemovalOutcome::From(KeyLocation::System));
    assert!(shelf.values().is_empty());
}

#[test]
fn a_store_that_does_not_take_it_is_named_and_the_file_does() {
    for failure in failures() {
        let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
        shelf.fail(failure.clone());
        let vault = house.vault_with(&shelf);
        let kept = vault.set("anthropic", "default", &Secret::new(CANARY), at(1));
        let (path, instead) = (house.file("keys.enc"), Some(failure));
        assert_eq!(kept.unwrap(), KeyStorageOutcome::File { path, instead });
        let asked = shelf.asked();
        let found = vault.get("anthropic", "default").unwrap();
        assert_eq!(found, Some(Secret::new(CANARY)));
        assert_eq!(shelf.asked(), asked, "the value is known to be in the file");
    }
}

#[test]
fn a_key_in_a_store_that_does_not_answer_is_an_error_not_an_absence() {
    for failure in failures() {
        let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
        let vault = house.vault_with(&shelf);
        let key = Secret::new(CANARY);
        vault.set("anthropic", "default", &key, at(1)).unwrap();
        shelf.fail(failure);
        for vault in [&vault, &house.vault()] {
            let results = [
                vault.get("anthropic", "default").map(drop),
                vault.remove("anthropic", "default").map(drop),
            ];
            for result in results {
                assert!(matches!(result, Err(VaultError::Store { .. })));
            }
            assert!(vault.secrets().is_empty());
            assert_eq!(vault.list().unwrap().len(), 1, "it is still on the list");
        }
    }
}

#[test]
fn an_old_value_in_the_store_never_comes_back() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let set = |text: &str| {
        let key = Secret::new(text);
        vault.set("anthropic", "default", &key, at(1)).unwrap();
    };
    set("the-old-key");
    shelf.fail(KeyStoreError::Locked);
    set("the-new-key");
    shelf.fail(None);
    let found = vault.get("anthropic", "default").unwrap();
    assert_eq!(found, Some(Secret::new("the-new-key")));
    let removed = vault.remove("anthropic", "default").unwrap();
    assert_eq!(removed, KeyRemovalOutcome::From(KeyLocation::File));
    assert!(shelf.values().is_empty(), "it is removed there too");
    assert_eq!(vault.get("anthropic", "default").unwrap(), None);
}

#[test]
fn a_key_moves_from_the_file_to_the_store_when_it_is_set_again() {
    let (house, shelf) = (House::with_a_key(), Arc::new(Shelf::default()));
    let key = Secret::new("the-new-key");
    let vault = house.vault_with(&shelf);
    vault.set("anthropic", "default", &key, at(2)).unwrap();
    assert_eq!(vault.list().unwrap()[0].place, KeyLocation::System);
    assert!(house.vault().secrets().is_empty(), "no value is left");
}

#[test]
fn a_key_that_was_taken_out_of_the_store_by_hand_is_absent() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let key = Secret::new(CANARY);
    vault.set("anthropic", "default", &key, at(1)).unwrap();
    shelf.keys.lock().unwrap().clear();
    assert_eq!(vault.get("anthropic", "default").unwrap(), None);
    assert!(vault.secrets().is_empty());
}

#[test]
fn one_key_that_is_not_given_hides_no_other() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    for account in ["a", "b", "c"] {
        let key = Secret::new(format!("key-of-{account}"));
        vault.set("anthropic", account, &key, at(1)).unwrap();
    }
    for failure in failures() {
        for (account, others) in [("a", ["b", "c"]), ("b", ["a", "c"])] {
            shelf.fail_at(account, failure.clone());
            let expected = others.map(|other| Secret::new(format!("key-of-{other}")));
            assert_eq!(vault.secrets(), expected, "{failure} {account}");
        }
    }
}

#[test]
fn a_store_that_hangs_is_not_asked_for_every_key() {
    let (house, shelf) = (House::new(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    for number in 0..20 {
        let key = Secret::new(CANARY);
        let account = format!("account-{number}");
        vault.set("anthropic", &account, &key, at(1)).unwrap();
    }
    shelf.fail(KeyStoreError::TimedOut);
    let asked = shelf.asked();
    assert!(vault.secrets().is_empty());
    assert_eq!(shelf.asked(), asked + 2);
}

#[test]
fn forgetting_keeps_on_the_list_what_the_store_did_not_remove() {
    let (house, shelf) = (House::with_a_key(), Arc::new(Shelf::default()));
    let vault = house.vault_with(&shelf);
    let key = Secret::new("key-in-the-store");
    vault.set("openai", "default", &key, at(2)).unwrap();
    shelf.fail(KeyStoreError::TimedOut);
    let forgotten = vault.forget_all().unwrap();
    assert_eq!(forgotten.keys, Some(1));
    assert_eq!(forgotten.left, vault.list().unwrap());
    assert_eq!(forgotten.left[0].provider, "openai");
    shelf.fail(None);
    let forgotten = vault.forget_all().unwrap();
    assert_eq!((forgotten.keys, forgotten.left.len()), (Some(1), 0));
    assert!(shelf.values().is_empty());
    assert_eq!(house.names(), ["keys.lock"]);
}
