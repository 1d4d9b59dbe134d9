//! Messages about wrong settings, as a person reads them.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use artel_types::FailureCode;

use super::house::House;
use crate::{ProcessEnvironment, Settings, UserFolders};

fn codes(house: &House) -> Vec<FailureCode> {
    house
        .load()
        .expect_err("refused")
        .iter()
        .map(|failure| failure.code)
        .collect()
}

#[test]
fn a_misspelt_name_is_answered_with_the_right_one() {
    let house = House::new().workshop("# mine\n[journal]\ndurabilty = \"full\"\n");
    insta::assert_snapshot!(house.complaints(), @r"
    error[S003]: unknown setting `journal.durabilty`
      why: `WORKSHOP/artel.toml` line 3
      try: did you mean `journal.durability`?
    ");
}

#[test]
fn everything_wrong_is_reported_at_once_lowest_layer_first() {
    let house = House::new()
        .user("output.color = 7\njurnal.x = 1\n\"journal.durability\" = \"full\"\n")
        .workshop("[journal]\ndurability = \"ful\"\nbackups_kept = 0\nbusy_after = 30\n[[clean]]\n")
        .variable("ARTEL_JOURNAL_DURABILTY", "full")
        .variable("ARTEL_OUTPUT_COLOR", "pink")
        .flag("journal.backups_kept", "many")
        .flag("colour", "auto");
    insta::assert_snapshot!(house.complaints(), @r#"
    error[S004]: `output.color` has the wrong type
      why: `HOME/.config/artel/artel.toml` line 1 has a whole number: `7`
      try: write "auto" or "always" or "never"
    error[S003]: unknown setting `jurnal`
      why: `HOME/.config/artel/artel.toml` line 2
      try: did you mean `journal`?
    error[S003]: unknown setting `"journal.durability"`
      why: `HOME/.config/artel/artel.toml` line 3
      try: did you mean `journal.durability`?
    error[S005]: `journal.durability` cannot be `"ful"`
      why: `WORKSHOP/artel.toml` line 2
      try: write "full" or "normal"; did you mean "full"?
    error[S005]: `journal.backups_kept` cannot be `0`
      why: `WORKSHOP/artel.toml` line 3
      try: write a whole number from 1 to 1000
    error[S004]: `journal.busy_after` has the wrong type
      why: `WORKSHOP/artel.toml` line 4 has a whole number: `30`
      try: write a span in quotes, such as "200ms", "30s", "15m", "24h", "7d", "2w"
    error[S004]: `clean` is a section, not a setting
      why: `WORKSHOP/artel.toml` line 5
      try: write `[clean]` on a line of its own, and settings below it
    error[S003]: unknown setting `ARTEL_JOURNAL_DURABILTY`
      why: the variable `ARTEL_JOURNAL_DURABILTY`
      try: did you mean `ARTEL_JOURNAL_DURABILITY`?
    error[S005]: `output.color` cannot be `pink`
      why: the variable `ARTEL_OUTPUT_COLOR`
      try: write "auto" or "always" or "never"
    error[S004]: `journal.backups_kept` has the wrong type
      why: `--set` on the command line has text: `many`
      try: write a whole number from 1 to 1000
    error[S003]: unknown setting `colour`
      why: `--set` on the command line
      try: did you mean `output.color`?
    "#);
}

#[test]
fn broken_toml_is_placed() {
    let house = House::new()
        .user("[journal]\ndurability = full\n")
        .workshop("é = [1,\n");
    insta::assert_snapshot!(house.complaints(), @r#"
    error[S002]: `HOME/.config/artel/artel.toml` is not TOML
      why: line 2, column 14: invalid boolean, expected `false`
      try: correct line 2; text stands in double quotes, as in `color = "auto"`
    error[S002]: `WORKSHOP/artel.toml` is not TOML
      why: line 1, column 8: unclosed array, expected `]`
      try: correct line 1; text stands in double quotes, as in `color = "auto"`
    "#);
}

#[test]
fn a_bad_value_is_reported_even_where_a_higher_layer_replaces_it() {
    let house = House::new()
        .user("output.color = \"pink\"")
        .flag("output.color", "auto");
    assert_eq!(codes(&house), [FailureCode::S005]);
}

#[test]
fn numbers_beyond_every_type_are_out_of_range() {
    for number in [
        "0",
        "1001",
        "-1",
        "99999999999999999999999999999999999999999999",
        "-0x1",
    ] {
        let house = House::new().workshop(format!("journal.backups_kept = {number}"));
        let expected = if number == "-0x1" {
            FailureCode::S002
        } else {
            FailureCode::S005
        };
        assert_eq!(codes(&house), [expected], "{number}");
    }
    assert!(
        House::new()
            .workshop("journal.backups_kept = 0x10")
            .load()
            .is_ok()
    );
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let directory = House::new();
    fs::create_dir(directory.user_file()).unwrap();
    let large = House::new().workshop("#".repeat(1024 * 1024 + 1));
    let binary = House::new().workshop(b"color = \"\xff\"");
    let pipe = House::new();
    make_pipe(&pipe.workshop_file());
    let device = House::new();
    std::os::unix::fs::symlink("/dev/zero", device.workshop_file()).unwrap();
    let all = [&directory, &large, &binary, &pipe, &device]
        .map(House::complaints)
        .join("\n");
    insta::assert_snapshot!(all, @r"
    error[S001]: cannot read the settings file `HOME/.config/artel/artel.toml`
      why: it is a directory
      try: correct the file, or move it away to go on with the defaults
    error[S001]: cannot read the settings file `WORKSHOP/artel.toml`
      why: it is larger than 1 MiB
      try: correct the file, or move it away to go on with the defaults
    error[S001]: cannot read the settings file `WORKSHOP/artel.toml`
      why: it is not UTF-8 text: a character after 9 bytes is broken
      try: correct the file, or move it away to go on with the defaults
    error[S001]: cannot read the settings file `WORKSHOP/artel.toml`
      why: it is not a regular file
      try: correct the file, or move it away to go on with the defaults
    error[S001]: cannot read the settings file `WORKSHOP/artel.toml`
      why: it is not a regular file
      try: correct the file, or move it away to go on with the defaults
    ");
}

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

#[test]
fn a_file_of_exactly_the_limit_and_a_linked_file_are_read() {
    assert!(
        House::new()
            .workshop("#".repeat(1024 * 1024))
            .load()
            .is_ok()
    );
    let linked = House::new().user("output.color = \"never\"");
    std::os::unix::fs::symlink(linked.user_file(), linked.workshop_file()).unwrap();
    assert_eq!(linked.load().unwrap().files.len(), 2);
}

#[test]
fn a_home_that_is_no_folder_has_no_settings() {
    let environment = ProcessEnvironment::of([("HOME", "/dev/null")], "/");
    let places = UserFolders::find(&environment).unwrap();
    assert!(Settings::load(&environment, &places, None, &[]).is_ok());
}

#[test]
fn a_variable_that_is_not_text_is_refused() {
    let bytes = OsString::from_vec(vec![0xff, 0xfe]);
    let variables = [
        ("HOME".into(), "/dev/null".into()),
        ("ARTEL_OUTPUT_COLOR".into(), bytes),
    ];
    let environment = ProcessEnvironment::of::<OsString, OsString>(variables, "/");
    let places = UserFolders::find(&environment).unwrap();
    let failures = Settings::load(&environment, &places, None, &[]).unwrap_err();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0].code, FailureCode::S005);
}
