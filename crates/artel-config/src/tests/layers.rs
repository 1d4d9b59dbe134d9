//! Settings as a whole: layers, origins, and what is shown and written.

use std::time::Duration;

use artel_types::{ConfiguredSpendLimits, Money};

use super::house::House;
use crate::schema::AREAS;
use crate::{DurabilityChoice, OutputColorChoice, SettingOrigin, template};

#[test]
fn without_any_layer_the_defaults_hold() {
    let settings = House::new().load().unwrap();
    assert!(settings.models.is_empty() && settings.prices.is_empty());
    let expected = ConfiguredSpendLimits {
        run_warning: Some(Money(500_000)),
        ..ConfiguredSpendLimits::default()
    };
    assert_eq!(settings.budget, expected);
    assert_eq!(settings.gateway.slots.value, 10);
    assert_eq!(
        settings.gateway.connect_timeout.value,
        Duration::from_secs(10)
    );
    assert_eq!(
        settings.gateway.idle_timeout.value,
        Duration::from_secs(120)
    );
    assert_eq!(settings.gateway.max_wait.value, Duration::from_secs(3600));
    assert_eq!(settings.journal.durability.value, DurabilityChoice::Full);
    assert_eq!(
        settings.journal.backup_every.value,
        Duration::from_secs(86_400)
    );
    assert_eq!(settings.journal.backups_kept.value, 10);
    assert_eq!(settings.journal.busy_after.value, Duration::from_secs(30));
    assert_eq!(settings.output.color.value, OutputColorChoice::Auto);
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
    let check = |house: &House, value: u64, origin: SettingOrigin| {
        let found = house.load().unwrap().journal.backups_kept;
        assert_eq!((found.value, found.origin), (value, origin));
    };
    check(&house, 1, SettingOrigin::User(house.user_file(), 2));
    house = house.workshop("\n\njournal.backups_kept = 2\n");
    check(&house, 2, SettingOrigin::Workshop(house.workshop_file(), 3));
    house = house.variable("ARTEL_JOURNAL_BACKUPS_KEPT", "3");
    check(
        &house,
        3,
        SettingOrigin::Env("ARTEL_JOURNAL_BACKUPS_KEPT".to_owned()),
    );
    house = house.flag("journal.backups_kept", "4");
    check(&house, 4, SettingOrigin::Flag);
    house = house.flag("journal.backups_kept", "5");
    check(&house, 5, SettingOrigin::Flag);
}

#[test]
fn layers_are_joined_key_by_key() {
    let house = House::new()
        .user("[output]\ncolor = \"never\"\n[clean]\nlogs_after = '1w'")
        .workshop("journal = { durability = \"normal\", busy_after = \"5s\" }");
    let settings = house.load().unwrap();
    assert_eq!(settings.output.color.value, OutputColorChoice::Never);
    assert_eq!(settings.journal.durability.value, DurabilityChoice::Normal);
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
    profile = "local"  (default)
    budget.warn_run = 0.50  (default)
    gateway.slots = 10  (default)
    gateway.connect_timeout = "10s"  (default)
    gateway.idle_timeout = "120s"  (default)
    gateway.max_wait = "1h"  (default)
    journal.durability = "normal"  (workshop WORKSHOP/artel.toml:1)
    journal.backup_every = "24h"  (default)
    journal.backups_kept = 10  (default)
    journal.busy_after = "5s"  (workshop WORKSHOP/artel.toml:1)
    output.color = "never"  (user HOME/.config/artel/artel.toml:2)
    clean.logs_after = "1w"  (user HOME/.config/artel/artel.toml:4)
    policy.commands = "allow"  (default)
    policy.contained = true  (default)
    policy.secret_fields = []  (default)
    sandbox.accept = "full"  (default)
    sandbox.read = []  (default)
    agents.tool_calls = "native"  (default)
    agents.max_turns = 15  (default)
    agents.max_retries = 3  (default)
    skills.size_limit = "warn"  (default)
    portal.share = []  (default)
    portal.most_files = 200000  (default)
    portal.largest_file = 100  (default)
    context.max_tokens = 50000  (default)
    context.strategy = "smallest-first"  (default)
    context.file_tokens = 0  (default)
    visibility.role = "user"  (default)
    visibility.user = "summary"  (default)
    visibility.developer = "full"  (default)
    visibility.admin = "full"  (default)
    visibility.hidden_tools = []  (default)
    server.listen = "127.0.0.1:7717"  (default)
    server.hosts = []  (default)
    server.event_streams = 1000  (default)
    server.acts_per_second = 200  (default)
    server.works_at_once = 4  (default)
    telemetry.otlp = []  (default)
    "#);
}

