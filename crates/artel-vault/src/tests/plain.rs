//! Storing, finding, listing and removing keys with the file alone.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use artel_types::Secret;

use super::{CANARY, House, at};
use crate::{
    ForgetAllKeysOutcome, KeyLocation, KeyRemovalOutcome, KeyStorageOutcome, StoredKey, VaultError,
};

#[test]
fn looking_makes_nothing() {
    let house = House::new();
    let vault = house.vault();
    assert_eq!(vault.get("anthropic", "default").unwrap(), None);
    assert_eq!(vault.list().unwrap(), []);
    assert!(vault.secrets().is_empty());
    assert_eq!(
        vault.remove("anthropic", "default").unwrap(),
        KeyRemovalOutcome::Absent
    );
    let nothing = ForgetAllKeysOutcome {
        keys: Some(0),
        left: Vec::new(),
    };
    assert_eq!(vault.forget_all().unwrap(), nothing);
    assert!(!house.data().exists());
}

#[test]
fn keys_are_kept_by_provider_and_account() {
    let house = House::new();
    let stored = [
        ("openai", "Ada@work", "key-of-openai-at-work", 30),
        ("anthropic", "default", "key-of-anthropic", 10),
        ("anthropic", "work", "key \"with\" \\ and \n and ä", 20),
    ];
    for (provider, account, key, seconds) in stored {
        let kept = house
            .vault()
            .set(provider, account, &Secret::new(key), at(seconds))
            .unwrap();
        let path = house.file("keys.enc");
        let instead = None;
        assert_eq!(kept, KeyStorageOutcome::File { path, instead });
    }
    for (provider, account, key, _) in stored {
        let found = house.vault().get(provider, account).unwrap();
        assert_eq!(found, Some(Secret::new(key)));
    }
    assert_eq!(house.vault().get("openai", "default").unwrap(), None);
    let entry = |provider: &str, account: &str, seconds| StoredKey {
        provider: provider.to_owned(),
        account: account.to_owned(),
        place: KeyLocation::File,
        since: at(seconds),
    };
    assert_eq!(
        house.vault().list().unwrap(),
        [
            entry("anthropic", "default", 10),
            entry("anthropic", "work", 20),
            entry("openai", "Ada@work", 30),
        ]
    );
    assert_eq!(house.vault().secrets().len(), 3);
}

#[test]
fn a_new_key_takes_the_place_of_the_old_one() {
    let house = House::with_a_key();
    let vault = house.vault();
    let before = fs::read(house.file("keys.enc")).unwrap();
    vault
        .set("anthropic", "default", &Secret::new("another-key"), at(2))
        .unwrap();
    let found = vault.get("anthropic", "default").unwrap();
    assert_eq!(found, Some(Secret::new("another-key")));
    assert_eq!(vault.list().unwrap()[0].since, at(2));
    assert_eq!(vault.secrets().len(), 1);
    // The same key encrypts to other bytes: a nonce is never used twice.
    vault
        .set("anthropic", "default", &Secret::new(CANARY), at(1))
        .unwrap();
    assert_ne!(fs::read(house.file("keys.enc")).unwrap(), before);
}

#[test]
fn removing_leaves_the_others() {
    let house = House::with_a_key();
    let vault = house.vault();
    vault
        .set("openai", "default", &Secret::new("openai-key"), at(2))
        .unwrap();
    let removed = vault.remove("anthropic", "default").unwrap();
    assert_eq!(removed, KeyRemovalOutcome::From(KeyLocation::File));
    let again = vault.remove("anthropic", "default").unwrap();
    assert_eq!(again, KeyRemovalOutcome::Absent);
    assert_eq!(vault.get("anthropic", "default").unwrap(), None);
    assert!(vault.get("openai", "default").unwrap().is_some());
}

#[test]
fn forgetting_removes_the_files_and_a_new_start_works() {
    let house = House::with_a_key();
    let vault = house.vault();
    let forgotten = vault.forget_all().unwrap();
    assert_eq!((forgotten.keys, forgotten.left.len()), (Some(1), 0));
    assert_eq!(house.names(), ["keys.lock"]);
    assert_eq!(vault.list().unwrap(), []);
    vault
        .set("anthropic", "default", &Secret::new("fresh-key"), at(3))
        .unwrap();
    assert_eq!(vault.secrets(), [Secret::new("fresh-key")]);
}

#[test]
fn files_are_private_and_hold_no_key_in_the_clear() {
    let house = House::with_a_key();
    let mode = |name: &str| house.file(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    assert_eq!(house.names(), ["keys.enc", "keys.key", "keys.lock"]);
    for name in house.names() {
        assert_eq!(mode(&name), 0o600, "{name}");
        let bytes = fs::read(house.file(&name)).unwrap();
        for hidden in [CANARY, "anthropic"] {
            let is_in = bytes.windows(hidden.len()).any(|w| w == hidden.as_bytes());
            assert!(!is_in, "{hidden} in {name}");
        }
    }
}

#[test]
fn what_cannot_be_a_name_or_a_key_is_refused() {
    let house = House::new();
    let vault = house.vault();
    let key = Secret::new(CANARY);
    for (provider, account) in [
        ("", "default"),
        ("anthropic", ""),
        ("a/b", "x"),
        ("a", "b c"),
    ] {
        let refused = [
            vault.set(provider, account, &key, at(1)).map(drop),
            vault.get(provider, account).map(drop),
            vault.remove(provider, account).map(drop),
        ];
        for result in refused {
            assert!(matches!(result, Err(VaultError::BadName { .. })));
        }
    }
    for bad in [String::new(), " \n".to_owned(), "k".repeat(64 * 1024 + 1)] {
        let refused = vault.set("anthropic", "default", &Secret::new(bad), at(1));
        assert!(matches!(refused, Err(VaultError::BadKey { .. })));
    }
    assert!(!house.data().exists());
}

#[test]
fn a_full_file_takes_no_more_and_stays_as_it_is() {
    let house = House::with_a_key();
    let vault = house.vault();
    let large = Secret::new("k".repeat(64 * 1024));
    let stored = (0..20).take_while(|number| {
        let account = format!("account-{number}");
        vault.set("openai", &account, &large, at(2)).is_ok()
    });
    assert_eq!(stored.count(), 15);
    let refused = vault.set("openai", "one-more", &large, at(2));
    assert!(matches!(refused, Err(VaultError::Full { .. })));
    assert_eq!(vault.list().unwrap().len(), 16);
    let found = vault.get("anthropic", "default").unwrap();
    assert_eq!(found, Some(Secret::new(CANARY)));
}
