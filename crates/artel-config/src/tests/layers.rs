//! Settings as a whole: layers, origins, what is shown and what is written.

use std::time::Duration;

use super::house::House;
use crate::{Color, Durability, Origin, Settings, template};

#[test]
fn without_any_layer_the_defaults_hold() {
    let settings = House::new().load().unwrap();
    assert_eq!(settings.journal.durability.value, Durability::Full);
    assert_eq!(
        settings.journal.backup_every.value,
        Duration::from_secs(86_400)
    );
    assert_eq!(settings.journal.backups_kept.value, 10);
    assert_eq!(settings.journal.busy_after.value, Duration::from_secs(30));
    assert_eq!(settings.output.color.value, Color::Auto);
    assert_eq!(
        settings.clean.logs_after.value,
        Duration::from_secs(30 * 86_400)
    );
    assert!(settings.rows().iter().all(|row| row.origin == "default"));
    assert!(settings.files.is_empty());
}

#[test]
fn each_layer_wins_over_the_one_below() {
    let mut house = House::new().user("[journal]\nbackups_kept = 1\n");
    let check = |house: &House, value: u64, origin: Origin| {
        let found = house.load().unwrap().journal.backups_kept;
        assert_eq!((found.value, found.origin), (value, origin));
    };
    check(&house, 1, Origin::User(house.user_file(), 2));
    house = house.workshop("\n\njournal.backups_kept = 2\n");
    check(&house, 2, Origin::Workshop(house.workshop_file(), 3));
    house = house.variable("ARTEL_JOURNAL_BACKUPS_KEPT", "3");
    check(
        &house,
        3,
        Origin::Env("ARTEL_JOURNAL_BACKUPS_KEPT".to_owned()),
    );
    house = house.flag("journal.backups_kept", "4");
    check(&house, 4, Origin::Flag);
    house = house.flag("journal.backups_kept", "5");
    check(&house, 5, Origin::Flag);
}

#[test]
fn layers_are_joined_key_by_key() {
    let house = House::new()
        .user("[output]\ncolor = \"never\"\n[clean]\nlogs_after = '1w'")
        .workshop("journal = { durability = \"normal\", busy_after = \"5s\" }");
    let settings = house.load().unwrap();
    assert_eq!(settings.output.color.value, Color::Never);
    assert_eq!(settings.journal.durability.value, Durability::Normal);
    assert_eq!(settings.files, [house.user_file(), house.workshop_file()]);
    let rows = settings.rows();
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            format!(
                "{} = {}  ({})",
                row.key,
                row.value,
                house.anonymous(&row.origin)
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    journal.durability = "normal"  (workshop WORKSHOP/artel.toml:1)
    journal.backup_every = "24h"  (default)
    journal.backups_kept = 10  (default)
    journal.busy_after = "5s"  (workshop WORKSHOP/artel.toml:1)
    output.color = "never"  (user HOME/.config/artel/artel.toml:2)
    clean.logs_after = "1w"  (user HOME/.config/artel/artel.toml:4)
    "#);
}

#[test]
fn every_word_of_every_choice_is_typed() {
    for (key, words) in [
        ("journal.durability", &["full", "normal"][..]),
        ("output.color", &["auto", "always", "never"]),
    ] {
        for word in words {
            assert!(House::new().flag(key, word).load().is_ok(), "{key}={word}");
        }
    }
}

#[test]
fn other_variables_of_artel_are_listed_or_known() {
    let settings = House::new()
        .variable("ARTEL_WORKSHOP", "/w")
        .variable("ARTEL_MODEL", "m")
        .variable("ARTEL_ACCOUNT", "a")
        .variable("ARTEL_FUTURE_THING", "1")
        .variable("ARTEL_JOURNAL", "1")
        .variable("ARTEL_OUTPUT_COLOR", "")
        .variable("JOURNAL_DURABILITY", "x")
        .load()
        .unwrap();
    assert_eq!(
        settings.unknown_variables,
        ["ARTEL_FUTURE_THING", "ARTEL_JOURNAL"]
    );
    assert_eq!(
        settings.output.color.origin,
        Origin::Default,
        "an empty variable is not set"
    );
}

#[test]
fn the_checksum_follows_values_alone() {
    let checksum = |house: House| house.load().unwrap().checksum();
    let default = checksum(House::new());
    assert_eq!(default.len(), 64);
    assert_eq!(
        default,
        checksum(House::new().user("output.color = \"auto\""))
    );
    assert_eq!(
        default,
        checksum(House::new().flag("journal.backup_every", "1d"))
    );
    assert_ne!(
        default,
        checksum(House::new().flag("output.color", "never"))
    );
    assert_eq!(
        checksum(House::new().flag("output.color", "never")),
        checksum(House::new().variable("ARTEL_OUTPUT_COLOR", "never")),
    );
}

#[test]
fn the_template_is_inert_until_uncommented() {
    let text = template();
    assert!(
        text.lines()
            .all(|line| line.is_empty() || line.starts_with('#')),
        "{text}"
    );
    let inert = House::new().workshop(&text).load().unwrap();
    assert!(inert.rows().iter().all(|row| row.origin == "default"));

    let is_words = |line: &&str| line.starts_with("# ");
    let uncommented: Vec<_> = text
        .lines()
        .filter(|line| !is_words(line))
        .map(|line| line.trim_start_matches('#'))
        .collect();
    let live = House::new()
        .workshop(uncommented.join("\n"))
        .load()
        .unwrap();
    assert!(
        live.rows()
            .iter()
            .all(|row| row.origin.starts_with("workshop"))
    );
    assert_eq!(live.checksum(), inert.checksum());
    let values = |settings: &Settings| {
        settings
            .rows()
            .into_iter()
            .map(|row| row.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&live), values(&inert));
}

#[test]
fn the_template_reads_well() {
    let text = template();
    let journal: Vec<_> = text.lines().take(12).collect();
    insta::assert_snapshot!(journal.join("\n"), @r#"
    # Settings of Artel. Every line is commented out and shows the default: take the `#` away from a
    # section and a setting to change it. `artel config show --origin` says what is in force, and why.

    #[journal]

    # Whether records are safe from power loss at once (full) or a moment later (normal).
    # Allowed: "full" or "normal".
    #durability = "full"

    # How long after the last backup of the journal the next one is taken.
    # Allowed: a span in quotes, such as "200ms", "30s", "15m", "24h", "7d", "2w".
    #backup_every = "24h"
    "#);
}