#[test]
fn every_word_of_every_choice_is_typed() {
    for (key, words) in [
        ("journal.durability", &["full", "normal"][..]),
        ("output.color", &["auto", "always", "never"]),
        ("budget.warn_run", &["0", "0.50", "never"]),
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
        SettingOrigin::Default,
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
    let rows = live.rows();
    assert!(rows.iter().all(|row| row.origin.starts_with("workshop")));
    for default in inert.rows() {
        let found = rows.iter().find(|row| row.key == default.key).unwrap();
        assert_eq!(found.value, default.value, "{}", default.key);
    }
    assert_eq!(live.models["default"].value.model, "qwen3-coder");
}

#[test]
fn the_examples_have_every_setting_without_a_default() {
    for area in &AREAS {
        for field in area.fields.iter().filter(|field| field.default.is_none()) {
            let line = match field.name() {
                "<header>" => "\n#headers = {".to_owned(),
                name => format!("\n#{name} = "),
            };
            assert!(area.example.contains(&line), "{}", field.key);
        }
    }
}

#[test]
fn the_template_reads_well() {
    let text = template();
    let begin: Vec<_> = text.lines().take(43).collect();
    insta::assert_snapshot!(begin.join("\n"), @r#"
    # Settings of Artel. Every line is commented out and shows the default, or an example where there is
    # none: take the `#` away from a section and a setting to change it. `artel config show --origin`
    # says what is in force, and why.

    # Where this runs; ci and production demand the full sandbox.
    # Allowed: "local" or "ci" or "production".
    #profile = "local"

    # Models, by the names that skills and roles use. Without any, the keys in the environment and in
    # the key store decide, then a local Ollama. `haiku`, `sonnet`, `opus`, `fast`, `balanced` and
    # `strong` need no section: they mean the nearest model of the provider of `default`.
    #[models.default]
    #provider = "openai-chat"        # anthropic | openai | openai-chat | google | ollama | rehearsal
    #model = "qwen3-coder"
    #base_url = "http://127.0.0.1:8080/v1"   # optional
    #api_key_env = "MY_KEY"                   # optional; otherwise the provider's usual variable, then the key store
    #account = "work"                         # optional: a stored key, as in `artel auth set openai --account work`
    #timeout = "120s"                         # optional
    #proxy = "none"                           # optional; otherwise HTTPS_PROXY and NO_PROXY
    #headers = { X-Team = "blue" }            # optional
    #[models.haiku]
    #provider = "anthropic"
    #model = "claude-haiku-5-5"

    # Prices and limits of models that Artel does not know, or knows otherwise: US dollars for a million
    # tokens. What is not named stays as it is; without a price, cost is shown as unknown.
    #[prices."qwen3-coder"]
    #input = 0.20
    #output = 0.80
    #cache_read = 0.02
    #cache_write = 0.25
    #context = 262144
    #max_output = 65536
    #thinking = "none"

    #[budget]

    # A run that costs more than this is spoken of, once; never switches that off.
    # Allowed: US dollars with at most six decimals, such as 20 or 0.50, or "never".
    #warn_run = 0.50

    # Limits in tokens and US dollars. What is not named is not limited; zero allows nothing. Those of
    # the workshop and of providers may count from zero again every "day", "week" or "month".
    "#);
    assert!(
        text.contains("\n#[journal]\n\n# Whether records are safe"),
        "{text}"
    );
    assert!(text.contains("\n# Allowed: \"full\" or \"normal\".\n#durability = \"full\"\n"));
}
