//! Damaged files always give an error, never another value, and are never overwritten.

use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use artel_types::Secret;

use super::{CANARY, House, at};
use crate::{Vault, VaultError};

/// Expects that nothing can be read from the vault, and that an attempt to write changes
/// nothing in the folder.
fn expect_refusal(house: &House, vault: &Vault, case: &str) -> VaultError {
    let before = fs::read(house.file("keys.enc")).ok();
    let key_before = fs::read(house.file("keys.key")).ok();
    let error = vault.get("anthropic", "default").unwrap_err();
    assert!(vault.list().is_err(), "{case}");
    assert!(vault.secrets().is_empty(), "{case}");
    let set = vault.set("openai", "default", &Secret::new("new-key"), at(2));
    assert!(set.is_err(), "{case}");
    assert!(vault.remove("anthropic", "default").is_err(), "{case}");
    assert_eq!(fs::read(house.file("keys.enc")).ok(), before, "{case}");
    assert_eq!(fs::read(house.file("keys.key")).ok(), key_before, "{case}");
    error
}

fn overwrite(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_changed_byte_is_found() {
    for name in ["keys.enc", "keys.key"] {
        let house = House::with_a_key();
        let good = fs::read(house.file(name)).unwrap();
        for at in 0..good.len() {
            for change in [0x01, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= change;
                overwrite(&house.file(name), &bad);
                let case = format!("{name}: byte {at} changed by {change:#x}");
                expect_refusal(&house, &house.vault(), &case);
            }
        }
        overwrite(&house.file(name), &good);
        assert_eq!(house.vault().secrets(), [Secret::new(CANARY)]);
    }
}

#[test]
fn every_length_but_its_own_is_found() {
    for name in ["keys.enc", "keys.key"] {
        let house = House::with_a_key();
        let good = fs::read(house.file(name)).unwrap();
        let longer = [&good[..], b"x"].concat();
        for length in (0..good.len()).chain([longer.len()]) {
            overwrite(&house.file(name), &longer[..length]);
            let case = format!("{name}: {length} bytes");
            expect_refusal(&house, &house.vault(), &case);
        }
    }
}

#[test]
fn files_of_another_house_machine_or_user_do_not_open() {
    let house = House::with_a_key();
    let here = || house.vault().bound_to("this-machine", 7);
    house.vault().forget_all().unwrap();
    let key = Secret::new(CANARY);
    here().set("anthropic", "default", &key, at(1)).unwrap();
    assert_eq!(here().secrets(), [key]);
    for (machine, user) in [("that-machine", 7), ("", 7), ("this-machine", 8)] {
        let elsewhere = house.vault().bound_to(machine, user);
        expect_refusal(&house, &elsewhere, machine);
    }
    let other = House::with_a_key();
    for name in ["keys.enc", "keys.key"] {
        let good = fs::read(house.file(name)).unwrap();
        fs::copy(other.file(name), house.file(name)).unwrap();
        expect_refusal(&house, &here(), name);
        overwrite(&house.file(name), &good);
    }
    assert_eq!(here().secrets().len(), 1);
}

#[test]
fn a_lost_key_file_is_not_made_anew_over_keys_that_need_it() {
    let house = House::with_a_key();
    fs::remove_file(house.file("keys.key")).unwrap();
    let error = expect_refusal(&house, &house.vault(), "without keys.key");
    assert!(matches!(error, VaultError::Damaged { .. }));
    assert!(!house.file("keys.key").exists());
}

#[test]
fn a_newer_format_is_named() {
    let house = House::with_a_key();
    let mut newer = fs::read(house.file("keys.enc")).unwrap();
    newer[8] = 2;
    overwrite(&house.file("keys.enc"), &newer);
    let error = expect_refusal(&house, &house.vault(), "format 2");
    assert!(matches!(
        error,
        VaultError::TooNew {
            found: 2,
            newest: 1,
            ..
        }
    ));
}

#[test]
fn files_that_others_can_read_are_refused() {
    for name in ["keys.enc", "keys.key"] {
        for mode in [0o640, 0o604, 0o660, 0o644, 0o777] {
            let house = House::with_a_key();
            fs::set_permissions(house.file(name), fs::Permissions::from_mode(mode)).unwrap();
            let error = expect_refusal(&house, &house.vault(), name);
            assert!(matches!(error, VaultError::NotPrivate { .. }), "{mode:o}");
        }
    }
}

#[test]
fn a_folder_that_others_can_change_takes_no_keys() {
    let house = House::with_a_key();
    fs::set_permissions(house.data(), fs::Permissions::from_mode(0o770)).unwrap();
    let refused = house
        .vault()
        .set("openai", "default", &Secret::new("new-key"), at(2));
    assert!(matches!(refused, Err(VaultError::NotPrivate { .. })));
    assert_eq!(house.vault().list().unwrap().len(), 1);
}

#[test]
fn whatever_else_stands_in_their_place_is_refused_without_waiting() {
    type Put = fn(&House, &Path);
    let things: [(&str, Put); 4] = [
        ("a link", |house, path| {
            let elsewhere = house.root.path().join("elsewhere");
            fs::rename(path, &elsewhere).unwrap();
            symlink(elsewhere, path).unwrap();
        }),
        ("a folder", |_, path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("a pipe", |_, path| {
            fs::remove_file(path).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
        }),
        ("a giant", |_, path| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_len(1 << 40).unwrap();
        }),
    ];
    for name in ["keys.enc", "keys.key"] {
        for (case, put) in things {
            let house = House::with_a_key();
            put(&house, &house.file(name));
            let refused = house.vault().get("anthropic", "default");
            assert!(refused.is_err(), "{name} is {case}");
            let refused = house
                .vault()
                .set("openai", "default", &Secret::new("new-key"), at(2));
            assert!(refused.is_err(), "{name} is {case}");
        }
    }
}

#[test]
fn forgetting_helps_whatever_is_wrong_with_the_file() {
    let house = House::with_a_key();
    overwrite(&house.file("keys.enc"), b"not keys");
    let forgotten = house.vault().forget_all().unwrap();
    assert_eq!((forgotten.keys, forgotten.left.len()), (None, 0));
    let vault = house.vault();
    let key = Secret::new("fresh-key");
    vault.set("anthropic", "default", &key, at(3)).unwrap();
    assert_eq!(vault.secrets(), [key]);
}

#[test]
fn what_a_crash_left_is_ignored_and_goes_with_the_next_write() {
    let begun = House::new();
    fs::DirBuilder::new()
        .mode(0o700)
        .create(begun.data())
        .unwrap();
    for (house, left, keys) in [
        (begun, "keys.key.tmp", 0),
        (House::with_a_key(), "keys.enc.tmp", 1),
    ] {
        overwrite(&house.file(left), b"half a fi");
        assert_eq!(house.vault().list().unwrap().len(), keys);
        let key = Secret::new("new-key");
        house.vault().set("openai", "default", &key, at(2)).unwrap();
        assert_eq!(house.vault().list().unwrap().len(), keys + 1);
        assert_eq!(house.names(), ["keys.enc", "keys.key", "keys.lock"]);
    }
}
