//! Settings: layers with their origin, what is refused, and what is recorded of them.

use std::fs;
use std::path::PathBuf;

use crate::support::{House, Seen, Tree};

fn user_file(house: &House) -> PathBuf {
    let folder = house.home.join(".config/artel");
    fs::create_dir_all(&folder).unwrap();
    folder.join("artel.toml")
}

fn write_workshop(house: &House, text: &str) {
    fs::write(house.workshop.join("artel.toml"), text).unwrap();
}

#[test]
fn each_layer_wins_over_the_one_below_and_says_so() {
    let house = House::new();
    fs::write(
        user_file(&house),
        "[journal]\nbackups_kept = 1\nbusy_after = \"1s\"\nbackup_every = \"1h\"\n\
         [output]\ncolor = \"never\"\n",
    )
    .unwrap();
    write_workshop(
        &house,
        "# mine\n\n[journal]\nbackups_kept = 2\nbusy_after = \"2s\"\nbackup_every = \"2h\"\n",
    );
    let seen = house
        .artel(["config", "show", "--origin"])
        .words(["--set", "journal.backups_kept=4"])
        .env("ARTEL_JOURNAL_BACKUPS_KEPT", "3")
        .env("ARTEL_JOURNAL_BUSY_AFTER", "3s")
        .run()
        .expect(0);
    insta::assert_snapshot!(seen.text(), @r#"
    exit 0
    SETTING                  VALUE             ORIGIN
    profile                  "local"           default
    budget.warn_run          0.50              default
    gateway.slots            10                default
    gateway.connect_timeout  "10s"             default
    gateway.idle_timeout     "120s"            default
    gateway.max_wait         "1h"              default
    journal.durability       "full"            default
    journal.backup_every     "2h"              workshop HERE/artel.toml:6
    journal.backups_kept     4                 --set
    journal.busy_after       "3s"              ARTEL_JOURNAL_BUSY_AFTER
    output.color             "never"           user HOME/.config/artel/artel.toml:6
    clean.logs_after         "30d"             default
    policy.commands          "allow"           default
    policy.contained         true              default
    policy.secret_fields     []                default
    sandbox.accept           "full"            default
    sandbox.read             []                default
    agents.tool_calls        "native"          default
    agents.max_turns         15                default
    agents.max_retries       3                 default
    skills.size_limit        "warn"            default
    portal.share             []                default
    portal.most_files        200000            default
    portal.largest_file      100               default
    context.max_tokens       50000             default
    context.strategy         "smallest-first"  default
    context.file_tokens      0                 default
    visibility.role          "user"            default
    visibility.user          "summary"         default
    visibility.developer     "full"            default
    visibility.admin         "full"            default
    visibility.hidden_tools  []                default
    server.listen            "127.0.0.1:7717"  default
    server.hosts             []                default
    server.event_streams     1000              default
    server.acts_per_second   200               default
    server.works_at_once     4                 default
    telemetry.otlp           []                default
    "#);
}

#[test]
fn the_table_and_the_json_have_every_setting() {
    let house = House::new();
    insta::assert_snapshot!(house.ok(["config", "show"]).text(), @r#"
    exit 0
    SETTING                  VALUE             ABOUT
    profile                  "local"           Where this runs; ci and production demand the full sandbox.
    budget.warn_run          0.50              A run that costs more than this is spoken of, once; never switches that off.
    gateway.slots            10                How many calls one provider answers at once; further ones wait in line.
    gateway.connect_timeout  "10s"             How long to wait for a connection to a provider.
    gateway.idle_timeout     "120s"            How long a provider may be silent in the middle of an answer.
    gateway.max_wait         "1h"              How long a call may wait in all, in line and between tries, before it gives up.
    journal.durability       "full"            Whether records are safe from power loss at once (full) or a moment later (normal).
    journal.backup_every     "24h"             How long after the last backup of the journal the next one is taken.
    journal.backups_kept     10                How many backups of the journal are kept; older ones are removed.
    journal.busy_after       "30s"             How long to wait for the journal's write turn before giving up with J005.
    output.color             "auto"            Whether text is coloured; auto colours only what goes to a terminal.
    clean.logs_after         "30d"             How old a log must be before `artel clean` offers to remove it.
    policy.commands          "allow"           Whether commands that can be judged run without a question, in the sandbox, without network and secrets, in the run's own tree.
    policy.contained         true              Whether a command that would be asked about runs without a question where the full sandbox holds it: in a copy, without network grants and secrets. Never in profile production.
    policy.secret_fields     []                More names of fields whose values are taken out of whatever is stored or shown.
    sandbox.accept           "full"            The lowest level of the sandbox that you accept on this machine, in profile local.
    sandbox.read             []                More folders that commands in the sandbox can read, such as a tool chain.
    agents.tool_calls        "native"          How models call tools; text is for those that have no form of their own for it.
    agents.max_turns         15                How many turns a run has, where its skill does not say.
    agents.max_retries       3                 How often one call may fail with the same arguments before it is refused.
    skills.size_limit        "warn"            What a SKILL.md of more than 500 lines means: a warning, or that it is not loaded.
    portal.share             []                More ignored folders that runs can see and change for themselves, as they can node_modules, .venv, target, vendor and .gradle.
    portal.most_files        200000            How many files a run's own tree may hold. Beyond that, the folders with most new files are left out.
    portal.largest_file      100               How many MiB a file may have that a run makes or changes; larger ones are left out.
    context.max_tokens       50000             How many tokens of notes and reports the architect may be given; four fifths are used.
    context.strategy         "smallest-first"  What is left out where they do not fit.
    context.file_tokens      0                 The most of one file that is loaded; 0 for no limit.
    visibility.role          "user"            Whose view of runs is shown: a user's summary, or everything.
    visibility.user          "summary"         What users may see of runs: what came of each step, or everything.
    visibility.developer     "full"            What developers may see of runs.
    visibility.admin         "full"            What admins may see of runs; in full, also what is kept for audit.
    visibility.hidden_tools  []                Tools, or sorts of tools such as `git_*`, of which is shown only that they ran.
    server.listen            "127.0.0.1:7717"  Where the daemon listens. Beyond loopback it does so only with `--public`.
    server.hosts             []                More names by which the server may be called, such as that of a proxy before it.
    server.event_streams     1000              How many readers may follow live events at once.
    server.acts_per_second   200               How many requests a second of one token or login may change something; reading is not counted.
    server.works_at_once     4                 How many pieces of work the daemon plans or carries out side by side.
    telemetry.otlp           []                Where traces go: the address of an OpenTelemetry collector, such as http://127.0.0.1:4318.
    "#);
    let rows = house.ok(["config", "show", "--json"]).json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 38);
    for row in rows {
        assert_eq!(row["origin"], "default");
        assert!(row["key"].is_string() && row["value"].is_string() && row["about"].is_string());
    }
}

#[test]
fn outside_of_any_workshop_the_user_s_own_settings_hold() {
    let house = House::empty();
    fs::write(user_file(&house), "output.color = \"never\"\n").unwrap();
    let seen = house.ok(["config", "show", "--origin"]);
    let seen = seen.says("\"never\"           user ");
    assert!(!seen.out.contains("workshop"), "{}", seen.out);
}

#[test]
fn a_workshop_somebody_else_made_sets_nothing() {
    let stranger = House::new();
    write_workshop(&stranger, "output.color = \"always\"\n");
    let house = House::empty();
    let seen = house.artel(["config", "show", "--origin"]);
    let seen = seen.standing_in(&stranger.workshop).run().expect(0);
    assert!(
        seen.out.contains("\"auto\"            default"),
        "{}",
        seen.out
    );
}

/// Runs a command over settings that are wrong; nothing may have been started.
fn refused(house: &House, text: &str) -> Seen {
    write_workshop(house, text);
    let before = Tree::of(&house.root());
    for words in [
        &["journal", "backup"][..],
        &["journal", "tail"],
        &["journal", "verify"],
        &["clean", "--yes"],
        &["workshop", "show"],
        &["config", "show"],
    ] {
        assert_eq!(house.artel([]).words(words).run().code, 2, "{words:?}");
    }
    before.unchanged(&house.root());
    house.artel(["journal", "backup"]).run()
}

#[test]
fn what_is_wrong_is_named_with_file_line_and_remedy() {
    let house = House::new();
    let all = [
        "# mine\n[journal]\ndurabilty = \"full\"\n",
        "[journal]\nbackups_kept = \"ten\"\n",
        "[journal]\nbackups_kept = 0\n",
        "[journal]\ndurability = \"ful\"\n",
        "[journal]\nbusy_after = \"soon\"\n",
        "[journal\ndurability = \"full\"\n",
        "[jurnal]\ndurability = \"full\"\n",
        "color = \"never\"\n[something]\nelse = 1\n",
    ]
    .map(|text| refused(&house, text).text())
    .concat();
    insta::assert_snapshot!(all, @r#"
        exit 2
        error[S003]: unknown setting `journal.durabilty`
          why: `HERE/artel.toml` line 3
          try: did you mean `journal.durability`?
        exit 2
        error[S004]: `journal.backups_kept` has the wrong type
          why: `HERE/artel.toml` line 2 has a string: `"ten"`
          try: write a whole number from 1 to 1000
        exit 2
        error[S005]: `journal.backups_kept` cannot be `0`
          why: `HERE/artel.toml` line 2
          try: write a whole number from 1 to 1000
        exit 2
        error[S005]: `journal.durability` cannot be `"ful"`
          why: `HERE/artel.toml` line 2
          try: write "full" or "normal"; did you mean "full"?
        exit 2
        error[S005]: `journal.busy_after` cannot be `"soon"`
          why: `HERE/artel.toml` line 2
          try: write a span in quotes, such as "200ms", "30s", "15m", "24h", "7d", "2w"
        exit 2
        error[S002]: `HERE/artel.toml` is not TOML
          why: line 1, column 9: unclosed table, expected `]`
          try: correct line 1; text stands in double quotes, as in `color = "auto"`
        exit 2
        error[S003]: unknown setting `jurnal`
          why: `HERE/artel.toml` line 1
          try: did you mean `journal`?
        exit 2
        error[S003]: unknown setting `color`
          why: `HERE/artel.toml` line 1
          try: did you mean `output.color`?
        error[S003]: unknown setting `something`
          why: `HERE/artel.toml` line 2
          try: `artel config show` lists all settings
        "#);
}

#[test]
fn variables_and_flags_are_checked_too() {
    let house = House::new();
    let before = Tree::of(&house.root());
    let all = [
        house
            .artel(["journal", "backup"])
            .env("ARTEL_JOURNAL_DURABILTY", "full"),
        house
            .artel(["journal", "backup"])
            .env("ARTEL_OUTPUT_COLOR", "pink"),
        house.artel(["journal", "backup", "--set", "output.colour=never"]),
        house.artel(["journal", "backup", "--set", "journal.backups_kept=many"]),
        house.artel(["journal", "backup", "--set", "journal.backups_kept"]),
    ]
    .map(|artel| artel.run().expect(2).text())
    .concat();
    insta::assert_snapshot!(all, @r#"
        exit 2
        error[S003]: unknown setting `ARTEL_JOURNAL_DURABILTY`
          why: the variable `ARTEL_JOURNAL_DURABILTY`
          try: did you mean `ARTEL_JOURNAL_DURABILITY`?
        exit 2
        error[S005]: `output.color` cannot be `pink`
          why: the variable `ARTEL_OUTPUT_COLOR`
          try: write "auto" or "always" or "never"
        exit 2
        error[S003]: unknown setting `output.colour`
          why: `--set` on the command line
          try: did you mean `output.color`?
        exit 2
        error[S004]: `journal.backups_kept` has the wrong type
          why: `--set` on the command line has text: `many`
          try: write a whole number from 1 to 1000
        exit 2
        error[C004]: `journal.backups_kept` is not a value for --set <KEY=VALUE>
          why: expected KEY=VALUE
          try: `artel journal backup --help`
        "#);
    before.unchanged(&house.root());
}

#[test]
fn several_mistakes_are_told_at_once_and_as_json() {
    let house = House::new();
    write_workshop(&house, "a = 1\nb = 2\n");
    let seen = house.artel(["journal", "tail"]).run().expect(2);
    assert_eq!(seen.err.matches("error[S003]").count(), 2, "{}", seen.err);
    let seen = house.artel(["journal", "tail", "--json"]).run().expect(2);
    for line in seen.err.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["error"]["code"], "S003");
        assert!(line["error"]["why"].as_str().unwrap().contains(" line "));
    }
}

#[test]
fn doctor_shows_bad_settings_and_variables_nobody_knows() {
    let house = House::new();
    let seen = house
        .artel(["doctor"])
        .env("ARTEL_FUTURE_THING", "1")
        .run()
        .expect(0);
    let seen = seen.says("ARTEL_FUTURE_THING");
    assert!(
        seen.out
            .lines()
            .any(|line| line.starts_with("warning  settings")),
        "{}",
        seen.out
    );
    write_workshop(&house, "a = 1\n");
    let seen = house.artel(["doctor"]).run().expect(2);
    seen.says("problem  settings  unknown setting `a`");
}

#[test]
fn settings_are_recorded_by_a_command_that_writes_and_only_when_they_changed() {
    let house = House::new();
    let loaded = || {
        let kinds = house.kinds();
        kinds.iter().filter(|kind| *kind == "config.loaded").count()
    };
    house.ok(["journal", "backup"]);
    assert_eq!(loaded(), 1, "nothing changed since init");

    write_workshop(&house, "[journal]\nbackups_kept = 5\n");
    house.ok(["journal", "tail"]);
    house.ok(["config", "show"]);
    house.ok(["doctor"]);
    assert_eq!(loaded(), 1, "readers record nothing");
    house.ok(["journal", "backup"]);
    house.ok(["journal", "backup"]);
    assert_eq!(loaded(), 2, "once, by the command that wrote");

    // Another spelling of the same values is no change, and neither is another layer.
    write_workshop(&house, "journal.backups_kept = 0x5 # five\n");
    house.ok(["journal", "backup"]);
    write_workshop(&house, "");
    let by_variable = house.artel(["journal", "backup"]);
    by_variable
        .env("ARTEL_JOURNAL_BACKUPS_KEPT", "5")
        .run()
        .expect(0);
    assert_eq!(loaded(), 2);
    house.ok(["journal", "backup"]);
    assert_eq!(loaded(), 3, "back to the defaults");

    let events = house.ok(["journal", "query", "--kind", "config.loaded", "--json"]);
    let events = events.json();
    let checksums: Vec<&str> = (0..3)
        .map(|at| events[at]["payload"]["checksum"].as_str().unwrap())
        .collect();
    assert_eq!(checksums[0], checksums[2]);
    assert_ne!(checksums[0], checksums[1]);
}

#[test]
fn reading_leaves_every_byte_as_it_is() {
    let house = House::with_events(150);
    house.ok(["journal", "backup"]);
    let before = Tree::of(&house.root());
    let commands: [&[&str]; 12] = [
        &["journal", "tail"],
        &["journal", "query", "--format", "csv"],
        &["journal", "query", "--json", "--run", "0"],
        &["journal", "export"],
        &["journal", "stats"],
        &["journal", "verify"],
        &["journal", "restore"],
        &["journal", "prune", "--before", "1d"],
        &["clean", "--dry-run"],
        &["config", "show"],
        &["doctor"],
        &["workshop", "show"],
    ];
    for words in commands {
        house.artel([]).words(words).run().expect(0);
        before.unchanged(&house.root());
    }
    house
        .artel(["trace", "ffffffffffffffff"])
        .run()
        .fails(4, "W005");
    before.unchanged(&house.root());
}
